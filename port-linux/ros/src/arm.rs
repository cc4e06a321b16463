//! An arm by its names.

use outrigger_ros2_messages::endpoint::Names;

/// Joints of a UR, in the order of every message.
pub const UR_JOINTS: [&str; 6] =
    ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"];
/// Joints of an LWR, whose own names are A1 to A6 with E1 between A2 and A3.
pub const LWR_JOINTS: [&str; 7] = ["joint_a1", "joint_a2", "joint_e1", "joint_a3", "joint_a4", "joint_a5", "joint_a6"];

/// An arm by its names.
#[derive(Clone, Debug)]
pub struct Arm {
    /// In the order of the controller.
    pub joints: Vec<String>,
    pub(crate) base: String,
    pub(crate) flange: String,
    pub(crate) tool: String,
}

impl Arm {
    /// These joints, below a prefix.
    #[must_use]
    pub fn new(joints: &[&str], names: &Names) -> Self {
        let joints = joints.iter().map(|joint| names.frame(joint)).collect();
        let (base, flange, tool) = (names.frame("base"), names.frame("tool0"), names.frame("tool0_controller"));
        Self { joints, base, flange, tool }
    }
}

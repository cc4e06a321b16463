//! The names of an arm's joints and frames in messages of ROS 2.

use outrigger_ros2_messages::endpoint::Names;

/// The names of a UR's joints in the order of the controller, from the base to the flange.
pub const UR_JOINTS: [&str; 6] =
    ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"];
/// The names of an LWR's joints, which KUKA numbers A1 to A6 with E1 between A2 and A3.
pub const LWR_JOINTS: [&str; 7] = ["joint_a1", "joint_a2", "joint_e1", "joint_a3", "joint_a4", "joint_a5", "joint_a6"];

/// The names of an arm's joints and frames in messages of ROS 2.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The joint names, in the order of the controller.
    pub joints: Vec<String>,
    pub(crate) base: String,
    pub(crate) flange: String,
    pub(crate) tool: String,
}

impl Arm {
    /// Creates the names of an arm with these joints, each with the prefix that `names` contains.
    #[must_use]
    pub fn new(joints: &[&str], names: &Names) -> Self {
        let joints = joints.iter().map(|joint| names.frame(joint)).collect();
        let (base, flange, tool) = (names.frame("base"), names.frame("tool0"), names.frame("tool0_controller"));
        Self { joints, base, flange, tool }
    }
}

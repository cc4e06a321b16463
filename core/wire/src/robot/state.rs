//! One reading of the arm, in the units of the control path.

use super::{
    ControllerTime, JointPositions, JointVelocities, Payload, Pose, ProgramState, RobotMode, SafetyMode, Twist, Wrench,
};

/// The report of the safety system, in one form for every generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Safety {
    /// The safety mode of CB3 and later.
    Mode(SafetyMode),
    /// CB2: the robot mode stands for it; `Ok` unless the mode is one of the stops.
    FromRobotMode(RobotMode),
    /// Not sent by this stream.
    Unknown,
}

/// One reading of an arm with `N` joints. Measured values may be NaN where the controller sent NaN:
/// who uses one for a command checks it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State<const N: usize> {
    /// The controller's clock when the cycle ended.
    #[doc(alias = "Time")]
    pub controller_time: ControllerTime,
    /// Measured joint angles \[rad\].
    #[doc(alias = "q_actual")]
    pub positions: JointPositions<N>,
    /// Measured joint speeds \[rad/s\].
    #[doc(alias = "qd_actual")]
    pub velocities: JointVelocities<N>,
    /// Joint angles the controller steers to \[rad\].
    #[doc(alias = "q_target")]
    pub target_positions: JointPositions<N>,
    /// Joint speeds the controller steers to \[rad/s\].
    #[doc(alias = "qd_target")]
    pub target_velocities: JointVelocities<N>,
    /// Measured pose of the tool centre point in the base frame.
    #[doc(alias = "Tool vector actual")]
    pub tcp_pose: Option<Pose>,
    /// Speed of the tool centre point in the base frame.
    pub tcp_speed: Option<Twist>,
    /// Generalised force at the tool centre point.
    pub tcp_force: Option<Wrench>,
    /// Mode of the robot; `None` where the packet is too old to carry it (756 B: software 1.5, 1.6).
    pub robot_mode: Option<RobotMode>,
    /// The report of the safety system.
    pub safety: Safety,
    /// Program state where the packet has it (unconfirmed mapping).
    pub program_state: Option<ProgramState>,
    /// Factor on speeds by slider and limiter, 0 … 1, where the packet has it; the real-time packet has the limiter's
    /// alone, until the slider is known from elsewhere.
    pub speed_scaling: Option<f32>,
    /// The place of the speed slider, 0 … 1, where the packet has it.
    #[doc(alias = "target_speed_fraction")]
    pub speed_slider: Option<f32>,
    /// Digital inputs, bit 0 the first.
    pub digital_inputs: u64,
    /// Digital outputs, bit 0 the first, where the packet has them.
    pub digital_outputs: Option<u64>,
    /// Payload in force, where the packet has it.
    pub payload: Option<Payload>,
}

impl<const N: usize> Default for State<N> {
    fn default() -> Self {
        Self {
            controller_time: ControllerTime::default(),
            positions: JointPositions::ZERO,
            velocities: JointVelocities::ZERO,
            target_positions: JointPositions::ZERO,
            target_velocities: JointVelocities::ZERO,
            tcp_pose: None,
            tcp_speed: None,
            tcp_force: None,
            robot_mode: None,
            safety: Safety::Unknown,
            program_state: None,
            speed_scaling: None,
            speed_slider: None,
            digital_inputs: 0,
            digital_outputs: None,
            payload: None,
        }
    }
}

impl<const N: usize> State<N> {
    /// The share of what is sent that the arm gets, 0 … 1: 1 where nobody says, 0 for what is no number.
    #[must_use]
    pub const fn scaling(&self) -> f32 {
        match self.speed_scaling {
            None => 1.0,
            Some(scaling) if scaling >= 1.0 => 1.0,
            Some(scaling) if scaling > 0.0 => scaling,
            Some(_) => 0.0,
        }
    }
}

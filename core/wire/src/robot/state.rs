//! The state of the arm in one control cycle, in the units of the control path.

use super::{
    ControllerTime, JointPositions, JointVelocities, Payload, Pose, ProgramState, RobotMode, SafetyMode, Twist, Wrench,
};

/// The report of the controller's safety system, in one form for all generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Safety {
    /// The safety mode, as CB3 and later controllers report it.
    Mode(SafetyMode),
    /// The robot mode of a CB2, which reports no safety mode. It counts as a normal safety mode unless it is a stop, a fatal
    /// error, or unknown.
    FromRobotMode(RobotMode),
    /// No safety report, because the stream does not contain one.
    Unknown,
}

/// The state of an arm with `N` joints at one instant. Measured values are NaN where the controller sent NaN, so code
/// that computes a command from them must check them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State<const N: usize> {
    /// The controller's clock at the end of the control cycle that the state describes.
    #[doc(alias = "Time")]
    pub controller_time: ControllerTime,
    /// The measured joint angles \[rad\].
    #[doc(alias = "q_actual")]
    pub positions: JointPositions<N>,
    /// The measured joint speeds \[rad/s\].
    #[doc(alias = "qd_actual")]
    pub velocities: JointVelocities<N>,
    /// The joint angles that the controller commands \[rad\].
    #[doc(alias = "q_target")]
    pub target_positions: JointPositions<N>,
    /// The joint speeds that the controller commands \[rad/s\].
    #[doc(alias = "qd_target")]
    pub target_velocities: JointVelocities<N>,
    /// The measured pose of the tool centre point in the base frame \[m, rad\]; `None` if the packet does not contain
    /// it.
    #[doc(alias = "Tool vector actual")]
    pub tcp_pose: Option<Pose>,
    /// The speed of the tool centre point in the base frame \[m/s, rad/s\]; `None` if the packet does not contain it.
    pub tcp_speed: Option<Twist>,
    /// The force and torque at the tool centre point \[N, Nm\]; `None` if the packet does not contain them.
    pub tcp_force: Option<Wrench>,
    /// The robot mode; `None` if the packet is too old to contain it (756 B: software 1.5, 1.6).
    pub robot_mode: Option<RobotMode>,
    /// The report of the controller's safety system.
    pub safety: Safety,
    /// The state of the controller's program; `None` if the packet does not contain it. If it is from the real-time
    /// packet, the meaning of the numbers is unconfirmed.
    pub program_state: Option<ProgramState>,
    /// The factor on speeds by slider and limiter, 0 … 1; `None` if the packet does not contain it. The real-time
    /// packet contains only the limiter's factor, so the slider is missing until it is known from another source.
    pub speed_scaling: Option<f32>,
    /// The position of the speed slider, 0 … 1; `None` if the packet does not contain it.
    #[doc(alias = "target_speed_fraction")]
    pub speed_slider: Option<f32>,
    /// The levels of the controller's digital inputs; bit 0 is the first. For an arm with FRI, the boolean variables
    /// that the KRL program sends.
    pub digital_inputs: u64,
    /// The levels of the controller's digital outputs; bit 0 is the first. `None` if the packet does not contain them.
    pub digital_outputs: Option<u64>,
    /// The payload of the arm in effect; `None` if the packet does not contain it.
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
    /// Returns the share of a commanded speed that the arm executes, 0 … 1: 1 if the speed scaling is unknown, 0 if it
    /// is NaN.
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

//! One reading of the arm, in the units of the control path.

use super::{
    JointPositions, JointVelocities, Payload, Pose, ProgramState, Reason, RobotMode, SafetyMode, Twist, Wrench,
};
use crate::math::double::scaled;
use crate::time::Duration;

/// The controller's own clock, in µs since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct ControllerTime(u64);

impl ControllerTime {
    /// `micros` µs after the controller's start.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// From seconds as the real-time packet has them; `None` for NaN, negative or beyond 10¹² s.
    #[must_use]
    pub fn from_secs(secs: f64) -> Option<Self> {
        let bits = secs.to_bits();
        // Doubles that are not negative are ordered as their bits are; negative ones come after them all.
        (bits < 1e12_f64.to_bits() || bits << 1 == 0).then(|| Self(scaled(secs, 1_000_000)))
    }

    /// µs since the controller's start.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero where `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// The report of the safety system, in one form for every generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum Safety {
    /// The safety mode of CB3 and later.
    Mode(SafetyMode),
    /// CB2: the robot mode stands for it; `Ok` unless the mode is one of the stops.
    FromRobotMode(RobotMode),
    /// Not sent by this stream.
    Unknown,
}

impl Safety {
    /// `None` where motion is allowed (NORMAL, REDUCED), the matching reason otherwise.
    #[must_use]
    pub const fn obstacle(self) -> Option<Reason> {
        match self {
            Self::Mode(mode) => match mode {
                SafetyMode::Normal | SafetyMode::Reduced => None,
                SafetyMode::ProtectiveStop => Some(Reason::ProtectiveStop),
                SafetyMode::SafeguardStop
                | SafetyMode::AutomaticModeSafeguardStop
                | SafetyMode::SystemThreePositionEnablingStop
                | SafetyMode::TpThreePositionEnablingStop
                | SafetyMode::ImmiSafeguardStop
                | SafetyMode::ProfisafeAutomaticModeSafeguardStop
                | SafetyMode::ProfisafeSafeguardStop
                | SafetyMode::SafetyApiSafeguardStop => Some(Reason::SafeguardStop),
                SafetyMode::SystemEmergencyStop
                | SafetyMode::RobotEmergencyStop
                | SafetyMode::ImmiEmergencyStop
                | SafetyMode::ProfisafeEmergencyStop => Some(Reason::EmergencyStop),
                SafetyMode::Violation | SafetyMode::Fault => Some(Reason::SafetyFault),
                SafetyMode::Recovery
                | SafetyMode::ValidateJointId
                | SafetyMode::UndefinedSafetyMode
                | SafetyMode::ProfisafeWaitingForParameters
                | SafetyMode::IoPlaneStop
                | SafetyMode::Unknown(_) => Some(Reason::SafetyNotNormal),
            },
            Self::FromRobotMode(mode) => match mode {
                RobotMode::SecurityStopped => Some(Reason::ProtectiveStop),
                RobotMode::EmergencyStopped => Some(Reason::EmergencyStop),
                RobotMode::SafeguardStop => Some(Reason::SafeguardStop),
                RobotMode::FatalError => Some(Reason::SafetyFault),
                RobotMode::Unknown(_) => Some(Reason::SafetyNotNormal),
                _ => None,
            },
            Self::Unknown => Some(Reason::EvidenceMissing),
        }
    }
}

/// One reading of an arm with `N` joints. Measured values may be NaN where the controller sent NaN:
/// who uses one for a command checks it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
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
    /// What the safety system says.
    pub safety: Safety,
    /// Program state where the packet has it (unconfirmed mapping).
    pub program_state: Option<ProgramState>,
    /// Factor on speeds by slider and limiter, 0 … 1, where the packet has it; the real-time packet has the limiter's
    /// alone, until the slider is known from elsewhere.
    pub speed_scaling: Option<f32>,
    /// Where the speed slider stands, 0 … 1, where the packet has it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controller_time_refuses_what_is_no_time() {
        assert_eq!(ControllerTime::from_secs(1504.032).map(ControllerTime::as_micros), Some(1_504_032_000));
        for bad in [f64::NAN, f64::INFINITY, -0.001, 1e13] {
            assert_eq!(ControllerTime::from_secs(bad), None);
        }
    }
}

//! Motion by hand guiding or by force mode: the parameters for the controller, checked before they are sent.
//!
//! ```
//! use outrigger_core::command::{ForceMode, ForceModeNote};
//!
//! // 20 N downwards, everything else held.
//! let press = ForceMode { selection: [false, false, true, false, false, false], ..ForceMode::pushing([0.0, 0.0, -20.0]) };
//! assert_eq!(press.check(true), Ok(None));
//! assert_eq!(press.check(false), Ok(Some(ForceModeNote::GainIgnored)), "a CB3 has no gain scaling");
//! let wild = ForceMode { gain_scaling: 2.5, ..press };
//! assert_eq!(wild.check(true).unwrap_err().to_string(), "gain scaling is 2.5, expected 0.0 to 2.0");
//! ```

use core::f32::consts::TAU;
use core::fmt;

use crate::robot::{Range, range_of};
use outrigger_wire::robot::{Pose, Wrench};

/// The type of force mode: the behaviour of its frame while the arm moves (`core/docs/protocol/ros2-surface.md 7.6`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum ForceType {
    /// The frame's y axis points from the tool centre point to the frame's origin.
    Point,
    /// The frame of force mode does not change while the arm moves.
    #[default]
    Frame,
    /// The frame's x axis is the tool's velocity projected onto the frame's x-y plane.
    Motion,
}

impl ForceType {
    /// Returns the type of force mode for its number in UR's function `force_mode`, 1 to 3; `None` for other numbers.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Point),
            2 => Some(Self::Frame),
            3 => Some(Self::Motion),
            _ => None,
        }
    }

    /// Returns the number of the type that UR's function `force_mode` takes, 1 to 3.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Point => 1,
            Self::Frame => 2,
            Self::Motion => 3,
        }
    }
}

/// The parameters of force mode, as UR's function `force_mode` takes them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ForceMode {
    /// The frame in which all other parameters are expressed, relative to the base.
    pub task_frame: Pose,
    /// The compliant axes: `true` if the arm yields along or around x, y, z, rx, ry, rz of the frame.
    pub selection: [bool; 6],
    /// The force \[N\] and torque \[Nm\] that the arm applies along and around the compliant axes.
    pub wrench: Wrench,
    /// The type of force mode: the behaviour of its frame while the arm moves.
    pub kind: ForceType,
    /// For a compliant axis the highest speed \[m/s, rad/s\]; for another the largest permitted deviation \[m, rad\].
    pub limits: [f32; 6],
    /// The damping of force mode: 0 keeps the speed, 1 reduces it quickly. Default 0.025.
    pub damping: f32,
    /// The factor on the gain of the force control; above 1 the arm can oscillate. Default 0.5; without effect on a
    /// CB3.
    pub gain_scaling: f32,
}

impl ForceMode {
    /// The range of each force of the wrench in force mode \[N\].
    pub const FORCE: Range<f32> = range_of!(-500.0 to 500.0 "N");
    /// The range of each torque of the wrench in force mode \[Nm\].
    pub const TORQUE: Range<f32> = range_of!(-100.0 to 100.0 "Nm");
    /// The range of the coordinates of the origin of force mode's frame \[m\].
    pub const ORIGIN: Range<f32> = range_of!(-10.0 to 10.0 "m");
    /// The range of the components of the rotation vector of force mode's frame \[rad\].
    pub const ROTATION: Range<f32> = Range { least: -TAU, most: TAU, text: "-2π to 2π rad" };
    /// The range of each axis's highest speed \[m/s, rad/s\] or largest deviation \[m, rad\] in force mode.
    pub const LIMIT: Range<f32> = range_of!(0.0001 to 5.0 "m/s, rad/s, m or rad");
    /// The range of the damping of force mode, without unit.
    pub const DAMPING: Range<f32> = range_of!(0.0 to 1.0);
    /// The range of the factor on the gain of force mode.
    pub const GAIN_SCALING: Range<f32> = range_of!(0.0 to 2.0);

    /// Returns parameters of force mode with this force \[N\] in the base's frame and no axis selected. A selected axis
    /// moves at up to 0.1 m/s or rad/s, another one is held within 0.1 m or rad. Damping and gain scaling are the
    /// defaults of ROS 2's service.
    #[must_use]
    pub const fn pushing(force: [f32; 3]) -> Self {
        Self {
            task_frame: Pose { position: [0.0; 3], rotation: [0.0; 3] },
            selection: [false; 6],
            wrench: Wrench { force, torque: [0.0; 3] },
            kind: ForceType::Frame,
            limits: [0.1; 6],
            damping: 0.025,
            gain_scaling: 0.5,
        }
    }

    /// Checks the parameters of force mode for a controller that has gain scaling, or that has none. Returns a note if
    /// they are accepted but may surprise.
    ///
    /// # Errors
    /// Returns the first number out of its range, or an error if no axis is compliant.
    pub fn check(&self, has_gain_scaling: bool) -> Result<Option<ForceModeNote>, ForceModeError> {
        let Self { task_frame, selection, wrench, limits, damping, gain_scaling, .. } = self;
        let each = |values: &[f32], range: Range<f32>, what| {
            let mut numbered = (0_u8..).zip(values.iter().copied());
            let wrong = numbered.find(|(_, value)| !range.contains(*value));
            wrong.map_or(Ok(()), |(at, found)| Err(ForceModeError::Number { what, at, found, expected: range.text }))
        };
        each(&task_frame.position, Self::ORIGIN, "task frame")?;
        each(&task_frame.rotation, Self::ROTATION, "rotation of the task frame")?;
        if !selection.contains(&true) {
            return Err(ForceModeError::NothingGivesWay);
        }
        each(&wrench.force, Self::FORCE, "force")?;
        each(&wrench.torque, Self::TORQUE, "torque")?;
        each(limits, Self::LIMIT, "limit")?;
        each(&[*damping], Self::DAMPING, "damping")?;
        each(&[*gain_scaling], Self::GAIN_SCALING, "gain scaling")?;
        Ok(match has_gain_scaling {
            false => Some(ForceModeNote::GainIgnored),
            true if *gain_scaling > 1.0 => Some(ForceModeNote::GainHigh),
            true => None,
        })
    }
}

/// A warning about parameters of force mode that are accepted, but have no effect or can make the arm oscillate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ForceModeNote {
    /// This controller has no gain scaling: the requested value has no effect.
    GainIgnored,
    /// The gain scaling of force mode is above 1: the arm can oscillate.
    GainHigh,
}

/// The reason for which parameters of force mode are rejected.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ForceModeError {
    /// A number in the parameters of force mode is out of its range or NaN.
    Number {
        /// The name of the rejected parameter of force mode.
        what: &'static str,
        /// The index of the rejected number, from 0, if the parameter has several numbers.
        at: u8,
        /// The rejected number in the parameter.
        found: f32,
        /// The accepted range of the rejected parameter.
        expected: &'static str,
    },
    /// No axis of force mode is selected as compliant.
    NothingGivesWay,
}

impl fmt::Display for ForceModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { what, at: 0, found, expected } => write!(f, "{what} is {found}, expected {expected}"),
            Self::Number { what, at, found, expected } => {
                write!(f, "{what}, number {at}, is {found}, expected {expected}")
            }
            Self::NothingGivesWay => f.write_str("no axis is selected: select at least one"),
        }
    }
}

impl core::error::Error for ForceModeError {}

/// The kind of guided motion: freedrive or force mode.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Guidance {
    /// Freedrive: the arm follows a hand, along and around every axis.
    Freedrive,
    /// Force mode: the arm applies a force along and around some axes.
    Force(ForceMode),
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESS: ForceMode =
        ForceMode { selection: [false, false, true, false, false, false], ..ForceMode::pushing([0.0, 0.0, -20.0]) };

    #[test]
    fn each_number_out_of_its_range_is_named() {
        type Case = (fn(&mut ForceMode), &'static str);
        let cases: [Case; 8] = [
            (|mode| mode.task_frame.position[1] = 11.0, "task frame, number 1, is 11, expected -10.0 to 10.0 m"),
            (|mode| mode.task_frame.rotation[0] = f32::NAN, "rotation of the task frame is NaN"),
            (|mode| mode.selection = [false; 6], "no axis is selected"),
            (|mode| mode.wrench.force[2] = -501.0, "force, number 2, is -501, expected -500.0 to 500.0 N"),
            (|mode| mode.wrench.torque[0] = f32::INFINITY, "torque is inf"),
            (|mode| mode.limits[5] = 0.0, "limit, number 5, is 0"),
            (|mode| mode.damping = 1.01, "damping is 1.01, expected 0.0 to 1.0"),
            (|mode| mode.gain_scaling = -0.1, "gain scaling is -0.1, expected 0.0 to 2.0"),
        ];
        for (spoil, said) in cases {
            let mut mode = PRESS;
            spoil(&mut mode);
            let error = mode.check(true).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
    }

    #[test]
    fn a_high_gain_is_told_and_one_without_effect_too() {
        let mode = ForceMode { gain_scaling: 1.5, ..PRESS };
        assert_eq!(mode.check(true), Ok(Some(ForceModeNote::GainHigh)));
        assert_eq!(mode.check(false), Ok(Some(ForceModeNote::GainIgnored)));
        assert_eq!((PRESS.check(true), PRESS.check(false)), (Ok(None), Ok(Some(ForceModeNote::GainIgnored))));
    }

    #[test]
    fn types_are_known_by_their_numbers() {
        for number in 0..=4 {
            assert_eq!(
                ForceType::from_number(number).map(ForceType::number),
                (1..=3).contains(&number).then_some(number)
            );
        }
    }
}

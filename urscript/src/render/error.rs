//! The error for a statement that was not rendered, and the ranges that limit arguments.

use super::version::Version;

/// The argument of a URScript statement that was rejected before rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Argument {
    /// The velocity of a joint, with the joint's index from 0 \[rad/s\].
    Velocity(u8),
    /// The position of a joint, with the joint's index from 0 \[rad\].
    Position(u8),
    /// The torque of a joint \[Nm\], or its rate of change \[Nm/s\], with the joint's index from 0.
    Torque(u8),
    /// The distance that a joint may travel in torque mode \[rad\].
    Travel,
    /// The acceleration of the leading axis \[rad/s²\].
    Acceleration,
    /// The deceleration of a `stopj`, or the one that is assumed for stopping distances \[rad/s²\].
    StopAcceleration,
    /// The duration of a motion call \[s\].
    Time,
    /// The look-ahead time of `servoj` \[s\].
    Lookahead,
    /// The gain of URScript's `servoj`.
    Gain,
    /// The number of an output or of an internal flag of the controller.
    Index,
    /// The level of an analog output, relative to its full range.
    Level,
    /// The payload mass \[kg\].
    Mass,
    /// A coordinate of the payload's centre of gravity, 0 = x \[m\].
    CenterOfGravity(u8),
    /// A component of the gravity vector, 0 = x \[m/s²\].
    Gravity(u8),
    /// A number of the tool centre point's pose: 0 to 2 are x, y, z \[m\], 3 to 5 its rotation vector \[rad\].
    Tcp(u8),
    /// The position of the speed slider, 0 to 1.
    SpeedSlider,
    /// The text of a log message or pop-up.
    Text,
    /// The title of a pop-up.
    Title,
    /// An element of the payload's inertia, from 0 in the order xx, yy, zz, xy, xz, yz \[kg·m²\].
    Inertia(u8),
    /// The time within which a payload takes effect \[s\].
    TransitionTime,
    /// The number of stop bits of the tool's serial line.
    StopBits,
    /// The silence on the tool's serial line after which received characters are passed on, in characters.
    RxIdleChars,
    /// The silence between two transmissions on the tool's serial line, in characters.
    TxIdleChars,
}

impl core::fmt::Display for Argument {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Velocity(joint) => write!(f, "velocity of joint {joint}"),
            Self::Position(joint) => write!(f, "position of joint {joint}"),
            Self::Torque(joint) => write!(f, "torque of joint {joint}"),
            Self::Travel => f.write_str("travel"),
            Self::Acceleration => f.write_str("acceleration"),
            Self::StopAcceleration => f.write_str("stop acceleration"),
            Self::Time => f.write_str("time"),
            Self::Lookahead => f.write_str("look-ahead time"),
            Self::Gain => f.write_str("gain"),
            Self::Index => f.write_str("index"),
            Self::Level => f.write_str("level"),
            Self::Mass => f.write_str("mass"),
            Self::CenterOfGravity(axis) => write!(f, "centre of gravity, axis {axis}"),
            Self::Inertia(element) => write!(f, "inertia, element {element}"),
            Self::TransitionTime => f.write_str("transition time"),
            Self::Gravity(axis) => write!(f, "gravity, axis {axis}"),
            Self::Tcp(number) => write!(f, "tool centre point, number {number}"),
            Self::SpeedSlider => f.write_str("speed slider"),
            Self::Text => f.write_str("text"),
            Self::Title => f.write_str("title"),
            Self::StopBits => f.write_str("number of stop bits"),
            Self::RxIdleChars => f.write_str("number of rx idle characters"),
            Self::TxIdleChars => f.write_str("number of tx idle characters"),
        }
    }
}

/// The reason why a URScript statement was not rendered. No part of the text may then be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum RenderError {
    /// The output buffer is too small for the statement's text.
    BufferTooSmall {
        /// The size that the whole statement needs \[B\].
        need: u16,
        /// The size of the caller's buffer \[B\].
        have: u16,
    },
    /// A number argument of the statement is not finite or out of its range.
    Number {
        /// The argument whose number was rejected.
        argument: Argument,
        /// The value of the argument; may be NaN.
        found: f32,
        /// The range of values that are allowed for the argument.
        allowed: Range,
    },
    /// A text argument contains a byte that cannot be written between quotes: a quote, a backslash, a control character
    /// or one outside ASCII.
    Character {
        /// The argument whose text was rejected.
        argument: Argument,
        /// The offset of the rejected byte in the text argument \[B\].
        at: u16,
        /// The byte that is not allowed in the text.
        found: u8,
    },
    /// A text argument of the statement is too long.
    TextTooLong {
        /// The argument whose text was rejected.
        argument: Argument,
        /// The length of the text \[B\], saturating.
        found: u16,
        /// The greatest allowed length of the text \[B\].
        allowed: u16,
    },
    /// The tool's serial line has no such baud rate.
    BaudRate {
        /// The baud rate that the caller requested \[baud\].
        found: u32,
    },
    /// The controller's software does not have the URScript statement.
    Unsupported {
        /// The version of the controller's software.
        version: Version,
        /// The first software version that has the statement.
        since: Version,
    },
}

impl core::error::Error for RenderError {}

/// The range of a statement argument's allowed values; includes both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Range {
    /// The smallest allowed value of the argument.
    pub min: f32,
    /// The largest allowed value of the argument.
    pub max: f32,
}

impl Range {
    pub(super) const fn new(min: f32, max: f32) -> Self {
        Self { min, max }
    }

    /// Returns the range of allowed values from `-max` to `max`.
    pub(super) const fn symmetric(max: f32) -> Self {
        Self { min: -max, max }
    }

    /// Checks that an argument's value is within the range. NaN and infinities never are.
    pub(super) fn check(self, argument: Argument, found: f32) -> Result<(), RenderError> {
        if found >= self.min && found <= self.max {
            Ok(())
        } else {
            Err(RenderError::Number { argument, found, allowed: self })
        }
    }

    /// Checks that every element of an array argument is within the range. `argument` makes the name of an element for
    /// the error from its index.
    pub(super) fn check_each(self, argument: fn(u8) -> Argument, values: &[f32]) -> Result<(), RenderError> {
        for (index, &found) in (0..).zip(values) {
            if !(found >= self.min && found <= self.max) {
                return self.check(argument(index), found);
            }
        }
        Ok(())
    }
}

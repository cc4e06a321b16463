//! The check of a motion against an arm's limits, before the arm moves.

use crate::command::Limits;
use crate::trajectory::{Leg, TrajectoryError};
use outrigger_wire::robot::JointPositions;

/// The kind of joint limit that a motion would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Quantity {
    /// The limit of a joint's angle \[rad\].
    Position,
    /// The limit of a joint's speed \[rad/s\].
    Velocity,
    /// The limit of a joint's acceleration \[rad/s²\].
    Acceleration,
}

impl Quantity {
    /// Returns the unit of this kind of joint limit.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Position => "rad",
            Self::Velocity => "rad/s",
            Self::Acceleration => "rad/s²",
        }
    }
}

/// A joint limit that a motion would exceed, and the value that it would reach.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Excess {
    /// The joint whose limit would be exceeded, counted from 0.
    pub joint: u8,
    /// The kind of limit that would be exceeded.
    pub quantity: Quantity,
    /// The value that the motion reaches, in the unit of `quantity`.
    pub reached: f32,
    /// The joint's limit, in the unit of `quantity`.
    pub allowed: f32,
}

impl core::fmt::Display for Excess {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { joint, quantity, reached, allowed } = self;
        let unit = quantity.unit();
        // Joints are counted from 1 in texts, as on the pendant.
        write!(f, "joint {} would reach {reached:.3} {unit}; its limit is {allowed:.3} {unit}", joint.saturating_add(1))
    }
}

/// The reason for which a waypoint or a motion is rejected while the arm is commanded.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FeedError {
    /// No motion exists that a waypoint could extend, or that could be replaced or cancelled.
    NoMotion,
    /// The law does not command the arm at present, so that no motion can be replaced or cancelled.
    NotCommanding,
    /// The waypoint cannot be appended to the law's motion, for this reason.
    Waypoint(TrajectoryError),
    /// The arm cannot reach the waypoint in its time within the joint limits.
    Beyond(Excess),
    /// The arm follows [streamed speeds, positions or torques](super::Forward), and no motion.
    #[cfg(feature = "motions")]
    Forwarded,
}

impl core::fmt::Display for FeedError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoMotion => f.write_str("there is no motion for it"),
            Self::NotCommanding => f.write_str("nothing is commanded now that could be replaced"),
            Self::Waypoint(error) => error.fmt(f),
            Self::Beyond(excess) => excess.fmt(f),
            #[cfg(feature = "motions")]
            Self::Forwarded => f.write_str("the arm moves by streamed commands: wait for standstill"),
        }
    }
}

impl core::error::Error for FeedError {}

/// Checks that an arm with these limits can execute this segment of a motion, without a reserve for feedback. `origin`
/// is added to every position; if it is `None`, because it is not known yet, positions are not compared.
///
/// # Errors
/// Returns the first limit that the segment would exceed.
pub fn survey<const N: usize>(
    leg: &Leg<N>,
    limits: &Limits<N>,
    origin: Option<&JointPositions<N>>,
) -> Result<(), Excess> {
    let exceeds = |quantity, reached: &[f32; N], allowed: &[f32; N], sign: f32| {
        let pairs = (0..).zip(reached.iter().zip(allowed));
        // Rounding changes the last digits of values that are equal to the limit.
        let over = |r: f32, a: f32| sign * (r - a) > 1e-5 * a.abs().max(0.1) || r.is_nan();
        let first = pairs.into_iter().find(|(_, (reached, allowed))| over(**reached, **allowed));
        first.map_or(Ok(()), |(joint, (&reached, &allowed))| Err(Excess { joint, quantity, reached, allowed }))
    };
    if let Some(origin) = origin {
        let (lowest, highest) = leg.extent();
        let moved = |angles: JointPositions<N>| angles.zip_with(origin.as_array(), |q, o| q + o);
        exceeds(Quantity::Position, moved(lowest).as_array(), limits.position_min.as_array(), -1.0)?;
        exceeds(Quantity::Position, moved(highest).as_array(), limits.position_max.as_array(), 1.0)?;
    }
    exceeds(Quantity::Velocity, leg.peak_velocities().as_array(), limits.velocity.as_array(), 1.0)?;
    exceeds(Quantity::Acceleration, leg.peak_accelerations().as_array(), limits.acceleration.as_array(), 1.0)
}

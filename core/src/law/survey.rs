//! Whether an arm can make a motion, before it moves.

use crate::command::Limits;
use crate::trajectory::{Leg, TrajectoryError};
use outrigger_wire::robot::JointPositions;

/// Which of the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Quantity {
    /// The angle of a joint \[rad\].
    Position,
    /// Its speed \[rad/s\].
    Velocity,
    /// Its acceleration \[rad/s²\].
    Acceleration,
}

impl Quantity {
    /// Its unit.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Position => "rad",
            Self::Velocity => "rad/s",
            Self::Acceleration => "rad/s²",
        }
    }
}

/// A limit that a motion would not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Excess {
    /// The joint, from 0.
    pub joint: u8,
    /// Of it.
    pub quantity: Quantity,
    /// What the motion reaches.
    pub reached: f32,
    /// What is allowed.
    pub allowed: f32,
}

impl core::fmt::Display for Excess {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { joint, quantity, reached, allowed } = self;
        let unit = quantity.unit();
        // People count joints from 1, as the pendant does.
        write!(f, "joint {} would reach {reached:.3} {unit}; its limit is {allowed:.3} {unit}", joint.saturating_add(1))
    }
}

/// Why a waypoint is not taken into a motion that runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FeedError {
    /// The law follows no motion, or one that is over.
    NoMotion,
    /// Nothing is commanded now that could be replaced.
    NotCommanding,
    /// What is wrong with it.
    Waypoint(TrajectoryError),
    /// The arm could not go there in this time.
    Beyond(Excess),
    /// The arm moves by [speeds, positions or torques that somebody streams](super::Forward).
    #[cfg(feature = "motions")]
    Forwarded,
}

impl core::fmt::Display for FeedError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoMotion => f.write_str("there is no motion that it could belong to"),
            Self::NotCommanding => f.write_str("nothing is commanded now that could be replaced"),
            Self::Waypoint(error) => error.fmt(f),
            Self::Beyond(excess) => excess.fmt(f),
            #[cfg(feature = "motions")]
            Self::Forwarded => f.write_str("the arm moves by commands that are streamed: wait until it rests"),
        }
    }
}

impl core::error::Error for FeedError {}

/// Whether an arm with these limits can go this way, with nothing to spare for feedback. `origin` is added to every
/// position; `None` where it is not known yet: then positions are not compared.
///
/// # Errors
/// The first limit that the way would not hold.
pub fn survey<const N: usize>(
    leg: &Leg<N>,
    limits: &Limits<N>,
    origin: Option<&JointPositions<N>>,
) -> Result<(), Excess> {
    let exceeds = |quantity, reached: &[f32; N], allowed: &[f32; N], sign: f32| {
        let pairs = (0..).zip(reached.iter().zip(allowed));
        // The same numbers come out of the reckoning with other last places.
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

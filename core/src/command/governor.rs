//! The governor, which checks the joint speeds that a control law requests before they are sent.
//!
//! | requested | outcome |
//! |---|---|
//! | NaN or infinite, or a state that is | refused, [`Reason::NotFinite`] |
//! | a joint faster than its limit and margin | refused, [`Reason::VelocityLimit`] |
//! | a joint faster than its limit, within the margin | all joints scaled down together |
//! | a change faster than the acceleration limit | the change shortened, all joints together |
//! | a joint that would not come to rest inside its range | refused, [`Reason::PositionLimit`] |
//!
//! Scaling all joints together keeps the direction of motion: a tool that is to move along a line does so while it
//! speeds up. Shaping is not a fault, but it is reported ([`Shaped`]).

use super::Limits;
use crate::robot::{Authority, Reason};
use outrigger_wire::math::bounded;
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::Duration;

/// The factors by which the governor reduced requested joint speeds, 0 … 1; both are 1 if they were granted unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shaped {
    /// The factor by which the velocity limits reduced the requested joint speeds, 0 … 1; 1 for no reduction.
    pub velocity: f32,
    /// The part of the requested change of joint speeds that the acceleration limits granted, 0 … 1.
    pub change: f32,
}

/// The joint speeds \[rad/s\] that may be sent, only during the call of the engine in which they were approved.
///
/// Only a [`Governor`] creates one. It holds by value the [`Authority`] to send them, the proof that the arm is commanded:
/// the function that turns it into bytes consumes it.
#[derive(Debug)]
#[must_use]
pub struct Approved<'machine, const N: usize> {
    velocities: &'machine JointVelocities<N>,
    shaped: Shaped,
    authority: Authority<'machine>,
}

impl<'machine, const N: usize> Approved<'machine, N> {
    /// Returns the approved joint speeds \[rad/s\]; finite and within the limits.
    #[must_use]
    pub const fn velocities(&self) -> &JointVelocities<N> {
        self.velocities
    }

    /// Returns the factors by which the governor reduced the requested joint speeds, 0 … 1.
    #[must_use]
    pub const fn shaped(&self) -> Shaped {
        self.shaped
    }

    /// Returns the approved joint speeds \[rad/s\], and the [`Authority`] that permits to send them, which exists only
    /// while the arm is commanded.
    #[must_use]
    pub fn into_parts(self) -> (JointVelocities<N>, Authority<'machine>) {
        (*self.velocities, self.authority)
    }
}

/// A governor of joint speeds: the limits, and the last approved speeds from which changes are limited.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Governor<const N: usize> {
    limits: Limits<N>,
    last: JointVelocities<N>,
}

impl<const N: usize> Governor<N> {
    /// Creates a governor whose last approved joint speeds are zero. `limits` must have been checked by
    /// [`Limits::check`]: limits that it rejects approve no motion here either.
    #[must_use]
    pub const fn new(limits: Limits<N>) -> Self {
        Self { limits, last: JointVelocities::ZERO }
    }

    /// Returns the limits that the governor applies to joint speeds.
    #[must_use]
    pub const fn limits(&self) -> &Limits<N> {
        &self.limits
    }

    /// Applies other limits of joint speeds from the next command on; these must have been [checked](Limits::check)
    /// too.
    pub const fn set_limits(&mut self, limits: Limits<N>) {
        self.limits = limits;
    }

    /// Returns the joint speeds that the governor approved last \[rad/s\].
    #[must_use]
    pub const fn last(&self) -> JointVelocities<N> {
        self.last
    }

    /// Sets the last approved joint speeds to zero. Must be called at each arming, when commanding begins: the arm is
    /// then commanded zero and at rest.
    pub const fn reset(&mut self) {
        self.last = JointVelocities::ZERO;
    }

    /// Approves, reduces or refuses the `wanted` joint speeds for an arm in `state`, `dt` after the last command by the
    /// controller's clock. After a refusal the last command is unchanged.
    ///
    /// # Errors
    /// See the table of this module.
    pub fn approve<'machine>(
        &'machine mut self,
        authority: Authority<'machine>,
        wanted: JointVelocities<N>,
        state: &State<N>,
        dt: Duration,
    ) -> Result<Approved<'machine, N>, Reason> {
        if !(wanted.is_finite() && state.positions.is_finite()) {
            return Err(Reason::NotFinite);
        }
        let (wanted, velocity) = self.within_velocity(wanted)?;
        let (velocities, change) = self.within_acceleration(wanted, dt);
        self.check_room(&velocities, state, dt)?;
        self.last = velocities;
        Ok(Approved { velocities: &self.last, shaped: Shaped { velocity, change }, authority })
    }

    /// Returns the `wanted` joint speeds and the factor by which they were reduced, 0 … 1: they are scaled down to the
    /// velocity limit if they exceed it by no more than the margin, and refused if by more.
    fn within_velocity(&self, wanted: JointVelocities<N>) -> Result<(JointVelocities<N>, f32), Reason> {
        let excess = largest_ratio(&wanted, &self.limits.velocity.0);
        if excess > 1.0 + self.limits.velocity_margin || excess.is_nan() {
            return Err(Reason::VelocityLimit);
        }
        if excess <= 1.0 {
            return Ok((wanted, 1.0));
        }
        let factor = 1.0 / excess;
        // The clamp removes the rounding of the factor: an approved speed is never above its limit.
        let scaled =
            wanted.zip_with(&self.limits.velocity.0, |v, limit| bounded(v * factor, -limit.abs(), limit.abs()));
        Ok((scaled, factor))
    }

    /// Returns the `wanted` joint speeds and the part of their change that was granted, 0 … 1: the change from the last
    /// approved speeds is shortened so that no joint exceeds its acceleration limit.
    fn within_acceleration(&self, wanted: JointVelocities<N>, dt: Duration) -> (JointVelocities<N>, f32) {
        let dt = dt.min(self.limits.longest_step).as_secs_f32();
        let step = wanted.zip_with(&self.last.0, |v, last| v - last);
        let steepest = largest_ratio(&step, &self.limits.acceleration.0);
        if steepest <= dt {
            return (wanted, 1.0);
        }
        let part = dt / steepest;
        (self.last.zip_with(&step.0, |last, change| last + change * part), part)
    }

    /// Checks that every joint would come to rest inside its range. It is assumed that the joint moves with the last
    /// command until the new one takes effect, with the new one until a stop takes effect, and then brakes.
    fn check_room(&self, velocities: &JointVelocities<N>, state: &State<N>, dt: Duration) -> Result<(), Reason> {
        let Limits { position_min, position_max, braking, .. } = &self.limits;
        let until_this = dt.as_secs_f32();
        // In a stop one joint is decisive, and all come to rest with it: a slow joint brakes for as long as the
        // fastest.
        let stop = largest_ratio(velocities, &braking.0);
        let until_rest = until_this + self.limits.reaction.as_secs_f32() + 0.5 * stop;
        let ranges = position_min.iter().zip(position_max.iter());
        let speeds = velocities.iter().zip(self.last.iter());
        for (((v, last), (min, max)), q) in speeds.zip(ranges).zip(state.positions.iter()) {
            let (room, v, last) = if v >= 0.0 { (max - q, v, last) } else { (q - min, -v, -last) };
            let travel = last.max(0.0) * until_this + v * until_rest;
            // A joint outside its range may stay at rest there, and may move back inwards.
            if v > 0.0 && (travel > room || travel.is_nan()) {
                return Err(Reason::PositionLimit);
            }
        }
        Ok(())
    }
}

/// Returns the largest |value| / limit over all joints; NaN if a limit is NaN or a division is undefined.
fn largest_ratio<const N: usize>(values: &JointVelocities<N>, limits: &[f32; N]) -> f32 {
    values.zip_with(limits, |v, limit| v / limit).max_abs()
}

#[cfg(test)]
mod tests;

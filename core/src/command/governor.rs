//! The governor: between what a law wants and what may be sent.
//!
//! | wanted | outcome |
//! |---|---|
//! | NaN or infinite, or a state that is | refused, [`Reason::NotFinite`] |
//! | a joint faster than its limit and margin | refused, [`Reason::VelocityLimit`] |
//! | a joint faster than its limit, within the margin | all joints scaled down together |
//! | a change faster than the acceleration limit | the change shortened, all joints together |
//! | a joint that would not come to rest inside its range | refused, [`Reason::PositionLimit`] |
//!
//! Scaling all joints together keeps the direction of motion: a tool that is to move along a line does so
//! while it speeds up. Shaping is not a fault, but it is reported ([`Shaped`]).

use super::Limits;
use crate::robot::{Authority, Reason};
use outrigger_wire::math::bounded;
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::Duration;

/// What the governor changed, as factors 0 … 1; both 1 where the wish was granted whole.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shaped {
    /// Factor on the wanted speeds, from the velocity limits.
    pub velocity: f32,
    /// Part of the wanted change that was granted, from the acceleration limits.
    pub change: f32,
}

/// Joint speeds that may be sent, in this engine call only.
///
/// Only a [`Governor`] makes one, and it holds the authority by value: the function that turns it into
/// bytes takes it apart.
#[derive(Debug)]
#[must_use]
pub struct Approved<'machine, const N: usize> {
    velocities: &'machine JointVelocities<N>,
    shaped: Shaped,
    authority: Authority<'machine>,
}

impl<'machine, const N: usize> Approved<'machine, N> {
    /// The speeds \[rad/s\]; finite and within the limits.
    #[must_use]
    pub const fn velocities(&self) -> &JointVelocities<N> {
        self.velocities
    }

    /// What was changed on the way.
    #[must_use]
    pub const fn shaped(&self) -> Shaped {
        self.shaped
    }

    /// The speeds, and the authority to send them.
    #[must_use]
    pub fn into_parts(self) -> (JointVelocities<N>, Authority<'machine>) {
        (*self.velocities, self.authority)
    }
}

/// Holds the limits, and the last approved speeds they are applied to.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Governor<const N: usize> {
    limits: Limits<N>,
    last: JointVelocities<N>,
}

impl<const N: usize> Governor<N> {
    /// A governor whose last command was zero. `limits` are checked by [`Limits::check`] beforehand: what
    /// that refuses is never approved here either.
    #[must_use]
    pub const fn new(limits: Limits<N>) -> Self {
        Self { limits, last: JointVelocities::ZERO }
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> &Limits<N> {
        &self.limits
    }

    /// Holds other limits from the next command on, [checked](Limits::check) beforehand as well.
    pub const fn set_limits(&mut self, limits: Limits<N>) {
        self.limits = limits;
    }

    /// The last approved speeds \[rad/s\].
    #[must_use]
    pub const fn last(&self) -> JointVelocities<N> {
        self.last
    }

    /// Forgets the last command: to be called at each arming, when the arm is commanded zero and at rest.
    pub const fn reset(&mut self) {
        self.last = JointVelocities::ZERO;
    }

    /// Approves, shapes or refuses the `wanted` speeds for an arm in `state`, `dt` after the last command
    /// by the controller's clock. A refusal leaves the last command as it was.
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

    /// Scales speeds within the margin down to the limit.
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

    /// Shortens the step from the last command so that no joint exceeds its acceleration.
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

    /// Whether every joint would come to rest inside its range: with the last command until this one is
    /// taken up, with this one until a stop is, then braking.
    fn check_room(&self, velocities: &JointVelocities<N>, state: &State<N>, dt: Duration) -> Result<(), Reason> {
        let Limits { position_min, position_max, braking, .. } = &self.limits;
        let until_this = dt.as_secs_f32();
        // One axis leads a stop, and all come to rest with it: a slow joint brakes for as long as the fastest.
        let stop = largest_ratio(velocities, &braking.0);
        let until_rest = until_this + self.limits.reaction.as_secs_f32() + 0.5 * stop;
        let ranges = position_min.iter().zip(position_max.iter());
        let speeds = velocities.iter().zip(self.last.iter());
        for (((v, last), (min, max)), q) in speeds.zip(ranges).zip(state.positions.iter()) {
            let (room, v, last) = if v >= 0.0 { (max - q, v, last) } else { (q - min, -v, -last) };
            let travel = last.max(0.0) * until_this + v * until_rest;
            // A joint that rests outside its range may stay there and may leave it inwards.
            if v > 0.0 && (travel > room || travel.is_nan()) {
                return Err(Reason::PositionLimit);
            }
        }
        Ok(())
    }
}

/// The largest |value| / limit of the joints; NaN where a limit is no number or a division is undefined.
fn largest_ratio<const N: usize>(values: &JointVelocities<N>, limits: &[f32; N]) -> f32 {
    values.zip_with(limits, |v, limit| v / limit).max_abs()
}

#[cfg(test)]
mod tests;

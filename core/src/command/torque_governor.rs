//! The governor of joint torques, which checks the torques that a control law requests before they are sent.
//!
//! | requested or measured | outcome |
//! |---|---|
//! | NaN or infinite | refused, [`Reason::NotFinite`] |
//! | a torque above [`TorqueLimits::torque`] | refused, [`Reason::TorqueLimit`] |
//! | a change faster than [`TorqueLimits::rise`] allows | the change shortened, all joints together |
//! | a joint measured faster than [`Limits::velocity`] | refused, [`Reason::VelocityLimit`] |
//! | a joint that would not come to rest inside its range | refused, [`Reason::PositionLimit`] |
//! | the same within [`TorqueLimits::travel`] of the position where torques began | refused, [`Reason::GuideLimit`] |
//!
//! The speed that a torque causes depends on the load, so measured speeds and positions are checked in each state. A
//! refusal ends commanding: no torque is sent, and the program on the controller brings the arm to rest.

use core::cell::Cell;

use super::{Limits, TorqueLimits};
use crate::robot::{Authority, Reason};
use outrigger_wire::math::bounded;
use outrigger_wire::robot::{JointPositions, JointTorques, JointVelocities, State};
use outrigger_wire::time::Duration;

/// Joint torques that may be sent, in this engine call only. Only a [`TorqueGovernor`] creates them.
#[derive(Debug)]
#[must_use]
pub struct ApprovedTorques<'machine, const N: usize> {
    torques: &'machine JointTorques<N>,
    authority: Authority<'machine>,
}

impl<'machine, const N: usize> ApprovedTorques<'machine, N> {
    /// Returns the joint torques, finite and within the limits \[Nm\], and the [`Authority`] that permits to send them,
    /// which exists only while the arm is commanded.
    #[must_use]
    pub const fn into_parts(self) -> (JointTorques<N>, Authority<'machine>) {
        (*self.torques, self.authority)
    }
}

/// A governor of joint torques: the limits, and the last approved torques from which changes are limited.
#[derive(Clone, Copy, Debug)]
pub struct TorqueGovernor<const N: usize> {
    limits: TorqueLimits<N>,
    memory: TorqueMemory<N>,
}

/// The state of a [`TorqueGovernor`] that the [checkpoints](crate::recorder::Checkpoint) of a recording contain: all of
/// it except the limits.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct TorqueMemory<const N: usize> {
    last: JointTorques<N>,
    /// The joint positions at which torque commands began; `None` while none are commanded.
    from: Option<JointPositions<N>>,
}

impl<const N: usize> TorqueGovernor<N> {
    /// Creates a governor whose last command was zero torque. `limits` must have been checked.
    #[must_use]
    pub fn new(limits: TorqueLimits<N>) -> Self {
        Self { limits, memory: TorqueMemory::default() }
    }

    /// Returns the limits that the governor applies to joint torques.
    #[must_use]
    pub const fn limits(&self) -> &TorqueLimits<N> {
        &self.limits
    }

    /// Discards the last torque command and the positions at which torque commands began, because the arm is at rest or
    /// is being brought to rest.
    pub fn reset(&mut self) {
        self.memory = TorqueMemory::default();
    }

    /// Returns the state of the torque governor for a [checkpoint](crate::recorder::Checkpoint) of a recording, without
    /// the limits.
    #[cfg(feature = "record")]
    #[must_use]
    pub const fn saved(&self) -> &TorqueMemory<N> {
        &self.memory
    }

    /// Restores the state of the torque governor that was [saved](Self::saved) in a checkpoint of a recording.
    #[cfg(feature = "record")]
    pub const fn resume(&mut self, memory: TorqueMemory<N>) {
        self.memory = memory;
    }

    /// Approves, reduces or refuses the `wanted` torques for an arm in `state`, `dt` after the last command by the
    /// controller's clock. `scale`, from 0 to 1, is the part of them that remains while a sensor reading that is too
    /// old is still used; the limits apply to `wanted` itself. After a refusal the last command is unchanged.
    ///
    /// # Errors
    /// See the table of this module.
    pub fn approve<'machine>(
        &'machine mut self,
        authority: Authority<'machine>,
        wanted: JointTorques<N>,
        scale: f32,
        state: &State<N>,
        arm: &Limits<N>,
        dt: Duration,
    ) -> Result<ApprovedTorques<'machine, N>, Reason> {
        if !(wanted.is_finite() && state.positions.is_finite() && state.velocities.is_finite()) {
            return Err(Reason::NotFinite);
        }
        let beyond = wanted.iter().zip(self.limits.torque.iter()).any(|(torque, most)| torque.abs() > most);
        if beyond {
            return Err(Reason::TorqueLimit);
        }
        if state.velocities.iter().zip(arm.velocity.iter()).any(|(speed, most)| speed.abs() > most) {
            return Err(Reason::VelocityLimit);
        }
        let from = *self.memory.from.get_or_insert(state.positions);
        let until_rest = time_to_rest(state, arm, dt);
        let ways = || {
            let joints = from.iter().zip(state.positions.iter()).zip(state.velocities.iter());
            joints.map(|((from, at), v)| Way { from, at, rests_at: at + v * until_rest })
        };
        let ranges = arm.position_min.iter().zip(arm.position_max.iter());
        if !ways().zip(ranges).all(|(way, (low, high))| way.is_within(low, high)) {
            return Err(Reason::PositionLimit);
        }
        let travel = self.limits.travel;
        if !ways().all(|way| way.is_within(way.from - travel, way.from + travel)) {
            return Err(Reason::GuideLimit);
        }
        let wanted = wanted.map(|torque| torque * scale);
        let dt = dt.min(arm.longest_step);
        self.memory.last = approach(&self.memory.last, &wanted, &self.limits.change_in(dt));
        Ok(ApprovedTorques { torques: &self.memory.last, authority })
    }
}

/// Returns the time \[s\] which, multiplied by the measured speed of a joint, gives its distance to rest: the time
/// until a stop takes effect, plus half the braking time of the joint that brakes longest.
fn time_to_rest<const N: usize>(state: &State<N>, arm: &Limits<N>, dt: Duration) -> f32 {
    let longest = state.velocities.zip_with(&arm.braking.0, |v, braking| v / braking).max_abs();
    dt.as_secs_f32() + arm.reaction.as_secs_f32() + 0.5 * longest
}

/// The positions of a joint under torque commands \[rad\]: at their beginning, now, and at rest after a stop.
#[derive(Clone, Copy)]
struct Way {
    /// The joint's position when torque commands began \[rad\].
    from: f32,
    at: f32,
    rests_at: f32,
}

impl Way {
    /// Returns whether the joint is, and will rest, between the angles `low` and `high` \[rad\]. A joint that began
    /// outside may stay there and may move back inside.
    fn is_within(&self, low: f32, high: f32) -> bool {
        let low = if self.from < low { self.from - STAYS } else { low };
        let high = if self.from > high { self.from + STAYS } else { high };
        let within = |at: f32| low <= at && at <= high;
        within(self.at) && within(self.rests_at)
    }
}

/// The displacement below which a joint counts as not moving \[rad\]: measured angles are not quite constant.
const STAYS: f32 = 1e-3;

/// Returns the `wanted` joint torques \[Nm\], with the change from `last` shortened so that none changes by more than
/// `most`.
pub(super) fn approach<const N: usize>(
    last: &JointTorques<N>,
    wanted: &JointTorques<N>,
    most: &JointTorques<N>,
) -> JointTorques<N> {
    let step = wanted.zip_with(&last.0, |torque, last| torque - last);
    let steepest = step.zip_with(&most.0, |change, most| change / most).max_abs();
    if steepest <= 1.0 {
        return *wanted;
    }
    // NaN occurs if no time has passed and nothing changes: no change is made.
    let part = if steepest.is_finite() { 1.0 / steepest } else { 0.0 };
    last.zip_with(&step.0, |last, change| last + change * part)
}

/// The largest supported number of joints of an arm.
pub(super) const MOST_JOINTS: usize = 7;

/// The slot in which a law stores the joint torques of one step, if torques are sent to the controller in place of
/// speeds.
#[derive(Debug)]
pub(crate) struct TorqueSlot {
    most: [f32; MOST_JOINTS],
    wanted: Cell<Option<[f32; MOST_JOINTS]>>,
}

impl TorqueSlot {
    /// Returns an empty slot, in which a law leaves the joint torques of a step, for an arm with these torque limits.
    #[must_use]
    pub(crate) fn new<const N: usize>(limits: &TorqueLimits<N>) -> Self {
        Self { most: spread(&limits.torque), wanted: Cell::new(None) }
    }

    /// Stores the joint torques \[Nm\] that the law commands in this step, in place of earlier ones.
    pub(super) fn put<const N: usize>(&self, torques: &JointTorques<N>) {
        self.wanted.set(Some(spread(torques)));
    }

    /// Returns the highest permitted torque of each joint \[Nm\].
    pub(super) fn most<const N: usize>(&self) -> JointTorques<N> {
        gather(&self.most)
    }

    /// Removes and returns the joint torques \[Nm\] that the law has stored; `None` if there are none.
    #[must_use]
    pub(crate) fn take<const N: usize>(&self) -> Option<JointTorques<N>> {
        self.wanted.take().map(|wanted| gather(&wanted))
    }
}

pub(super) fn spread<const N: usize>(torques: &JointTorques<N>) -> [f32; MOST_JOINTS] {
    const { assert!(N <= MOST_JOINTS, "a place for each joint") };
    let mut out = [0.0; MOST_JOINTS];
    out.iter_mut().zip(&torques.0).for_each(|(out, torque)| *out = *torque);
    out
}

pub(super) fn gather<const N: usize>(values: &[f32; MOST_JOINTS]) -> JointTorques<N> {
    let mut out = JointTorques::ZERO;
    out.0.iter_mut().zip(values).for_each(|(out, value)| *out = *value);
    out
}

/// Returns the torques \[Nm\] that bring joints from their `measured` speeds to those `wanted`: `gain` times their
/// limits for each rad/s, at most the limits.
#[must_use]
pub(crate) fn towards<const N: usize>(
    wanted: &JointVelocities<N>,
    measured: &JointVelocities<N>,
    most: &JointTorques<N>,
    gain: f32,
) -> JointTorques<N> {
    let lacks = wanted.zip_with(&measured.0, |wanted, measured| gain * (wanted - measured));
    most.zip_with(&lacks.0, |most, share| bounded(*share, -1.0, 1.0) * most)
}

#[cfg(test)]
mod tests;

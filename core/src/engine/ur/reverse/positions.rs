//! Approved speeds become joint positions, for a program that moves by `servoj`.
//!
//! Whole nanoradians: a cycle's share of a slow motion is below the last place of an `f32` angle.

use crate::command::{Approved, Limits};
use crate::robot::{ControllerTime, JointVelocities, Reason, State};
use crate::time::Duration;

/// Nanoradians of a microradian.
const NANO: i64 = 1_000;

/// Where the arm is commanded to be.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Positions {
    /// \[nrad\]
    at: [i64; 6],
    /// Since when it is where it is, by the controller's clock; `None` while no arming has begun.
    since: Option<ControllerTime>,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The new target \[µrad\].
    pub(super) to: [i32; 6],
    /// How many cycles it is from the one before.
    pub(super) cycles: u16,
}

impl Positions {
    pub(super) const UNKNOWN: Self = Self { at: [0; 6], since: None };

    /// Nothing is commanded any more.
    pub(super) const fn forget(&mut self) {
        self.since = None;
    }

    /// The target \[µrad\] that keeps the arm where it is: the controller's own, from the first state of an arming on.
    pub(super) fn hold(&mut self, state: &State<6>) -> [i32; 6] {
        if self.since.is_none() {
            // What is sent is finite, or nothing is armed.
            self.at = state.target_positions.0.map(|q| ((q * 1e6) as i64).saturating_mul(NANO));
        }
        self.since = Some(state.controller_time);
        self.micros()
    }

    /// The target \[µrad\] comes back to the controller's own, no faster than a joint may move: what it was taken ahead while
    /// nobody knew that the robot's speed scaling holds the arm is not to be caught up with.
    pub(super) fn settle(&mut self, state: &State<6>, limits: &Limits<6>) -> [i32; 6] {
        let passed = self.since.map_or(Duration::ZERO, |since| state.controller_time.since(since));
        let nanos = passed.min(limits.longest_step).as_micros() as f32 * 1e3;
        let joints = self.at.iter_mut().zip(state.target_positions.iter()).zip(limits.velocity.iter());
        for ((at, target), fastest) in joints {
            let (away, most) =
                (((target * 1e6) as i64).saturating_mul(NANO).saturating_sub(*at), (fastest * nanos) as i64);
            *at = at.saturating_add(away.max(most.saturating_neg()).min(most));
        }
        self.since = Some(state.controller_time);
        self.micros()
    }

    /// The target one step on, as far as the approved speeds take it: the only function that makes a position of them. The
    /// robot's speed scaling shortens the step; where positions wait in a `ring`, of which one is taken out in each period, it
    /// has our own time stand still instead, by a period of zero.
    ///
    /// # Errors
    /// `PositionLimit` where it would leave its range, `TrackingError` where the arm is more than `divergence` \[rad\] away.
    pub(super) fn advance(
        &mut self,
        approved: Approved<'_, 6>,
        state: &State<6>,
        limits: &Limits<6>,
        divergence: f32,
        ring: Option<Duration>,
    ) -> Result<Step, Reason> {
        let (JointVelocities(speeds), _authority) = approved.into_parts();
        if self.since.is_none() {
            self.hold(state);
        }
        let passed = self.since.map_or(Duration::ZERO, |since| state.controller_time.since(since));
        // After lost states a step is no longer than what was approved may last.
        let passed = passed.min(limits.longest_step);
        let (scaling, cycles) = match ring {
            None => (state.scaling(), 1),
            Some(Duration::ZERO) => (0.0, 1),
            Some(period) => {
                (1.0, (passed + period.percent(50)).as_micros().checked_div(period.as_micros()).unwrap_or(1))
            }
        };
        let nanos = passed.as_micros() as f32 * 1e3 * scaling;
        let mut next = *self;
        let ranges = limits.position_min.iter().zip(limits.position_max.iter());
        let joints = next.at.iter_mut().zip(speeds).zip(state.positions.iter()).zip(ranges);
        for (((at, speed), measured), (lowest, highest)) in joints {
            *at = at.saturating_add((speed * nanos) as i64);
            let to = (*at / NANO) as f32 * 1e-6;
            if to < lowest || to > highest {
                return Err(Reason::PositionLimit);
            }
            // Also where a number is none.
            let near = (to - measured).abs() <= divergence;
            if !near {
                return Err(Reason::TrackingError);
            }
        }
        next.since = Some(state.controller_time);
        *self = next;
        Ok(Step { to: self.micros(), cycles: u16::try_from(cycles).unwrap_or(u16::MAX).max(1) })
    }

    fn micros(&self) -> [i32; 6] {
        self.at.map(|at| i32::try_from(at / NANO).unwrap_or_default())
    }
}

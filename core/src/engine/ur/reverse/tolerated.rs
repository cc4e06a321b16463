//! The tolerances of a move that leads on, in its own time: its target and the measured joints against the plan where the program says
//! that it is, and the goal after its end.
//!
//! What is shown may be three cycles old, and the arm is some cycles behind: a joint counts as off by what it is from everywhere the
//! plan has it within three cycles of what is shown.

use super::legs::Legs;
use crate::robot::{ControllerTime, Reason, State};
use crate::time::Duration;
use crate::trajectory::{Tolerances, Watch};

/// Cycles that what is shown may be old.
const OLD: u64 = 3;

/// What a move that leads on is held to.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Tolerated {
    watch: Watch<6>,
    /// How much of its own time it could have made since it went on its way \[ns\], and the newest state of it.
    passed: Option<(u64, ControllerTime)>,
}

impl Tolerated {
    /// A move that has not begun.
    pub(super) const fn new(tolerances: Tolerances<6>) -> Self {
        Self { watch: Watch::new(tolerances), passed: None }
    }

    pub(super) const fn watch(&self) -> &Watch<6> {
        &self.watch
    }

    /// Takes a state while the program shows `elapsed` µs of the move along `legs`, in cycles of `period`; `paused`: its time stands.
    ///
    /// # Errors
    /// The tolerance that does not hold.
    pub(super) fn observe(
        &mut self,
        legs: &Legs,
        elapsed: u64,
        period: Duration,
        state: &State<6>,
        paused: bool,
    ) -> Result<(), Reason> {
        let late = period.times(OLD);
        let off = |positions| legs.off(elapsed, late, positions).ok_or(Reason::Internal);
        let farther = |a: f32, b: &f32| if a.abs() > b.abs() { a } else { *b };
        let error = off(&state.positions)?.zip_with(off(&state.target_positions)?.as_array(), farther);
        self.watch.allows(&error)?;
        let Some(whole) = legs.whole() else { return Ok(()) };
        let scaling = if paused { 0.0 } else { state.scaling() };
        let (passed, at) = self.passed.unwrap_or((elapsed.saturating_mul(1_000), state.controller_time));
        let dt = state.controller_time.since(at);
        let nanos = (dt.as_secs_f32().min(1.0) * scaling * 1e9) as u32;
        let passed = passed.saturating_add(u64::from(nanos));
        if elapsed > 0 {
            self.passed = Some((passed, state.controller_time));
        }
        let (ends, overdue) = (whole.as_micros(), passed > (whole + late).as_micros().saturating_mul(1_000));
        let goal = legs.planned(ends).ok_or(Reason::Internal)?;
        let error = state.positions.zip_with(goal.as_array(), |q, goal| q - goal);
        if elapsed >= ends {
            self.watch.observe_goal(&error, dt, scaling)
        } else if overdue {
            // It has not come to its end: near its goal it may be, but it is not over.
            self.watch.is_late(dt, scaling)
        } else {
            Ok(())
        }
    }
}

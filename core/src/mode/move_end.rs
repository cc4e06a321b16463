//! The end of a move that the controller executes, requested in `Command`: the arm comes to rest, and stays commanded.
//!
//! | state of the move | output |
//! |---|---|
//! | it is still to start | unchanged: it starts, and is ended at once |
//! | it may run | `Cancel` per state in place of `Keep`, until the program shows its end |
//! | the program does not show its end within [`stop_timeout`](super::ModeConfig::stop_timeout), not counting pauses | commanding ends: `NotAtRest` |
//!
//! Another end of commanding meanwhile cancels the move as usual.
//!
//! ```
//! use outrigger_core::mode::{ModeConfig, ModeMachine, MoveEnd};
//! use outrigger_core::robot::Reason;
//! use outrigger_wire::time::{Duration, Instant};
//!
//! let machine = ModeMachine::new(ModeConfig::new(Duration::from_millis(8)));
//! assert_eq!(MoveEnd::default().ask(&machine, Instant::ZERO), Err(Reason::NotCommanding));
//! ```

use super::ModeConfig;
use super::evidence::Evidence;
use super::machine::ModeMachine;
use super::move_types::MoveNumber;
use crate::robot::Reason;
use outrigger_wire::time::Instant;

/// The request to end a move early, if one was made. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct MoveEnd {
    /// The number of the move to end, and the time since which its end is awaited, postponed while the program is
    /// paused or the move has not started.
    asked: Option<(MoveNumber, Instant)>,
}

impl MoveEnd {
    /// Requests the end of the move that the controller executes, or is about to. Returns its number.
    ///
    /// # Errors
    /// `NotCommanding` if there is no move, or the program has shown its end.
    pub fn ask(&mut self, machine: &ModeMachine, now: Instant) -> Result<MoveNumber, Reason> {
        let number = machine.unfinished_move().ok_or(Reason::NotCommanding)?;
        // A repeated request does not extend the wait.
        if self.asked.is_none_or(|(before, _)| before != number) {
            self.asked = Some((number, now));
        }
        Ok(number)
    }

    /// Returns the number of the move for which [`Action::Cancel`](super::Action::Cancel) is sent in place of
    /// keep-alives, so that it ends early; `None` if no end is requested, or the program has shown the end.
    #[must_use]
    pub fn cancels(&self, machine: &ModeMachine) -> Option<MoveNumber> {
        let (number, _) = self.asked?;
        machine.unfinished_move().filter(|unfinished| *unfinished == number)
    }

    /// Checks by a state that the mode machine has already observed whether the requested end of the move is overdue.
    /// Returns the reason that ends commanding, to be passed to [`ModeMachine::fault`]; `None` if there is none.
    pub fn observe(
        &mut self,
        machine: &ModeMachine,
        evidence: &Evidence,
        config: &ModeConfig,
        now: Instant,
    ) -> Option<Reason> {
        if self.cancels(machine).is_none() {
            self.asked = None;
        }
        let (_, since) = self.asked.as_mut()?;
        // A paused program takes no message, and a move that is still to start is not late.
        if evidence.is_paused() || !machine.executes_move() {
            *since = now;
        }
        (now.since(*since) > config.stop_timeout).then_some(Reason::NotAtRest)
    }
}

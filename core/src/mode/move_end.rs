//! The end of a move that the controller executes, asked for in `Command`: the arm rests, and stays commanded.
//!
//! | when | what goes out |
//! |---|---|
//! | the move is still to begin | as ever: it begins, and is ended at once |
//! | it may run | `Cancel` per state in place of `Keep`, until its end is shown |
//! | its end is not shown within [`stop_timeout`](super::ModeConfig::stop_timeout), pauses not counted | commanding ends: `NotAtRest` |
//!
//! Whatever ends commanding meanwhile cancels the move as ever.
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
use super::moves::MoveNumber;
use crate::robot::Reason;
use outrigger_wire::time::Instant;

/// The end that was asked for last. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct MoveEnd {
    /// Of which move, and since when it is waited for, put off by pauses.
    asked: Option<(MoveNumber, Instant)>,
}

impl MoveEnd {
    /// The move that the controller executes, or is about to, is to end: its number.
    ///
    /// # Errors
    /// `NotCommanding` where there is none, or its end is shown.
    pub fn ask(&mut self, machine: &ModeMachine, now: Instant) -> Result<MoveNumber, Reason> {
        let number = machine.unfinished_move().ok_or(Reason::NotCommanding)?;
        // Whoever asks again does not wait for longer.
        if self.asked.is_none_or(|(before, _)| before != number) {
            self.asked = Some((number, now));
        }
        Ok(number)
    }

    /// The move for which `Cancel` goes out where `Keep` would.
    #[must_use]
    pub fn cancels(&self, machine: &ModeMachine) -> Option<MoveNumber> {
        let (number, _) = self.asked?;
        machine.unfinished_move().filter(|unfinished| *unfinished == number)
    }

    /// Takes a state, after the machine has: what ends commanding, for [`ModeMachine::fault`].
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
        // A program that is paused hears nothing, and a move that is to begin is not late.
        if evidence.is_paused() || !machine.executes_move() {
            *since = now;
        }
        (now.since(*since) > config.stop_timeout).then_some(Reason::NotAtRest)
    }
}

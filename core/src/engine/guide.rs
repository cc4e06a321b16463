//! Motion that a hand or a force makes, and the end of motion that the controller makes, asked for from outside: in place of
//! inputs, between two of them.

use core::fmt;

use super::Engine;
use super::controller::Controller;
use crate::command::{ForceModeError, Guidance};
use crate::law::Law;
use crate::mode::{Asker, GuideLimits, MoveNumber};
use crate::robot::{BadValue, Reason};
use outrigger_wire::time::Instant;

/// Why the arm is not given away to a hand or a force.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum GuideError {
    /// It must not begin now, or there is no program for it.
    Refused(Reason),
    /// What `force_mode` is asked for cannot be asked for.
    Force(ForceModeError),
    /// A limit is out of its range.
    Limits(BadValue),
}

impl fmt::Display for GuideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => f.write_str(reason.text()),
            Self::Force(error) => error.fmt(f),
            Self::Limits(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for GuideError {}

impl<const N: usize, P: Controller<N>, L: Law<N>> Engine<'_, N, P, L> {
    /// The arm is to give way to a hand or a force from where it rests, in `Command`, while `asker` renews it: the number that
    /// the program on the controller will mirror. The law rests from now on, also when it is over: see [`stream`](Self::stream).
    /// Where the controller executes a move a force acts beside it, by the same number, and ends with it.
    ///
    /// # Errors
    /// The first thing against, and nothing changes: see [`Guide::begin`](crate::mode::Guide::begin); `NoSuchProgram` where no
    /// program of ours does this.
    pub fn guide(
        &mut self,
        what: Guidance,
        asker: Asker,
        limits: GuideLimits,
        now: Instant,
    ) -> Result<MoveNumber, GuideError> {
        self.account();
        if let Guidance::Force(mode) = &what {
            // What a controller has no scaling of the gain makes of it is no error.
            mode.check(true).map_err(GuideError::Force)?;
        }
        limits.check_ranges().map_err(GuideError::Limits)?;
        self.peer.can_guide().map_err(GuideError::Refused)?;
        let beside = matches!(what, Guidance::Force(_)) && self.cycle.executes();
        let begun = if beside { self.cycle.join(asker, limits, now) } else { self.cycle.guide(asker, limits, now) };
        let number = begun.map_err(GuideError::Refused)?;
        self.cycle.suspend_ended(&mut self.law);
        self.record_change();
        self.peer.guided(what, beside);
        Ok(number)
    }

    /// Who began it goes on answering for it.
    ///
    /// # Errors
    /// `NotYours` where somebody else began it, `NotCommanding` where nothing of the kind goes on.
    pub fn renew_guide(&mut self, asker: Asker, now: Instant) -> Result<(), Reason> {
        self.account();
        self.cycle.renew(asker, now)?;
        self.record_change();
        Ok(())
    }

    /// It is to end, whoever asks: the arm comes to rest in `Command`, and nothing begins by itself.
    ///
    /// # Errors
    /// `NotCommanding` where nothing of the kind goes on, `MoveNotStarted` where it is still to begin: release it then.
    pub fn end_guide(&mut self) -> Result<(), Reason> {
        self.account();
        self.cycle.end_guide()?;
        self.record_change();
        Ok(())
    }

    /// The move that the controller executes, or is about to, is to end, whoever asks: the arm comes to rest in `Command`, and
    /// nothing begins by itself. In place of an input, like [`delegate`](Self::delegate).
    ///
    /// # Errors
    /// `NotCommanding` where there is none.
    pub fn end_move(&mut self, now: Instant) -> Result<(), Reason> {
        self.account();
        self.cycle.end_move(now)?;
        self.record_change();
        self.peer.move_ends();
        Ok(())
    }

    /// Whether a contact of the tool is to end what the program on the controller makes by itself, from now on.
    ///
    /// # Errors
    /// `NoSuchProgram` where no program of ours does this, `PathUnfit` where this software does not tell of contacts.
    pub fn stop_at_contact(&mut self, stops: bool) -> Result<(), Reason> {
        self.account();
        self.peer.stop_at_contact(stops)?;
        self.record_change();
        Ok(())
    }

    /// Whether a hand or a force moves the arm, or is about to.
    #[must_use]
    pub const fn is_guided(&self) -> bool {
        self.cycle.is_guided()
    }
}

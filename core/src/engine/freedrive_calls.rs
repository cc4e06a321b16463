//! Freedrive and force mode, and the end of a motion that the controller executes, requested from outside. The calls
//! are made between two inputs, in place of an input.

use core::fmt;

use super::Engine;
use super::controller::Controller;
use crate::command::{ForceModeError, Guidance};
use crate::law::Law;
use crate::mode::{ClientNumber, GuideLimits, MoveNumber};
use crate::robot::{BadValue, Reason};
use outrigger_wire::time::Instant;

/// The reason for which freedrive or force mode is rejected.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum GuideError {
    /// Freedrive or force mode is not possible now, or no program of ours on the controller supports it.
    Refused(Reason),
    /// The parameters of `force_mode` are not valid.
    Force(ForceModeError),
    /// A limit of freedrive or force mode is out of its range.
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
    /// Starts freedrive or force mode from where the arm rests while it is commanded. Returns the number under which
    /// the program on the controller will report it. Freedrive or force mode lasts while the client `asker` renews it.
    ///
    /// The control law is suspended from now on, and stays suspended after the end: see [`stream`](Self::stream). If
    /// the controller executes a move, force mode runs together with the move, has the same number and ends with it.
    ///
    /// # Errors
    /// The first reason against it; nothing changes then. See [`Guide::begin`](crate::mode::Guide::begin).
    /// `NoSuchProgram` if no program of ours supports it.
    pub fn guide(
        &mut self,
        what: Guidance,
        asker: ClientNumber,
        limits: GuideLimits,
        now: Instant,
    ) -> Result<MoveNumber, GuideError> {
        self.account();
        if let Guidance::Force(mode) = &what {
            // A controller without a scaling of the gain ignores it; that is not an error.
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

    /// Renews freedrive or force mode on behalf of the client that started it.
    ///
    /// # Errors
    /// `NotYours` if another client started it, `NotCommanding` if neither is active.
    pub fn renew_guide(&mut self, asker: ClientNumber, now: Instant) -> Result<(), Reason> {
        self.account();
        self.cycle.renew(asker, now)?;
        self.record_change();
        Ok(())
    }

    /// Ends freedrive or force mode; any client may request it. The arm comes to rest, commanding continues, and no
    /// other motion starts by itself.
    ///
    /// # Errors
    /// `NotCommanding` if neither is active, `MoveNotStarted` if it has not started yet: use a release then.
    pub fn end_guide(&mut self) -> Result<(), Reason> {
        self.account();
        self.cycle.end_guide()?;
        self.record_change();
        Ok(())
    }

    /// Ends the move that the controller executes or is about to execute; any client may request it. The arm comes to
    /// rest, commanding continues, and no other motion starts by itself. Call it in place of an input, like
    /// [`delegate`](Self::delegate).
    ///
    /// # Errors
    /// `NotCommanding` if there is no move.
    pub fn end_move(&mut self, now: Instant) -> Result<(), Reason> {
        self.account();
        self.cycle.end_move(now)?;
        self.record_change();
        self.peer.move_ends();
        Ok(())
    }

    /// Sets whether a contact of the tool ends a motion that the program on the controller executes, from now on.
    ///
    /// # Errors
    /// `NoSuchProgram` if no program of ours supports it, `PathUnfit` if this controller software does not report
    /// contacts.
    pub fn stop_at_contact(&mut self, stops: bool) -> Result<(), Reason> {
        self.account();
        self.peer.stop_at_contact(stops)?;
        self.record_change();
        Ok(())
    }

    /// Returns `true` while freedrive or force mode is active, or about to start.
    #[must_use]
    pub const fn is_guided(&self) -> bool {
        self.cycle.is_guided()
    }
}

//! The permissions of the teach pendant: locked so that it cannot move the arm while this driver commands it, and
//! restored afterwards.

use super::sequence_base::{Course, Progress, Sequence, SequenceEvent, SequenceInput};
use super::sequence_error::SequenceError;
use outrigger_wire::dashboard::{OperationalMode, Reply, Request, RequestKind, UserRole};
use outrigger_wire::robot::{Generation, SoftwareVersion};
use outrigger_wire::time::Instant;

/// The permissions of the pendant before it was locked, to be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// The role of the pendant's user before the pendant was locked, on CB3.
    Role(UserRole),
    /// The operational mode before the pendant was locked, on e-Series; `None` if no password was set for it, or if it
    /// cannot be queried.
    Mode(Option<OperationalMode>),
}

/// A sequence that locks the pendant, or restores its earlier permissions.
///
/// | controller | lock | restore |
/// |---|---|---|
/// | CB3 from 3.1 | user role `locked` | the earlier role |
/// | e-Series | operational mode `automatic`, which the pendant can no longer change | `manual` if it was before; the pendant may choose again |
///
/// PolyScope X offers neither to a client.
#[derive(Clone, Debug)]
pub struct Pendant {
    course: Course,
    state: State,
    before: Option<Before>,
    locks: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Queries the present role of the pendant's user or the operational mode.
    Look,
    Set,
    /// Verifies the user's new role by a query; a new operational mode is confirmed by its reply.
    Verify,
    /// Permits the pendant of an e-Series to choose the operational mode again.
    GiveBack,
}

impl Pendant {
    /// Creates the sequence that keeps the pendant from moving the arm.
    #[must_use]
    pub fn lock(software: SoftwareVersion) -> Self {
        let mut course = Course::new(software);
        course.requires(if cb(software) { RequestKind::SetUserRole } else { RequestKind::SetOperationalMode });
        // e-Series before 5.6 have no query for the mode.
        let asks = cb(software) || course.knows(RequestKind::OperationalMode);
        let (state, before) = if asks { (State::Look, None) } else { (State::Set, Some(Before::Mode(None))) };
        Self { course, state, before, locks: true }
    }

    /// Creates the sequence that restores the pendant's earlier permissions.
    #[must_use]
    pub fn put_back(software: SoftwareVersion, before: Before) -> Self {
        let mut course = Course::new(software);
        let state = match before {
            Before::Role(_) => {
                course.requires(RequestKind::SetUserRole);
                State::Set
            }
            Before::Mode(mode) => {
                course.requires(RequestKind::ClearOperationalMode);
                if mode == Some(OperationalMode::Manual) { State::Set } else { State::GiveBack }
            }
        };
        Self { course, state, before: Some(before), locks: false }
    }

    /// Returns the permissions that the pendant had before it was locked, to be passed to [`Pendant::put_back`] after a
    /// lock; `None` while they are not known.
    #[must_use]
    pub const fn before(&self) -> Option<Before> {
        self.before
    }

    /// Returns the role of the pendant's user that the sequence sets on CB3; `None` on e-Series, where it sets the
    /// operational mode.
    fn role(&self) -> Option<UserRole> {
        match self.before {
            _ if self.locks && cb(self.course.software) => Some(UserRole::Locked),
            Some(Before::Role(role)) => Some(role),
            _ => None,
        }
    }

    fn take(&mut self, reply: &Reply<'_>) {
        let wanted = self.role();
        match (self.state, reply) {
            (State::Look, Reply::UserRole(role)) => {
                self.course.say(Progress::Role(*role));
                self.before = Some(Before::Role(*role));
                self.state = State::Set;
            }
            (State::Look, Reply::OperationalMode(mode)) => {
                self.course.say(Progress::OperationalMode(*mode));
                self.before = Some(Before::Mode(*mode));
                self.state = State::Set;
            }
            (State::Set, Reply::Done(_)) if wanted.is_some() => {
                self.course.say(Progress::Sent(RequestKind::SetUserRole));
                self.state = State::Verify;
            }
            (State::Set, Reply::Done(_)) => {
                self.course.say(Progress::Sent(RequestKind::SetOperationalMode));
                if self.locks {
                    self.course.done();
                }
                self.state = State::GiveBack;
            }
            (State::Verify, Reply::UserRole(role)) => {
                self.course.say(Progress::Role(*role));
                if Some(*role) == wanted {
                    self.course.done();
                } else {
                    self.course.stop(SequenceError::Role(*role));
                }
            }
            (State::GiveBack, Reply::Done(_)) => {
                self.course.say(Progress::Sent(RequestKind::ClearOperationalMode));
                self.course.done();
            }
            (State::Look, other) => {
                let asked = if wanted.is_some() { RequestKind::UserRole } else { RequestKind::OperationalMode };
                self.course.unexpected(asked, other);
            }
            (State::Verify, other) => self.course.unexpected(RequestKind::UserRole, other),
            (State::Set, other) => {
                let asked = if wanted.is_some() { RequestKind::SetUserRole } else { RequestKind::SetOperationalMode };
                self.course.unexpected(asked, other);
            }
            (State::GiveBack, other) => self.course.unexpected(RequestKind::ClearOperationalMode, other),
        }
    }
}

fn cb(software: SoftwareVersion) -> bool {
    matches!(software.generation(), Generation::Cb2 | Generation::Cb3)
}

impl Sequence for Pendant {
    fn handle(&mut self, _: Instant, input: SequenceInput<'_>) {
        if let Some(reply) = self.course.reply(input) {
            self.take(&reply);
        }
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        let own = match (self.state, self.role()) {
            (State::Look | State::Verify, Some(_)) => Request::UserRole,
            (State::Look | State::Verify, None) => Request::OperationalMode,
            (State::Set, Some(role)) => Request::SetUserRole(role),
            (State::Set, None) if self.locks => Request::SetOperationalMode(OperationalMode::Automatic),
            (State::Set, None) => Request::SetOperationalMode(OperationalMode::Manual),
            (State::GiveBack, _) => Request::ClearOperationalMode,
        };
        self.course.ask(Some(own))
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        self.course.poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

//! The lock of a CB3's pendant while the arm is commanded, which is released whenever commanding ends.
//!
//! | state | requests | continues |
//! |---|---|---|
//! | `Open` | nothing | the arm is commanded: `Look` |
//! | `Look` | the role of the pendant's user | a role: `Keep`; locked already, or no role: `Open` until commanding ends |
//! | `Keep` | that the role is stored for a later process | stored: `Lock`; not possible: `Open` |
//! | `Lock` | the role `locked` | done: `Held`; refused: `Check` |
//! | `Held` | nothing | nothing is commanded: `Check` |
//! | `Check` | the role | locked: `Back`; another role: the stored role is discarded, `Open` |
//! | `Back` | the stored role | `Check` |
//!
//! A request without a reply is repeated after [`RETRY`](PendantLock::RETRY), and at once when commanding ends. A lock
//! whose reply was lost is assumed to be in force. The pendant is therefore always unlocked again as long as its
//! dashboard server replies; if this process dies, the stored role tells a later process what to restore.
//!
//! The lock does not delay motion and motion does not depend on it: the lock follows the mode, never the other way
//! round.

use heapless::Deque;

use crate::mode::Mode;
use outrigger_wire::dashboard::{Reply, Request, UserRole};
use outrigger_wire::time::{Duration, Instant};

/// A state machine that locks the pendant while the arm is commanded, on CB3 from 3.1 on
/// (`core/docs/protocol/ur-dashboard.md 3`).
///
/// Pass one input, then drain [`poll_output`](Self::poll_output) and [`poll_event`](Self::poll_event) until both are
/// `None`, then sleep until [`poll_timeout`](Self::poll_timeout). Each output except [`LockOutput::Forget`] is answered
/// by one input.
///
/// ```
/// use outrigger_core::client::dashboard::{LockInput, LockOutput, PendantLock};
/// use outrigger_core::mode::Mode;
/// use outrigger_wire::time::Instant;
/// use outrigger_wire::dashboard::{Reply, Request, UserRole};
///
/// let (mut lock, now) = (PendantLock::new(), Instant::ZERO);
/// lock.handle(now, LockInput::Mode(Mode::Arming));
/// assert_eq!(lock.poll_output(), Some(LockOutput::Ask(Request::UserRole)));
/// lock.handle(now, LockInput::Reply(Reply::UserRole(UserRole::Programmer)));
/// assert_eq!(lock.poll_output(), Some(LockOutput::Keep(UserRole::Programmer)));
/// lock.handle(now, LockInput::Kept(true));
/// assert_eq!(lock.poll_output(), Some(LockOutput::Ask(Request::SetUserRole(UserRole::Locked))));
/// ```
#[derive(Clone, Debug)]
pub struct PendantLock {
    state: State,
    /// `true` while the arm is commanded, as the engine's mode shows.
    commanded: bool,
    /// `true` if no further attempt to lock the pendant is made until the arm is no longer commanded.
    given_up: bool,
    /// `true` while a request to the caller, to query, set or store a role, waits for its answer.
    asked: bool,
    /// `true` if the caller is to discard the stored role of the pendant's user.
    forget: bool,
    /// The time before which no further request for the pendant is sent; `None` for no wait.
    until: Option<Instant>,
    /// `true` if the lack of a reply from the dashboard server was already reported.
    silent: bool,
    news: Deque<LockEvent, 8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Look,
    Keep(UserRole),
    Lock(UserRole),
    Held(UserRole),
    Check(UserRole),
    Back(UserRole),
}

/// An input of a [`PendantLock`]: the engine's mode, an answer to its last request, or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockInput<'a> {
    /// The present mode of the engine, which shows whether the arm is commanded.
    Mode(Mode),
    /// The result of [`LockOutput::Keep`]: `true` if the role of the pendant's user was stored.
    Kept(bool),
    /// The controller's reply to the last request of [`LockOutput::Ask`].
    Reply(Reply<'a>),
    /// The controller did not reply to the last request for the pendant, which may have been executed all the same.
    NoAnswer,
    /// The time has advanced: a due request is repeated. Permitted at any time.
    Tick,
}

/// An action that a [`PendantLock`] requests from its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOutput {
    /// Send this request to the dashboard server.
    Ask(Request<'static>),
    /// Store this role until [`Forget`](Self::Forget), even if this process dies: it is the role to restore.
    Keep(UserRole),
    /// Discard the stored role of the pendant's user.
    Forget,
}

/// An event of the pendant's lock that people should be informed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockEvent {
    /// The pendant is locked; its user had this role before, which will be restored.
    Locked(UserRole),
    /// The pendant is unlocked: its user has this earlier role again.
    GivenBack(UserRole),
    /// Another client has given the pendant this role meanwhile, which is left in force.
    Changed(UserRole),
    /// Another client has already locked the pendant; it stays locked.
    LockedAlready,
    /// The pendant is not locked, because the role to restore cannot be stored.
    NotKept,
    /// The pendant is not locked, because the controller does not report the role of the pendant's user. Only software
    /// of CB3 from 3.1 on supports the query.
    NotTold,
    /// The controller refuses to give the pendant's user this role.
    Refused(UserRole),
    /// The dashboard server does not reply; the request for the pendant is repeated.
    NoAnswer,
}

impl Default for PendantLock {
    fn default() -> Self {
        Self::new()
    }
}

impl PendantLock {
    /// The time between two attempts of a request that was not answered.
    pub const RETRY: Duration = Duration::from_secs(1);

    /// Creates the state machine of a pendant that this process has not locked.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: State::Open,
            commanded: false,
            given_up: false,
            asked: false,
            forget: false,
            until: None,
            silent: false,
            news: Deque::new(),
        }
    }

    /// Creates the lock of a pendant that an earlier process may have left locked. `role` is the user role that it
    /// stored: a pendant that is still locked gets this role back.
    #[must_use]
    pub fn left_behind(role: UserRole) -> Self {
        Self { state: State::Check(role), ..Self::new() }
    }

    /// Returns whether the lock is idle: this driver neither has locked the pendant nor is about to, and no role is
    /// stored.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open) && !self.forget
    }

    /// Processes one input at `now`, and determines the next request for the pendant.
    pub fn handle(&mut self, now: Instant, input: LockInput<'_>) {
        match input {
            LockInput::Mode(mode) => {
                let commanded = mode.drives();
                if self.commanded && !commanded {
                    (self.until, self.given_up) = (None, false);
                }
                self.commanded = commanded;
            }
            LockInput::Kept(kept) if core::mem::take(&mut self.asked) => {
                if let State::Keep(role) = self.state {
                    self.state = if kept { State::Lock(role) } else { self.give_up(LockEvent::NotKept) };
                }
            }
            LockInput::Reply(reply) if core::mem::take(&mut self.asked) => {
                self.silent = false;
                self.state = self.after(&reply, now);
            }
            LockInput::NoAnswer if core::mem::take(&mut self.asked) => {
                self.until = Some(now + Self::RETRY);
                if !core::mem::replace(&mut self.silent, true) {
                    self.say(LockEvent::NoAnswer);
                }
            }
            LockInput::Kept(_) | LockInput::Reply(_) | LockInput::NoAnswer => {}
            LockInput::Tick => {
                if self.until.is_some_and(|until| until <= now) {
                    self.until = None;
                }
            }
        }
        self.settle();
    }

    /// Returns the state of the lock that follows from the controller's reply.
    fn after(&mut self, reply: &Reply<'_>, now: Instant) -> State {
        match (self.state, reply) {
            (State::Look, Reply::UserRole(UserRole::Locked)) => self.give_up(LockEvent::LockedAlready),
            (State::Look, Reply::UserRole(role)) => State::Keep(*role),
            (State::Look, _) => self.give_up(LockEvent::NotTold),
            (State::Lock(role), Reply::Done(_)) => {
                self.say(LockEvent::Locked(role));
                State::Held(role)
            }
            (State::Lock(role), _) => {
                self.give_up(LockEvent::Refused(UserRole::Locked));
                State::Check(role)
            }
            (State::Check(role), Reply::UserRole(UserRole::Locked)) => State::Back(role),
            (State::Check(role), Reply::UserRole(found)) => {
                // If the lock was refused, nothing has changed.
                if !self.given_up {
                    self.say(if *found == role { LockEvent::GivenBack(role) } else { LockEvent::Changed(*found) });
                }
                self.forget = true;
                State::Open
            }
            (State::Check(role), _) => {
                self.until = Some(now + Self::RETRY);
                State::Check(role)
            }
            (State::Back(role), Reply::Done(_)) => State::Check(role),
            (State::Back(role), _) => {
                self.say(LockEvent::Refused(role));
                self.until = Some(now + Self::RETRY);
                State::Check(role)
            }
            (state @ (State::Open | State::Keep(_) | State::Held(_)), _) => state,
        }
    }

    /// Starts or ends the lock of the pendant as the engine's mode demands, unless an answer is awaited.
    fn settle(&mut self) {
        if self.asked {
            return;
        }
        self.state = match self.state {
            State::Open if self.commanded && !self.given_up && !self.forget => State::Look,
            State::Look if !self.commanded => State::Open,
            State::Keep(_) if !self.commanded => {
                self.forget = true;
                State::Open
            }
            State::Lock(role) | State::Held(role) if !self.commanded => State::Check(role),
            state => state,
        };
    }

    fn give_up(&mut self, news: LockEvent) -> State {
        self.given_up = true;
        self.say(news);
        State::Open
    }

    fn say(&mut self, news: LockEvent) {
        // If the caller takes no events, the newest are lost; the state machine continues.
        let _ = self.news.push_back(news);
    }

    /// Returns the next action for the pendant's lock that the caller has to take; `None` while an answer or a time is
    /// awaited, and if there is nothing to do.
    pub fn poll_output(&mut self) -> Option<LockOutput> {
        if core::mem::take(&mut self.forget) {
            self.settle();
            return Some(LockOutput::Forget);
        }
        if self.asked || self.until.is_some() {
            return None;
        }
        let output = match self.state {
            State::Open | State::Held(_) => return None,
            State::Look | State::Check(_) => LockOutput::Ask(Request::UserRole),
            State::Keep(role) => LockOutput::Keep(role),
            State::Lock(_) => LockOutput::Ask(Request::SetUserRole(UserRole::Locked)),
            State::Back(role) => LockOutput::Ask(Request::SetUserRole(role)),
        };
        self.asked = true;
        Some(output)
    }

    /// Returns the next event of the pendant's lock; `None` if there is none.
    pub fn poll_event(&mut self) -> Option<LockEvent> {
        self.news.pop_front()
    }

    /// Returns the time at which [`LockInput::Tick`] is due; `None` while no time is awaited.
    #[must_use]
    pub const fn poll_timeout(&self) -> Option<Instant> {
        self.until
    }
}

impl core::fmt::Display for LockEvent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Locked(before) => {
                write!(f, "the pendant is locked while the arm is commanded; its role was {}", before.word())
            }
            Self::GivenBack(role) => write!(f, "the pendant's role is restored: {}", role.word()),
            Self::Changed(role) => write!(f, "the pendant's role was changed meanwhile, and stays: {}", role.word()),
            Self::LockedAlready => f.write_str("the pendant was locked before, and stays locked"),
            Self::NotKept => f.write_str("the pendant is not locked: its role cannot be saved for restoring it"),
            Self::NotTold => f.write_str(
                "the pendant is not locked: this controller does not report its pendant's role; CB3 does, from 3.1 \
                 on",
            ),
            Self::Refused(UserRole::Locked) => f.write_str("the pendant is not locked: the controller refuses that"),
            Self::Refused(role) => write!(f, "the controller refuses to restore the pendant's role, {}", role.word()),
            Self::NoAnswer => f.write_str("the dashboard server does not answer; retrying the pendant's role"),
        }
    }
}

#[cfg(test)]
mod tests;

//! The pendant of a CB3 is locked while the arm is commanded, and given back on every way out.
//!
//! | state | asks | goes on |
//! |---|---|---|
//! | `Open` | nothing | the arm is commanded: `Look` |
//! | `Look` | the role of the pendant's user | a role: `Keep`; it is locked already, or says nothing: `Open`, and not again before nothing is commanded |
//! | `Keep` | that the role is kept where a later process finds it | it is: `Lock`; it cannot be: `Open` |
//! | `Lock` | the role `locked` | done: `Held`; refused: `Check` |
//! | `Held` | nothing | nothing is commanded: `Check` |
//! | `Check` | the role | it is locked: `Back`; another one: the kept role is forgotten, `Open` |
//! | `Back` | the role that was kept | `Check` |
//!
//! Where no answer comes the same is asked again after [`RETRY`](PendantLock::RETRY), and at once when nothing is commanded any
//! more. A lock that may have been obeyed is taken for one. So on every way the pendant is given back as long as its dashboard
//! server answers, and what is kept says to a later process what to give back where this one has died.
//!
//! Nothing here delays motion, or depends on it: the lock follows the mode, never the other way round.

use heapless::Deque;

use crate::mode::Mode;
use outrigger_wire::dashboard::{Reply, Request, UserRole};
use outrigger_wire::time::{Duration, Instant};

/// Locks the pendant while the arm is commanded, on CB3 from 3.1 on (`core/docs/protocol/ur-dashboard.md 3`).
///
/// One input, then drain [`poll_output`](Self::poll_output) and [`poll_event`](Self::poll_event) until both are `None`, then sleep
/// until [`poll_timeout`](Self::poll_timeout). Each output but [`LockOutput::Forget`] has one input as its answer.
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
    /// As the mode has it.
    commanded: bool,
    /// It is of no use before nothing is commanded.
    given_up: bool,
    /// What was asked is not answered.
    asked: bool,
    /// The role that is kept is of no use any more.
    forget: bool,
    /// Nothing is asked until then.
    until: Option<Instant>,
    /// That there is no answer was told.
    silent: bool,
    news: Deque<LockNews, 8>,
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

/// What happened outside a [`PendantLock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockInput<'a> {
    /// The mode of the machine that commands.
    Mode(Mode),
    /// Whether what [`LockOutput::Keep`] asked for is kept.
    Kept(bool),
    /// The controller's answer to the last request.
    Reply(Reply<'a>),
    /// There is no answer to the last request; it may have been obeyed.
    NoAnswer,
    /// Time has passed. Always harmless.
    Tick,
}

/// What is to be done for a [`PendantLock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOutput {
    /// This request is to be put to the dashboard server.
    Ask(Request<'static>),
    /// This role is to be kept until [`Forget`](Self::Forget), also where this process dies: it is what the pendant is given back.
    Keep(UserRole),
    /// Nothing is to be kept any more.
    Forget,
}

/// What people should know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockNews {
    /// It is locked; it had this role before.
    Locked(UserRole),
    /// It has its role again.
    GivenBack(UserRole),
    /// Somebody else has given it this role meanwhile, which it keeps.
    Changed(UserRole),
    /// Somebody else has locked it: left as it is.
    LockedAlready,
    /// What it would have to be given back cannot be kept: it is not locked.
    NotKept,
    /// The controller does not say what its pendant may do: it is not locked. No software has the question but that of CB3 from
    /// 3.1 on.
    NotTold,
    /// The controller refuses to set this role.
    Refused(UserRole),
    /// The dashboard server does not answer; it is asked again.
    NoAnswer,
}

impl Default for PendantLock {
    fn default() -> Self {
        Self::new()
    }
}

impl PendantLock {
    /// Time between two tries.
    pub const RETRY: Duration = Duration::from_secs(1);

    /// Nothing is locked by us.
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

    /// An earlier process has kept this `role`, and not forgotten it: where the pendant is locked it is given back.
    #[must_use]
    pub fn left_behind(role: UserRole) -> Self {
        Self { state: State::Check(role), ..Self::new() }
    }

    /// Whether nothing is locked by us, as far as can be known, and nothing is kept.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open) && !self.forget
    }

    /// Takes one input at `now`.
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
                    self.state = if kept { State::Lock(role) } else { self.give_up(LockNews::NotKept) };
                }
            }
            LockInput::Reply(reply) if core::mem::take(&mut self.asked) => {
                self.silent = false;
                self.state = self.after(&reply, now);
            }
            LockInput::NoAnswer if core::mem::take(&mut self.asked) => {
                self.until = Some(now + Self::RETRY);
                if !core::mem::replace(&mut self.silent, true) {
                    self.say(LockNews::NoAnswer);
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

    /// Where the controller's answer leads.
    fn after(&mut self, reply: &Reply<'_>, now: Instant) -> State {
        match (self.state, reply) {
            (State::Look, Reply::UserRole(UserRole::Locked)) => self.give_up(LockNews::LockedAlready),
            (State::Look, Reply::UserRole(role)) => State::Keep(*role),
            (State::Look, _) => self.give_up(LockNews::NotTold),
            (State::Lock(role), Reply::Done(_)) => {
                self.say(LockNews::Locked(role));
                State::Held(role)
            }
            (State::Lock(role), _) => {
                self.give_up(LockNews::Refused(UserRole::Locked));
                State::Check(role)
            }
            (State::Check(role), Reply::UserRole(UserRole::Locked)) => State::Back(role),
            (State::Check(role), Reply::UserRole(found)) => {
                // Where the lock was refused nothing has changed.
                if !self.given_up {
                    self.say(if *found == role { LockNews::GivenBack(role) } else { LockNews::Changed(*found) });
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
                self.say(LockNews::Refused(role));
                self.until = Some(now + Self::RETRY);
                State::Check(role)
            }
            (state @ (State::Open | State::Keep(_) | State::Held(_)), _) => state,
        }
    }

    /// What follows from the mode, once nothing is waited for.
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

    fn give_up(&mut self, news: LockNews) -> State {
        self.given_up = true;
        self.say(news);
        State::Open
    }

    fn say(&mut self, news: LockNews) {
        // Whoever takes none misses the newest: it goes on all the same.
        let _ = self.news.push_back(news);
    }

    /// The next thing to do; `None` while an answer or a time is waited for, and while there is nothing to do.
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

    /// The next news; `None` once all are taken.
    pub fn poll_event(&mut self) -> Option<LockNews> {
        self.news.pop_front()
    }

    /// When [`LockInput::Tick`] is due; `None` while no time is waited for.
    #[must_use]
    pub const fn poll_timeout(&self) -> Option<Instant> {
        self.until
    }
}

impl core::fmt::Display for LockNews {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Locked(before) => write!(f, "the pendant is locked while the arm is commanded; its role was {}", before.word()),
            Self::GivenBack(role) => write!(f, "the pendant has its role again: {}", role.word()),
            Self::Changed(role) => write!(f, "the pendant was given another role by somebody else, and keeps it: {}", role.word()),
            Self::LockedAlready => f.write_str("the pendant is locked by somebody else, and is left as it is"),
            Self::NotKept => {
                f.write_str("the pendant is not locked: its role cannot be written down, and nobody could give it back")
            }
            Self::NotTold => f.write_str(
                "the pendant is not locked: this controller does not say what its pendant may do; CB3 does, from 3.1 on",
            ),
            Self::Refused(UserRole::Locked) => f.write_str("the pendant is not locked: the controller refuses that"),
            Self::Refused(role) => write!(f, "the controller refuses to give the pendant its role again, {}", role.word()),
            Self::NoAnswer => f.write_str("the dashboard server does not answer; what the pendant may do is asked again"),
        }
    }
}

#[cfg(test)]
mod tests;

//! The common parts of all sequences: their interface, their events, and the handling of refusals.

use heapless::Deque;

use super::sequence_error::SequenceError;
use outrigger_wire::dashboard::{OperationalMode, Refusal, Reply, Request, RequestKind, Support, UserRole};
use outrigger_wire::robot::{ProgramState, RobotMode, SafetyMode, SoftwareVersion, Text};
use outrigger_wire::time::{Duration, Instant};

/// A series of requests with one goal, independent of the service that carries them: a dashboard server or the Robot
/// API.
///
/// Pass one input, then drain [`poll_event`](Self::poll_event) and [`poll_output`](Self::poll_output) until both are
/// `None`, then sleep until [`poll_timeout`](Self::poll_timeout). The first request is available from the beginning;
/// each further one follows from the reply to the one before.
pub trait Sequence {
    /// Processes one input of the sequence of requests at `now`, which must never decrease.
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>);

    /// Returns the next request for the controller; `None` while a reply or a time is awaited, and at the end.
    fn poll_output(&mut self) -> Option<Request<'_>>;

    /// Returns the next event of the sequence; `None` if there is none. The last one is [`SequenceEvent::Done`] or
    /// [`SequenceEvent::Stopped`].
    fn poll_event(&mut self) -> Option<SequenceEvent>;

    /// Returns the time of the next [`SequenceInput::Tick`]; `None` while no time is awaited.
    fn poll_timeout(&self) -> Option<Instant>;
}

/// An input of a [`Sequence`] of requests: a reply of the controller, or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceInput<'a> {
    /// The controller's reply to the last request of the sequence.
    Reply(Reply<'a>),
    /// The time has advanced: a request becomes available once the wait before it is over. Permitted at any time.
    Tick,
}

/// An event of a [`Sequence`] of requests: progress, or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceEvent {
    /// A report of progress towards the goal, to be shown to people.
    Progress(Progress),
    /// The goal of the sequence of requests is reached: the sequence has ended.
    Done,
    /// The sequence ended before its goal was reached, for this reason.
    Stopped(SequenceError),
}

/// A report of progress in a sequence of requests to a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// A request that changes the robot was sent, and the controller accepted it.
    Sent(RequestKind),
    /// The safety mode, if it differs from the one reported before.
    Safety(SafetyMode),
    /// The robot mode, if it differs from the one reported before.
    RobotMode(RobotMode),
    /// The protective stop cannot be unlocked yet; the sequence waits.
    Locked {
        /// The remaining time until the request to unlock the protective stop is sent.
        wait: Duration,
    },
    /// A request was rejected for lack of remote control, which a connection from before the switch to remote control
    /// never has: a new connection is made.
    ConnectsAnew,
    /// The state of the controller's program, and the program's name.
    Program(ProgramState, Text<64>),
    /// The controller accepted the request, but its software supports no query that would confirm the effect.
    Unconfirmed(RequestKind),
    /// The role that the pendant's user has on the controller.
    Role(UserRole),
    /// The operational mode of the controller; `None` if no password is set for it.
    OperationalMode(Option<OperationalMode>),
}

impl core::fmt::Display for Progress {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Sent(request) => write!(f, "sent: {}", request.words()),
            Self::Safety(mode) => write!(f, "safety mode: {mode}"),
            Self::RobotMode(mode) => write!(f, "robot mode: {mode}"),
            Self::Locked { wait } => {
                let tenths = wait.as_millis().div_ceil(100);
                write!(f, "locked for another {}.{} s", tenths / 10, tenths % 10)
            }
            Self::ConnectsAnew => f.write_str("no longer in local control: reconnecting"),
            Self::Program(state, name) if name.as_str().is_empty() => write!(f, "program: {state}"),
            Self::Program(state, name) => write!(f, "program: {state} {name}"),
            Self::Unconfirmed(request) => {
                write!(f, "'{}' accepted; its effect is not reported", request.words())
            }
            Self::Role(role) => write!(f, "user role: {}", role.word()),
            Self::OperationalMode(None) => f.write_str("operational mode: none, no password is set for it"),
            Self::OperationalMode(Some(mode)) => write!(f, "operational mode: {}", mode.word()),
        }
    }
}

/// The outcome of a request that changes the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acted {
    /// The controller accepted the request that changes the robot.
    Yes,
    /// The controller rejected the request for lack of remote control, perhaps on this connection only: it is sent
    /// again.
    Again,
    /// The controller rejected the request that changes the robot, or its reply is unknown: the sequence has ended.
    No,
}

/// The progress of a sequence of requests, and its events that were not taken yet.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) software: SoftwareVersion,
    /// `true` while a request to the controller waits for its reply.
    asked: bool,
    progress: Deque<Progress, 8>,
    end: Option<Result<(), SequenceError>>,
    /// `true` once the end of the sequence was reported.
    ended: bool,
    safety: Option<SafetyMode>,
    robot_mode: Option<RobotMode>,
    program: Option<(ProgramState, Text<64>)>,
    /// `true` if the controller did not understand the request `safetystatus`.
    no_safety_status: bool,
    permission: Permission,
}

/// The handling of refusals for lack of remote control. They may be due to an old connection: remote control is queried
/// once, then a new connection is made once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permission {
    Unquestioned,
    Asking,
    Renewed,
}

impl Course {
    pub(super) fn new(software: SoftwareVersion) -> Self {
        Self {
            software,
            asked: false,
            progress: Deque::new(),
            end: None,
            ended: false,
            safety: None,
            robot_mode: None,
            program: None,
            no_safety_status: false,
            permission: Permission::Unquestioned,
        }
    }

    /// Creates the state of a sequence whose caller already knows this safety mode: it is not reported again.
    pub(super) fn knowing(software: SoftwareVersion, mode: SafetyMode) -> Self {
        Self { safety: Some(mode), ..Self::new(software) }
    }

    /// Copies the robot mode, safety mode and permission that the earlier sequence `before` has found: modes that it
    /// reported are not reported again.
    pub(super) fn follows(&mut self, before: &Self) {
        self.safety = before.safety;
        self.robot_mode = before.robot_mode;
        self.no_safety_status = before.no_safety_status;
        self.permission = before.permission;
    }

    /// Returns the request to send now: the query for remote control if the permission is in doubt, otherwise the
    /// sequence's `own`; `None` while a reply is awaited, and at the end.
    pub(super) fn ask<'r>(&mut self, own: Option<Request<'r>>) -> Option<Request<'r>> {
        if self.asked || self.end.is_some() {
            return None;
        }
        let request = if self.permission == Permission::Asking { Some(Request::IsInRemoteControl) } else { own };
        self.asked = request.is_some();
        request
    }

    pub(super) fn poll_event(&mut self) -> Option<SequenceEvent> {
        if let Some(progress) = self.progress.pop_front() {
            return Some(SequenceEvent::Progress(progress));
        }
        let end = self.end.filter(|_| !core::mem::replace(&mut self.ended, true))?;
        Some(end.map_or_else(SequenceEvent::Stopped, |()| SequenceEvent::Done))
    }

    /// Returns the time `until` which the sequence waits before its next query; `None` if it does not wait, because a
    /// request is due, a reply is awaited or the sequence has ended.
    pub(super) fn pause(&self, until: Option<Instant>) -> Option<Instant> {
        until.filter(|_| !self.asked && self.end.is_none() && self.permission != Permission::Asking)
    }

    /// Takes the controller's reply out of an input. Returns it if it answers one of the sequence's own requests; a
    /// reply to the query for remote control is processed here. Otherwise `None`.
    pub(super) fn reply<'r>(&mut self, input: SequenceInput<'r>) -> Option<Reply<'r>> {
        let SequenceInput::Reply(reply) = input else { return None };
        if !core::mem::take(&mut self.asked) || self.end.is_some() {
            return None;
        }
        if self.permission != Permission::Asking {
            return Some(reply);
        }
        if let Reply::RemoteControl(true) = reply {
            self.renew();
        } else {
            self.stop(SequenceError::LocalControl);
        }
        None
    }

    fn renew(&mut self) {
        self.permission = Permission::Renewed;
        self.say(Progress::ConnectsAnew);
    }

    pub(super) fn say(&mut self, progress: Progress) {
        // Between two steps the queue never overflows.
        let _ = self.progress.push_back(progress);
    }

    pub(super) fn done(&mut self) {
        self.end.get_or_insert(Ok(()));
    }

    pub(super) fn stop(&mut self, obstacle: SequenceError) {
        self.end.get_or_insert(Err(obstacle));
    }

    /// Returns whether the controller's software may support the request. If it is known not to, the sequence ends.
    pub(super) fn requires(&mut self, request: RequestKind) -> bool {
        match request.check(self.software) {
            Ok(()) => true,
            Err(unsupported) => {
                self.stop(SequenceError::Unsupported(unsupported));
                false
            }
        }
    }

    /// Returns whether the controller's software is known to support the request.
    pub(super) fn knows(&self, request: RequestKind) -> bool {
        request.support(self.software) == Support::Yes
    }

    /// Returns the request by which the controller's software can be queried for its safety mode.
    pub(super) fn safety_question(&self) -> Request<'static> {
        let asked = match RequestKind::SafetyStatus.support(self.software) {
            Support::Yes | Support::Perhaps => !self.no_safety_status,
            Support::From(_) | Support::Never => false,
        };
        if asked { Request::SafetyStatus } else { Request::SafetyMode }
    }

    /// Processes the reply to [`Course::safety_question`] and returns the safety mode; `None` if the older query has to
    /// be sent instead, or the sequence has ended.
    pub(super) fn safety(&mut self, reply: &Reply<'_>) -> Option<SafetyMode> {
        match reply {
            Reply::Safety(mode) => {
                if self.safety.replace(*mode) != Some(*mode) {
                    self.say(Progress::Safety(*mode));
                }
                Some(*mode)
            }
            Reply::Refused(Refusal::NotUnderstood(_)) if !self.no_safety_status => {
                self.no_safety_status = true;
                None
            }
            other => {
                self.unexpected(RequestKind::SafetyMode, other);
                None
            }
        }
    }

    /// Processes the reply to [`Request::RobotMode`] and returns the robot mode; `None` if the sequence has ended.
    pub(super) fn robot_mode(&mut self, reply: &Reply<'_>) -> Option<RobotMode> {
        let Reply::RobotMode(mode) = reply else {
            self.unexpected(RequestKind::RobotMode, reply);
            return None;
        };
        if self.robot_mode.replace(*mode) != Some(*mode) {
            self.say(Progress::RobotMode(*mode));
        }
        Some(*mode)
    }

    /// Records the program's state and name from a reply, and reports a change.
    pub(super) fn program(&mut self, state: ProgramState, name: &[u8]) {
        let program = (state, Text::from_bytes(name));
        if self.program.replace(program) != Some(program) {
            self.say(Progress::Program(program.0, program.1));
        }
    }

    /// Processes the reply to a request that changes the robot; returns its outcome.
    pub(super) fn acted(&mut self, request: RequestKind, reply: &Reply<'_>) -> Acted {
        match reply {
            Reply::Done(_) => {
                self.say(Progress::Sent(request));
                Acted::Yes
            }
            Reply::Refused(Refusal::NeedsRemoteControl) => match self.permission {
                Permission::Renewed => {
                    self.stop(SequenceError::LocalControl);
                    Acted::No
                }
                Permission::Unquestioned | Permission::Asking if self.knows(RequestKind::IsInRemoteControl) => {
                    self.permission = Permission::Asking;
                    Acted::Again
                }
                Permission::Unquestioned | Permission::Asking => {
                    self.renew();
                    Acted::Again
                }
            },
            other => {
                self.unexpected(request, other);
                Acted::No
            }
        }
    }

    /// Ends the sequence because of a reply with which it cannot continue.
    pub(super) fn unexpected(&mut self, request: RequestKind, reply: &Reply<'_>) {
        let said = |bytes: &[u8]| Text::from_bytes(bytes);
        self.stop(match reply {
            Reply::Refused(Refusal::NeedsRemoteControl) => SequenceError::LocalControl,
            Reply::Refused(Refusal::FileNotFound(name)) => SequenceError::NoSuchFile(said(name.0)),
            Reply::Refused(Refusal::TooEarly) => {
                SequenceError::Refused { request, text: said(b"a protective stop is locked for 5 s after it occurred") }
            }
            Reply::Refused(Refusal::NotUnderstood(text) | Refusal::Failed(text)) => {
                SequenceError::Refused { request, text: said(text.0) }
            }
            Reply::Other(text) => SequenceError::NoAnswer { request, text: said(text.0) },
            // A reply to another request: its text is not worth repeating.
            _ => SequenceError::NoAnswer { request, text: said(b"the answer to another question") },
        });
    }
}

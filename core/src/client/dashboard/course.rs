//! What all sequences share: their verbs, their events, and what every refusal means.

use heapless::Deque;

use super::obstacle::Obstacle;
use outrigger_wire::dashboard::{OperationalMode, Refusal, Reply, Request, RequestKind, Support, UserRole};
use outrigger_wire::robot::{ProgramState, RobotMode, SafetyMode, SoftwareVersion, Text};
use outrigger_wire::time::{Duration, Instant};

/// Several requests with one goal, whoever carries them to the controller: a dashboard server or the Robot API.
///
/// One input, then drain [`poll_event`](Self::poll_event) and [`poll_output`](Self::poll_output) until both are `None`,
/// then sleep until [`poll_timeout`](Self::poll_timeout). The first request is there from the beginning; the next one
/// follows from the answer to the one before.
pub trait Sequence {
    /// Takes one input at `now`, which never goes back.
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>);

    /// The next request to be put to the controller; `None` while an answer or a time is waited for, and at the end.
    fn poll_output(&mut self) -> Option<Request<'_>>;

    /// The next event; `None` once all are taken. The last one is [`SequenceEvent::Done`] or [`SequenceEvent::Stopped`].
    fn poll_event(&mut self) -> Option<SequenceEvent>;

    /// When [`SequenceInput::Tick`] is due; `None` while no time is waited for.
    fn poll_timeout(&self) -> Option<Instant>;
}

/// What happened outside a [`Sequence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceInput<'a> {
    /// The controller's answer to the last request.
    Reply(Reply<'a>),
    /// Time has passed. Always harmless.
    Tick,
}

/// What came of an input to a [`Sequence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceEvent {
    /// A step on the way, for people.
    Progress(Progress),
    /// The goal is reached.
    Done,
    /// It goes no further.
    Stopped(Obstacle),
}

/// What a sequence tells on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// A request that changes the robot.
    Sent(RequestKind),
    /// The safety mode, where it is a new one.
    Safety(SafetyMode),
    /// The robot mode, where it is a new one.
    RobotMode(RobotMode),
    /// The protective stop cannot be unlocked yet.
    Locked {
        /// For so long.
        wait: Duration,
    },
    /// The controller is in remote control now, and was in local control when the connection was made: it is made anew.
    ConnectsAnew,
    /// What the program does, and its name.
    Program(ProgramState, Text<64>),
    /// The controller has said yes, and this software has no question that would confirm it.
    Unconfirmed(RequestKind),
    /// The role of the person at the pendant.
    Role(UserRole),
    /// The operational mode; none where no password is set for it.
    OperationalMode(Option<OperationalMode>),
}

impl core::fmt::Display for Progress {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Sent(request) => write!(f, "asked: {}", request.words()),
            Self::Safety(mode) => write!(f, "safety mode: {mode}"),
            Self::RobotMode(mode) => write!(f, "robot mode: {mode}"),
            Self::Locked { wait } => {
                let tenths = wait.as_millis().div_ceil(100);
                write!(f, "locked for another {}.{} s", tenths / 10, tenths % 10)
            }
            Self::ConnectsAnew => f.write_str("in remote control now: connects anew"),
            Self::Program(state, name) if name.as_str().is_empty() => write!(f, "program: {state}"),
            Self::Program(state, name) => write!(f, "program: {state} {name}"),
            Self::Unconfirmed(request) => {
                write!(f, "'{}' was taken; this software tells no more", request.words())
            }
            Self::Role(role) => write!(f, "user role: {}", role.word()),
            Self::OperationalMode(None) => f.write_str("operational mode: none, no password is set for it"),
            Self::OperationalMode(Some(mode)) => write!(f, "operational mode: {}", mode.word()),
        }
    }
}

/// What became of a request that changes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acted {
    /// It was taken.
    Yes,
    /// Not yet: the same is asked again.
    Again,
    /// It will not be: the sequence has ended.
    No,
}

/// How far a sequence has come.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) software: SoftwareVersion,
    /// A request waits for its answer.
    asked: bool,
    progress: Deque<Progress, 8>,
    end: Option<Result<(), Obstacle>>,
    /// Whether the end was told.
    ended: bool,
    safety: Option<SafetyMode>,
    robot_mode: Option<RobotMode>,
    program: Option<(ProgramState, Text<64>)>,
    /// `safetystatus` was not understood.
    no_safety_status: bool,
    permission: Permission,
}

/// A refusal for want of remote control may come from an old connection: asked once, then connected anew once.
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

    /// One whose caller has been told of this safety mode.
    pub(super) fn knowing(software: SoftwareVersion, mode: SafetyMode) -> Self {
        Self { safety: Some(mode), ..Self::new(software) }
    }

    /// Goes on from another: what was told there is not told again.
    pub(super) fn follows(&mut self, before: &Self) {
        self.safety = before.safety;
        self.robot_mode = before.robot_mode;
        self.no_safety_status = before.no_safety_status;
        self.permission = before.permission;
    }

    /// The request that is put now: for permission where that is in question, else the sequence's `own`.
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

    /// Until when a pause lasts, unless an answer is waited for or everything is over.
    pub(super) fn pause(&self, until: Option<Instant>) -> Option<Instant> {
        until.filter(|_| !self.asked && self.end.is_none() && self.permission != Permission::Asking)
    }

    /// The reply of an input that is the sequence's to judge: it answers a request, and not the one for permission.
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
            self.stop(Obstacle::LocalControl);
        }
        None
    }

    fn renew(&mut self) {
        self.permission = Permission::Renewed;
        self.say(Progress::ConnectsAnew);
    }

    pub(super) fn say(&mut self, progress: Progress) {
        // Between two steps there is never more to be said than there is room for.
        let _ = self.progress.push_back(progress);
    }

    pub(super) fn done(&mut self) {
        self.end.get_or_insert(Ok(()));
    }

    pub(super) fn stop(&mut self, obstacle: Obstacle) {
        self.end.get_or_insert(Err(obstacle));
    }

    /// Whether this software may be asked; the sequence ends where not.
    pub(super) fn requires(&mut self, request: RequestKind) -> bool {
        match request.check(self.software) {
            Ok(()) => true,
            Err(unsupported) => {
                self.stop(Obstacle::Unsupported(unsupported));
                false
            }
        }
    }

    /// Whether this software knows the request for sure.
    pub(super) fn knows(&self, request: RequestKind) -> bool {
        request.support(self.software) == Support::Yes
    }

    /// How this software is asked for its safety mode.
    pub(super) fn safety_question(&self) -> Request<'static> {
        let asked = match RequestKind::SafetyStatus.support(self.software) {
            Support::Yes | Support::Perhaps => !self.no_safety_status,
            Support::From(_) | Support::Never => false,
        };
        if asked { Request::SafetyStatus } else { Request::SafetyMode }
    }

    /// The answer to [`Course::safety_question`]; none where it is asked again, or the sequence has ended.
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

    /// The answer to [`Request::RobotMode`]; none where the sequence has ended.
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

    /// The program's state with its name, as an answer told it.
    pub(super) fn program(&mut self, state: ProgramState, name: &[u8]) {
        let program = (state, Text::from_bytes(name));
        if self.program.replace(program) != Some(program) {
            self.say(Progress::Program(program.0, program.1));
        }
    }

    /// The answer to a request that changes something.
    pub(super) fn acted(&mut self, request: RequestKind, reply: &Reply<'_>) -> Acted {
        match reply {
            Reply::Done(_) => {
                self.say(Progress::Sent(request));
                Acted::Yes
            }
            Reply::Refused(Refusal::NeedsRemoteControl) => match self.permission {
                Permission::Renewed => {
                    self.stop(Obstacle::LocalControl);
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

    /// Ends the sequence with an answer it cannot go on with.
    pub(super) fn unexpected(&mut self, request: RequestKind, reply: &Reply<'_>) {
        let said = |bytes: &[u8]| Text::from_bytes(bytes);
        self.stop(match reply {
            Reply::Refused(Refusal::NeedsRemoteControl) => Obstacle::LocalControl,
            Reply::Refused(Refusal::FileNotFound(name)) => Obstacle::NoSuchFile(said(name.0)),
            Reply::Refused(Refusal::TooEarly) => {
                Obstacle::Refused { request, text: said(b"a protective stop is locked for 5 s after it occurred") }
            }
            Reply::Refused(Refusal::NotUnderstood(text) | Refusal::Failed(text)) => {
                Obstacle::Refused { request, text: said(text.0) }
            }
            Reply::Other(text) => Obstacle::NoAnswer { request, text: said(text.0) },
            // An answer to something else: nothing of it is worth repeating.
            _ => Obstacle::NoAnswer { request, text: said(b"the answer to another question") },
        });
    }
}

//! Switches the arm to `POWER_OFF` or to `IDLE`, the modes that
//! [`BringUp`](outrigger_core::client::dashboard::BringUp) does not end at.

use std::collections::VecDeque;

use outrigger_core::client::dashboard::{Progress, Sequence, SequenceError, SequenceEvent, SequenceInput};
use outrigger_wire::dashboard::{Refusal, Reply, Request, RequestKind};
use outrigger_wire::robot::{RobotMode, SafetyMode, SoftwareVersion, Text};
use outrigger_wire::time::{Duration, Instant};

/// The interval between two queries for the robot mode while a mode is awaited.
const POLL: Duration = Duration::from_millis(200);
/// The longest wait for a robot mode after a request, or while the controller starts.
const LIMIT: Duration = Duration::from_secs(60);

/// A sequence of requests to the dashboard that switches the arm to the robot mode `POWER_OFF` or `IDLE`. Safety mode
/// and robot mode are queried before every step and during waits. From `RUNNING`, `IDLE` is reached through
/// `POWER_OFF`, because no request engages the brakes.
pub(super) struct Power {
    wanted: RobotMode,
    state: State,
    /// `true` if a request to the dashboard has been sent and its answer has not arrived.
    asked: bool,
    events: VecDeque<SequenceEvent>,
    over: bool,
    safety: Option<SafetyMode>,
    mode: Option<RobotMode>,
    /// The time at which the wait for a robot mode began; `None` if none is awaited.
    since: Option<Instant>,
    /// `true` if the dashboard has been requested to switch the arm off.
    off: bool,
    /// `true` if the dashboard has been requested to switch the arm on.
    on: bool,
    /// `true` if a request was refused for lack of remote control, and was repeated on a new connection that may
    /// have it.
    renewed: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Safety,
    Mode,
    Act(Request<'static>),
    Pause(Instant),
}

impl Power {
    pub(super) fn off(software: SoftwareVersion) -> Self {
        Self::to(RobotMode::PowerOff, software)
    }

    pub(super) fn idle(software: SoftwareVersion) -> Self {
        Self::to(RobotMode::Idle, software)
    }

    fn to(wanted: RobotMode, software: SoftwareVersion) -> Self {
        let mut new = Self {
            wanted,
            state: State::Safety,
            asked: false,
            events: VecDeque::new(),
            over: false,
            safety: None,
            mode: None,
            since: None,
            off: false,
            on: false,
            renewed: false,
        };
        let needed = [RequestKind::PowerOff, RequestKind::PowerOn, RequestKind::RobotMode, RequestKind::SafetyMode];
        if let Some(unsupported) = needed.into_iter().find_map(|kind| kind.check(software).err()) {
            new.stop(SequenceError::Unsupported(unsupported));
        }
        new
    }

    fn end(&mut self, event: SequenceEvent) {
        if !std::mem::replace(&mut self.over, true) {
            self.events.push_back(event);
        }
    }

    fn stop(&mut self, obstacle: SequenceError) {
        self.end(SequenceEvent::Stopped(obstacle));
    }

    fn say(&mut self, progress: Progress) {
        self.events.push_back(SequenceEvent::Progress(progress));
    }

    fn unexpected(&mut self, request: RequestKind, reply: &Reply<'_>) {
        let said = Text::from_bytes;
        self.stop(match reply {
            Reply::Refused(Refusal::NeedsRemoteControl) => SequenceError::LocalControl,
            Reply::Refused(Refusal::NotUnderstood(text) | Refusal::Failed(text)) => {
                SequenceError::Refused { request, text: said(text.0) }
            }
            Reply::Other(text) => SequenceError::NoAnswer { request, text: said(text.0) },
            _ => SequenceError::NoAnswer { request, text: said(b"the answer to another question") },
        });
    }

    fn take(&mut self, now: Instant, reply: &Reply<'_>) {
        match (self.state, reply) {
            (State::Safety, Reply::Safety(mode)) => {
                if self.safety.replace(*mode) != Some(*mode) {
                    self.say(Progress::Safety(*mode));
                }
                self.state = State::Mode;
            }
            // Power is switched off whatever the safety mode is.
            (State::Safety, _) if self.wanted == RobotMode::PowerOff => self.state = State::Mode,
            (State::Safety, other) => self.unexpected(RequestKind::SafetyMode, other),
            (State::Mode, Reply::RobotMode(mode)) => {
                if self.mode.replace(*mode) != Some(*mode) {
                    self.say(Progress::RobotMode(*mode));
                }
                self.decide(now, *mode);
            }
            (State::Mode, other) => self.unexpected(RequestKind::RobotMode, other),
            (State::Act(request), Reply::Done(_)) => {
                self.say(Progress::Sent(request.kind()));
                self.off |= request == Request::PowerOff;
                self.on |= request == Request::PowerOn;
                self.since = Some(now);
                self.state = State::Pause(now + POLL);
            }
            // The client opens a new connection after this refusal. If that has remote control, only the old
            // connection lacked it.
            (State::Act(_), Reply::Refused(Refusal::NeedsRemoteControl)) if !self.renewed => self.renewed = true,
            (State::Act(request), other) => self.unexpected(request.kind(), other),
            (State::Pause(_), _) => {}
        }
    }

    fn decide(&mut self, now: Instant, mode: RobotMode) {
        let to_idle = self.wanted == RobotMode::Idle;
        match mode {
            mode if mode == self.wanted => return self.end(SequenceEvent::Done),
            RobotMode::ConfirmSafety => return self.stop(SequenceError::RobotMode(mode)),
            RobotMode::Backdrive if to_idle => return self.stop(SequenceError::RobotMode(mode)),
            RobotMode::PowerOff if to_idle && !self.on => match self.safety {
                Some(SafetyMode::Normal | SafetyMode::Reduced) => {
                    self.state = State::Act(Request::PowerOn);
                    return;
                }
                stop => return self.stop(SequenceError::Safety(stop.unwrap_or(SafetyMode::UndefinedSafetyMode))),
            },
            RobotMode::Running if to_idle && !self.off => {
                self.state = State::Act(Request::PowerOff);
                return;
            }
            RobotMode::Running | RobotMode::Idle | RobotMode::PowerOn | RobotMode::Backdrive
                if !to_idle && !self.off =>
            {
                self.state = State::Act(Request::PowerOff);
                return;
            }
            _ => {}
        }
        let waited = now.since(*self.since.get_or_insert(now));
        if waited > LIMIT {
            self.stop(SequenceError::NotReached { wanted: self.wanted, found: mode, waited });
        }
        self.state = State::Pause(now + POLL);
    }
}

impl Sequence for Power {
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>) {
        match input {
            SequenceInput::Reply(reply) if std::mem::take(&mut self.asked) && !self.over => self.take(now, &reply),
            SequenceInput::Reply(_) | SequenceInput::Tick => {}
        }
        if let State::Pause(until) = self.state
            && now >= until
        {
            self.state = State::Safety;
        }
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        if self.asked || self.over {
            return None;
        }
        let request = match self.state {
            State::Safety => Request::SafetyMode,
            State::Mode => Request::RobotMode,
            State::Act(request) => request,
            State::Pause(_) => return None,
        };
        self.asked = true;
        Some(request)
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Pause(until) if !self.asked && !self.over => Some(until),
            _ => None,
        }
    }
}

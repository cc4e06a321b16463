//! The diagnosis of a stop, and the recovery from it after a person has acknowledged it.

use super::bring_up::{BringUp, BringUpConfig};
use super::sequence_base::{Acted, Course, Progress, Sequence, SequenceEvent, SequenceInput};
use super::sequence_error::SequenceError;
use outrigger_wire::dashboard::{Refusal, Reply, Request, RequestKind};
use outrigger_wire::robot::{Generation, RobotMode, SafetyMode, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

/// A sequence of requests that queries the cause of a stop: safety mode and robot mode. It changes nothing.
#[derive(Debug)]
pub struct Diagnosis {
    course: Course,
    asks_mode: bool,
    safety: Option<SafetyMode>,
    finding: Option<Finding>,
}

/// The stop and the robot's state found by a [`Diagnosis`], to be shown to a person.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    software: SoftwareVersion,
    safety: Option<SafetyMode>,
    robot_mode: RobotMode,
    seen: Instant,
}

/// The proof that a person has seen the cause of a stop and permits the robot to be made ready again.
///
/// It can only be obtained from [`Finding::acknowledge`], and a [`Recovery`] consumes it.
#[derive(Debug)]
pub struct Acknowledgement {
    stop: SafetyMode,
    software: SoftwareVersion,
    seen: Instant,
}

impl Diagnosis {
    /// Creates the sequence of dashboard requests that queries the cause of a stop, for a controller with this software
    /// version.
    #[must_use]
    pub fn new(software: SoftwareVersion) -> Self {
        let mut course = Course::new(software);
        // CB2 reports its stops in the robot mode.
        if software.generation() != Generation::Cb2 {
            course.requires(RequestKind::SafetyMode);
        }
        course.requires(RequestKind::RobotMode);
        let asks_mode = software.generation() == Generation::Cb2;
        Self { course, asks_mode, safety: None, finding: None }
    }

    /// Returns the stop and the robot's state that were found, once the diagnosis is done; `None` before.
    #[must_use]
    pub fn into_finding(self) -> Option<Finding> {
        self.finding
    }
}

impl Sequence for Diagnosis {
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>) {
        let Some(reply) = self.course.reply(input) else { return };
        if !self.asks_mode {
            self.safety = self.course.safety(&reply);
            self.asks_mode = self.safety.is_some();
            return;
        }
        if let Some(robot_mode) = self.course.robot_mode(&reply) {
            let software = self.course.software;
            self.finding = Some(Finding { software, safety: self.safety, robot_mode, seen: now });
            self.course.done();
        }
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        let own = if self.asks_mode { Request::RobotMode } else { self.course.safety_question() };
        self.course.ask(Some(own))
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        self.course.poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

impl Finding {
    /// Returns the safety mode that was found; `None` for CB2, which reports its stops in the robot mode.
    #[must_use]
    pub const fn safety(&self) -> Option<SafetyMode> {
        self.safety
    }

    /// Returns the robot mode that the diagnosis found.
    #[must_use]
    pub const fn robot_mode(&self) -> RobotMode {
        self.robot_mode
    }

    /// Returns whether the robot is in a stop that [`Recovery`] can clear once it is acknowledged.
    #[must_use]
    pub const fn is_recoverable(&self) -> bool {
        matches!(self.safety, Some(SafetyMode::ProtectiveStop | SafetyMode::Violation | SafetyMode::Fault))
    }

    /// Returns whether no safety stop prevents a [`BringUp`] or commanding.
    #[must_use]
    pub const fn is_clear(&self) -> bool {
        match self.safety {
            Some(mode) => matches!(mode, SafetyMode::Normal | SafetyMode::Reduced),
            None => matches!(
                self.robot_mode,
                RobotMode::Running | RobotMode::Ready | RobotMode::Initializing | RobotMode::NoPower
            ),
        }
    }

    /// Returns the obstacle to a [`BringUp`]; `None` if there is none.
    #[must_use]
    pub const fn obstacle(&self) -> Option<SequenceError> {
        match self.safety {
            _ if self.is_clear() => None,
            Some(stop) => Some(SequenceError::Safety(stop)),
            None => Some(SequenceError::RobotMode(self.robot_mode)),
        }
    }

    /// Returns the proof that a person has seen the cause of the stop and permits the robot to be made ready again.
    ///
    /// # Errors
    /// Returns the [`SequenceError`] if no request can clear the stop: an emergency stop has to be released by hand, a
    /// safeguard closed; or if the controller's software has no request for it.
    pub fn acknowledge(self) -> Result<Acknowledgement, SequenceError> {
        let Self { software, safety, robot_mode, seen } = self;
        let Some(stop) = safety else { return Err(SequenceError::RobotMode(robot_mode)) };
        let Some(clearing) = clears(stop) else { return Err(SequenceError::Safety(stop)) };
        clearing.kind().check(software).map_err(SequenceError::Unsupported)?;
        Ok(Acknowledgement { stop, software, seen })
    }
}

/// Returns the request that clears this safety stop; `None` if no request does.
const fn clears(stop: SafetyMode) -> Option<Request<'static>> {
    match stop {
        SafetyMode::ProtectiveStop => Some(Request::UnlockProtectiveStop),
        SafetyMode::Violation | SafetyMode::Fault => Some(Request::RestartSafety),
        _ => None,
    }
}

/// The timeouts and the query interval of [`Recovery`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryConfig {
    /// The time after the first observation of a protective stop before which the stop is not unlocked; also the wait
    /// after a reply that it is too early. The controller requires 5 s from the stop itself.
    pub lock: Duration,
    /// The number of further attempts to unlock the protective stop while the controller replies that it is too early.
    pub tries: u8,
    /// The longest wait for the protective stop to end after it was unlocked.
    pub unlock: Duration,
    /// The longest wait for the safety system to be ready after its restart.
    pub restart: Duration,
    /// The timing of the [`BringUp`] that follows once the stop is cleared.
    pub bring_up: BringUpConfig,
}

impl Default for RecoveryConfig {
    fn default() -> Self {
        Self {
            lock: Duration::from_secs(5),
            tries: 2,
            unlock: Duration::from_secs(5),
            restart: Duration::from_secs(60),
            bring_up: BringUpConfig::default(),
        }
    }
}

/// A sequence that clears the acknowledged stop, and no other, then brings the robot up. It starts no program and no
/// motion.
///
/// | stop | requests |
/// |---|---|
/// | protective stop | `unlock protective stop` once its lock of 5 s is over, `close safety popup`, until the mode is normal |
/// | violation, fault | `restart safety`, until the mode is normal |
///
/// It then continues as [`BringUp`].
#[derive(Debug)]
pub struct Recovery {
    acknowledged: Acknowledgement,
    course: Course,
    config: RecoveryConfig,
    state: State,
    tries: u8,
    /// The time at which the controller accepted the request that clears the stop.
    cleared: Instant,
    bring_up: BringUp,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Queries whether the present stop is still the acknowledged one.
    Check,
    Locked(Instant),
    Clear,
    Popup,
    Settle,
    Pause(Instant),
    BringUp,
}

impl Recovery {
    /// Creates the sequence that clears the stop a person has acknowledged.
    #[must_use]
    pub fn new(acknowledged: Acknowledgement, config: RecoveryConfig) -> Self {
        let software = acknowledged.software;
        Self {
            course: Course::knowing(software, acknowledged.stop),
            acknowledged,
            config,
            state: State::Check,
            tries: 0,
            cleared: Instant::ZERO,
            bring_up: BringUp::new(software, config.bring_up),
        }
    }

    /// Returns the request that clears the acknowledged stop; only stops that have one can be acknowledged.
    fn clearing(&self) -> Request<'static> {
        clears(self.acknowledged.stop).unwrap_or(Request::RestartSafety)
    }

    fn checked(&mut self, now: Instant, found: SafetyMode) {
        let Acknowledgement { stop, seen, .. } = self.acknowledged;
        match found {
            SafetyMode::Normal | SafetyMode::Reduced => self.ready(),
            _ if found != stop => self.course.stop(SequenceError::OtherStop { acknowledged: stop, found }),
            SafetyMode::ProtectiveStop => self.lock(now, seen + self.config.lock),
            _ => self.state = State::Clear,
        }
    }

    /// Continues with the bring-up of the robot, because the stop has ended.
    fn ready(&mut self) {
        self.state = State::BringUp;
        self.bring_up.follows(&self.course);
    }

    fn lock(&mut self, now: Instant, until: Instant) {
        if now < until {
            self.course.say(Progress::Locked { wait: until.since(now) });
        }
        self.state = State::Locked(until);
    }

    fn cleared(&mut self, now: Instant, reply: &Reply<'_>) {
        if let Reply::Refused(Refusal::TooEarly) = reply
            && self.tries < self.config.tries
        {
            self.tries = self.tries.saturating_add(1);
            return self.lock(now, now + self.config.lock);
        }
        let request = self.clearing().kind();
        if self.course.acted(request, reply) == Acted::Yes {
            self.cleared = now;
            let popup =
                request == RequestKind::UnlockProtectiveStop && self.course.knows(RequestKind::CloseSafetyPopup);
            self.state = if popup { State::Popup } else { State::Settle };
        }
    }

    fn settled(&mut self, now: Instant, found: SafetyMode) {
        let limit = match self.acknowledged.stop {
            SafetyMode::ProtectiveStop => self.config.unlock,
            _ => self.config.restart,
        };
        let waited = now.since(self.cleared);
        match found {
            SafetyMode::Normal | SafetyMode::Reduced => self.ready(),
            mode if waited > limit => self.course.stop(SequenceError::NotCleared { mode, waited }),
            _ => self.state = State::Pause(now + self.config.bring_up.poll),
        }
    }

    fn take(&mut self, now: Instant, reply: &Reply<'_>) {
        match self.state {
            State::Clear | State::Locked(_) => self.cleared(now, reply),
            // A pop-up that stays on the pendant prevents nothing.
            State::Popup => self.state = State::Settle,
            State::Check => {
                if let Some(found) = self.course.safety(reply) {
                    self.checked(now, found);
                }
            }
            State::Settle | State::Pause(_) | State::BringUp => {
                if let Some(found) = self.course.safety(reply) {
                    self.settled(now, found);
                }
            }
        }
    }
}

impl Sequence for Recovery {
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>) {
        if let State::BringUp = self.state {
            return self.bring_up.handle(now, input);
        }
        if let Some(reply) = self.course.reply(input) {
            self.take(now, &reply);
        }
        match self.state {
            State::Locked(until) if now >= until => self.state = State::Clear,
            State::Pause(until) if now >= until => self.state = State::Settle,
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        let own = match self.state {
            State::BringUp => return self.bring_up.poll_output(),
            State::Clear => Some(self.clearing()),
            State::Popup => Some(Request::CloseSafetyPopup),
            State::Check | State::Settle => Some(self.course.safety_question()),
            State::Locked(_) | State::Pause(_) => None,
        };
        self.course.ask(own)
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        match (self.course.poll_event(), self.state) {
            (None, State::BringUp) => self.bring_up.poll_event(),
            (event, _) => event,
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::BringUp => self.bring_up.poll_timeout(),
            State::Locked(until) | State::Pause(until) => self.course.pause(Some(until)),
            State::Check | State::Clear | State::Popup | State::Settle => None,
        }
    }
}

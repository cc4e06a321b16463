//! Why a robot stands, and, once a person has acknowledged it, the way out.

use super::bring_up::{BringUp, BringUpConfig};
use super::course::{Acted, Course, Progress, Sequence, SequenceEvent, SequenceInput};
use super::obstacle::Obstacle;
use outrigger_wire::dashboard::{Refusal, Reply, Request, RequestKind};
use outrigger_wire::robot::{Generation, RobotMode, SafetyMode, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

/// Asks why the robot stands. Changes nothing.
#[derive(Debug)]
pub struct Diagnosis {
    course: Course,
    asks_mode: bool,
    safety: Option<SafetyMode>,
    finding: Option<Finding>,
}

/// What a [`Diagnosis`] found, to be shown to a person.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    software: SoftwareVersion,
    safety: Option<SafetyMode>,
    robot_mode: RobotMode,
    seen: Instant,
}

/// A person has seen why the robot stands, and says that it may be made ready again.
///
/// There is one way to get it, [`Finding::acknowledge`], and a [`Recovery`] uses it up.
#[derive(Debug)]
pub struct Acknowledgement {
    stop: SafetyMode,
    software: SoftwareVersion,
    seen: Instant,
}

impl Diagnosis {
    /// For a controller with this software.
    #[must_use]
    pub fn new(software: SoftwareVersion) -> Self {
        let mut course = Course::new(software);
        // CB2 tells its stops by the robot mode.
        if software.generation() != Generation::Cb2 {
            course.requires(RequestKind::SafetyMode);
        }
        course.requires(RequestKind::RobotMode);
        let asks_mode = software.generation() == Generation::Cb2;
        Self { course, asks_mode, safety: None, finding: None }
    }

    /// What it found, once it is done.
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
    /// The safety mode; CB2 has none, there the robot mode tells.
    #[must_use]
    pub const fn safety(&self) -> Option<SafetyMode> {
        self.safety
    }

    /// The robot mode.
    #[must_use]
    pub const fn robot_mode(&self) -> RobotMode {
        self.robot_mode
    }

    /// Whether a stop stands that [`Recovery`] can clear once it is acknowledged.
    #[must_use]
    pub const fn is_recoverable(&self) -> bool {
        matches!(self.safety, Some(SafetyMode::ProtectiveStop | SafetyMode::Violation | SafetyMode::Fault))
    }

    /// Whether nothing stands in the way of a [`BringUp`], or of commanding.
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

    /// What stands in the way; none where nothing does.
    #[must_use]
    pub const fn obstacle(&self) -> Option<Obstacle> {
        match self.safety {
            _ if self.is_clear() => None,
            Some(stop) => Some(Obstacle::Safety(stop)),
            None => Some(Obstacle::RobotMode(self.robot_mode)),
        }
    }

    /// A person has seen this and says that the robot may be made ready again.
    ///
    /// # Errors
    /// The [`Obstacle`] that no request can clear: an emergency stop is released by hand, a safeguard closed. Also
    /// where this software has no request for it.
    pub fn acknowledge(self) -> Result<Acknowledgement, Obstacle> {
        let Self { software, safety, robot_mode, seen } = self;
        let Some(stop) = safety else { return Err(Obstacle::RobotMode(robot_mode)) };
        let Some(clearing) = clears(stop) else { return Err(Obstacle::Safety(stop)) };
        clearing.kind().check(software).map_err(Obstacle::Unsupported)?;
        Ok(Acknowledgement { stop, software, seen })
    }
}

/// What clears a stop, where a request can.
const fn clears(stop: SafetyMode) -> Option<Request<'static>> {
    match stop {
        SafetyMode::ProtectiveStop => Some(Request::UnlockProtectiveStop),
        SafetyMode::Violation | SafetyMode::Fault => Some(Request::RestartSafety),
        _ => None,
    }
}

/// How patient [`Recovery`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryConfig {
    /// A protective stop is not unlocked earlier than this after it was seen first. The controller counts 5 s from the
    /// stop itself.
    pub lock: Duration,
    /// How often unlocking is tried again where the controller still says that it is too early.
    pub tries: u8,
    /// For an unlocked protective stop to be gone.
    pub unlock: Duration,
    /// For the safety system to be there again after its restart.
    pub restart: Duration,
    /// What follows.
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

/// Clears the stop that was acknowledged, and no other, then brings the robot up. Starts no program and no motion.
///
/// | stop | requests |
/// |---|---|
/// | protective stop | `unlock protective stop` once its lock of 5 s is over, `close safety popup`, until the mode is normal |
/// | violation, fault | `restart safety`, until the mode is normal |
///
/// Then as [`BringUp`].
#[derive(Debug)]
pub struct Recovery {
    acknowledged: Acknowledgement,
    course: Course,
    config: RecoveryConfig,
    state: State,
    tries: u8,
    /// When the clearing request was taken.
    cleared: Instant,
    bring_up: BringUp,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Is it still the stop that was acknowledged?
    Check,
    Locked(Instant),
    Clear,
    Popup,
    Settle,
    Pause(Instant),
    BringUp,
}

impl Recovery {
    /// From the stop that was acknowledged.
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

    /// The request that clears the acknowledged stop: there is no acknowledgement of another.
    fn clearing(&self) -> Request<'static> {
        clears(self.acknowledged.stop).unwrap_or(Request::RestartSafety)
    }

    fn checked(&mut self, now: Instant, found: SafetyMode) {
        let Acknowledgement { stop, seen, .. } = self.acknowledged;
        match found {
            SafetyMode::Normal | SafetyMode::Reduced => self.ready(),
            _ if found != stop => self.course.stop(Obstacle::OtherStop { acknowledged: stop, found }),
            SafetyMode::ProtectiveStop => self.lock(now, seen + self.config.lock),
            _ => self.state = State::Clear,
        }
    }

    /// The stop is gone.
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
            mode if waited > limit => self.course.stop(Obstacle::NotCleared { mode, waited }),
            _ => self.state = State::Pause(now + self.config.bring_up.poll),
        }
    }

    fn take(&mut self, now: Instant, reply: &Reply<'_>) {
        match self.state {
            State::Clear | State::Locked(_) => self.cleared(now, reply),
            // A text that stays on the pendant stops nobody.
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

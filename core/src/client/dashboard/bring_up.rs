//! The sequence that brings an arm from any power state to running: power on, release of the brakes.

use super::sequence_base::{Acted, Course, Sequence, SequenceEvent, SequenceInput};
use super::sequence_error::SequenceError;
use outrigger_wire::dashboard::{Reply, Request, RequestKind};
use outrigger_wire::robot::{RobotMode, SafetyMode, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

/// The query interval and the timeouts of [`BringUp`], which powers the arm on and releases its brakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BringUpConfig {
    /// The time between two queries of the robot mode.
    pub poll: Duration,
    /// The longest wait for the controller to finish booting.
    pub boot: Duration,
    /// The longest wait from power on until the robot mode is `IDLE`.
    pub power: Duration,
    /// The longest wait from brake release until the robot mode is `RUNNING`.
    pub brakes: Duration,
}

impl Default for BringUpConfig {
    fn default() -> Self {
        Self {
            poll: Duration::from_millis(200),
            boot: Duration::from_secs(60),
            power: Duration::from_secs(60),
            brakes: Duration::from_secs(30),
        }
    }
}

/// A sequence of requests that powers an arm on, waits for robot mode `IDLE`, releases the brakes and waits for
/// `RUNNING`. Safety mode and robot mode are queried before every step and during the waits. A safety stop ends the
/// sequence at once and is reported.
#[derive(Clone, Debug)]
pub struct BringUp {
    course: Course,
    config: BringUpConfig,
    state: State,
    /// The robot mode that is awaited, the time at which the wait began, and the longest wait; `None` before the first
    /// wait.
    waits: Option<(RobotMode, Instant, Duration)>,
    asked_power: bool,
    asked_brakes: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Safety,
    Mode,
    PowerOn,
    BrakeRelease,
    Pause(Instant),
}

impl BringUp {
    /// Creates the bring-up sequence for a controller with this software version.
    #[must_use]
    pub fn new(software: SoftwareVersion, config: BringUpConfig) -> Self {
        let mut course = Course::new(software);
        for needed in [RequestKind::PowerOn, RequestKind::BrakeRelease, RequestKind::RobotMode, RequestKind::SafetyMode]
        {
            if !course.requires(needed) {
                break;
            }
        }
        Self { course, config, state: State::Safety, waits: None, asked_power: false, asked_brakes: false }
    }

    /// Copies the robot mode, safety mode and permission that an earlier sequence, `before`, has found: modes that it
    /// reported are not reported again.
    pub(super) fn follows(&mut self, before: &Course) {
        self.course.follows(before);
    }

    fn decide(&mut self, now: Instant, mode: RobotMode) {
        let config = self.config;
        match mode {
            RobotMode::Running => self.course.done(),
            RobotMode::Idle if !self.asked_brakes => self.state = State::BrakeRelease,
            RobotMode::PowerOff if !self.asked_power && !self.asked_brakes => self.state = State::PowerOn,
            RobotMode::ConfirmSafety | RobotMode::Backdrive => self.course.stop(SequenceError::RobotMode(mode)),
            _ => {
                let (wanted, since, limit) = *self.waits.get_or_insert((RobotMode::PowerOff, now, config.boot));
                let waited = now.since(since);
                if waited > limit {
                    self.course.stop(SequenceError::NotReached { wanted, found: mode, waited });
                }
                self.state = State::Pause(now + config.poll);
            }
        }
    }

    fn take(&mut self, now: Instant, reply: &Reply<'_>) {
        match self.state {
            State::Safety | State::Pause(_) => match self.course.safety(reply) {
                Some(SafetyMode::Normal | SafetyMode::Reduced) => self.state = State::Mode,
                Some(stop) => self.course.stop(SequenceError::Safety(stop)),
                None => {}
            },
            State::Mode => {
                if let Some(mode) = self.course.robot_mode(reply) {
                    self.decide(now, mode);
                }
            }
            State::PowerOn => {
                if self.course.acted(RequestKind::PowerOn, reply) == Acted::Yes {
                    self.asked_power = true;
                    self.waits = Some((RobotMode::Idle, now, self.config.power));
                    self.state = State::Pause(now + self.config.poll);
                }
            }
            State::BrakeRelease => {
                if self.course.acted(RequestKind::BrakeRelease, reply) == Acted::Yes {
                    self.asked_brakes = true;
                    self.waits = Some((RobotMode::Running, now, self.config.brakes));
                    self.state = State::Pause(now + self.config.poll);
                }
            }
        }
    }
}

impl Sequence for BringUp {
    fn handle(&mut self, now: Instant, input: SequenceInput<'_>) {
        if let Some(reply) = self.course.reply(input) {
            self.take(now, &reply);
        }
        if let State::Pause(until) = self.state
            && now >= until
        {
            self.state = State::Safety;
        }
    }

    fn poll_output(&mut self) -> Option<Request<'_>> {
        let own = match self.state {
            State::Safety => Some(self.course.safety_question()),
            State::Mode => Some(Request::RobotMode),
            State::PowerOn => Some(Request::PowerOn),
            State::BrakeRelease => Some(Request::BrakeRelease),
            State::Pause(_) => None,
        };
        self.course.ask(own)
    }

    fn poll_event(&mut self) -> Option<SequenceEvent> {
        self.course.poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.course.pause(match self.state {
            State::Pause(until) => Some(until),
            State::Safety | State::Mode | State::PowerOn | State::BrakeRelease => None,
        })
    }
}

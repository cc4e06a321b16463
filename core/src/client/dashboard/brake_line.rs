//! An input line that requests the release of the arm's brakes: the rules by which a rising edge counts.

use super::interlock::CommandInterlock;
use crate::mode::{Mode, OperatorConfig};
use outrigger_wire::dashboard::RequestKind;
use outrigger_wire::robot::{Generation, RobotMode, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant};

/// Decides about each rising edge of a digital input line that requests `brake release`: every edge is granted or
/// refused once.
///
/// A rising edge counts if the line was observed low before it for at least [`low_for`](OperatorConfig::low_for); a
/// line that is high at the start has no edge. After an edge, whether it counted or not, none counts for
/// [`released_for`](OperatorConfig::released_for): a bouncing line requests only once, however long it bounces. The
/// request is granted if nothing is commanded, the controller's software has a dashboard server that knows the command,
/// and a fresh state shows the arm in robot mode `IDLE`. The command itself is a [service
/// command](super::ServiceCommand), which first revokes every request to command: granting the release begins no
/// motion.
///
/// ```
/// use outrigger_core::client::dashboard::{BrakeLine, BrakeRefusal, BrakeConditions};
/// use outrigger_core::mode::{Mode, OperatorConfig};
/// use outrigger_wire::robot::{RobotMode, SoftwareVersion};
/// use outrigger_wire::time::Instant;
///
/// let idle = BrakeConditions {
///     mode: Mode::Monitor,
///     software: Some(SoftwareVersion::new(5, 15)),
///     robot_mode: Some(RobotMode::Idle),
/// };
/// let mut line = BrakeLine::new(&OperatorConfig::default());
/// let at = |millis: u64| Instant::from_micros(millis * 1_000);
/// assert_eq!(line.see(false, idle, at(0)), None);
/// assert_eq!(line.see(true, idle, at(60)), Some(Ok(())));
/// assert_eq!(line.see(false, idle, at(90)), None);
/// assert_eq!(line.see(true, idle, at(110)), Some(Err(BrakeRefusal::LineHeld)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BrakeLine {
    low_for: Duration,
    again_after: Duration,
    /// The time since which the input line has been low; `None` if it is high or was not observed yet.
    low_since: Option<Instant>,
    /// The time of the input line's last rising edge, whether it counted or not; `None` before the first.
    rose: Option<Instant>,
}

/// The state of engine and controller, by which a request for `brake release` on the input line is granted or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrakeConditions {
    /// The engine's mode when the level of the input line is observed: it shows whether the arm is commanded.
    pub mode: Mode,
    /// The controller's software version; `None` before a session has reported it.
    pub software: Option<SoftwareVersion>,
    /// The robot mode in a fresh robot state; `None` if no robot state arrived recently.
    pub robot_mode: Option<RobotMode>,
}

/// The reason for which a rising edge of the input line that requests `brake release` was refused. The edge is consumed
/// and not evaluated again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum BrakeRefusal {
    /// The input line was not low for long enough before its rising edge, or its level bounces.
    LineHeld,
    /// The request was refused because the arm is commanded, or being stopped.
    Commanding,
    /// The request was refused because no fresh robot state shows the robot mode, or the software version is not known
    /// yet.
    NoState,
    /// The controller's software does not know the command `brake release`: CB2.
    NotKnown,
    /// The controller has no dashboard server: PolyScope X.
    NoDashboard,
    /// The arm has no power: its robot mode is `NO_POWER` or `POWER_OFF`.
    NoPower,
    /// The brakes are already released: the robot mode is `RUNNING`.
    Running,
    /// The robot mode is none of `IDLE`, `RUNNING`, `NO_POWER` and `POWER_OFF`; the brakes can be released in `IDLE`
    /// only.
    NotIdle,
    /// Another command to the dashboard server is in progress.
    Busy,
}

impl BrakeRefusal {
    /// The list of all reasons for which a rising edge of the line that requests `brake release` can be refused.
    pub const ALL: [Self; 9] = [
        Self::LineHeld,
        Self::Commanding,
        Self::NoState,
        Self::NotKnown,
        Self::NoDashboard,
        Self::NoPower,
        Self::Running,
        Self::NotIdle,
        Self::Busy,
    ];

    /// Returns the name of the refusal of a `brake release`, as reports use it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LineHeld => "LineHeld",
            Self::Commanding => "Commanding",
            Self::NoState => "NoState",
            Self::NotKnown => "NotKnown",
            Self::NoDashboard => "NoDashboard",
            Self::NoPower => "NoPower",
            Self::Running => "Running",
            Self::NotIdle => "NotIdle",
            Self::Busy => "Busy",
        }
    }

    /// Returns the cause for which a `brake release` was refused and what a person can do next, as a clause that starts
    /// in lower case.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::LineHeld => {
                "the line was not low for long enough before it rose: let go, and press again after a second"
            }
            Self::Commanding => "the arm is commanded, or being stopped: stop it first",
            Self::NoState => "no recent state of the robot: check that the controller is connected",
            Self::NotKnown => "this controller's software does not know the command: use the teach pendant",
            Self::NoDashboard => "this kind of controller has no dashboard server: use the teach pendant",
            Self::NoPower => "the arm has no power: switch it on first",
            Self::Running => "the brakes are open already",
            Self::NotIdle => "the robot is not in mode IDLE: see the teach pendant",
            Self::Busy => "another command to the dashboard server is pending: press again after it",
        }
    }
}

impl BrakeLine {
    /// Creates the state of an input line for `brake release` that was not observed yet, with the line timings of
    /// `config`.
    #[must_use]
    pub const fn new(config: &OperatorConfig) -> Self {
        Self { low_for: config.low_for, again_after: config.released_for, low_since: None, rose: None }
    }

    /// Processes an observed level of the input line, [debounced](crate::mode::Debounce). Returns whether a rising edge
    /// is granted or why it is refused; `None` without a rising edge, and for a line that was high from the start.
    pub fn see(&mut self, high: bool, sight: BrakeConditions, now: Instant) -> Option<Result<(), BrakeRefusal>> {
        if !high {
            self.low_since = Some(self.low_since.unwrap_or(now));
            return None;
        }
        let low_since = self.low_since.take()?;
        let chatters = self.rose.replace(now).is_some_and(|at| now.since(at) < self.again_after);
        if chatters || now.since(low_since) < self.low_for {
            return Some(Err(BrakeRefusal::LineHeld));
        }
        Some(sight.against().map_or(Ok(()), Err))
    }
}

impl BrakeConditions {
    /// Returns the first reason in these conditions against releasing the arm's brakes; `None` if there is none.
    fn against(self) -> Option<BrakeRefusal> {
        let Self { mode, software, robot_mode } = self;
        if !CommandInterlock::admits(mode) {
            return Some(BrakeRefusal::Commanding);
        }
        let (Some(software), Some(robot_mode)) = (software, robot_mode) else { return Some(BrakeRefusal::NoState) };
        if software.generation() == Generation::PolyScopeX {
            return Some(BrakeRefusal::NoDashboard);
        }
        if RequestKind::BrakeRelease.check(software).is_err() {
            return Some(BrakeRefusal::NotKnown);
        }
        match robot_mode {
            RobotMode::Idle => None,
            RobotMode::Running => Some(BrakeRefusal::Running),
            RobotMode::PowerOff | RobotMode::NoPower => Some(BrakeRefusal::NoPower),
            _ => Some(BrakeRefusal::NotIdle),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: BrakeConditions = BrakeConditions {
        mode: Mode::Monitor,
        software: Some(SoftwareVersion::new(5, 15)),
        robot_mode: Some(RobotMode::Idle),
    };

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    /// Returns the results of observing these levels at these times, with the rest of the state as in `sight`.
    fn seen(levels: &[(u64, bool)], sight: BrakeConditions) -> Vec<Result<(), BrakeRefusal>> {
        let mut line = BrakeLine::new(&OperatorConfig::default());
        levels.iter().filter_map(|(millis, high)| line.see(*high, sight, at(*millis))).collect()
    }

    #[test]
    fn a_rise_counts_after_50_ms_low_and_a_high_level_at_the_start_is_none() {
        assert_eq!(seen(&[(0, false), (50, true), (2_000, false)], IDLE), [Ok(())]);
        assert_eq!(seen(&[(0, false), (49, true)], IDLE), [Err(BrakeRefusal::LineHeld)]);
        assert_eq!(seen(&[(0, true), (5_000, true)], IDLE), []);
        assert_eq!(seen(&[(0, true), (10, false), (100, true)], IDLE), [Ok(())]);
    }

    #[test]
    fn a_line_that_chatters_asks_once() {
        let chatter: Vec<_> = (0..20).map(|number| (number * 60, number % 2 == 1)).collect();
        let came = seen(&chatter, IDLE);
        assert_eq!((came.len(), came.iter().filter(|one| one.is_ok()).count()), (10, 1), "{came:?}");
        assert_eq!(seen(&[(0, false), (60, true), (900, false), (1_060, true)], IDLE), [Ok(()), Ok(())]);
    }

    #[test]
    fn what_speaks_against_it_is_named() {
        let press = |sight| seen(&[(0, false), (100, true)], sight)[0];
        for mode in [Mode::Arming, Mode::Command, Mode::Stopping] {
            assert_eq!(press(BrakeConditions { mode, ..IDLE }), Err(BrakeRefusal::Commanding));
        }
        assert_eq!(press(BrakeConditions { mode: Mode::Offline, ..IDLE }), Ok(()));
        assert_eq!(press(BrakeConditions { robot_mode: None, ..IDLE }), Err(BrakeRefusal::NoState));
        assert_eq!(press(BrakeConditions { software: None, ..IDLE }), Err(BrakeRefusal::NoState));
        for (major, minor, came) in [
            (1, 8, Err(BrakeRefusal::NotKnown)),
            (3, 0, Ok(())),
            (3, 15, Ok(())),
            (5, 0, Ok(())),
            (10, 7, Err(BrakeRefusal::NoDashboard)),
            (10, 12, Err(BrakeRefusal::NoDashboard)),
        ] {
            let software = Some(SoftwareVersion::new(major, minor));
            assert_eq!(press(BrakeConditions { software, ..IDLE }), came, "{major}.{minor}");
        }
        for (robot_mode, why) in [
            (RobotMode::Running, BrakeRefusal::Running),
            (RobotMode::PowerOff, BrakeRefusal::NoPower),
            (RobotMode::Booting, BrakeRefusal::NotIdle),
            (RobotMode::Backdrive, BrakeRefusal::NotIdle),
            (RobotMode::Unknown(77), BrakeRefusal::NotIdle),
        ] {
            assert_eq!(press(BrakeConditions { robot_mode: Some(robot_mode), ..IDLE }), Err(why), "{robot_mode:?}");
        }
    }

    #[test]
    fn every_refusal_has_a_name_and_words_of_its_own() {
        let names: std::collections::HashSet<_> = BrakeRefusal::ALL.map(BrakeRefusal::name).into_iter().collect();
        let texts: std::collections::HashSet<_> = BrakeRefusal::ALL.map(BrakeRefusal::text).into_iter().collect();
        assert_eq!((names.len(), texts.len()), (BrakeRefusal::ALL.len(), BrakeRefusal::ALL.len()));
    }
}

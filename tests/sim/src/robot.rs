//! Power and safety: the two state machines that an operator works with, and their states as the interfaces publish
//! them.
//!
//! | power | robot mode CB3+ | CB2 | joints |
//! |---|---|---|---|
//! | off | POWER_OFF 3 | NO_POWER 7 | 239 |
//! | switching on | BOOTING 2, then POWER_ON 4 | INITIALIZING 3 | 247, then 246 |
//! | idle (brakes closed) | IDLE 5 | READY 2 | 255 |
//! | releasing brakes | IDLE 5 | READY 2 | 255 |
//! | running | RUNNING 7 | RUNNING 0 | 253 |
//!
//! On CB2 a stop shows in the robot mode (4, 5, 10) and in the masterboard's safety state.

use std::time::Duration;

use outrigger_wire::robot::{Generation, JointMode, MasterOnOffState, MasterSafetyState, RobotMode, SafetyMode};

use crate::time::SimTime;

/// The durations of the steps of switching the arm on. Real durations are of this order; none is documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerTiming {
    /// Time from switching on the arm until its joints have power.
    pub boot: Duration,
    /// Time from the start of power at the joints until they are ready.
    pub initialise: Duration,
    /// Time from the release of the brakes until they are open.
    pub release: Duration,
}

impl Default for PowerTiming {
    fn default() -> Self {
        Self {
            boot: Duration::from_millis(500),
            initialise: Duration::from_millis(1500),
            release: Duration::from_millis(1500),
        }
    }
}

/// The shortest time between a protective stop and its unlocking (`core/docs/protocol/ur-dashboard.md 3`).
pub const UNLOCK_AFTER: Duration = Duration::from_secs(5);

/// The power state of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// The arm's joints have no power.
    Off,
    /// The arm boots, then initialises. The brakes are released afterwards if `release` is set.
    SwitchingOn {
        /// The time at which the arm began to switch on.
        since: SimTime,
        /// `true` if the brakes are to be released once the joints are ready.
        release: bool,
    },
    /// The arm is powered, with its brakes closed.
    Idle,
    /// The arm's brakes are opening.
    Releasing {
        /// The time at which the brakes began to open.
        since: SimTime,
    },
    /// The arm is powered, with its brakes open.
    Running,
}

/// The cause of a safeguard stop. Software without a safety status does not distinguish the causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safeguard {
    /// The robot's safeguard input is open.
    Input,
    /// The safeguard of automatic mode is open (e-Series).
    Automatic,
    /// The three-position enabling device is not held (e-Series).
    ThreePosition,
}

/// The active stop, or the reduced mode in which the arm may still move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No stop is active: the arm may move.
    None,
    /// Reduced mode: the arm may move. The tighter limits of reduced mode are not simulated.
    Reduced,
    /// A protective stop, as after a collision.
    Protective {
        /// The time at which the protective stop occurred.
        at: SimTime,
    },
    /// A safeguard stop, with its cause.
    Safeguard(Safeguard),
    /// An emergency stop button is pressed.
    Emergency,
    /// A safety limit of the robot was violated.
    Violation,
    /// A fault of the safety system was detected.
    Fault,
}

/// The source of commands that the controller accepts (e-Series and PolyScope X; older ones always accept commands of
/// clients).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The pendant's switch is set to remote: commands of clients are accepted.
    Remote,
    /// The pendant's switch is set to local: only the pendant commands the arm.
    Local,
    /// Remote control was never enabled in the settings, so there is no switch: the answer to `is in remote control`
    /// is `false`, and commands of clients are accepted nevertheless. The vendor's tests of its client library find
    /// simulators of 5.x in this state.
    NotEnabled,
}

impl Control {
    /// Returns whether programs and commands of clients are accepted.
    #[must_use]
    pub fn obeys_clients(self) -> bool {
        self != Self::Local
    }
}

/// The robot's state of power, safety and control.
#[derive(Clone, Debug)]
pub struct Robot {
    generation: Generation,
    timing: PowerTiming,
    /// The power state of the arm.
    pub power: Power,
    /// The active stop or reduced mode, if any.
    pub stop: Stop,
    /// The source of commands that the controller accepts; always remote before e-Series.
    pub control: Control,
    /// The position of the speed slider, 0 … 1.
    pub slider: f64,
    /// The share of the slider's speed that the trajectory limiter permits, 0 … 1.
    pub limiter: f64,
}

impl Robot {
    /// Returns a running robot without a stop, in remote control, with the slider at 1.
    #[must_use]
    pub fn new(generation: Generation, timing: PowerTiming) -> Self {
        Self {
            generation,
            timing,
            power: Power::Running,
            stop: Stop::None,
            control: Control::Remote,
            slider: 1.0,
            limiter: 1.0,
        }
    }

    /// Executes those transitions of power and brakes whose time has come at `now`.
    pub fn tick(&mut self, now: SimTime) {
        match self.power {
            Power::SwitchingOn { since, release } if now.since(since) >= self.timing.boot + self.timing.initialise => {
                self.power = if release { Power::Releasing { since: now } } else { Power::Idle };
            }
            Power::Releasing { since } if now.since(since) >= self.timing.release => self.power = Power::Running,
            _ => {}
        }
    }

    /// Switches the arm's power on unless a stop forbids it.
    pub fn power_on(&mut self, now: SimTime) {
        if self.power == Power::Off && self.may_have_power() {
            self.power = Power::SwitchingOn { since: now, release: false };
        }
    }

    /// Switches the arm's power off, in any state.
    pub fn power_off(&mut self) {
        self.power = Power::Off;
    }

    /// Releases the brakes; switches power on first if it is off and no stop forbids that.
    pub fn release_brakes(&mut self, now: SimTime) {
        match self.power {
            Power::Off if self.may_have_power() => self.power = Power::SwitchingOn { since: now, release: true },
            Power::SwitchingOn { since, .. } => self.power = Power::SwitchingOn { since, release: true },
            Power::Idle => self.power = Power::Releasing { since: now },
            Power::Off | Power::Releasing { .. } | Power::Running => {}
        }
    }

    /// Makes a protective stop unless a stronger stop is active or the arm is not running. Returns whether it
    /// occurred.
    pub fn protective_stop(&mut self, now: SimTime) -> bool {
        let occurs =
            matches!(self.stop, Stop::None | Stop::Reduced | Stop::Safeguard(_)) && self.power == Power::Running;
        if occurs {
            self.stop = Stop::Protective { at: now };
        }
        occurs
    }

    /// Returns the time until the arm's joints are ready or, with `brakes`, until its brakes are open too, if no other
    /// event interferes. Zero if power is off.
    pub(crate) fn time_to(&self, brakes: bool, now: SimTime) -> Duration {
        let PowerTiming { boot, initialise, release } = self.timing;
        let on = boot + initialise;
        let release = if brakes { release } else { Duration::ZERO };
        match self.power {
            Power::Off | Power::Running => Duration::ZERO,
            Power::SwitchingOn { since, .. } => on.saturating_sub(now.since(since)) + release,
            Power::Idle => release,
            Power::Releasing { since } => release.saturating_sub(now.since(since)),
        }
    }

    /// Unlocks a protective stop that is old enough. Returns `true` if it is unlocked or there was none.
    pub fn unlock_protective_stop(&mut self, now: SimTime) -> bool {
        match self.stop {
            Stop::Protective { at } if now.since(at) < UNLOCK_AFTER => false,
            _ => {
                self.clear_protective_stop();
                true
            }
        }
    }

    /// Clears a protective stop, however recent it is.
    pub fn clear_protective_stop(&mut self) {
        if matches!(self.stop, Stop::Protective { .. }) {
            self.stop = Stop::None;
        }
    }

    /// Returns whether the present stop permits switching the arm's power on.
    fn may_have_power(&self) -> bool {
        !matches!(self.stop, Stop::Emergency | Stop::Violation | Stop::Fault)
    }

    /// Returns whether a program may move the arm.
    #[must_use]
    pub fn may_move(&self) -> bool {
        self.power == Power::Running && matches!(self.stop, Stop::None | Stop::Reduced)
    }

    /// Returns whether the arm's power is on; `true` also while the arm boots.
    #[must_use]
    pub fn powered(&self) -> bool {
        !matches!(self.power, Power::Off)
    }

    /// Returns the robot mode in the values of this controller generation.
    #[must_use]
    pub fn mode(&self, now: SimTime) -> RobotMode {
        if self.generation == Generation::Cb2 {
            return match (self.stop, self.power) {
                (Stop::Fault | Stop::Violation, _) => RobotMode::FatalError,
                (Stop::Emergency, _) => RobotMode::EmergencyStopped,
                (_, Power::Off) => RobotMode::NoPower,
                (_, Power::SwitchingOn { .. }) => RobotMode::Initializing,
                (_, Power::Idle | Power::Releasing { .. }) => RobotMode::Ready,
                (Stop::Protective { .. }, Power::Running) => RobotMode::SecurityStopped,
                (Stop::Safeguard(_), Power::Running) => RobotMode::SafeguardStop,
                (Stop::None | Stop::Reduced, Power::Running) => RobotMode::Running,
            };
        }
        match self.power {
            Power::Off => RobotMode::PowerOff,
            Power::SwitchingOn { since, .. } if now.since(since) < self.timing.boot => RobotMode::Booting,
            Power::SwitchingOn { .. } => RobotMode::PowerOn,
            Power::Idle | Power::Releasing { .. } => RobotMode::Idle,
            Power::Running => RobotMode::Running,
        }
    }

    /// Returns the mode of every joint, consistent with the robot mode.
    #[must_use]
    pub fn joint_mode(&self, now: SimTime) -> JointMode {
        match self.power {
            Power::Off => JointMode::PowerOff,
            Power::SwitchingOn { since, .. } if now.since(since) < self.timing.boot => JointMode::Booting,
            Power::SwitchingOn { .. } if self.generation == Generation::Cb2 => JointMode::Initialisation,
            Power::SwitchingOn { .. } => JointMode::MotorInitialisation,
            Power::Idle | Power::Releasing { .. } => JointMode::Idle,
            Power::Running => JointMode::Running,
        }
    }

    /// Returns the robot's safety mode, as software from 3.0 on reports it.
    #[must_use]
    pub fn safety_mode(&self) -> SafetyMode {
        match self.stop {
            Stop::None => SafetyMode::Normal,
            Stop::Reduced => SafetyMode::Reduced,
            Stop::Protective { .. } => SafetyMode::ProtectiveStop,
            Stop::Safeguard(_) => SafetyMode::SafeguardStop,
            Stop::Emergency => SafetyMode::RobotEmergencyStop,
            Stop::Violation => SafetyMode::Violation,
            Stop::Fault => SafetyMode::Fault,
        }
    }

    /// Returns the safety status, which distinguishes the kinds of safeguard stop
    /// (`core/docs/protocol/ur-dashboard.md 4`).
    #[must_use]
    pub fn safety_status(&self) -> SafetyMode {
        match self.stop {
            Stop::Safeguard(Safeguard::Automatic) => SafetyMode::AutomaticModeSafeguardStop,
            Stop::Safeguard(Safeguard::ThreePosition) => SafetyMode::SystemThreePositionEnablingStop,
            _ => self.safety_mode(),
        }
    }

    /// Restarts the safety system and switches power off. A violation, a fault or a protective stop ends; an emergency
    /// or safeguard stop stays, because its cause still exists.
    pub fn restart_safety(&mut self) {
        self.power_off();
        if matches!(self.stop, Stop::Violation | Stop::Fault | Stop::Protective { .. }) {
            self.stop = Stop::None;
        }
    }

    /// Returns the CB2 masterboard's safety state.
    #[must_use]
    pub fn master_safety_state(&self) -> MasterSafetyState {
        match self.stop {
            Stop::None | Stop::Reduced | Stop::Protective { .. } => MasterSafetyState::Ok,
            Stop::Safeguard(_) => MasterSafetyState::SafeguardStop,
            Stop::Emergency => MasterSafetyState::RobotEmergencyStop,
            Stop::Violation | Stop::Fault => MasterSafetyState::Fault,
        }
    }

    /// Returns the CB2 masterboard's power state.
    #[must_use]
    pub fn master_on_off_state(&self) -> MasterOnOffState {
        match self.power {
            Power::Off => MasterOnOffState::Off,
            Power::SwitchingOn { .. } => MasterOnOffState::TurningOn,
            Power::Idle | Power::Releasing { .. } | Power::Running => MasterOnOffState::On,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn robot(generation: Generation) -> Robot {
        Robot::new(generation, PowerTiming::default())
    }

    #[test]
    fn power_on_and_brake_release_lead_through_every_mode() {
        let mut robot = robot(Generation::ESeries);
        robot.power_off();
        assert_eq!(
            (robot.mode(SimTime::ZERO), robot.joint_mode(SimTime::ZERO)),
            (RobotMode::PowerOff, JointMode::PowerOff)
        );
        robot.power_on(SimTime::ZERO);
        let mut seen = vec![];
        for ms in (0..6000).step_by(10) {
            let now = SimTime::from_millis(ms);
            robot.tick(now);
            if ms == 3000 {
                robot.release_brakes(now);
            }
            if seen.last() != Some(&robot.mode(now)) {
                seen.push(robot.mode(now));
            }
        }
        assert_eq!(seen, [RobotMode::Booting, RobotMode::PowerOn, RobotMode::Idle, RobotMode::Running]);
    }

    #[test]
    fn brake_release_from_off_switches_on_first() {
        let mut robot = robot(Generation::Cb3);
        robot.power_off();
        robot.release_brakes(SimTime::ZERO);
        (0..500).for_each(|step| robot.tick(SimTime::from_millis(step * 10)));
        assert_eq!(robot.power, Power::Running);
    }

    #[test]
    fn a_protective_stop_stays_locked_for_five_seconds() {
        let mut robot = robot(Generation::ESeries);
        assert!(robot.protective_stop(SimTime::from_secs(1)));
        assert!(!robot.may_move() && robot.mode(SimTime::ZERO) == RobotMode::Running);
        assert!(!robot.unlock_protective_stop(SimTime::from_millis(5_999)));
        assert!(robot.unlock_protective_stop(SimTime::from_millis(6_000)));
        assert!(robot.may_move());
    }

    #[test]
    fn an_emergency_stop_forbids_power_until_it_is_released() {
        let mut robot = robot(Generation::ESeries);
        robot.stop = Stop::Emergency;
        robot.power_off();
        robot.power_on(SimTime::ZERO);
        assert_eq!(robot.power, Power::Off);
        robot.stop = Stop::None;
        robot.power_on(SimTime::ZERO);
        assert!(robot.powered());
    }

    #[test]
    fn cb2_shows_stops_in_the_robot_mode() {
        let mut robot = robot(Generation::Cb2);
        assert_eq!(robot.mode(SimTime::ZERO).raw(Generation::Cb2), Some(0));
        assert!(robot.protective_stop(SimTime::ZERO));
        assert_eq!(robot.mode(SimTime::ZERO).raw(Generation::Cb2), Some(4));
        robot.stop = Stop::Emergency;
        assert_eq!(robot.mode(SimTime::ZERO).raw(Generation::Cb2), Some(5));
        assert_eq!(robot.master_safety_state(), MasterSafetyState::RobotEmergencyStop);
    }
}

//! The rules that every run must keep, whatever its subject.

use std::time::Duration;

use outrigger_core::command::Limits;
use outrigger_core::engine::ur::{Identity, UrConfig};
use outrigger_core::link::LinkConfig;
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_wire::robot::ControllerTime;

use super::record::Command;

/// A check of every text that the engine sends, with knowledge that only the simulation has: the time at which each
/// state was really published, and the requests that the operator really made.
///
/// | rule | origin |
/// |---|---|
/// | text that moves only in `Command`, without a latch, after a request that is newer than the last fall | `core/docs/mode-machine.md 5` |
/// | one moving command per state at most | `core/docs/links.md 2` |
/// | a moving command only to a state whose true age, beyond the fastest ever seen, is at most a period and the margin | `core/docs/links.md 2` |
/// | no speed or torque of a joint above its limit | `core/docs/mode-machine.md 11` |
/// | one text that sets outputs per state at most, only to a state that a moving command could answer, after that command | `core/docs/mode-machine.md 11` |
/// | `Offline`: no text. `Monitor`: at most one `stopj` per connection | `core/docs/mode-machine.md 9` |
/// | `Stopping`: at most the zero velocities of the configuration, then one `stopj`, then nothing | `core/docs/mode-machine.md 1` |
#[derive(Debug, Default)]
pub struct Rules {
    requested: bool,
    answered: Option<ControllerTime>,
    spoken: Option<ControllerTime>,
    set_after: Option<ControllerTime>,
    fastest: Option<Duration>,
    asked_otherwise: bool,
    texts_in_mode: u32,
    stopped_in_mode: bool,
}

/// The circumstances at the time at which a text is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    pub(super) config: &'a UrConfig,
    pub(super) identity: Option<&'a Identity>,
    pub(super) latch: Option<Reason>,
    pub(super) state: Option<ControllerTime>,
}

impl Rules {
    /// Records that the operator requests `Command`.
    pub(super) fn request(&mut self) {
        self.requested = true;
    }

    /// Allows the next arming without an operator's request: a digital input line or the device itself requests it.
    pub(super) const fn expect_arming(&mut self) {
        self.asked_otherwise = true;
    }

    /// Records a change of the mode.
    pub(super) fn transition(&mut self, transition: &Transition) {
        if transition.to == Mode::Arming && std::mem::take(&mut self.asked_otherwise) {
            self.requested = true;
        }
        let falls = !matches!(transition.to, Mode::Arming | Mode::Command);
        self.requested &= !falls;
        self.texts_in_mode = 0;
        self.stopped_in_mode = false;
    }

    /// Records that a state was read this long after it was published.
    pub(super) fn state_read(&mut self, age: Duration) {
        self.fastest = Some(self.fastest.map_or(age, |fastest| fastest.min(age)));
    }

    /// Returns the rule that `command` breaks, if any.
    pub(super) fn broken_by(&mut self, command: &Command, moment: &Moment<'_>) -> Option<String> {
        // A program may be ordered to end at any time.
        if command.text.starts_with("end ") {
            return None;
        }
        self.texts_in_mode += 1;
        self.spoken = moment.state;
        if command.moves() {
            return self.broken_by_motion(command, moment);
        }
        let before = (self.texts_in_mode, self.stopped_in_mode);
        self.stopped_in_mode |= command.stops();
        match command.mode {
            Mode::Offline => Some("text without a session".into()),
            Mode::Monitor if !command.stops() => Some("text in Monitor that is no stopj".into()),
            Mode::Monitor if before.1 => Some("a second stopj in Monitor".into()),
            Mode::Stopping if before.1 => Some("text after the stopj of Stopping".into()),
            Mode::Stopping => {
                let period = moment.identity?.period;
                let most = u32::from(moment.config.mode.of(period).stop_cycles);
                (before.0 > most + 1).then(|| format!("{} texts in Stopping", before.0))
            }
            Mode::Monitor | Mode::Arming | Mode::Command => None,
        }
    }

    /// Returns the rule that a text that sets outputs breaks, if any.
    pub(super) fn broken_by_setting(&mut self, setting: &Command, moment: &Moment<'_>) -> Option<String> {
        if setting.speeds.is_some() || setting.text.contains("stopj") {
            return Some("a text that sets outputs and moves".into());
        }
        if setting.mode == Mode::Command && self.spoken != moment.state {
            return Some("outputs set ahead of the cycle's own text".into());
        }
        if std::mem::replace(&mut self.set_after, moment.state) == moment.state {
            return Some("two texts that set outputs for one state".into());
        }
        self.late(setting, moment)
    }

    fn broken_by_motion(&mut self, command: &Command, moment: &Moment<'_>) -> Option<String> {
        if command.mode != Mode::Command {
            return Some(format!("a moving command in {:?}", command.mode));
        }
        if let Some(latch) = moment.latch {
            return Some(format!("a moving command with {latch:?} latched"));
        }
        if !self.requested {
            return Some("a moving command that nobody requested since the last fall".into());
        }
        if std::mem::replace(&mut self.answered, moment.state) == moment.state {
            return Some("two moving commands for one state".into());
        }
        if let Some(late) = self.late(command, moment) {
            return Some(late);
        }
        let most = moment.config.peer.torque.torque;
        let torques = command.torques.unwrap_or_default();
        let strong = |(torque, most): (&f64, f32)| torque.abs() > f64::from(most) + ROUNDING;
        if torques.iter().zip(most.iter()).any(strong) {
            return Some(format!("a torque above its limit: {}", command.text));
        }
        let Limits { velocity, .. } = moment.config.limits;
        let speeds = command.speeds.unwrap_or_default();
        let fast = |(v, limit): (&f64, f32)| v.abs() > f64::from(limit) + ROUNDING;
        speeds.iter().zip(velocity.iter()).any(fast).then(|| format!("a command above its limit: {}", command.text))
    }
}

impl Rules {
    /// Returns an error text if `command` answers a state that is too old for it.
    fn late(&self, command: &Command, moment: &Moment<'_>) -> Option<String> {
        let Some(identity) = moment.identity else { return Some("text without a session".into()) };
        let LinkConfig { period, margin, .. } = moment.config.link.stream(identity.period);
        let most = Duration::from_micros((period + margin).as_micros());
        let late = command.state_age.saturating_sub(self.fastest.unwrap_or_default());
        let too_late = late > most + CLOCK_SLACK;
        too_late
            .then(|| format!("text for a state that is {late:?} late, where {most:?} are allowed: {}", command.text))
    }
}

/// The tolerance for the age of a state: the engine measures ages by a clock mapping that forgets old packets,
/// because the two crystals may drift apart.
const CLOCK_SLACK: Duration = Duration::from_micros(500);
/// The tolerance for speeds, which are written with a limited number of decimals \[rad/s\].
const ROUNDING: f64 = 1e-5;

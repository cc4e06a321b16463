//! The record of a run in virtual time.

use outrigger_core::engine::ur::UrEvent;
use std::fmt::Write as _;
use std::time::Duration;

use outrigger_core::command::outputs::{Write, WriteOutcome};
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_sim::time::SimTime;

use super::setup::sim_time;

/// Six joint speeds \[rad/s\].
pub type Speeds = [f64; 6];

/// The speed below which joints are at rest \[rad/s\]: the core's own threshold for standstill.
pub const REST: f64 = 0.02;

/// A command to the controller: a text, or an order to a program on it, recorded as the text with the same effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The time at which the text was sent.
    pub at: SimTime,
    /// The engine's mode when the text was sent.
    pub mode: Mode,
    /// The text as it was sent to the controller; for an order to a program, the text with the same effect.
    pub text: String,
    /// The speeds of the text's `speedj` \[rad/s\]; `None` for a text without one.
    pub speeds: Option<Speeds>,
    /// The joint torques of a torque command \[Nm\]; `None` for any other text.
    pub torques: Option<[f64; 6]>,
    /// The true age of the newest state that the engine had when it sent the text.
    pub state_age: Duration,
}

impl Command {
    /// Returns whether the text commands the arm to move.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.torques.is_some() || self.speeds.is_some_and(|speeds| speeds != [0.0; 6])
    }

    /// Returns whether the text commands zero velocity.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.speeds == Some([0.0; 6])
    }

    /// Returns whether the text sets outputs or the speed slider; such a text is sent beside the commands of the
    /// motion.
    #[must_use]
    pub fn sets_outputs(&self) -> bool {
        self.text.starts_with("sec ") || self.text.starts_with("set speed ")
    }

    /// Returns whether the text is a lone `stopj`.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.text.starts_with("stopj(")
    }
}

/// Returns whether the event is one that a bad stream repeats with every message.
fn is_frequent(event: &Event<UrEvent>) -> bool {
    matches!(
        event,
        Event::Peer(UrEvent::Malformed { .. })
            | Event::Peer(UrEvent::Skipped { .. })
            | Event::Peer(UrEvent::Report(_))
            | Event::Bridged(_)
    )
}

/// Returns the speeds of the first `speedj` in a text.
pub(crate) fn speeds_of(text: &str) -> Option<Speeds> {
    six_behind("speedj([", text)
}

/// Returns the torques of the first `direct_torque` in a text.
pub(crate) fn torques_of(text: &str) -> Option<[f64; 6]> {
    six_behind("direct_torque([", text)
}

fn six_behind(start: &str, text: &str) -> Option<[f64; 6]> {
    let (_, rest) = text.split_once(start)?;
    let (list, _) = rest.split_once(']')?;
    let numbers: Vec<f64> = list.split(',').map(|number| number.trim().parse()).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

/// The true state of the arm after one control cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// The time at the end of the cycle.
    pub at: SimTime,
    /// The actual joint positions \[rad\].
    pub q: [f64; 6],
    /// The actual joint speeds \[rad/s\].
    pub qd: Speeds,
    /// The controller's target speeds of the joints \[rad/s\].
    pub qd_target: Speeds,
    /// The torques with which a program loads the joints beyond those that hold them \[Nm\]; `None` if no program
    /// does.
    pub torque: Option<[f64; 6]>,
    /// The speed scaling in force, 0 … 1.
    pub scaling: f64,
}

impl Motion {
    /// Returns the speed of the fastest joint \[rad/s\].
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.qd.iter().fold(0.0, |most, v| most.max(v.abs()))
    }

    /// Returns the largest of the controller's target speeds \[rad/s\].
    #[must_use]
    pub fn target_speed(&self) -> f64 {
        self.qd_target.iter().fold(0.0, |most, v| most.max(v.abs()))
    }
}

/// The record of all events of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// The events that the engine reported, with their times.
    pub events: Vec<(SimTime, Event<UrEvent>)>,
    /// The texts and orders sent to the controller that concern motion.
    pub commands: Vec<Command>,
    /// The texts sent to the controller that set outputs.
    pub settings: Vec<Command>,
    /// All data written to each link, if [`Rig::keep_bytes`](super::Rig::keep_bytes) was called; `None` otherwise.
    pub written: Option<Vec<(SimTime, LinkId, Vec<u8>)>>,
    /// The state of the arm, one entry per control cycle.
    pub motion: Vec<Motion>,
    /// The number of control cycles in `Command`, and the number of moving commands that were sent.
    pub cycles: Cycles,
}

/// The counts of control cycles spent in `Command`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// The number of all control cycles in `Command`.
    pub commanded: u64,
    /// The number of moving commands that were sent, at most one for each state.
    pub answered: u64,
}

impl Record {
    /// Returns the mode transitions, in order.
    pub fn transitions(&self) -> impl DoubleEndedIterator<Item = Transition> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Transition(transition) => Some(*transition),
            _ => None,
        })
    }

    /// Returns the modes that the engine entered, in order.
    #[must_use]
    pub fn modes(&self) -> Vec<Mode> {
        self.transitions().map(|transition| transition.to).collect()
    }

    /// Returns the time of the last fallback from `Arming` or `Command`, with its reason.
    #[must_use]
    pub fn fallback(&self) -> Option<(SimTime, Reason)> {
        let falls = |t: &Transition| matches!(t.from, Mode::Arming | Mode::Command) && t.reason.is_some();
        let fall = self.transitions().rfind(falls)?;
        Some((sim_time(fall.at), fall.reason?))
    }

    /// Returns the reasons of all fallbacks from `Command`.
    #[must_use]
    pub fn fallbacks(&self) -> Vec<Reason> {
        self.transitions().filter(|t| t.from == Mode::Command).filter_map(|t| t.reason).collect()
    }

    /// Returns the reports about outputs that were to be set, in order.
    pub fn news(&self) -> impl DoubleEndedIterator<Item = (Write, WriteOutcome)> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Output { write, news } => Some((*write, *news)),
            _ => None,
        })
    }

    /// Returns the texts sent from `since` on.
    pub fn commands_since(&self, since: SimTime) -> impl Iterator<Item = &Command> {
        self.commands.iter().skip_while(move |command| command.at < since)
    }

    /// Returns the arm's state at the end of the last control cycle before or at `at`.
    #[must_use]
    pub fn motion_at(&self, at: SimTime) -> Option<&Motion> {
        let after = self.motion.partition_point(|motion| motion.at <= at);
        self.motion.get(after.checked_sub(1)?)
    }

    /// Returns the time from `since` until every joint was at rest and remained so, interpolated linearly between two
    /// cycles; `None` if the record ends in motion.
    #[must_use]
    pub fn rest_after(&self, since: SimTime) -> Option<Duration> {
        let fast = |motion: &Motion| motion.at >= since && motion.speed() > REST;
        let Some(last) = self.motion.iter().rposition(fast) else { return Some(Duration::ZERO) };
        let (last, next) = (self.motion.get(last)?, self.motion.get(last + 1)?);
        let share = (last.speed() - REST) / (last.speed() - next.speed());
        Some(last.at.since(since) + next.at.since(last.at).mul_f64(share))
    }

    /// Returns the events as readable lines, with each text whose kind differs from that of the text before. Events
    /// that repeat with every message are shown once.
    #[must_use]
    pub fn story(&self) -> String {
        let mut events = self.events.clone();
        events.dedup_by(|(_, a), (_, b)| std::mem::discriminant(a) == std::mem::discriminant(b) && is_frequent(a));
        let mut lines: Vec<(SimTime, String)> = events.iter().map(|(at, event)| (*at, format!("{event:?}"))).collect();
        let kind = |command: &Command| (command.moves(), command.stops());
        let mut last = None;
        for command in &self.commands {
            if last.replace(kind(command)) != Some(kind(command)) {
                lines.push((command.at, format!("{:?}", command.text)));
            }
        }
        lines.sort_by_key(|(at, _)| *at);
        lines.iter().fold(String::new(), |mut story, (at, line)| {
            let _ = writeln!(story, "{at:>10}  {line}");
            story
        })
    }
}

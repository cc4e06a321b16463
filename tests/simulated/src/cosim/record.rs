//! What a run left behind.

use outrigger_core::engine::ur::UrEvent;
use std::fmt::Write as _;
use std::time::Duration;

use outrigger_core::command::outputs::{Write, WriteNews};
use outrigger_core::engine::{Event, LinkId};
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_sim::time::SimTime;

use super::setup::sim_time;

/// Six joint speeds \[rad/s\].
pub type Speeds = [f64; 6];

/// Joints slower than this are at rest \[rad/s\]: the core's own threshold for standstill.
pub const REST: f64 = 0.02;

/// One text that was put on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// When.
    pub at: SimTime,
    /// The mode that put it there.
    pub mode: Mode,
    /// The text.
    pub text: String,
    /// The speeds of its `speedj`; `None` for a text that has none.
    pub speeds: Option<Speeds>,
    /// The torques of an order of torques \[Nm\].
    pub torques: Option<[f64; 6]>,
    /// How old the newest state known then really was.
    pub state_age: Duration,
}

impl Command {
    /// Whether it asks the arm to move.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.torques.is_some() || self.speeds.is_some_and(|speeds| speeds != [0.0; 6])
    }

    /// Whether it asks for zero velocity.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.speeds == Some([0.0; 6])
    }

    /// Whether it sets outputs, beside the motion.
    #[must_use]
    pub fn sets_outputs(&self) -> bool {
        self.text.starts_with("sec ") || self.text.starts_with("set speed ")
    }

    /// Whether it is a lone `stopj`.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.text.starts_with("stopj(")
    }
}

/// Whether an event is one that a bad stream repeats with every message.
fn is_frequent(event: &Event<UrEvent>) -> bool {
    matches!(
        event,
        Event::Peer(UrEvent::Malformed { .. })
            | Event::Peer(UrEvent::Skipped { .. })
            | Event::Peer(UrEvent::Report(_))
            | Event::Bridged(_)
    )
}

/// The speeds of the first `speedj` in a text.
pub(crate) fn speeds_of(text: &str) -> Option<Speeds> {
    six_behind("speedj([", text)
}

/// The torques of the first `direct_torque` in a text.
pub(crate) fn torques_of(text: &str) -> Option<[f64; 6]> {
    six_behind("direct_torque([", text)
}

fn six_behind(start: &str, text: &str) -> Option<[f64; 6]> {
    let (_, rest) = text.split_once(start)?;
    let (list, _) = rest.split_once(']')?;
    let numbers: Vec<f64> = list.split(',').map(|number| number.trim().parse()).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

/// The arm after one control cycle, as it really was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// End of the cycle.
    pub at: SimTime,
    /// Joint positions \[rad\].
    pub q: [f64; 6],
    /// Joint speeds \[rad/s\].
    pub qd: Speeds,
    /// Speeds the controller asks of the joints \[rad/s\].
    pub qd_target: Speeds,
    /// Torques that a program loads the joints with, beyond what holds them \[Nm\].
    pub torque: Option<[f64; 6]>,
    /// The speed scaling in force, 0 … 1.
    pub scaling: f64,
}

impl Motion {
    /// Speed of the fastest joint \[rad/s\].
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.qd.iter().fold(0.0, |most, v| most.max(v.abs()))
    }

    /// The fastest of the speeds the controller asks for \[rad/s\].
    #[must_use]
    pub fn target_speed(&self) -> f64 {
        self.qd_target.iter().fold(0.0, |most, v| most.max(v.abs()))
    }
}

/// Everything that happened, in order.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Events of the engine.
    pub events: Vec<(SimTime, Event<UrEvent>)>,
    /// Texts on the wire that are about motion.
    pub commands: Vec<Command>,
    /// Texts on the wire that set outputs.
    pub settings: Vec<Command>,
    /// Everything that was written to a link, where [`Rig::keep_bytes`](super::Rig::keep_bytes) asked for it.
    pub written: Option<Vec<(SimTime, LinkId, Vec<u8>)>>,
    /// The arm, one entry per control cycle.
    pub motion: Vec<Motion>,
    /// States the engine took in while commanding, and how many of them it answered in time to be in force in the
    /// control cycle that followed.
    pub cycles: Cycles,
}

/// Control cycles spent in `Command`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycles {
    /// All of them.
    pub commanded: u64,
    /// Those before which a new moving command had arrived.
    pub answered: u64,
}

impl Record {
    /// Changes of mode, in order.
    pub fn transitions(&self) -> impl DoubleEndedIterator<Item = Transition> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Transition(transition) => Some(*transition),
            _ => None,
        })
    }

    /// The modes gone through, in order.
    #[must_use]
    pub fn modes(&self) -> Vec<Mode> {
        self.transitions().map(|transition| transition.to).collect()
    }

    /// The last fall from commanding, or from preparing to.
    #[must_use]
    pub fn fallback(&self) -> Option<(SimTime, Reason)> {
        let falls = |t: &Transition| matches!(t.from, Mode::Arming | Mode::Command) && t.reason.is_some();
        let fall = self.transitions().rfind(falls)?;
        Some((sim_time(fall.at), fall.reason?))
    }

    /// The reasons of all falls from `Command`.
    #[must_use]
    pub fn fallbacks(&self) -> Vec<Reason> {
        self.transitions().filter(|t| t.from == Mode::Command).filter_map(|t| t.reason).collect()
    }

    /// What became of outputs that were to be set, in order.
    pub fn news(&self) -> impl DoubleEndedIterator<Item = (Write, WriteNews)> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Output { write, news } => Some((*write, *news)),
            _ => None,
        })
    }

    /// Texts put on the wire from `since` on.
    pub fn commands_since(&self, since: SimTime) -> impl Iterator<Item = &Command> {
        self.commands.iter().skip_while(move |command| command.at < since)
    }

    /// The arm at the end of the last control cycle before or at `at`.
    #[must_use]
    pub fn motion_at(&self, at: SimTime) -> Option<&Motion> {
        let after = self.motion.partition_point(|motion| motion.at <= at);
        self.motion.get(after.checked_sub(1)?)
    }

    /// How long after `since` every joint was at rest for good, between two cycles on the straight line between their
    /// speeds; `None` where the record ends in motion.
    #[must_use]
    pub fn rest_after(&self, since: SimTime) -> Option<Duration> {
        let fast = |motion: &Motion| motion.at >= since && motion.speed() > REST;
        let Some(last) = self.motion.iter().rposition(fast) else { return Some(Duration::ZERO) };
        let (last, next) = (self.motion.get(last)?, self.motion.get(last + 1)?);
        let share = (last.speed() - REST) / (last.speed() - next.speed());
        Some(last.at.since(since) + next.at.since(last.at).mul_f64(share))
    }

    /// The events, and the texts where they change their kind, as lines to be read by a person; of many alike in a
    /// row the first.
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

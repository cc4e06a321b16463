//! What a person sees of one kind of controller alone: its events in words, its arm, its figures and counts. One folder
//! each; whatever runs, shows and records a session is the same for all.

pub mod krc;
pub mod ur;

use std::net::Ipv4Addr;

use outrigger_core::engine::{Engine, Event, Peer, PeerStatus};
use outrigger_core::law::{AnyLaw, Law};
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::telemetry::{Motion, Status};
use outrigger_core::time::{Duration, Instant};

use crate::exit::Failure;
use crate::json::Json;
use crate::show::events::PeerEvent;
use crate::show::{Arm, Notice, States, Word};

/// A controller, as whoever sits before the screen knows it.
pub trait Maker {
    /// What only this kind of controller reports.
    type Event: PeerEvent;

    /// Its address, as given.
    fn robot(&self) -> String;

    /// Whether it runs on this machine, with no network between.
    fn is_here(&self) -> bool;

    /// An event in words; `None` for what is of no interest.
    fn notice(&self, event: &Event<Self::Event>, at: Instant) -> Option<Notice>;

    /// Remembers what `event` says, which reads as `notice`, and how that is shown.
    fn take(&mut self, event: &Self::Event, notice: &Notice) -> Showing;

    /// Why there never was a session, and what to check.
    fn nothing_came(&self) -> Failure;
}

/// How an event of a controller is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Showing {
    /// As it comes.
    Always,
    /// It was shown before, in the same words.
    Never,
    /// It may come many times a second: the newest, once in a while.
    Newest,
}

/// The same beside an engine with `N` joints.
pub trait Shows<const N: usize, P: Peer<N, Event = Self::Event>>: Maker {
    /// Looks at the engine, after each of its inputs.
    fn observe<L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>);

    /// What there is to show now.
    fn facts<L: Law<N>>(&self, engine: &Engine<'_, N, P, L>) -> Facts;
}

/// What a snapshot has of one kind of controller alone.
#[derive(Debug)]
pub struct Facts {
    /// Who it is, while there is one.
    pub identity: Option<String>,
    /// Its arm, by the newest state.
    pub arm: Option<Arm>,
    /// Where states come from, where there is a choice.
    pub states: Option<States>,
    /// Why there is no session.
    pub trouble: Option<String>,
    /// Further values for people, with their names.
    pub values: Vec<(String, String)>,
    /// Counters for scripts, with their keys.
    pub counters: Vec<(&'static str, u64)>,
}

/// Where a board says that its session stands.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) mode: Mode,
    pub(crate) latch: Option<Reason>,
    pub(crate) unmet: ReasonSet,
    pub(crate) link: Figures,
    /// The link that brings states stands.
    pub(crate) has_states: bool,
    pub(crate) has_session: bool,
    /// Who the controller is.
    pub(crate) identity: Option<String>,
    /// What it says of itself.
    pub(crate) words: Vec<Word>,
    /// Why there is no session, where the board knows nothing better.
    pub(crate) silence: Option<&'static str>,
    /// For scripts, with their keys.
    pub(crate) counters: Vec<(&'static str, u64)>,
    pub(crate) events_lost: u32,
}

impl Standing {
    /// What every kind of controller has.
    fn of<S>(status: &Status<S>) -> Self {
        let Status { mode, latch, unmet, link, events_lost, .. } = *status;
        // What a request would be refused for is of interest while nothing is commanded.
        let unmet = if matches!(mode, Mode::Offline | Mode::Monitor) { unmet } else { ReasonSet::EMPTY };
        Self {
            mode,
            latch,
            unmet,
            link,
            has_states: false,
            has_session: false,
            identity: None,
            words: vec![],
            silence: None,
            counters: vec![],
            events_lost,
        }
    }
}

/// What a board with `N` joints tells of one kind of controller.
pub(crate) trait OnBoard<const N: usize>: PeerStatus {
    /// Where its session stands.
    fn standing(status: &Status<Self>) -> Standing;

    /// The arm, without the controller's words.
    fn arm(motion: &Motion<N>) -> Arm;

    /// The robot's address and what is shown of settings in force, where they are of this kind.
    fn settings(bytes: &[u8]) -> Option<(Ipv4Addr, String)>;
}

/// What `doctor` keeps of a session beside an engine with `N` joints.
pub(crate) trait Examined<const N: usize, P: Peer<N>>: Sized {
    /// What is to be seen now, after what was seen `before`; `None` while no session stands.
    fn of<L: Law<N>>(engine: &Engine<'_, N, P, L>, now: Instant, before: Option<&Self>) -> Option<Self>;
}

/// How a run went: what only one kind of controller counts.
pub(crate) trait Summary: Default {
    /// What only this kind of controller reports.
    type Event;

    /// Something happened.
    fn event(&mut self, event: &Event<Self::Event>);

    /// A state's answer has been written, so long after the state was read.
    fn answered(&mut self, turnaround: Duration);

    /// For people, without an end of line; empty where there is nothing to say.
    fn text(&self) -> String;

    /// For scripts: members of an object that has begun.
    fn json(&self, json: &mut Json);
}

/// The same beside an engine with `N` joints.
pub(crate) trait Tally<const N: usize, P: Peer<N>>: Summary {
    /// Looks at the engine, after each of its inputs.
    fn observe(&mut self, engine: &Engine<'_, N, P, AnyLaw<N>>, now: Instant);
}

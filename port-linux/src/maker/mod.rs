//! One kind of controller each: how it is reached and run beside, its events in words, its arm, its figures and counts.
//! Whatever runs, shows and records a session is the same for all.

pub mod apart;
pub mod impedance;
pub mod krc;
pub mod lines;
pub mod ur;

use std::convert::Infallible;
use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr};

use outrigger_core::drive::Application;
use outrigger_core::engine::{Config, Controller, ControllerStatus, Engine, Event, LinkId, Options};
use outrigger_core::law::Law;
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_remote::telemetry::{Motion, Status};
use outrigger_wire::time::{Duration, Instant};
use serde::Serialize;
use tokio::sync::mpsc::UnboundedSender;

use self::impedance::{Impedance, ImpedanceRefusal};
use crate::exit::Failure;
use crate::feed::{CAPACITY, Feed};
use crate::host::clock::Clock;
use crate::net::Net;
use crate::show::events::PeerEvent;
use crate::show::sheet::Sheet;
use crate::show::words::Observer;
use crate::show::{Arm, Notice, Snapshot, States, Terminals, Variables, Word};

/// A controller, as whoever sits before the screen knows it.
pub trait Maker {
    /// What only this kind of controller reports.
    type Event: PeerEvent;
    /// What an engine beside it has to show, as it stands there: one copy, which goes into words on any thread.
    type Seen: Copy + Debug + Send + 'static;

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

    /// What there is to show of what was `seen`.
    fn facts(&self, seen: &Self::Seen) -> Facts;

    /// All of `sight` for a view or a page. What only the one who shows it has is left empty.
    fn snapshot(&self, sight: &Sight<Self::Seen>) -> Snapshot {
        let Sight { at, here, mode, overrides_pendant, latch, last_fallback, unmet, figures, rate, seen } = *sight;
        let Facts { identity, arm, states, trouble, values, counters, variables } = self.facts(&seen);
        Snapshot {
            at,
            robot: self.robot(),
            here,
            observer: Observer::Process,
            identity,
            mode,
            overrides_pendant,
            latch,
            last_fallback,
            unmet,
            state: arm,
            figures,
            states,
            intervals: vec![],
            rate,
            trouble,
            values,
            counters,
            variables,
            terminals: None,
            temperatures: None,
            law_error: None,
        }
    }
}

/// A session at one instant, as it stands in the engine: `seen` is what its maker alone knows.
#[derive(Clone, Copy, Debug)]
pub struct Sight<S> {
    /// When, since the start of the process.
    pub(crate) at: Instant,
    /// The controller runs on this machine.
    pub(crate) here: bool,
    pub(crate) mode: Mode,
    pub(crate) overrides_pendant: bool,
    /// The reason that stands, and the one that stood last.
    pub(crate) latch: Option<Reason>,
    pub(crate) last_fallback: Option<Reason>,
    /// What keeps commanding from beginning; while commanding, it is of no interest.
    pub(crate) unmet: ReasonSet,
    /// Of the link, while a session stands.
    pub(crate) figures: Option<Figures>,
    /// States per second.
    pub(crate) rate: f32,
    pub(crate) seen: S,
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
pub trait Shows<const N: usize, P: Controller<N, Event = Self::Event>>: Maker {
    /// Looks at the engine, after each of its inputs.
    fn observe<L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>);

    /// What a program on the controller sends now, where it shares variables.
    fn variables<L: Law<N>>(&self, _: &Engine<'_, N, P, L>) -> Option<Variables> {
        None
    }

    /// Its inputs and outputs now, where it shows them.
    fn terminals<L: Law<N>>(&self, _: &Engine<'_, N, P, L>) -> Option<Terminals> {
        None
    }

    /// Changes stiffness and damping from the next command on.
    ///
    /// # Errors
    /// The reason for which they stay as they are.
    fn set_impedance<L: Law<N>>(_: &mut Engine<'_, N, P, L>, _: &Impedance) -> Result<(), ImpedanceRefusal> {
        Err(ImpedanceRefusal::NoImpedance)
    }

    /// What there is to show now.
    fn seen<L: Law<N>>(&self, engine: &Engine<'_, N, P, L>) -> Self::Seen;

    /// The same with how the session stands: `figures` of the link while there is one, and its states per second.
    fn sight<L: Law<N>>(
        &self,
        engine: &Engine<'_, N, P, L>,
        at: Instant,
        last_fallback: Option<Reason>,
        (figures, rate): (Option<Figures>, f32),
    ) -> Sight<Self::Seen> {
        let mode = engine.mode();
        Sight {
            at,
            here: self.is_here(),
            mode,
            overrides_pendant: engine.overrides_pendant(),
            latch: engine.latch(),
            last_fallback,
            unmet: if matches!(mode, Mode::Offline | Mode::Monitor) { engine.unmet(at) } else { ReasonSet::EMPTY },
            figures,
            rate,
            seen: self.seen(engine),
        }
    }
}

/// A controller beside which an engine with `N` joints runs: what a command needs of its maker.
pub trait Vendor<const N: usize>:
    Clone + Send + 'static + Maker + for<'m> Shows<N, <Self as Vendor<N>>::Controller<'m>>
{
    /// What only this kind of controller needs to be told.
    type Options: Options + 'static;
    /// The engine's side of it, with memory that it receives into.
    type Controller<'m>: Controller<N, Event = Self::Event, Options = Self::Options>;
    /// What `doctor` keeps of a session.
    type Examined: for<'m> Examined<N, Self::Controller<'m>>;
    /// What is counted of a run.
    type Tally: Summary<Event = Self::Event> + for<'m> Tally<N, Self::Controller<'m>>;

    /// Entries of a feed that are kept for slow readers.
    const ENTRIES: usize = CAPACITY;
    /// The link that [`apart`](Self::apart) has a connection of its own for.
    const APART: Option<LinkId> = None;

    /// Where it is commanded: by one process of this machine only.
    fn seat(&self) -> SocketAddr;

    /// Where it is listened to, where it is not connected to.
    fn listens(&self) -> Option<SocketAddr> {
        None
    }

    /// Where its dashboard server is, where it may have one.
    fn dashboard(&self) -> Option<SocketAddr> {
        None
    }

    /// Where it is asked for its modes and programs, where it can be.
    fn target(&self) -> Option<crate::host::target::Target> {
        None
    }

    /// The sockets for it, which are lent to [`run`](Self::run).
    ///
    /// # Errors
    /// Those of [`Net::listening`].
    fn open(&mut self, clock: Clock, busy_poll_micros: Option<u32>) -> impl Future<Output = Result<Net, Failure>>;

    /// Runs an engine until the application has shut it down, with a recorder of `recorder` bytes.
    ///
    /// # Errors
    /// [`Failure::BadInput`] for a configuration that the core refuses.
    fn run<L: Law<N>>(
        config: Config<N, Self::Options>,
        law: L,
        net: &mut Net,
        application: &mut impl for<'m> Application<N, Self::Controller<'m>, L>,
        recorder: usize,
    ) -> impl Future<Output = Result<(), Failure>>;

    /// Whether a program of ours on the controller makes whole motions by itself.
    fn makes_moves(config: &Config<N, Self::Options>) -> bool {
        let _ = config;
        false
    }

    /// Returns whether joint torques go out in place of speeds, or are added by the controller.
    fn commands_torques(config: &Config<N, Self::Options>) -> bool {
        let _ = config;
        false
    }

    /// How far the arm coasts at worst, in words, where `event` is the one with which that is known.
    fn coast(config: &Config<N, Self::Options>, event: &Self::Event) -> Option<String>;

    /// What a recorder takes beside the engine's links of what is `wanted`, for as long as this is polled: it goes into `feed`, and remarks
    /// about it into `remarks`.
    fn apart(
        &mut self,
        config: &Config<N, Self::Options>,
        wanted: Wanted,
        clock: Clock,
        feed: Feed,
        remarks: UnboundedSender<String>,
    ) -> impl Future<Output = Infallible> + Send + 'static + use<Self, N> {
        let _ = (config, wanted, clock, feed, remarks);
        std::future::pending()
    }
}

/// What a recorder takes beside the engine's links.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// All items, in place of the link [`Vendor::APART`].
    Everything,
    /// These variables, beside it: into [`VARIABLES`](crate::feed::VARIABLES).
    Variables(Vec<String>),
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
    /// What a program on it sends, where it shares variables.
    pub variables: Option<Variables>,
}

/// Where a board says that its session stands.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The mode.
    pub mode: Mode,
    /// The next command overrides a stop at the pendant.
    pub overrides_pendant: bool,
    /// The reason that nobody has acknowledged.
    pub latch: Option<Reason>,
    /// The reasons for which a request would be refused; none while commanding.
    pub unmet: ReasonSet,
    /// Figures of the link that brings states.
    pub link: Figures,
    /// The link that brings states stands.
    pub has_states: bool,
    /// A session stands.
    pub has_session: bool,
    /// Who the controller is.
    pub identity: Option<String>,
    /// What it says of itself.
    pub words: Vec<Word>,
    /// Why there is no session, where the board knows nothing better.
    pub silence: Option<&'static str>,
    /// For scripts, with their keys.
    pub counters: Vec<(&'static str, u64)>,
    /// Events that found no room in the board.
    pub events_lost: u32,
}

impl Standing {
    /// What every kind of controller has.
    fn of<S>(status: &Status<S>) -> Self {
        let Status { mode, overrides_pendant, latch, unmet, link, events_lost, .. } = *status;
        // What a request would be refused for is of interest while nothing is commanded.
        let unmet = if matches!(mode, Mode::Offline | Mode::Monitor) { unmet } else { ReasonSet::EMPTY };
        Self {
            mode,
            overrides_pendant,
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
pub trait OnBoard<const N: usize>: ControllerStatus {
    /// Where its session stands.
    fn standing(status: &Status<Self>) -> Standing;

    /// The arm, without the controller's words.
    fn arm(motion: &Motion<N>) -> Arm;

    /// The robot's address and what is shown of settings in force, where they are of this kind.
    fn settings(bytes: &[u8]) -> Option<(Ipv4Addr, String)>;
}

/// What is kept of a session beside an engine with `N` joints that is looked at for some seconds.
pub trait Observed<const N: usize, P: Controller<N>>: Sized {
    /// What is to be seen now, after what was seen `before`; `None` while no session stands.
    fn of<L: Law<N>>(engine: &Engine<'_, N, P, L>, now: Instant, before: Option<&Self>) -> Option<Self>;
}

/// What `doctor` keeps of it.
pub trait Examined<const N: usize, P: Controller<N>>: Observed<N, P> {
    /// Adds to `sheet` the session as it was seen, judged by `config`.
    fn report(&self, config: &Config<N, P::Options>, sheet: &mut Sheet);
}

/// How a run went: what only one kind of controller counts.
pub trait Summary: Default {
    /// What only this kind of controller reports.
    type Event;

    /// Something happened.
    fn event(&mut self, event: &Event<Self::Event>);

    /// A state's answer has been written, so long after the state was read.
    fn answered(&mut self, turnaround: Duration);

    /// For people, without an end of line; empty where there is nothing to say.
    fn text(&self) -> String;

    /// For scripts: members of an object.
    fn members(&self) -> impl Serialize;
}

/// The same beside an engine with `N` joints.
pub trait Tally<const N: usize, P: Controller<N>>: Summary {
    /// Looks at the engine, after each of its inputs.
    fn observe<L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>, now: Instant);
}

#[cfg(test)]
mod tests;

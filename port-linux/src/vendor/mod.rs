//! The vendors of controllers: connection, session, texts of events, arm, figures and counters of each kind. All code
//! that runs, shows and records a session is the same for every vendor.

pub mod effect_lines;
pub mod extra_reception;
pub mod krc;
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

use crate::exit::Failure;
use crate::feed::{CAPACITY, Feed};
use crate::host::clock::Clock;
use crate::motion::impedance::{Impedance, ImpedanceRefusal};
use crate::net::Net;
use crate::show::events::PeerEvent;
use crate::show::examination_result::Sheet;
use crate::show::reason_text::Observer;
use crate::show::{Arm, Notice, ReportedState, Snapshot, States, Terminals, Variables};

/// The description of one kind of controller for user interfaces.
pub trait VendorUi {
    /// The type of events that only this kind of controller reports.
    type Event: PeerEvent;
    /// The data of the vendor's engine at one instant. It is copied once, and formatted on any thread.
    type VendorView: Copy + Debug + Send + 'static;

    /// Returns the controller's address, as the user gave it.
    fn robot(&self) -> String;

    /// Returns `true` if the controller runs on this machine, without a network in between.
    fn is_here(&self) -> bool;

    /// Describes an event of the session with the controller for people and scripts. Returns `None` if the event is not
    /// shown.
    fn notice(&self, event: &Event<Self::Event>, at: Instant) -> Option<Notice>;

    /// Stores the content of the controller's `event`, which has the description `notice`. Returns the way in which the
    /// event is shown.
    fn take(&mut self, event: &Self::Event, notice: &Notice) -> EventDisplay;

    /// Returns the error for a session that never started, with what to check.
    fn nothing_came(&self) -> Failure;

    /// Converts the engine's data `seen` to the vendor's part of a snapshot: identity, arm, counters, variables.
    fn facts(&self, seen: &Self::VendorView) -> VendorFacts;

    /// Converts the state of a session to a snapshot that the terminal or the web page shows. Data that only the caller
    /// has is empty.
    fn snapshot(&self, sight: &SessionStatus<Self::VendorView>) -> Snapshot {
        let SessionStatus { at, here, mode, overrides_pendant, latch, last_fallback, unmet, figures, rate, seen } =
            *sight;
        let VendorFacts { identity, arm, states, trouble, values, counters, variables } = self.facts(&seen);
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

/// The state of a session at one instant. `seen` is the data that only its vendor can interpret.
#[derive(Clone, Copy, Debug)]
pub struct SessionStatus<S> {
    /// The time of this session's state since the start of the process.
    pub(crate) at: Instant,
    /// `true` if the controller runs on this machine.
    pub(crate) here: bool,
    pub(crate) mode: Mode,
    pub(crate) overrides_pendant: bool,
    /// The first reason that was latched since the last acknowledgement: it prevents commanding until it is
    /// acknowledged. A release (requested end of commanding) is never latched. `None` if there is none.
    pub(crate) latch: Option<Reason>,
    /// The reason that was latched last (prevented commanding until acknowledged), even if it was acknowledged since.
    /// `None` if there was none.
    pub(crate) last_fallback: Option<Reason>,
    /// The unmet preconditions of commanding the arm. Empty while commanding.
    pub(crate) unmet: ReasonSet,
    /// The figures of the link that carries robot states, such as losses and intervals. `None` without a session.
    pub(crate) figures: Option<Figures>,
    /// The number of robot states per second \[1/s\].
    pub(crate) rate: f32,
    pub(crate) seen: S,
}

/// The way in which an event of a controller is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventDisplay {
    /// The event of the controller is shown at once.
    Always,
    /// The event is not shown, because it was shown before in the same words.
    Never,
    /// The event may occur many times a second. Only the newest one is shown to people, at intervals.
    Newest,
}

/// The part of a controller's description that reads the engine with `N` joints.
pub trait VendorObserve<const N: usize, P: Controller<N, Event = Self::Event>>: VendorUi {
    /// Observes the session's engine after an input; not every caller does so after each one.
    fn observe<L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>);

    /// Returns the current variables of a program on the controller. `None` if this kind of controller shares none, or
    /// has sent none yet.
    fn variables<L: Law<N>>(&self, _: &Engine<'_, N, P, L>) -> Option<Variables> {
        None
    }

    /// Returns the current electrical inputs and outputs of the controller. `None` if they are not reported.
    fn terminals<L: Law<N>>(&self, _: &Engine<'_, N, P, L>) -> Option<Terminals> {
        None
    }

    /// Changes the arm's stiffness and damping from the next command on.
    ///
    /// # Errors
    /// Returns the reason why the values are not changed.
    fn set_impedance<L: Law<N>>(_: &mut Engine<'_, N, P, L>, _: &Impedance) -> Result<(), ImpedanceRefusal> {
        Err(ImpedanceRefusal::NoImpedance)
    }

    /// Returns the vendor's own data about the engine at this instant.
    fn vendor_view<L: Law<N>>(&self, engine: &Engine<'_, N, P, L>) -> Self::VendorView;

    /// Returns the state of the session at the time `at`. The caller has measured the `figures` of the link that
    /// carries robot states, if there is a session, and the `rate` of these states \[1/s\].
    fn session_view<L: Law<N>>(
        &self,
        engine: &Engine<'_, N, P, L>,
        at: Instant,
        last_fallback: Option<Reason>,
        (figures, rate): (Option<Figures>, f32),
    ) -> SessionStatus<Self::VendorView> {
        let mode = engine.mode();
        SessionStatus {
            at,
            here: self.is_here(),
            mode,
            overrides_pendant: engine.overrides_pendant(),
            latch: engine.latch(),
            last_fallback,
            unmet: if matches!(mode, Mode::Offline | Mode::Monitor) { engine.unmet(at) } else { ReasonSet::EMPTY },
            figures,
            rate,
            seen: self.vendor_view(engine),
        }
    }
}

/// A vendor's controller for an engine with `N` joints: everything that the subcommands of the program, such as `run`
/// and `doctor`, need of it.
pub trait Vendor<const N: usize>:
    Clone + Send + 'static + VendorUi + for<'m> VendorObserve<N, <Self as Vendor<N>>::Controller<'m>>
{
    /// The type of engine settings that only this kind of controller has.
    type Options: Options + 'static;
    /// The controller's part of the engine, with the memory for received data.
    type Controller<'m>: Controller<N, Event = Self::Event, Options = Self::Options>;
    /// The type of data of a session that `doctor` reports.
    type Examined: for<'m> Examined<N, Self::Controller<'m>>;
    /// The type of the counters of a run that only this kind of controller has.
    type Tally: Summary<Event = Self::Event> + for<'m> Tally<N, Self::Controller<'m>>;

    /// The number of entries of a feed (traffic and events of a session) that are kept for slow readers.
    const ENTRIES: usize = CAPACITY;
    /// The link whose data [`apart`](Self::apart) receives over a connection of its own, if everything is to be
    /// recorded. `None` if there is no such link.
    const APART: Option<LinkId> = None;

    /// Returns the address that identifies the controller when a process of this machine takes the exclusive right
    /// to command it.
    fn seat(&self) -> SocketAddr;

    /// Returns the local address that receives the controller's data. `None` if this process connects to the
    /// controller instead.
    fn listens(&self) -> Option<SocketAddr> {
        None
    }

    /// Returns the address of the controller's dashboard server. `None` if this kind of controller has none.
    fn dashboard(&self) -> Option<SocketAddr> {
        None
    }

    /// Returns the address for requests about the controller's modes and programs. `None` if this kind of controller
    /// does not answer them.
    fn target(&self) -> Option<crate::host::target::Target> {
        None
    }

    /// Opens the sockets to the controller, which [`run`](Self::run) then uses.
    ///
    /// # Errors
    /// Returns the errors of [`Net::listening`].
    fn open(&mut self, clock: Clock) -> impl Future<Output = Result<Net, Failure>>;

    /// Runs an engine until the application has shut it down. `recorder` is the size of the recorder of the engine's
    /// inputs and outputs \[B\].
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] for a configuration that the core rejects.
    fn run<L: Law<N>>(
        config: Config<N, Self::Options>,
        law: L,
        net: &mut Net,
        application: &mut impl for<'m> Application<N, Self::Controller<'m>, L>,
        recorder: usize,
    ) -> impl Future<Output = Result<(), Failure>>;

    /// Returns `true` if Outrigger's program on the controller executes whole motions by itself.
    fn makes_moves(config: &Config<N, Self::Options>) -> bool {
        let _ = config;
        false
    }

    /// Returns `true` if joint torques are commanded instead of speeds.
    fn commands_torques(config: &Config<N, Self::Options>) -> bool {
        let _ = config;
        false
    }

    /// Returns the worst-case coast of the arm (its motion after commanding has failed) as text, if `event` is the
    /// one after which it is known.
    fn coast(config: &Config<N, Self::Options>, event: &Self::Event) -> Option<String>;

    /// Receives the `wanted` data for a recorder, over connections separate from the engine's links, for as long as
    /// this is polled. Puts the data into `feed`, and messages about it into `remarks`.
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

/// The data that a recorder receives over a connection of its own.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// All RTDE variables of the controller, in place of the data of the session's own link [`Vendor::APART`].
    Everything,
    /// The RTDE variables with these names, in addition to the data of the session's links. They are put into the
    /// stream [`VARIABLES`](crate::feed::VARIABLES).
    Variables(Vec<String>),
}

/// The part of a snapshot that depends on the kind of controller.
#[derive(Debug)]
pub struct VendorFacts {
    /// The identity of the controller, e.g. `ur5e, software 5.15.0`. `None` without a session.
    pub identity: Option<String>,
    /// The arm in the newest robot state. `None` without a state.
    pub arm: Option<Arm>,
    /// The connection that carries robot states. `None` without a session, and for a kind of controller with
    /// only one such connection.
    pub states: Option<States>,
    /// The reason why there is no session with the controller. `None` during a session, or if it is not known.
    pub trouble: Option<String>,
    /// Further named values of the controller, for people.
    pub values: Vec<(String, String)>,
    /// Further named counters of the controller for scripts, with their JSON keys.
    pub counters: Vec<(&'static str, u64)>,
    /// The variables that a program on the controller sends. `None` if this kind of controller shares none, or has sent
    /// none yet.
    pub variables: Option<Variables>,
}

/// The state of the session that a board (a microcontroller that commands a robot) reports.
#[derive(Clone, Debug)]
pub struct BoardSession {
    /// The mode of the control state machine on the microcontroller board, e.g. monitor or command.
    pub mode: Mode,
    /// `true` if the next command of the board overrides a stop at the pendant.
    pub overrides_pendant: bool,
    /// The first reason that was latched since the last acknowledgement: it prevents commanding until it is
    /// acknowledged. A release (requested end of commanding) is never latched. `None` if there is none.
    pub latch: Option<Reason>,
    /// The reasons for which a request to command would be rejected. Empty while commanding.
    pub unmet: ReasonSet,
    /// The figures of the link that carries robot states to the board, such as losses and intervals.
    pub link: Figures,
    /// `true` if the board's connection to port 30003 is open, or if the KRC sends measurements. The board keeps the
    /// connection open even if the robot states arrive by RTDE.
    pub has_states: bool,
    /// `true` if the microcontroller board has a session with the controller.
    pub has_session: bool,
    /// The identity of the controller, as the microcontroller board reports it. `None` if it does not report it.
    pub identity: Option<String>,
    /// The modes that the controller reports, such as its safety mode.
    pub words: Vec<ReportedState>,
    /// The reason to display while the microcontroller board has no session with the controller. `None` if none can be
    /// given.
    pub silence: Option<&'static str>,
    /// Further named counters of the microcontroller board for scripts, with their JSON keys.
    pub counters: Vec<(&'static str, u64)>,
    /// The number of events that were lost because the microcontroller board's memory was full.
    pub events_lost: u32,
}

impl BoardSession {
    /// Returns the part of a microcontroller board's report that is the same for all kinds of controllers.
    fn of<S>(status: &Status<S>) -> Self {
        let Status { mode, overrides_pendant, latch, unmet, link, events_lost, .. } = *status;
        // The reasons for a rejection are relevant only while nothing is commanded.
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

/// The report of a board (a microcontroller that commands a robot with `N` joints) about one kind of controller.
pub trait OnBoard<const N: usize>: ControllerStatus {
    /// Returns the state of the session of a microcontroller board with the controller, from the board's `status`.
    fn standing(status: &Status<Self>) -> BoardSession;

    /// Returns the state of the arm that a microcontroller board reports, without the controller's modes.
    fn arm(motion: &Motion<N>) -> Arm;

    /// Returns the robot's address and a description of the settings in force on a microcontroller board, decoded from
    /// `bytes`. `None` if they are for another kind of controller.
    fn settings(bytes: &[u8]) -> Option<(Ipv4Addr, String)>;
}

/// The data of a session that is observed for some seconds, from an engine with `N` joints.
pub trait Observed<const N: usize, P: Controller<N>>: Sized {
    /// Returns the data of the session at this instant, given the data observed `before`. `None` without a session.
    fn of<L: Law<N>>(engine: &Engine<'_, N, P, L>, now: Instant, before: Option<&Self>) -> Option<Self>;
}

/// The data of an observed session that `doctor` reports.
pub trait Examined<const N: usize, P: Controller<N>>: Observed<N, P> {
    /// Adds a report about the observed session to `sheet`. `config` decides what is a problem.
    fn report(&self, config: &Config<N, P::Options>, sheet: &mut Sheet);
}

/// The counters of a run that only one kind of controller has.
pub trait Summary: Default {
    /// The type of events that only this kind of controller reports.
    type Event;

    /// Counts an event of the run in the counters that only this kind of controller has.
    fn event(&mut self, event: &Event<Self::Event>);

    /// Counts a command that was written in reply to a robot state. `turnaround` is the time since the state was read.
    fn answered(&mut self, turnaround: Duration);

    /// Returns a summary of the run for people, without a line end. Empty if there is nothing to report.
    fn text(&self) -> String;

    /// Returns the summary of a run for scripts: members of a JSON object.
    fn members(&self) -> impl Serialize;
}

/// The counters of a run that are updated from an engine with `N` joints.
pub trait Tally<const N: usize, P: Controller<N>>: Summary {
    /// Observes the run's engine after each of its inputs.
    fn observe<L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>, now: Instant);
}

#[cfg(test)]
mod tests;

//! A KUKA controller (KRC), which sends its measurements without a connection.

mod board_report;
mod config_effect;
mod doctor_report;
pub(crate) mod event_text;
mod impedance;
mod run_summary;

use std::net::SocketAddr;

use outrigger_config::{FIRST_PORT, RobotAddress};
use outrigger_core::drive::Application;
use outrigger_core::engine::krc::{
    Control, Krc, KrcConfig, KrcCounts, KrcEngine, KrcEvent, KrcOptions, KrcReport, KrlConvention,
};
use outrigger_core::engine::{Engine, Event, ReplayError, Replayed, replay_watched};
use outrigger_core::law::Law;
use outrigger_wire::fri::CommandFlags;
use outrigger_wire::robot::State;
use outrigger_wire::time::{Duration, Instant};

pub use self::config_effect::checked;
use self::doctor_report::KrcExamined;
pub(crate) use self::run_summary::KrcTally;
use super::{EventDisplay, Vendor, VendorFacts, VendorObserve, VendorUi};
use crate::boxed_law::BoxedLaw;
use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::motion::impedance::{Impedance, ImpedanceRefusal};
use crate::net::Net;
use crate::net::engine_runner;
use crate::show::events::{Surroundings, notice};
use crate::show::replayed_link_quality::LinkHistory;
use crate::show::{Arm, Notice, ReportedState, Variables};

/// Runs an engine for a KRC until the application has shut it down. `recorder` is the size of the recorder of the
/// engine's inputs and outputs \[B\].
///
/// # Errors
/// Returns [`Failure::BadInput`] for a configuration that the core rejects.
pub async fn run<L: Law<7>>(
    config: KrcConfig,
    law: L,
    net: &mut Net,
    application: &mut impl Application<7, Krc, L>,
    recorder: usize,
) -> Result<(), Failure> {
    let engine = KrcEngine::new(config, law, ()).map_err(|error| Failure::BadInput(error.to_string()))?;
    engine_runner::run(engine, net, application, recorder).await;
    Ok(())
}

/// Returns the settings of an engine that only observes `robot`, or any KRC if the address is 0.0.0.0.
///
/// Each measurement is answered with the KRC's own setpoint, which moves nothing. A KRC without answers rates its
/// link UNACCEPTABLE, and the quality of the link could not be measured. The KRL program receives no requests.
///
/// # Errors
/// Returns [`Failure::Usage`] for a port base, which a KRC does not have; [`Failure::Connection`] for a name that
/// cannot be resolved.
pub fn looking(robot: &RobotAddress) -> Result<KrcConfig, Failure> {
    if robot.port(FIRST_PORT) != FIRST_PORT {
        return Err(Failure::Usage(format!(
            "'{robot}' has a port, but a KRC is not connected to: it sends by itself. Give its address alone, and with \
             --listen the port for its measurements"
        )));
    }
    let found = robot.resolve(FIRST_PORT).map_err(|error| {
        Failure::Connection(format!("cannot find the host '{}': {error}; give the KRC's address", robot.host()))
    })?;
    let address = Some(found.ip()).filter(|ip| !ip.is_unspecified());
    let peer = KrcOptions { address, handshake: KrlConvention::None, ..KrcOptions::default() };
    Ok(KrcConfig { peer, ..KrcConfig::default() })
}

/// Runs the engine again from `dump`, a recording of its inputs, and reports the history of its link to `link`.
///
/// # Errors
/// Returns [`ReplayError`].
pub fn replay(dump: &[u8], link: &mut LinkHistory) -> Result<Replayed, ReplayError> {
    // The law and its state are in the recording.
    replay_watched::<7, Krc, _>(dump, BoxedLaw::idle(), (), |engine, at, event| {
        link.watch(engine, at, event.as_ref());
    })
}

/// A KRC that sends measurements to this process.
#[derive(Clone, Debug)]
pub struct KrcController {
    robot: String,
    listens: SocketAddr,
    here: bool,
    counts: KrcCounts,
}

impl KrcController {
    /// Creates a controller whose measurements will arrive at the local address `listens`.
    #[must_use]
    pub fn new(robot: String, listens: SocketAddr) -> Self {
        Self { robot, listens, here: false, counts: KrcCounts::default() }
    }
}

impl VendorUi for KrcController {
    type Event = KrcEvent;
    type VendorView = KrcSeen;

    fn robot(&self) -> String {
        self.robot.clone()
    }

    fn is_here(&self) -> bool {
        self.here
    }

    fn notice(&self, event: &Event<KrcEvent>, at: Instant) -> Option<Notice> {
        notice(event, &Surroundings::without_links(at, self.here))
    }

    fn take(&mut self, event: &KrcEvent, _: &Notice) -> EventDisplay {
        if matches!(event, KrcEvent::Quality(_)) { EventDisplay::Newest } else { EventDisplay::Always }
    }

    fn nothing_came(&self) -> Failure {
        Failure::Connection(event_text::silence(&self.counts, self.listens))
    }

    fn facts(&self, seen: &KrcSeen) -> VendorFacts {
        let KrcSeen { address, period, state, words, report, counts, variables } = *seen;
        let arm = |state: State<7>| Arm::new(&state, words.to_vec()).with_setpoints(state.target_positions.iter());
        VendorFacts {
            identity: event_text::identity(address, period),
            arm: state.map(arm),
            states: None,
            trouble: period.is_none().then(|| event_text::silence(&counts, self.listens)),
            values: event_text::values(report, period, variables.as_ref()),
            counters: event_text::counters(counts).to_vec(),
            variables,
        }
    }
}

impl VendorObserve<7, Krc> for KrcController {
    fn observe<L: Law<7>>(&mut self, engine: &Engine<'_, 7, Krc, L>) {
        let krc = engine.peer();
        self.here = krc.address().is_some_and(|peer| peer.ip().is_loopback());
        self.counts = krc.counts();
    }

    fn variables<L: Law<7>>(&self, engine: &Engine<'_, 7, Krc, L>) -> Option<Variables> {
        event_text::variables(engine.peer())
    }

    fn set_impedance<L: Law<7>>(engine: &mut Engine<'_, 7, Krc, L>, asked: &Impedance) -> Result<(), ImpedanceRefusal> {
        match impedance::with(asked, engine.peer().control())? {
            Control::Position => Err(ImpedanceRefusal::Position),
            Control::JointImpedance(joint) => engine.set_joint_impedance(joint).map_err(impedance::refused),
            Control::ToolImpedance(tool) => engine.set_tool_impedance(tool).map_err(impedance::refused),
        }
    }

    fn vendor_view<L: Law<7>>(&self, engine: &Engine<'_, 7, Krc, L>) -> KrcSeen {
        let krc = engine.peer();
        KrcSeen {
            address: krc.address(),
            period: krc.period(),
            state: engine.state().copied(),
            words: event_text::all(krc),
            report: krc.report(),
            counts: krc.counts(),
            variables: event_text::variables(krc),
        }
    }
}

/// The data of a session with a KRC that the terminal and the web page show.
#[derive(Clone, Copy, Debug)]
pub struct KrcSeen {
    address: Option<SocketAddr>,
    period: Option<Duration>,
    state: Option<State<7>>,
    /// The states and ratings that the KRC reports, by name.
    words: [ReportedState; 4],
    report: Option<KrcReport>,
    counts: KrcCounts,
    variables: Option<Variables>,
}

impl Vendor<7> for KrcController {
    type Options = KrcOptions;
    type Controller<'m> = Krc;
    type Examined = KrcExamined;
    type Tally = KrcTally;

    /// The number of feed entries (traffic and events) that are kept for slow readers with a KRC: those of some four
    /// seconds at 1 kHz.
    const ENTRIES: usize = 1 << 14;

    fn seat(&self) -> SocketAddr {
        self.listens
    }

    fn listens(&self) -> Option<SocketAddr> {
        Some(self.listens)
    }

    async fn open(&mut self, clock: Clock) -> Result<Net, Failure> {
        Net::listening(self.listens, clock).await
    }

    async fn run<L: Law<7>>(
        config: KrcConfig,
        law: L,
        net: &mut Net,
        application: &mut impl for<'m> Application<7, Self::Controller<'m>, L>,
        recorder: usize,
    ) -> Result<(), Failure> {
        run(config, law, net, application, recorder).await
    }

    fn commands_torques(config: &KrcConfig) -> bool {
        let Control::JointImpedance(_) = config.peer.control else { return false };
        config.peer.control.flags().contains(CommandFlags::JOINT_TORQUE)
    }

    fn coast(config: &KrcConfig, event: &KrcEvent) -> Option<String> {
        let KrcEvent::Found { period_micros } = event else { return None };
        Some(event_text::coast(&config.worst_coast(Duration::from_micros(u64::from(*period_micros)))))
    }
}

#[cfg(test)]
mod tests;

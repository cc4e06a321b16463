//! A controller of Universal Robots.

mod board_report;
pub mod coast;
mod command_paths;
mod config_effect;
mod doctor_report;
mod event_text;
mod memory;
mod rtde_recording;
mod run_summary;
mod state_source;
mod tracking;

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;

use outrigger_core::drive::Application;
use outrigger_core::engine::ur::{
    CommandPath, ConnectConfig, Next, Ports, StatesFrom, Ur, UrConfig, UrEngine, UrEvent, UrOptions,
};
use outrigger_core::engine::{Engine, Event, LinkId, ReplayError, Replayed, replay_watched};
use outrigger_core::law::Law;
use outrigger_core::mode::Activity;
use outrigger_wire::robot::{ProgramState, RobotMode, Safety, SoftwareVersion, State};
use outrigger_wire::time::Instant;
use tokio::sync::{mpsc, watch};

pub use self::config_effect::checked;
use self::doctor_report::UrExamined;
pub use self::memory::Windows;
use self::run_summary::UrTally;
use self::state_source::SeenStates;
use super::{EventDisplay, Vendor, VendorFacts, VendorObserve, VendorUi, Wanted};
use crate::boxed_law::BoxedLaw;
use crate::exit::Failure;
use crate::feed::Feed;
use crate::host::clock::Clock;
use crate::host::target::Target;
use crate::net::engine_runner;
use crate::net::{Net, Trouble};
use crate::show::events::{Surroundings, notice};
use crate::show::reason_text::Observer;
use crate::show::replayed_link_quality::LinkHistory;
use crate::show::{Arm, Notice, ReportedState, Terminals};

/// Runs an engine for a Universal Robots controller until the application has shut it down. `recorder` is the size of
/// the recorder of the engine's inputs and outputs \[B\].
///
/// # Errors
/// Returns [`Failure::BadInput`] for a configuration that the core rejects.
pub async fn run<L: Law<6>>(
    config: UrConfig,
    law: L,
    net: &mut Net,
    application: &mut impl for<'m> Application<6, Ur<'m>, L>,
    recorder: usize,
) -> Result<(), Failure> {
    let mut windows = Windows::new();
    let engine = UrEngine::new(config, law, windows.lend())
        .map_err(|error| Failure::BadInput(format!("configuration: {error}")))?;
    engine_runner::run(engine, net, application, recorder).await;
    Ok(())
}

/// Returns the settings of an engine that only observes the robot.
#[must_use]
pub fn looking(states: StatesFrom) -> UrConfig {
    let connect = ConnectConfig { states, ..ConnectConfig::default() };
    UrConfig { peer: UrOptions { connect, ..UrOptions::default() }, ..UrConfig::default() }
}

/// Returns the settings of an engine that only observes the robot, and judges its link and limits as `engine` does.
/// They do not contain the operator's inputs, the sensors and the claimed RTDE inputs, because nothing is sent.
#[must_use]
pub fn judging_as(engine: UrConfig) -> UrConfig {
    let UrConfig { peer, link, mode, standstill, limits, .. } = engine;
    let UrOptions { software, model, tcp, text, connect, .. } = peer;
    let ConnectConfig { outputs, claims, .. } = ConnectConfig::default();
    let connect = ConnectConfig { outputs, claims, ..connect };
    UrConfig {
        peer: UrOptions { software, model, tcp, text, connect, ..UrOptions::default() },
        link,
        mode,
        standstill,
        limits,
        ..UrConfig::default()
    }
}

/// Runs the engine again from `dump`, a recording of its inputs, and reports the history of its link to `link`.
///
/// # Errors
/// Returns [`ReplayError`].
pub fn replay(dump: &[u8], link: &mut LinkHistory) -> Result<Replayed, ReplayError> {
    let mut windows = Windows::new();
    // The law and its state are in the recording.
    replay_watched::<6, Ur<'_>, _>(dump, BoxedLaw::idle(), windows.lend(), |engine, at, event| {
        link.watch(engine, at, event.as_ref());
    })
}

/// A Universal Robots controller that this process connects to, with the newest errors of its connections.
#[derive(Clone, Debug)]
pub struct UrController {
    target: Target,
    trouble: Trouble,
    model: Option<String>,
    last_down: Option<String>,
    /// The reason why this session runs without RTDE. `None` if it uses RTDE or did not try to.
    done_without: Option<String>,
    /// The last displayed error of each port of the controller that is down.
    shown: HashMap<u16, String>,
    /// A sender of the software version, for a task that waits for it.
    software: Option<watch::Sender<Option<SoftwareVersion>>>,
}

impl UrController {
    /// Creates the description of a controller of which only the address is known.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            trouble: Trouble::default(),
            model: None,
            last_down: None,
            done_without: None,
            shown: HashMap::new(),
            software: None,
        }
    }
}

impl VendorUi for UrController {
    type Event = UrEvent;
    type VendorView = UrSeen;

    fn robot(&self) -> String {
        self.target.address.to_string()
    }

    fn is_here(&self) -> bool {
        self.target.ip.is_loopback()
    }

    fn notice(&self, event: &Event<UrEvent>, at: Instant) -> Option<Notice> {
        let around = Surroundings {
            at,
            here: self.is_here(),
            observer: Observer::Process,
            address: &|port| self.target.socket(port),
            trouble: &|link| self.trouble.of(link),
        };
        notice(event, &around)
    }

    fn take(&mut self, event: &UrEvent, notice: &Notice) -> EventDisplay {
        match event {
            UrEvent::Established(identity) => {
                self.last_down = None;
                self.shown.clear();
                self.model = Some(format!("software {}", identity.software));
                if let Some(software) = &self.software {
                    software.send_replace(Some(identity.software));
                }
            }
            UrEvent::Down { link, endpoint, next, .. } => {
                let why = notice.fields.iter().find(|(name, _)| *name == "why").map(|(_, why)| why.clone());
                match next {
                    Next::Without if *link == LinkId::RTDE => self.done_without.clone_from(&why),
                    Next::NewSession(_) => self.done_without = None,
                    Next::Without | Next::OtherPort | Next::Retry(_) | Next::Nothing => {}
                }
                // A failure that repeats at every attempt is shown once.
                if self.shown.get(&endpoint.port) == why.as_ref() {
                    return EventDisplay::Never;
                }
                if let Some(why) = why {
                    self.last_down = Some(why.clone());
                    self.shown.insert(endpoint.port, why);
                }
            }
            _ => {}
        }
        EventDisplay::Always
    }

    fn nothing_came(&self) -> Failure {
        let nothing = || format!("no session with the controller at {}", self.target.address);
        Failure::Connection(self.last_down.clone().unwrap_or_else(nothing))
    }

    fn facts(&self, seen: &UrSeen) -> VendorFacts {
        let stands = seen.states.is_some();
        VendorFacts {
            identity: self.model.clone().filter(|_| stands),
            arm: seen.state.map(|state| {
                let arm = Arm::new(&state, modes(state.robot_mode, state.safety));
                Arm {
                    speed_slider: arm.speed_slider.or(seen.speed_slider),
                    program: arm.program.or(seen.program.map(by_activity)),
                    ..arm
                }
            }),
            states: seen.states.map(|states| states.told(self.done_without.as_deref())),
            trouble: self.last_down.clone().filter(|_| !stands),
            values: vec![],
            counters: vec![],
            variables: None,
        }
    }
}

/// The data of a session with a Universal Robots controller that the terminal and the web page show.
#[derive(Clone, Copy, Debug)]
pub struct UrSeen {
    state: Option<State<6>>,
    /// The speed slider as reported over the primary link, for states that do not contain it.
    speed_slider: Option<f32>,
    program: Option<Activity>,
    /// The connection that carries states. `None` without a session.
    states: Option<SeenStates>,
}

impl<'m> VendorObserve<6, Ur<'m>> for UrController {
    fn observe<L: Law<6>>(&mut self, _: &Engine<'_, 6, Ur<'m>, L>) {}

    fn terminals<L: Law<6>>(&self, engine: &Engine<'_, 6, Ur<'m>, L>) -> Option<Terminals> {
        Terminals::of(engine)
    }

    fn vendor_view<L: Law<6>>(&self, engine: &Engine<'_, 6, Ur<'m>, L>) -> UrSeen {
        let facts = engine.peer().facts();
        UrSeen {
            state: engine.state().copied(),
            speed_slider: facts.speed_slider,
            program: facts.program.map(|program| program.value),
            states: SeenStates::of(engine),
        }
    }
}

impl Vendor<6> for UrController {
    type Options = UrOptions;
    type Controller<'m> = Ur<'m>;
    type Examined = UrExamined;
    type Tally = UrTally;

    const APART: Option<LinkId> = Some(LinkId::RTDE);

    fn seat(&self) -> SocketAddr {
        self.target.socket(Ports::default().realtime)
    }

    fn dashboard(&self) -> Option<SocketAddr> {
        Some(self.target.socket(outrigger_wire::dashboard::PORT))
    }

    fn target(&self) -> Option<Target> {
        Some(self.target.clone())
    }

    async fn open(&mut self, clock: Clock) -> Result<Net, Failure> {
        let net = Net::connecting(&self.target.address, self.target.ip, clock);
        self.trouble = net.trouble();
        Ok(net)
    }

    async fn run<L: Law<6>>(
        config: UrConfig,
        law: L,
        net: &mut Net,
        application: &mut impl for<'m> Application<6, Self::Controller<'m>, L>,
        recorder: usize,
    ) -> Result<(), Failure> {
        run(config, law, net, application, recorder).await
    }

    fn makes_moves(config: &UrConfig) -> bool {
        config.peer.path == CommandPath::Player
    }

    fn commands_torques(config: &UrConfig) -> bool {
        config.peer.path.is_torques()
    }

    fn coast(config: &UrConfig, event: &UrEvent) -> Option<String> {
        let UrEvent::Established(identity) = event else { return None };
        Some(coast::describe(config, identity.software))
    }

    /// Receives RTDE data for a recorder over a connection of its own to port 30004. Receives nothing if all variables
    /// are wanted, but the configuration permits robot states only from port 30003.
    fn apart(
        &mut self,
        config: &UrConfig,
        wanted: Wanted,
        clock: Clock,
        feed: Feed,
        remarks: mpsc::UnboundedSender<String>,
    ) -> impl Future<Output = Infallible> + Send + 'static + use<> {
        let (sender, software) = watch::channel(None);
        self.software = Some(sender);
        let alone = matches!(wanted, Wanted::Everything) && config.peer.connect.states == StatesFrom::Realtime;
        let following = rtde_recording::Following {
            at: self.target.socket(rtde_recording::PORT),
            wanted,
            clock,
            feed,
            software,
            remarks,
        };
        async move { if alone { std::future::pending().await } else { rtde_recording::follow(following).await } }
    }
}

/// Converts the program state of the primary link to that of the real-time link.
const fn by_activity(activity: Activity) -> ProgramState {
    match activity {
        Activity::Stopped => ProgramState::Stopped,
        Activity::Running => ProgramState::Playing,
        Activity::Paused => ProgramState::Paused,
    }
}

/// Returns the robot mode and the safety mode, by the controller's names.
pub(super) fn modes(robot_mode: Option<RobotMode>, safety: Safety) -> Vec<ReportedState> {
    const ABSENT: (Option<&str>, i64) = (Some("UNKNOWN"), 0);
    let of_robot = |mode: RobotMode| {
        let number = if let RobotMode::Unknown(raw) = mode { raw.into() } else { 0 };
        (mode.name(), number)
    };
    let safety = match safety {
        Safety::Mode(mode) => (mode.name(), mode.raw().into()),
        Safety::FromRobotMode(mode) => of_robot(mode),
        Safety::Unknown => ABSENT,
    };
    let mode = robot_mode.map_or(ABSENT, of_robot);
    let words = [("robot_mode", "robot", mode), ("safety", "safety", safety)];
    words.map(|(key, name, (value, number))| ReportedState { key, name, value, number }).to_vec()
}

#[cfg(test)]
mod tests;

//! The kinds of controllers that a [`Robot`](super::Robot) can have, behind one interface that starts sessions.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use outrigger_config::{HostSettings, RobotAddress, RunSettings, SourceSettings};
use outrigger_core::engine::krc::{Krc, KrcConfig, KrcOptions, KrlConvention};
use outrigger_core::engine::ur::{Ur, UrConfig};
use outrigger_core::engine::{Config, Controller};

use super::Robot;
use crate::boxed_law::BoxedLaw;
use crate::companion::{Companions, Ends};
use crate::exit::{Failure, Outcome};
use crate::host::target::Target;
use crate::motion::Task;
use crate::panel::Operators;
use crate::run::state_publisher::Subscriber;
use crate::run::{ObservationSettings, Plan, RunResult, session, watch};
use crate::show::{Format, complain};
use crate::vendor::Vendor;
use crate::vendor::krc::KrcController;
use crate::vendor::ur::{UrController, judging_as};

/// The parameters of a session: engine configuration, control law, sensors, companions (components that run beside it,
/// e.g. a recording) and display.
pub(super) struct Job<const N: usize, P: Controller<N>> {
    pub(super) robot: String,
    pub(super) config: Config<N, P::Options>,
    pub(super) law: BoxedLaw<N>,
    pub(super) sources: Vec<SourceSettings>,
    pub(super) run: RunSettings,
    pub(super) host: HostSettings,
    pub(super) format: Format,
    pub(super) task: Option<Task<N>>,
    /// `true` if the session accepts requests of other processes through `outrigger ctl`.
    pub(super) asked: bool,
    pub(super) companions: Companions<N>,
}

/// A runner that executes the sessions with one robot in the calling thread.
pub(super) trait SessionRunner<const N: usize, P: Controller<N>>: Send + Sync {
    fn command(
        &self,
        job: Job<N, P>,
        operators: Operators,
        watcher: Subscriber<N, P::Event>,
    ) -> Result<RunResult, Failure>;

    fn look(
        &self,
        config: Config<N, P::Options>,
        format: Format,
        operators: Operators,
        watcher: Subscriber<N, P::Event>,
    ) -> Outcome;
}

/// Runs `body`, a session that commands the arm or only observes it, in a new thread.
pub(super) fn in_thread<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Failure> {
    let thread = Builder::new().name("outrigger-control".into()).spawn(body);
    thread.map_err(|error| Failure::BadInput(format!("cannot start the thread that commands: {error}")))
}

/// The functions that create a controller for each session of one robot.
struct Making<C, J> {
    controller: C,
    /// A function that returns the settings of an engine which only observes the robot and judges its link.
    judging: J,
}

impl<const N: usize, C, M, J> SessionRunner<N, C::Controller<'static>> for Making<M, J>
where
    C: Vendor<N>,
    M: Fn() -> C + Send + Sync,
    J: Fn(Config<N, C::Options>) -> Config<N, C::Options> + Send + Sync,
{
    fn command(
        &self,
        job: Job<N, C::Controller<'static>>,
        operators: Operators,
        watcher: Subscriber<N, C::Event>,
    ) -> Result<RunResult, Failure> {
        let Job { robot, config, law, sources, run, host, format, task, asked, companions } = job;
        let plan = Plan::new(robot, sources, run, host, format).asked(asked).with_companions(companions);
        let (finished, failures) = session((self.controller)(), config, law, &plan, operators, Some(watcher), task)?;
        let mut failures = failures.into_iter();
        if finished.fallback.is_none()
            && finished.refused.is_none()
            && let Some(failure) = failures.next()
        {
            return Err(failure);
        }
        failures.for_each(|failure| complain(&failure.told()));
        Ok(finished)
    }

    fn look(
        &self,
        config: Config<N, C::Options>,
        format: Format,
        operators: Operators,
        watcher: Subscriber<N, C::Event>,
    ) -> Outcome {
        let look =
            ObservationSettings { title: "states", format, seconds: None, for_a_reader: false, companions: vec![] };
        let config = (self.judging)(config);
        watch((self.controller)(), config, &look, operators, Some(watcher), &mut Ends::default())
    }
}

/// Creates the runner of sessions with the Universal Robots controller at `target`.
fn ur(target: Target) -> Arc<dyn SessionRunner<6, Ur<'static>>> {
    Arc::new(Making { controller: move || UrController::new(target.clone()), judging: judging_as })
}

/// Creates the runner of sessions with a KRC whose measurements arrive at `listen`. A session that only observes sends no
/// requests to the KRL program.
fn krc(name: String, listen: SocketAddr) -> Arc<dyn SessionRunner<7, Krc>> {
    let judging = |config: KrcConfig| {
        let peer = KrcOptions { handshake: KrlConvention::None, ..config.peer };
        KrcConfig { peer, ..config }
    };
    Arc::new(Making { controller: move || KrcController::new(name.clone(), listen), judging })
}

impl Robot<6, Ur<'static>> {
    /// Creates a robot of Universal Robots at `address`: `host`, or `host:port-base` if its ports are moved. With
    /// base B its port p is at B + p − 29999, as a simulated controller may have it.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] for an address that is not valid, [`Failure::Connection`] for a name that cannot be
    /// resolved.
    pub fn ur(address: &str) -> Result<Self, Failure> {
        let address: RobotAddress = address.parse().map_err(Failure::Usage)?;
        let target = Target::resolve(&address)?;
        Ok(Self::new(address.to_string(), UrConfig::default(), ur(target)))
    }

    /// Records these RTDE variables, too, e.g. `["target_moment"]`, like `run.expert.record_variables`: over a
    /// connection of their own, into the file of [`recording_to`](Self::recording_to). Variables that the
    /// controller's software lacks are reported and omitted.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] for a name that is not a variable sent by controllers, and for a name given twice.
    #[cfg(feature = "record")]
    pub fn recording_variables(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, Failure> {
        for name in names.into_iter().map(Into::into) {
            let before = &mut self.run.record_variables;
            if let Some(expected) = outrigger_config::wrong_variable(before, &name) {
                return Err(Failure::Usage(format!("found '{name}', expected {expected}")));
            }
            before.push(name);
        }
        Ok(self)
    }
}

impl Robot<7, Krc> {
    /// Creates a KUKA LWR with its KRC at the IP address `krc`. Its measurements arrive at `listen`, an address and
    /// port of this machine, e.g. `"0.0.0.0:49938"`. Other senders are ignored. If `krc` is 0.0.0.0, the first sender
    /// is the KRC.
    ///
    /// # Errors
    /// Returns [`Failure::Usage`] for an address that is not valid.
    pub fn krc(krc: &str, listen: &str) -> Result<Self, Failure> {
        let no =
            |what: &str, text: &str, example: &str| Failure::Usage(format!("'{text}' is no {what}, e.g. {example}"));
        let address: IpAddr = krc.parse().map_err(|_| no("IP address of a KRC", krc, "192.168.0.10"))?;
        let local = "local address and port";
        let at: SocketAddr = listen.parse().map_err(|_| no(local, listen, "0.0.0.0:49938"))?;
        let peer = KrcOptions { address: Some(address).filter(|ip| !ip.is_unspecified()), ..KrcOptions::default() };
        let config = KrcConfig { peer, ..KrcConfig::default() };
        Ok(Self::new(krc.to_owned(), config, self::krc(krc.to_owned(), at)))
    }
}

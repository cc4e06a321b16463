//! One kind of controller each, behind what a [`Robot`](super::Robot) needs of it.

use std::net::SocketAddr;
use std::sync::Arc;

use outrigger_core::engine::krc::{Krc, KrcConfig, KrcOptions, KrlConvention};
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::{Config, Peer};

use super::{Attached, Watcher};
use crate::clock::Clock;
use crate::config::{HostSettings, RunSettings, SourceSettings};
use crate::exit::{Failure, Outcome};
use crate::law::BoxedLaw;
use crate::maker::Controller;
use crate::maker::krc::KrcController;
use crate::maker::ur::{UrController, judging_as};
use crate::panel::{Onlooker, Operators, Panel};
use crate::run::{Finished, Plan, session};
use crate::show::Format;
use crate::target::Target;

/// What is to be done beside a robot.
pub(super) struct Job<const N: usize, P: Peer<N>> {
    pub(super) robot: String,
    pub(super) config: Config<N, P::Options>,
    pub(super) law: BoxedLaw<N>,
    pub(super) sources: Vec<SourceSettings>,
    pub(super) run: RunSettings,
    pub(super) host: HostSettings,
    pub(super) format: Format,
}

/// How one robot is run beside: in the thread that calls.
pub(super) trait Beside<const N: usize, P: Peer<N>>: Send + Sync {
    fn command(&self, job: Job<N, P>, operators: Operators, watcher: Watcher<N, P::Event>)
    -> Result<Finished, Failure>;

    fn look(
        &self,
        config: Config<N, P::Options>,
        format: Format,
        operators: Operators,
        watcher: Watcher<N, P::Event>,
    ) -> Outcome;
}

/// Makes a controller for each session.
struct Making<C, J> {
    controller: C,
    /// What an engine is told that only looks.
    judging: J,
}

impl<const N: usize, C, M, J> Beside<N, C::Peer<'static>> for Making<M, J>
where
    C: Controller<N>,
    M: Fn() -> C + Send + Sync,
    J: Fn(Config<N, C::Options>) -> Config<N, C::Options> + Send + Sync,
{
    fn command(
        &self,
        job: Job<N, C::Peer<'static>>,
        operators: Operators,
        watcher: Watcher<N, C::Event>,
    ) -> Result<Finished, Failure> {
        let Job { robot, config, law, sources, run, host, format } = job;
        let plan = Plan::of_program(robot, sources, run, host, format);
        session((self.controller)(), config, law, &plan, operators, Some(watcher))
    }

    fn look(
        &self,
        config: Config<N, C::Options>,
        format: Format,
        operators: Operators,
        watcher: Watcher<N, C::Event>,
    ) -> Outcome {
        let (clock, mut controller) = (Clock::start(), (self.controller)());
        crate::block_on(async {
            let mut net = controller.open(clock, None).await?;
            let onlooker = Onlooker::new(Panel::new("states", format, clock, controller, operators, None));
            let mut attached = Attached::new(onlooker, Some(watcher));
            C::run((self.judging)(config), BoxedLaw::idle(), &mut net, &mut attached, 0).await?;
            attached.inner.finish()
        })
    }
}

/// A controller of Universal Robots.
pub(super) fn ur(target: Target) -> Arc<dyn Beside<6, Ur<'static>>> {
    Arc::new(Making { controller: move || UrController::new(target.clone()), judging: judging_as })
}

/// A KRC, and where its measurements arrive. Nothing is asked of the KRL program of one that is only looked at.
pub(super) fn krc(name: String, listen: SocketAddr) -> Arc<dyn Beside<7, Krc>> {
    let judging = |config: KrcConfig| {
        let peer = KrcOptions { handshake: KrlConvention::None, ..config.peer };
        KrcConfig { peer, ..config }
    };
    Arc::new(Making { controller: move || KrcController::new(name.clone(), listen), judging })
}

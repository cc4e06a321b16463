//! `outrigger run`: the co-controller as a service.

mod ending;
mod finished;
mod listeners;
mod operator;
mod plan;
mod service;
mod start;
pub(crate) mod tail;

use outrigger_core::engine::Config;

pub(crate) use self::finished::Finished;
pub(crate) use self::plan::Plan;
use self::service::Service;
use crate::attached::{Attached, Watcher};
use crate::clock::Clock;
use crate::dashboard::LockedPendant;
use crate::exit::{Failure, Outcome};
use crate::law::BoxedLaw;
use crate::lock::RobotLock;
use crate::maker::{Controller, Wanted};
use crate::motion::asked::{MadeBy, Moving};
use crate::motion::{Task, UnderWay};
use crate::page::OnPage;
use crate::panel::Operators;
use crate::record::Apart;
use crate::signals::Leaves;

/// Runs an engine with `law` beside `controller`.
///
/// # Errors
/// [`Failure::BadInput`] for what the core or the kernel refuses, [`Failure::Connection`] where there never was a session
/// or another process commands the robot, [`Failure::Fault`] where it ended in a fallback.
pub(crate) fn run<const N: usize, C: Controller<N>>(
    controller: C,
    config: Config<N, C::Options>,
    law: BoxedLaw<N>,
    plan: &Plan,
) -> Outcome {
    session(controller, config, law, plan, Operators::here(Leaves::AnArm)?, None, None)?.outcome()
}

/// The same for these `operators`, beside a `watcher`, with a `task`: how it ended.
///
/// # Errors
/// Those of [`run`], but for the fallback.
pub(crate) fn session<const N: usize, C: Controller<N>>(
    mut controller: C,
    config: Config<N, C::Options>,
    law: BoxedLaw<N>,
    plan: &Plan,
    operators: Operators,
    watcher: Option<Watcher<N, C::Event>>,
    task: Option<Task<N>>,
) -> Result<Finished, Failure> {
    let clock = Clock::start();
    let _lock = RobotLock::take(controller.seat())?;
    let by = if C::makes_moves(&config) { MadeBy::Controller } else { MadeBy::Law };
    let moving = Moving { limits: config.limits, by };
    let (requests, mut desk, local) = plan.requests(controller.seat(), moving, clock).transpose().map_or_else(
        // Everything else works without.
        |failure| (Some(Err(failure)), None, None),
        |taken| {
            taken.map_or((None, None, None), |(requests, desk, local)| (Some(Ok(requests)), Some(desk), Some(local)))
        },
    );
    if let Some(desk) = &mut desk
        && (config.operator.start_within.is_some() || config.operator.request_input.is_some())
    {
        desk.begins_unasked();
    }
    let finished = plan.carry_out(clock, C::ENTRIES, async |mut beside| {
        // Ended with this: a loss of it ends nothing else.
        let (_apart, remarks) = match beside.listening.as_mut().and_then(|listening| listening.variables.take()) {
            Some(feed) => {
                let wanted = Wanted::Variables(plan.further_variables());
                let (apart, remarks) = Apart::start(&mut controller, &config, wanted, clock, feed)?;
                (Some(apart), Some(remarks))
            }
            None => (None, None),
        };
        let mut net = controller.open(clock, plan.host.busy_poll_micros).await?;
        if let Some(listening) = beside.listening.as_ref().filter(|listening| listening.bytes) {
            net = net.with_feed(&listening.feed, None);
        }
        let listens = controller.listens();
        let locks = plan.run.lock_pendant;
        let pendant = controller.dashboard().map(|at| LockedPendant::start(at, locks, clock)).transpose()?.flatten();
        let coast = Box::new(move |event: &C::Event| C::coast(&config, event));
        #[cfg(feature = "ros2")]
        let beside_controller = crate::ros2::Beside::of(&controller);
        let shown = plan.web.is_some().then(|| controller.clone());
        let page = plan.page::<C, N>(beside.listening.as_ref().map(|listening| &listening.feed)).transpose()?;
        let mut service = Service::<_, C::Tally, N>::start(plan, clock, controller, coast, operators, beside)?;
        service.remarks = remarks;
        service.desk = desk.take();
        service.under_way = UnderWay::new(task);
        if let Some(desk) = &service.desk {
            service.under_way.spending(desk.spent());
        }
        service.pendant = pendant;
        match &requests {
            Some(Ok(requests)) => {
                let path = requests.path().display().to_string();
                let text = format!("`outrigger ask` is answered at {path}");
                service.panel.say("requests", text, vec![("path", path)]);
            }
            Some(Err(failure)) => service.panel.say("requests", format!("nobody can ask this run: {failure}"), vec![]),
            None => {}
        }
        if let Some(listens) = listens {
            service.panel.say("listening", format!("listening on {listens}"), vec![]);
        }
        #[cfg(feature = "ros2")]
        let node = service.beside_node(plan, &beside_controller, local)?;
        #[cfg(not(feature = "ros2"))]
        drop(local);
        let recorder = service.recorder();
        if let Some((page, _)) = &page {
            service.panel.say("page", page.announced(), vec![("url", page.url())]);
        }
        let (page, tap) = page.unzip();
        let mut service = OnPage::new(Attached::new(service, watcher), shown.zip(tap));
        C::run(config, law, &mut net, &mut service, recorder).await?;
        let service = service.inner;
        #[cfg(feature = "ros2")]
        if let Some(node) = node {
            node.finish();
        }
        service.inner.finish(plan.format, page)
    });
    // Before the lock: the next process has the place to itself.
    if let Some(Ok(requests)) = requests {
        requests.finish();
    }
    finished
}

//! A session that commands: the co-controller as a service, or beside a program of its own.

mod ending;
mod finished;
mod listeners;
mod look;
mod operator;
mod plan;
mod service;
mod start;
pub(crate) mod tail;

use outrigger_core::engine::Config;

pub(crate) use self::finished::Finished;
use self::listeners::{Listeners, Listening};
pub(crate) use self::look::{Look, look};
pub(crate) use self::plan::Plan;
use self::service::Service;
use crate::attached::{Attached, Watcher};
use crate::clock::Clock;
use crate::companion::{Beside, Ended, Ends, Needs, Shown};
use crate::dashboard::LockedPendant;
use crate::exit::{Failure, Outcome};
use crate::law::BoxedLaw;
use crate::lock::RobotLock;
use crate::maker::{Controller, Wanted};
use crate::motion::asked::{MadeBy, Moving};
use crate::motion::{Task, UnderWay};
use crate::panel::Operators;
use crate::record::Apart;
use crate::requests::{Desk, Local};
use crate::show::{Format, tell};
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
    plan: &Plan<N>,
) -> Outcome {
    session(controller, config, law, plan, Operators::here(Leaves::AnArm)?, None, None)?.outcome()
}

/// The same for these `operators`, beside a `watcher`, with a `task`: how it ended.
///
/// # Errors
/// Those of [`run`], but for the fallback.
pub(crate) fn session<const N: usize, C: Controller<N>>(
    controller: C,
    config: Config<N, C::Options>,
    law: BoxedLaw<N>,
    plan: &Plan<N>,
    operators: Operators,
    watcher: Option<Watcher<N, C::Event>>,
    task: Option<Task<N>>,
) -> Result<Finished, Failure> {
    let clock = Clock::start();
    let _lock = RobotLock::take(controller.seat())?;
    let needs = Needs::of(&plan.companions);
    let by = if C::makes_moves(&config) { MadeBy::Controller } else { MadeBy::Law };
    let moving = Moving { limits: config.limits, by };
    let taken = plan.requests(controller.seat(), moving, clock, needs.commands).transpose();
    let (requests, mut desk, local) = match taken {
        Ok(None) => (None, None, None),
        Ok(Some((requests, desk, local))) => (Some(Ok(requests)), Some(desk), Some(local)),
        // Everything else works without.
        Err(failure) => (Some(Err(failure)), None, None),
    };
    if let Some(desk) = &mut desk
        && (config.operator.start_within.is_some() || config.operator.request_input.is_some())
    {
        desk.begins_unasked();
    }
    let asked = requests.as_ref().and_then(|requests| match requests {
        Ok(requests) => {
            let path = requests.path()?.display().to_string();
            Some((format!("`outrigger ask` is answered at {path}"), vec![("path", path)]))
        }
        Err(failure) => Some((format!("nobody can ask this run: {failure}"), vec![])),
    });
    let listeners = Listeners::start(plan, &needs, C::ENTRIES, clock)?;
    let mut ends = Ends::default();
    let sides = Sides { operators, watcher, task, asked, desk, local };
    let served = serve(controller, config, law, (plan, &needs), clock, sides, (listeners.as_ref(), &mut ends));
    // What they listen to has ended: companions end, and the file is completed.
    let recorder = listeners.and_then(Listeners::end);
    let ended = ends.finish();
    let served = served.and_then(|(finished, summary)| told(&ended, &summary, plan.format).map(|()| finished));
    let recorded = listeners::finish(recorder, plan.format);
    if let (Err(Failure::Connection(_)), Some(file)) = (&served, &plan.run.record) {
        // Nothing was heard: the next try may have the name.
        let _ = std::fs::remove_file(file);
    }
    // Before the lock: the next process has the place to itself.
    if let Some(Ok(requests)) = requests {
        requests.finish();
    }
    served.and_then(|served| recorded.map(|()| served))
}

/// Who takes part in a session beside its companions.
struct Sides<const N: usize, E> {
    operators: Operators,
    watcher: Option<Watcher<N, E>>,
    task: Option<Task<N>>,
    /// What is said of requests.
    asked: Option<(String, Vec<(&'static str, String)>)>,
    desk: Option<Desk<N>>,
    local: Option<Local<N>>,
}

/// Starts the companions, runs the engine, and returns how that ended, with its summary.
fn serve<const N: usize, C: Controller<N>>(
    mut controller: C,
    config: Config<N, C::Options>,
    law: BoxedLaw<N>,
    (plan, needs): (&Plan<N>, &Needs),
    clock: Clock,
    sides: Sides<N, C::Event>,
    (listeners, ends): (Option<&Listeners>, &mut Ends),
) -> Result<(Finished, String), Failure> {
    let recordings = plan.recordings().transpose()?;
    let Sides { operators, watcher, task, asked, desk, local } = sides;
    let mut listening = listeners.map(Listeners::feed);
    let client = || local.as_ref().map(Local::client);
    let beside = match &listening {
        Some(Listening { feed, .. }) => {
            let names = plan.source_names();
            Some(Beside::start(&plan.companions, &controller, &names, clock, feed, client, ends)?)
        }
        None => None,
    };
    drop(local);
    let (taps, notices, companions) = match beside {
        Some(Beside { taps, notices, remarks, .. }) => (taps, notices, Some(remarks)),
        None => (vec![], vec![], None),
    };
    crate::runtime::block_on(async {
        // Ended with this: a loss of it ends nothing else.
        let (_apart, remarks) = match listening.as_mut().and_then(|listening| listening.variables.take()) {
            Some(feed) => {
                let wanted = Wanted::Variables(plan.further_variables(needs));
                let (apart, remarks) = Apart::start(&mut controller, &config, wanted, clock, feed)?;
                (Some(apart), Some(remarks))
            }
            None => (None, None),
        };
        let mut net = controller.open(clock, plan.host.busy_poll_micros).await?;
        if let Some(listening) = listening.as_ref().filter(|listening| listening.bytes) {
            net = net.with_feed(&listening.feed, None);
        }
        let listens = controller.listens();
        let locks = plan.run.lock_pendant;
        let pendant = controller.dashboard().map(|at| LockedPendant::start(at, locks, clock)).transpose()?.flatten();
        let coast = Box::new(move |event: &C::Event| C::coast(&config, event));
        let mut service =
            Service::<_, C::Tally, N>::start(plan, clock, controller, coast, operators, listening, recordings)?;
        (service.remarks, service.companions) = (remarks, companions);
        service.desk = desk;
        service.under_way = UnderWay::new(task);
        if let Some(desk) = &service.desk {
            service.under_way.spending(desk.spent());
        }
        service.pendant = pendant;
        if let Some((text, fields)) = asked {
            service.panel.say("requests", text, fields);
        }
        if let Some(listens) = listens {
            service.panel.say("listening", format!("listening on {listens}"), vec![]);
        }
        notices.into_iter().for_each(|(kind, text, fields)| service.panel.say(kind, text, fields));
        let recorder = service.recorder();
        let mut service = Shown::new(Attached::new(service, watcher), taps);
        C::run(config, law, &mut net, &mut service, recorder).await?;
        service.inner.inner.finish(plan.format)
    })
}

/// Shows how it went for companions, and the summary of the run.
fn told(ended: &[Ended], summary: &str, format: Format) -> Outcome {
    let json = format == Format::Json;
    let of = |ended: &Ended| if json { ended.json.clone() } else { ended.text.clone() };
    let mut lines = ended.iter().map(of).chain([summary.to_owned()]).filter(|line| !line.is_empty());
    match format {
        Format::Remarks | Format::Silent => Ok(()),
        Format::View | Format::Lines | Format::Json => lines.try_for_each(|line| tell(&format!("{line}\n"))),
    }
}

//! A session that commands: as a service, or beside an application's own program.

mod ending;
mod observe_only;
mod operator_key_help;
pub mod recorder_to_feed;
mod run_environment;
mod run_result;
mod run_settings;
mod session_kinds;
mod start_position_check;
pub(crate) mod state_publisher;

use outrigger_core::engine::Config;

pub use self::observe_only::ObservationSettings;
use self::observe_only::look;
pub(crate) use self::observe_only::watch;
use self::run_environment::Service;
pub(crate) use self::run_result::RunResult;
pub use self::run_settings::Plan;
pub use self::session_kinds::*;
use crate::boxed_law::BoxedLaw;
use crate::companion::{Ended, Ends, Needs, RunningCompanions, Shown};
use crate::dashboard::LockedPendant;
use crate::exit::{Failure, Outcome, despite};
use crate::feed::{EVENTS, EntryContent, Feed};
use crate::host::clock::Clock;
use crate::host::lock::RobotLock;
use crate::host::signals::OnSignal;
use crate::motion::requested_motion::{MotionExecutor, Moving, RejectedMotions};
use crate::motion::{ActiveMotion, Task};
use crate::panel::Operators;
use crate::requests::{Local, RequestQueue};
use crate::run::state_publisher::{Subscriber, Tee};
use crate::show::{Format, complain, tell};
use crate::vendor::effect_lines::open_positions;
use crate::vendor::extra_reception::Apart;
use crate::vendor::{Vendor, Wanted};

/// Runs an engine with the control law `law` for `controller`, with the settings of the run `plan`.
///
/// # Errors
/// Returns [`Failure::BadInput`] for what the core or the operating system rejects, [`Failure::Connection`] if there
/// never was a session or another process commands the robot, [`Failure::Fault`] if it ended with a fallback (end of
/// commanding by a fault) or its single request to command was not granted.
fn run<const N: usize, C: Vendor<N>>(
    controller: C,
    config: Config<N, C::Options>,
    law: BoxedLaw<N>,
    plan: &Plan<N>,
) -> Outcome {
    let operators = Operators::here(OnSignal::AnArm)?;
    let (finished, failures) = session(controller, config, law, plan, operators, None, None)?;
    despite(failures.into_iter().map(Err), finished.outcome())
}

/// Runs an engine for these `operators`. An optional `watcher` receives its states and events, and an optional `task`
/// is its only motion. Returns the result, and the failures of companions (components that run beside the session,
/// e.g. a recording) and outputs.
///
/// # Errors
/// Returns the errors of [`run`], except for a fallback and a request that was not granted, which are in the result.
pub(crate) fn session<const N: usize, C: Vendor<N>>(
    controller: C,
    config: Config<N, C::Options>,
    mut law: BoxedLaw<N>,
    plan: &Plan<N>,
    operators: Operators,
    watcher: Option<Subscriber<N, C::Event>>,
    task: Option<Task<N>>,
) -> Result<(RunResult, Vec<Failure>), Failure> {
    plan.companions.iter().try_for_each(|companion| companion.check())?;
    let clock = Clock::start();
    let _lock = RobotLock::take(controller.seat())?;
    let needs = Needs::of(&plan.companions);
    let by = if C::makes_moves(&config) { MotionExecutor::Controller } else { MotionExecutor::Law };
    let refuses = RejectedMotions::of(&mut law, &config.limits, C::commands_torques(&config));
    let moving = Moving { limits: config.limits, by, refuses };
    let taken = plan.requests(controller.seat(), moving, clock, needs.commands).transpose();
    let (requests, mut desk, local) = match taken {
        Ok(None) => (None, None, None),
        Ok(Some((requests, desk, local))) => (Some(Ok(requests)), Some(desk), Some(local)),
        // Everything else works without requests.
        Err(failure) => (Some(Err(failure)), None, None),
    };
    if let Some(desk) = &mut desk
        && (config.operator.start_within.is_some() || config.operator.request_input.is_some())
    {
        desk.begins_unasked();
    }
    let asked = requests.as_ref().and_then(|requests| match requests {
        Ok(requests) => match (requests.path(), requests.refused()) {
            (Some(path), _) => {
                let path = path.display().to_string();
                Some((format!("`outrigger ctl` reaches this run at {path}"), vec![("path", path)]))
            }
            (None, Some(failure)) => Some((format!("this run takes no requests: {failure}"), vec![])),
            (None, None) => None,
        },
        Err(failure) => Some((format!("this run takes no requests: {failure}"), vec![])),
    });
    let feeds = Feeds::of(plan, &needs, C::ENTRIES);
    let mut ends = Ends::default();
    let sides = Sides { operators, watcher, task, asked, desk, local };
    let served = serve(controller, config, law, (plan, &needs), clock, sides, (feeds, &mut ends));
    // The feed of the companions has ended.
    let (ended, mut failures) = ends.finish();
    if let Ok((_, summary)) = &served
        && let Err(failure) = told(&ended, summary, plan.format)
    {
        failures.push(failure);
    }
    // Before the lock is released, so that the next process finds no socket.
    if let Some(Ok(requests)) = requests {
        requests.finish();
    }
    match served {
        Ok((finished, _)) => Ok((finished, failures)),
        Err(failure) => {
            failures.iter().for_each(|further| complain(&further.told()));
            Err(failure)
        }
    }
}

/// The feeds (queues) of traffic and events that a session's companions (components that run beside it, e.g. a
/// recording) read.
struct Feeds {
    feed: Feed,
    /// The feed of the connection for additional variables. It has a thread of its own, which the control thread does
    /// not wait for.
    variables: Option<Feed>,
}

impl Feeds {
    /// Creates feeds (queues of traffic and events): of up to `capacity` entries if a companion (a component that runs
    /// beside the session, e.g. a recording) reads traffic, otherwise of up to [`EVENTS`]. Returns `None` without
    /// companions.
    fn of<const N: usize>(plan: &Plan<N>, needs: &Needs, capacity: usize) -> Option<Self> {
        if plan.companions.is_empty() {
            return None;
        }
        let capacity = if needs.traffic { capacity } else { EVENTS };
        if needs.variables.is_empty() {
            return Some(Self { feed: Feed::new(capacity), variables: None });
        }
        let (feed, variables) = Feed::pair(capacity);
        Some(Self { feed, variables: Some(variables) })
    }
}

/// The participants of a session beside its engine: operators, companions (components that run beside it, e.g. a
/// recording) and clients' requests.
struct Sides<const N: usize, E> {
    operators: Operators,
    watcher: Option<Subscriber<N, E>>,
    task: Option<Task<N>>,
    /// The event that reports to users the path of the socket for requests, or why there is none.
    asked: Option<(String, Vec<(&'static str, String)>)>,
    desk: Option<RequestQueue<N>>,
    local: Option<Local<N>>,
}

/// Starts the companions (components that run beside the session, e.g. a recording), and runs the engine. Returns the
/// result of the run, and a summary.
fn serve<const N: usize, C: Vendor<N>>(
    mut controller: C,
    config: Config<N, C::Options>,
    law: BoxedLaw<N>,
    (plan, needs): (&Plan<N>, &Needs),
    clock: Clock,
    sides: Sides<N, C::Event>,
    (feeds, ends): (Option<Feeds>, &mut Ends),
) -> Result<(RunResult, String), Failure> {
    let recordings = plan.recordings().transpose()?;
    let Sides { operators, watcher, task, asked, desk, local } = sides;
    let (feed, variables) = feeds.map_or((None, None), |Feeds { feed, variables }| (Some(feed), variables));
    let client = || local.as_ref().map(Local::client);
    let beside = match &feed {
        Some(feed) => {
            let names = plan.source_names();
            let beside = RunningCompanions::start(&plan.companions, &controller, &names, clock, feed, client, ends)?;
            if needs.engine && !plan.text.is_empty() {
                feed.put(clock.now(), EntryContent::Configuration(plan.text.clone()));
            }
            Some(beside)
        }
        None => None,
    };
    drop(local);
    let (taps, notices, progress, companions) = match beside {
        Some(RunningCompanions { taps, notices, progress, remarks }) => (taps, notices, progress, Some(remarks)),
        None => (vec![], vec![], vec![], None),
    };
    crate::host::runtime::block_on(async {
        // It ends together with the session. Losing this connection ends nothing else.
        let (_apart, remarks) = match variables {
            Some(variables) => {
                let wanted = Wanted::Variables(needs.variables.clone());
                let (apart, remarks) = Apart::start(&mut controller, &config, wanted, clock, variables)?;
                (Some(apart), Some(remarks))
            }
            None => (None, None),
        };
        let mut net = controller.open(clock).await?.with_polling(plan.host.busy_poll.unwrap_or_default());
        if let Some(feed) = feed.as_ref().filter(|_| needs.traffic) {
            net = net.with_feed(feed, None);
        }
        let listens = controller.listens();
        let locks = plan.run.lock_pendant;
        let pendant = controller.dashboard().map(|at| LockedPendant::start(at, locks, clock)).transpose()?.flatten();
        let open_positions = open_positions(&config.limits).filter(|_| !plan.text.is_empty());
        let coast = Box::new(move |event: &C::Event| C::coast(&config, event));
        let mut service =
            Service::<_, C::Tally, N>::start(plan, clock, controller, coast, operators, feed, recordings)?;
        (service.remarks, service.companions, service.progress) = (remarks, companions, progress);
        if needs.engine {
            service.record();
        }
        service.desk = desk;
        service.under_way = ActiveMotion::new(task);
        if let Some(desk) = &service.desk {
            service.under_way.spending(desk.spent());
        }
        service.pendant = pendant;
        if let Some((text, fields)) = asked {
            service.panel.say("requests", text, fields);
        }
        if let Some(warning) = open_positions {
            service.panel.say("limits", warning, vec![]);
        }
        if let Some(listens) = listens {
            service.panel.say("listening", format!("listening on {listens}"), vec![]);
        }
        notices.into_iter().for_each(|(kind, text, fields)| service.panel.say(kind, text, fields));
        let recorder = service.recorder();
        let mut service = Shown::new(Tee::new(service, watcher), taps);
        C::run(config, law, &mut net, &mut service, recorder).await?;
        if service.inner.inner.panel.has_begun() {
            ends.heard();
        }
        service.inner.inner.finish(plan.format)
    })
}

/// Prints the results of the companions (components that ran beside the session, e.g. a recording), and the summary of
/// the run.
fn told(ended: &[Ended], summary: &str, format: Format) -> Outcome {
    let json = format == Format::Json;
    let of = |ended: &Ended| if json { ended.json.clone() } else { ended.text.clone() };
    let mut lines = ended.iter().map(of).chain([summary.to_owned()]).filter(|line| !line.is_empty());
    match format {
        Format::Remarks | Format::Silent => Ok(()),
        Format::View | Format::Lines | Format::Json => lines.try_for_each(|line| tell(&format!("{line}\n"))),
    }
}

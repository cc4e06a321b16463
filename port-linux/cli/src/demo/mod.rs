//! The command `outrigger demo`: runs a simulated arm, sensor and link fault without hardware, and checks the result.

mod args;
mod deliberate_faults;
mod machine_pauses;
mod pause_allowance;
mod record;
mod scenario;
mod scenario_steps;
mod self_checks;
mod simulated_cell;
#[cfg(test)]
mod virtual_time_tests;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration as StdDuration;

use outrigger_config::RobotAddress;
use outrigger_config::{Format as ReadingFormat, SourceInput, SourceSettings};
use outrigger_core::drive::Application;
use outrigger_core::engine::ur::{Ur, UrEvent};
use outrigger_core::engine::{Engine, Event, Input};
use outrigger_core::law::{Law as _, Standoff, StandoffConfig};
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::time::{Duration, Instant};

pub(crate) use self::args::DemoArgs;
use self::machine_pauses::Watch;
use self::pause_allowance::{Allowance, SENSOR};
use self::scenario::{Effect, Scenario};
use self::self_checks::Bounds;
use self::simulated_cell::{OneClock, World};
use crate::args::Web;
use crate::page::OnPage;
use crate::report::animated_svg::Picture;
use crate::report::{Check, Figure, Report, Verdict};
use outrigger::boxed_law::BoxedLaw;
use outrigger::companion::{Companion, Companions, Ends, RunningCompanions, Shown};
use outrigger::exit::{Failure, Outcome};
use outrigger::feed::{EVENTS, Feed};
use outrigger::host::clock::{Clock, utc_now};
use outrigger::host::process_scheduling::{self, RealTime};
use outrigger::host::reactor;
use outrigger::host::signals::OnSignal;
use outrigger::host::target::Target;
use outrigger::host::worker::{writable_within, write_within};
use outrigger::panel::{OperatorInput, Operators, Panel};
use outrigger::sensor::{Arrival, Sources};
use outrigger::show::law_values::lines;
use outrigger::show::{Format, tell};
use outrigger::vendor::Vendor as _;
use outrigger::vendor::ur::{self, UrController};

const DISTANCE: f32 = 0.05;
/// The longest interval between two steps of the demo's script, which also advances at every robot state.
const GLANCE: Duration = Duration::from_millis(10);
/// The longest time for writing the report or the picture of the demo to disk, each.
const DISK: StdDuration = StdDuration::from_secs(10);
/// The duration of the measurement of this machine's pauses, before the demo's scenario begins.
const MEASURING: StdDuration = StdDuration::from_secs(2);
/// The length of one step of the measurement of this machine's pauses. Between two steps an operator may end the demo.
const STEP: StdDuration = StdDuration::from_millis(50);

/// Runs `outrigger demo`.
///
/// # Errors
/// [`Failure::Fault`] with the name of the first check that failed; [`Failure::Interrupted`] if an operator ended it;
/// [`Failure::BadInput`] if the report or the picture cannot be written.
pub(crate) fn run(args: &DemoArgs) -> Outcome {
    let unwritten = |path: &Path, error| Failure::BadInput(format!("cannot write {}: {error}", path.display()));
    // The files are checked first, because the work of half a minute would be lost if they could not be written.
    for path in args.report.iter().chain(&args.picture) {
        writable_within(DISK, path).map_err(|error| unwritten(path, error))?;
    }
    let mut operators = Operators::here(OnSignal::Nothing)?;
    let real_time = RealTime::ask();
    tell("measuring how long this machine pauses programs (2 s)\n")?;
    let allowance = measure(&mut operators)?;
    let (report, picture) = outrigger::host::runtime::block_on(play(args, operators, &real_time, allowance))?;
    let checks =
        report.checks.iter().map(|check| format!("{} {:<32} {}\n", check.verdict.word(), check.name, check.detail));
    let figures = report.figures.iter().map(|Figure { value, unit, name }| format!("{value:>9} {unit:<2}  {name}\n"));
    tell(&checks.chain(["\n".to_owned()]).chain(figures).collect::<String>())?;
    if let Some(path) = &args.report {
        write_within(DISK, path, report.html().into_bytes()).map_err(|error| unwritten(path, error))?;
        tell(&format!("report: {}\n", path.display()))?;
    }
    if let Some(path) = &args.picture {
        let Some(svg) = picture.svg() else {
            return Err(Failure::Fault("no picture: the arm was never commanded".into()));
        };
        write_within(DISK, path, svg.into_bytes()).map_err(|error| unwritten(path, error))?;
        tell(&format!("moving picture: {}\n", path.display()))?;
    }
    tell(&verdict(&report.checks, &program()))?;
    match report.checks.iter().find(|check| check.failed()) {
        None => Ok(()),
        Some(Check { name, detail, .. }) => Err(Failure::Fault(format!("self-check {name} failed: {detail}"))),
    }
}

/// Measures how long this machine pauses programs, and returns the limits for the demo that follow from it.
///
/// # Errors
/// [`Failure::Interrupted`] if an operator ends it; [`Failure::BadInput`] if the system provides no thread.
fn measure(operators: &mut Operators) -> Result<Allowance, Failure> {
    let clock = Clock::start();
    let watch = Watch::start(clock)?;
    let begin = clock.now();
    while clock.now().since(begin).as_micros() < MEASURING.as_micros() as u64 {
        std::thread::sleep(STEP);
        if operators.has_ended() {
            return Err(interrupted());
        }
    }
    let worst = watch.seen().longest(begin, clock.now());
    Ok(Allowance::for_pauses(StdDuration::from_micros(worst.as_micros())))
}

/// Returns the failure for a demo that an operator ended before there was a result.
fn interrupted() -> Failure {
    Failure::Interrupted("ended early, not judged".into())
}

/// Returns the name that this program was called by, for commands that can be copied.
fn program() -> String {
    let called = std::env::args().next().filter(|called| !called.is_empty());
    called.unwrap_or_else(|| "outrigger".into())
}

/// Returns the final text of the demo: the verdict, and commands to try next by calling `program`.
fn verdict(checks: &[Check], program: &str) -> String {
    let count = |of: fn(&Check) -> bool| checks.iter().filter(|check| of(check)).count();
    let failed = count(Check::failed);
    let paused = checks.iter().any(|check| check.verdict == Verdict::Counted);
    let paused = if paused { ";\nthis machine paused a program for too long during the demo, see above" } else { "" };
    let verdict = if failed == 0 {
        format!(
            "verdict: all {} checks passed: the arm kept its distance, stopped after\neach fault, and moved again only when started{paused}",
            count(Check::holds)
        )
    } else {
        format!("verdict: {failed} of {} checks FAILED; see `{program} doctor` for this machine", checks.len())
    };
    format!(
        "{verdict}\n\
         next, each in its own terminal: a simulated controller, its state, a motion\n  \
         {program} sim ur\n  \
         {program} monitor 127.0.0.1\n  \
         {program} example half-turn > half-turn.toml\n  \
         {program} run half-turn.toml --robot 127.0.0.1\n"
    )
}

/// Plays the demo's whole scenario, and checks the results. Returns the contents of its report and of its moving
/// picture.
async fn play(
    args: &DemoArgs,
    operators: Operators,
    real_time: &RealTime,
    allowance: Allowance,
) -> Result<(Report, Picture), Failure> {
    // The clock lives as long as the process, because threads of the simulator may read it at any time.
    let pace: &'static OneClock = Box::leak(Box::default());
    let clock = Clock::paced(pace);
    if allowance.slowed() > 1 {
        pace.0.slow(allowance.slowed());
    }
    let sources = Sources::open(&[sensor_settings(&allowance)], clock, false)?;
    let [listening] = sources.listening() else { return Err(Failure::BadInput("the demo has one sensor".into())) };
    let world = World::start(pace, *listening, args.broken)?;
    let watch = Watch::start(clock)?;
    watch.look_at(&simulated_cell::THREADS);
    let address = RobotAddress::new("127.0.0.1", world.port_base()).map_err(Failure::BadInput)?;
    let target = Target::resolve(&address)?;
    let mut controller = UrController::new(target);
    let mut net = controller.open(clock).await?;

    let mut config = allowance.config();
    let mut law = law();
    if let Some(broken) = args.broken {
        broken.spoil_config(&mut config);
        broken.spoil_law(&mut law);
    }
    let mut ends = Ends::default();
    let companions: Companions<6> = page(args, &world).into_iter().collect();
    let (mut taps, feed) = (vec![], (!companions.is_empty()).then(|| Feed::new(EVENTS)));
    let mut notices = vec![];
    if let Some(feed) = &feed {
        let names = ["distance".to_owned()];
        let beside = RunningCompanions::start(&companions, &controller, &names, clock, feed, || None, &mut ends)?;
        (taps, notices) = (beside.taps, beside.notices);
    }
    let mut panel = Panel::new("demo", Format::choose(false), clock, controller, operators, None);
    if let Some(feed) = feed {
        panel = panel.with_feed(feed);
    }
    notices.into_iter().for_each(|(kind, text, fields)| panel.say(kind, text, fields));
    panel.say("machine", real_time.to_string(), vec![]);
    panel.say("machine", allowance.text(), vec![]);
    let demo = Demo {
        panel,
        sources,
        pace,
        clock,
        story: Scenario::new(clock.now(), args.seconds, DISTANCE, allowance, args.broken),
        watch,
        world,
        ended_early: false,
    };
    let mut demo = Shown::new(demo, taps);
    ur::run(config, BoxedLaw::new(Standoff::new(law)), &mut net, &mut demo, 0).await?;

    let Demo { panel, story, world, watch, ended_early, .. } = demo.inner;
    let finished = panel.finish();
    for ended in ends.finish().0 {
        tell(&format!("{}\n", ended.text))?;
    }
    if ended_early {
        return Err(interrupted());
    }
    finished?;
    let Scenario { script, mut record, allowance, figures, .. } = story;
    record.truths = world.truths();
    let pauses = watch.seen();
    let bounds = Bounds { allowance, options: &world.options, pauses: &pauses };
    let checks = record.checks(&script, &bounds);
    let facts = facts(&world, &allowance, figures.as_ref());
    let report = record.report(&script, &world, &allowance, checks, facts);
    Ok((report, record.picture(&script, &world)))
}

fn law() -> StandoffConfig {
    StandoffConfig { proportional: 12.0, integral: 30.0, travel: [0.004, 0.0], ..StandoffConfig::new(SENSOR, DISTANCE) }
}

/// Returns the server of the demo's live page, which works beside the control loop (a companion of the session). `None`
/// unless `--web` requests it.
fn page(args: &DemoArgs, world: &World) -> Option<Arc<dyn Companion<6>>> {
    let Web(at) = args.web?;
    Some(Arc::new(OnPage::new("demo", at).with_workpiece(world.workpiece())))
}

/// Returns the settings of the demo's distance sensor: one value per reading, by UDP in binary form, on a free port.
fn sensor_settings(allowance: &Allowance) -> SourceSettings {
    SourceSettings {
        name: "distance".into(),
        input: SourceInput::Udp {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            from: Some(Ipv4Addr::LOCALHOST.into()),
        },
        format: ReadingFormat::Postcard,
        values: 1,
        scale: 1.0,
        offset: 0.0,
        judged: allowance.source(),
    }
}

fn facts(world: &World, allowance: &Allowance, figures: Option<&Figures>) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Outrigger", env!("CARGO_PKG_VERSION").to_owned()),
        ("Controller", format!("simulated {} with software {}", world.options.model.name(), world.options.software)),
        ("Its drives", world.options.drive.to_string()),
        ("Seed", world.options.seed.to_string()),
        ("Host", process_scheduling::describe()),
        ("Granted by the host", process_scheduling::in_force().to_string()),
        ("Pauses and limits", allowance.text()),
        ("Date", utc_now()),
    ];
    if let Some(figures) = figures {
        let sequence = figures.sequence;
        facts.push((
            "Real-time link",
            format!(
                "{} states, {} lost, {} late, {} stalls of this process",
                sequence.accepted, sequence.lost, figures.late, figures.local_stalls
            ),
        ));
    }
    facts
}

struct Demo {
    panel: Panel<UrController>,
    sources: Sources,
    pace: &'static OneClock,
    clock: Clock,
    story: Scenario,
    watch: Watch,
    world: World,
    /// `true` if an operator ended the demo before there was anything to judge.
    ended_early: bool,
}

impl Demo {
    fn apply(&mut self, effect: Effect, now: Instant) {
        match effect {
            Effect::Say(text) => self.panel.say("demo", text, vec![]),
            Effect::StallLink(span) => self.world.stall(now, span),
            Effect::PullCable(pulled) => self.world.pull_sensor_cable(pulled),
            Effect::SecondCommander => self.world.second_commander(),
            Effect::Slow(times) => {
                self.pace.0.slow(times);
            }
        }
    }
}

impl<'m> Application<6, Ur<'m>, BoxedLaw<6>> for Demo {
    async fn next(&mut self) -> Input {
        loop {
            if let Some(input) = self.story.input() {
                return input;
            }
            let glance = self.clock.now() + GLANCE;
            tokio::select! {
                wish = self.panel.next() => match wish {
                    OperatorInput::End(_) => {
                        self.ended_early = true;
                        return Input::Shutdown;
                    }
                    // The script takes the place of the operator here.
                    OperatorInput::Request(_) | OperatorInput::Resume(_) | OperatorInput::Release(_) | OperatorInput::Acknowledge | OperatorInput::Look => {}
                },
                Some(arrival) = self.sources.next() => if let Arrival::Reading { reading, at, .. } = arrival {
                    return Input::Sample(reading.sample(SENSOR, at));
                },
                () = reactor::sleep_until(self.clock, glance) => return Input::Tick,
            }
        }
    }

    fn event(&mut self, event: Event<UrEvent>) {
        self.story.event(self.clock.now(), &event);
        self.panel.event(&event);
    }

    fn answered(&mut self, turnaround: Duration) {
        // Converted into the time of this machine, whatever the pace of the session's time.
        self.story.record.turnarounds.push(turnaround.times(self.pace.0.slowed().into()));
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, BoxedLaw<6>>, now: Instant) {
        let watch = &self.watch;
        for effect in self.story.observe(engine, now, &|| watch.seen()) {
            self.apply(effect, now);
        }
        let slowed = self.pace.0.slowed();
        self.panel.observe(engine, now, || {
            let values = if engine.mode() == Mode::Command { lines(&engine.law().values()) } else { vec![] };
            let time = (slowed > 1).then(|| ("time passes".into(), format!("{slowed} times slower")));
            values.into_iter().chain(time).collect()
        });
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::Cli;

    fn check(verdict: Verdict) -> Check {
        Check { name: "armed", verdict, detail: String::new() }
    }

    #[test]
    fn it_ends_with_a_verdict_and_commands_that_can_be_copied() {
        let good = verdict(&[check(Verdict::Holds), check(Verdict::Holds)], "/opt/bin/outrigger");
        assert!(good.starts_with("verdict: all 2 checks passed"), "{good}");
        let commands: Vec<_> = good.lines().filter_map(|line| line.strip_prefix("  /opt/bin/outrigger ")).collect();
        assert_eq!(commands.len(), 4, "{good}");
        let known: Vec<_> = Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        for command in commands {
            // The escaping of other characters depends on the shell.
            let command = command.split(" > ").next().unwrap_or_default();
            let words = ["outrigger"].into_iter().chain(command.split(' '));
            let is_known = known.iter().any(|name| command.starts_with(name.as_str()));
            if let Err(error) = Cli::try_parse_from(words)
                && is_known
            {
                panic!("{command}: {error}");
            }
        }
    }

    #[test]
    fn a_pause_of_the_machine_is_told_and_is_no_check_that_holds() {
        let paused = verdict(&[check(Verdict::Holds), check(Verdict::Counted)], "outrigger");
        assert!(paused.starts_with("verdict: all 1 checks passed"), "{paused}");
        assert!(paused.contains("this machine paused a program"), "{paused}");
        let failed = verdict(&[check(Verdict::Holds), check(Verdict::Failed)], "outrigger");
        assert!(failed.starts_with("verdict: 1 of 2 checks FAILED"), "{failed}");
    }
}

//! `outrigger demo`: everything at once, with no hardware, and it checks itself.

mod record;
mod script;
mod world;

use outrigger_config::RobotAddress;
use outrigger_config::{Format as ReadingFormat, SourceInput, SourceSettings};
use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::ur::UrEvent;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration as StdDuration;

use outrigger_core::command::{SourceConfig, SourceId};
use outrigger_core::drive::Application;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::{Law as _, Standoff, StandoffConfig};
use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_core::robot::ControllerTime;
use outrigger_core::time::{Duration, Instant};

use self::record::{Bounds, Record};
use self::script::{Ask, Script, Sight};
use self::world::World;
use crate::args::{DemoArgs, Web};
use crate::clock::{Clock, utc_now};
use crate::exit::{Failure, Outcome};
use crate::feed::Feed;
use crate::law::BoxedLaw;
use crate::machine;
use crate::maker::Controller as _;
use crate::maker::ur::{self, UrController};
use crate::page::{About, ENTRIES, OnPage, Page, Tap};
use crate::panel::{Operators, Panel, Wish};
use crate::reactor;
use crate::report::picture::Picture;
use crate::report::{Check, Figure, Report};
use crate::sensor::{Arrival, Sources};
use crate::show::{Format, tell};
use crate::signals::Leaves;
use crate::target::Target;
use crate::worker::{writable_within, write_within};

const DISTANCE: f32 = 0.05;
const SENSOR: SourceId = SourceId(0);
/// How often the script looks, besides at every state.
const GLANCE: Duration = Duration::from_millis(10);
/// So long a disk may take for the report.
const DISK: StdDuration = StdDuration::from_secs(10);

/// Runs the command.
///
/// # Errors
/// [`Failure::Fault`] with the name of the first check that failed.
pub(crate) fn run(args: &DemoArgs) -> Outcome {
    let clock = Clock::start();
    let unwritten = |path: &Path, error| Failure::BadInput(format!("cannot write {}: {error}", path.display()));
    // Half a minute of work is not done for a page that cannot be written.
    for path in args.report.iter().chain(&args.picture) {
        writable_within(DISK, path).map_err(|error| unwritten(path, error))?;
    }
    let (report, picture) = crate::runtime::block_on(play(args, clock))?;
    let checks = report.checks.iter().map(|check| {
        format!("{} {:<28} {}\n", if check.passed { "ok    " } else { "FAILED" }, check.name, check.detail)
    });
    let figures = report.figures.iter().map(|Figure { value, unit, name }| format!("{value:>9} {unit:<2}  {name}\n"));
    tell(&checks.chain(["\n".to_owned()]).chain(figures).collect::<String>())?;
    if let Some(path) = &args.report {
        write_within(DISK, path, report.html().into_bytes()).map_err(|error| unwritten(path, error))?;
        tell(&format!("report: {}\n", path.display()))?;
    }
    if let Some(path) = &args.picture {
        let Some(svg) = picture.svg() else {
            return Err(Failure::Fault("the arm was never commanded: no picture".into()));
        };
        write_within(DISK, path, svg.into_bytes()).map_err(|error| unwritten(path, error))?;
        tell(&format!("moving picture: {}\n", path.display()))?;
    }
    tell(&verdict(&report.checks))?;
    match report.checks.iter().find(|check| !check.passed) {
        None => Ok(()),
        Some(Check { name, detail, .. }) => Err(Failure::Fault(format!("self-check {name} failed: {detail}"))),
    }
}

/// What all of it says, and what to try next.
fn verdict(checks: &[Check]) -> String {
    let failed = checks.iter().filter(|check| !check.passed).count();
    let verdict = if failed == 0 {
        format!(
            "verdict: all {} checks hold: the arm kept its distance, came to rest after\neach fault, and moved again only when asked",
            checks.len()
        )
    } else {
        format!(
            "verdict: {failed} of {} checks FAILED; on a busy machine try again, and see `outrigger doctor`",
            checks.len()
        )
    };
    format!(
        "{verdict}\n\
         next, each in a terminal of its own: a simulated controller, what it sends, a motion\n  \
         outrigger sim ur\n  \
         outrigger monitor 127.0.0.1\n  \
         outrigger run {}/half-turn.toml --robot 127.0.0.1\n",
        examples()
    )
}

/// Where the examples are: with the package's documents, where it is installed and this is no copy of the source.
fn examples() -> &'static str {
    const INSTALLED: &str = "/usr/share/doc/outrigger/examples";
    const SOURCE: &str = "port-linux/examples";
    if !Path::new(SOURCE).exists() && Path::new(INSTALLED).exists() { INSTALLED } else { SOURCE }
}

/// Plays the whole story and judges it.
async fn play(args: &DemoArgs, clock: Clock) -> Result<(Report, Picture), Failure> {
    let sources = Sources::open(&[sensor_settings()], clock, false)?;
    let [listening] = sources.listening() else { return Err(Failure::BadInput("the demo has one sensor".into())) };
    let world = World::start(clock, *listening)?;
    let address = RobotAddress::new("127.0.0.1", world.port_base()).map_err(Failure::BadInput)?;
    let target = Target::resolve(&address)?;
    let mut controller = UrController::new(target);
    let mut net = controller.open(clock, None).await?;

    let config = config();
    let law = Standoff::new(StandoffConfig {
        proportional: 12.0,
        integral: 30.0,
        travel: [0.004, 0.0],
        ..StandoffConfig::new(SENSOR, DISTANCE)
    });
    let shown = controller.clone();
    let operators = Operators::here(Leaves::Nothing)?;
    let mut panel = Panel::new("demo", Format::choose(false), clock, controller, operators, None);
    let (page, shown) = match page(args, &world)? {
        Some((page, tap, feed)) => {
            panel = panel.with_feed(feed);
            panel.say("page", page.announced(), vec![("url", page.url())]);
            (Some(page), Some((shown, tap)))
        }
        None => (None, None),
    };
    let demo = Demo {
        panel,
        sources,
        clock,
        script: Script::new(clock.now(), args.seconds),
        record: Record { wanted_distance: f64::from(DISTANCE), ..Record::default() },
        inputs: VecDeque::new(),
        world,
        newest: ControllerTime::default(),
        figures: None,
    };
    let mut demo = OnPage::new(demo, shown);
    ur::run(config, BoxedLaw::new(law), &mut net, &mut demo, 0).await?;

    let Demo { panel, mut record, script, world, figures, .. } = demo.inner;
    record.truths = world.truths();
    panel.finish()?;
    if let Some(page) = page {
        tell(&format!("{}\n", page.finish().text()))?;
    }
    let bounds = Bounds { config: &config, source_age: Duration::from_millis(100), options: &world.options };
    let checks = record.checks(&script, &bounds);
    let report = record.report(&script, &world, &config, checks, facts(&world, figures.as_ref()));
    Ok((report, record.picture(&script, &world)))
}

/// A page where one is wanted, what it takes states by, and what it hears events from.
fn page(args: &DemoArgs, world: &World) -> Result<Option<(Page, Tap<UrController, 6>, Feed)>, Failure> {
    let Some(Web(at)) = args.web else { return Ok(None) };
    let feed = Feed::new(ENTRIES);
    let about = About { command: "demo", sources: vec!["distance".into()], workpiece: Some(world.workpiece()) };
    let (page, tap) = Page::start(at, about, feed.reader())?;
    Ok(Some((page, tap, feed)))
}

/// One value by UDP in binary form, on a port that is free.
fn sensor_settings() -> SourceSettings {
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
        judged: judged(),
    }
}

fn judged() -> SourceConfig {
    SourceConfig::new(SENSOR, 1, 0.0, 0.5)
}

fn config() -> UrConfig {
    let mut config = UrConfig::default();
    let [first, ..] = &mut config.sources;
    *first = Some(judged());
    config
}

fn facts(world: &World, figures: Option<&Figures>) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Outrigger", env!("CARGO_PKG_VERSION").to_owned()),
        ("Controller", format!("simulated {} with software {}", world.options.model.name(), world.options.software)),
        ("Its drives", world.options.drive.to_string()),
        ("Seed", world.options.seed.to_string()),
        ("Host", machine::describe()),
        ("Granted by the host", machine::in_force().to_string()),
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
    clock: Clock,
    script: Script,
    record: Record,
    /// What the script asked for and the engine has not got yet.
    inputs: VecDeque<Input>,
    world: World,
    newest: ControllerTime,
    figures: Option<Figures>,
}

impl Demo {
    fn look(&mut self, sight: Sight) {
        while let Some(ask) = self.script.next(sight) {
            match ask {
                Ask::Engine(input) => {
                    let word = match input {
                        Input::Request(_) => "requested",
                        Input::Acknowledge => "acknowledged",
                        _ => "released",
                    };
                    self.note(word.into());
                    self.inputs.push_back(input);
                }
                Ask::Inject(fault) => {
                    self.note(format!("fault: {}", fault.text()));
                    self.record.faults.push((self.clock.now(), fault.short()));
                    match fault {
                        script::Fault::LinkStall => self.world.stall(Duration::from_millis(300)),
                        script::Fault::SensorCable => self.world.pull_sensor_cable(true),
                    }
                }
                Ask::Repair(script::Fault::LinkStall) => {}
                Ask::Repair(script::Fault::SensorCable) => {
                    self.note("the sensor's cable is plugged in again".into());
                    self.record.faults.push((self.clock.now(), "plugged in"));
                    self.world.pull_sensor_cable(false);
                }
                Ask::End => self.inputs.push_back(Input::Shutdown),
            }
        }
    }

    fn note(&mut self, text: String) {
        self.panel.say("demo", text.clone(), vec![]);
        self.record.events.push((self.clock.now(), text));
    }
}

impl<'m> Application<6, Ur<'m>, BoxedLaw<6>> for Demo {
    async fn next(&mut self) -> Input {
        loop {
            if let Some(input) = self.inputs.pop_front() {
                return input;
            }
            let glance = self.clock.now() + GLANCE;
            tokio::select! {
                wish = self.panel.next() => match wish {
                    Wish::End(_) => return Input::Shutdown,
                    // The script is the operator here.
                    Wish::Request(_) | Wish::Resume(_) | Wish::Release(_) | Wish::Acknowledge | Wish::Look => {}
                },
                Some(arrival) = self.sources.next() => if let Arrival::Reading { reading, at, .. } = arrival {
                    return Input::Sample(reading.sample(SENSOR, at));
                },
                () = reactor::sleep_until(self.clock, glance) => return Input::Tick,
            }
        }
    }

    fn event(&mut self, event: Event<UrEvent>) {
        let now = self.clock.now();
        match &event {
            Event::Transition(transition) => {
                self.record.modes.push((transition.at, transition.to));
                if let Some(reason) = transition.reason {
                    self.script.fell_back(transition.at, reason);
                    self.record.events.push((now, format!("{}: {}", transition.to.name(), reason.text())));
                }
            }
            Event::Grade(change) => self.record.grades.push((now, change.to)),
            Event::Bridged(_) => self.record.bridged += 1,
            Event::Peer(UrEvent::Established(identity)) => {
                self.record.events.push((now, format!("session with software {}", identity.software)));
            }
            _ => {}
        }
        self.panel.event(&event);
    }

    fn answered(&mut self, turnaround: Duration) {
        self.record.turnarounds.push(turnaround);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, BoxedLaw<6>>, now: Instant) {
        let figures = engine.figures(now);
        if let Some(age) = figures.age {
            self.record.ages.push((now, age));
        }
        if let Some(state) = engine.state()
            && state.controller_time != self.newest
        {
            self.newest = state.controller_time;
            self.record.arrivals.push(now);
        }
        self.figures = Some(figures);
        let epoch = engine.mode_machine().epoch();
        self.look(Sight { now, mode: engine.mode(), epoch, latch: engine.latch(), unmet: engine.unmet(now) });
        self.panel.observe(engine, now, || match (engine.mode(), engine.law().standoff_error()) {
            (Mode::Command, Some(error)) => vec![("standoff error".into(), format!("{:+.3} mm", error * 1e3))],
            _ => vec![],
        });
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn it_ends_with_a_verdict_and_three_commands_that_there_are() {
        let check = |passed| Check { name: "armed", passed, detail: String::new() };
        let good = verdict(&[check(true), check(true)]);
        assert!(good.starts_with("verdict: all 2 checks hold"), "{good}");
        let commands: Vec<_> = good.lines().filter_map(|line| line.strip_prefix("  outrigger ")).collect();
        assert_eq!(commands.len(), 3, "{good}");
        for command in commands {
            let words = ["outrigger"].into_iter().chain(command.split(' '));
            if let Err(error) = Cli::try_parse_from(words) {
                panic!("{command}: {error}");
            }
        }
        assert!(verdict(&[check(true), check(false)]).starts_with("verdict: 1 of 2 checks FAILED"));
    }
}

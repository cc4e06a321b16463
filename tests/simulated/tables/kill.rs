//! The motion of the arm after the loss of the process, the cable or the sensor, in every mode.

use std::time::Duration;

use outrigger_core::engine::Input;
use outrigger_core::engine::ur::{CommandPath, FormChoice, TextConfig, TextPath};
use outrigger_core::mode::Mode;
use outrigger_sim::firmware::{AfterT, Firmware};
use outrigger_tests::cosim::{Buffers, CrashPoint, Motion, REST, Rig, Setup, rest_bound, stop_deceleration};
use outrigger_wire::robot::SoftwareVersion;

use super::text::{hold, in_parallel, markdown, millis};

const SOFTWARE: [SoftwareVersion; 13] = [
    SoftwareVersion::new(1, 6),
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 0),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 2),
    SoftwareVersion::new(3, 4),
    SoftwareVersion::new(3, 5),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 0),
    SoftwareVersion::new(5, 9),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(5, 25),
    SoftwareVersion::new(10, 11),
];
const MODES: [Mode; 4] = [Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping];
const FORMS: [Way; 2] = [Way::Text(FormChoice::SelfEnding), Way::Text(FormChoice::Bare)];
const PROGRAMS: [Way; 3] = [
    Way::Program(CommandPath::ReverseSpeedJ),
    Way::Program(CommandPath::ReverseServoJ),
    Way::Program(CommandPath::Buffered),
];

/// The channel by which commands reach the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A text with a `speedj` that is sent in each cycle.
    Text(FormChoice),
    /// An Outrigger program on the controller, on this command path.
    Program(CommandPath),
}

impl Way {
    fn fits(self, software: SoftwareVersion) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Program(path) => path.fits(software),
        }
    }

    /// Returns the name of the channel in a table; * marks the form of text that is the default for this software.
    fn name(self, software: SoftwareVersion) -> &'static str {
        let by_default = TextPath::new(TextConfig::default(), software).is_self_ending();
        match self {
            Self::Program(path) => path.name(),
            Self::Text(FormChoice::Bare) if by_default => "bare",
            Self::Text(FormChoice::Bare) => "bare *",
            Self::Text(FormChoice::SelfEnding | FormChoice::ByVersion) if by_default => "self-ending *",
            Self::Text(FormChoice::SelfEnding | FormChoice::ByVersion) => "self-ending",
        }
    }
}

/// The speed of the base joint at the loss \[rad/s\].
const SPEED: f32 = 0.8;
/// The observed time after the loss. An arm that still moves at its end counts as one that never stops.
const WATCHED: Duration = Duration::from_secs(5);
/// The time in which the last text has certainly arrived at the controller.
const ARRIVED: Duration = Duration::from_micros(200);

/// The part of the set-up that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    Process,
    Host,
    Cable,
    Sensor,
}

impl Loss {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Process, "the process ends, and the kernel resets its connections"),
        (Self::Host, "the host stands still, not another byte, and nobody resets anything"),
        (Self::Cable, "the cable is cut, silence both ways, and connections stay"),
        (Self::Sensor, "the sensor gives no further reading"),
    ];
}

/// The longest permitted and the measured time from the loss until the arm is at rest; `None` for an arm that never
/// stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rest {
    bound: Option<Duration>,
    measured: Option<Duration>,
}

fn run(loss: Loss, software: SoftwareVersion, way: Way, mode: Mode) -> Rest {
    let mut buffers = Buffers::default();
    let mut setup = Setup::sweep(software, SPEED);
    match way {
        Way::Text(form) => setup.config.peer.text.form = form,
        Way::Program(path) => setup.config.peer.path = path,
    }
    let mut rig = Rig::new(setup, &mut buffers);
    rig.ready();
    match mode {
        Mode::Offline | Mode::Monitor => {}
        Mode::Arming => {
            rig.request();
            rig.run_for(rig.controller.period() * 30);
        }
        Mode::Command | Mode::Stopping => {
            rig.command();
            rig.run_for(Duration::from_secs(1));
            rig.run_past_a_command();
        }
    }
    if mode == Mode::Stopping {
        // Just before the next state: the command of this cycle has arrived long before.
        rig.run_for(rig.controller.period() - ARRIVED * 2);
        rig.input(Input::Release);
    }
    assert_eq!(rig.engine().mode(), mode, "{}", rig.record().story());
    rig.run_for(ARRIVED);
    let lost = rig.now();
    let speed = rig.record().motion_at(lost).map_or(0.0, Motion::target_speed);
    match loss {
        Loss::Process => rig.kill(CrashPoint::Reset),
        Loss::Host => rig.kill(CrashPoint::Silent),
        Loss::Cable => rig.cut_cable(None),
        Loss::Sensor => rig.kill_sensors(),
    }
    rig.run_for(WATCHED);
    let ended = matches!(way, Way::Text(_)) || !rig.controller.program().0;
    assert!(ended, "{way:?}: a program is left\n{}", rig.record().story());
    Rest { bound: bound(&rig, loss, way, mode, speed), measured: rig.record().rest_after(lost) }
}

/// Returns the longest time to rest after this loss, by `core/docs/mode-machine.md 10`.
fn bound(rig: &Rig<'_>, loss: Loss, way: Way, mode: Mode, speed: f64) -> Option<Duration> {
    let config = rig.engine().config();
    let options = rig.controller.options();
    let span = |span: outrigger_wire::time::Duration| Duration::from_micros(span.as_micros());
    let asked = f64::from(config.peer.text.stop_acceleration);
    let stopj = stop_deceleration(options, asked);
    let (reaction, deceleration) = match (mode, loss) {
        (Mode::Offline | Mode::Monitor | Mode::Arming, _) => return Some(Duration::ZERO),
        // The texts that have arrived order the stop already.
        (Mode::Stopping, _) => (Duration::ZERO, stopj),
        (Mode::Command, Loss::Sensor) => {
            let source = config.sources.iter().flatten().next()?;
            let bridged = rig.controller.period() * (u32::from(source.bridge_cycles) + 1);
            (span(source.max_age) + bridged, stopj)
        }
        (Mode::Command, Loss::Process | Loss::Host | Loss::Cable) => match way {
            Way::Text(FormChoice::Bare) if Firmware(options.software).after_t() == AfterT::KeepsMoving => return None,
            Way::Text(FormChoice::Bare) => (span(config.peer.text.hold), options.end_deceleration),
            Way::Text(FormChoice::SelfEnding | FormChoice::ByVersion) => {
                (span(config.peer.text.hold) + without_t(rig), stopj)
            }
            Way::Program(_) => (whole_cycles(rig, span(config.peer.text.hold)), stopj),
        },
    };
    Some(rest_bound(&rig.controller, speed, deceleration, reaction))
}

/// Returns the additional reaction time of text without `t`, as on 3.1 and 3.2: `speedj` returns one cycle after its
/// speed is reached, and `sleep` follows.
fn without_t(rig: &Rig<'_>) -> Duration {
    let slept = rig.record().commands.iter().any(|command| command.text.contains("sleep("));
    if slept { rig.controller.period() } else { Duration::ZERO }
}

/// Returns the timeout of a read rounded up to whole control cycles, because a read ends with a cycle.
fn whole_cycles(rig: &Rig<'_>, timeout: Duration) -> Duration {
    let period = rig.controller.period();
    period * u32::try_from(timeout.as_micros().div_ceil(period.as_micros())).expect("few cycles")
}

fn row(loss: Loss, software: SoftwareVersion, way: Way) -> Vec<String> {
    let mut row = vec![format!("{}.{}", software.major, software.minor), way.name(software).to_owned()];
    row.extend(MODES.map(|mode| {
        let rest = run(loss, software, way, mode);
        let what = format!("{loss:?}, {software}, {way:?}, {mode:?}");
        assert_eq!(rest.bound.is_some(), rest.measured.is_some(), "{what}: {rest:?}");
        assert!(rest.measured <= rest.bound, "{what}: {rest:?}");
        match (rest.measured, rest.bound) {
            (Some(measured), Some(bound)) => format!("{} / {}", millis(measured), millis(bound)),
            _ => "**never**".to_owned(),
        }
    }));
    row
}

/// Makes one table for each loss. Losses with identical figures share a table.
fn tables(ways: &[Way], column: &str) -> String {
    let all = SOFTWARE.into_iter().flat_map(|software| ways.iter().map(move |way| (software, *way)));
    let cases: Vec<(SoftwareVersion, Way)> = all.filter(|(software, way)| way.fits(*software)).collect();
    let mut sections: Vec<(Vec<&str>, String)> = vec![];
    for (loss, title) in Loss::ALL {
        let rows = in_parallel(&cases, |(software, way)| row(loss, software, way));
        let table = markdown(&["software", column, "Monitor", "Arming", "Command", "Stopping"], &rows);
        match sections.iter_mut().find(|(_, same)| *same == table) {
            Some((titles, _)) => titles.push(title),
            None => sections.push((vec![title], table)),
        }
    }
    let text = |(titles, table): (Vec<&str>, String)| format!("\n### When {}\n\n{table}", titles.join("; or "));
    sections.into_iter().map(text).collect()
}

#[test]
fn the_arm_rests_within_its_bound_whatever_is_gone() {
    let mut text = head();
    text += "\n## A text in each cycle\n";
    text += &tables(&FORMS, "text");
    text += PROGRAMS_HEAD;
    text += &tables(&PROGRAMS, "path");
    hold("kill.md", &text);
}

const PROGRAMS_HEAD: &str = "
## A program of ours, which is told what to do in each cycle

The paths of `core/docs/protocol/outrigger-programs.md`, from 3.0 on. Reaction: the 40 ms of a read's time-out in whole cycles; of the two
cycles one has the program's other thread end the motion, which begins its `stopj`. No row has the reset of a connection for its bound:
a read notices it at once, and the host may as well be silent. The program has ended each time.
";

fn head() -> String {
    format!(
        "# The process, the cable or the sensor is gone

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::kill`, in virtual time.

Time from the loss to rest of the *simulated joint*, measured / bound, in ms. Rest: every joint below {REST} rad/s for
good. In Command the base joint moves at {SPEED} rad/s, and the loss comes just after a command has arrived, which is the
worst moment. In Stopping it comes just after the first zero velocity has arrived. In Monitor and Arming nothing moves. Each row was run with the text form it
names; * marks the form that is the default for this software.

Bound (`core/docs/mode-machine.md 10`): reaction + v/a + 2 cycles, and the drives' lag until the joint is below {REST} rad/s. Reaction: `t` =
40 ms of the last command, and one cycle more on 3.1 and 3.2, where `speedj` returns a cycle after its speed is reached and
a `sleep` follows; for the sensor its age limit of 100 ms and three cycles, two of them bridged. a: 10 rad/s².

What the simulation assumes:

* before 3.5 an arm whose `speedj` program has ended *keeps its speed* (reported for 1.x, 3.0 and 3.1; taken for granted
  up to 3.4); from 3.5 it stops with 10 rad/s² (not documented);
* before 3.2 `stopj` does not obey its argument and decelerates with 3 rad/s² (not documented);
* the drives answer one cycle late, with a first-order lag of 10 ms and 0.5 % velocity error; the network takes 100 µs.

**never**: the bare form has nothing that ends the motion on such software. The arm goes on until a joint limit stops it.
That is why it is not the default there.
"
    )
}

//! What happens to the arm when the process, the cable or the sensor is gone, in every mode.

use std::time::Duration;

use outrigger_core::engine::Input;
use outrigger_core::engine::ur::{FormChoice, TextConfig, TextPath};
use outrigger_core::mode::Mode;
use outrigger_core::robot::SoftwareVersion;
use outrigger_sim::firmware::{AfterT, Firmware};
use outrigger_tests::cosim::{Buffers, Death, Motion, REST, Rig, Setup, rest_bound, stop_deceleration};

use super::text::{hold, in_parallel, markdown, millis};

const SOFTWARE: [SoftwareVersion; 12] = [
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
];
const MODES: [Mode; 4] = [Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping];
const FORMS: [FormChoice; 2] = [FormChoice::SelfEnding, FormChoice::Bare];

/// Speed of the base joint when it happens \[rad/s\].
const SPEED: f32 = 0.8;
/// An arm that moves for longer never stops.
const WATCHED: Duration = Duration::from_secs(5);
/// The last text has arrived.
const ARRIVED: Duration = Duration::from_micros(200);

/// What is gone from one moment on.
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

/// Time from the loss to rest; `None` for an arm that never stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rest {
    bound: Option<Duration>,
    measured: Option<Duration>,
}

fn run(loss: Loss, software: SoftwareVersion, form: FormChoice, mode: Mode) -> Rest {
    let mut buffers = Buffers::default();
    let mut setup = Setup::sweep(software, SPEED);
    setup.config.peer.text.form = form;
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
        // Just before the next state: the command of this cycle has long arrived.
        rig.run_for(rig.controller.period() - ARRIVED * 2);
        rig.input(Input::Release);
    }
    assert_eq!(rig.engine().mode(), mode, "{}", rig.record().story());
    rig.run_for(ARRIVED);
    let lost = rig.now();
    let speed = rig.record().motion_at(lost).map_or(0.0, Motion::target_speed);
    match loss {
        Loss::Process => rig.kill(Death::Reset),
        Loss::Host => rig.kill(Death::Silent),
        Loss::Cable => rig.cut_cable(None),
        Loss::Sensor => rig.kill_sensors(),
    }
    rig.run_for(WATCHED);
    Rest { bound: bound(&rig, loss, form, mode, speed), measured: rig.record().rest_after(lost) }
}

/// The bound of `core/docs/mode-machine.md 10` for this loss.
fn bound(rig: &Rig<'_>, loss: Loss, form: FormChoice, mode: Mode, speed: f64) -> Option<Duration> {
    let config = rig.engine().config();
    let options = rig.controller.options();
    let span = |span: outrigger_core::time::Duration| Duration::from_micros(span.as_micros());
    let asked = f64::from(config.peer.text.stop_acceleration);
    let stopj = stop_deceleration(options, asked);
    let (reaction, deceleration) = match (mode, loss) {
        (Mode::Offline | Mode::Monitor | Mode::Arming, _) => return Some(Duration::ZERO),
        // Told to stop already, by text that has arrived.
        (Mode::Stopping, _) => (Duration::ZERO, stopj),
        (Mode::Command, Loss::Sensor) => {
            let source = config.sources.iter().flatten().next()?;
            let bridged = rig.controller.period() * (u32::from(source.bridge_cycles) + 1);
            (span(source.max_age) + bridged, stopj)
        }
        (Mode::Command, Loss::Process | Loss::Host | Loss::Cable) => match form {
            FormChoice::Bare if Firmware(options.software).after_t() == AfterT::KeepsMoving => return None,
            FormChoice::Bare => (span(config.peer.text.hold), options.end_deceleration),
            FormChoice::SelfEnding | FormChoice::ByVersion => (span(config.peer.text.hold) + without_t(rig), stopj),
        },
    };
    Some(rest_bound(&rig.controller, speed, deceleration, reaction))
}

/// On 3.1 and 3.2 `speedj` is written without a time and returns a cycle after its speed is reached; `sleep` follows.
fn without_t(rig: &Rig<'_>) -> Duration {
    let slept = rig.record().commands.iter().any(|command| command.text.contains("sleep("));
    if slept { rig.controller.period() } else { Duration::ZERO }
}

fn row(loss: Loss, software: SoftwareVersion, form: FormChoice) -> Vec<String> {
    let by_default = TextPath::new(TextConfig::default(), software).is_self_ending();
    let name = match form {
        FormChoice::Bare if by_default => "bare",
        FormChoice::Bare => "bare *",
        FormChoice::SelfEnding | FormChoice::ByVersion if by_default => "self-ending *",
        FormChoice::SelfEnding | FormChoice::ByVersion => "self-ending",
    };
    let mut row = vec![format!("{}.{}", software.major, software.minor), name.to_owned()];
    row.extend(MODES.map(|mode| {
        let rest = run(loss, software, form, mode);
        let what = format!("{loss:?}, {software}, {form:?}, {mode:?}");
        assert_eq!(rest.bound.is_some(), rest.measured.is_some(), "{what}: {rest:?}");
        assert!(rest.measured <= rest.bound, "{what}: {rest:?}");
        match (rest.measured, rest.bound) {
            (Some(measured), Some(bound)) => format!("{} / {}", millis(measured), millis(bound)),
            _ => "**never**".to_owned(),
        }
    }));
    row
}

#[test]
fn the_arm_rests_within_its_bound_whatever_is_gone() {
    let mut sections: Vec<(Vec<&str>, String)> = vec![];
    for (loss, title) in Loss::ALL {
        let cases: Vec<(SoftwareVersion, FormChoice)> =
            SOFTWARE.into_iter().flat_map(|software| FORMS.map(|form| (software, form))).collect();
        let rows = in_parallel(&cases, |(software, form)| row(loss, software, form));
        let table = markdown(&["software", "text", "Monitor", "Arming", "Command", "Stopping"], &rows);
        match sections.iter_mut().find(|(_, same)| *same == table) {
            Some((titles, _)) => titles.push(title),
            None => sections.push((vec![title], table)),
        }
    }
    let mut text = head();
    for (titles, table) in sections {
        text += &format!("\n## When {}\n\n{table}", titles.join("; or "));
    }
    hold("kill.md", &text);
}

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

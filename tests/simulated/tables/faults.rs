//! Every fault of the simulator in the middle of a motion: the reason for which commanding ends, its time, and the
//! time to rest of the joint.

use std::time::Duration;

use outrigger_core::mode::Mode;
use outrigger_sim::fault::{Direction, Fault, FaultKind};
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Rig, Setup, rest_bound, sim_time, stop_deceleration};
use outrigger_wire::robot::SoftwareVersion;

use super::text::{hold, in_parallel, markdown, millis};

const SOFTWARE: [SoftwareVersion; 5] = [
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 5),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
];
/// The faults as text, without their time: `@` is replaced by it; `6s` is the duration.
const FAULTS: [&str; 32] = [
    "split@6s:7",
    "coalesce@6s:4",
    "delay@6s:20ms",
    "jitter@6s:10ms",
    "stall@30ms",
    "stall@200ms",
    "backlog@6s:300ms",
    "nagle@6s:16ms",
    "loss@6s:5%",
    "quick-loss@6s:1%",
    "drop@6s",
    "truncated@6s:8",
    "oversize@6s:20000",
    "unknown@6s",
    "extended@6s:4",
    "polluted@6s:17",
    "skip@6s:10",
    "repeat@6s:10",
    "clock-jump@:5s",
    "restart@6s",
    "estop@6s",
    "protective-stop@6s",
    "safeguard@6s",
    "violation@6s",
    "safety-fault@6s",
    "service-off@6s:realtime",
    "local@6s",
    "power-off@6s",
    "slider@6s:0",
    "pause@6s",
    "mute@6s",
    "second-commander@6s:0.1",
];
/// Software versions with RTDE: the oldest, the newest of CB3, and an e-Series version.
const WITH_RTDE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 4), SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];
/// Faults that affect only one of the two connections that the control cycle uses.
const OF_ONE: [&str; 20] = [
    "service-off@6s:rtde",
    "stall/30004@6s",
    "drop/30004@6s",
    "garbage/30004@6s",
    "truncated/30004@6s:8",
    "wrong-type/30004@6s",
    "wrong-recipe/30004@6s:10",
    "wrong-recipe/30004@6s:1",
    "skip/30004@6s:2",
    "delay/30004@6s:20ms",
    "backlog/30004@6s:300ms",
    "loss/30004@6s:5%",
    "mute/30004@6s",
    "stall/30003@6s",
    "stall/30003/up@6s",
    "stall/30003/down@6s",
    "drop/30003@6s",
    "delay/30003/up@6s:20ms",
    "backlog/30003/up@6s:300ms",
    "mute/30003@6s",
];
/// The speed of the base joint at the beginning of the fault \[rad/s\].
const SPEED: f32 = 0.8;

fn cell(fault: &str, software: SoftwareVersion, mut buffers: Buffers) -> String {
    let mut rig = Rig::new(Setup::sweep(software, SPEED), &mut buffers);
    rig.command();
    rig.run_for(Duration::from_secs(1));
    rig.run_past_a_command();
    let begun = rig.now() + Duration::from_micros(1);
    let spec = fault.replace('@', &format!("@{}ms:", begun.as_micros() as f64 / 1e3));
    let fault = Fault::parse(&spec).unwrap();
    rig.controller.inject(fault);
    // Too short for the arm to reach the end of its range.
    rig.run_for(Duration::from_secs(4));

    let mut falls = rig.record().transitions().filter(|t| t.from == Mode::Command);
    let Some(fall) = falls.next() else { return "goes on".to_owned() };
    let (fell, reason) = (sim_time(fall.at), fall.reason.unwrap());
    let config = rig.engine().config();
    let deceleration = stop_deceleration(rig.controller.options(), f64::from(config.peer.text.stop_acceleration));
    let hold = Duration::from_micros(config.peer.text.hold.as_micros());
    let reaction = hold.max(text_under_way(&fault, fell, rig.controller.period()));
    let bound = rest_bound(&rig.controller, f64::from(SPEED), deceleration, reaction);
    let rest = rig.record().rest_after(fell);
    assert!(rest.is_some_and(|rest| rest <= bound), "{spec} on {software}: {rest:?}, bound {bound:?}");
    let rest = rest.map_or_else(String::new, millis);
    format!("{} after {} ms, {rest} / {} ms", reason.name(), millis(fell.since(begun)), millis(bound))
}

/// Returns the time after `fell` during which text sent before it may still arrive. Text sent after it follows at
/// once.
fn text_under_way(fault: &Fault, fell: SimTime, period: Duration) -> Duration {
    let of_text = fault.port.is_none_or(|port| port == Port::Realtime) && fault.direction != Some(Direction::Down);
    match fault.kind {
        _ if !of_text => Duration::ZERO,
        FaultKind::Stall => fault.end().since(fell),
        FaultKind::Delay(late) | FaultKind::Jitter(late) | FaultKind::Backlog(late) => late,
        FaultKind::Loss(_) => Duration::from_millis(200),
        FaultKind::QuickLoss(_) | FaultKind::Coalesce(_) => period * 4,
        _ => Duration::ZERO,
    }
}

/// Makes a table with a row for each fault and a column for each software version.
fn table(faults: &[&str], software: &[SoftwareVersion], buffers: fn() -> Buffers) -> String {
    let rows = in_parallel(faults, |fault| {
        let (kind, times) = fault.split_once('@').unwrap();
        let mut row = vec![format!("`{kind}` {}", times.trim_start_matches(':').replace(':', ", "))];
        row.extend(software.iter().map(|software| cell(fault, *software, buffers())));
        row
    });
    let columns: Vec<String> = software.iter().map(|s| format!("{}.{}", s.major, s.minor)).collect();
    let columns: Vec<&str> = std::iter::once("fault").chain(columns.iter().map(String::as_str)).collect();
    markdown(&columns, &rows)
}

#[test]
fn the_arm_rests_within_its_bound_after_every_fault() {
    let mut text = HEAD.to_owned() + &table(&FAULTS, &SOFTWARE, Buffers::default);
    text += RTDE;
    text += &table(&[&FAULTS[..], &OF_ONE].concat(), &WITH_RTDE, Buffers::with_rtde);
    hold("faults.md", &text);
}

const HEAD: &str = "# Every fault of the simulator in the middle of a motion

Made by `OUTRIGGER_BLESS=1 cargo test -p outrigger-tests --test runs tables::faults`, in virtual time, seed 1.

The base joint moves at 0.8 rad/s; a fault begins just after a command has gone out. Each cell: why commanding ended and
how long after the fault began, then the time from there to rest of the *simulated joint*, measured / bound. *Goes on*:
commanding did not end within 4 s. Names, lengths and arguments are those of `--fault`.

Bound (`core/docs/mode-machine.md 10`): `t` = 40 ms of the last command, for where the stop itself does not get through, then v/a, two cycles
and the drives' lag. Where the network holds text back, what went out before the fall arrives late and is executed for a
cycle, until the zero velocity behind it supersedes it: there the longest such delay stands in place of `t`. Text that is
not acknowledged when its `t` is over is dropped with its connection, so that mostly nothing arrives so late. a = 10 rad/s²,
and 3 rad/s² before 3.2, where the simulation lets `stopj` decide for itself. What else it assumes stands in `kill.md`. A robot that stops by itself (`estop`, `protective-stop`, `safeguard`) brakes with
15 rad/s² in the simulation, and power off stops it at once; we say nothing then.

`local` means nothing before 5.0. `second-commander` is superseded by our text of the next cycle, and so is `pause` where states
come over 30003: there a stop or a pause at the pendant is overridden, which an event says. Over RTDE it ends commanding.

";

const RTDE: &str = "
## Where states come over RTDE

The same, and faults of one port alone: 30004 brings the states, 30003 takes our text.

";

//! Every fault the simulator knows, in the middle of a motion: what ends commanding, and when the arm rests.

use std::time::Duration;

use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::robot::Power;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Command, Rig, Setup, rest_bound, sim_time, stop_deceleration};
use outrigger_wire::robot::{Generation, SoftwareVersion};

use super::{SOFTWARE, ms, secs};

pub(crate) use Outcome::{Falls, Pendant, Rides};

/// Speed of the base joint when the fault begins \[rad/s\].
const SPEED: f32 = 0.5;
/// How long faults last that last.
const LASTING: Duration = Duration::from_secs(6);

/// A fault, and what follows.
pub(crate) struct Row {
    /// As on the command line, without its times; where it is, too.
    pub(crate) kind: &'static str,
    pub(crate) argument: &'static str,
    pub(crate) outcome: fn(SoftwareVersion) -> Outcome,
}

pub(crate) enum Outcome {
    /// Commanding goes on.
    Rides,
    /// Where states come over RTDE it ends for this reason, as a release; elsewhere it goes on, and that a stop at the
    /// pendant is overridden was said.
    Pendant(Reason),
    /// It ends for one of these reasons, at most this long after the fault began.
    Falls(&'static [Reason], Duration),
}

pub(crate) const fn row(kind: &'static str, argument: &'static str, outcome: fn(SoftwareVersion) -> Outcome) -> Row {
    Row { kind, argument, outcome }
}

pub(crate) const fn always_rides(_: SoftwareVersion) -> Outcome {
    Rides
}

/// States are late, lost, or do not come; or what is sent is not acknowledged.
pub(crate) const LATE: &[Reason] =
    &[Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged, Reason::GradeLow];

/// Has the shortest packet of its generation.
const FIRST_CB3: SoftwareVersion = SoftwareVersion::new(3, 1);

pub(crate) fn eight_ms(software: SoftwareVersion) -> bool {
    software.generation() < Generation::ESeries
}

/// Traffic that is strange, but says everything in time.
const RIDDEN_OUT: &[Row] = &[
    row("split", "7", always_rides),
    row("nagle", "16ms", always_rides),
    row("unknown", "", always_rides),
    row("oversize", "20000", always_rides),
    row("polluted", "17", always_rides),
    row("skip", "10", always_rides),
    row("repeat", "10", always_rides),
];

/// A network that is late.
const LATENESS: &[Row] = &[
    // Four messages in one segment, where our own text waits for three others, too: they are not queued behind it.
    row("coalesce", "4", |_| Falls(LATE, ms(120))),
    row("delay", "20ms", |_| Falls(LATE, ms(60))),
    row("jitter", "10ms", |_| Falls(LATE, secs(6))),
    row("stall", "", |_| Falls(LATE, ms(50))),
    row("backlog", "300ms", |_| Falls(LATE, ms(50))),
    row("loss", "5%", |_| Falls(LATE, secs(3))),
    // Four cycles late at a steady speed; the table of loss and jitter shows a motion that turns.
    row("quick-loss", "1%", always_rides),
];

/// A controller that is gone, or is not the one it was.
const INTERRUPTIONS: &[Row] =
    &[
        row("drop", "", |_| Falls(&[Reason::LinkClosed], ms(10))),
        row("restart", "", |_| Falls(&[Reason::LinkClosed], ms(10))),
        row("service-off", "realtime", |software| {
            if software.at_least(5, 10) { Falls(&[Reason::LinkClosed], ms(10)) } else { Rides }
        }),
        row("clock-jump", "5s", |_| Falls(&[Reason::ClockJump], ms(18))),
    ];

/// A robot that may not move: it is told nothing that could be taken for a motion.
const STOPPED: &[Row] = &[
    row("estop", "", |_| Falls(&[Reason::EmergencyStop], ms(18))),
    row("protective-stop", "", |_| Falls(&[Reason::ProtectiveStop], ms(18))),
    row("safeguard", "", |_| Falls(&[Reason::SafeguardStop], ms(18))),
    row("power-off", "", |_| Falls(&[Reason::RobotNotRunning], ms(18))),
    row("violation", "", |_| Falls(&[Reason::SafetyFault], ms(18))),
    row("safety-fault", "", |_| Falls(&[Reason::SafetyFault], ms(18))),
];

/// The last text runs out; over RTDE its end is seen before the arm is.
pub(crate) const DEAFENED: &[Reason] = &[Reason::NotFollowing, Reason::NotRemote, Reason::ProgramStopped];

/// Text that is taken and not obeyed. What was sent before holds for 40 ms, then the arm slows down.
const DEAF: &[Row] = &[
    // Beside 30003 a slider may have been moved, and is reported ten times a second.
    row("mute", "", |software| Falls(DEAFENED, if software.at_least(3, 0) { ms(200) } else { ms(280) })),
    // Remote control is told apart on e-Series alone. The switch closes 30001, and the reports of the slider with it.
    row("local", "", |software| if eight_ms(software) { Rides } else { Falls(DEAFENED, ms(280)) }),
];

/// On CB2 nobody tells of the limiter.
fn limiter(software: SoftwareVersion) -> Outcome {
    if software.at_least(3, 0) { Rides } else { Falls(&[Reason::NotFollowing], ms(280)) }
}

/// Slower by the operator's wish, or for a moment by somebody else's.
const NO_FAULTS: &[Row] = &[
    row("slider", "50%", always_rides),
    row("slider", "0", always_rides),
    row("limiter", "50%", limiter),
    row("limiter", "0", limiter),
    row("pause", "", |_| Pendant(Reason::ProgramPaused)),
    row("stop", "", |_| Pendant(Reason::ProgramStopped)),
    // Each is superseded by our text of the next cycle.
    row("second-commander", "0.1", always_rides),
    row("foreign-program", "0", always_rides),
    // A button that means nothing to this co-controller.
    row("digital-input", "3", always_rides),
    row("hand", "30", always_rides),
    // Of ports that this co-controller does not read.
    row("service-off", "dashboard", always_rides),
    row("garbage", "", always_rides),
    row("hang-up", "", always_rides),
    row("wrong-type", "", always_rides),
    row("early-close", "", always_rides),
    row("wrong-recipe", "10", always_rides),
];

/// What is too short or too long for any layout that is known is no state.
const MISSHAPEN: &[Row] = &[
    // Eight bytes off the end leave an older layout of the same generation, except where there is none.
    row("truncated", "8", |software| if software == FIRST_CB3 { Falls(LATE, ms(50)) } else { Rides }),
    row("extended", "4", |software| if software.at_least(3, 0) { Rides } else { Falls(LATE, ms(50)) }),
];

pub(crate) const TABLES: [&[Row]; 7] = [RIDDEN_OUT, LATENESS, INTERRUPTIONS, STOPPED, DEAF, NO_FAULTS, MISSHAPEN];

fn hold(rows: &[Row]) {
    for row in rows {
        SOFTWARE.into_iter().for_each(|software| drop(hold_one(row, software, &mut Buffers::default())));
    }
}

/// The run, to its end.
pub(crate) fn hold_one<'m>(row: &Row, software: SoftwareVersion, buffers: &'m mut Buffers) -> Rig<'m> {
    let Row { kind, argument, outcome } = row;
    let mut rig = Rig::new(Setup::sweep(software, SPEED), buffers);
    rig.command();
    rig.run_for(secs(1));
    rig.run_past_a_command();
    let begun = rig.now() + Duration::from_micros(1);
    let start = format!("{}ms", begun.as_micros() as f64 / 1e3);
    let spec = match *kind {
        "clock-jump" => format!("{kind}@{start}::{argument}"),
        "stop" => format!("{kind}@{start}"),
        _ if argument.is_empty() => format!("{kind}@{start}:{}s", LASTING.as_secs()),
        _ => format!("{kind}@{start}:{}s:{argument}", LASTING.as_secs()),
    };
    let fault = Fault::parse(&spec).unwrap();
    rig.controller.inject(fault);
    rig.run_for(LASTING - ms(10));

    let what = format!("{software}: {spec}");
    let story = rig.record().story();
    let fallbacks: Vec<(SimTime, Reason)> = falls(&rig, begun);
    let (reasons, limit) = match outcome(software) {
        Rides => {
            assert_eq!(fallbacks, [], "{what}\n{story}");
            assert_eq!(rig.engine().mode(), Mode::Command, "{what}\n{story}");
            return rig;
        }
        Falls(reasons, limit) => (reasons, limit),
        Pendant(reason) => {
            let told = rig.record().events.iter().any(|(_, event)| *event == Event::PendantOverridden);
            let by_rtde = rig.engine().peer().identity().is_some_and(|identity| identity.states == LinkId::RTDE);
            assert_eq!(told, !by_rtde, "{what}\n{story}");
            let seen: Vec<Reason> = fallbacks.iter().map(|(_, reason)| *reason).collect();
            // A pause may last long enough for the slow report.
            assert!(seen == [reason] || (!by_rtde && seen.is_empty()), "{what}: {seen:?}\n{story}");
            assert_eq!(rig.engine().latch(), None, "{what}\n{story}");
            return rig;
        }
    };
    let [(fell, reason)] = fallbacks[..] else { panic!("{what}: {} falls\n{story}", fallbacks.len()) };
    assert!(reasons.contains(&reason), "{what}: {reason:?}\n{story}");
    assert!(fell.since(begun) <= limit, "{what}: seen after {:?}\n{story}", fell.since(begun));
    at_rest_in_time(&rig, fell, reason, &what);
    rearms_only_when_told(&mut rig, fault.kind, &what);
    rig
}

/// Falls from `Command` after `begun`.
fn falls(rig: &Rig<'_>, begun: SimTime) -> Vec<(SimTime, Reason)> {
    let fell = rig.record().transitions().filter(|t| t.from == Mode::Command);
    fell.map(|t| (sim_time(t.at), t.reason.unwrap())).filter(|(at, _)| *at >= begun).collect()
}

/// Zero velocity at once, or not a word where a word could move the arm; then rest within the bound.
fn at_rest_in_time(rig: &Rig<'_>, fell: SimTime, reason: Reason, what: &str) {
    let story = rig.record().story();
    let robot_stopped = [
        Reason::EmergencyStop,
        Reason::ProtectiveStop,
        Reason::SafeguardStop,
        Reason::SafetyFault,
        Reason::SafetyNotNormal,
        Reason::RobotNotRunning,
    ];
    let mut said = rig.record().commands_since(fell).filter(|command| command.mode != Mode::Command);
    if robot_stopped.contains(&reason) {
        assert!(said.next().is_none(), "{what}: text to a stopped robot\n{story}");
    } else if reason == Reason::ProgramStopped {
        assert!(said.all(Command::stops), "{what}: a program that was stopped goes on\n{story}");
    } else if reason != Reason::LinkClosed {
        let first = said.next().unwrap_or_else(|| panic!("{what}: nothing said\n{story}"));
        assert!(first.at == fell && first.holds(), "{what}: {first:?}\n{story}");
    }
    // Where the stop itself cannot get through, the text of the last command ends the motion.
    let hold = rig.engine().config().peer.text.hold;
    let reaction = Duration::from_micros(hold.as_micros());
    let asked = f64::from(rig.engine().config().peer.text.stop_acceleration);
    let deceleration = stop_deceleration(rig.controller.options(), asked);
    let bound = rest_bound(&rig.controller, f64::from(SPEED), deceleration, reaction);
    let rest = rig.record().rest_after(fell).unwrap_or_else(|| panic!("{what}: never at rest\n{story}"));
    assert!(rest <= bound, "{what}: at rest after {rest:?}, bound {bound:?}\n{story}");
}

/// The fault ends; nothing resumes; a request is refused until the fault is acknowledged, and then it works.
fn rearms_only_when_told(rig: &mut Rig<'_>, kind: FaultKind, what: &str) {
    rig.run_for(secs(5));
    assert!(!rig.record().modes().ends_with(&[Mode::Command]), "{what}\n{}", rig.record().story());
    recover(rig, kind);
    if rig.engine().latch().is_none() {
        rig.ready();
        rig.request();
        return rig.run_to(Mode::Command);
    }
    rig.request();
    let story = rig.record().story();
    assert!(matches!(rig.record().events.last(), Some((_, Event::Refused(_)))), "{what}\n{story}");
    rig.input(Input::Acknowledge);
    rig.ready();
    rig.run_for(secs(1));
    assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}: an acknowledge moved something\n{story}");
    rig.request();
    rig.run_to(Mode::Command);
}

/// What an operator does at the robot before anything can go on.
fn recover(rig: &mut Rig<'_>, kind: FaultKind) {
    match kind {
        // The program that was stopped in its midst still waits, paused.
        FaultKind::ProtectiveStop | FaultKind::Safeguard => rig.controller.act(Action::StopProgram),
        FaultKind::Estop | FaultKind::Violation | FaultKind::SafetyFault | FaultKind::PowerOff | FaultKind::Restart => {
            rig.controller.act(Action::ReleaseBrakes);
        }
        _ => {}
    }
    let able = rig.run_until(secs(10), |rig| {
        rig.controller.robot().power == Power::Running && rig.engine().mode() == Mode::Monitor
    });
    assert!(able, "{}", rig.record().story());
    rig.run_for(ms(500));
}

#[test]
fn strange_traffic_that_says_everything_in_time_is_ridden_out() {
    hold(RIDDEN_OUT);
}

#[test]
fn states_that_come_too_late_end_commanding_by_name() {
    hold(LATENESS);
}

#[test]
fn a_controller_that_is_gone_or_new_ends_commanding() {
    hold(INTERRUPTIONS);
}

#[test]
fn a_robot_that_may_not_move_is_told_nothing() {
    hold(STOPPED);
}

#[test]
fn text_that_is_not_obeyed_is_noticed_by_the_target() {
    hold(DEAF);
}

#[test]
fn a_slower_robot_and_a_program_superseded_at_once_are_no_faults() {
    hold(NO_FAULTS);
}

#[test]
fn packets_of_no_known_shape_are_no_states() {
    hold(MISSHAPEN);
}

#[test]
fn every_fault_of_the_simulator_stands_in_one_of_these_tables() {
    let mut here: Vec<&str> = TABLES.iter().flat_map(|table| table.iter().map(|row| row.kind)).collect();
    let help = Fault::help();
    let mut known: Vec<&str> =
        help.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    here.sort_unstable();
    here.dedup();
    known.sort_unstable();
    assert_eq!(here, known);
}

//! Every fault that the simulator knows, in the middle of a motion: the reason for which commanding ends, and the
//! time to rest of the arm.

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

/// The speed of the base joint at the beginning of the fault \[rad/s\].
const SPEED: f32 = 0.5;
/// The duration of those faults that have a duration.
const LASTING: Duration = Duration::from_secs(6);

/// A fault, and the outcome that it must have.
pub(crate) struct Row {
    /// The kind of the fault as on the command line, without its times, and with its place if it has one.
    pub(crate) kind: &'static str,
    pub(crate) argument: &'static str,
    pub(crate) outcome: fn(SoftwareVersion) -> Outcome,
}

pub(crate) enum Outcome {
    /// Commanding continues in spite of the fault.
    Rides,
    /// With states over RTDE, commanding ends for this reason, as a release. Otherwise it continues, and
    /// `PendantOverridden` is reported.
    Pendant(Reason),
    /// Commanding ends for one of these reasons, at most this long after the beginning of the fault.
    Falls(&'static [Reason], Duration),
}

pub(crate) const fn row(kind: &'static str, argument: &'static str, outcome: fn(SoftwareVersion) -> Outcome) -> Row {
    Row { kind, argument, outcome }
}

pub(crate) const fn always_rides(_: SoftwareVersion) -> Outcome {
    Rides
}

/// The reasons that a late network can cause: states are late, lost or missing, or data that were sent are not
/// acknowledged.
pub(crate) const LATE: &[Reason] =
    &[Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged, Reason::GradeLow];

/// The CB3 version with the shortest packet on 30003.
const FIRST_CB3: SoftwareVersion = SoftwareVersion::new(3, 1);

pub(crate) fn eight_ms(software: SoftwareVersion) -> bool {
    software.generation() < Generation::ESeries
}

/// Faults that change the form of the traffic and deliver all data in time.
const RIDDEN_OUT: &[Row] = &[
    row("split", "7", always_rides),
    row("nagle", "16ms", always_rides),
    row("unknown", "", always_rides),
    row("oversize", "20000", always_rides),
    row("polluted", "17", always_rides),
    row("skip", "10", always_rides),
    row("repeat", "10", always_rides),
];

/// Faults that make the network late.
const LATENESS: &[Row] = &[
    // Four messages arrive in one segment, and our own text waits for three others as well: they are not queued
    // behind it.
    row("coalesce", "4", |_| Falls(LATE, ms(120))),
    row("delay", "20ms", |_| Falls(LATE, ms(60))),
    row("jitter", "10ms", |_| Falls(LATE, secs(6))),
    row("stall", "", |_| Falls(LATE, ms(50))),
    row("backlog", "300ms", |_| Falls(LATE, ms(50))),
    row("loss", "5%", |_| Falls(LATE, secs(3))),
    // Four cycles of delay have no effect at a steady speed; the table of loss and jitter shows a motion that changes
    // direction.
    row("quick-loss", "1%", always_rides),
];

/// Faults in which a controller disappears or is replaced.
const INTERRUPTIONS: &[Row] =
    &[
        row("drop", "", |_| Falls(&[Reason::LinkClosed], ms(10))),
        row("restart", "", |_| Falls(&[Reason::LinkClosed], ms(10))),
        row("service-off", "realtime", |software| {
            if software.at_least(5, 10) { Falls(&[Reason::LinkClosed], ms(10)) } else { Rides }
        }),
        row("clock-jump", "5s", |_| Falls(&[Reason::ClockJump], ms(18))),
    ];

/// Faults in which the robot is not permitted to move: it receives no text that could cause a motion.
const STOPPED: &[Row] = &[
    row("estop", "", |_| Falls(&[Reason::EmergencyStop], ms(18))),
    row("protective-stop", "", |_| Falls(&[Reason::ProtectiveStop], ms(18))),
    row("safeguard", "", |_| Falls(&[Reason::SafeguardStop], ms(18))),
    row("power-off", "", |_| Falls(&[Reason::RobotNotRunning], ms(18))),
    row("violation", "", |_| Falls(&[Reason::SafetyFault], ms(18))),
    row("safety-fault", "", |_| Falls(&[Reason::SafetyFault], ms(18))),
];

/// The reasons for the end of commanding if the controller no longer executes text. With RTDE, the end of the last
/// program is detected before that of the motion.
pub(crate) const DEAFENED: &[Reason] = &[Reason::NotFollowing, Reason::NotRemote, Reason::ProgramStopped];

/// Faults in which text is accepted but not executed. The text sent before stays in force for 40 ms, then the arm
/// slows down.
const DEAF: &[Row] = &[
    // With states from 30003 a slider may have been moved, which is reported ten times a second.
    row("mute", "", |software| Falls(DEAFENED, if software.at_least(3, 0) { ms(200) } else { ms(280) })),
    // Remote control can only be distinguished on e-Series. The switch closes 30001, and with it the reports of the
    // slider.
    row("local", "", |software| if eight_ms(software) { Rides } else { Falls(DEAFENED, ms(280)) }),
];

/// Returns the expected outcome of the fault `limiter`, which reduces the speed of the arm: CB2 does not report this.
fn limiter(software: SoftwareVersion) -> Outcome {
    if software.at_least(3, 0) { Rides } else { Falls(&[Reason::NotFollowing], ms(280)) }
}

/// Events that are no fault of the control link: actions of an operator, another program for a moment, and faults of
/// ports that this co-controller does not read.
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
    // An input without meaning for this co-controller.
    row("digital-input", "3", always_rides),
    row("hand", "30", always_rides),
    // Faults of ports that this co-controller does not read.
    row("service-off", "dashboard", always_rides),
    row("garbage", "", always_rides),
    row("hang-up", "", always_rides),
    row("wrong-type", "", always_rides),
    row("early-close", "", always_rides),
    row("wrong-recipe", "10", always_rides),
];

/// Faults that make packets too short or too long for any known layout. Such packets are not used as states.
const MISSHAPEN: &[Row] = &[
    // Without its last eight bytes, a packet has an older layout of the same generation, except if there is none.
    row("truncated", "8", |software| if software == FIRST_CB3 { Falls(LATE, ms(50)) } else { Rides }),
    row("extended", "4", |software| if software.at_least(3, 0) { Rides } else { Falls(LATE, ms(50)) }),
];

pub(crate) const TABLES: [&[Row]; 7] = [RIDDEN_OUT, LATENESS, INTERRUPTIONS, STOPPED, DEAF, NO_FAULTS, MISSHAPEN];

fn hold(rows: &[Row]) {
    for row in rows {
        SOFTWARE.into_iter().for_each(|software| drop(hold_one(row, software, &mut Buffers::default())));
    }
}

/// Runs a motion with one fault. Checks that the outcome is that of its row.
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

/// Returns the time and the reason of each end of commanding after `begun`.
fn falls(rig: &Rig<'_>, begun: SimTime) -> Vec<(SimTime, Reason)> {
    let fell = rig.record().transitions().filter(|t| t.from == Mode::Command);
    fell.map(|t| (sim_time(t.at), t.reason.unwrap())).filter(|(at, _)| *at >= begun).collect()
}

/// Checks that zero velocity is sent at once (no text to a stopped robot, only stops after a stopped program), and that
/// the arm is at rest within the bound.
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
    // If the stop itself does not arrive, the text of the last command ends the motion.
    let hold = rig.engine().config().peer.text.hold;
    let reaction = Duration::from_micros(hold.as_micros());
    let asked = f64::from(rig.engine().config().peer.text.stop_acceleration);
    let deceleration = stop_deceleration(rig.controller.options(), asked);
    let bound = rest_bound(&rig.controller, f64::from(SPEED), deceleration, reaction);
    let rest = rig.record().rest_after(fell).unwrap_or_else(|| panic!("{what}: never at rest\n{story}"));
    assert!(rest <= bound, "{what}: at rest after {rest:?}, bound {bound:?}\n{story}");
}

/// Checks that nothing resumes after the end of the fault, that a request is rejected until the fault is
/// acknowledged, and that it is accepted then.
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

/// Executes the operator's actions at the robot that must precede a recovery from the fault.
fn recover(rig: &mut Rig<'_>, kind: FaultKind) {
    match kind {
        // The interrupted program still waits, paused.
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

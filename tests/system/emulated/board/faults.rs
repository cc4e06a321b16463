//! Single faults. For each, the board falls back for the right reason, the arm comes to rest in time, and only a
//! request moves it again.

use outrigger_core::robot::Reason;
use outrigger_emulated::bench::REST;
use outrigger_emulated::peer::{Passing, PeerOptions};
use outrigger_emulated::sensor::Plug;
use outrigger_emulated::telemetry::Telemetry;
use outrigger_emulated::wire::{Conditions, Loss};
use outrigger_sim::controller::Action;
use outrigger_sim::fault::{Fault, FaultKind};

use super::*;

/// The time limit from a fault until the arm is at rest. It covers a sensor's maximum age of 100 ms, twice the hold
/// time of a command, braking, and the delay on a busy machine.
const REST_BOUND: Duration = Duration::from_millis(400);

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("a_controller_that_drops_its_connections_ends_commanding_at_once", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            let at = bench.now();
            bench.controller_mut().inject(Fault::new(FaultKind::Drop, at, Some(Duration::from_millis(500))));
            falls(&mut bench, at, &[Reason::LinkClosed]);
            heard(&mut bench, at, &["connected"]);
            moves_only_on_request(&mut bench);
        }),
        timed("a_controller_that_restarts_is_found_again_and_commanded_only_on_request", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            let at = bench.now();
            bench.controller_mut().act(Action::Restart(Duration::from_secs(1)));
            falls(&mut bench, at, &[Reason::LinkClosed]);
            heard(&mut bench, at, &["connected"]);
            bench.controller_mut().act(Action::ReleaseBrakes);
            bench.run_for(Duration::from_secs(2));
            moves_only_on_request(&mut bench);
        }),
        timed("a_cable_that_is_out_for_a_second_ends_commanding_and_the_connection", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            let at = bench.now();
            let back = at + Duration::from_secs(1);
            bench.up.cut(at, back);
            bench.down.cut(at, back);
            falls(&mut bench, at, &[Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged]);
            heard(&mut bench, at, &["connected"]);
            moves_only_on_request(&mut bench);
        }),
        timed("a_sensor_that_babbles_is_one_that_says_nothing", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            let at = bench.now();
            bench.plug(Plug::Babbling);
            let before = Telemetry::of(&bench.record().datagrams).sensors;
            falls(&mut bench, at, &[Reason::SourceStale, Reason::SourceOutOfRange]);
            bench.run_for(Duration::from_millis(1_500));
            let after = Telemetry::of(&bench.record().datagrams).sensors;
            assert!(after.garbage > before.garbage + 1_000, "telemetry tells of it: {before:?} {after:?}");
            bench.plug(Plug::In);
            bench.run_for(Duration::from_millis(500));
            moves_only_on_request(&mut bench);
        }),
        timed("a_protective_stop_is_named_and_nothing_moves_until_it_is_unlocked_and_asked_for", BOARD, |machine| {
            let mut bench = commanding(machine, SLOW);
            let at = bench.now();
            bench.controller_mut().act(Action::ProtectiveStop);
            falls(&mut bench, at, &[Reason::ProtectiveStop]);
            bench.run_for(Duration::from_millis(5_100));
            bench.controller_mut().act(Action::UnlockProtectiveStop);
            // The suspended program would continue, so it is ended at the pendant.
            bench.controller_mut().act(Action::StopProgram);
            bench.run_for(Duration::from_millis(500));
            moves_only_on_request(&mut bench);
        }),
        timed(
            "a_wire_that_loses_doubles_and_reorders_ends_commanding_or_does_not_and_nothing_worse",
            BOARD,
            |machine| {
                let mut bench = commanding(machine, SLOW);
                let at = bench.now();
                let bad = Conditions {
                    loss: Loss::Share(0.02),
                    duplicate: 0.05,
                    reorder: Some((0.05, Duration::from_millis(3))),
                    corrupt: 0.01,
                    ..Conditions::default()
                };
                bench.up.set(bad);
                bench.down.set(bad);
                bench.run_for(Duration::from_secs(6));
                if let Some(line) = bench.record().said(at, &["fallback"]).cloned() {
                    let expected =
                        [Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged, Reason::LinkClosed];
                    for_one_of(&bench, at, line.at, &line.text, &expected);
                }
                bench.up.set(Conditions::default());
                bench.down.set(Conditions::default());
                let counts = bench.down.counts();
                assert!(counts.lost > 2 && counts.duplicated > 5 && counts.reordered > 5, "{counts:?}");
                bench.run_for(Duration::from_secs(3));
                if bench.record().said(at, &["fallback"]).is_some() {
                    moves_only_on_request(&mut bench);
                }
                never_reset(&mut bench);
            },
        ),
        timed("a_robot_that_is_not_there_is_named_and_looked_for_with_a_back_off", BOARD, |machine| {
            let mut setup = setup(SLOW);
            setup.peer = PeerOptions { address: "10.0.2.3".parse().expect("an address"), ..setup.peer };
            let mut bench = Bench::start(firmware(machine, SLOW), setup).expect("QEMU starts");
            bench.run_for(Duration::from_secs(8));
            let story = bench.record().story(SimTime::ZERO);
            let tries = bench.record().log.iter().filter(|line| line.text.starts_with("port 3000")).count();
            assert!((2..=24).contains(&tries), "{tries} lines in 8 s:\n{story}");
            assert!(bench.record().said(SimTime::ZERO, &["connected", "armed"]).is_none(), "{story}");
            let silence = "from the robot's address: no frame received since the start";
            assert!(bench.record().said(SimTime::ZERO, &[silence]).is_some(), "{story}");
            never_reset(&mut bench);
        }),
    ]
}

/// Checks that commanding ends after the fault at `at` for one of `reasons`, and that the arm comes to rest within
/// [`REST_BOUND`] of the fault.
pub(crate) fn falls(bench: &mut Bench<'_>, at: SimTime, reasons: &[Reason]) {
    let (fell, text) = heard(bench, at, &["fallback"]);
    bench.run_for(Duration::from_millis(700));
    for_one_of(bench, at, fell, &text, reasons);
    let rest = bench.record().rest_after(at, bench.now());
    let story = || bench.record().story(at);
    let rest = rest.unwrap_or_else(|| panic!("the arm does not rest\n{}", story()));
    within("at rest", rest, REST_BOUND, bench.window(at, at + rest), story);
}

/// Checks that the log line `text` of the fallback at `fell` names one of `reasons`. `LocalStall` is excused if the
/// computer that runs the test stood still between shortly before `at` and `fell`.
fn for_one_of(bench: &Bench<'_>, at: SimTime, fell: SimTime, text: &str, reasons: &[Reason]) {
    let software = bench.controller().options().software;
    let window = bench.window(at, fell).and_before(closed_loop::stale_after(software));
    let story = || bench.record().story(at);
    falls_back_for(text, reasons, window, closed_loop::ending_standstill(software), story);
}

/// Checks that acknowledging a fallback does not move the arm, and that the board commands again after a request.
pub(crate) fn moves_only_on_request(bench: &mut Bench<'_>) {
    let at = bench.now();
    bench.acknowledge();
    bench.run_for(Duration::from_millis(800));
    let until = bench.now();
    let record = bench.record();
    assert_eq!(record.commands(at, until).iter().filter(|command| command.speeds.is_some()).count(), 0);
    assert!(record.motion(at, until).iter().all(|motion| motion.speed <= REST), "{}", record.story(at));
    armed(bench);
    never_reset(bench);
    let lines = bench.record().passages.iter().filter(|passage| matches!(passage.what, Passing::Line { .. })).count();
    assert!(lines > 0, "commands are seen at all");
}

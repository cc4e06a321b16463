//! The log of a board. The same sequence of events produces the same milestones.

use std::path::Path;

use outrigger_emulated::sensor::Plug;
use outrigger_emulated::telemetry::Telemetry;
use outrigger_remote::telemetry::{LinkActivity, ResetCause, StartStage};

use super::*;

/// The file with the expected lines of the board's log. `OUTRIGGER_BLESS=1` writes it anew.
const MILESTONES: &str = "emulated/board/milestones.txt";
/// The time limit from power on until the board monitors its robot, for a board that does not wait for its network.
const BOOT: Duration = Duration::from_secs(2);

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("the_milestones_of_a_board_that_loses_its_sensor_and_is_shut_down_are_the_known_ones", BOARD, milestones),
        timed("a_board_monitors_its_robot_soon_after_power_on", BOARD, |machine| {
            let bench = connected(machine, setup(SLOW));
            let line = bench.record().said(SimTime::ZERO, &["connected"]).expect("heard");
            println!("from power on to Monitor: {}, {} s of them on the board's own clock", line.at, line.uptime);
            let (window, story) = (bench.window(SimTime::ZERO, line.at), || bench.record().story(SimTime::ZERO));
            within("monitoring", line.at.since(SimTime::ZERO), BOOT, window, story);
        }),
        timed("a_board_that_panicked_says_where_and_how_far_it_had_come", BOARD, |machine| {
            let mut setup = setup(SLOW);
            setup.options.push("fault=panic-once".into());
            let mut bench = connected(machine, setup);
            bench.run_for(Duration::from_millis(1_500));
            let telemetry = Telemetry::of(&bench.record().datagrams);
            let [(ResetCause::Software, 2, Some(StartStage::Clocks), Some(place))] = &telemetry.starts[..] else {
                panic!("{:?}", telemetry.starts)
            };
            assert!(place.contains("semihosting_calls.rs:"), "{place}");
            assert_eq!(telemetry.activity, LinkActivity::Packets);
            let story = bench.record().story(SimTime::ZERO);
            for line in ["the run before had come to: starting its clocks", "it panicked at"] {
                assert!(bench.record().said(SimTime::ZERO, &[line]).is_some(), "{line}:\n{story}");
            }
        }),
        timed("a_board_whose_stack_was_used_up_says_so_after_its_reset", BOARD, |machine| {
            let mut setup = setup(SLOW);
            setup.options.push("fault=stack-once".into());
            let mut bench = connected(machine, setup);
            bench.run_for(Duration::from_millis(1_500));
            let telemetry = Telemetry::of(&bench.record().datagrams);
            let [(ResetCause::Software, 2, Some(StartStage::Clocks), Some(end))] = &telemetry.starts[..] else {
                panic!("{:?}", telemetry.starts)
            };
            assert_eq!(end, "stack overflow");
            let story = bench.record().story(SimTime::ZERO);
            let line = "its stack was used up (stack overflow)";
            assert!(bench.record().said(SimTime::ZERO, &[line]).is_some(), "{line}:\n{story}");
        }),
    ]
}

fn milestones(machine: Machine) {
    let mut setup = setup(SLOW);
    setup.options.push("seconds=12".into());
    let mut bench = connected(machine, setup);
    // Requests once the grade is Ok, so that the only request is not refused.
    heard(&mut bench, SimTime::ZERO, &["link quality: Bad -> Ok"]);
    bench.run_for(Duration::from_millis(500));
    let asked = armed(&mut bench).asked;
    bench.run_for(Duration::from_millis(1_000));
    undisturbed(&bench, SLOW, asked);
    let pulled = bench.now();
    bench.plug(Plug::Out);
    heard(&mut bench, pulled, &["at rest"]);
    bench.plug(Plug::In);
    bench.run_for(Duration::from_millis(500));
    bench.acknowledge();
    bench.run_for(Duration::from_millis(500));
    let asked = armed(&mut bench).asked;
    bench.run_until(PATIENCE * 2, |bench| bench.exit().is_some());
    undisturbed(&bench, SLOW, asked);
    assert_eq!(bench.exit(), Some(Exit::Success), "{}", bench.complaints());

    // These lines are not compared: grades and refusals depend on the machine, the stack usage on the compiler, and
    // the clock rate on the board.
    let passing = |text: &str| {
        ["link quality: ", "refused: ", "stack: ", "processor at "].iter().any(|word| text.starts_with(word))
    };
    let stack = bench.record().log.iter().rev().find(|line| line.text.starts_with("stack: "));
    println!("{}", stack.map_or("the log says nothing of the stack", |line| &line.text));
    let lines = bench.record().log.iter().filter(|line| !passing(&line.text));
    let said: String = lines.map(|line| format!("{:<5} {}\n", line.level, line.text)).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(MILESTONES);
    if std::env::var_os("OUTRIGGER_BLESS").is_some() {
        std::fs::write(&file, &said).expect("the file can be written");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let differs =
        format!("the log says something else; if it is right to, OUTRIGGER_BLESS=1 keeps it\n{said}\nknown:\n{known}");
    assert_eq!(said, known, "{differs}");
}

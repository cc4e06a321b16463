//! Joint speeds over a connection that is opened by the board's program on the controller.

use outrigger_emulated::bench::REST;
use outrigger_emulated::closed_loop::DISTANCE;

use super::*;

pub(crate) fn tests() -> Vec<Timed> {
    vec![
        timed("a_program_sent_by_the_board_moves_the_arm_at_125_hz", BOARD, |machine| {
            holds_its_distance(machine, SLOW, "socket");
        }),
        timed("a_program_sent_by_the_board_moves_the_arm_at_500_hz", BOARD, |machine| {
            holds_its_distance(machine, FAST, "socket");
        }),
        timed("a_program_with_orders_in_registers_moves_the_arm_at_500_hz", BOARD, |machine| {
            holds_its_distance(machine, FAST, "registers");
        }),
    ]
}

/// Returns the firmware of the closed loop, configured to command by a program on the controller. The program receives
/// its orders over a `socket` or by `registers`, as `orders` says.
fn by_program(machine: Machine, software: SoftwareVersion, orders: &'static str) -> &'static Firmware {
    built(machine, &format!("{orders} {software}"), || {
        let text = std::fs::read_to_string(closed_loop::configuration(software)).expect("a configuration");
        // Ahead of the tables: the file has keys of `session` there.
        let text = format!("session.path = \"reverse-speedj\"\n{text}\n[program]\nexpert.orders = \"{orders}\"\n");
        let name = format!("outrigger-{orders}-{}-{software}-{}.toml", std::process::id(), machine.name());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, text).expect("room for a file");
        let firmware = Firmware::build(machine, Some(&file), false).unwrap_or_else(|error| panic!("{error}"));
        let _ = std::fs::remove_file(&file);
        firmware
    })
}

/// Checks that the board, by its program on the controller, keeps the tool at the distance from the workpiece without
/// sending single `speedj` texts, and that the arm is at rest once the program has ended.
fn holds_its_distance(machine: Machine, software: SoftwareVersion, orders: &'static str) {
    let firmware = by_program(machine, software, orders);
    let mut bench = Bench::start(firmware, setup(software)).expect("QEMU starts");
    bench.controller_mut().keep_texts();
    heard(&mut bench, SimTime::ZERO, &["connected"]);
    let asked = armed(&mut bench).asked;
    bench.run_for(Duration::from_secs(4));
    undisturbed(&bench, software, asked);
    let (from, until) = (asked + Duration::from_secs(3), bench.now());
    let (rms, worst) = bench.record().distance_error(DISTANCE, from, until).expect("a distance");
    println!("{software}, {orders}: {:.2} mm RMS, {:.2} mm at worst", rms * 1e3, worst * 1e3);
    assert!(worst < 0.002, "{:.2} mm off\n{}", worst * 1e3, bench.record().story(asked));
    let texts = bench.controller().texts();
    let programs = texts.iter().filter(|text| text.text.starts_with("def outrigger_program")).count();
    let others: Vec<_> =
        texts.iter().filter(|text| text.text.contains("speedj(") && !text.text.starts_with("def")).collect();
    assert!(programs >= 1 && others.is_empty(), "{programs} programs, {others:?}");
    assert!(bench.controller().program().0, "it runs");

    // The program is stopped at the pendant. Nothing that the board sent continues.
    let at = bench.now();
    bench.controller_mut().act(outrigger_sim::controller::Action::StopProgram);
    bench.run_for(Duration::from_secs(2));
    let story = bench.record().story(at);
    let last = bench.record().motion.last().expect("an arm");
    assert!(last.speed < REST && !bench.controller().program().0, "{story}");
    assert!(bench.record().said(at, &["released at the robot", "released", "fallback"]).is_some(), "{story}");
    never_reset(&mut bench);
}

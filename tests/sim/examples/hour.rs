//! Simulates an hour of a program that follows External Control's messages: a position for `servoj` in every control
//! cycle, over a socket, while a client reads the real-time port 30003. Prints the cost of a control cycle on this
//! machine.
//!
//! ```sh
//! cargo run --release -p outrigger-sim --example hour
//! cargo run --release -p outrigger-sim --example hour 60   # seconds
//! ```

#![expect(clippy::disallowed_methods, reason = "what is measured is this machine's time")]

use std::time::{Duration, Instant};

use outrigger_sim::controller::{Conn, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_wire::robot::SoftwareVersion;

const PROGRAM: &str = include_str!("../tests/controllers/programs_of_users/external_control.script");
const PORTS: [(&str, u16); 3] = [("REVERSE_PORT", 50_001), ("TRAJECTORY_PORT", 50_003), ("COMMAND_PORT", 50_004)];
/// The timeout in each External Control message, within which the program must receive the next message \[ms\].
const TIMEOUT: i32 = 100;
/// The code of the External Control mode in which the robot follows joint positions with `servoj`.
const SERVOJ: i32 = 1;
const SCALE: f64 = 1e6;

fn main() {
    let seconds: u64 = std::env::args().nth(1).map_or(3600, |text| text.parse().expect("a number of seconds"));
    let mut controller = Controller::new(Options::for_software(SoftwareVersion::new(5, 25))).expect("a robot");
    let reader = controller.connect(Port::Realtime).expect("30003 is served");
    let primary = controller.connect(Port::Primary).expect("30001 is served");
    let mut program = PROGRAM.replace("SERVER", "10.0.0.2");
    for (name, port) in PORTS {
        program = program.replace(name, &port.to_string());
    }
    let lines: String = program.lines().map(|line| format!("\t{line}\n")).collect();
    let text = format!("def external_control():\n{lines}end\n");
    assert_eq!(controller.write(primary, text.as_bytes()), text.len());

    let period = controller.period();
    let cycles = u64::try_from(Duration::from_secs(seconds).as_nanos() / period.as_nanos()).expect("a number");
    let start = controller.truth().q;
    let mut reverse = None;
    let mut buffer = [0; 8192];
    let mut sent = 0_u64;
    let begun = Instant::now();
    while controller.cycles() < cycles {
        let next = controller.next_event();
        let before = controller.cycles();
        controller.advance_to(next);
        while let Some(dial) = controller.poll_dial() {
            controller.dialled(dial.conn, Ok(()));
            if dial.port == PORTS[0].1 {
                reverse = Some(dial.conn);
            }
        }
        [reader, primary].iter().for_each(|client| while controller.read(*client, &mut buffer) > 0 {});
        if let Some(reverse) = reverse
            && controller.cycles() > before
        {
            say(&mut controller, reverse, start, sent);
            sent += 1;
        }
    }
    let took = begun.elapsed();
    assert!(controller.program().0, "the program runs to the end");
    let each = took.as_secs_f64() * 1e6 / cycles as f64;
    let share = each / (period.as_secs_f64() * 1e6) * 100.0;
    println!(
        "{seconds} s of robot time, {cycles} cycles, {sent} positions: {:.1} s, {each:.1} µs a cycle, {share:.2} % of it",
        took.as_secs_f64()
    );
}

/// Sends one External Control message to the robot program: the joint positions to move to.
fn say(controller: &mut Controller, reverse: Conn, start: [f64; 6], n: u64) {
    let t = n as f64 * 0.002;
    let way = 0.2 * (1.0 - t.cos());
    let positions = start.map(|q| ((q + way) * SCALE).round() as i32);
    let words = [&[TIMEOUT][..], &positions, &[SERVOJ]].concat();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    assert_eq!(controller.write(reverse, &bytes), bytes.len(), "the program reads what it is sent");
}

//! The ends of the program: each is a controlled stop.

use std::time::Duration;

use outrigger_sim::controller::{Action, Conn, Options};
use outrigger_sim::pendant::ProgramFile;
use outrigger_sim::port::Port;

use super::{GENERATIONS, PROGRAM, computer, every, node, text};
use crate::common::reverse::{COMMAND, Computer, IDLE, REVERSE, SERVOJ, SPEEDJ, SPEEDL, STOPPED, TRAJECTORY};
use crate::common::{Answer, Bench, ideal, near};

const SPEED: f64 = 0.8;
/// The deceleration of every stop that the tested program makes \[rad/s²\].
const STOP: f64 = 4.0;

/// Commands a speed of the base joint for 100 cycles. Each message gives the program this timeout \[ms\].
fn turns(computer: &mut Computer, timeout: i32) {
    for _ in 0..100 {
        computer.say_scaled(timeout, [SPEED, 0.0, 0.0, 0.0, 0.0, 0.0], SPEEDJ);
        computer.bench.next_cycle();
    }
    near(computer.bench.qd_target(), [SPEED, 0.0, 0.0, 0.0, 0.0, 0.0], 1e-5);
}

/// Returns the software versions on which `stopj` uses the deceleration in its argument.
fn obeyed() -> impl Iterator<Item = (u8, u8)> {
    every().filter(|software| *software >= (3, 2))
}

/// Runs until the program has ended and the arm is at rest. Returns the time that this took \[s\] and the strongest
/// deceleration \[rad/s²\].
fn until_over(computer: &mut Computer) -> (f64, f64) {
    let period = computer.bench.controller.period().as_secs_f64();
    let begun = computer.bench.controller.now();
    let (mut strongest, mut before) = (0.0_f64, computer.bench.qd_target());
    while computer.runs() || !computer.rests() {
        computer.bench.next_cycle();
        let now = computer.bench.qd_target();
        strongest = (0..6).map(|j| (now[j] - before[j]).abs() / period).fold(strongest, f64::max);
        before = now;
        assert!(computer.bench.controller.now().since(begun) < Duration::from_secs(5), "it goes on");
    }
    (computer.bench.controller.now().since(begun).as_secs_f64(), strongest)
}

fn ended(computer: &mut Computer, timeout: f64, what: &str) {
    let (took, strongest) = until_over(computer);
    let period = computer.bench.controller.period().as_secs_f64();
    let most = timeout + SPEED / STOP + 6.0 * period;
    println!("{what}: {:.0} ms until it rested, at most {:.0} ms", took * 1000.0, most * 1000.0);
    assert!(took <= most, "{what}: {took} s until it rested, {most} s at most");
    assert!((STOP * 0.98..STOP * 1.02).contains(&strongest), "{what}: {strongest} rad/s²");
    assert!(!computer.runs());
    let (trajectory, command) = (computer.trajectory, computer.command);
    for conn in [trajectory, command] {
        assert!(!computer.bench.controller.is_open(conn), "{what}");
    }
}

#[test]
fn silence_beyond_the_time_out_is_a_controlled_stop_and_the_end() {
    for (major, minor) in obeyed() {
        for timeout in [20, 200] {
            let mut computer = computer(major, minor);
            turns(&mut computer, timeout);
            let wait = f64::from(timeout) / 1000.0;
            computer.bench.run(timeout as u64 - 18);
            assert!(computer.runs(), "{major}.{minor}: the time-out is not over");
            ended(&mut computer, wait, &format!("{major}.{minor}, {timeout} ms"));
            let primary = computer.primary;
            let told = computer.bench.told(primary);
            assert_eq!(told, ["External Control: no message in time, or the connection is over"], "{major}.{minor}");
        }
    }
}

#[test]
fn a_closed_connection_is_a_controlled_stop_and_the_end() {
    for (major, minor) in obeyed() {
        let mut computer = computer(major, minor);
        turns(&mut computer, 0);
        let reverse = computer.reverse;
        computer.bench.controller.disconnect(reverse);
        ended(&mut computer, 0.0, &format!("{major}.{minor}"));
    }
}

#[test]
fn a_part_of_a_message_is_silence() {
    for (major, minor) in obeyed() {
        for bytes in [1, 31] {
            let mut computer = computer(major, minor);
            turns(&mut computer, 100);
            let reverse = computer.reverse;
            computer.bench.send_bytes(reverse, &vec![0; bytes]);
            ended(&mut computer, 0.1, &format!("{major}.{minor}, {bytes} B"));
        }
    }
}

#[test]
fn silence_ends_streamed_positions_and_twists_as_gently() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        let period = computer.bench.controller.period().as_secs_f64();
        for n in 0..200 {
            let t = f64::from(n) * period;
            let way = if t < 0.2 { 2.0 * t * t } else { 0.08 + SPEED * (t - 0.2) };
            computer.say_scaled(20, [start[0] + way, start[1], start[2], start[3], start[4], start[5]], SERVOJ);
            computer.bench.next_cycle();
        }
        let (took, strongest) = until_over(&mut computer);
        assert!(took < 0.02 + SPEED / STOP + 6.0 * period && strongest < STOP * 1.02, "{took} s, {strongest} rad/s²");

        let mut computer = super::computer(major, minor);
        for _ in 0..100 {
            computer.say_scaled(20, [0.0, 0.1, 0.0, 0.0, 0.0, 0.0], SPEEDL);
            computer.bench.next_cycle();
        }
        let (took, strongest) = until_over(&mut computer);
        assert!(took < 0.5 && strongest < STOP * 1.02, "{major}.{minor}: {took} s, {strongest} rad/s²");
    }
}

#[test]
fn silence_ends_a_trajectory_as_gently() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.say(200, [1, 1, 0, 0, 0, 0], 3);
        computer.point(start.map(|q| q + 1.0), [0.0; 6], [1.0, 2.0, 0.0, 0.0, 0.0, 0.0], 0.0, 0, 0);
        let (took, strongest) = until_over(&mut computer);
        assert!(took < 0.5 && strongest < STOP * 1.02, "{major}.{minor}: {took} s, {strongest} rad/s²");
    }
}

#[test]
fn a_first_message_may_take_as_long_as_it_likes() {
    let mut computer = computer(5, 15);
    computer.bench.run(60_000);
    assert!(computer.runs());
    computer.say(1000, [0; 6], IDLE);
    computer.bench.run(990);
    assert!(computer.runs());
    computer.bench.run(50);
    assert!(!computer.runs());
}

/// Returns a controller that plays the pendant program `script`, which contains the URCap's node, with a client of the
/// dashboard and one of 30001.
fn with_urcap(major: u8, minor: u8, script: &str) -> (Bench, Conn, Conn) {
    let mut options = Options { external_control: Some("10.0.0.2".parse().unwrap()), ..ideal(major, minor) };
    options.files.programs.push(ProgramFile { script: script.to_owned(), ..ProgramFile::named("work.urp") });
    let mut bench = Bench::new(options);
    for port in [REVERSE, TRAJECTORY, COMMAND, 50_002] {
        bench.serve(port, Answer::After(Duration::from_millis(1)));
    }
    let (desk, primary) = (bench.connect(Port::Dashboard), bench.connect(Port::Primary));
    bench.run(10);
    bench.lines(desk);
    bench.ask(desk, "load work.urp");
    bench.send(desk, "play\n");
    bench.run(200);
    (bench, desk, primary)
}

#[test]
fn stopped_goes_on_with_the_program_around_and_each_node_begins_anew() {
    let script = "def work():\n external_control()\n textmsg(\"between\")\n external_control()\n textmsg(\"after\")\n sleep(1)\nend\n";
    for (major, minor) in [(3, 15), (5, 1), (5, 15)] {
        let (mut bench, _, primary) = with_urcap(major, minor, script);
        for _ in 0..2 {
            let pc = bench.accept(50_002).expect("the URCap asks");
            bench.send(pc, &node(&PROGRAM, major, minor));
            bench.run(100);
        }
        bench.run(300);
        let mut computer = Computer::called(bench, primary);
        turns(&mut computer, 100);
        computer.say(100, [0; 6], STOPPED);
        computer.bench.run(1000);
        assert!(computer.rests(), "{major}.{minor}");
        assert_eq!(computer.bench.told(primary), ["between"], "{major}.{minor}");
        for conn in [computer.reverse, computer.trajectory, computer.command] {
            assert!(!computer.bench.controller.is_open(conn), "{major}.{minor}: the program hangs up");
        }
        let mut computer = Computer::called(computer.bench, primary);
        turns(&mut computer, 100);
        computer.say(100, [0; 6], STOPPED);
        computer.bench.run(1000);
        assert_eq!(computer.bench.told(primary), ["after"], "{major}.{minor}");
        computer.bench.run(1000);
        assert!(!computer.runs());
    }
}

#[test]
fn silence_ends_the_program_around_too() {
    let script = "def work():\n external_control()\n textmsg(\"after\")\nend\n";
    let (mut bench, _, primary) = with_urcap(5, 15, script);
    let pc = bench.accept(50_002).expect("the URCap asks");
    bench.send(pc, &node(&PROGRAM, 5, 15));
    bench.run(400);
    let mut computer = Computer::called(bench, primary);
    turns(&mut computer, 100);
    ended(&mut computer, 0.1, "in a program");
    assert!(!computer.bench.told(primary).contains(&"after".to_owned()));
}

#[test]
fn a_second_program_takes_the_place_of_the_first() {
    for (major, minor) in GENERATIONS {
        let mut first = computer(major, minor);
        turns(&mut first, 0);
        let primary = first.primary;
        first.bench.send(primary, &text(&PROGRAM, major, minor));
        first.bench.run(800);
        for conn in [first.reverse, first.trajectory, first.command] {
            assert!(!first.bench.controller.is_open(conn), "{major}.{minor}");
        }
        let mut second = Computer::called(first.bench, primary);
        assert!(second.rests());
        turns(&mut second, 20);
        second.bench.run(100);
        ended(&mut second, 0.02, &format!("{major}.{minor}"));
    }
}

#[test]
fn a_computer_that_is_not_there_ends_the_program_with_a_word() {
    for (major, minor) in GENERATIONS {
        let mut bench = Bench::new(ideal(major, minor));
        for port in [TRAJECTORY, COMMAND] {
            bench.serve(port, Answer::After(Duration::from_millis(1)));
        }
        bench.serve(REVERSE, Answer::Refuse);
        let primary = bench.connect(Port::Primary);
        bench.send(primary, &text(&PROGRAM, major, minor));
        bench.run(5_000);
        assert!(bench.controller.program().0);
        bench.run(10_000);
        assert_eq!(bench.controller.program(), (false, false), "{major}.{minor}: nothing waits for an operator");
        let told = bench.told(primary);
        assert!(told.iter().all(|text| text == "External Control: nobody answers at 10.0.0.2, port 50001"), "{told:?}");
        let calls: Vec<Conn> = std::iter::from_fn(|| bench.accept(TRAJECTORY)).collect();
        assert!(calls.len() == 10 && calls.iter().all(|conn| !bench.controller.is_open(*conn)), "{calls:?}");
    }
}

#[test]
fn a_pause_holds_the_program_and_what_was_sent_meanwhile_is_read_afterwards() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        computer.say_scaled(0, [0.1; 6], SPEEDJ);
        computer.bench.run(300);
        computer.bench.controller.act(Action::PauseProgram);
        computer.bench.run(300);
        assert!(computer.rests() && computer.runs(), "{major}.{minor}");
        computer.say_scaled(0, [0.2; 6], SPEEDJ);
        computer.bench.run(300);
        computer.bench.controller.act(Action::ResumeProgram);
        computer.bench.run(300);
        near(computer.bench.qd_target(), [0.2; 6], 1e-5);
    }
}

#[test]
fn no_burst_of_messages_brings_the_program_behind() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        // A ramp of 0.05 rad/s that is delayed by 50 ms again and again.
        for part in 0..20 {
            for n in 0..25 {
                computer.say_scaled(200, start.map(|q| q + 1e-4 * f64::from(part * 25 + n)), SERVOJ);
            }
            computer.bench.run(50);
        }
        assert!(computer.runs(), "{major}.{minor}");
        for _ in 0..50 {
            computer.say_scaled(200, start.map(|q| q + 0.05), SERVOJ);
            computer.bench.next_cycle();
        }
        near(computer.q(), start.map(|q| q + 0.05), 1e-3);
    }
}

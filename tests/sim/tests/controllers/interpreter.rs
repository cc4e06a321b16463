//! Port 30020: statements for a program in interpreter mode, and their answers (external control 3).

use outrigger_sim::controller::{Action, Conn, Controller, InterpreterOptions, Options, StartState};
use outrigger_sim::port::Port;

use crate::common::{Bench, ideal};

const PROGRAM: &str = "def main():\n count = 0\n interpreter_mode()\n textmsg(\"left \", count)\nend\n";

/// Returns a program in interpreter mode, a client of 30020 and one of 30001.
fn bench(options: Options) -> (Bench, Conn, Conn) {
    let mut bench = Bench::new(options);
    let (lines, primary) = (bench.connect(Port::Interpreter), bench.connect(Port::Primary));
    bench.send(primary, PROGRAM);
    bench.run(50);
    bench.told(primary);
    (bench, lines, primary)
}

/// Sends one line to port 30020. Returns the answer to it.
fn ask(bench: &mut Bench, lines: Conn, line: &str) -> String {
    bench.send(lines, &format!("{line}\n"));
    bench.run(1);
    let answers = bench.lines(lines);
    assert_eq!(answers.len(), 1, "{line}: {answers:?}");
    answers[0].clone()
}

#[test]
fn every_line_has_one_answer_and_states_tell_how_far_the_program_is() {
    let (mut bench, lines, primary) = bench(ideal(5, 15));
    for (line, answer) in [
        ("count = count + 1", "ack: 1: count = count + 1"),
        ("sleep(1) textmsg(\"slept\")", "ack: 2: sleep(1) textmsg(\"slept\")"),
        ("count = 5", "ack: 3: count = 5"),
        ("nothing()", "discard: Compile error: nothing()"),
        ("count = = 5", "discard: Syntax error: count = = 5"),
        ("global new = 5", "discard: Compile error: global new = 5"),
        ("statelastinterpreted", "state: 3: statelastinterpreted"),
        ("statelastcleared", "state: 0: statelastcleared"),
    ] {
        assert_eq!(ask(&mut bench, lines, line), answer);
    }
    bench.run(10);
    assert_eq!(ask(&mut bench, lines, "statelastexecuted"), "state: 1: statelastexecuted");
    assert_eq!(ask(&mut bench, lines, "stateunexecuted"), "state: 2: stateunexecuted");
    bench.run(1100);
    assert_eq!(ask(&mut bench, lines, "statelastexecuted"), "state: 3: statelastexecuted");
    assert_eq!(ask(&mut bench, lines, "clear_interpreter()"), "ack: 4: clear_interpreter()");
    bench.run(10);
    assert_eq!(ask(&mut bench, lines, "statelastcleared"), "state: 4: statelastcleared");
    assert_eq!(ask(&mut bench, lines, "end_interpreter()"), "ack: 5: end_interpreter()");
    bench.run(10);
    assert_eq!(bench.told(primary), ["slept", "left 5"]);
    assert_eq!(ask(&mut bench, lines, "count = 1"), "discard: Program is not running: count = 1");
    assert_eq!(ask(&mut bench, lines, "statelastexecuted"), "state: 0: statelastexecuted");
}

#[test]
fn a_program_that_is_not_in_interpreter_mode_takes_no_statements() {
    let (mut bench, lines, primary) = bench(ideal(5, 15));
    bench.send(primary, "sleep(10)\n");
    bench.run(50);
    assert_eq!(ask(&mut bench, lines, "x = 1"), "discard: Program is in an invalid state: x = 1");
}

#[test]
fn moves_follow_one_another_and_abort_brings_the_present_one_to_rest() {
    let (mut bench, lines, _) = bench(ideal(5, 15));
    let start = bench.controller.truth().q;
    let goal = |base: f64| {
        let mut q = start;
        q[0] += base;
        format!("movej({q:?}, a=2, v=0.5)")
    };
    assert!(ask(&mut bench, lines, &goal(2.0)).starts_with("ack: 1"));
    assert!(ask(&mut bench, lines, &goal(0.0)).starts_with("ack: 2"));
    bench.run(1000);
    assert!(bench.qd_target()[0] > 0.4);
    assert_eq!(ask(&mut bench, lines, "abort"), "ack: 0: abort");
    bench.run(10);
    let speed = bench.qd_target()[0];
    assert!(speed > 0.0 && speed < 0.5, "it brakes, {speed}");
    bench.run(500);
    assert!(bench.qd_target()[0] < -0.3, "the next one");
    bench.run(4000);
    assert!((bench.controller.truth().q[0] - start[0]).abs() < 1e-4);
    assert_eq!(ask(&mut bench, lines, "statelastexecuted"), "state: 2: statelastexecuted");

    ask(&mut bench, lines, "sleep(0.2)");
    ask(&mut bench, lines, &goal(1.0));
    assert_eq!(ask(&mut bench, lines, "abort"), "ack: 0: abort");
    assert_eq!(ask(&mut bench, lines, "skipbuffer"), "ack: 0: skipbuffer");
    bench.run(1000);
    assert_eq!(bench.qd_target(), [0.0; 6], "what was skipped never begins, and abort was for no move");
    assert_eq!(ask(&mut bench, lines, "stateunexecuted"), "state: 0: stateunexecuted");
}

#[test]
fn any_number_of_clients_in_any_pieces_and_lines_without_an_end() {
    let (mut bench, lines, primary) = bench(ideal(5, 15));
    let other = bench.connect(Port::Interpreter);
    for byte in b"count = 7\r\nendless" {
        bench.send_bytes(other, &[*byte]);
    }
    assert_eq!(bench.lines(other), ["ack: 1: count = 7"]);
    let long = "x".repeat(70_000);
    for piece in [long.as_bytes(), b"\ncount = 8\n"].concat().chunks(4096) {
        bench.send_bytes(lines, piece);
    }
    assert_eq!(bench.lines(lines), ["discard: line too long: ", "ack: 2: count = 8"]);
    bench.send_bytes(lines, &[0xFF, 0, 7, b'\n']);
    assert!(bench.take(lines).starts_with(b"discard: "));
    ask(&mut bench, lines, "end_interpreter()");
    bench.run(10);
    assert_eq!(bench.told(primary), ["left 8"]);
}

#[test]
fn more_statements_than_the_controller_holds_are_discarded_until_some_are_cleared() {
    let interpreter = InterpreterOptions { statements: 3, ..InterpreterOptions::default() };
    let (mut bench, lines, _) = bench(Options { interpreter, ..ideal(5, 15) });
    for _ in 0..3 {
        assert!(ask(&mut bench, lines, "count = 1").starts_with("ack: "));
    }
    assert_eq!(ask(&mut bench, lines, "count = 1"), "discard: Too many interpreted messages: count = 1");
}

#[test]
fn local_control_takes_statements_unless_the_option_says_otherwise() {
    for needs_remote in [false, true] {
        let interpreter = InterpreterOptions { needs_remote, ..InterpreterOptions::default() };
        let (mut bench, lines, _) = bench(Options { interpreter, ..ideal(5, 15) });
        bench.controller.act(Action::SwitchToLocal);
        let expected =
            if needs_remote { "discard: robot is not in remote control: count = 1" } else { "ack: 1: count = 1" };
        assert_eq!(ask(&mut bench, lines, "count = 1"), expected);
    }
}

#[test]
fn the_port_is_there_where_the_software_has_interpreter_mode_or_the_option_says_so() {
    let serves = |major, minor, available| {
        let interpreter = InterpreterOptions { available, ..InterpreterOptions::default() };
        let options = Options { interpreter, state: StartState::Running, ..ideal(major, minor) };
        Controller::new(options).unwrap().listens(Port::Interpreter)
    };
    assert_eq!([serves(3, 15, None), serves(5, 9, None), serves(5, 10, None)], [false, false, true]);
    assert_eq!([serves(5, 4, Some(true)), serves(5, 15, Some(false))], [true, false]);
    let interpreter = InterpreterOptions { available: Some(true), ..InterpreterOptions::default() };
    let (mut bench, lines, _) = bench(Options { interpreter, ..ideal(5, 4) });
    assert_eq!(ask(&mut bench, lines, "count = 1"), "ack: 1: count = 1");
}

#[test]
fn a_stop_ends_interpreter_mode_and_the_next_program_counts_from_one() {
    let (mut bench, lines, primary) = bench(ideal(5, 15));
    ask(&mut bench, lines, "count = 1");
    bench.controller.act(Action::StopProgram);
    assert!(ask(&mut bench, lines, "count = 1").starts_with("discard: Program is not running"));
    bench.send(primary, PROGRAM);
    bench.run(50);
    assert_eq!(ask(&mut bench, lines, "count = 1"), "ack: 1: count = 1");
}

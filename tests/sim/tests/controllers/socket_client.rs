//! A program in the style of users: a socket client that survives the restart of its server.

use std::time::Duration;

use outrigger_sim::controller::{Action, Conn};
use outrigger_sim::port::Port;

use crate::common::{Answer, Bench};

const PORT: u16 = 4001;
const PROGRAM: &str = include_str!("programs_of_users/socket_client.script");
const AT_ONCE: Answer = Answer::After(Duration::from_millis(2));

fn bench() -> (Bench, Conn) {
    let mut bench = Bench::software(5, 15);
    let primary = bench.connect(Port::Primary);
    bench.send(primary, &PROGRAM.replace("SERVER", "10.0.0.9").replace("PORT", &PORT.to_string()));
    (bench, primary)
}

/// Waits until the program connects to the server, and checks its greeting. Returns the connection.
fn greeted(bench: &mut Bench, greeting: &str) -> Conn {
    for _ in 0..40 {
        bench.run(100);
        if let Some(server) = bench.accept(PORT) {
            bench.run(10);
            assert_eq!(bench.lines(server), [greeting, "next"]);
            return server;
        }
    }
    panic!("the program does not call")
}

/// Sends one goal to the program and waits for its report. Checks that the arm is at the goal then.
fn goes(bench: &mut Bench, server: Conn, base: f64, report: &str) {
    let mut goal = bench.controller.truth().q;
    goal[0] = base;
    let [a, b, c, d, e, f] = goal;
    bench.send(server, &format!("({a}, {b}, {c}, {d}, {e}, {f})"));
    for _ in 0..50 {
        bench.run(100);
        let lines = bench.lines(server);
        if !lines.is_empty() {
            assert_eq!(lines, [report, "next"]);
            assert!((bench.controller.truth().q[0] - base).abs() < 1e-3, "it reports where it is not");
            return;
        }
    }
    panic!("no report of {base}")
}

#[test]
fn a_socket_client_survives_a_server_that_is_late_closes_refuses_is_silent_and_talks_rubbish() {
    let (mut bench, primary) = bench();
    bench.run(3000);
    assert!(bench.accept(PORT).is_none());
    // The program was started before its server.
    bench.serve(PORT, AT_ONCE);
    let server = greeted(&mut bench, "hello 0");
    goes(&mut bench, server, 0.3, "done 1");
    goes(&mut bench, server, -0.2, "done 2");
    // The server restarts while the arm moves: the move ends, the report is lost, the next answer is missed.
    bench.send(server, "(0.1, -1.5, -1.5, -1.5, 1.5, 0)");
    bench.run(50);
    bench.serve(PORT, Answer::Refuse);
    bench.controller.disconnect(server);
    bench.run(8000);
    assert_eq!((bench.qd_target(), bench.controller.program()), ([0.0; 6], (true, false)), "it stands, and calls");
    assert!((bench.controller.truth().q[0] - 0.1).abs() < 1e-3);
    bench.serve(PORT, AT_ONCE);
    let server = greeted(&mut bench, "hello 3");
    goes(&mut bench, server, 0.4, "done 4");
    // Silence for longer than the timeout counts as a lost server, and so do invalid bytes.
    for rubbish in ["", "(1, 2, three)", "\u{0}\u{1}", "(1,2,3,4,5)"] {
        bench.serve(PORT, AT_ONCE);
        bench.run(10);
        let before = bench.controller.registers().1.ints[1];
        let server = bench.accept(PORT).unwrap_or(server);
        if bench.controller.is_open(server) {
            bench.send(server, rubbish);
        }
        bench.run(1100);
        assert!(bench.controller.registers().1.ints[1] > before, "{rubbish}");
    }
    let told = bench.told(primary);
    assert!(told.len() >= 5 && told.iter().all(|text| text.starts_with("no answer, served so far: ")), "{told:?}");
    assert_eq!(bench.controller.registers().1.ints[0], 4);
}

#[test]
fn a_pause_leaves_what_arrives_in_the_socket_and_the_program_goes_on_with_it() {
    let (mut bench, _) = bench();
    bench.serve(PORT, AT_ONCE);
    let server = greeted(&mut bench, "hello 0");
    bench.controller.act(Action::PauseProgram);
    bench.send(server, "(0.2, -1.5, -1.5, -1.5, 1.5, 0)");
    bench.run(30_000);
    assert_eq!((bench.qd_target(), bench.lines(server)), ([0.0; 6], vec![]));
    bench.controller.act(Action::ResumeProgram);
    bench.run(3000);
    assert_eq!(bench.lines(server)[0], "done 1");
}

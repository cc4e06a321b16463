//! The URCap's side of External Control: a program that is fetched from a computer when it is started (external
//! control 1.1).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use outrigger_sim::controller::{Action, Conn, Controller, Options, OptionsError, StartState};
use outrigger_sim::external_control::ExternalControl;
use outrigger_sim::pendant::ProgramFile;
use outrigger_sim::port::Port;
use outrigger_sim::tcp::Server;
use outrigger_wire::robot::SoftwareVersion;

use crate::common::{Answer, Bench, ideal};

const AT_ONCE: Answer = Answer::After(Duration::ZERO);
const PORT: u16 = ExternalControl::PORT;

/// The URScript text with which a driver answers the request of the URCap External Control: a definition in the header,
/// which is put at the top of the program, and a body.
const TEXT: &str =
    "  # HEADER_BEGIN\ndef say(n):\n  textmsg(\"step \", n)\nend\n# HEADER_END\nsay(1)\nsay(2)\nsleep(100)\n";

fn options(major: u8, minor: u8) -> Options {
    Options { external_control: Some("10.0.0.9".parse().unwrap()), ..ideal(major, minor) }
}

/// Returns a bench, a client of the dashboard and one of 30001. The server on the URCap's port gives `answer`; `None`
/// leaves its connections unanswered.
fn bench(options: Options, answer: Option<Answer>) -> (Bench, Conn, Conn) {
    let mut bench = Bench::new(options);
    if let Some(answer) = answer {
        bench.serve(PORT, answer);
    }
    let (desk, primary) = (bench.connect(Port::Dashboard), bench.connect(Port::Primary));
    bench.run(10);
    bench.lines(desk);
    (bench, desk, primary)
}

/// Sends `play` to the dashboard. Returns the computer's end of the connection that the URCap then opens.
fn called(bench: &mut Bench, desk: Conn) -> Conn {
    bench.send(desk, "play\n");
    bench.run(200);
    bench.accept(PORT).expect("the URCap calls")
}

/// Takes the texts of the popups that a client of 30001 has received.
fn popups(bench: &mut Bench, primary: Conn) -> Vec<String> {
    let messages = bench.messages(primary).into_iter().filter(|message| message[4] == 20 && message[14] == 2);
    messages.map(|message| String::from_utf8_lossy(&message[15..]).into_owned()).collect()
}

#[test]
fn playing_the_loaded_program_asks_the_computer_and_runs_what_it_answers() {
    for (major, minor) in [(3, 7), (5, 1), (5, 15)] {
        let (mut bench, desk, primary) = bench(options(major, minor), Some(AT_ONCE));
        let pc = called(&mut bench, desk);
        assert_eq!(bench.take(pc), b"request_program\n");
        assert_eq!((bench.lines(desk), bench.controller.program().0), (vec![], false), "it waits for the computer");
        bench.send(pc, TEXT);
        bench.run(50);
        assert_eq!(bench.lines(desk), ["Starting program"]);
        assert_eq!(bench.told(primary), ["step 1", "step 2"]);
        assert!(!bench.controller.is_open(pc), "the URCap closes");
        assert_eq!(bench.ask(desk, "programState"), "PLAYING external_control.urp");
    }
}

#[test]
fn play_at_the_pendant_works_in_local_control_and_the_dashboards_does_not() {
    let (mut bench, desk, _) = bench(Options { state: StartState::Local, ..options(5, 15) }, Some(AT_ONCE));
    assert!(bench.ask(desk, "play").starts_with("Command is not allowed"));
    assert!(bench.accept(PORT).is_none());
    bench.controller.act(Action::PlayProgram);
    bench.run(200);
    let pc = bench.accept(PORT).expect("the URCap calls");
    bench.send(pc, TEXT);
    bench.run(50);
    assert!(bench.controller.program().0);
}

#[test]
fn a_computer_that_refuses_is_silent_or_closes_is_a_popup_that_says_so() {
    let late = Answer::After(Duration::from_secs(6));
    for (answer, expected, latest) in [
        (Some(Answer::Refuse), "connection refused", 200),
        (None, "connect timed out", 5_200),
        (Some(late), "connect timed out", 5_200),
        (Some(AT_ONCE), "read timed out", 700),
    ] {
        let (mut bench, desk, primary) = bench(options(5, 15), answer);
        bench.send(desk, "play\n");
        bench.run(latest);
        assert_eq!(bench.lines(desk), ["Starting program"], "{expected}: the popup is a program");
        let shown = popups(&mut bench, primary).concat();
        assert!(shown.contains(&format!("No program could be received from 10.0.0.9:50002: {expected}.")), "{shown}");
        assert_eq!(bench.ask(desk, "programState"), "PAUSED external_control.urp");
        assert_eq!(bench.ask(desk, "close popup"), "closing popup");
        bench.run(50);
        assert_eq!(bench.controller.program(), (false, false), "nothing follows the popup");
    }
    let (mut bench, desk, primary) = bench(options(5, 15), Some(AT_ONCE));
    let pc = called(&mut bench, desk);
    bench.controller.disconnect(pc);
    bench.run(50);
    assert!(popups(&mut bench, primary).concat().contains("connection closed"));
}

#[test]
fn an_answer_in_pieces_is_cut_at_the_first_pause_and_one_without_an_end_of_line_waits_for_it() {
    let (mut bench, desk, primary) = bench(options(5, 15), Some(AT_ONCE));
    let pc = called(&mut bench, desk);
    bench.send(pc, "textmsg(\"first\")\n");
    bench.run(20);
    assert!(!bench.controller.is_open(pc), "what comes later is for nobody");
    bench.run(20);
    assert_eq!((bench.told(primary), bench.controller.program().0), (vec!["first".to_owned()], false));

    for (end, expected) in [("\n", "Starting program"), ("", "Starting program")] {
        let (mut bench, desk, primary) = self::bench(options(5, 15), Some(AT_ONCE));
        let pc = called(&mut bench, desk);
        bench.send(pc, "textmsg(\"whole\")");
        bench.run(400);
        assert!(bench.controller.is_open(pc));
        bench.controller.write(pc, end.as_bytes());
        bench.run(600);
        assert_eq!(bench.lines(desk), [expected]);
        let whole = bench.told(primary) == ["whole"];
        assert_eq!(whole, end == "\n", "a line that never ends is a time-out, and a popup");
    }
}

#[test]
fn an_answer_that_is_no_program_fails_to_start_and_says_where() {
    let (mut bench, desk, primary) = bench(options(5, 15), Some(AT_ONCE));
    let pc = called(&mut bench, desk);
    bench.send(pc, "nothing(\n");
    bench.run(50);
    assert_eq!(bench.lines(desk), ["Failed to execute: play"]);
    let told = bench.told(primary).concat();
    assert!(told.starts_with("compile_error"), "{told}");
}

#[test]
fn stopping_before_the_computer_has_answered_hangs_up() {
    let (mut bench, desk, _) = bench(options(5, 15), Some(AT_ONCE));
    let pc = called(&mut bench, desk);
    bench.controller.act(Action::StopProgram);
    bench.run(10);
    assert_eq!((bench.lines(desk), bench.controller.is_open(pc)), (vec!["Failed to execute: play".to_owned()], false));
    let pc = called(&mut bench, desk);
    bench.send(pc, TEXT);
    bench.run(50);
    assert!(bench.controller.program().0, "the next play asks anew");
}

#[test]
fn each_node_of_a_program_asks_for_itself() {
    let script = "def main():\n external_control()\n textmsg(\"between\")\n external_control()\nend\n".to_owned();
    let mut options = options(5, 15);
    options.files.programs.push(ProgramFile { script, ..ProgramFile::named("two.urp") });
    let (mut bench, desk, primary) = bench(options, Some(AT_ONCE));
    assert!(bench.ask(desk, "load two.urp").starts_with("Loading program"));
    let first = called(&mut bench, desk);
    bench.send(first, "# HEADER_BEGIN\ndef say(s):\n textmsg(s)\nend\n# HEADER_END\nsay(\"one\")\n");
    bench.run(20);
    let second = bench.accept(PORT).expect("the second node calls");
    bench.send(second, "# HEADER_BEGIN\ndef say(s):\n textmsg(s)\nend\n# HEADER_END\nsay(\"two\")\n");
    bench.run(50);
    assert_eq!(bench.told(primary), ["one", "between", "two"]);
}

#[test]
fn software_without_urcaps_refuses_the_option() {
    for (major, minor) in [(3, 6), (5, 0), (1, 8)] {
        let software = SoftwareVersion::new(major, minor);
        let refused = Controller::new(options(major, minor)).map(drop);
        assert_eq!(refused, Err(OptionsError::NoExternalControl(software)));
    }
}

#[test]
#[ignore = "in real time: `.ci/realtime units` runs it"]
fn over_kernel_tcp_a_long_program_arrives_whole() {
    let local = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let listener = TcpListener::bind((local, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let options =
        Options { external_control: Some(ExternalControl { host: "127.0.0.1".into(), port }), ..Options::default() };
    let server = Server::bind_from(Controller::new(options).unwrap(), local, 48_000).unwrap().spawn().unwrap();
    let mut desk = TcpStream::connect(server.address(Port::Dashboard)).unwrap();
    desk.write_all(b"play\n").unwrap();
    let (pc, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(pc.try_clone().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "request_program\n");
    let body = "# a comment to make it long, as the program of a driver is\n".repeat(500);
    (&pc).write_all(format!("{body}write_output_integer_register(0, 7)\nsleep(100)\n\n").as_bytes()).unwrap();
    assert_eq!(lines.read_to_string(&mut line).unwrap(), 0, "it closes when it has read");
    let mut desk = BufReader::new(desk);
    let mut answer = String::new();
    desk.read_line(&mut answer).unwrap();
    answer.clear();
    desk.read_line(&mut answer).unwrap();
    assert_eq!(answer, "Starting program\n");
    let begun = server.controller().cycles();
    while server.controller().registers().1.ints[0] != 7 {
        assert!(server.controller().cycles() < begun + 10_000, "the last line runs");
        std::thread::yield_now();
    }
}

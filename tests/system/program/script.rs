//! The command `outrigger script` against simulated controllers: its output and its exit codes.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::SoftwareVersion;

const WAVE: &str = "# waves\n\ndef wave():\n  textmsg(\"before\")\n  sleep(0.3)\n  popup(\"half way\", \"Wave\")\n  \
                    sleep(0.3)\n  textmsg(\"after \", 7)\nend\n";

fn serve(options: Options) -> Running {
    let controller = Controller::new(options).expect("a controller that existed");
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    Server::bind_from(controller, local, 49_000).expect("free ports").spawn().expect("a thread")
}

fn serve_software(major: u8, minor: u8) -> Running {
    serve(Options::for_software(SoftwareVersion::new(major, minor)))
}

struct Ended {
    code: i32,
    said: Vec<String>,
    complained: String,
}

/// Runs `script` with `program` on standard input.
fn script(server: &Running, program: &str, options: &[&str]) -> Ended {
    let mut child = Command::new(outrigger_system::program())
        .args(["script", &format!("127.0.0.1:{}", server.port_base()), "-"])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    child.stdin.take().expect("piped").write_all(program.as_bytes()).expect("it reads its input");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ended {
        code: output.status.code().expect("an exit code"),
        said: text(output.stdout).lines().map(str::to_owned).collect(),
        complained: text(output.stderr),
    }
}

#[test]
fn with_wait_a_program_is_followed_to_its_end_with_everything_it_says() {
    let server = serve_software(5, 15);
    let ended = script(&server, WAVE, &["--wait"]);
    assert_eq!(ended.code, 0, "{}", ended.complained);
    let sent = format!("program 'wave' sent to 127.0.0.1:{}, software 5.15.0", server.port_base() + 2);
    let rest = [
        "program 'wave' runs (the controller names it)",
        "before",
        "pop-up: Wave: half way",
        "after 7",
        "program 'wave' ended (the controller names it)",
    ];
    assert_eq!((ended.said[0].as_str(), &ended.said[1..]), (sent.as_str(), &rest.map(str::to_owned)[..]));
    assert_eq!(ended.complained, "");
}

#[test]
fn a_statement_that_says_something_is_heard_to_have_run_by_its_own_words() {
    for said in ["popup(\"look here\")", "textmsg(\"look here\")"] {
        let ended = script(&serve_software(5, 15), &format!("{said}\n"), &["--json"]);
        assert_eq!(ended.code, 0, "{}", ended.complained);
        let last = ended.said.last().expect("an outcome");
        assert_eq!(last, r#"{"type":"outcome","outcome":"ended","program":null,"evidence":"own-words"}"#);
    }
    // A statement that prints nothing cannot be confirmed, and the output says so.
    let ended = script(&serve_software(5, 15), "set_digital_out(0, True)\n", &["--json"]);
    assert!(ended.said.last().is_some_and(|line| line.contains("unheard")), "{:?}", ended.said);
}

#[test]
fn on_old_software_the_state_is_the_evidence_and_the_answer_says_so() {
    let ended = script(&serve_software(1, 8), WAVE, &["--json", "--wait"]);
    assert_eq!(ended.code, 0, "{}", ended.complained);
    let last = ended.said.last().expect("an outcome");
    assert_eq!(last, r#"{"type":"outcome","outcome":"ended","program":"wave","evidence":"robot-mode-data"}"#);
    assert!(ended.said.iter().all(|line| line.starts_with("{\"type\":\"")), "{:?}", ended.said);
}

#[test]
fn what_does_not_compile_is_shown_in_the_files_own_line_and_is_bad_input() {
    let ended = script(&serve_software(5, 15), &WAVE.replace("textmsg(\"after", "textmsh(\"after"), &[]);
    assert_eq!(ended.code, 1);
    assert!(ended.complained.contains("-:8:3: program 'wave' not started: "), "{}", ended.complained);
    assert!(ended.complained.ends_with("\n    textmsh(\"after \", 7)\n    ^\n"), "{}", ended.complained);
}

#[test]
fn a_program_that_fails_while_it_runs_is_a_fault_at_its_line() {
    let program = "# r\ndef rt():\n\tsleep(0.1)\n\ta = [1,2]\n\ttextmsg(a[5])\nend\n";
    let ended = script(&serve_software(5, 15), program, &[]);
    assert_eq!(ended.code, 4);
    assert!(ended.complained.contains("-:5:10: program 'rt' stopped by an error: "), "{}", ended.complained);
}

#[test]
fn local_control_and_a_robot_without_power_are_said_with_what_to_do() {
    let local = serve(Options { state: StartState::Local, ..Options::default() });
    let ended = script(&local, WAVE, &["--json"]);
    assert_eq!(ended.code, 3);
    assert!(ended.complained.contains("choose remote control at the pendant"), "{}", ended.complained);
    let outcome = ended.said.last().expect("an outcome");
    assert_eq!(outcome, r#"{"type":"outcome","outcome":"local-control","program":"wave"}"#);

    let off = serve(Options { state: StartState::PowerOff, ..Options::default() });
    let ended = script(&off, WAVE, &["--timeout", "1"]);
    assert_eq!(ended.code, 3);
    assert!(ended.complained.contains("the robot is POWER_OFF: bring it to RUNNING"), "{}", ended.complained);
}

#[test]
fn a_secondary_program_without_line_end_is_mended_and_runs() {
    let server = serve_software(3, 15);
    let ended = script(&server, "sec io():\n  set_standard_digital_out(3, True)\nend", &[]);
    assert_eq!(ended.code, 0, "{}", ended.complained);
    assert!(ended.complained.starts_with("-:3: warning: the last line has no line end"), "{}", ended.complained);
    assert_eq!(server.controller().io().digital_out, 1 << 3);
}

#[test]
fn a_file_without_a_statement_is_bad_input_before_anything_is_connected() {
    let server = serve_software(5, 15);
    let ended = script(&server, "# only a comment\n", &[]);
    assert_eq!((ended.code, ended.complained.as_str()), (1, "outrigger: -: it has no statement\n"));
    assert_eq!(server.controller().clients(), 0);
}

/// Runs `script --interpreter` with these statements.
fn interpreter(server: &Running, statements: &str, options: &[&str]) -> Ended {
    script(server, statements, &[&["--interpreter"], options].concat())
}

#[test]
fn statements_are_executed_one_after_the_other_and_a_block_is_one_of_them() {
    let server = serve_software(5, 15);
    let statements =
        "# three\ni = 0\nwhile i < 2:\n  textmsg(\"round \", i) # said\n  i = i + 1\nend\n\ntextmsg(\"over\")";
    let ended = interpreter(&server, statements, &[]);
    assert_eq!(ended.code, 0, "{}", ended.complained);
    let said: Vec<&str> = ended.said.iter().map(String::as_str).filter(|line| !line.contains(": executed")).collect();
    let first = format!("interpreter mode at 127.0.0.1:{}", server.port_base() + 21);
    let last = "3 statements executed, interpreter mode ended";
    assert_eq!(said, [first.as_str(), "round 0", "round 1", "over", last]);
    let executed: Vec<&str> =
        ended.said.iter().filter_map(|line| line.split_once(": executed: ")).map(|at| at.0).collect();
    assert_eq!(executed, ["-:2", "-:3", "-:8"]);
}

#[test]
fn a_statement_that_is_discarded_or_fails_is_named_by_its_line() {
    let server = serve_software(5, 15);
    let ended = interpreter(&server, "textmsg(\"a\")\n\nnothing(\n 1)\ntextmsg(\"b\")\n", &["--json"]);
    assert_eq!(ended.code, 1, "{}", ended.complained);
    assert!(ended.complained.contains("-:3: discarded: Compile error\n  nothing(\n"), "{}", ended.complained);
    let last = r#"{"type":"outcome","outcome":"discarded","executed":1,"line":3,"reason":"Compile error"}"#;
    assert_eq!(ended.said.last().map(String::as_str), Some(last));
    assert!(!ended.said.iter().any(|line| line.contains("\"text\":\"b\"")), "{:?}", ended.said);

    let ended = interpreter(&server, "a = [1, 2]\nsleep(0.5)\ntextmsg(a[5])\ntextmsg(\"b\")\n", &[]);
    assert_eq!(ended.code, 4, "{}", ended.complained);
    // The reported line is that of `sleep` if its end has not been queried yet.
    let places = ["-:2: stopped by an error: ", "-:3: stopped by an error: "];
    assert!(places.iter().any(|place| ended.complained.contains(place)), "{}", ended.complained);
    assert!(ended.complained.contains("up to line 4"), "{}", ended.complained);
}

#[test]
fn an_interrupt_aborts_the_move_drops_what_waits_and_stops_what_does_not_end() {
    let server = serve_software(5, 15);
    let at = || server.controller().truth().q[0];
    let start = at();
    let far = format!("movej([{}, -1.5, 1.5, -1.5, -1.5, 0], a=0.5, v=0.2)\n", start + 2.0);
    let endless = "while True: speedj([0.1, 0, 0, 0, 0, 0], 0.5, 0.1) end\n".to_owned();
    for (statements, said) in
        [(far.repeat(3), "SIGINT: motion aborted, statements cleared"), (endless, "a statement did not end in time")]
    {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interrupted.script");
        std::fs::write(&file, statements).expect("a file");
        let child = Command::new(outrigger_system::program())
            .args(["script", &format!("127.0.0.1:{}", server.port_base())])
            .arg(&file)
            .arg("--interpreter")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary under test");
        let before = at();
        while (at() - before).abs() < 0.01 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()));
        let output = child.wait_with_output().expect("it ends");
        let complained = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(4), "{complained}");
        assert!(complained.contains(said), "{complained}");
        let rest = at();
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!((at() - rest).abs() < 1e-3, "the arm still moves");
    }
}

#[test]
fn software_without_interpreter_mode_and_a_file_that_is_none_are_said() {
    let ended = interpreter(&serve_software(3, 15), "sleep(1)\n", &[]);
    assert_eq!(ended.code, 3);
    assert!(ended.complained.contains("interpreter mode needs software 5.10 or PolyScope X"), "{}", ended.complained);
    let ended = interpreter(&serve_software(5, 15), "sleep(1)\nif a:\n b()\n", &[]);
    assert_eq!((ended.code, ended.said.len()), (1, 0));
    assert!(ended.complained.contains("line 2: this statement is not ended"), "{}", ended.complained);
    let local = serve(Options { state: StartState::Local, ..Options::default() });
    let ended = interpreter(&local, "sleep(1)\n", &[]);
    assert_eq!(ended.code, 3);
    assert!(ended.complained.contains("choose remote control at the pendant"), "{}", ended.complained);
}

//! Additional RTDE variables in the recording of a run.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::SoftwareVersion;

fn serve(software: SoftwareVersion) -> Running {
    let controller = Controller::new(Options::for_software(software)).expect("a controller that existed");
    Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 58_000).expect("free ports").spawn().expect("a thread")
}

fn outrigger(arguments: &[&str]) -> Output {
    outrigger_system::command(arguments).output().expect("the binary under test")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// The thresholds of the link that tolerate a busy machine, because these tests are about the recording.
const PATIENT: &str = "session.expert.entry = \"Bad\"\nsession.expert.stall = 0.3\nsession.expert.max_misses = 1000\nsession.expert.hold = 0.2\n\
    session.expert.stale_after = 0.19\nsession.expert.state_timeout = 0.19\nsession.expert.following_patience = 400\n\
    session.expert.following_late_patience = 400\nsession.expert.grade.bad.received = 0\nsession.expert.grade.bad.delay = 1.0\n\
    session.expert.grade.bad.jitter = 1.0\nsession.expert.grade.bad.misses = 1000";

/// Writes the example `half-turn.toml` into an empty folder, with the lines `before` in front of it and the lines `run`
/// in its table `[run]`. Returns the folder and the path of the configuration.
fn configuration(name: &str, before: &str, run: &str) -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let example = Path::new(outrigger_system::EXAMPLES).join("half-turn.toml");
    let example = std::fs::read_to_string(example).expect("the example");
    let file = folder.join("run.toml");
    std::fs::write(&file, format!("{PATIENT}\n{before}\n{}", example.replace("[run]\n", &format!("[run]\n{run}\n"))))
        .expect("room");
    (folder, file)
}

fn started(file: &Path, robot: &Running, record: &Path) -> Child {
    Command::new(outrigger_system::program())
        .args(["run", shown(file), "--robot", &format!("127.0.0.1:{}", robot.port_base()), "--record", shown(record)])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test")
}

/// Returns the columns of a table in a recording, and its rows by their time in the column `clock` \[ms\].
fn table(recording: &Path, port: &str, clock: &str) -> (Vec<String>, HashMap<u64, Vec<f64>>) {
    let output = outrigger(&["export", shown(recording), "--csv", "-", "--port", port]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut lines = text(&output.stdout).lines();
    let columns: Vec<String> = lines.next().expect("a head").split(',').map(str::to_owned).collect();
    let at = columns.iter().position(|column| column == clock).expect("its clock");
    let rows = lines.map(|line| line.split(',').map(|value| value.parse().unwrap_or(f64::NAN)).collect::<Vec<f64>>());
    let rows = rows.map(|row| ((row[at] * 1e3).round() as u64, row)).collect();
    (columns, rows)
}

fn at(columns: &[String], name: &str) -> usize {
    columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("{name} is none of {columns:?}"))
}

fn is_replayed(recording: &Path) {
    let replayed = outrigger(&["replay", shown(recording)]);
    let said = text(&replayed.stdout);
    assert!(replayed.status.success() && said.contains("gave the same"), "{said}{}", text(&replayed.stderr));
}

/// Settings for states by port 30003 alone, which does not report a stop at the pendant.
const BY_30003: &str = "connect.expert.states = \"realtime\"\nsession.expert.pendant_stop = \"overridden\"";

#[test]
fn what_is_named_is_in_the_recording_of_a_run_and_what_the_software_lacks_is_told_by_name() {
    for (name, before) in [("variables", ""), ("variables-realtime", BY_30003)] {
        let robot = serve(SoftwareVersion::new(5, 15));
        let variables = r#"expert.record_variables = ["actual_current", "actual_current_as_torque", "target_moment"]"#;
        let (folder, file) = configuration(name, before, variables);
        let recording = folder.join("run.mcap");
        let ended = started(&file, &robot, &recording).wait_with_output().expect("it ends");
        let said = text(&ended.stdout);
        assert_eq!(ended.status.code(), Some(0), "{said}{}", text(&ended.stderr));
        let told = "30004 (variables): data received; not in this controller's software: actual_current_as_torque; \
                    recorded: actual_current, target_moment";
        assert!(said.contains(told), "{said}");

        // The simulator computes currents by this rule (0.3 A of friction, 0.15 A per rad/s²) from the states of port
        // 30003.
        let (columns, rows) = table(&recording, "variables", "timestamp");
        let (of_states, states) = table(&recording, "30003", "time");
        assert!(!columns.iter().any(|column| column.starts_with("actual_current_as_torque")), "{columns:?}");
        let (mut both, mut moved) = (0, 0.0_f64);
        for (time, row) in &rows {
            let Some(state) = states.get(time) else { continue };
            both += 1;
            for joint in 0..6 {
                let of = |name: &str| state[at(&of_states, &format!("{name}_{joint}"))];
                let expected = 0.3 * (of("qd_actual") / 0.01).clamp(-1.0, 1.0) + 0.15 * of("qdd_target");
                let current = row[at(&columns, &format!("actual_current_{joint}"))];
                assert!((current - expected).abs() < 1e-9, "{time} ms, joint {joint}: {current} A, not {expected}");
                let moment = row[at(&columns, &format!("target_moment_{joint}"))];
                assert!((moment - of("m_target")).abs() < 1e-9, "{time} ms, joint {joint}: {moment} Nm");
                moved = moved.max(current.abs());
            }
        }
        assert!(both > 1_500 && moved > 0.4, "{both} of {} and {} rows, up to {moved} A", rows.len(), states.len());
        let decoded = outrigger(&["decode", "--port", "variables", shown(&recording)]);
        assert_eq!(decoded.status.code(), Some(0), "{}", text(&decoded.stderr));
        let last = text(&decoded.stdout).lines().last().expect("packages");
        assert!(last.contains("\"actual_current\":[") && last.contains("\"target_moment\":["), "{last}");
        is_replayed(&recording);
        // The packages of the session itself are recorded separately.
        let session = outrigger(&["decode", "--port", "30004", shown(&recording)]);
        assert_eq!(session.status.code(), Some(if before.is_empty() { 0 } else { 1 }), "{}", text(&session.stderr));
        assert!(!text(&session.stdout).contains("target_moment"));
    }
}

#[test]
fn a_loss_of_their_connection_ends_no_commanding_and_the_recording_says_the_gap() {
    let robot = serve(SoftwareVersion::new(5, 15));
    let (folder, file) = configuration("variables-lost", BY_30003, "expert.record_variables = [\"target_moment\"]");
    let recording = folder.join("run.mcap");
    let mut run = started(&file, &robot, &recording);
    let mut said = String::new();
    for line in BufReader::new(run.stdout.take().expect("piped")).lines().map_while(Result::ok) {
        said.push_str(&format!("{line}\n"));
        if line.contains("Arming → Command") {
            let mut controller = robot.controller();
            let fault = Fault::new(FaultKind::Drop, controller.now(), Some(Duration::from_millis(300)));
            controller.inject(Fault { port: Some(Port::Rtde), ..fault });
        }
    }
    assert_eq!(run.wait().expect("it ends").code(), Some(0), "{said}");
    assert!(said.contains("30004 (variables): the controller closed the connection; retrying in 1 s"), "{said}");
    assert_eq!(said.matches("30004 (variables): data received; recorded: target_moment").count(), 2, "{said}");
    let bytes = std::fs::read(&recording).expect("the recording");
    let (mut log, mut times, mut begins) = (String::new(), vec![], 0);
    for message in mcap::MessageStream::new(&bytes).expect("an MCAP file") {
        let message = message.expect("a message");
        match message.channel.topic.as_str() {
            "/log" => log.push_str(text(&message.data)),
            "/rtde/variables" => times.push(message.log_time),
            "/raw/30004/variables" if message.data.is_empty() => begins += 1,
            _ => {}
        }
    }
    assert!(log.contains("lost the connection to port 30004 (variables)"), "{log}");
    let gap = times.windows(2).map(|pair| pair[1] - pair[0]).max().expect("values");
    assert!(begins == 2 && gap >= 300_000_000, "{begins} beginnings, {gap} ns");
    is_replayed(&recording);
}

#[test]
fn they_are_refused_without_a_recording_and_a_controller_without_rtde_is_told_of() {
    let (folder, file) = configuration(
        "variables-refused",
        "session.expert.pendant_stop = \"overridden\"",
        "expert.record_variables = [\"target_moment\"]",
    );
    let refused = outrigger(&["run", shown(&file)]);
    assert_eq!(refused.status.code(), Some(1));
    let why = "run.expert.record_variables is for a recording: say run.record = FILE, or run with --record FILE";
    assert!(text(&refused.stderr).contains(why), "{}", text(&refused.stderr));
    let checked = outrigger(&["check-config", shown(&file)]);
    let said = text(&checked.stdout);
    assert!(said.contains("target_moment, from RTDE, to the file of --record"), "{said}");

    let recording = folder.join("run.mcap");
    let ended = started(&file, &serve(SoftwareVersion::new(1, 8)), &recording).wait_with_output().expect("it ends");
    let said = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0), "{said}{}", text(&ended.stderr));
    assert_eq!(said.matches("software 1.8.0 has no RTDE: no further variables are recorded").count(), 1, "{said}");
    let none = outrigger(&["export", shown(&recording), "--csv", "-", "--port", "variables"]);
    assert!(text(&none.stderr).contains("it has no states of port 30004 (variables)"), "{}", text(&none.stderr));
    is_replayed(&recording);
}

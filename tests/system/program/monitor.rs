//! The commands `monitor` and `record` as scripts use them: their exit codes and their output streams.

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::service::Service;
use outrigger_sim::tcp::Server;
use outrigger_wire::robot::SoftwareVersion;

use super::service::{outrigger, text};

#[test]
fn monitor_says_which_address_does_not_answer_and_what_to_check() {
    // A port that was free a moment ago, so that no process listens on it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
    let robot = format!("127.0.0.1:{}", free.min(65_000) - 4);
    let output = outrigger(&["monitor", &robot, "--duration", "1"], b"");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let error = text(&output.stderr);
    assert!(
        error.contains(&format!("127.0.0.1:{}", free.min(65_000))) && error.contains("is the controller started"),
        "{error}"
    );
}
#[test]
fn an_empty_recording_is_said_to_be_one_and_a_robot_that_is_not_there_leaves_none() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let empty = folder.join("empty.mcap");
    std::fs::write(&empty, b"").expect("a file");
    let file = empty.to_str().expect("UTF-8");
    for arguments in [&["decode", "--port", "30003", file][..], &["export", file, "--csv", "-"]] {
        let refused = outrigger(arguments, b"");
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}");
        assert!(text(&refused.stderr).contains("is empty: its recording never began"), "{}", text(&refused.stderr));
    }
    let never = folder.join("never.mcap");
    let _ = std::fs::remove_file(&never);
    let file = never.to_str().expect("UTF-8");
    let refused = outrigger(&["record", "127.0.0.1:64000", "--out", file, "--duration", "1"], b"");
    assert_eq!((refused.status.code(), never.exists()), (Some(3), false), "{}", text(&refused.stderr));
}
#[test]
fn monitor_prints_nothing_but_json_when_asked_to() {
    let controller = Controller::new(Options::default()).expect("the default arm");
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    let server = Server::bind_from(controller, local, 47_000)
        .map(|server| server.spawn().expect("a thread"))
        .expect("free ports");
    let robot = format!("127.0.0.1:{}", server.port_base());
    let output = outrigger(&["monitor", &robot, "--duration", "2", "--json"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("{\"type\":\"") && line.ends_with('}')), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("\"kind\":\"established\"") && line.contains("5.15")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("\"q_actual\":[") && line.contains("\"grade\":")), "{lines:?}");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}
#[test]
fn monitor_tells_where_states_come_from_and_why_and_counts_them() {
    let of = |software: (u8, u8), off: &[Service], arguments: &[&str]| {
        let mut options = Options::for_software(SoftwareVersion::new(software.0, software.1));
        options.services_off.extend(off);
        let controller = Controller::new(options).expect("an arm with this software");
        let local = std::net::Ipv4Addr::LOCALHOST.into();
        let server = Server::bind_from(controller, local, 48_000)
            .map(|server| server.spawn().expect("a thread"))
            .expect("free ports");
        let robot = format!("127.0.0.1:{}", server.port_base());
        let output = outrigger(&[&["monitor", &robot, "--duration", "2", "--json"], arguments].concat(), b"");
        let shown =
            text(&output.stdout).lines().rfind(|line| line.contains("\"q_actual\"")).expect("a state").to_owned();
        (shown, robot)
    };
    let number = |line: &str, key: &str| -> u64 {
        let (_, rest) = line.split_once(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key} in {line}"));
        rest.split([',', '}']).next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let (by_rtde, _) = of((5, 15), &[], &[]);
    assert!(by_rtde.contains(r#""states_by":"rtde","states_why":"software 5.15.0 has it""#), "{by_rtde}");
    // States at 500 Hz. The number of late ones depends on the machine.
    let cycles = number(&by_rtde, "cycles");
    assert!(cycles > 50 && number(&by_rtde, "late") <= cycles && by_rtde.contains("\"missing\":"), "{by_rtde}");
    assert_eq!((number(&by_rtde, "restarts"), number(&by_rtde, "unknown_recipes")), (0, 0));

    let (asked, _) = of((5, 15), &[], &["--states", "realtime"]);
    assert!(asked.contains(r#""states_by":"realtime","states_why":"asked for""#), "{asked}");
    assert!(number(&asked, "messages") > 50 && !asked.contains("\"cycles\""), "{asked}");
    let (old, _) = of((1, 8), &[], &[]);
    assert!(old.contains(r#""states_by":"realtime","states_why":"software 1.8.0 has no RTDE""#), "{old}");
    let (off, robot) = of((5, 15), &[Service::Rtde], &[]);
    assert!(off.contains(r#""states_by":"realtime","states_why":"#) && off.contains("refused"), "{off} of {robot}");
}

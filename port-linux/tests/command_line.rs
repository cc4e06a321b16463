//! What scripts rely on: exit codes, where text goes, and what `decode` prints.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use outrigger_core::robot::{MessageSource, SoftwareVersion};
use outrigger_core::wire::primary::{RobotMessage, RobotMessagePayload, Text, Version};
use outrigger_core::wire::realtime::Repr;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::Server;

fn outrigger(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_outrigger"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test");
    child.stdin.take().expect("piped").write_all(input).expect("the command reads its input");
    child.wait_with_output().expect("the command ends")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

fn packet(software: SoftwareVersion, repr: &Repr) -> Vec<u8> {
    let size = Repr::size_for(software);
    let mut bytes = vec![0xa5; size];
    repr.emit(size, &mut bytes).expect("a packet of a known size");
    bytes
}

#[test]
fn help_is_an_answer_and_nonsense_is_a_usage_error() {
    let help = outrigger(&["--help"], b"");
    assert_eq!(help.status.code(), Some(0));
    assert!(text(&help.stdout).contains("decode") && text(&help.stdout).contains("Exit codes"));
    for arguments in [&["frobnicate"][..], &["decode"], &["decode", "--port", "80", "-"], &[]] {
        let refused = outrigger(arguments, b"");
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(refused.stdout.is_empty() && !refused.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn decode_prints_one_object_per_packet_in_every_generation() {
    for (major, minor, size) in [(1, 6, 756), (1, 8, 812), (3, 1, 1044), (3, 15, 1140), (5, 15, 1220)] {
        let software = SoftwareVersion::new(major, minor);
        let joints = [0.1, -0.2, 0.3, -0.4, 0.5, -1e-9];
        let first = packet(software, &Repr { time: 12.5, q_actual: joints, ..Repr::default() });
        let second = packet(software, &Repr { time: 12.508, ..Repr::default() });
        let output = outrigger(&["decode", "--port", "30003", "-"], &[first, second].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let lines: Vec<_> = text(&output.stdout).lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(
            lines[0].starts_with(&format!("{{\"offset\":0,\"message_size\":{size},\"time\":12.5,")),
            "{}",
            lines[0]
        );
        assert!(lines[0].contains("\"q_actual\":[0.1,-0.2,0.3,-0.4,0.5,-1e-9]"), "{}", lines[0]);
        assert!(lines[1].starts_with(&format!("{{\"offset\":{size},")), "{}", lines[1]);
    }
}

#[test]
fn decode_keeps_numbers_that_json_has_no_form_for() {
    let repr = Repr { q_actual: [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e300], ..Repr::default() };
    let output = outrigger(&["decode", "--port", "30003", "-"], &packet(SoftwareVersion::new(5, 15), &repr));
    let expected = "\"q_actual\":[\"NaN\",\"Infinity\",\"-Infinity\",0.0,-0.0,1e300]";
    assert!(text(&output.stdout).contains(expected), "{}", text(&output.stdout));
}

#[test]
fn decode_names_the_byte_of_what_is_malformed_after_printing_what_is_not() {
    let good = packet(SoftwareVersion::new(5, 15), &Repr::default());
    let garbage = [good.as_slice(), b"GET / HTTP/1.1\r\n\r\n"].concat();
    let cut = &[good.as_slice(), &good[..300]].concat();
    for (bytes, expected) in
        [(&garbage, "byte 1220: no message starts here"), (cut, "byte 1220: the input ends inside")]
    {
        let output = outrigger(&["decode", "--port", "30003", "-"], bytes);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(text(&output.stdout).lines().count(), 1);
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
}

#[test]
fn decode_reads_primary_messages_and_learns_the_software_from_the_stream() {
    let mut bytes = vec![0; 256];
    let version = RobotMessagePayload::Version(Version {
        project_name: Text(b"URControl"),
        major: 5,
        minor: 15,
        bugfix: 2,
        build_number: Some(0),
        build_date: Text(b"28-06-2022, 11:30:43"),
    });
    let size = RobotMessage::emit(u64::MAX, MessageSource::RobotInterface, &version, &mut bytes).expect("room");
    let output = outrigger(&["decode", "--port", "30002", "-"], &bytes[..size]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let expected = "\"project_name\":\"URControl\",\"major_version\":5,\"minor_version\":15";
    assert!(text(&output.stdout).contains(expected), "{}", text(&output.stdout));
}

#[test]
fn an_arm_that_never_ran_the_software_is_a_usage_error() {
    let output = outrigger(&["sim", "ur", "--model", "ur20", "--software", "3.15"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("ur20 has no software 3.15"), "{}", text(&output.stderr));
    let output = outrigger(&["sim", "ur", "--fault", "stal@5s"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `stall`"), "{}", text(&output.stderr));
}

#[test]
fn decode_of_a_file_that_is_not_there_names_it() {
    let output = outrigger(&["decode", "--port", "30003", "no-such.bin"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no-such.bin"), "{}", text(&output.stderr));
}

#[test]
fn monitor_says_which_address_does_not_answer_and_what_to_check() {
    // A port that was free a moment ago: nothing listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
    let robot = format!("127.0.0.1:{}", free.min(65_000) - 4);
    let output = outrigger(&["monitor", &robot, "--seconds", "1"], b"");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let error = text(&output.stderr);
    assert!(
        error.contains(&format!("127.0.0.1:{}", free.min(65_000))) && error.contains("is the controller started"),
        "{error}"
    );
}

#[test]
fn monitor_prints_nothing_but_json_when_asked_to() {
    let controller = Controller::new(Options::default()).expect("the default arm");
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    let server = Server::bind_from(controller, local, 47_000)
        .map(|server| server.spawn().expect("a thread"))
        .expect("free ports");
    let robot = format!("127.0.0.1:{}", server.port_base());
    let output = outrigger(&["monitor", &robot, "--seconds", "2", "--json"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("{\"type\":\"") && line.ends_with('}')), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("\"kind\":\"established\"") && line.contains("5.15")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("\"q_actual\":[") && line.contains("\"grade\":")), "{lines:?}");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

//! Tests of the behaviour that scripts rely on: exit codes, the output streams, and the output of `decode`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use outrigger_wire::fri::{COMMAND_LEN, CommandRepr, MEASUREMENT_LEN, MeasurementRepr};
use outrigger_wire::primary::{RobotMessage, RobotMessagePayload, Text, Version};
use outrigger_wire::realtime::Repr;
use outrigger_wire::robot::{MessageSource, SoftwareVersion};

/// Creates an empty folder below the target directory, which no other call and no other run of the tests uses.
pub(crate) fn folder(name: &str) -> PathBuf {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{call}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

pub(crate) fn outrigger(arguments: &[&str], input: &[u8]) -> Output {
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

pub(crate) fn text(bytes: &[u8]) -> &str {
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
fn decode_prints_datagrams_of_fri_in_either_direction() {
    let mut stream = vec![0; MEASUREMENT_LEN + COMMAND_LEN];
    let measured = MeasurementRepr { send_seq_count: 65_535, msr_jnt_pos: [0.5; 7], ..MeasurementRepr::default() };
    let size = measured.emit(&mut stream).expect("room");
    let commanded = CommandRepr { refl_seq_count: 65_535, cmd_flags: 1, ..CommandRepr::default() };
    commanded.emit(&mut stream[size..]).expect("room");
    let output = outrigger(&["decode", "--port", "fri", "-"], &stream);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines: Vec<_> = text(&output.stdout).lines().collect();
    let head = r#"{"offset":0,"message":"measurement","send_seq_count":65535,"refl_seq_count":0,"packet_size":916,"datagram_id":8198,"#;
    assert!(lines[0].starts_with(head), "{}", lines[0]);
    assert!(lines[0].contains(r#""msr_jnt_pos":[0.5,0.5,0.5,0.5,0.5,0.5,0.5]"#), "{}", lines[0]);
    assert!(
        lines[1].starts_with(r#"{"offset":916,"message":"command","send_seq_count":0,"refl_seq_count":65535,"#),
        "{}",
        lines[1]
    );

    // The second header names a measurement; the error names its position, after the output of everything before it.
    stream[size + 6..size + 8].copy_from_slice(&0x2006_u16.to_le_bytes());
    let output = outrigger(&["decode", "--port", "fri", "-"], &stream);
    assert_eq!((output.status.code(), text(&output.stdout).lines().count()), (Some(1), 1));
    assert!(text(&output.stderr).contains("byte 920: in the message that starts at byte 916"));
}

/// The bytes that an RTDE service sends after a set-up of two output variables: the replies, and data twice.
const RTDE: &[u8] = b"\0\x04V\x01\0\x10O\x01DOUBLE,INT32\0\x10U\x01\x3f\xf8\0\0\0\0\0\0\0\0\0\x07\0\x10U\x01\x40\0\0\0\0\0\0\0\xff\xff\xff\xff";

fn decode_rtde(recipe: Option<&str>, bytes: &[u8]) -> Result<Vec<String>, String> {
    let mut arguments = vec!["decode", "--port", "30004", "-"];
    arguments.extend(recipe.into_iter().flat_map(|recipe| ["--recipe", recipe]));
    let output = outrigger(&arguments, bytes);
    match output.status.code() {
        Some(0) => Ok(text(&output.stdout).lines().map(str::to_owned).collect()),
        _ => Err(text(&output.stderr).to_owned()),
    }
}

#[test]
fn decode_names_the_variables_of_rtde_by_the_recipe_and_types_them_by_the_reply() {
    let lines = decode_rtde(Some("timestamp,Robot_MODE"), RTDE).expect("good input");
    assert_eq!(
        lines[1],
        r#"{"offset":4,"package_size":16,"package_type":"O","recipe_id":1,"types":["DOUBLE","INT32"]}"#
    );
    let data = r#"{"offset":20,"package_size":16,"package_type":"U","recipe_id":1,"timestamp":1.5,"robot_mode":7}"#;
    assert_eq!(lines[2], data);
    assert!(lines[3].ends_with(r#""timestamp":2.0,"robot_mode":-1}"#), "{}", lines[3]);
    let lines = decode_rtde(None, RTDE).expect("good input");
    assert!(lines[2].ends_with(r#""recipe_id":1,"values":[1.5,7]}"#), "{}", lines[2]);
}

#[test]
fn decode_reads_rtde_from_the_middle_of_a_stream_in_either_version() {
    let data = &RTDE[20..36];
    let lines = decode_rtde(Some("timestamp,robot_mode,"), data).expect("types by name");
    assert!(lines[0].ends_with(r#""recipe_id":1,"timestamp":1.5,"robot_mode":7}"#), "{}", lines[0]);
    let first = [b"\0\x0fU", &data[4..]].concat();
    let lines = decode_rtde(Some("timestamp,robot_mode"), &first).expect("types by name");
    assert!(lines[0].ends_with(r#""package_type":"U","timestamp":1.5,"robot_mode":7}"#), "{}", lines[0]);
    let lines = decode_rtde(None, data).expect("bytes are bytes");
    assert!(lines[0].ends_with(r#""recipe_id":1,"values":[63,248,0,0,0,0,0,0,0,0,0,7]}"#), "{}", lines[0]);
    let version_1 = b"\0\x09ODOUBLE\0\x0bU\x3f\xf8\0\0\0\0\0\0\0\x06M\x01no";
    let lines = decode_rtde(Some("timestamp"), version_1).expect("version 1");
    assert!(lines[1].ends_with(r#""timestamp":1.5}"#) && lines[2].ends_with(r#""message":"no","warning_level":1}"#));
}

#[test]
fn decode_asks_again_without_the_variables_that_were_not_found() {
    let stream = b"\0\x14O\0DOUBLE,NOT_FOUND\0\x0aO\x01DOUBLE\0\x0cU\x01\x3f\xf8\0\0\0\0\0\0";
    let lines = decode_rtde(Some("timestamp,payload"), stream).expect("good input");
    assert!(lines[2].ends_with(r#""recipe_id":1,"timestamp":1.5}"#), "{}", lines[2]);
}

#[test]
fn decode_says_where_rtde_and_the_recipe_do_not_fit() {
    let wrong = |recipe, bytes: &[u8]| decode_rtde(recipe, bytes).expect_err("bad input");
    assert!(
        wrong(Some("timestamp"), RTDE).contains("byte 4: in the message that starts at byte 4, the set-up is of 2")
    );
    assert!(wrong(Some("from_the_future"), &RTDE[20..]).contains("nothing says what type from_the_future has"));
    assert!(
        wrong(Some("actual_q"), &RTDE[20..])
            .contains("byte 0: in the message that starts at byte 0, values of another")
    );
    assert!(wrong(None, &RTDE[..30]).contains("byte 20: the input ends inside a message"));
    assert!(wrong(None, b"\0\x01U").contains("byte 0: no message starts here"));
    let output = outrigger(&["decode", "--port", "30003", "--recipe", "timestamp", "-"], b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn an_arm_that_never_ran_the_software_is_a_usage_error() {
    let output = outrigger(&["sim", "ur", "--model", "ur20", "--software", "3.15"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("ur20 has no software 3.15"), "{}", text(&output.stderr));
    let output = outrigger(&["sim", "ur", "--software", "3.6", "--external-control", "127.0.0.1"], b"");
    assert!(text(&output.stderr).contains("does not run on software 3.6"), "{}", text(&output.stderr));
    let output = outrigger(&["sim", "ur", "--external-control", "pc.example"], b"");
    assert!(text(&output.stderr).contains("an address or localhost"), "{}", text(&output.stderr));
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
fn a_port_of_the_controller_is_no_port_base_and_the_answer_says_so() {
    for port in [30_001, 30_003, 30_004] {
        let refused = outrigger(&["monitor", &format!("127.0.0.1:{port}"), "--seconds", "1"], b"");
        assert_eq!(refused.status.code(), Some(2));
        let error = text(&refused.stderr);
        assert!(error.contains("a port base is expected") && error.contains("give '127.0.0.1' alone"), "{error}");
    }
}

#[test]
fn a_report_or_a_directory_that_cannot_be_written_is_refused_before_the_work() {
    for arguments in [
        &["demo", "--report", "/no/such/folder/report.html"][..],
        &["watch", "127.0.0.1", "--out", "/proc/no-such-folder"],
        &["record", "127.0.0.1:64000", "--out", "/no/such/folder/file.mcap"],
    ] {
        let refused = outrigger(arguments, b"");
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {}", text(&refused.stderr));
        assert!(refused.stdout.is_empty() && text(&refused.stderr).contains("cannot "), "{}", text(&refused.stderr));
    }
}

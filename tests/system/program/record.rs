//! The commands `outrigger record`, `export` and `decode`, against simulated controllers.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::SoftwareVersion;

fn serve(options: Options) -> Running {
    let controller = Controller::new(options).expect("a controller that existed");
    let local = std::net::Ipv4Addr::LOCALHOST.into();
    Server::bind_from(controller, local, 50_000).expect("free ports").spawn().expect("a thread")
}

fn outrigger(arguments: &[&str]) -> Output {
    outrigger_system::command(arguments).output().expect("the binary under test")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Returns an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

fn record(server: &Running, to: &str, seconds: &str) {
    let robot = format!("127.0.0.1:{}", server.port_base());
    let output = outrigger(&["record", &robot, "--out", to, "--duration", seconds]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains(" entries lost"), "{}", text(&output.stdout));
}

/// Splits the bytes of port 30003 into packets of `size` bytes. Returns the packets by the bits of their time stamp.
fn by_time(bytes: &[u8], size: usize) -> BTreeMap<u64, Vec<u8>> {
    let time = |packet: &[u8]| u64::from_be_bytes(packet[4..12].try_into().unwrap());
    bytes.chunks_exact(size).map(|packet| (time(packet), packet.to_vec())).collect()
}

#[test]
fn the_bytes_of_a_recording_are_those_that_any_other_client_got() {
    let server = serve(Options::for_software(SoftwareVersion::new(3, 15)));
    let folder = folder("bytes");
    let (file, raw) = (path(&folder, "a.mcap"), path(&folder, "a.bin"));
    let mut other = std::net::TcpStream::connect(server.address(Port::Realtime)).expect("a connection");
    let witness = std::thread::spawn(move || {
        let mut bytes = vec![0; 1140 * 250];
        other.read_exact(&mut bytes).expect("packets");
        bytes
    });
    record(&server, &file, "2");
    let output = outrigger(&["export", &file, "--raw", &raw, "--port", "30003"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let recorded = std::fs::read(&raw).expect("the export");
    let (recorded, witnessed) = (by_time(&recorded, 1140), by_time(&witness.join().expect("packets"), 1140));
    let both: Vec<_> = recorded.iter().filter(|(time, _)| witnessed.contains_key(time)).collect();
    assert!(both.len() > 100, "{} packets in common", both.len());
    assert!(both.iter().all(|(time, packet)| witnessed[time] == **packet));

    // Decoding the recording and decoding the exported bytes give the same output.
    let direct = outrigger(&["decode", "--port", "30003", &file]);
    let of_bytes = outrigger(&["decode", "--port", "30003", &raw]);
    assert_eq!((direct.status.code(), of_bytes.status.code()), (Some(0), Some(0)), "{}", text(&direct.stderr));
    assert_eq!(text(&direct.stdout), text(&of_bytes.stdout));
    let primary = outrigger(&["decode", "--port", "30001", &file]);
    assert_eq!(primary.status.code(), Some(0), "{}", text(&primary.stderr));
    assert!(text(&primary.stdout).lines().next().is_some_and(|line| line.contains(r#""project_name":"URControl""#)));
}

#[test]
fn a_table_has_a_row_per_state_and_a_column_per_number() {
    let server = serve(Options::for_software(SoftwareVersion::new(1, 8)));
    let folder = folder("table");
    let (file, csv) = (path(&folder, "a.mcap"), path(&folder, "a.csv"));
    record(&server, &file, "1");
    let output = outrigger(&["export", &file, "--csv", &csv, "--port", "30003"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = std::fs::read_to_string(&csv).expect("the table");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..5], ["t", "arrival_time_s", "message_size", "time_s", "q_target_0_rad"]);
    assert!(rows[0].contains(&"tool_vector_5_rad") && rows[0].contains(&"digital_input_bits"), "{:?}", rows[0]);
    assert!(rows.len() > 60 && rows.iter().all(|row| row.len() == rows[0].len()), "{} rows", rows.len());
    let times: Vec<f64> = rows[1..].iter().map(|row| row[3].parse().expect("a time")).collect();
    assert!(times.windows(2).all(|pair| (pair[1] - pair[0] - 0.008).abs() < 1e-9), "{times:?}");
    let number = |row: usize, column: usize| rows[row][column].parse::<f64>().expect("a time");
    let (first, last) = (1, rows.len() - 1);
    assert!(
        rows[first][0] == "0.000000" && rows.is_sorted_by_key(|row| row[0].parse::<f64>().ok()),
        "t begins at zero"
    );
    assert!((number(last, 0) - (number(last, 1) - number(first, 1))).abs() < 2e-6, "{:?}", rows[last]);
}

#[test]
fn every_variable_of_rtde_is_recorded_beside_30003_and_makes_the_table() {
    let server = serve(Options::default());
    let folder = folder("rtde");
    let (file, csv) = (path(&folder, "a.mcap"), path(&folder, "a.csv"));
    record(&server, &file, "2");
    let output = outrigger(&["export", &file, "--csv", &csv]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = std::fs::read_to_string(&csv).expect("the table");
    let (head, rows) = table.split_once('\n').expect("a head");
    assert!(head.starts_with("t,arrival_time_s,timestamp_s,"), "{head}");
    for column in
        ["actual_q_5_rad", "actual_TCP_pose_0_m", "safety_status", "payload_cog_2_m", "output_double_register_0"]
    {
        assert!(head.split(',').any(|name| name == column), "{column} is none of {head}");
    }
    assert!(rows.lines().count() > 200, "{} rows", rows.lines().count());
    // The names of the variables are in the recorded requests.
    let decoded = outrigger(&["decode", "--port", "30004", &file]);
    assert_eq!(decoded.status.code(), Some(0), "{}", text(&decoded.stderr));
    let last = text(&decoded.stdout).lines().last().expect("packages");
    assert!(last.contains("\"package_type\":\"U\"") && last.contains("\"actual_q\":["), "{last}");

    let alone = path(&folder, "b.mcap");
    let robot = format!("127.0.0.1:{}", server.port_base());
    let output = outrigger(&["record", &robot, "--out", &alone, "--duration", "1", "--states", "realtime"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = outrigger(&["decode", "--port", "30004", &alone]);
    assert!(text(&output.stderr).contains("nothing came from port 30004"), "{}", text(&output.stderr));
}

#[test]
fn a_lost_link_is_in_the_log_and_the_recording_goes_on() {
    let server = serve(Options { faults: vec!["drop@1s:200ms".parse().expect("a fault")], ..Options::default() });
    let file = path(&folder("drop"), "a.mcap");
    record(&server, &file, "3");
    let bytes = std::fs::read(&file).expect("the recording");
    let (mut log, mut states, mut begins) = (String::new(), vec![], 0);
    for message in mcap::MessageStream::new(&bytes).expect("an MCAP file") {
        let message = message.expect("a message");
        match message.channel.topic.as_str() {
            "/log" => log.push_str(text(&message.data)),
            "/realtime" => states.push(message.log_time),
            "/raw/30003" if message.data.is_empty() => begins += 1,
            _ => {}
        }
    }
    assert!(log.contains("lost the connection to port 30003"), "{log}");
    assert_eq!((begins, log.matches("connected to port 30003").count()), (2, 2), "{log}");
    let gap = states.windows(2).map(|pair| pair[1] - pair[0]).max().expect("states");
    assert!(gap > 150_000_000 && states.last() > states.first(), "{gap} ns");
    let decoded = outrigger(&["decode", "--port", "30003", &file]);
    assert_eq!(decoded.status.code(), Some(0), "{}", text(&decoded.stderr));
    assert_eq!(text(&decoded.stdout).lines().count(), states.len());
}

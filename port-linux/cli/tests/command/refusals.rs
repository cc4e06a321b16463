//! Tests of command lines and files that every command rejects before it connects anywhere: exit code and message.

use std::fmt::Write as _;
use std::path::Path;

use super::command_line::{folder, outrigger, text};

/// The address of a robot in command lines that must be rejected. Nothing is sent to it.
const ROBOT: &str = "127.0.0.1:40000";

fn file(folder: &Path, name: &str, contents: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, contents).expect("room for a file");
    path.to_str().expect("UTF-8").to_owned()
}

/// Runs the program with these arguments, and expects this exit code and a message on standard error that contains
/// `expected`.
fn refused(arguments: &[&str], code: i32, expected: &str) {
    let output = outrigger(arguments, b"");
    let error = text(&output.stderr);
    assert!(
        output.status.code() == Some(code) && error.contains(expected),
        "{arguments:?}: {:?} {error}",
        output.status
    );
}

#[test]
fn words_of_ask_that_do_not_fit_are_usage_and_say_what_would() {
    for (words, expected) in [
        (&["dance"][..], "invalid value 'dance'"),
        (&["set"], "e.g. digital-out.3=on"),
        (&["set", "digital-out.9=on"], "expected digital-out.0 to digital-out.7"),
        (&["sample", "seam"], "1 to 6 values"),
        (&["sample", "seam", "NaN"], "expected a number, found 'NaN'"),
        (&["release", "now"], "remove 'now'"),
        (&["status", "--wait"], "--wait is for start, resume and stop"),
        (&["request", "--seq", "1"], "--seq is for sample"),
        (&["force", "z=-900"], "force, number 2, is -900, expected -500.0 to 500.0 N"),
    ] {
        refused(&[&["ask", "127.0.0.1"], words].concat(), 2, expected);
    }
    refused(&["ask", "no-such.toml", "status"], 1, "cannot read no-such.toml");
}

#[test]
fn outputs_that_cannot_be_set_and_dashboard_words_that_cannot_be_sent_are_usage() {
    let both = "digital-out.3=on and digital-out.3=off are the same output";
    refused(&["io", ROBOT, "digital-out.3=on", "digital-out.3=off"], 2, both);
    refused(&["io", ROBOT, "gripper=open"], 2, "digital-out.N=on|off");
    refused(&["dashboard", ROBOT, "load", "two\nlines.urp"], 2, "one line");
    refused(&["dashboard", ROBOT, "unlock-protective-stop"], 2, "--acknowledge");
}

#[test]
fn what_a_krc_does_not_have_is_usage() {
    let swing = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/krc-swing.toml");
    let krc = |command, more: &[&'static str]| [&[command, "127.0.0.1", "--kind", "krc"], more].concat();
    refused(&["monitor", "127.0.0.1", "--listen", "127.0.0.1:1", "--seconds", "1"], 2, "add --kind krc");
    refused(&["monitor", ROBOT, "--kind", "krc"], 2, "--listen");
    refused(&krc("monitor", &["--states", "rtde"]), 2, "--states is for the ports of a UR");
    refused(&krc("monitor", &["--listen", "krc:49938"]), 2, "such as 0.0.0.0:49938");
    refused(&krc("doctor", &["--model", "ur5"]), 2, "--model is for a UR arm");
    refused(&["run", swing, "--states", "rtde"], 2, "--states is for the ports of a UR");
    refused(&["replay", swing], 1, "the .mcap of `run --record`");
    refused(&["sim", "krc", "--remote", "127.0.0.1:1", "--surface", "500"], 2, "a height of -1.5 to 1.5 m");
}

#[test]
fn a_first_configuration_is_not_written_over_a_file_nor_from_answers_that_do_not_fit() {
    let folder = folder("init");
    let to = folder.join("robot.toml");
    let to = to.to_str().expect("UTF-8");
    let init =
        |more: &[&'static str]| [&["init", ROBOT, "--out", to, "--model", "ur5", "--software", "3.15"], more].concat();
    let asks = "no terminal for questions: give --task standoff, force or servo";
    refused(&["init", ROBOT, "--out", to], 2, asks);
    refused(&init(&["--task", "force"]), 2, "give --sensor; expected udp:PORT");
    refused(&init(&["--task", "servo", "--sensor", "udp:5"]), 2, "task servo uses no sensor");
    let far = ["--task", "standoff", "--sensor", "udp:5", "--distance", "9"];
    refused(&init(&far), 1, "no file written");
    refused(&["init", ROBOT, "--out", "/nowhere/robot.toml", "--task", "servo"], 1, "cannot write into /nowhere");
    assert!(!Path::new(to).exists());
    std::fs::write(to, "precious").expect("room for a file");
    refused(&init(&["--task", "servo"]), 1, "exists and was not changed");
    assert_eq!(std::fs::read_to_string(to).expect("the file"), "precious");
}

#[test]
fn a_recording_is_never_overwritten_and_what_is_none_is_neither_read_nor_replayed() {
    let folder = folder("recording");
    let precious = file(&folder, "a.mcap", "precious");
    refused(&["record", "127.0.0.1", "--out", &precious], 1, "exists: recordings are never overwritten");
    assert_eq!(std::fs::read(&precious).expect("the file"), b"precious");
    refused(&["export", &precious, "--csv", "-"], 1, "does not begin as an MCAP file does");
    refused(&["export", &precious], 2, "");
    let empty = file(&folder, "empty.mcap", "");
    for arguments in [&["decode", "--port", "30003", &*empty][..], &["export", &empty, "--csv", "-"]] {
        refused(arguments, 1, "is empty: its recording never began");
    }
    let broken = folder.join("broken-off.mcap");
    std::fs::write(&broken, b"\x89MCAP0\r\nnot much").expect("room for a file");
    refused(&["replay", broken.to_str().expect("UTF-8")], 1, "broken-off.mcap");
}

#[test]
fn variables_of_a_run_without_a_recording_are_refused_and_check_config_says_where_they_would_go() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/half-turn.toml");
    let example = std::fs::read_to_string(example).expect("the example");
    let run = "[run]\nexpert.record_variables = [\"target_moment\"]\n";
    let config = file(&folder("variables"), "run.toml", &example.replace("[run]\n", run));
    let why = "run.expert.record_variables is for a recording: say run.record = FILE, or run with --record FILE";
    refused(&["run", &config], 1, why);
    let checked = outrigger(&["check-config", &config], b"");
    let said = text(&checked.stdout);
    assert!(said.contains("target_moment, from RTDE, to the file of --record"), "{said}");
}

#[test]
fn a_program_without_a_statement_is_bad_input() {
    let output = outrigger(&["script", ROBOT, "-"], b"# only a comment\n");
    let complaint = text(&output.stderr);
    assert_eq!((output.status.code(), complaint), (Some(1), "outrigger: -: it has no statement\n"));
}

/// Returns a motion for joints at the positions `home`, away from them and back, in `seconds`.
fn swing(home: &[f64], seconds: f64) -> String {
    let mut table = String::new();
    for number in 0..=100 {
        let share = f64::from(number) / 100.0;
        let off = 0.125 - 0.125 * (share * std::f64::consts::TAU).cos();
        write!(table, "{:.6}", share * seconds).expect("room");
        home.iter().for_each(|q| write!(table, ",{:.7}", q + off).expect("room"));
        table.push('\n');
    }
    table
}

#[test]
fn a_motion_beyond_the_limits_or_cut_off_is_refused_and_check_says_what_could_be_made() {
    const UR: [f64; 6] = [0.0, -1.5, -1.5, -1.5, 1.5, 0.0];
    const LWR: [f64; 7] = [0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0];
    let folder = folder("motion");
    let config = |name: &str, robot: &str| file(&folder, name, &format!("{robot}\nlaw.kind = \"joint-servo\"\n"));
    let ur = config("ur.toml", "robot.address = \"127.0.0.1:40000\"");
    let krc = config("krc.toml", "robot = { kind = \"krc\", listen = \"127.0.0.1:49938\" }");
    let six = file(&folder, "six.csv", &swing(&UR, 4.0));
    let seven = file(&folder, "seven.csv", &swing(&LWR, 3.0));
    let fast = file(&folder, "fast.csv", &swing(&UR, 0.5));
    let cut = file(&folder, "cut.csv", swing(&UR, 4.0).trim_end());
    let untimed = file(&folder, "untimed.json", "{\"points\": [{\"positions\": []}]}");
    refused(&["move", &ur, &fast], 1, "joint 1 would reach");
    refused(&["move", &ur, &cut], 1, "is the file complete?");
    refused(&["move", &ur, &untimed], 1, "points[0]: found no 'time_from_start'");
    refused(&["move", &krc, &six, "--check"], 1, "expected 8 (t and 7 angles)");
    refused(&["move", &krc, &seven, "--mode", "servo"], 2, "found --mode servo, which is a UR's");
    refused(&["move", &krc, &seven, "--robot", "127.0.0.1"], 2, "a KRC sends by itself");
    for (config, motion, expected) in [(&ur, &six, "in 4.000 s"), (&krc, &seven, "in 3.000 s")] {
        let checked = outrigger(&["move", config, motion, "--check"], b"");
        let said = text(&checked.stdout);
        assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
        assert!(said.contains(&format!("101 waypoints {expected}, within the limits")), "{said}");
    }
}

#[test]
fn a_place_that_is_none_or_beyond_the_limits_is_refused_before_the_robot_is_asked() {
    let folder = folder("place");
    let config = file(&folder, "ur.toml", "robot.address = \"127.0.0.1:40000\"\nlaw.kind = \"joint-servo\"\n");
    for (arguments, code, expected) in [
        (&["--to", "pose=0.4,0,0.3,0,3.14"][..], 2, "found 5 numbers"),
        (&["--to", "pose=0.4,0,0.3,0,nan,0"], 2, "found 'nan', expected a number"),
        (&["--to", "pose=400mm,0,300mm,0,3.14,0"], 2, "found '400mm', expected a number"),
        (&["--to", "tool=0.4,0,0.3,0,3.14,0"], 2, "expected q= and six angles"),
        (&["there.csv", "--linear"], 2, "cannot be used with"),
        (&["--to", "pose=400,0,300,0,3.14,0"], 1, "expected at most 5: x, y and z are in m"),
        (&["--to", "pose=0.4,0,0.3,0,180,0"], 1, "found a rotation of 180.00 rad, expected at most 2π"),
        (&["--to", "pose=0.4,0,0.3,0,3,0", "--linear", "--speed", "4"], 1, "found speed 4, expected at most 3 m/s"),
        (&["--to", "pose=0.4,0,0.3,0,3,0", "--speed", "4"], 1, "found speed 4, expected at most 1 rad/s (limits)"),
        (&["--to", "q=7,0,0,0,0,0"], 1, "joint 1: found 7 rad, expected"),
        (&["--to", "q=1,0,0,0,0,0", "--speed", "5"], 1, "found speed 5, expected at most 1"),
    ] {
        refused(&[&["move", &*config], arguments].concat(), code, expected);
    }
}

#[test]
fn a_simulated_sensor_that_cannot_be_is_refused_with_what_to_do() {
    let broken = file(&folder("sensor"), "broken.csv", "t,v\n0,1\n1,high\n");
    let board = concat!(env!("CARGO_MANIFEST_DIR"), "/../../boards/nucleo-h743zi/board.toml");
    let scripted = ["--script", "constant:0.05"];
    let sensor = |more: &[&str], code, expected| refused(&[&["sim", "sensor"], more].concat(), code, expected);
    let with = |more: &[&str], code, expected| sensor(&[more, &scripted].concat(), code, expected);
    sensor(&[], 2, "--script");
    sensor(&["--script", "sin:1,2"], 2, "did you mean `sine`?");
    sensor(&["--surface", "0,0,0,0,0,1"], 2, "--robot");
    sensor(&["--file", &broken], 1, "line 3: 'high' is not a number");
    with(&["--uart", "/dev/no-such-tty"], 3, "cannot open /dev/no-such-tty at 115200 Bd");
    with(&["--uart", "unix:/no/such/socket"], 3, "start QEMU first");
    with(&["--uart", "a", "--udp", "127.0.0.1:5005"], 2, "cannot be used with");
    with(&["--baud", "9600"], 2, "--baud is for a serial device");
    with(&["--scale", "0"], 2, "set another scale");
    with(&["--config", board], 2, "source \"distance\" is a board's serial port: give --uart");
    with(&["--config", board, "--source", "gap"], 2, "it has no source \"gap\", but \"distance\"");
    with(&["--config", board, "--values", "2", "--uart", "a"], 2, "--values has readings of 2 value(s)");
    sensor(&["--script", "1=constant:0.05"], 2, "give --values");
    refused(&["sim", "ur", "--distance-to", "127.0.0.1:5000"], 2, "--surface");
}

#[test]
fn the_simulator_lists_early_close_and_refuses_a_damping_that_no_arm_has() {
    let help = outrigger(&["sim", "ur", "--help"], b"");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    assert!(help.contains("early-close") && help.contains("before reading 79 bytes"), "{help}");
    assert!(help.contains("--force-damping"), "{help}");
    refused(&["sim", "ur", "--force-damping", "5"], 2, "expected a damping in N·s/m, 20 to 10000");
    refused(&["sim", "ur", "--fault", "early-close@1s:1s:5"], 2, "this kind has no argument");
    let ros = if cfg!(feature = "ros2") { "scripts speak ROS 2 from software 10.7" } else { "--features ros2" };
    refused(&["sim", "ur", "--ros", "--software", "5.15"], 2, ros);
}

#[test]
fn every_part_of_a_sensors_script_stands_in_the_documentation() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sensors.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let help = outrigger(&["sim", "sensor", "--help"], b"");
    assert_eq!(help.status.code(), Some(0));
    let (_, parts) = text(&help.stdout).split_once("Parts of a script:").expect("they are listed");
    let kinds = parts.lines().filter_map(|line| line.strip_prefix("  "));
    let kinds: Vec<&str> = kinds.filter_map(|line| line.split([' ', ':', '[']).find(|word| !word.is_empty())).collect();
    assert_eq!(kinds.len(), 11, "{kinds:?}");
    for kind in kinds {
        assert!(page.contains(&format!("\n| `{kind}")), "`{kind}` is not shown");
    }
}

#[test]
fn a_file_that_is_no_boards_and_a_line_that_cannot_be_opened_are_told_before_anything_is_sent() {
    const BOARD: &str =
        "[robot]\naddress = \"10.0.2.2\"\n[law]\nkind = \"joint-servo\"\n[device]\naddress = \"10.0.2.15/24\"\n";
    let folder = folder("board");
    let line = format!("unix:{}", folder.join("line").display());
    let host = file(&folder, "host.toml", "robot.address = \"10.0.2.2\"\nlaw.kind = \"joint-servo\"\n");
    let faulty = file(&folder, "faulty.toml", &format!("{BOARD}gatway = \"x\"\n"));
    let good = file(&folder, "board.toml", BOARD);
    let set = |file: &str, code, expected| refused(&["board", "set", file, "--port", &line], code, expected);
    set(&host, 1, "expected a board's file, with a table [device]");
    set(&faulty, 1, "faulty.toml: line 7: device.gatway: found an unknown key");
    set(&good, 3, "cannot open unix:");
}

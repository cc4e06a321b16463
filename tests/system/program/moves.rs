//! The command `outrigger move` against a simulated controller, over the kernel's sockets.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use outrigger::config::{AnyConfiguration, RunsOn};
use outrigger_core::robot::Reason;
use outrigger_emulated::clock::Clock;
use outrigger_emulated::tries::{LATENESS, attempt_first, late};
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::fault::Fault;
use outrigger_sim::tcp::{Running, Server};
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::SoftwareVersion;

fn serve() -> Running {
    let controller = Controller::new(Options::for_software(SoftwareVersion::new(5, 15))).expect("a controller");
    Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 53_000).expect("free ports").spawn().expect("a thread")
}

/// Writes a temporary file and returns its path.
fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("outrigger-moves-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("room for a file");
    path
}

/// The joint angles of the simulated arm at the start \[rad\].
pub(crate) const HOME: [f64; 6] = [0.0, -1.570_796_4, -1.570_796_4, -1.570_796_4, 1.570_796_4, 0.0];

/// Returns a motion of all joints by half a radian and back in four seconds, with this number of waypoints.
pub(crate) fn swing(waypoints: u32) -> String {
    swing_from(waypoints, 0.0)
}

/// Returns the motion of [`swing`], but beginning with joint 1 this far from home \[rad\].
fn swing_from(waypoints: u32, base: f64) -> String {
    let mut table = String::from("t,q0,q1,q2,q3,q4,q5\n");
    for i in 0..=waypoints {
        let share = f64::from(i) / f64::from(waypoints);
        let off = 0.25 - 0.25 * (share * std::f64::consts::TAU).cos();
        write!(table, "{:.6}", share * 4.0).expect("room");
        let home = HOME.iter().zip([base, 0.0, 0.0, 0.0, 0.0, 0.0]);
        home.for_each(|(q, base)| write!(table, ",{:.7}", q + base + off).expect("room"));
        table.push('\n');
    }
    table
}

/// The thresholds of the engine with which it tolerates standstills of up to 0.2 s of the computer that runs the tests.
/// The tests are about motions, not about timing.
pub(crate) const PATIENT: &str = r"
[session]
expert.hold = 0.2
expert.stale_after = 0.2
expert.state_timeout = 0.2
expert.stall = 1.0

[session.expert.grade.ok]
received = 0.5
delay = 0.02
jitter = 0.02
misses = 90

[session.expert.grade.bad]
received = 0.4
delay = 0.03
jitter = 0.03
misses = 100
";

/// Writes a configuration for this controller, with the keys in `lines` and the thresholds [`PATIENT`], and returns its
/// path.
fn patient(server: &Running, name: &str, lines: &str) -> PathBuf {
    let base = server.port_base();
    let text = format!("robot.address = \"127.0.0.1:{base}\"\nlaw.kind = \"joint-servo\"\n{lines}\n{PATIENT}");
    file(&format!("{name}-{base}.toml"), &text)
}

/// Runs `outrigger move` with this configuration. If a standstill of this machine kept the motion from beginning or
/// continuing, the test is repeated.
pub(crate) fn sent_to(config: &Path, args: &[&str]) -> Output {
    let clock = Clock::start();
    let mut command = Command::new(outrigger_system::program());
    let done = command.arg("move").arg(config).args(args).stdin(Stdio::null()).output().expect("the binary under test");
    let said = text(&done.stdout) + &text(&done.stderr);
    let of_lateness = LATENESS.iter().any(|reason| said.contains(reason.name()));
    if done.status.code() != Some(0) && (of_lateness || said.contains("was not granted")) {
        late(clock.window(SimTime::ZERO, clock.now()), said);
    }
    done
}

fn moved(server: &Running, file: &Path, args: &[&str]) -> Output {
    sent_to(&patient(server, "robot", ""), &[&[file.to_str().expect("text")], args].concat())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_motion_of_a_thousand_waypoints_is_followed_and_plotted_and_its_recording_replays() {
    attempt_first(|| {
        let server = serve();
        let (page, recording) = (file("page.html", ""), file("recording.mcap", ""));
        std::fs::remove_file(&recording).expect("it was written");
        let (page_arg, recording_arg) = (page.to_str().expect("text"), recording.to_str().expect("text"));
        let done = moved(
            &server,
            &file("thousand.csv", &swing(1_000)),
            &["--report", page_arg, "--record", recording_arg, "--json"],
        );
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let end: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one object");
        assert_eq!((end["done"].as_bool(), end["fallback"].is_null()), (Some(true), true), "{end}");
        assert!(end["end_error"].as_f64().expect("a number") < 2e-3, "{end}");
        let page = std::fs::read_to_string(page).expect("a page");
        assert!(page.contains("Joint angles") && page.contains("✓ done"), "{} bytes", page.len());
        let replayed = outrigger_system::computing().arg("replay").arg(&recording).output().expect("it runs");
        assert_eq!(replayed.status.code(), Some(0), "{}{}", text(&replayed.stdout), text(&replayed.stderr));

        // The recorded motion of the arm can be used as a motion file.
        let again = moved(&server, &recording, &["--json"]);
        assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
        let end: serde_json::Value = serde_json::from_slice(&again.stdout).expect("one object");
        assert!(
            end["done"].as_bool() == Some(true) && end["elapsed"].as_f64().is_some_and(|s| (3.0..4.5).contains(&s)),
            "{end}"
        );
    });
}

#[test]
fn a_program_on_the_controller_follows_it_as_well() {
    attempt_first(|| {
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).expect("a free port").port();
        let server = serve();
        let config = patient(&server, "servo", &format!("program.expert.port = {port}"));
        let motion = file("servo.csv", &swing(100));
        let done = sent_to(&config, &[motion.to_str().expect("text"), "--mode", "servo"]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        assert!(text(&done.stdout).starts_with("Done. Max. tracking error "), "{}", text(&done.stdout));
    });
}

/// Starts a simulated controller with a protective stop about 1.5 s into the motion. The stop is unlocked after 6 s.
fn stopped_on_the_way() -> Running {
    let mut controller = Controller::new(Options::for_software(SoftwareVersion::new(5, 15))).expect("a controller");
    controller.inject(Fault::parse("protective-stop@4s:6s").expect("a fault"));
    Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 53_000).expect("free ports").spawn().expect("a thread")
}

#[test]
fn a_motion_that_is_stopped_says_where_it_stands_and_goes_on_by_word_alone() {
    attempt_first(|| {
        let server = stopped_on_the_way();
        let table = file("stopped.csv", &swing(100));
        let ended = moved(&server, &table, &["--mode", "stream"]);
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(4), "{said}");
        assert!(said.contains("(ProtectiveStop)") && said.contains(" of 4.0 s, and will not continue"), "{said}");

        let server = stopped_on_the_way();
        let motion = outrigger::Motion::read(&table).expect("a motion");
        let robot = outrigger::Robot::ur(&format!("127.0.0.1:{}", server.port_base())).expect("a robot");
        let config = AnyConfiguration::load(&patient(&server, "resumed", "")).expect("a configuration");
        let AnyConfiguration::Ur(RunsOn::Host(host)) = config else { panic!("a host's") };
        let robot = robot.with_config(host.control.engine());
        let mut asked = Vec::new();
        let clock = Clock::start();
        let followed = robot.follow_resuming(&motion, |stopped| {
            asked.push(*stopped);
            asked.len() < 20
        });
        let followed = followed.expect("a session");
        if asked.iter().any(|stopped| stopped.reason.is_some_and(|reason| LATENESS.contains(&reason))) {
            late(clock.window(SimTime::ZERO, clock.now()), format!("{asked:?}"));
        }
        assert!(followed.is_done && followed.end_error.max_abs() < 2e-3, "{followed:?}, asked {asked:?}");
        assert!(asked.iter().all(|stopped| stopped.reason == Some(Reason::ProtectiveStop)), "{asked:?}");
        // The callback is called again while the protective stop persists. The suspended motion keeps its position.
        assert!(asked.len() > 1 && asked.iter().all(|stopped| stopped.elapsed == asked[0].elapsed), "{asked:?}");
    });
}

#[test]
fn what_cannot_be_followed_is_refused_before_anything_moves() {
    attempt_first(|| {
        let server = serve();
        let far = swing(100).replace("0.000000,0.0000000,", "0.000000,1.0000000,");
        let fast: String = swing(100).lines().enumerate().fold(String::new(), |mut table, (i, line)| {
            // The same motion in a quarter of the time.
            let (time, rest) = line.split_once(',').expect("columns");
            match i {
                0 => writeln!(table, "{line}").expect("room"),
                _ => writeln!(table, "{:.6},{rest}", time.parse::<f64>().expect("a time") / 4.0).expect("room"),
            }
            table
        });
        let there = format!("1,{}\n", HOME.map(|q| format!("{q:.7}")).join(","));
        for (name, table, code, expected) in [
            ("fast.csv", fast, 1, "on the way to waypoint 1 joint 1 would reach"),
            ("far.csv", far, 1, "on the way to waypoint 1 joint 1 would reach"),
            ("elsewhere.csv", swing_from(100, 1.0), 1, "joint 1 is 1.000 rad from the start of the motion"),
            ("cut.csv", swing(100).trim_end().to_owned(), 1, "is the file complete?"),
            ("there.csv", there, 0, "Done. The arm is there already, final error 0.00 mrad"),
            ("point.json", "{\"points\": [{\"positions\": []}]}".into(), 1, "points[0]: found no 'time_from_start'"),
        ] {
            let refused = moved(&server, &file(name, &table), &[]);
            let said = text(&refused.stderr) + &text(&refused.stdout);
            assert_eq!(refused.status.code(), Some(code), "{name}: {said}");
            assert!(said.contains(expected), "{name}: {said}");
        }
        let checked = moved(&server, &file("check.csv", &swing(100)), &["--check"]);
        assert_eq!(checked.status.code(), Some(0));
        assert!(
            text(&checked.stdout).contains("101 waypoints in 4.000 s, within the limits"),
            "{}",
            text(&checked.stdout)
        );
    });
}

#[test]
fn a_motion_of_no_length_is_done_where_the_arm_is_and_refused_elsewhere_and_nothing_is_sent() {
    let server = serve();
    server.controller().keep_texts();
    let row = |at: u8, base: f64| {
        let base = [base, 0.0, 0.0, 0.0, 0.0, 0.0];
        let home: String = HOME.iter().zip(base).fold(String::new(), |mut row, (q, base)| {
            write!(row, ",{:.7}", q + base).expect("room");
            row
        });
        format!("{at}{home}\n")
    };
    let point = |at: u8| {
        format!(r#"{{"positions": {HOME:?}, "velocities": [1e-4, 0, 0, 0, 0, -1e-15], "time_from_start": {at}}}"#)
    };
    let (done, elsewhere) = ("Done. The arm is there already", "joint 1 is 0.100 rad from the motion's only position");
    for (name, motion, code, said) in [
        ("one.csv", row(0, 0.0), 0, done),
        ("same.csv", row(0, 0.0) + &row(5, 0.0) + &row(9, 0.0), 0, done),
        ("one.json", format!("{{\"points\": [{}]}}", point(0)), 0, done),
        ("same.json", format!("{{\"points\": [{}, {}]}}", point(0), point(3)), 0, done),
        ("beside.csv", row(0, 0.1), 1, elsewhere),
        ("stays-beside.csv", row(0, 0.1) + &row(4, 0.1), 1, elsewhere),
        ("none.csv", "t,q0,q1,q2,q3,q4,q5\n".into(), 1, "found no waypoint"),
        ("none.json", "{\"points\": []}".into(), 1, "points: found no waypoint, expected at least one"),
    ] {
        let motion = file(name, &motion);
        for mode in ["stream", "servo", "player", "pass-through"] {
            let ended = moved(&server, &motion, &["--mode", mode]);
            let found = text(&ended.stdout) + &text(&ended.stderr);
            assert!(ended.status.code() == Some(code) && found.contains(said), "{name} {mode}: {found}");
        }
    }
    let home = HOME.map(|q| format!("{q:.7}")).join(",");
    let there = sent_to(&patient(&server, "there", ""), &["--to", &format!("q={home}")]);
    assert_eq!(there.status.code(), Some(0), "{}", text(&there.stderr));
    let texts = server.controller().texts().to_vec();
    assert!(texts.is_empty(), "{texts:?}");
}

/// Starts a simulated controller with this software. Returns it with the path of a configuration that has its address,
/// and a free port of this host to which a program on the controller, such as the player of whole motions, connects.
fn with_player(software: SoftwareVersion) -> (Running, PathBuf) {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).expect("a free port").port();
    let controller = Controller::new(Options::for_software(software)).expect("a controller");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 54_000).expect("free ports");
    let server = server.spawn().expect("a thread");
    let config = patient(&server, "player", &format!("program.expert.port = {port}"));
    (server, config)
}

#[test]
fn the_controller_takes_the_arm_to_one_place_on_each_generation_and_what_it_cannot_is_refused() {
    attempt_first(|| {
        for (major, minor) in [(5, 15), (3, 15), (10, 11)] {
            let (server, config) = with_player(SoftwareVersion::new(major, minor));
            let recording = file(&format!("to-{major}.mcap"), "");
            std::fs::remove_file(&recording).expect("it was written");
            let to = "q=0.4,-1.3,-1.5707964,-1.5707964,1.5707964,-0.3";
            let done = sent_to(&config, &["--to", to, "--json", "--record", recording.to_str().expect("text")]);
            assert_eq!(done.status.code(), Some(0), "{major}.{minor}: {}", text(&done.stderr));
            let end: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one object");
            assert_eq!((end["done"].as_bool(), end["fallback"].is_null()), (Some(true), true), "{end}");
            assert!(end["end_error"].as_f64().expect("a number") < 2e-3, "{end}");
            let q = server.controller().truth().q;
            assert!((q[0] - 0.4).abs() < 2e-3 && (q[5] + 0.3).abs() < 2e-3, "{major}.{minor}: {q:?}");
            let replayed = outrigger_system::computing().arg("replay").arg(&recording).output().expect("it runs");
            assert_eq!(replayed.status.code(), Some(0), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
            let again = sent_to(&config, &["--to", "q=0.0,-1.5,-1.5707964,-1.5707964,1.5707964,0.0", "--speed", "0.9"]);
            assert_eq!(again.status.code(), Some(0), "{major}.{minor}: {}", text(&again.stderr));
            assert!(text(&again.stdout).starts_with("Done. Final error "), "{}", text(&again.stdout));
            for (args, said) in [
                (&["--to", "q=7,0,0,0,0,0"][..], "joint 1: found 7 rad, expected"),
                (&["--to", "q=1,0,0,0,0,0", "--speed", "5"][..], "found speed 5, expected at most 1"),
            ] {
                let refused = sent_to(&config, args);
                assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
                assert!(text(&refused.stderr).contains(said), "{}", text(&refused.stderr));
            }
        }
    });
}

#[test]
fn the_controller_takes_the_tool_to_a_pose_and_along_a_line_and_that_replays() {
    attempt_first(|| {
        for (major, minor) in [(5, 15), (3, 15)] {
            let (server, config) = with_player(SoftwareVersion::new(major, minor));
            let recording = file(&format!("pose-{major}.mcap"), "");
            std::fs::remove_file(&recording).expect("it was written");
            let tool = || server.controller().truth().tool().to_pose();
            let [x, y, z, rx, ry, rz] = tool();
            let beside = |dx: f64, dy: f64, dz: f64| format!("pose={},{},{},{rx},{ry},{rz}", x + dx, y + dy, z + dz);
            for (n, (to, args)) in [
                (beside(-0.1, 0.1, 0.0), &["--speed", "0.9"][..]),
                (beside(-0.1, 0.25, 0.05), &["--linear", "--speed", "0.2", "--acceleration", "1"]),
                ("q=0.0,-1.5707964,-1.5707964,-1.5707964,1.5707964,0.0".into(), &["--linear", "--speed", "0.25"]),
            ]
            .into_iter()
            .enumerate()
            {
                let whole = ["--json", "--record", recording.to_str().expect("text")];
                let rest = if n == 1 { &whole[..] } else { &whole[..1] };
                let done = sent_to(&config, &[&["--to", &to], args, rest].concat());
                assert_eq!(done.status.code(), Some(0), "{major}.{minor} {to}: {}", text(&done.stderr));
                let end: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one object");
                assert_eq!((end["done"].as_bool(), end["fallback"].is_null()), (Some(true), true), "{end}");
                let error = |key: &str| end[key].as_f64().unwrap_or_else(|| panic!("{key} in {end}"));
                assert!(error("end_distance") < 2e-3 && error("end_turn") < 5e-3, "{end}");
            }
            let off = tool().iter().zip([x, y, z]).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!(off < 2e-3, "{major}.{minor}: {off} m from where it began");
            let replayed = outrigger_system::computing().arg("replay").arg(&recording).output().expect("it runs");
            assert_eq!(replayed.status.code(), Some(0), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
        }
    });
}

#[test]
fn a_pose_that_cannot_be_is_refused_and_said_why() {
    attempt_first(|| {
        let (server, config) = with_player(SoftwareVersion::new(5, 15));
        let at = server.controller().truth().q;
        for (args, code, said) in [
            (&["--to", "pose=0.4,0,0.3,0,3.14"][..], 2, "found 5 numbers"),
            (&["--to", "pose=0.4,0,0.3,0,nan,0"], 2, "found 'nan', expected a number"),
            (&["--to", "pose=400mm,0,300mm,0,3.14,0"], 2, "found '400mm', expected a number"),
            (&["--to", "tool=0.4,0,0.3,0,3.14,0"], 2, "expected q= and six angles"),
            (&["there.csv", "--linear"], 2, "cannot be used with"),
            (&["--to", "pose=400,0,300,0,3.14,0"], 1, "500.0 m from the base, expected at most 5: x, y and z are in m"),
            (&["--to", "pose=0.4,0,0.3,0,180,0"], 1, "found a rotation of 180.00 rad, expected at most 2π"),
            (&["--to", "pose=0.4,0,0.3,0,3,0", "--linear", "--speed", "4"], 1, "found speed 4, expected at most 3 m/s"),
            (&["--to", "pose=0.4,0,0.3,0,3,0", "--speed", "4"], 1, "found speed 4, expected at most 1 rad/s (limits)"),
            (&["--to", "pose=1.4,0.3,0.3,0,3.14,0"], 1, "finds no joint angles for the pose"),
            (&["--to", "pose=1.4,0.3,0.3,0,3.14,0", "--linear"], 1, "choose a pose nearer to the base"),
        ] {
            let refused = sent_to(&config, args);
            let told = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(code), "{args:?}: {told}");
            assert!(told.contains(said), "{args:?}: {told}");
        }
        let moved = server.controller().truth().q.iter().zip(at).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved < 1e-3, "{moved} rad");
        drop(server);

        // Before software 3.15 and 5.10 a controller reports this by ending the program.
        let (_server, config) = with_player(SoftwareVersion::new(5, 4));
        let refused = sent_to(&config, &["--to", "pose=1.4,0.3,0.3,0,3.14,0"]);
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(4), "{told}");
        assert!(told.contains("ended while it looked for the joint angles of the pose"), "{told}");
    });
}

#[test]
fn the_controller_makes_a_whole_motion_by_itself_on_each_generation() {
    attempt_first(|| {
        for (major, minor) in [(5, 15), (3, 15), (10, 11)] {
            let (server, config) = with_player(SoftwareVersion::new(major, minor));
            let (page, motion) = (file(&format!("player-{major}.html"), ""), file("player.csv", &swing(1_000)));
            let args = ["--mode", "player", "--json", "--report", page.to_str().expect("text")];
            let done = sent_to(&config, &[&[motion.to_str().expect("text")], &args[..]].concat());
            assert_eq!(done.status.code(), Some(0), "{major}.{minor}: {}", text(&done.stderr));
            let end: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one object");
            assert_eq!((end["done"].as_bool(), end["fallback"].is_null()), (Some(true), true), "{end}");
            assert!(end["end_error"].as_f64().expect("a number") < 2e-3, "{end}");
            assert!(end["worst_error"].as_f64().expect("a number") < 0.05, "{end}");
            let page = std::fs::read_to_string(page).expect("a page");
            assert!(
                page.contains("Joint angles") && page.contains("✓ done") && page.contains("player"),
                "{} bytes",
                page.len()
            );
            drop(server);
        }
    });
}

/// Starts a simulated controller with a protective stop during the motion. Returns it with the path of a configuration
/// like that of [`with_player`].
fn with_player_that_is_stopped() -> (Running, PathBuf) {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).expect("a free port").port();
    let server = stopped_on_the_way();
    let config = patient(&server, "player-stopped", &format!("program.expert.port = {port}"));
    (server, config)
}

#[test]
fn a_motion_of_the_controllers_that_is_stopped_says_where_it_stands_and_goes_on_by_word_alone() {
    attempt_first(|| {
        let table = file("player-stopped.csv", &swing(100));
        let (server, config) = with_player_that_is_stopped();
        let ended = sent_to(&config, &[table.to_str().expect("text"), "--mode", "player"]);
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(4), "{said}");
        assert!(said.contains("(ProtectiveStop)") && said.contains(" of 4.0 s, and will not continue"), "{said}");
        drop(server);

        let (server, config) = with_player_that_is_stopped();
        let recording = file("player-stopped.mcap", "");
        std::fs::remove_file(&recording).expect("it was written");
        let motion = outrigger::Motion::read(&table).expect("a motion");
        let robot = outrigger::Robot::ur(&format!("127.0.0.1:{}", server.port_base())).expect("a robot");
        let AnyConfiguration::Ur(RunsOn::Host(host)) = AnyConfiguration::load(&config).expect("a configuration") else {
            panic!("a host's")
        };
        let robot = robot.with_config(host.control.engine()).recording_to(&recording);
        let mut asked = Vec::new();
        let clock = Clock::start();
        let followed = robot.play_resuming(&motion, |stopped| {
            asked.push(*stopped);
            asked.len() < 20
        });
        let followed = followed.expect("a session");
        if asked.iter().any(|stopped| stopped.reason.is_some_and(|reason| LATENESS.contains(&reason))) {
            late(clock.window(SimTime::ZERO, clock.now()), format!("{asked:?}"));
        }
        assert!(followed.is_done && followed.end_error.max_abs() < 5e-3, "{followed:?}, asked {asked:?}");
        assert!(asked.iter().all(|stopped| stopped.reason == Some(Reason::ProtectiveStop)), "{asked:?}");
        // The callback is called again while the protective stop persists. The suspended motion keeps its position.
        assert!(asked.len() > 1 && asked.iter().all(|stopped| stopped.elapsed == asked[0].elapsed), "{asked:?}");
        let replayed = outrigger_system::computing().arg("replay").arg(&recording).output().expect("it runs");
        assert_eq!(replayed.status.code(), Some(0), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
    });
}

#[test]
fn external_control_makes_a_whole_motion_by_itself_and_its_recording_replays() {
    attempt_first(|| {
        for (major, minor) in [(5, 15), (3, 15)] {
            let listeners = [0; 3].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port"));
            let [port, trajectory, command] = listeners.map(|listener| listener.local_addr().expect("bound").port());
            let controller =
                Controller::new(Options::for_software(SoftwareVersion::new(major, minor))).expect("a controller");
            let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 54_000).expect("free ports");
            let server = server.spawn().expect("a thread");
            let lines = format!(
                "program.expert = {{ port = {port}, trajectory_port = {trajectory}, command_port = {command} }}"
            );
            let config = patient(&server, "pass-through", &lines);
            let motion = file("pass-through.csv", &swing(1_000));
            let recording = file(&format!("pass-through-{major}.mcap"), "");
            std::fs::remove_file(&recording).expect("it was written");
            let args = [motion.to_str().expect("text"), "--mode", "pass-through", "--json", "--record"];
            let done = sent_to(&config, &[&args[..], &[recording.to_str().expect("text")]].concat());
            assert_eq!(done.status.code(), Some(0), "{major}.{minor}: {}", text(&done.stderr));
            let end: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one object");
            assert_eq!((end["done"].as_bool(), end["fallback"].is_null()), (Some(true), true), "{end}");
            assert!(end["end_error"].as_f64().expect("a number") < 5e-3, "{end}");
            assert!(end["worst_error"].as_f64().expect("a number") < 0.05, "{end}");
            let replayed = outrigger_system::computing().arg("replay").arg(&recording).output().expect("it runs");
            assert_eq!(replayed.status.code(), Some(0), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
            drop(server);
        }
    });
}

#[test]
fn a_motion_that_the_controller_could_not_make_is_refused_before_it_moves() {
    attempt_first(|| {
        let (server, config) = with_player(SoftwareVersion::new(5, 15));
        let jagged = swing(1_000).lines().enumerate().fold(String::new(), |mut table, (i, line)| {
            // Moves each hundredth waypoint off the path.
            let line = if i % 100 == 50 { line.replacen(",0.", ",0.1", 1) } else { line.to_owned() };
            writeln!(table, "{line}").expect("room");
            table
        });
        for (name, table, expected) in [
            ("player-beside.csv", swing_from(100, 0.1), "joint 1 is 0.100 rad from the start of the motion"),
            ("player-jagged.csv", jagged, "waypoint "),
        ] {
            let motion = file(name, &table);
            let refused = sent_to(&config, &[motion.to_str().expect("text"), "--mode", "player"]);
            let said = text(&refused.stderr) + &text(&refused.stdout);
            assert_eq!(refused.status.code(), Some(1), "{name}: {said}");
            assert!(said.contains(expected), "{name}: {said}");
        }
        assert!(server.controller().truth().at_rest());
    });
}

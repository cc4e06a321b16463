//! The command `outrigger move` beside a simulated KRC, over the kernel's UDP.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use outrigger_emulated::tries::attempt_first;

use crate::moves::{sent_to, text};
use crate::port;

/// A running simulated KRC. Dropping it ends the process.
pub(crate) struct Krc(Child);

impl Krc {
    pub(crate) fn start(port: u16, more: &[&str]) -> Self {
        let mut command = Command::new(outrigger_system::program());
        command.args(["sim", "krc", "--remote", &format!("127.0.0.1:{port}")]).args(more);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(quiet.spawn().expect("the binary under test"))
    }
}

impl Drop for Krc {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn file(port: u16, name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("move-krc-{port}-{name}"));
    std::fs::write(&path, text).expect("room for a file");
    path
}

/// A threshold that tolerates standstills of this machine, because the tests are about motions. The time for which
/// states may be missing keeps its default: the arm is assumed to coast for so long, and must have room for that.
const PATIENT: &str = "session.expert.stall = 0.2
";

fn configuration(port: u16) -> PathBuf {
    let robot = format!("robot = {{ kind = \"krc\", listen = \"127.0.0.1:{port}\" }}");
    file(port, "krc.toml", &format!("{robot}\nlaw.kind = \"joint-servo\"\n{PATIENT}"))
}

/// The joint angles of the simulated arm at the start \[rad\].
pub(crate) const HOME: [f64; 7] = [0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0];

/// Returns a motion of all seven joints by a quarter of a radian and back in three seconds.
pub(crate) fn swing(waypoints: u32) -> String {
    let mut table = String::from("t,q0,q1,q2,q3,q4,q5,q6\n");
    for number in 0..=waypoints {
        let share = f64::from(number) / f64::from(waypoints);
        let off = 0.125 - 0.125 * (share * std::f64::consts::TAU).cos();
        write!(table, "{:.6}", share * 3.0).expect("room");
        HOME.iter().for_each(|q| write!(table, ",{:.7}", q + off).expect("room"));
        table.push('\n');
    }
    table
}

fn moved(config: &Path, motion: &Path, more: &[&str]) -> Output {
    sent_to(config, &[&[motion.to_str().expect("text")], more].concat())
}

/// Follows `motion` with `outrigger move` beside a simulated KRC with this period \[ms\]. Returns the largest tracking
/// error of a joint \[rad\].
fn followed(period_ms: u64, motion: (&str, &str), more: &[&str]) -> f64 {
    let port = port::free();
    let _krc = Krc::start(port, &["--period-ms", &period_ms.to_string()]);
    let done = moved(&configuration(port), &file(port, motion.0, motion.1), &[&["--json"], more].concat());
    let said = text(&done.stdout) + &text(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{period_ms} ms: {said}");
    let end: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one object");
    assert_eq!((end["done"].as_bool(), end["fallback"].is_null()), (Some(true), true), "{said}");
    assert!(end["end_error"].as_f64().expect("a number") < 3e-3, "{said}");
    end["worst_error"].as_f64().expect("a number")
}

#[test]
fn a_motion_of_a_thousand_waypoints_is_followed_at_short_and_long_periods() {
    attempt_first(|| {
        for (period, worst) in [(4, 0.02), (12, 0.03), (100, 0.08)] {
            let off = followed(period, ("swing.csv", &swing(1_000)), &[]);
            assert!(off < worst, "{period} ms: {off} rad");
        }
    });
}

#[test]
fn names_by_number_the_page_and_the_recording_are_those_of_seven_joints() {
    attempt_first(|| {
        // The joints are in another order and named by number. The motion begins at the position of the arm.
        let names = [6, 5, 4, 3, 2, 1, 0].map(|number| format!("\"lwr_joint_{number}\"")).join(",");
        let goal: Vec<String> = HOME.iter().rev().map(|q| format!("{}", q + 0.1)).collect();
        let goal = goal.join(",");
        let point = format!("{{\"positions\": [{goal}], \"time_from_start\": {{\"sec\": 2, \"nanosec\": 0}}}}");
        let motion = format!("{{\"joint_names\": [{names}], \"points\": [{point}]}}");
        let number = port::free();
        let [page, recording] = ["page.html", "recording.mcap"].map(|name| file(number, name, ""));
        std::fs::remove_file(&recording).expect("it was written");
        let [page_arg, recording_arg] = [&page, &recording].map(|path| path.to_str().expect("text"));
        followed(5, ("there.json", &motion), &["--report", page_arg, "--record", recording_arg]);
        let page = std::fs::read_to_string(page).expect("a page");
        assert!(page.contains("E1, target") && page.contains("A6, actual") && page.contains("by FRI"), "{page:.400}");
        let replayed =
            outrigger_system::computing().arg("replay").arg(&recording).output().expect("the binary under test");
        assert_eq!(replayed.status.code(), Some(0), "{}{}", text(&replayed.stdout), text(&replayed.stderr));
        std::fs::remove_file(recording).expect("it is there");
    });
}

#[test]
fn what_a_krc_does_not_have_or_its_cycle_is_too_long_for_is_refused_before_anything_moves() {
    let port = port::free();
    let config = configuration(port);
    let swing = swing(100);
    let fits = file(port, "fits.csv", &swing);
    let six: String = swing.lines().map(|line| line.rsplit_once(',').expect("columns").0.to_owned() + "\n").collect();
    for (motion, more, code, expected) in [
        (&fits, ["--mode", "servo"].as_slice(), 2, "found --mode servo, which is a UR's"),
        (&fits, &["--robot", "127.0.0.1"], 2, "a KRC sends by itself"),
        (&file(port, "six.csv", &six), &["--check"], 1, "expected 8 (t and 7 angles)"),
    ] {
        let refused = moved(&config, motion, more);
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(code) && said.contains(expected), "{more:?}: {said}");
    }
    let checked = moved(&config, &fits, &["--check"]);
    assert!(text(&checked.stdout).contains("101 waypoints in 3.000 s, within the limits"), "{}", text(&checked.stderr));

    // The last joint moves back and forth between two cycles of 100 ms.
    let row = |number: u32| {
        let off = if number % 2 == 1 { 0.001 } else { 0.0 };
        let [a, b, c, d, e, f, g] = HOME;
        format!("{:.6},{a},{b},{c},{d},{e},{f},{}\n", f64::from(number) * 0.015, g + off)
    };
    let tremble = file(port, "tremble.csv", &(0..=200).map(row).collect::<String>());
    let text_of = std::fs::read_to_string(&config).expect("it was written");
    let agile = file(port, "agile.toml", &(text_of + "limits.acceleration = [2, 2, 2, 2, 2, 2, 30]\n"));
    let _krc = Krc::start(port, &["--period-ms", "100"]);
    for (config, expected) in [
        (&config, "on the way to waypoint 1 joint 7 would reach"),
        (&agile, "would be passed at 0.001 rad: it is less than 25 ms from another"),
    ] {
        let refused = moved(config, &tremble, &["--path-tolerance", "0.005"]);
        let said = text(&refused.stderr);
        assert!(refused.status.code() == Some(1) && said.contains(expected), "{said}");
    }
}

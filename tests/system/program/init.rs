//! The command `outrigger init`: a first configuration, and answers that are not possible.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::port;
use outrigger_emulated::clock::Clock;
use outrigger_emulated::tries::{attempt_first, in_time};
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::Server;
use outrigger_sim::time::SimTime;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("init-{name}"));
        // Removes the folder of an earlier, failed test.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a directory");
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("robot.toml")
    }

    /// Runs `init` without a terminal, as scripts do.
    fn init(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(outrigger_system::program());
        command.arg("init").args(arguments).arg("--out").arg(self.file()).stdin(Stdio::null());
        command.output().expect("the program")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn it_asks_the_robot_which_arm_it_is_and_never_goes_over_a_file() {
    let controller = Controller::new(Options::default()).expect("an arm");
    let server = Server::bind_from(controller, std::net::Ipv4Addr::LOCALHOST.into(), 44_000).expect("free ports");
    let running = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", running.port_base());
    let folder = Folder::new("asks");
    let sensor = format!("udp:127.0.0.1:{}", port::free());
    let arguments = [&robot, "--task", "standoff", "--sensor", &sensor, "--no-doctor"];
    let output = folder.init(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    let written = std::fs::read_to_string(folder.file()).expect("a file");
    assert!(written.contains("model = \"ur5e\"          # or \"ur7e\""), "{written}");
    assert!(written.contains("position_min = [") && written.contains(&sensor["udp:".len()..]), "{written}");

    let output = folder.init(&arguments);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("exists and was not changed"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(folder.file()).expect("a file"), written);
}

#[test]
fn what_cannot_be_is_told_with_what_to_do_and_nothing_is_written() {
    let nobody = format!("127.0.0.1:{}", port::free());
    let away = ["--model", "ur5", "--polyscope", "3.15"];
    for (arguments, code, told) in [
        (vec![&*nobody, "--task", "servo"], 3, "with --model and --polyscope the file is written without the robot"),
        (vec![&*nobody], 2, "no terminal for questions: give --task standoff, force or servo"),
        ([&[&*nobody, "--task", "force"], &away[..]].concat(), 2, "give --sensor; expected udp:PORT"),
        ([&[&*nobody, "--task", "servo", "--sensor", "udp:5"], &away[..]].concat(), 2, "task servo uses no sensor"),
        (
            [&[&*nobody, "--task", "standoff", "--sensor", "udp:5", "--distance", "9"], &away[..]].concat(),
            1,
            "no file written",
        ),
    ] {
        let folder = Folder::new("refuses");
        let output = folder.init(&arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(told), "{arguments:?}: {}", text(&output.stderr));
        assert!(!folder.file().exists(), "{arguments:?}");
    }
    let output = Command::new(outrigger_system::program())
        .args(["init", &nobody, "--out", "/nowhere/robot.toml", "--task", "servo"])
        .output()
        .expect("the program");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write into /nowhere"), "{}", text(&output.stderr));
}

/// Checks each task of `outrigger init` with `--dry-run`: the simulated arm is commanded, and the run ends well.
#[test]
fn each_task_is_tried_on_a_simulated_arm() {
    attempt_first(|| {
        for task in ["standoff", "force", "servo"] {
            let clock = Clock::start();
            let nobody = format!("127.0.0.1:{}", port::free());
            let folder = Folder::new(task);
            let mut arguments = vec![&*nobody, "--task", task, "--model", "ur5e", "--polyscope", "5.15"];
            arguments.extend(["--dry-run", "12"]);
            if task != "servo" {
                arguments.extend(["--sensor", "udp:5005"]);
            }
            let output = folder.init(&arguments);
            let said = text(&output.stdout) + &text(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{task}: {said}");
            let well = said.contains("Arming → Command") && !said.contains("the dry run failed");
            in_time(clock.window(SimTime::ZERO, clock.now()), well, || format!("{task}: {said}"));
        }
    });
}

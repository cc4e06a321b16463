//! Commands whose output has no reader (`| head`). They end with a documented exit code, without a panic.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::Server;

/// The output of the command that has no reader.
#[derive(Clone, Copy, Debug)]
enum Closed {
    Output,
    Error,
    Both,
}

/// Runs a command of which the outputs in `closed` have no reader. Returns its exit code; `None` if a signal ended it.
fn code(arguments: &[&str], closed: Closed) -> Option<i32> {
    let pipe = || {
        let (from, to) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe");
        drop(from);
        Stdio::from(to)
    };
    let mut command = Command::new(outrigger_system::program());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if matches!(closed, Closed::Output | Closed::Both) {
        command.stdout(pipe());
    }
    if matches!(closed, Closed::Error | Closed::Both) {
        command.stderr(pipe());
    }
    command.status().expect("the binary under test").code()
}

const ALL: [Closed; 3] = [Closed::Output, Closed::Error, Closed::Both];

#[test]
fn commands_that_need_no_robot_end_quietly() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("room");
        path.to_str().expect("UTF-8").to_owned()
    };
    let script = path("closed-pipe.script", &"set_flag(1, True)\n".repeat(40));
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../port-linux/cli/examples/half-turn.toml");
    let wrong = path("closed-pipe.toml", "[robot]\nadress = 1\n");
    let commands: [(&[&str], i32); 11] = [
        (&["--help"], 0),
        (&["nonsense"], 2),
        (&["ros2", "--help"], if cfg!(feature = "ros2") { 0 } else { 2 }),
        (&["example"], 0),
        (&["example", "half-turn"], 0),
        (&["completions", "bash"], 0),
        (&["check-config", config], 0),
        (&["check-config", &wrong], 1),
        (&["replay", config, &script], 1),
        (&["decode", "--port", "30003", config], 1),
        // Forty warnings, and no process listens on that port.
        (&["script", "127.0.0.1:1", &script], 3),
    ];
    for (arguments, expected) in commands {
        for closed in ALL {
            assert_eq!(code(arguments, closed), Some(expected), "{arguments:?}, closed: {closed:?}");
        }
    }
}

#[test]
fn commands_that_show_a_robot_without_an_end_end_when_nobody_reads() {
    let controller = Controller::new(Options::default()).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 52_000).expect("free ports");
    let running = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", running.port_base());
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("closed-pipe-loop.script");
    std::fs::write(&script, "def talk():\n while True:\n  textmsg(\"x\")\n  sleep(0.1)\n end\nend\n").expect("room");
    let commands: [&[&str]; 4] = [
        &["monitor", &robot],
        &["monitor", &robot, "--json"],
        &["io", &robot, "--live"],
        &["script", &robot, script.to_str().expect("UTF-8"), "--wait"],
    ];
    for arguments in commands {
        assert_eq!(code(arguments, Closed::Output), Some(0), "{arguments:?}");
    }
    assert!(running.controller().program().0, "the program runs on");
}

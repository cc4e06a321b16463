//! The reasons that `run` and `monitor` print for not being ready to command, without a terminal.

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::tcp::{Running, Server};

const STANDOFF: &str = "
[robot]
address = \"127.0.0.1\"

[law]
kind = \"standoff\"
source = \"distance\"
distance = 0.05

[[source]]
name = \"distance\"
input = \"udp\"
listen = \"127.0.0.1:0\"
range = [0.0, 0.5]

[run]
request = \"operator\"
";

fn simulated() -> (Running, String) {
    let controller = Controller::new(Options::default()).expect("the default arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 54_000).expect("free ports");
    let running = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", running.port_base());
    (running, robot)
}

fn start(arguments: &[&str]) -> Child {
    Command::new(outrigger_system::program())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary under test")
}

/// Waits until a process has ended and returns its output.
fn said(child: Child) -> String {
    String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("text")
}

#[test]
fn a_run_whose_sensor_says_nothing_says_so_again_and_again_and_no_number_that_nobody_measured() {
    let (_server, robot) = simulated();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("silent-sensor.toml");
    std::fs::write(&file, STANDOFF).expect("a file");
    let mut run = start(&["run", file.to_str().expect("UTF-8"), "--robot", &robot]);
    std::thread::sleep(std::time::Duration::from_secs(13));
    run.stdin.take().expect("piped").write_all(b"quit\n").expect("it reads");
    let said = said(run);
    let told = said.lines().filter(|line| line.contains("Not ready: ") && line.contains("(SourceStale)"));
    assert!(told.clone().count() >= 2, "{said}");
    assert!(told.clone().all(|line| line.contains("check the sensor and its cable")), "{said}");
    assert!(said.contains("distance no reading yet") && !said.contains("standoff error"), "{said}");
}

#[test]
fn a_monitor_beside_another_program_says_that_it_runs_and_once_it_has_ended_that_all_is_met() {
    let (server, robot) = simulated();
    let mut other = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port_base() + 3)).expect("30002");
    other.write_all(b"def other():\n  sleep(4)\nend\n").expect("taken");
    let said = said(start(&["monitor", &robot, "--duration", "8"]));
    let at = |words: &str| said.lines().position(|line| line.contains(words));
    let (foreign, met) = (at("(ForeignProgram)"), at("Ready to command"));
    assert!(foreign.is_some() && foreign < met, "{said}");
}

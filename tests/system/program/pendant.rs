//! The setting `run.expert.lock_pendant` beside a simulated CB3: the pendant is locked while the arm is commanded,
//! and unlocked however that ends.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::tcp::{Running, Server};
use outrigger_wire::robot::SoftwareVersion;

use super::ask::{Run, configuration, folder};

const LOCKS: &str = "[run]\nexpert.lock_pendant = true\n";

fn arm(base: u16) -> (Running, String) {
    let controller = Controller::new(Options::for_software(SoftwareVersion::new(3, 15))).expect("a CB3");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), base).expect("free ports");
    let running = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", running.port_base());
    (running, robot)
}

/// Sends a request to the dashboard server over a separate connection, and returns its answer.
fn ask(robot: &str, request: &str) -> String {
    let mut stream = BufReader::new(TcpStream::connect(robot).expect("a dashboard server"));
    let mut greeting = String::new();
    stream.read_line(&mut greeting).expect("a greeting");
    stream.get_mut().write_all(format!("{request}\n").as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_line(&mut answer).expect("an answer");
    answer.trim_end().to_owned()
}

/// Waits until the simulated pendant has this user role.
fn comes_to(robot: &str, role: &str) {
    let found = (0..200).any(|_| {
        sleep(Duration::from_millis(20));
        ask(robot, "getUserRole") == role
    });
    assert!(found, "{role}");
}

#[test]
fn a_pendant_is_locked_while_the_arm_is_commanded_and_a_run_after_one_that_was_killed_gives_it_back() {
    let folder = folder("pendant");
    let (arm, robot) = arm(58_000);
    let kept = folder.join(format!("outrigger/{robot}.pendant"));
    ask(&robot, "setUserRole operator");
    let mut run = Run::start(&folder, &robot, &format!("{}{LOCKS}", configuration(&robot)));
    // Commanding ends by a release.
    run.command_arm();
    comes_to(&robot, "LOCKED");
    assert_eq!(std::fs::read_to_string(&kept).expect("it is kept"), "operator\n");
    run.done(&["release", "--wait"]);
    comes_to(&robot, "OPERATOR");
    // Commanding ends by a fallback.
    run.command_arm();
    comes_to(&robot, "LOCKED");
    arm.controller().act(Action::ProtectiveStop);
    comes_to(&robot, "OPERATOR");
    sleep(Duration::from_secs(6));
    arm.controller().act(Action::UnlockProtectiveStop);
    // The run is killed, so that nothing restores the role.
    run.command_arm();
    comes_to(&robot, "LOCKED");
    run.child.kill().and_then(|()| run.child.wait()).expect("it dies");
    sleep(Duration::from_millis(500));
    assert_eq!(ask(&robot, "getUserRole"), "LOCKED");
    assert!(kept.exists());
    // The next run restores the role and does not lock the pendant itself.
    let mut next = Run::start(&folder, &robot, &configuration(&robot));
    comes_to(&robot, "OPERATOR");
    let told = next.until("\"kind\":\"pendant\"");
    assert!(told.contains("an earlier run left the pendant locked"), "{told}");
    next.ready();
    assert_eq!(next.quit().code, Some(0));
    assert!(!kept.exists());
    // The run ends while it commands.
    let run = Run::start(&folder, &robot, &format!("{}{LOCKS}", configuration(&robot)));
    run.command_arm();
    comes_to(&robot, "LOCKED");
    let ended = run.quit();
    assert_eq!(ask(&robot, "getUserRole"), "OPERATOR", "{:#?}", ended.said);
    assert!(
        ended.said.iter().any(|line| line.contains("the pendant's role is restored: operator")),
        "{:#?}",
        ended.said
    );
    assert!(!kept.exists());
}

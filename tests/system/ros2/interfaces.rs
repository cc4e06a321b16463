//! A node and a listener, both with default settings, on computers with several network interfaces.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use outrigger_emulated::namespace::Namespace;
use outrigger_emulated::require::{Need, python, workspace};
use outrigger_system::program;

use crate::cell::{Program, found_by, numbers, test};
use crate::{fast, rust};

/// The time limit for a listener to receive the first state \[s\]. The longest interval between two announcements of
/// RustDDS is 10 s.
const PATIENCE: &str = "12";
/// The least number of states that must arrive in 2 s. It is half of the 1000 sent, because the machine may be busy.
const STATES: f64 = 500.0;

/// Returns a command that runs `words` in the network namespace `computer`, which stands for a computer.
fn at(computer: &Namespace, words: &[&str]) -> Command {
    let prefix = computer.within();
    let mut command = Command::new(&prefix[0]);
    command.args(&prefix[1..]).args(words);
    command
}

/// Starts `outrigger` in the network namespace `computer`. Dropping the value ends it.
fn running(computer: &Namespace, words: &[&str]) -> Program {
    let mut command = at(computer, &[&[program()], words].concat());
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Program(silent.spawn().expect("it was built"))
}

/// Starts a simulated controller at the loopback interface of the network namespace `computer`, and waits until it
/// listens.
fn controller(computer: &Namespace) -> Program {
    let controller = running(computer, &["sim", "ur", "--polyscope", "5.15"]);
    let listens = || computer.inside(|| std::net::TcpStream::connect(("127.0.0.1", 30_004)));
    while listens().is_err() {
        std::thread::sleep(Duration::from_millis(20));
    }
    controller
}

/// Checks that `listener` receives the joint states of a node, on the node's computer and on another one, whichever of
/// the two programs starts first.
fn meets(listener: &[&str]) {
    let computers = Namespace::two_computers().expect("root");
    let _controller = controller(&computers[0]);
    let node = || running(&computers[0], &["ros2", "127.0.0.1"]);
    for (number, computer) in computers.iter().enumerate() {
        let judge = || found_by(&mut at(computer, &[listener, &["0", PATIENCE]].concat()), |deed| panic!("'{deed}'"));
        let after = {
            let _node = node();
            std::thread::sleep(Duration::from_secs(2));
            judge()
        };
        let before = std::thread::scope(|scope| {
            let judging = scope.spawn(judge);
            std::thread::sleep(Duration::from_secs(2));
            let _node = node();
            judging.join().expect("it is met")
        });
        for (order, found) in [("after the node", after), ("before the node", before)] {
            println!("computer {number}, {order}: {found:?}");
            assert!(numbers(&found, "states")[0] >= STATES, "computer {number}, {order}: {found:?}");
        }
    }
}

/// Returns the program and the script of the listener that uses Cyclone DDS.
fn by_cyclone() -> [String; 2] {
    [python(), workspace().join("tests/system/ros2/hears.py")].map(|path| path.to_string_lossy().into_owned())
}

fn cyclone() {
    let [python, script] = by_cyclone();
    meets(&[&python, &script]);
}

fn fast_dds() {
    let judge = fast::built("hears");
    meets(&[&judge.to_string_lossy()]);
}

fn ros2_client() {
    let judge = rust::built();
    let judge = judge.to_string_lossy();
    // This program takes the domain before the subcommand.
    meets(&["sh", "-c", "exec \"$0\" \"$1\" hears \"$2\"", &judge]);
}

/// Checks that a node without partners reports once where it listens and what to try, and that a node restricted to
/// loopback names the interface that another program uses.
fn nobody() {
    let computers = Namespace::two_computers().expect("root");
    let _controller = controller(&computers[0]);
    let said = at(&computers[0], &[program(), "ros2", "127.0.0.1", "--duration", "12"]).output().expect("it was built");
    let said = String::from_utf8_lossy(&said.stdout);
    let count = said.matches("no other ROS 2 program found in domain 0 at 127.0.0.1, 10.77.1.1, 10.77.2.1").count();
    assert!(count == 1 && said.contains("; no other ROS 2 program was found"), "{said}");
    let [python, script] = by_cyclone();
    let mut listener = at(&computers[0], &[&*python, &*script, "0", "30"]);
    let _listener = Program(listener.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("Python"));
    let words = [program(), "ros2", "127.0.0.1", "--interface", "127.0.0.1", "--duration", "12"];
    let said = at(&computers[0], &words).output().expect("it was built");
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(
        said.contains("uses the network interface 10.77.1.1 of this computer, but this node uses 127.0.0.1"),
        "{said}"
    );
}

/// Checks that programs on a network that was not selected are not discovered, even if they send everything by
/// multicast, as Cyclone DDS does with two or more partners. By default Linux delivers the multicast of every
/// interface to a socket.
fn others_are_kept_out() {
    let computers = Namespace::two_computers().expect("root");
    let _controller = controller(&computers[0]);
    let [python, script] = by_cyclone();
    let words = [program(), "ros2", "127.0.0.1", "--interface", "127.0.0.1", "--duration", "14"];
    let mut node = at(&computers[0], &words).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it was built");
    // Started one after the other, so that the first ones learn of the later ones by multicast.
    let mut others = vec![];
    for computer in [&computers[0], &computers[1], &computers[1], &computers[1], &computers[1]] {
        std::thread::sleep(Duration::from_secs(1));
        let mut other = at(computer, &[&*python, &*script, "0", "30"]);
        others.push(Program(other.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("Python")));
    }
    let mut said = String::new();
    node.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
    assert!(node.wait().expect("it ends").success(), "{said}");
    assert!(said.contains("; no other ROS 2 program was found"), "{said}");
}

pub(crate) fn tests() -> Vec<Trial> {
    const PYTHON: &[Need] = &[Need::Root, Need::Python];
    vec![
        test("cyclone_dds_by_default_meets_a_node_by_default", PYTHON, cyclone),
        test("fast_dds_by_default_meets_a_node_by_default", &[Need::Root, Need::FastDds], fast_dds),
        test("ros2_client_by_default_meets_a_node_by_default", &[Need::Root], ros2_client),
        test("a_node_that_is_kept_to_loopback_meets_nobody_of_a_network", PYTHON, others_are_kept_out),
        test("a_node_that_meets_nobody_says_where_it_listens", PYTHON, nobody),
    ]
}

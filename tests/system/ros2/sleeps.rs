//! ROS 2 programs, and a node, that are stopped (`SIGSTOP`) for longer than a lease. Afterwards data is exchanged
//! again, and nothing moves by itself.

use std::process::Command;

use libtest_mimic::Trial;
use outrigger_emulated::require::{Need, python};

use crate::cell::{Cell, Found, domain, node, numbers, robot, script_beside, test, version};
use crate::{fast, rust};

const PYTHON: &[Need] = &[Need::Python];
const FAST_DDS: &[Need] = &[Need::FastDds];
const NOTHING: &[Need] = &[];
/// The time limit from the end of a stop (`SIGSTOP`) until data is exchanged again \[s\].
const BOUND: f64 = 5.0;
/// The environment variable with the duration of [`soak`] \[s\].
const SECONDS: &str = "OUTRIGGER_ROS2_SOAK_SECONDS";

fn judged(found: &Found, of: &str) {
    for name in ["seen", "answered"] {
        if found.contains_key(name) {
            let [took] = numbers(found, name)[..] else { panic!("{of}: {found:#?}") };
            assert!(took < BOUND, "{of}: {found:#?}");
        }
    }
    assert_eq!(found["done"], "yes", "{of}");
    println!("{of}: {found:?}");
}

/// Checks with Cyclone DDS, whose lease is 10 s, that data is exchanged again after `who` was stopped: a reader, a
/// client, or the node, also while it commands or has just been sent a goal.
fn cyclone_dds(who: &str) {
    let mut cell = match who {
        "commanding" => Cell::commanding(version(5, 15), "reverse-speedj"),
        "asking" => Cell::requesting(version(5, 15), "reverse-speedj"),
        _ => Cell::looking(version(5, 15), &[]),
    };
    judged(&cell.judge_by("judge_sleeps.py", &[who]), who);
    let said = cell.said();
    match who {
        "node" | "commanding" | "asking" => assert!(said.contains("joined the domain again"), "{said}"),
        _ => assert!(said.contains("sends again"), "{said}"),
    }
}

/// Checks with Fast DDS, whose lease is 20 s, that data is exchanged again after `who`, a client or the node, was
/// stopped.
fn fast_dds(who: &str) {
    let program = fast::built("sleeps");
    let mut cell = Cell::looking(version(5, 15), &[]);
    let domain = cell.domain.to_string();
    judged(&cell.hears_of(Command::new("timeout").arg("200").arg(program).arg(domain).arg(who)), who);
}

/// Checks that `ros2-client` is answered after the node was stopped for longer than its own lease of 50 s. A program
/// with RustDDS that is stopped itself never exchanges data again, because its threads end
/// (`core/docs/protocol/ros2-surface.md` 11).
fn ros2_client() {
    let mut cell = Cell::looking(version(5, 15), &[]);
    let domain = cell.domain.to_string();
    let mut program = Command::new("timeout");
    program.arg("200").arg(rust::built()).args([&*domain, "enhanced", "sleeps"]);
    judged(&cell.hears_of(&mut program), "ros2-client");
}

/// Checks that readers and clients that join, are stopped and leave at random are served again: for a minute, or for
/// `OUTRIGGER_ROS2_SOAK_SECONDS`.
fn soak() {
    let seconds: u64 =
        std::env::var(SECONDS).map_or(60, |seconds| seconds.parse().unwrap_or_else(|_| panic!("{SECONDS}={seconds}")));
    let mut cell = Cell::looking(version(5, 15), &[]);
    let twin = node(domain(), &robot(&cell.controller));
    let arguments = [cell.domain.to_string(), seconds.to_string(), cell.pid().to_string(), twin.pid().to_string()];
    let mut program = Command::new("timeout");
    program.arg((seconds + 300).to_string()).arg(python()).arg(script_beside("soak.py"));
    judged(&cell.hears_of(program.args(arguments)), "soak");
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_reader_that_slept_hears_again", PYTHON, || cyclone_dds("reader")),
        test("a_client_that_slept_is_answered_again", PYTHON, || cyclone_dds("client")),
        test("a_node_that_slept_is_there_again", PYTHON, || cyclone_dds("node")),
        test("a_node_that_slept_while_it_commanded_moves_nothing_by_itself", PYTHON, || cyclone_dds("commanding")),
        test("a_goal_that_came_just_before_a_stop_moves_nothing_after_it", PYTHON, || cyclone_dds("asking")),
        test("a_client_by_fast_dds_that_slept_is_answered_again", FAST_DDS, || fast_dds("client")),
        test("a_client_by_fast_dds_finds_a_node_that_slept", FAST_DDS, || fast_dds("node")),
        test("a_client_by_ros2_client_finds_a_node_that_slept", NOTHING, ros2_client),
        test("any_number_of_sleepers_is_served_again", PYTHON, soak),
    ]
}

//! The published force at the centre point of a tool that is offset from the flange.

use std::io::Write as _;
use std::net::TcpStream;

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;
use outrigger_sim::port::Port;
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, numbers, test, version};

const NEEDS: &[Need] = &[Need::Python];

/// A program on the controller that offsets the tool centre point from the flange by 0.1 m sideways and 0.2 m along its
/// axis, and rotates its axes.
const TOOL: &[u8] = b"def tool():\n  set_tcp(p[0.1,0,0.2,0,1.5707963,0])\n  sleep(0.1)\nend\n";

/// Checks that a force of 20 N, pressing down at the tool centre point, is published by the node for that point without
/// a torque.
fn force_has_no_torque_where_it_acts(software: SoftwareVersion) {
    let mut cell = Cell::looking(software, &[]);
    let mut text = TcpStream::connect(cell.controller.address(Port::Secondary)).expect("it listens");
    text.write_all(TOOL).expect("it reads");
    let found = cell.judge_by("judge_lever.py", &[]);
    assert_eq!(found["done"], "yes", "{software}: {found:#?}");
    let tool = cell.controller.controller().truth().tool().rotation;
    let expected = [tool.inverse().turn([0.0, 0.0, -20.0]), [0.0; 3]];
    for (name, expected) in ["force", "torque"].into_iter().zip(expected) {
        let off = numbers(&found, name).into_iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 0.01, "{software}: {name} off by {off}, expected {expected:?}: {found:#?}");
    }
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("a_force_at_a_long_tool_has_no_torque_there_on_a_cb3", NEEDS, || {
            force_has_no_torque_where_it_acts(version(3, 15));
        }),
        test("a_force_at_a_long_tool_has_no_torque_there_on_an_e_series", NEEDS, || {
            force_has_no_torque_where_it_acts(version(5, 15));
        }),
        test("a_force_at_a_long_tool_has_no_torque_there_on_a_polyscope_x", NEEDS, || {
            force_has_no_torque_where_it_acts(version(10, 12));
        }),
    ]
}

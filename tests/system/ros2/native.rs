//! The names of UR's paper on PolyScope X apart from states: a topic for each port, time stamps of the controller's
//! clock, topics of RTDE variables, and a force that an external sensor measures.

use std::io::Write as _;
use std::net::TcpStream;

use libtest_mimic::Trial;
use outrigger_emulated::require::Need;
use outrigger_sim::port::Port;
use outrigger_wire::robot::SoftwareVersion;

use crate::cell::{Cell, test, version};

const NEEDS: &[Need] = &[Need::Python];

/// The settings of a sensor whose samples arrive only by requests, and are sent to the controller as the measured
/// force.
const SENSOR: &str =
    "outputs.expert.force = \"sensor\"\n[[source]]\nname = \"sensor\"\ninput = \"requests\"\nvalues = 6\nmax_age = 0.5";
const ROS: &str = "expert.surface = \"both\"\nexpert.terminals = \"ports\"\nexpert.stamps = \"controller\"\n\
    expert.variables = [\"actual_momentum\", \"actual_q\", \"robot_mode\", \"runtime_state\", \"joint_mode\"]";
/// A third-party program on the controller that uses the force which arrives by RTDE.
const LISTENS: &[u8] = b"def listen():\n ft_rtde_input_enable(True)\n while True:\n  sync()\n end\nend\n";

fn works(software: SoftwareVersion) {
    let mut cell = Cell::with_more(software, "reverse-speedj", SENSOR, ROS);
    let mut text = TcpStream::connect(cell.controller.address(Port::Secondary)).expect("it listens");
    text.write_all(LISTENS).expect("it reads");
    let period = cell.controller.controller().period().as_micros().to_string();
    let found = cell.judge_by("judge_native.py", &[&period]);
    assert_eq!(found["done"], "yes", "{software}: {found:#?}");
    println!(
        "{software}: {} of all spans are whole periods, the others at most {} ns off",
        found["exact"], found["off"]
    );
}

pub(crate) fn tests() -> Vec<Trial> {
    vec![
        test("ports_variables_stamps_and_an_external_wrench_on_an_e_series", NEEDS, || works(version(5, 15))),
        test("ports_variables_stamps_and_an_external_wrench_on_a_polyscope_x", NEEDS, || works(version(10, 12))),
    ]
}

//! Tests that pass the data of a simulated controller through the driver's surface and compare the result with the
//! simulation.

use outrigger_ros2_messages::cdr::decode;
use outrigger_ros2_messages::endpoint::{Distro, Names};
use outrigger_ros2_messages::{Time, Wrench, WrenchStamped};
use outrigger_sim::controller::{Action, Controller, Options};
use outrigger_sim::kinematics::Frame;
use outrigger_sim::port::Port;
use outrigger_wire::fields::Value;
use outrigger_wire::robot::SoftwareVersion;

use crate::arm::{Arm, UR_JOINTS};
use crate::driver::Driver;
use crate::pose::wrench_at_tool;
use crate::readings::{Port as Source, Readings};

/// The wrench at the tool centre point, along the axes of the base \[N, Nm\].
const PUSH: [f64; 6] = [-20.0, 5.0, 7.0, 0.3, -0.2, 0.1];
const NAMES: [&str; 4] = ["actual_TCP_force", "target_TCP_pose", "tcp_offset", "ft_raw_wrench"];

/// Tool offsets with and without a lever arm, straight and rotated.
const TOOLS: [[f64; 6]; 3] =
    [[0.0; 6], [0.1, 0.0, 0.2, 0.0, std::f64::consts::FRAC_PI_2, 0.0], [-0.05, 0.12, 0.3, 0.4, -1.1, 2.0]];

fn run(controller: &mut Controller, millis: u64) {
    let end = controller.now() + std::time::Duration::from_millis(millis);
    while controller.now() < end {
        controller.advance_to(controller.next_event().min(end));
    }
}

/// Returns the newest values of the variables `names`, each of six numbers, for an arm with this tool while it is
/// pushed; and the tool's frame.
fn pushed(software: SoftwareVersion, tcp: [f64; 6], names: &[&str]) -> (Vec<[f64; 6]>, Frame) {
    let q = [0.31, -1.42, -1.23, -1.14, 1.55, 0.26];
    let mut controller = Controller::new(Options { q, ..Options::for_software(software) }).expect("a controller");
    let [x, y, z, rx, ry, rz] = tcp;
    let program = format!("def tool():\n  set_tcp(p[{x},{y},{z},{rx},{ry},{rz}])\n  sleep(0.1)\nend\n");
    let text = controller.connect(Port::Secondary).expect("a client");
    assert_eq!(controller.write(text, program.as_bytes()), program.len());
    controller.act(Action::Push(PUSH));
    run(&mut controller, 500);
    let rtde = controller.connect(Port::Rtde).expect("a client");
    let recipe = [&125.0_f64.to_be_bytes()[..], names.join(",").as_bytes()].concat();
    for (letter, payload) in [(b'V', &[0, 2][..]), (b'O', &recipe), (b'S', &[])] {
        let size = u16::try_from(payload.len() + 3).expect("short");
        let package = [&size.to_be_bytes()[..], &[letter], payload].concat();
        assert_eq!(controller.write(rtde, &package), package.len());
        run(&mut controller, 50);
    }
    let (mut bytes, mut buffer) = (vec![], [0; 4096]);
    loop {
        match controller.read(rtde, &mut buffer) {
            0 => break,
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
    // The newest complete package: its header and recipe, and six doubles for each name.
    let size = 4 + 48 * names.len();
    let head = [&u16::try_from(size).expect("short").to_be_bytes()[..], b"U"].concat();
    let last = bytes.windows(size).rev().find(|package| package.starts_with(&head)).expect("data");
    let number = |at: usize| f64::from_be_bytes(last[at..at + 8].try_into().expect("eight bytes"));
    let values = (0..names.len()).map(|name| std::array::from_fn(|i| number(4 + 48 * name + 8 * i)));
    (values.collect(), controller.truth().tool())
}

/// The expected wrench at the tool centre point, along the tool's axes.
fn expected(tool: Frame) -> [f64; 6] {
    let to_tool = tool.rotation.inverse();
    let [fx, fy, fz, tx, ty, tz] = PUSH;
    let ([fx, fy, fz], [tx, ty, tz]) = (to_tool.turn([fx, fy, fz]), to_tool.turn([tx, ty, tz]));
    [fx, fy, fz, tx, ty, tz]
}

#[track_caller]
fn same(found: Wrench, expected: [f64; 6], of: &str) {
    let (force, torque): ([f64; 3], [f64; 3]) = (found.force.into(), found.torque.into());
    let off = force.iter().chain(&torque).zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-3, "{of}: found {force:?} {torque:?}, expected {expected:?}");
}

#[test]
fn a_force_at_the_tool_is_published_there_on_every_generation() {
    for (major, minor) in [(3, 15), (5, 15), (10, 11)] {
        for tcp in TOOLS {
            let software = SoftwareVersion::new(major, minor);
            let (values, tool) = pushed(software, tcp, &NAMES[..3]);
            let mut readings = Readings::default();
            readings.identified(software);
            readings.state(Source::Rtde, 0, |visitor| {
                for (name, value) in NAMES.iter().zip(&values) {
                    visitor.field(name, Value::F64s(value));
                }
            });
            let mut driver = Driver::new(Arm::new(&UR_JOINTS, &Names::default()), Distro::Jazzy);
            let mut published = None;
            driver.state(&readings, Time::default(), &mut |topic, bytes| {
                if topic.name == "force_torque_sensor_broadcaster/wrench" {
                    published = Some(decode::<WrenchStamped>(&bytes).expect("its type"));
                }
            });
            same(published.expect("a wrench").wrench, expected(tool), &format!("{software} {tcp:?}"));
        }
    }
}

#[test]
fn the_raw_value_of_the_sensor_is_the_same_force_about_the_flange() {
    for tcp in TOOLS {
        let (values, tool) = pushed(SoftwareVersion::new(5, 15), tcp, &NAMES);
        // The flange's axes are used as if the flange were the base.
        same(wrench_at_tool(values[3], tcp, tcp), expected(tool), &format!("{tcp:?}"));
    }
}

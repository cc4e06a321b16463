//! What the simulated controller sends, read by the oracle, is what the simulation is: neither the simulator's use of
//! the core nor the core itself takes part in the reading.

use std::collections::VecDeque;

use outrigger_core::robot::SoftwareVersion;
use outrigger_sim::controller::{Conn, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_tests::oracle::{self, Cell, Value};

/// Every generation of packet: software, size in bytes, period in milliseconds (client interfaces, 2.1 and 2.6).
const GENERATIONS: &[(u8, u8, usize, u64)] = &[
    (1, 6, 756, 8),
    (1, 7, 764, 8),
    (1, 8, 812, 8),
    (3, 0, 1044, 8),
    (3, 1, 1044, 8),
    (3, 2, 1060, 8),
    (3, 4, 1060, 8),
    (3, 5, 1108, 8),
    (3, 9, 1108, 8),
    (3, 10, 1116, 8),
    (3, 13, 1116, 8),
    (3, 15, 1140, 8),
    (5, 0, 1108, 2),
    (5, 4, 1116, 2),
    (5, 8, 1116, 2),
    (5, 9, 1140, 2),
    (5, 10, 1220, 2),
    (5, 15, 1220, 2),
    (5, 25, 1220, 2),
];

fn read(controller: &mut Controller, conn: Conn) -> Vec<u8> {
    let mut bytes = vec![0; controller.pending(conn)];
    let count = controller.read(conn, &mut bytes);
    bytes.truncate(count);
    bytes
}

/// The doubles of the field with this name.
fn numbers(cells: &[Cell], name: &str) -> Vec<f64> {
    let named = cells.iter().filter(|c| c.name == name);
    named
        .map(|c| match c.value {
            Value::F64(bits) => f64::from_bits(bits),
            ref other => panic!("{name} is {other:?}"),
        })
        .collect()
}

#[test]
fn every_real_time_packet_shows_the_arm_as_it_is() {
    for &(major, minor, size, period) in GENERATIONS {
        let software = SoftwareVersion::new(major, minor);
        let mut controller = Controller::new(Options::for_software(software)).expect("an arm that ran this software");
        let conn = controller.connect(Port::Realtime).expect("a port that is open");
        controller.write(conn, b"speedj([0.3,-0.2,0.1,0.4,-0.5,0.6],1.4,0.5)\n");

        let mut moved = false;
        let mut clock = None;
        // A cycle first tells what the one before led to, and the packet is under way for a while: what it must show is
        // kept until it is here.
        let mut lived = VecDeque::new();
        let mut seen = 0;
        while seen < 40 {
            let before = (controller.cycles(), controller.truth().clone(), controller.io().digital_in);
            let next = controller.next_event();
            controller.advance_to(next);
            if controller.cycles() > before.0 {
                lived.push_back(before);
            }
            let bytes = read(&mut controller, conn);
            if bytes.is_empty() {
                continue;
            }
            seen += 1;
            let (_, arm, digital_in) = lived.pop_front().expect("no packet before its cycle");
            assert_eq!(bytes.len(), size, "{software}");
            assert_eq!(bytes[..4], u32::try_from(size).expect("small").to_be_bytes());
            let layout = if major == 1 { "realtime_cb2" } else { "realtime_cb3" };
            let cells = oracle::decode_realtime(&oracle::tables()[layout], &bytes);
            let field = |name: &str| numbers(&cells, name);

            assert_eq!(field("q actual"), arm.q);
            assert_eq!(field("qd actual"), arm.qd);
            assert_eq!(field("q target"), arm.targets.q);
            assert_eq!(field("qd target"), arm.targets.qd);
            let (pose, speed) =
                if major == 1 { ("Tool vector", "TCP speed") } else { ("Tool vector actual", "TCP speed actual") };
            assert_eq!(field(pose), arm.tool().to_pose());
            assert_eq!(field(speed), arm.tool_speed());
            assert_eq!(field("Digital input bits"), [f64::from(digital_in)]);
            if size >= 764 {
                assert_eq!(field("Robot Mode"), [if major == 1 { 0.0 } else { 7.0 }], "running, {software}");
            }
            if major > 1 {
                assert_eq!(field("Safety Mode"), [1.0], "normal");
                assert_eq!(field("Speed scaling"), [arm.scaling]);
            }

            let time = field("Time")[0];
            if let Some(before) = clock.replace(time) {
                let elapsed: f64 = time - before;
                assert!((elapsed - period as f64 * 1e-3).abs() < 1e-9, "{software}: {elapsed} s between packets");
            }
            moved |= arm.qd[0].abs() > 0.01;
        }
        assert!(moved, "{software}: the arm took no command");
    }
}

//! Tests that the oracle reads the state of the simulation from the simulated controller's data. Neither the
//! simulator's use of the core nor the core itself is involved in the reading.

use std::collections::VecDeque;
use std::time::Duration;

use outrigger_oracle::{self as oracle, Cell, Value};
use outrigger_sim::arm::Arm;
use outrigger_sim::controller::{Conn, Controller, Options};
use outrigger_sim::port::Port;
use outrigger_wire::robot::SoftwareVersion;

/// The real-time packet (port 30003) by software: major and minor version, size \[B\], period \[ms\]
/// (`core/docs/protocol/ur-client-interfaces.md 2.1, 2.6`).
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

/// Returns the decoded doubles of the field with this name.
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
        // A cycle first sends the result of the previous one, and the packet is in transit for a while. Its expected
        // content is stored until it arrives.
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
                assert_eq!(field("Speed scaling"), [1.0], "the limiter's alone");
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

/// The sizes of the first (if known) and of the periodic robot-state message \[B\] by software version, observed on a
/// controller or calculated from the documented sizes (`core/docs/protocol/ur-client-interfaces.md 3.1`).
const STATE_SIZES: &[(u8, u8, Option<usize>, usize)] = &[
    (1, 5, None, 465),
    (1, 7, None, 510),
    (1, 8, None, 560),
    (3, 0, None, 577),
    (3, 1, Some(1295), 625),
    (3, 2, None, 636),
    (3, 5, Some(1350), 680),
    (3, 10, None, 682),
    (5, 0, Some(1376), 706),
    (5, 8, Some(1386), 716),
    (5, 9, None, 723),
    (5, 25, None, 723),
];

/// The types of the sub-packages in recorded robot-state messages, in their order, by software version
/// (`core/docs/protocol/ur-client-interfaces.md 3.1`).
const RECORDED_ORDERS: &[(u8, u8, &[u8])] = &[
    (1, 5, &[0, 1, 4, 5, 3, 2]),
    (1, 7, &[0, 1, 4, 3, 2, 7, 8]),
    (3, 10, &[0, 1, 4, 9, 3, 2, 7, 8, 10]),
    (5, 8, &[0, 1, 4, 9, 3, 2, 7, 8, 10, 11, 12]),
];

/// Returns all messages that the simulated controller sends on a new connection to 30001 in the first `millis` ms, each
/// with the state of the arm at its arrival.
fn primary_messages(controller: &mut Controller, millis: u64) -> Vec<(Vec<u8>, Arm)> {
    let conn = controller.connect(Port::Primary).expect("a port that is open");
    let mut messages = Vec::new();
    let mut stream = Vec::new();
    let start = controller.now();
    while controller.now().since(start) < Duration::from_millis(millis) {
        // At rest, so that the time of a message in transit does not matter.
        let arm = controller.truth().clone();
        controller.advance_to(controller.next_event());
        stream.extend(read(controller, conn));
        while let Some(size) = stream.first_chunk().map(|s| i32::from_be_bytes(*s) as usize) {
            if stream.len() < size {
                break;
            }
            let message: Vec<u8> = stream.drain(..size).collect();
            messages.push((message, arm.clone()));
        }
    }
    messages
}

#[test]
fn every_state_message_has_the_size_and_order_of_its_software_and_shows_the_arm() {
    for &(major, minor, first, periodic) in STATE_SIZES {
        let software = SoftwareVersion::new(major, minor);
        let mut controller = Controller::new(Options::for_software(software)).expect("an arm that ran this software");
        let messages = primary_messages(&mut controller, 450);
        let states: Vec<_> = messages.iter().filter(|m| m.0[4] == 16).collect();
        assert!(states.len() >= 4, "{software}: {} in 450 ms", states.len());
        if let Some(first) = first {
            assert_eq!(states[0].0.len(), first, "first message of {software}");
        }
        for (message, arm) in &states[1..] {
            assert_eq!(message.len(), periodic, "{software}");
            let parts = oracle::sub_packages(message).expect("sizes that add up");
            let types: Vec<u8> = parts.iter().map(|p| p[4]).collect();
            if let Some((.., recorded)) = RECORDED_ORDERS.iter().find(|o| (o.0, o.1) == (major, minor)) {
                assert_eq!(types, *recorded, "{software}");
            }
            for part in parts {
                let table = &oracle::tables()[oracle::key_of(part).as_str()];
                let cells = oracle::decode(table, None, part).expect("a whole sub-package");
                match part[4] {
                    1 => {
                        assert_eq!(numbers(&cells, "q_actual"), arm.q);
                        assert_eq!(numbers(&cells, "q_target"), arm.targets.q);
                    }
                    4 => {
                        let pose: Vec<f64> =
                            ["X", "Y", "Z", "Rx", "Ry", "Rz"].iter().flat_map(|n| numbers(&cells, n)).collect();
                        assert_eq!(pose, arm.tool().to_pose());
                    }
                    _ => {}
                }
            }
        }
    }
}

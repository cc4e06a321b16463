//! The tool's serial line on port 54321, and the gripper at its end, as a client with its own idea of Modbus RTU sees them.

use std::time::Duration;

use crate::common::{Bench, ideal};
use outrigger_sim::controller::{Action, Conn, Controller, Options, OptionsError};
use outrigger_sim::port::Port;
use outrigger_sim::tool_line::{OPENING, POSITION, Serial, TARGET, ToolGripper};
use outrigger_wire::robot::SoftwareVersion;

const SET_UP: &str = "sec io():\n set_tool_voltage(24)\n set_tool_communication(True, 115200, 0, 1, 1.5, 3.5)\nend\n";

fn with_gripper(major: u8, minor: u8) -> Options {
    Options { tool_line: Some(ToolGripper::default()), ..ideal(major, minor) }
}

/// Returns a Modbus message with its checksum, computed bit by bit as in the standard.
fn sealed(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0xFFFF_u16, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xA001 } else { sum >> 1 })
    });
    [body, &sum.to_le_bytes()].concat()
}

fn read(register: u16) -> Vec<u8> {
    sealed(&[&[1, 3][..], &register.to_be_bytes(), &[0, 1]].concat())
}

fn write(register: u16, value: u16) -> Vec<u8> {
    sealed(&[&[1, 6][..], &register.to_be_bytes(), &value.to_be_bytes()].concat())
}

/// Sends a Modbus message to the gripper. Returns the bytes of the answer that arrive within 50 ms.
fn asks(bench: &mut Bench, conn: Conn, message: &[u8]) -> Vec<u8> {
    bench.take(conn);
    bench.send_bytes(conn, message);
    bench.run(50);
    bench.take(conn)
}

/// Returns the value of a Modbus register of the gripper; `None` if it cannot be read.
fn register(bench: &mut Bench, conn: Conn, register: u16) -> Option<u16> {
    let answer = asks(bench, conn, &read(register));
    let [1, 3, 2, high, low, ..] = answer[..] else { return None };
    assert_eq!(answer, sealed(&[1, 3, 2, high, low]));
    Some(u16::from_be_bytes([high, low]))
}

/// Returns a controller on which `program` has set up the tool's line, and a client of the line.
fn set_up(options: Options, program: &str) -> (Bench, Conn) {
    let mut bench = Bench::new(options);
    let primary = bench.connect(Port::Primary);
    bench.send(primary, program);
    bench.run(100);
    let conn = bench.connect(Port::ToolLine);
    (bench, conn)
}

#[test]
fn a_gripper_closes_and_opens_and_says_where_it_is_until_it_has_arrived() {
    for (major, minor) in [(5, 0), (5, 25), (10, 12)] {
        let (mut bench, conn) = set_up(with_gripper(major, minor), SET_UP);
        assert_eq!(register(&mut bench, conn, POSITION), Some(OPENING), "{major}.{minor}");
        for target in [0, OPENING] {
            let order = write(TARGET, target);
            assert_eq!(asks(&mut bench, conn, &order), order);
            let mut seen = vec![];
            while seen.last() != Some(&target) && seen.len() < 100 {
                seen.extend(register(&mut bench, conn, POSITION));
            }
            assert_eq!(seen.last(), Some(&target));
            assert!(seen.len() > 20 && seen.is_sorted_by(|a, b| if target == 0 { a >= b } else { a <= b }), "{seen:?}");
            assert_eq!(bench.controller.gripper_opening(), Some(f64::from(target)));
        }
    }
}

#[test]
fn the_gripper_is_silent_unless_line_and_supply_are_what_it_needs() {
    for (lines, answers) in [
        (&["set_tool_voltage(24)", "set_tool_communication(True, 115200, 0, 1, 1.5, 3.5)"][..], true),
        (&["set_tool_communication(True, 115200, 0, 1, 40.0, 0.0)", "set_tool_voltage(24)"], true),
        (&["set_tool_communication(True, 115200, 0, 1, 1.5, 3.5)"], false),
        (&["set_tool_voltage(24)"], false),
        (&["set_tool_voltage(12)", "set_tool_communication(True, 115200, 0, 1, 1.5, 3.5)"], false),
        (&["set_tool_voltage(24)", "set_tool_communication(False, 115200, 0, 1, 1.5, 3.5)"], false),
        (&["set_tool_voltage(24)", "set_tool_communication(True, 9600, 0, 1, 1.5, 3.5)"], false),
        (&["set_tool_voltage(24)", "set_tool_communication(True, 115200, 2, 1, 1.5, 3.5)"], false),
        (&["set_tool_voltage(24)", "set_tool_communication(True, 115200, 0, 2, 1.5, 3.5)"], false),
    ] {
        let program = format!("sec io():\n {}\nend\n", lines.join("\n "));
        let (mut bench, conn) = set_up(with_gripper(5, 15), &program);
        assert_eq!(register(&mut bench, conn, POSITION).is_some(), answers, "{lines:?}");
    }
    let serial = Serial { baud_rate: 1_000_000, parity: 2, stop_bits: 1 };
    let other = Options { tool_line: Some(ToolGripper { serial, ..ToolGripper::default() }), ..ideal(5, 15) };
    let (mut bench, conn) = set_up(other, &SET_UP.replace("115200, 0", "1000000, 2"));
    assert!(register(&mut bench, conn, POSITION).is_some());
    bench.controller.act(Action::PowerOff);
    bench.run(100);
    assert_eq!(register(&mut bench, conn, POSITION), None, "the arm has no power");
}

#[test]
fn the_state_shows_the_settings_that_a_program_has_made() {
    let mut bench = Bench::new(with_gripper(5, 15));
    let primary = bench.connect(Port::Primary);
    let mut shown = |program: &str| {
        bench.send(primary, program);
        bench.run(300);
        let state = bench.messages(primary).into_iter().rfind(|message| message[4] == 16).unwrap();
        let mut rest = &state[5..];
        while rest[4] != 11 {
            rest = &rest[u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize..];
        }
        rest[..26].to_vec()
    };
    let package = |enabled, rate: i32, parity: i32, stop: i32, rx: f32, tx: f32| {
        let numbers = [rate, parity, stop].map(i32::to_be_bytes).concat();
        [&[0, 0, 0, 26, 11, enabled], &numbers[..], &rx.to_be_bytes(), &tx.to_be_bytes()].concat()
    };
    assert_eq!(shown("sec io():\n set_flag(1, True)\nend\n"), package(0, 115_200, 0, 1, 1.5, 3.5));
    let program = "sec io():\n set_tool_communication(True, 9600, 1, 2, 4.0, 0.0)\nend\n";
    assert_eq!(shown(program), package(1, 9_600, 1, 2, 4.0, 0.0));
}

#[test]
fn a_second_client_waits_without_a_word_until_the_first_is_gone() {
    let (mut bench, first) = set_up(with_gripper(5, 15), SET_UP);
    let second = bench.connect(Port::ToolLine);
    bench.send_bytes(second, &read(POSITION));
    assert_eq!(register(&mut bench, first, POSITION), Some(OPENING));
    bench.run(2_000);
    assert!(bench.take(second).is_empty() && bench.controller.is_open(second));
    bench.controller.disconnect(first);
    bench.run(50);
    assert_eq!(bench.take(second).len(), 7, "what it had sent is answered now");
    assert_eq!(register(&mut bench, second, TARGET), Some(OPENING));
}

#[test]
fn messages_in_pieces_of_any_size_are_answered_and_slow_lines_take_their_time() {
    for piece in 1..=8 {
        let (mut bench, conn) = set_up(with_gripper(5, 15), SET_UP);
        for piece in read(POSITION).chunks(piece) {
            bench.send_bytes(conn, piece);
            bench.run(5);
        }
        assert_eq!(bench.take(conn).len(), 7, "{piece}");
    }
    let serial = Serial { baud_rate: 9_600, ..Serial::DEFAULT };
    let slow = Options { tool_line: Some(ToolGripper { serial, ..ToolGripper::default() }), ..ideal(5, 15) };
    let (mut bench, conn) = set_up(slow, &SET_UP.replace("115200", "9600"));
    bench.send_bytes(conn, &read(POSITION));
    // 3.5 + 8 + 7 + 1.5 characters of 10 bits.
    bench.run_for(Duration::from_micros(20_832));
    assert!(bench.take(conn).is_empty());
    bench.run_for(Duration::from_micros(5));
    assert_eq!(bench.take(conn).len(), 7);
}

#[test]
fn a_restart_ends_the_relay_and_takes_the_settings_with_it() {
    let (mut bench, conn) = set_up(with_gripper(5, 15), SET_UP);
    bench.controller.act(Action::Restart(Duration::from_secs(1)));
    bench.run(500);
    assert!(!bench.controller.is_open(conn) && !bench.controller.listens(Port::ToolLine));
    bench.run(600);
    let again = bench.connect(Port::ToolLine);
    bench.controller.act(Action::ReleaseBrakes);
    bench.run(60_000);
    assert_eq!(register(&mut bench, again, POSITION), None);
    let primary = bench.connect(Port::Primary);
    bench.send(primary, SET_UP);
    bench.run(100);
    assert_eq!(register(&mut bench, again, POSITION), Some(OPENING));
}

#[test]
fn only_arms_with_such_a_line_have_the_port_and_only_with_the_urcap() {
    assert!(!Bench::software(5, 15).controller.has_port(Port::ToolLine));
    let software = SoftwareVersion::new(3, 15);
    let refused = Controller::new(with_gripper(3, 15)).unwrap_err();
    assert_eq!(refused, OptionsError::NoToolLine(software));
    assert!(refused.to_string().starts_with("arms with software 3.15 have no serial line"), "{refused}");
}

//! Outputs, tool, payload and force: set by text or by RTDE, and read back on every port.

use crate::common::{Bench, f64_at, i32_at};
use outrigger_sim::controller::{Action, Conn, Controller};
use outrigger_sim::io::DigitalOutput;
use outrigger_sim::port::Port;

/// Returns a secondary program of these lines.
fn sec(lines: &[&str]) -> String {
    format!("sec io():\n{}end\n", lines.iter().map(|line| format!(" {line}\n")).collect::<String>())
}

/// Returns the newest sub-package of a type on a primary or secondary port.
fn sub_package(bench: &mut Bench, conn: Conn, kind: u8) -> Vec<u8> {
    bench.run(200);
    let messages = bench.messages(conn);
    let state = messages.iter().rfind(|message| message[4] == 16).expect("a state message");
    let mut rest = &state[5..];
    while rest[4] != kind {
        rest = &rest[i32_at(rest, 0) as usize..];
    }
    rest[..i32_at(rest, 0) as usize].to_vec()
}

/// Returns digital outputs, domains and values of the analogue outputs from the masterboard data
/// (`core/docs/protocol/ur-client-interfaces.md 3.5`).
fn masterboard(bench: &mut Bench, conn: Conn) -> (i32, [u8; 2], [f64; 2]) {
    let data = sub_package(bench, conn, 3);
    let cb2 = data.len() == 64;
    let bits = if cb2 { i32::from(i16::from_be_bytes([data[7], data[8]])) } else { i32_at(&data, 9) };
    let at = if cb2 { 27 } else { 31 };
    (bits, [data[at], data[at + 1]], [f64_at(&data, at + 2), f64_at(&data, at + 10)])
}

#[test]
fn every_output_that_text_sets_is_read_back_where_the_software_shows_it() {
    // Named functions from 3.0 on, numbered ones before.
    let cases = [
        ((1, 8), &["set_digital_out(3,True)", "set_digital_out(9,True)"][..], 1 << 3 | 1 << 9),
        (
            (3, 0),
            &[
                "set_standard_digital_out(3,True)",
                "set_configurable_digital_out(7,True)",
                "set_tool_digital_out(1,True)",
            ],
            1 << 3 | 1 << 15 | 1 << 17,
        ),
        (
            (5, 15),
            &["set_digital_out(0,True)", "set_configurable_digital_out(0,True)", "set_tool_digital_out(0,True)"],
            1 | 1 << 8 | 1 << 16,
        ),
    ];
    for ((major, minor), lines, bits) in cases {
        let mut bench = Bench::software(major, minor);
        let clients = [Port::Primary, Port::Secondary, Port::Realtime].map(|port| bench.connect(port));
        bench.send(clients[2], &sec(lines));
        for conn in &clients[..2] {
            assert_eq!(masterboard(&mut bench, *conn).0, bits, "{major}.{minor}");
        }
        // 30003 shows outputs from 3.2 on.
        if (major, minor) >= (3, 2) {
            let packet = bench.messages(clients[2]).pop().unwrap();
            assert_eq!(f64_at(&packet, 1044), f64::from(bits), "{major}.{minor}");
        }
    }
}

#[test]
fn analogue_outputs_are_read_back_with_their_domain() {
    for (major, minor, set) in
        [(1, 8, "set_analog_out"), (3, 1, "set_standard_analog_out"), (5, 15, "set_standard_analog_out")]
    {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Secondary);
        let (volts, amperes) = (format!("{set}(0,0.5)"), format!("{set}(1,0.25)"));
        bench.send(conn, &sec(&["set_analog_outputdomain(0,1)", &volts, "set_analog_outputdomain(1,0)", &amperes]));
        let (_, domains, values) = masterboard(&mut bench, conn);
        assert_eq!((domains, values), ([1, 0], [5.0, 0.008]), "{major}.{minor}");
        // A share out of range has no effect.
        bench.send(conn, &sec(&[&format!("{set}(0,1.5)")]));
        assert_eq!(masterboard(&mut bench, conn).2, [5.0, 0.008]);
    }
}

#[test]
fn rtde_shows_outputs_that_text_has_set_and_the_other_way_round() {
    let mut bench = Bench::software(5, 15);
    let text = bench.connect(Port::Realtime);
    let names = "actual_digital_output_bits,standard_analog_output0,analog_io_types,tool_output_voltage,payload,payload_cog,target_speed_fraction";
    let rtde = bench.subscribe(500.0, names);
    bench.send(
        text,
        &sec(&["set_standard_digital_out(2,True)", "set_analog_outputdomain(0,0)", "set_standard_analog_out(0,0.5)"]),
    );
    bench.send(text, &sec(&["set_tool_voltage(24)", "set_payload(1.5,[0.01,0.02,0.03])"]));
    bench.send(text, "set speed 0.4\n");
    bench.run(20);
    let (_, data) = bench.packages(rtde).pop().unwrap();
    assert_eq!(u64::from_be_bytes(data[1..9].try_into().unwrap()), 4);
    // mA on RTDE, A in the masterboard data.
    assert!((f64_at(&data, 9) - 12.0).abs() < 1e-9);
    assert_eq!(u32::from_be_bytes(data[17..21].try_into().unwrap()) & 0b100, 0);
    assert_eq!(i32_at(&data, 21), 24);
    assert_eq!([25, 33, 41, 49, 57].map(|at| f64_at(&data, at)), [1.5, 0.01, 0.02, 0.03, 0.4]);
    bench.package(rtde, b'I', b"standard_digital_output_mask,standard_digital_output");
    bench.package(rtde, b'U', &[1, 0b101, 0b001]);
    bench.run(10);
    let secondary = bench.connect(Port::Secondary);
    assert_eq!(masterboard(&mut bench, secondary).0, 1, "bit 0 set, bit 2 cleared, by the mask");
}

#[test]
fn the_tool_voltage_is_0_12_or_24_and_shows_in_the_tool_data() {
    let mut bench = Bench::software(3, 15);
    let conn = bench.connect(Port::Secondary);
    for (asked, shown) in [(12, 12), (24, 24), (5, 24), (0, 0)] {
        bench.send(conn, &sec(&[&format!("set_tool_voltage({asked})")]));
        assert_eq!(sub_package(&mut bench, conn, 2)[27], shown);
    }
}

#[test]
fn flags_are_set_by_number() {
    let mut bench = Bench::software(3, 15);
    let conn = bench.connect(Port::Secondary);
    bench.send(conn, &sec(&["set_flag(0,True)", "set_flag(31,True)", "set_flag(32,True)"]));
    bench.run(50);
    assert_eq!(bench.controller.io().flags, 1 | 1 << 31);
    bench.send(conn, &sec(&["set_flag(0,False)"]));
    bench.run(50);
    assert_eq!(bench.controller.io().flags, 1 << 31);
}

#[test]
fn a_payload_without_centre_of_gravity_has_it_at_the_tool_and_its_parts_can_be_set_alone() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    let payload = |controller: &Controller| (controller.io().payload, controller.io().payload_cog);
    bench.send(conn, &sec(&["set_tcp(p[0,0,0.1,0,0,0])", "set_payload(2.0)"]));
    bench.run(10);
    assert_eq!(payload(&bench.controller), (2.0, [0.0, 0.0, 0.1]));
    bench.send(conn, &sec(&["set_payload_mass(3.0)"]));
    bench.send(conn, &sec(&["set_payload_cog([0,0.01,0.02])"]));
    bench.run(10);
    assert_eq!(payload(&bench.controller), (3.0, [0.0, 0.01, 0.02]));
    let inertia = [0.1, 0.2, 0.3, 0.0, 0.0, 0.0];
    bench.send(conn, &sec(&["set_target_payload(1.0,[0,0,0.05],[0.1,0.2,0.3,0,0,0])"]));
    bench.run(10);
    let packet = bench.messages(conn).pop().unwrap();
    assert_eq!((f64_at(&packet, 1140), f64_at(&packet, 1164)), (1.0, 0.05));
    assert_eq!(std::array::from_fn(|axis| f64_at(&packet, 1172 + 8 * axis)), inertia);
}

#[test]
fn outputs_do_not_disturb_the_motion_in_progress() {
    let path = |sets: bool| {
        let mut bench = Bench::software(5, 15);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, "speedj([0.2,0.1,0,0,0,0],1,2)\n");
        for turn in 0..100 {
            if sets {
                let high = if turn % 2 == 0 { "True" } else { "False" };
                bench.send(conn, &sec(&[&format!("set_standard_digital_out(1,{high})"), "set_payload(1.0)"]));
            }
            bench.run(10);
        }
        assert_eq!(bench.controller.io().payload > 0.0, sets);
        bench.messages(conn).iter().map(|packet| packet[12..156].to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(path(true), path(false), "targets, byte by byte");
}

/// Returns the force at the tool as 30003 and as RTDE show it, and the raw value of the force sensor from RTDE.
fn forces(bench: &mut Bench, realtime: Conn, rtde: Conn) -> [[f64; 6]; 3] {
    bench.run(20);
    let packet = bench.messages(realtime).pop().unwrap();
    let (_, data) = bench.packages(rtde).pop().unwrap();
    let six = |bytes: &[u8], from: usize| std::array::from_fn(|axis| f64_at(bytes, from + 8 * axis));
    [six(&packet, 540), six(&data, 1), six(&data, 49)]
}

#[test]
fn the_force_sensor_is_zeroed_by_text_and_by_a_payload_and_its_raw_value_is_not() {
    let mut bench = Bench::software(5, 15);
    let (text, rtde) = (bench.connect(Port::Realtime), bench.subscribe(500.0, "actual_TCP_force,ft_raw_wrench"));
    let push = [1.0, -2.0, 3.0, 0.1, 0.2, 0.3];
    bench.controller.act(Action::Push(push));
    // Without a tool the flange is the tool centre point; the raw value is along its axes.
    let flange = bench.controller.truth().tool().rotation.inverse();
    let [[fx, fy, fz], [tx, ty, tz]] = [[1.0, -2.0, 3.0], [0.1, 0.2, 0.3]].map(|of| flange.turn(of));
    let raw = [fx, fy, fz, tx, ty, tz];
    assert_eq!(forces(&mut bench, text, rtde), [push, push, raw]);
    bench.send(text, &sec(&["zero_ftsensor()"]));
    assert_eq!(forces(&mut bench, text, rtde), [[0.0; 6], [0.0; 6], raw]);
    bench.controller.act(Action::Push([0.0; 6]));
    assert_eq!(forces(&mut bench, text, rtde)[0], push.map(|axis| -axis));
    bench.send(text, &sec(&["set_payload_mass(1.0)"]));
    assert_eq!(forces(&mut bench, text, rtde)[0], [0.0; 6]);
}

#[test]
fn a_sensor_of_a_client_counts_once_a_program_wants_it_with_the_torques_as_the_software_takes_them() {
    let wrench: [f64; 6] = [4.0, 5.0, 6.0, 0.4, 0.5, 0.6];
    let defect = [4.0, 5.0, 6.0, -0.4, -0.5, -0.6];
    let (old, new) = ("enable_external_ft_sensor(True)", "ft_rtde_input_enable(True, 0.2, [0,0,0.05], [0,0,0.02])");
    for (version, call, taken) in [
        ((3, 14, 0), old, defect),
        ((3, 14, 1), old, wrench),
        ((3, 14, 1), new, wrench),
        ((5, 9, 0), old, defect),
        ((5, 9, 1), new, wrench),
        ((5, 9, 0), new, [0.0; 6]),
    ] {
        let mut options = crate::common::ideal(version.0, version.1);
        options.software.bugfix = version.2;
        let mut bench = Bench::new(options);
        let (text, rtde) = (bench.connect(Port::Realtime), bench.subscribe(125.0, "actual_TCP_force"));
        bench.package(rtde, b'I', b"external_force_torque");
        let bytes: Vec<u8> = wrench.iter().flat_map(|axis| axis.to_be_bytes()).collect();
        bench.package(rtde, b'U', &[&[1], &bytes[..]].concat());
        let shown = |bench: &mut Bench| {
            bench.run(40);
            let packet = bench.messages(text).pop().unwrap();
            std::array::from_fn(|axis| f64_at(&packet, 540 + 8 * axis))
        };
        assert_eq!(shown(&mut bench), [0.0; 6], "{version:?}: nobody wants it yet");
        bench.send(text, &sec(&[call]));
        assert_eq!(shown(&mut bench), taken, "{version:?}: {call}");
    }
}

#[test]
fn programs_read_the_force() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Realtime);
    bench.controller.act(Action::Push([3.0, 4.0, 0.0, 0.0, 0.0, 0.0]));
    bench.send(conn, "def feel():\n f = get_tcp_force()\n set_standard_digital_out(0, force() == 5)\n set_standard_digital_out(1, f[1] == 4)\nend\n");
    bench.run(50);
    for output in [0, 1] {
        assert_eq!(bench.controller.io().digital(DigitalOutput::Standard(output)), Some(true));
    }
}

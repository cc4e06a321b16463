//! Checklist points 1 to 5 of the client interfaces: data after connecting, sizes, orders, times, coupling.

use crate::common::{Bench, f64_at, i32_at, ideal, u64_at};
use outrigger_sim::controller::{Action, Options};
use outrigger_sim::kinematics::{Rotation, Vec3};
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::{RobotModel, SoftwareVersion};

/// The tested software versions: one for each row of the tables in `core/docs/protocol/ur-client-interfaces.md`.
const VERSIONS: [(u8, u8); 17] = [
    (1, 5),
    (1, 6),
    (1, 7),
    (1, 8),
    (3, 0),
    (3, 1),
    (3, 2),
    (3, 4),
    (3, 5),
    (3, 10),
    (3, 15),
    (5, 0),
    (5, 4),
    (5, 8),
    (5, 9),
    (5, 10),
    (5, 25),
];

/// Returns type and bytes of every sub-package of a state message.
fn sub_packages(message: &[u8]) -> Vec<(u8, &[u8])> {
    assert_eq!(message[4], 16);
    let mut rest = &message[5..];
    let mut packages = vec![];
    while !rest.is_empty() {
        let size = i32_at(rest, 0) as usize;
        packages.push((rest[4], &rest[..size]));
        rest = &rest[size..];
    }
    packages
}

fn find(message: &[u8], kind: u8) -> &[u8] {
    sub_packages(message).into_iter().find(|(have, _)| *have == kind).unwrap().1
}

fn states(bench: &mut Bench, conn: outrigger_sim::controller::Conn) -> Vec<Vec<u8>> {
    bench.messages(conn).into_iter().filter(|message| message[4] == 16).collect()
}

#[test]
fn data_flows_to_several_clients_of_every_port_without_being_asked_for() {
    for (major, minor) in VERSIONS {
        let mut bench = Bench::software(major, minor);
        // RTDE and interpreter mode send nothing before a request.
        let speaks = |port: &Port| !matches!(port, Port::Rtde | Port::Interpreter) && bench.controller.has_port(*port);
        let ports = Port::ALL.into_iter().filter(speaks).collect::<Vec<_>>();
        let clients: Vec<_> = [&ports[..], &ports[..]].concat().iter().map(|port| bench.connect(*port)).collect();
        bench.run(20);
        for client in clients {
            assert!(!bench.take(client).is_empty(), "{major}.{minor}");
        }
    }
}

#[test]
fn read_only_ports_exist_from_3_10() {
    for ((major, minor), exist) in [((1, 8), false), ((3, 9), false), ((3, 10), true), ((5, 0), true)] {
        let mut bench = Bench::software(major, minor);
        assert_eq!(bench.controller.connect(Port::RealtimeReadOnly).is_ok(), exist, "{major}.{minor}");
        assert!(bench.controller.connect(Port::Realtime).is_ok());
    }
}

#[test]
fn the_burst_after_connecting_is_that_of_the_firmware() {
    // Sizes of the messages before the first state on 30001 and on 30002.
    let cases = [
        ((1, 5), vec![], vec![]),
        ((1, 8), vec![51], vec![]),
        ((3, 0), vec![51], vec![]),
        ((3, 1), vec![51], vec![51]),
        ((3, 2), vec![51], vec![51]),
        ((3, 5), vec![55, 24], vec![55, 24]),
        ((3, 10), vec![55, 24, 181], vec![55, 24, 181]),
        ((5, 12), vec![55, 24], vec![55, 24]),
    ];
    for ((major, minor), primary, secondary) in cases {
        let mut bench = Bench::software(major, minor);
        for (port, expected) in [(Port::Primary, primary), (Port::Secondary, secondary)] {
            let conn = bench.connect(port);
            let burst = bench.messages(conn);
            let sizes: Vec<usize> = burst.iter().map(Vec::len).collect();
            assert_eq!(sizes, expected, "{major}.{minor} {port:?}: before any time has passed");
            if let Some(version) = burst.first() {
                assert_eq!((version[4], version[14], &version[16..25]), (20, 3, &b"URControl"[..]));
                assert_eq!((version[25], version[26]), (major, minor));
                assert_eq!(u64_at(version, 5), u64::MAX);
            }
            bench.run(20);
            assert_eq!(bench.messages(conn)[0][4], 16);
        }
    }
}

#[test]
fn the_recorded_burst_of_3_10_is_reproduced_where_it_is_known() {
    let mut bench = Bench::software(3, 10);
    let conn = bench.connect(Port::Secondary);
    let burst = bench.take(conn);
    assert_eq!(burst.len(), 260);
    assert_eq!(burst[27..35], [0; 8], "bug fix and build number");
    assert_eq!(burst[55 + 15..79], [0, 0, 1, 0xFE, 0, 0, 1, 3, 1]);
    assert_eq!((burst[79 + 4], f64_at(&burst, 84), f64_at(&burst, 92)), (24, 0.15, 25.0));
}

#[test]
fn the_first_state_carries_kinematics_and_configuration_and_the_others_follow_at_10_hz() {
    let mut bench = Bench::software(5, 8);
    let conn = bench.connect(Port::Secondary);
    bench.run(1000);
    let states = states(&mut bench, conn);
    assert_eq!(states[0].len(), 1386);
    assert!(states[1..].iter().all(|state| state.len() == 716));
    assert!((10..=12).contains(&states.len()), "{}", states.len());
}

#[test]
fn state_messages_have_the_sizes_that_were_observed() {
    // Periodic and first message; 0 if the size is not known.
    let cases = [
        ((1, 5), 465, 0),
        ((1, 7), 510, 0),
        ((1, 8), 560, 0),
        ((3, 0), 577, 0),
        ((3, 1), 625, 1295),
        ((3, 2), 636, 0),
        ((3, 5), 680, 1350),
        ((3, 15), 682, 0),
        ((5, 0), 0, 1376),
        ((5, 8), 716, 1386),
        // Not observed: those of 5.8 with singularity info (7 B), and the two more fields of configuration data.
        ((5, 9), 723, 1393),
        ((5, 15), 723, 1393),
        ((10, 12), 723, 1397),
    ];
    for ((major, minor), periodic, first) in cases {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Secondary);
        bench.run(250);
        let sizes: Vec<usize> = states(&mut bench, conn).iter().map(Vec::len).collect();
        assert!(first == 0 || sizes[0] == first, "{major}.{minor}: {sizes:?}");
        assert!(periodic == 0 || sizes[1] == periodic, "{major}.{minor}: {sizes:?}");
    }
}

#[test]
fn kinematics_of_nine_bytes_come_with_periodic_states_only_where_that_is_chosen() {
    for short_kinematics in [false, true] {
        for (major, minor) in [(3, 15), (5, 0), (5, 9), (5, 15), (10, 12)] {
            let software = SoftwareVersion::new(major, minor);
            let mut bench = Bench::new(Options { short_kinematics, ..Options::for_software(software) });
            let conn = bench.connect(Port::Primary);
            bench.run(250);
            let states = states(&mut bench, conn);
            assert_eq!(find(&states[0], 5).len(), 225, "{software}");
            for state in &states[1..] {
                let sizes = sub_packages(state).into_iter().filter(|(kind, _)| *kind == 5).map(|(_, part)| part.len());
                let expected: &[usize] = if short_kinematics && major >= 5 { &[9] } else { &[] };
                assert_eq!(sizes.collect::<Vec<_>>(), expected, "{software}");
            }
        }
    }
}

#[test]
fn sub_packages_come_in_the_recorded_order() {
    let cases: [((u8, u8), usize, &[u8]); 4] = [
        ((1, 5), 1, &[0, 1, 4, 5, 3, 2]),
        ((1, 7), 1, &[0, 1, 4, 3, 2, 7, 8]),
        ((3, 15), 1, &[0, 1, 4, 9, 3, 2, 7, 8, 10]),
        ((5, 8), 0, &[0, 1, 4, 5, 9, 3, 2, 6, 7, 8, 10, 11, 12]),
    ];
    for ((major, minor), index, order) in cases {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Primary);
        bench.run(250);
        let state = &states(&mut bench, conn)[index];
        let kinds: Vec<u8> = sub_packages(state).iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, order, "{major}.{minor}");
    }
}

#[test]
fn reserved_bytes_have_the_values_that_were_recorded() {
    let mut bench = Bench::software(3, 15);
    let conn = bench.connect(Port::Secondary);
    bench.run(20);
    let state = states(&mut bench, conn).remove(0);
    assert_eq!(find(&state, 8)[5..], [0, 1, 0, 1]);
    let (masterboard, safety) = (find(&state, 3), find(&state, 10));
    assert_eq!((masterboard[68..72].to_vec(), masterboard[74]), (safety[5..9].to_vec(), 1));
    let mut bench = Bench::software(1, 7);
    let conn = bench.connect(Port::Secondary);
    bench.run(20);
    let state = states(&mut bench, conn).remove(0);
    assert_eq!(find(&state, 8)[5..], [0, 1, 0x40, 7, 1]);
}

#[test]
fn a_euromap_interface_lengthens_the_masterboard_data() {
    for ((major, minor), size) in [((1, 8), 76), ((3, 0), 88), ((3, 2), 90), ((5, 15), 91)] {
        let mut options = ideal(major, minor);
        options.euromap67 = true;
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::Secondary);
        bench.run(20);
        assert_eq!(find(&states(&mut bench, conn)[0], 3).len(), size, "{major}.{minor}");
    }
}

#[test]
fn real_time_packets_come_once_per_cycle_in_the_size_of_the_firmware_with_exact_times() {
    let sizes = [
        ((1, 5), 756),
        ((1, 6), 756),
        ((1, 7), 764),
        ((1, 8), 812),
        ((3, 1), 1044),
        ((3, 4), 1060),
        ((3, 9), 1108),
        ((3, 13), 1116),
        ((3, 15), 1140),
        ((5, 3), 1108),
        ((5, 8), 1116),
        ((5, 9), 1140),
        ((5, 25), 1220),
    ];
    for ((major, minor), size) in sizes {
        let mut bench = Bench::software(major, minor);
        let conn = bench.connect(Port::Realtime);
        bench.run(1000);
        let packets = bench.messages(conn);
        let hertz = if major < 5 { 125 } else { 500 };
        assert_eq!(packets.len(), hertz, "{major}.{minor}");
        assert!(packets.iter().all(|packet| packet.len() == size), "{major}.{minor}");
        let micros: Vec<i64> = packets.iter().map(|packet| (f64_at(packet, 4) * 1e6).round() as i64).collect();
        assert!(micros.windows(2).all(|pair| pair[1] - pair[0] == 1_000_000 / hertz as i64), "{major}.{minor}");
    }
}

#[test]
fn robot_mode_and_joint_modes_say_the_same_in_every_power_state() {
    // (action, robot mode, joint mode) on CB3 and on CB2.
    let steps = [(None, [7, 0], 253), (Some(Action::PowerOff), [3, 7], 239), (Some(Action::PowerOn), [5, 2], 255)];
    for (column, (major, minor)) in [(0, (5, 15)), (0, (3, 5)), (1, (1, 8))] {
        let mut bench = Bench::software(major, minor);
        let (realtime, state) = (bench.connect(Port::Realtime), bench.connect(Port::Secondary));
        for (action, modes, joint_mode) in steps {
            if let Some(action) = action {
                bench.controller.act(action);
            }
            bench.run(3000);
            let packet = bench.messages(realtime).pop().unwrap();
            assert_eq!(f64_at(&packet, 756), f64::from(modes[column]), "{major}.{minor} after {action:?}");
            let joint_modes: Vec<f64> = (0..6).map(|joint| f64_at(&packet, 764 + 8 * joint)).collect();
            assert_eq!(joint_modes, [f64::from(joint_mode); 6]);
            let message = states(&mut bench, state).pop().unwrap();
            assert_eq!(find(&message, 0)[20], modes[column] as u8);
            assert!((0..6).all(|joint| find(&message, 1)[5 + 41 * joint + 40] == joint_mode as u8));
        }
    }
}

#[test]
fn both_clocks_are_one_in_milliseconds_on_cb2_and_microseconds_later() {
    for ((major, minor), per_second) in [((1, 8), 1e3), ((3, 0), 1e6), ((5, 15), 1e6)] {
        let mut bench = Bench::software(major, minor);
        let (realtime, state) = (bench.connect(Port::Realtime), bench.connect(Port::Secondary));
        bench.next_cycle();
        let time = f64_at(&bench.messages(realtime)[0], 4);
        let timestamp = u64_at(find(&states(&mut bench, state)[0], 0), 5);
        assert!((time * per_second - timestamp as f64).abs() < 1.0, "{major}.{minor}: {time} s, {timestamp}");
    }
}

/// Returns the homogeneous transform by the convention of Denavit and Hartenberg, a method that the simulator does
/// not use.
fn forward(a: &[f64], d: &[f64], alpha: &[f64], q: &[f64]) -> [[f64; 4]; 4] {
    let mut pose = [[0.0; 4]; 4];
    (0..4).for_each(|i| pose[i][i] = 1.0);
    for joint in 0..6 {
        let ((st, ct), (sa, ca)) = (q[joint].sin_cos(), alpha[joint].sin_cos());
        let (a, d) = (a[joint], d[joint]);
        let link =
            [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0.0, sa, ca, d], [0.0, 0.0, 0.0, 1.0]];
        let mut next = [[0.0; 4]; 4];
        for (row, out) in pose.iter().zip(&mut next) {
            for (column, value) in out.iter_mut().enumerate() {
                *value = (0..4).map(|k| row[k] * link[k][column]).sum();
            }
        }
        pose = next;
    }
    pose
}

#[test]
fn the_cartesian_pose_is_that_of_the_measured_joints_with_the_tool_and_the_announced_parameters() {
    for model in RobotModel::ALL {
        let software = match model {
            RobotModel::Ur3 | RobotModel::Ur5 | RobotModel::Ur10 => SoftwareVersion::new(3, 15),
            _ => SoftwareVersion::new(5, 25),
        };
        let mut bench = Bench::new(Options::new(*model, software));
        let conn = bench.connect(Port::Primary);
        bench.send(
            conn,
            "def p():\n set_tcp(p[0.01,0.02,0.15,0.1,0.2,0.3])\n speedj([0.5,-0.3,0.2,0.1,0.4,-0.6],4,3)\nend\n",
        );
        bench.run(1000);
        let states = states(&mut bench, conn);
        let kinematics = find(&states[0], 5);
        let row = |at: usize| (0..6).map(|joint| f64_at(kinematics, at + 8 * joint)).collect::<Vec<_>>();
        let (a, d, alpha) = (row(77), row(125), row(173));
        let last = states.last().unwrap();
        let q: Vec<f64> = (0..6).map(|joint| f64_at(find(last, 1), 5 + 41 * joint)).collect();
        let flange = forward(&a, &d, &alpha, &q);
        let cartesian = find(last, 4);
        let offset: Vec<f64> = (0..6).map(|i| f64_at(cartesian, 53 + 8 * i)).collect();
        assert_eq!(offset, [0.01, 0.02, 0.15, 0.1, 0.2, 0.3]);
        for (axis, row) in flange.iter().take(3).enumerate() {
            let expected = row[3] + (0..3).map(|k| row[k] * offset[k]).sum::<f64>();
            assert!((f64_at(cartesian, 5 + 8 * axis) - expected).abs() < 1e-9, "{}", model.name());
        }
        // The tool's z axis, from the rotation vectors.
        let vector: Vec3 = std::array::from_fn(|i| f64_at(cartesian, 29 + 8 * i));
        let tool = Rotation::from_vector(vector).turn([0.0, 0.0, 1.0]);
        let local = Rotation::from_vector([offset[3], offset[4], offset[5]]).turn([0.0, 0.0, 1.0]);
        for (row, have) in flange.iter().zip(tool) {
            let expected: f64 = (0..3).map(|k| row[k] * local[k]).sum();
            assert!((have - expected).abs() < 1e-9, "{}", model.name());
        }
    }
}

#[test]
fn digital_masks_agree_between_the_ports() {
    for ((major, minor), bit) in [((1, 8), 9), ((3, 5), 17), ((5, 15), 17)] {
        let mut bench = Bench::software(major, minor);
        let (realtime, state) = (bench.connect(Port::Realtime), bench.connect(Port::Secondary));
        bench.controller.act(Action::DigitalInputs(1 << bit));
        bench.send(realtime, "sec o():\n set_digital_out(9,True)\n set_digital_out(0,True)\nend\n");
        bench.run(200);
        let packet = bench.messages(realtime).pop().unwrap();
        assert_eq!(f64_at(&packet, 684), f64::from(1 << bit), "a mask travels as a double");
        let message = states(&mut bench, state).pop().unwrap();
        let masterboard = find(&message, 3);
        let (inputs, outputs) = if major == 1 {
            (i32_at(masterboard, 5) >> 16, i32_at(masterboard, 5) & 0xFFFF)
        } else {
            (i32_at(masterboard, 5), i32_at(masterboard, 9))
        };
        assert_eq!((inputs, outputs), (1 << bit, 1 << bit | 1), "{major}.{minor}");
        if packet.len() >= 1060 {
            assert_eq!(f64_at(&packet, 1044), f64::from(outputs));
        }
    }
}

#[test]
fn is_program_running_follows_the_program_on_both_ports() {
    let mut bench = Bench::software(5, 15);
    let (realtime, state) = (bench.connect(Port::Realtime), bench.connect(Port::Secondary));
    let flags = |bench: &mut Bench| {
        let message = states(bench, state).pop().unwrap();
        let mode = find(&message, 0).to_vec();
        let packet = bench.messages(realtime).pop().unwrap();
        (mode[18], mode[19], f64_at(&packet, 1052))
    };
    bench.run(200);
    assert_eq!(flags(&mut bench), (0, 0, 1.0));
    bench.send(realtime, "def p():\n sleep(1.0)\nend\n");
    bench.run(500);
    assert_eq!(flags(&mut bench), (1, 0, 2.0));
    bench.controller.act(Action::PauseProgram);
    bench.run(200);
    assert_eq!(flags(&mut bench), (1, 1, 4.0));
    bench.controller.act(Action::ResumeProgram);
    bench.run(1000);
    assert_eq!(flags(&mut bench), (0, 0, 1.0));
}

#[test]
fn started_and_stopped_are_announced_on_30001_from_3_14_and_never_for_secondary_programs() {
    for ((major, minor), announced) in [((3, 13), 0), ((3, 14), 2), ((3, 15), 2), ((5, 0), 2), ((5, 25), 2)] {
        let mut bench = Bench::software(major, minor);
        let (primary, secondary) = (bench.connect(Port::Primary), bench.connect(Port::Secondary));
        bench.send(primary, "def job():\n sleep(0.1)\nend\nsec io():\n set_digital_out(0,True)\nend\n");
        bench.run(500);
        let keys: Vec<Vec<u8>> =
            bench.messages(primary).into_iter().filter(|message| message[4] == 20 && message[14] == 7).collect();
        assert_eq!(keys.len(), announced, "{major}.{minor}");
        for (key, title) in keys.iter().zip([&b"PROGRAM_XXX_STARTED"[..], b"PROGRAM_XXX_STOPPED"]) {
            assert_eq!((key[13] as i8, i32_at(key, 15), i32_at(key, 19)), (-2, 0, 0));
            assert_eq!(&key[24..], [title, b"job"].concat());
        }
        assert!(bench.messages(secondary).iter().all(|message| message[4] != 20 || message[14] != 7));
    }
}

#[test]
fn an_error_of_compilation_is_told_on_30001_and_on_no_other_port() {
    for (major, minor, names_place) in
        [(1, 8, false), (3, 2, false), (3, 13, false), (3, 14, true), (3, 15, true), (5, 0, true), (5, 15, true)]
    {
        let mut bench = Bench::software(major, minor);
        let clients = [Port::Primary, Port::Secondary, Port::Realtime].map(|port| bench.connect(port));
        bench.send(clients[2], "def p():\n wibble(1)\nend\n");
        bench.run(100);
        let [primary, secondary, realtime] = clients.map(|conn| bench.messages(conn));
        let exceptions: Vec<_> = primary.iter().filter(|message| message[4] == 20 && message[14] == 10).collect();
        assert_eq!(exceptions.len(), 1, "{major}.{minor}");
        let text = if names_place {
            assert_eq!((i32_at(exceptions[0], 15), i32_at(exceptions[0], 19)), (2, 2), "line and column");
            &exceptions[0][23..]
        } else {
            &exceptions[0][15..]
        };
        assert_eq!(text, b"compile_error_name_not_found:wibble:");
        assert!(secondary.iter().all(|message| message[4] != 20 || message[14] != 10));
        assert!(realtime.iter().all(|packet| packet.len() >= 756));
    }
}

#[test]
fn a_change_of_the_safety_mode_is_told_on_30001() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Primary);
    bench.run(20);
    bench.take(conn);
    bench.controller.act(Action::ProtectiveStop);
    bench.run(100);
    let messages = bench.messages(conn);
    let change = messages.iter().find(|message| message[4] == 20 && message[14] == 5).unwrap();
    assert_eq!((change.len(), change[23]), (32, 3));
    assert!(u64_at(change, 5) >= 100_000_000, "the controller's clock");
}

#[test]
fn configuration_is_sent_again_when_the_robot_leaves_initialisation() {
    let mut bench = Bench::software(5, 15);
    let conn = bench.connect(Port::Secondary);
    bench.controller.act(Action::PowerOff);
    bench.run(500);
    bench.take(conn);
    bench.controller.act(Action::ReleaseBrakes);
    bench.run(5000);
    let with_configuration =
        states(&mut bench, conn).iter().filter(|state| sub_packages(state).iter().any(|(kind, _)| *kind == 6)).count();
    assert_eq!(with_configuration, 1);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed| {
        let mut options = Options { seed, ..Options::default() };
        options.faults.push(outrigger_sim::fault::Fault::parse("jitter@0::5ms").unwrap());
        let mut bench = Bench::new(options);
        let conn = bench.connect(Port::Realtime);
        bench.send(conn, "speedj([0.1,0.2,0.3,0.4,0.5,0.6],2,1)\n");
        bench.run(500);
        (bench.take(conn), bench.controller.now())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0);
    assert_eq!(run(7).1, SimTime::from_millis(500));
}

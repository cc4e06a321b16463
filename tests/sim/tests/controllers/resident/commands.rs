//! Commands that are executed once, and the contact of the tool.

use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::surface::Surface;

use super::{GENERATIONS, computer, every, with};
use crate::common::reverse::{Computer, IDLE, POSE, SPEEDJ, SPEEDL, STOPPED};
use crate::common::{ideal, near};

/// Takes the integer that the program has sent on the command connection; `None` if it has sent none.
fn word(computer: &mut Computer) -> Option<i32> {
    let command = computer.command;
    let bytes = computer.bench.take(command);
    assert!(bytes.len() <= 4, "one word: {bytes:?}");
    bytes.try_into().ok().map(i32::from_be_bytes)
}

fn told(computer: &mut Computer) -> Vec<String> {
    let primary = computer.primary;
    computer.bench.told(primary)
}

#[test]
fn commands_set_up_the_tool_while_the_arm_moves() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        computer.say_scaled(0, [0.05; 6], SPEEDJ);
        computer.command(1, &[1.5, 0.01, 0.02, 0.03]);
        computer.command(2, &[24.0]);
        computer.command(9, &[0.0, 0.0, 9.82]);
        computer.command(10, &[0.0, 0.0, 0.15, 0.0, 0.0, 0.0]);
        let io = computer.bench.controller.io();
        assert_eq!((io.payload, io.tool_voltage), (1.5, 24), "{major}.{minor}");
        assert_eq!(computer.bench.controller.truth().tcp, [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]);
        let inertia = [0.0; 6];
        computer.command(12, &[&[2.0, 0.0, 0.0, 0.05][..], &inertia, &[0.0]].concat());
        assert_eq!(computer.bench.controller.io().payload, 2.0);
        if (major, minor) >= (3, 3) {
            computer.command(0, &[]);
            computer.command(8, &[0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        }
        near(computer.bench.qd_target(), [0.05; 6], 1e-5);
        assert!(computer.runs() && told(&mut computer).is_empty(), "{major}.{minor}");
    }
}

#[test]
fn what_the_software_lacks_is_said_and_nothing_else_happens() {
    for (major, minor, id, what) in [
        (3, 0, 0, "zero_ftsensor"),
        (3, 0, 8, "sensors of clients"),
        (5, 15, 7, "friction compensation"),
        (5, 15, 11, "shares of friction"),
        (10, 10, 7, "friction compensation"),
        (5, 25, 11, "shares of friction"),
        (3, 15, 5, "tool_contact"),
        (5, 15, 77, "External Control: no such command: 77"),
    ] {
        let mut computer = computer(major, minor);
        computer.say_scaled(0, [0.05; 6], SPEEDJ);
        computer.command(id, &[1.0]);
        computer.bench.run(200);
        near(computer.bench.qd_target(), [0.05; 6], 1e-5);
        let told = told(&mut computer);
        assert!(told.len() == 1 && told[0].ends_with(what), "{major}.{minor}: {told:?}");
    }
}

/// Returns a computer that is connected to the program on a controller with a surface 30 mm below the tool.
fn over_a_surface(major: u8, minor: u8) -> Computer {
    over_a_surface_with(ideal(major, minor))
}

fn over_a_surface_with(options: Options) -> Computer {
    let [x, y, z] = Controller::new(options.clone()).unwrap().truth().tool().position;
    with(Options { surface: Surface::new([x, y, z - 0.03], [0.0, 0.0, 1.0], 20_000.0, 100.0), ..options })
}

/// Keeps the program in a control mode: sends the same message once per cycle for this number of cycles.
fn keeps(computer: &mut Computer, cycles: u32, values: [f64; 6], mode: i32) {
    for _ in 0..cycles {
        computer.say_scaled(200, values, mode);
        computer.bench.next_cycle();
    }
}

const DOWN: [f64; 6] = [0.0, 0.0, -0.02, 0.0, 0.0, 0.0];

#[test]
fn a_contact_stops_the_arm_where_it_began_until_the_computer_ends_it() {
    for (major, minor) in [(5, 15), (10, 11)] {
        let mut computer = over_a_surface(major, minor);
        let start = computer.bench.controller.truth().tool().position;
        keeps(&mut computer, 10, [0.0; 6], IDLE);
        computer.command(5, &[]);
        keeps(&mut computer, 1500, DOWN, SPEEDL);
        assert_eq!(word(&mut computer), Some(0), "{major}.{minor}: {:?}", told(&mut computer));
        let there = computer.bench.controller.truth().tool().position;
        let way = start[2] - there[2];
        assert!((0.0295..0.032).contains(&way), "{major}.{minor}: {way} m");
        keeps(&mut computer, 300, DOWN, SPEEDL);
        assert!(computer.rests() && computer.runs(), "{major}.{minor}: no mode is obeyed");
        computer.command(6, &[]);
        assert_eq!(word(&mut computer), None);
        keeps(&mut computer, 500, [0.0, 0.0, 0.02, 0.0, 0.0, 0.0], SPEEDL);
        let back = computer.bench.controller.truth().tool().position;
        assert!(back[2] - there[2] > 0.015, "{major}.{minor}: {:?}", told(&mut computer));
    }
}

#[test]
fn a_wait_that_is_given_up_on_the_way_back_ends_after_it() {
    for (major, minor) in [(5, 15), (10, 11)] {
        let mut computer = over_a_surface(major, minor);
        keeps(&mut computer, 10, [0.0; 6], IDLE);
        computer.command(5, &[]);
        while word(&mut computer).is_none() {
            let before = computer.bench.controller.truth().tool().position[2];
            keeps(&mut computer, 1, DOWN, SPEEDL);
            let upwards = computer.bench.controller.truth().tool().position[2] > before;
            if upwards {
                break;
            }
        }
        computer.command(6, &[]);
        keeps(&mut computer, 500, [0.0, 0.02, 0.0, 0.0, 0.0, 0.0], SPEEDL);
        assert!(computer.runs() && !computer.rests(), "{major}.{minor}: {:?}", told(&mut computer));
    }
}

#[test]
fn positions_and_trajectories_end_by_contact_too() {
    for (major, minor) in [(5, 15), (10, 11)] {
        let mut computer = over_a_surface(major, minor);
        let pose = computer.bench.controller.truth().tool_target();
        computer.say(0, [0; 6], IDLE);
        computer.command(5, &[]);
        computer.forward(1, 2);
        let below = [pose[0], pose[1], pose[2] - 0.06, pose[3], pose[4], pose[5]];
        computer.point(below, [0.0; 6], [0.02, 1.0, 0.0, 0.0, 0.0, 0.0], 0.0, 0, 1);
        computer.point(pose, [0.0; 6], [0.02, 1.0, 0.0, 0.0, 0.0, 0.0], 0.0, 0, 1);
        computer.bench.run(4000);
        assert_eq!(word(&mut computer), Some(0), "{major}.{minor}: {:?}", told(&mut computer));
        assert_eq!(computer.result(), Some(1), "{major}.{minor}: the trajectory is canceled");
        assert!(computer.rests() && computer.runs());
        computer.say(100, [0; 6], STOPPED);
        computer.bench.run(500);
        assert!(!computer.runs(), "{major}.{minor}: the end is heard all the same");

        let mut computer = over_a_surface(major, minor);
        computer.say(0, [0; 6], IDLE);
        computer.command(5, &[]);
        for n in 0..2000 {
            let way = 4e-5 * f64::from(n);
            computer.say_scaled(200, [pose[0], pose[1], pose[2] - way, pose[3], pose[4], pose[5]], POSE);
            computer.bench.next_cycle();
        }
        assert_eq!(word(&mut computer), Some(0), "{major}.{minor}: {:?}", told(&mut computer));
        assert!(computer.rests() && computer.runs());
    }
}

#[test]
fn a_wait_for_contact_that_is_given_up_says_so() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        computer.say_scaled(0, [0.05; 6], SPEEDJ);
        computer.command(5, &[]);
        computer.bench.run(300);
        computer.command(6, &[]);
        assert_eq!(word(&mut computer), Some(1), "{major}.{minor}");
        near(computer.bench.qd_target(), [0.05; 6], 1e-5);
    }
}

#[test]
fn force_mode_presses_on_a_surface_and_ends() {
    for (major, minor) in GENERATIONS {
        let mut computer = over_a_surface(major, minor);
        computer.say(0, [0; 6], IDLE);
        let frame = [0.0; 6];
        let chosen = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        let wrench = [0.0, 0.0, -20.0, 0.0, 0.0, 0.0];
        let limits = [0.1, 0.1, 0.05, 0.17, 0.17, 0.17];
        computer.command(3, &[&frame[..], &chosen, &wrench, &[2.0], &limits, &[0.025, 0.8]].concat());
        computer.bench.run(8000);
        let pressed = computer.bench.controller.truth().tool().position[2];
        computer.command(4, &[]);
        assert!(computer.runs(), "{major}.{minor}: {:?}", told(&mut computer));
        computer.bench.run(500);
        let after = computer.bench.controller.truth().tool().position[2];
        assert!((after - pressed).abs() < 2e-3, "{major}.{minor}");
        let [.., z] = over_a_surface(major, minor).bench.controller.truth().tool().position;
        assert!((0.0295..0.033).contains(&(z - pressed)), "{major}.{minor}: {} m", z - pressed);
    }
}

#[test]
fn a_contact_is_noticed_in_a_flood_of_messages() {
    // UR's example sends as fast as it can, to an arm in this position.
    let q = [0.31, -1.42, -1.23, -1.14, 1.55, 0.26];
    for options in [ideal(5, 15), ideal(10, 11), Options { q, ..Options::for_software(ideal(5, 15).software) }] {
        let mut computer = over_a_surface_with(options);
        keeps(&mut computer, 10, [0.0; 6], IDLE);
        computer.command(5, &[]);
        let start = computer.bench.controller.truth().tool().position;
        let words = [100, 0, 0, -20_000, 0, 0, 0, SPEEDL];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        for n in 0..1500 {
            for _ in 0..100 {
                assert!(computer.runs(), "in cycle {n}: {:?}", told(&mut computer));
                let reverse = computer.reverse;
                // Bytes for which there is no room stay with the computer.
                let taken = computer.bench.controller.write(reverse, &bytes);
                assert!(taken == 0 || taken == bytes.len());
            }
            computer.bench.next_cycle();
        }
        assert_eq!(word(&mut computer), Some(0), "{:?}", told(&mut computer));
        let way = start[2] - computer.bench.controller.truth().tool().position[2];
        assert!((0.0295..0.032).contains(&way), "{way} m");
    }
}

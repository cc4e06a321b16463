//! A program with the connections, messages and modes of External Control, and the computer it connects to
//! (core/docs/protocol/ur-external-control.md 1.3 to 1.7): the effect of each mode on the arm.

use outrigger_sim::controller::Action;
use outrigger_sim::port::Port;

use crate::common::near;
use crate::common::reverse::{
    CANCELED, Computer, FAILURE, IDLE, POSE, SERVOJ, SPEEDJ, SPEEDL, STOPPED, SUCCESS, scaled,
};

const PROGRAM: &str = include_str!("programs_of_users/external_control.script");

fn computer(major: u8, minor: u8) -> Computer {
    let mut program = PROGRAM.replace("SERVER", "10.0.0.2");
    for (name, port) in [("REVERSE_PORT", 50_001), ("TRAJECTORY_PORT", 50_003), ("COMMAND_PORT", 50_004)] {
        program = program.replace(name, &port.to_string());
    }
    // In the form in which a driver without a URCap sends it: each line after a tab.
    let lines: String = program.lines().map(|line| format!("\t{line}\n")).collect();
    Computer::new(major, minor, &format!("def external_control():\n{lines}end\n"))
}

fn wave(start: [f64; 6], t: f64) -> [f64; 6] {
    start.map(|q| q + 0.1 * (1.0 - (3.0 * t).cos()))
}

#[test]
fn streamed_positions_are_followed_and_a_gap_is_bridged_at_constant_speed() {
    let mut computer = computer(5, 25);
    let start = computer.q();
    let mut worst = 0.0_f64;
    for n in 0..1000_u32 {
        let t = f64::from(n) * 0.002;
        // No message is sent in ten cycles of every hundred.
        if n % 100 < 90 {
            computer.say_scaled(100, wave(start, t), SERVOJ);
        }
        computer.bench.next_cycle();
        if n > 100 {
            // `servoj` is about 30 ms late by its look-ahead.
            let off = |late: u32| {
                let then = wave(start, t - f64::from(late) * 0.002);
                computer.q().iter().zip(then).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            worst = worst.max((2..40).map(off).fold(f64::INFINITY, f64::min));
        }
    }
    assert!(worst < 5e-3, "off by {worst} rad");
    assert!(computer.runs());
}

#[test]
fn silence_beyond_the_time_out_stops_the_arm_and_ends_the_program_and_its_connections() {
    let mut computer = computer(5, 25);
    for _ in 0..100 {
        computer.say_scaled(20, [0.2, 0.0, 0.0, 0.0, 0.0, 0.0], SPEEDJ);
        computer.bench.next_cycle();
    }
    assert!((computer.bench.qd_target()[0] - 0.2).abs() < 1e-9);
    computer.bench.run(18);
    assert!(computer.runs(), "the time-out is not over");
    computer.bench.run(150);
    assert!(!computer.runs() && computer.rests());
    for conn in [computer.reverse, computer.trajectory, computer.command] {
        assert!(!computer.bench.controller.is_open(conn), "{conn:?}");
    }
}

#[test]
fn speeds_of_joints_and_of_the_tool_last_until_they_are_replaced() {
    let mut computer = computer(5, 25);
    computer.say_scaled(0, [0.1, -0.1, 0.05, 0.0, 0.0, 0.2], SPEEDJ);
    computer.bench.run(300);
    near(computer.bench.qd_target(), [0.1, -0.1, 0.05, 0.0, 0.0, 0.2], 1e-6);
    computer.say_scaled(0, [0.0, 0.05, -0.05, 0.0, 0.0, 0.1], SPEEDL);
    computer.bench.run(500);
    near(computer.bench.controller.truth().tool_speed_target(), [0.0, 0.05, -0.05, 0.0, 0.0, 0.1], 1e-3);
    computer.say(0, [0; 6], STOPPED);
    computer.bench.run(500);
    assert!(!computer.runs() && computer.rests(), "the loop is left and the program ends");
}

#[test]
fn poses_go_through_inverse_kinematics() {
    let mut computer = computer(5, 25);
    let start = computer.bench.controller.truth().tool_target();
    for n in 0..500 {
        let way = 0.05 * (1.0 - (f64::from(n) / 500.0 * std::f64::consts::PI).cos()) / 2.0;
        let pose = [start[0], start[1] + way, start[2] - way, start[3], start[4], start[5]];
        computer.say_scaled(100, pose, POSE);
        computer.bench.next_cycle();
    }
    computer.say(0, [0; 6], IDLE);
    computer.bench.run(300);
    let goal = [start[0], start[1] + 0.05, start[2] - 0.05, start[3], start[4], start[5]];
    near(computer.bench.controller.truth().tool_target(), goal, 1e-3);
}

#[test]
fn a_finite_trajectory_of_moves_ends_where_its_last_point_is() {
    let mut computer = computer(5, 25);
    let start = computer.q();
    let pose = computer.bench.controller.truth().tool_target();
    let shifted = |y: f64, z: f64| [pose[0], pose[1] + y, pose[2] + z, pose[3], pose[4], pose[5]];
    let fast = [1.0, 2.0, 0.0, 0.0, 0.0, 0.0];
    let slow = [0.25, 1.2, 0.0, 0.0, 0.0, 0.0];
    computer.forward(1, 4);
    computer.point(start.map(|q| q + 0.1), [0.0; 6], fast, 0.0, 0, 0);
    computer.point(pose, [0.0; 6], slow, 0.0, scaled(0.01), 1);
    computer.point(shifted(0.05, -0.05), [0.0; 6], slow, 0.0, scaled(0.01), 1);
    computer.point(shifted(0.1, 0.0), shifted(0.05, 0.05), slow, 0.0, 0, 3);
    for _ in 0..40 {
        computer.bench.run(100);
        computer.forward(0, 0);
    }
    assert_eq!(computer.result(), Some(SUCCESS));
    assert!(computer.rests() && computer.runs());
    near(computer.bench.controller.truth().tool_target(), shifted(0.1, 0.0), 1e-3);
}

#[test]
fn a_canceled_trajectory_is_drained_and_the_next_one_runs() {
    let mut computer = computer(5, 25);
    let start = computer.q();
    let fast = [1.0, 2.0, 0.0, 0.0, 0.0, 0.0];
    computer.forward(1, 5);
    for n in 0..5 {
        computer.point(start.map(|q| q + 0.5 * f64::from(n % 2)), [0.0; 6], fast, 0.0, 0, 0);
    }
    computer.bench.run(300);
    assert!(!computer.rests());
    computer.forward(-1, 0);
    computer.bench.run(1500);
    assert_eq!(computer.result(), Some(CANCELED));
    assert!(computer.rests());
    computer.forward(1, 1);
    computer.point(start, [0.0; 6], fast, 0.0, 0, 0);
    computer.bench.run(3000);
    assert_eq!(computer.result(), Some(SUCCESS));
    near(computer.q(), start, 1e-3);
}

#[test]
fn a_trajectory_whose_points_stay_out_fails() {
    let mut computer = computer(5, 25);
    let start = computer.q();
    computer.forward(1, 2);
    computer.point(start.map(|q| q + 0.1), [0.0; 6], [1.0, 2.0, 0.0, 0.0, 0.0, 0.0], 0.0, 0, 0);
    computer.bench.run(3000);
    assert_eq!(computer.result(), Some(FAILURE));
    assert!(computer.rests() && computer.runs());
}

#[test]
fn a_streamed_spline_passes_its_points() {
    for kind in [1, 2] {
        let mut computer = computer(5, 25);
        let start = computer.q();
        computer.forward(2, 0);
        let (count, part) = (20, 0.1);
        let at = |n: i32| {
            let t = f64::from(n) * part * std::f64::consts::PI;
            let place = start.map(|q| q + 0.1 * (1.0 - t.cos()));
            let speed = [0.1 * std::f64::consts::PI * t.sin(); 6];
            let acceleration = [0.1 * std::f64::consts::PI.powi(2) * t.cos(); 6];
            (place, speed, acceleration)
        };
        for n in 1..=count {
            let (place, speed, acceleration) = at(n);
            computer.point(place, speed, acceleration, part, kind, 51);
        }
        computer.forward(3, count);
        computer.bench.run(1100);
        // The middle of it was reached in time.
        near(computer.q(), at(10).0, 0.02);
        computer.bench.run(1500);
        assert_eq!(computer.result(), Some(SUCCESS), "kind {kind}");
        near(computer.q(), at(count).0, 0.01);
    }
}

#[test]
fn a_pause_holds_the_program_and_what_was_sent_meanwhile_is_read_afterwards() {
    let mut computer = computer(5, 25);
    computer.say_scaled(0, [0.1; 6], SPEEDJ);
    computer.bench.run(300);
    computer.bench.controller.act(Action::PauseProgram);
    computer.bench.run(300);
    assert!(computer.rests() && computer.runs());
    computer.say_scaled(0, [0.2; 6], SPEEDJ);
    computer.bench.run(300);
    assert!(computer.rests());
    computer.bench.controller.act(Action::ResumeProgram);
    computer.bench.run(300);
    near(computer.bench.qd_target(), [0.2; 6], 1e-6);
}

#[test]
fn commands_set_up_the_tool_while_the_arm_moves() {
    let mut computer = computer(5, 25);
    computer.say_scaled(0, [0.05; 6], SPEEDJ);
    computer.command(1, &[1.5, 0.01, 0.02, 0.03]);
    computer.command(2, &[24.0]);
    computer.command(10, &[0.0, 0.0, 0.15, 0.0, 0.0, 0.0]);
    let io = computer.bench.controller.io();
    assert_eq!((io.payload, io.tool_voltage), (1.5, 24));
    assert_eq!(computer.bench.controller.truth().tcp, [0.0, 0.0, 0.15, 0.0, 0.0, 0.0]);
    near(computer.bench.qd_target(), [0.05; 6], 1e-6);
}

#[test]
fn a_position_that_is_too_far_is_ignored_and_said_once() {
    let mut computer = computer(5, 25);
    let primary = computer.bench.connect(Port::Primary);
    let start = computer.q();
    for _ in 0..50 {
        computer.say_scaled(100, start.map(|q| q + 1.0), SERVOJ);
        computer.bench.next_cycle();
    }
    near(computer.q(), start, 1e-6);
    assert!(computer.runs());
    assert!(computer.bench.told(primary).iter().any(|text| text.starts_with("ignored: ")));
}

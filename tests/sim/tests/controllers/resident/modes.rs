//! The effect of each mode on the arm.

use std::f64::consts::PI;

use outrigger_sim::controller::Action;
use outrigger_wire::robot::ControlMode;

use outrigger_urscript::ExternalControlProgram;

use super::{GENERATIONS, PROGRAM, computer, every, limited};
use crate::common::near;
use crate::common::reverse::{Computer, FREEDRIVE, IDLE, POSE, SERVOJ, SPEEDJ, SPEEDL, TORQUE};

fn wave(start: [f64; 6], t: f64) -> [f64; 6] {
    start.map(|q| q + 0.1 * (1.0 - (3.0 * t).cos()))
}

/// Sends positions of a wave once per cycle, if `sent` is true for the cycle. Returns the largest distance of the arm
/// from the wave, at the best delay within 160 ms: `servoj` is late by its look-ahead.
fn follow(computer: &mut Computer, cycles: u32, sent: impl Fn(u32) -> bool) -> f64 {
    let start = computer.q();
    let period = computer.bench.controller.period().as_secs_f64();
    let mut worst = 0.0_f64;
    for n in 0..cycles {
        let t = f64::from(n) * period;
        if sent(n) {
            computer.say_scaled(100, wave(start, t), SERVOJ);
        }
        computer.bench.next_cycle();
        if t > 0.3 {
            let off = |late: u32| {
                let then = wave(start, t - f64::from(late) * 0.002);
                computer.q().iter().zip(then).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            worst = worst.max((0..80).map(off).fold(f64::INFINITY, f64::min));
        }
    }
    worst
}

#[test]
fn positions_are_followed_and_gaps_are_bridged_at_constant_speed() {
    for (major, minor) in every() {
        let mut whole = computer(major, minor);
        let worst = follow(&mut whole, 1000, |_| true);
        assert!(worst < 2e-3, "{major}.{minor}: off by {worst} rad");
        // One message of ten is omitted, or ten of a hundred if cycles are short.
        let mut gaps = computer(major, minor);
        let worst = follow(&mut gaps, 1000, |n| if major == 3 { n % 10 < 9 } else { n % 100 < 90 });
        assert!(worst < 6e-3, "{major}.{minor}: off by {worst} rad with gaps");
        assert!(whole.runs() && gaps.runs());
    }
}

#[test]
fn a_motion_goes_on_without_positions_for_a_fifth_of_a_second_at_most() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        let period = computer.bench.controller.period().as_secs_f64();
        let start = computer.q();
        for n in 0..100 {
            // The timeout is disabled.
            computer.say_scaled(0, start.map(|q| q + 0.2 * period * f64::from(n)), SERVOJ);
            computer.bench.next_cycle();
        }
        let before = computer.q();
        computer.bench.run(2000);
        let further = computer.q()[0] - before[0];
        near(computer.bench.qd_target(), [0.0; 6], 1e-9);
        assert!(computer.runs());
        assert!((0.02..0.07).contains(&further), "{major}.{minor}: {further} rad");
    }
}

#[test]
fn a_position_too_far_away_is_ignored_and_said_once() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        for _ in 0..50 {
            computer.say_scaled(100, start.map(|q| q + 1.0), SERVOJ);
            computer.bench.next_cycle();
        }
        near(computer.q(), start, 1e-6);
        let primary = computer.primary;
        let told = computer.bench.told(primary);
        let ignored = told.iter().filter(|text| text.starts_with("External Control: ignored: ")).count();
        assert_eq!(ignored, 1, "{major}.{minor}: {told:?}");
        for _ in 0..100 {
            computer.say_scaled(100, start.map(|q| q + 0.01), SERVOJ);
            computer.bench.next_cycle();
        }
        near(computer.q(), start.map(|q| q + 0.01), 1e-3);
    }
}

#[test]
fn positions_are_approached_no_faster_than_each_joint_may_turn() {
    for (major, minor) in GENERATIONS {
        let joint_speeds = [0.2, 0.4, 1.0, 1.0, 1.0, 1.0];
        let mut computer = limited(ExternalControlProgram { joint_speeds, ..PROGRAM }, major, minor);
        let start = computer.q();
        let goal = start.map(|q| q + 0.03);
        let mut fastest = 0.0_f64;
        for _ in 0..400 {
            computer.say_scaled(100, goal, SERVOJ);
            computer.bench.next_cycle();
            fastest = fastest.max(computer.bench.qd_target()[0].abs());
        }
        near(computer.q(), goal, 1e-3);
        assert!(fastest < 0.21, "{major}.{minor}: {fastest} rad/s");
        computer.say_scaled(0, [0.1, -0.8, 0.1, 0.0, 0.0, 0.0], SPEEDJ);
        computer.bench.run(500);
        near(computer.bench.qd_target(), [0.05, -0.4, 0.05, 0.0, 0.0, 0.0], 1e-5);
    }
}

#[test]
fn a_joint_that_is_led_faster_than_its_limit_ends_the_program_in_a_controlled_stop() {
    for (major, minor) in GENERATIONS {
        let joint_speeds = [0.1; 6];
        let mut computer = limited(ExternalControlProgram { joint_speeds, ..PROGRAM }, major, minor);
        // Further messages are ignored.
        for _ in 0..250 {
            if computer.runs() {
                computer.say_scaled(0, [0.0, 0.3, 0.0, 0.0, 0.0, 0.0], SPEEDL);
            }
            computer.bench.next_cycle();
        }
        assert!(!computer.runs() && computer.rests(), "{major}.{minor}");
        let primary = computer.primary;
        let told = computer.bench.told(primary);
        assert!(told.len() == 1 && told[0].contains("faster than its limit"), "{told:?}");
    }
}

#[test]
fn speeds_of_joints_and_of_the_tool_last_until_they_are_replaced() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        computer.say_scaled(0, [0.1, -0.1, 0.05, 0.0, 0.0, 0.2], SPEEDJ);
        computer.bench.run(300);
        near(computer.bench.qd_target(), [0.1, -0.1, 0.05, 0.0, 0.0, 0.2], 1e-5);
        computer.say_scaled(0, [0.0, 0.05, -0.05, 0.0, 0.0, 0.1], SPEEDL);
        computer.bench.run(500);
        near(computer.bench.controller.truth().tool_speed_target(), [0.0, 0.05, -0.05, 0.0, 0.0, 0.1], 2e-3);
        computer.say(0, [0; 6], IDLE);
        computer.bench.run(300);
        assert!(computer.runs() && computer.rests(), "{major}.{minor}");
    }
}

#[test]
fn poses_go_through_inverse_kinematics_and_one_without_joints_is_ignored() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        let start = computer.bench.controller.truth().tool_target();
        let pose = |way: f64| [start[0], start[1] + way, start[2] - way, start[3], start[4], start[5]];
        let cycles = if major == 3 { 125 } else { 500 };
        for n in 0..cycles {
            let way = 0.05 * (1.0 - (f64::from(n) / f64::from(cycles) * PI).cos()) / 2.0;
            computer.say_scaled(100, pose(way), POSE);
            computer.bench.next_cycle();
        }
        // The program checks first that joints exist for the pose, if the software has such a function: otherwise the
        // program would end.
        if (major, minor) >= (5, 10) || (major, minor) == (3, 15) {
            for _ in 0..20 {
                computer.say_scaled(100, [3.0, 0.0, 0.0, 0.0, 0.0, 0.0], POSE);
                computer.bench.next_cycle();
            }
        }
        for _ in 0..100 {
            computer.say_scaled(100, pose(0.05), POSE);
            computer.bench.next_cycle();
        }
        assert!(computer.runs());
        near(computer.bench.controller.truth().tool_target(), pose(0.05), 1e-3);
    }
}

#[test]
fn a_change_of_mode_brings_the_arm_to_rest_in_between() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        computer.say_scaled(0, [0.5, 0.0, 0.0, 0.0, 0.0, 0.0], SPEEDJ);
        computer.bench.run(300);
        computer.say_scaled(0, [0.0; 6], SPEEDL);
        computer.bench.run(60);
        assert!(computer.bench.qd_target()[0] > 0.2, "{major}.{minor}: it ramps down");
        computer.bench.run(200);
        assert!(computer.runs() && computer.rests());
    }
}

#[test]
fn freedrive_begins_and_ends_when_it_is_told() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        computer.say(0, [1, 0, 0, 0, 0, 0], FREEDRIVE);
        computer.bench.run(50);
        assert!(computer.bench.controller.truth().control_mode() == ControlMode::Teach, "{major}.{minor}");
        computer.say(0, [-1, 0, 0, 0, 0, 0], FREEDRIVE);
        computer.bench.run(50);
        assert_ne!(computer.bench.controller.truth().control_mode(), ControlMode::Teach);
        computer.say(0, [1, 0, 0, 0, 0, 0], FREEDRIVE);
        computer.bench.run(50);
        computer.say_scaled(0, [0.1; 6], SPEEDJ);
        computer.bench.run(300);
        near(computer.bench.qd_target(), [0.1; 6], 1e-5);
    }
}

#[test]
fn torques_turn_joints_where_the_software_takes_them() {
    for (major, minor) in [(5, 23), (5, 25), (10, 11), (10, 12)] {
        let mut computer = computer(major, minor);
        let start = computer.q();
        for _ in 0..40 {
            computer.say_scaled(100, [0.0, 0.0, 0.0, 0.0, 0.0, 5.0], TORQUE);
            computer.bench.next_cycle();
        }
        assert!(computer.q()[5] - start[5] > 0.005, "{major}.{minor}");
        computer.say(0, [0; 6], IDLE);
        computer.bench.run(1500);
        let primary = computer.primary;
        let told = computer.bench.told(primary);
        assert!(
            computer.runs() && computer.rests(),
            "{major}.{minor}: {told:?} {:?}",
            computer.bench.controller.truth().motion
        );
    }
    for (major, minor) in [(3, 15), (5, 15), (5, 22), (10, 10)] {
        let mut computer = computer(major, minor);
        computer.say_scaled(100, [0.0, 0.0, 0.0, 0.0, 0.0, 10.0], TORQUE);
        computer.bench.run(50);
        assert!(!computer.runs() && computer.rests(), "{major}.{minor}");
        let primary = computer.primary;
        let told = computer.bench.told(primary);
        assert!(told.iter().any(|text| text.ends_with("this software lacks direct_torque")), "{told:?}");
    }
}

#[test]
fn a_slow_slider_lets_the_newest_position_win() {
    for (major, minor) in [(5, 15), (10, 11)] {
        let mut computer = computer(major, minor);
        computer.bench.controller.act(Action::Slider(0.5));
        let start = computer.q();
        for n in 0..500 {
            let way = 0.05 * (1.0 - (f64::from(n) / 500.0 * PI).cos()) / 2.0;
            computer.say_scaled(100, start.map(|q| q + way), SERVOJ);
            computer.bench.next_cycle();
        }
        for _ in 0..200 {
            computer.say_scaled(100, start.map(|q| q + 0.05), SERVOJ);
            computer.bench.next_cycle();
        }
        near(computer.q(), start.map(|q| q + 0.05), 1e-3);
    }
}

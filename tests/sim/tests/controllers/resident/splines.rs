//! Splines: speeds that are computed from polynomials, step by step.

use std::f64::consts::PI;

use outrigger_sim::controller::Action;
use outrigger_urscript::ExternalControlProgram;

use super::{GENERATIONS, PROGRAM, computer, every, limited};
use crate::common::near;
use crate::common::reverse::{CANCELED, Computer, FAILURE, SUCCESS};

const RECEIVE: i32 = 1;
const STREAM: i32 = 2;
const STREAM_END: i32 = 3;

const SPLINE: i32 = 51;
const CUBIC: i32 = 1;
const QUINTIC: i32 = 2;

/// Returns point number `n` of a wave with one point every tenth of a second: position, speed, acceleration.
fn wave(start: [f64; 6], n: i32) -> ([f64; 6], [f64; 6], [f64; 6]) {
    let t = f64::from(n) * 0.1 * PI;
    let place = start.map(|q| q + 0.1 * (1.0 - t.cos()));
    (place, [0.1 * PI * t.sin(); 6], [0.1 * PI * PI * t.cos(); 6])
}

fn part(computer: &mut Computer, start: [f64; 6], n: i32, kind: i32) {
    let (place, speed, acceleration) = wave(start, n);
    computer.point(place, speed, acceleration, 0.1, kind, SPLINE);
}

/// Returns the distance of the arm from the wave at a time since its begin [s], at the best delay within this many
/// seconds.
fn beside(computer: &Computer, start: [f64; 6], t: f64, late: f64) -> f64 {
    let steps = (late / 0.002) as u32;
    let off = |late: f64| (computer.q()[0] - start[0] - 0.1 * (1.0 - ((t - late) * PI).cos())).abs();
    (0..steps).map(|late| off(f64::from(late) * 0.002)).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_finite_spline_passes_its_points_in_time() {
    for (major, minor) in every() {
        for kind in [CUBIC, QUINTIC] {
            let mut computer = computer(major, minor);
            let start = computer.q();
            computer.forward(RECEIVE, 20);
            (1..=20).for_each(|n| part(&mut computer, start, n, kind));
            computer.bench.run(24);
            for n in 1..20 {
                computer.forward(0, 0);
                computer.bench.run(100);
                // A part takes whole cycles: at 125 Hz 104 ms.
                let late = if major == 3 { 0.04 + f64::from(n) * 0.004 } else { 0.04 };
                let off = beside(&computer, start, f64::from(n) * 0.1 + 0.024, late);
                assert!(off < 2e-3, "{major}.{minor}, kind {kind}, point {n}: off by {off} rad");
            }
            computer.bench.run(300);
            assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}, kind {kind}");
            near(computer.q(), start, 2e-3);
            assert!(computer.rests());
        }
    }
}

#[test]
fn a_stream_is_followed_as_its_points_come() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(STREAM, 0);
        // Two points ahead.
        (1..=2).for_each(|n| part(&mut computer, start, n, QUINTIC));
        for n in 3..=20 {
            part(&mut computer, start, n, QUINTIC);
            computer.bench.run(100);
        }
        computer.forward(STREAM_END, 20);
        computer.bench.run(600);
        assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}");
        near(computer.q(), start, 2e-3);
    }
}

#[test]
fn a_starved_spline_stops_the_arm_at_once_drops_what_comes_late_and_begins_anew() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(STREAM, 0);
        (1..=5).for_each(|n| part(&mut computer, start, n, QUINTIC));
        computer.bench.run(500);
        // Half a radian per second at the fifth point.
        assert!(computer.bench.qd_target()[0] > 0.2);
        computer.bench.run(250);
        assert!(computer.rests(), "{major}.{minor}: it does not wait for points while it moves");
        assert_eq!(computer.result(), Some(FAILURE));
        let there = computer.q();
        (6..=20).for_each(|n| part(&mut computer, start, n, QUINTIC));
        computer.bench.run(300);
        near(computer.q(), there, 1e-6);
        computer.forward(STREAM, 0);
        computer.point(start, [0.0; 6], [0.0; 6], 1.0, QUINTIC, SPLINE);
        computer.forward(STREAM_END, 1);
        computer.bench.run(1500);
        assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}");
        near(computer.q(), start, 2e-3);
    }
}

#[test]
fn the_last_part_brakes_on_its_way_where_it_would_end_too_fast() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        let goal = start.map(|q| q + 0.5);
        computer.forward(RECEIVE, 1);
        // The spline would end with 1.5 rad/s.
        computer.point(goal, [1.5; 6], [0.0; 6], 0.6, CUBIC, SPLINE);
        let mut most = 0.0_f64;
        for _ in 0..2500 {
            computer.bench.run(2);
            most = most.max(computer.q()[0] - start[0]);
        }
        assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}");
        near(computer.q(), goal, 8e-3);
        assert!(most < 0.508, "{major}.{minor}: {most} rad");
    }
}

#[test]
fn a_low_slider_makes_a_spline_slower_and_not_shorter() {
    for (major, minor) in [(5, 15), (10, 11)] {
        let mut computer = computer(major, minor);
        computer.bench.controller.act(Action::Slider(0.5));
        computer.bench.run(500);
        let start = computer.q();
        computer.forward(RECEIVE, 1);
        computer.point(start.map(|q| q + 0.2), [0.0; 6], [0.0; 6], 1.0, QUINTIC, SPLINE);
        computer.bench.run(1000);
        let way = computer.q()[0] - start[0];
        assert!((0.09..0.11).contains(&way), "{major}.{minor}: {way} rad");
        computer.bench.run(1300);
        assert_eq!(computer.result(), Some(SUCCESS));
        near(computer.q(), start.map(|q| q + 0.2), 2e-3);
    }
}

#[test]
fn parts_without_time_or_too_fast_end_the_trajectory_and_a_first_one_where_the_arm_is_does_not() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(RECEIVE, 2);
        computer.point(start, [0.0; 6], [0.0; 6], 0.0, QUINTIC, SPLINE);
        computer.point(start.map(|q| q + 0.1), [0.0; 6], [0.0; 6], 0.5, QUINTIC, SPLINE);
        computer.bench.run(1000);
        assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}");
        near(computer.q(), start.map(|q| q + 0.1), 2e-3);
        for (goal, time) in [(start, 0.0), (start.map(|q| q + 0.1), -1.0), (start.map(|q| q + 2.2), 0.1)] {
            computer.forward(RECEIVE, 1);
            computer.point(goal, [0.0; 6], [0.0; 6], time, CUBIC, SPLINE);
            computer.bench.run(200);
            assert_eq!(computer.result(), Some(CANCELED), "{major}.{minor}, {time} s");
        }
        near(computer.q(), start.map(|q| q + 0.1), 2e-3);
    }
}

#[test]
fn a_part_that_is_faster_than_a_joint_may_turn_is_left_in_a_controlled_stop() {
    for (major, minor) in GENERATIONS {
        let joint_speeds = [3.0, 3.0, 3.0, 3.0, 3.0, 0.5];
        let mut computer = limited(ExternalControlProgram { joint_speeds, ..PROGRAM }, major, minor);
        let start = computer.q();
        computer.forward(RECEIVE, 1);
        // At most 0.75 rad/s in the middle.
        computer.point(start.map(|q| q + 0.4), [0.0; 6], [0.0; 6], 1.0, QUINTIC, SPLINE);
        computer.bench.run(1000);
        assert_eq!(computer.result(), Some(CANCELED), "{major}.{minor}");
        assert!(computer.rests() && computer.runs());
        let way = computer.q()[5] - start[5];
        assert!((0.02..0.2).contains(&way), "{major}.{minor}: {way} rad");
    }
}

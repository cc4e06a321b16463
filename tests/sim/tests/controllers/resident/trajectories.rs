//! Trajectories of moves: finite ones and streams, their ends, and points that remain.

use outrigger_urscript::ExternalControlProgram;

use super::{GENERATIONS, PROGRAM, computer, every, text};
use crate::common::near;
use crate::common::reverse::{CANCELED, Computer, FAILURE, IDLE, SPEEDJ, SUCCESS, scaled};

/// The velocity 1 rad/s and the acceleration 2 rad/s² of a joint move, in the form of a trajectory point.
const FAST: [f64; 6] = [1.0, 2.0, 0.0, 0.0, 0.0, 0.0];
const SLOW: [f64; 6] = [0.25, 1.2, 0.0, 0.0, 0.0, 0.0];

const RECEIVE: i32 = 1;
const STREAM: i32 = 2;
const STREAM_END: i32 = 3;
const CANCEL: i32 = -1;

fn movej(computer: &mut Computer, q: [f64; 6]) {
    computer.point(q, [0.0; 6], FAST, 0.0, 0, 0);
}

/// Keeps the program alive for this time, as a driver does while a trajectory is executed.
fn live(computer: &mut Computer, millis: u64) {
    for _ in 0..millis / 100 {
        computer.forward(0, 0);
        computer.bench.run(100);
    }
}

#[test]
fn moves_of_joints_and_of_the_tool_end_where_the_last_point_is() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        let start = computer.q();
        let pose = computer.bench.controller.truth().tool_target();
        let shifted = |y: f64, z: f64| [pose[0], pose[1] + y, pose[2] + z, pose[3], pose[4], pose[5]];
        computer.forward(RECEIVE, 5);
        movej(&mut computer, start.map(|q| q + 0.1));
        computer.point(pose, [0.0; 6], SLOW, 0.0, scaled(0.01), 1);
        computer.point(shifted(0.05, -0.05), [0.0; 6], SLOW, 0.0, scaled(0.01), 2);
        computer.point(pose, [0.0; 6], SLOW, 0.0, scaled(0.01), 6);
        computer.point(shifted(0.1, 0.0), shifted(0.05, 0.05), SLOW, 0.0, 0, 3);
        live(&mut computer, 6000);
        assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}");
        assert!(computer.rests() && computer.runs());
        near(computer.bench.controller.truth().tool_target(), shifted(0.1, 0.0), 1e-3);
    }
}

#[test]
fn every_kind_of_move_takes_its_goal_as_joints_or_as_a_pose() {
    for (major, minor) in [(3, 15), (5, 15), (5, 25), (10, 11)] {
        let mut computer = computer(major, minor);
        let start = computer.q();
        let at = |computer: &Computer, q: &[f64; 6]| {
            let arm = computer.bench.controller.truth();
            arm.tool_with(q, &arm.tcp)
        };
        let (via, goal) = (start.map(|q| q + 0.03), start.map(|q| q + 0.06));
        let (via_pose, goal_pose) = (at(&computer, &via), at(&computer, &goal));
        let hint = [0.0, 0.0, scaled(1.0).into(), 0.0, 0.0, 0.0];
        let optimal = (major, minor) >= (10, 8) || (major == 5 && minor >= 21);
        for (kind, target, more, rest) in [
            (0, goal, [0.0; 6], FAST),
            (1, goal_pose, [0.0; 6], SLOW),
            (2, goal_pose, [0.0; 6], SLOW),
            (3, goal_pose, via_pose, SLOW),
            (4, goal, [0.0; 6], [0.3, 0.3, 0.0, 0.0, 0.0, 0.0]),
            (5, goal_pose, [0.0; 6], [0.3, 0.3, 0.0, 0.0, 0.0, 0.0]),
            (6, goal_pose, goal, std::array::from_fn(|n| FAST[n] + hint[n] / 1e6)),
            (7, goal, [0.0; 6], SLOW),
            (8, goal, [0.0; 6], SLOW),
            (9, goal, via, SLOW),
            (10, goal, via_pose, SLOW),
            (11, goal_pose, via, SLOW),
            (12, goal_pose, [0.0; 6], [0.3, 0.3, 0.0, 0.0, 0.0, 0.0]),
            (13, goal, [0.0; 6], [0.3, 0.3, 0.0, 0.0, 0.0, 0.0]),
        ] {
            computer.forward(RECEIVE, 1);
            computer.point(target, more, rest, 0.0, 0, kind);
            live(&mut computer, 3000);
            if optimal || !matches!(kind, 4 | 5 | 12 | 13) {
                assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}, kind {kind}");
                near(at(&computer, &computer.q()), goal_pose, 3e-3);
            } else {
                assert_eq!(computer.result(), Some(FAILURE), "{major}.{minor} has no optimal moves");
            }
            computer.forward(RECEIVE, 1);
            movej(&mut computer, start);
            live(&mut computer, 2000);
            assert_eq!(computer.result(), Some(SUCCESS));
        }
        assert!(computer.runs());
    }
}

#[test]
fn what_no_arm_can_do_fails_and_the_next_trajectory_runs() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        // Out of reach, an unknown kind, an unknown spline, joints too fast for the given time.
        let far = [3.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let beside = start.map(|q| q + 0.5);
        for (target, time, blend, kind, result) in [
            (far, 0.0, 0, 1, FAILURE),
            (beside, 0.0, 0, 40, FAILURE),
            (beside, 1.0, 3, 51, FAILURE),
            (beside, 0.01, 0, 0, CANCELED),
        ] {
            computer.forward(RECEIVE, 2);
            computer.point(target, [0.0; 6], FAST, time, blend, kind);
            movej(&mut computer, start.map(|q| q - 0.5));
            live(&mut computer, 1000);
            assert_eq!(computer.result(), Some(result), "{major}.{minor}, kind {kind}");
            near(computer.q(), start, 1e-6);
        }
        computer.forward(RECEIVE, 1);
        movej(&mut computer, start.map(|q| q + 0.1));
        live(&mut computer, 2000);
        assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}: points that were left are not of it");
        near(computer.q(), start.map(|q| q + 0.1), 1e-3);
    }
}

#[test]
fn a_canceled_trajectory_is_drained_and_the_next_one_runs() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(RECEIVE, 50);
        for n in 0..50 {
            movej(&mut computer, start.map(|q| q + 0.5 * f64::from(n % 2)));
        }
        live(&mut computer, 300);
        assert!(!computer.rests());
        computer.forward(CANCEL, 0);
        live(&mut computer, 1000);
        assert_eq!(computer.result(), Some(CANCELED), "{major}.{minor}");
        assert!(computer.rests());
        computer.forward(RECEIVE, 1);
        movej(&mut computer, start);
        live(&mut computer, 3000);
        assert_eq!(computer.result(), Some(SUCCESS));
        near(computer.q(), start, 1e-3);
    }
}

#[test]
fn another_mode_ends_a_trajectory_in_a_controlled_stop() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(RECEIVE, 2);
        movej(&mut computer, start.map(|q| q + 0.5));
        movej(&mut computer, start);
        live(&mut computer, 300);
        computer.say_scaled(0, [0.0; 6], SPEEDJ);
        computer.bench.run(800);
        assert_eq!(computer.result(), Some(CANCELED), "{major}.{minor}");
        assert!(computer.rests() && computer.runs());
        computer.say_scaled(0, [0.1; 6], SPEEDJ);
        computer.bench.run(300);
        near(computer.bench.qd_target(), [0.1; 6], 1e-5);
    }
}

#[test]
fn a_trajectory_in_place_of_another_does_not_take_its_points() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(RECEIVE, 30);
        for n in 0..30 {
            movej(&mut computer, start.map(|q| q + 0.5 * f64::from((n + 1) % 2)));
        }
        live(&mut computer, 300);
        computer.forward(RECEIVE, 1);
        movej(&mut computer, start.map(|q| q - 0.2));
        live(&mut computer, 3000);
        assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}");
        near(computer.q(), start.map(|q| q - 0.2), 1e-3);
    }
}

#[test]
fn a_trajectory_whose_points_stay_out_fails_and_what_comes_late_moves_nothing() {
    for (major, minor) in every() {
        let mut computer = computer(major, minor);
        let start = computer.q();
        let there = start.map(|q| q + 0.1);
        computer.forward(RECEIVE, 3);
        movej(&mut computer, there);
        live(&mut computer, 3000);
        assert_eq!(computer.result(), Some(FAILURE), "{major}.{minor}");
        assert!(computer.rests() && computer.runs());
        for _ in 0..2 {
            movej(&mut computer, start.map(|q| q - 1.0));
            live(&mut computer, 700);
        }
        near(computer.q(), there, 1e-3);
        computer.forward(RECEIVE, 1);
        movej(&mut computer, start);
        live(&mut computer, 2000);
        assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}: late points were not of it");
        near(computer.q(), start, 1e-3);
    }
}

#[test]
fn a_starved_stream_fails_drops_its_late_points_and_another_one_runs() {
    for (major, minor) in every() {
        for ended in [true, false] {
            let mut computer = computer(major, minor);
            let start = computer.q();
            computer.forward(STREAM, 0);
            movej(&mut computer, start.map(|q| q + 0.1));
            live(&mut computer, 3000);
            assert_eq!(computer.result(), Some(FAILURE), "{major}.{minor}");
            // Any number of points in transit.
            for _ in 0..25 {
                movej(&mut computer, start.map(|q| q - 1.0));
            }
            live(&mut computer, 200);
            if ended {
                computer.forward(STREAM_END, 26);
            }
            live(&mut computer, 200);
            computer.forward(STREAM, 0);
            movej(&mut computer, start);
            movej(&mut computer, start.map(|q| q + 0.2));
            computer.forward(STREAM_END, 2);
            live(&mut computer, 3000);
            assert_eq!(computer.result(), Some(SUCCESS), "{major}.{minor}");
            near(computer.q(), start.map(|q| q + 0.2), 1e-3);
        }
    }
}

#[test]
fn a_stream_is_canceled_with_the_number_of_its_points() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(STREAM, 0);
        for n in 0..40 {
            movej(&mut computer, start.map(|q| q + 0.5 * f64::from((n + 1) % 2)));
        }
        live(&mut computer, 300);
        computer.forward(CANCEL, 40);
        // Another trajectory may begin as soon as the end was reported.
        let mut told = None;
        while told.is_none() {
            computer.bench.run(10);
            told = computer.result();
        }
        assert_eq!(told, Some(CANCELED));
        computer.forward(STREAM, 0);
        movej(&mut computer, start.map(|q| q - 0.1));
        live(&mut computer, 2000);
        computer.forward(STREAM_END, 1);
        live(&mut computer, 100);
        // The end arrived later than half a second after the last point.
        assert_eq!(computer.result(), Some(FAILURE), "{major}.{minor}");
        near(computer.q(), start.map(|q| q - 0.1), 1e-3);
        computer.say(0, [0; 6], IDLE);
        live(&mut computer, 100);
        assert!(computer.runs());
    }
}

#[test]
fn a_stream_within_another_is_refused_and_ends_both() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(STREAM, 0);
        for n in 0..40 {
            movej(&mut computer, start.map(|q| q + 0.5 * f64::from((n + 1) % 2)));
        }
        live(&mut computer, 300);
        computer.forward(STREAM, 0);
        movej(&mut computer, start.map(|q| q - 1.0));
        live(&mut computer, 1500);
        assert_eq!(computer.result(), Some(CANCELED), "{major}.{minor}");
        assert!(computer.rests() && computer.runs() && computer.q()[0] > start[0]);
    }
}

#[test]
fn instructions_without_a_trajectory_do_no_harm() {
    for (major, minor) in GENERATIONS {
        let mut computer = computer(major, minor);
        let start = computer.q();
        computer.forward(STREAM_END, 7);
        computer.forward(9, 7);
        computer.forward(0, 0);
        live(&mut computer, 100);
        assert_eq!(computer.result(), None);
        computer.forward(CANCEL, 7);
        live(&mut computer, 100);
        assert_eq!(computer.result(), Some(CANCELED), "{major}.{minor}: who cancels is answered");
        computer.forward(RECEIVE, 0);
        live(&mut computer, 100);
        assert_eq!(computer.result(), Some(SUCCESS));
        computer.forward(RECEIVE, 1);
        movej(&mut computer, start.map(|q| q + 0.1));
        live(&mut computer, 2000);
        assert_eq!(computer.result(), Some(SUCCESS));
    }
}

/// Returns the bytes of a point `q` as our driver sends it to a program with this token.
fn bytes_of(q: [f64; 6], token: Option<i32>) -> Vec<u8> {
    let words = q.iter().chain(&[0.0; 6]).chain(&FAST).map(|value| scaled(*value));
    let kind = token.unwrap_or(0);
    words.chain([0, 0, kind]).flat_map(i32::to_be_bytes).collect()
}

/// Sends only 81 of the 84 bytes of a point; the rest arrives never, later, or with the next trajectory. No motion
/// results from it, and no later point is read at a wrong offset. A program that cannot detect this ends.
#[test]
fn a_point_that_was_cut_ends_its_trajectory_and_moves_nothing_then_or_later() {
    for token in [None, Some(0x4123_4567)] {
        for loses in [false, true] {
            for (cut, later) in [(81, "never"), (81, "late"), (81, "next"), (1, "never"), (40, "next"), (83, "late")] {
                // A program without a token that lost bytes, and receives the rest with the next trajectory, cannot
                // detect it.
                if token.is_none() && loses && later == "next" {
                    continue;
                }
                let what = format!("{token:?}, loses {loses}, {cut} B, the rest {later}");
                let mut options = crate::common::ideal(5, 15);
                options.sockets.loses_partial_reads = loses;
                let program = ExternalControlProgram { token, ..PROGRAM };
                let mut computer = Computer::with(options, &text(&program, 5, 15));
                let _ = computer.bench.take(computer.trajectory);
                let start = computer.q();
                let there = start.map(|q| q + 0.1);
                let point = bytes_of(there, token);
                computer.forward(RECEIVE, 1);
                computer.bench.send_bytes(computer.trajectory, &point[..cut]);
                for step in 0..53 {
                    if !computer.runs() {
                        computer.bench.run(100);
                    } else if step == 23 {
                        near(computer.q(), start, 1e-3);
                        computer.forward(RECEIVE, 2);
                        let rest = if later == "next" { &point[cut..] } else { &[] };
                        let next = bytes_of(there, token);
                        computer.bench.send_bytes(computer.trajectory, &[rest, &next, &next].concat());
                    } else if step == 8 && later == "late" {
                        computer.bench.send_bytes(computer.trajectory, &point[cut..]);
                    } else {
                        live(&mut computer, 100);
                    }
                    let q = computer.q();
                    let between = q.iter().zip(start).all(|(q, start)| (-0.001..0.101).contains(&(q - start)));
                    assert!(between, "{what}: {q:?}");
                }
                // The program continues at the correct offset, or it has ended.
                assert!(computer.rests(), "{what}");
                let made = computer.q().iter().zip(there).all(|(q, to)| (q - to).abs() < 1e-3);
                assert!(made || !computer.runs(), "{what}: neither\n{:?}", computer.q());
                println!("{what}: {}", if made { "the next one is made" } else { "the program has ended" });
            }
        }
    }
}

//! Motions that are fed, replaced and cancelled, and their tolerances.

use super::*;
use crate::law::Replaced;
use crate::law::test_arm::CYCLE;
use crate::trajectory::{Tolerances, TrajectoryError};

#[test]
fn a_motion_that_is_fed_goes_to_its_end_and_one_that_starves_ends_commanding() {
    let at = |millis: u64| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([millis as f32 * 1e-4; 6]),
            velocities: if millis.is_multiple_of(4_000) { JointVelocities::ZERO } else { JointVelocities([0.1; 6]) },
        },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    let limits = Limits { acceleration: JointAccelerations([9.0; 6]), ..Limits::default() };
    for feeds in [40, 20] {
        let beginning = Trajectory::beginning(&[at(0), at(100)]).unwrap();
        let mut law = JointServo::new(Reference::Relative(beginning), JointServoConfig::default());
        let mut plant = Plant::at(HOME);
        law.arm(&Start::at(&plant.state)).unwrap();
        let mut next = 2;
        let mut ended = Ok(0.0);
        for _ in 0..550 {
            while law.status().room > 0 && next <= feeds {
                law.feed(&at(100 * next), next == 40, &limits).unwrap();
                next += 1;
            }
            ended = run(&mut law, &mut plant, 1);
            if ended.is_err() {
                break;
            }
        }
        if feeds == 40 {
            assert_eq!((ended.is_ok(), law.progress()), (true, Progress::Finished));
            assert!(plant.state.positions.zip_with(&HOME, |q, h| q - h - 0.4).max_abs() < 1e-3);
        } else {
            assert_eq!((ended, law.elapsed()), (Err(Reason::Starved), Duration::from_secs(2)));
        }
    }
}

#[test]
fn a_waypoint_that_the_arm_cannot_reach_is_not_taken() {
    let beginning = half_turn_and_back();
    let at = |q: f32, secs| Waypoint {
        setpoint: Setpoint { positions: JointPositions([q; 6]), velocities: JointVelocities::ZERO },
        accelerations: None,
        at: Duration::from_secs(secs),
    };
    let limits = Limits { velocity: JointVelocities([1.0; 6]), ..Limits::default() };
    let feed = |reference, waypoint: &Waypoint<6>| {
        JointServo::new(reference, JointServoConfig::default()).feed(waypoint, true, &limits)
    };
    assert_eq!(feed(Reference::Hold, &at(0.0, 5)), Err(FeedError::NoMotion));
    let whole = feed(Reference::Relative(beginning), &at(0.0, 5));
    assert_eq!(whole, Err(FeedError::Waypoint(TrajectoryError::Complete)));
    let open = || Reference::Relative(Trajectory::beginning(&[at(0.0, 0), at(0.1, 1)]).unwrap());
    assert_eq!(feed(open(), &at(0.2, 1)), Err(FeedError::Waypoint(TrajectoryError::Order(2))));
    let Err(FeedError::Beyond(excess)) = feed(open(), &at(1.0, 2)) else { panic!("taken") };
    assert_eq!((excess.joint, excess.quantity, excess.allowed), (0, Quantity::Velocity, 1.0));
    assert!((excess.reached - 1.35).abs() < 1e-5);
    assert_eq!(feed(open(), &at(0.2, 2)), Ok(()));
}

/// Returns a law without feedback that moves joint 0 through half a turn in 2 s: the arm ends 0.9° short of it.
fn falling_short(tolerances: Tolerances<6>) -> JointServo<6> {
    let config = JointServoConfig { proportional: 0.0, derivative: 0.0, ..JointServoConfig::default() };
    let waypoint = |q, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([q, 0.0, 0.0, 0.0, 0.0, 0.0]),
            velocities: JointVelocities::ZERO,
        },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    let motion = Trajectory::through(&[waypoint(0.0, 0), waypoint(core::f32::consts::PI, 2_000)]).unwrap();
    JointServo::new(Reference::Relative(motion), config).with_tolerances(tolerances)
}

fn within_half_a_second_of(goal: f32) -> Tolerances<6> {
    Tolerances { goal: JointPositions([goal; 6]), goal_time: Some(Duration::from_millis(500)), ..Tolerances::DEFAULT }
}

#[test]
fn a_motion_is_finished_once_its_goal_is_reached_and_ends_by_name_where_it_is_not_in_time() {
    let until_ended = |goal, scaling| {
        let mut law = falling_short(within_half_a_second_of(goal));
        let mut plant = Plant::at(HOME);
        plant.state.speed_scaling = Some(scaling);
        law.arm(&Start::at(&plant.state)).unwrap();
        let cycles: Option<u32> =
            (1..2_000).find(|_| run(&mut law, &mut plant, 1).is_err() || law.progress() == Progress::Finished);
        (law, plant, cycles.unwrap())
    };
    let (law, _, cycles) = until_ended(0.02, 1.0);
    assert!(law.progress() == Progress::Finished && cycles <= 260, "{:?} after {cycles} cycles", law.progress());
    let (mut law, mut plant, cycles) = until_ended(0.01, 1.0);
    assert_eq!((law.progress(), run(&mut law, &mut plant, 1)), (Progress::Running, Err(Reason::GoalTolerance)));
    assert!(cycles.abs_diff(250 + 63) <= 2, "{cycles} cycles");
    let (_, _, cycles) = until_ended(0.01, 0.5);
    assert!(cycles.abs_diff(2 * (250 + 63)) <= 4, "by the motion's own time: {cycles} cycles");
}

#[test]
fn an_arm_that_was_stopped_before_it_came_to_its_goal_is_not_done_and_goes_there_when_resumed() {
    let mut law = falling_short(within_half_a_second_of(0.01));
    let mut plant = Plant::at(HOME);
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 280).unwrap();
    law.suspend();
    assert_eq!(law.progress(), Progress::Suspended);
    law.arm(&Start::at(&plant.state)).unwrap();
    assert_eq!(run(&mut law, &mut plant, 50), Ok(0.0), "asked for anew, it holds");
    law.arm(&Start::at(&plant.state).resuming()).unwrap();
    assert_eq!(law.progress(), Progress::Running);
    plant.state.positions.0[0] += 0.01;
    law.step(&plant.state, &Samples::NONE, Duration::from_secs(1)).unwrap();
    assert_eq!(law.progress(), Progress::Finished);
}

#[test]
fn each_joint_has_its_own_tolerance_on_the_path_and_where_the_motion_is_begun_and_resumed() {
    let mut path = Tolerances::<6>::DEFAULT.path;
    path.0[1] = 0.01;
    let tolerances = Tolerances { path, ..Tolerances::DEFAULT };
    let servo = |reference| JointServo::new(reference, JointServoConfig::default()).with_tolerances(tolerances);
    let begun_off_by = |joint: usize, off: f32| {
        let mut law = servo(Reference::Absolute(half_turn_and_back()));
        let mut state = Plant::at([0.0; 6]).state;
        state.positions.0[joint] = off;
        law.arm(&Start::at(&state))
    };
    assert_eq!([begun_off_by(0, 0.1), begun_off_by(1, 0.009)], [Ok(()); 2]);
    assert_eq!([begun_off_by(0, 0.21), begun_off_by(1, -0.011)], [Err(Reason::PathTolerance); 2]);

    let mut law = servo(Reference::Relative(half_turn_and_back()));
    let mut plant = Plant::at(HOME);
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 60).unwrap();
    let mut pushed = plant.state;
    pushed.positions.0[1] += 0.011;
    assert_eq!(law.clone().step(&pushed, &Samples::NONE, Duration::ZERO), Err(Reason::PathTolerance));
    law.suspend();
    assert_eq!(law.arm(&Start::at(&pushed).resuming()), Err(Reason::PathTolerance));
    assert_eq!(law.progress(), Progress::Suspended);
    assert_eq!(law.arm(&Start::at(&plant.state).resuming()), Ok(()));
}

#[test]
fn another_motion_goes_on_from_where_the_first_one_wants_the_joints_and_as_fast() {
    let at = |q: f32, millis| Waypoint {
        setpoint: Setpoint { positions: JointPositions([q; 6]), velocities: JointVelocities::ZERO },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    let limits = Limits { acceleration: JointAccelerations([9.0; 6]), ..Limits::default() };
    let limits = Limits { velocity: JointVelocities([3.0; 6]), ..limits };
    let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    let mut plant = Plant::at(HOME).held_to(limits);
    assert_eq!(law.replace(&[at(0.0, 3_000)], true, &limits), Err(FeedError::NotCommanding), "it waits");
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 100).unwrap();
    let before = law.clone();
    let was = *law.setpoint().unwrap();
    for (waypoints, last, expected) in [
        (vec![], true, FeedError::Waypoint(TrajectoryError::TooFew)),
        (vec![at(0.0, 0)], true, FeedError::Waypoint(TrajectoryError::Order(0))),
        (vec![at(0.0, 3_000), at(f32::NAN, 4_000)], false, FeedError::Waypoint(TrajectoryError::NotFinite(1))),
        ((1..=16).map(|i| at(0.0, 1_000 * i)).collect(), true, FeedError::Waypoint(TrajectoryError::TooMany)),
    ] {
        assert_eq!(law.replace(&waypoints, last, &limits), Err(expected));
    }
    assert!(matches!(law.replace(&[at(0.0, 300)], true, &limits), Err(FeedError::Beyond(_))));
    assert_eq!(format!("{law:?}"), format!("{before:?}"), "what is refused changes nothing");
    let replaced = law.replace(&[at(0.0, 3_000)], true, &limits).unwrap();
    assert_eq!(replaced, Replaced { progress: Progress::Running, elapsed: before.elapsed() });
    let now = law.reference(Duration::ZERO, 1.0);
    let jump = now.velocities.zip_with(was.velocities.as_array(), |a, b| a - b).max_abs();
    assert!(jump < 1e-5 && was.velocities.max_abs() > 1.0, "{now:?} after {was:?}");
    run(&mut law, &mut plant, 500).unwrap();
    assert_eq!(law.progress(), Progress::Finished);
    assert!(plant.state.positions.max_abs() < 1e-3, "{:?}", plant.state.positions);
    law.suspend();
    let replaced = law.replace(&[at(0.1, 3_000)], true, &limits).unwrap();
    assert_eq!(replaced.progress, Progress::Finished, "one that is over");
}

#[test]
fn a_motion_that_nobody_goes_on_with_is_given_up_for_another_from_where_the_arm_is_held() {
    let limits = Limits { velocity: JointVelocities([3.0; 6]), ..Limits::default() };
    let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    let mut plant = Plant::at(HOME);
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 100).unwrap();
    law.suspend();
    plant.state.velocities = JointVelocities::ZERO;
    law.arm(&Start::at(&plant.state)).unwrap();
    let (held, elapsed) = (plant.state.positions, law.elapsed());
    let to = held.map(|q| q - 0.1);
    let there = Waypoint {
        setpoint: Setpoint { positions: to, velocities: JointVelocities::ZERO },
        accelerations: None,
        at: Duration::from_secs(2),
    };
    assert_eq!(law.replace(&[there], true, &limits), Ok(Replaced { progress: Progress::Suspended, elapsed }));
    assert_eq!(law.reference(Duration::ZERO, 1.0), Setpoint { positions: held, velocities: JointVelocities::ZERO });
    run(&mut law, &mut plant, 400).unwrap();
    assert_eq!(law.progress(), Progress::Finished);
    let off = plant.state.positions.zip_with(to.as_array(), |a, b| a - b).max_abs();
    assert!(off < 1e-3, "{off}");
}

#[test]
fn a_cancelled_motion_comes_to_rest_within_the_acceleration_limit_and_is_over() {
    let limits = Limits { velocity: JointVelocities([3.0; 6]), ..Limits::default() };
    let mut law = JointServo::new(Reference::Relative(half_turn_and_back()), JointServoConfig::default());
    let mut plant = Plant::at(HOME);
    assert_eq!(law.cancel(&limits), Err(FeedError::NotCommanding), "it waits");
    law.arm(&Start::at(&plant.state)).unwrap();
    run(&mut law, &mut plant, 100).unwrap();
    let was = *law.setpoint().unwrap();
    let elapsed = law.elapsed();
    assert_eq!(law.cancel(&limits), Ok(Replaced { progress: Progress::Running, elapsed }));
    let mut before = was.velocities.0[0];
    let mut cycles = 0;
    while law.progress() == Progress::Running {
        plant.cycle(&mut law, &Samples::NONE).unwrap();
        let now = law.setpoint().unwrap().velocities.0[0];
        let change = (now - before).abs() / CYCLE.as_secs_f32();
        assert!(change <= 1.01 && now.abs() <= before.abs(), "{change} rad/s² from {before} to {now}");
        (before, cycles) = (now, cycles + 1);
    }
    let expected = was.velocities.max_abs() / CYCLE.as_secs_f32();
    assert!((cycles as f32 - expected).abs() < 4.0, "{cycles} cycles, {expected} at half the limit");
    assert_eq!((law.progress(), before), (Progress::Finished, 0.0));
    run(&mut law, &mut plant, 50).unwrap();
    assert!(law.cancel(&limits).is_ok(), "an arm that rests");
}

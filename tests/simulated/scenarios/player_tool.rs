//! Moves that the controller makes by itself to a pose of the tool, and on a straight line: the tool arrives, the
//! line is straight, and the arm is at rest after each end.

use outrigger_core::command::{Destination, JointMove, LocateError, MoveTarget};
use outrigger_core::mode::{Mirrored, Mode, MoveNumber};
use outrigger_core::robot::Reason;
use outrigger_sim::arm::Drive;
use outrigger_sim::controller::Action;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_wire::robot::{JointPositions, JointVelocities, Pose, SoftwareVersion};

use super::{ms, secs};

/// The software versions on either side of each change in the execution of moves to a pose of the tool, and in the
/// controller's ability to report whether a pose has a solution.
const SOFTWARE: [SoftwareVersion; 5] = [
    SoftwareVersion::new(3, 0),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 4),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(10, 11),
];

/// The speed and acceleration of the tool \[m/s, m/s²\]; [`JOINTS`] has those of the joints \[rad/s, rad/s²\].
const LINE: (f32, f32) = (0.2, 1.0);
const JOINTS: (f32, f32) = (0.6, 1.0);

fn setup(software: SoftwareVersion) -> Setup {
    let mut setup = Setup::new(software);
    Way::PLAYER.choose(&mut setup.config);
    setup
}

/// Calls `check` with a simulation of each software version. The arm is commanded and at rest.
fn each(mut check: impl FnMut(&str, &mut Rig<'_>)) {
    for software in SOFTWARE {
        for mut buffers in [Buffers::default(), Buffers::with_rtde()] {
            let mut rig = Rig::new(setup(software), &mut buffers);
            rig.command();
            rig.run_for(ms(500));
            check(&software.to_string(), &mut rig);
        }
    }
}

fn tool(rig: &Rig<'_>) -> [f64; 6] {
    rig.controller.truth().tool().to_pose()
}

/// Returns the pose of the tool displaced by these distances \[m\].
fn beside(rig: &Rig<'_>, [x, y, z]: [f64; 3]) -> Pose {
    let [px, py, pz, rx, ry, rz] = tool(rig);
    Pose::from_wire([px + x, py + y, pz + z, rx, ry, rz])
}

/// Returns the controller's conversion of this target: the joint positions of a pose, or the pose of joint positions.
fn located(rig: &mut Rig<'_>, target: MoveTarget<6>) -> Result<Destination<6>, LocateError> {
    rig.ask(|engine, _| engine.locate(target)).expect("somebody to ask");
    let known = rig.run_until(secs(2), |rig| rig.engine().located().is_some());
    assert!(known, "{target:?} is not answered:\n{}", rig.record().story());
    rig.engine().located().expect("it is known")
}

/// Delegates a move to this target to the controller. Returns the move's number.
fn begin(rig: &mut Rig<'_>, target: MoveTarget<6>) -> MoveNumber {
    let (speed, acceleration) = if target.is_linear() { LINE } else { JOINTS };
    let destination = located(rig, target).expect("within reach");
    rig.run_for(ms(50));
    rig.delegate(JointMove::towards(destination, speed, acceleration).expect("a move")).expect("within the limits")
}

fn has_ended(rig: &Rig<'_>, number: MoveNumber) -> bool {
    rig.engine().evidence().mirrored.map(|held| held.value) == Some(Mirrored::Ended(number))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Returns the distance from the line between two points.
fn aside(at: &[f64], from: &[f64], to: &[f64]) -> f64 {
    let length = distance(from, to);
    let along: f64 = (0..3).map(|i| (at[i] - from[i]) * (to[i] - from[i])).sum::<f64>() / length;
    let nearest: Vec<f64> = (0..3).map(|i| from[i] + (to[i] - from[i]) * (along / length).clamp(0.0, 1.0)).collect();
    distance(at, &nearest)
}

/// Checks that the tool is at this pose, within the error of drives that do not follow exactly.
fn is_there(rig: &Rig<'_>, pose: &Pose, software: &str) {
    let at = Pose::from_wire(tool(rig));
    let (off, turned) = (at.distance_to(pose), at.angle_to(pose));
    assert!(off < 2e-3 && turned < 3e-3, "{software}: {off} m, {turned} rad from there\n{}", rig.record().story());
    assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
}

/// Runs until the move has ended. Returns the largest distance of the tool's target from the line to `pose`, and the
/// highest speed of the tool.
fn watched(rig: &mut Rig<'_>, number: MoveNumber, pose: &Pose) -> (f64, f64) {
    let from = rig.controller.truth().tool_target();
    let to: Vec<f64> = pose.position.iter().map(|value| f64::from(*value)).collect();
    let (mut worst, mut fastest) = (0.0_f64, 0.0_f64);
    for _ in 0..20_000 {
        if has_ended(rig, number) {
            rig.run_for(ms(600));
            return (worst, fastest);
        }
        rig.run_for(ms(1));
        let truth = rig.controller.truth();
        let (wanted, at) = (truth.tool_target(), truth.tool().to_pose());
        worst = worst.max(aside(&wanted[..3], &from[..3], &to));
        assert!(distance(&at[..3], &wanted[..3]) < 5e-3, "the arm itself follows");
        fastest = fastest.max(distance(&rig.controller.truth().tool_speed()[..3], &[0.0; 3]));
    }
    panic!("it has not ended:\n{}", rig.record().story());
}

#[test]
fn a_pose_is_reached_by_all_joints_together() {
    each(|software, rig| {
        for offset in [[-0.1, 0.15, 0.1], [0.1, -0.2, 0.0]] {
            let pose = beside(rig, offset);
            let number = begin(rig, MoveTarget::pose(pose));
            let (worst, _) = watched(rig, number, &pose);
            is_there(rig, &pose, software);
            assert!(worst > 2e-3, "{software}: joints do not go straight, and the tool was {worst} m aside");
        }
    });
}

#[test]
fn a_line_to_a_pose_is_straight_and_as_fast_as_asked() {
    each(|software, rig| {
        for offset in [[-0.1, 0.15, 0.1], [0.1, -0.2, 0.0]] {
            let pose = beside(rig, offset);
            let number = begin(rig, MoveTarget::pose(pose).linear());
            let (worst, fastest) = watched(rig, number, &pose);
            is_there(rig, &pose, software);
            assert!(worst < 1e-3, "{software}: {worst} m beside the line");
            assert!((0.19..0.23).contains(&fastest), "{software}: {fastest} m/s");
        }
    });
}

#[test]
fn a_tool_on_drives_without_error_stays_within_a_millimetre_of_its_line() {
    for software in SOFTWARE {
        let (mut buffers, mut setup) = (Buffers::default(), setup(software));
        setup.controller.drive = Drive::IDEAL;
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        let (from, pose) = (tool(&rig), beside(&rig, [-0.1, 0.3, 0.1]));
        let number = begin(&mut rig, MoveTarget::pose(pose).linear());
        let to = pose.position.map(f64::from);
        let mut worst = 0.0_f64;
        while !has_ended(&rig, number) {
            rig.run_for(ms(1));
            worst = worst.max(aside(&tool(&rig)[..3], &from[..3], &to));
            assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
        }
        let off = distance(&tool(&rig)[..3], &to);
        println!("{software}: {:.3} mm beside the line, {:.3} mm from its end", worst * 1e3, off * 1e3);
        assert!(worst < 1e-3 && off < 1e-3, "{software}: {worst} m beside the line, {off} m from its end");
    }
}

#[test]
fn a_line_to_joint_angles_ends_with_the_tool_where_they_put_it() {
    each(|software, rig| {
        let mut goal = rig.controller.truth().q;
        goal[0] += 0.3;
        goal[2] -= 0.2;
        let truth = rig.controller.truth();
        let pose = Pose::from_wire(truth.tool_with(&goal, &truth.tcp));
        let target = MoveTarget::joints(JointPositions(goal.map(|q| q as f32))).linear();
        let line = located(rig, target).expect("a place").line.expect("a line");
        assert!(line.position.iter().zip(pose.position).all(|(a, b)| (a - b).abs() < 1e-5), "{line:?}, {pose:?}");
        let number = begin(rig, target);
        let (worst, _) = watched(rig, number, &pose);
        is_there(rig, &pose, software);
        assert!(worst < 1e-3, "{software}: {worst} m beside the line");
    });
}

#[test]
fn the_slider_slows_a_line_and_holds_it_and_it_stays_straight() {
    each(|software, rig| {
        let pose = beside(rig, [-0.1, 0.3, 0.1]);
        let number = begin(rig, MoveTarget::pose(pose).linear());
        rig.run_for(ms(700));
        let from = tool(rig);
        rig.controller.act(Action::Slider(0.3));
        rig.run_for(ms(600));
        let speed = distance(&rig.controller.truth().tool_speed()[..3], &[0.0; 3]);
        assert!((0.05..0.07).contains(&speed), "{software}: {speed} m/s");
        rig.controller.act(Action::Slider(0.0));
        rig.run_for(secs(2));
        assert!(rig.controller.truth().at_rest(), "{software}");
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
        rig.controller.act(Action::Slider(0.3));
        rig.run_for(ms(500));
        rig.controller.act(Action::Slider(1.0));
        let (worst, _) = watched(rig, number, &pose);
        is_there(rig, &pose, software);
        assert!(worst < 1e-3 && distance(&from[..3], &tool(rig)[..3]) > 0.1, "{software}: {worst} m beside the line");
    });
}

#[test]
fn a_protective_stop_on_a_line_ends_it_by_name_and_nothing_goes_on() {
    each(|software, rig| {
        let pose = beside(rig, [-0.1, 0.3, 0.1]);
        let _ = begin(rig, MoveTarget::pose(pose).linear());
        rig.run_for(ms(900));
        rig.controller.act(Action::ProtectiveStop);
        rig.run_for(secs(6));
        let story = rig.record().story();
        let fell = rig.record().fallback().map(|(_, reason)| reason);
        assert_eq!(fell, Some(Reason::ProtectiveStop), "{software}\n{story}");
        let rested = tool(rig);
        rig.controller.act(Action::UnlockProtectiveStop);
        rig.controller.act(Action::ResumeProgram);
        rig.run_for(secs(3));
        assert!(
            distance(&tool(rig)[..3], &rested[..3]) < 1e-3,
            "{software}: nothing goes on\n{}",
            rig.record().story()
        );
    });
}

#[test]
fn a_release_on_a_line_brings_the_arm_to_rest() {
    each(|software, rig| {
        let pose = beside(rig, [-0.1, 0.3, 0.1]);
        let number = begin(rig, MoveTarget::pose(pose).linear());
        rig.run_for(ms(900));
        let at = rig.now();
        rig.input(outrigger_core::engine::Input::Release);
        rig.run_to(Mode::Monitor);
        let rest = rig.record().rest_after(at).expect("at rest");
        assert!(rest < ms(430), "{software}: {rest:?}\n{}", rig.record().story());
        assert!(has_ended(rig, number) || !rig.controller.program().0, "{software}\n{}", rig.record().story());
        let rested = tool(rig);
        rig.run_for(secs(2));
        assert!(distance(&tool(rig)[..3], &rested[..3]) < 1e-3, "{software}");
        assert_eq!(rig.engine().latch(), None, "{software}");
    });
}

#[test]
fn a_pose_beyond_reach_is_told_before_anything_moves() {
    each(|software, rig| {
        let far = Pose { position: [1.5, 0.4, 0.3], rotation: [0.0, 3.0, 0.0] };
        let at = rig.controller.truth().q;
        let answer = located(rig, MoveTarget::pose(far));
        if software.starts_with("3.0") || software.starts_with("5.4") {
            // The function that answers this question is newer: the question ends the program.
            assert_eq!(answer, Err(LocateError::ProgramEnded), "{software}");
            rig.run_to(Mode::Monitor);
            let fell = rig.record().fallback().map(|(_, reason)| reason);
            let by_its_end = matches!(fell, Some(Reason::ProgramEnded | Reason::ProgramStopped));
            assert!(by_its_end, "{software}: {fell:?}\n{}", rig.record().story());
        } else {
            assert_eq!(answer, Err(LocateError::OutOfReach), "{software}");
            let pose = beside(rig, [0.0, 0.1, 0.1]);
            let number = begin(rig, MoveTarget::pose(pose));
            let _ = watched(rig, number, &pose);
            is_there(rig, &pose, software);
            return;
        }
        let moved = rig.controller.truth().q.iter().zip(at).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved < 1e-3, "{software}: {moved}");
    });
}

#[test]
fn what_the_limits_forbid_of_a_pose_is_refused_before_it_begins() {
    for software in SOFTWARE {
        let (mut buffers, mut setup) = (Buffers::default(), setup(software));
        let limits = &mut setup.config.limits;
        limits.position_max.0[0] = 0.3;
        limits.velocity = JointVelocities([0.5; 6]);
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        let truth = rig.controller.truth();
        let mut turned = truth.q;
        turned[0] += 0.6;
        let far = Pose::from_wire(truth.tool_with(&turned, &truth.tcp));
        let near = beside(&rig, [0.0, 0.1, 0.0]);
        for (target, speed, reason) in [
            (MoveTarget::pose(far), 0.2, Reason::PositionLimit),
            (MoveTarget::pose(far).linear(), 0.1, Reason::PositionLimit),
            (MoveTarget::pose(near), 0.6, Reason::VelocityLimit),
            (MoveTarget::pose(near).linear(), 2.0, Reason::VelocityLimit),
        ] {
            let destination = located(&mut rig, target).expect("within reach");
            let asked = JointMove::towards(destination, speed, 18.0_f32.min(speed * 9.0)).expect("a move");
            let limits = &rig.engine().config().limits;
            let gentle = JointMove::towards(destination, speed, limits.acceleration.0[0].min(1.0)).expect("a move");
            let asked = if target.is_linear() { asked } else { gentle };
            assert_eq!(rig.delegate(asked), Err(reason), "{software}: {target:?} at {speed}");
        }
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}");
        rig.run_for(secs(1));
        assert!(rig.controller.truth().at_rest(), "{software}");
    }
}

#[test]
fn a_line_on_which_a_joint_becomes_too_fast_ends_at_rest() {
    for software in SOFTWARE {
        let (mut buffers, mut setup) = (Buffers::default(), setup(software));
        // Most of the time the base joint is slow enough, but not when the tool passes nearest to it.
        setup.config.limits.velocity.0[0] = 0.48;
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        let [_, _, pz, rx, ry, rz] = tool(&rig);
        let number = begin(&mut rig, MoveTarget::pose(Pose::from_wire([-0.1, -0.45, pz, rx, ry, rz])).linear());
        let begun = rig.now();
        assert!(rig.run_until(secs(20), |rig| rig.engine().mode() != Mode::Command || has_ended(rig, number)));
        let story = rig.record().story();
        let fell = rig.record().fallback().map(|(_, reason)| reason);
        assert_eq!(fell, Some(Reason::NotFollowing), "{software}\n{story}");
        assert!(rig.now().since(begun) > secs(1), "{software}: it was slow enough at first");
        let (at, qd) = (rig.now(), rig.controller.truth().qd[0].abs());
        assert!((0.48..0.56).contains(&qd), "{software}: {qd} rad/s");
        rig.run_to(Mode::Monitor);
        let rest = rig.record().rest_after(at).expect("at rest");
        assert!(rest < ms(400), "{software}: {rest:?}\n{}", rig.record().story());
    }
}

//! The command `outrigger move --to`: lets the controller move the arm to one target by itself.

use std::str::FromStr;

use clap::Args;
use outrigger_config::AnyConfiguration;
use outrigger_core::command::{ArmPosition, Destination, MoveTarget};
use outrigger_core::mode::Mode;
use outrigger_wire::robot::{JointPositions, Pose};
use outrigger_wire::time::Duration;

use crate::angle::{Rate, rate, target_in_radians};

use super::{MoveArgs, result, robot_of, unrecorded};
use outrigger::exit::{Failure, Outcome, despite};
use outrigger::motion::{MoveProgress, MoveRequest, MoveStep, seconds};
use outrigger::robot::Robot;
use outrigger::show::{Progress, tell};

/// The options for a target of `outrigger move`, given in place of a file with a motion.
#[derive(Args, Clone, Debug)]
pub(crate) struct GoalArgs {
    /// In place of FILE: target of the controller's own motion: q=Q0,...,Q5, each joint's angle [rad, or
    /// with deg behind it], or pose=X,Y,Z,RX,RY,RZ, of the tool centre point as it is set on the robot, in the base
    /// frame [m, rotation vector in rad or deg]
    #[arg(long, value_name = "q=...|pose=...", conflicts_with_all = ["mode", "report", "check"], allow_hyphen_values = true)]
    pub to: Option<Goal>,
    /// Move the tool on a straight line; with --to
    #[arg(long, requires = "to", conflicts_with = "file")]
    pub linear: bool,
    /// Speed of the joint with the longest way [rad/s, or 30deg], default 0.5; with --linear of the tool [m/s],
    /// default 0.1
    #[arg(long, value_name = "RAD/S|M/S", requires = "to", conflicts_with = "file")]
    pub speed: Option<Rate>,
    /// Acceleration and deceleration of the same joint [rad/s2, or 45deg], default 0.8; with --linear of the tool
    /// [m/s2], default 0.5
    #[arg(long, value_name = "RAD/S2|M/S2", requires = "to", conflicts_with = "file")]
    pub acceleration: Option<Rate>,
    /// Duration of the motion at full speed [s], in place of --speed and --acceleration; with q= and without --linear
    #[arg(long, value_name = "SECONDS", requires = "to", conflicts_with_all = ["file", "speed", "acceleration", "linear"], value_parser = seconds)]
    pub time: Option<Duration>,
}

impl GoalArgs {
    /// Returns the move to this target with the speed, acceleration and duration that the arguments request.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a speed or an acceleration of the tool in degrees.
    fn asked(&self, Goal { target, .. }: Goal) -> Result<MoveRequest<6>, Failure> {
        let target = if self.linear { target.linear() } else { target };
        let speed = rate("--speed", self.speed, self.linear)?;
        let acceleration = rate("--acceleration", self.acceleration, self.linear)?;
        Ok(MoveRequest::new(target, speed, acceleration).lasting(self.time))
    }
}

/// A target of a move: the angle of each joint \[rad\], or the pose of the tool \[m, rad\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Goal {
    target: MoveTarget<6>,
    /// `true` if an angle of the target was given in degrees, with the unit `deg` or `°` behind its number.
    has_units: bool,
}

impl Goal {
    /// Converts joint angles of the target from degrees to radians.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a pose, and for angles with a unit of their own.
    fn in_degrees(self) -> Result<Self, Failure> {
        if self.has_units {
            return Err(Failure::Usage(
                "--to: found an angle with deg beside --degrees, expected one of the two".into(),
            ));
        }
        let ArmPosition::Joints(degrees) = self.target.place() else {
            return Err(Failure::Usage("--degrees applies to q= only; a pose has a rotation vector in rad".into()));
        };
        Ok(Self { target: MoveTarget::joints(degrees.map(f32::to_radians)), has_units: false })
    }
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "found '{text}', expected q= and six angles in rad, as in q=0,-1.57,-1.57,-1.57,1.57,0, or with deg, as in -90deg, or pose= and x,y,z in m and \
                 a rotation vector in rad, as in pose=0.4,-0.2,0.3,0,3.14,0"
            )
        };
        let radians = target_in_radians(text);
        let (kind, numbers) = radians.split_once('=').ok_or_else(expected)?;
        let each: Vec<&str> = numbers.split(',').map(str::trim).collect();
        let six: [&str; 6] = match each.as_slice().try_into() {
            Ok(six) if matches!(kind, "q" | "pose") => six,
            Ok(_) => return Err(expected()),
            Err(_) if matches!(kind, "q" | "pose") => {
                return Err(format!("found {} numbers; {}", each.len(), expected()));
            }
            Err(_) => return Err(expected()),
        };
        let mut values = [0.0_f32; 6];
        for (value, found) in values.iter_mut().zip(six) {
            let finite = found.parse().ok().filter(|value: &f32| value.is_finite());
            *value = finite.ok_or_else(|| format!("found '{found}', expected a number; {}", expected()))?;
        }
        let [x, y, z, rx, ry, rz] = values;
        let target = match kind {
            "q" => MoveTarget::joints(JointPositions(values)),
            _ => MoveTarget::pose(Pose { position: [x, y, z], rotation: [rx, ry, rz] }),
        };
        Ok(Self { target, has_units: radians != text })
    }
}

/// Runs `outrigger move --to`: lets the controller move the arm to the target `goal`.
///
/// # Errors
/// The errors of [`Robot::move_to`], and [`Failure::Fault`] if the arm did not reach the target.
pub(super) fn run(args: &MoveArgs, file: Option<AnyConfiguration>, goal: Goal) -> Outcome {
    let goal = if args.degrees { goal.in_degrees()? } else { goal };
    let (address, config) = robot_of(args, file)?;
    let mut robot = Robot::ur(&address.to_string())?.with_config(config).answering();
    if let Some(file) = &args.record {
        robot = robot.recording_to(file);
    }
    let (shows, mut progress) = (!args.json, Progress::default());
    let arrival = robot.move_to_watched(args.goal.asked(goal)?, |given, from| {
        if shows {
            show(&mut progress, given, from);
        }
    });
    progress.end();
    let arrival = arrival?;
    let told = tell(&if args.json { result::json_of_move(&arrival) } else { result::of_move(&arrival) });
    unrecorded(args, arrival.is_done, arrival.has_begun);
    despite([told], result::outcome_of_move(&arrival))
}

/// Displays the progress of a move to one target.
fn show(progress: &mut Progress, given: &MoveProgress<6>, from: &JointPositions<6>) {
    let (Mode::Command, MoveStep::Runs) = (given.mode, given.step) else { return };
    let (Some(at), Some(Destination { joints: to, .. })) = (given.at, given.destination) else { return };
    let way = |from: &JointPositions<6>| to.zip_with(from.as_array(), |to, from| to - from).max_abs();
    let share = (1.0 - way(&at) / way(from)).clamp(0.0, 1.0);
    let held = result::held(given.held);
    progress.show(&format!("{:3.0} %{held}", 100.0 * share), (share * 10.0) as u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_six_finite_numbers_of_joints_or_of_a_pose() {
        let at = |text: &str| text.parse::<Goal>();
        let joints = MoveTarget::joints(JointPositions([0.0, -1.5, 0.1, 2.0, 3.0, 4.0]));
        assert_eq!(at("q=0,-1.5,1e-1, 2,3,4"), Ok(Goal { target: joints, has_units: false }));
        let pose = Pose { position: [0.4, -0.2, 0.3], rotation: [0.0, 3.0, 0.0] };
        assert_eq!(at("pose=0.4,-0.2,0.3,0,3,0"), Ok(Goal { target: MoveTarget::pose(pose), has_units: false }));
        for (wrong, said) in [
            ("", "found ''"),
            ("0,0,0,0,0,0", "found '0,0,0,0,0,0'"),
            ("q=", "found 1 numbers"),
            ("q=0,0,0,0,0", "found 5 numbers"),
            ("q=0,0,0,0,0,0,0", "found 7 numbers"),
            ("q=0,0,0,0,0,nan", "found 'nan', expected a number"),
            ("pose=0,0,0,0,0,x", "found 'x', expected a number"),
            ("pose=0,0,0,0,0", "found 5 numbers"),
            ("pose=0,0,0,0,inf,0", "found 'inf'"),
            ("pose=400mm,0,300mm,0,3.14,0", "found '400mm', expected a number"),
            ("pose=90deg,0,0,0,0,0", "found '90deg', expected a number"),
            ("p=0,0,0,0,0,0", "found 'p=0,0,0,0,0,0'"),
        ] {
            let found = at(wrong).expect_err(wrong);
            assert!(found.contains(said) && found.contains("pose= and x,y,z in m"), "{wrong}: {found}");
        }
    }

    #[test]
    fn angles_may_be_in_degrees_and_those_of_a_pose_may_not() {
        let at = |text: &str| text.parse::<Goal>().expect("a place").in_degrees();
        let Ok(Goal { target, .. }) = at("q=0,-90,180,0,45,360") else { panic!("they are angles") };
        let ArmPosition::Joints(joints) = target.place() else { panic!("{target:?}") };
        let pi = std::f32::consts::PI;
        assert_eq!(joints.0, [0.0, -pi / 2.0, pi, 0.0, pi / 4.0, 2.0 * pi]);
        assert!(matches!(at("pose=0.4,-0.2,0.3,0,3.14,0"), Err(Failure::Usage(_))));
        assert!(matches!(at("q=0,-90deg,180,0,45,360"), Err(Failure::Usage(_))), "not converted twice");
        let by_unit = "q=0,-90deg,180°,0,45deg,360 deg".parse::<Goal>().expect("a place");
        assert_eq!(by_unit.target, target);
    }

    #[test]
    fn a_speed_has_a_default_and_may_be_in_degrees_for_joints() {
        let (goal, to) = ("pose=0.4,-0.2,0.3,0,3.14,0".parse::<Goal>().expect("a place"), None);
        let asked = |linear, speed: Option<&str>| {
            let speed = speed.map(|speed| speed.parse().expect("a speed"));
            let args = GoalArgs { to, linear, speed, acceleration: None, time: None };
            args.asked(goal).map(|asked| (asked.target.is_linear(), asked.speed, asked.acceleration))
        };
        let is = |asked: Result<_, Failure>, expected| assert_eq!(asked.expect("a move"), expected);
        is(asked(false, None), (false, 0.5, 0.8));
        is(asked(true, None), (true, 0.1, 0.5));
        is(asked(true, Some("0.25")), (true, 0.25, 0.5));
        is(asked(false, Some("180deg/s")), (false, std::f32::consts::PI, 0.8));
        assert!(matches!(asked(true, Some("20deg")), Err(Failure::Usage(_))), "the tool moves in metres");
    }
}

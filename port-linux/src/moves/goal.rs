//! `outrigger move --to`: one place, to which the controller moves the arm by itself.

use std::io::IsTerminal as _;
use std::str::FromStr;

use clap::Args;
use outrigger_core::mode::Mode;
use outrigger_core::robot::JointPositions;

use super::{MoveArgs, robot_of};
use crate::config::AnyConfiguration;
use crate::exit::{Failure, Outcome};
use crate::json::Json;
use crate::motion::{Given, Step};
use crate::robot::{Arrival, Ended, Robot};
use crate::show::tell;

/// Where to, in place of a file.
#[derive(Args, Clone, Debug)]
pub(crate) struct GoalArgs {
    /// In place of FILE: where to, by the controller's own motion: q=Q0,...,Q5 [rad]
    #[arg(long, value_name = "q=Q0,...,Q5", conflicts_with_all = ["mode", "report", "check"], allow_hyphen_values = true)]
    pub to: Option<Goal>,
    /// Speed of the joint with the longest way [rad/s]; with --to
    #[arg(long, value_name = "RAD/S", default_value_t = 0.5, requires = "to", value_parser = above_zero)]
    pub speed: f32,
    /// Acceleration and deceleration of the same joint [rad/s2]; with --to
    #[arg(long, value_name = "RAD/S2", default_value_t = 0.8, requires = "to", value_parser = above_zero)]
    pub acceleration: f32,
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// Each joint's angle \[rad\].
    Joints(JointPositions<6>),
}

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("found '{text}', expected q= and six angles in rad, as in q=0,-1.57,-1.57,-1.57,1.57,0");
        let numbers = text.strip_prefix("q=").ok_or_else(expected)?;
        let each = numbers.split(',').map(|number| number.trim().parse::<f32>().ok().filter(|q| q.is_finite()));
        let all: Option<Vec<f32>> = each.collect();
        let joints: [f32; 6] = all.and_then(|all| all.try_into().ok()).ok_or_else(expected)?;
        Ok(Self::Joints(JointPositions(joints)))
    }
}

fn above_zero(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number: &f32| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("found '{text}', expected a number above 0"))
}

/// Moves the arm there.
///
/// # Errors
/// Those of [`Robot::move_to`], and [`Failure::Fault`] where the arm did not come there.
pub(super) fn run(args: &MoveArgs, file: Option<AnyConfiguration>, goal: Goal) -> Outcome {
    let (address, config) = robot_of(args, file)?;
    let mut robot = Robot::ur(&address.to_string())?.with_config(config).answering();
    if let Some(file) = &args.record {
        robot = robot.recording_to(file);
    }
    let Goal::Joints(to) = goal;
    let mut said = Said { shows: !args.json, ..Said::default() };
    let GoalArgs { speed, acceleration, .. } = args.goal;
    let arrival = robot.move_to_watched(to, speed, acceleration, |given, from| said.progress(given, from, &to));
    said.end();
    let arrival = arrival?;
    told(args, &arrival)?;
    match arrival.ended {
        Ended::Released if arrival.is_done => Ok(()),
        Ended::Released => {
            Err(Failure::Fault("the move was released or cancelled before its end; the arm is at rest".into()))
        }
        fallback @ Ended::Fallback(_) => Err(Failure::Fault(fallback.to_string())),
    }
}

/// What has been said of how far it is.
#[derive(Default)]
struct Said {
    shows: bool,
    tenth: Option<u32>,
    line: bool,
}

impl Said {
    fn progress(&mut self, given: &Given<6>, from: &JointPositions<6>, to: &JointPositions<6>) {
        let (true, Mode::Command, Step::Runs, Some(at)) = (self.shows, given.mode, given.step, given.at) else {
            return;
        };
        let way = |from: &JointPositions<6>| to.zip_with(from.as_array(), |to, from| to - from).max_abs();
        let share = (1.0 - way(&at) / way(from)).clamp(0.0, 1.0);
        let held = if given.scaling < 0.005 { ", held by the robot's speed slider" } else { "" };
        let text = format!("{:3.0} %{held}", 100.0 * share);
        let tenth = (share * 10.0) as u32;
        if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[K{text}");
            self.line = true;
        } else if self.tenth.replace(tenth) != Some(tenth) {
            eprintln!("{text}");
        }
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.line) {
            eprintln!();
        }
    }
}

fn told(args: &MoveArgs, arrival: &Arrival) -> Outcome {
    let end = arrival.end_error.max_abs();
    if !args.json {
        let what = if arrival.is_done { "there" } else { "not there" };
        return tell(&format!(
            "{what}: {:.2} mrad from the goal, after {:.1} s\n",
            end * 1e3,
            arrival.elapsed.as_secs_f32()
        ));
    }
    let mut json = Json::default();
    json.begin_object().key("type").text("moved").key("done").boolean(arrival.is_done);
    json.key("fallback");
    match arrival.ended {
        Ended::Fallback(reason) => json.text(reason.name()),
        Ended::Released => json.null(),
    };
    json.key("end_error").single(end).key("elapsed").float(arrival.elapsed.as_secs_f64()).end_object();
    tell(&format!("{}\n", json.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_six_finite_angles() {
        let at = |text: &str| text.parse::<Goal>();
        assert_eq!(at("q=0,-1.5,1e-1, 2,3,4"), Ok(Goal::Joints(JointPositions([0.0, -1.5, 0.1, 2.0, 3.0, 4.0]))));
        for wrong in [
            "",
            "0,0,0,0,0,0",
            "q=",
            "q=0,0,0,0,0",
            "q=0,0,0,0,0,0,0",
            "q=0,0,0,0,0,nan",
            "q=0,0,0,0,0,x",
            "p=0,0,0,0,0,0",
        ] {
            assert!(at(wrong).is_err_and(|said| said.contains("expected q=")), "{wrong}");
        }
    }
}

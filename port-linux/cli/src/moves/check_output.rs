//! Formats the output of `outrigger move --check`. The robot is not queried, so the start of the motion is printed
//! instead of being compared.

use std::path::Path;

use outrigger_core::command::Governor;
use outrigger_wire::robot::JointPositions;
use outrigger_wire::time::Duration;

use outrigger::motion::Motion;

/// Returns the output of `outrigger move --check` for a motion of the file at `path` that is within the limits.
pub(super) fn of_check<const N: usize>(path: &Path, motion: &Motion<N>) -> String {
    let (points, seconds) = (motion.waypoints().len(), motion.duration().as_secs_f64());
    format!("{}: {points} waypoints in {seconds:.3} s, within the limits\n{}\n", path.display(), start(motion))
}

/// Describes the position that the arm must have at the start of the motion.
fn start<const N: usize>(motion: &Motion<N>) -> String {
    let near = format!("within {} rad, or its tolerance if that is less", Governor::<N>::BEGINS_WITHIN);
    let unchecked = "--check does not connect to the robot: this is checked only when the motion is made";
    let first = motion.waypoints().first().map(|first| (first.at, first.setpoint.positions));
    match first {
        Some((Duration::ZERO, at)) if motion.has_length() => {
            format!("It starts at {}; each joint must be there {near}. {unchecked}", joints(&at))
        }
        Some((Duration::ZERO, at)) => format!(
            "It has no length: each joint must be at {} already, {near}, and at standstill. {unchecked}",
            joints(&at)
        ),
        _ => "It starts at the arm's current position. --check does not connect to the robot: the way from there to \
              the first waypoint is checked only when the motion is made"
            .into(),
    }
}

/// Formats joint angles \[rad\] as a target in the form that the option `--to` accepts.
fn joints<const N: usize>(at: &JointPositions<N>) -> String {
    let angles: Vec<_> = at.iter().map(|q| format!("{q:.4}")).collect();
    format!("q={}", angles.join(","))
}

#[cfg(test)]
mod tests {
    use outrigger_core::trajectory::{Setpoint, Waypoint};
    use outrigger_wire::robot::JointVelocities;

    use super::*;

    fn of(waypoints: &[(u64, [f32; 2])]) -> String {
        let way = |(millis, q): &(u64, [f32; 2])| Waypoint {
            setpoint: Setpoint { positions: JointPositions(*q), velocities: JointVelocities::ZERO },
            accelerations: None,
            at: Duration::from_millis(*millis),
        };
        let motion = Motion::through(waypoints.iter().map(way).collect()).expect("a motion");
        of_check(Path::new("m.csv"), &motion)
    }

    #[test]
    fn a_check_names_the_start_and_says_that_the_arm_is_not_compared_with_it() {
        let swings = of(&[(0, [0.5, -1.0]), (2_000, [0.6, -1.0])]);
        assert!(swings.starts_with("m.csv: 2 waypoints in 2.000 s, within the limits\n"), "{swings}");
        assert!(swings.contains("It starts at q=0.5000,-1.0000; each joint must be there within 0.02 rad"), "{swings}");
        for stays in [&[(0, [0.5, -1.0])][..], &[(0, [0.5, -1.0]), (2_000, [0.5, -1.0])]] {
            let said = of(stays);
            assert!(said.contains("no length: each joint must be at q=0.5000,-1.0000 already"), "{said}");
        }
        let from_here = of(&[(2_000, [0.5, -1.0])]);
        assert!(from_here.contains("It starts at the arm's current position"), "{from_here}");
        for said in [swings, from_here] {
            assert!(
                said.contains("--check does not connect to the robot: ") && said.ends_with("when the motion is made\n"),
                "{said}"
            );
        }
    }
}

//! Speeds and positions of joints by topics, as UR's driver hears them (`core/docs/protocol/ros2-surface.md` 7.4).

use crate::follow::order;
use outrigger_ros2_messages::cdr::{CdrError, decode};
use outrigger_ros2_messages::endpoint::Heard;
use outrigger_ros2_messages::{JointTrajectory, Message, Numbers};

/// Speeds.
pub static VELOCITY: &Heard = &Heard {
    name: "forward_velocity_controller/commands",
    message: <Numbers as Message>::TYPE,
    does: "a speed for each joint, rad/s, which holds for `ros.expert.forward_timeout`; then the arm comes to rest; while commanding",
};
/// Positions.
pub static POSITION: &Heard = &Heard {
    name: "forward_position_controller/commands",
    message: <Numbers as Message>::TYPE,
    does: "a position for each joint, rad, near to where the arm is; it stays at the last; while commanding",
};
/// Speeds, by the name and the type that drivers of 2015 had for them.
pub static JOINT_SPEED: &Heard = &Heard {
    name: "ur_driver/joint_speed",
    message: <JointTrajectory as Message>::TYPE,
    does: "the velocities of the first point, as forward_velocity_controller has them; nothing else of it is looked at",
};

/// Why a message is no command.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoCommand {
    /// These are no such bytes.
    #[error(transparent)]
    Bytes(#[from] CdrError),
    /// Not one number for each joint.
    #[error("data: expected {expected} numbers, one for each joint, found {found}")]
    Count {
        /// Joints of the arm.
        expected: usize,
        /// Numbers of the message.
        found: usize,
    },
    /// Other joints than those of the arm.
    #[error("{0}")]
    Joints(String),
    /// What a joint is to do is no number.
    #[error("data: joint {joint} is {found}, expected a number")]
    NotFinite {
        /// The joint, from 1.
        joint: usize,
        /// Of the message.
        found: f64,
    },
}

impl NoCommand {
    /// As it stands in logs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Bytes(_) => "NoMessage",
            Self::Count { .. } => "WrongCount",
            Self::Joints(_) => "WrongJoints",
            Self::NotFinite { .. } => "NotFinite",
        }
    }
}

/// One number for each joint, in the order of the arm. The layout of the message is not looked at, as in `forward_command_controller`.
///
/// # Errors
/// Why it is no command.
pub fn command<const N: usize>(bytes: &[u8]) -> Result<[f32; N], NoCommand> {
    let Numbers { data, .. } = decode(bytes)?;
    numbers(data)
}

/// The same of [`JOINT_SPEED`], where the message may name the joints in any order; without names they are in that of the arm.
///
/// # Errors
/// Why it is no command.
pub fn joint_speed<const N: usize>(bytes: &[u8], joints: &[String]) -> Result<[f32; N], NoCommand> {
    let JointTrajectory { joint_names, points, .. } = decode(bytes)?;
    let speeds = points.into_iter().next().map(|point| point.velocities).unwrap_or_default();
    if joint_names.is_empty() || speeds.len() != joint_names.len() {
        return numbers(speeds);
    }
    let order = order(&joint_names, joints).map_err(|unfit| NoCommand::Joints(unfit.text))?;
    numbers(order.into_iter().filter_map(|index| speeds.get(index).copied()).collect())
}

fn numbers<const N: usize>(data: Vec<f64>) -> Result<[f32; N], NoCommand> {
    let values: [f64; N] =
        data.try_into().map_err(|data: Vec<f64>| NoCommand::Count { expected: N, found: data.len() })?;
    for (joint, found) in (1..).zip(values) {
        // Also what is infinite as a number of 32 bits.
        if !(found as f32).is_finite() {
            return Err(NoCommand::NotFinite { joint, found });
        }
    }
    Ok(values.map(|value| value as f32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_ros2_messages::cdr::encode;
    use outrigger_ros2_messages::{ArrayDimension, ArrayLayout, JointTrajectoryPoint};

    fn message(data: Vec<f64>) -> Vec<u8> {
        encode(&Numbers { data, ..Numbers::default() })
    }

    #[test]
    fn there_is_a_number_for_each_joint_whatever_the_layout_says() {
        let six = vec![0.1, -0.2, 0.3, 0.0, 1.0, 2.0];
        assert_eq!(command(&message(six.clone())), Ok([0.1, -0.2, 0.3, 0.0, 1.0, 2.0]));
        let dim = vec![ArrayDimension { label: "joints".into(), size: 2, stride: 7 }];
        let layout = ArrayLayout { dim, data_offset: 3 };
        assert_eq!(command(&encode(&Numbers { layout, data: six })), Ok([0.1, -0.2, 0.3, 0.0, 1.0, 2.0]));
        assert_eq!(command(&message(vec![0.5; 7])), Ok([0.5; 7]), "a KUKA LWR has seven");
    }

    #[test]
    fn speeds_by_the_name_of_2015_are_the_first_points_in_whatever_order_joints_are_named() {
        let joints: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let message = |names: &[&str], speeds: &[f64]| {
            let point = JointTrajectoryPoint { velocities: speeds.to_vec(), ..Default::default() };
            let joint_names = names.iter().map(|&name| name.to_owned()).collect();
            encode(&JointTrajectory { joint_names, points: vec![point], ..Default::default() })
        };
        let of = |bytes: &[u8]| joint_speed::<3>(bytes, &joints);
        assert_eq!(of(&message(&["c", "a", "b"], &[3.0, 1.0, 2.0])), Ok([1.0, 2.0, 3.0]));
        assert_eq!(of(&message(&[], &[3.0, 1.0, 2.0])), Ok([3.0, 1.0, 2.0]));
        assert_eq!(of(&message(&["c", "a", "b"], &[1.0])), Err(NoCommand::Count { expected: 3, found: 1 }));
        assert_eq!(of(&encode(&JointTrajectory::default())), Err(NoCommand::Count { expected: 3, found: 0 }));
        let said = of(&message(&["c", "a", "d"], &[3.0, 1.0, 2.0])).expect_err("no joint is called d").to_string();
        assert!(said.contains("'b' is missing"), "{said}");
        let nan = of(&message(&["c", "a", "b"], &[3.0, f64::NAN, 2.0]));
        assert!(matches!(nan, Err(NoCommand::NotFinite { joint: 1, .. })), "{nan:?}");
    }

    #[test]
    fn another_count_what_is_no_number_and_other_bytes_are_refused_by_name() {
        let said = |bytes: &[u8]| command::<6>(bytes).expect_err("no command").to_string();
        for (count, text) in [(0, "found 0"), (5, "found 5"), (7, "found 7")] {
            let said = said(&message(vec![0.0; count]));
            assert!(said.starts_with("data: expected 6 numbers") && said.ends_with(text), "{said}");
        }
        for wrong in [f64::NAN, f64::INFINITY, -1e300] {
            let said = said(&message(vec![0.0, 0.0, wrong, 0.0, 0.0, 0.0]));
            assert!(said.starts_with("data: joint 3 is ") && said.ends_with("expected a number"), "{said}");
        }
        let whole = message(vec![0.25; 6]);
        for length in 0..whole.len() {
            assert!(said(&whole[..length]).starts_with("std_msgs/msg/Float64MultiArray: "), "{length}");
        }
        // 4 294 967 295 dimensions, and as many numbers.
        for at in [4, 12] {
            let mut absurd = whole.clone();
            absurd[at..at + 4].fill(0xff);
            assert!(matches!(command::<6>(&absurd), Err(NoCommand::Bytes(CdrError::Content { .. }))), "at {at}");
        }
    }
}

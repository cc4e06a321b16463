//! The topics that command speeds, positions and torques of joints, as UR's driver defines them
//! (`core/docs/protocol/ros2-surface.md` 7.4).

use outrigger_core::law::Forwarded;
use outrigger_wire::robot::{JointPositions, JointVelocities};

use crate::trajectory_goals::order;
use outrigger_ros2_messages::cdr::{CdrError, decode};
use outrigger_ros2_messages::endpoint::Subscription;
use outrigger_ros2_messages::{JointState, JointTrajectory, Message, Numbers};

/// The topic on which clients command joint speeds.
pub static VELOCITY: &Subscription = &Subscription {
    name: "forward_velocity_controller/commands",
    message: <Numbers as Message>::TYPE,
    does: "a speed for each joint, rad/s, valid for `ros.expert.forward_timeout`; then the arm stops; while commanding",
};
/// The topic on which clients command joint positions.
pub static POSITION: &Subscription = &Subscription {
    name: "forward_position_controller/commands",
    message: <Numbers as Message>::TYPE,
    does: "a position for each joint, rad, close to the present one; the last one is held; while commanding",
};
/// The topic on which clients command joint torques.
pub static EFFORT: &Subscription = &Subscription {
    name: "forward_effort_controller/commands",
    message: <Numbers as Message>::TYPE,
    does: "a torque for each joint in addition to gravity compensation, Nm, valid for `ros.expert.forward_timeout`; then it is removed \
           within `limits.expert.torque_rise`, and the arm is braked to standstill; while commanding on a torque path. A KUKA LWR in joint impedance adds it to its \
           control law, within `limits.expert.added_rise`",
};
/// The topic of joint speeds under the name and the type that drivers of 2015 used.
pub static JOINT_SPEED: &Subscription = &Subscription {
    name: "ur_driver/joint_speed",
    message: <JointTrajectory as Message>::TYPE,
    does: "the velocities of the first point, as for forward_velocity_controller; the rest is ignored",
};

/// The topic of positions or speeds that the topic-based hardware components of ros2_control publish
/// (`core/docs/protocol/ros2-surface.md` 12), under the name that they use.
pub static JOINT_COMMANDS: &Subscription = &Subscription {
    name: "robot_joint_commands",
    message: <JointState as Message>::TYPE,
    does: "a position for each joint by its name, as for forward_position_controller, or without positions a velocity, as for \
           forward_velocity_controller; for the hardware components of ros2_control that use topics",
};

/// The reason why a message is not a valid command for the joints.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoCommand {
    /// The bytes of the command are not a message of the expected type.
    #[error(transparent)]
    Bytes(#[from] CdrError),
    /// The message does not have one number for each joint.
    #[error("{field}: expected {expected} numbers, one for each joint, found {found}")]
    Count {
        /// The name of the field that has another number of values than the arm has joints.
        field: &'static str,
        /// The number of joints of the arm.
        expected: usize,
        /// The number of values in the field of the message.
        found: usize,
    },
    /// The message names other joints than those of the arm.
    #[error("{0}")]
    Joints(String),
    /// The message contains torques, which are not accepted on this topic: this number of them.
    #[error("effort: found {0} numbers, expected none: send torques to forward_effort_controller/commands")]
    Effort(usize),
    /// The value for a joint is not a finite number.
    #[error("{field}: joint {joint} is {found}, expected a number")]
    NotFinite {
        /// The name of the field that contains the value that is not finite.
        field: &'static str,
        /// The number of the joint whose value is not finite, from 1.
        joint: usize,
        /// The value that is not finite.
        found: f64,
    },
}

impl NoCommand {
    /// Returns the name that the reason of the rejection has in logs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Bytes(_) => "NoMessage",
            Self::Count { .. } => "WrongCount",
            Self::Joints(_) => "WrongJoints",
            Self::Effort(_) => "Effort",
            Self::NotFinite { .. } => "NotFinite",
        }
    }
}

/// Reads one number for each joint, in the order of the arm. The layout in the message is ignored, as in
/// `forward_command_controller`.
///
/// # Errors
/// [`NoCommand`] with the fault of the message.
pub fn command<const N: usize>(bytes: &[u8]) -> Result<[f32; N], NoCommand> {
    let Numbers { data, .. } = decode(bytes)?;
    numbers("data", data)
}

/// Reads the speeds of a [`JOINT_SPEED`] message, which may name the joints in any order. Without names they are in
/// the order of the arm.
///
/// # Errors
/// [`NoCommand`] with the fault of the message.
pub fn joint_speed<const N: usize>(bytes: &[u8], joints: &[String]) -> Result<[f32; N], NoCommand> {
    let JointTrajectory { joint_names, points, .. } = decode(bytes)?;
    let speeds = points.into_iter().next().map(|point| point.velocities).unwrap_or_default();
    if joint_names.is_empty() || speeds.len() != joint_names.len() {
        return numbers("velocities", speeds);
    }
    numbers("velocities", in_order("joint_names", &joint_names, joints, &speeds)?)
}

/// Returns the positions of a [`JOINT_COMMANDS`] message in the order of the arm, or the velocities if it has no
/// positions. Velocities beside positions are ignored, because the control law computes its own. Returns `None` if none
/// of the values is a number: a hardware component publishes that until a controller has commanded anything.
///
/// # Errors
/// [`NoCommand`] with the fault of the message.
pub fn joint_commands<const N: usize>(bytes: &[u8], joints: &[String]) -> Result<Option<Forwarded<N>>, NoCommand> {
    let JointState { name, position, velocity, effort, .. } = decode(bytes)?;
    if !effort.is_empty() {
        return Err(NoCommand::Effort(effort.len()));
    }
    let (field, values) = if position.is_empty() { ("velocity", velocity) } else { ("position", position) };
    if values.len() != N {
        return Err(NoCommand::Count { field, expected: N, found: values.len() });
    }
    let values = in_order("name", &name, joints, &values)?;
    if values.iter().all(|value| value.is_nan()) {
        return Ok(None);
    }
    let values = numbers(field, values)?;
    Ok(Some(match field {
        "position" => Forwarded::Positions(JointPositions(values)),
        _ => Forwarded::Speeds(JointVelocities(values)),
    }))
}

/// Returns the values of the joints that the message names, in the order of the arm.
fn in_order(field: &str, names: &[String], joints: &[String], values: &[f64]) -> Result<Vec<f64>, NoCommand> {
    let order = order(field, names, joints).map_err(|unfit| NoCommand::Joints(unfit.text))?;
    Ok(order.into_iter().filter_map(|index| values.get(index).copied()).collect())
}

fn numbers<const N: usize>(field: &'static str, data: Vec<f64>) -> Result<[f32; N], NoCommand> {
    let values: [f64; N] =
        data.try_into().map_err(|data: Vec<f64>| NoCommand::Count { field, expected: N, found: data.len() })?;
    for (joint, found) in (1..).zip(values) {
        // Rejects also values that overflow to infinity in 32 bits.
        if !(found as f32).is_finite() {
            return Err(NoCommand::NotFinite { field, joint, found });
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
        assert_eq!(
            of(&message(&["c", "a", "b"], &[1.0])),
            Err(NoCommand::Count { field: "velocities", expected: 3, found: 1 })
        );
        assert_eq!(
            of(&encode(&JointTrajectory::default())),
            Err(NoCommand::Count { field: "velocities", expected: 3, found: 0 })
        );
        let said = of(&message(&["c", "a", "d"], &[3.0, 1.0, 2.0])).expect_err("no joint is called d").to_string();
        assert!(said.contains("'b' is missing"), "{said}");
        let nan = of(&message(&["c", "a", "b"], &[3.0, f64::NAN, 2.0]));
        assert!(matches!(nan, Err(NoCommand::NotFinite { joint: 1, .. })), "{nan:?}");
    }

    #[test]
    fn commands_of_ros2_control_are_positions_or_else_velocities_of_the_joints_that_they_name() {
        let joints: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        let (named, three) = (["c", "a", "b"], [3.0, 1.0, 2.0]);
        let message = |names: &[&str], position: &[f64], velocity: &[f64], effort: &[f64]| {
            let (position, velocity, effort) = (position.to_vec(), velocity.to_vec(), effort.to_vec());
            let name = names.iter().map(|&name| name.to_owned()).collect();
            encode(&JointState { name, position, velocity, effort, ..JointState::default() })
        };
        let of = |bytes: &[u8]| joint_commands::<3>(bytes, &joints);
        let (positions, speeds) = (JointPositions([1.0, 2.0, 3.0]), JointVelocities([1.0, 2.0, 3.0]));
        assert_eq!(of(&message(&named, &three, &[], &[])), Ok(Some(Forwarded::Positions(positions))));
        assert_eq!(of(&message(&named, &three, &[9.0; 3], &[])), Ok(Some(Forwarded::Positions(positions))));
        assert_eq!(of(&message(&named, &[], &three, &[])), Ok(Some(Forwarded::Speeds(speeds))));
        // A component of ros2_control publishes this until a controller has commanded something.
        assert_eq!(of(&message(&named, &[f64::NAN; 3], &[], &[])), Ok(None));
        for (wrong, name, says) in [
            (message(&named, &[3.0, f64::NAN, 2.0], &[], &[]), "NotFinite", "position: joint 1 is NaN"),
            (message(&named, &[], &[3.0, 1.0, 1e300], &[]), "NotFinite", "velocity: joint 2 is 1"),
            (message(&named, &[3.0, 1.0], &three, &[]), "WrongCount", "position: expected 3 numbers"),
            (message(&named, &[1.0; 4], &[], &[]), "WrongCount", "position: expected 3 numbers"),
            (message(&named, &[], &[], &[]), "WrongCount", "velocity: expected 3 numbers"),
            (message(&named, &three, &[], &[0.0; 3]), "Effort", "effort: found 3 numbers"),
            (message(&["c", "a", "a"], &three, &[], &[]), "WrongJoints", "name: 'b' is missing"),
            (message(&["c", "a", "d"], &three, &[], &[]), "WrongJoints", "name: 'b' is missing"),
            (message(&["c", "a", "b", "finger"], &three, &[], &[]), "WrongJoints", "name: found 4, expected 3"),
            (message(&[], &three, &[], &[]), "WrongJoints", "name: found 0, expected 3"),
        ] {
            let why = of(&wrong).expect_err("no command");
            assert!(why.name() == name && why.to_string().starts_with(says), "{why}");
        }
        let whole = message(&named, &three, &[], &[]);
        assert!((0..whole.len() - 8).all(|length| matches!(of(&whole[..length]), Err(NoCommand::Bytes(_)))));
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
        // A count of 4 294 967 295 dimensions, and of as many numbers.
        for at in [4, 12] {
            let mut absurd = whole.clone();
            absurd[at..at + 4].fill(0xff);
            assert!(matches!(command::<6>(&absurd), Err(NoCommand::Bytes(CdrError::Content { .. }))), "at {at}");
        }
    }
}

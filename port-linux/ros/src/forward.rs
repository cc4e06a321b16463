//! Speeds and positions of joints by topics, as UR's driver hears them (`core/docs/protocol/ros2-surface.md` 7.4).

use crate::cdr::{CdrError, decode};
use crate::endpoint::Heard;
use crate::messages::{Message, Numbers};

/// Speeds.
pub static VELOCITY: &Heard = &Heard {
    name: "forward_velocity_controller/commands",
    message: <Numbers as Message>::TYPE,
    does: "a speed for each joint, rad/s, which holds for `ros.forward_timeout`; then the arm comes to rest; while commanding",
};
/// Positions.
pub static POSITION: &Heard = &Heard {
    name: "forward_position_controller/commands",
    message: <Numbers as Message>::TYPE,
    does: "a position for each joint, rad, near to where the arm is; it stays at the last; while commanding",
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
    use crate::cdr::encode;
    use crate::messages::{ArrayDimension, ArrayLayout};

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

//! The state that a trajectory controller publishes while it is active (`core/docs/protocol/ros2-surface.md` 1 and
//! 5.2).
//!
//! All parts are taken from one state of the robot, so that they are consistent: `reference` and `output` are the
//! joints' targets that the robot's controller reports in that state, and `feedback` is the measured positions.

use crate::readings::{Readings, Variable};
use crate::trajectory_goals::point;
use outrigger_ros2_messages::cdr::encode;
use outrigger_ros2_messages::endpoint::Distro;
use outrigger_ros2_messages::{ControllerState, ControllerStateHumble, Header};

/// Returns the message with the state of a trajectory controller (targets, measured values and errors of the joints)
/// for one robot state; `scaling` is the speed scaling (0 … 1), 1 if unknown. Returns `None` if the robot reports no
/// targets or no positions.
#[must_use]
pub(crate) fn controller_state(
    readings: &Readings,
    header: Header,
    joints: &[String],
    scaling: Option<f64>,
    distro: Distro,
) -> Option<Vec<u8>> {
    let all = |of| readings.all(of).map(<[f64]>::to_vec);
    let apart = |of: &[f64], from: &[f64]| of.iter().zip(from).map(|(a, b)| a - b).collect::<Vec<_>>();
    let (wanted, at) = (all(Variable::TargetQ)?, all(Variable::ActualQ)?);
    // A KRC reports no velocities.
    let (speed_wanted, speed) =
        (all(Variable::TargetQd).unwrap_or_default(), all(Variable::ActualQd).unwrap_or_default());
    let error = point(apart(&wanted, &at), apart(&speed_wanted, &speed), 0.0);
    let (reference, feedback) = (point(wanted, speed_wanted, 0.0), point(at, speed, 0.0));
    let (output, joint_names) = (reference.clone(), joints.to_vec());
    Some(if distro == Distro::Humble {
        let (desired, actual) = (reference.clone(), feedback.clone());
        encode(&ControllerStateHumble {
            header,
            joint_names,
            reference,
            feedback,
            error,
            output,
            desired,
            actual,
            ..ControllerStateHumble::default()
        })
    } else {
        encode(&ControllerState {
            header,
            joint_names,
            reference,
            feedback,
            error,
            output,
            speed_scaling_factor: scaling.unwrap_or(1.0),
            ..ControllerState::default()
        })
    })
}

#[cfg(test)]
mod tests {
    use outrigger_wire::fields::Value;

    use super::*;
    use crate::readings::Port;
    use outrigger_ros2_messages::Time;
    use outrigger_ros2_messages::cdr::decode;

    #[test]
    fn its_parts_are_of_one_state_in_the_layout_of_each_release() {
        let (mut readings, joints) = (Readings::default(), ["a", "b"].map(String::from));
        let header = || Header { stamp: Time { sec: 3, nanosec: 0 }, frame_id: String::new() };
        let of = |readings: &Readings, distro| controller_state(readings, header(), &joints, Some(0.5), distro);
        readings.state(Port::Rtde, 0, |visitor| visitor.field("actual_q", Value::F64s(&[1.0, 2.0])));
        assert_eq!(of(&readings, Distro::Jazzy), None, "without a target there is none");
        readings.state(Port::Rtde, 0, |visitor| {
            visitor.field("target_q", Value::F64s(&[1.5, 1.75]));
            visitor.field("target_qd", Value::F64s(&[0.5, 0.0]));
            visitor.field("actual_qd", Value::F64s(&[0.25, 0.25]));
        });
        for distro in [Distro::Jazzy, Distro::Kilted, Distro::Lyrical, Distro::Rolling] {
            let state: ControllerState = decode(&of(&readings, distro).expect("a state")).expect("its type");
            assert_eq!((state.joint_names.as_slice(), state.speed_scaling_factor), (joints.as_slice(), 0.5));
            assert_eq!((state.error.positions, state.error.velocities), (vec![0.5, -0.25], vec![0.25, -0.25]));
            assert_eq!((state.output, state.header.stamp.sec), (state.reference.clone(), 3));
            assert_eq!((state.reference.positions, state.feedback.positions), (vec![1.5, 1.75], vec![1.0, 2.0]));
        }
        let old: ControllerStateHumble = decode(&of(&readings, Distro::Humble).expect("a state")).expect("its type");
        assert_eq!((&old.desired, &old.actual), (&old.reference, &old.feedback));
    }
}

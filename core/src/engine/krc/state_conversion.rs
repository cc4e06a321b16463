//! The conversion of a measurement to a state of the control path. FRI sends no speeds: they are differences of
//! positions.

use heapless::Deque;

use super::control_schemes::TaskFrame;
use crate::kinematics::{Jacobian, Posture};
use outrigger_wire::fri::{self as wire, JOINTS, Measurement};
use outrigger_wire::math::{Frame, Rotation};
use outrigger_wire::robot::{
    ControllerTime, JointPositions, JointVelocities, Pose, RobotMode, Safety, SafetyMode, State, Twist, Wrench,
};
use outrigger_wire::time::Duration;

/// The time over which measured speeds are averaged: the difference between two cycles of 1 ms is mostly noise.
const SPAN: Duration = Duration::from_millis(8);
/// The number of measurements in the averaging time, at the shortest period.
const KEPT: usize = 8;

/// The earlier measurements of the KRC from which joint speeds \[rad/s\] are computed.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Readings {
    measured: Deque<(ControllerTime, [f32; JOINTS]), KEPT>,
    setpoint: Option<(ControllerTime, [f32; JOINTS])>,
    /// The joint angles \[rad\] at which the KRL program held the arm in the first measurement, if its own motion is
    /// removed.
    held: Option<[f32; JOINTS]>,
    /// The state of FRI on the KRC, and the number of measurements since it changed, up to [`UNSETTLED`].
    state: (u16, u8),
}

/// The number of measurements after a change of state in which target speeds are not used. When a KRC begins to follow,
/// its setpoint stays for a cycle while its program continues, until the first command arrives: together with such a
/// motion these are no speeds of ours.
const UNSETTLED: u8 = 4;

impl Readings {
    /// Discards the earlier measurements, because the counter or the period started again.
    pub(super) fn forget(&mut self) {
        self.measured.clear();
        self.setpoint = None;
    }

    /// Converts the newest measurement, taken at the time `at` of the controller's clock, to a state of the arm. With
    /// `superpose` (commands are added to the KRL program's own motion), that motion is removed from the measured joint
    /// positions and from the setpoint.
    pub(super) fn take(
        &mut self,
        measurement: &Measurement<'_>,
        at: ControllerTime,
        task: TaskFrame,
        superpose: bool,
    ) -> State<JOINTS> {
        let (mut positions, mut setpoint) = (measurement.msr_jnt_pos(), measurement.setpoint());
        let tcp = axes(&measurement.msr_cart_pos());
        if superpose {
            let own = measurement.cmd_jnt_pos();
            let held = *self.held.get_or_insert(own);
            let joints = positions.iter_mut().zip(&mut setpoint);
            for ((position, setpoint), (own, held)) in joints.zip(own.into_iter().zip(held)) {
                *position -= own - held;
                *setpoint -= own - held;
            }
        }
        if self.measured.back().is_some_and(|(last, _)| at <= *last) {
            self.forget();
        }
        while self.measured.is_full() || self.measured.iter().nth(1).is_some_and(|(old, _)| at.since(*old) >= SPAN) {
            let _ = self.measured.pop_front();
        }
        let velocities = self.measured.front().map_or([0.0; JOINTS], |(then, old)| slope(&positions, old, at, *then));
        let mut target = self.setpoint.map_or([0.0; JOINTS], |(then, old)| slope(&setpoint, &old, at, then));
        if superpose {
            let (state, count) = self.state;
            let count = if state == measurement.state() { count.saturating_add(1).min(UNSETTLED) } else { 0 };
            self.state = (measurement.state(), count);
            if count < UNSETTLED {
                target = [0.0; JOINTS];
            }
        }
        // Room was made above.
        let _ = self.measured.push_back((at, positions));
        self.setpoint = Some((at, setpoint));
        let powered = measurement.power() != 0 && measurement.error() == 0;
        State {
            controller_time: at,
            positions: JointPositions(positions),
            velocities: JointVelocities(velocities),
            target_positions: JointPositions(setpoint),
            target_velocities: JointVelocities(target),
            tcp_pose: Some(Pose { position: tcp.position, rotation: tcp.rotation.to_vector() }),
            tcp_force: Some(force(measurement, &tcp.rotation, task)),
            // FRI reports whether drives are on, but neither modes nor a safety system.
            robot_mode: Some(if powered { RobotMode::Running } else { RobotMode::PowerOff }),
            safety: Safety::Mode(SafetyMode::Normal),
            digital_inputs: measurement.krl().bools.into(),
            ..State::default()
        }
    }
}

fn slope(new: &[f32; JOINTS], old: &[f32; JOINTS], at: ControllerTime, then: ControllerTime) -> [f32; JOINTS] {
    let seconds = at.since(then).as_secs_f32();
    let mut speeds = *new;
    for (speed, old) in speeds.iter_mut().zip(old) {
        *speed = (*speed - old) / seconds;
    }
    speeds
}

/// Returns the position and the rotation vector of a frame that FRI sends.
#[must_use]
pub fn pose_of(frame: &wire::Frame) -> Pose {
    let frame = axes(frame);
    Pose { position: frame.position, rotation: frame.rotation.to_vector() }
}

/// Converts a frame that FRI sends, with a rotation matrix by rows, to a frame whose rotation has the axes as vectors.
fn axes(frame: &wire::Frame) -> Frame {
    let [[a, b, c], [d, e, f], [g, h, i]] = frame.rotation;
    Frame { position: frame.position, rotation: Rotation { x: [a, d, g], y: [b, e, h], z: [c, f, i] } }
}

/// Returns the tool and the Jacobian that the KRC measured, both in the base frame; its Jacobian is sent in the task
/// frame.
pub(super) fn posture(measurement: &Measurement<'_>, task: TaskFrame) -> Posture<JOINTS> {
    let tcp = axes(&measurement.msr_cart_pos());
    let wire::Jacobian { linear: [x, y, z], angular: [rx, ry, rz] } = measurement.jacobian();
    let mut columns = [Twist::default(); JOINTS];
    let rows = x.into_iter().zip(y).zip(z).zip(rx.into_iter().zip(ry).zip(rz));
    for (column, (((x, y), z), ((rx, ry), rz))) in columns.iter_mut().zip(rows) {
        let [linear, angular] = [[x, y, z], [rx, ry, rz]].map(|vector| task.to_base(&tcp.rotation, vector));
        *column = Twist { linear, angular };
    }
    Posture { tcp, jacobian: Jacobian(columns) }
}

/// Returns the force \[N\] and torque \[Nm\] at the tool that the KRC estimates, along the base's axes.
fn force(measurement: &Measurement<'_>, tool: &Rotation, task: TaskFrame) -> Wrench {
    let Wrench { force, torque } = measurement.est_ext_tcp_ft().into();
    Wrench { force: task.to_base(tool, force), torque: task.to_base(tool, torque) }
}

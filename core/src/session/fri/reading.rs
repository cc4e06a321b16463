//! A measurement as the control path's state. FRI sends no speeds: they are differences of positions.

use heapless::Deque;

use crate::robot::{ControllerTime, JointPositions, JointVelocities, Pose, RobotMode, Safety, SafetyMode, State};
use crate::time::Duration;
use crate::wire::fri::{Frame, JOINTS, Measurement};

/// Measured speeds are means over this long: the difference of two cycles of 1 ms is mostly noise.
const SPAN: Duration = Duration::from_millis(8);
/// Measurements of a span at the shortest period.
const KEPT: usize = 8;

/// What was measured before.
#[derive(Clone, Debug, Default)]
pub(super) struct Readings {
    measured: Deque<(ControllerTime, [f32; JOINTS]), KEPT>,
    setpoint: Option<(ControllerTime, [f32; JOINTS])>,
}

impl Readings {
    /// The counter or the period began anew.
    pub(super) fn forget(&mut self) {
        self.measured.clear();
        self.setpoint = None;
    }

    /// The newest measurement, whose counter stands for `at`.
    pub(super) fn take(&mut self, measurement: &Measurement<'_>, at: ControllerTime) -> State<JOINTS> {
        let positions = measurement.msr_jnt_pos();
        let setpoint = measurement.setpoint();
        if self.measured.back().is_some_and(|(last, _)| at <= *last) {
            self.forget();
        }
        while self.measured.is_full() || self.measured.iter().nth(1).is_some_and(|(old, _)| at.since(*old) >= SPAN) {
            let _ = self.measured.pop_front();
        }
        let velocities = self.measured.front().map_or([0.0; JOINTS], |(then, old)| slope(&positions, old, at, *then));
        let target = self.setpoint.map_or([0.0; JOINTS], |(then, old)| slope(&setpoint, &old, at, then));
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
            tcp_pose: Some(pose(&measurement.msr_cart_pos())),
            tcp_force: Some(measurement.est_ext_tcp_ft().into()),
            // FRI knows drives that are on, and nothing else of modes or of a safety system.
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

/// Position and rotation vector of a frame.
fn pose(frame: &Frame) -> Pose {
    let [[a, b, c], [d, e, f], [g, h, i]] = frame.rotation;
    // Twice the sine of the angle, along the axis; and its cosine.
    let axis = [h - f, c - g, d - b];
    let length = crate::math::sqrt(axis.iter().map(|part| part * part).sum::<f32>());
    let angle = crate::math::atan2(length, a + e + i - 1.0);
    // Half a turn has no sine to take the axis from; nobody steers by it there.
    let factor = if length > 1e-6 { angle / length } else { 0.5 };
    Pose { position: frame.position, rotation: axis.map(|part| part * factor) }
}

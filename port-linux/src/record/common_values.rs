//! The values that every recorded robot state has under the same names, whichever port it came from: joints, tool,
//! modes, inputs and outputs.

use outrigger_wire::fields::{FieldVisitor, Group, Value};
use outrigger_wire::robot::{Generation, Pose, RobotMode, SafetyMode};
use serde::Serialize;

/// The name of the arm's base frame.
pub(super) const BASE: &str = "base";

/// The fields that states of ports 30003 and 30004 share, as they are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct State {
    position: Option<[f64; 6]>,
    velocity: Option<[f64; 6]>,
    current: Option<[f64; 6]>,
    target_position: Option<[f64; 6]>,
    target_velocity: Option<[f64; 6]>,
    pose: Option<[f64; 6]>,
    speed: Option<[f64; 6]>,
    force: Option<[f64; 6]>,
    pub(super) modes: Modes,
    pub(super) io: Io,
}

/// The robot mode, safety mode and program state, as the controller's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Modes {
    robot_mode: Option<i32>,
    safety_mode: Option<i32>,
    safety_status: Option<i32>,
    program_state: Option<i32>,
    /// `true` for the layout of CB2, whose robot modes have other numbers.
    cb2: bool,
}

/// The bit masks of the controller's digital inputs and outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Io {
    inputs: Option<u64>,
    outputs: Option<u64>,
}

fn six(value: Value<'_>) -> Option<[f64; 6]> {
    match value {
        Value::F64s(values) => values.try_into().ok(),
        _ => None,
    }
}

/// Converts a mode's number of any type to an integer. `None` if `value` is not a finite number. Port 30003 sends all
/// numbers as doubles.
fn number(value: Value<'_>) -> Option<i32> {
    match value {
        Value::F64(value) if value.is_finite() => Some(value.round() as i32),
        Value::Signed(value) => i32::try_from(value).ok(),
        Value::Unsigned(value) => i32::try_from(value).ok(),
        _ => None,
    }
}

fn mask(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Mask(bits) | Value::Unsigned(bits) => Some(bits),
        _ => None,
    }
}

impl FieldVisitor for State {
    fn field(&mut self, name: &str, value: Value<'_>) {
        match name {
            "q_actual" | "actual_q" => self.position = six(value),
            "qd_actual" | "actual_qd" => self.velocity = six(value),
            "i_actual" | "actual_current" => self.current = six(value),
            "q_target" | "target_q" => self.target_position = six(value),
            "qd_target" | "target_qd" => self.target_velocity = six(value),
            "tool_vector" => (self.pose, self.modes.cb2) = (six(value), true),
            "tool_vector_actual" | "actual_TCP_pose" => self.pose = six(value),
            "tcp_speed" | "tcp_speed_actual" | "actual_TCP_speed" => self.speed = six(value),
            "tcp_force" | "actual_TCP_force" => self.force = six(value),
            "robot_mode" => self.modes.robot_mode = number(value),
            "safety_mode" => self.modes.safety_mode = number(value),
            "safety_status" => self.modes.safety_status = number(value),
            "program_state" | "runtime_state" => self.modes.program_state = number(value),
            "digital_input_bits" | "actual_digital_input_bits" => self.io.inputs = mask(value),
            "digital_outputs" | "actual_digital_output_bits" => self.io.outputs = mask(value),
            _ => {}
        }
    }
    fn begin(&mut self, _: &str, _: Group) {}
    fn end(&mut self) {}
}

impl State {
    /// Passes the position, speed and current of each joint to `visitor`: rad, rad/s, A.
    pub(super) fn joints(&self, visitor: &mut dyn FieldVisitor) {
        let fields = [
            ("position", self.position),
            ("velocity", self.velocity),
            ("current", self.current),
            ("target_position", self.target_position),
            ("target_velocity", self.target_velocity),
        ];
        vectors(&fields, visitor);
    }

    /// Returns the joint positions \[rad\] and speeds \[rad/s\] of the state, as far as it contains them.
    pub(super) fn positions_and_speeds(&self) -> Option<(&[f64], &[f64])> {
        let velocity = self.velocity.as_ref().map_or(&[] as &[f64], |velocity| velocity);
        self.position.as_ref().map(|position| (position.as_slice(), velocity))
    }

    /// Passes the tool centre point to `visitor`: pose as position \[m\] and rotation vector \[rad\], speed \[m/s,
    /// rad/s\], force and torque \[N, Nm\].
    pub(super) fn tool(&self, visitor: &mut dyn FieldVisitor) {
        vectors(&[("pose", self.pose), ("speed", self.speed), ("force", self.force)], visitor);
    }

    /// Returns `true` if the state contains a tool pose to draw.
    pub(super) fn has_pose(&self) -> bool {
        self.pose.is_some_and(|pose| pose.iter().all(|value| value.is_finite()))
    }

    /// Passes the tool centre point to `visitor` as `foxglove.PoseInFrame`, which can be drawn. `nanos` is the time
    /// since 1970 \[ns\].
    pub(super) fn pose_in_frame(&self, nanos: u64, visitor: &mut dyn FieldVisitor) {
        let [x, y, z, rx, ry, rz] = self.pose.unwrap_or_default();
        draw([x, y, z], [rx, ry, rz], nanos, visitor);
    }
}

/// Passes a pose to `visitor` as `foxglove.PoseInFrame`. `nanos` is the time since 1970 \[ns\].
pub(super) fn pose_in_frame(nanos: u64, pose: &Pose, visitor: &mut dyn FieldVisitor) {
    draw(pose.position.map(f64::from), pose.rotation.map(f64::from), nanos, visitor);
}

fn draw(position: [f64; 3], rotation: [f64; 3], nanos: u64, visitor: &mut dyn FieldVisitor) {
    timestamp(nanos, visitor);
    visitor.field("frame_id", Value::Text(BASE.as_bytes()));
    visitor.begin("pose", Group::Record);
    visitor.begin("position", Group::Record);
    for (name, value) in ["x", "y", "z"].into_iter().zip(position) {
        visitor.field(name, Value::F64(value));
    }
    visitor.end();
    visitor.begin("orientation", Group::Record);
    for (name, value) in ["x", "y", "z", "w"].into_iter().zip(quaternion(rotation)) {
        visitor.field(name, Value::F64(value));
    }
    visitor.end();
    visitor.end();
}

fn vectors(fields: &[(&str, Option<[f64; 6]>)], visitor: &mut dyn FieldVisitor) {
    for (name, values) in fields {
        if let Some(values) = values {
            visitor.field(name, Value::F64s(values));
        }
    }
}

/// A time since 1970 in the form of Foxglove's schemas.
#[derive(Serialize)]
pub(super) struct Timestamp {
    sec: u64,
    nsec: u64,
}

impl Timestamp {
    /// Converts `nanos`, the time since 1970 \[ns\], to a timestamp.
    pub(super) const fn of(nanos: u64) -> Self {
        const SECOND: u64 = 1_000_000_000;
        Self { sec: nanos / SECOND, nsec: nanos % SECOND }
    }
}

/// Passes the field `timestamp` to `visitor` in the form of Foxglove's schemas.
pub(super) fn timestamp(nanos: u64, visitor: &mut dyn FieldVisitor) {
    let Timestamp { sec, nsec } = Timestamp::of(nanos);
    visitor.begin("timestamp", Group::Record);
    visitor.field("sec", Value::Unsigned(sec));
    visitor.field("nsec", Value::Unsigned(nsec));
    visitor.end();
}

/// Converts a rotation vector \[rad\] to a quaternion x, y, z, w.
pub(super) fn quaternion(vector: [f64; 3]) -> [f64; 4] {
    let angle = vector.iter().map(|v| v * v).sum::<f64>().sqrt();
    // The limit of sin(angle / 2) / angle at zero is 1/2.
    let factor = if angle < 1e-9 { 0.5 } else { (angle / 2.0).sin() / angle };
    let [x, y, z] = vector.map(|v| v * factor);
    [x, y, z, (angle / 2.0).cos()]
}

impl Modes {
    /// Passes robot mode, safety mode and safety status to `visitor`, as numbers and by the controller's names, and the
    /// number of the program state.
    pub(super) fn visit(&self, visitor: &mut dyn FieldVisitor) {
        let generation = if self.cb2 { Generation::Cb2 } else { Generation::Cb3 };
        let mut named = |key: &str, name_key: &str, raw: Option<i32>, name: &dyn Fn(i32) -> String| {
            if let Some(raw) = raw {
                visitor.field(key, Value::Signed(raw.into()));
                visitor.field(name_key, Value::Text(name(raw).as_bytes()));
            }
        };
        let safety = |raw| SafetyMode::from_raw(raw).to_string();
        named("robot_mode", "robot_mode_name", self.robot_mode, &|raw| {
            RobotMode::from_raw(generation, raw).to_string()
        });
        named("safety_mode", "safety_mode_name", self.safety_mode, &safety);
        named("safety_status", "safety_status_name", self.safety_status, &safety);
        if let Some(state) = self.program_state {
            visitor.field("program_state", Value::Signed(state.into()));
        }
    }
}

impl Io {
    /// Passes the digital inputs and outputs to `visitor`, as bit masks and each one separately.
    pub(super) fn visit(&self, visitor: &mut dyn FieldVisitor) {
        /// The number of digital inputs or outputs: standard 0–7, configurable 8–15, tool 16–17.
        const COUNT: u32 = 18;
        for (mask_key, key, bits) in
            [("digital_input_bits", "inputs", self.inputs), ("digital_output_bits", "outputs", self.outputs)]
        {
            let Some(bits) = bits else { continue };
            visitor.field(mask_key, Value::Mask(bits));
            visitor.begin(key, Group::List);
            (0..COUNT).for_each(|n| visitor.field("", Value::Bool(bits >> n & 1 == 1)));
            visitor.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_vector_becomes_a_unit_quaternion() {
        assert_eq!(quaternion([0.0; 3]), [0.0, 0.0, 0.0, 1.0]);
        let [x, y, z, w] = quaternion([0.0, std::f64::consts::PI, 0.0]);
        assert!(x == 0.0 && (y - 1.0).abs() < 1e-12 && z == 0.0 && w.abs() < 1e-12);
        let norm: f64 = quaternion([0.3, -1.2, 2.0]).iter().map(|v| v * v).sum();
        assert!((norm - 1.0).abs() < 1e-12);
    }

    #[test]
    fn both_ports_fill_the_same_fields() {
        let (mut realtime, mut rtde) = (State::default(), State::default());
        realtime.field("q_actual", Value::F64s(&[1.0; 6]));
        realtime.field("robot_mode", Value::F64(7.0));
        realtime.field("digital_outputs", Value::Mask(5));
        rtde.field("actual_q", Value::F64s(&[1.0; 6]));
        rtde.field("robot_mode", Value::Signed(7));
        rtde.field("actual_digital_output_bits", Value::Unsigned(5));
        assert_eq!(realtime, rtde);
        assert!(realtime.modes.robot_mode == Some(7) && !realtime.has_pose());
    }
}

//! The newest values that a robot has reported, under the names of RTDE, from any of its ports.
//!
//! 30004 and 30003 report most values many times a second, 30001 and 30002 the rest ten times a second. A value from
//! the better port is not overwritten by a worse one, unless the better port has fallen silent.

mod variable;

use outrigger_core::engine::ur::{ArmConfiguration, Geometry};
use outrigger_wire::fields::{FieldVisitor, Group, Value};
use outrigger_wire::robot::{Generation, RobotMode, RobotModel, SoftwareVersion};

use self::variable::COUNT;
pub use self::variable::Variable;

/// The largest number of values in one variable that a robot reports.
const MOST: usize = 12;
/// The silence of a port \[µs\] after which the data of a worse port, in the order of [`Port`], is used.
const SILENCE: u64 = 1_000_000;

/// The TCP port or interface of the controller that sent a value, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// The controller's port 30001 or 30002.
    Primary,
    /// The controller's real-time port 30003.
    Realtime,
    /// The RTDE port 30004, on the session's own connection.
    Rtde,
    /// The RTDE port 30004, on the connection that reads additional variables.
    Variables,
    /// A KRC's Fast Research Interface.
    Fri,
}

/// The newest values of one variable that a robot reports.
#[derive(Clone, Copy, Debug, PartialEq)]
struct VariableReadings {
    values: [f64; MOST],
    count: u8,
    by: Port,
    at: u64,
}

/// The newest values of every variable that a robot reports.
#[derive(Clone, Debug)]
pub struct Readings {
    slots: [Option<VariableReadings>; COUNT],
    /// The port whose joint positions are used, and the time of its last ones \[µs\].
    leads: Option<(Port, u64)>,
    /// `true` if the layout of 30003, or of the robot's mode on 30001, is that of CB2.
    is_cb2: bool,
    /// The field `robotType` of the configuration data: the number of the arm's type.
    robot_type: Option<i32>,
    software: Option<SoftwareVersion>,
}

impl Default for Readings {
    fn default() -> Self {
        Self { slots: [None; COUNT], leads: None, is_cb2: false, robot_type: None, software: None }
    }
}

impl Readings {
    /// Stores the fields of a robot state received on `port` at `at` \[µs\]; `visit` passes them. Returns `true` if
    /// topics are to be published from the state: it has joint positions, and no better port has sent any within a
    /// second.
    pub fn state(&mut self, port: Port, at: u64, visit: impl FnOnce(&mut dyn FieldVisitor)) -> bool {
        let mut taking = Taking { readings: self, port, at, package: "", joints: false };
        visit(&mut taking);
        let joints = taking.joints;
        if !joints {
            return false;
        }
        self.lead(port, at)
    }

    /// Stores the fields of a sub-package of 30001 or 30002, given by its name. Returns `true` under the same
    /// condition as [`Self::state`].
    pub fn sub_package(&mut self, name: &str, at: u64, visit: impl FnOnce(&mut dyn FieldVisitor)) -> bool {
        let mut taking = Taking { readings: self, port: Port::Primary, at, package: name, joints: false };
        visit(&mut taking);
        taking.joints && self.lead(Port::Primary, at)
    }

    fn lead(&mut self, port: Port, at: u64) -> bool {
        let leads = self.leads.is_none_or(|(leader, seen)| port >= leader || at > seen.saturating_add(SILENCE));
        if leads {
            self.leads = Some((port, at));
        }
        leads
    }

    /// Returns `true` if no robot state with joint positions has been received.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.leads.is_none()
    }

    /// Stores the version of the controller's software.
    pub const fn identified(&mut self, software: SoftwareVersion) {
        self.software = Some(software);
    }

    /// Discards all stored readings at the end of a session, because none is valid any more.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns the version of the controller's software; `None` until it is known.
    #[must_use]
    pub const fn software(&self) -> Option<SoftwareVersion> {
        self.software
    }

    /// Returns `true` if the received data has the layout of a CB2 controller.
    #[must_use]
    pub const fn is_cb2(&self) -> bool {
        self.is_cb2
    }

    /// Returns `true` if the arm is a UR3 or a UR3e, whose wrist 3 turns without limit. Returns `None` until the
    /// controller has sent the type.
    #[must_use]
    pub fn wrist_turns_without_end(&self) -> Option<bool> {
        /// The value of `robotType` for a UR3 or UR3e (`core/docs/protocol/ur-client-interfaces.md 3.8`).
        const SMALL: i32 = 3;
        Some(self.robot_type? == SMALL)
    }

    /// Returns the robot's model by the type of the arm and the generation of the controller: the oldest of those that
    /// share a type. Returns `None` for a type without a name, and until both are known.
    #[must_use]
    pub fn model(&self) -> Option<RobotModel> {
        let configuration = ArmConfiguration {
            positions: [(0.0, 0.0); 6],
            velocities: [0.0; 6],
            robot_type: self.robot_type?,
            robot_sub_type: 0,
            geometry: Geometry { theta: [0.0; 6], a: [0.0; 6], d: [0.0; 6], alpha: [0.0; 6] },
        };
        configuration.models(self.software?.generation()).first().copied()
    }

    /// Returns the port on which a variable was received; `None` if it was not. Some ports use another unit, or
    /// report only a part of the variable.
    #[must_use]
    pub fn by(&self, of: Variable) -> Option<Port> {
        Some(self.slots.get(of as usize)?.as_ref()?.by)
    }

    /// Returns `true` if a variable was received by RTDE. RTDE reports the currents of inputs, outputs and tool in mA
    /// and the execution time in ms; other ports report them in A and s.
    #[must_use]
    pub fn is_by_rtde(&self, of: Variable) -> bool {
        matches!(self.by(of), Some(Port::Rtde | Port::Variables))
    }

    /// Returns all values of a variable; `None` if it was not received.
    #[must_use]
    pub fn all(&self, of: Variable) -> Option<&[f64]> {
        let slot = self.slots.get(of as usize)?.as_ref()?;
        slot.values.get(..usize::from(slot.count))
    }

    /// Returns the values of a variable if it was received with exactly `N` values, otherwise `None`.
    #[must_use]
    pub fn array<const N: usize>(&self, of: Variable) -> Option<[f64; N]> {
        self.all(of)?.try_into().ok()
    }

    /// Returns the first value of a variable; `None` if it was not received.
    #[must_use]
    pub fn number(&self, of: Variable) -> Option<f64> {
        self.all(of)?.first().copied()
    }

    /// Returns the first value of a variable, rounded to an integer; `None` if it is missing or not finite.
    #[must_use]
    pub fn integer(&self, of: Variable) -> Option<i64> {
        self.number(of).filter(|value| value.is_finite()).map(|value| value.round() as i64)
    }

    /// Returns the first value of a variable as bits; `None` if it is missing or negative.
    #[must_use]
    pub fn bits(&self, of: Variable) -> Option<u64> {
        self.number(of).filter(|value| *value >= 0.0).map(|value| value as u64)
    }

    /// Returns the number of the robot mode as CB3 and later number it, which ROS also uses; `None` until it was
    /// received, and for an unknown mode of a CB2.
    #[must_use]
    pub fn robot_mode(&self) -> Option<i8> {
        let raw = i32::try_from(self.integer(Variable::RobotMode)?).ok()?;
        if !self.is_cb2 {
            return i8::try_from(raw).ok();
        }
        robot_mode_number(RobotMode::from_raw(Generation::Cb2, raw))
    }

    /// Returns the number of the safety mode, derived from the robot mode for a CB2; `None` until it was received.
    #[must_use]
    pub fn safety_mode(&self) -> Option<u8> {
        if !self.is_cb2 {
            return u8::try_from(self.integer(Variable::SafetyMode)?).ok();
        }
        let raw = i32::try_from(self.integer(Variable::RobotMode)?).ok()?;
        Some(match RobotMode::from_raw(Generation::Cb2, raw) {
            RobotMode::SecurityStopped => 3,
            RobotMode::SafeguardStop => 5,
            RobotMode::EmergencyStopped => 7,
            RobotMode::FatalError => 9,
            RobotMode::NoController | RobotMode::NotConnected | RobotMode::Unknown(_) => 11,
            _ => 1,
        })
    }

    fn put(&mut self, of: Variable, values: &[f64], by: Port, at: u64) {
        let Some(slot) = self.slots.get_mut(of as usize) else { return };
        if slot.is_some_and(|old| old.by > by && at <= old.at.saturating_add(SILENCE)) {
            return;
        }
        let mut kept = [0.0; MOST];
        let count = values.len().min(MOST);
        kept.iter_mut().zip(values).for_each(|(kept, value)| *kept = *value);
        *slot = Some(VariableReadings { values: kept, count: count as u8, by, at });
    }

    /// Stores the value with the index `index` of a variable whose values arrive separately, and keeps its other
    /// values.
    fn put_one(&mut self, of: Variable, index: usize, value: f64, by: Port, at: u64) {
        let mut values = [0.0; MOST];
        let mut count = index + 1;
        if let Some(old) = self.all(of) {
            values.iter_mut().zip(old).for_each(|(kept, old)| *kept = *old);
            count = count.max(old.len());
        }
        if let Some(kept) = values.get_mut(index) {
            *kept = value;
            self.put(of, values.get(..count).unwrap_or_default(), by, at);
        }
    }
}

/// A visitor that stores the fields of a robot's message as readings.
struct Taking<'r> {
    readings: &'r mut Readings,
    port: Port,
    at: u64,
    /// The name of the sub-package of 30001 or 30002; empty for another port.
    package: &'r str,
    joints: bool,
}

impl Taking<'_> {
    fn one(&mut self, of: Variable, index: usize, value: f64) {
        self.readings.put_one(of, index, value, self.port, self.at);
    }

    fn take(&mut self, of: Variable, values: &[f64]) {
        self.joints |= of == Variable::ActualQ;
        self.readings.put(of, values, self.port, self.at);
    }

    /// Stores a field of a sub-package of port 30001 or 30002 as a reading.
    fn of_package(&mut self, name: &str, values: &[f64]) {
        let Some(value) = values.first().copied() else { return };
        match (self.package, name) {
            // These fields contain the values of all joints.
            ("joint_data", "q_actual") => self.take(Variable::ActualQ, values),
            ("joint_data", "q_target") => self.take(Variable::TargetQ, values),
            ("joint_data", "qd_actual") => self.take(Variable::ActualQd, values),
            ("joint_data", "i_actual") => self.take(Variable::ActualCurrent, values),
            ("joint_data", "v_actual") => self.take(Variable::ActualJointVoltage, values),
            ("joint_data", "t_motor") => self.take(Variable::JointTemperatures, values),
            ("joint_data", "joint_mode") => self.take(Variable::JointMode, values),
            ("robot_mode_data", "robot_mode") => {
                self.take(Variable::RobotMode, &[if value > 127.0 { value - 256.0 } else { value }]);
            }
            ("robot_mode_data", "is_power_on_robot") => self.bit(0, value),
            ("robot_mode_data", "is_program_running") => self.bit(1, value),
            ("robot_mode_data", "speed_fraction") => {
                self.readings.is_cb2 = true;
                self.take(Variable::TargetSpeedFraction, &[value]);
            }
            ("robot_mode_data", "target_speed_fraction" | "speed_scaling" | "is_program_paused" | "control_mode")
            | ("robot_mode_data", "is_robot_connected" | "is_real_robot_enabled")
            | ("masterboard_data", "master_board_temperature" | "analog_input_range")
            | ("masterboard_data", "master_safety_state" | "master_on_off_state")
            | ("additional_info", "teach_button_pressed")
            | ("tool_mode_info", "digital_output_mode_output_0" | "digital_output_mode_output_1") => {
                if let Some(of) = Variable::of(name) {
                    self.take(of, values);
                }
            }
            ("kinematics_info", _) => {
                if let Some(of) = Variable::of(name) {
                    self.take(of, values);
                }
            }
            ("configuration_data", "robot_type") => self.readings.robot_type = Some(value as i32),
            ("tool_mode_info", "output_mode") => self.take(Variable::ToolOutputMode, values),
            ("cartesian_info", _) => {
                let poses = [Variable::ActualTcpPose, Variable::TcpOffset];
                for (of, prefix) in poses.into_iter().zip(["", "tcp_offset_"]) {
                    let axis = ["x", "y", "z", "rx", "ry", "rz"]
                        .iter()
                        .position(|axis| name.strip_prefix(prefix) == Some(*axis));
                    if let Some(axis) = axis {
                        self.one(of, axis, value);
                    }
                }
            }
            ("masterboard_data", "digital_input_bits" | "digital_output_bits" | "master_io_current")
            | ("masterboard_data", "robot_voltage_48v" | "robot_current" | "safety_mode") => self.take(
                match name {
                    "digital_input_bits" => Variable::DigitalInputBits,
                    "digital_output_bits" => Variable::DigitalOutputBits,
                    "master_io_current" => Variable::IoCurrent,
                    "robot_voltage_48v" => Variable::ActualRobotVoltage,
                    "robot_current" => Variable::ActualRobotCurrent,
                    _ => Variable::SafetyMode,
                },
                &[value],
            ),
            ("masterboard_data", "analog_input") => {
                for (of, value) in [Variable::AnalogInput0, Variable::AnalogInput1].into_iter().zip(values) {
                    self.take(of, &[*value]);
                }
            }
            ("masterboard_data", "analog_output") => {
                for (of, value) in [Variable::AnalogOutput0, Variable::AnalogOutput1].into_iter().zip(values) {
                    self.take(of, &[*value]);
                }
            }
            ("masterboard_data", "analog_output_domain") => {
                let bits =
                    values.iter().take(2).zip([4.0, 8.0]).map(|(domain, bit)| if *domain > 0.0 { bit } else { 0.0 });
                self.take(Variable::AnalogIoTypes, &[bits.sum::<f64>() + 3.0]);
            }
            ("tool_data", "tool_mode" | "tool_output_voltage" | "tool_temperature" | "tool_voltage_48v") => {
                if let Some(of) = Variable::of(name) {
                    self.take(of, &[value]);
                }
            }
            ("tool_data", "tool_current") => self.take(Variable::ToolOutputCurrent, &[value]),
            ("tool_data", "analog_input_2") => self.take(Variable::ToolAnalogInput0, &[value]),
            ("tool_data", "analog_input_3") => self.take(Variable::ToolAnalogInput1, &[value]),
            _ => {}
        }
    }

    fn bit(&mut self, bit: u32, value: f64) {
        let old = self.readings.bits(Variable::RobotStatusBits).unwrap_or_default();
        let bits = if value > 0.0 { old | 1 << bit } else { old & !(1 << bit) };
        self.take(Variable::RobotStatusBits, &[bits as f64]);
    }
}

impl FieldVisitor for Taking<'_> {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let mut values = [0.0; MOST];
        let count = match value {
            Value::Bool(value) => one(&mut values, f64::from(u8::from(value))),
            Value::Unsigned(value) | Value::Mask(value) => one(&mut values, value as f64),
            Value::Signed(value) => one(&mut values, value as f64),
            Value::F32(value) => one(&mut values, f64::from(value)),
            Value::F64(value) => one(&mut values, value),
            Value::Bytes(of) => many(&mut values, of.iter().map(|value| f64::from(*value))),
            Value::U32s(of) => many(&mut values, of.iter().map(|value| f64::from(*value))),
            Value::I32s(of) => many(&mut values, of.iter().map(|value| f64::from(*value))),
            Value::F32s(of) => many(&mut values, of.iter().map(|value| f64::from(*value))),
            Value::F64s(of) => many(&mut values, of.iter().copied()),
            _ => 0,
        };
        let values = values.get(..count).unwrap_or_default();
        if values.is_empty() {
            return;
        }
        if !self.package.is_empty() {
            return self.of_package(name, values);
        }
        if name == "tool_vector" {
            self.readings.is_cb2 = true;
        }
        // A KRC reports torques about z, y and x, in this order.
        let turned = match (name, values) {
            ("est_ext_tcp_ft", [x, y, z, about_z, about_y, about_x]) => {
                Some([*x, *y, *z, *about_x, *about_y, *about_z])
            }
            _ => None,
        };
        let values = turned.as_ref().map_or(values, |turned| turned.as_slice());
        if let Some(of) = Variable::of(name) {
            self.take(of, values);
        }
    }

    fn begin(&mut self, _: &str, _: Group) {}

    fn end(&mut self) {}
}

fn one(values: &mut [f64; MOST], value: f64) -> usize {
    values[0] = value;
    1
}

fn many(values: &mut [f64; MOST], of: impl ExactSizeIterator<Item = f64>) -> usize {
    let count = of.len().min(MOST);
    values.iter_mut().zip(of).for_each(|(kept, value)| *kept = value);
    count
}

/// Returns the number that messages use for a robot mode, which is that of CB3 and later. Modes that only CB2 has are
/// mapped to the nearest one; `None` for an unknown mode.
pub(crate) fn robot_mode_number(mode: RobotMode) -> Option<i8> {
    Some(match mode {
        RobotMode::NotConnected => 0,
        RobotMode::Shutdown => 2,
        RobotMode::EmergencyStopped | RobotMode::FatalError | RobotMode::NoPower => 3,
        RobotMode::Initializing => 4,
        RobotMode::Ready => 5,
        RobotMode::Freedrive => 6,
        RobotMode::SecurityStopped | RobotMode::SafeguardStop => 7,
        RobotMode::Unknown(_) => return None,
        named => return i8::try_from(named.raw(Generation::Cb3)?).ok(),
    })
}

#[cfg(test)]
mod tests {
    use outrigger_wire::primary::{Joint, JointData, JointDataRepr, SubPackageRepr as _};

    use super::*;

    fn fields(of: &'static [(&str, Value<'static>)]) -> impl FnOnce(&mut dyn FieldVisitor) {
        move |visitor| of.iter().for_each(|(name, value)| visitor.field(name, *value))
    }

    #[test]
    fn the_better_port_is_believed_until_it_falls_silent() {
        let mut readings = Readings::default();
        assert!(readings.state(Port::Realtime, 0, fields(&[("q_actual", Value::F64s(&[1.0; 6]))])));
        assert!(readings.state(Port::Rtde, 10, fields(&[("actual_q", Value::F64s(&[2.0; 6]))])));
        assert!(!readings.state(Port::Realtime, 2_000, fields(&[("q_actual", Value::F64s(&[3.0; 6]))])));
        assert_eq!(readings.array(Variable::ActualQ), Some([2.0; 6]));
        // A value that the better port does not provide is taken from the other.
        readings.state(Port::Realtime, 4_000, fields(&[("v_robot", Value::F64(48.0))]));
        assert_eq!(readings.number(Variable::ActualRobotVoltage), Some(48.0));
        assert!(readings.state(Port::Realtime, 1_100_000, fields(&[("q_actual", Value::F64s(&[3.0; 6]))])));
        assert_eq!(readings.array(Variable::ActualQ), Some([3.0; 6]));
        readings.forget();
        assert_eq!(readings.all(Variable::ActualQ), None);
    }

    #[test]
    fn joints_of_the_ten_hertz_interface_are_all_of_its_message() {
        let mut repr = JointDataRepr::default();
        for (joint, q) in repr.joints.iter_mut().zip([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]) {
            *joint = Joint { q_actual: q, qd_actual: -q, joint_mode: 253, ..Default::default() };
        }
        let mut bytes = [0; 251];
        repr.emit(251, &mut bytes).unwrap();
        let data = JointData::new_checked(&bytes).unwrap();
        let mut readings = Readings::default();
        assert!(readings.sub_package("joint_data", 0, |visitor| data.visit(visitor)));
        assert_eq!(readings.array(Variable::ActualQ), Some([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(readings.array(Variable::ActualQd), Some([0.0, -1.0, -2.0, -3.0, -4.0, -5.0]));
        assert_eq!(readings.array(Variable::JointMode), Some([253.0; 6]));
        let pose = fields(&[("x", Value::F64(0.5)), ("rz", Value::F64(1.5)), ("tcp_offset_z", Value::F64(0.1))]);
        assert!(!readings.sub_package("cartesian_info", 0, pose));
        assert_eq!(readings.array(Variable::ActualTcpPose), Some([0.5, 0.0, 0.0, 0.0, 0.0, 1.5]));
        assert_eq!(readings.all(Variable::TcpOffset), Some(&[0.0, 0.0, 0.1][..]));
    }

    #[test]
    fn torques_of_a_krc_are_about_x_y_and_z() {
        let mut readings = Readings::default();
        readings.state(Port::Fri, 0, fields(&[("est_ext_tcp_ft", Value::F32s(&[1.0, 2.0, 3.0, 6.0, 5.0, 4.0]))]));
        assert_eq!(readings.array(Variable::ActualTcpForce), Some([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }

    #[test]
    fn modes_of_a_cb2_are_told_as_those_of_later_ones() {
        let mut readings = Readings::default();
        readings.state(
            Port::Realtime,
            0,
            fields(&[("tool_vector", Value::F64s(&[0.0; 6])), ("robot_mode", Value::F64(0.0))]),
        );
        assert_eq!((readings.robot_mode(), readings.safety_mode()), (Some(7), Some(1)));
        readings.state(Port::Realtime, 0, fields(&[("robot_mode", Value::F64(5.0))]));
        assert_eq!((readings.robot_mode(), readings.safety_mode()), (Some(3), Some(7)));
        let mut later = Readings::default();
        later.state(Port::Rtde, 0, fields(&[("robot_mode", Value::Signed(-1)), ("safety_mode", Value::Signed(12))]));
        assert_eq!((later.robot_mode(), later.safety_mode()), (Some(-1), Some(12)));
    }
}

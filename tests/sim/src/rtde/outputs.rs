//! Every RTDE output variable with its value on the simulated arm (`core/docs/protocol/ur-rtde.md 8`).
//!
//! The type of a variable is that of its value. If the specification does not confirm the first software of a
//! variable, e-Series sends it if the options permit it, from the release that a source names, if any.

use outrigger_wire::robot::{Generation, ProgramState, SoftwareVersion};

use super::registers::Registers;
use super::value::Value;
use crate::publish::Snapshot;
use crate::robot::Stop;

/// The state that the values of RTDE outputs are computed from.
pub(crate) struct State<'a> {
    pub(crate) snapshot: Snapshot<'a>,
    /// The clock of the RTDE service: time since the controller or the service started \[µs\].
    pub(crate) micros: u64,
    pub(crate) inputs: &'a Registers,
    pub(crate) outputs: &'a Registers,
    /// Acceleration of the tool, actual and target \[m/s², rad/s²\].
    pub(crate) acceleration: [[f64; 6]; 2],
    pub(crate) cycles: u64,
    /// Line of the running program that is being executed; 0 if none runs.
    pub(crate) script_line: u32,
}

/// The first software version that has an RTDE variable, output or input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Since {
    Rtde,
    /// The first versions of the CB3 series (`None`: never) and of e-Series that have the variable.
    Release(Option<(u8, u8, u32)>, (u8, u8, u32)),
    /// The first versions of e-Series and of PolyScope X that have the variable, for one that the CB3 series does not
    /// have.
    Newest((u8, u8, u32), (u8, u8, u32)),
    /// The supposed first versions of the CB3 series (`None`: never) and of e-Series; no source confirms them.
    Unconfirmed(Option<(u8, u8, u32)>, (u8, u8, u32)),
}

impl Since {
    pub(crate) fn reached(self, software: SoftwareVersion, unconfirmed: bool) -> bool {
        let here = (software.major, software.minor, software.bugfix);
        let (cb3, e_series) = match self {
            Self::Rtde => return true,
            Self::Newest(_, x) if software.generation() == Generation::PolyScopeX => return here >= x,
            Self::Newest(e_series, _) => (None, e_series),
            Self::Unconfirmed(..) if !unconfirmed => return false,
            Self::Release(cb3, e_series) | Self::Unconfirmed(cb3, e_series) => (cb3, e_series),
        };
        match software.generation() {
            Generation::Cb2 | Generation::Cb3 => cb3.is_some_and(|first| here >= first),
            Generation::ESeries | Generation::PolyScopeX => here >= e_series,
        }
    }
}

/// A row of the table of RTDE outputs: one variable, or a range of registers.
#[derive(Debug)]
pub(crate) struct Output {
    name: &'static str,
    numbers: Option<(u8, u8)>,
    pub(crate) since: Since,
    /// The value zero in the RTDE variable's type.
    pub(crate) zero: Value,
    pub(crate) value: fn(&State<'_>, u8) -> Value,
}

impl Output {
    /// Returns the RTDE output variable of this name and its register number, 0 for a variable without registers.
    /// `None` if there is no such variable.
    pub(crate) fn named(name: &str) -> Option<(&'static Self, u8)> {
        OUTPUTS.iter().find_map(|output| Some((output, number_in(output.name, output.numbers, name)?)))
    }
}

/// Returns the register number in `name` if that is the RTDE variable `known` with a number within `numbers`; 0 if
/// `known` has no numbers. `None` if `name` is another variable.
pub(crate) fn number_in(known: &str, numbers: Option<(u8, u8)>, name: &str) -> Option<u8> {
    let rest = name.strip_prefix(known)?;
    let Some((first, last)) = numbers else { return rest.is_empty().then_some(0) };
    let number = rest.parse::<u8>().ok().filter(|number| number.to_string() == rest)?;
    (first..=last).contains(&number).then_some(number)
}

const FIRST_E: (u8, u8, u32) = (5, 0, 0);
const UPPER: Since = Since::Release(Some((3, 9, 0)), (5, 3, 0));
const E_5_2: Since = Since::Release(None, (5, 2, 0));
const UNCONFIRMED: Since = Since::Unconfirmed(None, FIRST_E);

/// Joint position error at which a controller stops the arm \[rad\], the unit of `joint_position_deviation_ratio`; not
/// documented, assumed.
const DEVIATION_LIMIT: f64 = 0.1;
/// Acceleration of gravity in the robot's base frame \[m/s²\].
const GRAVITY: f64 = 9.82;
/// The share of the control cycle that the real-time thread is reported to use, 0 … 1; assumed.
const EXECUTION_SHARE: f64 = 0.2;

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn volts(state: &State<'_>) -> f64 {
    if state.snapshot.robot.powered() { 48.0 } else { 0.0 }
}

fn amperes(state: &State<'_>) -> f64 {
    if state.snapshot.robot.powered() { 0.7 } else { 0.0 }
}

/// Returns an analogue value in the unit that RTDE publishes: V if the domain is a voltage, else mA.
fn analog(value: f64, domain: u8) -> f64 {
    if domain == 0 { value * 1000.0 } else { value }
}

fn runtime_state(state: &State<'_>) -> u32 {
    match state.snapshot.program_state {
        ProgramState::Stopping => 0,
        ProgramState::Playing => 2,
        ProgramState::Pausing => 3,
        ProgramState::Paused => 4,
        ProgramState::Resuming => 5,
        ProgramState::Stopped | ProgramState::Unknown(_) => 1,
    }
}

fn safety_bits(state: &State<'_>) -> u32 {
    const STOPPED_DUE_TO_SAFETY: u32 = 1 << 10;
    match state.snapshot.robot.stop {
        Stop::None => 1,
        Stop::Reduced => 1 << 1,
        Stop::Protective { .. } => (1 << 2) | STOPPED_DUE_TO_SAFETY,
        Stop::Safeguard(_) => (1 << 4) | STOPPED_DUE_TO_SAFETY,
        Stop::Emergency => (1 << 6) | (1 << 7) | STOPPED_DUE_TO_SAFETY,
        Stop::Violation => (1 << 8) | STOPPED_DUE_TO_SAFETY,
        Stop::Fault => (1 << 9) | STOPPED_DUE_TO_SAFETY,
    }
}

fn domains(of: [u8; 2]) -> u32 {
    u32::from(of[0] != 0) | (u32::from(of[1] != 0) << 1)
}

fn deviation(state: &State<'_>) -> f64 {
    let arm = state.snapshot.arm;
    let errors = arm.q.iter().zip(&arm.targets.q).map(|(q, target)| (q - target).abs());
    errors.fold(0.0, f64::max) / DEVIATION_LIMIT
}

/// The value zero in each RTDE type.
#[allow(non_upper_case_globals, reason = "named as the types")]
mod zero {
    use super::Value;

    pub(super) const Bool: Value = Value::Bool(false);
    pub(super) const Uint8: Value = Value::Uint8(0);
    pub(super) const Uint32: Value = Value::Uint32(0);
    pub(super) const Uint64: Value = Value::Uint64(0);
    pub(super) const Int32: Value = Value::Int32(0);
    pub(super) const Double: Value = Value::Double(0.0);
    pub(super) const Vector3: Value = Value::Vector3([0.0; 3]);
    pub(super) const Vector6: Value = Value::Vector6([0.0; 6]);
    pub(super) const Vector6Int: Value = Value::Vector6Int([0; 6]);
}

macro_rules! outputs {
    ($($name:literal $([$first:literal ..= $last:literal])? $(since $since:expr)?, $variant:ident |$s:pat_param, $n:pat_param| $value:expr;)+) => {
        &[$(Output {
            name: $name,
            numbers: outputs!(@numbers $($first $last)?),
            since: outputs!(@since $($since)?),
            zero: zero::$variant,
            value: |$s, $n| Value::$variant($value),
        }),+]
    };
    (@numbers) => { None };
    (@numbers $first:literal $last:literal) => { Some(($first, $last)) };
    (@since) => { Since::Rtde };
    (@since $since:expr) => { $since };
}

#[rustfmt::skip]
static OUTPUTS: &[Output] = outputs! {
    "timestamp", Double |s, _| s.micros as f64 / 1e6;
    "target_q", Vector6 |s, _| s.snapshot.arm.targets.q;
    "target_qd", Vector6 |s, _| s.snapshot.arm.targets.qd;
    "target_qdd", Vector6 |s, _| s.snapshot.arm.targets.qdd;
    "target_current", Vector6 |s, _| s.snapshot.currents();
    "target_moment", Vector6 |s, _| s.snapshot.moments();
    "actual_q", Vector6 |s, _| s.snapshot.arm.q;
    "actual_qd", Vector6 |s, _| s.snapshot.arm.qd;
    "actual_current", Vector6 |s, _| s.snapshot.currents();
    "actual_current_window" since UNCONFIRMED, Vector6 |_, _| [10.0; 6];
    "actual_current_as_torque" since Since::Unconfirmed(None, (5, 23, 0)), Vector6 |s, _| s.snapshot.moments();
    "joint_control_output", Vector6 |s, _| s.snapshot.currents();
    "actual_TCP_pose", Vector6 |s, _| s.snapshot.arm.tool().to_pose();
    "actual_TCP_speed", Vector6 |s, _| s.snapshot.arm.tool_speed();
    "actual_TCP_force", Vector6 |s, _| s.snapshot.force.published();
    "target_TCP_pose", Vector6 |s, _| s.snapshot.arm.tool_target();
    "target_TCP_speed", Vector6 |s, _| s.snapshot.arm.tool_speed_target();
    "actual_TCP_acceleration" since UNCONFIRMED, Vector6 |s, _| s.acceleration[0];
    "target_TCP_acceleration" since UNCONFIRMED, Vector6 |s, _| s.acceleration[1];
    "tcp_offset" since Since::Release(Some((3, 12, 3)), (5, 5, 1)), Vector6 |s, _| s.snapshot.arm.tcp;
    "actual_digital_input_bits", Uint64 |s, _| s.snapshot.io.digital_in.into();
    "actual_configurable_digital_input_bits" since UNCONFIRMED, Uint64 |s, _| u64::from((s.snapshot.io.digital_in >> 8) & 0xFF);
    "joint_temperatures", Vector6 |_, _| crate::publish::MOTOR_TEMPERATURES.map(f64::from);
    "actual_execution_time", Double |s, _| s.snapshot.firmware.period().as_secs_f64() * 1e3 * EXECUTION_SHARE;
    "target_execution_time" since UNCONFIRMED, Double |s, _| s.snapshot.firmware.period().as_secs_f64() * 1e3;
    "robot_mode", Int32 |s, _| s.snapshot.robot_mode().raw(s.snapshot.firmware.generation()).unwrap_or(-1);
    "joint_mode", Vector6Int |s, _| [s.snapshot.robot.joint_mode(s.snapshot.now).raw(); 6];
    "safety_mode", Int32 |s, _| s.snapshot.robot.safety_mode().raw();
    "safety_status" since Since::Release(Some((3, 10, 0)), (5, 4, 0)), Int32 |s, _| s.snapshot.robot.safety_status().raw();
    "actual_tool_accelerometer", Vector3 |s, _| s.snapshot.arm.tool().rotation.inverse().turn([0.0, 0.0, GRAVITY]);
    "speed_scaling", Double |s, _| s.snapshot.limiter();
    "target_speed_fraction", Double |s, _| s.snapshot.robot.slider;
    // Momentum of the payload only: the arm's links have no masses here.
    "actual_momentum", Double |s, _| s.snapshot.io.payload * norm(s.snapshot.arm.tool_speed().first_chunk::<3>().unwrap_or(&[0.0; 3]));
    "actual_main_voltage", Double |s, _| volts(s);
    "actual_robot_voltage", Double |s, _| volts(s);
    "actual_robot_current", Double |s, _| amperes(s);
    "actual_joint_voltage", Vector6 |s, _| [volts(s); 6];
    "actual_digital_output_bits", Uint64 |s, _| s.snapshot.io.digital_out.into();
    "actual_configurable_digital_output_bits" since UNCONFIRMED, Uint64 |s, _| u64::from((s.snapshot.io.digital_out >> 8) & 0xFF);
    "runtime_state", Uint32 |s, _| runtime_state(s);
    "elbow_position" since Since::Release(Some((3, 5, 0)), FIRST_E), Vector3 |s, _| s.snapshot.arm.elbow();
    "elbow_velocity" since Since::Release(Some((3, 5, 0)), FIRST_E), Vector3 |s, _| s.snapshot.arm.elbow_speed();
    "robot_status_bits", Uint32 |s, _| u32::from(s.snapshot.robot.powered()) | (u32::from(s.snapshot.program_running) << 1);
    "safety_status_bits", Uint32 |s, _| safety_bits(s);
    "analog_io_types", Uint32 |s, _| domains(s.snapshot.io.analog_in_range) | (domains(s.snapshot.io.analog_out_domain) << 2);
    "standard_analog_input0", Double |s, _| analog(s.snapshot.io.analog_in[0], s.snapshot.io.analog_in_range[0]);
    "standard_analog_input1", Double |s, _| analog(s.snapshot.io.analog_in[1], s.snapshot.io.analog_in_range[1]);
    "standard_analog_output0", Double |s, _| analog(s.snapshot.io.analog_out[0], s.snapshot.io.analog_out_domain[0]);
    "standard_analog_output1", Double |s, _| analog(s.snapshot.io.analog_out[1], s.snapshot.io.analog_out_domain[1]);
    "io_current", Double |_, _| 4.0;
    "euromap67_input_bits", Uint32 |_, _| 0;
    "euromap67_output_bits", Uint32 |_, _| 0;
    "euromap67_24V_voltage", Double |s, _| if s.snapshot.io.euromap67 { 24.0 } else { 0.0 };
    "euromap67_24V_current", Double |_, _| 0.0;
    "tool_mode", Uint32 |s, _| s.snapshot.tool_mode().raw().unsigned_abs();
    "tool_analog_input_types", Uint32 |s, _| domains(s.snapshot.io.tool_analog_in_range);
    "tool_analog_input0", Double |s, _| analog(s.snapshot.io.tool_analog_in[0], s.snapshot.io.tool_analog_in_range[0]);
    "tool_analog_input1", Double |s, _| analog(s.snapshot.io.tool_analog_in[1], s.snapshot.io.tool_analog_in_range[1]);
    "tool_output_voltage", Int32 |s, _| s.snapshot.io.tool_voltage.into();
    "tool_output_current", Double |_, _| 6.0;
    "tool_temperature", Double |_, _| 40.0;
    "tool_output_mode" since E_5_2, Uint8 |s, _| s.snapshot.io.tool_output_mode;
    "tool_digital_output0_mode" since E_5_2, Uint8 |s, _| s.snapshot.io.tool_digital_out_modes[0];
    "tool_digital_output1_mode" since E_5_2, Uint8 |s, _| s.snapshot.io.tool_digital_out_modes[1];
    "tcp_force_scalar", Double |s, _| s.snapshot.force.magnitude();
    "joint_position_deviation_ratio" since Since::Unconfirmed(None, (5, 15, 0)), Double |s, _| deviation(s);
    // No collision is simulated, and the source of a time scale is not distinguished.
    "collision_detection_ratio" since Since::Unconfirmed(None, (5, 15, 0)), Double |_, _| 0.0;
    "time_scale_source" since Since::Unconfirmed(None, (5, 17, 0)), Int32 |_, _| 0;
    "input_bit_registers0_to_31", Uint32 |s, _| s.inputs.word(0);
    "input_bit_registers32_to_63", Uint32 |s, _| s.inputs.word(32);
    "input_bit_register_" [64..=127] since UPPER, Bool |s, n| s.inputs.bit(n);
    "input_int_register_" [0..=23], Int32 |s, n| s.inputs.ints[usize::from(n)];
    "input_int_register_" [24..=47] since UPPER, Int32 |s, n| s.inputs.ints[usize::from(n)];
    "input_double_register_" [0..=23], Double |s, n| s.inputs.doubles[usize::from(n)];
    "input_double_register_" [24..=47] since UPPER, Double |s, n| s.inputs.doubles[usize::from(n)];
    "output_bit_registers0_to_31", Uint32 |s, _| s.outputs.word(0);
    "output_bit_registers32_to_63", Uint32 |s, _| s.outputs.word(32);
    "output_bit_register_" [64..=127] since UPPER, Bool |s, n| s.outputs.bit(n);
    "output_int_register_" [0..=23], Int32 |s, n| s.outputs.ints[usize::from(n)];
    "output_int_register_" [24..=47] since UPPER, Int32 |s, n| s.outputs.ints[usize::from(n)];
    "output_double_register_" [0..=23], Double |s, n| s.outputs.doubles[usize::from(n)];
    "output_double_register_" [24..=47] since UPPER, Double |s, n| s.outputs.doubles[usize::from(n)];
    "payload" since Since::Release(Some((3, 11, 0)), (5, 5, 1)), Double |s, _| s.snapshot.io.payload;
    "payload_cog" since Since::Release(Some((3, 11, 0)), (5, 5, 1)), Vector3 |s, _| s.snapshot.io.payload_cog;
    "payload_inertia" since Since::Release(Some((3, 15, 0)), (5, 11, 0)), Vector6 |s, _| s.snapshot.io.payload_inertia;
    "script_control_line" since Since::Release(Some((3, 14, 0)), (5, 9, 0)), Uint32 |s, _| s.script_line;
    "ft_raw_wrench" since Since::Release(None, (5, 9, 0)), Vector6 |s, _| s.snapshot.force.raw_at_flange();
    "wrench_calc_from_currents" since UNCONFIRMED, Vector6 |s, _| s.snapshot.force.push;
    "actual_robot_energy_consumed" since Since::Newest((5, 23, 0), (10, 11, 0)), Double |s, _| s.snapshot.controller_micros as f64 * 1e-6 * volts(s) * amperes(s);
    "actual_robot_braking_energy_dissipated" since Since::Unconfirmed(None, (5, 23, 0)), Double |_, _| 0.0;
    "encoder0_raw" since UNCONFIRMED, Int32 |_, _| 0;
    "encoder1_raw" since UNCONFIRMED, Int32 |_, _| 0;
    "target_gravity" since UNCONFIRMED, Vector3 |s, _| s.snapshot.io.gravity;
    "target_base_acceleration" since UNCONFIRMED, Vector6 |_, _| [0.0; 6];
    "target_base_wrench" since UNCONFIRMED, Vector6 |_, _| [0.0; 6];
    "control_step" since UNCONFIRMED, Uint64 |s, _| s.cycles;
};

//! The robot state message of 30001 and 30002: sub-packages in the order and size of the software.
//!
//! Reserved bytes have the values that were recorded on real controllers.

use std::f64::consts::FRAC_PI_2;

use outrigger_wire::WireError;
use outrigger_wire::primary::{
    AdditionalInfoRepr, CalibrationDataRepr, CartesianInfoRepr, ConfigurationDataRepr, ForceModeDataRepr, Joint,
    JointDataRepr, JointDynamics, JointLimits, KinematicsInfoRepr, MasterboardDataCb2Repr, MasterboardDataRepr,
    RobotModeDataRepr, RobotStateWriter, SafetyDataRepr, SingularityInfoRepr, SubPackageRepr,
    ToolCommunicationInfoRepr, ToolDataRepr, ToolModeInfoRepr, size_for,
};
use outrigger_wire::robot::Generation;

use super::{MOTOR_TEMPERATURES, Snapshot};
use crate::model::{ACCELERATION_LIMIT, POSITION_LIMIT};
use crate::robot::Stop;

/// The buffer size for the largest state message with long extensions \[B\].
const ROOM: usize = 16 * 1024;
/// A type of state sub-package that no controller sends, for a simulated fault.
const UNKNOWN_SUB_PACKAGE: u8 = 77;
/// An arbitrary safety checksum; the sub-packages of types 3 and 10 must contain the same number.
const SAFETY_CHECKSUM: u32 = 0x00C0_FFEE;
/// The calibration checksum of a joint without calibration.
const UNCALIBRATED: u32 = u32::MAX;
/// The size of the kinematics sub-package in its short form, which contains the status only \[B\].
const SHORT_KINEMATICS: usize = 9;
/// The type of the sub-package that precedes the kinematics sub-package, whether that is sent whole or as its status
/// alone (`SHORT_KINEMATICS`).
const BEFORE_KINEMATICS: u8 = 4;
/// The size of configuration data with the two reserved fields of the newest software \[B\].
const LONG_CONFIGURATION: usize = 449;

/// The changes that active simulated faults make to a state message.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deviations {
    /// The number of bytes appended to every sub-package of a state message.
    pub(crate) extension: usize,
    /// `true` to add a sub-package of unknown type to a state message.
    pub(crate) unknown: bool,
}

/// Returns one robot state message. If `first` is set, it is the message that a client receives after connecting,
/// which contains kinematics and configuration.
pub(crate) fn message(state: &Snapshot<'_>, first: bool, deviations: Deviations) -> Vec<u8> {
    let mut bytes = vec![0; ROOM];
    // The buffer is large enough for every package; a fault that needs more results in no message.
    let size = write(state, first, deviations, &mut bytes).unwrap_or(0);
    bytes.truncate(size);
    bytes
}

fn write(state: &Snapshot<'_>, first: bool, deviations: Deviations, out: &mut [u8]) -> Result<usize, WireError> {
    let mut package =
        Packages { writer: RobotStateWriter::new(out)?, state, extension: vec![0xEE; deviations.extension] };
    let generation = state.firmware.generation();
    let cb2 = generation == Generation::Cb2;
    let short_kinematics = !first && state.short_kinematics && generation >= Generation::ESeries;
    for kind in state.firmware.sub_packages(first) {
        match kind {
            0 => package.add(&robot_mode(state))?,
            1 => package.add(&joints(state))?,
            2 => package.add(&tool(state))?,
            3 if cb2 => package.add(&masterboard_cb2(state))?,
            3 => package.add(&masterboard(state))?,
            4 => package.add(&cartesian(state))?,
            5 => package.add(&kinematics(state))?,
            6 => package.add(&configuration(state))?,
            7 => package.add(&ForceModeDataRepr { robot_dexterity: 0.5, ..ForceModeDataRepr::default() })?,
            8 => package.add(&additional())?,
            9 => package.add(&CalibrationDataRepr::default())?,
            10 => package.add(&safety(state))?,
            11 => package.add(&tool_communication(state))?,
            12 => package.add(&tool_modes())?,
            13 => package.add(&SingularityInfoRepr::default())?,
            _ => {}
        }
        if *kind == BEFORE_KINEMATICS && short_kinematics {
            package.writer.add_extended(&kinematics(state), SHORT_KINEMATICS, &package.extension)?;
        }
    }
    if deviations.unknown {
        package.writer.add_raw(UNKNOWN_SUB_PACKAGE, b"future")?;
    }
    package.writer.finish()
}

struct Packages<'a, 'b> {
    writer: RobotStateWriter<'b>,
    state: &'a Snapshot<'a>,
    extension: Vec<u8>,
}

impl Packages<'_, '_> {
    fn add<P: SubPackageRepr>(&mut self, package: &P) -> Result<(), WireError> {
        let Some(size) = self.size(P::TYPE) else { return Ok(()) };
        self.writer.add_extended(package, size, &self.extension)
    }

    fn size(&self, kind: u8) -> Option<usize> {
        let plain = size_for(kind, self.state.firmware.0)?;
        let euromap = if self.state.io.euromap67 { euromap_size(self.state.firmware.generation()) } else { 0 };
        Some(match kind {
            3 => plain + euromap,
            6 if self.state.long_configuration => LONG_CONFIGURATION,
            _ => plain,
        })
    }
}

fn euromap_size(generation: Generation) -> usize {
    if generation == Generation::Cb2 { 12 } else { 16 }
}

fn byte(raw: i32) -> u8 {
    // −1 is sent as 255.
    (raw & 0xFF) as u8
}

fn robot_mode(state: &Snapshot<'_>) -> RobotModeDataRepr {
    let robot = state.robot;
    let protective = matches!(robot.stop, Stop::Protective { .. });
    let plays = state.program_running && !state.program_paused;
    RobotModeDataRepr {
        timestamp: state.timestamp(),
        is_robot_connected: true,
        is_real_robot_enabled: true,
        is_power_on_robot: robot.powered(),
        is_emergency_stopped: robot.stop == Stop::Emergency,
        is_security_stopped: protective,
        is_protective_stopped: protective,
        is_program_running: state.program_told,
        is_program_paused: state.program_paused,
        robot_mode: byte(state.robot_mode().raw(state.firmware.generation()).unwrap_or(-1)),
        speed_fraction: robot.slider,
        control_mode: byte(state.arm.control_mode().raw()),
        target_speed_fraction: robot.slider,
        speed_scaling: if plays { state.arm.scaling * state.arm.restraint } else { 0.0 },
        target_speed_fraction_limit: 1.0,
        reserved: 0,
    }
}

fn joints(state: &Snapshot<'_>) -> JointDataRepr {
    let arm = state.arm;
    let currents = state.currents();
    let mode = byte(state.robot.joint_mode(state.now).raw());
    JointDataRepr {
        joints: std::array::from_fn(|joint| Joint {
            q_actual: arm.q[joint],
            q_target: arm.targets.q[joint],
            qd_actual: arm.qd[joint],
            i_actual: currents[joint] as f32,
            v_actual: if state.robot.powered() { 48.0 } else { 0.0 },
            t_motor: MOTOR_TEMPERATURES[joint],
            t_micro: 0.0,
            joint_mode: mode,
        }),
    }
}

fn tool(state: &Snapshot<'_>) -> ToolDataRepr {
    let io = state.io;
    ToolDataRepr {
        analog_input_range_2: io.tool_analog_in_range[0],
        analog_input_range_3: io.tool_analog_in_range[1],
        analog_input_2: io.tool_analog_in[0],
        analog_input_3: io.tool_analog_in[1],
        tool_voltage_48v: 48.0,
        tool_output_voltage: io.tool_voltage,
        tool_current: 0.006,
        tool_temperature: 40.0,
        tool_mode: byte(state.tool_mode().raw()),
    }
}

fn masterboard_cb2(state: &Snapshot<'_>) -> MasterboardDataCb2Repr {
    let io = state.io;
    MasterboardDataCb2Repr {
        // Ten bits are used.
        digital_input_bits: (io.digital_in & 0x3FF) as i16,
        digital_output_bits: (io.digital_out & 0x3FF) as i16,
        analog_input_range: io.analog_in_range,
        analog_input: io.analog_in,
        analog_output_domain: io.analog_out_domain,
        analog_output: io.analog_out,
        master_board_temperature: 23.5,
        robot_voltage_48v: if state.robot.powered() { 48.0 } else { 0.0 },
        robot_current: if state.robot.powered() { 0.7 } else { 0.0 },
        master_io_current: 0.004,
        master_safety_state: byte(state.robot.master_safety_state().raw()),
        master_on_off_state: byte(state.robot.master_on_off_state().raw()),
        euromap67_interface_installed: io.euromap67.into(),
        ..MasterboardDataCb2Repr::default()
    }
}

fn masterboard(state: &Snapshot<'_>) -> MasterboardDataRepr {
    let io = state.io;
    MasterboardDataRepr {
        digital_input_bits: io.digital_in.cast_signed(),
        digital_output_bits: io.digital_out.cast_signed(),
        analog_input_range: io.analog_in_range,
        analog_input: io.analog_in,
        analog_output_domain: io.analog_out_domain,
        analog_output: io.analog_out,
        master_board_temperature: 23.5,
        robot_voltage_48v: if state.robot.powered() { 48.0 } else { 0.0 },
        robot_current: if state.robot.powered() { 0.7 } else { 0.0 },
        master_io_current: 0.004,
        safety_mode: byte(state.robot.safety_mode().raw()),
        in_reduced_mode: (state.robot.stop == Stop::Reduced).into(),
        euromap67_interface_installed: io.euromap67.into(),
        reserved_68: SAFETY_CHECKSUM,
        reserved_74: 1,
        ..MasterboardDataRepr::default()
    }
}

fn cartesian(state: &Snapshot<'_>) -> CartesianInfoRepr {
    let [x, y, z, rx, ry, rz] = state.arm.tool().to_pose();
    let [tcp_offset_x, tcp_offset_y, tcp_offset_z, tcp_offset_rx, tcp_offset_ry, tcp_offset_rz] = state.arm.tcp;
    CartesianInfoRepr {
        x,
        y,
        z,
        rx,
        ry,
        rz,
        tcp_offset_x,
        tcp_offset_y,
        tcp_offset_z,
        tcp_offset_rx,
        tcp_offset_ry,
        tcp_offset_rz,
    }
}

/// Returns the Denavit-Hartenberg parameters a, d and alpha as the controller reports them; theta is zero.
fn denavit_hartenberg(state: &Snapshot<'_>) -> [[f64; 6]; 3] {
    let l = state.model.lengths;
    [
        [0.0, l.a2, l.a3, 0.0, 0.0, 0.0],
        [l.d1, 0.0, 0.0, l.d4, l.d5, l.d6],
        [FRAC_PI_2, 0.0, 0.0, FRAC_PI_2, -FRAC_PI_2, 0.0],
    ]
}

fn kinematics(state: &Snapshot<'_>) -> KinematicsInfoRepr {
    let [dh_a, dh_d, dh_alpha] = denavit_hartenberg(state);
    KinematicsInfoRepr {
        legacy: [1000.0; 3],
        checksum: [UNCALIBRATED; 6],
        dh_theta: [0.0; 6],
        dh_a,
        dh_d,
        dh_alpha,
        calibration_status: 0,
    }
}

fn configuration(state: &Snapshot<'_>) -> ConfigurationDataRepr {
    let [dh_a, dh_d, dh_alpha] = denavit_hartenberg(state);
    let limits = JointLimits { joint_min_limit: -POSITION_LIMIT, joint_max_limit: POSITION_LIMIT };
    ConfigurationDataRepr {
        joint_limits: [limits; 6],
        joint_dynamics: state
            .model
            .speed_limits()
            .map(|joint_max_speed| JointDynamics { joint_max_speed, joint_max_acceleration: ACCELERATION_LIMIT }),
        v_joint_default: 60_f64.to_radians(),
        a_joint_default: 80_f64.to_radians(),
        v_tool_default: 0.25,
        a_tool_default: 1.2,
        eq_radius: 0.25,
        dh_a,
        dh_d,
        dh_alpha,
        dh_theta: [0.0; 6],
        masterboard_version: 6,
        controller_box_type: 4,
        robot_type: state.model.robot_type,
        robot_sub_type: state.model.robot_sub_type,
        ..ConfigurationDataRepr::default()
    }
}

fn additional() -> AdditionalInfoRepr {
    AdditionalInfoRepr {
        ctrl_bits: 0x0001_4007,
        teach_button: 1,
        teach_button_enabled: 1,
        freedrive_button_enabled: 1,
        reserved: 1,
        ..AdditionalInfoRepr::default()
    }
}

fn safety(state: &Snapshot<'_>) -> SafetyDataRepr {
    let e_series = state.firmware.generation() >= Generation::ESeries;
    SafetyDataRepr {
        safety_checksum: SAFETY_CHECKSUM,
        flags: [e_series.into(); 2],
        elbow_position: state.arm.elbow(),
        unknown: if e_series { 0.13 } else { 0.0 },
    }
}

fn tool_communication(state: &Snapshot<'_>) -> ToolCommunicationInfoRepr {
    let line = state.io.tool_communication;
    ToolCommunicationInfoRepr {
        tool_communication_is_enabled: line.enabled,
        baud_rate: line.serial.baud_rate.cast_signed(),
        parity: line.serial.parity.into(),
        stop_bits: line.serial.stop_bits.into(),
        rx_idle_chars: line.rx_idle_chars,
        tx_idle_chars: line.tx_idle_chars,
    }
}

fn tool_modes() -> ToolModeInfoRepr {
    ToolModeInfoRepr { output_mode: 0, digital_output_mode_output_0: 1, digital_output_mode_output_1: 1 }
}

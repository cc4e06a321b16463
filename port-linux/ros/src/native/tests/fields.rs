//! The values that controllers report, by the fields of their ports.

use outrigger_wire::fields::Value;
use outrigger_wire::primary::{Joint, JointData, JointDataRepr, SubPackageRepr as _};

use crate::readings::Readings;

pub(super) type Fields = &'static [(&'static str, Value<'static>)];

/// The values of those RTDE variables from which the tested ROS topics are filled, for an arm that runs.
pub(super) const RTDE: Fields = &[
    ("timestamp", Value::F64(12.0)),
    ("target_q", Value::F64s(&[0.25; 6])),
    ("target_qd", Value::F64s(&[0.5; 6])),
    ("target_moment", Value::F64s(&[1.0; 6])),
    ("actual_q", Value::F64s(&[2.0; 6])),
    ("actual_qd", Value::F64s(&[3.0; 6])),
    ("actual_current", Value::F64s(&[9.0; 6])),
    ("actual_current_as_torque", Value::F64s(&[4.0; 6])),
    ("actual_TCP_pose", Value::F64s(&[0.1, 0.2, 0.3, 0.0, 0.0, 0.0])),
    ("actual_TCP_speed", Value::F64s(&[0.01, 0.0, 0.0, 0.0, 0.0, 0.5])),
    ("actual_TCP_force", Value::F64s(&[3.0, 4.0, 0.0, 0.0, 0.0, 0.0])),
    ("target_TCP_pose", Value::F64s(&[0.4, 0.2, 0.3, 0.0, 0.0, 0.0])),
    ("target_TCP_speed", Value::F64s(&[0.02, 0.0, 0.0, 0.0, 0.0, 0.0])),
    ("joint_temperatures", Value::F64s(&[30.0; 6])),
    ("tool_temperature", Value::F64(40.0)),
    ("control_step", Value::Unsigned(77)),
    ("actual_execution_time", Value::F64(0.25)),
    ("safety_mode", Value::Signed(5)),
    ("safety_status", Value::Signed(12)),
    ("robot_mode", Value::Signed(7)),
    ("robot_status_bits", Value::Unsigned(0b1011)),
    ("joint_mode", Value::I32s(&[253; 6])),
    ("tool_mode", Value::Unsigned(255)),
    ("runtime_state", Value::Unsigned(4)),
    ("tcp_offset", Value::F64s(&[0.0, 0.0, 0.2, 0.0, 0.0, 0.0])),
    ("payload", Value::F64(1.5)),
    ("payload_cog", Value::F64s(&[0.0, 0.0, 0.05])),
    ("payload_inertia", Value::F64s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
    ("actual_digital_input_bits", Value::Unsigned(0x2_0105)),
    ("actual_digital_output_bits", Value::Unsigned(0x1_8000)),
    ("analog_io_types", Value::Unsigned(0b0101)),
    ("standard_analog_input0", Value::F64(5.0)),
    ("standard_analog_input1", Value::F64(12.0)),
    ("standard_analog_output0", Value::F64(2.5)),
    ("standard_analog_output1", Value::F64(4.0)),
    ("tool_analog_input_types", Value::Unsigned(0b01)),
    ("tool_analog_input0", Value::F64(1.0)),
    ("tool_analog_input1", Value::F64(8.0)),
    ("tool_output_mode", Value::Unsigned(0)),
    ("tool_digital_output0_mode", Value::Unsigned(1)),
    ("tool_digital_output1_mode", Value::Unsigned(3)),
    ("tool_output_voltage", Value::Signed(24)),
    ("tool_output_current", Value::F64(60.0)),
    ("actual_robot_voltage", Value::F64(48.0)),
    ("actual_robot_current", Value::F64(0.75)),
    ("io_current", Value::F64(40.0)),
    ("actual_main_voltage", Value::F64(47.5)),
    ("actual_joint_voltage", Value::F64s(&[46.0; 6])),
    ("actual_tool_accelerometer", Value::F64s(&[0.0, 0.0, 9.5])),
    ("speed_scaling", Value::F64(0.5)),
    ("target_speed_fraction", Value::F64(0.5)),
    ("tcp_force_scalar", Value::F64(6.0)),
    ("actual_momentum", Value::F64(2.0)),
];

/// A packet of 30003 of a CB3 with 3.2.
pub(super) const CB3: Fields = &[
    ("time", Value::F64(2.0)),
    ("q_target", Value::F64s(&[0.25; 6])),
    ("qd_target", Value::F64s(&[0.5; 6])),
    ("m_target", Value::F64s(&[1.0; 6])),
    ("q_actual", Value::F64s(&[2.0; 6])),
    ("qd_actual", Value::F64s(&[3.0; 6])),
    ("i_actual", Value::F64s(&[4.0; 6])),
    ("tool_vector_actual", Value::F64s(&[0.1, 0.2, 0.3, 0.0, 0.0, 0.0])),
    ("tcp_speed_actual", Value::F64s(&[0.0; 6])),
    ("tcp_force", Value::F64s(&[3.0, 4.0, 0.0, 0.0, 0.0, 0.0])),
    ("tool_vector_target", Value::F64s(&[0.1, 0.2, 0.3, 0.0, 0.0, 0.0])),
    ("tcp_speed_target", Value::F64s(&[0.0; 6])),
    ("digital_input_bits", Value::Mask(3)),
    ("motor_temperatures", Value::F64s(&[30.0; 6])),
    ("controller_timer", Value::F64(0.001)),
    ("robot_mode", Value::F64(7.0)),
    ("joint_modes", Value::F64s(&[253.0; 6])),
    ("safety_mode", Value::F64(1.0)),
    ("tool_accelerometer_values", Value::F64s(&[0.0, 0.0, 9.5])),
    ("speed_scaling", Value::F64(0.75)),
    ("linear_momentum_norm", Value::F64(2.0)),
    ("v_main", Value::F64(47.5)),
    ("v_robot", Value::F64(48.0)),
    ("i_robot", Value::F64(0.5)),
    ("v_actual", Value::F64s(&[46.0; 6])),
    ("digital_outputs", Value::Mask(0x100)),
    ("program_state", Value::F64(2.0)),
];

/// A packet of 30003 of a CB2 with 1.8.
pub(super) const CB2: Fields = &[
    ("time", Value::F64(2.0)),
    ("q_target", Value::F64s(&[0.25; 6])),
    ("qd_target", Value::F64s(&[0.5; 6])),
    ("m_target", Value::F64s(&[1.0; 6])),
    ("q_actual", Value::F64s(&[2.0; 6])),
    ("qd_actual", Value::F64s(&[3.0; 6])),
    ("tool_accelerometer_values", Value::F64s(&[0.0, 0.0, 9.5])),
    ("tcp_force", Value::F64s(&[0.0; 6])),
    ("tool_vector", Value::F64s(&[0.1, 0.2, 0.3, 0.0, 0.0, 0.0])),
    ("tcp_speed", Value::F64s(&[0.0; 6])),
    ("digital_input_bits", Value::Mask(0x201)),
    ("motor_temperatures", Value::F64s(&[30.0; 6])),
    ("controller_timer", Value::F64(0.0256)),
    ("robot_mode", Value::F64(0.0)),
    ("joint_modes", Value::F64s(&[253.0; 6])),
];

/// Stores the sub-packages of one message of 30002 as readings.
pub(super) fn primary(readings: &mut Readings, is_cb2: bool) {
    let mut part = |name: &str, fields: &[(&str, Value<'_>)]| {
        readings.sub_package(name, 0, |visitor| fields.iter().for_each(|(name, value)| visitor.field(name, *value)));
    };
    let mode = if is_cb2 { 0 } else { 7 };
    let speed = if is_cb2 { "speed_fraction" } else { "target_speed_fraction" };
    part(
        "robot_mode_data",
        &[
            ("is_power_on_robot", Value::Bool(true)),
            ("is_program_running", Value::Bool(true)),
            ("is_program_paused", Value::Bool(true)),
            ("robot_mode", Value::Unsigned(mode)),
            (speed, Value::F64(0.5)),
        ],
    );
    part("cartesian_info", &[("x", Value::F64(0.5)), ("tcp_offset_z", Value::F64(0.1)), ("rz", Value::F64(0.0))]);
    part(
        "masterboard_data",
        &[
            ("digital_input_bits", Value::Signed(1)),
            ("digital_output_bits", Value::Signed(0)),
            ("analog_input", Value::F64s(&[1.0, 2.0])),
            ("analog_output_domain", Value::Bytes(&[0, 1])),
            ("analog_output", Value::F64s(&[0.004, 5.0])),
            ("robot_voltage_48v", Value::F32(48.0)),
            ("robot_current", Value::F32(0.5)),
            ("master_io_current", Value::F32(0.25)),
            ("safety_mode", Value::Unsigned(1)),
        ],
    );
    part(
        "tool_data",
        &[
            ("tool_output_voltage", Value::Unsigned(24)),
            ("tool_current", Value::F32(0.5)),
            ("tool_temperature", Value::F32(40.0)),
            ("tool_mode", Value::Unsigned(253)),
        ],
    );
    part("additional_info", &[("teach_button_pressed", Value::Unsigned(1))]);
    part(
        "tool_mode_info",
        &[
            ("output_mode", Value::Unsigned(1)),
            ("digital_output_mode_output_0", Value::Unsigned(2)),
            ("digital_output_mode_output_1", Value::Unsigned(3)),
        ],
    );
    let joint = Joint {
        q_actual: 0.25,
        q_target: 0.5,
        qd_actual: 0.125,
        i_actual: 1.0,
        v_actual: 48.0,
        t_motor: 30.0,
        joint_mode: 253,
        ..Default::default()
    };
    let mut bytes = [0; 251];
    JointDataRepr { joints: [joint; 6] }.emit(251, &mut bytes).expect("room");
    let data = JointData::new_checked(&bytes).expect("whole");
    readings.sub_package("joint_data", 0, |visitor| data.visit(visitor));
}

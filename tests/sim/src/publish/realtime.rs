//! The packet of 30003 and 30013: the state of the control cycle just finished.

use outrigger_wire::realtime::Repr;

use super::Snapshot;

/// The execution time of the real-time thread \[s\], recorded on a real controller.
const CONTROLLER_TIMER: f64 = 0.0256;
/// The content of the packet's field `test_value`, which is internal to the vendor; recorded on a real controller.
const TEST_VALUE: f64 = 8.0;
/// The acceleration of gravity \[m/s²\]. At rest the tool's accelerometer measures this magnitude, directed upwards.
const GRAVITY: f64 = 9.82;

/// Returns a real-time packet with every field that the simulator has a value for; other fields are zero. Only
/// [`Repr::emit`] leaves out the fields that the controller's software does not have.
pub(crate) fn packet(state: &Snapshot<'_>) -> Repr {
    let Snapshot { arm, robot, io, .. } = state;
    let generation = state.firmware.generation();
    let tool = arm.tool();
    let pose = tool.to_pose();
    let speed = arm.tool_speed();
    let number = |raw: i32| f64::from(raw);
    let mode = number(state.robot_mode().raw(generation).unwrap_or(-1));
    let up = tool.rotation.inverse().turn([0.0, 0.0, GRAVITY]);
    let volts = if robot.powered() { 48.0 } else { 0.0 };
    Repr {
        time: state.controller_micros as f64 * 1e-6,
        q_target: arm.targets.q,
        qd_target: arm.targets.qd,
        qdd_target: arm.targets.qdd,
        i_target: state.currents(),
        m_target: state.moments(),
        q_actual: arm.q,
        qd_actual: arm.qd,
        i_actual: state.currents(),
        i_control: state.currents(),
        cb2_tool_accelerometer_values: up,
        tool_accelerometer_values: up,
        tool_vector: pose,
        tool_vector_actual: pose,
        tool_vector_target: arm.tool_target(),
        tcp_speed: speed,
        tcp_speed_actual: speed,
        tcp_speed_target: arm.tool_speed_target(),
        tcp_force: state.force.published(),
        digital_input_bits: io.digital_in.into(),
        digital_outputs: io.digital_out.into(),
        motor_temperatures: super::MOTOR_TEMPERATURES.map(f64::from),
        controller_timer: CONTROLLER_TIMER,
        test_value: TEST_VALUE,
        robot_mode: mode,
        joint_modes: [number(robot.joint_mode(state.now).raw()); 6],
        safety_mode: number(robot.safety_mode().raw()),
        safety_status: number(robot.safety_status().raw()),
        speed_scaling: state.limiter(),
        v_main: volts,
        v_robot: volts,
        i_robot: if robot.powered() { 0.7 } else { 0.0 },
        v_actual: [volts; 6],
        program_state: number(state.program_state.raw()),
        elbow_position: arm.elbow(),
        elbow_velocity: arm.elbow_speed(),
        payload_mass: io.payload,
        payload_cog: io.payload_cog,
        payload_inertia: io.payload_inertia,
        ..Repr::default()
    }
}

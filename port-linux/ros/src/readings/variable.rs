//! What a robot tells, by the names of RTDE, and which fields of the other ports are the same.

macro_rules! variables {
    ($( $(#[$doc:meta])* $name:ident: $($field:literal)|+; )*) => {
        /// A variable, by the name of RTDE.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Variable {
            $( $(#[$doc])* $name, )*
        }

        /// How many variables there are.
        pub(super) const COUNT: usize = [$( Variable::$name, )*].len();

        impl Variable {
            /// The one that a field of a state is; fields of 30003 and of FRI have names of their own.
            pub(super) fn of(field: &str) -> Option<Self> {
                match field {
                    $( $($field)|+ => Some(Self::$name), )*
                    _ => None,
                }
            }
        }
    };
}

variables! {
    /// 1 where the arm is connected; by 30001 and 30002.
    RobotConnected: "is_robot_connected";
    /// 1 where it is a real arm, 0 for a simulation of the controller's own; by 30001 and 30002.
    RealRobotEnabled: "is_real_robot_enabled";
    /// 1 automatic or remote, see `ControlMode`; by 30001 and 30002 from 3.0 on.
    ControlMode: "control_mode";
    /// °C; by 30001 and 30002.
    MasterBoardTemperature: "master_board_temperature";
    /// The ranges of the box inputs; by 30001 and 30002.
    AnalogInputRange: "analog_input_range";
    /// 8 is OK; by 30001 and 30002 of 1.6 to 1.8.
    MasterSafetyState: "master_safety_state";
    /// 2 is ON; by 30001 and 30002 of 1.6 to 1.8.
    MasterOnOffState: "master_on_off_state";
    /// s, since the controller was started.
    Timestamp: "timestamp" | "time";
    /// rad.
    TargetQ: "target_q" | "q_target" | "cmd_jnt_pos";
    /// rad/s.
    TargetQd: "target_qd" | "qd_target";
    /// Nm.
    TargetMoment: "target_moment" | "m_target";
    /// rad.
    ActualQ: "actual_q" | "q_actual" | "msr_jnt_pos";
    /// rad/s.
    ActualQd: "actual_qd" | "qd_actual";
    /// A.
    ActualCurrent: "actual_current" | "i_actual";
    /// Nm.
    ActualTorque: "actual_current_as_torque" | "msr_jnt_trq";
    /// m and a rotation vector, in the base frame.
    ActualTcpPose: "actual_TCP_pose" | "tool_vector_actual" | "tool_vector";
    /// m/s, rad/s.
    ActualTcpSpeed: "actual_TCP_speed" | "tcp_speed_actual" | "tcp_speed";
    /// N, Nm, along the base's axes.
    ActualTcpForce: "actual_TCP_force" | "tcp_force" | "est_ext_tcp_ft";
    /// m and a rotation vector, in the base frame.
    TargetTcpPose: "target_TCP_pose" | "tool_vector_target";
    /// m/s, rad/s.
    TargetTcpSpeed: "target_TCP_speed" | "tcp_speed_target";
    /// °C.
    JointTemperatures: "joint_temperatures" | "motor_temperatures" | "temperature";
    /// s; by RTDE ms.
    ActualExecutionTime: "actual_execution_time" | "controller_timer";
    /// Cycles of the controller.
    ControlStep: "control_step";
    /// As the controller numbers it.
    RobotMode: "robot_mode";
    /// As the controller numbers them.
    JointMode: "joint_mode" | "joint_modes";
    /// As the controller numbers it.
    SafetyMode: "safety_mode";
    /// As the controller numbers it.
    SafetyStatus: "safety_status";
    /// As the controller numbers it.
    ToolMode: "tool_mode";
    /// 1 stopped, 2 playing, 3 pausing, 4 paused, 5 resuming.
    RuntimeState: "runtime_state" | "program_state";
    /// 1 while a program is paused; by 30001 and 30002.
    ProgramPaused: "is_program_paused";
    /// 1 while it is pressed; by 30001 and 30002 of versions 1.8 to 3.4.
    TeachButton: "teach_button_pressed";
    /// 0 power on, 1 program running, 2 teach button, 3 power button; the buttons by RTDE alone.
    RobotStatusBits: "robot_status_bits";
    /// 0 … 1.
    SpeedScaling: "speed_scaling";
    /// 0 … 1.
    TargetSpeedFraction: "target_speed_fraction";
    /// kg·m/s.
    ActualMomentum: "actual_momentum" | "linear_momentum_norm";
    /// V.
    ActualMainVoltage: "actual_main_voltage" | "v_main";
    /// V.
    ActualRobotVoltage: "actual_robot_voltage" | "v_robot";
    /// A.
    ActualRobotCurrent: "actual_robot_current" | "i_robot";
    /// V.
    ActualJointVoltage: "actual_joint_voltage" | "v_actual";
    /// A; by RTDE mA.
    IoCurrent: "io_current";
    /// m/s².
    ActualToolAccelerometer: "actual_tool_accelerometer" | "tool_accelerometer_values";
    /// N.
    TcpForceScalar: "tcp_force_scalar";
    /// Standard 0–7, configurable 8–15, tool 16–17.
    DigitalInputBits: "actual_digital_input_bits" | "digital_input_bits";
    /// The same.
    DigitalOutputBits: "actual_digital_output_bits" | "digital_outputs";
    /// Bit set: V, else A. Inputs 0 and 1, outputs 0 and 1.
    AnalogIoTypes: "analog_io_types";
    /// V or A; by RTDE V or mA.
    AnalogInput0: "standard_analog_input0";
    /// V or A; by RTDE V or mA.
    AnalogInput1: "standard_analog_input1";
    /// V or A; by RTDE V or mA.
    AnalogOutput0: "standard_analog_output0";
    /// V or A; by RTDE V or mA.
    AnalogOutput1: "standard_analog_output1";
    /// Bit set: V, else A.
    ToolAnalogInputTypes: "tool_analog_input_types";
    /// V or A; by RTDE V or mA.
    ToolAnalogInput0: "tool_analog_input0";
    /// V or A; by RTDE V or mA.
    ToolAnalogInput1: "tool_analog_input1";
    /// V.
    ToolOutputVoltage: "tool_output_voltage";
    /// A; by RTDE mA.
    ToolOutputCurrent: "tool_output_current";
    /// °C.
    ToolTemperature: "tool_temperature";
    /// V, of the tool board's supply.
    ToolVoltage48: "tool_voltage_48v";
    /// 0 digital outputs, 1 power at both pins.
    ToolOutputMode: "tool_output_mode";
    /// 1 sinking, 2 sourcing, 3 push-pull.
    ToolDigitalOutput0Mode: "tool_digital_output0_mode" | "digital_output_mode_output_0";
    /// The same.
    ToolDigitalOutput1Mode: "tool_digital_output1_mode" | "digital_output_mode_output_1";
    /// m and a rotation vector, in the flange's frame.
    TcpOffset: "tcp_offset";
    /// kg.
    Payload: "payload" | "payload_mass";
    /// m, in the flange's frame.
    PayloadCog: "payload_cog";
    /// kg·m²: xx, yy, zz, xy, xz, yz.
    PayloadInertia: "payload_inertia";
    /// rad, of the arm's own geometry.
    DhTheta: "dh_theta";
    /// m.
    DhA: "dh_a";
    /// m.
    DhD: "dh_d";
    /// rad.
    DhAlpha: "dh_alpha";
    /// m: three rows of a frame, of a KRC.
    MeasuredFrame: "msr_cart_pos";
}

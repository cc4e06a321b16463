//! The variables that a robot reports, under the names of RTDE, with the equivalent fields of the other ports.

macro_rules! variables {
    ($( $(#[$doc:meta])* $name:ident: $($field:literal)|+; )*) => {
        /// A variable that a robot reports, named as in RTDE.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Variable {
            $( $(#[$doc])* $name, )*
        }

        /// The number of variables that a robot may report.
        pub(super) const COUNT: usize = [$( Variable::$name, )*].len();

        impl Variable {
            /// Returns the variable for the name of a field of a robot state; `None` for an unknown field. Fields of
            /// 30003 and of FRI have names of their own.
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
    /// 1 if the controller is connected to the arm; on ports 30001 and 30002.
    RobotConnected: "is_robot_connected";
    /// 1 for a real arm, 0 for the controller's own simulation; on 30001 and 30002.
    RealRobotEnabled: "is_real_robot_enabled";
    /// The control mode of the joints: 0 position, 1 teach, 2 force, 3 torque; on 30001 and 30002 from 3.0 on.
    ControlMode: "control_mode";
    /// The temperature of the controller's master board \[°C\]; on ports 30001 and 30002.
    MasterBoardTemperature: "master_board_temperature";
    /// The range numbers of the control box's analog inputs 0 and 1; on 30001 and 30002.
    AnalogInputRange: "analog_input_range";
    /// The safety state of the master board: 8 is OK; on 30001 and 30002 of 1.6 to 1.8.
    MasterSafetyState: "master_safety_state";
    /// The power state of the master board: 2 is ON; on 30001 and 30002 of 1.6 to 1.8.
    MasterOnOffState: "master_on_off_state";
    /// The time since the controller was started \[s\].
    Timestamp: "timestamp" | "time";
    /// The joint positions that the controller aims for \[rad\].
    TargetQ: "target_q" | "q_target" | "cmd_jnt_pos";
    /// The joint velocities that the controller aims for \[rad/s\].
    TargetQd: "target_qd" | "qd_target";
    /// The joint torques that the controller aims for \[Nm\].
    TargetMoment: "target_moment" | "m_target";
    /// The measured joint positions \[rad\].
    ActualQ: "actual_q" | "q_actual" | "msr_jnt_pos";
    /// The measured joint velocities \[rad/s\].
    ActualQd: "actual_qd" | "qd_actual";
    /// The measured joint currents \[A\].
    ActualCurrent: "actual_current" | "i_actual";
    /// The measured joint torques \[Nm\].
    ActualTorque: "actual_current_as_torque" | "msr_jnt_trq";
    /// The measured pose of the tool's centre point in the base frame: position \[m\] and rotation vector \[rad\].
    ActualTcpPose: "actual_TCP_pose" | "tool_vector_actual" | "tool_vector";
    /// The measured speed of the tool's centre point \[m/s, rad/s\].
    ActualTcpSpeed: "actual_TCP_speed" | "tcp_speed_actual" | "tcp_speed";
    /// The force and torque at the tool's centre point, along the base's axes \[N, Nm\].
    ActualTcpForce: "actual_TCP_force" | "tcp_force" | "est_ext_tcp_ft";
    /// The target pose of the tool's centre point in the base frame: position \[m\] and rotation vector \[rad\].
    TargetTcpPose: "target_TCP_pose" | "tool_vector_target";
    /// The speed of the tool's centre point that the controller aims for \[m/s, rad/s\].
    TargetTcpSpeed: "target_TCP_speed" | "tcp_speed_target";
    /// The temperatures of the joint motors \[°C\].
    JointTemperatures: "joint_temperatures" | "motor_temperatures" | "temperature";
    /// The duration of the controller's last cycle \[s\]; by RTDE \[ms\].
    ActualExecutionTime: "actual_execution_time" | "controller_timer";
    /// The number of the controller's cycle.
    ControlStep: "control_step";
    /// The robot mode, as the controller numbers it.
    RobotMode: "robot_mode";
    /// The modes of the joints, as the controller numbers them.
    JointMode: "joint_mode" | "joint_modes";
    /// The safety mode, as the controller numbers it.
    SafetyMode: "safety_mode";
    /// The safety status, as the controller numbers it.
    SafetyStatus: "safety_status";
    /// The mode of the tool, as the controller numbers it.
    ToolMode: "tool_mode";
    /// The state of the program: 1 stopped, 2 playing, 3 pausing, 4 paused, 5 resuming.
    RuntimeState: "runtime_state" | "program_state";
    /// 1 while the controller's program is paused; on ports 30001 and 30002.
    ProgramPaused: "is_program_paused";
    /// 1 while the teach button is pressed; on 30001 and 30002 of versions 1.8 to 3.4.
    TeachButton: "teach_button_pressed";
    /// The robot's status bits: 0 power on, 1 program running, 2 teach button, 3 power button; the buttons by RTDE
    /// alone.
    RobotStatusBits: "robot_status_bits";
    /// The factor by which the controller scales the speed of motions, 0 … 1.
    SpeedScaling: "speed_scaling";
    /// The position of the speed slider, 0 … 1.
    TargetSpeedFraction: "target_speed_fraction";
    /// The magnitude of the arm's linear momentum \[kg·m/s\].
    ActualMomentum: "actual_momentum" | "linear_momentum_norm";
    /// The voltage of the controller's safety board \[V\].
    ActualMainVoltage: "actual_main_voltage" | "v_main";
    /// The voltage of the arm's supply \[V\].
    ActualRobotVoltage: "actual_robot_voltage" | "v_robot";
    /// The current of the arm's supply \[A\].
    ActualRobotCurrent: "actual_robot_current" | "i_robot";
    /// The measured voltages of the joints \[V\].
    ActualJointVoltage: "actual_joint_voltage" | "v_actual";
    /// The current of the control box's inputs and outputs \[A\]; by RTDE \[mA\].
    IoCurrent: "io_current";
    /// The acceleration measured at the tool \[m/s²\].
    ActualToolAccelerometer: "actual_tool_accelerometer" | "tool_accelerometer_values";
    /// The magnitude of the force at the tool's centre point \[N\].
    TcpForceScalar: "tcp_force_scalar";
    /// The digital inputs as bits: standard 0–7, configurable 8–15, tool 16–17.
    DigitalInputBits: "actual_digital_input_bits" | "digital_input_bits";
    /// The digital outputs as bits: standard 0–7, configurable 8–15, tool 16–17.
    DigitalOutputBits: "actual_digital_output_bits" | "digital_outputs";
    /// The domains of the control box's analog inputs 0 and 1 (bits 0 and 1; by RTDE alone) and analog outputs 0 and 1
    /// (bits 2 and 3): a bit is set for V, else A.
    AnalogIoTypes: "analog_io_types";
    /// Analog input 0 of the control box \[V or A\]; by RTDE \[V or mA\].
    AnalogInput0: "standard_analog_input0";
    /// Analog input 1 of the control box \[V or A\]; by RTDE \[V or mA\].
    AnalogInput1: "standard_analog_input1";
    /// Analog output 0 of the control box \[V or A\]; by RTDE \[V or mA\].
    AnalogOutput0: "standard_analog_output0";
    /// Analog output 1 of the control box \[V or A\]; by RTDE \[V or mA\].
    AnalogOutput1: "standard_analog_output1";
    /// The domains of the tool's analog inputs as bits: set for V, else A.
    ToolAnalogInputTypes: "tool_analog_input_types";
    /// Analog input 0 of the tool \[V or A\]; by RTDE \[V or mA\].
    ToolAnalogInput0: "tool_analog_input0";
    /// Analog input 1 of the tool \[V or A\]; by RTDE \[V or mA\].
    ToolAnalogInput1: "tool_analog_input1";
    /// The supply voltage at the tool's connector \[V\].
    ToolOutputVoltage: "tool_output_voltage";
    /// The supply current at the tool's connector \[A\]; by RTDE \[mA\].
    ToolOutputCurrent: "tool_output_current";
    /// The temperature of the tool \[°C\].
    ToolTemperature: "tool_temperature";
    /// The voltage of the tool board's supply \[V\].
    ToolVoltage48: "tool_voltage_48v";
    /// The mode of the tool's outputs: 0 digital outputs, 1 power at both pins.
    ToolOutputMode: "tool_output_mode";
    /// The mode of the tool's digital output 0: 1 sinking, 2 sourcing, 3 push-pull.
    ToolDigitalOutput0Mode: "tool_digital_output0_mode" | "digital_output_mode_output_0";
    /// The mode of the tool's digital output 1: 1 sinking, 2 sourcing, 3 push-pull.
    ToolDigitalOutput1Mode: "tool_digital_output1_mode" | "digital_output_mode_output_1";
    /// The tool's centre point in the flange's frame: position \[m\] and rotation vector \[rad\].
    TcpOffset: "tcp_offset";
    /// The mass of the payload at the tool \[kg\].
    Payload: "payload" | "payload_mass";
    /// The centre of gravity of the payload in the flange's frame \[m\].
    PayloadCog: "payload_cog";
    /// The inertia of the payload \[kg·m²\]: xx, yy, zz, xy, xz, yz.
    PayloadInertia: "payload_inertia";
    /// The Denavit–Hartenberg angles θ of the arm's own geometry \[rad\].
    DhTheta: "dh_theta";
    /// The Denavit–Hartenberg lengths a of the arm's own geometry \[m\].
    DhA: "dh_a";
    /// The Denavit–Hartenberg shifts d of the arm's own geometry \[m\].
    DhD: "dh_d";
    /// The Denavit–Hartenberg twists α of the arm's own geometry \[rad\].
    DhAlpha: "dh_alpha";
    /// The measured pose of a KRC's tool as a frame: three rows of four values, positions in \[m\].
    MeasuredFrame: "msr_cart_pos";
}

//! The messages of `ur_msgs`, and those of `ur_dashboard_msgs` that report robot states.

use super::{
    Action, Header, Inertia, JointTolerance, JointTrajectory, JointTrajectoryPoint, Nothing, PoseStamped, Span, Twist,
    Vector3, Vector3Stamped, Wrench, services,
};

messages! {
    /// The value of one analog pin: `domain` 0 is a current, 1 a voltage.
    #[derive(Copy)]
    Analog = "ur_msgs/msg/Analog" { pin: u8, domain: u8, state: f32 }
    #[derive(Copy, Eq)]
    Digital = "ur_msgs/msg/Digital" { pin: u8, state: bool }
    IOStates = "ur_msgs/msg/IOStates" {
        digital_in_states: Vec<Digital>,
        digital_out_states: Vec<Digital>,
        flag_states: Vec<Digital>,
        analog_in_states: Vec<Analog>,
        analog_out_states: Vec<Analog>,
    }
    #[derive(Copy)]
    ToolDataMsg = "ur_msgs/msg/ToolDataMsg" {
        analog_input_range2: i8,
        analog_input_range3: i8,
        analog_input2: f64,
        analog_input3: f64,
        tool_voltage_48v: f32,
        tool_output_voltage: u8,
        tool_current: f32,
        tool_temperature: f32,
        tool_mode: u8,
    }
    #[derive(Copy)]
    MasterboardDataMsg = "ur_msgs/msg/MasterboardDataMsg" {
        digital_input_bits: u32,
        digital_output_bits: u32,
        analog_input_range0: i8,
        analog_input_range1: i8,
        analog_input0: f64,
        analog_input1: f64,
        analog_output_domain0: i8,
        analog_output_domain1: i8,
        analog_output0: f64,
        analog_output1: f64,
        masterboard_temperature: f32,
        robot_voltage_48v: f32,
        robot_current: f32,
        master_io_current: f32,
        master_safety_state: u8,
        master_onoff_state: u8,
    }
    #[derive(Copy, Eq)]
    RobotModeDataMsg = "ur_msgs/msg/RobotModeDataMsg" {
        timestamp: u64,
        is_robot_connected: bool,
        is_real_robot_enabled: bool,
        is_power_on_robot: bool,
        is_emergency_stopped: bool,
        is_protective_stopped: bool,
        is_program_running: bool,
        is_program_paused: bool,
    }
    /// The summary of the robot's state. `mode`: 1 manual, 2 automatic, -1 unknown. Every other value except the
    /// last: -1 unknown, 0 off, 1 on.
    RobotStatus = "industrial_msgs/msg/RobotStatus" {
        header: Header,
        mode: i8,
        e_stopped: i8,
        drives_powered: i8,
        motion_possible: i8,
        in_motion: i8,
        in_error: i8,
        error_code: i32,
    }
    #[derive(Copy, Eq)]
    RobotModeMsg = "ur_dashboard_msgs/msg/RobotMode" { mode: i8 }
    #[derive(Copy, Eq)]
    SafetyModeMsg = "ur_dashboard_msgs/msg/SafetyMode" { mode: u8 }

    #[derive(Copy)]
    SetIORequest = "ur_msgs/srv/SetIO_Request" { fun: i8, pin: i8, state: f32 }
    #[derive(Copy, Eq)]
    SetIOResponse = "ur_msgs/srv/SetIO_Response" { success: bool }
    #[derive(Copy)]
    SetAnalogOutputRequest = "ur_msgs/srv/SetAnalogOutput_Request" { data: Analog }
    #[derive(Copy, Eq)]
    SetAnalogOutputResponse = "ur_msgs/srv/SetAnalogOutput_Response" { success: bool }
    #[derive(Copy)]
    SetSpeedSliderRequest = "ur_msgs/srv/SetSpeedSliderFraction_Request" { speed_slider_fraction: f64 }
    #[derive(Copy, Eq)]
    SetSpeedSliderResponse = "ur_msgs/srv/SetSpeedSliderFraction_Response" { success: bool }
    /// A request to set the payload in the layout of `ur_msgs` until version 2.5.
    #[derive(Copy)]
    SetPayloadShort = "ur_msgs/srv/SetPayload_Request" { mass: f32, center_of_gravity: Vector3 }
    /// A request to set the payload in the layout of `ur_msgs` 2.6: Humble to Lyrical.
    #[derive(Copy)]
    SetPayloadRequest = "ur_msgs/srv/SetPayload_Request" {
        mass: f32,
        center_of_gravity: Vector3,
        ixx: f64, iyy: f64, izz: f64, ixy: f64, ixz: f64, iyz: f64,
        transition_time: Span,
    }
    /// A request to set the payload in the layout of `ur_msgs` from version 3.0 on: Rolling.
    #[derive(Copy)]
    SetPayloadInertia = "ur_msgs/srv/SetPayload_Request" { payload: Inertia, transition_time: Span }
    #[derive(Copy, Eq)]
    SetPayloadResponse = "ur_msgs/srv/SetPayload_Response" { success: bool }
    SetForceModeRequest = "ur_msgs/srv/SetForceMode_Request" {
        task_frame: PoseStamped,
        selection_vector_x: bool, selection_vector_y: bool, selection_vector_z: bool,
        selection_vector_rx: bool, selection_vector_ry: bool, selection_vector_rz: bool,
        wrench: Wrench,
        r#type: u8,
        speed_limits: Twist,
        deviation_limits: [f32; 6],
        damping_factor: f32,
        gain_scaling: f32,
    }
    #[derive(Copy, Eq)]
    SetForceModeResponse = "ur_msgs/srv/SetForceMode_Response" { success: bool }
    #[derive(Copy, Eq)]
    SoftwareVersionResponse = "ur_msgs/srv/GetRobotSoftwareVersion_Response" {
        major: u32, minor: u32, bugfix: u32, build: u32,
    }
    SetGravityRequest = "ur_msgs/srv/SetGravity_Request" { gravity: Vector3Stamped }
    #[derive(Eq)]
    SetGravityResponse = "ur_msgs/srv/SetGravity_Response" { success: bool, status: String }

    UntilGoal = "ur_msgs/action/FollowJointTrajectoryUntil_Goal" {
        trajectory: JointTrajectory,
        path_tolerance: Vec<JointTolerance>,
        goal_tolerance: Vec<JointTolerance>,
        goal_time_tolerance: Span,
        until_type: u8,
    }
    /// The result of a motion that ends at a condition. `until_condition_result`: 0 the condition occurred, 1 it did
    /// not.
    #[derive(Eq)]
    UntilResult = "ur_msgs/action/FollowJointTrajectoryUntil_Result" {
        error_code: i32, until_condition_result: i32, error_string: String,
    }
    SendScriptGoal = "ur_msgs/action/SendScript_Goal" {
        program: String, script_name: String, start_timeout: Span, fail_on_warnings: bool,
    }
    #[derive(Eq)]
    SendScriptResult = "ur_msgs/action/SendScript_Result" { success: bool, message: String }
    UntilFeedback = "ur_msgs/action/FollowJointTrajectoryUntil_Feedback" {
        header: Header,
        joint_names: Vec<String>,
        desired: JointTrajectoryPoint,
        actual: JointTrajectoryPoint,
        error: JointTrajectoryPoint,
    }
}

services! {
    SetIO = "ur_msgs/srv/SetIO": SetIORequest => SetIOResponse;
    SetAnalogOutput = "ur_msgs/srv/SetAnalogOutput": SetAnalogOutputRequest => SetAnalogOutputResponse;
    SetSpeedSliderFraction = "ur_msgs/srv/SetSpeedSliderFraction": SetSpeedSliderRequest => SetSpeedSliderResponse;
    SetPayload = "ur_msgs/srv/SetPayload": SetPayloadRequest => SetPayloadResponse;
    SetForceMode = "ur_msgs/srv/SetForceMode": SetForceModeRequest => SetForceModeResponse;
    GetRobotSoftwareVersion = "ur_msgs/srv/GetRobotSoftwareVersion": Nothing => SoftwareVersionResponse;
    SetGravity = "ur_msgs/srv/SetGravity": SetGravityRequest => SetGravityResponse;
}

/// The action type `ur_msgs/action/ToolContact`: waits for a contact of the tool.
#[derive(Clone, Copy, Debug)]
pub enum ToolContact {}

impl Action for ToolContact {
    const TYPE: &'static str = "ur_msgs/action/ToolContact";
    type Goal = Nothing;
    type Result = Nothing;
    type Feedback = Nothing;
}

/// The action type `ur_msgs/action/FollowJointTrajectoryUntil`: follows a trajectory until an event.
#[derive(Clone, Copy, Debug)]
pub enum FollowJointTrajectoryUntil {}

impl Action for FollowJointTrajectoryUntil {
    const TYPE: &'static str = "ur_msgs/action/FollowJointTrajectoryUntil";
    type Goal = UntilGoal;
    type Result = UntilResult;
    type Feedback = UntilFeedback;
}

/// The action type `ur_msgs/action/SendScript`: runs a URScript program on the controller.
#[derive(Clone, Copy, Debug)]
pub enum SendScript {}

impl Action for SendScript {
    const TYPE: &'static str = "ur_msgs/action/SendScript";
    type Goal = SendScriptGoal;
    type Result = SendScriptResult;
    type Feedback = Nothing;
}

//! The messages of `trajectory_msgs` and `control_msgs`.

use super::{Header, Span, Time, Transform, TriggerRequest, Twist, services};

messages! {
    JointTrajectoryPoint = "trajectory_msgs/msg/JointTrajectoryPoint" {
        positions: Vec<f64>, velocities: Vec<f64>, accelerations: Vec<f64>, effort: Vec<f64>, time_from_start: Span,
    }
    JointTrajectory = "trajectory_msgs/msg/JointTrajectory" {
        header: Header, joint_names: Vec<String>, points: Vec<JointTrajectoryPoint>,
    }
    MultiDofPoint = "trajectory_msgs/msg/MultiDOFJointTrajectoryPoint" {
        transforms: Vec<Transform>, velocities: Vec<Twist>, accelerations: Vec<Twist>, time_from_start: Span,
    }
    MultiDofTrajectory = "trajectory_msgs/msg/MultiDOFJointTrajectory" {
        header: Header, joint_names: Vec<String>, points: Vec<MultiDofPoint>,
    }
    JointTolerance = "control_msgs/msg/JointTolerance" {
        name: String, position: f64, velocity: f64, acceleration: f64,
    }
    JointComponentTolerance = "control_msgs/msg/JointComponentTolerance" {
        joint_name: String, component: u16, position: f64, velocity: f64, acceleration: f64,
    }
    FollowGoal = "control_msgs/action/FollowJointTrajectory_Goal" {
        trajectory: JointTrajectory,
        multi_dof_trajectory: MultiDofTrajectory,
        path_tolerance: Vec<JointTolerance>,
        component_path_tolerance: Vec<JointComponentTolerance>,
        goal_tolerance: Vec<JointTolerance>,
        component_goal_tolerance: Vec<JointComponentTolerance>,
        goal_time_tolerance: Span,
    }
    FollowResult = "control_msgs/action/FollowJointTrajectory_Result" { error_code: i32, error_string: String }
    /// The feedback of `FollowJointTrajectory` in the layout of Humble and Jazzy.
    FollowFeedback = "control_msgs/action/FollowJointTrajectory_Feedback" {
        header: Header,
        joint_names: Vec<String>,
        desired: JointTrajectoryPoint,
        actual: JointTrajectoryPoint,
        error: JointTrajectoryPoint,
        multi_dof_joint_names: Vec<String>,
        multi_dof_desired: MultiDofPoint,
        multi_dof_actual: MultiDofPoint,
        multi_dof_error: MultiDofPoint,
    }
    /// The feedback of `FollowJointTrajectory` in the layout from Kilted on.
    FollowFeedbackIndexed = "control_msgs/action/FollowJointTrajectory_Feedback" {
        header: Header,
        joint_names: Vec<String>,
        desired: JointTrajectoryPoint,
        actual: JointTrajectoryPoint,
        error: JointTrajectoryPoint,
        index: i32,
        multi_dof_joint_names: Vec<String>,
        multi_dof_desired: MultiDofPoint,
        multi_dof_actual: MultiDofPoint,
        multi_dof_error: MultiDofPoint,
        multi_dof_index: i32,
    }
    /// The state of a trajectory controller in the layout from Jazzy on.
    ControllerState = "control_msgs/msg/JointTrajectoryControllerState" {
        header: Header,
        joint_names: Vec<String>,
        reference: JointTrajectoryPoint,
        feedback: JointTrajectoryPoint,
        error: JointTrajectoryPoint,
        output: JointTrajectoryPoint,
        multi_dof_joint_names: Vec<String>,
        multi_dof_reference: MultiDofPoint,
        multi_dof_feedback: MultiDofPoint,
        multi_dof_error: MultiDofPoint,
        multi_dof_output: MultiDofPoint,
        speed_scaling_factor: f64,
    }
    /// The state of a trajectory controller in the layout of Humble.
    ControllerStateHumble = "control_msgs/msg/JointTrajectoryControllerState" {
        header: Header,
        joint_names: Vec<String>,
        reference: JointTrajectoryPoint,
        feedback: JointTrajectoryPoint,
        error: JointTrajectoryPoint,
        output: JointTrajectoryPoint,
        desired: JointTrajectoryPoint,
        actual: JointTrajectoryPoint,
        multi_dof_joint_names: Vec<String>,
        multi_dof_reference: MultiDofPoint,
        multi_dof_feedback: MultiDofPoint,
        multi_dof_error: MultiDofPoint,
        multi_dof_output: MultiDofPoint,
        multi_dof_desired: MultiDofPoint,
        multi_dof_actual: MultiDofPoint,
    }
    InterfaceValue = "control_msgs/msg/InterfaceValue" { interface_names: Vec<String>, values: Vec<f64> }
    /// The state of joints by named interfaces, in the layout of Humble and Jazzy.
    DynamicJointState = "control_msgs/msg/DynamicJointState" {
        header: Header, joint_names: Vec<String>, interface_values: Vec<InterfaceValue>,
    }
    #[derive(Copy)]
    SpeedScalingFactor = "control_msgs/msg/SpeedScalingFactor" { factor: f64 }
    #[derive(Copy)]
    QueryTrajectoryStateRequest = "control_msgs/srv/QueryTrajectoryState_Request" { time: Time }
    QueryTrajectoryStateResponse = "control_msgs/srv/QueryTrajectoryState_Response" {
        success: bool,
        message: String,
        name: Vec<String>,
        position: Vec<f64>,
        velocity: Vec<f64>,
        acceleration: Vec<f64>,
    }
}

/// The `error_code` in the result of a `FollowJointTrajectory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowError {
    /// The trajectory was followed without a fault.
    Successful = 0,
    /// The trajectory of the goal cannot be followed. Also for goals that were replaced, cancelled by another client or
    /// ended by a contact, and if commanding ended for a reason other than a tolerance.
    InvalidGoal = -1,
    /// The joints that the goal names are not those of this arm: one is missing or unknown.
    InvalidJoints = -2,
    /// The end of the requested trajectory was in the past when the goal arrived.
    OldHeaderTimestamp = -3,
    /// A joint was further from the trajectory's path than its tolerance allows.
    PathTolerance = -4,
    /// A joint was further from the goal than its tolerance allows, or arrived there too late.
    GoalTolerance = -5,
}

services! {
    QueryTrajectoryState = "control_msgs/srv/QueryTrajectoryState":
        QueryTrajectoryStateRequest => QueryTrajectoryStateResponse;
}

/// The empty request of services without arguments: one unused byte.
pub type Nothing = TriggerRequest;

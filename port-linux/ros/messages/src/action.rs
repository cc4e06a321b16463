//! The messages of `action_msgs`, and the goal, result and feedback messages that every action of ROS 2 has.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{FollowFeedback, FollowGoal, FollowResult, Message, Time, services};

/// An identifier that distinguishes one goal from every other, chosen by the client.
pub type GoalId = [u8; 16];

messages! {
    #[derive(Copy, Eq)]
    GoalInfo = "action_msgs/msg/GoalInfo" { goal_id: GoalId, stamp: Time }
    #[derive(Copy, Eq)]
    GoalStatus = "action_msgs/msg/GoalStatus" { goal_info: GoalInfo, status: i8 }
    GoalStatusArray = "action_msgs/msg/GoalStatusArray" { status_list: Vec<GoalStatus> }
    #[derive(Copy, Eq)]
    CancelGoalRequest = "action_msgs/srv/CancelGoal_Request" { goal_info: GoalInfo }
    #[derive(Eq)]
    CancelGoalResponse = "action_msgs/srv/CancelGoal_Response" { return_code: i8, goals_canceling: Vec<GoalInfo> }
    #[derive(Copy, Eq)]
    SendGoalResponse = "action_msgs/SendGoal_Response" { accepted: bool, stamp: Time }
    #[derive(Copy, Eq)]
    GetResultRequest = "action_msgs/GetResult_Request" { goal_id: GoalId }
}

services! {
    CancelGoal = "action_msgs/srv/CancelGoal": CancelGoalRequest => CancelGoalResponse;
}

/// The state of a goal: the `status` of a [`GoalStatus`] and of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the definition")]
pub enum Status {
    Unknown = 0,
    Accepted = 1,
    Executing = 2,
    Canceling = 3,
    Succeeded = 4,
    Canceled = 5,
    Aborted = 6,
}

impl Status {
    /// Returns `true` for a state that no other state follows: succeeded, canceled or aborted.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }
}

/// The message types of an action of ROS 2: its goal, result and feedback.
pub trait Action {
    /// The name of the action's type as `package/action/Name`.
    const TYPE: &'static str;
    /// The message by which a client describes the task to carry out.
    type Goal: Message + Clone;
    /// The message that describes how a goal ended.
    type Result: Message + Clone + Default;
    /// The message that reports the progress of a goal.
    type Feedback: Message;
}

/// A request that sends a goal to an action server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SendGoalRequest<G> {
    /// The identifier of the goal, chosen by its client.
    pub goal_id: GoalId,
    /// The description of the task that the goal requests.
    pub goal: G,
}

/// The response of an action server to a request for the result of a goal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GetResultResponse<R> {
    /// The final state of the goal, a [`Status`] as a number.
    pub status: i8,
    /// The message with the result of the goal, of the action's own type.
    pub result: R,
}

/// The progress of a goal, as published on the action's feedback topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeedbackMessage<F> {
    /// The identifier of the goal whose progress the message reports.
    pub goal_id: GoalId,
    /// The message with the progress of the goal, of the action's own type.
    pub feedback: F,
}

impl<G: Serialize + DeserializeOwned> Message for SendGoalRequest<G> {
    const TYPE: &'static str = "SendGoal_Request";
}

impl<R: Serialize + DeserializeOwned> Message for GetResultResponse<R> {
    const TYPE: &'static str = "GetResult_Response";
}

impl<F: Serialize + DeserializeOwned> Message for FeedbackMessage<F> {
    const TYPE: &'static str = "FeedbackMessage";
}

/// The action type `control_msgs/action/FollowJointTrajectory`: moves the arm along a trajectory.
#[derive(Clone, Copy, Debug)]
pub enum FollowJointTrajectory {}

impl Action for FollowJointTrajectory {
    const TYPE: &'static str = "control_msgs/action/FollowJointTrajectory";
    type Goal = FollowGoal;
    type Result = FollowResult;
    type Feedback = FollowFeedback;
}

//! `action_msgs`, and the messages that every action has.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{FollowFeedback, FollowGoal, FollowResult, Message, Time, services};

/// What tells one goal from another.
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

/// `status` of a [`GoalStatus`] and of a result.
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
    /// Nothing comes after it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }
}

/// What a goal, a result and a feedback of an action are.
pub trait Action {
    /// `package/action/Name`.
    const TYPE: &'static str;
    /// What is to be done.
    type Goal: Message + Clone;
    /// How it ended.
    type Result: Message + Clone + Default;
    /// How far it is.
    type Feedback: Message;
}

/// A goal on its way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SendGoalRequest<G> {
    /// As its client numbers it.
    pub goal_id: GoalId,
    /// What is to be done.
    pub goal: G,
}

/// How a goal ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GetResultResponse<R> {
    /// A [`Status`].
    pub status: i8,
    /// The rest of it.
    pub result: R,
}

/// How far a goal is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeedbackMessage<F> {
    /// Which.
    pub goal_id: GoalId,
    /// The rest of it.
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

/// `control_msgs/action/FollowJointTrajectory`
#[derive(Clone, Copy, Debug)]
pub enum FollowJointTrajectory {}

impl Action for FollowJointTrajectory {
    const TYPE: &'static str = "control_msgs/action/FollowJointTrajectory";
    type Goal = FollowGoal;
    type Result = FollowResult;
    type Feedback = FollowFeedback;
}

//! An action of the node on the DDS transport: its endpoints and its goals.

use std::collections::BTreeSet;

use outrigger_ros2_messages::cdr::{decode, encode};
use outrigger_ros2_messages::endpoint::{Names, Qos, Task};
use outrigger_ros2_messages::{
    CancelGoalRequest, FeedbackMessage, GetResultRequest, GetResultResponse, GoalId, Message, SendGoalResponse, Status,
    Time,
};

use super::dds::{Arrival, Asker, Dds, In, Offers, Out};
use super::settings::Remarks;
use crate::goals::Goals;
use outrigger::exit::Failure;

/// The endpoints and goals of an action that the node offers. The type of its results is given when a goal ends.
pub(super) struct Action {
    send: In,
    cancel: In,
    result: In,
    feedback: Out,
    status: Out,
    /// The goals of the action, with encoded results for the clients that request one.
    goals: Goals<Vec<u8>, Asker>,
    /// The encoded response to a request for the result of a goal that does not exist.
    unknown: Vec<u8>,
}

/// The meaning of data that arrived for an action of the node.
pub(super) enum Incoming {
    /// The bytes of a goal that is to be accepted or rejected, with its client.
    Goal(Vec<u8>, Asker),
    /// A client's request to end these goals.
    Cancel(BTreeSet<GoalId>),
    /// Data that has been handled completely, e.g. a request for a result.
    Nothing,
    /// Data for another recipient than this action.
    Other(Arrival),
}

impl Action {
    /// Opens the endpoints of the action in the transport; its results are of type `R`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    pub(super) fn offer<R: Message + Default>(
        dds: &mut impl Offers,
        names: &Names,
        task: &Task,
    ) -> Result<Self, Failure> {
        let of = task.action;
        let at = |part: &str| names.of(&format!("{}/_action/{part}", task.name));
        Ok(Self {
            send: dds.serves(&at("send_goal"), &format!("{of}_SendGoal"))?,
            cancel: dds.serves(&at("cancel_goal"), "action_msgs/srv/CancelGoal")?,
            result: dds.serves(&at("get_result"), &format!("{of}_GetResult"))?,
            feedback: dds.publishes(&at("feedback"), &format!("{of}_FeedbackMessage"), Qos::SERVICES)?,
            status: dds.publishes(&at("status"), "action_msgs/msg/GoalStatusArray", Qos::LATCHED)?,
            goals: Goals::default(),
            unknown: encode(&GetResultResponse { status: Status::Unknown as i8, result: R::default() }),
        })
    }

    /// Classifies data that arrived, and answers cancel and result requests for this action.
    pub(super) fn arrival(&mut self, arrival: Arrival, dds: &mut Dds, remarks: &mut Remarks) -> Incoming {
        let Arrival { at, ref bytes, asker: Some(asker) } = arrival else { return Incoming::Other(arrival) };
        if at == self.send {
            return Incoming::Goal(arrival.bytes, asker);
        }
        if at == self.cancel {
            // Bytes that cannot be decoded name no goal.
            let (ids, response) = match decode::<CancelGoalRequest>(bytes) {
                Ok(request) => self.goals.cancel(&request),
                Err(error) => {
                    remarks.push(error.to_string());
                    Default::default()
                }
            };
            dds.answer(asker, encode(&response));
            self.tell(dds);
            return Incoming::Cancel(ids);
        }
        if at != self.result {
            return Incoming::Other(arrival);
        }
        let id = decode::<GetResultRequest>(bytes).map(|request| request.goal_id).unwrap_or_default();
        if let Err((asker, known)) = self.goals.ask(&id, asker) {
            dds.answer(asker, known.map_or_else(|| self.unknown.clone(), |(_, answer)| answer));
        }
        Incoming::Nothing
    }

    /// Returns `true` if the action has a goal with the identifier `id`.
    pub(super) fn knows(&self, id: &GoalId) -> bool {
        self.goals.status(id) != Status::Unknown
    }

    /// Adds a goal of the action, to be executed from now on, and answers its client. The answer is a rejection if a
    /// goal with this identifier exists already.
    pub(super) fn accept(&mut self, id: GoalId, asker: Option<Asker>, dds: &mut Dds, stamp: Time) {
        let accepted = self.goals.accept(id, stamp).is_ok();
        if let Some(asker) = asker {
            dds.answer(asker, encode(&SendGoalResponse { accepted, stamp }));
        }
        self.tell(dds);
    }

    /// Rejects a goal, and keeps `result` for clients that request the result although the goal was rejected.
    pub(super) fn reject<R: Message>(&mut self, id: Option<GoalId>, asker: Option<Asker>, result: R, dds: &mut Dds) {
        if let Some(id) = id {
            self.goals.reject(id, encode(&GetResultResponse { status: Status::Unknown as i8, result }));
        }
        if let Some(asker) = asker {
            reject(asker, dds);
        }
    }

    /// Ends a goal and sends its result to the clients that wait for it.
    pub(super) fn end<R: Message>(&mut self, id: &GoalId, how: Status, result: R, nanos: u64, dds: &mut Dds) {
        let answer = encode(&GetResultResponse { status: how as i8, result });
        for asker in self.goals.end(id, how, answer.clone(), nanos) {
            dds.answer(asker, answer.clone());
        }
        self.tell(dds);
    }

    /// Publishes the progress of a goal on the action's feedback topic.
    pub(super) fn progress<F>(&self, goal_id: GoalId, feedback: F, dds: &mut Dds)
    where
        FeedbackMessage<F>: Message,
    {
        dds.publish(self.feedback, encode(&FeedbackMessage { goal_id, feedback }));
    }

    /// Drops the results of ended goals that have been kept long enough at `nanos` \[ns since 1970\].
    pub(super) fn forget(&mut self, nanos: u64, dds: &mut Dds) {
        if self.goals.forget(nanos) {
            self.tell(dds);
        }
    }

    /// Publishes the status of every goal on the action's status topic.
    fn tell(&self, dds: &mut Dds) {
        dds.publish(self.status, encode(&self.goals.statuses()));
    }
}

/// Sends the client `asker` the answer that its goal is rejected; the answer has no text.
pub(super) fn reject(asker: Asker, dds: &mut Dds) {
    dds.answer(asker, encode(&SendGoalResponse::default()));
}

//! One action on the transport: its endpoints, and its goals.

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

/// An action. What its results are is told when one ends.
pub(super) struct Action {
    send: In,
    cancel: In,
    result: In,
    feedback: Out,
    status: Out,
    /// With answers to whoever asks for a result, as bytes.
    goals: Goals<Vec<u8>, Asker>,
    /// The answer where there is no such goal.
    unknown: Vec<u8>,
}

/// What came for an action.
pub(super) enum Came {
    /// A goal, to be accepted or rejected.
    Goal(Vec<u8>, Asker),
    /// These goals are to be ended.
    Cancel(BTreeSet<GoalId>),
    /// It has been dealt with.
    Nothing,
    /// It is for somebody else.
    Other(Arrival),
}

impl Action {
    /// Offers it, with results of the kind `R`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the transport refuses.
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

    /// What came, where it is for this action. Cancels and questions for results are answered here.
    pub(super) fn arrival(&mut self, arrival: Arrival, dds: &mut Dds, remarks: &mut Remarks) -> Came {
        let Arrival { at, ref bytes, asker: Some(asker) } = arrival else { return Came::Other(arrival) };
        if at == self.send {
            return Came::Goal(arrival.bytes, asker);
        }
        if at == self.cancel {
            // Bytes that are none name no goal.
            let (ids, response) = match decode::<CancelGoalRequest>(bytes) {
                Ok(request) => self.goals.cancel(&request),
                Err(error) => {
                    remarks.push(error.to_string());
                    Default::default()
                }
            };
            dds.answer(asker, encode(&response));
            self.tell(dds);
            return Came::Cancel(ids);
        }
        if at != self.result {
            return Came::Other(arrival);
        }
        let id = decode::<GetResultRequest>(bytes).map(|request| request.goal_id).unwrap_or_default();
        if let Err((asker, known)) = self.goals.ask(&id, asker) {
            dds.answer(asker, known.map_or_else(|| self.unknown.clone(), |(_, answer)| answer));
        }
        Came::Nothing
    }

    /// Whether there is a goal of this number.
    pub(super) fn knows(&self, id: &GoalId) -> bool {
        self.goals.status(id) != Status::Unknown
    }

    /// A goal is done from now on; who asked is told so.
    pub(super) fn accept(&mut self, id: GoalId, asker: Option<Asker>, dds: &mut Dds, stamp: Time) {
        let accepted = self.goals.accept(id, stamp).is_ok();
        if let Some(asker) = asker {
            dds.answer(asker, encode(&SendGoalResponse { accepted, stamp }));
        }
        self.tell(dds);
    }

    /// Rejects a goal, and keeps `result` for clients that request the result all the same.
    pub(super) fn reject<R: Message>(&mut self, id: Option<GoalId>, asker: Option<Asker>, result: R, dds: &mut Dds) {
        if let Some(id) = id {
            self.goals.reject(id, encode(&GetResultResponse { status: Status::Unknown as i8, result }));
        }
        if let Some(asker) = asker {
            reject(asker, dds);
        }
    }

    /// A goal has ended so: whoever waits for that is told.
    pub(super) fn end<R: Message>(&mut self, id: &GoalId, how: Status, result: R, nanos: u64, dds: &mut Dds) {
        let answer = encode(&GetResultResponse { status: how as i8, result });
        for asker in self.goals.end(id, how, answer.clone(), nanos) {
            dds.answer(asker, answer.clone());
        }
        self.tell(dds);
    }

    /// How far a goal is.
    pub(super) fn progress<F>(&self, goal_id: GoalId, feedback: F, dds: &mut Dds)
    where
        FeedbackMessage<F>: Message,
    {
        dds.publish(self.feedback, encode(&FeedbackMessage { goal_id, feedback }));
    }

    /// Results that were kept long enough go.
    pub(super) fn forget(&mut self, nanos: u64, dds: &mut Dds) {
        if self.goals.forget(nanos) {
            self.tell(dds);
        }
    }

    /// How its goals stand.
    fn tell(&self, dds: &mut Dds) {
        dds.publish(self.status, encode(&self.goals.statuses()));
    }
}

/// A goal is not done; an answer to one has no words.
pub(super) fn reject(asker: Asker, dds: &mut Dds) {
    dds.answer(asker, encode(&SendGoalResponse::default()));
}

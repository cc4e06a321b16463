//! Services of the dashboard, and the action SetMode, as a node offers them.

use std::collections::BTreeMap;

use outrigger_ros::calls::Refused;
use outrigger_ros::cdr::{decode, encode};
use outrigger_ros::dashboard::{self, DASHBOARD_OFFERS, Outcome};
use outrigger_ros::endpoint::{Names, Offer, Qos};
use outrigger_ros::goals::Goals;
use outrigger_ros::messages::{
    CancelGoalRequest, FeedbackMessage, GetResultRequest, GetResultResponse, GoalId, SendGoalRequest, SendGoalResponse,
    SetModeGoal, SetModeResult, Status, Time,
};
use outrigger_ros::set_mode::{SET_MODE, Target as Wanted};

use super::dashboard::{Dashboard, News};
use super::dds::{Arrival, Asker, Dds, In, Out};
use super::face::ONLY_LOOKS;
use super::followed::Remarks;
use crate::exit::Failure;

/// The dashboard's side of a node.
pub(super) struct Pendant {
    dashboard: Dashboard,
    /// What changes something may be asked.
    commands: bool,
    offers: Vec<(In, &'static Offer)>,
    mode: ModeAction,
    next: u64,
    calls: BTreeMap<u64, (Asker, &'static Offer)>,
    /// The goal on its way, by its token.
    goal: Option<(u64, GoalId)>,
}

/// Endpoints of SetMode, and its goals.
struct ModeAction {
    send: In,
    cancel: In,
    result: In,
    feedback: Out,
    status: Out,
    goals: Goals<SetModeResult, Asker>,
}

impl Pendant {
    /// Offers all of it; what changes something is refused without `commands`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the transport refuses.
    pub(super) fn offer(dds: &mut Dds, names: &Names, dashboard: Dashboard, commands: bool) -> Result<Self, Failure> {
        let mut offers = vec![];
        for offer in DASHBOARD_OFFERS {
            offers.push((dds.serves(&names.of(offer.name), offer.service)?, *offer));
        }
        let of = SET_MODE.action;
        let at = |part: &str| names.of(&format!("{}/_action/{part}", SET_MODE.name));
        let mode = ModeAction {
            send: dds.serves(&at("send_goal"), &format!("{of}_SendGoal"))?,
            cancel: dds.serves(&at("cancel_goal"), "action_msgs/srv/CancelGoal")?,
            result: dds.serves(&at("get_result"), &format!("{of}_GetResult"))?,
            feedback: dds.publishes(&at("feedback"), &format!("{of}_FeedbackMessage"), Qos::SERVICES)?,
            status: dds.publishes(&at("status"), "action_msgs/msg/GoalStatusArray", Qos::LATCHED)?,
            goals: Goals::default(),
        };
        Ok(Self { dashboard, commands, offers, mode, next: 0, calls: BTreeMap::new(), goal: None })
    }

    /// Takes what came, where it is for the dashboard; gives it back where it is not.
    pub(super) fn arrival(
        &mut self,
        arrival: Arrival,
        dds: &mut Dds,
        stamp: Time,
        remarks: &mut Remarks,
    ) -> Option<Arrival> {
        let Arrival { at, ref bytes, asker } = arrival;
        if let Some((_, offer)) = self.offers.iter().find(|(of, _)| *of == at) {
            let (offer, asker) = (*offer, asker?);
            if let Err(why) = self.call(offer, bytes, asker) {
                remarks.push(format!("{}: {why}", offer.name));
                dds.answer(asker, dashboard::answer(offer, &Outcome::failed(why)));
            }
        } else if at == self.mode.send {
            self.goal(bytes, asker?, dds, stamp, remarks);
        } else if at == self.mode.cancel {
            let (ids, response) = match decode::<CancelGoalRequest>(bytes) {
                Ok(request) => self.mode.goals.cancel(&request),
                Err(error) => {
                    remarks.push(error.to_string());
                    Default::default()
                }
            };
            dds.answer(asker?, encode(&response));
            self.mode.tell(dds);
            if let Some((token, id)) = self.goal
                && ids.contains(&id)
            {
                self.dashboard.cancel(token);
            }
        } else if at == self.mode.result {
            let id = decode::<GetResultRequest>(bytes).map(|request| request.goal_id).unwrap_or_default();
            if let Err((asker, known)) = self.mode.goals.ask(&id, asker?) {
                let (status, result) = known.unwrap_or((Status::Unknown, SetModeResult::default()));
                dds.answer(asker, encode(&GetResultResponse { status: status as i8, result }));
            }
        } else {
            return Some(arrival);
        }
        None
    }

    fn call(&mut self, offer: &'static Offer, bytes: &[u8], asker: Asker) -> Result<(), String> {
        let ask = dashboard::ask(offer, bytes).map_err(|refused: Refused| refused.to_string())?;
        if ask.changes() && !self.commands {
            return Err(ONLY_LOOKS.into());
        }
        self.next += 1;
        if !self.dashboard.ask(self.next, ask) {
            return Err("too many calls wait for the controller: ask again".into());
        }
        self.calls.insert(self.next, (asker, offer));
        Ok(())
    }

    fn goal(&mut self, bytes: &[u8], asker: Asker, dds: &mut Dds, stamp: Time, remarks: &mut Remarks) {
        let mut begin = || {
            let SendGoalRequest::<SetModeGoal> { goal_id, goal } = decode(bytes).map_err(|error| error.to_string())?;
            Wanted::of(&goal).map_err(|refused| refused.to_string())?;
            if !self.commands {
                return Err(ONLY_LOOKS.to_owned());
            }
            if self.mode.goals.status(&goal_id) != Status::Unknown {
                return Err("a goal of this number is there already".into());
            }
            self.next += 1;
            if !self.dashboard.set_mode(self.next, goal) {
                return Err("one is on its way: wait for its end, or cancel it".into());
            }
            self.goal = Some((self.next, goal_id));
            self.mode.goals.accept(goal_id, stamp).map_err(str::to_owned)
        };
        let accepted = match begin() {
            Ok(()) => true,
            Err(why) => {
                remarks.push(format!("a goal of {} was rejected: {why}", SET_MODE.name));
                false
            }
        };
        dds.answer(asker, encode(&SendGoalResponse { accepted, stamp }));
        self.mode.tell(dds);
    }

    /// Tells what the controller has answered since.
    pub(super) fn step(&mut self, dds: &mut Dds, nanos: u64) {
        while let Some(news) = self.dashboard.news() {
            match news {
                News::Answer(token, outcome) => {
                    if let Some((asker, offer)) = self.calls.remove(&token) {
                        dds.answer(asker, dashboard::answer(offer, &outcome));
                    }
                }
                News::Feedback(token, feedback) => {
                    if let Some((_, goal_id)) = self.goal.filter(|(on, _)| *on == token) {
                        dds.publish(self.mode.feedback, encode(&FeedbackMessage { goal_id, feedback }));
                    }
                }
                News::Ended(token, status, result) => {
                    let Some((_, goal_id)) = self.goal.take_if(|(on, _)| *on == token) else { continue };
                    for asker in self.mode.goals.end(&goal_id, status, result.clone(), nanos) {
                        let result = result.clone();
                        dds.answer(asker, encode(&GetResultResponse { status: status as i8, result }));
                    }
                    self.mode.tell(dds);
                }
            }
        }
        if self.mode.goals.forget(nanos) {
            self.mode.tell(dds);
        }
    }
}

impl ModeAction {
    /// How its goals stand.
    fn tell(&self, dds: &Dds) {
        dds.publish(self.status, encode(&self.goals.statuses()));
    }
}

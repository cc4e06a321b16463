//! The services of the dashboard and the action SetMode, as a node offers them.

use std::collections::BTreeMap;

use outrigger_ros2_messages::cdr::decode;
use outrigger_ros2_messages::endpoint::{Names, Offer};
use outrigger_ros2_messages::{GoalId, SendGoalRequest, SetModeGoal, SetModeResult, Time};

use super::action::{Action, Incoming, reject};
use super::dashboard::{Dashboard, DashboardResult};
use super::dds::{Arrival, Asker, Dds, In, Offers};
use super::settings::Remarks;
use crate::command_acceptance::ONLY_LOOKS;
use crate::dashboard::{self, DASHBOARD_OFFERS, Outcome};
use crate::driver_services::Refused;
use crate::set_mode::{SET_MODE, Target as Wanted};
use outrigger::exit::Failure;

/// The node's services and action for the dashboard, and the requests in progress.
pub(super) struct Pendant {
    dashboard: Dashboard,
    /// `true` if dashboard requests that change something are permitted.
    commands: bool,
    offers: Vec<(In, &'static Offer)>,
    mode: Action,
    next: u64,
    calls: BTreeMap<u64, (Asker, &'static Offer)>,
    /// The goal of `SetMode` in progress with its token; `None` if there is none.
    goal: Option<(u64, GoalId)>,
}

/// The opened endpoints of the node's dashboard services and of its action `SetMode`.
pub(super) struct Offered {
    offers: Vec<(In, &'static Offer)>,
    mode: Action,
}

/// Opens the endpoints of the dashboard services and of the action `SetMode`.
///
/// # Errors
/// [`Failure::BadInput`] if the transport refuses.
pub(super) fn offer(dds: &mut impl Offers, names: &Names) -> Result<Offered, Failure> {
    let mut offers = vec![];
    for offer in DASHBOARD_OFFERS {
        offers.push((dds.serves(&names.of(offer.name), offer.service)?, *offer));
    }
    Ok(Offered { offers, mode: Action::offer::<SetModeResult>(dds, names, &SET_MODE)? })
}

impl Pendant {
    /// Creates the handler of calls to the opened endpoints, which executes them by `dashboard`. Requests that change
    /// something are refused unless `commands` is `true`.
    pub(super) fn new(Offered { offers, mode }: Offered, dashboard: Dashboard, commands: bool) -> Self {
        Self { dashboard, commands, offers, mode, next: 0, calls: BTreeMap::new(), goal: None }
    }

    /// Handles `arrival` if it belongs to a service of the dashboard or to the action `SetMode`; returns it otherwise.
    pub(super) fn arrival(
        &mut self,
        arrival: Arrival,
        dds: &mut Dds,
        stamp: Time,
        remarks: &mut Remarks,
    ) -> Option<Arrival> {
        if let Some((_, offer)) = self.offers.iter().find(|(of, _)| *of == arrival.at) {
            let (offer, asker) = (*offer, arrival.asker?);
            if let Err(why) = self.call(offer, &arrival.bytes, asker) {
                remarks.push(format!("{}: {why}", offer.name));
                dds.answer(asker, dashboard::answer(offer, &Outcome::failed(why)));
            }
            return None;
        }
        match self.mode.arrival(arrival, dds, remarks) {
            Incoming::Goal(bytes, asker) => match self.goal(&bytes) {
                Ok(id) => self.mode.accept(id, Some(asker), dds, stamp),
                Err(why) => {
                    remarks.push(format!("a goal of {} was rejected: {why}", SET_MODE.name));
                    reject(asker, dds);
                }
            },
            Incoming::Cancel(ids) => {
                if let Some((token, id)) = self.goal
                    && ids.contains(&id)
                {
                    self.dashboard.cancel(token);
                }
            }
            Incoming::Nothing => {}
            Incoming::Other(arrival) => return Some(arrival),
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
            return Err("too many calls are queued for the controller: try again".into());
        }
        self.calls.insert(self.next, (asker, offer));
        Ok(())
    }

    /// Starts the goal of `SetMode` in `bytes` and returns its identifier, or as error the reason why the goal is
    /// rejected.
    fn goal(&mut self, bytes: &[u8]) -> Result<GoalId, String> {
        let SendGoalRequest::<SetModeGoal> { goal_id, goal } = decode(bytes).map_err(|error| error.to_string())?;
        Wanted::of(&goal).map_err(|refused| refused.to_string())?;
        if !self.commands {
            return Err(ONLY_LOOKS.into());
        }
        if self.mode.knows(&goal_id) {
            return Err("a goal with this ID exists already".into());
        }
        self.next += 1;
        if !self.dashboard.set_mode(self.next, goal) {
            return Err("another goal is running: wait for its end, or cancel it".into());
        }
        self.goal = Some((self.next, goal_id));
        Ok(goal_id)
    }

    /// Sends to clients the answers to dashboard calls and the progress and results of `SetMode` that arrived from
    /// the controller since the last step.
    pub(super) fn step(&mut self, dds: &mut Dds, nanos: u64) {
        while let Some(news) = self.dashboard.news() {
            match news {
                DashboardResult::Answer(token, outcome) => {
                    if let Some((asker, offer)) = self.calls.remove(&token) {
                        dds.answer(asker, dashboard::answer(offer, &outcome));
                    }
                }
                DashboardResult::Feedback(token, feedback) => {
                    if let Some((_, goal_id)) = self.goal.filter(|(on, _)| *on == token) {
                        self.mode.progress(goal_id, feedback, dds);
                    }
                }
                DashboardResult::Ended(token, status, result) => {
                    let Some((_, goal_id)) = self.goal.take_if(|(on, _)| *on == token) else { continue };
                    self.mode.end(&goal_id, status, result, nanos, dds);
                }
            }
        }
        self.mode.forget(nanos, dds);
    }
}

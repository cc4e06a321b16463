//! Executes calls of `hand_back_control` by requests to the control loop.

use outrigger_core::robot::Reason;
use outrigger_ros2_messages::endpoint::Offer;
use outrigger_wire::time::Instant;

use super::dds::{Asker, Dds};
use super::settings::Remarks;
use crate::driver_services;
use crate::hand_back::{HandBack, Next, SessionState};
use outrigger::released::ReleasedBy;
use outrigger::requests::{Client, Decided, RequestKind};

/// The largest number of calls that wait for the same end of Outrigger's program.
const MOST: usize = 16;

/// The calls of `hand_back_control` that wait, and their progress.
#[derive(Default)]
pub(super) struct HandBackCalls {
    calls: Vec<(Asker, &'static Offer)>,
    under_way: Option<HandBack>,
    /// The number of the pending request to end Outrigger's program on the controller; `None` if none is pending.
    asked: Option<u32>,
}

impl HandBackCalls {
    /// Queues a call of `hand_back_control`. Returns its client as the error if too many calls wait already.
    pub(super) fn call(&mut self, asker: Asker, offer: &'static Offer, now: Instant) -> Result<(), Asker> {
        if self.calls.len() >= MOST {
            return Err(asker);
        }
        self.calls.push((asker, offer));
        self.under_way.get_or_insert_with(|| HandBack::new(now));
        Ok(())
    }

    /// Advances the calls of `hand_back_control` in progress.
    pub(super) fn step<const N: usize>(
        &mut self,
        client: &mut Client<N>,
        dds: &mut Dds,
        now: Instant,
        remarks: &mut Remarks,
    ) {
        let (Some(under_way), None) = (&mut self.under_way, self.asked) else { return };
        let status = client.status();
        let rests = !status.unmet.contains(Reason::NotAtRest);
        match under_way.step(SessionState { epoch: status.epoch, mode: status.mode, rests }, now) {
            Next::Wait => {}
            Next::Release if client.ask(RequestKind::Release(ReleasedBy::Ros)).is_some() => {}
            Next::HandBack if let Some(id) = client.ask(RequestKind::HandBack(status.epoch)) => self.asked = Some(id),
            Next::Release | Next::HandBack => self.answer(Err("too many requests are queued: try again"), dds, remarks),
            Next::GiveUp(why) => self.answer(Err(why), dds, remarks),
        }
    }

    /// Handles the control loop's decision on a request. Returns `false` if the request was not made for a call of
    /// `hand_back_control`.
    pub(super) fn decided(&mut self, one: &Decided, dds: &mut Dds, remarks: &mut Remarks) -> bool {
        if self.asked != Some(one.id) {
            return false;
        }
        self.answer(one.done.as_ref().copied().map_err(String::as_str), dds, remarks);
        true
    }

    /// Fails every waiting call of `hand_back_control`, because the node was stopped meanwhile.
    pub(super) fn discard(&mut self, dds: &mut Dds, remarks: &mut Remarks) {
        self.answer(Err("the node was stopped meanwhile"), dds, remarks);
    }

    fn answer(&mut self, done: Result<(), &str>, dds: &mut Dds, remarks: &mut Remarks) {
        let released = self.under_way.take().is_some_and(|of| of.has_released());
        self.asked = None;
        let why = match done {
            Ok(()) => String::new(),
            Err(why) if released && !why.starts_with("the arm") => {
                format!("a stop of the arm was requested; {why}")
            }
            Err(why) => why.to_owned(),
        };
        for (asker, offer) in self.calls.drain(..) {
            if done.is_err() {
                remarks.push(format!("{}: {why}", offer.name));
            }
            dds.answer(asker, driver_services::answer(offer, done.is_ok(), &why));
        }
    }
}

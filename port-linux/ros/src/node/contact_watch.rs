//! Watches for contacts of the tool on behalf of one goal at a time: one of `detect_tool_contact`, or a motion that
//! ends at a contact.

use outrigger_core::mode::Mode;
use outrigger_ros2_messages::cdr::decode;
use outrigger_ros2_messages::endpoint::Names;
use outrigger_ros2_messages::{GoalId, Nothing, SendGoalRequest, Time};

use super::action::{Action, Incoming, reject};
use super::dds::{Arrival, Asker, Dds, Offers};
use super::goal_motion::nanos_of;
use super::settings::Remarks;
use crate::command_acceptance::{Command, ONLY_LOOKS, Rejection, SessionFacts};
use crate::contact_goals::{ContactFacts, DETECT, Next, Watch};
use outrigger::exit::Failure;
use outrigger::requests::{Client, Decided, RequestKind, Status};

/// The goal or motion on whose behalf the control loop watches for contacts, or is requested to.
enum Holder {
    Nobody,
    /// A goal that is accepted once the control loop has granted the watch for contacts.
    Coming(GoalId, Asker),
    Goal(GoalId, Watch),
    /// A motion that starts once the control loop has granted the watch for contacts.
    MotionComing,
    /// A motion, with the number of contacts counted before it, or the reason why the watch for contacts was refused.
    Motion(Result<u32, String>),
}

/// The action `detect_tool_contact`, and the state of the control loop's watch for contacts of the tool.
pub(super) struct ContactWatch {
    action: Action,
    holder: Holder,
    /// The number of the pending request to the control loop to switch the watch for contacts on or off; `None` if none
    /// is pending.
    asked: Option<u32>,
    /// `true` if the watch for contacts is to be switched off.
    off: bool,
}

impl ContactWatch {
    /// Offers the action `detect_tool_contact`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    pub(super) fn offer(dds: &mut impl Offers, names: &Names) -> Result<Self, Failure> {
        let action = Action::offer::<Nothing>(dds, names, &DETECT)?;
        Ok(Self { action, holder: Holder::Nobody, asked: None, off: false })
    }

    /// Handles `arrival` if it belongs to the action `detect_tool_contact`; returns it otherwise.
    pub(super) fn arrival<const N: usize>(
        &mut self,
        arrival: Arrival,
        (client, standing): (Option<&mut Client<N>>, &SessionFacts),
        dds: &mut Dds,
        remarks: &mut Remarks,
    ) -> Option<Arrival> {
        match self.action.arrival(arrival, dds, remarks) {
            Incoming::Goal(bytes, asker) => {
                if let Err(why) = self.goal(&bytes, asker, (client, standing)) {
                    remarks.push(format!("a goal of {} was rejected: {why}", DETECT.name));
                    reject(asker, dds);
                }
            }
            Incoming::Cancel(ids) => {
                if let Holder::Goal(id, watch) = &mut self.holder
                    && ids.contains(id)
                {
                    watch.cancel();
                }
            }
            Incoming::Nothing => {}
            Incoming::Other(other) => return Some(other),
        }
        None
    }

    fn goal<const N: usize>(
        &mut self,
        bytes: &[u8],
        asker: Asker,
        (client, standing): (Option<&mut Client<N>>, &SessionFacts),
    ) -> Result<(), String> {
        let SendGoalRequest::<Nothing> { goal_id, .. } = decode(bytes).map_err(|error| error.to_string())?;
        if self.action.knows(&goal_id) {
            return Err("a goal with this ID exists already".into());
        }
        standing.accepts(Command::DetectContact).map_err(Rejection::with_name)?;
        self.ask(client.ok_or(ONLY_LOOKS)?)?;
        self.holder = Holder::Coming(goal_id, asker);
        Ok(())
    }

    /// Requests from the control loop to watch for contacts. Fails if the arm is not commanded, if another watch for
    /// contacts is on, or if the queue of requests is full.
    fn ask<const N: usize>(&mut self, client: &mut Client<N>) -> Result<(), String> {
        let status = client.status();
        if status.mode != Mode::Command {
            return Err(Rejection::NotCommanding.with_name());
        }
        if !matches!(self.holder, Holder::Nobody) || self.off || status.contacts.watched {
            return Err("a contact watch is active already: wait for its end, or cancel it".into());
        }
        let asked = client.ask(RequestKind::ToolContact(status.epoch, true));
        self.asked = Some(asked.ok_or("too many requests are queued: try again")?);
        Ok(())
    }

    /// Requests the watch for contacts for a motion that is to end at one. Returns the number of contacts counted
    /// before it once the watch is on, and `None` until then.
    ///
    /// # Errors
    /// The reason why the watch is refused.
    pub(super) fn motion<const N: usize>(&mut self, client: &mut Client<N>) -> Result<Option<u32>, String> {
        match &self.holder {
            Holder::MotionComing => Ok(None),
            Holder::Motion(contacts) => contacts.clone().map(Some),
            // The watch of the motion before it is still being switched off.
            Holder::Nobody if self.off => Ok(None),
            Holder::Nobody | Holder::Coming(..) | Holder::Goal(..) => {
                self.ask(client)?;
                self.holder = Holder::MotionComing;
                Ok(None)
            }
        }
    }

    /// Switches the watch for contacts off, because the motion has ended or does not start.
    pub(super) fn motion_ends(&mut self) {
        if matches!(self.holder, Holder::MotionComing | Holder::Motion(_)) {
            (self.holder, self.off) = (Holder::Nobody, true);
        }
    }

    /// Handles the control loop's decision on a request. Returns `false` if the request was not made by this watch for
    /// contacts.
    pub(super) fn decided(&mut self, outcome: &Decided, dds: &mut Dds, stamp: Time, remarks: &mut Remarks) -> bool {
        if self.asked != Some(outcome.id) {
            return false;
        }
        self.asked = None;
        let seen = outcome.status.contacts.seen;
        self.holder = match (std::mem::replace(&mut self.holder, Holder::Nobody), &outcome.done) {
            (Holder::Coming(id, asker), Ok(())) => {
                self.action.accept(id, Some(asker), dds, stamp);
                Holder::Goal(id, Watch::new(seen))
            }
            (Holder::Coming(_, asker), Err(why)) => {
                remarks.push(format!("a goal of {} was rejected: {why}", DETECT.name));
                reject(asker, dds);
                Holder::Nobody
            }
            (Holder::MotionComing, done) => Holder::Motion(done.clone().map(|()| seen)),
            (holder, _) => holder,
        };
        true
    }

    /// Ends the goal that waits for a contact once its outcome is known, and requests to switch the watch for contacts
    /// off once it is not needed any more.
    pub(super) fn step<const N: usize>(
        &mut self,
        client: &mut Client<N>,
        dds: &mut Dds,
        stamp: Time,
        remarks: &mut Remarks,
    ) {
        let nanos = nanos_of(stamp);
        self.action.forget(nanos, dds);
        if self.asked.is_some() {
            return;
        }
        let Status { epoch, mode, latch, contacts, .. } = client.status();
        let commands = mode == Mode::Command;
        if let Holder::Goal(id, watch) = &mut self.holder {
            match watch.look(ContactFacts { commands, watched: contacts.watched, contacts: contacts.seen }) {
                Next::Wait => {}
                Next::SwitchOff => self.asked = client.ask(RequestKind::ToolContact(epoch, false)),
                Next::End(how) => {
                    if let Some(why) = how.why() {
                        let latch = latch.map(|latch| format!(": {} ({})", latch.text(), latch.name()));
                        remarks.push(format!(
                            "a goal of {} was aborted: {why}{}",
                            DETECT.name,
                            latch.unwrap_or_default()
                        ));
                    }
                    self.action.end(id, how.status(), Nothing::default(), nanos, dds);
                    self.holder = Holder::Nobody;
                }
            }
        } else if self.off {
            self.off = commands && contacts.watched;
            if self.off {
                self.asked = client.ask(RequestKind::ToolContact(epoch, false));
            }
        }
    }

    /// Ends the goal that waits for a contact, because the node ends.
    pub(super) fn leave(&mut self, dds: &mut Dds, stamp: Time) {
        if let Holder::Goal(id, _) = std::mem::replace(&mut self.holder, Holder::Nobody) {
            let how = outrigger_ros2_messages::Status::Aborted;
            self.action.end(&id, how, Nothing::default(), nanos_of(stamp), dds);
        }
    }
}

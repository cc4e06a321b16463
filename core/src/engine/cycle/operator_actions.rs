//! Operator actions, faults, and the consequences of a transition between modes.

use super::CycleMemory;
use crate::engine::event::{Event, Events};
use crate::mode::{Channel, Contact, Epoch, Lapse, Mode, Outcome, Refusal, TimedFact, Transition};
use crate::robot::Reason;
use outrigger_wire::time::Instant;

impl<const N: usize> CycleMemory<N> {
    /// Evaluates all deadlines of the control cycle as of `now`: detects a stall of this process (a call later than `due`)
    /// and stale states, before the bytes that were received meanwhile are read.
    pub(in crate::engine) fn wake<E>(&mut self, now: Instant, due: Option<Instant>, events: &mut Events<E>) {
        if let Some(late) = self.link.local_stall(now, due) {
            events.push(Event::LocalStall { late, limit: self.link.config().stall });
        }
        self.grade_changed(now, events);
        if self.mode.mode() != Mode::Offline
            && let Err(reason) = self.link.staying(now)
        {
            self.fault(now, reason, events);
        }
        #[cfg(feature = "programs")]
        if let Some(reason) = self.guide.tick(now) {
            self.fault(now, reason, events);
        }
        let transition = self.mode.tick(now);
        self.after(transition, events);
        if self.operator.wake(now) {
            events.push(Event::Lapsed(Lapse::TooLate));
        }
    }

    fn grade_changed<E>(&mut self, now: Instant, events: &mut Events<E>) {
        if let Some(change) = self.link.tick(now) {
            events.push(Event::Grade(change));
            // A grade that drops because no state arrives is known before the next state shows it.
            if !self.link.entry() {
                self.evidence.link_entry = Some(TimedFact::new(false, now));
            }
        }
    }

    /// Ends commanding because of a fault, with `reason`.
    pub(in crate::engine) fn fault<E>(&mut self, now: Instant, reason: Reason, events: &mut Events<E>) {
        let transition = self.mode.fault(now, reason);
        self.after(transition, events);
    }

    /// Records that a link which the session needs is lost.
    pub(in crate::engine) fn link_lost<E>(&mut self, now: Instant, reason: Reason, events: &mut Events<E>) {
        let transition = self.mode.link_lost(now, reason);
        self.after(transition, events);
    }

    /// Handles an operator's request to command. `epoch` is the counter of connections and losses of
    /// authority that the operator saw; `resume` continues a suspended motion.
    pub(in crate::engine) fn request<E>(&mut self, epoch: Epoch, now: Instant, resume: bool, events: &mut Events<E>) {
        let asked = self.operator.request(epoch, &mut self.mode, &self.evidence, now);
        self.begin(asked, resume, now, events);
    }

    /// Takes a new level of a pin of this device. Returns `true` if the new level was an acknowledgement of the latched
    /// reasons against commanding, accepted or refused.
    pub(in crate::engine) fn pin<E>(
        &mut self,
        contact: Contact,
        high: bool,
        now: Instant,
        events: &mut Events<E>,
    ) -> bool {
        let outcome = self.operator.pin(contact, high, &mut self.mode, &self.evidence, now);
        self.carry_out(&outcome, now, events)
    }

    /// Handles an operator's release, which ends commanding and brings the arm to rest.
    pub(in crate::engine) fn release<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let transition = self.operator.release(&mut self.mode, now);
        self.after(transition, events);
    }

    /// Ends commanding, which brings the arm to rest, and rejects all later requests to command.
    pub(in crate::engine) fn end<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let transition = self.operator.end(&mut self.mode, now);
        self.after(transition, events);
    }

    /// Handles the operator's acknowledgement of the latched reasons against commanding.
    pub(in crate::engine) fn acknowledge<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let acknowledged = self.operator.acknowledge(Channel::Message, &mut self.mode, now);
        if let Err(refusal) = acknowledged {
            events.push(Event::Refused(refusal));
        }
    }

    /// Carries out the outcome of the operator's input signals (digital inputs or pins) and of the automatic request.
    /// Returns `true` if such a signal was used to acknowledge the latched reasons against commanding, whether this was
    /// accepted or refused.
    pub(super) fn carry_out<E>(&mut self, outcome: &Outcome, now: Instant, events: &mut Events<E>) -> bool {
        self.after(outcome.stopped, events);
        if let Some(Err(refusal)) = outcome.acknowledged {
            events.push(Event::Refused(refusal));
        }
        if let Some(asked) = outcome.requested {
            self.begin(asked, false, now, events);
        }
        if outcome.lapsed {
            events.push(Event::Lapsed(Lapse::Latched));
        }
        outcome.acknowledged.is_some()
    }

    fn begin<E>(
        &mut self,
        asked: Result<Option<Transition>, Refusal>,
        resume: bool,
        now: Instant,
        events: &mut Events<E>,
    ) {
        match asked {
            Ok(transition) => {
                if transition.is_some() {
                    self.stream.resume = resume;
                }
                self.after(transition, events);
            }
            Err(refusal) => {
                self.explain(Some(refusal.reason), now, events);
                events.push(Event::Refused(refusal));
            }
        }
    }

    /// Reports the figure of the link that decided its grade, if `reason` is that the grade is too low.
    fn explain<E>(&self, reason: Option<Reason>, now: Instant, events: &mut Events<E>) {
        if reason == Some(Reason::GradeLow) {
            events.push(Event::GradeLow(self.link.grade_low(now)));
        }
    }

    pub(super) fn after<E>(&mut self, transition: Option<Transition>, events: &mut Events<E>) {
        let Some(transition) = transition else { return };
        if transition.to == Mode::Arming {
            self.following.reset();
            self.stream.rest();
            self.stream.pacer.restart();
        }
        if transition.to != Mode::Command {
            self.pendant.begin();
        } else if self.pendant.overrides() {
            events.push(Event::PendantOverridden);
        }
        if transition.from == Mode::Command {
            self.law_ended = true;
            #[cfg(feature = "programs")]
            self.guide.clear();
        }
        self.stream.begun = false;
        #[cfg(feature = "programs")]
        self.stream.end_halt();
        // The reason at the end of a stop is the one that began it.
        self.explain(transition.reason.filter(|_| transition.from != Mode::Stopping), transition.at, events);
        events.push(Event::Transition(transition));
    }
}

//! The words of operators, faults, and what follows from a transition.

use super::CycleMemory;
use crate::engine::event::{Event, Events};
use crate::mode::{Channel, Contact, Epoch, Held, Lapse, Mode, Outcome, Refusal, Transition};
use crate::robot::Reason;
use outrigger_wire::time::Instant;

impl<const N: usize> CycleMemory<N> {
    /// Time has passed: stalls of our own and stale states are seen here, before any bytes that waited meanwhile.
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
            // A grade that falls because nothing comes is known before the next state says so.
            if !self.link.entry() {
                self.evidence.link_entry = Some(Held::new(false, now));
            }
        }
    }

    /// Something ends commanding.
    pub(in crate::engine) fn fault<E>(&mut self, now: Instant, reason: Reason, events: &mut Events<E>) {
        let transition = self.mode.fault(now, reason);
        self.after(transition, events);
    }

    /// The link is gone.
    pub(in crate::engine) fn link_lost<E>(&mut self, now: Instant, reason: Reason, events: &mut Events<E>) {
        let transition = self.mode.link_lost(now, reason);
        self.after(transition, events);
    }

    /// An operator, who saw `epoch`, asks to command; `resume` goes on with a suspended motion.
    pub(in crate::engine) fn request<E>(&mut self, epoch: Epoch, now: Instant, resume: bool, events: &mut Events<E>) {
        let asked = self.operator.request(epoch, &mut self.mode, &self.evidence, now);
        self.begin(asked, resume, now, events);
    }

    /// A pin of this device has another level; whether that has acknowledged.
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

    /// The operator takes the request back.
    pub(in crate::engine) fn release<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let transition = self.operator.release(&mut self.mode, now);
        self.after(transition, events);
    }

    /// Releases the command and rejects all later requests.
    pub(in crate::engine) fn end<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let transition = self.operator.end(&mut self.mode, now);
        self.after(transition, events);
    }

    /// The operator has seen the latched reasons.
    pub(in crate::engine) fn acknowledge<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let acknowledged = self.operator.acknowledge(Channel::Message, &mut self.mode, now);
        if let Err(refusal) = acknowledged {
            events.push(Event::Refused(refusal));
        }
    }

    /// Carries out the outcome of the request lines. Returns `true` where they acknowledged.
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

    /// By which figure, where the reason is the link's grade.
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
        // The end of a stop repeats why it began.
        self.explain(transition.reason.filter(|_| transition.from != Mode::Stopping), transition.at, events);
        events.push(Event::Transition(transition));
    }
}

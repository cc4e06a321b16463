//! The intake of states: rejects those that are impossible for this arm, and passes the others to the link monitor.

use super::CycleMemory;
use crate::engine::event::{Event, Events, is_milestone};
use crate::link::{Content, Counter, Observation, Sequence};
use outrigger_wire::robot::{ControllerTime, State};
use outrigger_wire::time::Instant;

impl<const N: usize> CycleMemory<N> {
    /// Checks a state of the arm that was read and passes it to the link monitor; stores it if it is the newest.
    pub(in crate::engine) fn hear<E>(
        &mut self,
        state: &State<N>,
        arrival: Instant,
        now: Instant,
        events: &mut Events<E>,
    ) {
        let content = Content {
            at: state.controller_time,
            positions: state.positions.as_array(),
            velocities: state.velocities.as_array(),
            targets: [state.target_positions.as_array(), state.target_velocities.as_array()],
        };
        let before = self.state.as_ref().map(|state| (state.controller_time, state.positions.as_array()));
        if !self.link.is_possible(&content, before) {
            return self.report_impossible(events);
        }
        let observation = self.link.observe(state.controller_time, arrival, now);
        if self.heard(&observation, now, events) {
            self.keep(state);
        }
    }

    /// Returns `true` if `content` can be a state of this arm, compared with the angles that were measured `before`.
    /// Otherwise the state is counted, reported at each power of ten, and discarded like a lost one.
    pub(in crate::engine) fn is_possible<E>(
        &mut self,
        content: &Content<'_, N>,
        before: Option<(ControllerTime, &[f32; N])>,
        events: &mut Events<E>,
    ) -> bool {
        let possible = self.link.is_possible(content, before);
        if !possible {
            self.report_impossible(events);
        }
        possible
    }

    #[cold]
    fn report_impossible<E>(&self, events: &mut Events<E>) {
        let count = self.link.impossible();
        if is_milestone(count.into()) {
            events.push(Event::Impossible(count));
        }
    }

    /// Passes the counter of a packet that was read to the link monitor. Returns the controller's time that the counter
    /// stands for if its state is the newest and is to be [stored](Self::keep).
    pub(in crate::engine) fn hear_counter<E, C: Counter>(
        &mut self,
        counter: C,
        arrival: Instant,
        now: Instant,
        events: &mut Events<E>,
    ) -> Option<ControllerTime> {
        let stamp = self.link.stamp_of(counter);
        let observation = self.link.observe_counter(counter, arrival, now);
        self.heard(&observation, now, events).then_some(stamp)
    }

    /// Carries out the link monitor's `observation` of a state that was read: reports a change of the link's grade or of
    /// the controller's clock, and ends commanding because of a fault of the link. Returns `true` if the state is the
    /// newest.
    fn heard<E>(&mut self, observation: &Observation, now: Instant, events: &mut Events<E>) -> bool {
        if let Some(change) = observation.change {
            events.push(Event::Grade(change));
        }
        if observation.sequence == Sequence::NewEpoch {
            // Measurements on the old clock cannot be compared with the new one.
            self.standstill.reset();
            self.judged_at = None;
            self.stream.stepped_at = None;
            events.push(Event::ClockJump(self.link.epoch()));
        }
        if let Some(reason) = observation.fault {
            self.fault(now, reason, events);
        }
        observation.sequence.is_newest()
    }
}

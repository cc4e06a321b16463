//! The decision about one state: mode machine first, then law and governor.

use super::evidence_gathering::gather;
use super::side_facts::{MotionProgress, SideFacts};
use super::streamed_motion::{StateContext, Streamed};
use super::{CycleMemory, Verdict};
use crate::command::JointMove;
#[cfg(feature = "programs")]
use crate::engine::event::Event;
use crate::engine::event::Events;
use crate::law::Law;
use crate::mode::{Action, Mode};
use crate::robot::Reason;
use outrigger_wire::robot::JointVelocities;
use outrigger_wire::time::Instant;

impl<const N: usize> CycleMemory<N> {
    /// Judges the newest state of the arm, once everything received is read: decides whether commanding may start or go
    /// on. Returns `true` if the robot's digital inputs were used to acknowledge the latched reasons against commanding,
    /// whether this was accepted or refused.
    pub(in crate::engine) fn judge<L: Law<N>, E>(
        &mut self,
        law: &L,
        facts: &SideFacts,
        executed: Option<MotionProgress>,
        arrival: Instant,
        now: Instant,
        events: &mut Events<E>,
    ) -> bool {
        let Some(watched) = self.watch(law, facts, executed.as_ref(), arrival, now) else { return false };
        let Some(state) = &self.state else { return false };
        let inputs = state.digital_inputs;
        let remembered = (&self.pendant, self.link.entry(), self.stream.pacer.config().zero_below);
        gather(&mut self.evidence, state, facts, executed.as_ref(), &watched, remembered, now);
        if self.mode.mode() == Mode::Offline {
            let transition = self.mode.established(now);
            self.after(transition, events);
        }
        if let Err(reason) = self.link.staying(now) {
            self.fault(now, reason, events);
        }
        let transition = if executed.is_some() {
            self.mode.observe(now, &self.evidence)
        } else {
            self.mode.observe_streamed(now, &self.evidence)
        };
        self.after(transition, events);
        #[cfg(feature = "programs")]
        self.judge_programs(now, events);
        let gap = self.link.config().stale_after;
        let outcome = self.operator.observe(inputs, watched.fresh, gap, &mut self.mode, &self.evidence, now);
        outcome.is_some_and(|outcome| self.carry_out(&outcome, now, events))
    }

    /// Checks the motion that a program on the controller executes, and ends commanding because of a fault in it.
    #[cfg(feature = "programs")]
    fn judge_programs<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let guided = self.state.as_ref().and_then(|state| self.guide.observe(&self.mode, &self.evidence, state, now));
        if let Some(reason) = guided {
            self.fault(now, reason, events);
        }
        self.report_hold(events);
        if let Some(reason) = self.move_end.observe(&self.mode, &self.evidence, self.mode.config(), now) {
            self.fault(now, reason, events);
        }
        let ended = self.resident.is_some_and(|watch| watch.has_ended());
        if ended && matches!(self.mode.mode(), Mode::Arming | Mode::Command) {
            // A stop of the robot, which also ends its program, has been judged before.
            self.fault(now, Reason::ProgramEnded, events);
        }
    }

    /// Reports a change of the reason that holds a motion which the controller executes.
    #[cfg(feature = "programs")]
    fn report_hold<E>(&mut self, events: &mut Events<E>) {
        let held = self.mode.held_by(&self.evidence);
        if held == self.held {
            return;
        }
        self.held = held;
        // A motion that has ended does not continue; a program that waits for one does.
        if held.is_some() || self.mode.unfinished_move().is_some() || self.mode.awaits_move() {
            events.push(Event::Held(held));
        }
    }

    /// Returns the command to send in this cycle; call it once per state. `asked` is the move that the controller was
    /// last requested to execute.
    ///
    /// # Errors
    /// The reason for which law, sensor or governor refuse. Pass it to [`fault`](Self::fault) and call this again.
    pub(in crate::engine) fn answer<'c, L: Law<N>, E>(
        &'c mut self,
        law: &mut L,
        asked: Option<&'c JointMove<N>>,
        now: Instant,
        events: &mut Events<E>,
    ) -> Result<Verdict<'c, N>, Reason> {
        #[cfg(feature = "programs")]
        let ending = self.guide.ending().or_else(|| self.move_end.cancels(&self.mode));
        #[cfg(feature = "programs")]
        let halted = if self.mode.is_halted() { self.mode.halted_by(&self.evidence, now) } else { None };
        match self.mode.action() {
            Action::Silent => Ok(Verdict::Silent),
            #[cfg(feature = "programs")]
            Action::Start(authority, number) if self.guide.is_on() => {
                self.following.reset();
                Ok(Verdict::Guide(authority, number))
            }
            Action::Start(authority, number) => {
                let (Some(asked), Some(state)) = (asked, self.state.as_ref()) else { return Err(Reason::Internal) };
                let approved = self.stream.governor.approve_move(authority, asked, state)?;
                // The streamed commands say nothing about the controller's target from now on.
                self.following.reset();
                Ok(Verdict::Start(approved, number))
            }
            #[cfg(feature = "programs")]
            Action::Keep => Ok(ending.map_or(Verdict::Keep, Verdict::Cancel)),
            #[cfg(not(feature = "programs"))]
            Action::Keep => Ok(Verdict::Keep),
            Action::Cancel(number) => Ok(Verdict::Cancel(number)),
            Action::Mirror => Ok(Verdict::Mirror),
            #[cfg(feature = "programs")]
            Action::Hold if let Some(why) = halted => {
                let period = self.link.config().period;
                let state = self.state.as_mut().ok_or(Reason::Internal)?;
                let newest = StateContext { state, kinematics: self.chain.as_ref(), period, now };
                let rests = self.evidence.at_rest.is_some_and(|rest| rest.value);
                self.stream.stand((why, rests), law, newest, events)?;
                self.following.sent(&JointVelocities::ZERO);
                (self.sent, self.spoke_at) = (true, now);
                Ok(Verdict::Hold)
            }
            Action::Hold => {
                self.following.sent(&JointVelocities::ZERO);
                (self.sent, self.spoke_at) = (true, now);
                Ok(Verdict::Hold)
            }
            Action::Stop => {
                self.following.sent(&JointVelocities::ZERO);
                (self.sent, self.spoke_at) = (true, now);
                Ok(Verdict::Stop)
            }
            Action::Move(authority) => {
                let period = self.link.config().period;
                let state = self.state.as_mut().ok_or(Reason::Internal)?;
                let newest = StateContext { state, kinematics: self.chain.as_ref(), period, now };
                let streamed = self.stream.next(authority, law, newest, events)?;
                (self.sent, self.spoke_at) = (true, now);
                match streamed {
                    Streamed::Speeds(approved) => {
                        self.following.sent(approved.velocities());
                        Ok(Verdict::Move(approved))
                    }
                    Streamed::Held => {
                        self.following.sent(&JointVelocities::ZERO);
                        Ok(Verdict::Hold)
                    }
                    #[cfg(feature = "motions")]
                    Streamed::Torques(approved) => {
                        self.following.sent(&JointVelocities::ZERO);
                        Ok(Verdict::Torque(approved))
                    }
                }
            }
        }
    }
}

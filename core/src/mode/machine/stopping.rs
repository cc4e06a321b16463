//! The behaviour of the mode machine from the end of commanding until the arm is known to be at rest.

use super::super::acceptance::Activity;
use super::super::delegated_moves::Delegation;
use super::super::evidence::Evidence;
use super::super::{Action, Mode, Transition};
use super::{ModeMachine, QUIET_STATES, Stopping, StrayStop};
use crate::robot::Reason;
use outrigger_wire::time::Instant;

impl ModeMachine {
    pub(super) fn stopping_action(&mut self, owed: bool) -> Action<'_> {
        match self.stopping {
            Stopping::Waiting | Stopping::Unsaid | Stopping::Quiet(_) => self.resting(owed),
            Stopping::Zeros(_) | Stopping::StopNext | Stopping::Cancelling if !owed => Action::Silent,
            Stopping::Cancelling => match &self.delegation {
                Some(delegation) if !delegation.is_over() => Action::Cancel(delegation.number()),
                Some(_) | None => Action::Keep,
            },
            Stopping::Zeros(left) => {
                self.stopping = match left.saturating_sub(1) {
                    0 => Stopping::StopNext,
                    left => Stopping::Zeros(left),
                };
                Action::Hold
            }
            Stopping::StopNext => {
                self.stopping = Stopping::Waiting;
                if let Some(delegation) = &mut self.delegation {
                    delegation.stopped();
                }
                Action::Stop
            }
        }
    }

    /// Stops sending motion text if the robot is known to take none, because its own safety system has taken over: any
    /// text would be a new program. A `stopj` that was due is not sent later, except one that ends a move on the
    /// controller.
    pub(super) fn fall_silent(&mut self) {
        if self.silenced {
            // `Cancel` is no motion text, and a move may continue when the robot's own stop ends: its `stopj` is
            // postponed.
            let ends_move = matches!(self.stopping, Stopping::Cancelling | Stopping::StopNext);
            let put_off = ends_move && self.delegation.is_some();
            self.stopping = if put_off {
                Stopping::Cancelling
            } else if self.stopping == Stopping::Waiting {
                Stopping::Waiting
            } else {
                Stopping::Unsaid
            };
            self.withdraw_stray_stop();
        }
    }

    pub(super) fn withdraw_stray_stop(&mut self) {
        if self.stray_stop == StrayStop::Next {
            self.stray_stop = StrayStop::Unused;
        }
    }

    pub(super) fn observe_stopping<const MOVES: bool>(
        &mut self,
        now: Instant,
        evidence: &Evidence,
    ) -> Option<Transition> {
        self.owe(now);
        self.heard = now;
        if let Stopping::Quiet(left) = self.stopping {
            self.stopping = match left.saturating_sub(1) {
                _ if evidence.slowing => Stopping::Quiet(QUIET_STATES),
                0 => Stopping::StopNext,
                left => Stopping::Quiet(left),
            };
        }
        let mut rest_from = self.entered;
        if MOVES && let Some(delegation) = &mut self.delegation {
            delegation.observe_cancelled(evidence, self.silenced, now);
            rest_from = delegation.rest_counts_from(rest_from);
        }
        if MOVES && self.stopping == Stopping::Cancelling {
            self.lose_patience(now);
        }
        let silent = !matches!(self.stopping, Stopping::Zeros(_) | Stopping::StopNext);
        if silent && evidence.rests_since(rest_from, &self.config) {
            let over = !MOVES || self.delegation.as_ref().is_none_or(Delegation::is_over);
            if over || self.silenced {
                if !over {
                    self.lose_sight(now);
                }
                let transition = self.transition(Mode::Monitor, self.latch.or(Some(self.released)), now);
                self.owed = !over;
                return Some(transition);
            }
            self.stop_program(now);
        }
        // The findings of this state count even if it arrives late.
        if now.since(self.entered) <= self.config.stop_timeout {
            return None;
        }
        let transition = self.give_up_stopping(now);
        self.owed = MOVES && self.delegation.is_some();
        Some(transition)
    }

    pub(super) fn watch_the_unknown<const MOVES: bool>(&mut self, now: Instant, evidence: &Evidence) {
        self.owed = true;
        self.withdraw_stray_stop();
        let shown = evidence.acceptance.newest_since(self.entered);
        let mut ours = self.stray_stop == StrayStop::IfPaused && shown.is_some();
        if ours && shown != Some(Activity::Paused) {
            // The program has ended, or was resumed, or another one was started.
            self.stray_stop = StrayStop::Used;
        }
        if let Some(since) = self.motion_unknown {
            ours |= self.moves_by_us::<MOVES>(since.max(self.entered), evidence);
        }
        if ours && self.stray_stop != StrayStop::Used && evidence.permits_text(now, self.config.evidence_age) {
            self.stray_stop = StrayStop::Next;
        }
    }

    /// Ends the state of unknown motion once the arm is at rest; returns `false` then. Until then returns `true` if the
    /// arm moves by our own command.
    pub(super) fn moves_by_us<const MOVES: bool>(&mut self, after: Instant, evidence: &Evidence) -> bool {
        if MOVES
            && let Some(delegation) = &mut self.delegation
            && delegation.has_ended(evidence, after)
        {
            self.delegation = None;
        }
        if (!MOVES || self.delegation.is_none()) && evidence.rests_since(after, &self.config) {
            self.motion_unknown = None;
            return false;
        }
        let left = MOVES && self.delegation.as_ref().is_some_and(|delegation| delegation.is_ours(evidence));
        left || evidence.moving_by_us.is_some_and(|held| held.value && held.at > after)
    }

    /// Makes the stop command the next output in `Stopping` if the arm, whose move is to end, has not slowed down for
    /// [`cancel_timeout`](crate::mode::DelegatedConfig::cancel_timeout) and the robot takes text.
    pub(super) fn lose_patience(&mut self, now: Instant) {
        let over = self.delegation.as_ref().is_some_and(|delegation| now > delegation.patience_ends(&self.config));
        if over && !self.silenced {
            self.stop_program(now);
        }
    }

    /// Makes the stop command the next output; it ends any program on the controller.
    pub(super) fn stop_program(&mut self, now: Instant) {
        self.stopping = Stopping::StopNext;
        if let Some(delegation) = &mut self.delegation {
            delegation.stops(now);
        }
        self.owe(now);
    }

    pub(super) fn give_up_stopping(&mut self, now: Instant) -> Transition {
        self.lose_sight(now);
        self.latch_reason(Reason::StopTimeout);
        self.transition(Mode::Monitor, Some(Reason::StopTimeout), now)
    }

    pub(super) fn lose_sight(&mut self, now: Instant) {
        self.latch_reason(Reason::MotionUnknown);
        self.motion_unknown = Some(now);
    }

    #[inline(never)]
    pub(super) fn owe(&mut self, now: Instant) {
        self.owed = true;
        // States arrive once per cycle; half a cycle later the machine continues without one.
        self.due = now + self.config.cycle.percent(150);
    }
}

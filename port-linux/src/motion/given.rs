//! Gives a move to the controller once it may be made, and notes how it goes.

use std::sync::{Arc, Mutex};

use outrigger_core::command::JointMove;
use outrigger_core::engine::{Engine, Peer};
use outrigger_core::law::Law;
use outrigger_core::mode::{Mirrored, Mode, MoveNumber, Offer};
use outrigger_core::robot::{JointPositions, Reason};
use outrigger_core::time::{Duration, Instant};

use super::under_way::Stage;

/// So long it may take, once commanding, until a move can be given away.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A move to be given away, and where is told how it goes.
#[derive(Debug)]
pub(crate) struct Giving<const N: usize> {
    asked: JointMove<N>,
    number: Option<MoveNumber>,
    offer: Offer,
    step: Step,
    cancelled: bool,
    told: Arc<Mutex<Given<N>>>,
}

/// How a move goes that the controller makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<const N: usize> {
    /// Where the arm is.
    pub(crate) at: Option<JointPositions<N>>,
    pub(crate) mode: Mode,
    pub(crate) step: Step,
    /// What the robot's slider and limiter let through.
    pub(crate) scaling: f32,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Waiting,
    Runs,
    /// The program says that it has ended, and the arm rests.
    Ended,
    Refused(Reason),
}

impl<const N: usize> Default for Given<N> {
    fn default() -> Self {
        Self { at: None, mode: Mode::Offline, step: Step::Waiting, scaling: 1.0 }
    }
}

impl<const N: usize> Giving<N> {
    pub(crate) const fn new(asked: JointMove<N>, told: Arc<Mutex<Given<N>>>) -> Self {
        Self { asked, number: None, offer: Offer::new(PATIENCE), step: Step::Waiting, cancelled: false, told }
    }

    /// Somebody ends it: it is not given away any more.
    pub(super) const fn cancel(&mut self) {
        self.cancelled = true;
    }

    /// How it stands, where the arm is commanded or not.
    pub(super) fn stands(&self, commanded: bool) -> Stage {
        match self.step {
            Step::Ended => Stage::Done,
            Step::Refused(reason) => Stage::Refused(reason),
            Step::Waiting | Step::Runs if !commanded => Stage::Stopped,
            Step::Waiting => Stage::Waits,
            Step::Runs => Stage::Runs,
        }
    }

    pub(super) fn observe<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let step = match (self.number, engine.mode()) {
            (None, _) if self.cancelled => Some(Step::Ended),
            (None, Mode::Command) => self.give(engine, now),
            (Some(number), Mode::Command) => {
                let evidence = engine.evidence();
                let ended = evidence.mirrored.is_some_and(|held| held.value == Mirrored::Ended(number));
                let rests = evidence.at_rest.is_some_and(|held| held.value);
                Some(if ended && rests { Step::Ended } else { Step::Runs })
            }
            _ => None,
        };
        if self.step != Step::Ended {
            self.step = step.unwrap_or(self.step);
        }
        // Somebody looks at it just now: the next state is soon enough.
        if let Ok(mut told) = self.told.try_lock() {
            told.mode = engine.mode();
            if let Some(state) = engine.state() {
                (told.at, told.scaling) = (Some(state.positions), state.scaling());
            }
            told.step = self.step;
        }
    }

    fn give<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) -> Option<Step> {
        match self.offer.judge(engine.offer(self.asked, now), now)? {
            Ok(number) => {
                self.number = Some(number);
                Some(Step::Runs)
            }
            Err(reason) => Some(Step::Refused(reason)),
        }
    }
}

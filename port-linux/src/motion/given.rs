//! Gives a move to the controller once it may be made, and notes how it goes.

use std::sync::{Arc, Mutex};

use outrigger_core::command::JointMove;
use outrigger_core::engine::{Engine, Peer};
use outrigger_core::law::Law;
use outrigger_core::mode::{Mirrored, Mode, MoveNumber};
use outrigger_core::robot::{JointPositions, Reason};
use outrigger_core::time::{Duration, Instant};

/// So long it may take, once commanding, until a move can be given away.
const PATIENCE: Duration = Duration::from_secs(5);

/// A move to be given away, and where is told how it goes.
#[derive(Debug)]
pub(crate) struct Giving<const N: usize> {
    asked: JointMove<N>,
    number: Option<MoveNumber>,
    since: Option<Instant>,
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
        Self { asked, number: None, since: None, told }
    }

    pub(super) fn observe<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let step = match (self.number, engine.mode()) {
            (None, Mode::Command) => self.give(engine, now),
            (Some(number), Mode::Command) => {
                let evidence = engine.evidence();
                let ended = evidence.mirrored.is_some_and(|held| held.value == Mirrored::Ended(number));
                let rests = evidence.at_rest.is_some_and(|held| held.value);
                Some(if ended && rests { Step::Ended } else { Step::Runs })
            }
            _ => None,
        };
        // Somebody looks at it just now: the next state is soon enough.
        if let Ok(mut told) = self.told.try_lock() {
            told.mode = engine.mode();
            if let Some(state) = engine.state() {
                (told.at, told.scaling) = (Some(state.positions), state.scaling());
            }
            if told.step != Step::Ended {
                told.step = step.unwrap_or(told.step);
            }
        }
    }

    fn give<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) -> Option<Step> {
        match offered(engine, self.asked, &mut self.since, now)? {
            Ok(number) => {
                self.number = Some(number);
                Some(Step::Runs)
            }
            Err(reason) => Some(Step::Refused(reason)),
        }
    }
}

/// Asks for the move, which was first asked for at `since`: `None` where what speaks against it will pass.
pub(super) fn offered<const N: usize, P: Peer<N>, L: Law<N>>(
    engine: &mut Engine<'_, N, P, L>,
    asked: JointMove<N>,
    since: &mut Option<Instant>,
    now: Instant,
) -> Option<Result<MoveNumber, Reason>> {
    let patient = now.since(*since.get_or_insert(now)) <= PATIENCE;
    match engine.offer(asked, now) {
        Err(Reason::NotAtRest | Reason::EvidenceMissing | Reason::HeldByScaling) if patient => None,
        answer => Some(answer),
    }
}

//! Gives a move to the controller once it may be made, and notes how it goes.

use std::sync::{Arc, Mutex};

use outrigger_core::command::{Destination, JointMove, LocateError, MoveTarget};
use outrigger_core::engine::{Engine, Peer};
use outrigger_core::law::Law;
use outrigger_core::mode::{Mirrored, Mode, MoveNumber};
use outrigger_core::robot::{JointPositions, Pose, Reason};
use outrigger_core::time::{Duration, Instant};

/// So long it may take, once commanding, until a move can be given away.
const PATIENCE: Duration = Duration::from_secs(5);

/// A move that was asked for: joint speeds \[rad/s, rad/s²\], or those of the tool on a line \[m/s, m/s²\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<const N: usize> {
    pub(crate) target: MoveTarget<N>,
    pub(crate) speed: f32,
    pub(crate) acceleration: f32,
}

/// A move to be given away, and where is told how it goes.
#[derive(Debug)]
pub(crate) struct Giving<const N: usize> {
    asked: Asked<N>,
    /// The controller was asked where that is, and has said so.
    is_asked: bool,
    destination: Option<Destination<N>>,
    number: Option<MoveNumber>,
    since: Option<Instant>,
    told: Arc<Mutex<Given<N>>>,
}

/// How a move goes that the controller makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<const N: usize> {
    /// Where the arm is.
    pub(crate) at: Option<JointPositions<N>>,
    pub(crate) tool: Option<Pose>,
    /// Where the move leads, once that is known.
    pub(crate) destination: Option<Destination<N>>,
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
    /// There is no such place.
    NotFound(LocateError),
}

impl<const N: usize> Default for Given<N> {
    fn default() -> Self {
        Self { at: None, tool: None, destination: None, mode: Mode::Offline, step: Step::Waiting, scaling: 1.0 }
    }
}

impl<const N: usize> Giving<N> {
    pub(crate) const fn new(asked: Asked<N>, told: Arc<Mutex<Given<N>>>) -> Self {
        Self { asked, is_asked: false, destination: None, number: None, since: None, told }
    }

    pub(super) fn observe<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) {
        let step = match (self.number, engine.mode()) {
            (None, _) => self.give(engine, now),
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
                (told.at, told.tool, told.scaling) = (Some(state.positions), state.tcp_pose, state.scaling());
            }
            told.destination = self.destination;
            // What came of it stays so, whatever follows.
            if matches!(told.step, Step::Waiting | Step::Runs) {
                told.step = step.unwrap_or(told.step);
            }
        }
    }

    fn give<P: Peer<N>, L: Law<N>>(&mut self, engine: &mut Engine<'_, N, P, L>, now: Instant) -> Option<Step> {
        let commands = engine.mode() == Mode::Command;
        if commands && !self.is_asked {
            self.is_asked = true;
            if let Err(reason) = engine.locate(self.asked.target) {
                return Some(Step::Refused(reason));
            }
        }
        if !self.is_asked {
            return None;
        }
        let destination = match engine.located()? {
            Ok(destination) => *self.destination.insert(destination),
            Err(error) => return Some(Step::NotFound(error)),
        };
        if !commands {
            return None;
        }
        let Asked { speed, acceleration, .. } = self.asked;
        let Some(asked) = JointMove::towards(destination, speed, acceleration) else {
            return Some(Step::Refused(Reason::Internal));
        };
        match offered(engine, asked, &mut self.since, now)? {
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

//! The demo's story: arm, work, lose the link, recover, lose the sensor, recover, end. An operator who follows a
//! script; every step has a deadline, so that the story ends whatever happens.

use outrigger_core::engine::Input;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_core::time::{Duration, Instant};

/// How long to wait for one step.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long a fallback is looked at before it is acknowledged.
const PAUSE: Duration = Duration::from_millis(2_500);
/// How often a machine that is too busy is given another chance.
const ATTEMPTS: u8 = 10;
/// The same where nothing was to be seen.
const SHORT_PAUSE: Duration = Duration::from_millis(500);

/// What is done to the arm's surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing crosses the connections of states and commands for a while.
    LinkStall,
    /// The sensor's cable is pulled.
    SensorCable,
}

impl Fault {
    /// What commanding may end with. A stalled stream is seen by its age and by its missing states, whichever
    /// limit is reached first.
    pub(super) const fn expected(self) -> &'static [Reason] {
        match self {
            Self::LinkStall => &[Reason::StateStale, Reason::StatesMissed],
            Self::SensorCable => &[Reason::SourceStale],
        }
    }

    /// The same on a picture.
    pub(super) const fn short(self) -> &'static str {
        match self {
            Self::LinkStall => "link stands still",
            Self::SensorCable => "sensor unplugged",
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::LinkStall => "the link stalls: nothing crosses the connections of states and commands for 300 ms",
            Self::SensorCable => "the sensor's cable is pulled",
        }
    }
}

/// What the script asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ask {
    /// An input of the engine.
    Engine(Input),
    /// Something goes wrong.
    Inject(Fault),
    /// It is put right.
    Repair(Fault),
    /// The story is over.
    End,
}

/// What the script looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) now: Instant,
    pub(super) mode: Mode,
    pub(super) epoch: Epoch,
    pub(super) latch: Option<Reason>,
    pub(super) unmet: ReasonSet,
}

/// One fault and what followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) fault: Fault,
    /// When it is due.
    due: Instant,
    pub(super) injected: Option<Instant>,
    /// When commanding ended, and why.
    pub(super) fell_back: Option<(Instant, Reason)>,
    pub(super) at_rest: Option<Instant>,
    pub(super) re_armed: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Until nothing speaks against commanding.
    Ready,
    /// Until commanding.
    Arming,
    /// Until the next fault, or the end.
    Working,
    /// Until commanding has ended and the arm rests, after a fault of the story.
    FallingBack,
    /// The same, where the story has none: this machine was too busy.
    Recovering,
    /// Looking at the latched reason.
    Pausing,
    /// Until the arm rests at the end.
    Ending,
    Over,
}

/// The story as far as it has been told.
#[derive(Clone, Debug)]
pub(super) struct Script {
    step: Step,
    /// When the step began.
    since: Instant,
    /// How long to look at what happened.
    pause: Duration,
    end: Instant,
    /// How often commanding that ended, or arming that was broken off, without a fault of the story may be tried again.
    attempts_left: u8,
    /// When and why that was.
    pub(super) unplanned: Vec<(Instant, Reason)>,
    current: usize,
    pub(super) rounds: Vec<Round>,
    pub(super) requested: Option<Instant>,
    pub(super) armed: Option<Instant>,
    /// When the arm was at rest after the last release.
    pub(super) ended: Option<Instant>,
}

impl Script {
    /// A story of `seconds`, beginning at `now`.
    pub(super) fn new(now: Instant, seconds: u64) -> Self {
        let at = |percent| now + Duration::from_secs(seconds).percent(percent);
        let round = |fault, due| Round { fault, due, injected: None, fell_back: None, at_rest: None, re_armed: None };
        Self {
            step: Step::Ready,
            since: now,
            pause: PAUSE,
            end: at(95),
            attempts_left: ATTEMPTS,
            unplanned: Vec::new(),
            current: 0,
            rounds: vec![round(Fault::LinkStall, at(38)), round(Fault::SensorCable, at(67))],
            requested: None,
            armed: None,
            ended: None,
        }
    }

    /// Whether every step was told.
    pub(super) fn is_complete(&self) -> bool {
        self.ended.is_some() && self.rounds.iter().all(|round| round.re_armed.is_some())
    }

    /// The mode changed because of `reason`.
    pub(super) fn fell_back(&mut self, at: Instant, reason: Reason) {
        match self.rounds.get_mut(self.current).filter(|_| self.step == Step::FallingBack) {
            Some(round) => {
                round.fell_back.get_or_insert((at, reason));
            }
            None if !reason.is_release() && self.step != Step::Recovering => self.unplanned.push((at, reason)),
            None => {}
        }
    }

    /// What to do now, one thing at a time.
    pub(super) fn next(&mut self, sight: Sight) -> Option<Ask> {
        let Sight { now, mode, epoch, latch, unmet } = sight;
        if !matches!(self.step, Step::Working | Step::Over) && now.since(self.since) > PATIENCE {
            return self.end_early(now);
        }
        let first = self.armed.is_none();
        match self.step {
            Step::Ready if mode == Mode::Monitor && unmet.is_empty() => {
                self.requested.get_or_insert(now);
                self.go(Step::Arming, now);
                Some(Ask::Engine(Input::Request(epoch)))
            }
            Step::Arming if mode == Mode::Command => {
                self.go(Step::Working, now);
                if first {
                    self.armed = Some(now);
                } else if let Some(round) = self.rounds.get_mut(self.current).filter(|round| round.at_rest.is_some()) {
                    round.re_armed = Some(now);
                    self.current += 1;
                }
                None
            }
            Step::Arming if mode == Mode::Monitor && latch.is_some() => self.try_again(now),
            Step::Recovering if mode == Mode::Monitor => {
                self.pause = SHORT_PAUSE;
                self.go(Step::Pausing, now);
                None
            }
            Step::Working => self.work(now, mode),
            Step::FallingBack if mode == Mode::Monitor && latch.is_some() => {
                let round = self.rounds.get_mut(self.current)?;
                round.at_rest = Some(now);
                let fault = round.fault;
                self.pause = PAUSE;
                self.go(Step::Pausing, now);
                Some(Ask::Repair(fault))
            }
            Step::Pausing if now.since(self.since) > self.pause => {
                self.go(Step::Ready, now);
                Some(Ask::Engine(Input::Acknowledge))
            }
            Step::Ending if mode == Mode::Monitor => {
                self.ended = Some(now);
                self.go(Step::Over, now);
                Some(Ask::End)
            }
            _ => None,
        }
    }

    fn work(&mut self, now: Instant, mode: Mode) -> Option<Ask> {
        match self.rounds.get_mut(self.current) {
            Some(round) if now >= round.due => {
                round.injected = Some(now);
                let fault = round.fault;
                self.go(Step::FallingBack, now);
                Some(Ask::Inject(fault))
            }
            None if now >= self.end => {
                self.go(Step::Ending, now);
                Some(Ask::Engine(Input::Release))
            }
            _ if mode != Mode::Command => self.try_again(now),
            _ => None,
        }
    }

    /// An operator looks at what happened without a fault of the story, and asks again; but not for ever.
    fn try_again(&mut self, now: Instant) -> Option<Ask> {
        if self.attempts_left == 0 {
            return self.end_early(now);
        }
        self.attempts_left -= 1;
        self.go(Step::Recovering, now);
        None
    }

    fn end_early(&mut self, now: Instant) -> Option<Ask> {
        self.go(Step::Over, now);
        Some(Ask::End)
    }

    fn go(&mut self, step: Step, now: Instant) {
        self.step = step;
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(seconds: u64, mode: Mode, latch: Option<Reason>, ready: bool) -> Sight {
        let unmet = if ready { ReasonSet::EMPTY } else { ReasonSet::EMPTY.with(Reason::GradeLow) };
        let epoch = Epoch::default();
        Sight { now: Instant::ZERO + Duration::from_secs(seconds), mode, epoch, latch, unmet }
    }

    #[test]
    fn the_story_is_told_to_its_end() {
        let mut script = Script::new(Instant::ZERO, 100);
        assert_eq!(script.next(sight(1, Mode::Monitor, None, false)), None);
        assert_eq!(
            script.next(sight(2, Mode::Monitor, None, true)),
            Some(Ask::Engine(Input::Request(Epoch::default())))
        );
        assert_eq!(script.next(sight(3, Mode::Command, None, true)), None);
        for (due, fault) in [(38, Fault::LinkStall), (67, Fault::SensorCable)] {
            assert_eq!(script.next(sight(due - 1, Mode::Command, None, true)), None);
            assert_eq!(script.next(sight(due, Mode::Command, None, true)), Some(Ask::Inject(fault)));
            let (at, latch) = (Instant::ZERO + Duration::from_secs(due), fault.expected().first().copied());
            script.fell_back(at, fault.expected()[0]);
            assert_eq!(script.next(sight(due, Mode::Stopping, latch, false)), None);
            assert_eq!(script.next(sight(due + 1, Mode::Monitor, latch, false)), Some(Ask::Repair(fault)));
            assert_eq!(script.next(sight(due + 4, Mode::Monitor, latch, false)), Some(Ask::Engine(Input::Acknowledge)));
            assert_eq!(
                script.next(sight(due + 5, Mode::Monitor, None, true)),
                Some(Ask::Engine(Input::Request(Epoch::default())))
            );
            assert_eq!(script.next(sight(due + 6, Mode::Command, None, true)), None);
        }
        assert_eq!(script.next(sight(95, Mode::Command, None, true)), Some(Ask::Engine(Input::Release)));
        assert!(!script.is_complete());
        assert_eq!(script.next(sight(96, Mode::Monitor, None, true)), Some(Ask::End));
        assert!(script.is_complete());
    }

    #[test]
    fn a_step_that_never_comes_ends_the_story_incomplete() {
        let mut script = Script::new(Instant::ZERO, 100);
        assert_eq!(script.next(sight(9, Mode::Monitor, None, false)), Some(Ask::End));
        assert!(!script.is_complete());
    }

    #[test]
    fn arming_that_is_broken_off_is_acknowledged_and_tried_again() {
        let mut script = Script::new(Instant::ZERO, 100);
        script.next(sight(2, Mode::Monitor, None, true));
        let latch = Some(Reason::NotAtRest);
        assert_eq!(script.next(sight(3, Mode::Arming, None, true)), None);
        assert_eq!(script.next(sight(4, Mode::Monitor, latch, false)), None);
        assert_eq!(script.next(sight(4, Mode::Monitor, latch, false)), None);
        assert_eq!(script.next(sight(7, Mode::Monitor, latch, false)), Some(Ask::Engine(Input::Acknowledge)));
        assert_eq!(
            script.next(sight(8, Mode::Monitor, None, true)),
            Some(Ask::Engine(Input::Request(Epoch::default())))
        );
    }

    #[test]
    fn commanding_that_ends_without_a_fault_is_noted_and_not_tried_for_ever() {
        let mut script = Script::new(Instant::ZERO, 1_000);
        let latch = Some(Reason::LocalStall);
        let mut told = Vec::new();
        for second in (0..200).step_by(10) {
            script.next(sight(second, Mode::Monitor, None, true));
            script.next(sight(second + 1, Mode::Command, None, true));
            script.fell_back(Instant::ZERO + Duration::from_secs(second + 2), Reason::LocalStall);
            told.extend(script.next(sight(second + 2, Mode::Stopping, latch, false)));
            script.next(sight(second + 3, Mode::Monitor, latch, false));
            told.extend(script.next(sight(second + 6, Mode::Monitor, latch, false)));
        }
        let acknowledged = told.iter().filter(|ask| **ask == Ask::Engine(Input::Acknowledge)).count();
        assert_eq!((acknowledged, told.last()), (usize::from(ATTEMPTS), Some(&Ask::End)));
        assert!(script.unplanned.len() > usize::from(ATTEMPTS) && !script.is_complete());
    }
}

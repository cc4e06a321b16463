//! The demo's scenario: arm, work, lose the link, recover, lose the sensor, recover, end. It acts as an operator who
//! follows a script; every step has a deadline, so that the scenario ends whatever happens.

use outrigger_core::engine::Input;
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::time::{Duration, Instant};

/// The longest wait for one step of the demo's scenario. After it, the scenario ends early.
const PATIENCE: Duration = Duration::from_secs(8);
/// The time from the arm's standstill after an injected fault to the operator's acknowledgement, by the system's clock.
const PAUSE: Duration = Duration::from_millis(2_500);
/// The shortest time from the arm's standstill after an injected fault to the operator's acknowledgement, by the
/// session's clock. Meanwhile the arm is observed at standstill, and queued text arrives.
const LEAST_PAUSE: Duration = Duration::from_millis(900);
/// The time from standstill to the acknowledgement if commanding or arming ended without an injected fault.
const SHORT_PAUSE: Duration = Duration::from_millis(500);
/// The largest number of times that the arm is commanded again after commanding ended without an injected fault.
pub(super) const RE_ARMINGS: usize = 3;
/// The time after the beginning of commanding in which the error of the distance does not count yet, because the tool
/// approaches the workpiece.
pub(super) const SETTLING: Duration = Duration::from_secs(4);
/// The shortest time for which the arm is commanded before the scenario injects the next fault, or ends.
const WORKING: Duration = Duration::from_secs(5);
/// The shortest duration of a scenario whose time is slowed, by the session's clock: its steps cannot be shortened.
const LEAST: Duration = Duration::from_secs(16);

/// A fault that the scenario injects into the simulated arm's surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// No data passes on the connections of states and commands for a while.
    LinkStall,
    /// The cable of the distance sensor is pulled.
    SensorCable,
}

impl Fault {
    /// Returns the reasons for which commanding may end after this fault. A stalled link is noticed by the age of the
    /// newest state or by missing states, whichever limit is reached first.
    pub(super) const fn expected(self) -> &'static [Reason] {
        match self {
            Self::LinkStall => &[Reason::StateStale, Reason::StatesMissed],
            Self::SensorCable => &[Reason::SourceStale],
        }
    }

    /// Returns a short name of the fault for the demo's report.
    pub(super) const fn short(self) -> &'static str {
        match self {
            Self::LinkStall => "network stall",
            Self::SensorCable => "sensor unplugged",
        }
    }

    /// Describes the fault, with a link stall of length `stall`.
    pub(super) fn text(self, stall: Duration) -> String {
        match self {
            Self::LinkStall => {
                format!("network stall: states and commands are not delivered for {} ms", stall.as_millis())
            }
            Self::SensorCable => "sensor cable unplugged".into(),
        }
    }
}

/// An action that the script requires from its caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ask {
    /// Pass this input of the simulated operator to the engine.
    Engine(Input),
    /// Cause this fault in the simulated arm's surroundings.
    Inject(Fault),
    /// Repair this fault in the simulated arm's surroundings.
    Repair(Fault),
    /// Slow the session's time if that helps, because this machine paused a program for this long.
    Slow(Duration),
    /// End the demo's scenario, after its last step or early.
    End,
}

/// The state of the session by which the demo's script decides about its next step.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) now: Instant,
    pub(super) mode: Mode,
    pub(super) epoch: Epoch,
    pub(super) latch: Option<Reason>,
    pub(super) unmet: ReasonSet,
    /// `true` if the workpiece moves fast enough for a fault to have an effect.
    pub(super) moves: bool,
}

/// A function that returns the length of the pause of this machine that explains why commanding ended at that time for
/// that reason; `None` if no pause explains it.
pub(super) type Paused<'a> = &'a dyn Fn(Instant, Reason) -> Option<Duration>;

/// An end of commanding or of arming that the scenario did not cause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    pub(super) at: Instant,
    pub(super) reason: Reason,
    /// The length of the pause of this machine that explains the stop; `None` if no pause explains it.
    pub(super) paused: Option<Duration>,
    pub(super) at_rest: Option<Instant>,
}

/// A round of the demo's scenario: an injected fault, the end of commanding that it causes, and the resumption.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) fault: Fault,
    /// The earliest time at which the fault is injected.
    due: Instant,
    pub(super) injected: Option<Instant>,
    /// The time at which commanding ended after the injected fault, and the reason; `None` until then.
    pub(super) fell_back: Option<(Instant, Reason)>,
    pub(super) at_rest: Option<Instant>,
    pub(super) re_armed: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Waiting until every precondition of commanding holds.
    Ready,
    /// Waiting until the requested commanding of the arm has begun.
    Arming,
    /// Commanding the arm until the next fault, or until the end of the scenario.
    Working,
    /// Waiting until commanding has ended and the arm rests, after a fault of the scenario.
    FallingBack,
    /// Waiting until the arm rests after a fallback that the scenario did not cause.
    Recovering,
    /// Waiting for a while, so that a user can read why commanding ended, before the simulated operator acknowledges
    /// it.
    Pausing,
    /// Waiting until the arm is at standstill after the simulated operator has ended commanding at the scenario's end.
    Ending,
    Over,
}

/// The progress of the demo's scenario: the current step, the faults and the stops.
#[derive(Clone, Debug)]
pub(super) struct Script {
    step: Step,
    /// The time at which the current step of the scenario began.
    since: Instant,
    /// The time for which the reason why commanding ended is shown before it is acknowledged.
    pause: Duration,
    /// The factor by which the scenario's time passes slower than the system's.
    slowed: u32,
    end: Instant,
    /// The newest end of commanding or of arming, until its cause is determined.
    under_review: Option<Stop>,
    /// Every end of commanding or of arming that the scenario did not cause.
    pub(super) stops: Vec<Stop>,
    current: usize,
    pub(super) rounds: Vec<Round>,
    pub(super) requested: Option<Instant>,
    pub(super) armed: Option<Instant>,
    /// The time at which the arm was at standstill after the simulated operator had ended commanding at the scenario's
    /// end.
    pub(super) ended: Option<Instant>,
}

impl Script {
    /// Creates the script of a demo that begins at `now` and takes `seconds` by the system's clock. It takes longer if
    /// time is slowed so far that its steps do not fit into them.
    pub(super) fn new(now: Instant, seconds: u64, slowed: u32) -> Self {
        let whole =
            Duration::from_micros(Duration::from_secs(seconds).as_micros() / u64::from(slowed.max(1))).max(LEAST);
        let at = |percent| now + whole.percent(percent);
        let round = |fault, due| Round { fault, due, injected: None, fell_back: None, at_rest: None, re_armed: None };
        Self {
            step: Step::Ready,
            since: now,
            pause: PAUSE,
            slowed,
            end: at(95),
            under_review: None,
            stops: Vec::new(),
            current: 0,
            rounds: vec![round(Fault::LinkStall, at(38)), round(Fault::SensorCable, at(67))],
            requested: None,
            armed: None,
            ended: None,
        }
    }

    /// Adapts the script to time of the session that passes `slowed` times slower than the system's from `now` on: the
    /// remaining faults and the end become due at once.
    pub(super) fn slow(&mut self, now: Instant, slowed: u32) {
        self.slowed = slowed;
        self.end = self.end.min(now);
        for round in self.rounds.iter_mut().skip(self.current) {
            round.due = round.due.min(now);
        }
    }

    /// Returns `true` if commanding was resumed after each fault of the demo's scenario, and the arm was at standstill
    /// at the end.
    pub(super) fn is_complete(&self) -> bool {
        self.ended.is_some() && self.rounds.iter().all(|round| round.re_armed.is_some())
    }

    /// Returns each end of commanding or of arming that a pause of this machine caused, with the length of that pause.
    pub(super) fn by_this_machine(&self) -> impl Iterator<Item = (&Stop, Duration)> {
        self.stops.iter().filter_map(|stop| Some((stop, stop.paused?)))
    }

    /// Records the end of commanding or of arming at `at`, because of `reason`. A release by the operator is expected
    /// and not recorded, except directly after an injected fault.
    pub(super) fn fell_back(&mut self, at: Instant, reason: Reason) {
        match self.rounds.get_mut(self.current).filter(|_| self.step == Step::FallingBack) {
            Some(round) => {
                round.fell_back.get_or_insert((at, reason));
            }
            None if !reason.is_release() && matches!(self.step, Step::Arming | Step::Working) => {
                self.under_review.get_or_insert(Stop { at, reason, paused: None, at_rest: None });
            }
            // At the end the arm is to come to rest by the release.
            None if !reason.is_release() && self.step == Step::Ending => {
                self.stops.push(Stop { at, reason, paused: None, at_rest: None });
            }
            None => {}
        }
    }

    /// Returns the next action that the scenario requires, one at a time; `None` if none is due. `paused` finds the
    /// pause of this machine that explains an end of commanding.
    pub(super) fn next(&mut self, sight: View, paused: Paused<'_>) -> Option<Ask> {
        let View { now, mode, epoch, latch, unmet, .. } = sight;
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
            Step::Arming if mode == Mode::Monitor && latch.is_some() => self.recover(now),
            Step::Recovering if mode == Mode::Monitor => {
                self.under_review.iter_mut().for_each(|stop| stop.at_rest = Some(now));
                self.pause = SHORT_PAUSE;
                self.go(Step::Pausing, now);
                None
            }
            Step::Working => self.work(sight),
            Step::FallingBack if mode == Mode::Monitor && latch.is_some() => {
                let round = self.rounds.get_mut(self.current)?;
                round.at_rest = Some(now);
                let fault = round.fault;
                self.pause = Duration::from_micros(PAUSE.as_micros() / u64::from(self.slowed)).max(LEAST_PAUSE);
                self.go(Step::Pausing, now);
                Some(Ask::Repair(fault))
            }
            Step::Pausing if now.since(self.since) > self.pause => self.review(now, paused),
            Step::Ending if mode == Mode::Monitor => {
                self.ended = Some(now);
                self.go(Step::Over, now);
                Some(Ask::End)
            }
            _ => None,
        }
    }

    fn work(&mut self, sight: View) -> Option<Ask> {
        let View { now, mode, moves, .. } = sight;
        if mode != Mode::Command {
            return self.recover(now);
        }
        let worked = now.since(self.since) >= WORKING;
        match self.rounds.get_mut(self.current) {
            Some(round) if now >= round.due && worked && moves => {
                round.injected = Some(now);
                let fault = round.fault;
                self.go(Step::FallingBack, now);
                Some(Ask::Inject(fault))
            }
            None if now >= self.end && worked => {
                self.go(Step::Ending, now);
                Some(Ask::Engine(Input::Release))
            }
            _ => None,
        }
    }

    /// Starts the recovery after commanding ended without a fault of the scenario.
    fn recover(&mut self, now: Instant) -> Option<Ask> {
        self.go(Step::Recovering, now);
        None
    }

    /// Determines the cause of an end of commanding, once the arm rests and the pauses of this machine are recorded. If
    /// no fault of the scenario caused it, the arm is commanded again a few times whatever the cause: an unexplained
    /// end fails its check anyway.
    fn review(&mut self, now: Instant, paused: Paused<'_>) -> Option<Ask> {
        if let Some(round) = self.rounds.get_mut(self.current)
            && let (Some((at, reason)), Some(_)) = (round.fell_back, round.at_rest)
            && !round.fault.expected().contains(&reason)
            && let Some(length) = paused(at, reason)
        {
            // A pause of the machine preceded the fault, so the round is repeated.
            self.under_review = Some(Stop { at, reason, paused: Some(length), at_rest: round.at_rest });
            *round = Round { due: now, injected: None, fell_back: None, at_rest: None, ..*round };
        }
        if let Some(stop) = self.under_review.take() {
            let length = stop.paused.or_else(|| paused(stop.at, stop.reason));
            self.stops.push(Stop { paused: length, ..stop });
            if self.stops.len() > RE_ARMINGS {
                return self.end_early(now);
            }
            if let Some(length) = length {
                // The same step continues with the next action that is due.
                return Some(Ask::Slow(length));
            }
        }
        self.go(Step::Ready, now);
        Some(Ask::Engine(Input::Acknowledge))
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

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn sight(seconds: u64, mode: Mode, latch: Option<Reason>, ready: bool) -> View {
        let unmet = if ready { ReasonSet::EMPTY } else { ReasonSet::EMPTY.with(Reason::GradeLow) };
        View { now: at(seconds), mode, epoch: Epoch::default(), latch, unmet, moves: true }
    }

    /// Returns `None`: no stop is explained by a pause, as on a machine without pauses.
    fn quiet(_: Instant, _: Reason) -> Option<Duration> {
        None
    }

    fn paused(_: Instant, reason: Reason) -> Option<Duration> {
        (reason == Reason::LocalStall).then_some(Duration::from_millis(90))
    }

    fn armed(seconds: u64) -> Script {
        let mut script = Script::new(Instant::ZERO, seconds, 1);
        script.next(sight(2, Mode::Monitor, None, true), &quiet);
        assert_eq!(script.next(sight(3, Mode::Command, None, true), &quiet), None);
        script
    }

    const REQUEST: Option<Ask> = Some(Ask::Engine(Input::Request(Epoch::from_number(0))));
    const ACKNOWLEDGE: Option<Ask> = Some(Ask::Engine(Input::Acknowledge));

    #[test]
    fn the_story_is_told_to_its_end() {
        let mut script = Script::new(Instant::ZERO, 100, 1);
        let next = |script: &mut Script, sight: View| script.next(sight, &quiet);
        assert_eq!(next(&mut script, sight(1, Mode::Monitor, None, false)), None);
        assert_eq!(next(&mut script, sight(2, Mode::Monitor, None, true)), REQUEST);
        assert_eq!(next(&mut script, sight(3, Mode::Command, None, true)), None);
        for (due, fault) in [(38, Fault::LinkStall), (67, Fault::SensorCable)] {
            assert_eq!(next(&mut script, sight(due - 1, Mode::Command, None, true)), None);
            assert_eq!(next(&mut script, View { moves: false, ..sight(due, Mode::Command, None, true) }), None);
            assert_eq!(next(&mut script, sight(due, Mode::Command, None, true)), Some(Ask::Inject(fault)));
            let latch = fault.expected().first().copied();
            script.fell_back(at(due), fault.expected()[0]);
            assert_eq!(next(&mut script, sight(due, Mode::Stopping, latch, false)), None);
            assert_eq!(next(&mut script, sight(due + 1, Mode::Monitor, latch, false)), Some(Ask::Repair(fault)));
            assert_eq!(next(&mut script, sight(due + 4, Mode::Monitor, latch, false)), ACKNOWLEDGE);
            assert_eq!(next(&mut script, sight(due + 5, Mode::Monitor, None, true)), REQUEST);
            assert_eq!(next(&mut script, sight(due + 6, Mode::Command, None, true)), None);
        }
        assert_eq!(next(&mut script, sight(95, Mode::Command, None, true)), Some(Ask::Engine(Input::Release)));
        assert!(!script.is_complete());
        assert_eq!(next(&mut script, sight(96, Mode::Monitor, None, true)), Some(Ask::End));
        assert!(script.is_complete() && script.stops.is_empty());
    }

    #[test]
    fn a_step_that_never_comes_ends_the_story_incomplete() {
        let mut script = Script::new(Instant::ZERO, 100, 1);
        assert_eq!(script.next(sight(9, Mode::Monitor, None, false), &quiet), Some(Ask::End));
        assert!(!script.is_complete());
    }

    #[test]
    fn arming_that_is_broken_off_is_acknowledged_and_tried_again() {
        let mut script = Script::new(Instant::ZERO, 100, 1);
        script.next(sight(2, Mode::Monitor, None, true), &quiet);
        let latch = Some(Reason::NotAtRest);
        assert_eq!(script.next(sight(3, Mode::Arming, None, true), &quiet), None);
        script.fell_back(at(4), Reason::NotAtRest);
        assert_eq!(script.next(sight(4, Mode::Monitor, latch, false), &quiet), None);
        assert_eq!(script.next(sight(4, Mode::Monitor, latch, false), &quiet), None);
        assert_eq!(script.next(sight(7, Mode::Monitor, latch, false), &quiet), ACKNOWLEDGE);
        assert_eq!(script.next(sight(8, Mode::Monitor, None, true), &quiet), REQUEST);
        assert_eq!(script.stops.len(), 1);
    }

    /// Ends commanding for `reason` every ten seconds. Returns the script, the number of acknowledgements, and the
    /// last action.
    fn ends_again_and_again(reason: Reason, paused: Paused<'_>) -> (Script, usize, Option<Ask>) {
        let mut script = Script::new(Instant::ZERO, 1_000, 1);
        let mut told = Vec::new();
        for second in (0..200).step_by(10) {
            script.next(sight(second, Mode::Monitor, None, true), paused);
            script.next(sight(second + 1, Mode::Command, None, true), paused);
            script.fell_back(at(second + 2), reason);
            told.extend(script.next(sight(second + 2, Mode::Stopping, Some(reason), false), paused));
            script.next(sight(second + 3, Mode::Monitor, Some(reason), false), paused);
            while let Some(ask) = script.next(sight(second + 6, Mode::Monitor, Some(reason), false), paused) {
                told.push(ask);
            }
        }
        let acknowledged = told.iter().filter(|ask| **ask == Ask::Engine(Input::Acknowledge)).count();
        (script, acknowledged, told.last().copied())
    }

    #[test]
    fn commanding_that_ends_without_a_fault_is_noted_and_not_tried_for_ever() {
        for (reason, machine) in [(Reason::LocalStall, true), (Reason::NotFollowing, false)] {
            let (script, acknowledged, last) = ends_again_and_again(reason, &paused);
            assert_eq!((acknowledged, last), (RE_ARMINGS, Some(Ask::End)), "{reason:?}");
            assert_eq!(script.stops.len(), RE_ARMINGS + 1);
            assert_eq!(script.by_this_machine().count(), if machine { RE_ARMINGS + 1 } else { 0 });
            assert!(!script.is_complete());
        }
    }

    #[test]
    fn a_pause_of_the_machine_at_a_fault_has_the_fault_done_again() {
        let mut script = armed(100);
        assert_eq!(script.next(sight(70, Mode::Command, None, true), &paused), Some(Ask::Inject(Fault::LinkStall)));
        script.fell_back(at(70), Reason::LocalStall);
        let latch = Some(Reason::LocalStall);
        assert_eq!(script.next(sight(71, Mode::Monitor, latch, false), &paused), Some(Ask::Repair(Fault::LinkStall)));
        let slow = Some(Ask::Slow(Duration::from_millis(90)));
        assert_eq!(script.next(sight(75, Mode::Monitor, latch, false), &paused), slow);
        assert_eq!(script.next(sight(75, Mode::Monitor, latch, false), &paused), ACKNOWLEDGE);
        script.next(sight(76, Mode::Monitor, None, true), &paused);
        script.next(sight(77, Mode::Command, None, true), &paused);
        assert_eq!(script.rounds[0].re_armed, None);
        assert_eq!(script.next(sight(81, Mode::Command, None, true), &paused), None, "it works first");
        assert_eq!(script.next(sight(82, Mode::Command, None, true), &paused), Some(Ask::Inject(Fault::LinkStall)));
        assert_eq!(script.by_this_machine().count(), 1);
    }

    #[test]
    fn another_reason_than_a_fault_s_stays_where_no_pause_explains_it() {
        let mut script = armed(100);
        script.next(sight(70, Mode::Command, None, true), &paused);
        script.fell_back(at(70), Reason::NotFollowing);
        let latch = Some(Reason::NotFollowing);
        script.next(sight(71, Mode::Monitor, latch, false), &paused);
        assert_eq!(script.next(sight(75, Mode::Monitor, latch, false), &paused), ACKNOWLEDGE);
        assert_eq!(script.rounds[0].fell_back, Some((at(70), Reason::NotFollowing)));
    }

    #[test]
    fn in_slower_time_what_is_left_is_told_without_waiting() {
        let mut script = armed(100);
        script.slow(at(4), 4);
        assert_eq!(script.next(sight(7, Mode::Command, None, true), &quiet), None);
        assert_eq!(script.next(sight(8, Mode::Command, None, true), &quiet), Some(Ask::Inject(Fault::LinkStall)));
        // From the start, it takes no more seconds of the system's time than requested, as far as they suffice.
        let script = Script::new(Instant::ZERO, 100, 2);
        assert_eq!(script.end, Instant::ZERO + Duration::from_millis(47_500));
        assert_eq!(Script::new(Instant::ZERO, 50, 8).end, Instant::ZERO + LEAST.percent(95));
    }
}

//! An observer's knowledge of moves that the controller executes, derived only from requests, states and outputs.

use outrigger_core::mode::{Mirrored, Mode, MoveNumber};
use outrigger_core::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

use crate::seen::{Event, Seen, config};
use crate::world::Out;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Moves {
    /// The number of the newest move that the mode machine accepted; `None` before the first.
    pub(crate) number: Option<MoveNumber>,
    /// In `Command`: `true` since a move by the controller was accepted, until the law moves the arm again.
    delegated: bool,
    /// The accepted move for which `Start` was not sent yet: the time of the request, and whether the law moved the arm
    /// then.
    asked: Option<(Instant, bool)>,
    /// `true` if the output `Start`, which begins a move, was sent, and nothing has shown since that the move is over.
    pub(crate) may_run: bool,
    /// `true` if the program on the controller has reported the move's number since the output `Start` was sent.
    shown: bool,
    /// In `Command`: the time since which the move is shown to have ended.
    ended: Option<Instant>,
    /// In `Command`, in time that was not paused: the time since the program last reported on moves, and the time since
    /// the output `Start`.
    quiet: Duration,
    waited: Duration,
    /// The duration of the present pause of the program; zero if it is not paused.
    paused: Duration,
    /// The time of the latest state that was young enough to be acted on.
    timely: Instant,
    /// In `Stopping`: the time at which the arm was last seen to slow down, or the robot accepted no text.
    slowed: Instant,
    /// The time at which commanding ended or `Monitor` was entered; only later states may show that the move has ended.
    counts_from: Instant,
    /// `true` if the link was lost since the output `Start`.
    out_of_sight: bool,
    /// In `Stopping` after a move: `true` until the output `Stop` is sent.
    pub(crate) cancelling: bool,
    /// `true` if the next output must be `Cancel`, which ends a move.
    cancel_due: bool,
    /// In `Command`, with the law moving the arm: the time at which its program was last seen paused, until it moves
    /// again.
    halted: Option<Instant>,
}

/// One event with the modes before and after it, and the other data that the rules about moves need.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) from: Mode,
    pub(crate) to: Mode,
    pub(crate) event: Event,
    pub(crate) now: Instant,
    /// The time at which the mode before the step, `from`, was entered.
    pub(crate) entered: Instant,
    pub(crate) silenced: bool,
    pub(crate) motion_unknown: bool,
}

impl Moves {
    /// Returns whether the output `Start` was sent for the newest move since the mode machine entered
    /// [`Mode::Command`].
    pub(crate) fn is_begun(&self) -> bool {
        self.delegated && self.asked.is_none()
    }

    pub(crate) fn delegated(&mut self, answer: Result<MoveNumber, Reason>, seen: Option<(Seen, Instant)>, step: Step) {
        let Ok(number) = answer else { return };
        assert_eq!(step.from, Mode::Command, "a move taken in {:?}", step.from);
        assert!(!self.may_run && self.asked.is_none(), "a move taken while another may run");
        let (seen, at) = seen.expect("a move taken without a state");
        assert!(matches!(seen, Seen::Waits | Seen::Ended), "a move taken on {seen:?}");
        assert!(step.now.since(at) <= config().delegated.mirror_age, "a move taken on an old mirror");
        assert_ne!(seen.mirrored(self.number), Some(Mirrored::Ended(number)), "a number that is shown already");
        assert_ne!(Some(number), self.number, "a number given twice");
        self.asked = Some((step.now, !self.delegated));
        self.number = Some(number);
        self.delegated = true;
        self.halted = None;
        (self.quiet, self.paused) = (Duration::ZERO, Duration::ZERO);
    }

    pub(crate) fn streamed(&mut self, answer: Result<(), Reason>, seen: Option<(Seen, Instant)>, step: Step) {
        if answer.is_err() {
            return;
        }
        assert_eq!(step.from, Mode::Command, "streamed in {:?}", step.from);
        if self.delegated {
            assert!(!self.may_run, "streamed while a move may run");
            assert!(seen.is_some_and(|(seen, _)| seen.shows_rest()), "streamed while the arm moves");
        }
        (self.delegated, self.asked) = (false, None);
    }

    /// Updates the record by what an event and the change of the mode show; called before the output is checked by
    /// `sent`.
    pub(crate) fn observe(&mut self, step: Step) {
        let Step { from, to, event, now, .. } = step;
        let seen = if let Event::State(seen) = event { Some(seen) } else { None };
        if from == Mode::Command {
            self.observe_command(seen, step);
        }
        if from == Mode::Stopping
            && self.cancelling
            && let Some(seen) = seen
        {
            if seen.shows_slowing() || step.silenced {
                self.slowed = now;
            }
            self.shows_end(seen, self.shown, now);
        }
        if from == Mode::Monitor
            && self.may_run
            && let Some(seen) = seen
        {
            self.shows_end(seen, true, now);
        }
        if to != from {
            match (from, to) {
                (Mode::Command, _) => {
                    // States after the beginning of the end count.
                    self.may_run = self.is_begun();
                    self.cancel_due = self.may_run && to == Mode::Stopping;
                    self.cancelling = self.cancel_due;
                    self.shown |= self.ended.is_some();
                    (self.delegated, self.asked, self.ended) = (false, None, None);
                    (self.slowed, self.counts_from) = (now, now);
                }
                (_, Mode::Command) => {
                    assert!(!self.may_run, "commanding while a move of before may run");
                    *self = Self { number: self.number, timely: now, ..Self::default() };
                }
                (_, Mode::Monitor) => self.counts_from = now,
                _ => {}
            }
            self.out_of_sight |= to == Mode::Offline;
            self.cancelling &= to == Mode::Stopping;
        }
        assert!(
            !self.may_run || matches!(to, Mode::Command | Mode::Stopping) || step.motion_unknown,
            "a move that may run, and known motion, in {to:?}"
        );
        assert!(!(self.may_run && to == Mode::Arming), "armed while a move may run");
    }

    /// Returns whether the output `Stop` has to be sent now because the arm was not seen to slow down.
    fn stop_is_due(&self, step: Step) -> bool {
        self.cancelling && step.now.since(self.slowed) > config().delegated.cancel_timeout && !step.silenced
    }

    fn shows_end(&mut self, seen: Seen, shown: bool, now: Instant) {
        let gone = seen == Seen::Gone || seen == Seen::Idle;
        let ended = match seen.mirrored(self.number) {
            Some(Mirrored::Ended(_)) => true,
            Some(Mirrored::Idle) => shown,
            Some(Mirrored::Running(_)) | None => shown && gone,
        };
        self.may_run &= !(ended && now > self.counts_from);
    }

    fn observe_command(&mut self, seen: Option<Seen>, step: Step) {
        let Step { to, now, .. } = step;
        let delegated = config().delegated;
        let begun = self.is_begun();
        let limit = if begun { delegated.state_timeout } else { config().state_timeout };
        let Some(seen) = seen else {
            let stale = matches!(step.event, Event::Tick | Event::LongSilence) && now.since(self.timely) > limit;
            assert!(!(stale && to == Mode::Command), "commanding without states");
            return;
        };
        if !seen.is_timely() {
            return;
        }
        let passed = now.since(self.timely);
        self.timely = now;
        if !self.delegated {
            if seen == Seen::PendantPaused {
                assert!(to == Mode::Command || passed > limit, "a pause halts a motion, and does not end it");
                self.halted = Some(now);
            }
            return;
        }
        let was_ended = self.ended.is_some();
        if begun && !was_ended {
            match seen.mirrored(self.number) {
                Some(Mirrored::Running(number)) if Some(number) == self.number => self.shown = true,
                Some(Mirrored::Ended(_)) => self.ended = Some(now),
                Some(Mirrored::Idle) if self.shown => self.ended = Some(now),
                _ => {}
            }
        }
        if let Some(ended) = self.ended {
            if seen.shows_rest() && now.since(ended) >= config().rest_window {
                self.may_run = false;
            }
            let pause = seen == Seen::PendantPaused;
            self.paused = if pause { self.paused + passed } else { Duration::ZERO };
        } else {
            self.keep_time(seen, passed);
        }
        let fine = self.goes_on(seen, begun, was_ended) && passed <= limit;
        if !fine {
            assert_ne!(to, Mode::Command, "commanding goes on");
        } else if matches!(seen, Seen::Runs | Seen::RunsOn | Seen::RunsResting | Seen::Paused | Seen::PendantPaused)
            && begun
        {
            assert_eq!(to, Mode::Command, "a move that is executed as it should be, or paused, is not lost");
        }
    }

    /// Advances the durations `quiet`, `waited` and `paused` by the time that has passed since the last timely state.
    fn keep_time(&mut self, seen: Seen, passed: Duration) {
        if seen.is_paused() {
            self.paused = self.paused + passed;
        } else {
            self.paused = Duration::ZERO;
            self.quiet = self.quiet + passed;
            self.waited = self.waited + passed;
        }
        if seen.mirrored(self.number).is_some() {
            self.quiet = Duration::ZERO;
        }
    }

    /// Returns whether a timely state permits the controller to continue its move; commanding may end for other
    /// reasons.
    fn goes_on(&self, seen: Seen, begun: bool, was_ended: bool) -> bool {
        let limits = config().delegated;
        let running = match seen.mirrored(self.number) {
            Some(Mirrored::Running(number)) => Some(number),
            _ => None,
        };
        if seen == Seen::OffCourse || (running.is_some() && (running != self.number || was_ended || !begun)) {
            return false;
        }
        if self.ended.is_some() {
            return self.paused <= limits.pause_timeout;
        }
        let starts = !begun || self.shown || self.waited <= limits.start_timeout || seen.is_paused();
        let here = !(begun && self.shown && matches!(seen, Seen::Gone | Seen::Idle));
        let rests = begun || seen.shows_rest();
        let mirrored = seen.is_paused() || self.quiet <= limits.mirror_age;
        starts && here && rests && mirrored && self.paused <= limits.pause_timeout
    }

    /// Checks that the output `out`, which answers the event, is permitted, and records it.
    pub(crate) fn sent(&mut self, out: Out, step: Step) {
        let Step { to: mode, event, now, .. } = step;
        let seen = if let Event::State(seen) = event { Some(seen) } else { None };
        if core::mem::take(&mut self.cancel_due) {
            assert_eq!(out, Out::Cancel(self.number.expect("one")), "`Cancel` goes out at the first cycle");
        }
        if mode == Mode::Stopping && matches!(event, Event::State(_) | Event::Tick) && self.stop_is_due(step) {
            assert_eq!(out, Out::Stop, "the arm does not slow down");
        }
        match out {
            Out::Start(number) => {
                assert_eq!(mode, Mode::Command, "a `Start` outside of `Command`");
                assert!(!self.may_run, "a second `Start` without an end between");
                let (asked, streamed) = self.asked.take().expect("a `Start` that nobody asked for");
                assert_eq!(Some(number), self.number, "another number than the one that was given");
                if let Some(seen) = seen {
                    assert!(seen.is_timely() && !seen.is_paused(), "a `Start` on {seen:?}");
                    assert!(seen.shows_rest(), "a `Start` on {seen:?}");
                    assert_ne!(seen, Seen::PendantWait, "a `Start` on {seen:?}");
                } else {
                    assert_eq!(event, Event::Delegate, "a `Start` that answers no state");
                }
                let rested = now.since(asked) >= config().rest_window;
                assert!(!streamed || rested, "a `Start` before rest was measured");
                self.may_run = true;
                self.shown = false;
                self.ended = None;
                self.out_of_sight = false;
                self.waited = Duration::ZERO;
            }
            Out::Keep => {
                assert!(seen.is_some(), "a keep-alive that answers no state");
                match mode {
                    Mode::Command => assert!(self.is_begun(), "a keep-alive before the move"),
                    Mode::Monitor | Mode::Stopping => assert!(!self.may_run, "kept alive in place of `Cancel`"),
                    mode => panic!("a keep-alive in {mode:?}"),
                }
            }
            Out::Cancel(number) => {
                assert_eq!(Some(number), self.number);
                assert!(self.may_run && matches!(mode, Mode::Stopping | Mode::Monitor), "`Cancel` in {mode:?}");
                let first = step.from == Mode::Command;
                assert!(first || seen.is_some(), "a `Cancel` that answers no state keeps a program alive unseen");
                let left = step.from == Mode::Monitor && !self.out_of_sight;
                let permitted = seen.is_some_and(|seen| seen != Seen::Nothing && !seen.forbids_text());
                assert!(!(left && permitted), "a move is left on the controller although text is permitted");
            }
            Out::Hold => {
                assert!(!self.may_run, "zero velocity while a move may run");
                let bridges = self.asked.is_some_and(|(_, streamed)| streamed);
                let halted = !self.delegated && self.halted.is_some();
                assert!(mode != Mode::Command || bridges || halted, "zero velocity while commanding");
                let long = self.halted.is_some_and(|since| now.since(since) >= config().rest_window);
                let goes_on = mode == Mode::Command && seen == Some(Seen::Accepted);
                assert!(!(halted && long && goes_on), "what was halted by a pause does not go on");
            }
            Out::Move => {
                assert!(!self.delegated, "the law moves the arm in delegated drive");
                if let Some(since) = self.halted.take() {
                    assert!(now.since(since) >= config().rest_window, "a motion goes on before the arm has rested");
                    assert!(
                        seen.is_some_and(|seen| seen.shows_rest() && seen != Seen::LowGrade),
                        "it goes on at {seen:?}"
                    );
                }
            }
            Out::Stop => {
                assert_ne!(mode, Mode::Command);
                if mode == Mode::Monitor && self.may_run {
                    let ours = seen.is_some_and(|seen| {
                        seen == Seen::MovingByUs || seen.mirrored(self.number) == self.number.map(Mirrored::Running)
                    });
                    assert!(!self.out_of_sight || ours, "a program that may be somebody else's is stopped");
                }
                (self.may_run, self.cancelling) = (false, false);
            }
            Out::Silent => {
                let must_cancel = self.may_run && seen.is_some() && matches!(mode, Mode::Stopping | Mode::Monitor);
                assert!(!must_cancel, "a state that is not answered by `Cancel`");
            }
        }
        self.forget(mode);
    }

    /// Resets those parts of the record that no longer matter in this mode, so that worlds that differ in nothing else
    /// are equal.
    fn forget(&mut self, mode: Mode) {
        let Self { number, may_run, shown, slowed, counts_from, out_of_sight, cancelling, .. } = *self;
        if mode == Mode::Command {
            (self.slowed, self.counts_from) = (Instant::ZERO, Instant::ZERO);
        } else if may_run || cancelling {
            *self = Self { number, may_run, shown, slowed, counts_from, out_of_sight, cancelling, ..Self::default() };
        } else {
            *self = Self { number, ..Self::default() };
        }
    }

    /// In `Stopping`: returns whether the output `Stop` is permitted in answer to this event.
    pub(crate) fn may_stop(&self, step: Step) -> bool {
        let rests = matches!(step.event, Event::State(seen) if seen.shows_rest());
        let long = step.now.since(step.entered) >= config().rest_window;
        self.stop_is_due(step) || (self.cancelling && self.may_run && rests && long)
    }
}

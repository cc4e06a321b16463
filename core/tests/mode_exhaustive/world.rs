//! A machine with its environment, and the invariants of each step.

use outrigger_core::mode::{Action, Evidence, Mode, ModeMachine, MoveNumber};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_wire::time::Instant;

use crate::moves::{Moves, Step};
use crate::seen::{CYCLE, Event, Seen, config};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Out {
    Silent,
    Hold,
    Move,
    Stop,
    Start(MoveNumber),
    Keep,
    Cancel(MoveNumber),
}

/// The explored state: the mode machine, the time, the newest robot state, and the observer's record for the rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) machine: ModeMachine,
    pub(crate) now: Instant,
    pub(crate) seen: Option<(Seen, Instant)>,
    /// In `Arming`: the number of consecutive states that were not too old, and whether the last state showed our
    /// program.
    good: u32,
    shown: bool,
    /// In `Stopping`: the numbers of outputs `Hold` and `Stop` sent; `silenced` is `true` if a state or an emergency
    /// stop forbade all text.
    holds: u8,
    stops: u8,
    silenced: bool,
    /// `true` if the latest state forbids text, or an emergency stop was reported after it.
    forbidden: bool,
    /// In `Stopping`: the reason; and the number of consecutive latest states in which the arm did not slow down.
    why: Option<Reason>,
    unslowed: u8,
    /// In `Stopping`: `true` if a move by the controller may have been running, and the time from which on rest counts.
    delegated: bool,
    rest_from: Instant,
    /// The time of the latest state, or of the beginning of `Stopping` if that is later.
    heard: Instant,
    /// The number of stops sent since the mode machine last entered [`Mode::Monitor`]; at most one is permitted.
    stray_stops: u8,
    /// The time since which the motion is unknown; it is known again after rest was shown since then for long enough.
    unknown_since: Option<Instant>,
    entered: Instant,
    moves: Moves,
}

impl World {
    pub(crate) fn boot() -> Self {
        Self {
            machine: ModeMachine::new(config()),
            now: Instant::from_micros(1_000_000),
            seen: None,
            good: 0,
            shown: false,
            holds: 0,
            stops: 0,
            silenced: false,
            forbidden: false,
            why: None,
            unslowed: 0,
            delegated: false,
            rest_from: Instant::ZERO,
            heard: Instant::ZERO,
            stray_stops: 0,
            unknown_since: None,
            entered: Instant::ZERO,
            moves: Moves::default(),
        }
    }

    /// Returns whether a move by the controller was begun, and nothing has shown its end.
    pub(crate) fn may_run(&self) -> bool {
        self.moves.may_run
    }

    fn evidence(&self) -> Evidence {
        self.seen.map_or_else(Evidence::default, |(seen, at)| seen.evidence(at, self.moves.number))
    }

    fn out(&mut self) -> Out {
        match self.machine.action() {
            Action::Silent => Out::Silent,
            Action::Hold => Out::Hold,
            Action::Move(_) => Out::Move,
            Action::Stop => Out::Stop,
            Action::Mirror => panic!("nobody asked for a mirror"),
            Action::Start(_, number) => Out::Start(number),
            Action::Keep => Out::Keep,
            Action::Cancel(number) => Out::Cancel(number),
        }
    }

    /// Applies `event` and checks every invariant of this step.
    pub(crate) fn step(&mut self, event: Event) {
        let before = self.clone();
        let (from, latch, reasons) = (before.machine.mode(), before.machine.latch(), before.machine.reasons());
        let mut refused = None;
        let mut acknowledged = false;
        let mut requested = false;
        let transition = match event {
            Event::Established => self.machine.established(self.now),
            Event::LinkLost => self.machine.link_lost(self.now, Reason::LinkClosed),
            Event::State(seen) => {
                self.now = self.now + CYCLE;
                self.seen = Some((seen, self.now));
                self.machine.observe(self.now, &seen.evidence(self.now, self.moves.number))
            }
            Event::Tick => {
                self.now = self.now + CYCLE;
                self.machine.tick(self.now)
            }
            Event::LongSilence => {
                self.now = self.now + CYCLE.times(20);
                self.machine.tick(self.now)
            }
            Event::Fault(reason) => self.machine.fault(self.now, reason),
            Event::Request => {
                requested = true;
                let answer = self.machine.request(self.now, &self.evidence());
                refused = answer.err();
                answer.ok().flatten()
            }
            Event::Release => self.machine.release(self.now),
            Event::Acknowledge => {
                acknowledged = self.machine.acknowledge().is_ok();
                None
            }
            Event::Delegate => {
                let answer = self.machine.delegate(self.now, &self.evidence());
                self.moves.delegated(answer, self.seen, self.step_of(&before, event));
                None
            }
            Event::Stream => {
                let answer = self.machine.stream(self.now, &self.evidence());
                self.moves.streamed(answer, self.seen, self.step_of(&before, event));
                None
            }
        };
        let to = self.machine.mode();

        // The reported transition is the one that happened, and the table permits it for this event.
        match transition {
            Some(t) => {
                assert_eq!((t.from, t.to, t.at), (from, to, self.now));
                assert!(allowed(from, to, event), "{from:?} → {to:?} by {event:?}");
                let upwards = matches!((from, to), (Mode::Offline, _) | (_, Mode::Arming | Mode::Command));
                assert_eq!(t.reason.is_none(), upwards, "a fallback has a reason, a rise has none");
            }
            None => assert_eq!(from, to, "an unreported transition"),
        }

        self.check_latch(latch, reasons, acknowledged, transition.and_then(|t| t.reason), event);
        self.check_way_up(&before, event, requested, refused);
        match event {
            Event::State(seen) => self.forbidden = seen.forbids_text(),
            Event::Fault(Reason::EmergencyStop) => self.forbidden = true,
            _ => {}
        }
        self.moves.observe(self.step_of(&before, event));
        self.check_unknown(&before, event);
        let epoch_moves = match (from, to) {
            (Mode::Offline, Mode::Monitor) | (Mode::Arming, Mode::Monitor | Mode::Offline) => true,
            (Mode::Command, to) => to != Mode::Command,
            (Mode::Offline | Mode::Monitor | Mode::Arming | Mode::Stopping, _) => false,
        };
        assert_eq!(before.machine.epoch() != self.machine.epoch(), epoch_moves, "epoch of {from:?} → {to:?}");

        if from != to {
            self.entered = self.now;
            (self.good, self.shown) = (0, false);
            if to == Mode::Stopping {
                (self.holds, self.stops, self.unslowed) = (0, 0, 0);
                self.why = transition.and_then(|t| t.reason);
                if let (Event::State(seen), Some(Reason::ProgramPaused | Reason::HeldByScaling)) = (event, self.why) {
                    assert_eq!(seen.paused_by(), self.why, "the slider and the pendant are told apart");
                }
                self.delegated = self.moves.may_run;
                (self.heard, self.rest_from) = (self.now, self.now);
            }
            if from == Mode::Offline || to == Mode::Monitor {
                self.stray_stops = 0;
            }
        }
        match event {
            Event::State(seen) => {
                let forbids = seen.forbids_text();
                self.heard = self.now;
                let slows = seen == Seen::Moving || seen.shows_rest();
                self.unslowed =
                    if slows || from != Mode::Stopping { 0 } else { self.unslowed.saturating_add(1).min(3) };
                self.silenced = forbids || (self.silenced && to == Mode::Stopping && from == Mode::Stopping);
            }
            Event::Fault(Reason::EmergencyStop) => self.silenced = true,
            _ => {}
        }
        self.check_actions(&before, event);
    }

    fn step_of(&self, before: &Self, event: Event) -> Step {
        Step {
            from: before.machine.mode(),
            to: self.machine.mode(),
            event,
            now: self.now,
            entered: before.entered,
            silenced: self.forbidden,
            motion_unknown: self.machine.is_motion_unknown(),
        }
    }

    fn check_latch(
        &self,
        before: Option<Reason>,
        reasons_before: ReasonSet,
        acknowledged: bool,
        reason: Option<Reason>,
        event: Event,
    ) {
        let (after, reasons) = (self.machine.latch(), self.machine.reasons());
        if acknowledged {
            assert_eq!((after, reasons), (None, ReasonSet::EMPTY));
            return;
        }
        assert!(reasons_before.iter().all(|r| reasons.contains(r)), "a reason was forgotten without acknowledge");
        assert!(after.is_none_or(|first| reasons.contains(first)));
        match (before, after) {
            (Some(first), after) => assert_eq!(after, Some(first), "the first reason stays the latched one"),
            (None, None) => {
                assert!(reason.is_none_or(Reason::is_release) || self.machine.mode() == Mode::Offline);
            }
            (None, Some(new)) => {
                let cause = match event {
                    Event::Fault(reason) => Some(reason),
                    _ => reason,
                };
                assert!(Some(new) == cause || (new == Reason::MotionUnknown && cause == Some(Reason::StopTimeout)));
                assert!(!new.is_release());
            }
        }
    }

    fn check_way_up(&mut self, before: &Self, event: Event, requested: bool, refused: Option<Reason>) {
        let (from, to) = (before.machine.mode(), self.machine.mode());
        if requested && from == Mode::Monitor {
            let unmet = before.machine.unmet(&before.evidence(), self.now);
            assert_eq!(refused.is_none(), unmet.is_empty(), "refused for {refused:?}, unmet {unmet:?}");
            assert!(refused.is_none_or(|reason| unmet.contains(reason)));
        }
        if from != Mode::Arming && to == Mode::Arming {
            assert!(requested, "armed without a request");
            assert_eq!(before.machine.latch(), None, "armed over a latch");
            assert!(!before.machine.is_motion_unknown(), "armed without knowing that the arm rests");
            let (seen, at) = before.seen.expect("armed without a state");
            assert_eq!(seen, Seen::Idle, "armed on a state that forbids it");
            assert!(self.now.since(at) <= config().evidence_age, "armed on an old state");
        }
        if from == Mode::Arming && matches!(event, Event::State(_)) {
            let Event::State(seen) = event else { return };
            self.good = if seen == Seen::Late { 0 } else { self.good + 1 };
            self.shown = !matches!(seen, Seen::Idle | Seen::Gone | Seen::Nothing);
            assert!(to != Mode::Arming || !seen.is_running(), "arming goes on while a move is executed");
        }
        if from != Mode::Command && to == Mode::Command {
            assert_eq!(from, Mode::Arming, "commanding without arming");
            assert!(self.good >= config().good_cycles, "commanding after {} good cycles", self.good);
            assert!(self.shown, "commanding without acceptance");
        }
    }

    fn check_unknown(&mut self, before: &Self, event: Event) {
        let (from, to) = (before.machine.mode(), self.machine.mode());
        let lost_sight = match (from, to) {
            (Mode::Command | Mode::Stopping, Mode::Offline) => true,
            (Mode::Stopping, Mode::Monitor) => {
                !matches!(event, Event::State(seen) if seen.shows_rest())
                    || self.now.since(before.entered) > config().stop_timeout
                    || self.moves.may_run
            }
            _ => false,
        };
        if lost_sight {
            assert!(self.machine.is_motion_unknown(), "{from:?} → {to:?} by {event:?}: nobody knows whether it moves");
            self.unknown_since = Some(self.now);
        }
        assert!(
            !self.machine.is_motion_unknown() || self.unknown_since.is_some(),
            "motion unknown without having lost sight of it"
        );
        if before.machine.is_motion_unknown() && !self.machine.is_motion_unknown() {
            assert!(from == Mode::Monitor && matches!(event, Event::State(seen) if seen.shows_rest()));
            let since = before.unknown_since.expect("since some time").max(before.entered);
            assert!(self.now.since(since) >= config().rest_window, "cleared by a rest too short");
            assert!(!self.moves.may_run, "cleared while a move may run");
            self.unknown_since = None;
        }
        if from == Mode::Stopping && to == Mode::Monitor && !lost_sight {
            assert!(self.now.since(before.rest_from) >= config().rest_window, "rest measured before the stop counts");
            let forbidden = before.silenced || matches!(event, Event::State(seen) if seen.forbids_text());
            let by_them = before.why == Some(Reason::ProgramStopped);
            let ended = before.delegated && !self.moves.may_run;
            assert!(before.stops == 1 || forbidden || by_them || ended, "at rest before the stop was said");
        }
    }

    fn check_actions(&mut self, before: &Self, event: Event) {
        let mode = self.machine.mode();
        let out = self.out();
        let is_state = matches!(event, Event::State(_));
        let left = self.moves.may_run;
        let cancelling = self.moves.cancelling;
        // `Cancel` and a keep-alive are not motion text; a move that continues later is ended by them.
        match out {
            Out::Silent | Out::Cancel(_) | Out::Keep => {}
            Out::Stop if left || cancelling => {
                assert!(!self.forbidden, "{out:?} to a robot that is stopped by its safety system");
            }
            Out::Hold | Out::Move | Out::Start(_) | Out::Stop => {
                assert!(!self.silenced, "{out:?} to a robot that is stopped by its own safety system");
            }
        }
        let step = self.step_of(before, event);
        let may_stop = self.moves.may_stop(step);
        self.moves.sent(out, step);
        match (mode, out) {
            (_, Out::Silent | Out::Start(_) | Out::Keep | Out::Cancel(_)) => {}
            (Mode::Command, Out::Hold) => assert!(is_state, "a hold that answers no state"),
            (Mode::Command, Out::Move) => {
                assert!(is_state, "a move that answers no state");
                assert!(event != Event::State(Seen::Late), "a move that answers an old state");
                assert!(event != Event::State(Seen::PendantWait), "a move that hides a stop at the pendant");
            }
            (mode, Out::Move) => panic!("a move in {mode:?}"),
            (Mode::Arming, Out::Hold) => assert!(is_state, "a hold that answers no state"),
            (Mode::Stopping, Out::Hold) => {
                self.holds += 1;
                assert!(!self.delegated, "a zero velocity after a move");
                assert!(self.holds <= config().stop_cycles && self.stops == 0);
                let by_pendant = [Some(Reason::ProgramPaused), Some(Reason::ProgramStopped)].contains(&self.why);
                assert!(!by_pendant, "a zero velocity is a program too");
            }
            (Mode::Stopping, Out::Stop) => {
                self.stops += 1;
                assert_eq!(self.stops, 1);
                match self.why {
                    _ if self.delegated => {
                        assert!(may_stop, "a program of ours is ended before `Cancel` could act");
                        self.rest_from = self.now;
                    }
                    Some(Reason::ProgramPaused) => {}
                    Some(Reason::ProgramStopped) => {
                        let unseen = self.now.since(self.heard) > config().state_timeout;
                        assert!(self.unslowed >= 3 || unseen, "an arm that slows down is left alone");
                    }
                    _ => assert_eq!(self.holds, config().stop_cycles),
                }
            }
            (Mode::Monitor, Out::Stop) => {
                self.stray_stops += 1;
                assert_eq!(self.stray_stops, 1, "one stop for a stray arm");
                assert!(self.machine.is_motion_unknown());
                assert!(left || event == Event::State(Seen::MovingByUs));
                if left {
                    self.unknown_since = Some(self.now);
                }
            }
            (mode, out) => panic!("{out:?} in {mode:?}"),
        }
        match event {
            Event::Fault(Reason::StatesMissed) if before.moves.is_begun() => {
                assert_eq!(mode, Mode::Command, "states that are missing for a moment end no move");
            }
            Event::Fault(_) => assert_ne!(mode, Mode::Command, "a fault leaves command"),
            _ => {}
        }
        assert_eq!(self.out(), Out::Silent, "asking twice gives nothing more");
    }

    /// Asserts that without further events every mode ends in `Offline`, without an output that moves the arm, and
    /// without a deadline that has already passed.
    pub(crate) fn check_left_alone(&self) {
        let mut alone = self.clone();
        for _ in 0..12 {
            let Some(deadline) = alone.machine.next_deadline() else {
                assert_eq!(alone.machine.mode(), Mode::Offline, "a mode without a way out by time");
                return;
            };
            alone.now = deadline.max(alone.now);
            let _ = alone.machine.tick(alone.now);
            let out = alone.out();
            assert!(!matches!(out, Out::Move | Out::Start(_) | Out::Keep), "{out:?}");
            let next = alone.machine.next_deadline();
            assert!(next.is_none_or(|next| next > alone.now), "a deadline that has passed: {alone:?}");
        }
        panic!("no way out by time: {self:?}");
    }
}

/// Returns whether an event of this kind may cause this transition, by the table of the mode machine.
fn allowed(from: Mode, to: Mode, event: Event) -> bool {
    use Event::{Established, Fault, LinkLost, LongSilence, Release, Request, State, Tick};
    match (from, to) {
        (Mode::Offline, Mode::Monitor) => event == Established,
        (Mode::Monitor, Mode::Offline) => matches!(event, LinkLost | LongSilence | Tick),
        (Mode::Monitor, Mode::Arming) => event == Request,
        (Mode::Arming, Mode::Offline) => event == LinkLost,
        (Mode::Arming, Mode::Monitor) | (Mode::Command, Mode::Stopping) => {
            matches!(event, State(_) | Tick | LongSilence | Fault(_) | Release)
        }
        (Mode::Arming, Mode::Command) => matches!(event, State(_)),
        (Mode::Command | Mode::Stopping, Mode::Offline) => event == LinkLost,
        (Mode::Stopping, Mode::Monitor) => matches!(event, State(_) | Tick | LongSilence),
        _ => false,
    }
}

//! The execution of moves by the controller: one move at a time, sent to a program of ours that mirrors its number.
//!
//! | step | output ([`Action`](super::Action)) | condition for the next step |
//! |---|---|---|
//! | bridging | `Hold`: zero velocity, as in streamed drive | rest was measured for `rest_window` since the request |
//! | ready | nothing | a timely state arrives that is not paused: `Start`, which consumes the one authority |
//! | started | `Keep` | the mirror shows the move; otherwise `MoveNotStarted` after `start_timeout` |
//! | running | `Keep` | the mirror shows that it has ended, or that the program waits for a move |
//! | ending | `Keep` | rest was measured since; otherwise `NotAtRest` after `stop_timeout` |
//! | idle | `Keep` | [`delegate`](super::ModeMachine::delegate): the next move; [`stream`](super::ModeMachine::stream): back to streamed drive |
//! | cancelled, in `Stopping` | `Cancel` per state until the mirror shows the end; then `Keep` | rest was measured |
//!
//! * Nothing starts by itself: after a move the drive stays delegated, and idle, until another motion is requested.
//! * In every step up to running the mirror must be at most `mirror_age` old, and show no other move (`MoveUnseen`,
//!   `OtherMove`). [`Course`](super::Course) judges whether the arm is where the move may take it; the result is
//!   [`Evidence::following`](super::Evidence::following).
//! * A pause at the pendant, or a speed slider at 0, stops the program, and its mirror with it. The move is not lost,
//!   and the timers of mirror and start are stopped, for `pause_timeout` at most, pause and slider taken together. A
//!   slider at 0 for longer is a fault (`HeldByScaling`); a longer pause at the pendant ends commanding without a fault
//!   (`ProgramPaused`). While the drive is idle there is no move to hold: the slider does not matter, and a pause is
//!   tolerated all the same. Freedrive and force mode end at once ([`Guide`](super::Guide)).
//! * A move is refused if another one may run, if the arm may move or if the program is paused. A `Start` that waits in
//!   a paused program would take effect when somebody resumes it.
//! * `Cancel` is a message to the program and no motion text. It is sent at once, even to a robot that its safety
//!   system has stopped: the program may only be paused, and continue the move when that ends. It is repeated, because
//!   a path of registers overwrites it, but only in answer to states: if none arrive, silence lets the program's own
//!   timeout act.
//! * `Stop` follows if the arm has not slowed down for `cancel_timeout`, and if the arm rests but the mirror has not
//!   shown the end of the move: the program may be paused, or may not have read the move yet.
//! * If neither is possible, because the robot takes no text, its link is lost or `stop_timeout` is over, the motion is
//!   unknown until the mirror shows the end of the move **and** rest was measured after it. Until then every state is
//!   answered by `Cancel`. As soon as text is permitted one `Stop` is sent: at once if the link was never lost; after a
//!   reconnect only if the mirror shows this very move.
//!
//! ```
//! use outrigger_core::mode::{Evidence, ModeConfig, ModeMachine};
//! use outrigger_core::robot::Reason;
//! use outrigger_wire::time::{Duration, Instant};
//!
//! // Outside of `Command` no move is taken.
//! let mut machine = ModeMachine::new(ModeConfig::new(Duration::from_millis(8)));
//! assert_eq!(machine.delegate(Instant::ZERO, &Evidence::default()), Err(Reason::NotCommanding));
//! ```

use super::evidence::{Evidence, missing_or};
use super::move_types::{Mirrored, MoveNumber};
use super::{Acceptance, Activity, ModeConfig, Pendant, TimedFact};
use crate::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

/// The progress of a move that the controller executes, from its request until its end is known. The steps up to `Idle`
/// are those of the table of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Step {
    Bridging,
    Ready,
    Started,
    Running,
    Ending,
    Idle,
    /// The mode is `Stopping`, and the cancelled move may still run. `shown` is `true` if the mirror (the program's
    /// report) had shown the move before.
    Cancelled {
        shown: bool,
    },
    /// The mode is `Stopping`, and the move has ended: the program has shown its end, or a `stopj` was sent.
    Over,
    /// Commanding is over, and the mirror (the program's report) has not shown the end of the move. The link was never
    /// lost.
    Left,
    /// Commanding is over, and the link was lost meanwhile: another program may run on the controller now. The end of
    /// the move is still to be reported.
    LeftUnseen,
}

/// The move that was requested last, until it is known to have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Delegation {
    number: MoveNumber,
    step: Step,
    /// The time at which the present step of the move began, postponed by pauses.
    since: Instant,
    /// The time of the program's last report, postponed by pauses. In the mode `Stopping` the latest of: the end of
    /// commanding, a state in which the arm became slower or rested, and a state in which the robot took no text.
    seen: Instant,
    /// The time for which the program that executes the move has been paused.
    paused: Duration,
}

/// The output for a move in answer to a state in the mode `Command`: zero velocity before the move, the move itself
/// (once), or a keep-alive to the program that executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Hold,
    Start,
    Keep,
}

impl Delegation {
    /// Creates the move that follows `last`, requested at `now` from standstill. Its number is one that the program is
    /// not showing.
    ///
    /// # Errors
    /// The reason for which it must not start.
    pub(super) fn ask(
        before: Option<&Self>,
        last: Option<MoveNumber>,
        evidence: &Evidence,
        config: &ModeConfig,
        now: Instant,
    ) -> Result<Self, Reason> {
        let step = match before.map(|before| before.step) {
            None => Step::Bridging,
            Some(Step::Idle) => Step::Ready,
            Some(_) => return Err(Reason::NotAtRest),
        };
        if let Some(reason) = evidence.paused_by() {
            return Err(reason);
        }
        let mirrored = evidence.mirrored.ok_or(Reason::EvidenceMissing)?;
        let shown = mirrored.fresh(now, config.delegated.mirror_age).ok_or(Reason::EvidenceMissing)?;
        if let Some(reason) = at_rest(evidence, config, now) {
            return Err(reason);
        }
        let mut number = last.map_or(MoveNumber::FIRST, MoveNumber::next);
        match shown {
            Mirrored::Running(_) => return Err(Reason::OtherMove),
            Mirrored::Ended(before) if before == number => number = number.next(),
            Mirrored::Ended(_) | Mirrored::Idle => {}
        }
        Ok(Self { number, step, since: now, seen: mirrored.at, paused: Duration::ZERO })
    }

    pub(super) const fn number(&self) -> MoveNumber {
        self.number
    }

    /// Returns `true` once the move was sent to the program (`Start`): from then on only a `Cancel` message or a
    /// `stopj` ends the move early.
    pub(super) const fn is_begun(&self) -> bool {
        !matches!(self.step, Step::Bridging | Step::Ready)
    }

    /// Returns `true` from the sending of the move to the program (`Start`) until the program shows its end.
    pub(super) const fn is_moving(&self) -> bool {
        matches!(self.step, Step::Started | Step::Running)
    }

    /// Returns `true` while the end of the move is still to come, as far as the program shows.
    #[cfg(feature = "programs")]
    pub(super) const fn is_unfinished(&self) -> bool {
        matches!(self.step, Step::Bridging | Step::Ready | Step::Started | Step::Running)
    }

    /// Returns `true` while the program on the controller waits for the next move.
    #[cfg(feature = "programs")]
    pub(super) const fn is_idle(&self) -> bool {
        matches!(self.step, Step::Idle)
    }

    /// Checks that the control law may command the arm again, in place of the program that executes moves: no move may
    /// run, and the arm must be at rest.
    pub(super) fn may_stream(&self, evidence: &Evidence, config: &ModeConfig, now: Instant) -> Result<(), Reason> {
        match self.step {
            Step::Bridging | Step::Ready | Step::Idle => at_rest(evidence, config, now).map_or(Ok(()), Err),
            Step::Started | Step::Running | Step::Ending => Err(Reason::NotAtRest),
            Step::Cancelled { .. } | Step::Over | Step::Left | Step::LeftUnseen => Err(Reason::NotAtRest),
        }
    }

    /// Updates the step of the move by a state in the mode `Command`. `passed` is the time since the last timely state,
    /// or zero if this one is not timely. Returns the reason that ends commanding, if there is one.
    pub(super) fn observe(
        &mut self,
        evidence: &Evidence,
        config: &ModeConfig,
        passed: Duration,
        now: Instant,
    ) -> Option<Reason> {
        let limits = &config.delegated;
        let paused = evidence.is_paused();
        if paused {
            self.seen = self.seen + passed;
        }
        if let Some(held) = evidence.mirrored {
            self.seen = self.seen.max(held.at);
        }
        let against = match self.step {
            Step::Bridging | Step::Ready => self.observe_before(evidence, config, now),
            Step::Started => self.observe_started(evidence, config, now),
            Step::Running => self.observe_running(evidence, now),
            Step::Ending | Step::Idle => {
                if evidence.pendant == Pendant::Paused {
                    self.paused = self.paused + passed;
                } else if evidence.timely {
                    self.paused = Duration::ZERO;
                }
                return self.observe_after(evidence, config, now);
            }
            Step::Cancelled { .. } | Step::Over | Step::Left | Step::LeftUnseen => None,
        };
        if paused {
            self.paused = self.paused + passed;
            self.since = self.since + passed;
            let overdue = self.paused > limits.pause_timeout && evidence.pendant != Pendant::Paused;
            return against.or(overdue.then_some(Reason::HeldByScaling));
        }
        if evidence.timely {
            self.paused = Duration::ZERO;
        }
        against.or((now.since(self.seen) > limits.mirror_age).then_some(Reason::MoveUnseen))
    }

    fn observe_before(&mut self, evidence: &Evidence, config: &ModeConfig, now: Instant) -> Option<Reason> {
        if evidence.shows_running() {
            return Some(Reason::OtherMove);
        }
        if evidence.rests_since(self.since, config) {
            self.step = Step::Ready;
        }
        at_rest(evidence, config, now)
    }

    fn observe_started(&mut self, evidence: &Evidence, config: &ModeConfig, now: Instant) -> Option<Reason> {
        let since = self.since;
        match evidence.mirrored.filter(|held| held.at > since).map(|held| held.value) {
            Some(Mirrored::Running(number)) if number == self.number => self.step_to(Step::Running, now),
            Some(Mirrored::Ended(number)) if number == self.number => self.step_to(Step::Ending, now),
            Some(Mirrored::Running(_)) => return Some(Reason::OtherMove),
            // The mirror shows the end of the move before until this one starts.
            Some(Mirrored::Idle | Mirrored::Ended(_)) | None => {
                let overdue = !evidence.is_paused() && now.since(since) > config.delegated.start_timeout;
                return overdue.then_some(Reason::MoveNotStarted);
            }
        }
        None
    }

    fn observe_running(&mut self, evidence: &Evidence, now: Instant) -> Option<Reason> {
        match evidence.mirrored.map(|held| held.value) {
            Some(Mirrored::Running(number) | Mirrored::Ended(number)) if number != self.number => {
                return Some(Reason::OtherMove);
            }
            Some(Mirrored::Idle | Mirrored::Ended(_)) => self.step_to(Step::Ending, now),
            Some(Mirrored::Running(_)) | None => {
                return evidence.acceptance.is_stopped_since(self.since).then_some(Reason::ProgramEnded);
            }
        }
        None
    }

    fn observe_after(&mut self, evidence: &Evidence, config: &ModeConfig, now: Instant) -> Option<Reason> {
        if evidence.shows_running() {
            return Some(Reason::OtherMove);
        }
        if self.step == Step::Ending {
            if evidence.rests_since(self.since, config) {
                self.step_to(Step::Idle, now);
            } else if now.since(self.since) > config.stop_timeout {
                return Some(Reason::NotAtRest);
            }
        }
        None
    }

    fn step_to(&mut self, step: Step, now: Instant) {
        (self.step, self.since) = (step, now);
    }

    /// Returns `true` if a state of the arm may be answered by a command now. The move is not sent while the program is
    /// paused, because the program would execute it when it is resumed.
    pub(super) fn answers(&self, evidence: &Evidence) -> bool {
        self.step != Step::Ready || !evidence.is_paused()
    }

    /// Returns `true` while a pause at the pendant is tolerated, for `pause_timeout` at most.
    pub(super) fn outlasts_pause(&self, evidence: &Evidence, config: &ModeConfig) -> bool {
        evidence.pendant == Pendant::Paused && self.paused <= config.delegated.pause_timeout
    }

    /// Returns the output for the move in answer to the state that arrived at `at`. A `Start` is returned once: from
    /// then on the move counts as started.
    pub(super) fn answer(&mut self, at: Instant) -> Answer {
        match self.step {
            Step::Bridging => Answer::Hold,
            Step::Ready => {
                self.step_to(Step::Started, at);
                Answer::Start
            }
            Step::Started | Step::Running | Step::Ending | Step::Idle => Answer::Keep,
            Step::Cancelled { .. } | Step::Over | Step::Left | Step::LeftUnseen => Answer::Keep,
        }
    }

    /// Records that commanding ends at `now`, so that the begun move has to be cancelled.
    pub(super) fn cancel(&mut self, now: Instant) {
        let shown = self.step != Step::Started;
        self.step_to(Step::Cancelled { shown }, now);
        self.seen = now;
    }

    /// Updates the cancelled move by a state in the mode `Stopping`. The wait for the `stopj` starts again if the arm
    /// has become slower, or if the robot is `silenced` (takes no text), so that no `stopj` can follow.
    pub(super) fn observe_cancelled(&mut self, evidence: &Evidence, silenced: bool, now: Instant) {
        if evidence.slowing || silenced {
            self.seen = now;
        }
        if let Step::Cancelled { shown } = self.step
            && self.is_ended_by(evidence, shown)
        {
            self.step = Step::Over;
        }
    }

    /// Returns the time after which a `stopj` is due, because the arm has not become slower since the move was
    /// cancelled; at that time itself it is not due yet.
    pub(super) fn patience_ends(&self, config: &ModeConfig) -> Instant {
        self.seen + config.delegated.cancel_timeout
    }

    pub(super) const fn is_over(&self) -> bool {
        matches!(self.step, Step::Over)
    }

    /// Records that a `stopj`, which ends the move, is to be sent: from now on only facts learned after `now` show its
    /// end.
    pub(super) const fn stops(&mut self, now: Instant) {
        self.since = now;
    }

    /// Records that a `stopj` was sent: it ends any program, so the move counts as ended.
    pub(super) const fn stopped(&mut self) {
        self.step = Step::Over;
    }

    /// Returns the time since which the arm must rest for the mode `Stopping`, entered at `entered`, to end: not before
    /// the `stopj` of a move that is over.
    pub(super) fn rest_counts_from(&self, entered: Instant) -> Instant {
        if self.is_over() { entered.max(self.since) } else { entered }
    }

    /// Returns the move as it is kept after commanding until its end is known; `None` if it was never started or has
    /// ended. `holds` is `false` if the link is lost.
    pub(super) fn left(mut self, holds: bool) -> Option<Self> {
        self.step = match self.step {
            Step::Bridging | Step::Ready | Step::Over => return None,
            Step::LeftUnseen => Step::LeftUnseen,
            Step::Started | Step::Running | Step::Ending | Step::Idle | Step::Cancelled { .. } | Step::Left => {
                if holds { Step::Left } else { Step::LeftUnseen }
            }
        };
        Some(self)
    }

    /// Returns `true` if a state in the mode `Monitor` shows that the last move has ended, by facts learned after
    /// `after`.
    pub(super) fn has_ended(&mut self, evidence: &Evidence, after: Instant) -> bool {
        self.since = self.since.max(after);
        self.is_ended_by(evidence, true)
    }

    /// Returns `true` if a motion that runs in the mode `Monitor` is this move: the link was never lost, or the program
    /// has shown the move since.
    pub(super) fn is_ours(&self, evidence: &Evidence) -> bool {
        let ours = Mirrored::Running(self.number);
        self.step == Step::Left || evidence.mirrored.is_some_and(|held| held.value == ours && held.at > self.since)
    }

    /// Returns `true` if the evidence shows the end of the move. A program that was never seen to start the move may
    /// still be about to.
    fn is_ended_by(&self, evidence: &Evidence, shown: bool) -> bool {
        let after = |held: &TimedFact<Mirrored>| held.at > self.since;
        let mirror = match evidence.mirrored.filter(after).map(|held| held.value) {
            Some(Mirrored::Ended(number)) => shown || number == self.number,
            Some(Mirrored::Idle) => shown,
            Some(Mirrored::Running(_)) | None => false,
        };
        mirror || (shown && evidence.acceptance.is_stopped_since(self.since))
    }
}

impl Evidence {
    /// Returns `true` while a pause, or a speed slider at 0, holds the program that executes moves.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused_by().is_some()
    }

    /// Returns `true` while a program is shown as paused at the pendant, also after commanding has ended.
    pub(crate) fn shows_pause(&self, now: Instant, max_age: Duration) -> bool {
        let Acceptance { program_state, program_running, .. } = &self.acceptance;
        let shows = |held: &Option<TimedFact<Activity>>| {
            held.and_then(|held| held.fresh(now, max_age)) == Some(Activity::Paused)
        };
        self.pendant == Pendant::Paused || shows(program_state) || shows(program_running)
    }

    /// Returns `true` while no motion that a program executes progresses: the program is paused, or a slider at 0
    /// holds its motion.
    pub(crate) fn has_paused_program(&self, now: Instant, max_age: Duration) -> bool {
        self.is_paused() || self.shows_pause(now, max_age)
    }

    /// Returns the cause that holds the program which executes moves, a pause at the pendant before a speed slider at
    /// 0; `None` if nothing holds it.
    pub(super) fn paused_by(&self) -> Option<Reason> {
        if self.pendant == Pendant::Paused {
            return Some(Reason::ProgramPaused);
        }
        self.paused.then_some(Reason::HeldByScaling)
    }

    /// Returns `true` if the program executes a move, from any client.
    pub(super) fn shows_running(&self) -> bool {
        matches!(self.mirrored, Some(TimedFact { value: Mirrored::Running(_), .. }))
    }
}

fn at_rest(evidence: &Evidence, config: &ModeConfig, now: Instant) -> Option<Reason> {
    missing_or(evidence.at_rest, now, config.evidence_age, |rests| (!rests).then_some(Reason::NotAtRest))
}

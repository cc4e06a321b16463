//! Motion that the controller executes: one move at a time, given to a program of ours that mirrors its number.
//!
//! | step | what goes out ([`Action`](super::Action)) | goes on when |
//! |---|---|---|
//! | bridging | `Hold`: zero velocity, as in streamed drive | rest was measured for `rest_window` since the move was asked for |
//! | ready | nothing | a timely state comes that is not paused: `Start`, which spends the one authority |
//! | started | `Keep` | the mirror shows the move; not within `start_timeout`: `MoveNotStarted` |
//! | running | `Keep` | the mirror shows that it has ended, or that the program waits for a move |
//! | ending | `Keep` | rest was measured since; not within `stop_timeout`: `NotAtRest` |
//! | idle | `Keep` | [`delegate`](super::ModeMachine::delegate): the next move; [`stream`](super::ModeMachine::stream): back to streamed drive |
//! | cancelled, in `Stopping` | `Cancel` per state, until the end is shown; then `Keep` | rest was measured |
//!
//! * Nothing begins by itself: after a move the drive stays delegated, and idle, until somebody asks for more.
//! * In every step up to running the mirror must be at most `mirror_age` old, and show no other move (`MoveUnseen`,
//!   `OtherMove`). That the arm is where the move may take it is for whoever knows the move
//!   ([`Course`](super::Course)), and comes as [`Evidence::following`](super::Evidence::following).
//! * A pause at the pendant, or a slider at 0, freezes the program, and its mirror with it: the move is not lost, and the
//!   clocks of mirror and start stand still, for `pause_timeout` at most, pause and slider taken together. A slider at 0 for
//!   longer is a fault (`HeldByScaling`); a longer pause at the pendant ends commanding without one (`ProgramPaused`). While
//!   the drive is idle no move is there to hold: the slider does not matter, and a pause is outlasted all the same. Motion
//!   that a hand or a force makes ends at once ([`Guide`](super::Guide)).
//! * A move asked for while another one may run, while the arm may move or while the program is paused is refused. A
//!   `Start` that waits in a paused program would begin with whoever resumes it.
//! * `Cancel` is a message to the program and no motion text. It goes out at once, to a robot too that its safety system
//!   has stopped: its program may be paused only, and go on with the move when that ends. It is repeated, because a path
//!   of registers overwrites it, but only in answer to states: where none come, silence lets the program's own time-out
//!   act.
//! * `Stop` follows where no slowing down was seen for `cancel_timeout`, and where the arm rests but the end of the
//!   move was not shown: the program may be paused, or may not have read the move yet.
//! * Where neither could be had, because the robot takes no text, its link is lost or `stop_timeout` is over, the
//!   motion is unknown until the end of the move is shown **and** rest was measured after it. Until then every state is
//!   answered by `Cancel`. As soon as text is permitted one `Stop` goes out: at once where the link was there all
//!   along; after a reconnect only if the mirror shows this very move.
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
use super::moves::{Mirrored, MoveNumber};
use super::{Acceptance, Activity, Held, ModeConfig, Pendant};
use crate::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

/// How far a move is; the module's table, and what is left of it afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Step {
    Bridging,
    Ready,
    Started,
    Running,
    Ending,
    Idle,
    /// In `Stopping`: it may still run. Whether the mirror has ever shown it.
    Cancelled {
        shown: bool,
    },
    /// In `Stopping`: its end was shown, or `Stop` went out.
    Over,
    /// Commanding is over, and its end was not shown. The link was there all along.
    Left,
    /// The same, but the link was lost since: another program may run there now.
    LeftUnseen,
}

/// The move that was asked for last, from then on until it is known to have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Delegation {
    number: MoveNumber,
    step: Step,
    /// When the step began, put off by pauses.
    since: Instant,
    /// When the program last showed something, put off by pauses; in `Stopping`, when the arm last became slower.
    seen: Instant,
    /// For how long the program has been paused.
    paused: Duration,
}

/// What goes out for a move in answer to a state in `Command`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Hold,
    Start,
    Keep,
}

impl Delegation {
    /// The move behind `last`, asked for at `now`, from standstill: by the number that the program has not shown.
    ///
    /// # Errors
    /// Why it must not begin.
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

    /// Whether `Start` has gone out: from then on nothing but `Cancel` and `Stop` ends the move.
    pub(super) const fn is_begun(&self) -> bool {
        !matches!(self.step, Step::Bridging | Step::Ready)
    }

    /// Returns `true` from `Start` until the program shows the end.
    pub(super) const fn is_moving(&self) -> bool {
        matches!(self.step, Step::Started | Step::Running)
    }

    /// Whether its end is still to come, as far as the program shows.
    #[cfg(feature = "programs")]
    pub(super) const fn is_unfinished(&self) -> bool {
        matches!(self.step, Step::Bridging | Step::Ready | Step::Started | Step::Running)
    }

    /// Returns `true` while the program waits for the next move.
    #[cfg(feature = "programs")]
    pub(super) const fn is_idle(&self) -> bool {
        matches!(self.step, Step::Idle)
    }

    /// Whether streamed drive may go on.
    pub(super) fn may_stream(&self, evidence: &Evidence, config: &ModeConfig, now: Instant) -> Result<(), Reason> {
        match self.step {
            Step::Bridging | Step::Ready | Step::Idle => at_rest(evidence, config, now).map_or(Ok(()), Err),
            Step::Started | Step::Running | Step::Ending => Err(Reason::NotAtRest),
            Step::Cancelled { .. } | Step::Over | Step::Left | Step::LeftUnseen => Err(Reason::NotAtRest),
        }
    }

    /// Takes a state in `Command`, a timely one `passed` after the one before: what speaks against going on.
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
            // The end of the move before it is shown until this one begins.
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

    /// Whether a state may be answered now: not by a `Start` that a paused program would begin with later.
    pub(super) fn answers(&self, evidence: &Evidence) -> bool {
        self.step != Step::Ready || !evidence.is_paused()
    }

    /// Returns `true` while a pause at the pendant is outlasted, for `pause_timeout` at most.
    pub(super) fn outlasts_pause(&self, evidence: &Evidence, config: &ModeConfig) -> bool {
        evidence.pendant == Pendant::Paused && self.paused <= config.delegated.pause_timeout
    }

    /// What answers the state that came at `at`.
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

    /// Commanding ends at `now`.
    pub(super) fn cancel(&mut self, now: Instant) {
        let shown = self.step != Step::Started;
        self.step_to(Step::Cancelled { shown }, now);
        self.seen = now;
    }

    /// Takes a state in `Stopping`. Where the robot is `silenced`, no `stopj` can follow: patience begins anew.
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

    /// When the `stopj` is due: exceeded, not met.
    pub(super) fn patience_ends(&self, config: &ModeConfig) -> Instant {
        self.seen + config.delegated.cancel_timeout
    }

    pub(super) const fn is_over(&self) -> bool {
        matches!(self.step, Step::Over)
    }

    /// A `Stop` is to go out, from `now` on.
    pub(super) const fn stops(&mut self, now: Instant) {
        self.since = now;
    }

    /// It has: whatever program runs is ended, and rest counts from then on.
    pub(super) const fn stopped(&mut self) {
        self.step = Step::Over;
    }

    /// From when on rest counts, in a `Stopping` that was entered at `entered`.
    pub(super) fn rest_counts_from(&self, entered: Instant) -> Instant {
        if self.is_over() { entered.max(self.since) } else { entered }
    }

    /// What is left of it outside of `Command` and `Stopping`, where the link `holds` or is lost.
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

    /// In `Monitor`: takes a state. Whether it is known now to have ended, by what was learned after `after`.
    pub(super) fn has_ended(&mut self, evidence: &Evidence, after: Instant) -> bool {
        self.since = self.since.max(after);
        self.is_ended_by(evidence, true)
    }

    /// In `Monitor`: whether what runs, if anything does, is this move.
    pub(super) fn is_ours(&self, evidence: &Evidence) -> bool {
        let ours = Mirrored::Running(self.number);
        self.step == Step::Left || evidence.mirrored.is_some_and(|held| held.value == ours && held.at > self.since)
    }

    /// A program that was never seen to begin it may still be about to.
    fn is_ended_by(&self, evidence: &Evidence, shown: bool) -> bool {
        let after = |held: &Held<Mirrored>| held.at > self.since;
        let mirror = match evidence.mirrored.filter(after).map(|held| held.value) {
            Some(Mirrored::Ended(number)) => shown || number == self.number,
            Some(Mirrored::Idle) => shown,
            Some(Mirrored::Running(_)) | None => false,
        };
        mirror || (shown && evidence.acceptance.is_stopped_since(self.since))
    }
}

impl Evidence {
    /// Whether nothing that the program does goes on for now.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused_by().is_some()
    }

    /// Returns `true` while a program is shown as paused at the pendant, also after commanding has ended.
    pub(crate) fn shows_pause(&self, now: Instant, max_age: Duration) -> bool {
        let Acceptance { program_state, program_running, .. } = &self.acceptance;
        let shows =
            |held: &Option<Held<Activity>>| held.and_then(|held| held.fresh(now, max_age)) == Some(Activity::Paused);
        self.pendant == Pendant::Paused || shows(program_state) || shows(program_running)
    }

    /// Returns `true` while nothing that a program does goes on: it is paused, or a slider at 0 holds what it executes.
    pub(crate) fn has_paused_program(&self, now: Instant, max_age: Duration) -> bool {
        self.is_paused() || self.shows_pause(now, max_age)
    }

    /// Returns the cause that holds the program still: a pause at the pendant before the speed slider.
    pub(super) fn paused_by(&self) -> Option<Reason> {
        if self.pendant == Pendant::Paused {
            return Some(Reason::ProgramPaused);
        }
        self.paused.then_some(Reason::HeldByScaling)
    }

    /// Whether the program executes a move, whosever.
    pub(super) fn shows_running(&self) -> bool {
        matches!(self.mirrored, Some(Held { value: Mirrored::Running(_), .. }))
    }
}

fn at_rest(evidence: &Evidence, config: &ModeConfig, now: Instant) -> Option<Reason> {
    missing_or(evidence.at_rest, now, config.evidence_age, |rests| (!rests).then_some(Reason::NotAtRest))
}

//! The mode machine. The table of its transitions is in the documentation of the module.

mod stopping;

use super::acceptance::{Baseline, Proof, Verdict};
use super::delegated_moves::{Answer, Delegation};
use super::evidence::{CommandStage, Evidence, stops_the_robot};
use super::mode_machine_config::ModeConfig;
use super::move_types::{Drive, MoveNumber};
use super::pendant_watch::Pendant;
use super::session_epoch::{Epoch, Intent};
use super::{Action, Mode, PeerGate, Transition};
use crate::robot::{Authority, Reason, ReasonSet};
use outrigger_wire::time::{Duration, Instant};

/// The state machine that decides in each cycle which motion output is permitted, from the mode, the newest evidence,
/// and the actions of operators.
///
/// | input | when |
/// |---|---|
/// | [`established`](Self::established), [`link_lost`](Self::link_lost) | the session's links are established, one of them is lost |
/// | [`observe`](Self::observe) | once per newest state, with everything known |
/// | [`fault`](Self::fault) | something other than the evidence ends commanding: the link monitor, the law, the governor |
/// | [`request`](Self::request), [`release`](Self::release), [`acknowledge`](Self::acknowledge) | an operator, through [`Operator`](super::Operator) |
/// | [`delegate`](Self::delegate), [`stream`](Self::stream) | in `Command`: the controller is to execute a move, or the law is to continue |
/// | [`tick`](Self::tick) | at [`next_deadline`](Self::next_deadline), or at any other time |
///
/// After each of them, [`action`](Self::action) returns the permitted output: at most one per state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ModeMachine {
    config: ModeConfig,
    mode: Mode,
    epoch: Epoch,
    latch: Option<Reason>,
    reasons: ReasonSet,
    /// The time at which the present mode was entered.
    entered: Instant,
    /// The time of the newest state of the arm; in the modes `Arming` and `Command` of the newest timely one.
    heard: Instant,
    /// `true` while a state, or a time at which an output is due, has not been answered yet.
    owed: bool,
    good: u32,
    baseline: Baseline,
    /// The acceptance of commands by the controller: in the mode `Arming` as the newest state shows it, in the mode
    /// `Command` the one that commanding is based on.
    grant: Grant,
    stopping: Stopping,
    /// The way in which a person last ended commanding, by a release or at the pendant; reported at the return to
    /// `Monitor` if no reason is latched.
    released: Reason,
    /// The time, in the mode `Stopping`, at which the next text to the controller is due even if no state arrives.
    due: Instant,
    /// `true` if the robot is known to be unable to take motion text.
    silenced: bool,
    motion_unknown: Option<Instant>,
    stray_stop: StrayStop,
    /// The move that the controller executes (delegated drive), kept afterwards until it is known to have ended.
    delegation: Option<Delegation>,
    /// The number of the move that was requested last, from which the next move's number follows.
    last_move: Option<MoveNumber>,
    /// `true` while a streamed motion is halted in the mode `Command`: from a pause of the program that carries the
    /// commands until the motion may continue.
    halted: bool,
    /// The time at which the program that carries the commands was last seen paused, while the motion is halted.
    paused_at: Instant,
}

/// The basis for assuming that the controller accepts our commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Grant {
    NotYet,
    /// No proof that commands are accepted exists, and the configuration accepts that.
    Unproven,
    /// Acceptance was proven by this proof, last at this time.
    By(Proof, Instant),
}

/// The progress of bringing the arm to rest in the mode `Stopping`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Stopping {
    /// This many zero velocities are still to be sent.
    Zeros(u8),
    /// The `stopj` that brings the arm to rest is sent next.
    StopNext,
    /// Somebody at the robot stopped the program: no text is sent, unless the arm does not slow down in this many
    /// states in a row.
    Quiet(u8),
    /// The program on the controller is to end the move that it executes.
    Cancelling,
    /// The whole stop was sent; standstill is awaited.
    Waiting,
    /// Standstill is awaited without a `stopj`, because the robot's own safety system took over.
    Unsaid,
}

/// The number of consecutive states, after a stop at the pendant, without a slower target of the controller: with the
/// last of them the `stopj` is sent after all.
const QUIET_STATES: u8 = 3;

/// The state of the single `stopj` that may be sent in the mode `Monitor`, to an arm that still moves by our command,
/// for instance after a reconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum StrayStop {
    Unused,
    Next,
    Used,
    /// The `stopj` is sent only if our program is shown as paused: the robot's own safety system paused it, and it
    /// would continue when it is resumed.
    IfPaused,
}

impl ModeMachine {
    /// Creates a machine in `Offline`. The configuration must be [checked](ModeConfig::check).
    #[must_use]
    pub const fn new(config: ModeConfig) -> Self {
        Self {
            config,
            mode: Mode::Offline,
            epoch: Epoch::from_number(0),
            latch: None,
            reasons: ReasonSet::EMPTY,
            entered: Instant::ZERO,
            heard: Instant::ZERO,
            owed: false,
            good: 0,
            baseline: Baseline::IDLE,
            grant: Grant::NotYet,
            stopping: Stopping::Waiting,
            released: Reason::Released,
            due: Instant::ZERO,
            silenced: false,
            motion_unknown: None,
            stray_stop: StrayStop::Used,
            delegation: None,
            last_move: None,
            halted: false,
            paused_at: Instant::ZERO,
        }
    }

    /// Returns the present mode of the machine.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the thresholds in force for the machine.
    #[must_use]
    pub const fn config(&self) -> &ModeConfig {
        &self.config
    }

    /// Sets new thresholds for a new session, possibly with another controller. Latched reasons are kept until they
    /// are acknowledged.
    pub const fn set_config(&mut self, config: ModeConfig) {
        self.config = config;
    }

    /// Returns the present epoch, a counter of connections and losses of authority; a client's [`Intent`] must carry
    /// it.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns the latched reason: the first fault since the last acknowledgement, which prevents commanding until an
    /// operator acknowledges it; `None` if there is none.
    #[must_use]
    pub const fn latch(&self) -> Option<Reason> {
        self.latch
    }

    /// Returns every reason that was recorded since the last acknowledgement: the latched one, those found together
    /// with it, and later ones.
    #[must_use]
    pub const fn reasons(&self) -> ReasonSet {
        self.reasons
    }

    /// Returns `true` if the arm was last seen moving, or commanded to move, and its standstill has not been measured
    /// since.
    #[must_use]
    pub const fn is_motion_unknown(&self) -> bool {
        self.motion_unknown.is_some()
    }

    /// Returns the time at which the present mode was entered.
    #[must_use]
    pub const fn entered(&self) -> Instant {
        self.entered
    }

    /// Returns the number of cycles in a row with a timely state of the arm, while arming.
    #[must_use]
    pub const fn good_cycles(&self) -> u32 {
        self.good
    }

    /// Returns the proof that commands are accepted, while arming and commanding; `None` if there is none.
    #[must_use]
    pub const fn accepted_by(&self) -> Option<Proof> {
        match self.grant {
            Grant::By(proof, _) => Some(proof),
            Grant::NotYet | Grant::Unproven => None,
        }
    }

    /// Returns the source of the motion while commanding: the control law, or a move that the controller executes.
    #[must_use]
    pub const fn drive(&self) -> Drive {
        match (self.mode, &self.delegation) {
            (Mode::Command, Some(delegation)) => Drive::Delegated(delegation.number()),
            _ => Drive::Streamed,
        }
    }

    /// Returns `true` while the controller may be executing a move by itself: from the sending of the move until
    /// commanding ends. States may be missing meanwhile for [`state_timeout`](super::DelegatedConfig::state_timeout) at
    /// most.
    #[must_use]
    pub fn executes_move(&self) -> bool {
        self.mode == Mode::Command && self.is_begun()
    }

    /// Returns the reason that holds a move of the controller during commanding: a pause at the pendant, or a speed
    /// slider at 0; `None` if there is none. The motion continues by itself once the reason is gone.
    #[must_use]
    pub fn held_by(&self, evidence: &Evidence) -> Option<Reason> {
        let delegation = self.delegation.as_ref().filter(|_| self.mode == Mode::Command)?;
        // A slider at 0 holds a move; a pause holds also the program that waits for one.
        evidence.paused_by().filter(|reason| delegation.is_moving() || *reason == Reason::ProgramPaused)
    }

    /// Returns the reason for which a streamed motion is halted after a pause of the program that carries it: the
    /// pause, or the precondition that is not met for going on; `None` while nothing halts it.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn halted_by(&self, evidence: &Evidence, now: Instant) -> Option<Reason> {
        let since = self.is_halted().then_some(self.paused_at)?;
        Some(if evidence.pendant == Pendant::Paused {
            Reason::ProgramPaused
        } else {
            self.against_going_on(since, evidence, now).unwrap_or(Reason::ProgramPaused)
        })
    }

    /// Returns the first unmet precondition for going on with a streamed motion after a pause that lasted until
    /// `since`: the preconditions of arming, and standstill since then. `None` if all are met.
    fn against_going_on(&self, since: Instant, evidence: &Evidence, now: Instant) -> Option<Reason> {
        let first = evidence.against(CommandStage::Arming, &self.config, now).first;
        first.or((!evidence.rests_since(since, &self.config)).then_some(Reason::NotAtRest))
    }

    /// Returns `true` while a streamed motion is halted because the program that carries it is paused, or was just now.
    #[must_use]
    pub const fn is_halted(&self) -> bool {
        matches!(self.mode, Mode::Command) && self.halted
    }

    /// Returns the move that the controller executes, or is about to, in `Command`, until the program shows its end;
    /// otherwise `None`.
    #[cfg(feature = "programs")]
    #[must_use]
    pub fn unfinished_move(&self) -> Option<MoveNumber> {
        let delegation = self.delegation.filter(|_| self.mode == Mode::Command)?;
        delegation.is_unfinished().then_some(delegation.number())
    }

    /// Returns `true` while the program on the controller has nothing to execute and waits for a move.
    #[cfg(feature = "programs")]
    #[must_use]
    pub fn awaits_move(&self) -> bool {
        self.mode == Mode::Command && self.delegation.as_ref().is_some_and(Delegation::is_idle)
    }

    /// Has the controller execute a move by itself. The move is sent with the next timely state if the controller makes
    /// the motion already (delegated drive); otherwise after `rest_window` of zero velocity and standstill.
    ///
    /// # Errors
    /// The first reason against it; nothing changes then, and nothing starts later. `NotCommanding` outside of
    /// `Command`, `NotAtRest` while another move may run or the arm moves, `OtherMove` while the program executes one,
    /// `ProgramPaused` or `HeldByScaling` while it is paused, `EvidenceMissing` without a report of the program at most
    /// `mirror_age` old.
    pub fn delegate(&mut self, now: Instant, evidence: &Evidence) -> Result<MoveNumber, Reason> {
        self.needs_command()?;
        if self.halted {
            return Err(Reason::NotAtRest);
        }
        let asked = Delegation::ask(self.delegation.as_ref(), self.last_move, evidence, &self.config, now)?;
        self.last_move = Some(asked.number());
        self.delegation = Some(asked);
        Ok(asked.number())
    }

    /// Has the control law make the motion again, in place of the controller, from the next state on.
    ///
    /// # Errors
    /// `NotCommanding` outside of `Command`, `NotAtRest` while a move may run or the arm moves.
    pub fn stream(&mut self, now: Instant, evidence: &Evidence) -> Result<(), Reason> {
        self.needs_command()?;
        if let Some(delegation) = &self.delegation {
            delegation.may_stream(evidence, &self.config, now)?;
            self.delegation = None;
            // The law continues after this pause as after one that halted it.
            (self.halted, self.paused_at) = (evidence.pendant == Pendant::Paused, now);
            self.owed = false;
        }
        Ok(())
    }

    const fn needs_command(&self) -> Result<(), Reason> {
        match self.mode {
            Mode::Command => Ok(()),
            Mode::Offline | Mode::Monitor | Mode::Arming => Err(Reason::NotCommanding),
            Mode::Stopping => Err(Reason::NotAtRest),
        }
    }

    /// Returns every reason for which a request to command would be refused now.
    #[must_use]
    pub fn unmet(&self, evidence: &Evidence, now: Instant) -> ReasonSet {
        // Without a session nothing else is known, and older facts say nothing about the robot now.
        let mut unmet = match self.mode {
            Mode::Offline => ReasonSet::EMPTY.with(Reason::LinkClosed),
            Mode::Monitor | Mode::Arming | Mode::Command | Mode::Stopping => {
                evidence.against(CommandStage::Entry, &self.config, now).all
            }
        };
        if self.latch.is_some() {
            unmet.insert(Reason::Latched);
        }
        if self.motion_unknown.is_some() {
            unmet.insert(Reason::MotionUnknown);
        }
        unmet
    }

    /// Records that the session's links are established and states arrive from the controller. Returns the transition
    /// to `Monitor`; `None` if the machine is not in `Offline`.
    pub fn established(&mut self, now: Instant) -> Option<Transition> {
        match self.mode {
            Mode::Offline => Some(self.transition(Mode::Monitor, None, now)),
            Mode::Monitor | Mode::Arming | Mode::Command | Mode::Stopping => None,
        }
    }

    /// Records that a link which the session needs is lost, for `reason`. Returns the transition to `Offline`; `None`
    /// if the machine is in it.
    pub fn link_lost(&mut self, now: Instant, reason: Reason) -> Option<Transition> {
        match self.mode {
            Mode::Offline => None,
            Mode::Monitor => Some(self.transition(Mode::Offline, Some(reason), now)),
            Mode::Arming => {
                self.latch_reason(reason);
                Some(self.transition(Mode::Offline, Some(reason), now))
            }
            Mode::Command | Mode::Stopping => {
                self.latch_reason(reason);
                self.lose_sight(now);
                Some(self.transition(Mode::Offline, Some(reason), now))
            }
        }
    }

    /// Updates the mode by the evidence of the newest state, in one call per state. Returns the transition; `None` if
    /// the mode does not change.
    pub fn observe(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        self.take_evidence::<true>(now, evidence)
    }

    /// Updates the mode by evidence like [`observe`](Self::observe), in a machine for which
    /// [`delegate`](Self::delegate) is never called. Firmware for a controller that executes no moves then links no
    /// code for them.
    pub fn observe_streamed(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        self.take_evidence::<false>(now, evidence)
    }

    fn take_evidence<const MOVES: bool>(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        self.silenced = evidence.forbids_text();
        self.fall_silent();
        match self.mode {
            Mode::Offline => None,
            Mode::Monitor => {
                self.heard = now;
                self.watch_the_unknown::<MOVES>(now, evidence);
                None
            }
            Mode::Arming => self.observe_arming(now, evidence),
            Mode::Command => self.observe_command::<MOVES>(now, evidence),
            Mode::Stopping => self.observe_stopping::<MOVES>(now, evidence),
        }
    }

    /// Ends commanding for a reason other than the evidence, and returns the transition; `None` if nothing is
    /// commanded, or the arm is stopping already. Missing states do not count while the controller executes a move,
    /// because the machine has a timeout of its own for them.
    pub fn fault(&mut self, now: Instant, reason: Reason) -> Option<Transition> {
        self.silenced |= stops_the_robot(reason);
        self.fall_silent();
        match self.mode {
            // Nothing is commanded, so faults of a link or a sensor have no effect.
            Mode::Offline | Mode::Monitor => None,
            Mode::Arming => Some(self.fall_back(Mode::Monitor, reason, now)),
            Mode::Command if self.is_begun() && is_about_streaming(reason) => None,
            Mode::Command => {
                let transition = self.fall_back(Mode::Stopping, reason, now);
                if reason == Reason::ProgramPaused {
                    self.say_instead(Stopping::StopNext);
                }
                Some(transition)
            }
            Mode::Stopping => {
                self.latch_reason(reason);
                None
            }
        }
    }

    /// Handles an operator's request to command. It counts only at the time of this call: a refused request is not
    /// repeated later. Returns `None` if the arm is armed or commanded already.
    ///
    /// # Errors
    /// The first reason against it. It latches nothing, and nothing starts later.
    pub fn request(&mut self, now: Instant, evidence: &Evidence) -> Result<Option<Transition>, Reason> {
        match self.mode {
            Mode::Offline => Err(Reason::LinkClosed),
            Mode::Monitor => {
                if self.motion_unknown.is_some() {
                    return Err(Reason::MotionUnknown);
                }
                if self.latch.is_some() {
                    return Err(Reason::Latched);
                }
                if let Some(reason) = evidence.against(CommandStage::Entry, &self.config, now).first {
                    return Err(reason);
                }
                self.baseline = evidence.acceptance.baseline();
                Ok(Some(self.transition(Mode::Arming, None, now)))
            }
            Mode::Arming | Mode::Command => Ok(None),
            Mode::Stopping => Err(Reason::NotAtRest),
        }
    }

    /// Handles an operator's release, which ends commanding and brings the arm to rest. Returns the transition; `None`
    /// if the arm is neither armed nor commanded.
    pub fn release(&mut self, now: Instant) -> Option<Transition> {
        match self.mode {
            Mode::Offline | Mode::Monitor | Mode::Stopping => None,
            Mode::Arming => Some(self.transition(Mode::Monitor, Some(Reason::Released), now)),
            Mode::Command => Some(self.transition(Mode::Stopping, Some(Reason::Released), now)),
        }
    }

    /// Clears the latched reasons against commanding, which the operator has seen. No mode changes and nothing moves.
    ///
    /// # Errors
    /// `MotionUnknown` until standstill was measured, `NotAtRest` while stopping.
    pub const fn acknowledge(&mut self) -> Result<(), Reason> {
        match self.mode {
            Mode::Stopping => Err(Reason::NotAtRest),
            Mode::Offline | Mode::Monitor | Mode::Arming | Mode::Command => {
                if self.motion_unknown.is_some() {
                    return Err(Reason::MotionUnknown);
                }
                self.latch = None;
                self.reasons = ReasonSet::EMPTY;
                Ok(())
            }
        }
    }

    /// Returns the value of an external client's intent if it has the present epoch.
    ///
    /// # Errors
    /// `WrongEpoch`: it was decided before the last connection or the last loss of authority.
    pub fn accept<T>(&self, intent: Intent<T>) -> Result<T, Reason> {
        intent.accept(self.epoch)
    }

    /// Evaluates all deadlines of the present mode as of `now`. Returns the transition, if one has passed that changes
    /// the mode.
    pub fn tick(&mut self, now: Instant) -> Option<Transition> {
        match self.mode {
            Mode::Offline => None,
            Mode::Monitor => (now.since(self.heard) > self.config.offline_after)
                .then(|| self.transition(Mode::Offline, Some(Reason::StateStale), now)),
            Mode::Arming => self.overdue_in_arming(now).map(|reason| self.fall_back(Mode::Monitor, reason, now)),
            Mode::Command => (now.since(self.heard) > self.state_timeout())
                .then(|| self.fall_back(Mode::Stopping, Reason::StateStale, now)),
            Mode::Stopping => {
                if now.since(self.entered) > self.config.stop_timeout {
                    return Some(self.give_up_stopping(now));
                }
                match self.stopping {
                    // It can no longer be seen whether the arm slows down.
                    Stopping::Quiet(_) if now.since(self.heard) > self.config.state_timeout => {
                        self.stopping = Stopping::StopNext;
                        self.owe(now);
                    }
                    // `Cancel` is sent only in answer to states: if none arrive, the program's own timeout ends the
                    // move.
                    Stopping::Cancelling => self.lose_patience(now),
                    Stopping::Zeros(_)
                    | Stopping::StopNext
                    | Stopping::Quiet(_)
                    | Stopping::Waiting
                    | Stopping::Unsaid => {
                        if now >= self.due {
                            self.owe(now);
                        }
                    }
                }
                None
            }
        }
    }

    /// Returns the latest time for the next call of [`tick`](Self::tick); `None` in `Offline`, which has no deadline.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        // A deadline is exceeded, not met: one µs after it.
        let past = |since: Instant, limit| since + limit + Duration::from_micros(1);
        match self.mode {
            Mode::Offline => None,
            Mode::Monitor => Some(past(self.heard, self.config.offline_after)),
            Mode::Arming => {
                Some(past(self.heard, self.config.state_timeout).min(past(self.entered, self.config.arming_timeout)))
            }
            Mode::Command => Some(past(self.heard, self.state_timeout())),
            Mode::Stopping => {
                let end = past(self.entered, self.config.stop_timeout);
                Some(match self.stopping {
                    Stopping::Zeros(_) | Stopping::StopNext => end.min(self.due),
                    Stopping::Quiet(_) => end.min(past(self.heard, self.config.state_timeout)),
                    Stopping::Cancelling => match &self.delegation {
                        Some(delegation) if !self.silenced => {
                            end.min(past(delegation.patience_ends(&self.config), Duration::ZERO))
                        }
                        Some(_) | None => end,
                    },
                    Stopping::Waiting | Stopping::Unsaid => end,
                })
            }
        }
    }

    /// Returns the motion output that is permitted in this cycle. Consumes it: the result is `Silent` until the next
    /// state, or the next due time while stopping.
    pub fn action(&mut self) -> Action<'_> {
        let owed = core::mem::take(&mut self.owed);
        match self.mode {
            Mode::Offline => Action::Silent,
            Mode::Monitor => match self.stray_stop {
                StrayStop::Next => {
                    self.stray_stop = StrayStop::Used;
                    if self.delegation.take().is_some() {
                        // The `stopj` ends any program: standstill counts from here on.
                        self.motion_unknown = Some(self.heard);
                    }
                    Action::Stop
                }
                StrayStop::IfPaused | StrayStop::Unused | StrayStop::Used => match &self.delegation {
                    Some(delegation) if owed => Action::Cancel(delegation.number()),
                    None if owed && self.config.delegated.resident => Action::Keep,
                    Some(_) | None => self.resting(owed),
                },
            },
            Mode::Arming => match (owed, self.config.mirrors) {
                (false, _) => Action::Silent,
                (true, true) => Action::Mirror,
                (true, false) => Action::Hold,
            },
            Mode::Command if !owed => Action::Silent,
            Mode::Command if self.delegation.is_some() => self.delegated_action(),
            Mode::Command if cfg!(feature = "programs") && self.halted => Action::Hold,
            Mode::Command => Action::Move(Authority::granted_by(self)),
            Mode::Stopping => self.stopping_action(owed),
        }
    }

    #[cold]
    #[inline(never)]
    fn delegated_action(&mut self) -> Action<'_> {
        let Some(delegation) = &mut self.delegation else { return Action::Silent };
        let number = delegation.number();
        match delegation.answer(self.heard) {
            Answer::Hold => Action::Hold,
            Answer::Keep => Action::Keep,
            Answer::Start => Action::Start(Authority::granted_by(self), number),
        }
    }

    /// Returns the output while nothing is commanded; a controller that needs an answer to every state gets its own
    /// position back.
    const fn resting(&self, owed: bool) -> Action<'_> {
        if owed && self.config.mirrors { Action::Mirror } else { Action::Silent }
    }

    fn observe_arming(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        self.owed = true;
        let against = evidence.against(CommandStage::Arming, &self.config, now);
        if let Some(reason) = against.first {
            return Some(self.fall_back_with(Mode::Monitor, reason, against.all, now));
        }
        if let Some(reason) = self.overdue_in_arming(now) {
            return Some(self.fall_back(Mode::Monitor, reason, now));
        }
        match evidence.pendant {
            Pendant::Go => {}
            Pendant::Wait => self.owed = false,
            Pendant::Stopped => return Some(self.transition(Mode::Monitor, Some(Reason::ProgramStopped), now)),
            Pendant::Paused | Pendant::TextPaused => {
                return Some(self.transition(Mode::Monitor, Some(Reason::ProgramPaused), now));
            }
        }
        if evidence.timely {
            self.heard = now;
            self.good = self.good.saturating_add(1);
        } else {
            self.good = 0;
        }
        self.baseline.observe(&evidence.acceptance, self.entered);
        self.grant = self.granted(evidence, now);
        match self.grant {
            // The first motion must not override a possible stop at the pendant either.
            _ if evidence.pendant == Pendant::Wait => None,
            Grant::Unproven | Grant::By(..) if self.good >= self.config.good_cycles => {
                Some(self.transition(Mode::Command, None, now))
            }
            Grant::NotYet | Grant::Unproven | Grant::By(..) => None,
        }
    }

    fn granted(&self, evidence: &Evidence, now: Instant) -> Grant {
        if evidence.gate.is_some_and(|held| held.value == PeerGate::Granted) {
            return Grant::By(Proof::PeerState, now);
        }
        let verdict = evidence.acceptance.verdict(self.baseline, self.entered, now, self.config.evidence_age);
        match verdict {
            Verdict::Accepted(proof, at) => Grant::By(proof, at),
            Verdict::Unknown if self.config.acceptance_unknown => Grant::Unproven,
            Verdict::Unknown | Verdict::NotYet => Grant::NotYet,
        }
    }

    fn overdue_in_arming(&self, now: Instant) -> Option<Reason> {
        if now.since(self.heard) > self.config.state_timeout {
            Some(Reason::StateStale)
        } else if now.since(self.entered) <= self.config.arming_timeout {
            None
        } else {
            Some(match self.grant {
                Grant::NotYet => Reason::NotGranted,
                Grant::Unproven | Grant::By(..) => Reason::ArmingTimeout,
            })
        }
    }

    fn observe_command<const MOVES: bool>(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        if MOVES && self.delegation.is_some() {
            return self.observe_delegated(now, evidence);
        }
        if MOVES && (evidence.pendant == Pendant::Paused || self.halted) {
            return self.observe_halted(now, evidence);
        }
        let mut against = evidence.against(CommandStage::Command, &self.config, now);
        against.add(self.lost_acceptance(now, evidence));
        if now.since(self.heard) > self.config.state_timeout {
            against.add(Some(Reason::StateStale));
        }
        if let Some(reason) = against.first {
            return Some(self.fall_back_with(Mode::Stopping, reason, against.all, now));
        }
        if let Some(transition) = self.ended_at_pendant(now, evidence.pendant) {
            return Some(transition);
        }
        if evidence.timely {
            self.heard = now;
            self.owed = evidence.pendant == Pendant::Go;
        }
        None
    }

    /// Handles a state while a pause of the program that carries the commands halts the motion. A separate function, so
    /// that streaming has no cost for it.
    #[cold]
    #[inline(never)]
    fn observe_halted(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        let mut against = evidence.against(CommandStage::Command, &self.config, now);
        let paused = evidence.pendant == Pendant::Paused;
        if paused {
            self.stays_accepted(now);
            (self.halted, self.paused_at) = (true, now);
        } else {
            against.add(self.lost_acceptance(now, evidence));
        }
        if now.since(self.heard) > self.config.state_timeout {
            against.add(Some(Reason::StateStale));
        }
        if let Some(reason) = against.first {
            return Some(self.fall_back_with(Mode::Stopping, reason, against.all, now));
        }
        if !paused && let Some(transition) = self.ended_at_pendant(now, evidence.pendant) {
            return Some(transition);
        }
        if evidence.timely {
            self.heard = now;
            self.owed = paused || evidence.pendant == Pendant::Go;
            if !paused && self.owed && self.against_going_on(self.paused_at, evidence, now).is_none() {
                self.halted = false;
            }
        }
        None
    }

    /// Renews the proof of acceptance during a pause, because a paused program mirrors nothing new.
    const fn stays_accepted(&mut self, now: Instant) {
        if let Grant::By(Proof::MirroredCounter, _) = self.grant {
            self.grant = Grant::By(Proof::MirroredCounter, now);
        }
    }

    /// Handles a state while the controller executes a move, or is about to. A separate function, so that streaming has
    /// no cost for it.
    #[cold]
    #[inline(never)]
    fn observe_delegated(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        let passed = now.since(self.heard);
        let mut against = evidence.against(CommandStage::Command, &self.config, now);
        let frozen = evidence.pendant == Pendant::Paused || (self.is_begun() && evidence.is_paused());
        match self.grant {
            Grant::By(Proof::MirroredCounter, _) if frozen => self.stays_accepted(now),
            Grant::NotYet | Grant::Unproven | Grant::By(..) => against.add(self.lost_acceptance(now, evidence)),
        }
        if passed > self.state_timeout() {
            against.add(Some(Reason::StateStale));
        }
        let mut answers = evidence.pendant != Pendant::Wait;
        let mut waits = false;
        if let Some(delegation) = &mut self.delegation {
            let passed = if evidence.timely { passed } else { Duration::ZERO };
            against.add(delegation.observe(evidence, &self.config, passed, now));
            answers &= delegation.answers(evidence);
            waits = delegation.outlasts_pause(evidence, &self.config);
        }
        if let Some(reason) = against.first {
            return Some(self.fall_back_with(Mode::Stopping, reason, against.all, now));
        }
        if !waits && let Some(transition) = self.ended_at_pendant(now, evidence.pendant) {
            return Some(transition);
        }
        if evidence.timely {
            self.heard = now;
            self.owed = answers;
        }
        None
    }

    #[inline(always)]
    fn ended_at_pendant(&mut self, now: Instant, pendant: Pendant) -> Option<Transition> {
        let (reason, first) = match pendant {
            Pendant::Go | Pendant::Wait => return None,
            Pendant::Stopped => (Reason::ProgramStopped, Stopping::Quiet(QUIET_STATES)),
            Pendant::Paused | Pendant::TextPaused => (Reason::ProgramPaused, Stopping::StopNext),
        };
        let transition = self.transition(Mode::Stopping, Some(reason), now);
        self.say_instead(first);
        Some(transition)
    }

    /// Replaces the zero velocities that begin the mode `Stopping` by the step `first`.
    fn say_instead(&mut self, first: Stopping) {
        if matches!(self.stopping, Stopping::Zeros(_)) {
            self.stopping = first;
        }
    }

    #[inline(always)]
    fn lost_acceptance(&mut self, now: Instant, evidence: &Evidence) -> Option<Reason> {
        let (proof, shown) = match self.grant {
            Grant::NotYet | Grant::Unproven => return None,
            Grant::By(Proof::PeerState, _) => {
                let gate = evidence.gate.and_then(|held| held.fresh(now, self.config.evidence_age));
                return (gate != Some(PeerGate::Granted)).then_some(Reason::NotGranted);
            }
            Grant::By(proof, shown) => (proof, shown),
        };
        // The age of evidence from before a pause does not count against a program that has just resumed.
        let newest = evidence.acceptance.shown_at(proof);
        let shown =
            if cfg!(feature = "programs") { newest.map_or(shown, |at| at.max(shown)) } else { newest.unwrap_or(shown) };
        self.grant = Grant::By(proof, shown);
        if now.since(shown) <= self.config.program_timeout {
            return None;
        }
        Some(match evidence.acceptance.heard_at(proof) {
            Some(at) if now.since(at) <= self.config.evidence_age => Reason::ProgramEnded,
            Some(_) | None => Reason::EvidenceMissing,
        })
    }

    fn is_begun(&self) -> bool {
        self.delegation.as_ref().is_some_and(Delegation::is_begun)
    }

    /// Returns the longest permitted time without a timely state of the arm while commanding.
    fn state_timeout(&self) -> Duration {
        if self.is_begun() { self.config.delegated.state_timeout } else { self.config.state_timeout }
    }

    fn latch_reason(&mut self, reason: Reason) {
        self.reasons.insert(reason);
        if !reason.is_release() {
            self.latch = self.latch.or(Some(reason));
        }
    }

    fn fall_back(&mut self, to: Mode, reason: Reason, now: Instant) -> Transition {
        self.fall_back_with(to, reason, ReasonSet::EMPTY, now)
    }

    fn fall_back_with(&mut self, to: Mode, reason: Reason, all: ReasonSet, now: Instant) -> Transition {
        self.latch_reason(reason);
        for other in all.iter() {
            self.reasons.insert(other);
        }
        self.transition(to, Some(reason), now)
    }

    /// Changes the mode of the machine. No other function does.
    fn transition(&mut self, to: Mode, reason: Option<Reason>, now: Instant) -> Transition {
        let from = core::mem::replace(&mut self.mode, to);
        self.entered = now;
        self.heard = now;
        self.good = 0;
        self.owed = false;
        self.halted = false;
        if let Some(reason) = reason.filter(|reason| reason.is_release()) {
            self.released = reason;
        }
        match to {
            Mode::Offline => {
                self.stray_stop = StrayStop::Used;
                self.delegation = self.delegation.and_then(|delegation| delegation.left(false));
            }
            Mode::Monitor => {
                self.delegation = self.delegation.and_then(|delegation| delegation.left(true));
                self.stray_stop = if from == Mode::Stopping && self.stopping == Stopping::Unsaid {
                    StrayStop::IfPaused
                } else if from == Mode::Offline || self.delegation.is_some() {
                    StrayStop::Unused
                } else {
                    StrayStop::Used
                };
            }
            Mode::Arming => {}
            // The state that completed arming is already answered with motion.
            Mode::Command => self.owed = true,
            Mode::Stopping => {
                self.stopping = match &mut self.delegation {
                    Some(delegation) if delegation.is_begun() => {
                        delegation.cancel(now);
                        Stopping::Cancelling
                    }
                    _ if self.silenced => Stopping::Unsaid,
                    _ => Stopping::Zeros(self.config.stop_cycles),
                };
                if self.stopping != Stopping::Cancelling {
                    self.delegation = None;
                }
                self.owe(now);
            }
        }
        let loses_authority = match from {
            Mode::Offline | Mode::Command => true,
            Mode::Arming => to != Mode::Command,
            Mode::Monitor | Mode::Stopping => false,
        };
        if loses_authority {
            self.epoch = self.epoch.next();
        }
        if !matches!(to, Mode::Arming | Mode::Command) {
            self.grant = Grant::NotYet;
        }
        Transition { from, to, reason, at: now, epoch: self.epoch }
    }
}

/// Returns `true` for reasons that end commanding only because each state must be answered in time.
const fn is_about_streaming(reason: Reason) -> bool {
    matches!(reason, Reason::StateStale | Reason::StatesMissed | Reason::LocalStall | Reason::GradeLow)
}

//! The machine itself. Its table is the module's.

mod stopping;

use super::acceptance::{Baseline, Proof, Verdict};
use super::config::ModeConfig;
use super::delegated::{Answer, Delegation};
use super::evidence::{Evidence, Stage, stops_the_robot};
use super::moves::{Drive, MoveNumber};
use super::pendant::Pendant;
use super::request::{Epoch, Intent};
use super::{Action, Mode, PeerGate, Transition};
use crate::robot::{Authority, Reason, ReasonSet};
use outrigger_wire::time::{Duration, Instant};

/// Decides in each cycle what may go out, by the mode, the newest evidence, and what operators ask for.
///
/// | input | when |
/// |---|---|
/// | [`established`](Self::established), [`link_lost`](Self::link_lost) | the session's links stand, one of them fell |
/// | [`observe`](Self::observe) | once per newest state, with everything known |
/// | [`fault`](Self::fault) | something else ends commanding: the link monitor, the law, the governor |
/// | [`request`](Self::request), [`release`](Self::release), [`acknowledge`](Self::acknowledge) | an operator, by way of [`Operator`](super::Operator) |
/// | [`delegate`](Self::delegate), [`stream`](Self::stream) | in `Command`: the controller is to execute a move, or the law is to go on |
/// | [`tick`](Self::tick) | at [`next_deadline`](Self::next_deadline), or at any other time |
///
/// After each of them, [`action`](Self::action) says what may go out: at most one thing per state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ModeMachine {
    config: ModeConfig,
    mode: Mode,
    epoch: Epoch,
    latch: Option<Reason>,
    reasons: ReasonSet,
    /// Since when in this mode.
    entered: Instant,
    /// The newest state; in `Arming` and `Command` the newest timely one.
    heard: Instant,
    /// A state, or its time, that has not been answered yet.
    owed: bool,
    good: u32,
    baseline: Baseline,
    /// In `Arming`: whether the newest state grants; in `Command`: what did.
    grant: Grant,
    stopping: Stopping,
    /// How the last commanding was released, where nothing is latched.
    released: Reason,
    /// In `Stopping`: when the next text is due, states or not.
    due: Instant,
    /// The robot is known to be unable to take motion text.
    silenced: bool,
    motion_unknown: Option<Instant>,
    stray_stop: StrayStop,
    /// In delegated drive, and afterwards until the move is known to have ended.
    delegation: Option<Delegation>,
    /// The number that was given last.
    last_move: Option<MoveNumber>,
    /// In `Command`, streamed: set from a pause of the program that carries the commands until the arm may go on.
    halted: bool,
    /// While it is halted, the time at which that program was last seen paused.
    paused_at: Instant,
}

/// Why we believe that commands are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Grant {
    NotYet,
    /// Nothing can show it, and the configuration accepts that.
    Unproven,
    /// Shown, last at this time.
    By(Proof, Instant),
}

/// How far `Stopping` got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Stopping {
    /// This many zero velocities to go.
    Zeros(u8),
    /// The `stopj` is next.
    StopNext,
    /// Somebody else stopped the program: nothing is said, unless the arm does not slow down in this many states in a
    /// row.
    Quiet(u8),
    /// The move that the controller executes is to end.
    Cancelling,
    /// Said everything; waiting for standstill.
    Waiting,
    /// The same, and the `stopj` was not said, because the robot's own safety system took over.
    Unsaid,
}

/// States in a row in which the target of a stopped program may not become slower.
const QUIET_STATES: u8 = 3;

/// The one `stopj` for an arm found moving by our command after a reconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum StrayStop {
    Unused,
    Next,
    Used,
    /// For a program of ours that the robot's own safety system paused, and that would go on when it is resumed.
    IfPaused,
}

impl ModeMachine {
    /// A machine in `Offline`. The configuration is taken as [checked](ModeConfig::check).
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

    /// The mode now.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// The thresholds in force.
    #[must_use]
    pub const fn config(&self) -> &ModeConfig {
        &self.config
    }

    /// New thresholds, for a new session with a controller that may be another one. Whatever an operator must still
    /// acknowledge stays.
    pub const fn set_config(&mut self, config: ModeConfig) {
        self.config = config;
    }

    /// The epoch now: the one that an outside commander's [`Intent`] must carry.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The first reason since the last acknowledge.
    #[must_use]
    pub const fn latch(&self) -> Option<Reason> {
        self.latch
    }

    /// Every reason since the last acknowledge, the first among them.
    #[must_use]
    pub const fn reasons(&self) -> ReasonSet {
        self.reasons
    }

    /// Whether the arm was last seen moving, or told to, and its rest has not been measured since.
    #[must_use]
    pub const fn is_motion_unknown(&self) -> bool {
        self.motion_unknown.is_some()
    }

    /// Since when in this mode.
    #[must_use]
    pub const fn entered(&self) -> Instant {
        self.entered
    }

    /// Good cycles in a row, while arming.
    #[must_use]
    pub const fn good_cycles(&self) -> u32 {
        self.good
    }

    /// What shows that commands are accepted, while arming and commanding; `None` where nothing does.
    #[must_use]
    pub const fn accepted_by(&self) -> Option<Proof> {
        match self.grant {
            Grant::By(proof, _) => Some(proof),
            Grant::NotYet | Grant::Unproven => None,
        }
    }

    /// Who makes the motion, in `Command`.
    #[must_use]
    pub const fn drive(&self) -> Drive {
        match (self.mode, &self.delegation) {
            (Mode::Command, Some(delegation)) => Drive::Delegated(delegation.number()),
            _ => Drive::Streamed,
        }
    }

    /// Whether the controller may execute a move by itself now: from its `Start` until commanding ends. States may be
    /// missing meanwhile for as long as [`state_timeout`](super::DelegatedConfig::state_timeout) allows.
    #[must_use]
    pub fn executes_move(&self) -> bool {
        self.mode == Mode::Command && self.is_begun()
    }

    /// Returns the reason that holds the drive which is delegated to the controller. It goes on by itself once that is gone.
    #[must_use]
    pub fn held_by(&self, evidence: &Evidence) -> Option<Reason> {
        let delegation = self.delegation.as_ref().filter(|_| self.mode == Mode::Command)?;
        // A slider at 0 holds a move, and a pause also the program that waits for one.
        evidence.paused_by().filter(|reason| delegation.is_moving() || *reason == Reason::ProgramPaused)
    }

    /// Returns the reason for which a streamed motion stands after a pause of the program that carries it: the pause, or what the
    /// motion still needs before it goes on; `None` while nothing halts it.
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

    /// Returns what speaks against going on after a pause that lasted until `since`: everything is checked again that arming is.
    fn against_going_on(&self, since: Instant, evidence: &Evidence, now: Instant) -> Option<Reason> {
        let first = evidence.against(Stage::Arming, &self.config, now).first;
        first.or((!evidence.rests_since(since, &self.config)).then_some(Reason::NotAtRest))
    }

    /// Returns `true` while a streamed motion stands because the program that carries it is paused, or was just now.
    #[must_use]
    pub const fn is_halted(&self) -> bool {
        matches!(self.mode, Mode::Command) && self.halted
    }

    /// The move that the controller executes, or is about to, in `Command`, as long as its end is not shown.
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

    /// The controller is to execute a move by itself. `Start` goes out with the next timely state where the drive is
    /// delegated already, and after `rest_window` of zero velocity and rest where it is streamed.
    ///
    /// # Errors
    /// The first reason against; nothing changes, and nothing begins later. `NotCommanding` outside of `Command`,
    /// `NotAtRest` while another move may run or the arm moves, `OtherMove` while the program executes one,
    /// `ProgramPaused` or `HeldByScaling` while it is paused, `EvidenceMissing` without a mirror at most `mirror_age` old.
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

    /// The law is to make the motion again, from the next state on.
    ///
    /// # Errors
    /// `NotCommanding` outside of `Command`, `NotAtRest` while a move may run or the arm moves.
    pub fn stream(&mut self, now: Instant, evidence: &Evidence) -> Result<(), Reason> {
        self.needs_command()?;
        if let Some(delegation) = &self.delegation {
            delegation.may_stream(evidence, &self.config, now)?;
            self.delegation = None;
            // The law goes on after a pause as after one that it was halted by.
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

    /// Everything that a request would be refused for now.
    #[must_use]
    pub fn unmet(&self, evidence: &Evidence, now: Instant) -> ReasonSet {
        // Without a session nothing else is known, and what was known before says nothing of the robot now.
        let mut unmet = match self.mode {
            Mode::Offline => ReasonSet::EMPTY.with(Reason::LinkClosed),
            Mode::Monitor | Mode::Arming | Mode::Command | Mode::Stopping => {
                evidence.against(Stage::Entry, &self.config, now).all
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

    /// The session's links stand and states arrive.
    pub fn established(&mut self, now: Instant) -> Option<Transition> {
        match self.mode {
            Mode::Offline => Some(self.transition(Mode::Monitor, None, now)),
            Mode::Monitor | Mode::Arming | Mode::Command | Mode::Stopping => None,
        }
    }

    /// A link the session needs is gone, for `reason`.
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

    /// Takes the newest state's evidence; one call per state.
    pub fn observe(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        self.take_evidence::<true>(now, evidence)
    }

    /// The same of a machine that [`delegate`](Self::delegate) is never called of: firmware beside a controller that is given
    /// no moves links nothing of what they need.
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

    /// Something other than the evidence ends commanding; not because states are missing while the controller executes a
    /// move by itself, for that the machine judges by itself.
    pub fn fault(&mut self, now: Instant, reason: Reason) -> Option<Transition> {
        self.silenced |= stops_the_robot(reason);
        self.fall_silent();
        match self.mode {
            // Nothing is commanded: a link or a sensor may be as bad as it likes.
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

    /// An operator asks to command: an edge, spent by this call whatever it answers.
    ///
    /// # Errors
    /// The first reason against. Nothing is latched by it, and nothing begins later.
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
                if let Some(reason) = evidence.against(Stage::Entry, &self.config, now).first {
                    return Err(reason);
                }
                self.baseline = evidence.acceptance.baseline();
                Ok(Some(self.transition(Mode::Arming, None, now)))
            }
            Mode::Arming | Mode::Command => Ok(None),
            Mode::Stopping => Err(Reason::NotAtRest),
        }
    }

    /// The operator takes the request back.
    pub fn release(&mut self, now: Instant) -> Option<Transition> {
        match self.mode {
            Mode::Offline | Mode::Monitor | Mode::Stopping => None,
            Mode::Arming => Some(self.transition(Mode::Monitor, Some(Reason::Released), now)),
            Mode::Command => Some(self.transition(Mode::Stopping, Some(Reason::Released), now)),
        }
    }

    /// The operator has seen the reasons: clears them. Nothing else happens.
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

    /// The value of an outside commander's intent.
    ///
    /// # Errors
    /// `WrongEpoch`: it was decided before the last connection or the last loss of authority.
    pub fn accept<T>(&self, intent: Intent<T>) -> Result<T, Reason> {
        intent.accept(self.epoch)
    }

    /// Time has passed.
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
                    // Whether the arm slows down cannot be seen any more.
                    Stopping::Quiet(_) if now.since(self.heard) > self.config.state_timeout => {
                        self.stopping = Stopping::StopNext;
                        self.owe(now);
                    }
                    // `Cancel` answers states alone: where none come, the program's own time-out acts.
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

    /// When to call [`tick`](Self::tick) at the latest.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        // Deadlines are exceeded, not met: one µs after them.
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

    /// What may go out now. Asking is taking: until the next state, or the next due time while stopping, the
    /// answer is `Silent`.
    pub fn action(&mut self) -> Action<'_> {
        let owed = core::mem::take(&mut self.owed);
        match self.mode {
            Mode::Offline => Action::Silent,
            Mode::Monitor => match self.stray_stop {
                StrayStop::Next => {
                    self.stray_stop = StrayStop::Used;
                    if self.delegation.take().is_some() {
                        // Whatever program ran has ended now: rest counts from here on.
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

    /// Nothing is commanded; a peer that needs an answer to every state gets its own position back.
    const fn resting(&self, owed: bool) -> Action<'_> {
        if owed && self.config.mirrors { Action::Mirror } else { Action::Silent }
    }

    fn observe_arming(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        self.owed = true;
        let against = evidence.against(Stage::Arming, &self.config, now);
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
            // The first motion is not written over what may be a stop at the pendant either.
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
        let mut against = evidence.against(Stage::Command, &self.config, now);
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

    /// Takes a state while a pause of the program that carries the commands halts the motion: apart, so that streaming pays nothing for it.
    #[cold]
    #[inline(never)]
    fn observe_halted(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        let mut against = evidence.against(Stage::Command, &self.config, now);
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

    /// A program that is paused mirrors nothing new.
    const fn stays_accepted(&mut self, now: Instant) {
        if let Grant::By(Proof::MirroredCounter, _) = self.grant {
            self.grant = Grant::By(Proof::MirroredCounter, now);
        }
    }

    /// The same while the controller executes a move, or is about to: apart, so that streaming pays nothing for it.
    #[cold]
    #[inline(never)]
    fn observe_delegated(&mut self, now: Instant, evidence: &Evidence) -> Option<Transition> {
        let passed = now.since(self.heard);
        let mut against = evidence.against(Stage::Command, &self.config, now);
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

    /// What `Stopping` begins with in place of zero velocities.
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
        // What was shown before a pause does not count against a program that has just gone on.
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

    /// Longest time without a timely state in `Command`.
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

    /// The only place where the mode changes.
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
            // The state that completed arming is answered with motion already.
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

/// Whether these reasons end commanding only because each state is to be answered in time.
const fn is_about_streaming(reason: Reason) -> bool {
    matches!(reason, Reason::StateStale | Reason::StatesMissed | Reason::LocalStall | Reason::GradeLow)
}

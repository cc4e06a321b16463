//! The judge of operator actions: who may request commanding, when it counts, and what ends it.
//!
//! A *request* starts, a *release* stops, an *acknowledgement* clears. They arrive as messages (keys, text lines,
//! remote commands) and by electrical lines at the robot's inputs or at a board's pins. This device may make one
//! request by itself. [`Operator`] decides about all of them, in front of the [`ModeMachine`]:
//!
//! * In one state, and at one time, the order is: stop, acknowledge, request.
//! * A message carries the [`Epoch`] that its sender saw; one other than the machine's is refused
//!   ([`Reason::WrongEpoch`]).
//! * The *automatic* request is made when every precondition holds, and again only after a refusal of itself. It ends
//!   with the first time it is granted, with any operator action, with any latch, and
//!   [`start_within`](OperatorConfig::start_within) after the start.
//! * A *request line* requests by its rise. The rise counts only after the line was low for
//!   [`low_for`](OperatorConfig::low_for) since the latest of boot, a new epoch, the return to `Monitor`, an
//!   acknowledgement and a refusal; any other is refused as [`Reason::LineHeld`]. One that is [*held*](RequestAs::Held)
//!   releases when it is low, and while it is low no request is granted, from any channel ([`Reason::LineLow`]). After
//!   a release by a line no rise counts for [`released_for`](OperatorConfig::released_for).
//! * A *stop line* is normally closed, which is high. While it is open, or not seen yet, it refuses requests
//!   ([`Reason::StopOpen`]); an open line releases. It is not an emergency stop.

use super::evidence::Evidence;
use super::input_level::{Line, Rise};
use super::machine::ModeMachine;
use super::operator_input_settings::{OperatorConfig, RequestAs};
use super::session_epoch::Epoch;
use super::{Mode, Transition};
use crate::robot::{Reason, ReasonSet};
use outrigger_wire::time::{Duration, Instant};

/// The channel on which an operator action arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Channel {
    /// This device itself, which may make one request automatically.
    Automatic,
    /// A message of an operator: a key, a text line or a remote command.
    Message,
    /// An electrical line of an operator that is wired to an input of the robot.
    Input,
    /// An electrical line of an operator that is wired to a pin of this device.
    Pin,
}

impl Channel {
    /// Returns the name that reports use for the channel.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::Message => "message",
            Self::Input => "robot input",
            Self::Pin => "pin",
        }
    }
}

/// An operator action that can be refused. A release is never refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum OperatorAction {
    /// A request to start commanding the arm.
    Request,
    /// An acknowledgement, which clears the latched reason against commanding.
    Acknowledge,
    /// A request to end our program on the controller, so that the pendant's program continues.
    HandBack,
    /// A request to send our program to the controller again.
    Resend,
}

impl OperatorAction {
    /// Returns the name that reports use for the action.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Acknowledge => "acknowledge",
            Self::HandBack => "hand-back",
            Self::Resend => "resend",
        }
    }
}

/// A refusal of an operator action, which is not repeated automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Refusal {
    /// The operator action that was refused.
    pub word: OperatorAction,
    /// The channel on which the refused action arrived.
    pub by: Channel,
    /// The reason for which the action was refused.
    pub reason: Reason,
}

impl Refusal {
    /// Creates the refusal of a request to command from channel `by`, for `reason`.
    #[must_use]
    pub const fn of_request(by: Channel, reason: Reason) -> Self {
        Self { word: OperatorAction::Request, by, reason }
    }

    /// Creates the refusal of an acknowledgement from channel `by`, for `reason`.
    #[must_use]
    pub const fn of_acknowledge(by: Channel, reason: Reason) -> Self {
        Self { word: OperatorAction::Acknowledge, by, reason }
    }
}

/// The reason for which the automatic request ended without an operator action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Lapse {
    /// At least one precondition of commanding was unmet throughout [`start_within`](OperatorConfig::start_within).
    TooLate,
    /// A reason against commanding was latched (kept until it is acknowledged) before the automatic request was
    /// granted.
    Latched,
}

/// A kind of electrical line by which an operator stops, acknowledges or requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Contact {
    /// An operator's line that brings the arm to rest when it is low (open). Requests are refused unless it is high.
    Stop,
    /// An operator's line whose rising edge acknowledges the latched reason against commanding.
    Acknowledge,
    /// An operator's line whose rising edge requests to start commanding.
    Request,
}

/// The outcome of the operator's electrical lines and of this device's automatic request at one time, in the order in
/// which it happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The transition by which a low operator's line stopped the arm; `None` if no line did.
    pub stopped: Option<Transition>,
    /// The result of an acknowledgement by an operator's line; `None` if there was none.
    pub acknowledged: Option<Result<(), Refusal>>,
    /// The result of a request by an operator's line or of the automatic request; `None` if there was none, or if it
    /// had no effect: the arm is armed or commanded already, or this process ends.
    pub requested: Option<Result<Option<Transition>, Refusal>>,
    /// `true` if the automatic request is no longer made, because a reason against commanding was latched.
    pub lapsed: bool,
}

/// The state of this device's automatic request to command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Automatic {
    /// The automatic request to command is no longer made, or was never configured.
    Spent,
    /// The automatic request will be made once this device has started.
    NotStarted,
    /// The automatic request is made until this time.
    Until(Instant),
}

/// The levels of the operator's electrical lines of one channel: the robot's inputs, or this device's pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Lines {
    stop: Line,
    acknowledge: Line,
    request: Line,
}

impl Lines {
    const UNKNOWN: Self = Self { stop: Line::Unknown, acknowledge: Line::Unknown, request: Line::Unknown };
}

/// The operator's stop and request lines that are configured in one channel: the robot's inputs, or this device's pins.
/// An acknowledge line is not included, because its level is no precondition of commanding.
#[derive(Clone, Copy)]
struct Present {
    stop: bool,
    request: Option<RequestAs>,
}

/// The judge of operator actions: decides which of them reach the mode machine. One value per robot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Operator {
    config: OperatorConfig,
    automatic: Automatic,
    inputs: Lines,
    pins: Lines,
    /// The time of the last state that contained the levels of the robot's inputs.
    seen: Instant,
    /// The time of the latest acknowledgement or refusal: the rise of an operator's line counts only if the line was
    /// low after it.
    spoken: Instant,
    /// The time of the last release by an operator's line, which brought the arm to rest.
    released: Option<Instant>,
    /// `true` if all later requests to command are ignored, because this process ends.
    ended: bool,
}

impl Operator {
    /// Creates the judge before any action, with no line seen. The configuration must be
    /// [checked](OperatorConfig::check).
    #[must_use]
    pub const fn new(config: OperatorConfig) -> Self {
        Self {
            automatic: if config.start_within.is_some() { Automatic::NotStarted } else { Automatic::Spent },
            inputs: Lines::UNKNOWN,
            pins: Lines::UNKNOWN,
            seen: Instant::ZERO,
            spoken: Instant::ZERO,
            released: None,
            ended: false,
            config,
        }
    }

    /// Returns the configuration of the operator's channels in force.
    #[must_use]
    pub const fn config(&self) -> &OperatorConfig {
        &self.config
    }

    /// Returns `true` if this device may still make its automatic request to command.
    #[must_use]
    pub const fn asks_by_itself(&self) -> bool {
        !matches!(self.automatic, Automatic::Spent)
    }

    /// Records that this device has started, from which time it makes its automatic request; a second call changes
    /// nothing.
    pub fn start(&mut self, now: Instant) {
        if let (Automatic::NotStarted, Some(within)) = (self.automatic, self.config.start_within) {
            self.automatic = Automatic::Until(now + within);
        }
    }

    /// Evaluates the deadline of this device's automatic request to command; to be called before any other function at
    /// `now`, with a state or without. Returns `true` if the automatic request has just expired.
    pub fn wake(&mut self, now: Instant) -> bool {
        let over = matches!(self.automatic, Automatic::Until(end) if now > end);
        if over {
            self.automatic = Automatic::Spent;
        }
        over
    }

    /// Returns the latest time at which [`wake`](Self::wake) is due; `None` unless the automatic request is being made.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        if let Automatic::Until(end) = self.automatic { Some(end + Duration::from_micros(1)) } else { None }
    }

    /// Returns the reasons against a request to command from any channel that follow from the operator's lines and from
    /// this device's clock: a stop line or a request line is not seen high, or the clock is too inexact.
    #[must_use]
    pub fn unmet(&self) -> ReasonSet {
        let mut unmet = ReasonSet::EMPTY;
        if self.config.clock_is_inexact {
            unmet.insert(Reason::ClockInexact);
        }
        for (present, lines) in [(self.input_lines(), &self.inputs), (self.pin_lines(), &self.pins)] {
            if present.stop && !lines.stop.is_high() {
                unmet.insert(Reason::StopOpen);
            }
            if present.request == Some(RequestAs::Held) && !lines.request.is_high() {
                unmet.insert(Reason::LineLow);
            }
        }
        unmet
    }

    /// Handles a request by a message to command. `epoch` is the one that the sender saw. Returns `None` if the arm is
    /// armed or commanded already, or this process [ends](Self::end).
    ///
    /// # Errors
    /// The first reason against it.
    pub fn request(
        &mut self,
        epoch: Epoch,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        now: Instant,
    ) -> Result<Option<Transition>, Refusal> {
        self.automatic = Automatic::Spent;
        if self.ended {
            return Ok(None);
        }
        if epoch != machine.epoch() {
            return Err(self.refuse(OperatorAction::Request, Channel::Message, Reason::WrongEpoch, now));
        }
        self.ask(Channel::Message, machine, evidence, now)
    }

    /// Handles an operator's release by a message, which brings the arm to rest and ends the automatic request. Returns
    /// the transition, if any.
    pub fn release(&mut self, machine: &mut ModeMachine, now: Instant) -> Option<Transition> {
        self.automatic = Automatic::Spent;
        machine.release(now)
    }

    /// Handles a release, which brings the arm to rest, and ignores all later requests to command, because this process
    /// ends.
    pub fn end(&mut self, machine: &mut ModeMachine, now: Instant) -> Option<Transition> {
        self.ended = true;
        self.release(machine, now)
    }

    /// Handles an operator's acknowledgement, by any channel, of the latched reasons against commanding. It ends the
    /// automatic request.
    ///
    /// # Errors
    /// The errors of [`ModeMachine::acknowledge`].
    pub fn acknowledge(&mut self, by: Channel, machine: &mut ModeMachine, now: Instant) -> Result<(), Refusal> {
        self.automatic = Automatic::Spent;
        self.spoken = now;
        machine.acknowledge().map_err(|reason| self.refuse(OperatorAction::Acknowledge, by, reason, now))
    }

    /// Takes a level of a pin of this device that has lasted for [`pin_filter`](OperatorConfig::pin_filter). Returns
    /// its effects; a pin that is not configured has none.
    pub fn pin(
        &mut self,
        contact: Contact,
        high: bool,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        now: Instant,
    ) -> Outcome {
        let (line, wired) = match contact {
            Contact::Stop => (&mut self.pins.stop, self.config.stop_pin),
            Contact::Acknowledge => (&mut self.pins.acknowledge, self.config.acknowledge_pin),
            Contact::Request => (&mut self.pins.request, self.config.request_pin),
        };
        if !wired {
            return Outcome::default();
        }
        let risen = line.see_settled(high, now);
        let mut outcome = Outcome { stopped: self.fall(machine, now), ..Outcome::default() };
        match (contact, risen) {
            (Contact::Acknowledge, Some(_)) => {
                outcome.acknowledged = Some(self.acknowledge(Channel::Pin, machine, now));
            }
            (Contact::Request, Some(rise)) => {
                outcome.requested = self.rise(Channel::Pin, rise, machine, evidence, now);
            }
            (Contact::Stop, _) | (_, None) => {}
        }
        outcome
    }

    /// Takes the levels of the robot's inputs in the newest state, after the machine has observed it, and makes the
    /// automatic request while it is due. `fresh` is `true` if the state may be acted on; `gap` is the time without any
    /// state after which a level is no longer known. Returns `None` if it has no effect.
    pub fn observe(
        &mut self,
        levels: u64,
        fresh: bool,
        gap: Duration,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        now: Instant,
    ) -> Option<Outcome> {
        // The usual case, in every cycle.
        if matches!(self.automatic, Automatic::Spent) && !self.config.has_inputs() {
            return None;
        }
        let mut outcome = Outcome::default();
        if self.config.has_inputs() {
            self.observe_inputs(levels, fresh, gap, machine, evidence, now, &mut outcome);
        }
        if matches!(self.automatic, Automatic::Until(_)) {
            self.ask_by_itself(machine, evidence, now, &mut outcome);
        }
        (outcome != Outcome::default()).then_some(outcome)
    }

    #[expect(clippy::too_many_arguments, reason = "one state, and the machine it is for")]
    fn observe_inputs(
        &mut self,
        levels: u64,
        fresh: bool,
        gap: Duration,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        now: Instant,
        outcome: &mut Outcome,
    ) {
        if now.since(self.seen) > gap {
            self.inputs = Lines::UNKNOWN;
        }
        self.seen = now;
        let high = |input: Option<u8>| input.map(|input| levels.checked_shr(input.into()).unwrap_or(0) & 1 == 1);
        let OperatorConfig { stop_input, acknowledge_input, request_input, .. } = self.config;
        if !fresh {
            // An old state is no proof of a low level, and uses up a high one.
            for (line, input) in [
                (&mut self.inputs.stop, stop_input),
                (&mut self.inputs.acknowledge, acknowledge_input),
                (&mut self.inputs.request, request_input),
            ] {
                line.see_old(high(input) == Some(true));
            }
            return;
        }
        if let Some(high) = high(stop_input) {
            self.inputs.stop.see(high, now);
        }
        let acknowledged = high(acknowledge_input).and_then(|high| self.inputs.acknowledge.see(high, now));
        let risen = high(request_input).and_then(|high| self.inputs.request.see(high, now));
        outcome.stopped = self.fall(machine, now);
        if acknowledged.is_some() {
            outcome.acknowledged = Some(self.acknowledge(Channel::Input, machine, now));
        }
        outcome.requested = risen.and_then(|rise| self.rise(Channel::Input, rise, machine, evidence, now));
    }

    /// Stops the arm if a stop line, or a request line that must be held, is low, regardless of which channel requested
    /// its motion. Returns the transition, if any.
    fn fall(&mut self, machine: &mut ModeMachine, now: Instant) -> Option<Transition> {
        let low_states = self.config.low_states;
        let (mut stops, mut released) = (false, false);
        for (present, lines) in [(self.input_lines(), &self.inputs), (self.pin_lines(), &self.pins)] {
            stops |= present.stop && lines.stop.is_low_in(low_states);
            released |= present.request == Some(RequestAs::Held) && lines.request.is_low_in(low_states);
        }
        if stops {
            self.automatic = Automatic::Spent;
        }
        let moves = matches!(machine.mode(), Mode::Arming | Mode::Command);
        if !moves || !(stops || released) {
            return None;
        }
        self.released = Some(now);
        self.release(machine, now)
    }

    /// Handles the rising edge of an operator's request line; returns `None` if it has no effect, because the arm is
    /// armed or commanded already, or this process ends.
    fn rise(
        &mut self,
        by: Channel,
        rise: Rise,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        now: Instant,
    ) -> Option<Result<Option<Transition>, Refusal>> {
        if self.ended || matches!(machine.mode(), Mode::Arming | Mode::Command) {
            return None;
        }
        self.automatic = Automatic::Spent;
        // The mode changes with the epoch, and with the return to `Monitor`.
        let since = rise.low_since.max(self.spoken).max(machine.entered());
        let chatters = self.released.is_some_and(|at| now.since(at) < self.config.released_for);
        if now.since(since) < self.config.low_for || chatters {
            return Some(Err(self.refuse(OperatorAction::Request, by, Reason::LineHeld, now)));
        }
        Some(self.ask(by, machine, evidence, now))
    }

    fn ask_by_itself(&mut self, machine: &mut ModeMachine, evidence: &Evidence, now: Instant, outcome: &mut Outcome) {
        if machine.latch().is_some() {
            self.automatic = Automatic::Spent;
            outcome.lapsed = true;
        } else if machine.mode() == Mode::Monitor && self.unmet().is_empty() && machine.unmet(evidence, now).is_empty()
        {
            let asked = self.ask(Channel::Automatic, machine, evidence, now);
            if asked.is_ok() {
                self.automatic = Automatic::Spent;
            }
            outcome.requested = Some(asked);
        }
    }

    /// Passes a request to command to the mode machine, unless a reason of [`unmet`](Self::unmet) is against it. No
    /// other function does.
    fn ask(
        &mut self,
        by: Channel,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        now: Instant,
    ) -> Result<Option<Transition>, Refusal> {
        let line = self.unmet().iter().next();
        let asked = line.map_or_else(|| machine.request(now, evidence), Err);
        asked.map_err(|reason| self.refuse(OperatorAction::Request, by, reason, now))
    }

    const fn refuse(&mut self, word: OperatorAction, by: Channel, reason: Reason, now: Instant) -> Refusal {
        self.spoken = now;
        Refusal { word, by, reason }
    }

    const fn input_lines(&self) -> Present {
        let request = if self.config.request_input.is_some() { Some(self.config.input_as) } else { None };
        Present { stop: self.config.stop_input.is_some(), request }
    }

    const fn pin_lines(&self) -> Present {
        let request = if self.config.request_pin { Some(self.config.pin_as) } else { None };
        Present { stop: self.config.stop_pin, request }
    }
}

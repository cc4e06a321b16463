//! An operator's word: who may ask to command, when it counts, and what takes it back.
//!
//! *Request* starts, *release* stops, *acknowledge* clears. They come as messages (keys, lines, remote commands), by lines
//! at the robot's inputs or at a board's pins, and one request may be made by this device itself. [`Operator`] decides
//! about all of them, in front of the [`ModeMachine`]:
//!
//! * In one state, and at one time: stop, acknowledge, request, in that order.
//! * A message carries the [`Epoch`] that its sender saw; another than the machine's is refused ([`Reason::WrongEpoch`]).
//! * The *automatic* request is asked when nothing speaks against it, and again only after a refusal of itself. It ends
//!   with the first time it is granted, with any word of an operator, with any latch, and
//!   [`start_within`](OperatorConfig::start_within) after the start.
//! * A *request line* asks by its rise. The rise counts only after the line was low for
//!   [`low_for`](OperatorConfig::low_for) since the latest of boot, a new epoch, the return to `Monitor`, an acknowledge
//!   and a refusal; any other is told as [`Reason::LineHeld`]. One that is [*held*](RequestAs::Held) releases when it is
//!   low, and while it is low nobody's request is granted ([`Reason::LineLow`]). After a release by a line no rise counts
//!   for [`released_for`](OperatorConfig::released_for).
//! * A *stop line* is normally closed, which is high: open, or not seen yet, it refuses requests
//!   ([`Reason::StopOpen`]); open it releases. It is not an emergency stop.

use super::evidence::Evidence;
use super::line::{Line, Rise};
use super::machine::ModeMachine;
use super::operator_config::{OperatorConfig, RequestAs};
use super::request::Epoch;
use super::{Mode, Transition};
use crate::robot::{Reason, ReasonSet};
use outrigger_wire::time::{Duration, Instant};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Channel {
    /// This device itself, once.
    Automatic,
    /// A key, a line of text, a remote command.
    Message,
    /// A line at an input of the robot.
    Input,
    /// A line at a pin of this device.
    Pin,
}

impl Channel {
    /// The name used in reports.
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

/// A word that can be refused. A release never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Word {
    /// To command.
    Request,
    /// To clear the latched reason.
    Acknowledge,
    /// To end a program of ours on the controller, so that the pendant's goes on.
    HandBack,
    /// To send that program again.
    Resend,
}

impl Word {
    /// The name used in reports.
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

/// A word that was refused; it is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Refusal {
    /// What was refused.
    pub word: Word,
    /// Whose word it was.
    pub by: Channel,
    /// Why.
    pub reason: Reason,
}

impl Refusal {
    /// A request of `by`, refused for `reason`.
    #[must_use]
    pub const fn of_request(by: Channel, reason: Reason) -> Self {
        Self { word: Word::Request, by, reason }
    }

    /// An acknowledgement of `by`, refused for `reason`.
    #[must_use]
    pub const fn of_acknowledge(by: Channel, reason: Reason) -> Self {
        Self { word: Word::Acknowledge, by, reason }
    }
}

/// Why the automatic request will not be asked, although nobody has said anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Lapse {
    /// Something spoke against it for all of [`start_within`](OperatorConfig::start_within).
    TooLate,
    /// A reason was latched before.
    Latched,
}

/// A line that stands for one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Contact {
    /// Open stops the arm and refuses requests.
    Stop,
    /// Its rise acknowledges.
    Acknowledge,
    /// Its rise requests.
    Request,
}

/// What came of the lines, and of the automatic request, at one time; in the order in which it happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The arm is stopped.
    pub stopped: Option<Transition>,
    /// Somebody acknowledged.
    pub acknowledged: Option<Result<(), Refusal>>,
    /// Somebody requested; `Ok(None)` where the arm is commanded already.
    pub requested: Option<Result<Option<Transition>, Refusal>>,
    /// The automatic request is not asked any more, because a reason was latched.
    pub lapsed: bool,
}

/// Whether this device still asks by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Automatic {
    /// It does not, or not any more.
    Spent,
    /// It will, once it has started.
    NotStarted,
    /// It does until then.
    Until(Instant),
}

/// The lines of one channel.
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

/// Which lines a channel has.
#[derive(Clone, Copy)]
struct Present {
    stop: bool,
    request: Option<RequestAs>,
}

/// One value per robot, in front of its machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Operator {
    config: OperatorConfig,
    automatic: Automatic,
    inputs: Lines,
    pins: Lines,
    /// When the robot's inputs were last seen.
    seen: Instant,
    /// The latest of acknowledge and refusal: what a line says counts only if it was low after it.
    spoken: Instant,
    /// The last release by a line.
    released: Option<Instant>,
    /// Nothing is asked for any more.
    ended: bool,
}

impl Operator {
    /// Nobody has spoken, no line was seen. The configuration is taken as [checked](OperatorConfig::check).
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

    /// The configuration in force.
    #[must_use]
    pub const fn config(&self) -> &OperatorConfig {
        &self.config
    }

    /// Whether this device may still ask by itself.
    #[must_use]
    pub const fn asks_by_itself(&self) -> bool {
        !matches!(self.automatic, Automatic::Spent)
    }

    /// This device has started; calling it again changes nothing.
    pub fn start(&mut self, now: Instant) {
        if let (Automatic::NotStarted, Some(within)) = (self.automatic, self.config.start_within) {
            self.automatic = Automatic::Until(now + within);
        }
    }

    /// Time has passed, with a state or without: before anything else that comes at `now`. Whether the automatic request is over
    /// its time just now.
    pub fn wake(&mut self, now: Instant) -> bool {
        let over = matches!(self.automatic, Automatic::Until(end) if now > end);
        if over {
            self.automatic = Automatic::Spent;
        }
        over
    }

    /// When [`wake`](Self::wake) is due at the latest.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        if let Automatic::Until(end) = self.automatic { Some(end + Duration::from_micros(1)) } else { None }
    }

    /// Returns what the lines and the clock of this device have against a request, of whoever.
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

    /// Somebody asks by a message to command, who saw `epoch`.
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
            return Err(self.refuse(Word::Request, Channel::Message, Reason::WrongEpoch, now));
        }
        self.ask(Channel::Message, machine, evidence, now)
    }

    /// Somebody takes the request back.
    pub fn release(&mut self, machine: &mut ModeMachine, now: Instant) -> Option<Transition> {
        self.automatic = Automatic::Spent;
        machine.release(now)
    }

    /// The same, and from now on nobody's request is heard.
    pub fn end(&mut self, machine: &mut ModeMachine, now: Instant) -> Option<Transition> {
        self.ended = true;
        self.release(machine, now)
    }

    /// Somebody has seen the latched reasons.
    ///
    /// # Errors
    /// As [`ModeMachine::acknowledge`].
    pub fn acknowledge(&mut self, by: Channel, machine: &mut ModeMachine, now: Instant) -> Result<(), Refusal> {
        self.automatic = Automatic::Spent;
        self.spoken = now;
        machine.acknowledge().map_err(|reason| self.refuse(Word::Acknowledge, by, reason, now))
    }

    /// A pin of this device was found high or low, and has been so for
    /// [`pin_filter`](OperatorConfig::pin_filter). A pin that is not configured says nothing.
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

    /// The levels of the robot's inputs in the newest state, after the machine has observed it. `fresh` says whether it
    /// may be acted on, `gap` after how long without any state a level is not known any more. `None` where nothing came of
    /// it.
    pub fn observe(
        &mut self,
        levels: u64,
        fresh: bool,
        gap: Duration,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        now: Instant,
    ) -> Option<Outcome> {
        // In most configurations, and in every cycle.
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
            // An old state is no witness of a low level, and spends a high one.
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

    /// Lines that are low stop the arm, whoever asked for its motion.
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

    /// A request line has risen; `None` where that says nothing new.
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
            return Some(Err(self.refuse(Word::Request, by, Reason::LineHeld, now)));
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

    /// The one way to the machine's request.
    fn ask(
        &mut self,
        by: Channel,
        machine: &mut ModeMachine,
        evidence: &Evidence,
        now: Instant,
    ) -> Result<Option<Transition>, Refusal> {
        let line = self.unmet().iter().next();
        let asked = line.map_or_else(|| machine.request(now, evidence), Err);
        asked.map_err(|reason| self.refuse(Word::Request, by, reason, now))
    }

    const fn refuse(&mut self, word: Word, by: Channel, reason: Reason, now: Instant) -> Refusal {
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

//! The state machine of one set-up of the tool's serial line: connect, read the settings in force, send the new ones,
//! read again.

use super::{RenderError, SetupConfig, SetupEvent, SetupOutcome, Shown, ToolCommunication};
use crate::client::Output;
use outrigger_urscript::Version;
use outrigger_wire::WireError;
use outrigger_wire::frame::{Assembler, Framing, Probe};
use outrigger_wire::primary::{
    ErrorDetail, LOCAL_CONTROL, Message, MessageKind, RobotMessage, RobotMessagePayload, SubPackage,
};
use outrigger_wire::robot::{SoftwareVersion, Text};
use outrigger_wire::time::Instant;

/// The first software version whose arms have a serial line at the tool.
const SINCE: Version = Version::new(5, 0);
/// The difference up to which two durations of silence, in character times, count as equal: the sent text has six
/// decimals.
const SAME: f32 = 1e-4;

/// An input of a [`Setup`] of the tool's serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupInput {
    /// The order to connect to the controller and read the settings of the serial line in force.
    Start,
    /// The connection requested by [`Output::Open`] is established.
    Opened,
    /// The connection requested by [`Output::Open`] was refused or could not be made.
    Refused,
    /// The peer, or the network stack, closed the connection. Not reported after [`Output::Close`].
    Closed,
    /// The time returned by `poll_timeout` has come: the set-up continues, or its wait ends. Permitted at any time.
    Tick,
}

/// The stage of a set-up of the tool's serial line. Each instant is the time at which the set-up continues without
/// further input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SetupState {
    /// The set-up of the tool's serial line is not started.
    Idle,
    /// A connection to the controller is being made.
    Opening(Instant),
    /// The connection is established; no message was received yet.
    Greeting(Instant),
    /// A controller sends messages; the settings of the serial line in force are not known yet.
    Baseline(Instant),
    /// The new settings of the serial line were sent; a robot state that shows them is awaited.
    Verdict(Instant),
}

/// The action that the set-up of the tool's serial line requests next from its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Todo {
    Nothing,
    Open,
    Send,
}

/// The set-up of a tool's serial line on a controller.
///
/// Its outputs: [`Output::Open`] after [`SetupInput::Start`]; one [`Output::Transmit`] if the serial line has
/// other settings; [`Output::Close`] when there is an [outcome](Self::outcome), if the connection is still open.
#[derive(Debug)]
pub struct Setup<'m> {
    config: SetupConfig,
    line: ToolCommunication,
    assembler: Assembler<'m>,
    probe: Probe,
    stage: SetupState,
    todo: Todo,
    connected: bool,
    text: [u8; ToolCommunication::MAX_LEN],
    length: usize,
    software: Option<SoftwareVersion>,
    /// The newest settings of the serial line that a robot state has shown; `voltage` is the newest supply voltage of
    /// the tool.
    shown: Option<Shown>,
    voltage: Option<u8>,
    /// `true` once a robot state was received from the controller.
    has_state: bool,
    said: Option<Text<255>>,
    outcome: Option<SetupOutcome>,
    /// `true` while the event [`SetupEvent::Software`] waits to be polled; `sent_news` does the same for
    /// [`SetupEvent::Sent`].
    software_news: bool,
    sent_news: bool,
    /// The settings of the serial line that were in force when the new ones were sent.
    before: Option<Shown>,
}

impl<'m> Setup<'m> {
    /// The TCP port to connect to: the controller's primary interface.
    pub const PORT: u16 = 30_001;

    /// Creates a set-up that gives the tool's serial line the settings `line`. It receives into `memory`: a first robot
    /// state takes about 1.4 KiB; messages longer than the memory are skipped.
    ///
    /// # Errors
    /// `BufferTooSmall` if `memory` is shorter than [`Assembler::MIN_MEMORY`].
    pub fn new(config: SetupConfig, line: ToolCommunication, memory: &'m mut [u8]) -> Result<Self, WireError> {
        Ok(Self {
            config,
            line,
            assembler: Assembler::new(Framing::Primary, memory)?,
            probe: Probe::default(),
            stage: SetupState::Idle,
            todo: Todo::Nothing,
            connected: false,
            text: [0; ToolCommunication::MAX_LEN],
            length: 0,
            software: None,
            shown: None,
            voltage: None,
            has_state: false,
            said: None,
            outcome: None,
            software_news: false,
            sent_news: false,
            before: None,
        })
    }

    /// Checks that these settings of the tool's serial line are valid.
    ///
    /// # Errors
    /// Returns the number that is out of its range.
    pub fn check(line: &ToolCommunication) -> Result<(), RenderError> {
        line.check(SINCE)
    }

    /// Processes one input at `now`, which must never decrease. Drain [`poll_output`](Self::poll_output) and
    /// [`poll_event`](Self::poll_event) after it.
    pub fn handle(&mut self, now: Instant, input: SetupInput) {
        if self.outcome.is_some() {
            return;
        }
        match input {
            SetupInput::Start => {
                self.stage = SetupState::Opening(now + self.config.opening);
                self.todo = Todo::Open;
                self.connected = true;
            }
            SetupInput::Opened => self.stage = SetupState::Greeting(now + self.config.greeting),
            SetupInput::Refused => {
                self.connected = false;
                self.decide(SetupOutcome::Refused);
            }
            SetupInput::Closed => {
                self.connected = false;
                self.decide(SetupOutcome::Closed { sent: matches!(self.stage, SetupState::Verdict(_)) });
            }
            SetupInput::Tick => {}
        }
        self.go_on(now);
    }

    /// Returns the buffer for the next bytes received from the controller.
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.assembler.window()
    }

    /// Records that `count` bytes were received into the [window](Self::receive_window).
    pub fn commit(&mut self, count: usize, now: Instant) {
        if self.outcome.is_some() {
            return;
        }
        if let Some(bytes) = self.assembler.window().get(..count) {
            self.probe.take(bytes);
        }
        self.assembler.commit(count);
        if let Some(found) = self.probe.instead_of_primary() {
            self.decide(SetupOutcome::WrongService(found));
        }
        while let Some(frame) = self.assembler.next_frame() {
            // What is too long or malformed shows no settings; the next message may.
            let Ok(bytes) = frame else { continue };
            let found = read(bytes, self.software);
            if matches!(self.stage, SetupState::Greeting(_)) {
                self.stage = SetupState::Baseline(now + self.config.baseline);
            }
            if let Ok(found) = found {
                self.take(found);
            }
        }
        self.go_on(now);
    }

    /// Returns the next action that the caller has to carry out on the connection; `None` if there is none.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        if self.outcome.is_some() {
            return core::mem::take(&mut self.connected).then_some(Output::Close);
        }
        match core::mem::replace(&mut self.todo, Todo::Nothing) {
            Todo::Nothing => None,
            Todo::Open => Some(Output::Open { port: Self::PORT }),
            Todo::Send => self.text.get(..self.length).map(Output::Transmit),
        }
    }

    /// Returns the next event of the serial line's set-up; `None` if there is none.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<SetupEvent> {
        if core::mem::take(&mut self.software_news) {
            return self.software.map(SetupEvent::Software);
        }
        if core::mem::take(&mut self.sent_news) { self.before.map(SetupEvent::Sent) } else { None }
    }

    /// Returns the time at which [`SetupInput::Tick`] is due; `None` while no deadline runs.
    #[must_use]
    pub const fn poll_timeout(&self) -> Option<Instant> {
        match (self.outcome, self.stage) {
            (Some(_), _) | (None, SetupState::Idle) => None,
            (
                None,
                SetupState::Opening(at) | SetupState::Greeting(at) | SetupState::Baseline(at) | SetupState::Verdict(at),
            ) => Some(at),
        }
    }

    /// Returns the outcome once the set-up of the serial line has ended; `None` before.
    #[must_use]
    pub const fn outcome(&self) -> Option<SetupOutcome> {
        self.outcome
    }

    /// Returns the first error that the controller has reported since the settings of the serial line were sent; `None`
    /// if it reported none.
    #[must_use]
    pub const fn said(&self) -> Option<&Text<255>> {
        self.said.as_ref()
    }

    /// Sets the outcome of the set-up of the tool's serial line, unless one was set before.
    fn decide(&mut self, outcome: SetupOutcome) {
        self.outcome.get_or_insert(outcome);
    }

    fn take(&mut self, found: LineMessage) {
        match found {
            LineMessage::State { shown, voltage } => {
                self.has_state = true;
                self.voltage = voltage.or(self.voltage);
                self.shown = shown.or(self.shown);
            }
            LineMessage::Software(software) => {
                self.software = Some(software);
                self.software_news = true;
            }
            LineMessage::LocalControl if matches!(self.stage, SetupState::Verdict(_)) => {
                if let Some(shown) = self.newest() {
                    self.decide(SetupOutcome::LocalControl(shown));
                }
            }
            LineMessage::Trouble(text) if matches!(self.stage, SetupState::Verdict(_)) => {
                self.said.get_or_insert(text);
            }
            LineMessage::LocalControl | LineMessage::Trouble(_) | LineMessage::Other => {}
        }
    }

    /// Returns the newest settings of the serial line, with the newest supply voltage of the tool; `None` if no robot
    /// state has shown the settings.
    fn newest(&self) -> Option<Shown> {
        self.shown.map(|shown| Shown { voltage: self.voltage, ..shown })
    }

    fn go_on(&mut self, now: Instant) {
        if self.outcome.is_some() {
            return;
        }
        let shown = self.newest();
        let is_set = shown.is_some_and(|shown| has(&self.line, &shown));
        match self.stage {
            SetupState::Opening(at) if now >= at => self.decide(SetupOutcome::NoConnection),
            SetupState::Greeting(at) if now >= at => self.decide(SetupOutcome::NoGreeting),
            SetupState::Baseline(_) if self.software.is_some_and(|software| version(software) < SINCE) => {
                self.decide(SetupOutcome::NoSuchLine(self.software));
            }
            SetupState::Baseline(_) if is_set => self.decide(SetupOutcome::AlreadySet),
            SetupState::Baseline(at) => match shown {
                Some(shown) if self.voltage.is_some() || self.line.voltage.is_none() || now >= at => {
                    self.send(now, shown);
                }
                None if now >= at && self.has_state => self.decide(SetupOutcome::NoSuchLine(self.software)),
                None if now >= at => self.decide(SetupOutcome::NoState),
                _ => {}
            },
            SetupState::Verdict(_) if is_set => self.decide(SetupOutcome::Set),
            SetupState::Verdict(at) if now >= at => {
                self.decide(shown.map_or(SetupOutcome::NoState, SetupOutcome::NotTaken));
            }
            SetupState::Idle | SetupState::Opening(_) | SetupState::Greeting(_) | SetupState::Verdict(_) => {}
        }
    }

    fn send(&mut self, now: Instant, before: Shown) {
        // A controller that shows the line has it.
        match self.line.render(self.software.map_or(SINCE, version), &mut self.text) {
            Err(error) => self.decide(SetupOutcome::Invalid(error)),
            Ok(length) => {
                self.length = length;
                self.todo = Todo::Send;
                self.before = Some(before);
                self.sent_news = true;
                self.stage = SetupState::Verdict(now + self.config.verdict);
            }
        }
    }
}

const fn version(software: SoftwareVersion) -> Version {
    Version::new(software.major, software.minor)
}

/// Returns whether the settings that a controller shows, `shown`, are those requested for the tool's serial line.
fn has(line: &ToolCommunication, shown: &Shown) -> bool {
    let same = |asked: f32, shown: f32| (asked - shown).abs() <= SAME;
    shown.enabled
        && i64::from(shown.baud_rate) == i64::from(line.baud_rate)
        && shown.parity == i32::from(line.parity.number())
        && shown.stop_bits == i32::from(line.stop_bits)
        && same(line.rx_idle_chars, shown.rx_idle_chars)
        && same(line.tx_idle_chars, shown.tx_idle_chars)
        && line.voltage.is_none_or(|asked| shown.voltage == Some(asked.volts()))
}

/// The content of a controller's message as far as it concerns the tool's serial line.
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack")]
enum LineMessage {
    State { shown: Option<Shown>, voltage: Option<u8> },
    Software(SoftwareVersion),
    LocalControl,
    Trouble(Text<255>),
    Other,
}

fn read(bytes: &[u8], software: Option<SoftwareVersion>) -> Result<LineMessage, WireError> {
    match Message::new_checked(bytes)?.kind() {
        MessageKind::RobotState(packages) => {
            let (mut shown, mut voltage) = (None, None);
            for package in packages {
                match package? {
                    SubPackage::ToolData(tool) => voltage = Some(tool.tool_output_voltage()),
                    SubPackage::ToolCommunicationInfo(info) => {
                        shown = Some(Shown {
                            enabled: info.tool_communication_is_enabled(),
                            baud_rate: info.baud_rate(),
                            parity: info.parity(),
                            stop_bits: info.stop_bits(),
                            rx_idle_chars: info.rx_idle_chars(),
                            tx_idle_chars: info.tx_idle_chars(),
                            voltage: None,
                        });
                    }
                    _ => {}
                }
            }
            Ok(LineMessage::State { shown, voltage })
        }
        MessageKind::RobotMessage(message) => reported(&message, software),
        MessageKind::ProgramState(_) | MessageKind::Internal { .. } => Ok(LineMessage::Other),
    }
}

fn reported(message: &RobotMessage<'_>, software: Option<SoftwareVersion>) -> Result<LineMessage, WireError> {
    Ok(match message.payload(software)? {
        RobotMessagePayload::Version(version) => LineMessage::Software(version.software()),
        RobotMessagePayload::ErrorCode(error) if error.code == LOCAL_CONTROL => LineMessage::LocalControl,
        RobotMessagePayload::ErrorCode(error) => match error.detail {
            ErrorDetail::Text(text) | ErrorDetail::Warning { text, .. } | ErrorDetail::Report { text, .. } => {
                LineMessage::Trouble(Text::from_bytes(text.0))
            }
            ErrorDetail::Raw(_) => LineMessage::Other,
        },
        RobotMessagePayload::RuntimeException { text, .. } => LineMessage::Trouble(Text::from_bytes(text.0)),
        _ => LineMessage::Other,
    })
}

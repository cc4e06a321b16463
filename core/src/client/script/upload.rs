//! The state machine of a program's upload: connect, observe the state, send, receive, decide.

use super::message_evaluator::{Evaluator, EvaluatorEvent, message};
use super::{ScriptFile, ScriptKind, UploadConfig, UploadEvent, UploadOutcome};
use crate::client::Output;
use outrigger_wire::WireError;
use outrigger_wire::frame::{Assembler, Framing, Probe};
use outrigger_wire::time::Instant;

/// An input of a program's [`Upload`]: the start, a change of the connection, or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadInput {
    /// The order to connect to port 30001 and send the program.
    Start,
    /// The connection requested by [`Output::Open`] is established.
    Opened,
    /// The connection requested by [`Output::Open`] was refused or could not be made.
    Refused,
    /// The peer, or the network stack, closed the connection. Not reported after [`Output::Close`].
    Closed,
    /// The time returned by `poll_timeout` has come: the upload continues, or its wait ends. Permitted at any time.
    Tick,
}

/// The stage of an upload. Each instant is the time at which the upload continues without further input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UploadState {
    /// The upload of the program is not started.
    Idle,
    /// A connection to port 30001 is being made.
    Opening(Instant),
    /// The connection is established; no message was received yet.
    Greeting(Instant),
    /// A controller sends messages; it is not known yet whether a program runs.
    Baseline(Instant),
    /// The program was sent; messages about its start or its failure are awaited.
    Verdict(Instant),
    /// The program runs; until this time an immediate failure would be noticed.
    Settling(Instant),
    /// The program runs; its end is awaited.
    Waiting,
}

/// The action that the upload of a program requests next from its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Todo {
    Nothing,
    Open,
    /// The bytes of the program file are to be sent, then a line end if the file does not end with one.
    SendFile,
    SendLineEnd,
}

/// The upload of one program to a controller.
///
/// Its outputs: [`Output::Open`] after [`UploadInput::Start`]; once a controller sends messages, the program as one or
/// two [`Output::Transmit`]; [`Output::Close`] when there is an [outcome](Self::outcome), if the connection is still
/// open.
#[derive(Debug)]
pub struct Upload<'t, 'm> {
    config: UploadConfig,
    assembler: Assembler<'m>,
    probe: Probe,
    judge: Evaluator<'t>,
    stage: UploadState,
    todo: Todo,
    /// `true` while a connection to the controller is open, or is being made.
    connected: bool,
    /// The time of the newest input that the upload of the program processed.
    now: Instant,
    /// `true` while received bytes are waiting to be processed.
    received: bool,
    /// The size of the controller's message that is being reported \[B\].
    message: usize,
}

impl<'t, 'm> Upload<'t, 'm> {
    /// The TCP port to connect to: the only one that reports the outcome of a program.
    pub const PORT: u16 = 30_001;

    /// Creates an upload of `file`, which receives into `memory`: a first robot state takes about 1.4 KiB; messages
    /// longer than the memory are skipped.
    ///
    /// # Errors
    /// `BufferTooSmall` if `memory` is shorter than [`Assembler::MIN_MEMORY`].
    pub fn new(config: UploadConfig, file: ScriptFile<'t>, memory: &'m mut [u8]) -> Result<Self, WireError> {
        let assembler = Assembler::new(Framing::Primary, memory)?;
        Ok(Self {
            config,
            assembler,
            probe: Probe::default(),
            judge: Evaluator::new(file),
            stage: UploadState::Idle,
            todo: Todo::Nothing,
            connected: false,
            now: Instant::ZERO,
            received: false,
            message: 0,
        })
    }

    /// Processes one input at `now`, which must never decrease. Drain [`poll_output`](Self::poll_output) and
    /// [`poll_event`](Self::poll_event) after it.
    pub fn handle(&mut self, now: Instant, input: UploadInput) {
        self.now = now;
        if self.outcome().is_some() {
            return;
        }
        match input {
            UploadInput::Start => {
                self.stage = UploadState::Opening(now + self.config.opening);
                self.todo = Todo::Open;
                self.connected = true;
            }
            UploadInput::Opened => self.stage = UploadState::Greeting(now + self.config.greeting),
            UploadInput::Refused => {
                self.connected = false;
                self.judge.decide(UploadOutcome::Refused);
            }
            UploadInput::Closed => {
                self.connected = false;
                self.closed();
            }
            UploadInput::Tick => {}
        }
        self.go_on();
    }

    /// Returns the buffer for the next bytes received. Empty only while there are events that were not taken.
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.message = 0;
        self.assembler.window()
    }

    /// Records that `count` bytes from the controller were received into the window.
    pub fn commit(&mut self, count: usize, now: Instant) {
        self.now = now;
        if self.outcome().is_some() {
            return;
        }
        if let Some(bytes) = self.assembler.window().get(..count) {
            self.probe.take(bytes);
        }
        self.assembler.commit(count);
        self.received = true;
        if let Some(found) = self.probe.instead_of_primary() {
            self.judge.decide(UploadOutcome::WrongService(found));
        }
    }

    /// Returns the next action that the caller has to carry out on the connection; `None` if there is none.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        if self.outcome().is_some() {
            return core::mem::take(&mut self.connected).then_some(Output::Close);
        }
        let file = self.judge.file();
        match core::mem::replace(&mut self.todo, Todo::Nothing) {
            Todo::Nothing => None,
            Todo::Open => Some(Output::Open { port: Self::PORT }),
            Todo::SendFile => {
                if !file.ends_with_line_end() {
                    self.todo = Todo::SendLineEnd;
                }
                Some(Output::Transmit(file.bytes()))
            }
            Todo::SendLineEnd => Some(Output::Transmit(b"\n")),
        }
    }

    /// Returns the next event of the upload; `None` if there is none. After that, [`Self::outcome`] returns whether the
    /// upload has ended.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<UploadEvent<'_>> {
        loop {
            let Some(news) = self.judge.news.pop_front() else {
                self.next_message()?;
                continue;
            };
            return Some(match news {
                EvaluatorEvent::Software(software) => UploadEvent::Software(software),
                EvaluatorEvent::Sent { replaces } => UploadEvent::Sent { replaces },
                EvaluatorEvent::Started(evidence) => UploadEvent::Started(evidence),
                EvaluatorEvent::Paused(paused) => UploadEvent::Paused(paused),
                EvaluatorEvent::Message => {
                    return message(self.assembler.taken(self.message), self.judge.software).map(UploadEvent::Message);
                }
            });
        }
    }

    /// Returns the time at which [`UploadInput::Tick`] is due; `None` while only messages of the peer are awaited.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.stage {
            _ if self.outcome().is_some() => None,
            UploadState::Idle | UploadState::Waiting => None,
            UploadState::Opening(at)
            | UploadState::Greeting(at)
            | UploadState::Baseline(at)
            | UploadState::Verdict(at)
            | UploadState::Settling(at) => Some(at),
        }
    }

    /// Returns the outcome of the program once the upload has ended; `None` before.
    #[must_use]
    pub const fn outcome(&self) -> Option<UploadOutcome> {
        self.judge.outcome
    }

    /// Returns the program file that is uploaded.
    #[must_use]
    pub const fn file(&self) -> &ScriptFile<'t> {
        self.judge.file()
    }

    /// Processes the controller's next message or, after the last one, the consequences of all of them; returns `None`
    /// if nothing is left to be processed.
    fn next_message(&mut self) -> Option<()> {
        if !self.received {
            return None;
        }
        if self.outcome().is_none()
            && let Some(frame) = self.assembler.next_frame()
        {
            // Messages that are too long or malformed are not about a program; the next message may be.
            if let Ok(bytes) = frame {
                self.message = bytes.len();
                let _ = self.judge.take(bytes);
                if matches!(self.stage, UploadState::Greeting(_)) {
                    self.stage = UploadState::Baseline(self.now + self.config.baseline);
                }
            }
            return Some(());
        }
        // Messages received together precede everything that follows from them.
        self.received = false;
        self.go_on();
        Some(())
    }

    /// Sets the outcome of the upload at the end of the connection to the controller. Old software closes it if it
    /// rejects a program; a running program continues without it.
    fn closed(&mut self) {
        match (self.stage, self.judge.started()) {
            (UploadState::Settling(_), Some(evidence)) => self.judge.decide(UploadOutcome::Started(evidence)),
            (UploadState::Idle | UploadState::Opening(_) | UploadState::Greeting(_) | UploadState::Baseline(_), _) => {
                self.judge.decide(UploadOutcome::Closed { sent: false });
            }
            _ => self.judge.decide(UploadOutcome::Closed { sent: true }),
        }
    }

    fn go_on(&mut self) {
        let now = self.now;
        if self.outcome().is_some() {
            return;
        }
        match self.stage {
            UploadState::Opening(at) if now >= at => self.judge.decide(UploadOutcome::NoConnection),
            UploadState::Greeting(at) if now >= at => self.judge.decide(UploadOutcome::NoGreeting),
            UploadState::Baseline(at) if self.judge.has_state() || now >= at => self.send(),
            UploadState::Verdict(_) if self.judge.started().is_some() => {
                self.stage = if self.config.wait {
                    UploadState::Waiting
                } else {
                    UploadState::Settling(now + self.config.settle)
                };
            }
            UploadState::Verdict(at) | UploadState::Settling(at) if now >= at => self.judge.unheard(),
            _ => {}
        }
    }

    fn send(&mut self) {
        self.todo = Todo::SendFile;
        self.judge.sent();
        let file = self.judge.file();
        // A secondary program reports only errors, and those at once.
        let wait = match file.kind() {
            ScriptKind::Secondary => self.config.settle,
            ScriptKind::Program | ScriptKind::Statement => self.config.verdict,
        };
        self.stage = UploadState::Verdict(self.now + wait + self.config.per_line.times(file.lines().into()));
    }
}

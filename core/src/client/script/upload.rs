//! One upload: connect, look, send, listen, judge.

use super::judge::{Judge, News, message};
use super::{ScriptFile, ScriptKind, UploadConfig, UploadEvent, UploadOutcome};
use crate::client::Output;
use outrigger_wire::WireError;
use outrigger_wire::frame::{Assembler, Framing, Probe};
use outrigger_wire::time::Instant;

/// What happened outside an [`Upload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadInput {
    /// Begin: connect, and send the program.
    Start,
    /// The connection asked for by [`Output::Open`] stands.
    Opened,
    /// The connection asked for by [`Output::Open`] was refused or could not be made.
    Refused,
    /// The peer, or the network stack, closed the connection. Not reported after [`Output::Close`].
    Closed,
    /// Time has passed: the instant of `poll_timeout` is here. Always harmless.
    Tick,
}

/// Where an upload stands; each instant is when it goes on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has begun.
    Idle,
    /// A connection is being made.
    Opening(Instant),
    /// Connected; nothing has come.
    Greeting(Instant),
    /// A controller speaks; whether a program runs is not known yet.
    Baseline(Instant),
    /// It is written; news are waited for.
    Verdict(Instant),
    /// It runs; a failure at once would be seen until then.
    Settling(Instant),
    /// It runs; its end is waited for.
    Waiting,
}

/// What is to be done at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Todo {
    Nothing,
    Open,
    /// The file's bytes, then a line end where they have none.
    SendFile,
    SendLineEnd,
}

/// One program on its way to a controller.
///
/// Its outputs: [`Output::Open`] after [`UploadInput::Start`]; once a controller speaks, the program as one or two
/// [`Output::Transmit`]; [`Output::Close`] once [`Self::outcome`] is there, where a connection is left.
#[derive(Debug)]
pub struct Upload<'t, 'm> {
    config: UploadConfig,
    assembler: Assembler<'m>,
    probe: Probe,
    judge: Judge<'t>,
    stage: Stage,
    todo: Todo,
    /// A connection stands, or is being made.
    connected: bool,
    /// The instant of the newest input.
    now: Instant,
    /// Bytes were received, and not everything that follows from them is told.
    received: bool,
    /// Bytes of the message that is told about.
    message: usize,
}

impl<'t, 'm> Upload<'t, 'm> {
    /// The TCP port to connect to: the only one that says what becomes of a program.
    pub const PORT: u16 = 30_001;

    /// An upload of `file`, receiving into `memory`: a first robot state takes about 1.4 KiB, longer messages than the
    /// memory are skipped.
    ///
    /// # Errors
    /// `BufferTooSmall` where `memory` is shorter than [`Assembler::MIN_MEMORY`].
    pub fn new(config: UploadConfig, file: ScriptFile<'t>, memory: &'m mut [u8]) -> Result<Self, WireError> {
        let assembler = Assembler::new(Framing::Primary, memory)?;
        Ok(Self {
            config,
            assembler,
            probe: Probe::default(),
            judge: Judge::new(file),
            stage: Stage::Idle,
            todo: Todo::Nothing,
            connected: false,
            now: Instant::ZERO,
            received: false,
            message: 0,
        })
    }

    /// Takes one input at `now`, which never goes back. Drain [`poll_output`](Self::poll_output) and
    /// [`poll_event`](Self::poll_event) after it.
    pub fn handle(&mut self, now: Instant, input: UploadInput) {
        self.now = now;
        if self.outcome().is_some() {
            return;
        }
        match input {
            UploadInput::Start => {
                self.stage = Stage::Opening(now + self.config.opening);
                self.todo = Todo::Open;
                self.connected = true;
            }
            UploadInput::Opened => self.stage = Stage::Greeting(now + self.config.greeting),
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

    /// Where the next bytes received go. Empty only while events wait that nobody took.
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.message = 0;
        self.assembler.window()
    }

    /// `count` bytes were received into the window.
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

    /// The next thing that the port must do; `None` once all is done.
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

    /// The next event; `None` once all are taken, and then [`Self::outcome`] says whether the upload is over.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<UploadEvent<'_>> {
        loop {
            let Some(news) = self.judge.news.pop_front() else {
                self.next_message()?;
                continue;
            };
            return Some(match news {
                News::Software(software) => UploadEvent::Software(software),
                News::Sent { replaces } => UploadEvent::Sent { replaces },
                News::Started(evidence) => UploadEvent::Started(evidence),
                News::Paused(paused) => UploadEvent::Paused(paused),
                News::Message => {
                    return message(self.assembler.taken(self.message), self.judge.software).map(UploadEvent::Message);
                }
            });
        }
    }

    /// When [`UploadInput::Tick`] is due; `None` while only the peer can bring news.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.stage {
            _ if self.outcome().is_some() => None,
            Stage::Idle | Stage::Waiting => None,
            Stage::Opening(at)
            | Stage::Greeting(at)
            | Stage::Baseline(at)
            | Stage::Verdict(at)
            | Stage::Settling(at) => Some(at),
        }
    }

    /// What became of the program, once that is known: the upload is over.
    #[must_use]
    pub const fn outcome(&self) -> Option<UploadOutcome> {
        self.judge.outcome
    }

    /// The program file.
    #[must_use]
    pub const fn file(&self) -> &ScriptFile<'t> {
        self.judge.file()
    }

    /// Takes in the next message, or what follows from all of them; `None` where nothing is left.
    fn next_message(&mut self) -> Option<()> {
        if !self.received {
            return None;
        }
        if self.outcome().is_none()
            && let Some(frame) = self.assembler.next_frame()
        {
            // What is too long or malformed is not about a program; the next message may be.
            if let Ok(bytes) = frame {
                self.message = bytes.len();
                let _ = self.judge.take(bytes);
                if matches!(self.stage, Stage::Greeting(_)) {
                    self.stage = Stage::Baseline(self.now + self.config.baseline);
                }
            }
            return Some(());
        }
        // What came in one go came before anything that follows from it.
        self.received = false;
        self.go_on();
        Some(())
    }

    /// Old software closes what it will not take; a program that runs goes on without us.
    fn closed(&mut self) {
        match (self.stage, self.judge.started()) {
            (Stage::Settling(_), Some(evidence)) => self.judge.decide(UploadOutcome::Started(evidence)),
            (Stage::Idle | Stage::Opening(_) | Stage::Greeting(_) | Stage::Baseline(_), _) => {
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
            Stage::Opening(at) if now >= at => self.judge.decide(UploadOutcome::NoConnection),
            Stage::Greeting(at) if now >= at => self.judge.decide(UploadOutcome::NoGreeting),
            Stage::Baseline(at) if self.judge.has_state() || now >= at => self.send(),
            Stage::Verdict(_) if self.judge.started().is_some() => {
                self.stage = if self.config.wait { Stage::Waiting } else { Stage::Settling(now + self.config.settle) };
            }
            Stage::Verdict(at) | Stage::Settling(at) if now >= at => self.judge.unheard(),
            _ => {}
        }
    }

    fn send(&mut self) {
        self.todo = Todo::SendFile;
        self.judge.sent();
        let file = self.judge.file();
        // Of a secondary program only bad news come, and those at once.
        let wait = match file.kind() {
            ScriptKind::Secondary => self.config.settle,
            ScriptKind::Program | ScriptKind::Statement => self.config.verdict,
        };
        self.stage = Stage::Verdict(self.now + wait + self.config.per_line.times(file.lines().into()));
    }
}

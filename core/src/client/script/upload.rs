//! The engine of one upload: connect, look, send, listen, judge.

use super::judge::Judge;
use super::{ScriptFile, ScriptKind, UploadConfig, UploadEvent, UploadOutcome};
use crate::frame::{Assembler, Framing, Probe};
use crate::time::Instant;
use crate::wire::WireError;

/// Something that happened outside the engine. Each is one call of [`Upload::handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadInput {
    /// The port begins to connect.
    Start,
    /// The connection stands.
    Opened,
    /// It was refused or could not be made.
    Refused,
    /// The peer closed it.
    Closed,
    /// So many bytes were read into [`Upload::receive_window`].
    Received(usize),
    /// Time has passed. Always harmless.
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
    /// The program is to be written.
    ToSend,
    /// It is written; news are waited for.
    Verdict(Instant),
    /// It runs; a failure at once would be seen until then.
    Settling(Instant),
    /// It runs; its end is waited for.
    Waiting,
}

/// One program on its way to a controller.
///
/// The port tells [`UploadInput::Start`], connects to [`Self::PORT`] and tells [`UploadInput::Opened`], writes [`Self::poll_transmit`], and goes on
/// reading until [`Self::outcome`] is there; then it closes. Texts of the controller are handed over where they lie, so
/// each input takes whom to tell.
#[derive(Debug)]
pub struct Upload<'t, 'm> {
    config: UploadConfig,
    assembler: Assembler<'m>,
    probe: Probe,
    judge: Judge<'t>,
    stage: Stage,
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
        Ok(Self { config, assembler, probe: Probe::default(), judge: Judge::new(file), stage: Stage::Idle })
    }

    /// Where the next received bytes go.
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.assembler.window()
    }

    /// Takes in `input` and tells what follows from it.
    pub fn handle(&mut self, now: Instant, input: UploadInput, mut tell: impl FnMut(UploadEvent<'_>)) {
        if self.outcome().is_some() {
            return;
        }
        match input {
            UploadInput::Start => self.stage = Stage::Opening(now + self.config.opening),
            UploadInput::Opened => self.stage = Stage::Greeting(now + self.config.greeting),
            UploadInput::Refused => self.judge.decide(UploadOutcome::Refused),
            UploadInput::Closed => self.closed(),
            UploadInput::Received(count) => self.received(now, count, &mut tell),
            UploadInput::Tick => {}
        }
        self.go_on(now, &mut tell);
    }

    /// What is to be written to the connection, all of it: two parts, the file's bytes and a line end where they have
    /// none. Once.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<[&'t [u8]; 2]> {
        if self.stage != Stage::ToSend || self.outcome().is_some() {
            return None;
        }
        let file = self.judge.file();
        let end: &[u8] = if file.ends_with_line_end() { b"" } else { b"\n" };
        let bytes = [file.bytes(), end];
        // Of a secondary program only bad news come, and those at once.
        let wait = match file.kind() {
            ScriptKind::Secondary => self.config.settle,
            ScriptKind::Program | ScriptKind::Statement => self.config.verdict,
        };
        self.stage = Stage::Verdict(now + wait + self.config.per_line.times(file.lines().into()));
        Some(bytes)
    }

    /// When [`UploadInput::Tick`] is due; `None` while only the peer can bring news.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.stage {
            _ if self.outcome().is_some() => None,
            Stage::Idle | Stage::ToSend | Stage::Waiting => None,
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

    fn received(&mut self, now: Instant, count: usize, tell: &mut dyn FnMut(UploadEvent<'_>)) {
        if let Some(bytes) = self.assembler.window().get(..count) {
            self.probe.take(bytes);
        }
        self.assembler.commit(count);
        if let Some(found) = self.probe.instead_of_primary() {
            return self.judge.decide(UploadOutcome::WrongService(found));
        }
        while let Some(frame) = self.assembler.next_frame() {
            // What is too long or malformed is not about a program; the next message may be.
            if let Ok(bytes) = frame {
                let _ = self.judge.take(bytes, tell);
                if matches!(self.stage, Stage::Greeting(_)) {
                    self.stage = Stage::Baseline(now + self.config.baseline);
                }
            }
            if self.judge.outcome.is_some() {
                return;
            }
        }
    }

    /// Old software closes what it will not take; a program that runs goes on without us.
    fn closed(&mut self) {
        match (self.stage, self.judge.started()) {
            (Stage::Settling(_), Some(evidence)) => self.judge.decide(UploadOutcome::Started(evidence)),
            (Stage::Idle | Stage::Opening(_) | Stage::Greeting(_) | Stage::Baseline(_) | Stage::ToSend, _) => {
                self.judge.decide(UploadOutcome::Closed { sent: false });
            }
            _ => self.judge.decide(UploadOutcome::Closed { sent: true }),
        }
    }

    fn go_on(&mut self, now: Instant, tell: &mut dyn FnMut(UploadEvent<'_>)) {
        match self.stage {
            Stage::Opening(at) if now >= at => self.judge.decide(UploadOutcome::NoConnection),
            Stage::Greeting(at) if now >= at => self.judge.decide(UploadOutcome::NoGreeting),
            Stage::Baseline(at) if self.judge.has_state() || now >= at => {
                self.stage = Stage::ToSend;
                tell(self.judge.sent());
            }
            Stage::Verdict(_) if self.judge.started().is_some() => {
                self.stage = if self.config.wait { Stage::Waiting } else { Stage::Settling(now + self.config.settle) };
            }
            Stage::Verdict(at) | Stage::Settling(at) if now >= at => self.judge.unheard(),
            _ => {}
        }
    }
}

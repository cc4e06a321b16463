//! The side of the program that provisions a board.

use super::intake::Intake;
use super::wire::{Answer, CHUNK_MAX, Fingerprint, Frame, Here, Origin, Refusal, Refused, Request};
use outrigger_wire::time::{Duration, Instant};

/// The time to wait for an answer before the same is asked again.
const PATIENCE: Duration = Duration::from_millis(500);
/// The number of times that the same is asked.
const TRIES: u8 = 10;
/// The number of times that it is begun anew, because the board restarted or lost a piece.
const BEGINNINGS: u8 = 5;
/// The longest time in which a board stops its control loop, writes, and restarts.
const RESTART: Duration = Duration::from_secs(60);

/// Asks a [`Service`](super::Service), one thing at a time and again where nothing is answered, so often and no more.
#[derive(Clone, Debug)]
pub struct Caller<'i> {
    want: Want<'i>,
    stage: Stage,
    /// The start of the board that was asked.
    boot: u32,
    turn: u16,
    tries: u8,
    beginnings: u8,
    again: Instant,
    intake: Intake,
    out: Frame,
    pending: Option<Pending>,
}

/// An event of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The board. After [`Caller::look`] the last event.
    Here(Here<'a>),
    /// The number of bytes of the image that the board has.
    Sent(u32),
    /// The board stops its control loop, and writes.
    Writing,
    /// The board has written this copy, with this number, and restarts.
    Kept {
        /// The index of the copy.
        copy: u8,
        /// Its number.
        sequence: u32,
    },
    /// The board has erased both copies, and restarts.
    Erased,
    /// The board has restarted, and this is in force now. The last event: [`Here::in_force`] shows whether the image is the one that
    /// was put.
    Restarted(Here<'a>),
    /// No; the last event.
    Refused(Refused<'a>),
    /// Nobody answers; the last event.
    Silent {
        /// Any byte was received.
        heard: bool,
    },
    /// The board was going to write, and has not answered since; the last event.
    Lost,
    /// The board answers in a way that only another version understands; the last event.
    NotUnderstood,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want<'i> {
    Look,
    Put(&'i [u8]),
    Erase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// To [`Want::Look`].
    Hello,
    Begin,
    Chunk(u32),
    /// Waits for `Writing`, also before an erase.
    Commit,
    /// Waits for the restart; the board is asked meanwhile, for an answer to the first turn may come any time, or a restart.
    Restart {
        first: u16,
        until: Instant,
    },
    Ended,
}

/// An event without what is in the frame.
#[derive(Clone, Copy, Debug)]
enum Pending {
    Framed,
    Restarted,
    Sent(u32),
    Silent,
    Lost,
}

impl<'i> Caller<'i> {
    /// Asks who is there.
    #[must_use]
    pub fn look(now: Instant) -> Self {
        Self::new(Want::Look, Stage::Hello, 0, now)
    }

    /// Has `image` written. `boot` is that of [`Here`], as it answered before.
    #[must_use]
    pub fn put(image: &'i [u8], boot: u32, now: Instant) -> Self {
        Self::new(Want::Put(image), Stage::Begin, boot, now)
    }

    /// Has what was written erased. `boot` is that of [`Here`], as it answered before.
    #[must_use]
    pub fn erase(boot: u32, now: Instant) -> Self {
        Self::new(Want::Erase, Stage::Commit, boot, now)
    }

    fn new(want: Want<'i>, stage: Stage, boot: u32, now: Instant) -> Self {
        let mut caller = Self {
            want,
            stage,
            boot,
            turn: 0,
            tries: 0,
            beginnings: 1,
            again: now,
            intake: Intake::new(),
            out: Frame::new(),
            pending: None,
        };
        caller.go(stage, now);
        caller
    }

    /// Returns the room for received bytes; never empty once every event was [polled](Self::poll_event).
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.intake.window()
    }

    /// Takes the bytes that were written to the beginning of the [window](Self::receive_window).
    pub fn commit(&mut self, n: usize) {
        self.intake.commit(n);
    }

    /// Returns the next frame to send, whole.
    pub fn poll_output(&mut self) -> Option<Frame> {
        let frame = core::mem::take(&mut self.out);
        (!frame.is_empty()).then_some(frame)
    }

    /// Returns the time to call [`handle`](Self::handle) again; `None` after the last event.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        (self.stage != Stage::Ended).then_some(self.again)
    }

    /// Asks again, or gives up, for what was not answered by `now`.
    pub fn handle(&mut self, now: Instant) {
        if self.stage == Stage::Ended || now < self.again || self.pending.is_some() {
            return;
        }
        let lost = match self.stage {
            Stage::Restart { until, .. } => now >= until,
            _ => false,
        };
        if lost {
            self.end(Pending::Lost);
        } else if self.tries < TRIES || matches!(self.stage, Stage::Restart { .. }) {
            self.ask(now);
        } else if self.stage == Stage::Commit {
            // What it answered may be what was lost: a new start shows it.
            self.go(Stage::Restart { first: self.turn, until: now + RESTART }, now);
        } else {
            self.end(Pending::Silent);
        }
    }

    /// Returns the next event.
    pub fn poll_event(&mut self, now: Instant) -> Option<Event<'_>> {
        let pending = loop {
            if let Some(pending) = self.pending.take() {
                break pending;
            }
            if !self.intake.poll() {
                return None;
            }
            self.hear(now);
        };
        let answer = Answer::from_content(self.intake.content());
        Some(match (pending, answer) {
            (Pending::Sent(bytes), _) => Event::Sent(bytes),
            (Pending::Silent, _) => Event::Silent { heard: self.intake.heard() },
            (Pending::Lost, _) => Event::Lost,
            (Pending::Restarted, Ok((_, Answer::Here(here)))) => Event::Restarted(here),
            (_, Ok((_, Answer::Here(here)))) => Event::Here(here),
            (_, Ok((_, Answer::Writing))) => Event::Writing,
            (_, Ok((_, Answer::Kept { copy, sequence }))) => Event::Kept { copy, sequence },
            (_, Ok((_, Answer::Erased))) => Event::Erased,
            (_, Ok((_, Answer::Refused(refused)))) => Event::Refused(refused),
            (_, Ok((_, Answer::Received(_))) | Err(_)) => Event::NotUnderstood,
        })
    }

    /// Reads a frame. One that is not the awaited answer is ignored.
    fn hear(&mut self, now: Instant) {
        let stage = self.stage;
        let (turn, answer) = match Answer::from_content(self.intake.content()) {
            Ok(said) => said,
            Err(super::Unread::TooShort) => return,
            Err(super::Unread::OtherVersion { turn, .. } | super::Unread::Malformed { turn }) => {
                if turn == self.turn && stage != Stage::Ended {
                    self.end(Pending::Framed);
                }
                return;
            }
        };
        let first = match stage {
            Stage::Restart { first, .. } => first,
            _ => self.turn,
        };
        if stage == Stage::Ended || (turn != self.turn && turn != first) {
            return;
        }
        match (stage, answer) {
            (Stage::Hello, Answer::Here(_)) => self.end(Pending::Framed),
            (Stage::Restart { .. }, Answer::Here(here)) if here.boot != self.boot => self.end(Pending::Restarted),
            (Stage::Begin, Answer::Received(bytes)) => self.proceed(bytes, now),
            (Stage::Chunk(offset), Answer::Received(bytes)) if bytes > offset => {
                self.pending = Some(Pending::Sent(bytes));
                self.proceed(bytes, now);
            }
            (Stage::Commit, Answer::Writing) => {
                self.pending = Some(Pending::Framed);
                self.go(Stage::Restart { first: turn, until: now + RESTART }, now);
                // It answers nothing while it writes.
                self.out.clear();
                self.again = now + PATIENCE;
            }
            (Stage::Commit, Answer::Kept { .. } | Answer::Erased) => {
                self.pending = Some(Pending::Framed);
                self.go(Stage::Restart { first: turn, until: now + RESTART }, now);
            }
            (Stage::Restart { .. }, Answer::Kept { .. } | Answer::Erased) if turn == first => {
                self.pending = Some(Pending::Framed);
            }
            (Stage::Chunk(_), Answer::Refused(Refused { why: Refusal::NoBegin | Refusal::Gap { .. }, .. }))
                if self.beginnings < BEGINNINGS =>
            {
                self.beginnings = self.beginnings.saturating_add(1);
                self.go(Stage::Begin, now);
            }
            // It started anew: was that before it had written, or after?
            (Stage::Restart { .. }, Answer::Refused(Refused { why: Refusal::NoBegin, .. })) => {}
            (Stage::Commit, Answer::Refused(Refused { why: Refusal::NoBegin, .. })) => {
                self.go(Stage::Restart { first: turn, until: now + RESTART }, now);
            }
            (_, Answer::Refused(_)) => self.end(Pending::Framed),
            _ => {}
        }
    }

    /// Goes on behind the bytes of the image that the board has.
    fn proceed(&mut self, bytes: u32, now: Instant) {
        let length = if let Want::Put(image) = self.want { Fingerprint::of(image).length } else { 0 };
        self.go(if bytes < length { Stage::Chunk(bytes) } else { Stage::Commit }, now);
    }

    fn go(&mut self, stage: Stage, now: Instant) {
        (self.stage, self.tries) = (stage, 0);
        self.ask(now);
    }

    /// Asks what is asked in this stage. Each has a turn of its own, the same however often it is asked.
    fn ask(&mut self, now: Instant) {
        if self.tries == 0 {
            self.turn = self.turn.wrapping_add(1);
        }
        let request = match (self.stage, self.want) {
            (Stage::Begin, Want::Put(image)) => Request::Begin(Fingerprint::of(image)),
            (Stage::Chunk(offset), Want::Put(image)) => {
                let rest = image.get(offset as usize..).unwrap_or_default();
                let bytes = rest.get(..CHUNK_MAX).unwrap_or(rest);
                Request::Chunk { offset, bytes }
            }
            (Stage::Commit, Want::Put(image)) => Request::Commit(Fingerprint::of(image)),
            (Stage::Commit, _) => Request::Erase,
            _ => Request::Hello,
        };
        self.out = request.to_frame(self.turn).unwrap_or_default();
        self.tries = self.tries.saturating_add(1);
        self.again = now + PATIENCE;
    }

    fn end(&mut self, pending: Pending) {
        (self.stage, self.pending) = (Stage::Ended, Some(pending));
        self.out.clear();
    }
}

impl Here<'_> {
    /// Returns `true` if `image` is in force, out of flash.
    #[must_use]
    pub fn runs(&self, image: &[u8]) -> bool {
        self.in_force == Fingerprint::of(image) && self.origin != Origin::CompiledIn
    }
}

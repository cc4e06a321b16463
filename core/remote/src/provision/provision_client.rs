//! The client of the provisioning protocol, for the program that provisions a board.

use super::frame_extraction::Intake;
use super::provision_messages::{Answer, BootInfo, CHUNK_MAX, Fingerprint, Frame, Origin, Refusal, Refused, Request};
use outrigger_wire::time::{Duration, Instant};

/// The time to wait for an answer of the board before the request is repeated.
const PATIENCE: Duration = Duration::from_millis(500);
/// The most times that a provisioning request is sent; while the board restarts, requests are repeated up to [`RESTART`].
const TRIES: u8 = 10;
/// The most times that the transmission of a settings image is started, including those after the board restarted or
/// lost a part of it.
const BEGINNINGS: u8 = 5;
/// The longest time that a board needs to stop its control loop, write its flash, and restart.
const RESTART: Duration = Duration::from_secs(60);

/// A client that queries, replaces or erases the settings of a board through the board's [`Service`](super::Service).
/// It makes one request at a time and repeats it a limited number of times if no answer arrives.
#[derive(Clone, Debug)]
pub struct Caller<'i> {
    want: Want<'i>,
    stage: CallerState,
    /// The boot number of the board, which differs after each start, as given when the client was created: another
    /// number in an answer shows that the board has restarted.
    boot: u32,
    turn: u16,
    tries: u8,
    beginnings: u8,
    again: Instant,
    intake: Intake,
    out: Frame,
    pending: Option<Pending>,
}

/// An event that a provisioning client reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The board's identity and state. For a client created by [`Caller::look`] this is the last event.
    Here(BootInfo<'a>),
    /// The number of bytes of the settings image that the board has received.
    Sent(u32),
    /// The board is stopping its control loop, and will write to its flash.
    Writing,
    /// The board has written the settings image to this copy in its flash, and restarts.
    Kept {
        /// The index of the written copy of the settings in the flash, 0 or 1.
        copy: u8,
        /// The sequence number of the written copy of the settings.
        sequence: u32,
    },
    /// The board has erased both copies of the settings in its flash, and restarts.
    Erased,
    /// The board has restarted with these settings in force. The last event: [`BootInfo::in_force`] shows whether the
    /// settings image is the one that was sent.
    Restarted(BootInfo<'a>),
    /// The board refused the client's request. This is the last event.
    Refused(Refused<'a>),
    /// The board did not answer the client's request. This is the last event.
    Silent {
        /// `true` if any byte was received from the board on the line.
        heard: bool,
    },
    /// The board has not reported a restart in time after the client's request to write or erase its flash, whether or
    /// not the board answered that request. This is the last event.
    Lost,
    /// The board answers in a form that only another version of this client understands. This is the last event.
    NotUnderstood,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want<'i> {
    Look,
    Put(&'i [u8]),
    Erase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallerState {
    /// The client has asked for the board's identity and awaits the answer; the only request of [`Want::Look`].
    Hello,
    Begin,
    Chunk(u32),
    /// The client has requested that the board writes the settings image, or erases its flash ([`Want::Erase`]), and
    /// awaits the answer [`Answer::Writing`].
    Commit,
    /// The client awaits the board's restart until the time `until`, and asks for the board's identity repeatedly. It
    /// also accepts a late answer to its request to write or erase, whose turn number is `first`.
    Restart {
        first: u16,
        until: Instant,
    },
    Ended,
}

/// An event that the client has to report, without the data that is in the received frame.
#[derive(Clone, Copy, Debug)]
enum Pending {
    Framed,
    Restarted,
    Sent(u32),
    Silent,
    Lost,
}

impl<'i> Caller<'i> {
    /// Creates a client that only asks for the board's identity and state.
    #[must_use]
    pub fn look(now: Instant) -> Self {
        Self::new(Want::Look, CallerState::Hello, 0, now)
    }

    /// Creates a client that sends `image` to the board to be written to flash. `boot` is [`BootInfo::boot`] of the board's
    /// answer to [`Self::look`]: another number shows that the board has restarted.
    #[must_use]
    pub fn put(image: &'i [u8], boot: u32, now: Instant) -> Self {
        Self::new(Want::Put(image), CallerState::Begin, boot, now)
    }

    /// Creates a client that makes the board erase the settings in its flash. `boot` is [`BootInfo::boot`] of the board's
    /// answer to [`Self::look`]: another number shows that the board has restarted.
    #[must_use]
    pub fn erase(boot: u32, now: Instant) -> Self {
        Self::new(Want::Erase, CallerState::Commit, boot, now)
    }

    fn new(want: Want<'i>, stage: CallerState, boot: u32, now: Instant) -> Self {
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

    /// Returns the free part of the buffer, to write received bytes to; never empty once every event was
    /// [polled](Self::poll_event).
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.intake.window()
    }

    /// Processes `n` bytes from the board that were written to the beginning of the [window](Self::receive_window).
    pub fn commit(&mut self, n: usize) {
        self.intake.commit(n);
    }

    /// Returns the next complete frame to send to the board; `None` if there is none.
    pub fn poll_output(&mut self) -> Option<Frame> {
        let frame = core::mem::take(&mut self.out);
        (!frame.is_empty()).then_some(frame)
    }

    /// Returns the time to call [`handle`](Self::handle) again; `None` after the last event.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        (self.stage != CallerState::Ended).then_some(self.again)
    }

    /// Repeats a request whose answer is overdue at `now`, or ends with [`Event::Silent`] or [`Event::Lost`] after the last
    /// attempt.
    pub fn handle(&mut self, now: Instant) {
        if self.stage == CallerState::Ended || now < self.again || self.pending.is_some() {
            return;
        }
        let lost = match self.stage {
            CallerState::Restart { until, .. } => now >= until,
            _ => false,
        };
        if lost {
            self.end(Pending::Lost);
        } else if self.tries < TRIES || matches!(self.stage, CallerState::Restart { .. }) {
            self.ask(now);
        } else if self.stage == CallerState::Commit {
            // Only the answer may have been lost: a restart of the board will show it.
            self.go(CallerState::Restart { first: self.turn, until: now + RESTART }, now);
        } else {
            self.end(Pending::Silent);
        }
    }

    /// Returns the next event of the provisioning client; `None` if there is none.
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

    /// Processes a frame from the board. A frame that is not the awaited answer is ignored.
    fn hear(&mut self, now: Instant) {
        let stage = self.stage;
        let (turn, answer) = match Answer::from_content(self.intake.content()) {
            Ok(said) => said,
            Err(super::Unread::TooShort) => return,
            Err(super::Unread::OtherVersion { turn, .. } | super::Unread::Malformed { turn }) => {
                if turn == self.turn && stage != CallerState::Ended {
                    self.end(Pending::Framed);
                }
                return;
            }
        };
        let first = match stage {
            CallerState::Restart { first, .. } => first,
            _ => self.turn,
        };
        if stage == CallerState::Ended || (turn != self.turn && turn != first) {
            return;
        }
        match (stage, answer) {
            (CallerState::Hello, Answer::Here(_)) => self.end(Pending::Framed),
            (CallerState::Restart { .. }, Answer::Here(here)) if here.boot != self.boot => self.end(Pending::Restarted),
            (CallerState::Begin, Answer::Received(bytes)) => self.proceed(bytes, now),
            (CallerState::Chunk(offset), Answer::Received(bytes)) if bytes > offset => {
                self.pending = Some(Pending::Sent(bytes));
                self.proceed(bytes, now);
            }
            (CallerState::Commit, Answer::Writing) => {
                self.pending = Some(Pending::Framed);
                self.go(CallerState::Restart { first: turn, until: now + RESTART }, now);
                // The board does not answer while it writes.
                self.out.clear();
                self.again = now + PATIENCE;
            }
            (CallerState::Commit, Answer::Kept { .. } | Answer::Erased) => {
                self.pending = Some(Pending::Framed);
                self.go(CallerState::Restart { first: turn, until: now + RESTART }, now);
            }
            (CallerState::Restart { .. }, Answer::Kept { .. } | Answer::Erased) if turn == first => {
                self.pending = Some(Pending::Framed);
            }
            (CallerState::Chunk(_), Answer::Refused(Refused { why: Refusal::NoBegin | Refusal::Gap { .. }, .. }))
                if self.beginnings < BEGINNINGS =>
            {
                self.beginnings = self.beginnings.saturating_add(1);
                self.go(CallerState::Begin, now);
            }
            // The board restarted, either before or after it had written.
            (CallerState::Restart { .. }, Answer::Refused(Refused { why: Refusal::NoBegin, .. })) => {}
            (CallerState::Commit, Answer::Refused(Refused { why: Refusal::NoBegin, .. })) => {
                self.go(CallerState::Restart { first: turn, until: now + RESTART }, now);
            }
            (_, Answer::Refused(_)) => self.end(Pending::Framed),
            _ => {}
        }
    }

    /// Continues the transmission of the settings image after the first `bytes` bytes, which the board has received. If
    /// these are all, requests that the board writes the image to its flash.
    fn proceed(&mut self, bytes: u32, now: Instant) {
        let length = if let Want::Put(image) = self.want { Fingerprint::of(image).length } else { 0 };
        self.go(if bytes < length { CallerState::Chunk(bytes) } else { CallerState::Commit }, now);
    }

    fn go(&mut self, stage: CallerState, now: Instant) {
        (self.stage, self.tries) = (stage, 0);
        self.ask(now);
    }

    /// Sends the provisioning request of the present stage. Each request has a turn number of its own, which stays the
    /// same in repetitions.
    fn ask(&mut self, now: Instant) {
        if self.tries == 0 {
            self.turn = self.turn.wrapping_add(1);
        }
        let request = match (self.stage, self.want) {
            (CallerState::Begin, Want::Put(image)) => Request::Begin(Fingerprint::of(image)),
            (CallerState::Chunk(offset), Want::Put(image)) => {
                let rest = image.get(offset as usize..).unwrap_or_default();
                let bytes = rest.get(..CHUNK_MAX).unwrap_or(rest);
                Request::Chunk { offset, bytes }
            }
            (CallerState::Commit, Want::Put(image)) => Request::Commit(Fingerprint::of(image)),
            (CallerState::Commit, _) => Request::Erase,
            _ => Request::Hello,
        };
        self.out = request.to_frame(self.turn).unwrap_or_default();
        self.tries = self.tries.saturating_add(1);
        self.again = now + PATIENCE;
    }

    fn end(&mut self, pending: Pending) {
        (self.stage, self.pending) = (CallerState::Ended, Some(pending));
        self.out.clear();
    }
}

impl BootInfo<'_> {
    /// Returns `true` if the settings in force on the board are those of `image`, and the board has read them from its
    /// flash.
    #[must_use]
    pub fn runs(&self, image: &[u8]) -> bool {
        self.in_force == Fingerprint::of(image) && self.origin != Origin::CompiledIn
    }
}

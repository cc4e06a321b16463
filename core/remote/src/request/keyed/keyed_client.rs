//! The client's side of keyed requests, which are authenticated with a shared key.

use core::fmt::Write as _;

use zerocopy::byteorder::big_endian::{U32, U64};
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::authentication_tag::{Key, label};
use super::datagram_layout::{
    ANSWER_LEN, BODY_MIN, Body, DATAGRAM_MAX, Head, Hello, Kind, Nonce, TAG_LEN, Turn, Welcome,
};
use super::reply::Reply;
use crate::request::{FRESH_FOR, Message};
use outrigger_core::mode::Epoch;
use outrigger_wire::time::{Duration, Instant};

/// The time to wait for an answer before the hello or request is repeated: initial and maximum value; it is doubled each
/// time.
const PATIENCE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(800));

/// A client that sends requests, authenticated with a shared key, to a [`Service`](super::Service). It makes one
/// request at a time and repeats the datagram if no answer arrives; the request is carried out only once.
#[derive(Clone, Debug)]
pub struct Caller {
    key: Key,
    ours: Nonce,
    /// The session's number and the service's nonce, once a session is open.
    session: Option<(u64, Nonce)>,
    counter: u32,
    /// The challenge of the newest answer, and the time at which its request was first sent; `None` if there is none, or it
    /// was used.
    challenge: Option<(U32, Instant)>,
    asked_at: Instant,
    out: [u8; DATAGRAM_MAX],
    length: usize,
    /// `true` if the datagram in the buffer `out` has to be sent to the service.
    due: bool,
    /// The time of the next repetition of the hello or request, and the delay before it; `None` while no answer is awaited.
    again: Option<(Instant, Duration)>,
    window: [u8; ANSWER_LEN + 1],
    event: Option<Event>,
}

/// An event that a [`Caller`] reports: its session with the service is open, or an answer arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session with the service is open. The value is the present epoch of the session with the robot, a counter of
    /// connections and losses of authority.
    Open(Epoch),
    /// The answer to the request that was sent, with the present epoch of the session with the robot.
    Answer(Epoch, Reply),
    /// An answer arrived that only another version of the client understands.
    NotUnderstood,
}

/// The error for a request that cannot be sent: it does not fit into a datagram, no session is open, or the session
/// has used up its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl Caller {
    /// Creates a client and requests a session. `nonce` is 16 random bytes, which must never be used twice.
    #[must_use]
    pub fn new(key: Key, nonce: [u8; 16], now: Instant) -> Self {
        let mut caller = Self {
            key,
            ours: nonce,
            session: None,
            counter: 0,
            challenge: None,
            asked_at: now,
            out: [0; DATAGRAM_MAX],
            length: 0,
            due: false,
            again: None,
            window: [0; ANSWER_LEN + 1],
            event: None,
        };
        let hello = Hello { head: Head::of(Kind::Hello), nonce, zero: [0; 16] };
        let mut writer = Writer::new(&mut caller.out);
        writer.put(hello.as_bytes());
        writer.put(&caller.key.tag(&[label(Kind::Hello), hello.as_bytes()]));
        caller.length = writer.at;
        caller.send(now);
        caller
    }

    fn send(&mut self, now: Instant) {
        self.due = true;
        self.again = Some((now + PATIENCE.0, PATIENCE.0));
    }

    /// Returns the counter of the newest request, by which it can be [withdrawn](crate::request::ClientRequest::Withdraw); 0
    /// before the first.
    #[must_use]
    pub const fn counter(&self) -> u32 {
        self.counter
    }

    /// Returns whether a request that causes motion would be fresh on arrival: the newest answer was requested at most
    /// half of [`FRESH_FOR`] ago, and its challenge is unused. If not, a status request obtains another one.
    #[must_use]
    pub fn is_fresh(&self, now: Instant) -> bool {
        self.challenge.is_some_and(|(_, issued)| now.since(issued) + now.since(issued) <= FRESH_FOR)
    }

    /// Sends a request, with the challenge of the newest answer if it causes motion; `seen` is the epoch that the
    /// sender observed. An earlier request without an answer is not repeated any more.
    ///
    /// # Errors
    /// [`TooLong`]; nothing is sent then.
    pub fn ask(&mut self, now: Instant, seen: Epoch, message: Message<'_>) -> Result<(), TooLong> {
        let (session, theirs) = self.session.ok_or(TooLong)?;
        let counter = self.counter.checked_add(1).ok_or(TooLong)?;
        let turn = Turn {
            head: Head::of(Kind::Request),
            session: U64::new(session),
            counter: U32::new(counter),
            epoch: U32::new(seen.number()),
            challenge: match self.challenge {
                Some((challenge, _)) if message.ask.causes_motion() => challenge,
                _ => U32::ZERO,
            },
        };
        let room = self.out.len().saturating_sub(TAG_LEN);
        let mut writer = Writer::new(self.out.get_mut(..room).unwrap_or_default());
        writer.put(turn.as_bytes());
        let begin = writer.at;
        let written = write!(writer, "{message}");
        while writer.at.saturating_sub(begin) < BODY_MIN {
            writer.put(b" ");
        }
        let length = writer.at;
        self.due = false;
        self.again = None;
        written.map_err(|_| TooLong)?;
        let (text, tail) = self.out.split_at_mut_checked(length).ok_or(TooLong)?;
        let tag = self.key.tag(&[label(Kind::Request), &self.ours, &theirs, text]);
        let (to, _) = tail.split_first_chunk_mut().ok_or(TooLong)?;
        *to = tag;
        self.length = length.saturating_add(TAG_LEN);
        self.counter = counter;
        self.asked_at = now;
        if message.ask.causes_motion() {
            self.challenge = None;
        }
        self.send(now);
        Ok(())
    }

    /// Returns the buffer for the next received datagram; longer ones may be truncated.
    pub const fn receive_window(&mut self) -> &mut [u8] {
        &mut self.window
    }

    /// Processes the datagram of `n` bytes in the [window](Self::receive_window). A datagram that is not the awaited answer
    /// is ignored.
    pub fn commit(&mut self, now: Instant, n: usize) {
        let _ = now;
        let event = self.read(n);
        if event.is_some() {
            (self.event, self.again, self.due) = (event, None, false);
        }
    }

    fn read(&mut self, n: usize) -> Option<Event> {
        self.again?;
        let (rest, tag) = self.window.get(..n)?.split_last_chunk::<TAG_LEN>()?;
        let Some((session, theirs)) = self.session else {
            let welcome = Welcome::read_from_bytes(rest).ok()?;
            let parts = [label(Kind::Welcome), &self.ours[..], &welcome.nonce, rest];
            if welcome.head != Head::of(Kind::Welcome) || !self.key.holds(&parts, tag) {
                return None;
            }
            self.session = Some((welcome.session.get(), welcome.nonce));
            return Some(Event::Open(Epoch::from_number(welcome.epoch.get())));
        };
        let (turn, body) = Turn::read_from_prefix(rest).ok()?;
        let ours = turn.head == Head::of(Kind::Answer)
            && turn.session.get() == session
            && turn.counter.get() == self.counter
            && self.key.holds(&[label(Kind::Answer), &self.ours, &theirs, rest], tag);
        let reply = Body::read_from_bytes(body).ok().filter(|_| ours)?;
        let epoch = Epoch::from_number(turn.epoch.get());
        self.challenge = Some((turn.challenge, self.asked_at));
        Some(Reply::read(&reply).map_or(Event::NotUnderstood, |reply| Event::Answer(epoch, reply)))
    }

    /// Repeats the hello or request if its answer is overdue at `now`.
    pub fn handle(&mut self, now: Instant) {
        if let Some((at, patience)) = self.again
            && now >= at
        {
            let patience = (patience + patience).min(PATIENCE.1);
            (self.due, self.again) = (true, Some((now + patience, patience)));
        }
    }

    /// Returns the latest time of the next call of [`handle`](Self::handle); `None` while no answer is awaited.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.again.map(|(at, _)| at)
    }

    /// Returns a datagram to send to the service; `None` if there is none.
    pub fn poll_output(&mut self) -> Option<&[u8]> {
        core::mem::take(&mut self.due).then_some(self.out.get(..self.length)?)
    }

    #[cfg(test)]
    pub(super) fn nonces(&self) -> (Nonce, Nonce) {
        (self.ours, self.session.map(|(_, theirs)| theirs).unwrap_or_default())
    }

    /// Returns the next event of the client; `None` if there is none.
    pub const fn poll_event(&mut self) -> Option<Event> {
        self.event.take()
    }
}

/// A writer to a datagram's buffer that rejects, as a whole, a piece for which the buffer has no room.
struct Writer<'w> {
    to: &'w mut [u8],
    at: usize,
}

impl<'w> Writer<'w> {
    const fn new(to: &'w mut [u8]) -> Self {
        Self { to, at: 0 }
    }

    /// Appends bytes to the datagram; returns `false` if there is no room.
    fn put(&mut self, bytes: &[u8]) -> bool {
        let end = self.at.saturating_add(bytes.len());
        let Some(room) = self.to.get_mut(self.at..end) else { return false };
        room.copy_from_slice(bytes);
        self.at = end;
        true
    }
}

impl core::fmt::Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        if self.put(text.as_bytes()) { Ok(()) } else { Err(core::fmt::Error) }
    }
}

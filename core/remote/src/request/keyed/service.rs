//! The service's side of keyed requests, which runs where the robot is commanded.

use zerocopy::byteorder::big_endian::{U32, U64};
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::authentication_tag::{Key, label};
use super::datagram_layout::{
    ANSWER_LEN, BODY_MIN, DATAGRAM_MAX, Head, Hello, Kind, Nonce, OUTDATED, TAG_LEN, Turn, Welcome,
};
use super::reply::{Reply, Verdict};
use crate::request::json::message_of;
use crate::request::{Challenge, Challenges, ClientRequest};
use outrigger_core::mode::Epoch;
use outrigger_wire::time::{Duration, Instant};

/// The most client sessions with requests that are kept; as many sessions that have made no request yet are kept too.
const SLOTS: usize = 2;
/// The most welcomes, the answers to hellos with which clients request sessions, that are sent at once.
const WELCOMES: u8 = 10;
/// The time after which one more welcome may be sent.
const WELCOME_EVERY: Duration = Duration::from_millis(100);

/// A service that receives datagrams from anybody, and returns the requests of those who have the key. `A` is the type
/// of a client's address.
///
/// A repetition of a session's newest request gets the same answer again. Other requests that are not new, and datagrams
/// that are damaged or belong to no session, are dropped without an answer, and [counted](Self::counts).
#[derive(Clone, Debug)]
pub struct Service<A> {
    key: Key,
    seed: [u8; 32],
    made: u64,
    /// The client sessions without a request so far; oldest first.
    begun: [Option<Session<A>>; SLOTS],
    /// The client sessions that have made requests; least recently used first.
    open: [Option<Session<A>>; SLOTS],
    /// The number of welcomes, the answers to hellos, that may still be sent, and the time at which it was determined.
    welcomes: (u8, Instant),
    counts: Counts,
    window: [u8; DATAGRAM_MAX + 1],
    /// The request in the window that waits for [`poll_request`](Self::poll_request).
    asked: Option<Waiting>,
    out: [u8; ANSWER_LEN],
    to: Option<(A, usize)>,
}

/// The counts of datagrams that the service has dropped since its start, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of datagrams that do not have the layout of keyed requests.
    pub foreign: u32,
    /// The number of datagrams of an earlier layout: the client has to be updated to the present version.
    pub outdated: u32,
    /// The number of datagrams without an open session, or from an address other than the session's.
    pub unknown: u32,
    /// The number of requests older than the session's newest, or equal to it before it was answered, and of repeated hellos
    /// of a session that has made requests.
    pub repeated: u32,
    /// The number of datagrams with an invalid authentication tag.
    pub forged: u32,
    /// The number of hellos, the requests for a session, beyond ten at once and ten per second.
    pub hasty: u32,
}

impl Counts {
    /// Returns the number of all dropped datagrams.
    #[must_use]
    pub fn sum(&self) -> u32 {
        let Self { foreign, outdated, unknown, repeated, forged, hasty } = *self;
        [foreign, outdated, unknown, repeated, forged, hasty].into_iter().fold(0, u32::saturating_add)
    }
}

/// The identity of a keyed request (one authenticated with a shared key): its session and its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    session: u64,
    counter: u32,
}

impl Ticket {
    /// Returns the ticket of the request with this counter in the session of this ticket.
    #[must_use]
    pub const fn of(self, counter: u32) -> Self {
        Self { counter, ..self }
    }
}

/// A request that was received, and whose line is in the receive window.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    ticket: Ticket,
    seen: Epoch,
    challenge: Challenge,
    came: Instant,
    /// The end of the request line in the receive window.
    end: usize,
}

/// A request from a client that has the key. Each request is returned only once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyedRequest<'a> {
    /// The ticket with which the request is [answered](Service::answer).
    pub ticket: Ticket,
    /// The client's request; or, as an error, the outcome to answer at once without carrying the request out.
    pub ask: Result<ClientRequest<'a>, Verdict>,
}

#[derive(Clone, Copy, Debug)]
struct Session<A> {
    number: u64,
    from: A,
    theirs: Nonce,
    ours: Nonce,
    /// The counter of the session's newest request.
    counter: u32,
    /// The authentication tag of the session's newest request, by which a repetition of it is recognised.
    tag: [u8; TAG_LEN],
    /// The answer to the session's newest request, which is sent again for a repetition; `None` until there is one.
    answer: Option<[u8; ANSWER_LEN]>,
    /// The state of the challenge in the newest answer of the session: its number, and until when it can be used.
    challenges: Challenges<1>,
}

impl<A: Copy + PartialEq> Service<A> {
    /// Creates a service with this key. `seed` must be a new random number after each start of this device: with an
    /// earlier seed, datagrams recorded then could be replayed.
    #[must_use]
    pub const fn new(key: Key, seed: [u8; 32]) -> Self {
        Self {
            key,
            seed,
            made: 0,
            begun: [None; SLOTS],
            open: [None; SLOTS],
            welcomes: (WELCOMES, Instant::ZERO),
            counts: Counts { foreign: 0, outdated: 0, unknown: 0, repeated: 0, forged: 0, hasty: 0 },
            window: [0; DATAGRAM_MAX + 1],
            asked: None,
            out: [0; ANSWER_LEN],
            to: None,
        }
    }

    /// Returns the counts of dropped datagrams.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the buffer for the next received datagram; longer ones may be truncated.
    pub const fn receive_window(&mut self) -> &mut [u8] {
        &mut self.window
    }

    /// Processes the datagram of `n` bytes in the [window](Self::receive_window), which came from the address `from`; `epoch`
    /// is the present one of the session with the robot. A request or an answer that was not polled before is discarded.
    pub fn commit(&mut self, now: Instant, n: usize, from: A, epoch: Epoch) {
        (self.asked, self.to) = (None, None);
        let datagram = self.window;
        let read = datagram.get(..n).filter(|bytes| bytes.len() <= DATAGRAM_MAX);
        let split = read.and_then(<[u8]>::split_last_chunk::<TAG_LEN>);
        let known = split.and_then(|(rest, tag)| Some((rest, tag, Head::read_from_prefix(rest).ok()?.0)));
        let refused = match known {
            Some((rest, tag, head)) if head == Head::of(Kind::Hello) => self.hello(now, rest, tag, from, epoch),
            Some((rest, tag, head)) if head == Head::of(Kind::Request) => self.request(now, rest, tag, from),
            Some((_, _, Head { magic: OUTDATED, .. })) => Some(Drop::Outdated),
            _ => Some(Drop::Foreign),
        };
        let count = match refused {
            None => return,
            Some(Drop::Foreign) => &mut self.counts.foreign,
            Some(Drop::Outdated) => &mut self.counts.outdated,
            Some(Drop::Unknown) => &mut self.counts.unknown,
            Some(Drop::Repeated) => &mut self.counts.repeated,
            Some(Drop::Forged) => &mut self.counts.forged,
            Some(Drop::Hasty) => &mut self.counts.hasty,
        };
        *count = count.saturating_add(1);
    }

    fn hello(&mut self, now: Instant, rest: &[u8], tag: &[u8; TAG_LEN], from: A, epoch: Epoch) -> Option<Drop> {
        let Ok(Hello { nonce: theirs, zero: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], .. }) =
            Hello::read_from_bytes(rest)
        else {
            return Some(Drop::Foreign);
        };
        if !self.key.holds(&[label(Kind::Hello), rest], tag) {
            return Some(Drop::Forged);
        }
        if self.open.iter().flatten().any(|session| session.theirs == theirs) {
            return Some(Drop::Repeated);
        }
        if !self.may_welcome(now) {
            return Some(Drop::Hasty);
        }
        let same = |session: &&Session<A>| session.theirs == theirs && session.from == from;
        let known = self.begun.iter().flatten().find(same).copied();
        let session = known.unwrap_or_else(|| {
            self.made = self.made.wrapping_add(1);
            let (number, ours) = self.key.fresh(&self.seed, self.made, now, &theirs);
            let [a, b, c, d, ..] = ours;
            let challenges = Challenges::new(u32::from_be_bytes([a, b, c, d]));
            let tag = [0; TAG_LEN];
            let session = Session { number, from, theirs, ours, counter: 0, tag, answer: None, challenges };
            push(&mut self.begun, session);
            session
        });
        let welcome = Welcome {
            head: Head::of(Kind::Welcome),
            session: U64::new(session.number),
            nonce: session.ours,
            epoch: U32::new(epoch.number()),
            zero: [0; 4],
        };
        let bytes = welcome.as_bytes();
        let tag = self.key.tag(&[label(Kind::Welcome), &theirs, &session.ours, bytes]);
        let length = put(&mut self.out, &[bytes, &tag]);
        self.to = Some((from, length));
        None
    }

    /// Returns `true` if another answer to a hello may be sent now, and counts it.
    fn may_welcome(&mut self, now: Instant) -> bool {
        let (left, at) = self.welcomes;
        let more = now.since(at).whole(WELCOME_EVERY).unwrap_or_default();
        let left = u64::from(left).saturating_add(more).min(u64::from(WELCOMES));
        let at = if more > 0 { now } else { at };
        let Some(rest) = u8::try_from(left).ok().and_then(|left| left.checked_sub(1)) else { return false };
        self.welcomes = (rest, at);
        true
    }

    fn request(&mut self, now: Instant, rest: &[u8], tag: &[u8; TAG_LEN], from: A) -> Option<Drop> {
        let Ok((turn, line)) = Turn::read_from_prefix(rest) else { return Some(Drop::Foreign) };
        if line.len() < BODY_MIN {
            return Some(Drop::Foreign);
        }
        let (number, counter) = (turn.session.get(), turn.counter.get());
        let of_it = |session: &&Session<A>| session.number == number && session.from == from;
        let Some(mut session) = self.open.iter().chain(&self.begun).flatten().find(of_it).copied() else {
            return Some(Drop::Unknown);
        };
        if counter < session.counter || counter == 0 {
            return Some(Drop::Repeated);
        }
        if !self.key.holds(&[label(Kind::Request), &session.theirs, &session.ours, rest], tag) {
            return Some(Drop::Forged);
        }
        if counter == session.counter {
            // A repetition, because the answer was lost: the answer is sent again, and nothing is carried out. A single
            // client never sends two different requests with the same counter.
            let again = session.answer.filter(|_| session.tag == *tag);
            let Some(answer) = again else { return Some(Drop::Repeated) };
            let length = put(&mut self.out, &[&answer]);
            self.to = Some((from, length));
            return None;
        }
        (session.counter, session.tag, session.answer) = (counter, *tag, None);
        for slot in self.open.iter_mut().chain(&mut self.begun) {
            slot.take_if(|session| session.number == number);
        }
        push(&mut self.open, session);
        self.asked = Some(Waiting {
            ticket: Ticket { session: number, counter },
            seen: Epoch::from_number(turn.epoch.get()),
            challenge: Challenge::from_number(turn.challenge.get()),
            came: now,
            end: rest.len(),
        });
        None
    }

    /// Returns the request in the datagram; `None` if there is none. `present` is the present epoch of the session with the
    /// robot. A request that [needs an epoch](ClientRequest::epoch) is refused if the one in the datagram or in its line
    /// differs, and one that causes motion if it has no fresh challenge of this session.
    pub fn poll_request(&mut self, present: Epoch) -> Option<KeyedRequest<'_>> {
        let Waiting { ticket, seen, challenge, came, end } = self.asked.take()?;
        let line = self.window.get_mut(size_of::<Turn>()..end)?;
        let ask = match message_of(Ok(()), line) {
            Ok(message) => {
                let ask = message.ask;
                let open = self.open.iter_mut().flatten().find(|open| open.number == ticket.session);
                // The challenge is consumed even if the request has another fault.
                let fresh =
                    !ask.causes_motion() || open.is_some_and(|open| open.challenges.spend(challenge, came).is_some());
                match ask.epoch() {
                    Some(epoch) if epoch != present || seen != present => Err(Verdict::WrongEpoch),
                    _ if !fresh => Err(Verdict::NotFresh),
                    _ => Ok(ask),
                }
            }
            Err(fault) => Err(Verdict::Fault(fault.kind, u16::try_from(fault.at).unwrap_or(u16::MAX))),
        };
        Some(KeyedRequest { ticket, ask })
    }

    /// Answers the request of `ticket`, with a new challenge. Has no effect if the request is not the newest of its
    /// session, or was answered already.
    pub fn answer(&mut self, now: Instant, ticket: Ticket, present: Epoch, reply: &Reply) {
        let Ticket { session, counter } = ticket;
        let is = |open: &&mut Session<A>| open.number == session && open.counter == counter && open.answer.is_none();
        let Some(open) = self.open.iter_mut().flatten().find(is) else { return };
        let turn = Turn {
            head: Head::of(Kind::Answer),
            session: U64::new(session),
            counter: U32::new(counter),
            epoch: U32::new(present.number()),
            challenge: U32::new(open.challenges.issue(now).number()),
        };
        let (turn, body) = (turn.as_bytes(), reply.write());
        let tag = self.key.tag(&[label(Kind::Answer), &open.theirs, &open.ours, turn, body.as_bytes()]);
        let length = put(&mut self.out, &[turn, body.as_bytes(), &tag]);
        open.answer = Some(self.out);
        self.to = Some((open.from, length));
    }

    /// Returns a datagram to send and the address of its client, each only once; `None` if there is none.
    pub fn poll_output(&mut self) -> Option<(A, &[u8])> {
        let (to, length) = self.to.take()?;
        Some((to, self.out.get(..length)?))
    }
}

/// A cause for dropping a received datagram.
#[derive(Clone, Copy, Debug)]
enum Drop {
    Foreign,
    Outdated,
    Unknown,
    Repeated,
    Forged,
    Hasty,
}

/// Appends a client session after the others; if there is no room, the first one is dropped.
fn push<T>(slots: &mut [Option<T>; SLOTS], new: T) {
    let at = slots.iter().position(Option::is_none).unwrap_or_default();
    let behind = slots.get_mut(at..).unwrap_or_default();
    if let Some(first) = behind.first_mut() {
        *first = Some(new);
        behind.rotate_left(1);
    }
}

/// Writes the `parts` of a datagram to `out` one after the other; returns their length \[B\].
fn put(out: &mut [u8], parts: &[&[u8]]) -> usize {
    let bytes = parts.iter().flat_map(|part| part.iter());
    out.iter_mut().zip(bytes).map(|(to, from)| *to = *from).count()
}

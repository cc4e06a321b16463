//! Connections that the controller makes: who is called, and the bytes that go either way.
//!
//! A driver asks [`Controller::poll_dial`](crate::controller::Controller::poll_dial) whom to call, tells the outcome with
//! [`dialled`](crate::controller::Controller::dialled), and from then on moves bytes as for a client that has connected.
//! What a peer sends beyond what is kept here is not taken: it waits at the driver, as it would in a full receive window.

use std::collections::{BTreeMap, VecDeque};

use crate::controller::Conn;
use crate::net::{Conditions, Link};
use crate::rng::Rng;
use crate::time::SimTime;

/// Somebody to call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dial {
    /// Names the connection from now on. While the controller still wants it,
    /// [`is_open`](crate::controller::Controller::is_open) says so.
    pub conn: Conn,
    /// Name or address, as the program or the option gives it; nobody has looked at it.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// What is not known of sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// Whether the bytes of a message that is incomplete when the time is over are lost. Where they are kept, as by default,
    /// the next read begins with them. Assumed.
    pub loses_partial_reads: bool,
    /// Whether a read that nobody can answer, because the socket is closed, takes a control cycle, as by default, or none: then
    /// a program that asks again and again is soon too much behind.
    pub failed_reads_wait: bool,
    /// Sockets one program may have at once; 32 is assumed.
    pub count: usize,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self { loses_partial_reads: false, failed_reads_wait: true, count: 32 }
    }
}

/// Bytes that wait for the program, and bytes that wait for the peer, of one connection.
const QUEUE: usize = 64 * 1024;
/// Connections that were closed before the peer had read everything; of more, the oldest is cut.
const CLOSING: usize = 32;
/// Numbers of these connections begin here, those of clients at 0.
const FIRST: u64 = 1 << 63;

/// Where such a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The driver calls.
    Dialling,
    /// It was answered.
    Open,
    /// The controller has closed; what it sent before is still delivered.
    Closing,
    /// Refused, or the peer has closed or reset. What it sent before can be read.
    Over,
}

#[derive(Debug)]
struct Line {
    phase: Phase,
    /// The peer has closed, or reset; a network that stands still keeps that for later.
    left: bool,
    received: VecDeque<u8>,
    /// To the controller, and from it.
    up: Link,
    down: Link,
    stalled: bool,
}

impl Line {
    /// Whether the peer has everything, and nothing is in the way of its end.
    fn is_drained(&self) -> bool {
        self.down.queued() == 0 && !self.stalled
    }
}

/// All connections that the controller makes.
#[derive(Debug, Default)]
pub(crate) struct Dials {
    asked: VecDeque<Dial>,
    lines: BTreeMap<Conn, Line>,
    count: u64,
    /// Of what is random in their networks.
    seed: u64,
    now: SimTime,
    /// The network of each, to the controller and from it.
    conditions: [Conditions; 2],
}

impl Dials {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// What the networks of all do from `now` on, to the controller and from it.
    pub(crate) fn set_conditions(&mut self, now: SimTime, conditions: [Conditions; 2]) {
        let [up, down] = &conditions;
        for line in self.lines.values_mut() {
            line.up.set_conditions(now, up);
            line.down.set_conditions(now, down);
            line.stalled = down.stalled;
        }
        self.conditions = conditions;
        self.advance_to(now);
    }

    /// When bytes arrive next.
    pub(crate) fn next_event(&self, now: SimTime) -> SimTime {
        let of_line = |line: &Line| line.up.next_event(now).min(line.down.next_event(now));
        self.lines.values().map(of_line).min().unwrap_or(SimTime::MAX)
    }

    /// What has arrived by `now` can be read.
    pub(crate) fn advance_to(&mut self, now: SimTime) {
        self.now = now;
        let mut over = vec![];
        for (conn, line) in &mut self.lines {
            while let Some(bytes) = line.up.receive(now, usize::MAX) {
                line.received.extend(bytes);
            }
            line.down.advance(now);
            if line.left && line.up.queued() == 0 && !line.stalled {
                over.push(*conn);
            }
        }
        over.into_iter().for_each(|conn| self.end(conn));
    }

    /// Asks the driver to call.
    pub(crate) fn dial(&mut self, host: &str, port: u16) -> Conn {
        let conn = Conn(FIRST + self.count);
        self.count += 1;
        let [mut up, mut down] = [1, 2].map(|way| Link::new(Rng::new(self.seed, self.count * 2 + (1 << 32) + way)));
        let [upwards, downwards] = &self.conditions;
        up.set_conditions(self.now, upwards);
        down.set_conditions(self.now, downwards);
        let stalled = downwards.stalled;
        let line = Line { phase: Phase::Dialling, left: false, received: VecDeque::new(), up, down, stalled };
        self.lines.insert(conn, line);
        let Self { asked, lines, .. } = self;
        asked.retain(|dial| lines.contains_key(&dial.conn));
        self.asked.push_back(Dial { conn, host: host.to_owned(), port });
        conn
    }

    /// The next one to call that is still wanted.
    pub(crate) fn poll(&mut self) -> Option<Dial> {
        while let Some(dial) = self.asked.pop_front() {
            if self.wanted(dial.conn) {
                return Some(dial);
            }
        }
        None
    }

    /// A call was answered, or failed.
    pub(crate) fn dialled(&mut self, conn: Conn, answered: bool) {
        if let Some(line) = self.lines.get_mut(&conn).filter(|line| line.phase == Phase::Dialling) {
            line.phase = if answered { Phase::Open } else { Phase::Over };
        }
    }

    /// Where a connection stands; over once it was closed.
    pub(crate) fn phase(&self, conn: Conn) -> Phase {
        self.lines.get(&conn).map_or(Phase::Over, |line| line.phase)
    }

    /// Whether the driver has something to do for it.
    pub(crate) fn wanted(&self, conn: Conn) -> bool {
        self.lines
            .get(&conn)
            .is_some_and(|line| line.phase != Phase::Over && !(line.phase == Phase::Closing && line.is_drained()))
    }

    /// Bytes the peer may send now.
    pub(crate) fn room(&self, conn: Conn) -> usize {
        match self.lines.get(&conn) {
            Some(line) if line.phase == Phase::Open && !line.left => {
                QUEUE.saturating_sub(line.received.len() + line.up.queued())
            }
            _ => 0,
        }
    }

    /// Bytes of the peer; says how many were taken.
    pub(crate) fn give(&mut self, conn: Conn, bytes: &[u8]) -> usize {
        let room = self.room(conn);
        let taken = bytes.get(..room).unwrap_or(bytes);
        if let Some(line) = self.lines.get_mut(&conn).filter(|_| !taken.is_empty()) {
            line.down.peer_sent(self.now);
            line.up.send(self.now, taken);
        }
        self.advance_to(self.now);
        taken.len()
    }

    /// Bytes for the peer, at most one segment of them; says how many.
    pub(crate) fn take(&mut self, conn: Conn, buffer: &mut [u8]) -> usize {
        let Some(line) = self.lines.get_mut(&conn) else { return 0 };
        let Some(bytes) = line.down.receive(self.now, buffer.len()) else { return 0 };
        buffer.iter_mut().zip(&bytes).for_each(|(slot, byte)| *slot = *byte);
        if line.phase == Phase::Closing && line.is_drained() {
            self.lines.remove(&conn);
        }
        bytes.len()
    }

    /// Bytes that wait for the peer.
    pub(crate) fn pending(&self, conn: Conn) -> usize {
        self.lines.get(&conn).map_or(0, |line| line.down.arrived(self.now))
    }

    /// Bytes of the peer that have not arrived, and so are not acknowledged.
    pub(crate) fn in_flight(&self, conn: Conn) -> usize {
        self.lines.get(&conn).map_or(0, |line| line.up.queued())
    }

    /// Sends to the peer; `false` where nobody is there, or it has left too much unread.
    pub(crate) fn send(&mut self, conn: Conn, bytes: &[u8]) -> bool {
        let Some(line) = self.lines.get_mut(&conn).filter(|line| line.phase == Phase::Open) else { return false };
        let fits = line.down.queued() + bytes.len() <= QUEUE;
        if fits {
            line.down.send(self.now, bytes);
        }
        fits
    }

    /// What the peer has sent and nobody has read.
    pub(crate) fn received(&mut self, conn: Conn) -> Option<&mut VecDeque<u8>> {
        self.lines.get_mut(&conn).map(|line| &mut line.received)
    }

    /// The controller closes: nothing is read any more, what was sent is delivered.
    pub(crate) fn close(&mut self, conn: Conn) {
        if let Some(line) = self.lines.get_mut(&conn) {
            line.phase = Phase::Closing;
            if line.is_drained() {
                self.lines.remove(&conn);
            }
            let closing: Vec<Conn> =
                self.lines.iter().filter(|(_, line)| line.phase == Phase::Closing).map(|(conn, _)| *conn).collect();
            if let Some(oldest) = closing.first().filter(|_| closing.len() > CLOSING) {
                self.lines.remove(oldest);
            }
        }
    }

    /// The peer has closed, or the way to it is cut: what it has sent before arrives first.
    pub(crate) fn hung_up(&mut self, conn: Conn) {
        if let Some(line) = self.lines.get_mut(&conn) {
            line.left = true;
            self.advance_to(self.now);
        }
    }

    fn end(&mut self, conn: Conn) {
        let Some(line) = self.lines.get_mut(&conn) else { return };
        if line.phase == Phase::Closing {
            self.lines.remove(&conn);
        } else {
            line.phase = Phase::Over;
        }
    }

    /// Every connection ends at once.
    pub(crate) fn cut(&mut self) {
        let all: Vec<Conn> = self.lines.keys().copied().collect();
        all.into_iter().for_each(|conn| self.end(conn));
    }
}

impl Conn {
    /// Whether the controller has made this connection, not a client.
    pub(crate) fn is_dialled(self) -> bool {
        self.0 >= FIRST
    }
}

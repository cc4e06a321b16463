//! The connections that the controller opens to servers, and their bytes in both directions.
//!
//! The driver of the simulation, which owns the real sockets, calls
//! [`Controller::poll_dial`](crate::controller::Controller::poll_dial) for the next connection to open, reports the
//! result with [`dialled`](crate::controller::Controller::dialled), and then moves bytes as for a client that has
//! connected. Bytes of a peer that exceed the queue here are not accepted: they wait at the driver, as in a full
//! receive window.

use std::collections::{BTreeMap, VecDeque};

use crate::controller::Conn;
use crate::net::{Conditions, Link};
use crate::rng::Rng;
use crate::time::SimTime;

/// A request of the simulated controller to open a TCP connection to a server. The code that owns the real sockets, the
/// driver of the simulation, carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dial {
    /// The identifier of the connection in all later calls. [`is_open`](crate::controller::Controller::is_open)
    /// returns whether the controller still needs it.
    pub conn: Conn,
    /// The name or address of the server as the program or the option contains it, without any check.
    pub host: String,
    /// The TCP port of the server to connect to.
    pub port: u16,
}

/// Properties of the sockets that URScript programs open; all are undocumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// `true` if the bytes of an incomplete message are discarded at the timeout of a read. By default the next read
    /// begins with them. Assumed.
    pub loses_partial_reads: bool,
    /// `true`, the default, if a read that fails at once because the socket is closed takes one control cycle;
    /// `false` if it takes no time. If it takes none, a program that reads in a loop soon exceeds its share of the
    /// cycle.
    pub failed_reads_wait: bool,
    /// The highest number of sockets of one program at a time; 32 is assumed.
    pub count: usize,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self { loses_partial_reads: false, failed_reads_wait: true, count: 32 }
    }
}

/// The capacity of each direction of one connection, to the program and to the peer \[bytes\].
const QUEUE: usize = 64 * 1024;
/// The highest number of closed connections whose peer has not read everything yet; if there are more, the oldest is
/// cut.
const CLOSING: usize = 32;
/// The identifier of the first connection that the controller opens; the identifiers of clients' connections begin at
/// 0.
const FIRST: u64 = 1 << 63;

/// The state of a connection that the controller opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The code that owns the real sockets is establishing the connection.
    Dialling,
    /// The connection to the server is established.
    Open,
    /// The controller has closed the connection; bytes that it sent before are still delivered.
    Closing,
    /// The connection was refused, or closed or reset by the peer. Bytes that the peer sent before can still be read.
    Over,
}

#[derive(Debug)]
struct Line {
    phase: Phase,
    /// `true` if the peer has closed or reset the connection. The effect is deferred while bytes are in transit or
    /// the network is stalled.
    left: bool,
    received: VecDeque<u8>,
    /// The simulated network from the peer to the controller; `down` is the opposite direction.
    up: Link,
    down: Link,
    stalled: bool,
}

impl Line {
    /// Returns whether the peer of this connection has received everything and the network is not stalled.
    fn is_drained(&self) -> bool {
        self.down.queued() == 0 && !self.stalled
    }
}

/// All connections that the controller opens to servers.
#[derive(Debug, Default)]
pub(crate) struct Dials {
    asked: VecDeque<Dial>,
    lines: BTreeMap<Conn, Line>,
    count: u64,
    /// The seed of the random effects of the simulated network on the connections to servers.
    seed: u64,
    now: SimTime,
    /// The network conditions of all connections to servers: first to the controller, then from it.
    conditions: [Conditions; 2],
}

impl Dials {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Sets the network conditions of all connections that the controller opens, from `now` on: first to the
    /// controller, then from it.
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

    /// Returns the next time at which bytes in transit on a connection to a server arrive, or at which a TCP
    /// acknowledgement releases bytes; [`SimTime::MAX`] if there is none.
    pub(crate) fn next_event(&self, now: SimTime) -> SimTime {
        let of_line = |line: &Line| line.up.next_event(now).min(line.down.next_event(now));
        self.lines.values().map(of_line).min().unwrap_or(SimTime::MAX)
    }

    /// Makes the bytes that have arrived from servers by `now` readable, and ends the connections whose peer has left.
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

    /// Requests a connection to a server from the code that owns the real sockets. Returns the identifier of the
    /// connection.
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

    /// Returns the next requested connection that the code that owns the real sockets shall open; skips those that are
    /// no longer needed. `None` if there is none.
    pub(crate) fn poll(&mut self) -> Option<Dial> {
        while let Some(dial) = self.asked.pop_front() {
            if self.wanted(dial.conn) {
                return Some(dial);
            }
        }
        None
    }

    /// Processes the result of an attempt to connect to a server; `answered` is `true` if the server accepted.
    pub(crate) fn dialled(&mut self, conn: Conn, answered: bool) {
        if let Some(line) = self.lines.get_mut(&conn).filter(|line| line.phase == Phase::Dialling) {
            line.phase = if answered { Phase::Open } else { Phase::Over };
        }
    }

    /// Returns the state of a connection to a server; [`Phase::Over`] if the connection no longer exists.
    pub(crate) fn phase(&self, conn: Conn) -> Phase {
        self.lines.get(&conn).map_or(Phase::Over, |line| line.phase)
    }

    /// Returns whether the code that owns the real sockets must still keep this connection to a server open.
    pub(crate) fn wanted(&self, conn: Conn) -> bool {
        self.lines
            .get(&conn)
            .is_some_and(|line| line.phase != Phase::Over && !(line.phase == Phase::Closing && line.is_drained()))
    }

    /// Returns the number of bytes that the controller accepts from the peer now.
    pub(crate) fn room(&self, conn: Conn) -> usize {
        match self.lines.get(&conn) {
            Some(line) if line.phase == Phase::Open && !line.left => {
                QUEUE.saturating_sub(line.received.len() + line.up.queued())
            }
            _ => 0,
        }
    }

    /// Accepts bytes that the peer has sent. Returns the number of accepted bytes.
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

    /// Copies bytes for the peer to `buffer`, at most one segment. Returns the number of copied bytes.
    pub(crate) fn take(&mut self, conn: Conn, buffer: &mut [u8]) -> usize {
        let Some(line) = self.lines.get_mut(&conn) else { return 0 };
        let Some(bytes) = line.down.receive(self.now, buffer.len()) else { return 0 };
        buffer.iter_mut().zip(&bytes).for_each(|(slot, byte)| *slot = *byte);
        if line.phase == Phase::Closing && line.is_drained() {
            self.lines.remove(&conn);
        }
        bytes.len()
    }

    /// Returns the number of bytes that are ready to be sent on to the peer.
    pub(crate) fn pending(&self, conn: Conn) -> usize {
        self.lines.get(&conn).map_or(0, |line| line.down.arrived(self.now))
    }

    /// Returns the number of the peer's bytes that are in transit and so not acknowledged.
    pub(crate) fn in_flight(&self, conn: Conn) -> usize {
        self.lines.get(&conn).map_or(0, |line| line.up.queued())
    }

    /// Sends bytes to the peer. Returns `false` if it is not connected, or has left too much unread.
    pub(crate) fn send(&mut self, conn: Conn, bytes: &[u8]) -> bool {
        let Some(line) = self.lines.get_mut(&conn).filter(|line| line.phase == Phase::Open) else { return false };
        let fits = line.down.queued() + bytes.len() <= QUEUE;
        if fits {
            line.down.send(self.now, bytes);
        }
        fits
    }

    /// Returns the bytes that the peer has sent and that are not read yet; `None` if the connection no longer exists.
    pub(crate) fn received(&mut self, conn: Conn) -> Option<&mut VecDeque<u8>> {
        self.lines.get_mut(&conn).map(|line| &mut line.received)
    }

    /// Closes the connection for the controller: nothing is read any more, bytes that were sent before are delivered.
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

    /// Processes the end of a connection to a server that closed or reset it: bytes that the server sent before still
    /// arrive.
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

    /// Ends every connection that the controller opened to a server, at once.
    pub(crate) fn cut(&mut self) {
        let all: Vec<Conn> = self.lines.keys().copied().collect();
        all.into_iter().for_each(|conn| self.end(conn));
    }
}

impl Conn {
    /// Returns whether the controller opened this connection, not a client.
    pub(crate) fn is_dialled(self) -> bool {
        self.0 >= FIRST
    }
}

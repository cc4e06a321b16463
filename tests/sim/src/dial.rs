//! Connections that the controller makes: who is called, and the bytes that go either way.
//!
//! A driver asks [`Controller::poll_dial`](crate::controller::Controller::poll_dial) whom to call, tells the outcome with
//! [`dialled`](crate::controller::Controller::dialled), and from then on moves bytes as for a client that has connected.
//! What a peer sends beyond what is kept here is not taken: it waits at the driver, as it would in a full receive window.

use std::collections::{BTreeMap, VecDeque};

use crate::controller::Conn;

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
    received: VecDeque<u8>,
    sent: VecDeque<u8>,
}

/// All connections that the controller makes.
#[derive(Debug, Default)]
pub(crate) struct Dials {
    asked: VecDeque<Dial>,
    lines: BTreeMap<Conn, Line>,
    count: u64,
}

impl Dials {
    /// Asks the driver to call.
    pub(crate) fn dial(&mut self, host: &str, port: u16) -> Conn {
        let conn = Conn(FIRST + self.count);
        self.count += 1;
        self.lines.insert(conn, Line { phase: Phase::Dialling, received: VecDeque::new(), sent: VecDeque::new() });
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
        self.lines.get(&conn).is_some_and(|line| line.phase != Phase::Over)
    }

    /// Bytes the peer may send now.
    pub(crate) fn room(&self, conn: Conn) -> usize {
        match self.lines.get(&conn) {
            Some(line) if line.phase == Phase::Open => QUEUE.saturating_sub(line.received.len()),
            _ => 0,
        }
    }

    /// Bytes of the peer; says how many were taken.
    pub(crate) fn give(&mut self, conn: Conn, bytes: &[u8]) -> usize {
        let room = self.room(conn);
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.lines.get_mut(&conn).into_iter().for_each(|line| line.received.extend(taken));
        taken.len()
    }

    /// Bytes for the peer; says how many.
    pub(crate) fn take(&mut self, conn: Conn, buffer: &mut [u8]) -> usize {
        let Some(line) = self.lines.get_mut(&conn) else { return 0 };
        let size = buffer.len().min(line.sent.len());
        buffer.iter_mut().zip(line.sent.drain(..size)).for_each(|(slot, byte)| *slot = byte);
        if line.phase == Phase::Closing && line.sent.is_empty() {
            self.lines.remove(&conn);
        }
        size
    }

    /// Bytes that wait for the peer.
    pub(crate) fn pending(&self, conn: Conn) -> usize {
        self.lines.get(&conn).map_or(0, |line| line.sent.len())
    }

    /// Sends to the peer; `false` where nobody is there, or it has left too much unread.
    pub(crate) fn send(&mut self, conn: Conn, bytes: &[u8]) -> bool {
        let Some(line) = self.lines.get_mut(&conn).filter(|line| line.phase == Phase::Open) else { return false };
        let fits = line.sent.len() + bytes.len() <= QUEUE;
        if fits {
            line.sent.extend(bytes);
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
            if line.sent.is_empty() {
                self.lines.remove(&conn);
            }
            let closing: Vec<Conn> =
                self.lines.iter().filter(|(_, line)| line.phase == Phase::Closing).map(|(conn, _)| *conn).collect();
            if let Some(oldest) = closing.first().filter(|_| closing.len() > CLOSING) {
                self.lines.remove(oldest);
            }
        }
    }

    /// The peer has closed, or the way to it is cut.
    pub(crate) fn hung_up(&mut self, conn: Conn) {
        let Some(line) = self.lines.get_mut(&conn) else { return };
        if line.phase == Phase::Closing {
            self.lines.remove(&conn);
        } else {
            line.phase = Phase::Over;
            line.sent.clear();
        }
    }

    /// Every connection ends at once.
    pub(crate) fn cut(&mut self) {
        let all: Vec<Conn> = self.lines.keys().copied().collect();
        all.into_iter().for_each(|conn| self.hung_up(conn));
    }
}

impl Conn {
    /// Whether the controller has made this connection, not a client.
    pub(crate) fn is_dialled(self) -> bool {
        self.0 >= FIRST
    }
}

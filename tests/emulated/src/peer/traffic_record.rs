//! The traffic between the controller and its clients, with times. The behaviour of a board is judged by it.

use std::collections::{BTreeMap, VecDeque};

use outrigger_sim::controller::Conn;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;

/// An event on one connection of the controller, with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// The time of the event at the controller's end.
    pub at: SimTime,
    /// The connection of the event.
    pub client: Conn,
    /// The controller's port of the connection.
    pub port: Port,
    /// The kind and the details of the event.
    pub what: Passing,
}

/// The kind of an event on a connection, with its details.
#[derive(Clone, Debug, PartialEq)]
pub enum Passing {
    /// The connection was established.
    Opened,
    /// A packet of port 30003 or 30013, or data of 30004 (protocol version 2, time first), was passed to the stack. The
    /// value is its controller time \[s\].
    State(f64),
    /// The client has acknowledged data of port 30004, up to the data sent at this time.
    Acknowledged(SimTime),
    /// A line of text arrived from the client.
    Line {
        /// The text of the line, without its line end.
        text: String,
        /// The time at which the newest state was sent that the client had received when it sent this line; `None` if
        /// it had received none, or if this connection carries no states.
        knows: Option<SimTime>,
    },
    /// The connection ended, from either side.
    Closed,
}

/// The size of the beginning of a message with a state \[B\], up to its time. For real-time packets it is the length
/// and the controller time; for data of port 30004 it is length, kind, recipe and time.
const HEAD: usize = 12;
/// The size of the length and the kind of a package of port 30004 \[B\].
const PACKAGE: usize = 3;
/// The kind of a package of port 30004 that contains data.
const DATA: u8 = b'U';

/// The progress of recording the bytes of one connection, in both directions.
#[derive(Debug, Default)]
struct Streams {
    /// The first bytes of the present packet, which contain its length, and the number of bytes of the packet that
    /// are still to come.
    head: Vec<u8>,
    rest: usize,
    line: Vec<u8>,
    /// The number of bytes of the controller that were passed to the TCP/IP stack.
    written: usize,
    /// The states that are not known to have been received: the number of bytes up to their end, and the time they were
    /// sent.
    unknown: VecDeque<(usize, SimTime)>,
    /// The time at which the newest state was sent that is known to have been received.
    known: Option<SimTime>,
}

/// A record of the events on connections; it stays empty unless the options request it.
#[derive(Debug)]
pub(super) struct Ledger {
    keeps: bool,
    passages: Vec<Passage>,
    streams: BTreeMap<Conn, Streams>,
}

impl Ledger {
    pub(super) fn new(keeps: bool) -> Self {
        Self { keeps, passages: vec![], streams: BTreeMap::new() }
    }

    pub(super) fn take(&mut self) -> Vec<Passage> {
        std::mem::take(&mut self.passages)
    }

    pub(super) fn opened(&mut self, at: SimTime, client: Conn, port: Port) {
        self.note(at, client, port, Passing::Opened);
    }

    pub(super) fn closed(&mut self, at: SimTime, client: Conn, port: Port) {
        self.streams.remove(&client);
        self.note(at, client, port, Passing::Closed);
    }

    /// Records the states in the bytes that the controller sends to a client.
    pub(super) fn down(&mut self, at: SimTime, client: Conn, port: Port, mut bytes: &[u8]) {
        if !self.keeps || !(port.sends_realtime() || port == Port::Rtde) {
            return;
        }
        let streams = self.streams.entry(client).or_default();
        streams.written += bytes.len();
        while !bytes.is_empty() {
            if streams.rest > 0 {
                let (_, after) = bytes.split_at(streams.rest.min(bytes.len()));
                streams.rest -= bytes.len() - after.len();
                bytes = after;
                continue;
            }
            let lacking = head_size(port, &streams.head).saturating_sub(streams.head.len());
            let (head, after) = bytes.split_at(lacking.min(bytes.len()));
            streams.head.extend_from_slice(head);
            bytes = after;
            if streams.head.len() < head_size(port, &streams.head) {
                continue;
            }
            let head = std::mem::take(&mut streams.head);
            let (length, time) = head_of(port, &head);
            // A packet shorter than its own head is not followed, because nothing after it can be trusted.
            streams.rest = length.checked_sub(head.len()).unwrap_or(usize::MAX);
            let begins = streams.written - bytes.len() - head.len();
            if let Some(time) = time {
                streams.unknown.push_back((begins.saturating_add(length), at));
                self.passages.push(Passage { at, client, port, what: Passing::State(time) });
            }
        }
    }

    /// Records that a client has acknowledged all bytes that were sent to it, except the last `unacknowledged` ones.
    pub(super) fn acknowledged(&mut self, at: SimTime, client: Conn, port: Port, unacknowledged: usize) {
        let Some(streams) = self.streams.get_mut(&client) else { return };
        let received = streams.written.saturating_sub(unacknowledged);
        let mut newest = None;
        while let Some((_, sent)) = streams.unknown.pop_front_if(|(end, _)| *end <= received) {
            newest = Some(sent);
        }
        streams.known = newest.or(streams.known);
        if let Some(sent) = newest.filter(|_| port == Port::Rtde) {
            self.note(at, client, port, Passing::Acknowledged(sent));
        }
    }

    /// Records the lines of text in the bytes that a client sends to the controller.
    pub(super) fn up(&mut self, at: SimTime, client: Conn, port: Port, bytes: &[u8]) {
        // The bytes sent to port 30004 are not text.
        if !self.keeps || port == Port::Rtde {
            return;
        }
        let streams = self.streams.entry(client).or_default();
        for byte in bytes {
            if *byte == b'\n' {
                let text = String::from_utf8_lossy(&streams.line).into_owned();
                streams.line.clear();
                let what = Passing::Line { text, knows: streams.known };
                self.passages.push(Passage { at, client, port, what });
            } else {
                streams.line.push(*byte);
            }
        }
    }

    fn note(&mut self, at: SimTime, client: Conn, port: Port, what: Passing) {
        if self.keeps {
            self.passages.push(Passage { at, client, port, what });
        }
    }
}

/// Returns the number of first bytes of a controller's message that contain its length, its kind and its time, if it
/// has one \[B\]. `first` is the beginning of the message, as far as it is known.
fn head_size(port: Port, first: &[u8]) -> usize {
    match (port, first.first_chunk()) {
        (Port::Rtde, Some([high, low, DATA])) if usize::from(u16::from_be_bytes([*high, *low])) >= HEAD => HEAD,
        (Port::Rtde, _) => PACKAGE,
        _ => HEAD,
    }
}

/// Returns the length of a message \[B\] by its head, and its controller time \[s\] if it has one.
fn head_of(port: Port, head: &[u8]) -> (usize, Option<f64>) {
    let length = match (port, head) {
        (Port::Rtde, [high, low, ..]) => u16::from_be_bytes([*high, *low]).into(),
        _ => head.first_chunk().map_or(0, |length| usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0)),
    };
    let time = head.last_chunk().filter(|_| head.len() == HEAD);
    (length, time.map(|time| f64::from_be_bytes(*time)))
}

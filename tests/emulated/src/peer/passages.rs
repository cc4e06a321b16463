//! What passed between the controller and its clients, with times: what a board did is judged by this.

use std::collections::{BTreeMap, VecDeque};

use outrigger_sim::controller::Conn;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;

/// One thing that passed one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// When, at the controller's end.
    pub at: SimTime,
    /// The connection.
    pub client: Conn,
    /// Its port.
    pub port: Port,
    /// What.
    pub what: Passing,
}

/// What passed.
#[derive(Clone, Debug, PartialEq)]
pub enum Passing {
    /// The connection stands.
    Opened,
    /// A packet of port 30003 or 30013 was handed to the stack; its controller time \[s\].
    State(f64),
    /// A line of text came from the client.
    Line {
        /// It, without its end.
        text: String,
        /// When the newest state was sent that the client had received as it sent this; `None` where it had received
        /// none, or gets none here.
        knows: Option<SimTime>,
    },
    /// The connection is over, whoever ended it.
    Closed,
}

/// Length and controller time at the beginning of a real-time packet.
const HEAD: usize = 12;

/// Where the bytes of one connection stand.
#[derive(Debug, Default)]
struct Streams {
    /// The beginning of the packet that is passing, and how much of it is still to come.
    head: Vec<u8>,
    rest: usize,
    line: Vec<u8>,
    /// Bytes handed to the stack.
    written: usize,
    /// States that are not known to have been received: the bytes up to their end, and when they were sent.
    unknown: VecDeque<(usize, SimTime)>,
    /// When the newest was sent that is.
    known: Option<SimTime>,
}

/// Keeps passages, if it is to.
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

    /// Bytes go from the controller to a client.
    pub(super) fn down(&mut self, at: SimTime, client: Conn, port: Port, mut bytes: &[u8]) {
        if !self.keeps || !port.sends_realtime() {
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
            let (head, after) = bytes.split_at((HEAD - streams.head.len()).min(bytes.len()));
            streams.head.extend_from_slice(head);
            bytes = after;
            let Some((length, time)) = head_of(&streams.head) else { continue };
            streams.head.clear();
            // What is shorter than its own head is not followed: nothing behind it can be trusted.
            streams.rest = length.checked_sub(HEAD).unwrap_or(usize::MAX);
            let begins = streams.written - bytes.len() - HEAD;
            streams.unknown.push_back((begins.saturating_add(length), at));
            self.passages.push(Passage { at, client, port, what: Passing::State(time) });
        }
    }

    /// Bytes come from a client, which has acknowledged all but `unacknowledged` bytes of what it was sent.
    pub(super) fn up(&mut self, at: SimTime, client: Conn, port: Port, bytes: &[u8], unacknowledged: usize) {
        if !self.keeps {
            return;
        }
        let streams = self.streams.entry(client).or_default();
        let received = streams.written.saturating_sub(unacknowledged);
        while let Some((_, sent)) = streams.unknown.pop_front_if(|(end, _)| *end <= received) {
            streams.known = Some(sent);
        }
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

/// Length of a packet \[B\] and its controller time \[s\], once its head is there.
fn head_of(bytes: &[u8]) -> Option<(usize, f64)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (time, _) = rest.split_first_chunk()?;
    Some((usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0), f64::from_be_bytes(*time)))
}

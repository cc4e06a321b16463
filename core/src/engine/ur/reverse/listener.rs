//! A port of ours that a program of ours connects to: when it listens, and which connections it accepts.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::engine::io::{LinkId, Output};
use outrigger_wire::time::{Duration, Instant};

/// The wait before a port that cannot be listened on is tried again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// The state of a port of ours that a program connects to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    #[default]
    Closed,
    Wanted,
    Listening,
    /// A connection from the controller's address, made at this time, without a proof so far that it is of our program.
    Unproven(Instant),
    /// The connection of our program is established, and proved to be ours.
    Taken,
    /// Listening on the port failed; it is tried again at this time.
    Again(Instant),
}

/// A port of this device that a program of ours connects to.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Listener {
    phase: Phase,
    port: u16,
    abort: bool,
    /// The number of bytes of a program's proof that have arrived on the connection.
    heard: u8,
    /// The addresses of our connection to the controller: ours, and the controller's.
    ends: Option<(IpAddr, IpAddr)>,
    strangers: u32,
}

impl Listener {
    pub(super) fn open(&mut self, port: u16) {
        self.port = port;
        if self.phase == Phase::Closed {
            self.phase = Phase::Wanted;
        }
    }

    pub(super) fn close(&mut self) {
        self.abort |= matches!(self.phase, Phase::Listening | Phase::Unproven(_) | Phase::Taken);
        self.phase = Phase::Closed;
    }

    pub(super) const fn ends(&mut self, ours: IpAddr, theirs: IpAddr) {
        self.ends = Some((ours, theirs));
    }

    /// Returns the address of this device that the controller can connect to; `None` while it is not known, or if it is
    /// no IPv4 address.
    pub(super) const fn ours(&self) -> Option<Ipv4Addr> {
        match self.ends {
            Some((IpAddr::V4(ours), _)) => Some(ours),
            _ => None,
        }
    }

    /// Returns `true` if a program of ours can connect to the port, or is connected.
    pub(super) const fn is_open(&self) -> bool {
        self.ends.is_some() && !matches!(self.phase, Phase::Closed | Phase::Again(_))
    }

    /// Returns `true` if our program is connected to the port.
    pub(super) const fn is_taken(&self) -> bool {
        matches!(self.phase, Phase::Taken)
    }

    /// Returns `true` if a connection to the port has yet to prove that it is of our program.
    pub(super) const fn is_unproven(&self) -> bool {
        matches!(self.phase, Phase::Unproven(_))
    }

    /// Returns `true` if a connection to the port has not proved within `limit` to be of our program.
    pub(super) fn is_overdue(&self, limit: Duration, now: Instant) -> bool {
        matches!(self.phase, Phase::Unproven(since) if now.since(since) > limit)
    }

    /// Records that the connection has proved to be of our program.
    pub(super) const fn prove(&mut self) {
        self.phase = Phase::Taken;
    }

    /// Takes more bytes of a proof, which must be the bytes `expected`. Returns `true` if they match; the last of
    /// them completes the proof.
    #[cfg(feature = "urcap")]
    pub(super) fn hear(&mut self, bytes: &[u8], expected: [u8; 4]) -> bool {
        let fits = expected.get(usize::from(self.heard)..).is_some_and(|rest| rest.starts_with(bytes));
        self.heard = self.heard.saturating_add(u8::try_from(bytes.len()).unwrap_or(u8::MAX));
        if fits && usize::from(self.heard) == expected.len() {
            self.prove();
        }
        fits
    }

    /// Returns the number of bytes of the program's proof that have arrived.
    pub(super) const fn heard(&self) -> u8 {
        self.heard
    }

    /// Takes a connection from the address `from`. Returns `true` if that is the controller's and the port is listened on;
    /// the connection has yet to prove that it is of our program.
    pub(super) fn accepted(&mut self, from: SocketAddr, now: Instant) -> bool {
        let expected = self.phase == Phase::Listening;
        let controller = self.ends.is_some_and(|(_, theirs)| theirs.to_canonical() == from.ip().to_canonical());
        if expected && controller {
            (self.phase, self.heard) = (Phase::Unproven(now), 0);
        }
        expected && controller
    }

    /// Closes a connection that is not from the controller's address, or not expected, and counts it.
    pub(super) fn turn_away(&mut self) {
        self.strangers = self.strangers.saturating_add(1);
        self.abort = true;
        if self.phase == Phase::Listening {
            self.phase = Phase::Wanted;
        }
    }

    /// Records that listening on the port failed. Returns the time after which it is tried again.
    pub(super) fn refused(&mut self, now: Instant) -> Duration {
        if self.phase == Phase::Listening {
            self.phase = Phase::Again(now + LISTEN_AGAIN);
        }
        LISTEN_AGAIN
    }

    /// Records that the connection to the port is closed, and requests the port again.
    pub(super) fn closed(&mut self) {
        if matches!(self.phase, Phase::Listening | Phase::Unproven(_) | Phase::Taken) {
            self.phase = Phase::Wanted;
        }
    }

    /// Resets the connection to the port, and waits for the next one.
    pub(super) fn hang_up(&mut self) {
        if matches!(self.phase, Phase::Unproven(_) | Phase::Taken) {
            (self.abort, self.phase) = (true, Phase::Wanted);
        }
    }

    pub(super) fn wake(&mut self, now: Instant) {
        if let Phase::Again(at) = self.phase
            && at <= now
        {
            self.phase = Phase::Wanted;
        }
    }

    pub(super) const fn has_output(&self) -> bool {
        self.abort || matches!(self.phase, Phase::Wanted)
    }

    pub(super) fn poll_output(&mut self, link: LinkId) -> Option<Output<'static>> {
        if core::mem::take(&mut self.abort) {
            return Some(Output::Abort(link));
        }
        (self.phase == Phase::Wanted).then(|| {
            self.phase = Phase::Listening;
            Output::Listen { link, port: self.port }
        })
    }

    /// Returns the next time at which the port has to act without input; `limit` is the longest wait for a proof.
    pub(super) fn next_deadline(&self, limit: Duration) -> Option<Instant> {
        match self.phase {
            Phase::Again(at) => Some(at),
            Phase::Unproven(since) => Some(since + limit + Duration::from_micros(1)),
            Phase::Closed | Phase::Wanted | Phase::Listening | Phase::Taken => None,
        }
    }

    pub(super) const fn strangers(&self) -> u32 {
        self.strangers
    }
}

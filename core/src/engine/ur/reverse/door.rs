//! Our port that a program of ours connects to: when it listens, and who is let in.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::engine::io::{LinkId, Output};
use crate::time::{Duration, Instant};

/// Wait before a port that cannot be listened on is tried again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

/// Where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    #[default]
    Closed,
    Wanted,
    Listening,
    /// Somebody who may be is connected.
    Taken,
    /// Nobody can listen there; tried again then.
    Again(Instant),
}

/// One port of ours.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Door {
    phase: Phase,
    port: u16,
    abort: bool,
    /// Addresses of our connection to the controller: ours, and the controller's.
    ends: Option<(IpAddr, IpAddr)>,
    strangers: u32,
}

impl Door {
    pub(super) fn open(&mut self, port: u16) {
        self.port = port;
        if self.phase == Phase::Closed {
            self.phase = Phase::Wanted;
        }
    }

    pub(super) fn close(&mut self) {
        self.abort |= matches!(self.phase, Phase::Listening | Phase::Taken);
        self.phase = Phase::Closed;
    }

    pub(super) const fn ends(&mut self, ours: IpAddr, theirs: IpAddr) {
        self.ends = Some((ours, theirs));
    }

    /// Our address, as the controller can connect to it.
    pub(super) const fn ours(&self) -> Option<Ipv4Addr> {
        match self.ends {
            Some((IpAddr::V4(ours), _)) => Some(ours),
            _ => None,
        }
    }

    /// Whether somebody can connect, or has.
    pub(super) const fn is_open(&self) -> bool {
        self.ends.is_some() && matches!(self.phase, Phase::Wanted | Phase::Listening | Phase::Taken)
    }

    /// Whether somebody is connected.
    #[cfg(feature = "urcap")]
    pub(super) const fn is_taken(&self) -> bool {
        matches!(self.phase, Phase::Taken)
    }

    /// Somebody has connected: whether it is the controller.
    pub(super) fn accepted(&mut self, from: SocketAddr) -> bool {
        let expected = self.phase == Phase::Listening;
        let controller = self.ends.is_some_and(|(_, theirs)| theirs.to_canonical() == from.ip().to_canonical());
        if expected && controller {
            self.phase = Phase::Taken;
        }
        expected && controller
    }

    /// Whoever has connected is none of ours.
    pub(super) fn turn_away(&mut self) {
        self.strangers = self.strangers.saturating_add(1);
        self.abort = true;
        if self.phase == Phase::Listening {
            self.phase = Phase::Wanted;
        }
    }

    /// Nobody can listen: after how long it is tried again.
    pub(super) fn refused(&mut self, now: Instant) -> Duration {
        if self.phase == Phase::Listening {
            self.phase = Phase::Again(now + LISTEN_AGAIN);
        }
        LISTEN_AGAIN
    }

    /// The connection is gone.
    pub(super) fn closed(&mut self) {
        if matches!(self.phase, Phase::Listening | Phase::Taken) {
            self.phase = Phase::Wanted;
        }
    }

    /// The connection is reset, and the next one is waited for.
    pub(super) fn hang_up(&mut self) {
        if self.phase == Phase::Taken {
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

    pub(super) const fn next_deadline(&self) -> Option<Instant> {
        if let Phase::Again(at) = self.phase { Some(at) } else { None }
    }

    pub(super) const fn strangers(&self) -> u32 {
        self.strangers
    }
}

//! The filter of senders (`core/docs/protocol/kuka-fri.md A13.6`): the configured address, or the first sender of a
//! measurement, until it falls silent.

use core::net::{IpAddr, SocketAddr};

use outrigger_wire::time::{Duration, Instant};

/// Decides which sender's datagrams are used as measurements of the KRC.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SenderFilter {
    only: Option<IpAddr>,
    peer: Option<(SocketAddr, Instant)>,
}

impl SenderFilter {
    pub(super) const fn new(only: Option<IpAddr>) -> Self {
        Self { only, peer: None }
    }

    /// Returns `true` if a datagram from the address `from` may be the KRC's.
    pub(super) fn admits(&self, from: SocketAddr) -> bool {
        match self.peer {
            Some((peer, _)) => peer == from,
            None => self.only.is_none_or(|only| only == from.ip()),
        }
    }

    /// Records a measurement from `from`. Returns `true` if it is the first one of this KRC.
    pub(super) const fn heard(&mut self, from: SocketAddr, now: Instant) -> bool {
        self.peer.replace((from, now)).is_none()
    }

    /// Returns the KRC's address, to which commands are sent; `None` while there is no KRC.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.peer.map(|(peer, _)| peer)
    }

    /// Returns the time at which the KRC counts as lost, unless a measurement arrives before; `None` while there is no
    /// KRC.
    pub(super) fn silent_at(&self, silence: Duration) -> Option<Instant> {
        self.peer.map(|(_, heard)| heard + silence)
    }

    pub(super) const fn forget(&mut self) {
        self.peer = None;
    }
}

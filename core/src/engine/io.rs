//! What goes into an engine and what comes out of it.

use core::net::{IpAddr, SocketAddr};

use crate::command::outputs::Write;
use crate::mode::{Contact, Epoch};
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::Duration;

/// One connection, or one flow of datagrams, of an engine; the port owns the socket behind it.
///
/// Which links there are, and what each is for, is the peer's: [`ur`](super::ur) and [`krc`](super::krc) name theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkId(u8);

impl LinkId {
    /// How many links a peer has at most.
    pub const MOST: usize = 8;

    /// The link at `index`, 0 to 7, of its peer's.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index < 8 { Some(Self(index)) } else { None }
    }

    /// The link of a peer's own list.
    pub(super) const fn of(index: u8) -> Self {
        Self(index)
    }

    /// Position in its peer's list of links.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a link is to be connected: the robot's address is the port's to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Endpoint {
    /// TCP port as the controller numbers it (30001 …); a port base is applied by the port.
    pub port: u16,
}

/// Something that happened outside the engine. Each is one call of `handle`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Input {
    /// Begin: connect, or listen, and go on with it after every loss.
    Start,
    /// The connection asked for by [`Output::Open`] stands; for a link of datagrams that [listens](Output::Listen): they can be
    /// received now.
    Opened(LinkId),
    /// A connection came to the link that [listens](Output::Listen), from this address. The link listens no more until it is
    /// told to again; who may stay is the peer's to decide, by [`Output::Abort`].
    Accepted(LinkId, SocketAddr),
    /// The connection asked for by [`Output::Open`] was refused or could not be made, or nobody can
    /// [listen](Output::Listen) there.
    Refused(LinkId),
    /// The peer, or the network stack, closed the connection. Not reported after [`Output::Abort`].
    Closed(LinkId),
    /// Bytes written to the link that the peer has not acknowledged, and for how long the oldest of them waits.
    /// The newest report holds until the next; `bytes: 0` clears it.
    Unacked {
        /// The link.
        link: LinkId,
        /// Bytes waiting for an acknowledgement.
        bytes: u32,
        /// Time since the oldest of them was written.
        age: Duration,
    },
    /// A reading of a sensor. The newest of each source wins.
    Sample(Sample),
    /// An operator asks to command, by a message: an edge, never a level. The epoch is the machine's as the operator saw
    /// it; another is refused.
    Request(Epoch),
    /// The same, to go on with the motion that the last fallback suspended.
    Resume(Epoch),
    /// A pin of this device is high or low now, and has been for
    /// [`pin_filter`](crate::mode::OperatorConfig::pin_filter). The newest level holds until the next.
    Pin(Contact, bool),
    /// The operator takes the request back: the arm is stopped.
    Release,
    /// Set a digital output, an analog output or another value of the controller. It goes out beside the motion and never
    /// changes it; an [`Event::Output`](super::Event) tells what became of it.
    Set(Write),
    /// The operator has seen the latched reasons and clears them.
    Acknowledge,
    /// Stop the arm, confirm standstill, then leave the controller. No request is accepted any more.
    Shutdown,
    /// The instant of `poll_timeout` is here, or nothing more waits to be received: what was received is complete. Always
    /// harmless.
    Tick,
    /// The two ends of the connection of this link, where a controller may have to connect to us: our address and its own.
    Ends(LinkId, IpAddr, IpAddr),
    /// A program of ours that stays is to end, so that the program of the pendant around it goes on: heeded in `Monitor`, with
    /// the arm at rest, otherwise an [`Event::Refused`](super::Event::Refused) says why not. Without the feature `programs` there is none.
    HandBack,
    /// A program of ours that stays is to be sent to the controller: heeded likewise, where none runs.
    Resend,
}

/// Something the port must do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'a> {
    /// Connect `link` to `endpoint` and report `Opened` or `Refused`. The engine keeps its own deadline.
    Open {
        /// The link.
        link: LinkId,
        /// Where to.
        endpoint: Endpoint,
    },
    /// Wait on this port of ours for one connection to `link`, and report `Accepted` or `Refused`; for a link of datagrams:
    /// receive them there, and report `Opened` or `Refused`.
    Listen {
        /// The link.
        link: LinkId,
        /// Port of this device.
        port: u16,
    },
    /// Reset the connection of `link`, give up opening it or listening: queued bytes are dropped, nothing more is reported
    /// of it.
    Abort(LinkId),
    /// Write `bytes` to `link`, all of them; where that fails the link is closed. A long message comes in several of these,
    /// one behind the other, with nothing else for the same link between them.
    Transmit {
        /// The link.
        link: LinkId,
        /// Whom a datagram is for; `None` for a connection, and for the one who connected.
        to: Option<SocketAddr>,
        /// The bytes.
        bytes: &'a [u8],
    },
}

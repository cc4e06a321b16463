//! The inputs that an engine takes and the outputs that it gives to its port, the code that does its I/O.

use core::net::{IpAddr, SocketAddr};

use crate::command::outputs::Write;
use crate::mode::{Contact, Epoch};
use outrigger_wire::sensor::Sample;
use outrigger_wire::time::Duration;

/// One connection, or one flow of datagrams, of an engine. The port, the code that does the engine's I/O, owns the
/// socket behind it.
///
/// The kind of controller decides which links exist and what each is for: see [`ur`](super::ur) and
/// [`krc`](super::krc).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkId(u8);

impl LinkId {
    /// The maximum number of links of one controller.
    pub const MOST: usize = 8;

    /// Returns the link at `index`, 0 to 7, in the controller's list of links; `None` for a higher index.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if index < 8 { Some(Self(index)) } else { None }
    }

    /// Creates the link at `index`, which must be below 8.
    pub(super) const fn of(index: u8) -> Self {
        Self(index)
    }

    /// Returns the index of the link in the controller's list of links.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The TCP port on the controller to connect a link to. The robot's address is configured in the code that does the
/// engine's I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Endpoint {
    /// The number of the TCP port on the controller (30001 …). The code that opens the connection adds its configured
    /// port base.
    pub port: u16,
}

/// An event outside of the engine, passed to it by one call of `handle`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Input {
    /// Connects to the controller, or listens for it, and does so again after every loss.
    Start,
    /// The connection requested by [`Output::Open`] is established. For a datagram link that [listens](Output::Listen):
    /// datagrams can be received now.
    Opened(LinkId),
    /// A connection from this address was accepted on the link that [listens](Output::Listen). The link stops listening
    /// until it is requested again. The engine decides whether the connection is kept; otherwise it sends
    /// [`Output::Abort`].
    Accepted(LinkId, SocketAddr),
    /// The connection requested by [`Output::Open`] was refused or could not be made, or [listening](Output::Listen) on
    /// the port failed.
    Refused(LinkId),
    /// The controller, or the network stack, closed the connection. Not reported after [`Output::Abort`].
    Closed(LinkId),
    /// The number of bytes written to the link that the controller has not acknowledged, and the age of the oldest of
    /// them. The newest report holds until the next; `bytes: 0` clears it.
    Unacked {
        /// The link on which the unacknowledged bytes were sent.
        link: LinkId,
        /// The number of bytes that the controller has not acknowledged.
        bytes: u32,
        /// The time since the oldest unacknowledged byte was written.
        age: Duration,
    },
    /// A reading of a sensor. The newest of each source replaces older ones.
    Sample(Sample),
    /// An operator's request to command, by a message. The epoch is the mode machine's counter of connections and
    /// losses of authority, as the operator saw it; a request with another one is refused. The request is an edge,
    /// never a level.
    Request(Epoch),
    /// A request like [`Request`](Self::Request) that also continues the motion which the last end of commanding
    /// suspended.
    Resume(Epoch),
    /// A pin of this device is high or low now, and has been so for
    /// [`pin_filter`](crate::mode::OperatorConfig::pin_filter). The newest level holds until the next.
    Pin(Contact, bool),
    /// The operator withdraws the request to command: the arm is brought to rest.
    Release,
    /// Sets a digital output, an analog output or another value of the controller. It is independent of the motion and
    /// never changes it. An [`Event::Output`](super::Event) reports the result.
    Set(Write),
    /// The operator has seen the latched reasons against commanding and clears them.
    Acknowledge,
    /// Stop the arm, confirm standstill, then disconnect from the controller. Later requests are ignored.
    Shutdown,
    /// The time returned by `poll_timeout` has come, or no more bytes wait to be received: the received data is
    /// complete. Always harmless.
    Tick,
    /// The two addresses of this link's connection, first our own, then the controller's. Needed for a controller
    /// that has to connect to us.
    Ends(LinkId, IpAddr, IpAddr),
    /// Ends our resident program, so that the pendant program around it continues. It is carried out only while nothing
    /// is commanded and the arm is at rest; otherwise an [`Event::Refused`](super::Event::Refused) gives the reason.
    /// Without the feature `programs` there is no such program.
    HandBack,
    /// Sends our resident program to the controller, under the same conditions as `HandBack`, if it is not running.
    Resend,
}

/// An action that the port, the code that does the engine's I/O, must carry out now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'a> {
    /// Connect `link` to `endpoint` and report `Opened` or `Refused`. The engine has its own deadline for it.
    Open {
        /// The link that is to connect to the controller.
        link: LinkId,
        /// The TCP port of the controller to connect to.
        endpoint: Endpoint,
    },
    /// Wait on this port of our device for one connection to `link`, and report `Accepted` or `Refused`. For a datagram
    /// link: receive datagrams there, and report `Opened` or `Refused`.
    Listen {
        /// The link that is to listen for a connection.
        link: LinkId,
        /// The number of the port on this device at which to listen.
        port: u16,
    },
    /// Reset the connection of this link, or stop opening it or listening. Queued bytes are dropped, and no further
    /// event of the connection is to be reported.
    Abort(LinkId),
    /// Write all of `bytes` to `link`; close the link if that fails. A long message is split into several of these, in
    /// order, with nothing else for the same link between them.
    Transmit {
        /// The link to which the bytes are to be written.
        link: LinkId,
        /// The address that a datagram is sent to; `None` for a TCP link, whichever side opened it.
        to: Option<SocketAddr>,
        /// The bytes to write to the link.
        bytes: &'a [u8],
    },
}

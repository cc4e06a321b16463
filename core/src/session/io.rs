//! What goes into an engine and what comes out of it.

use crate::command::Sample;
use crate::command::outputs::Write;
use crate::mode::{Contact, Epoch};
use crate::time::Duration;

/// One connection of a session; the port owns the socket behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkId(u8);

impl LinkId {
    /// Version, program, safety and configuration messages: port 30001, or 30002 where that is closed.
    pub const PRIMARY: Self = Self(0);
    /// All text we send, and the state of every control cycle unless RTDE gives it: port 30003.
    pub const REALTIME: Self = Self(1);
    /// Real-Time Data Exchange, where it gives the state of every control cycle: port 30004.
    pub const RTDE: Self = Self(2);
    /// Every link of a session, in the order in which they are opened.
    pub const ALL: [Self; Self::COUNT] = [Self::PRIMARY, Self::REALTIME, Self::RTDE];
    /// How many links a session has.
    pub const COUNT: usize = 3;

    /// Position in [`LinkId::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Position in [`LinkId::ALL`], as recordings have it.
    #[cfg(feature = "postcard")]
    pub(super) const fn number(self) -> u8 {
        self.0
    }

    /// The link at `index` of [`LinkId::ALL`].
    #[must_use]
    pub fn from_index(index: usize) -> Option<Self> {
        Self::ALL.get(index).copied()
    }

    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "primary",
            1 => "realtime",
            _ => "rtde",
        }
    }
}

/// Where a link is to be connected: the robot's address is the port's to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct Endpoint {
    /// TCP port as the controller numbers it (30001 …); a port base is applied by the port.
    pub port: u16,
}

/// Something that happened outside the engine. Each is one call of `handle`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum Input {
    /// Begin: connect and stay connected.
    Start,
    /// The connection asked for by [`Output::Open`] stands.
    Opened(LinkId),
    /// The connection asked for by [`Output::Open`] was refused or could not be made.
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
    /// Set an output of the controller. It goes out beside the motion and never changes it; an [`Event::Output`](super::Event)
    /// says what became of it.
    Set(Write),
    /// The operator has seen the latched reason and clears it.
    Acknowledge,
    /// Stop the arm, confirm standstill, then close every link and open none.
    Shutdown,
    /// Time has passed: the instant of `poll_timeout` is here. Always harmless.
    Tick,
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
    /// Reset the connection of `link`, or give up opening it: queued bytes are dropped, nothing more is reported of it.
    Abort(LinkId),
    /// Write `bytes` to `link`, all of them or none.
    Transmit {
        /// The link.
        link: LinkId,
        /// One complete text program or statement, or whole packages of RTDE.
        bytes: &'a [u8],
    },
}

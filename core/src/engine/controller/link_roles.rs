//! The roles of a controller's links, and the kind of output that waits for the port, the code that does the engine's
//! I/O.

use crate::engine::io::LinkId;

/// A set of a controller's links, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSet(u8);

impl LinkSet {
    /// The empty set of links.
    pub const NONE: Self = Self(0);

    /// Returns `true` if `link` is in the set.
    #[must_use]
    pub const fn has(self, link: LinkId) -> bool {
        self.0 & Self::only(link) != 0
    }

    /// Returns the set with `link` added if `is_in`.
    #[must_use]
    pub const fn with(self, link: LinkId, is_in: bool) -> Self {
        if is_in { Self(self.0 | Self::only(link)) } else { self }
    }

    const fn only(link: LinkId) -> u8 {
        match link.index() {
            0 => 1,
            1 => 2,
            2 => 4,
            3 => 8,
            4 => 16,
            5 => 32,
            6 => 64,
            _ => 128,
        }
    }
}

/// The roles that a controller's links have at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkRoles {
    /// The connection that carries commands. Its unacknowledged bytes are to be reported by
    /// [`Input::Unacked`](crate::engine::Input::Unacked). `None` if datagrams carry commands.
    pub commands: Option<LinkId>,
    /// The links on which the peer had not acknowledged all bytes, according to the newest report.
    pub unacked: LinkSet,
    /// The links whose received bytes may be read late, because the states of the control cycle arrive on another link.
    pub late: LinkSet,
}

/// The kind of output that waits for the port, the code that does the engine's I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// No output is waiting for the port.
    Nothing,
    /// Bytes that the port has to write to a link are waiting, or a UDP port that it has to listen on.
    Bytes,
    /// Links that the port has to open or close are waiting, and possibly bytes.
    Links,
}

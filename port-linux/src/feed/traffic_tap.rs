//! Copies the traffic of a connection into a feed.

use outrigger_wire::frame::Boundaries;
use outrigger_wire::time::Instant;

use super::{EntryContent, FRI, Feed, WireFormat};

/// A copier of the traffic of one connection after another into a feed.
#[derive(Clone, Debug)]
pub struct Tap {
    feed: Feed,
    /// The port of the current connection, and the detector of its message boundaries. Datagrams need no detector.
    connection: Option<(u16, Option<Boundaries>)>,
}

impl Tap {
    /// Creates a tap that copies the traffic of one connection after another into `feed`. None is open yet.
    #[must_use]
    pub const fn new(feed: Feed) -> Self {
        Self { feed, connection: None }
    }

    /// Creates a tap that copies the datagrams of a KRC into `feed`. No connection has to be opened before.
    #[must_use]
    pub const fn of_datagrams(feed: Feed) -> Self {
        Self { feed, connection: Some((FRI, None)) }
    }

    /// Adds an entry to the feed: a connection to `port` (as the controller numbers it, or `VARIABLES`) was established
    /// at `at`. The traffic of a port without a known wire format is not copied.
    pub fn opened(&mut self, at: Instant, port: u16) {
        let format = WireFormat::of(port);
        self.connection = format.map(|format| (port, Some(Boundaries::new(format.framing()))));
        if self.connection.is_some() {
            self.feed.put(at, EntryContent::Opened { port });
        }
    }

    /// Copies the bytes that one read of the connection has received into the feed.
    pub fn received(&mut self, at: Instant, bytes: &[u8]) {
        if let Some((port, boundaries)) = &mut self.connection {
            let first_start = boundaries.as_mut().map_or(Some(0), |boundaries| boundaries.first_start(bytes));
            self.feed.received(at, *port, bytes, first_start);
        }
    }

    /// Copies the bytes that one write to the connection has sent into the feed.
    pub fn sent(&mut self, at: Instant, bytes: &[u8]) {
        if let Some((port, _)) = self.connection {
            self.feed.sent(at, port, bytes);
        }
    }

    /// Adds an entry to the feed: the copied connection was closed at `at`. Does nothing if none is open.
    pub fn closed(&mut self, at: Instant) {
        if let Some((port, _)) = self.connection.take() {
            self.feed.put(at, EntryContent::Closed { port });
        }
    }
}

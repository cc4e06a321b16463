//! What one connection carries, put into a feed as it passes.

use outrigger_wire::frame::Boundaries;
use outrigger_wire::time::Instant;

use super::{FRI, Feed, What, WireFormat};

/// Listens to one connection after another.
#[derive(Clone, Debug)]
pub struct Tap {
    feed: Feed,
    /// The port of the present connection, and how its messages are told apart; datagrams are apart.
    connection: Option<(u16, Option<Boundaries>)>,
}

impl Tap {
    /// A tap that puts what it hears into `feed`.
    #[must_use]
    pub const fn new(feed: Feed) -> Self {
        Self { feed, connection: None }
    }

    /// The same of the one flow of datagrams, which is there from the beginning to the end.
    #[must_use]
    pub const fn of_datagrams(feed: Feed) -> Self {
        Self { feed, connection: Some((FRI, None)) }
    }

    /// A connection to `port`, as the controller numbers it, stands.
    pub fn opened(&mut self, at: Instant, port: u16) {
        let format = WireFormat::of(port);
        self.connection = format.map(|format| (port, Some(Boundaries::new(format.framing()))));
        if self.connection.is_some() {
            self.feed.put(at, What::Opened { port });
        }
    }

    /// Bytes of one read.
    pub fn received(&mut self, at: Instant, bytes: &[u8]) {
        if let Some((port, boundaries)) = &mut self.connection {
            let first_start = boundaries.as_mut().map_or(Some(0), |boundaries| boundaries.first_start(bytes));
            self.feed.received(at, *port, bytes, first_start);
        }
    }

    /// Bytes of one write.
    pub fn sent(&mut self, at: Instant, bytes: &[u8]) {
        if let Some((port, _)) = self.connection {
            self.feed.sent(at, port, bytes);
        }
    }

    /// The connection is gone.
    pub fn closed(&mut self, at: Instant) {
        if let Some((port, _)) = self.connection.take() {
            self.feed.put(at, What::Closed { port });
        }
    }
}

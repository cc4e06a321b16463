//! What an engine was given and did, put into a feed as its recorder grows.

use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::Law;
use outrigger_wire::time::Instant;

use crate::feed::Feed;

/// How much of the recorder is in the feed.
#[derive(Debug)]
pub struct Tail {
    feed: Feed,
    begun: bool,
    /// Bytes of the newer half.
    taken: usize,
}

impl Tail {
    /// Returns one that has put nothing into `feed` yet.
    pub const fn new(feed: Feed) -> Self {
        Self { feed, begun: false, taken: 0 }
    }

    /// Puts in what came since it was called last: to be called after every input, so that no more than one half has been
    /// turned over since.
    pub fn put<const N: usize, P: Controller<N>, L: Law<N>>(&mut self, engine: &Engine<'_, N, P, L>, now: Instant) {
        let [older, newer] = engine.recorder().halves();
        if !self.begun {
            let mut header = [0; 1024];
            let Some(length) = engine.dump_header(&mut header) else { return };
            self.begun = true;
            self.feed.engine(now, header.get(..length).unwrap_or_default());
        }
        if newer.len() < self.taken {
            self.put_rest(older, now);
            self.taken = 0;
        }
        if self.taken == 0 && !newer.is_empty() {
            self.feed.engine(now, &[]);
        }
        self.put_rest(newer, now);
        self.taken = newer.len();
    }

    fn put_rest(&self, half: &[u8], now: Instant) {
        let rest = half.get(self.taken..).unwrap_or_default();
        if !rest.is_empty() {
            self.feed.engine(now, rest);
        }
    }
}

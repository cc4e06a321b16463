//! Copies the inputs and outputs of an engine into a feed, as its recorder grows.

use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::Law;
use outrigger_wire::time::Instant;

use crate::feed::Feed;

/// A copier of the content of an engine's recorder (of inputs and outputs) into the feed of a session, for recordings.
#[derive(Debug)]
pub struct Tail {
    feed: Feed,
    begun: bool,
    /// The number of bytes of the engine recorder's newer half that were copied into the feed.
    taken: usize,
}

impl Tail {
    /// Creates a copier that has copied nothing of the recorder into `feed` yet.
    pub const fn new(feed: Feed) -> Self {
        Self { feed, begun: false, taken: 0 }
    }

    /// Copies the engine's inputs and outputs recorded since the last call into the feed. Must be called after every
    /// input, so that at most one half of the recorder was completed since.
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

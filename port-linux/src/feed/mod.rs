//! A queue from one process to many readers: received bytes, sent bytes and events are passed on without ever waiting
//! for a reader.
//!
//! The control loop puts entries in; recorders and servers on other threads take them out. The queue has a fixed
//! number of places, and a new entry replaces the oldest one, whether or not every reader has seen it. A slow or
//! blocked reader loses old entries, is informed of their number, and delays nothing. An entry costs the loop one
//! copy of its bytes, into memory that is allocated at the start. Readers poll, some fifty times a second, because
//! waking one would cost the loop a system call for each entry.

pub mod notice;
mod progress;
pub mod recorded;
mod ring;
mod rtde_decoder;
mod streams;
mod traffic_tap;
mod wire_formats;

use std::sync::{Arc, Weak};

use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::time::Instant;

pub use self::progress::Progress;
use self::ring::{Found, Kept, Ring};
pub use self::rtde_decoder::Columns;
pub use self::rtde_decoder::Conversation;
pub use self::streams::{Message, Streams, Taken, memory as stream_memory};
pub use self::traffic_tap::Tap;
pub use self::wire_formats::{FRI, VARIABLES, WireFormat, connection_of, listed, name_of};
use crate::feed::notice::Notice;
use crate::host::worker::LOOK;

/// The number of entries (traffic and events of a session) that a feed keeps for slow readers: eight seconds of the
/// fastest stream.
pub const CAPACITY: usize = 4096;

/// The number of entries in a feed of events only: those of some minutes.
pub const EVENTS: usize = 256;

/// An entry of a feed: bytes received or sent, or an event.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The time of the entry since the start of the process. For bytes, the time right after they were read or written.
    pub at: Instant,
    /// The bytes or the event that the feed entry contains.
    pub what: EntryContent,
}

/// The kind and the content of a feed entry: traffic of a connection, or an event.
#[derive(Clone, Debug)]
pub enum EntryContent {
    /// A connection to this port of the controller was established.
    Opened {
        /// The number of the connection: its port as the controller numbers it, or [`VARIABLES`].
        port: u16,
    },
    /// Bytes received from the controller by one read.
    Received {
        /// The number of the stream of the bytes: the port as the controller numbers it, [`FRI`] or [`VARIABLES`].
        port: u16,
        /// The bytes as received from the controller.
        bytes: Box<[u8]>,
        /// The offset in `bytes` at which the first complete message starts, for readers that have lost earlier
        /// bytes. `None` if no message starts in them.
        first_start: Option<usize>,
    },
    /// Bytes sent to the controller by one write.
    Sent {
        /// The number of the stream of the bytes: the port as the controller numbers it, [`FRI`] or [`VARIABLES`].
        port: u16,
        /// The bytes as sent to the controller.
        bytes: Box<[u8]>,
    },
    /// The connection to this port of the controller was closed.
    Closed {
        /// The number of the closed connection: its port as the controller numbers it, or [`VARIABLES`].
        port: u16,
    },
    /// An event of the session, described by text for people and values for scripts.
    Notice(Notice),
    /// The text of the configuration file with which a run started.
    Configuration(String),
    /// Bytes from the recorder of the control engine's inputs and outputs: first a header that describes the engine,
    /// then the recorded data as it is added. Empty bytes precede the data of each half of the recorder's memory.
    Engine(Box<[u8]>),
    /// The mode of the session and the figures of the link that carries states.
    Link {
        /// The mode of the control state machine, e.g. monitor or command.
        mode: Mode,
        /// The figures of the link that carries states, such as losses and intervals.
        figures: Box<Figures>,
    },
}

/// The sender's end of a feed (a queue of traffic and events to many readers). Clones put entries into the same feed,
/// which ends when the last of them is dropped.
#[derive(Clone, Debug)]
pub struct Feed {
    ring: Arc<Ring>,
    /// The entries of a less urgent thread, for which the thread of this feed never waits. Readers receive the
    /// entries of both.
    other: Option<Arc<Ring>>,
    /// A counter of the clones of the feed, by which readers detect that none is left.
    sources: Arc<()>,
}

impl Feed {
    /// Creates a feed that keeps `capacity` entries, rounded up to a power of two.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { ring: Arc::new(Ring::new(capacity)), other: None, sources: Arc::default() }
    }

    /// Creates two feeds that keep `capacity` entries each. Readers of the first receive the entries of both. A
    /// thread that puts an entry into one never waits for a thread that puts one into the other.
    #[must_use]
    pub fn pair(capacity: usize) -> (Self, Self) {
        let second = Self::new(capacity);
        let first =
            Self { other: Some(Arc::clone(&second.ring)), sources: Arc::clone(&second.sources), ..Self::new(capacity) };
        (first, second)
    }

    /// Adds an entry to the feed. Never waits for a reader. Without a reader the entry is discarded.
    pub fn put(&self, at: Instant, what: EntryContent) {
        self.ring.put(at, Kept::Whole(what), &[]);
    }

    /// Adds an [`EntryContent::Received`] to the feed, by one copy of its bytes.
    fn received(&self, at: Instant, port: u16, bytes: &[u8], first_start: Option<usize>) {
        self.ring.put(at, Kept::Received { port, first_start }, bytes);
    }

    /// Adds an [`EntryContent::Sent`] to the feed, by one copy of its bytes.
    fn sent(&self, at: Instant, port: u16, bytes: &[u8]) {
        self.ring.put(at, Kept::Sent { port }, bytes);
    }

    /// Adds an [`EntryContent::Engine`] to the feed, by one copy of its bytes.
    pub(crate) fn engine(&self, at: Instant, bytes: &[u8]) {
        self.ring.put(at, Kept::Engine, bytes);
    }

    /// Creates a reader that receives every new entry of the feed from now on.
    #[must_use]
    pub fn reader(&self) -> Reader {
        let rings = [Some(&self.ring), self.other.as_ref()].map(|ring| Some((Arc::clone(ring?), ring?.join())));
        Reader { rings, sources: Arc::downgrade(&self.sources), lost: 0 }
    }
}

/// An item that a reader of a feed receives: an entry, or the number of entries that it has lost.
#[derive(Clone, Debug)]
pub enum Item {
    /// The next entry of the feed for this reader.
    Entry(Entry),
    /// The number of feed entries that were lost before the next one, because the reader was too slow.
    Lost(u64),
}

/// A reader of a feed's entries, at its own position.
#[derive(Debug)]
pub struct Reader {
    /// The queues of the feed, each with the number of the next entry to read.
    rings: [Option<(Arc<Ring>, u64)>; 2],
    sources: Weak<()>,
    lost: u64,
}

/// A reason why a reader of a feed has no next item.
#[derive(Debug)]
enum NoItem {
    /// No further entry of the feed has arrived yet.
    Yet,
    /// No entry will arrive any more, because the feed has ended.
    Ever,
}

impl Reader {
    /// Waits for the next entry of the feed. Returns `None` when the feed has ended. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Item> {
        loop {
            match self.now() {
                Err(NoItem::Yet) => tokio::time::sleep(LOOK).await,
                now => return now.ok(),
            }
        }
    }

    /// Waits for the next entry of the feed by blocking the thread. Returns `None` when the feed has ended.
    pub fn next_blocking(&mut self) -> Option<Item> {
        loop {
            match self.now() {
                Err(NoItem::Yet) => std::thread::sleep(LOOK),
                now => return now.ok(),
            }
        }
    }

    /// Returns the next item of the feed, an entry or a loss. `None` if no entry has arrived yet, or if the feed has ended.
    pub fn next_now(&mut self) -> Option<Item> {
        self.now().ok()
    }

    /// Returns up to `most` items of the feed, entries or losses, that have arrived. A caller with other work reads so
    /// many at a time: on a busy machine entries may arrive as fast as they are processed.
    pub fn up_to(&mut self, most: usize) -> impl Iterator<Item = Item> {
        std::iter::from_fn(|| self.next_now()).take(most)
    }

    /// Returns `true` if no more entries will be put into the feed; those present are the last.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.sources.strong_count() == 0
    }

    /// Returns the number of feed entries that this reader has lost so far, because it was too slow.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    fn now(&mut self) -> Result<Item, NoItem> {
        // Checked first, so that the last entry put in before the end is still found.
        let ended = self.is_over();
        for (ring, next) in self.rings.iter_mut().flatten() {
            match ring.find(*next) {
                Found::Entry(entry) => {
                    *next += 1;
                    return Ok(Item::Entry(entry));
                }
                Found::Lost(lost) => {
                    *next += lost;
                    self.lost = self.lost.saturating_add(lost);
                    return Ok(Item::Lost(lost));
                }
                Found::Nothing => {}
            }
        }
        Err(if ended { NoItem::Ever } else { NoItem::Yet })
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.rings.iter().flatten().for_each(|(ring, _)| ring.leave());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(feed: &Feed, numbers: std::ops::Range<u64>) {
        for number in numbers {
            feed.put(Instant::from_micros(number), EntryContent::Closed { port: 30_003 });
        }
    }

    fn all(reader: &mut Reader) -> (Vec<u64>, u64) {
        let mut numbers = vec![];
        let before = reader.lost();
        while let Some(item) = reader.next_now() {
            if let Item::Entry(entry) = item {
                numbers.push(entry.at.as_micros());
            }
        }
        (numbers, reader.lost() - before)
    }

    #[test]
    fn a_reader_returns_to_its_other_work_though_an_entry_arrives_for_each_that_it_takes() {
        let feed = Feed::new(64);
        let mut reader = feed.reader();
        put(&feed, 0..1);
        let mut number = 1;
        let taken = reader.up_to(10).inspect(|_| {
            put(&feed, number..number + 1);
            number += 1;
        });
        assert_eq!(taken.count(), 10);
        assert_eq!(all(&mut reader), (vec![10], 0), "the rest is there for the next time");
    }

    #[test]
    fn twenty_readers_that_stand_still_lose_the_oldest_and_the_one_that_reads_loses_nothing() {
        let feed = Feed::new(64);
        let mut still: Vec<_> = (0..20).map(|_| feed.reader()).collect();
        let mut quick = feed.reader();
        let mut read = vec![];
        for start in (0..1_000).step_by(50) {
            put(&feed, start..start + 50);
            let (numbers, lost) = all(&mut quick);
            assert_eq!(lost, 0);
            read.extend(numbers);
        }
        assert_eq!(read, (0..1_000).collect::<Vec<_>>());
        for reader in &mut still {
            assert_eq!(all(reader), ((936..1_000).collect(), 936), "the newest 64 of 1000");
        }
    }

    #[test]
    fn a_reader_of_a_pair_hears_both_and_ends_with_the_last_and_a_full_one_costs_the_other_nothing() {
        let (first, second) = Feed::pair(4);
        let mut reader = first.reader();
        put(&second, 0..100);
        put(&first, 100..103);
        drop(first);
        assert_eq!(all(&mut reader), ([100, 101, 102, 96, 97, 98, 99].into(), 96));
        assert!(matches!(reader.now(), Err(NoItem::Yet)));
        drop(second);
        assert!(matches!(reader.now(), Err(NoItem::Ever)));
    }

    #[test]
    fn a_reader_hears_what_comes_after_it_began_and_the_end() {
        let feed = Feed::new(8);
        put(&feed, 0..3);
        let mut reader = feed.reader();
        put(&feed, 3..5);
        drop(feed);
        let mut numbers = vec![];
        while let Some(Item::Entry(entry)) = reader.next_blocking() {
            numbers.push(entry.at.as_micros());
        }
        assert_eq!(numbers, [3, 4]);
    }
}

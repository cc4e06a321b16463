//! One process, many readers: what arrives, goes out and happens, handed on and never waited for.
//!
//! The loop that speaks with the robot puts entries in; recorders and servers on other threads take them out. The queue
//! has a fixed number of places, and a new entry takes the place of the oldest, whether or not every reader has seen it:
//! a reader that is slow, or stands still, loses old entries, is told how many, and delays nobody. An entry costs the loop
//! one copy of its bytes, into memory that is there from the beginning. Readers look by themselves, some fifty times a second:
//! to wake one would cost the loop a call of the kernel for each entry.

mod format;
pub mod notice;
mod progress;
pub mod recorded;
mod ring;
mod rtde;
mod streams;
mod tap;

use std::sync::{Arc, Weak};

use outrigger_core::link::Figures;
use outrigger_core::mode::Mode;
use outrigger_wire::time::Instant;

pub use self::format::{FRI, VARIABLES, WireFormat, connection_of, listed, name_of};
pub use self::progress::Progress;
use self::ring::{Found, Kept, Ring};
pub use self::rtde::Columns;
pub use self::rtde::Conversation;
pub use self::streams::{Message, Streams, Taken, memory as stream_memory};
pub use self::tap::Tap;
use crate::feed::notice::Notice;
use crate::host::worker::LOOK;

/// Entries that are kept for slow readers: eight seconds of the fastest stream.
pub const CAPACITY: usize = 4096;

/// Entries of a feed of events alone: those of some minutes.
pub const EVENTS: usize = 256;

/// Something that arrived, went out or happened.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When, since the start of the process; of bytes, right after they were read.
    pub at: Instant,
    /// What.
    pub what: What,
}

/// What arrived, went out or happened.
#[derive(Clone, Debug)]
pub enum What {
    /// A connection to this port of the controller stands.
    Opened {
        /// As the controller numbers it.
        port: u16,
    },
    /// Bytes of one read.
    Received {
        /// As the controller numbers it.
        port: u16,
        /// As they came.
        bytes: Box<[u8]>,
        /// Where the first message starts in them, for readers that have lost what came before.
        first_start: Option<usize>,
    },
    /// Bytes of one write.
    Sent {
        /// As the controller numbers it.
        port: u16,
        /// As they went.
        bytes: Box<[u8]>,
    },
    /// The connection to this port is gone.
    Closed {
        /// As the controller numbers it.
        port: u16,
    },
    /// An event, in words.
    Notice(Notice),
    /// The text of the configuration that a run began with.
    Configuration(String),
    /// What the engine's recorder holds: first the header of a dump, then each half behind an empty entry.
    Engine(Box<[u8]>),
    /// How the session and its link stand.
    Link {
        /// Mode of the machine.
        mode: Mode,
        /// Figures of the link.
        figures: Box<Figures>,
    },
}

/// Where entries are put in. Clones share the queue, which ends with the last of them.
#[derive(Clone, Debug)]
pub struct Feed {
    ring: Arc<Ring>,
    /// Of a thread of less hurry, which this one never waits for: its readers hear both.
    other: Option<Arc<Ring>>,
    /// What readers see of there being anybody who puts in entries.
    sources: Arc<()>,
}

impl Feed {
    /// A feed that keeps `capacity` entries, rounded up to a power of two.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { ring: Arc::new(Ring::new(capacity)), other: None, sources: Arc::default() }
    }

    /// A feed that keeps `capacity` entries, and a second one with as many of its own: readers of the first hear both, and no
    /// thread that puts into one waits for a thread that puts into the other.
    #[must_use]
    pub fn pair(capacity: usize) -> (Self, Self) {
        let second = Self::new(capacity);
        let first =
            Self { other: Some(Arc::clone(&second.ring)), sources: Arc::clone(&second.sources), ..Self::new(capacity) };
        (first, second)
    }

    /// Puts in an entry. Never waits for a reader; where nobody reads, nothing is kept.
    pub fn put(&self, at: Instant, what: What) {
        self.ring.put(at, Kept::Whole(what), &[]);
    }

    /// The same for [`What::Received`], by one copy of its bytes.
    fn received(&self, at: Instant, port: u16, bytes: &[u8], first_start: Option<usize>) {
        self.ring.put(at, Kept::Received { port, first_start }, bytes);
    }

    /// The same for [`What::Sent`].
    fn sent(&self, at: Instant, port: u16, bytes: &[u8]) {
        self.ring.put(at, Kept::Sent { port }, bytes);
    }

    /// The same for [`What::Engine`].
    pub(crate) fn engine(&self, at: Instant, bytes: &[u8]) {
        self.ring.put(at, Kept::Engine, bytes);
    }

    /// A reader of everything from now on.
    #[must_use]
    pub fn reader(&self) -> Reader {
        let rings = [Some(&self.ring), self.other.as_ref()].map(|ring| Some((Arc::clone(ring?), ring?.join())));
        Reader { rings, sources: Arc::downgrade(&self.sources), lost: 0 }
    }
}

/// What a reader gets.
#[derive(Clone, Debug)]
pub enum Item {
    /// The next entry.
    Entry(Entry),
    /// So many entries were lost before the next one: the reader was too slow.
    Lost(u64),
}

/// One reader's place in a feed.
#[derive(Debug)]
pub struct Reader {
    /// Each with the number of the next entry.
    rings: [Option<(Arc<Ring>, u64)>; 2],
    sources: Weak<()>,
    lost: u64,
}

/// Why there is no item.
#[derive(Debug)]
enum NoItem {
    /// None has come yet.
    Yet,
    /// The feed has ended.
    Ever,
}

impl Reader {
    /// The next entry; `None` when the feed has ended. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Item> {
        loop {
            match self.now() {
                Err(NoItem::Yet) => tokio::time::sleep(LOOK).await,
                now => return now.ok(),
            }
        }
    }

    /// The same, on a thread of its own.
    pub fn next_blocking(&mut self) -> Option<Item> {
        loop {
            match self.now() {
                Err(NoItem::Yet) => std::thread::sleep(LOOK),
                now => return now.ok(),
            }
        }
    }

    /// The next entry, where there is one already.
    pub fn next_now(&mut self) -> Option<Item> {
        self.now().ok()
    }

    /// Whether nothing more is put in: what is there now is the last.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.sources.strong_count() == 0
    }

    /// Entries this reader has lost so far.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    fn now(&mut self) -> Result<Item, NoItem> {
        // Asked first: what the last one put in before it went is found.
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
            feed.put(Instant::from_micros(number), What::Closed { port: 30_003 });
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

//! The fixed slots of a feed's entries. They are allocated once; each new entry is copied into the oldest slot.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use outrigger_wire::time::Instant;

use super::{Entry, EntryContent};

/// The initial memory of a slot for a feed entry \[B\], enough for a state and the engine's record of it. A longer
/// entry enlarges its slot for good.
const ROOM: usize = 1536;

/// A ring of the newest entries of a feed, each with its number.
#[derive(Debug)]
pub(super) struct Ring {
    /// The slots of the entries. Their number is a power of two.
    places: Box<[Mutex<RingSlot>]>,
    /// A lock that is held while an entry is put into the ring, so that there is one writer at a time.
    putting: Mutex<()>,
    /// The number that the next entry of the feed will have.
    next: AtomicU64,
    readers: AtomicUsize,
}

#[derive(Debug)]
struct RingSlot {
    number: Option<u64>,
    at: Instant,
    what: Kept,
    bytes: Vec<u8>,
}

/// The kind of feed entry in a slot of the ring. The bytes of every variant but the last are in the slot.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    Received { port: u16, first_start: Option<usize> },
    Sent { port: u16 },
    Engine,
    Whole(EntryContent),
}

/// The result of looking for an entry of the feed by its number.
pub(super) enum Found {
    Entry(Entry),
    /// The feed entry was overwritten or not stored, and so were entries after it: this many in all.
    Lost(u64),
    /// The feed entry with this number has not arrived yet.
    Nothing,
}

impl Ring {
    /// Creates slots for `capacity` feed entries, rounded up to a power of two. Their memory is written to, so that the
    /// kernel does not have to map any of it later.
    pub(super) fn new(capacity: usize) -> Self {
        let place = || {
            let mut bytes = vec![1; ROOM];
            bytes.clear();
            Mutex::new(RingSlot { number: None, at: Instant::ZERO, what: Kept::Engine, bytes })
        };
        Self {
            places: (0..capacity.next_power_of_two()).map(|_| place()).collect(),
            putting: Mutex::new(()),
            next: AtomicU64::new(0),
            readers: AtomicUsize::new(0),
        }
    }

    fn place(&self, number: u64) -> Option<&Mutex<RingSlot>> {
        self.places.get(number as usize & (self.places.len() - 1))
    }

    /// Puts the next entry into the ring, in place of the oldest. Does nothing while there are no readers. If a reader
    /// is just copying the oldest entry, the new one is lost instead of waited for.
    pub(super) fn put(&self, at: Instant, what: Kept, bytes: &[u8]) {
        if self.readers.load(Ordering::Acquire) == 0 {
            return;
        }
        let _putting = self.putting.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.next.load(Ordering::Relaxed);
        let place = match self.place(number).map(Mutex::try_lock) {
            Some(Ok(place)) => Some(place),
            Some(Err(TryLockError::Poisoned(poisoned))) => Some(poisoned.into_inner()),
            Some(Err(TryLockError::WouldBlock)) | None => None,
        };
        if let Some(mut place) = place {
            (place.number, place.at, place.what) = (Some(number), at, what);
            place.bytes.clear();
            place.bytes.extend_from_slice(bytes);
        }
        self.next.store(number + 1, Ordering::Release);
    }

    /// Returns a copy of the feed entry with this number, if it is still there. A reader that waits for the next entry
    /// does not lock the slot of that entry.
    pub(super) fn find(&self, number: u64) -> Found {
        if number >= self.next.load(Ordering::Acquire) {
            return Found::Nothing;
        }
        if let Some(place) = self.place(number) {
            let place: MutexGuard<'_, RingSlot> = place.lock().unwrap_or_else(PoisonError::into_inner);
            if place.number == Some(number) {
                return Found::Entry(place.entry());
            }
        }
        let oldest = self.next.load(Ordering::Acquire).saturating_sub(self.places.len() as u64);
        Found::Lost(oldest.max(number + 1) - number)
    }

    /// Adds a reader of the feed to their count. Returns the number of the first entry that it will read.
    pub(super) fn join(&self) -> u64 {
        self.readers.fetch_add(1, Ordering::AcqRel);
        self.next.load(Ordering::Acquire)
    }

    /// Removes a reader of the feed from their count.
    pub(super) fn leave(&self) {
        self.readers.fetch_sub(1, Ordering::AcqRel);
    }
}

impl RingSlot {
    fn entry(&self) -> Entry {
        let bytes = || self.bytes.as_slice().into();
        let what = match &self.what {
            Kept::Received { port, first_start } => {
                EntryContent::Received { port: *port, bytes: bytes(), first_start: *first_start }
            }
            Kept::Sent { port } => EntryContent::Sent { port: *port, bytes: bytes() },
            Kept::Engine => EntryContent::Engine(bytes()),
            Kept::Whole(what) => what.clone(),
        };
        Entry { at: self.at, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_whose_place_is_being_read_is_lost_and_nobody_waits() {
        let ring = Ring::new(2);
        let first = ring.join();
        let put = |number: u64| ring.put(Instant::from_micros(number), Kept::Engine, &[number as u8; 3]);
        put(0);
        put(1);
        let reads = ring.place(0).expect("a place").lock().expect("nobody panicked");
        put(2);
        drop(reads);
        put(3);
        let found = (first..4).map(|number| match ring.find(number) {
            Found::Entry(entry) => format!("{}", entry.at.as_micros()),
            Found::Lost(count) => format!("lost {count}"),
            Found::Nothing => "nothing".into(),
        });
        // The reader blocks the third entry's place, so the first entry stays there. The fourth replaces the second.
        assert_eq!(found.collect::<Vec<_>>(), ["0", "lost 1", "lost 1", "3"]);
    }

    #[test]
    fn a_reader_that_waits_for_the_next_entry_never_stands_in_its_way() {
        const ALL: u64 = 200_000;
        let (ring, heard) = (Ring::new(1024), AtomicU64::new(0));
        let (mut next, mut lost) = (ring.join(), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..ALL {
                    while number > heard.load(Ordering::Relaxed) + 500 {
                        std::hint::spin_loop();
                    }
                    ring.put(Instant::from_micros(number), Kept::Engine, &[1]);
                }
            });
            while next < ALL {
                match ring.find(next) {
                    Found::Entry(entry) => {
                        lost += u64::from(entry.at.as_micros() != next);
                        next += 1;
                    }
                    Found::Lost(count) => (next, lost) = (next + count, lost + count),
                    Found::Nothing => {}
                }
                heard.store(next, Ordering::Relaxed);
            }
        });
        assert_eq!(lost, 0);
    }

    #[test]
    fn while_nobody_reads_nothing_is_put_in() {
        let ring = Ring::new(2);
        ring.put(Instant::ZERO, Kept::Engine, &[1]);
        assert_eq!(ring.join(), 0);
        ring.put(Instant::ZERO, Kept::Engine, &[1]);
        ring.leave();
        ring.put(Instant::ZERO, Kept::Engine, &[1]);
        assert_eq!(ring.join(), 1);
    }

    #[test]
    fn a_place_keeps_its_memory() {
        let ring = Ring::new(1);
        let _ = ring.join();
        let memory = || ring.place(0).map(|place| place.lock().expect("nobody panicked").bytes.as_ptr());
        let before = memory();
        for length in [0, 1, ROOM] {
            ring.put(Instant::ZERO, Kept::Sent { port: 30_003 }, &vec![7; length]);
        }
        assert_eq!(memory(), before);
    }
}

//! Flight recorder: what went into an engine and what came out, in memory of the caller.
//!
//! The memory is two halves. Entries are appended to one; when it is full the other is cleared and begins with a
//! *checkpoint* of the engine, so that whatever is kept can always be run again from its first entry. What an entry
//! means is the session's business: here it is a kind, an instant and bytes.
//!
//! ```
//! use outrigger_core::recorder::{Kind, Recorder};
//! use outrigger_wire::time::Instant;
//!
//! let mut memory = [0; 1024];
//! let mut recorder = Recorder::new(&mut memory);
//! recorder.turn_over(Instant::ZERO, |out| {
//!     out.first_mut().map(|byte| *byte = 7)?; // a checkpoint of one byte
//!     Some(1)
//! });
//! recorder.append(Kind::Received, Instant::from_micros(2000), &[b"\x02", b"bytes"]);
//! let kinds: Vec<Kind> = recorder.entries().map(|entry| entry.kind).collect();
//! assert_eq!(kinds, [Kind::Checkpoint, Kind::Received]);
//! ```

mod checkpoint;

pub use checkpoint::Checkpoint;
#[cfg(feature = "record")]
pub use checkpoint::{Loader, Saver};

use outrigger_wire::time::Instant;

/// Bytes before the payload of an entry: kind, payload length, instant; little-endian.
const HEADER_LEN: usize = 13;

/// Stands where a half ends, in place of a kind: behind it is what was there before.
const END: u8 = 0xff;

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The engine as it was: the first entry of each half, and where something else than an input changed it.
    Checkpoint,
    /// An input of the engine, other than received bytes.
    Input,
    /// Bytes received on a link.
    Received,
    /// Bytes the engine transmitted on a link.
    Transmitted,
    /// A transition of the mode machine.
    Transition,
    /// A waypoint the law was fed.
    Waypoint,
    /// Speeds or positions that were streamed.
    Forward,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Checkpoint,
        Self::Input,
        Self::Received,
        Self::Transmitted,
        Self::Transition,
        Self::Waypoint,
        Self::Forward,
    ];

    fn from_raw(raw: u8) -> Option<Self> {
        Self::ALL.get(usize::from(raw)).copied()
    }
}

/// One thing that was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// What it is.
    pub kind: Kind,
    /// When the engine saw it, on the port's clock.
    pub at: Instant,
    /// Its content, in the session's encoding.
    pub payload: &'a [u8],
}

/// The recorder: appends, and forgets the older half when memory ends.
#[derive(Debug)]
pub struct Recorder<'m> {
    active: Half<'m>,
    older: Half<'m>,
    /// Entries that found no room; nothing is appended after one until the next [`Recorder::turn_over`].
    lost: u32,
    torn: bool,
    /// The memory still holds what an earlier recorder wrote, and nothing is appended.
    holding: bool,
}

#[derive(Debug)]
struct Half<'m> {
    memory: &'m mut [u8],
    used: usize,
}

impl<'m> Recorder<'m> {
    /// A recorder over `memory`; an empty slice records nothing.
    #[must_use]
    pub fn new(memory: &'m mut [u8]) -> Self {
        let middle = memory.len() / 2;
        // `middle` is never beyond the end, so the second arm only satisfies the type.
        let (first, second) = memory.split_at_mut_checked(middle).unwrap_or((&mut [], &mut []));
        Self { active: Half::empty(first), older: Half::empty(second), lost: 0, torn: false, holding: false }
    }

    /// A recorder over `memory` that a reset left as it was: while an earlier recorder's entries are in it, they are
    /// [kept](Self::earlier), and nothing is appended before [`begin`](Self::begin). Bytes that no recorder wrote are no entries, nor
    /// is what stands behind them in the same half; without any entry this is [`new`](Self::new).
    #[must_use]
    pub fn holding(memory: &'m mut [u8]) -> Self {
        let middle = memory.len() / 2;
        let (first, second) = memory.split_at_mut_checked(middle).unwrap_or((&mut [], &mut []));
        let (first, second) = (Half::found(first), Half::found(second));
        let (active, older) = match (first.begun(), second.begun()) {
            (None, None) => return Self { active: first, older: second, lost: 0, torn: false, holding: false },
            // What stands in one half alone is a beginning, or a whole.
            (_, None) => (first, second),
            (Some(one), Some(other)) if one > other => (first, second),
            _ => (second, first),
        };
        Self { active, older, lost: 0, torn: false, holding: true }
    }

    /// Returns what an earlier recorder left, oldest first, until [`begin`](Self::begin).
    #[must_use]
    pub fn earlier(&self) -> Option<[&[u8]; 2]> {
        self.holding.then(|| self.halves())
    }

    /// Forgets what an earlier recorder left, and records from now on.
    pub fn begin(&mut self) {
        if core::mem::take(&mut self.holding) {
            self.clear();
        }
    }

    /// Returns whether it records now.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        !self.holding && !self.active.memory.is_empty()
    }

    /// Whether `payload` bytes more, in `entries` entries, fit before the recorder must turn over.
    #[must_use]
    pub fn has_room(&self, entries: usize, payload: usize) -> bool {
        let need = entries.saturating_mul(HEADER_LEN).saturating_add(payload);
        !self.torn && need <= self.active.memory.len().saturating_sub(self.active.used)
    }

    /// Appends an entry whose payload is `parts`, one after the other. An entry without room is counted as lost.
    pub fn append(&mut self, kind: Kind, at: Instant, parts: &[&[u8]]) {
        let write = |room: &mut [u8]| {
            let mut written = 0_usize;
            for part in parts {
                let end = written.checked_add(part.len())?;
                room.get_mut(written..end)?.copy_from_slice(part);
                written = end;
            }
            Some(written)
        };
        let _ = self.append_with(kind, at, write);
    }

    /// Appends an entry whose payload is what `write` puts into the room it is given; it returns how much that is.
    /// Whether there was room; an entry without is counted as lost.
    pub fn append_with(&mut self, kind: Kind, at: Instant, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
        if self.torn || !self.is_enabled() {
            return false;
        }
        let appended = self.active.push(kind, at, write).is_some();
        if !appended {
            self.lost = self.lost.saturating_add(1);
            self.torn = true;
        }
        appended
    }

    /// Forgets the older half and goes on there, beginning with the checkpoint that `write` puts into the room it is
    /// given. With `None` from `write`, or too little room, nothing more is appended, and `false` is returned.
    pub fn turn_over(&mut self, at: Instant, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
        if !self.is_enabled() {
            return false;
        }
        self.older.clear();
        if self.older.push(Kind::Checkpoint, at, write).is_none() {
            self.lost = self.lost.saturating_add(1);
            self.torn = true;
            return false;
        }
        core::mem::swap(&mut self.active, &mut self.older);
        self.torn = false;
        true
    }

    /// Forgets everything: the engine is at its beginning.
    pub fn clear(&mut self) {
        self.active.clear();
        self.older.clear();
        self.torn = false;
    }

    /// Entries that found no room since the start.
    #[must_use]
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// What is kept, oldest first, as the two runs of bytes that [`entries`] reads.
    #[must_use]
    pub fn halves(&self) -> [&[u8]; 2] {
        [self.older.kept(), self.active.kept()]
    }

    /// What is kept, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let [older, active] = self.halves();
        entries(older).chain(entries(active))
    }
}

impl<'m> Half<'m> {
    fn empty(memory: &'m mut [u8]) -> Self {
        let mut half = Self { memory, used: 0 };
        half.clear();
        half
    }

    /// With the entries that are in `memory`; where there is none, it is cleared.
    fn found(memory: &'m mut [u8]) -> Self {
        match left_in(memory) {
            0 => Self::empty(memory),
            used => Self { memory, used },
        }
    }

    /// Returns the instant of its first entry.
    fn begun(&self) -> Option<Instant> {
        entries(self.kept()).next().map(|entry| entry.at)
    }

    fn clear(&mut self) {
        self.used = 0;
        if let Some(first) = self.memory.first_mut() {
            *first = END;
        }
    }

    fn kept(&self) -> &[u8] {
        self.memory.get(..self.used).unwrap_or_default()
    }

    fn push(&mut self, kind: Kind, at: Instant, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<()> {
        let (place, room) = self.memory.get_mut(self.used..)?.split_first_chunk_mut()?;
        let length = write(room).filter(|length| *length <= room.len())?;
        let header = header(kind, at, length)?;
        // The end before what it ends: a reset in between leaves the entries before this one.
        if let Some(end) = room.get_mut(length) {
            *end = END;
        }
        *place = header;
        self.used = self.used.saturating_add(HEADER_LEN).saturating_add(length);
        Some(())
    }
}

/// `None` where the payload is longer than its length field can say.
fn header(kind: Kind, at: Instant, length: usize) -> Option<[u8; HEADER_LEN]> {
    let [l0, l1, l2, l3] = u32::try_from(length).ok()?.to_le_bytes();
    let [a, b, c, d, e, f, g, h] = at.as_micros().to_le_bytes();
    Some([kind as u8, l0, l1, l2, l3, a, b, c, d, e, f, g, h])
}

/// The entries in `bytes`, as far as they are whole.
pub fn entries(bytes: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let ([kind, l0, l1, l2, l3, at @ ..], after) = rest.split_first_chunk::<HEADER_LEN>()?;
        let length = usize::try_from(u32::from_le_bytes([*l0, *l1, *l2, *l3])).ok()?;
        let (payload, after) = after.split_at_checked(length)?;
        rest = after;
        Some(Entry { kind: Kind::from_raw(*kind)?, at: Instant::from_micros(u64::from_le_bytes(*at)), payload })
    })
}

/// Length of the entries at the beginning of a half: the first is a checkpoint, and none is from before the one before it.
fn left_in(half: &[u8]) -> usize {
    let (mut used, mut newest) = (0_usize, None);
    for entry in entries(half) {
        let fits = newest.map_or(entry.kind == Kind::Checkpoint, |newest| entry.at >= newest);
        if !fits {
            break;
        }
        newest = Some(entry.at);
        used = used.saturating_add(HEADER_LEN).saturating_add(entry.payload.len());
    }
    used
}

#[cfg(test)]
mod tests;

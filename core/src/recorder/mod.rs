//! The flight recorder: the inputs and outputs of an engine, in memory of the caller.
//!
//! The memory is divided into two halves. Entries are appended to one; when it is full the other is cleared and begins
//! with a *checkpoint* of the engine, so that a replay can always start at the first stored entry. The session defines
//! the meaning of entries; this module stores a kind, an instant and bytes.
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

/// The length \[B\] of the header in front of each recorded entry's payload: kind, payload length, instant;
/// little-endian.
const HEADER_LEN: usize = 13;

/// The byte that marks the end of the entries in a half of the recorder's memory, in place of a kind. The bytes after
/// it are older content.
const END: u8 = 0xff;

/// The kind of content of a recorder's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The complete state of the engine: the first entry of each half, and after each change that was not caused by
    /// an input.
    Checkpoint,
    /// An input that the engine processed, other than received bytes.
    Input,
    /// The bytes that the engine received on a link to the controller.
    Received,
    /// The bytes that the engine transmitted on a link to the controller.
    Transmitted,
    /// A transition of the engine's mode machine.
    Transition,
    /// A waypoint that was fed to the motion of the control law.
    Waypoint,
    /// The speeds, positions or torques that were streamed to the control law.
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

/// One entry that the recorder has stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The kind of content of the recorded entry.
    pub kind: Kind,
    /// The time at which the engine handled the recorded content, on the port's clock.
    pub at: Instant,
    /// The recorded content, in the engine's encoding for entries of this kind.
    pub payload: &'a [u8],
}

/// A recorder that appends entries and discards the older half when its memory is full.
#[derive(Debug)]
pub struct Recorder<'m> {
    active: Half<'m>,
    older: Half<'m>,
    /// The number of times that an entry had no room; after one, nothing is appended, or counted, until the next
    /// [`Recorder::turn_over`].
    lost: u32,
    torn: bool,
    /// `true` while the memory still holds the entries of an earlier recorder; nothing is appended then.
    holding: bool,
}

#[derive(Debug)]
struct Half<'m> {
    memory: &'m mut [u8],
    used: usize,
}

impl<'m> Recorder<'m> {
    /// Creates a recorder in `memory`; with an empty slice it records nothing.
    #[must_use]
    pub fn new(memory: &'m mut [u8]) -> Self {
        let middle = memory.len() / 2;
        // `middle` is never beyond the end, so the second arm only satisfies the type.
        let (first, second) = memory.split_at_mut_checked(middle).unwrap_or((&mut [], &mut []));
        Self { active: Half::empty(first), older: Half::empty(second), lost: 0, torn: false, holding: false }
    }

    /// Creates a recorder in `memory` whose content survived a reset. While it holds the entries of an earlier
    /// recorder, these are [kept](Self::earlier), and nothing is appended before [`begin`](Self::begin). Bytes that no
    /// recorder wrote are not read as entries, nor are bytes after them in the same half. If there is no entry at all,
    /// this is the same as [`new`](Self::new).
    #[must_use]
    pub fn holding(memory: &'m mut [u8]) -> Self {
        let middle = memory.len() / 2;
        let (first, second) = memory.split_at_mut_checked(middle).unwrap_or((&mut [], &mut []));
        let (first, second) = (Half::found(first), Half::found(second));
        let (active, older) = match (first.begun(), second.begun()) {
            (None, None) => return Self { active: first, older: second, lost: 0, torn: false, holding: false },
            // If only one half has entries, the recording has just begun, or this half is all of it.
            (_, None) => (first, second),
            (Some(one), Some(other)) if one > other => (first, second),
            _ => (second, first),
        };
        Self { active, older, lost: 0, torn: false, holding: true }
    }

    /// Returns the bytes of the entries of an earlier recorder in both halves of the memory, oldest first; `None` after
    /// [`begin`](Self::begin), or if there were none.
    #[must_use]
    pub fn earlier(&self) -> Option<[&[u8]; 2]> {
        self.holding.then(|| self.halves())
    }

    /// Discards the entries of an earlier recorder and starts recording.
    pub fn begin(&mut self) {
        if core::mem::take(&mut self.holding) {
            self.clear();
        }
    }

    /// Returns whether the recorder has memory and does not hold the entries of an earlier recorder.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        !self.holding && !self.active.memory.is_empty()
    }

    /// Returns whether `entries` more entries with `payload` bytes in total fit into the half of the memory that is being
    /// written, before recording continues in the other half and overwrites it.
    #[must_use]
    pub fn has_room(&self, entries: usize, payload: usize) -> bool {
        let need = entries.saturating_mul(HEADER_LEN).saturating_add(payload);
        !self.torn && need <= self.active.memory.len().saturating_sub(self.active.used)
    }

    /// Appends an entry to the recorder whose payload is the concatenation of `parts`. An entry without room is counted
    /// as lost.
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

    /// Appends an entry to the recorder whose payload `write` puts into the room passed to it; `write` returns the
    /// payload's length. Returns `false` if there was no room, in which case the entry is counted as lost, or if
    /// nothing is recorded at present.
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

    /// Clears the older half of the recorder's memory and continues there, beginning with the checkpoint that `write`
    /// puts into the room passed to it. Returns `false` if `write` returns `None` or the room is too small, so that
    /// nothing is appended until a later call succeeds, or if the recorder is not [enabled](Self::is_enabled).
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

    /// Discards all recorded entries, because the engine was set back to its initial state.
    pub fn clear(&mut self) {
        self.active.clear();
        self.older.clear();
        self.torn = false;
    }

    /// Returns how many times an entry could not be recorded since the start. Entries dropped after it, until the next
    /// [`turn_over`](Self::turn_over), are not counted.
    #[must_use]
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Returns the recorder's stored entries, oldest first, as the two byte sequences that [`entries`] reads.
    #[must_use]
    pub fn halves(&self) -> [&[u8]; 2] {
        [self.older.kept(), self.active.kept()]
    }

    /// Returns the recorder's stored entries, oldest first.
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

    /// Creates a half of the recorder's memory with the entries found in `memory`; if there are none, clears it.
    fn found(memory: &'m mut [u8]) -> Self {
        match left_in(memory) {
            0 => Self::empty(memory),
            used => Self { memory, used },
        }
    }

    /// Returns the time of the first entry in this half of the memory; `None` if the half is empty.
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
        // The end mark is written before the header: a reset in between leaves the earlier entries valid.
        if let Some(end) = room.get_mut(length) {
            *end = END;
        }
        *place = header;
        self.used = self.used.saturating_add(HEADER_LEN).saturating_add(length);
        Some(())
    }
}

/// Returns the header of a recorded entry; `None` if the payload is too long for the length field.
fn header(kind: Kind, at: Instant, length: usize) -> Option<[u8; HEADER_LEN]> {
    let [l0, l1, l2, l3] = u32::try_from(length).ok()?.to_le_bytes();
    let [a, b, c, d, e, f, g, h] = at.as_micros().to_le_bytes();
    Some([kind as u8, l0, l1, l2, l3, a, b, c, d, e, f, g, h])
}

/// Iterates over the recorder's entries in `bytes` up to the first incomplete or invalid one.
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

/// Returns the length \[B\] of the valid entries at the beginning of a half of the recorder's memory: the first is a
/// checkpoint, and no entry is earlier than the one before it.
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

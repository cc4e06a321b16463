//! Cuts a byte stream into length-prefixed messages, in memory that the caller owns.
//!
//! Read from the socket into [`Assembler::window`], report the number of bytes with [`Assembler::commit`], then take
//! messages with [`Assembler::next_frame`] until it returns `None`. Messages stay where they were received. Only the
//! bytes of an unfinished message are moved, to the front, when the next window is requested. [`LineAssembler`] cuts
//! lines of text in the same way.
//!
//! ```
//! # const PACKET: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/realtime-5.15.bin"));
//! use outrigger_wire::frame::{Assembler, Framing};
//!
//! let mut memory = [0; 8192];
//! let mut assembler = Assembler::new(Framing::Realtime, &mut memory)?;
//! for part in PACKET.chunks(500) {
//!     assembler.window()[..part.len()].copy_from_slice(part); // a read from the socket
//!     assembler.commit(part.len());
//! }
//! assert_eq!(assembler.next_frame(), Some(Ok(PACKET)));
//! assert_eq!(assembler.next_frame(), None);
//! # Ok::<(), outrigger_wire::WireError>(())
//! ```

mod boundaries;
mod counts;
mod line_splitter;
mod service_detection;

pub use boundaries::Boundaries;
pub use counts::StreamCounts;
#[doc(hidden)]
pub use counts::count_one;
pub use line_splitter::LineAssembler;
pub use service_detection::Found;
pub use service_detection::Probe;

use crate::buffer_compaction::move_to_front;
use crate::fri;
use crate::realtime::{self, HEAD_LEN, Head, plausible_head};
use crate::rtde;
use crate::time::Duration;
use crate::{WireError, WireErrorKind};

/// The longest primary message that is accepted \[B\]. The vendor names no bound; a length beyond this is a sign that
/// the stream is not a primary stream.
pub const MAX_PRIMARY_SIZE: usize = 1 << 20;

/// The size of the smallest primary message \[B\]: its length field and its type byte.
const MIN_PRIMARY_SIZE: usize = 5;

/// The largest advance of the controller's clock between the last packet of a real-time stream and a packet found by a
/// search, with which the found packet is accepted as genuine.
const SEARCH_HORIZON: Duration = Duration::from_secs(10);

/// The number of bytes searched without success \[B\] after which any packet is accepted, even one unlike the earlier
/// ones.
const SEARCH_LENGTH: u32 = 8 * realtime::MAX_SIZE as u32;

/// The framing of messages in a stream from a controller: how the length of each message is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Framing {
    /// The framing at ports 30001, 30002 and their read-only twins: a length that includes itself, then a type.
    Primary,
    /// The framing at ports 30003 and 30013: a length that includes itself, then doubles.
    Realtime,
    /// The framing at port 30004: a length of two bytes that includes itself, then a letter.
    Rtde,
    /// The framing of FRI datagrams, one behind the other as in a recording. The size in the header is one of two
    /// values.
    Fri,
}

/// An irregularity in a stream of messages, which the [`Assembler`] reports in place of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FrameError {
    /// A message is longer than the receive memory. Its bytes are counted and dropped as they arrive.
    Oversize {
        /// The length of the skipped message \[B\].
        size: u32,
    },
    /// No message starts at the expected position. A real-time stream is searched for the next packet. Any other stream
    /// cannot be searched: all bytes are dropped until [`Assembler::reset`].
    LostSync {
        /// The number that was found where the length of a message was expected.
        declared: i32,
    },
    /// The next packet was found in a real-time stream, after a search.
    Resynchronised {
        /// The number of bytes dropped while the next packet was searched for.
        skipped: u32,
    },
}

impl core::fmt::Display for FrameError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Oversize { size } => write!(f, "message of {size} bytes skipped: longer than the receive memory"),
            Self::LostSync { declared } => write!(f, "no message starts here: its length would be {declared}"),
            Self::Resynchronised { skipped } => write!(f, "packets found again after {skipped} bytes"),
        }
    }
}

impl core::error::Error for FrameError {}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Sync {
    /// The position of messages in the stream is known: one starts at the first byte that was not consumed yet.
    Kept,
    /// The position of packets in a real-time stream is lost, and the next packet is searched for; the number is that
    /// of the bytes dropped so far.
    Searching(u32),
    /// The position of messages in the stream is lost for good, because the framing permits no search: all bytes are
    /// dropped.
    Lost,
}

/// The state of a message assembler between two reads of the connection, as a recording stores it.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[doc(hidden)]
pub struct Pending<'a> {
    bytes: &'a [u8],
    to_drop: usize,
    sync: Sync,
    last: Option<Head>,
    dropped: u64,
}

/// An assembler that cuts the byte stream of one connection into messages.
#[derive(Debug)]
pub struct Assembler<'m> {
    framing: Framing,
    memory: &'m mut [u8],
    /// The start of the bytes that were received and not yet returned as a message: these are `memory[start..end]`.
    start: usize,
    end: usize,
    /// The number of bytes of an oversize message that are still to be dropped.
    to_drop: usize,
    sync: Sync,
    /// The start of the previous packet, to which the next one is compared; real-time streams only.
    last: Option<Head>,
    dropped: u64,
}

impl<'m> Assembler<'m> {
    /// The smallest memory an assembler works with \[B\]. The longest message it can hold is as long as its memory.
    pub const MIN_MEMORY: usize = 16;

    /// Returns a message assembler for a stream that starts now.
    ///
    /// # Errors
    /// `BufferTooSmall` if `memory` is shorter than [`Self::MIN_MEMORY`].
    pub fn new(framing: Framing, memory: &'m mut [u8]) -> Result<Self, WireError> {
        if memory.len() < Self::MIN_MEMORY {
            return Err(WireError::new(WireErrorKind::BufferTooSmall, 0, Self::MIN_MEMORY, memory.len()));
        }
        Ok(Self { framing, memory, start: 0, end: 0, to_drop: 0, sync: Sync::Kept, last: None, dropped: 0 })
    }

    /// Discards the received bytes and the state of the stream, because a new connection starts.
    pub fn reset(&mut self) {
        self.start = 0;
        self.end = 0;
        self.to_drop = 0;
        self.sync = Sync::Kept;
        self.last = None;
        self.dropped = 0;
    }

    /// Returns the memory for the next received bytes. Empty only while unfetched messages fill the memory; in this
    /// case call [`Self::next_frame`] until it returns `None`.
    pub fn window(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.end = move_to_front(self.memory, self.start..self.end);
            self.start = 0;
        }
        self.memory.get_mut(self.end..).unwrap_or_default()
    }

    /// Records that `count` bytes were received into the window. A count beyond the window's length counts as the whole
    /// window.
    pub fn commit(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.memory.len());
    }

    /// Returns the next complete message, or an irregularity of the stream; `None` if more bytes are needed.
    pub fn next_frame(&mut self) -> Option<Result<&[u8], FrameError>> {
        match self.advance()? {
            Ok(size) => {
                let frame = self.start;
                self.start = frame.saturating_add(size);
                self.memory.get(frame..self.start).map(Ok)
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// Returns the last `size` bytes that [`Self::next_frame`] returned, valid until the next call of
    /// [`Self::window`].
    #[doc(hidden)]
    pub fn taken(&self, size: usize) -> &[u8] {
        self.start.checked_sub(size).and_then(|from| self.memory.get(from..self.start)).unwrap_or_default()
    }

    /// Returns the bytes and state of the unfinished message, from which [`Self::restore`] continues.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    pub fn pending(&self) -> Pending<'_> {
        let bytes = self.memory.get(self.start..self.end).unwrap_or_default();
        Pending { bytes, to_drop: self.to_drop, sync: self.sync, last: self.last, dropped: self.dropped }
    }

    /// Continues the stream of messages from `pending`. Returns `None` if the memory is too small for it; the assembler
    /// is then empty.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    pub fn restore(&mut self, pending: &Pending<'_>) -> Option<()> {
        self.reset();
        let end = pending.bytes.len();
        self.memory.get_mut(..end)?.copy_from_slice(pending.bytes);
        self.end = end;
        self.to_drop = pending.to_drop;
        self.sync = pending.sync;
        self.last = pending.last;
        self.dropped = pending.dropped;
        Some(())
    }

    /// Returns the size of the memory in which the assembler collects a message \[B\].
    #[must_use]
    pub const fn memory_size(&self) -> usize {
        self.memory.len()
    }

    /// Returns the number of bytes received and not yet fetched as a message.
    #[must_use]
    pub const fn buffered(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Returns the number of bytes of this stream that were dropped: oversize messages, bytes skipped by the search, and all
    /// bytes after the position of messages was lost for good.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Drops received bytes that belong to no message to be returned, such as those of an oversize message. Returns the
    /// size of the next message once all its bytes are received, or an irregularity of the stream; `None` if more bytes
    /// are needed.
    fn advance(&mut self) -> Option<Result<usize, FrameError>> {
        if self.to_drop > 0 {
            let count = self.to_drop.min(self.buffered());
            self.drop_bytes(count);
            self.to_drop = self.to_drop.saturating_sub(count);
            if self.to_drop > 0 {
                return None;
            }
        }
        let found = match self.framing {
            Framing::Primary => self.primary_size()?,
            Framing::Realtime => self.realtime_size()?,
            Framing::Rtde => self.rtde_size()?,
            Framing::Fri => self.fri_size()?,
        };
        let size = match found {
            Ok(size) => size,
            Err(error) => return Some(Err(error)),
        };
        if size > self.memory.len() {
            self.to_drop = size;
            return Some(Err(FrameError::Oversize { size: u32::try_from(size).unwrap_or(u32::MAX) }));
        }
        (self.buffered() >= size).then_some(Ok(size))
    }

    fn primary_size(&mut self) -> Option<Result<usize, FrameError>> {
        self.unless_lost()?;
        let declared = i32::from_be_bytes(*self.live().first_chunk()?);
        match usize::try_from(declared) {
            Ok(size @ MIN_PRIMARY_SIZE..=MAX_PRIMARY_SIZE) => Some(Ok(size)),
            _ => Some(self.lose(declared)),
        }
    }

    fn rtde_size(&mut self) -> Option<Result<usize, FrameError>> {
        self.unless_lost()?;
        let declared = u16::from_be_bytes(*self.live().first_chunk()?);
        match usize::from(declared) {
            size @ rtde::HEADER_LEN.. => Some(Ok(size)),
            _ => Some(self.lose(declared.into())),
        }
    }

    fn fri_size(&mut self) -> Option<Result<usize, FrameError>> {
        self.unless_lost()?;
        let [.., low, high, _, _] = *self.live().first_chunk::<{ fri::Datagram::HEADER_LEN }>()?;
        let declared = u16::from_le_bytes([low, high]);
        match usize::from(declared) {
            size @ (fri::MEASUREMENT_LEN | fri::COMMAND_LEN) => Some(Ok(size)),
            _ => Some(self.lose(declared.into())),
        }
    }

    /// Returns `Some` if the position of messages in the stream is known or can be found; otherwise drops all bytes and
    /// returns `None`.
    fn unless_lost(&mut self) -> Option<()> {
        if matches!(self.sync, Sync::Lost) {
            self.drop_bytes(self.buffered());
            return None;
        }
        Some(())
    }

    /// Marks the position of messages in the stream as lost: no further message is looked for.
    fn lose(&mut self, declared: i32) -> Result<usize, FrameError> {
        self.sync = Sync::Lost;
        Err(FrameError::LostSync { declared })
    }

    fn realtime_size(&mut self) -> Option<Result<usize, FrameError>> {
        loop {
            let bytes: &[u8; HEAD_LEN] = self.live().first_chunk()?;
            let head = plausible_head(bytes);
            match (self.sync, head) {
                (Sync::Kept, Some(head)) if self.continues(head) => {
                    if self.buffered() >= head.size || head.size > self.memory.len() {
                        self.last = Some(head);
                    }
                    return Some(Ok(head.size));
                }
                (Sync::Kept | Sync::Lost, _) => {
                    let [a, b, c, d, ..] = *bytes;
                    self.sync = Sync::Searching(0);
                    return Some(Err(FrameError::LostSync { declared: i32::from_be_bytes([a, b, c, d]) }));
                }
                (Sync::Searching(skipped), Some(head)) if self.resumes(head) => {
                    self.sync = Sync::Kept;
                    return Some(Err(FrameError::Resynchronised { skipped }));
                }
                (Sync::Searching(skipped), _) => {
                    self.drop_bytes(1);
                    let skipped = skipped.saturating_add(1);
                    if skipped == SEARCH_LENGTH {
                        self.last = None;
                    }
                    self.sync = Sync::Searching(skipped);
                }
            }
        }
    }

    /// Returns whether a packet in its expected position may follow the previous one. A controller does not change its
    /// layout, so another size is accepted only if the clock advances by at most 1 s. With the same size a jump of the
    /// clock is accepted here; the link monitor judges it.
    fn continues(&self, head: Head) -> bool {
        self.last.is_none_or(|last| head.size == last.size || goes_on(last, head, Duration::from_secs(1)))
    }

    /// Returns whether a packet in an unexpected position is genuine: same size as before *and* a clock that advanced
    /// by at most [`SEARCH_HORIZON`].
    fn resumes(&self, head: Head) -> bool {
        self.last.is_none_or(|last| head.size == last.size && goes_on(last, head, SEARCH_HORIZON))
    }

    fn live(&self) -> &[u8] {
        self.memory.get(self.start..self.end).unwrap_or_default()
    }

    fn drop_bytes(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
        self.dropped = self.dropped.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }
}

/// Returns whether the controller's clock in packet `head` is at or after that in packet `last`, by no more than
/// `horizon`.
fn goes_on(last: Head, head: Head, horizon: Duration) -> bool {
    head.time >= last.time && head.time.since(last.time) <= horizon
}

#[cfg(test)]
mod tests;

//! Length-prefixed messages out of a byte stream, in memory that the caller owns.
//!
//! Read from the socket into [`Assembler::window`], tell how much with [`Assembler::commit`], then take messages
//! with [`Assembler::next_frame`] until it returns `None`. Messages stay where they were received; only the bytes
//! of an unfinished one are moved, to the front, when the next window is asked for. Lines of text are cut by
//! [`LineAssembler`] in the same way.
//!
//! ```
//! # const PACKET: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/realtime-5.15.bin"));
//! use outrigger_core::frame::{Assembler, Framing};
//!
//! let mut memory = [0; 8192];
//! let mut assembler = Assembler::new(Framing::Realtime, &mut memory)?;
//! for part in PACKET.chunks(500) {
//!     assembler.window()[..part.len()].copy_from_slice(part); // a read from the socket
//!     assembler.commit(part.len());
//! }
//! assert_eq!(assembler.next_frame(), Some(Ok(PACKET)));
//! assert_eq!(assembler.next_frame(), None);
//! # Ok::<(), outrigger_core::wire::WireError>(())
//! ```

mod boundaries;
mod counts;
mod lines;
mod probe;

pub use boundaries::Boundaries;
pub use counts::StreamCounts;
pub(crate) use counts::count_one;
pub use lines::LineAssembler;
pub use probe::Found;
pub(crate) use probe::Probe;

use crate::time::Duration;
use crate::wire::fri;
use crate::wire::realtime::{self, HEAD_LEN, Head, plausible_head};
use crate::wire::rtde;
use crate::wire::{WireError, WireErrorKind};

/// The longest primary message that is believed to be one \[B\]. The vendor names no bound; a length beyond this
/// is a sign that the stream is not a primary stream.
pub const MAX_PRIMARY_SIZE: usize = 1 << 20;

/// The smallest primary message \[B\]: length and type.
const MIN_PRIMARY_SIZE: usize = 5;

/// How far the clock of a real-time stream may run while the assembler searches for a packet.
const SEARCH_HORIZON: Duration = Duration::from_secs(10);

/// After this many bytes without a packet like the earlier ones, any packet will do \[B\].
const SEARCH_LENGTH: u32 = 8 * realtime::MAX_SIZE as u32;

/// How messages are told apart in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Framing {
    /// 30001, 30002 and their read-only twins: a length that includes itself, then a type.
    Primary,
    /// 30003 and 30013: a length that includes itself, then doubles.
    Realtime,
    /// 30004: a length of two bytes that includes itself, then a letter.
    Rtde,
    /// Datagrams of FRI, one behind the other as in a recording: a size in the header that is one of two.
    Fri,
}

/// Something about the stream that a reader should know. None of them ends the assembler's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub enum FrameError {
    /// A message is longer than the memory; its bytes are counted and dropped as they come.
    Oversize {
        /// Length of the message \[B\].
        size: u32,
    },
    /// Where a message should start, none does. A real-time stream is searched for the next packet; on any other
    /// stream there is nothing to search for, everything is dropped until [`Assembler::reset`].
    LostSync {
        /// What stands in the place of the length.
        declared: i32,
    },
    /// A real-time stream has a packet again.
    Resynchronised {
        /// Bytes dropped in between.
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
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
enum Sync {
    /// A message starts at the first live byte.
    Kept,
    /// Searching; this many bytes were dropped so far.
    Searching(u32),
    /// Not searching either: a stream that is not what it should be.
    Lost,
}

/// An assembler between two reads, as a recording keeps it.
#[cfg(feature = "postcard")]
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct Pending<'a> {
    bytes: &'a [u8],
    to_drop: usize,
    sync: Sync,
    last: Option<Head>,
    dropped: u64,
}

/// Cuts one stream into messages.
#[derive(Debug)]
pub struct Assembler<'m> {
    framing: Framing,
    memory: &'m mut [u8],
    /// Live bytes are `memory[start..end]`.
    start: usize,
    end: usize,
    /// Bytes of an oversize message that are still to come.
    to_drop: usize,
    sync: Sync,
    /// The packet before, real-time only.
    last: Option<Head>,
    dropped: u64,
}

impl<'m> Assembler<'m> {
    /// The least memory an assembler works with \[B\]; the longest message it can hold is as long as its memory.
    pub const MIN_MEMORY: usize = 16;

    /// An assembler for a stream that starts now.
    ///
    /// # Errors
    /// `BufferTooSmall` where `memory` is shorter than [`Self::MIN_MEMORY`].
    pub fn new(framing: Framing, memory: &'m mut [u8]) -> Result<Self, WireError> {
        if memory.len() < Self::MIN_MEMORY {
            return Err(WireError::new(WireErrorKind::BufferTooSmall, 0, Self::MIN_MEMORY, memory.len()));
        }
        Ok(Self { framing, memory, start: 0, end: 0, to_drop: 0, sync: Sync::Kept, last: None, dropped: 0 })
    }

    /// Forgets everything about the stream: a new connection starts.
    pub fn reset(&mut self) {
        self.start = 0;
        self.end = 0;
        self.to_drop = 0;
        self.sync = Sync::Kept;
        self.last = None;
        self.dropped = 0;
    }

    /// Where the next received bytes go. Empty only while unfetched messages fill the memory: call
    /// [`Self::next_frame`] until it returns `None` first.
    pub fn window(&mut self) -> &mut [u8] {
        if self.start > 0 {
            let start = self.start;
            if let Some(live) = self.memory.get_mut(..self.end)
                && start <= live.len()
            {
                live.copy_within(start.., 0);
            }
            self.end = self.end.saturating_sub(start);
            self.start = 0;
        }
        self.memory.get_mut(self.end..).unwrap_or_default()
    }

    /// `count` bytes were received into the window; more than the window holds counts as the whole window.
    pub fn commit(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.memory.len());
    }

    /// The next complete message, or what is wrong with the stream; `None` where more bytes are needed.
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

    /// The last `size` bytes that were taken, as a message or in one; until the next [`Self::window`].
    pub(crate) fn taken(&self, size: usize) -> &[u8] {
        self.start.checked_sub(size).and_then(|from| self.memory.get(from..self.start)).unwrap_or_default()
    }

    /// What is unfinished, for [`Self::restore`].
    #[cfg(feature = "postcard")]
    pub(crate) fn pending(&self) -> Pending<'_> {
        let bytes = self.memory.get(self.start..self.end).unwrap_or_default();
        Pending { bytes, to_drop: self.to_drop, sync: self.sync, last: self.last, dropped: self.dropped }
    }

    /// Goes on from `pending`; `None`, with nothing pending, where the memory is too small for it.
    #[cfg(feature = "postcard")]
    pub(crate) fn restore(&mut self, pending: &Pending<'_>) -> Option<()> {
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

    /// The memory it works in \[B\].
    #[must_use]
    pub const fn memory_size(&self) -> usize {
        self.memory.len()
    }

    /// Bytes received and not yet taken as a message.
    #[must_use]
    pub const fn buffered(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Bytes of this stream that were dropped: oversize messages and what the search passed over.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Size of the message that lies complete at `start`.
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

    /// Goes on where a message starts; drops everything where that was lost.
    fn unless_lost(&mut self) -> Option<()> {
        if matches!(self.sync, Sync::Lost) {
            self.drop_bytes(self.buffered());
            return None;
        }
        Some(())
    }

    /// From here on there are no messages.
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

    /// Whether a packet in its expected place may follow the one before: a controller does not change its layout,
    /// so another size is believed only if the clock goes on. A clock that jumps is the link monitor's business.
    fn continues(&self, head: Head) -> bool {
        self.last.is_none_or(|last| head.size == last.size || goes_on(last, head, Duration::from_secs(1)))
    }

    /// Whether a packet in an unexpected place is one: same size as before *and* a clock that went on.
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

/// Whether the clock of `head` is at or after that of `last`, by no more than `horizon`.
fn goes_on(last: Head, head: Head, horizon: Duration) -> bool {
    head.time >= last.time && head.time.since(last.time) <= horizon
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::realtime::{Packet, Repr};

    fn packet(size: usize, time: f64) -> Vec<u8> {
        let mut bytes = vec![0xa5; size];
        Repr { time, ..Repr::default() }.emit(size, &mut bytes).unwrap();
        bytes
    }

    fn message(kind: u8, size: usize) -> Vec<u8> {
        let mut bytes = vec![0x5a; size];
        bytes[..4].copy_from_slice(&u32::try_from(size).unwrap().to_be_bytes());
        bytes[4] = kind;
        bytes
    }

    #[derive(Debug, PartialEq)]
    enum Seen {
        Message(Vec<u8>),
        Trouble(FrameError),
    }

    /// Feeds `stream` in pieces of the given lengths (repeated) and collects everything that comes out.
    fn assemble(assembler: &mut Assembler<'_>, stream: &[u8], pieces: &[usize]) -> Vec<Seen> {
        let mut seen = Vec::new();
        let mut rest = stream;
        let mut piece = pieces.iter().cycle();
        while !rest.is_empty() {
            let window = assembler.window();
            let count = window.len().min(rest.len()).min(*piece.next().unwrap());
            assert!(count > 0, "a drained assembler always has a window");
            window[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            assembler.commit(count);
            while let Some(frame) = assembler.next_frame() {
                seen.push(match frame {
                    Ok(bytes) => Seen::Message(bytes.to_vec()),
                    Err(error) => Seen::Trouble(error),
                });
            }
        }
        seen
    }

    #[test]
    fn a_stream_cut_anywhere_gives_the_same_messages() {
        let messages = [message(16, 682), message(20, 55), message(25, 5), message(99, 24)];
        let stream = messages.concat();
        let expected: Vec<_> = messages.into_iter().map(Seen::Message).collect();
        for pieces in [&[1][..], &[3, 1, 700], &[682], &[4, 1], &[2048]] {
            let mut memory = [0; 1024];
            let mut assembler = Assembler::new(Framing::Primary, &mut memory).unwrap();
            assert_eq!(assemble(&mut assembler, &stream, pieces), expected);
            assert_eq!((assembler.buffered(), assembler.dropped()), (0, 0));
        }
    }

    #[test]
    fn coalesced_packets_are_taken_one_by_one() {
        let packets: Vec<_> = (1..=7).map(|n| packet(1220, f64::from(n) * 0.002)).collect();
        let mut memory = [0; 8192 + 1220];
        let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
        let seen = assemble(&mut assembler, &packets.concat(), &[4096, 4444]);
        assert_eq!(seen, packets.into_iter().map(Seen::Message).collect::<Vec<_>>());
    }

    #[test]
    fn a_message_longer_than_the_memory_is_skipped_by_counting() {
        let stream = [message(16, 682), message(25, 70_000), message(16, 682)].concat();
        let mut memory = [0; 1024];
        let mut assembler = Assembler::new(Framing::Primary, &mut memory).unwrap();
        assert_eq!(
            assemble(&mut assembler, &stream, &[1000, 7]),
            [
                Seen::Message(message(16, 682)),
                Seen::Trouble(FrameError::Oversize { size: 70_000 }),
                Seen::Message(message(16, 682)),
            ]
        );
        assert_eq!(assembler.dropped(), 70_000);
    }

    #[test]
    fn a_primary_stream_that_is_none_says_so_once_and_never_stalls() {
        let mut memory = [0; 64];
        let mut assembler = Assembler::new(Framing::Primary, &mut memory).unwrap();
        let greeting = b"Connected: Universal Robots Dashboard Server\n".repeat(10);
        let declared = i32::from_be_bytes(*b"Conn");
        assert_eq!(assemble(&mut assembler, &greeting, &[13]), [Seen::Trouble(FrameError::LostSync { declared })]);
        assert_eq!(assembler.dropped(), greeting.len() as u64);
        assembler.reset();
        assert_eq!(assemble(&mut assembler, &message(20, 24), &[24]), [Seen::Message(message(20, 24))]);
    }

    #[test]
    fn an_rtde_stream_cut_anywhere_gives_the_same_packages() {
        let packages: Vec<&[u8]> = vec![b"\0\x04V\x01", b"\0\x03S", b"\0\x0bU\x01\0\0\0\0\0\0\x07"];
        let expected: Vec<_> = packages.iter().map(|bytes| Seen::Message(bytes.to_vec())).collect();
        for pieces in [&[1][..], &[2], &[3, 5], &[100]] {
            let mut memory = [0; 16];
            let mut assembler = Assembler::new(Framing::Rtde, &mut memory).unwrap();
            assert_eq!(assemble(&mut assembler, &packages.concat(), pieces), expected);
        }
    }

    #[test]
    fn an_rtde_package_longer_than_the_memory_is_skipped_by_counting() {
        let mut long = vec![0xff, 0xff, b'U'];
        long.resize(65_535, 0);
        let stream = [b"\0\x03S", &long[..], b"\0\x03P"].concat();
        let mut memory = [0; 64];
        let mut assembler = Assembler::new(Framing::Rtde, &mut memory).unwrap();
        let expected = [
            Seen::Message(b"\0\x03S".to_vec()),
            Seen::Trouble(FrameError::Oversize { size: 65_535 }),
            Seen::Message(b"\0\x03P".to_vec()),
        ];
        assert_eq!(assemble(&mut assembler, &stream, &[50, 3]), expected);
        assert_eq!(assembler.dropped(), 65_535);
    }

    #[test]
    fn an_rtde_length_below_its_header_ends_the_stream() {
        for declared in 0..3 {
            let mut memory = [0; 64];
            let mut assembler = Assembler::new(Framing::Rtde, &mut memory).unwrap();
            let stream = [&[0, declared, b'S'][..], b"\0\x03S\0\x03S"].concat();
            let lost = Seen::Trouble(FrameError::LostSync { declared: declared.into() });
            assert_eq!(assemble(&mut assembler, &stream, &[4]), [lost]);
            assembler.reset();
            assert_eq!(assemble(&mut assembler, b"\0\x03S", &[4]), [Seen::Message(b"\0\x03S".to_vec())]);
        }
    }

    #[test]
    fn datagrams_of_fri_in_a_recording_are_told_apart_by_their_size() {
        let (mut measurement, mut command) = ([0; 916], [0; 376]);
        fri::MeasurementRepr::default().emit(&mut measurement).unwrap();
        fri::CommandRepr::default().emit(&mut command).unwrap();
        let stream = [&measurement[..], &command, &command, &measurement].concat();
        let expected = [&measurement[..], &command, &command, &measurement].map(|bytes| Seen::Message(bytes.to_vec()));
        for pieces in [&[1][..], &[7, 8], &[1000]] {
            let mut memory = [0; 1024];
            let mut assembler = Assembler::new(Framing::Fri, &mut memory).unwrap();
            assert_eq!(assemble(&mut assembler, &stream, pieces), expected);
        }
        command[4] = 0x79;
        let mut memory = [0; 1024];
        let mut assembler = Assembler::new(Framing::Fri, &mut memory).unwrap();
        let lost = Seen::Trouble(FrameError::LostSync { declared: 377 });
        assert_eq!(assemble(&mut assembler, &[command, command].concat(), &[64]), [lost]);
    }

    #[test]
    fn a_polluted_real_time_stream_resynchronises_and_counts_what_it_skipped() {
        let packets: Vec<_> = (0..3).map(|n| packet(812, 7.0 + f64::from(n) * 0.008)).collect();
        let [first, second, third] = [0, 1, 2].map(|n| packets[n].clone());
        let stream = [first.clone(), message(16, 560), message(20, 9), second.clone(), third.clone()].concat();
        for pieces in [&[1][..], &[2048], &[5, 811]] {
            let mut memory = [0; 2048];
            let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
            assert_eq!(
                assemble(&mut assembler, &stream, pieces),
                [
                    Seen::Message(first.clone()),
                    Seen::Trouble(FrameError::LostSync { declared: 560 }),
                    Seen::Trouble(FrameError::Resynchronised { skipped: 569 }),
                    Seen::Message(second.clone()),
                    Seen::Message(third.clone()),
                ]
            );
            assert_eq!(assembler.dropped(), 569);
        }
    }

    #[test]
    fn a_first_state_message_with_a_packets_length_is_no_packet() {
        // 1386 is a length a packet could have; its type byte and timestamp are no time.
        let mut state = message(16, 1386);
        state[5..9].copy_from_slice(&47_u32.to_be_bytes());
        let stream = [packet(1220, 3.0), state, packet(1220, 3.002)].concat();
        let mut memory = [0; 2048];
        let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
        assert_eq!(
            assemble(&mut assembler, &stream, &[333]),
            [
                Seen::Message(packet(1220, 3.0)),
                Seen::Trouble(FrameError::LostSync { declared: 1386 }),
                Seen::Trouble(FrameError::Resynchronised { skipped: 1386 }),
                Seen::Message(packet(1220, 3.002)),
            ]
        );
    }

    #[test]
    fn a_clock_that_jumps_does_not_break_the_framing() {
        let packets = [packet(1220, 500.0), packet(1220, 0.002), packet(1220, 90_000.0)];
        let mut memory = [0; 2048];
        let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
        let seen = assemble(&mut assembler, &packets.concat(), &[100]);
        assert_eq!(seen, packets.into_iter().map(Seen::Message).collect::<Vec<_>>());
    }

    #[test]
    fn a_shorter_layout_in_mid_stream_is_believed_while_the_clock_goes_on() {
        let packets = [packet(1220, 5.0), packet(1060, 5.002), packet(1220, 5.004)];
        let mut memory = [0; 2048];
        let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
        for bytes in &packets {
            assert_eq!(assemble(&mut assembler, bytes, &[64]), [Seen::Message(bytes.clone())]);
            assert!(Packet::new_checked(bytes).is_ok());
        }
    }

    #[test]
    fn a_search_that_finds_nothing_familiar_takes_any_packet() {
        let noise = vec![0xff; SEARCH_LENGTH as usize];
        let stream = [packet(1220, 5.0), noise, packet(1060, 1.0)].concat();
        let mut memory = [0; 2048];
        let mut assembler = Assembler::new(Framing::Realtime, &mut memory).unwrap();
        assert_eq!(
            assemble(&mut assembler, &stream, &[500]),
            [
                Seen::Message(packet(1220, 5.0)),
                Seen::Trouble(FrameError::LostSync { declared: -1 }),
                Seen::Trouble(FrameError::Resynchronised { skipped: SEARCH_LENGTH }),
                Seen::Message(packet(1060, 1.0)),
            ]
        );
    }

    #[test]
    fn memory_too_small_for_a_head_is_refused() {
        let error = Assembler::new(Framing::Realtime, &mut [0; 15]).unwrap_err();
        assert_eq!((error.kind, error.need, error.have), (WireErrorKind::BufferTooSmall, 16, 15));
    }
}

//! Reads any bytes as a recording. Checks that the used memory is proportional to their number, that the position of
//! each error is within them, and that the messages are the same in any pieces and up to any cut.
#![no_main]

use std::convert::Infallible;
use std::io::Read;

use libfuzzer_sys::fuzz_target;
use reader::{Fault, each_message};

#[path = "../../port-linux/tests/damage/counting.rs"]
mod counting;
#[allow(dead_code)]
#[path = "../../port-linux/src/feed/recorded/reader.rs"]
mod reader;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// A message of a recording: topic, time \[ns\] and data.
type Message = (String, u64, Vec<u8>);

/// A reader that returns at most this many bytes per call.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let most = self.1.min(room.len());
        self.0.read(&mut room[..most])
    }
}

/// Reads a recording in pieces of at most `piece` bytes. Returns its messages up to the first error, and the position
/// of that error \[B\]; `None` without an error.
fn read(bytes: &[u8], piece: usize) -> (Vec<Message>, Option<u64>) {
    let mut messages = vec![];
    let mut take = |topic: &str, nanos, data: &[u8]| {
        messages.push((topic.to_owned(), nanos, data.to_vec()));
        Ok::<(), Infallible>(())
    };
    let read = each_message(Pieces(bytes, piece), bytes.len() as u64, &mut take, &mut |_, _| {});
    let at = read.err().map(|fault| match fault {
        Fault::CutOff { at, .. } | Fault::Damaged { at, .. } | Fault::Compression { at, .. } => at,
        fault @ (Fault::Refused(_) | Fault::Unreadable(_)) => panic!("{fault:?}"),
    });
    (messages, at)
}

// The size of the pieces, the position of a cut, and a recording.
fuzz_target!(|bytes: &[u8]| {
    let [piece, high, low, recording @ ..] = bytes else { return };
    let length = recording.len() as u64;
    // A byte of LZ4 represents at most 255 bytes; the rest is for the buffers of a decoder and a vector that doubles.
    let room = (128 << 10) + 1024 * recording.len();
    let (most, read_whole) = counting::greatest(|| read(recording, usize::MAX));
    assert!(most <= room, "{most} bytes at once");
    assert!(read_whole.1.is_none_or(|at| at <= length));
    // From a chunk that is damaged and cut, different amounts may be decompressed.
    let read_pieces = read(recording, usize::from(*piece).max(1));
    assert_eq!(read_whole.1, read_pieces.1, "the same error in any pieces");
    assert_same_beginning(&read_whole.0, &read_pieces.0);
    // A chunk is checked only if it is complete.
    let cut = usize::from(u16::from_be_bytes([*high, *low])).min(recording.len());
    assert_same_beginning(&read_whole.0, &read(&recording[..cut], usize::MAX).0);
});

/// Asserts that one of the two lists is the beginning of the other.
fn assert_same_beginning(a: &[Message], b: &[Message]) {
    let common = a.len().min(b.len());
    assert_eq!(a[..common], b[..common]);
}

//! Checks that a stream that arrives in different pieces results in the same messages, and that each of its bytes is in
//! a message, dropped or buffered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use outrigger_tests::noise::Noise;
use outrigger_wire::frame::{Assembler, Framing};

/// Passes `stream` to an `Assembler` in pieces of the sizes `pieces`, and returns its frames and errors as texts, in
/// order. Checks after each piece that every byte is in a frame, dropped, buffered or not passed yet.
fn assemble(framing: Framing, memory: usize, stream: &[u8], mut pieces: impl Iterator<Item = usize>) -> Vec<String> {
    let mut memory = vec![0; memory];
    let mut assembler = Assembler::new(framing, &mut memory).expect("enough memory");
    let mut seen = Vec::new();
    let mut taken = 0;
    let mut rest = stream;
    while !rest.is_empty() {
        let window = assembler.window();
        let count = pieces.next().unwrap_or(usize::MAX).clamp(1, window.len().min(rest.len()));
        window[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        assembler.commit(count);
        while let Some(frame) = assembler.next_frame() {
            match frame {
                Ok(bytes) => {
                    taken += bytes.len();
                    seen.push(format!("{bytes:?}"));
                }
                Err(error) => seen.push(error.to_string()),
            }
        }
        let dropped = usize::try_from(assembler.dropped()).expect("a small count");
        assert_eq!(taken + dropped + assembler.buffered() + rest.len(), stream.len());
    }
    seen
}

// The first byte selects the framing (0 primary, 1 real-time, 2 RTDE, 3 FRI), the second the memory in units of 16
// bytes, the third the sizes of the pieces. Then follows the stream.
fuzz_target!(|case: &[u8]| {
    let Some((&[kind, memory, cut], stream)) = case.split_first_chunk() else { return };
    let framing = [Framing::Primary, Framing::Realtime, Framing::Rtde, Framing::Fri][usize::from(kind % 4)];
    let memory = Assembler::MIN_MEMORY + 16 * usize::from(memory);
    let mut noise = Noise::seeded(cut.into());
    let longest = 1 << noise.below(11);
    let pieces = assemble(framing, memory, stream, std::iter::from_fn(|| Some(1 + noise.below(longest))));
    assert_eq!(pieces, assemble(framing, memory, stream, std::iter::empty()));
});

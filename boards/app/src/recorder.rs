//! The recorder's memory, which a reset leaves as it is, and what the run before left in it.
//!
//! What is found is copied, and this run records over it: so the last run alone is kept. A mark before the entries says by which
//! firmware and with which settings they were written; what other ones wrote is nobody's recording.

use outrigger_core::checksum::crc32;
use outrigger_core::recorder::left;
use outrigger_core::telemetry::Device;

/// Memory for the recorder, of which settings may take less, and for what the run before left of it \[B\].
pub(crate) const RECORDER: usize = 65_536;
/// Before the entries: magic, then checksums of build and settings.
const MARK_LEN: usize = 12;
const MAGIC: [u8; 4] = *b"ORK\x01";

/// A copy of what the run before left. All zeros: it costs no flash.
pub(crate) type Left = [u8; MARK_LEN + RECORDER];

/// Memory for the recorder of a `device`, of at most `wanted` bytes; and what the run before left, oldest first.
pub(crate) fn begin(
    copy: &'static mut Left,
    wanted: Option<u32>,
    device: &Device<'_>,
) -> (&'static mut [u8], [&'static [u8]; 2]) {
    let memory = kept::take(copy);
    let wanted = wanted.map_or(RECORDER, |bytes| bytes as usize).min(RECORDER);
    let mark = mark(device);
    let left = found(copy, &mark, wanted);
    let Some((place, memory)) = memory.split_first_chunk_mut() else { return (&mut [], left) };
    *place = mark;
    let wanted = wanted.min(memory.len());
    (memory.split_at_mut(wanted).0, left)
}

fn mark(device: &Device<'_>) -> [u8; MARK_LEN] {
    let mut mark = [0; MARK_LEN];
    let words = [MAGIC, crc32(device.build.as_bytes()).to_le_bytes(), crc32(device.settings).to_le_bytes()];
    mark.as_chunks_mut().0.iter_mut().zip(words).for_each(|(place, word)| *place = word);
    mark
}

/// What a recorder of `wanted` bytes left in `memory`, where this mark stands before it.
fn found<'m>(memory: &'m [u8], mark: &[u8; MARK_LEN], wanted: usize) -> [&'m [u8]; 2] {
    let marked = memory.split_first_chunk().filter(|(place, _)| *place == mark);
    marked.and_then(|(_, entries)| entries.get(..wanted)).map_or([&[], &[]], left)
}

#[cfg(all(target_arch = "arm", target_os = "none"))]
mod kept {
    #![expect(unsafe_code, reason = "memory that the start-up code leaves as it is has no initial value")]

    use core::cell::UnsafeCell;
    use core::mem::MaybeUninit;
    use core::sync::atomic::{AtomicBool, Ordering};

    use super::Left;

    struct Kept(UnsafeCell<MaybeUninit<Left>>);

    // SAFETY: it is taken once.
    unsafe impl Sync for Kept {}

    #[unsafe(link_section = ".uninit.outrigger_recorder")]
    static KEPT: Kept = Kept(UnsafeCell::new(MaybeUninit::uninit()));
    static TAKEN: AtomicBool = AtomicBool::new(false);

    /// Copies what is there, and gives the memory, cleared; nothing the second time.
    pub(super) fn take(copy: &mut Left) -> &'static mut [u8] {
        if TAKEN.swap(true, Ordering::Relaxed) {
            return &mut [];
        }
        let first = KEPT.0.get().cast::<u8>();
        for (at, byte) in copy.iter_mut().enumerate() {
            // SAFETY: within the array, which nobody else has, for it was not taken before; volatile, so that whatever the memory
            // holds is what is read.
            *byte = unsafe { first.wrapping_add(at).read_volatile() };
        }
        // SAFETY: as above; all of it is written before a reference to it is made.
        unsafe { (*KEPT.0.get()).write([0; size_of::<Left>()]) }
    }
}

#[cfg(not(all(target_arch = "arm", target_os = "none")))]
mod kept {
    use super::Left;

    /// Where nothing outlives the program, nothing is recorded.
    pub(super) const fn take(_: &mut Left) -> &'static mut [u8] {
        &mut []
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::recorder::{Kind, Recorder};
    use outrigger_core::time::Instant;

    use super::*;

    const DEVICE: Device<'static> = Device { board: "bench", build: "1f2e3d4c", boot: 7, settings: &[1, 2, 3] };

    /// What a run of this device leaves in memory for `wanted` bytes.
    fn run(wanted: usize) -> Vec<u8> {
        let mut memory = vec![0x5a; MARK_LEN + 512];
        let (place, entries) = memory.split_first_chunk_mut().unwrap();
        *place = mark(&DEVICE);
        let mut recorder = Recorder::new(&mut entries[..wanted]);
        assert!(recorder.turn_over(Instant::from_micros(10), |_| Some(3)));
        recorder.append(Kind::Received, Instant::from_micros(20), &[b"bytes"]);
        memory
    }

    fn bytes(left: [&[u8]; 2]) -> usize {
        left.iter().map(|half| half.len()).sum()
    }

    #[test]
    fn the_same_firmware_with_the_same_settings_finds_what_it_recorded() {
        for wanted in [300, 512] {
            assert_eq!(bytes(found(&run(wanted), &mark(&DEVICE), wanted)), 13 + 3 + 13 + 5);
        }
    }

    #[test]
    fn what_another_firmware_or_other_settings_recorded_is_not_found() {
        let memory = run(512);
        for other in [Device { build: "1f2e3d4d", ..DEVICE }, Device { settings: &[1, 2, 4], ..DEVICE }] {
            assert_eq!(bytes(found(&memory, &mark(&other), 512)), 0, "{other:?}");
        }
        assert_eq!(bytes(found(&[0x5a; 600], &mark(&DEVICE), 512)), 0, "memory after power");
        assert_eq!(bytes(found(&memory[..40], &mark(&DEVICE), 512)), 0, "less memory than was recorded in");
    }
}

//! The recorder's memory, which a reset leaves unchanged, and the recording of an earlier run in it.
//!
//! A recording that is found remains in place and is sent from there until this run arms and records over it. A mark
//! before the entries identifies the firmware and the settings that wrote them. A recording of other firmware or
//! settings is discarded at once.

use outrigger_core::engine::{Controller, Engine};
use outrigger_core::law::Law;
use outrigger_remote::telemetry::{Device, Pace};
use outrigger_wire::checksum::crc32;

/// The size of the memory for the flight recorder, which stores the engine's inputs and outputs \[B\]; settings may use
/// less.
const RECORDER: usize = 65_536;
/// The length of the mark before the recorder's entries \[B\]: magic, then checksums of build and settings.
const MARK_LEN: usize = 12;
const MAGIC: [u8; 4] = *b"ORK\x01";

/// The memory for the engine's flight recorder, by its content at the start.
#[derive(Debug, PartialEq, Eq)]
enum Memory<'m> {
    /// Memory that may contain a recording of an earlier run with the same firmware and settings.
    Earlier(&'m mut [u8]),
    /// Recorder memory without a usable recording of an earlier run.
    New(&'m mut [u8]),
}

/// Returns `engine` with a flight recorder for its inputs and outputs, of at most `wanted` bytes. `pace` is the rate of
/// telemetry, `None` without a listener. Without a listener recording never pauses to keep the data of a fault that
/// ended commanding, because nobody fetches it.
pub(crate) fn record<'m, const N: usize, P: Controller<N>, L: Law<N>>(
    engine: Engine<'m, N, P, L>,
    wanted: Option<u32>,
    device: &Device<'_>,
    pace: Option<Pace>,
) -> Engine<'m, N, P, L> {
    let wanted = wanted.map_or(RECORDER, |bytes| bytes as usize);
    let memory = divided(kept::take(), &mark(device), wanted, pace.is_some());
    let (Memory::Earlier(bytes) | Memory::New(bytes)) = &memory;
    let hold = pace.map(|pace| pace.recording_time(bytes.len()));
    let engine = match memory {
        Memory::Earlier(memory) => engine.with_earlier_recording(memory),
        Memory::New(memory) => engine.with_recorder(memory),
    };
    // Without a listener nobody fetches the recording, so it continues.
    match hold {
        Some(hold) => engine.keeping_fallbacks(hold),
        None => engine,
    }
}

fn mark(device: &Device<'_>) -> [u8; MARK_LEN] {
    let mut mark = [0; MARK_LEN];
    let words = [MAGIC, crc32(device.build.as_bytes()).to_le_bytes(), crc32(device.settings).to_le_bytes()];
    mark.as_chunks_mut().0.iter_mut().zip(words).for_each(|(place, word)| *place = word);
    mark
}

/// Writes the mark of this firmware and these settings to the recorder's memory, and returns at most `wanted` bytes of
/// the memory behind the mark: as an earlier recording if the mark was there already and telemetry has a listener
/// (`listens`).
fn divided<'m>(kept: &'m mut [u8], mark: &[u8; MARK_LEN], wanted: usize, listens: bool) -> Memory<'m> {
    let Some((place, entries)) = kept.split_first_chunk_mut() else { return Memory::New(&mut []) };
    let is_ours = place == mark;
    *place = *mark;
    let wanted = wanted.min(entries.len());
    let (entries, _) = entries.split_at_mut(wanted);
    if is_ours && listens { Memory::Earlier(entries) } else { Memory::New(entries) }
}

#[cfg(all(target_arch = "arm", target_os = "none"))]
mod kept {
    #![expect(unsafe_code, reason = "memory that the start-up code leaves as it is has no initial value")]

    use core::cell::UnsafeCell;
    use core::mem::MaybeUninit;
    use core::sync::atomic::{AtomicBool, Ordering};

    /// The memory that a reset leaves unchanged: the mark, then the recorder's entries.
    type Kept = [u8; super::MARK_LEN + super::RECORDER];

    struct Place(UnsafeCell<MaybeUninit<Kept>>);

    // SAFETY: it is taken once.
    unsafe impl Sync for Place {}

    #[unsafe(link_section = ".uninit.outrigger_recorder")]
    static KEPT: Place = Place(UnsafeCell::new(MaybeUninit::uninit()));
    static TAKEN: AtomicBool = AtomicBool::new(false);

    /// Returns the memory for the mark and the recorder's entries, with its content; an empty slice the second time.
    pub(super) fn take() -> &'static mut [u8] {
        if TAKEN.swap(true, Ordering::Relaxed) {
            return &mut [];
        }
        let first = KEPT.0.get().cast::<u8>();
        for at in 0..size_of::<Kept>() {
            let byte = first.wrapping_add(at);
            // SAFETY: within the array, which has no other user, because it was not taken before. Volatile: the
            // memory's actual content is read and written back as a value, so that every byte is initialised.
            unsafe { byte.write_volatile(byte.read_volatile()) }
        }
        // SAFETY: as above; every byte has been written.
        unsafe { (*KEPT.0.get()).assume_init_mut() }
    }
}

#[cfg(not(all(target_arch = "arm", target_os = "none")))]
mod kept {
    /// Returns no memory for the recorder, because on this system it does not outlive the program.
    pub(super) const fn take() -> &'static mut [u8] {
        &mut []
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::recorder::{Kind, Recorder};
    use outrigger_wire::time::Instant;

    use super::*;

    const DEVICE: Device<'static> = Device { board: "bench", build: "1f2e3d4c", boot: 7, settings: &[1, 2, 3] };

    /// Returns the recorder's memory after a run of the test's `DEVICE` that recorded with `wanted` bytes.
    fn run(wanted: usize) -> Vec<u8> {
        let mut memory = vec![0x5a; MARK_LEN + 512];
        let Memory::New(entries) = divided(&mut memory, &mark(&DEVICE), wanted, true) else {
            panic!("memory after power")
        };
        let mut recorder = Recorder::new(entries);
        assert!(recorder.turn_over(Instant::from_micros(10), |_| Some(3)));
        recorder.append(Kind::Received, Instant::from_micros(20), &[b"bytes"]);
        memory
    }

    #[test]
    fn the_same_firmware_with_the_same_settings_finds_what_it_recorded_where_it_lies() {
        for wanted in [300, 512] {
            let mut memory = run(wanted);
            let Memory::Earlier(entries) = divided(&mut memory, &mark(&DEVICE), wanted, true) else { panic!("marked") };
            assert_eq!(entries.len(), wanted);
            let recorder = Recorder::holding(entries);
            let found = recorder.earlier().expect("entries").map(<[u8]>::len);
            assert_eq!(found, [0, 13 + 3 + 13 + 5]);
        }
    }

    #[test]
    fn what_another_firmware_or_other_settings_recorded_is_forgotten() {
        let is_found = |memory: &mut [u8], device: &Device<'_>, listens| {
            matches!(divided(memory, &mark(device), 512, listens), Memory::Earlier(_))
        };
        for other in [Device { build: "1f2e3d4d", ..DEVICE }, Device { settings: &[1, 2, 4], ..DEVICE }] {
            assert!(!is_found(&mut run(512), &other, true), "{other:?}");
        }
        assert!(!is_found(&mut run(512), &DEVICE, false), "nobody listens");
        assert!(!is_found(&mut [0x5a; 600], &DEVICE, true), "memory after power");
        assert_eq!(divided(&mut [0x5a; 4], &mark(&DEVICE), 512, true), Memory::New(&mut []));
    }
}

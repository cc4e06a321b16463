//! A record in memory that a reset preserves: the number of starts, the stage that the last run reached, and the
//! cause of its end.

use heapless::String;
use outrigger_remote::telemetry::{CodeAddress, StartStage};

/// The number of 32-bit words in the crash record. The last word is used only by [`settle`].
#[cfg(any(test, all(target_arch = "arm", target_os = "none")))]
pub(super) const WORDS: usize = SPARE + 1;
/// The number of bytes stored of a panic's file name: the last part of its path.
pub(super) const PLACE: usize = TEXT_WORDS * 4;

/// The mark of a valid crash record. It changes with the record's layout.
const MAGIC: u32 = 0x4f52_4b02;

// The positions of the words. Behind the text follows the checksum.
const MARK: usize = 0;
const STARTS: usize = 1;
const STAGE: usize = 2;
const END: usize = 3;
const FIRST: usize = 4;
const SECOND: usize = 5;
const TEXT: usize = 6;
const TEXT_WORDS: usize = 12;
const CHECK: usize = TEXT + TEXT_WORDS;
/// The index of an unused word of the crash record, in a different double word than all words before it; [`settle`]
/// writes to it.
const SPARE: usize = (CHECK / 2 + 1) * 2;

const PANIC: u32 = 1;
const FAULT: u32 = 2;
const OVERFLOW: u32 = 3;
const OVERFLOW_SOMEWHERE: u32 = 4;

/// The memory of the crash record. A reset leaves it unchanged; after power-up its content is arbitrary. It is aligned
/// to eight bytes.
pub(super) trait Words {
    /// Returns the crash record's 32-bit word at index `at`, which is below [`WORDS`].
    fn read(&self, at: usize) -> u32;
    /// Writes the crash record's 32-bit word at index `at`.
    fn write(&self, at: usize, word: u32);
}

/// The cause that ended a run of the firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A panic of the firmware, with its place in the source.
    Panic { file: String<PLACE>, line: u32 },
    /// A fault of the processor, with its address in the code.
    Fault(CodeAddress),
    /// A stack overflow; with the address in the code if that is known.
    StackOverflow(Option<CodeAddress>),
}

/// The crash record of the firmware's run before this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) starts: u32,
    pub(super) stage: StartStage,
    pub(super) end: Option<End>,
}

/// Begins a run of the firmware. Returns the previous run's crash record if it is valid, and replaces it by one of this
/// run, which counts the start.
pub(super) fn begin(words: &impl Words) -> Option<Before> {
    let before = read(words);
    words.write(MARK, MAGIC);
    words.write(STARTS, before.as_ref().map_or(1, |before| before.starts.saturating_add(1)));
    words.write(STAGE, 0);
    words.write(END, 0);
    seal(words);
    before
}

/// Records that this run of the firmware has reached the start stage `stage`.
pub(super) fn reached(words: &impl Words, stage: StartStage) {
    words.write(STAGE, stage as u32);
    seal(words);
}

/// Records that this run of the firmware panics, unless another cause of its end is already recorded.
pub(super) fn panicked(words: &impl Words, file: &str, line: u32) {
    if words.read(END) != 0 {
        return;
    }
    let tail = file.as_bytes().get(file.len().saturating_sub(PLACE)..).unwrap_or_default();
    for place in 0..TEXT_WORDS {
        let byte = |n: usize| tail.get(place * 4 + n).copied().unwrap_or_default();
        words.write(TEXT + place, u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]));
    }
    ended(words, PANIC, line, tail.len() as u32);
}

/// Records `end`, a fault of the processor or a stack overflow in this run, unless an end is already recorded. An `end`
/// that is a panic is ignored.
#[cfg(any(test, all(target_arch = "arm", target_os = "none")))]
pub(super) fn faulted(words: &impl Words, end: &End) {
    if words.read(END) != 0 {
        return;
    }
    match end {
        End::Fault(CodeAddress { at, from }) => ended(words, FAULT, *at, *from),
        End::StackOverflow(Some(CodeAddress { at, from })) => ended(words, OVERFLOW, *at, *from),
        End::StackOverflow(None) => ended(words, OVERFLOW_SOMEWHERE, 0, 0),
        End::Panic { .. } => {}
    }
}

fn ended(words: &impl Words, end: u32, first: u32, second: u32) {
    words.write(FIRST, first);
    words.write(SECOND, second);
    words.write(END, end);
    seal(words);
}

fn seal(words: &impl Words) {
    words.write(CHECK, sum(words));
    settle(words);
}

/// Forces the last write to this memory to complete before a reset. RAM with error correction (STM32H7) holds back a
/// write of less than its word of 32 or 64 bits until another such write to another word of the same RAM, and a reset
/// discards a write that is held back (RM0433 rev. 8, 2.4; ST's AN5342, "incomplete word").
pub(super) fn settle(words: &impl Words) {
    words.write(SPARE, 0);
}

/// Returns the FNV-1a hash of the crash record's words, by which a record is rejected if a short loss of power has
/// changed bits of it.
fn sum(words: &impl Words) -> u32 {
    (0..CHECK).fold(0x811c_9dc5, |sum, at| (sum ^ words.read(at)).wrapping_mul(0x0100_0193))
}

/// Returns the crash record in memory if all of it is valid, otherwise `None`.
fn read(words: &impl Words) -> Option<Before> {
    if words.read(MARK) != MAGIC || words.read(CHECK) != sum(words) {
        return None;
    }
    let stage = StartStage::ALL.into_iter().find(|stage| *stage as u32 == words.read(STAGE))?;
    let (first, second) = (words.read(FIRST), words.read(SECOND));
    let end = match words.read(END) {
        0 => None,
        PANIC => Some(End::Panic { file: text(words, second as usize), line: first }),
        FAULT => Some(End::Fault(CodeAddress { at: first, from: second })),
        OVERFLOW => Some(End::StackOverflow(Some(CodeAddress { at: first, from: second }))),
        OVERFLOW_SOMEWHERE => Some(End::StackOverflow(None)),
        _ => return None,
    };
    Some(Before { starts: words.read(STARTS), stage, end })
}

/// Returns the recorded name of the source file; bytes that are not printable ASCII become dots.
fn text(words: &impl Words, length: usize) -> String<PLACE> {
    let bytes = (0..TEXT_WORDS).flat_map(|place| words.read(TEXT + place).to_le_bytes()).take(length);
    let mut text = String::new();
    for byte in bytes {
        let letter = if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' };
        let _ = text.push(letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A model of memory with error correction over double words.
    struct Memory {
        words: [Cell<u32>; WORDS],
        /// The last write, which a reset may still undo: its position, and the previous word there.
        kept_back: Cell<Option<(usize, u32)>>,
    }

    impl Memory {
        fn of(fill: u32) -> Self {
            Self { words: [(); WORDS].map(|()| Cell::new(fill)), kept_back: Cell::new(None) }
        }

        /// Simulates a reset, which undoes the last write to the memory.
        fn reset(&self) {
            if let Some((at, before)) = self.kept_back.take() {
                self.words[at].set(before);
            }
        }
    }

    impl Words for Memory {
        fn read(&self, at: usize) -> u32 {
            self.words[at].get()
        }

        fn write(&self, at: usize, word: u32) {
            let before = self.words[at].replace(word);
            self.kept_back.set(Some((at, before)));
        }
    }

    #[test]
    fn a_reset_right_after_anything_was_kept_loses_none_of_it() {
        let place = CodeAddress { at: 0x0800_1234, from: 0x0800_5679 };
        for stage in StartStage::ALL {
            let memory = Memory::of(7);
            begin(&memory);
            memory.reset();
            assert_eq!(begin(&memory), Some(Before { starts: 1, stage: StartStage::Clocks, end: None }));
            reached(&memory, stage);
            memory.reset();
            assert_eq!(begin(&memory), Some(Before { starts: 2, stage, end: None }));
            faulted(&memory, &End::Fault(place));
            memory.reset();
            let before = begin(&memory);
            assert_eq!(before, Some(Before { starts: 3, stage: StartStage::Clocks, end: Some(End::Fault(place)) }));
            panicked(&memory, "a.rs", 3);
            memory.reset();
            let before = begin(&memory).and_then(|before| before.end);
            assert_eq!(before, Some(End::Panic { file: String::try_from("a.rs").unwrap(), line: 3 }));
        }
    }

    #[test]
    fn after_power_nothing_is_known_whatever_memory_holds() {
        for fill in [0, u32::MAX, 0xcccc_cccc, MAGIC] {
            let memory = Memory::of(fill);
            assert_eq!(begin(&memory), None);
            assert_eq!(begin(&memory), Some(Before { starts: 1, stage: StartStage::Clocks, end: None }));
        }
    }

    #[test]
    fn each_stage_and_each_end_is_found_after_a_reset_and_once() {
        for stage in StartStage::ALL {
            let memory = Memory::of(7);
            begin(&memory);
            reached(&memory, stage);
            panicked(&memory, "boards/app/src/shared.rs", 42);
            // Faults that follow from the first end are not recorded.
            faulted(&memory, &End::StackOverflow(None));
            panicked(&memory, "x.rs", 1);
            let file = String::try_from("boards/app/src/shared.rs").unwrap();
            assert_eq!(begin(&memory), Some(Before { starts: 1, stage, end: Some(End::Panic { file, line: 42 }) }));
            let place = CodeAddress { at: 0x0800_1234, from: 0x0800_5679 };
            for (starts, end) in
                (2..).zip([End::Fault(place), End::StackOverflow(Some(place)), End::StackOverflow(None)])
            {
                faulted(&memory, &end);
                assert_eq!(begin(&memory), Some(Before { starts, stage: StartStage::Clocks, end: Some(end) }));
            }
            assert_eq!(begin(&memory), Some(Before { starts: 5, stage: StartStage::Clocks, end: None }));
        }
    }

    #[test]
    fn of_a_long_path_the_end_is_kept_and_what_is_not_ascii_is_a_dot() {
        let memory = Memory::of(0);
        begin(&memory);
        panicked(&memory, &format!("{}/é\n.rs", "d".repeat(200)), 7);
        let Some(Before { end: Some(End::Panic { file, line: 7 }), .. }) = begin(&memory) else { panic!("kept") };
        assert_eq!(file.len(), PLACE);
        assert!(file.ends_with("ddd/....rs"), "{file}");
    }

    #[test]
    fn no_single_bit_changes_unseen() {
        let memory = Memory::of(0);
        begin(&memory);
        panicked(&memory, "a.rs", 3);
        for at in 0..=CHECK {
            for bit in 0..32 {
                let word = memory.read(at);
                memory.write(at, word ^ 1 << bit);
                assert_eq!(read(&memory), None, "word {at}, bit {bit}");
                memory.write(at, word);
            }
        }
        assert!(read(&memory).is_some());
    }
}

//! The move of bytes in receive buffers.

use core::ops::Range;

/// Moves the bytes of `live` to the front of `memory`, and returns how many they are. A range that is not in `memory` is
/// taken for no bytes.
// A loop of its own, because the compiler's routine for bytes that overlap is 1.6 kB that nothing else on a board needs.
pub fn move_to_front(memory: &mut [u8], live: Range<usize>) -> usize {
    let cells = core::cell::Cell::from_mut(memory).as_slice_of_cells();
    let moved = cells.get(live).unwrap_or_default();
    for (to, from) in cells.iter().zip(moved) {
        to.set(from.get());
    }
    moved.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_to_the_front_and_ranges_that_are_not_there_are_empty() {
        for (live, expected) in [(2..5, &[2, 3, 4][..]), (0..3, &[0, 1, 2]), (1..6, &[1, 2, 3, 4, 5]), (4..4, &[])] {
            let mut memory = [0, 1, 2, 3, 4, 5];
            let moved = move_to_front(&mut memory, live);
            assert_eq!(&memory[..moved], expected);
        }
        #[expect(clippy::reversed_empty_ranges, reason = "is what a caller could have wrong")]
        for nowhere in [4..9, 9..12, 5..2, 0..7] {
            let mut memory = [0, 1, 2, 3, 4, 5];
            assert_eq!((move_to_front(&mut memory, nowhere), memory), (0, [0, 1, 2, 3, 4, 5]));
        }
    }
}

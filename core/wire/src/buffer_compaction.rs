//! Moves unprocessed bytes to the front of a receive buffer.

use core::ops::Range;

/// Moves the bytes in the range `live` of a buffer to its front and returns their number. Moves nothing and returns 0
/// if `live` is not within `memory`.
// A loop of its own, because the compiler's routine for overlapping bytes has 1.6 kB and no other code on a board needs
// it.
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

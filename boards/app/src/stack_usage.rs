//! Measures the part of the stack that was never used: `cortex-m-rt` paints it at boot (its feature `paint-stack`), and
//! used bytes have lost their paint.

use core::cell::Cell;

/// The pattern with which `cortex-m-rt` fills the stack at the start.
const PAINT: u32 = 0xcccc_cccc;
/// The number of words of the stack examined in one call, about 10 µs. The whole stack would take a control cycle's
/// time.
const STEP: usize = 512;

/// A measurement of the unused stack from its far end, a few words per call.
#[derive(Debug)]
pub(crate) struct Gauge {
    /// The number of words from the far end of the stack that still have their paint, as far as the current pass has
    /// examined.
    at: Cell<usize>,
    /// The number of stack bytes that were never used, by the newest complete pass \[B\]; `None` before the first.
    unused: Cell<Option<u32>>,
}

impl Gauge {
    /// Creates a gauge that has measured no stack use yet.
    pub(crate) const fn new() -> Self {
        Self { at: Cell::new(0), unused: Cell::new(None) }
    }

    /// Examines the next few words of this stack for use.
    pub(crate) fn look(&self) {
        self.pass(STEP, memory::word);
    }

    /// Examines the whole stack and returns the number of its bytes that were never used; `None` on a system without a
    /// painted stack.
    pub(crate) fn look_at_all(&self) -> Option<u32> {
        self.at.set(0);
        self.pass(usize::MAX, memory::word);
        self.unused.get()
    }

    /// Returns the number of stack bytes that were never used, as of the newest complete pass; `None` before the first,
    /// and on a system without a painted stack.
    pub(crate) const fn unused(&self) -> Option<u32> {
        self.unused.get()
    }

    /// Examines at most `most` words of the stack. `word` returns the content at a position counted from the far end;
    /// `None` behind the near end.
    fn pass(&self, most: usize, word: impl Fn(usize) -> Option<u32>) {
        let from = self.at.get();
        let painted = (from..).take(most).take_while(|at| word(*at) == Some(PAINT)).count();
        let to = from.saturating_add(painted);
        if painted == most {
            self.at.set(to);
        } else {
            // A used word, or the end: the next pass begins.
            self.at.set(0);
            self.unused.set(word(to).map(|_| u32::try_from(to.saturating_mul(4)).unwrap_or(u32::MAX)));
        }
    }
}

#[cfg(all(target_arch = "arm", target_os = "none"))]
mod memory {
    #![expect(unsafe_code, reason = "the stack is memory that no Rust value owns")]

    unsafe extern "C" {
        static _stack_start: u32;
    }

    /// Returns the stack's word at a position counted from the far end; `None` behind the near end.
    pub(super) fn word(at: usize) -> Option<u32> {
        // The guarded part is not accessible.
        let start = &raw const _stack_start;
        let end = start.with_addr(crate::stack_guard::end());
        let place = end.wrapping_add(at);
        // SAFETY: between these two addresses is the stack, which is aligned memory for as long as this runs. It is
        // only read, and volatile, because its users write to it meanwhile.
        (place >= end && place < start).then(|| unsafe { place.read_volatile() })
    }
}

#[cfg(not(all(target_arch = "arm", target_os = "none")))]
mod memory {
    /// Returns `None`, because there is no painted stack on this system.
    pub(super) const fn word(_: usize) -> Option<u32> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_use_is_found_piece_by_piece_and_again_when_it_was_deeper() {
        let mut stack = vec![PAINT; 100];
        stack[70..].fill(7);
        let gauge = Gauge::new();
        let look = |stack: &[u32]| gauge.pass(30, |at| stack.get(at).copied());
        look(&stack);
        look(&stack);
        assert_eq!(gauge.unused(), None, "the pass is not over");
        look(&stack);
        assert_eq!(gauge.unused(), Some(280));
        stack[10] = 7;
        look(&stack);
        assert_eq!(gauge.unused(), Some(40));
    }

    #[test]
    fn a_stack_that_was_never_painted_says_nothing() {
        let gauge = Gauge::new();
        assert_eq!(gauge.look_at_all(), None);
        gauge.pass(STEP, |at| [7, 7].get(at).copied());
        assert_eq!(gauge.unused(), Some(0), "used from its far end on");
    }
}

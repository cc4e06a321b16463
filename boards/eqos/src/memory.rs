//! The memory for the descriptors and buffers of a DMA ring on a board.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::board_traits::Cells;

/// The size of a buffer \[B\]: a frame of 1 514 bytes, two VLAN tags and the check sequence, rounded up to a multiple of 512.
pub const BUFFER: usize = 1_536;

/// The four words of a DMA descriptor, which the DMA reads and writes.
#[repr(C, align(16))]
struct Descriptor([AtomicU32; 4]);

/// The buffer of one frame, aligned: on reception the DMA rounds the address down to the width of its bus.
#[repr(C, align(8))]
struct Buffer([u8; BUFFER]);

/// The memory of a DMA ring of `N` descriptors and buffers, `N` × 1 552 bytes.
///
/// Keep it in a static that the DMA can reach and the data cache does not hold, and pass `&'static mut` of it to
/// [`Interface::new`](crate::Interface::new). It is zeros at the start and takes no flash. `N` is at least 2, checked when
/// compiling: one descriptor of a ring always belongs to the core.
#[repr(C)]
pub struct RingMemory<const N: usize> {
    descriptors: [Descriptor; N],
    buffers: [Buffer; N],
}

impl<const N: usize> RingMemory<N> {
    /// Returns the memory of a DMA ring, filled with zeros.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(N >= 2, "a ring keeps one descriptor from the DMA") }
        Self {
            descriptors: [const { Descriptor([const { AtomicU32::new(0) }; 4]) }; N],
            buffers: [const { Buffer([0; BUFFER]) }; N],
        }
    }
}

impl<const N: usize> Default for RingMemory<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the address of a part of the ring as the DMA sees it, 32 bits of it, and makes the compiler assume that
/// other code uses the address.
fn address<T>(of: *const T) -> u32 {
    of.expose_provenance() as u32
}

impl<const N: usize> Cells for &mut RingMemory<N> {
    fn len(&self) -> usize {
        N
    }

    fn descriptor(&self, index: usize) -> u32 {
        address(&raw const self.descriptors[index])
    }

    fn buffer(&self, index: usize) -> u32 {
        address(&raw const self.buffers[index])
    }

    // Relaxed: the ring orders its accesses with barriers for the DMA.
    fn load(&self, index: usize, word: usize) -> u32 {
        self.descriptors[index].0[word].load(Ordering::Relaxed)
    }

    fn store(&self, index: usize, word: usize, value: u32) {
        self.descriptors[index].0[word].store(value, Ordering::Relaxed);
    }

    fn with<R>(&mut self, index: usize, f: impl FnOnce(&mut [u8]) -> R) -> R {
        f(&mut self.buffers[index].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_follow_each_other_without_a_gap_as_the_length_of_the_ring_assumes() {
        let mut memory = RingMemory::<4>::new();
        let memory = &mut memory;
        for index in 1..4 {
            assert_eq!(memory.descriptor(index).wrapping_sub(memory.descriptor(index - 1)), 16);
            assert_eq!(memory.buffer(index) % 8, 0);
        }
        assert_eq!(memory.descriptor(0) % 16, 0);
    }
}

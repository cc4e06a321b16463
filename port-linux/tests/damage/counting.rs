//! An allocator with the greatest request of each thread, and the most that it held at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// An allocator that passes every call to the system's allocator, and measures the requests of each thread.
pub(crate) struct Counting;

thread_local! {
    static GREATEST: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

/// Returns the greatest request for memory that `work` made on this thread \[B\], and its result.
pub(crate) fn greatest<T>(work: impl FnOnce() -> T) -> (usize, T) {
    GREATEST.set(0);
    let result = work();
    (GREATEST.get(), result)
}

/// Returns the most memory that `work` held at once on this thread, beyond what was held before \[B\], and its result.
pub(crate) fn most_held<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.get();
    MOST.set(before);
    let result = work();
    (MOST.get().saturating_sub(before), result)
}

fn note(size: usize) {
    GREATEST.set(GREATEST.get().max(size));
    HELD.set(HELD.get().saturating_add(size));
    MOST.set(MOST.get().max(HELD.get()));
}

/// Subtracts freed memory from the memory held by this thread \[B\]. Memory that another thread requested may be freed
/// here, therefore the result stops at 0.
fn give_back(size: usize) {
    HELD.set(HELD.get().saturating_sub(size));
}

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain thread-local cell without drop.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be there at once.
        note(size);
        give_back(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

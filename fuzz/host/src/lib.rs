//! Limits on memory for the targets: an allocator that ends the process where one input needs too much.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::fs::File;

/// The most memory that one input may need at once \[B\].
const MOST: usize = 64 << 20;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Runs `work`, and ends the process where it holds more memory on this thread at once than [`MOST`], beyond what was held before.
pub fn limited(work: impl FnOnce()) {
    HELD.set(0);
    LIMIT.set(MOST);
    work();
    LIMIT.set(usize::MAX);
}

/// Discards what commands print: it is not looked at. To be called once.
pub fn discard_output() {
    let nowhere = File::options().write(true).open("/dev/null").expect("a device without an end");
    rustix::stdio::dup2_stdout(nowhere).expect("another standard output");
}

/// An allocator with a count of the memory that each thread holds.
struct Limited;

fn take(size: usize) {
    let held = HELD.get().saturating_add(size);
    HELD.set(held);
    if held > LIMIT.get() {
        // The report needs memory, too.
        LIMIT.set(usize::MAX);
        eprintln!("{held} bytes at once, the newest request is for {size}:\n{}", Backtrace::force_capture());
        std::process::abort();
    }
}

/// Counts memory that is given back, which may have been taken before [`limited`].
fn give_back(size: usize) {
    HELD.set(HELD.get().saturating_sub(size));
}

// SAFETY: every call goes to the system's allocator unchanged; the counters are plain thread-local cells without drop.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be there at once.
        take(size);
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

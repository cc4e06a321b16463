//! A limit on memory for the targets, and what they print.

#[path = "../../../port-linux/tests/damage/counting.rs"]
#[allow(dead_code, reason = "the greatest request does not matter here")]
mod counting;

use std::fs::File;

/// The most memory that one input may need at once \[B\].
const MOST: usize = 64 << 20;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Runs `work`, and panics where it held more memory on this thread at once than [`MOST`], beyond what was held before.
pub fn limited(work: impl FnOnce()) {
    let (most, ()) = counting::most_held(work);
    assert!(most <= MOST, "{most} bytes at once");
}

/// Discards what commands print: it is not looked at. To be called once.
pub fn discard_output() {
    let nowhere = File::options().write(true).open("/dev/null").expect("a device without an end");
    rustix::stdio::dup2_stdout(nowhere).expect("another standard output");
}

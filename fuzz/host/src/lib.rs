//! A memory limit for the fuzz targets of the host program, and the handling of their output.

#[path = "../../../port-linux/tests/damage/counting.rs"]
#[allow(dead_code, reason = "the greatest request does not matter here")]
mod counting;

use std::fs::File;

/// The greatest amount of memory that one input may use at once \[B\].
const MOST: usize = 64 << 20;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// Runs `work`. Panics if it uses more than [`MOST`] bytes on this thread at once, beyond those that were in use
/// before.
pub fn limited(work: impl FnOnce()) {
    let (most, ()) = counting::most_held(work);
    assert!(most <= MOST, "{most} bytes at once");
}

/// Discards standard output of commands, which is not checked. Call it once.
pub fn discard_output() {
    let nowhere = File::options().write(true).open("/dev/null").expect("a device without an end");
    rustix::stdio::dup2_stdout(nowhere).expect("another standard output");
}

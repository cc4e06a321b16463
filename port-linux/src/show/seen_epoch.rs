//! Stores the session's epoch, a counter of connections and losses of authority, that the reader of standard output
//! has seen. Input that is typed was decided with this knowledge.
//!
//! A process commands one robot and has one standard output. The code that reads keys and lines knows neither session
//! nor output.

use std::sync::atomic::{AtomicU32, Ordering};

use outrigger_core::mode::Epoch;

static SEEN: AtomicU32 = AtomicU32::new(0);

/// Records that output about the session in this `epoch` (a counter of connections and losses of authority) was
/// written.
pub(super) fn show(epoch: Epoch) {
    SEEN.store(epoch.number(), Ordering::Release);
}

/// Returns the newest epoch of the session (a counter of connections and losses of authority) about which output was
/// written.
#[must_use]
pub fn seen() -> Epoch {
    Epoch::from_number(SEEN.load(Ordering::Acquire))
}

//! Which epoch whoever sits before standard output has seen: what is typed was decided by that one.
//!
//! A process commands one robot and has one standard output; what reads keys and lines knows neither session nor output.

use std::sync::atomic::{AtomicU32, Ordering};

use outrigger_core::mode::Epoch;

static SEEN: AtomicU32 = AtomicU32::new(0);

/// What was written told of `epoch`.
pub(super) fn show(epoch: Epoch) {
    SEEN.store(epoch.number(), Ordering::Release);
}

/// The newest epoch that was told of.
#[must_use]
pub fn seen() -> Epoch {
    Epoch::from_number(SEEN.load(Ordering::Acquire))
}

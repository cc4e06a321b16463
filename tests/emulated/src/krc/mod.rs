//! A simulated KRC at its end of a network of frames: sans-IO for tests in virtual time, and beside a board in QEMU.

mod answers;
#[cfg(feature = "qemu")]
mod bench;
mod peer;

pub use answers::{Answer, Answers, Sent, Steps};
#[cfg(feature = "qemu")]
pub use bench::KrcBench;
pub use peer::KrcPeer;

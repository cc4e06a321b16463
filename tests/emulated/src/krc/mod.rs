//! A simulated KRC at its end of a network of frames. It performs no input or output of its own and serves tests in
//! virtual time as well as a board in QEMU.

mod answers;
#[cfg(feature = "qemu")]
mod bench;
mod peer;

pub use answers::{Answer, Answers, Sent, Steps};
#[cfg(feature = "qemu")]
pub use bench::KrcBench;
pub use peer::KrcPeer;

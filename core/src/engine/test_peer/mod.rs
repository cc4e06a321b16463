//! A kind of controller for tests only: it connects to us, gets long messages, and executes moves by itself.
//!
//! It tests functions that no supported robot needs yet, in the whole engine and every loop: links that listen,
//! messages in several chunks, and moves that the controller executes. It is not part of the API; `robot` is the other
//! side.

mod controller;
mod message;
mod robot;
#[cfg(test)]
mod tests;

pub use controller::{TestConfig, TestEvent, TestOptions, TestPeer, TestStatus};
pub use message::{Message, SHOWN_LEN, Shown};
pub use robot::Robot;

/// The engine for the test controller, with two joints.
pub type TestEngine<'m, L> = super::Engine<'m, 2, TestPeer, L>;

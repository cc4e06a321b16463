//! A kind of controller for tests alone: it connects to us, is told in long messages, and executes moves by itself.
//!
//! What no robot of ours needs yet is proved with it through the whole engine and every loop: links that listen, messages
//! in several chunks, and moves that the controller executes. Not part of the API; `robot` is the other side.

mod controller;
mod message;
mod robot;
#[cfg(test)]
mod tests;

pub use controller::{TestConfig, TestEvent, TestOptions, TestPeer, TestStatus};
pub use message::{Message, SHOWN_LEN, Shown};
pub use robot::Robot;

/// The engine beside such a controller.
pub type TestEngine<'m, L> = super::Engine<'m, 2, TestPeer, L>;

//! A board in QEMU: its firmware, its network, its serial lines, its log and the way it ends.

mod board;
mod command;
mod firmware;
mod folder;
mod log;
mod network;
mod process;
mod serial;

pub use board::Board;
pub use command::{Command, Machine, Network as NetworkMode, Serial as SerialMode};
pub use firmware::{Firmware, Missing, Unbuilt, missing};
pub use folder::Folder;
pub use log::{Line, Log};
pub use network::Network;
pub use process::{Exit, Process};
pub use serial::Serial;

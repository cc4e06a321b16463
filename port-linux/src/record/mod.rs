//! Recordings: everything that a robot sends and is sent, in one file, and files of fallbacks.
//!
//! Files are read in every build, and written with the feature `record`.

#[cfg(feature = "record")]
mod derived;
pub mod fallbacks;
#[cfg(feature = "record")]
mod file;
mod read;
mod reader;
#[cfg(feature = "record")]
mod recorder;
#[cfg(feature = "record")]
mod recording;
#[cfg(feature = "record")]
mod schema;
#[cfg(all(test, feature = "record"))]
mod tests;

pub use self::read::{Raw, each_message, each_raw, is_none, is_recording};
pub use self::reader::LARGEST;
#[cfg(feature = "record")]
pub use self::recorder::{Recorder, can_create};
use crate::feed::VARIABLES;

/// Topic of the configuration that a run began with.
pub const CONFIGURATION: &str = "/engine/configuration";
/// Topic of what the engine of a run was given and did, as [`What::Engine`](crate::feed::What::Engine) has it.
pub const ENGINE: &str = "/engine/recording";
/// Topic of the log.
pub const LOG: &str = "/log";

/// Topic of the bytes that came from a port.
#[must_use]
pub fn raw_topic(port: u16) -> String {
    if port == VARIABLES { "/raw/30004/variables".into() } else { format!("/raw/{port}") }
}

/// Topic of the bytes that went to a port.
#[must_use]
pub fn sent_topic(port: u16) -> String {
    raw_topic(port) + "/sent"
}

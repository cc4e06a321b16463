//! Files that a session writes: with the feature `record` recordings of everything that a robot sends and is sent, and in every build
//! files of fallbacks. [`feed::recorded`](crate::feed::recorded) reads recordings.

#[cfg(feature = "record")]
mod derived;
pub mod fallbacks;
#[cfg(feature = "record")]
mod file;
#[cfg(feature = "record")]
mod recorder;
#[cfg(feature = "record")]
mod recording;
#[cfg(feature = "record")]
mod schema;
#[cfg(all(test, feature = "record"))]
mod tests;

#[cfg(feature = "record")]
pub use self::recorder::{Recorder, can_create};

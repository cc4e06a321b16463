//! Files that a session writes. In every build these are recordings of fallbacks (ends of commanding by a fault); with
//! the feature `record` also recordings of all traffic with a robot. [`feed::recorded`](crate::feed::recorded) reads
//! recordings.

#[cfg(feature = "record")]
mod arm_frames;
#[cfg(feature = "record")]
mod channels;
#[cfg(feature = "record")]
mod common_values;
#[cfg(feature = "record")]
mod entry_writer;
pub mod fallbacks;
#[cfg(feature = "record")]
mod file;
#[cfg(feature = "record")]
mod foxglove;
#[cfg(feature = "record")]
mod recorder;
#[cfg(feature = "record")]
mod schema;
#[cfg(all(test, feature = "record"))]
mod tests;

#[cfg(feature = "record")]
pub use self::arm_frames::{ArmGeometry, JointAxis, joint_axes};
#[cfg(feature = "record")]
pub use self::channels::Sink;
#[cfg(feature = "record")]
pub use self::entry_writer::SessionChannels;
#[cfg(feature = "record")]
pub use self::recorder::{Recorder, can_create};

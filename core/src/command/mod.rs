//! From what a law wants to what may be sent: limits, the governor that holds them, and the judges of
//! the sensors behind the law; and, beside the motion, what is set on the controller.

mod governor;
mod joint_move;
mod limits;
pub mod outputs;
mod sample;
mod source;
mod sources;

pub use governor::{Approved, Governor, Shaped};
pub use joint_move::{ApprovedMove, JointMove};
pub use limits::{Limits, LimitsError, PathTiming};
pub use sample::{Sample, SampleValue, Samples, SourceId};
pub use source::{Reading, SourceConfig, SourceFigures, SourceMonitor};
pub use sources::{Bridged, Gathered, MAX_SOURCES, Sources, SourcesError};

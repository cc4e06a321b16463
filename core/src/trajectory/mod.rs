//! Reference motions: cubic segments through waypoints, and a sampler whose time the robot drives.

mod cubic;
mod sampler;
mod waypoints;

pub use cubic::{CubicSegment, Setpoint};
pub use sampler::{Progress, Sampler};
pub use waypoints::{MAX_WAYPOINTS, Trajectory, TrajectoryError, Waypoint};

pub(crate) use sampler::within;

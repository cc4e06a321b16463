//! Reference motions: cubic and quintic segments through waypoints, and a sampler whose time follows the robot's speed
//! scaling. The waypoints are all known in advance, or are fed while the motion runs.
//!
//! ```
//! use outrigger_wire::robot::{JointPositions, JointVelocities};
//! use outrigger_wire::time::Duration;
//! use outrigger_core::trajectory::{Sampler, Setpoint, Trajectory, Waypoint};
//!
//! let at_rest = |q| Setpoint { positions: JointPositions([q; 6]), velocities: JointVelocities::ZERO };
//! let way = [
//!     Waypoint { setpoint: at_rest(0.0), accelerations: None, at: Duration::ZERO },
//!     Waypoint { setpoint: at_rest(1.0), accelerations: None, at: Duration::from_secs(2) },
//! ];
//! let mut sampler = Sampler::new(Trajectory::through(&way)?, Duration::from_millis(200));
//! sampler.start(JointPositions::ZERO);
//! let half_speed = sampler.advance(Duration::from_secs(1), 0.5); // the robot's slider is at 50 %
//! assert!(half_speed.positions.0[0] < 0.25);
//! # Ok::<(), outrigger_core::trajectory::TrajectoryError>(())
//! ```

#[cfg(feature = "trajectories")]
mod controller_progress;
mod cubic;
mod flash_format;
#[cfg(feature = "trajectories")]
mod polynomial;
#[cfg(feature = "trajectories")]
mod quintic;
#[cfg(feature = "trajectories")]
mod resumption;
mod sampler;
#[cfg(feature = "trajectories")]
mod tolerances;
mod waypoint_segment;
#[cfg(feature = "trajectories")]
mod waypoint_thinning;
mod waypoints;

#[cfg(feature = "trajectories")]
pub use controller_progress::{Beginning, Playback};
pub use cubic::{CubicSegment, Setpoint};
pub use flash_format::Stored;
#[cfg(feature = "trajectories")]
pub use quintic::QuinticSegment;
#[cfg(feature = "trajectories")]
pub use resumption::Resumption;
pub use sampler::{Progress, Sampler};
#[cfg(feature = "trajectories")]
pub use tolerances::{Tolerances, Watch};
pub use waypoint_segment::Leg;
#[cfg(feature = "trajectories")]
pub use waypoint_thinning::{Spacing, WaypointUse};
#[cfg(not(feature = "motions"))]
pub use waypoints::Never;
pub use waypoints::{Accelerations, MAX_WAYPOINTS, REST_SPEED, Trajectory, TrajectoryError, Waypoint};

pub(crate) use sampler::within;

//! The check of a control law's commands before they are sent: limits, the governor that applies them, and the monitors
//! of the law's sensors. Also motions executed by the controller, and its outputs.
//!
//! ```
//! use outrigger_core::command::Limits;
//! use outrigger_wire::robot::JointVelocities;
//! use outrigger_wire::time::Duration;
//!
//! let limits = Limits::<6> { velocity: JointVelocities([0.5; 6]), ..Limits::default() };
//! limits.check()?;
//! // Going on for 40 ms and then braking at 2 rad/s²: 0.5 · 0.04 + 0.5² / (2 · 2) rad.
//! assert!((limits.farthest(Duration::from_millis(40), 2.0)[0] - 0.0825).abs() < 1e-6);
//! # Ok::<(), outrigger_core::command::LimitsError>(())
//! ```

#[cfg(feature = "motions")]
mod added_effort;
mod freedrive_and_force_mode;
mod governor;
mod joint_move;
mod limits;
mod move_target;
pub mod outputs;
mod sample;
mod sensor_monitor;
mod sensor_set;
#[cfg(feature = "motions")]
mod torque_governor;

#[cfg(all(feature = "motions", feature = "record"))]
pub(crate) use added_effort::AddedPhase;
#[cfg(feature = "motions")]
pub(crate) use added_effort::{AddedBounds, AddedGovernor, AddedSlot};
pub use freedrive_and_force_mode::{ForceMode, ForceModeError, ForceModeNote, ForceType, Guidance};
pub use governor::{Approved, Governor, Shaped};
pub use joint_move::{ApprovedMove, JointMove};
pub use limits::{Limits, LimitsError, PathTiming, TorqueLimits};
pub use move_target::{ArmPosition, Destination, LocateError, MoveTarget};
pub use sample::Samples;
pub use sensor_monitor::{Reading, SourceConfig, SourceFigures, SourceMonitor};
pub use sensor_set::{Bridged, Gathered, MAX_SOURCES, Sources, SourcesError};
#[cfg(feature = "motions")]
pub use torque_governor::{ApprovedTorques, TorqueGovernor, TorqueMemory};
#[cfg(feature = "motions")]
pub(crate) use torque_governor::{TorqueSlot, towards};

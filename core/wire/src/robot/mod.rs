//! The values that messages and commands have in common: joints, poses, modes, versions.
//!
//! ```
//! use outrigger_wire::robot::{JointPositions, RobotModel, SoftwareVersion};
//!
//! let software = SoftwareVersion::new(5, 15);
//! assert!(software.at_least(5, 10) && software.generation().period_micros() == 2000);
//! assert_eq!(RobotModel::from_name("ur5e"), Some(RobotModel::Ur5e));
//! let q = JointPositions::from_wire([0.0, -1.57, -1.57, -1.57, 1.57, 0.0]);
//! assert_eq!(q.max_abs(), 1.57);
//! ```

#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod array_serde;
mod controller_time;
mod joints;
mod modes;
mod payload;
mod pose;
mod state;
mod text;
mod version;
pub(crate) mod wire_enum;

pub use controller_time::ControllerTime;
pub use joints::{JointAccelerations, JointPositions, JointTorques, JointVelocities};
pub use modes::{
    ControlMode, JointMode, MasterOnOffState, MasterSafetyState, MessageSource, ProgramState, RobotMode, SafetyMode,
    ToolMode,
};
pub use payload::Payload;
pub use pose::{Pose, Twist, Wrench};
pub use state::{Safety, State};
pub use text::Text;
pub use version::{Generation, RobotModel, SoftwareVersion};
pub(crate) use wire_enum::wire_enum;

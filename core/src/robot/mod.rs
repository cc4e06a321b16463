//! The robot's own words, shared by every floor above: joints, poses, modes, versions, reasons.
//!
//! ```
//! use outrigger_core::robot::{JointPositions, Reason, RobotModel, SoftwareVersion};
//!
//! let software = SoftwareVersion::new(5, 15);
//! assert!(software.at_least(5, 10) && software.generation().period_micros() == 2000);
//! assert_eq!(RobotModel::from_name("ur5e"), Some(RobotModel::Ur5e));
//! let q = JointPositions::from_wire([0.0, -1.57, -1.57, -1.57, 1.57, 0.0]);
//! assert_eq!(q.max_abs(), 1.57);
//! println!("{}: {}", Reason::NotRemote.text(), Reason::NotRemote.advice());
//! ```

#[cfg(feature = "postcard")]
pub(crate) mod array;
mod authority;
mod bad_value;
mod joints;
mod modes;
mod payload;
mod pose;
mod range;
mod reason;
mod settings;
mod state;
mod text;
mod version;
pub(crate) mod wire_enum;

pub use authority::Authority;
pub(crate) use bad_value::wording;
pub use bad_value::{BadValue, Untold, Wording};
pub use joints::{JointAccelerations, JointPositions, JointVelocities};
pub use modes::{
    ControlMode, JointMode, MasterOnOffState, MasterSafetyState, MessageSource, ProgramState, RobotMode, SafetyMode,
    ToolMode,
};
pub use payload::Payload;
pub use pose::{Pose, Twist, Wrench};
pub use range::Range;
#[doc(hidden)]
pub use range::time;
pub use reason::{Reason, ReasonSet};
pub use settings::{Key, Outside, Setting, Table, Tuning};
pub(crate) use settings::{range_of, settings, words};
pub use state::{ControllerTime, Safety, State};
pub use text::Text;
pub use version::{Generation, RobotModel, SoftwareVersion};
pub(crate) use wire_enum::wire_enum;

//! The robot's own words, shared by every floor above: joints, poses, modes, versions, reasons.

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
mod wire_enum;

pub use authority::Authority;
pub use bad_value::BadValue;
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

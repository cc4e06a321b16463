//! Control of power, brakes, stops, programs and the pendant of a controller (`core/docs/protocol/ur-dashboard.md`).
//!
//! * A [`Service`] carries single requests: [`Client`] to a dashboard server,
//!   [`robot_api::Client`](super::robot_api::Client) to the Robot API of PolyScope X.
//! * A [`Sequence`] makes several requests with one goal: [`BringUp`], [`Diagnosis`], [`Recovery`], [`ProgramControl`],
//!   [`Pendant`]. Its outputs are requests, for any service. Each step is an event with a text for people; if it stops
//!   early, its [`SequenceError`] says why and what a person can do.
//! * A [`ServiceCommand`] sends one command that makes an arm ready, over a connection of its own: for devices that
//!   have none open. [`CommandInterlock`] decides when it may be sent: nothing is commanded then, and no request to command is
//!   pending that it could bring into effect. A [`BrakeLine`] requests one by a contact at the device.
//! * A [`PendantLock`] keeps the pendant of a CB3 locked while the arm is commanded, independently of other requests.
//!
//! Nothing here moves the arm, apart from the release of its brakes. A stop is never cleared automatically:
//! [`Recovery`] needs an [`Acknowledgement`], which can only be made from a [`Finding`] that a caller has seen.
//!
//! ```
//! use outrigger_core::client::dashboard::{BringUp, BringUpConfig, Sequence, SequenceInput};
//! use outrigger_wire::robot::{SafetyMode, SoftwareVersion};
//! use outrigger_wire::time::Instant;
//! use outrigger_wire::dashboard::Reply;
//!
//! // From any power state to running brakes: what to ask, and what to ask after the answer.
//! let mut bring_up = BringUp::new(SoftwareVersion::new(5, 15), BringUpConfig::default());
//! assert_eq!(bring_up.poll_output().map(|request| request.kind().words()), Some("safetystatus"));
//! bring_up.handle(Instant::ZERO, SequenceInput::Reply(Reply::Safety(SafetyMode::Normal)));
//! assert_eq!(bring_up.poll_output().map(|request| request.kind().words()), Some("robotmode"));
//! ```

mod arm_ready_command;
mod brake_line;
mod bring_up;
mod client;
mod interlock;
mod pendant;
mod pendant_lock;
mod program;
mod recovery;
mod sequence_base;
mod sequence_error;
mod service_interface;
#[cfg(test)]
mod tests;

pub use arm_ready_command::{ArmCommand, ServiceCommand, ServiceCommandInput, ServiceCommandOutput};
pub use brake_line::{BrakeConditions, BrakeLine, BrakeRefusal};
pub use bring_up::{BringUp, BringUpConfig};
pub use client::Client;
pub use interlock::{CommandInterlock, InterlockInput, InterlockOutput};
pub use outrigger_wire::dashboard::Outcome;
pub use pendant::{Before, Pendant};
pub use pendant_lock::{LockEvent, LockInput, LockOutput, PendantLock};
pub use program::{ProgramConfig, ProgramControl, ProgramGoal};
pub use recovery::{Acknowledgement, Diagnosis, Finding, Recovery, RecoveryConfig};
pub use sequence_base::{Progress, Sequence, SequenceEvent, SequenceInput};
pub use sequence_error::SequenceError;
pub use service_interface::{Event, Input, Service, Timeouts};

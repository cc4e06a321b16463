//! Real-Time Data Exchange (`core/docs/protocol/ur-rtde.md`) as a session's source of states, by the client of
//! [`crate::client::rtde`].
//!
//! ```
//! use outrigger_core::engine::ur::rtde::RtdeMemory;
//! use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
//! use outrigger_core::law::{JointServo, JointServoConfig, Reference};
//!
//! // Lent to an engine, this is all that it takes to have states from there.
//! let mut rtde: RtdeMemory = RtdeMemory::new();
//! let (primary, realtime) = (&mut [0; 4096], &mut [0; 8192]);
//! let memory = Memory { primary, realtime, rtde: Some(&mut rtde) };
//! let law = JointServo::new(Reference::Hold, JointServoConfig::default());
//! let engine = UrEngine::new(UrConfig::default(), law, memory)?;
//! assert!(engine.peer().rtde().is_some());
//! # Ok::<(), outrigger_core::engine::ConfigError>(())
//! ```

mod link;
mod memory;
mod state_recipe;

pub use link::StateLink;
pub(in crate::engine) use link::{Attached, attached};
pub use memory::{RtdeMemory, StateMemory};
pub use state_recipe::{LEAST, StateEvent, StateVariable, Unusable};

mod sealed {
    pub trait Sealed {}
}

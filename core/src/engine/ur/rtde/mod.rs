//! Real-Time Data Exchange (`core/docs/protocol/ur-rtde.md`) as a session's source of states, by the client of
//! [`crate::client::rtde`].
//!
//! ```
//! use outrigger_core::engine::ur::rtde::{RtdeRoom, RtdeStates, StateLink};
//!
//! let mut room: RtdeRoom = RtdeRoom::new();
//! let mut states = RtdeStates::new(&mut room).expect("room for the recipe");
//! // Goes into `Memory::rtde` of an engine; the port connects, reads and writes.
//! let link: &mut dyn StateLink = &mut states;
//! assert!(!link.receive_window().is_empty());
//! ```

mod link;
mod memory;
mod states;

pub use link::StateLink;
pub use memory::{RtdeMemory, StateMemory};
pub use states::{LEAST, StateEvent, StateVariable, Unusable};

mod sealed {
    pub trait Sealed {}
}

//! Real-Time Data Exchange (`core/docs/protocol/ur-rtde.md`) as a session's source of states, by the client of
//! [`crate::client::rtde`].

mod link;
mod states;

pub use link::StateLink;
pub use states::{LEAST, RtdeRoom, RtdeStates, StateEvent, StateVariable, Unusable};

mod sealed {
    pub trait Sealed {}
}

//! Real-Time Data Exchange (`ur-rtde`) as a session's source of states, by the client of [`crate::client::rtde`].

mod link;
mod states;

pub use link::StateLink;
pub use states::{LEAST, RtdeRoom, RtdeStates, StateEvent, StateVariable, Unusable};

mod sealed {
    pub trait Sealed {}
}

//! What the integration tests share: the oracle, runs in virtual time, and asking for what a plain machine may lack.
#![forbid(unsafe_code)]

pub mod board;
pub mod comparison;
pub mod cosim;
pub mod fri;
pub mod noise;
#[path = "../oracle/mod.rs"]
pub mod oracle;

pub use outrigger_emulated::require;

use outrigger_core::engine::Event;
use outrigger_core::mode::{Channel, Refusal};
use outrigger_core::robot::Reason;

/// A request by a message was refused for `reason`.
#[must_use]
pub const fn refused<E>(reason: Reason) -> Event<E> {
    Event::Refused(Refusal::of_request(Channel::Message, reason))
}

//! The upload of a program file to a controller, and what became of it in words.
//!
//! [`outrigger_core::client::script`] defines what the controller's messages mean; bytes are moved here.

mod upload;
mod words;

pub use self::upload::{Hears, upload};
pub use self::words::Words;

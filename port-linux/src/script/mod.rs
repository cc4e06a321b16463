//! The upload of a program file to a controller, or of its statements to interpreter mode, and what became of it in words.
//!
//! [`outrigger_core::client::script`] and [`outrigger_core::client::interpreter`] define what the controller's messages mean;
//! bytes are moved here.

mod interpreter;
mod said;
mod upload;
mod words;

pub use self::interpreter::{Interpreted, InterpreterPorts, Observes, interpret};
pub use self::said::Said;
pub(crate) use self::upload::{Carried, ready};
pub use self::upload::{Hears, upload};
pub use self::words::Words;

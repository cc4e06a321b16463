//! Uploads a program file to a controller, or its statements to interpreter mode, and describes the results.
//!
//! [`outrigger_core::client::script`] and [`outrigger_core::client::interpreter`] define the meaning of the
//! controller's messages; this module transfers bytes.

mod interpreter;
mod interpreter_report;
mod upload;
mod upload_report;

pub use self::interpreter::{Interpreted, InterpreterObserver, InterpreterPorts, interpret};
pub use self::interpreter_report::InterpreterReport;
pub(crate) use self::upload::{Carried, ready};
pub use self::upload::{UploadListener, upload};
pub use self::upload_report::Words;

//! The messages that a session emits while it runs.

use outrigger_wire::time::Instant;
use serde::Serialize;

use crate::json;

/// A single event of a session.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "event")]
pub struct Notice {
    /// The time of the event since the start of the process.
    #[serde(rename = "time", serialize_with = "json::time")]
    pub at: Instant,
    /// The kind of the event, as one word for scripts.
    pub kind: &'static str,
    /// A description of the event for people.
    pub text: String,
    /// Further values of the event for scripts, with their names.
    #[serde(flatten, serialize_with = "json::members")]
    pub fields: Vec<(&'static str, String)>,
}

/// A remark from code that runs beside the control loop: its kind, and its text.
pub(crate) type Remark = (&'static str, String);

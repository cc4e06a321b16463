//! The messages that a session emits while it runs.

use outrigger_wire::time::Instant;
use serde::Serialize;

use crate::json;

/// A single event of a session, described for people and for scripts.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "event")]
pub struct Notice {
    /// The time of the session's event since the start of the process.
    #[serde(rename = "time", serialize_with = "json::time")]
    pub at: Instant,
    /// The kind of the session's event, as one word for scripts.
    pub kind: &'static str,
    /// A text for people that describes the session's event.
    pub text: String,
    /// Further values of the session's event for scripts, with their names.
    #[serde(flatten, serialize_with = "json::members")]
    pub fields: Vec<(&'static str, String)>,
}

/// A message to the operator from code that runs beside the control loop: its kind as an event, and its text.
pub(crate) type Remark = (&'static str, String);

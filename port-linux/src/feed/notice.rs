//! What is told of a session while it goes on.

use outrigger_wire::time::Instant;
use serde::Serialize;

use crate::json;

/// Something that happened, once.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "event")]
pub struct Notice {
    /// When, since the start of the process.
    #[serde(rename = "time", serialize_with = "json::time")]
    pub at: Instant,
    /// What kind of thing, as one word for scripts.
    pub kind: &'static str,
    /// What happened, for people.
    pub text: String,
    /// Further words for scripts.
    #[serde(flatten, serialize_with = "json::members")]
    pub fields: Vec<(&'static str, String)>,
}

/// A remark of a companion: its kind, and its text.
pub(crate) type Remark = (&'static str, String);

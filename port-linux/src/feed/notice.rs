//! What is told of a session while it goes on.

use outrigger_wire::time::Instant;

use crate::json::Json;

/// Something that happened, once.
#[derive(Clone, Debug)]
pub struct Notice {
    /// When, since the start of the process.
    pub at: Instant,
    /// What kind of thing, as one word for scripts.
    pub kind: &'static str,
    /// What happened, for people.
    pub text: String,
    /// Further words for scripts.
    pub fields: Vec<(&'static str, String)>,
}

/// A remark of a companion: its kind, and its text.
pub(crate) type Remark = (&'static str, String);

impl Notice {
    /// Puts one object into `json`.
    pub fn json(&self, json: &mut Json) {
        json.begin_object().key("type").text("event");
        json.key("time").float(self.at.as_micros() as f64 / 1e6);
        json.key("kind").text(self.kind).key("text").text(&self.text);
        for (name, value) in &self.fields {
            json.key(name).text(value);
        }
        json.end_object();
    }
}

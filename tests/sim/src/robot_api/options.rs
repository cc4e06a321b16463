//! What is not known of the Robot API: a choice each, with its default.

/// How an error, or a success with nothing to show, is put into words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageSchema {
    /// `{"message": "…"}`
    #[default]
    Message,
    /// `{"title": "…", "status": 409, "detail": "…"}`, as RFC 9457 has it.
    Problem,
    /// The text alone, as `text/plain`.
    Text,
}

/// What is not known of the Robot API. Which status goes with which refusal is not known either: 400 for what cannot be
/// read, 403 for local control, 404 for what does not exist, 409 for what the state forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotApiOptions {
    /// How messages are put.
    pub messages: MessageSchema,
    /// `info.version` of the description; by software where `None`: 3.0.0 on 10.11, 3.1.4 from 10.12 on.
    pub version: Option<String>,
    /// Whether power on and brake release are answered when the arm is there; else at once.
    pub waits: bool,
}

impl Default for RobotApiOptions {
    fn default() -> Self {
        Self { messages: MessageSchema::default(), version: None, waits: true }
    }
}

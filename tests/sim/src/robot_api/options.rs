//! Properties of the Robot API that are not documented: an option for each, with a default.

/// The format of those answers of the Robot API that are a sentence: errors, and successes without data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageSchema {
    /// A message as a JSON object: `{"message": "…"}`
    #[default]
    Message,
    /// A message as in RFC 9457: `{"title": "…", "status": 409, "detail": "…"}`.
    Problem,
    /// A message as its text only, of type `text/plain`.
    Text,
}

/// Properties of the Robot API that are not documented. The status of each refusal is not documented either; assumed
/// are 400 for a request that cannot be parsed, 403 for local control, 404 for an object that does not exist, 409 for
/// a request that the state forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotApiOptions {
    /// The format of the Robot API's error messages, and of successes without data.
    pub messages: MessageSchema,
    /// The value of `info.version` in the API's description. `None` depends on the software: 3.0.0 on 10.11, 3.1.4
    /// from 10.12 on.
    pub version: Option<String>,
    /// `true` if requests for power on and brake release are answered when the arm has reached that state; `false` if
    /// at once.
    pub waits: bool,
}

impl Default for RobotApiOptions {
    fn default() -> Self {
        Self { messages: MessageSchema::default(), version: None, waits: true }
    }
}

//! Thresholds of a client.

use crate::robot::BadValue;
use outrigger_wire::time::Duration;

/// How a client asks and waits. Where the specification knows no number, these are those of clients in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ClientConfig {
    /// How often outputs are to come \[Hz\]: 1 … 500. The controller divides its own rate by a whole number, and so
    /// sends at least as often; more than its rate is asked for as its rate. Default 500.
    pub frequency: u16,
    /// Longest wait for an answer. Default 1 s.
    pub reply_timeout: Duration,
    /// How often a question is asked before the client gives up, ≥ 1; set-ups are asked for once. Default 3.
    pub attempts: u8,
    /// Wait before inputs that somebody owns are asked for again: a controller may hold our own connection before this
    /// one for a while. Default 500 ms.
    pub in_use_wait: Duration,
    /// How often such inputs are asked for before they are refused, ≥ 1. Default 5.
    pub in_use_attempts: u8,
    /// Longest wait for a controller that says its safety settings are not confirmed yet. Default 5 min.
    pub unconfirmed_timeout: Duration,
    /// Started and silent for this long, the connection is given up. Default 2 s.
    pub silence_timeout: Duration,
    /// A controller clock that jumps ahead by more than this began anew; less is as many missing packages. Default 10 s.
    pub clock_jump: Duration,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            frequency: 500,
            reply_timeout: Duration::from_secs(1),
            attempts: 3,
            in_use_wait: Duration::from_millis(500),
            in_use_attempts: 5,
            unconfirmed_timeout: Duration::from_secs(300),
            silence_timeout: Duration::from_secs(2),
            clock_jump: Duration::from_secs(10),
        }
    }
}

impl ClientConfig {
    /// Whether every field is in its range.
    ///
    /// # Errors
    /// The first field that is not.
    pub fn check(&self) -> Result<(), BadValue> {
        BadValue::unless((1..=500).contains(&self.frequency), "frequency", "1 to 500 Hz")?;
        BadValue::unless(self.reply_timeout > Duration::ZERO, "reply_timeout", "more than 0")?;
        BadValue::unless(self.attempts > 0, "attempts", "at least 1")?;
        BadValue::unless(self.in_use_attempts > 0, "in_use_attempts", "at least 1")?;
        BadValue::unless(self.silence_timeout > Duration::ZERO, "silence_timeout", "more than 0")
    }
}

//! The rates, timeouts and numbers of attempts of an RTDE client.

use crate::robot::BadValue;
use outrigger_wire::time::Duration;

/// The rates, timeouts and retries of an RTDE client. If the specification defines no value, the default is that of
/// widely used clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct ClientConfig {
    /// The requested rate of outputs \[Hz\]: 1 … 500. The controller divides its own rate by a whole number, and so
    /// sends at least as often; if more than its rate is configured, its rate is requested. Default 500.
    pub frequency: u16,
    /// The longest wait for the controller's reply to a request. Default 1 s.
    pub reply_timeout: Duration,
    /// The number of attempts for an RTDE request before the client gives up, ≥ 1; set-ups are requested only once.
    /// Default 3.
    pub attempts: u8,
    /// The wait before inputs owned by another client are requested again: a controller may consider our own previous
    /// connection open for a while. Default 500 ms.
    pub in_use_wait: Duration,
    /// The number of attempts for inputs owned by another client before they are given up, ≥ 1. Default 5.
    pub in_use_attempts: u8,
    /// The longest wait for a controller that reports that its safety settings are not confirmed yet. Default 5 min.
    pub unconfirmed_timeout: Duration,
    /// The time without data after which a started connection is given up. Default 2 s.
    pub silence_timeout: Duration,
    /// A jump of the controller's clock ahead by more than this counts as a restart; a smaller one as missing packages.
    /// Default 10 s.
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
    /// Checks that every setting of the RTDE client is in its range.
    ///
    /// # Errors
    /// Returns the first field that is not.
    pub fn check(&self) -> Result<(), BadValue> {
        BadValue::unless((1..=500).contains(&self.frequency), "frequency", "1 to 500 Hz")?;
        BadValue::unless(self.reply_timeout > Duration::ZERO, "reply_timeout", "more than 0")?;
        BadValue::unless(self.attempts > 0, "attempts", "at least 1")?;
        BadValue::unless(self.in_use_attempts > 0, "in_use_attempts", "at least 1")?;
        BadValue::unless(self.silence_timeout > Duration::ZERO, "silence_timeout", "more than 0")
    }
}

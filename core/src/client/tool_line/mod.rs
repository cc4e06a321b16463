//! The set-up of the tool's serial line: sent over 30001, and read back there (`core/docs/protocol/ur-client-interfaces.md 10`).
//!
//! Controllers answer nothing to such a text, and show in their states what is in force. A [`Setup`] reads the states first: where
//! the line has the settings already, it sends nothing, and needs no remote control. Otherwise it sends a secondary program, which
//! leaves the program that moves the arm alone, and waits for a state with the new settings.
//!
//! ```
//! use outrigger_core::client::Output;
//! use outrigger_core::client::tool_line::{Parity, Setup, SetupConfig, SetupInput, ToolCommunication, ToolVoltage};
//! use outrigger_wire::time::Instant;
//!
//! let line = ToolCommunication {
//!     baud_rate: 115_200,
//!     parity: Parity::None,
//!     stop_bits: 1,
//!     rx_idle_chars: 1.5,
//!     tx_idle_chars: 3.5,
//!     voltage: Some(ToolVoltage::V24),
//! };
//! let mut memory = [0; 4096];
//! let mut setup = Setup::new(SetupConfig::default(), line, &mut memory)?;
//! setup.handle(Instant::ZERO, SetupInput::Start);
//! assert_eq!(setup.poll_output(), Some(Output::Open { port: 30_001 }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod setup;
#[cfg(test)]
mod tests;

pub use setup::{Setup, SetupInput};

pub use outrigger_urscript::{Parity, RenderError, ToolCommunication, ToolVoltage};
use outrigger_wire::frame::Found;
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

/// The TCP port on which UR's URCap relays the tool's serial line, to one client at a time.
pub const PORT: u16 = 54_321;

/// The longest waits of a set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupConfig {
    /// Longest wait for a connection. Default 3 s.
    pub opening: Duration,
    /// Longest wait for the first message after connecting. Default 2 s.
    pub greeting: Duration,
    /// Longest wait for a state that shows the settings in force. Default 1 s, ten periods of the state.
    pub baseline: Duration,
    /// Longest wait for a state that shows the new settings, after they were sent. Default 2 s.
    pub verdict: Duration,
}

impl Default for SetupConfig {
    fn default() -> Self {
        Self {
            opening: Duration::from_secs(3),
            greeting: Duration::from_secs(2),
            baseline: Duration::from_secs(1),
            verdict: Duration::from_secs(2),
        }
    }
}

/// The settings that a controller shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// The line is on.
    pub enabled: bool,
    /// The baud rate \[baud\].
    pub baud_rate: i32,
    /// 0 none, 1 odd, 2 even.
    pub parity: i32,
    /// Stop bits.
    pub stop_bits: i32,
    /// Silence after which received characters are passed on, in characters.
    pub rx_idle_chars: f32,
    /// Silence between two transmissions, in characters.
    pub tx_idle_chars: f32,
    /// Supply of the tool, where a state showed it \[V\].
    pub voltage: Option<u8>,
}

/// The end of a set-up. Every one has one of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetupOutcome {
    /// The line had these settings already, and nothing was sent.
    AlreadySet,
    /// The controller shows the new settings.
    Set,
    /// This arm has no such line, or its software does not show it.
    NoSuchLine(Option<SoftwareVersion>),
    /// The settings do not exist.
    Invalid(RenderError),
    /// C210: in local control the controller takes no programs.
    LocalControl(Shown),
    /// The settings were sent, and the controller shows these. [`Setup::said`] may tell why.
    NotTaken(Shown),
    /// No robot state came.
    NoState,
    /// The connection was refused.
    Refused,
    /// No connection within the time allowed.
    NoConnection,
    /// No byte came after connecting.
    NoGreeting,
    /// Something else than a controller's primary interface answers.
    WrongService(Found),
    /// The connection was closed.
    Closed {
        /// The settings had been sent.
        sent: bool,
    },
}

/// An event on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetupEvent {
    /// The controller's software.
    Software(SoftwareVersion),
    /// The settings are sent now, in place of these.
    Sent(Shown),
}

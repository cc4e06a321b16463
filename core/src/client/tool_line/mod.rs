//! The set-up of the tool's serial line: sent over port 30001, and confirmed by the states that the controller
//! publishes there (`core/docs/protocol/ur-client-interfaces.md 10`).
//!
//! Controllers send no reply to the text with the settings; their states show the settings in force. A [`Setup`] reads
//! the states first: if the line has the requested settings already, it sends nothing, and needs no remote control.
//! Otherwise it sends a secondary program, which does not interrupt the program that moves the arm, and waits for a
//! state with the new settings.
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

/// The TCP port on which the URCap of Universal Robots relays the tool's serial line, to one client at a time.
pub const PORT: u16 = 54_321;

/// The timeouts of a set-up of the tool's serial line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupConfig {
    /// The longest wait for a connection to the controller. Default 3 s.
    pub opening: Duration,
    /// The longest wait for the controller's first message after connecting. Default 2 s.
    pub greeting: Duration,
    /// The longest wait for a robot state that shows the settings of the serial line in force. Default 1 s, ten periods
    /// of the state.
    pub baseline: Duration,
    /// The longest wait for a robot state that shows the new settings of the serial line, after they were sent. Default
    /// 2 s.
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

/// The settings of the tool's serial line that robot states of the controller show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// `true` if the tool's serial line is switched on.
    pub enabled: bool,
    /// The bit rate of the tool's serial line \[baud\].
    pub baud_rate: i32,
    /// The parity of the tool's serial line: 0 none, 1 odd, 2 even.
    pub parity: i32,
    /// The number of stop bits of each character on the tool's serial line.
    pub stop_bits: i32,
    /// The duration of silence on the serial line after which received characters are passed on, in character times.
    pub rx_idle_chars: f32,
    /// The duration of silence between two transmissions on the serial line, in character times.
    pub tx_idle_chars: f32,
    /// The supply voltage of the tool \[V\]; `None` if no robot state has shown it.
    pub voltage: Option<u8>,
}

/// The outcome of a set-up of the tool's serial line. Each set-up has exactly one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetupOutcome {
    /// The tool's serial line had the requested settings already, and nothing was sent.
    AlreadySet,
    /// The controller shows the new settings of the tool's serial line.
    Set,
    /// This arm has no serial line at the tool, or its software does not show the line's settings. Contains the
    /// software version if it is known.
    NoSuchLine(Option<SoftwareVersion>),
    /// The requested settings of the tool's serial line are not valid.
    Invalid(RenderError),
    /// Message C210: the controller is in local control and accepts no programs. Contains the settings of the serial
    /// line that remain in force.
    LocalControl(Shown),
    /// The requested settings of the serial line were sent, but the controller shows others, which are contained here.
    /// [`Setup::said`] may return the cause.
    NotTaken(Shown),
    /// No robot state arrived from the controller in time.
    NoState,
    /// The connection to the controller was refused.
    Refused,
    /// The connection to the controller could not be made within the time allowed.
    NoConnection,
    /// No message arrived from the controller within the time allowed after connecting.
    NoGreeting,
    /// A service other than a controller's primary interface is listening on the port.
    WrongService(Found),
    /// The connection to the controller was closed before the outcome was known.
    Closed {
        /// `true` if the settings of the serial line had been sent before the connection was closed.
        sent: bool,
    },
}

/// An event during a set-up of the tool's serial line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetupEvent {
    /// The controller's software version, as its version message reports it.
    Software(SoftwareVersion),
    /// The new settings of the serial line are being sent. Contains the settings in force before.
    Sent(Shown),
}

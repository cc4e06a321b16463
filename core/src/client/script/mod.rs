//! The upload of a program file to a controller, and the determination of its outcome, by port 30001: the only port
//! that reports it.
//!
//! The text ports send no replies (`core/docs/protocol/ur-client-interfaces.md 5.1`). The outcome of a program is
//! derived from what the primary interface sends to all its clients: key messages (5.x, and CB3 from 3.14), exceptions
//! with line and column, error codes, and the state, which contains whether any program runs. [`Upload`] evaluates
//! these; old software sends only the last, which [`Evidence`] reports.
//!
//! ```
//! use outrigger_core::client::Output;
//! use outrigger_core::client::script::{ScriptFile, Upload, UploadConfig, UploadInput};
//! use outrigger_wire::time::Instant;
//!
//! let file = ScriptFile::new(b"def weld():\n  textmsg(\"seam\")\nend\n")?;
//! assert_eq!(file.name(), Some("weld"));
//! let mut memory = [0; 2048];
//! let mut upload = Upload::new(UploadConfig::default(), file, &mut memory)?;
//! upload.handle(Instant::ZERO, UploadInput::Start);
//! assert_eq!(upload.poll_output(), Some(Output::Open { port: Upload::PORT }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(super) mod file;
mod message_evaluator;
#[cfg(all(test, feature = "texts"))]
mod tests;
mod upload;

pub use file::{ScriptError, ScriptFile, ScriptKind, ScriptWarning, ScriptWarningKind};
pub use upload::{Upload, UploadInput};

use outrigger_wire::frame::Found;
use outrigger_wire::primary::ReportKind;
use outrigger_wire::robot::{MessageSource, RobotMode, SoftwareVersion, Text};
use outrigger_wire::time::Duration;

/// The timeouts of a program's upload to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadConfig {
    /// The longest wait for a connection to port 30001. Default 3 s.
    pub opening: Duration,
    /// The longest wait for the first message after connecting. Default 2 s.
    pub greeting: Duration,
    /// The longest wait for a robot state before the program is sent: the state shows whether a program runs already.
    /// Default 0.5 s.
    pub baseline: Duration,
    /// The longest wait for messages about the program after it was sent. Default 3 s.
    pub verdict: Duration,
    /// The addition to `verdict` per line of the program: a controller first compiles the whole program
    /// (`core/docs/protocol/ur-client-interfaces.md 5.2`; the time for it is not documented). Default 5 ms.
    pub per_line: Duration,
    /// The time for which messages are received after the program's start: it may fail at once, and old software drops
    /// the program of a disconnected sender (`core/docs/protocol/ur-client-interfaces.md 5.7`). For a secondary program
    /// it replaces `verdict`. Default 0.5 s.
    pub settle: Duration,
    /// `true` if the upload continues until the program ends.
    pub wait: bool,
}

impl Default for UploadConfig {
    fn default() -> Self {
        Self {
            opening: Duration::from_secs(3),
            greeting: Duration::from_secs(2),
            baseline: Duration::from_millis(500),
            verdict: Duration::from_secs(3),
            per_line: Duration::from_millis(5),
            settle: Duration::from_millis(500),
            wait: false,
        }
    }
}

/// The kind of message by which it is known that an uploaded program started, or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A key message of the controller with the program's name.
    KeyMessage,
    /// The flags for a running and a paused program in the controller's robot mode data: they cover all programs, not
    /// only the uploaded one.
    RobotModeData,
    /// A text message or pop-up of the controller that shows a string literal of the uploaded single statement. The
    /// name in a key message about a single statement is not documented.
    OwnWords,
}

/// The outcome of a program's upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadOutcome {
    /// The uploaded program has started and runs; contains the evidence for it.
    Started(Evidence),
    /// The uploaded program ran and has ended; contains the evidence for it.
    Ended(Evidence),
    /// A secondary program was sent: its success is not reported, and no error was.
    NoResultExpected,
    /// The text is not a valid program, or the program ended because of an error.
    Failed {
        /// `true` if the program had been started before the error.
        started: bool,
        /// The line and column of the error in the sent text, from 1; `None` if the software does not report them.
        position: Option<(i32, i32)>,
        /// The text of the error, as the controller reports it.
        text: Text<255>,
    },
    /// The controller reported C210: in local control it accepts no programs.
    LocalControl,
    /// The controller reported an error, and the uploaded program did not start.
    Reported {
        /// The code of the controller's error: `C<code>`.
        code: i32,
        /// The argument of the controller's error: `A<argument>`.
        argument: i32,
        /// The controller's description of the error; empty if its software sends none.
        text: Text<255>,
    },
    /// Another program replaced the uploaded one.
    Replaced,
    /// No message about the uploaded program arrived in time.
    Unheard(Silence),
    /// The connection to port 30001 was refused.
    Refused,
    /// The connection to port 30001 could not be made within the time allowed.
    NoConnection,
    /// The controller sent no message within the time allowed after connecting.
    NoGreeting,
    /// The service on port 30001 is not a controller's primary interface.
    WrongService(Found),
    /// The connection to port 30001 was closed, before or after the program was sent.
    Closed {
        /// `true` if the program had been sent before the connection was closed.
        sent: bool,
    },
}

/// The facts about the controller that are known if no message about the uploaded program arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silence {
    /// The robot mode in the newest robot state; `None` if none was received.
    pub robot_mode: Option<RobotMode>,
    /// `true` if a program ran before the uploaded one was sent: the robot state cannot distinguish the two.
    pub ran_before: bool,
    /// `true` if any program runs on the controller now.
    pub runs_now: bool,
}

/// An event of a program's upload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UploadEvent<'a> {
    /// The controller's software version, as its version message reports it.
    Software(SoftwareVersion),
    /// The program is being sent to the controller.
    Sent {
        /// `true` if another program runs, which the sent program replaces.
        replaces: bool,
    },
    /// The uploaded program has started and runs; contains the evidence for it.
    Started(Evidence),
    /// Programs were paused (`true`) or resumed (`false`): by a person, or by a stop.
    Paused(bool),
    /// A message of the controller to people.
    Message(ControllerMessage<'a>),
}

/// A message of a controller to people. It refers to the bytes received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerMessage<'a> {
    /// The kind of the controller's message.
    pub kind: ReportKind,
    /// The part of the controller that sent the message.
    pub source: MessageSource,
    /// The code and the argument of the message; 0 if its kind has none.
    pub code: (i32, i32),
    /// The severity of the message: 0 debug, 1 info, 2 warning, 3 violation, 4 fault, 5 critical fault; `None` if the
    /// kind has no level, or the software does not send it.
    pub level: Option<i32>,
    /// The title of the controller's message; empty if its kind has none.
    pub title: &'a [u8],
    /// The text of the message in the controller's extended ASCII; empty if the software sends none.
    pub text: &'a [u8],
}

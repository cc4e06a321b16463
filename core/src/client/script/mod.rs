//! A program file sent to a controller, and what became of it: over 30001, the only port that says so.
//!
//! The text ports answer nothing (`core/docs/protocol/ur-client-interfaces.md 5.1`). What is known of a program comes
//! from what the primary interface tells everybody: key messages (5.x, and CB3 from 3.14), exceptions with line and
//! column, error codes, and the state that says whether any program runs. [`Upload`] judges by these; old software has
//! only the last, and [`Evidence`] says so.
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
mod judge;
#[cfg(all(test, feature = "texts"))]
mod tests;
mod upload;

pub use file::{ScriptError, ScriptFile, ScriptKind, ScriptWarning, ScriptWarningKind};
pub use upload::{Upload, UploadInput};

use outrigger_wire::frame::Found;
use outrigger_wire::primary::ReportKind;
use outrigger_wire::robot::{MessageSource, RobotMode, SoftwareVersion, Text};
use outrigger_wire::time::Duration;

/// How long to wait, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UploadConfig {
    /// Longest wait for a connection. Default 3 s.
    pub opening: Duration,
    /// Longest wait for the first message after connecting. Default 2 s.
    pub greeting: Duration,
    /// Longest wait for a robot state before the program is sent: it tells whether a program runs already. Default 0.5 s.
    pub baseline: Duration,
    /// Longest wait for news of the program once it is sent. Default 3 s.
    pub verdict: Duration,
    /// So much longer per line: a controller compiles everything first
    /// (`core/docs/protocol/ur-client-interfaces.md 5.2`; how long that takes is not documented). Default 5 ms.
    pub per_line: Duration,
    /// How long to go on listening after the start, for a program that fails at once, and because old software drops
    /// a program whose sender is gone (5.7). Default 0.5 s.
    pub settle: Duration,
    /// Whether to go on until the program ends.
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

/// What shows that a program started, or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A key message with its name.
    KeyMessage,
    /// `isProgramRunning` of the robot mode data changed: some program runs, or none does.
    RobotModeData,
    /// A message or pop-up says what stands in the statement: software names no single statement when it starts.
    OwnWords,
}

/// What became of the program. Every upload ends with one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadOutcome {
    /// It runs.
    Started(Evidence),
    /// It ran, and is over.
    Ended(Evidence),
    /// A secondary program: it reports nothing, and nothing was said against it.
    NoResultExpected,
    /// It is no program, or ended by an error.
    Failed {
        /// Whether it had been started.
        started: bool,
        /// Line and column of what was sent, from 1, where the software tells them.
        position: Option<(i32, i32)>,
        /// What is wrong, in the controller's words.
        text: Text<255>,
    },
    /// C210: in local control the controller takes no programs.
    LocalControl,
    /// An error was reported and no program started.
    Reported {
        /// `C<code>`.
        code: i32,
        /// `A<argument>`.
        argument: i32,
        /// The controller's words, where its software sends any.
        text: Text<255>,
    },
    /// Another program took its place.
    Replaced,
    /// Nothing was heard of it.
    Unheard(Silence),
    /// The connection was refused.
    Refused,
    /// No connection within the time allowed.
    NoConnection,
    /// Nothing came after connecting.
    NoGreeting,
    /// Something else than a controller's primary interface answers.
    WrongService(Found),
    /// The connection was closed, before or after the program was sent.
    Closed {
        /// Whether the program had been sent.
        sent: bool,
    },
}

/// What is known where nothing was heard of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silence {
    /// The robot mode, where a state came.
    pub robot_mode: Option<RobotMode>,
    /// Whether a program ran before ours was sent: then the state cannot tell them apart.
    pub ran_before: bool,
    /// Whether any runs now.
    pub runs_now: bool,
}

/// What happened on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UploadEvent<'a> {
    /// The controller's software.
    Software(SoftwareVersion),
    /// The program is sent now.
    Sent {
        /// Whether another program runs, which it replaces.
        replaces: bool,
    },
    /// The program runs.
    Started(Evidence),
    /// Programs are paused, or go on: by a person, or by a stop.
    Paused(bool),
    /// A message of the controller to people.
    Message(ControllerMessage<'a>),
}

/// A message of a controller to people, as it stands in its bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControllerMessage<'a> {
    /// What it is.
    pub kind: ReportKind,
    /// Which part of the controller speaks.
    pub source: MessageSource,
    /// Code and argument; 0 where the kind has none.
    pub code: (i32, i32),
    /// How grave it is: 1 info, 2 warning, 3 violation, 4 fault; `None` where the kind has no level, or the software tells none.
    pub level: Option<i32>,
    /// Title; empty where the kind has none.
    pub title: &'a [u8],
    /// Text in the controller's extended ASCII; empty where the software sends none.
    pub text: &'a [u8],
}

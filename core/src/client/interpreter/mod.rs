//! Statements for a program in interpreter mode: sent, acknowledged, executed, aborted (port 30020,
//! `core/docs/protocol/ur-external-control.md 3`).
//!
//! A program that calls `interpreter_mode()` takes statements while it runs, which e-Series and PolyScope X have from 5.10 on.
//! [`Client`] sends those of a [`StatementFile`], each as one line, never more than [`InterpreterConfig::unanswered`] without a
//! reply and [`InterpreterConfig::ahead`] that wait for their execution. That program is another connection's: whoever sends
//! [`PROGRAM`] reports [`InterpreterInput::ProgramRuns`] and [`InterpreterInput::ProgramEnded`].
//!
//! ```
//! use outrigger_core::client::Output;
//! use outrigger_core::client::interpreter::{Client, InterpreterConfig, InterpreterInput, StatementFile};
//! use outrigger_wire::time::Instant;
//!
//! let file = StatementFile::new(b"# two statements\nif seam:\n  movej(q)\nend\nstopj(2)\n")?;
//! let mut memory = [0; 1024];
//! let mut client = Client::new(InterpreterConfig::default(), file, &mut memory);
//! client.handle(Instant::ZERO, InterpreterInput::Start);
//! assert_eq!(client.poll_output(), Some(Output::Open { port: 30_020 }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod lines;
mod pending;
mod statements;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use statements::{Statement, StatementError, StatementFile, Statements};

use outrigger_wire::robot::Text;
use outrigger_wire::time::Duration;

/// The program that takes the statements: it ends once they end interpreter mode.
pub const PROGRAM: &str = "def outrigger_interpreter():\n  interpreter_mode()\nend\n";

/// Limits and timeouts of a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterpreterConfig {
    /// Longest wait for a connection. Default 3 s.
    pub opening: Duration,
    /// Longest wait until a program that runs is in interpreter mode. Default 5 s.
    pub entering: Duration,
    /// Longest wait for the reply to a line. Default 2 s.
    pub reply: Duration,
    /// Time between two questions how far the statements are. Default 50 ms.
    pub poll: Duration,
    /// Longest wait for the end of the program after `end_interpreter()`, and after [`InterpreterInput::Cancel`]. Default 3 s.
    pub ending: Duration,
    /// The most statements without a reply, 1 … 8. Default 1: none behind one that is discarded was sent.
    pub unanswered: usize,
    /// The most statements that are accepted and not executed, 1 … 64. Default 32.
    pub ahead: usize,
    /// After so many accepted statements `clear_interpreter()` is sent, unless one of them defines or assigns something. Default
    /// 500, as in UR's sample: each statement makes the program longer.
    pub clear_every: u32,
}

impl Default for InterpreterConfig {
    fn default() -> Self {
        Self {
            opening: Duration::from_secs(3),
            entering: Duration::from_secs(5),
            reply: Duration::from_secs(2),
            poll: Duration::from_millis(50),
            ending: Duration::from_secs(3),
            unanswered: 1,
            ahead: 32,
            clear_every: 500,
        }
    }
}

/// An input of a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterInput {
    /// Begin: connect.
    Start,
    /// The connection asked for by `Output::Open` is established.
    Opened,
    /// The connection asked for by `Output::Open` was refused or could not be made.
    Refused,
    /// The peer, or the network stack, closed the connection.
    Closed,
    /// The program that calls `interpreter_mode()` runs.
    ProgramRuns,
    /// The program has ended.
    ProgramEnded,
    /// Stop the motion, drop all statements, end interpreter mode.
    Cancel,
    /// Time has passed. Always harmless.
    Tick,
}

/// An event of a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterEvent {
    /// The controller serves interpreter mode: the program may be sent.
    Connected,
    /// The program takes statements.
    Entered,
    /// A statement was accepted.
    Accepted {
        /// Its line in the file.
        line: u32,
        /// Its number on the controller.
        id: u32,
    },
    /// A statement was executed.
    Executed {
        /// Its line in the file.
        line: u32,
        /// Its number on the controller.
        id: u32,
    },
    /// A statement was discarded. Nothing more of the file is sent; what was accepted is executed.
    Discarded {
        /// Its line in the file.
        line: u32,
        /// The controller's reason.
        reason: Text<128>,
    },
    /// The statements so far were cleared from the controller's memory.
    Cleared {
        /// The number of the last one.
        id: u32,
    },
}

/// The end of a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterOutcome {
    /// All statements were executed, and interpreter mode has ended.
    Done,
    /// A statement was discarded; those before it were executed.
    Discarded {
        /// Its line in the file.
        line: u32,
        /// The controller's reason.
        reason: Text<128>,
    },
    /// The program ended before the statements did: by an error of one, by a stop, or because another took its place.
    ProgramEnded {
        /// The lines of the first statement that is not known to be executed and of the last that was accepted: it ended in one of
        /// these. `None` where none was.
        lines: Option<(u32, u32)>,
    },
    /// [`InterpreterInput::Cancel`] was carried out.
    Cancelled {
        /// Set where the program has ended; otherwise a statement is still being executed.
        ended: bool,
    },
    /// The program runs, and does not enter interpreter mode in time.
    NotEntered {
        /// The reason of the last line that was discarded, or empty.
        reason: Text<128>,
    },
    /// All statements were executed, and the program has not ended in time.
    NotEnded,
    /// The controller does not answer a line in time.
    Silent {
        /// The line of the statement, where it was one.
        line: Option<u32>,
    },
    /// A reply that answers nothing that was sent.
    WrongService {
        /// The reply.
        reply: Text<128>,
    },
    /// A reply is longer than the memory for it.
    ReplyTooLong {
        /// The line of the statement, where it was one.
        line: Option<u32>,
    },
    /// The connection was refused: the software has no interpreter mode, or something is between.
    Refused,
    /// No connection in time.
    NoConnection,
    /// The connection closed.
    Closed {
        /// The line of the first statement that is not known to be executed.
        line: Option<u32>,
    },
}

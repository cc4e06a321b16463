//! A client that sends statements to a program in interpreter mode, and follows their acknowledgement and execution
//! (port 30020, `core/docs/protocol/ur-external-control.md 3`).
//!
//! A program that calls `interpreter_mode()` accepts statements while it runs. E-Series and PolyScope X support this
//! from 5.10 on. [`Client`] sends those of a [`StatementFile`], each as one line, with at most
//! [`InterpreterConfig::unanswered`] waiting for a reply and [`InterpreterConfig::ahead`] waiting for execution. The
//! program itself is uploaded over another connection: its sender, who uploads [`PROGRAM`], reports
//! [`InterpreterInput::ProgramRuns`] and [`InterpreterInput::ProgramEnded`].
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
mod pending_statements;
mod statement_file;
mod statement_queue;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use statement_file::{Statement, StatementError, StatementFile, Statements};

use outrigger_wire::robot::Text;
use outrigger_wire::time::Duration;

/// The URScript program to upload to the controller: it enters interpreter mode, accepts the statements, and ends when
/// they end interpreter mode.
pub const PROGRAM: &str = "def outrigger_interpreter():\n  interpreter_mode()\nend\n";

/// The limits and timeouts of a [`Client`], which sends statements to a program in interpreter mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterpreterConfig {
    /// The longest wait for a connection to port 30020. Default 3 s.
    pub opening: Duration,
    /// The longest wait until a running program is in interpreter mode. Default 5 s.
    pub entering: Duration,
    /// The longest wait for the controller's reply to a line that was sent. Default 2 s.
    pub reply: Duration,
    /// The time between two queries of the last executed statement. Default 50 ms.
    pub poll: Duration,
    /// The longest wait for the end of the program after `end_interpreter()`, and after [`InterpreterInput::Cancel`].
    /// Default 3 s.
    pub ending: Duration,
    /// The most statements that wait for a reply, 1 … 8. Default 1: no statement after a discarded one has been sent.
    pub unanswered: usize,
    /// The most statements that are sent but not known to be executed, 1 … 64. Default 32.
    pub ahead: usize,
    /// The number of sent statements after which `clear_interpreter()` is sent, unless one of the file has defined or
    /// assigned something before. Default 500, as in UR's sample: each statement makes the program longer.
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

/// An input of a [`Client`]: start or cancellation, a change of the connection or of the program, or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterInput {
    /// The order to connect to the controller's port 30020.
    Start,
    /// The connection requested by `Output::Open` is established.
    Opened,
    /// The connection requested by `Output::Open` was refused or could not be made.
    Refused,
    /// The peer, or the network stack, closed the connection.
    Closed,
    /// The program that calls `interpreter_mode()` runs.
    ProgramRuns,
    /// The program that calls `interpreter_mode()` has ended.
    ProgramEnded,
    /// The order to stop the motion, discard all statements and end interpreter mode.
    Cancel,
    /// The time has advanced: due lines are sent, passed deadlines processed. Permitted at any time.
    Tick,
}

/// An event of a [`Client`] of interpreter mode: the connection, the entry into the mode, or the fate of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterEvent {
    /// The controller serves interpreter mode: the program may be sent.
    Connected,
    /// The program accepts statements from now on: it has entered interpreter mode.
    Entered,
    /// The controller accepted a statement of the file.
    Accepted {
        /// The number of the statement's line in the file.
        line: u32,
        /// The number that the controller gave the statement.
        id: u32,
    },
    /// The controller has executed a statement of the file.
    Executed {
        /// The number of the statement's line in the file.
        line: u32,
        /// The number that the controller gave the statement.
        id: u32,
    },
    /// A statement was discarded. The rest of the file is not sent; statements accepted before are executed.
    Discarded {
        /// The number of the statement's line in the file.
        line: u32,
        /// The controller's reason for discarding the statement.
        reason: Text<128>,
    },
    /// The statements so far were cleared from the controller's memory.
    Cleared {
        /// The number that the controller gave the `clear_interpreter()` statement.
        id: u32,
    },
}

/// The outcome of a statement file that a [`Client`] sent, once it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterOutcome {
    /// All statements were executed, and interpreter mode has ended.
    Done,
    /// The controller discarded a statement; those before it were executed.
    Discarded {
        /// The number of the discarded statement's line in the file.
        line: u32,
        /// The controller's reason for discarding the statement.
        reason: Text<128>,
    },
    /// The program ended before its statements did: by an error in one, by a stop, or because another program replaced
    /// it.
    ProgramEnded {
        /// The lines of the first statement that is not known to be executed and of the last accepted one: the program
        /// ended in one of these or between them. `None` if no statement was waiting.
        lines: Option<(u32, u32)>,
    },
    /// The client has ended because of [`InterpreterInput::Cancel`], and sends no further statement.
    Cancelled {
        /// `true` if the program has ended, or never ran; otherwise a statement may still be in execution.
        ended: bool,
    },
    /// The program runs but did not enter interpreter mode in time.
    NotEntered {
        /// The controller's reason for discarding the last probe (a `sync()` statement); empty if it discarded none.
        reason: Text<128>,
    },
    /// All accepted statements were executed, but the program has not ended in time.
    NotEnded,
    /// The controller did not reply to a line in time.
    Silent {
        /// The line, in the file, of the statement without a reply; `None` for a line that the client itself added.
        line: Option<u32>,
    },
    /// The controller sent a reply that does not match the line that was sent.
    WrongService {
        /// The text of the reply that does not match the sent line.
        reply: Text<128>,
    },
    /// A reply of the controller is longer than the receive memory.
    ReplyTooLong {
        /// The line, in the file, of the statement whose reply is too long; `None` for a line that the client itself
        /// added.
        line: Option<u32>,
    },
    /// The connection was refused: the software has no interpreter mode, or a firewall prevents it.
    Refused,
    /// The connection to port 30020 could not be made in time.
    NoConnection,
    /// The connection to port 30020 was closed before all statements were executed and the program had ended.
    Closed {
        /// The line, in the file, of the first accepted statement that is not known to be executed; `None` if no
        /// accepted statement was waiting.
        line: Option<u32>,
    },
}

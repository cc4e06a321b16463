//! The cause of a release: the person, program or event that ended commanding without a fault.
//!
//! For the core every release has the same reason, [`Reason::Released`]. This process distinguishes which input
//! caused it.

use std::fmt;

use outrigger_core::robot::Reason;

use crate::host::os::{HANG_UP, INTERRUPT};

/// The cause of a release, i.e. of a requested end of commanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleasedBy {
    /// Commanding ended on request, because the motion or the control law was completed.
    Finished,
    /// Commanding ended on request, because the motion was cancelled.
    Cancelled,
    /// Commanding ended on request, because a motion that had been stopped was not to be continued.
    Abandoned,
    /// Commanding ended on request, because a motion was rejected, or because the controller could not locate its goal
    /// pose.
    Refused,
    /// Commanding ended on request, because a motion ended before its goal while the arm was still commanded, for this
    /// reason.
    Unfinished(Reason),
    /// Commanding ended on request, because a contact of the tool ended the motion.
    Contact,
    /// The end of commanding was requested by a signal to this process, with this name. `SIGINT` is Ctrl-C.
    Signal(&'static str),
    /// The end of commanding was requested by the operator's key or line that ends this process.
    Quit,
    /// The end of commanding was requested by a key of the live view.
    Key,
    /// The end of commanding was requested by a line on standard input.
    Line,
    /// The end of commanding was requested by another process through `outrigger ctl`.
    Request,
    /// Commanding ended on request, because the process that had requested commanding through `outrigger ctl` withdrew
    /// its request.
    Withdrawn,
    /// The end of commanding was requested by a client of ROS 2.
    Ros,
    /// Commanding ended on request, because the duration for which the run was started was over.
    Time,
    /// The end of commanding was requested by the program that holds the handle of the session.
    Program,
    /// The end of commanding was requested by an electrical input of the robot or of this device.
    Input,
    /// Commanding ended by a stop or a pause at the pendant of the robot, with this reason.
    Pendant(Reason),
}

impl ReleasedBy {
    /// Converts the word by which [`Signals`](crate::host::signals::Signals) reports a request to end this process.
    #[must_use]
    pub fn of_signal(word: &'static str) -> Self {
        if word == QUIT { Self::Quit } else { Self::Signal(word) }
    }

    /// Returns `true` if the cause of the release is Ctrl-C.
    #[must_use]
    pub fn is_interrupt(self) -> bool {
        self == Self::Signal(INTERRUPT)
    }

    /// Returns the name of the release's cause in machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
            Self::Abandoned => "abandoned",
            Self::Refused => "refused",
            Self::Contact => "contact",
            Self::Signal(name) => name,
            Self::Quit => QUIT,
            Self::Key => "key",
            Self::Line => "line",
            Self::Request => "request",
            Self::Withdrawn => "withdrawn",
            Self::Ros => "ros2",
            Self::Time => "time",
            Self::Program => "program",
            Self::Input => "input",
            Self::Unfinished(reason) | Self::Pendant(reason) => reason.name(),
        }
    }
}

/// Formats the cause of a release as a clause that follows a colon.
impl fmt::Display for ReleasedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::Finished => "finished",
            Self::Cancelled => "the motion was cancelled",
            Self::Abandoned => "the motion does not go on",
            Self::Refused => "the motion was refused",
            Self::Contact => "the tool touched something, which ended the motion",
            Self::Signal(name) if name == INTERRUPT => "Ctrl-C",
            Self::Signal(name) if name == HANG_UP => "the terminal was closed",
            Self::Signal(name) => name,
            Self::Quit => "the operator quit",
            Self::Key => "released by key s",
            Self::Line => "released on standard input",
            Self::Request => "released by another process",
            Self::Withdrawn => "its requester has withdrawn the request",
            Self::Ros => "released by a ROS 2 client",
            Self::Time => "the time is over",
            Self::Program => "released by the program",
            Self::Input => "released by an input",
            Self::Unfinished(reason) | Self::Pendant(reason) => {
                return write!(f, "{} ({})", reason.text(), reason.name());
            }
        })
    }
}

/// The word for a request to end this process by the operator's key or input line, used as signals use their names.
pub const QUIT: &str = "quit";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_cause_has_a_name_and_words_of_its_own() {
        use ReleasedBy::*;
        let signals = [Signal(INTERRUPT), Signal(HANG_UP), Signal("SIGTERM")];
        let pendant = [Pendant(Reason::ProgramStopped), Pendant(Reason::ProgramPaused)];
        let others = [
            Finished,
            Cancelled,
            Abandoned,
            Refused,
            Unfinished(Reason::Starved),
            Contact,
            Quit,
            Key,
            Line,
            Request,
            Withdrawn,
            Ros,
            Time,
            Program,
            Input,
        ];
        let all: Vec<_> = signals.into_iter().chain(pendant).chain(others).collect();
        let names: BTreeSet<_> = all.iter().map(|by| by.name()).collect();
        let words: BTreeSet<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!((names.len(), words.len()), (all.len(), all.len()), "{names:?} {words:?}");
    }

    #[test]
    fn a_signal_is_not_taken_for_the_operators_word() {
        assert_eq!(ReleasedBy::of_signal(QUIT), ReleasedBy::Quit);
        assert_eq!(ReleasedBy::of_signal("SIGTERM"), ReleasedBy::Signal("SIGTERM"));
        assert!(ReleasedBy::of_signal(INTERRUPT).is_interrupt() && !ReleasedBy::of_signal(HANG_UP).is_interrupt());
    }
}

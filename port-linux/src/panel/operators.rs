//! The operators of a session, and their inputs by keys, signals or handles.

use outrigger_core::engine::Input;
use outrigger_core::mode::Epoch;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::exit::Failure;
use crate::host::os::HANG_UP;
use crate::host::signals::{OnSignal, Signals};
use crate::released::ReleasedBy;
use crate::show::Key;

/// An input of a session's operator: by a key, a signal, a line of standard input, or a program that holds a handle of
/// the session. Two inputs also come from timers: [`End`](Self::End) and [`Look`](Self::Look).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorInput {
    /// Ends the session, for this cause.
    End(ReleasedBy),
    /// Requests that the arm is commanded. Contains the session's epoch (a counter of connections and losses of
    /// authority) that the operator has seen.
    Request(Epoch),
    /// Requests to resume a suspended motion. Contains the session's epoch (a counter of connections and losses of
    /// authority) that the operator has seen.
    Resume(Epoch),
    /// Releases the arm for this cause: commanding ends, and the arm is brought to rest.
    Release(ReleasedBy),
    /// Acknowledges a fault: clears its reason, which was latched, i.e. prevented commanding until now.
    Acknowledge,
    /// Updates the display of the session, because its interval has passed. The engine only processes passed deadlines.
    Look,
}

impl OperatorInput {
    /// Converts the operator's input to an input of the engine.
    #[must_use]
    pub const fn input(self) -> Input {
        match self {
            Self::End(_) => Input::Shutdown,
            Self::Request(epoch) => Input::Request(epoch),
            Self::Resume(epoch) => Input::Resume(epoch),
            Self::Release(_) => Input::Release,
            Self::Acknowledge => Input::Acknowledge,
            Self::Look => Input::Tick,
        }
    }

    /// Parses a line that an operator has entered after seeing the session's epoch `seen`. Returns `None` if it is not
    /// valid. A request may contain an epoch itself, if a script has read it before.
    #[must_use]
    pub(crate) fn of_line(line: &str, seen: Epoch) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (word, number, rest) = (words.next()?, words.next(), words.next());
        let epoch = match number {
            None => Some(seen),
            Some(number) => number.parse().ok().map(Epoch::from_number),
        };
        match (word, number, rest) {
            ("start" | "request", _, None) => epoch.map(Self::Request),
            ("resume", _, None) => epoch.map(Self::Resume),
            ("stop" | "release", None, None) => Some(Self::Release(ReleasedBy::Line)),
            ("reset" | "acknowledge", None, None) => Some(Self::Acknowledge),
            ("quit", None, None) => Some(Self::End(ReleasedBy::Quit)),
            _ => None,
        }
    }
}

impl From<Key> for OperatorInput {
    fn from(key: Key) -> Self {
        match key {
            Key::HangUp => Self::End(ReleasedBy::Signal(HANG_UP)),
            Key::End(who) => Self::End(who),
            Key::Request(seen) => Self::Request(seen),
            Key::Resume(seen) => Self::Resume(seen),
            Key::Release(by) => Self::Release(by),
            Key::Acknowledge => Self::Acknowledge,
        }
    }
}

/// The inputs of a session's operators: signals to this process and keys of its view, or a handle in the same
/// process.
#[derive(Debug)]
pub struct Operators {
    /// The signals to this process. `None` if code outside of the session handles them.
    pub(super) signals: Option<Signals>,
    pub(super) sender: UnboundedSender<Key>,
    pub(super) keys: UnboundedReceiver<Key>,
}

impl Operators {
    /// Creates the inputs from signals and keys of this process. `leaves` says what happens if the process is ended
    /// immediately.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if signals cannot be handled.
    pub fn here(leaves: OnSignal) -> Result<Self, Failure> {
        Ok(Self { signals: Some(Signals::listen(leaves)?), ..Self::elsewhere() })
    }

    /// Creates operator inputs that are sent by [`sender`](Self::sender) only, without signals.
    #[must_use]
    pub(crate) fn elsewhere() -> Self {
        let (sender, keys) = unbounded_channel();
        Self { signals: None, sender, keys }
    }

    /// Returns `true` if a signal has requested the end of the session since the last call.
    pub fn has_ended(&mut self) -> bool {
        self.signals.as_mut().is_some_and(|signals| signals.heard().is_some())
    }

    /// Returns a sender by which other threads pass inputs to the session.
    #[must_use]
    pub(crate) fn sender(&self) -> UnboundedSender<Key> {
        self.sender.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_carries_the_epoch_that_was_seen_unless_it_names_one() {
        let seen = Epoch::from_number(4);
        let of = |line| OperatorInput::of_line(line, seen);
        for (new, old) in
            [("start", "request"), ("start 3", "request 3"), ("stop", "release"), ("reset", "acknowledge")]
        {
            assert_eq!(of(new), of(old), "{new}");
        }
        assert_eq!(
            (of("request"), of("resume")),
            (Some(OperatorInput::Request(seen)), Some(OperatorInput::Resume(seen)))
        );
        assert_eq!(of("request 3"), Some(OperatorInput::Request(Epoch::from_number(3))));
        assert_eq!(
            (of("release"), of("acknowledge")),
            (Some(OperatorInput::Release(ReleasedBy::Line)), Some(OperatorInput::Acknowledge))
        );
        assert_eq!(of("quit"), Some(OperatorInput::End(ReleasedBy::Quit)));
        for nonsense in ["", "requests", "request now", "request 3 4", "release 3", "request -1", "request 99999999999"]
        {
            assert_eq!(of(nonsense), None, "{nonsense}");
        }
    }
}

//! Who speaks to a session, and what they want.

use outrigger_core::engine::Input;
use outrigger_core::mode::Epoch;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::exit::Failure;
use crate::host::os::HANG_UP;
use crate::host::signals::{Leaves, Signals};
use crate::released::ReleasedBy;
use crate::show::Key;

/// What the operator wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// End the command, for this cause.
    End(ReleasedBy),
    /// Ask to command, having seen this epoch.
    Request(Epoch),
    /// Ask to go on with a motion that was suspended.
    Resume(Epoch),
    /// Take the request back, for this cause.
    Release(ReleasedBy),
    /// Clear the latched reason.
    Acknowledge,
    /// Nothing of the engine: see how it stands.
    Look,
}

impl Wish {
    /// The same for the engine.
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

    /// What a line of somebody who has seen this epoch means; `None` where it is no word of an operator. A request may name
    /// the epoch itself, as a script does that has read it.
    #[must_use]
    pub(crate) fn of_line(line: &str, seen: Epoch) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (word, number, rest) = (words.next()?, words.next(), words.next());
        let epoch = match number {
            None => Some(seen),
            Some(number) => number.parse().ok().map(Epoch::from_number),
        };
        match (word, number, rest) {
            ("request", _, None) => epoch.map(Self::Request),
            ("resume", _, None) => epoch.map(Self::Resume),
            ("release", None, None) => Some(Self::Release(ReleasedBy::Line)),
            ("acknowledge", None, None) => Some(Self::Acknowledge),
            ("quit", None, None) => Some(Self::End(ReleasedBy::Quit)),
            _ => None,
        }
    }
}

impl From<Key> for Wish {
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

/// Who speaks to a session: this process's signals and the keys of its view, or a handle in the same process.
#[derive(Debug)]
pub struct Operators {
    /// `None` where signals are somebody else's.
    pub(super) signals: Option<Signals>,
    pub(super) sender: UnboundedSender<Key>,
    pub(super) keys: UnboundedReceiver<Key>,
}

impl Operators {
    /// Whoever sits before this process, which `leaves` that where it is ended at once.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where signals cannot be handled.
    pub fn here(leaves: Leaves) -> Result<Self, Failure> {
        Ok(Self { signals: Some(Signals::listen(leaves)?), ..Self::elsewhere() })
    }

    /// Those who speak by [`sender`](Self::sender) alone.
    #[must_use]
    pub(crate) fn elsewhere() -> Self {
        let (sender, keys) = unbounded_channel();
        Self { signals: None, sender, keys }
    }

    /// Returns whether a signal has asked for the end.
    pub fn has_ended(&mut self) -> bool {
        self.signals.as_mut().is_some_and(|signals| signals.heard().is_some())
    }

    /// Where to speak from.
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
        let of = |line| Wish::of_line(line, seen);
        assert_eq!((of("request"), of("resume")), (Some(Wish::Request(seen)), Some(Wish::Resume(seen))));
        assert_eq!(of("request 3"), Some(Wish::Request(Epoch::from_number(3))));
        assert_eq!(
            (of("release"), of("acknowledge")),
            (Some(Wish::Release(ReleasedBy::Line)), Some(Wish::Acknowledge))
        );
        assert_eq!(of("quit"), Some(Wish::End(ReleasedBy::Quit)));
        for nonsense in ["", "requests", "request now", "request 3 4", "release 3", "request -1", "request 99999999999"]
        {
            assert_eq!(of(nonsense), None, "{nonsense}");
        }
    }
}

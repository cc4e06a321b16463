//! Leave to send the controller a program of somebody else's: given by the loop while nothing is commanded, and taken back where
//! commanding begins before it was used.
//!
//! From when it is used until its program runs, or is known not to, a request is refused: two programs would be on their way, and the
//! later one ends the other. Once it runs, the engine sees it as it sees any program of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Nobody has leave.
const NONE: u8 = 0;
/// Somebody has, and has not used it.
const GIVEN: u8 = 1;
/// A program is on its way.
const USED: u8 = 2;

/// The loop's side of the leave of one run, which one client at a time has.
#[derive(Clone, Debug, Default)]
pub(super) struct Errands(Arc<AtomicU8>);

/// The client's side. Leave that is not used when this is dropped, in whatever way that comes about, is taken back.
#[derive(Debug)]
pub struct Errand(Errands);

/// A program is on its way until this is dropped.
#[derive(Debug)]
pub struct OnItsWay(Errands);

impl Errands {
    fn turn(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Gives leave; false where somebody has it.
    pub(super) fn give(&self) -> bool {
        self.turn(NONE, GIVEN)
    }

    /// Takes it back where it was not used.
    pub(super) fn take_back(&self) {
        self.turn(GIVEN, NONE);
    }

    /// Returns whether a program is on its way.
    pub(super) fn is_used(&self) -> bool {
        self.0.load(Ordering::Acquire) == USED
    }

    /// Returns the side of a client that has asked for leave.
    pub(super) fn errand(&self) -> Errand {
        Errand(self.clone())
    }
}

impl Errand {
    /// Uses the leave: the program may be sent now. `None` where it was taken back.
    pub fn set_out(&self) -> Option<OnItsWay> {
        self.0.turn(GIVEN, USED).then(|| OnItsWay(self.0.clone()))
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        self.0.take_back();
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.0.turn(USED, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_used_once_and_not_after_it_was_taken_back() {
        let errands = Errands::default();
        let errand = errands.errand();
        assert!(errand.set_out().is_none() && errands.give() && !errands.give() && !errands.is_used());
        errands.take_back();
        assert!(errand.set_out().is_none());
        assert!(errands.give());
        let way = errand.set_out().expect("it was given");
        errands.take_back();
        assert!(errands.is_used() && !errands.give() && errand.set_out().is_none());
        drop(errand);
        assert!(errands.is_used(), "the program is on its way all the same");
        drop(way);
        assert!(!errands.is_used() && errands.give());
    }

    #[test]
    fn leave_that_its_client_never_used_is_free_again() {
        let errands = Errands::default();
        assert!(errands.give());
        drop(errands.errand());
        assert!(errands.give(), "a script that could not be read, or whose client is gone, keeps nobody from the next");
    }
}

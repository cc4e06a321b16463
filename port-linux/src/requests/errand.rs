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

/// The leave of one run, which one client at a time has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errand(Arc<AtomicU8>);

/// A program is on its way until this is dropped.
#[derive(Debug)]
pub(crate) struct OnItsWay(Errand);

impl Errand {
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

    /// Whether a program is on its way.
    pub(super) fn is_used(&self) -> bool {
        self.0.load(Ordering::Acquire) == USED
    }

    /// Uses it: the program may be sent now. `None` where it was taken back.
    #[cfg_attr(
        not(any(feature = "ros2", test)),
        expect(dead_code, reason = "only a node of ROS 2 sends programs of others")
    )]
    pub(crate) fn set_out(&self) -> Option<OnItsWay> {
        self.turn(GIVEN, USED).then(|| OnItsWay(self.clone()))
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
        let errand = Errand::default();
        assert!(errand.set_out().is_none() && errand.give() && !errand.give() && !errand.is_used());
        errand.take_back();
        assert!(errand.set_out().is_none());
        assert!(errand.give());
        let way = errand.set_out().expect("it was given");
        errand.take_back();
        assert!(errand.is_used() && !errand.give() && errand.set_out().is_none());
        drop(way);
        assert!(!errand.is_used() && errand.give());
    }
}

//! The record of which request armed the arm, i.e. began the preparation for commanding it, for a client that withdraws
//! its request.

use outrigger_core::mode::Epoch;

/// The record of which request armed the arm (began the preparation for commanding it) in the present epoch, a counter
/// of connections to the robot and losses of authority. `K` identifies a request and its client.
///
/// Withdrawing a request stops the arm only if that very request armed it, and no other request was granted since:
/// commanding that another client began, or relies on by now, continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Armed<K> {
    /// The epoch of the newest granted request to command, and the request that armed the arm in it; `None` instead of
    /// the request if the arm was commanded already, a further request was granted in that epoch, or the request cannot
    /// be withdrawn.
    newest: Option<(Epoch, Option<K>)>,
}

impl<K> Default for Armed<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Armed<K> {
    /// Creates the record of an arm that no request has armed so far.
    #[must_use]
    pub const fn new() -> Self {
        Self { newest: None }
    }

    /// Records that request `by` to command the arm was granted in `epoch`. `commanded` is `true` if the arm was
    /// already commanded: the request did not arm it then.
    pub fn granted(&mut self, by: K, epoch: Epoch, commanded: bool) {
        let again = self.newest.as_ref().is_some_and(|(before, _)| *before == epoch);
        self.newest = Some((epoch, (!commanded && !again).then_some(by)));
    }

    /// Records that a request to command that cannot be withdrawn, such as a key press, was granted in `epoch`.
    pub fn taken_over(&mut self, epoch: Epoch) {
        self.newest = Some((epoch, None));
    }
}

impl<K: PartialEq> Armed<K> {
    /// Returns whether withdrawing request `by` in the epoch `present` has to stop the arm: `true` only if that request
    /// alone armed it in this epoch.
    #[must_use]
    pub fn is_by(&self, by: &K, present: Epoch) -> bool {
        self.newest.as_ref().is_some_and(|(epoch, armed)| *epoch == present && armed.as_ref() == Some(by))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Epoch = Epoch::from_number(3);

    #[test]
    fn a_request_is_withdrawn_by_itself_alone_in_its_epoch_until_somebody_takes_over() {
        let mut armed = Armed::new();
        assert!(!armed.is_by(&(1, 7), NOW));
        armed.granted((1, 7), NOW, false);
        assert!(armed.is_by(&(1, 7), NOW));
        assert!(!armed.is_by(&(1, 8), NOW) && !armed.is_by(&(2, 7), NOW));
        assert!(!armed.is_by(&(1, 7), Epoch::from_number(4)), "it was released, or fell back");
        for other in [(1, 8), (2, 7)] {
            let mut armed = armed;
            armed.granted(other, NOW, true);
            assert!(!armed.is_by(&(1, 7), NOW) && !armed.is_by(&other, NOW), "{other:?} relies on it, and did not arm");
            armed.granted((1, 9), NOW, false);
            assert!(!armed.is_by(&(1, 9), NOW), "decided in one step with another one");
        }
        armed.taken_over(NOW);
        assert!(!armed.is_by(&(1, 7), NOW));
    }
}

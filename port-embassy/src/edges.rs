//! What operators ask for, while nobody has come to take it.

use heapless::Vec;

/// One thing an operator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Request,
    Resume,
    Release,
    Acknowledge,
    Shutdown,
}

/// Edges in the order they came. There is room for all that still mean something:
///
/// | comes | does to what waits |
/// |---|---|
/// | `Request`, `Resume` | the newer takes the place of the older |
/// | `Release`, `Shutdown` | takes back what was asked for and has not begun |
/// | `Acknowledge`, `Release`, `Shutdown` again | is the one that waits |
/// | anything after `Shutdown` | comes too late |
#[derive(Debug, Default)]
pub(crate) struct Edges(Vec<Edge, 4>);

impl Edges {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn push(&mut self, edge: Edge) {
        if self.0.contains(&Edge::Shutdown) {
            return;
        }
        if edge != Edge::Acknowledge {
            self.0.retain(|waiting| !matches!(waiting, Edge::Request | Edge::Resume));
        }
        if !self.0.contains(&edge) {
            // One of a kind, and one of `Request` and `Resume`: four at most.
            let _ = self.0.push(edge);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Edge> {
        let first = self.0.first().copied()?;
        let mut taken = false;
        self.0.retain(|_| core::mem::replace(&mut taken, true));
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::Edge::{Acknowledge, Release, Request, Resume, Shutdown};
    use super::*;

    fn waiting(pushed: &[Edge]) -> Vec<Edge, 8> {
        let mut edges = Edges::new();
        pushed.iter().for_each(|edge| edges.push(*edge));
        core::iter::from_fn(|| edges.pop()).collect()
    }

    #[test]
    fn edges_are_taken_in_the_order_they_came() {
        assert_eq!(waiting(&[Acknowledge, Request]), [Acknowledge, Request]);
        assert_eq!(waiting(&[Release, Acknowledge, Resume, Shutdown]), [Release, Acknowledge, Shutdown]);
        assert_eq!(waiting(&[Release, Request]), [Release, Request]);
    }

    #[test]
    fn a_release_takes_back_what_was_asked_for_before_it_and_nothing_after_it() {
        assert_eq!(waiting(&[Request, Release]), [Release]);
        assert_eq!(waiting(&[Release, Request, Release]), [Release]);
        assert_eq!(waiting(&[Request, Release, Resume]), [Release, Resume]);
        assert_eq!(waiting(&[Acknowledge, Request, Release]), [Acknowledge, Release]);
    }

    #[test]
    fn the_newer_of_request_and_resume_counts() {
        assert_eq!(waiting(&[Request, Resume]), [Resume]);
        assert_eq!(waiting(&[Resume, Acknowledge, Request]), [Acknowledge, Request]);
        assert_eq!(waiting(&[Request, Request]), [Request]);
    }

    #[test]
    fn nothing_is_asked_for_after_a_shutdown() {
        assert_eq!(waiting(&[Request, Shutdown, Request, Acknowledge, Release]), [Shutdown]);
    }

    #[test]
    fn a_release_and_a_shutdown_are_never_lost_whatever_comes_before_and_after_them() {
        let all = [Request, Resume, Release, Acknowledge];
        // Every sequence of six of the four.
        for number in 0..4_usize.pow(6) {
            let pushed: Vec<Edge, 8> = (0..6).map(|digit| all[number >> (2 * digit) & 3]).collect();
            let taken = waiting(&pushed);
            let last_wish = pushed.iter().rposition(|edge| *edge != Acknowledge);
            let expected = last_wish.map(|at| pushed[at]);
            assert_eq!(taken.iter().rfind(|edge| **edge != Acknowledge).copied(), expected, "{pushed:?} -> {taken:?}");
            assert_eq!(taken.contains(&Release), pushed.contains(&Release), "{pushed:?} -> {taken:?}");
            assert_eq!(taken.contains(&Acknowledge), pushed.contains(&Acknowledge), "{pushed:?} -> {taken:?}");
        }
    }
}

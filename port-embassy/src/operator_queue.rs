//! The queue of operators' messages for the robot's task, such as a request to command or a stop.

use heapless::Vec;
use outrigger_core::mode::{Contact, Epoch};

/// A message of an operator for the robot's task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Request(Epoch),
    Resume(Epoch),
    Release,
    Acknowledge,
    /// A pin of the operator has changed its level; `true` is high.
    Pin(Contact, bool),
    Shutdown,
    #[cfg(feature = "programs")]
    HandBack,
    #[cfg(feature = "programs")]
    Resend,
}

/// The queue of operators' messages, in the order of their arrival. It has room for all messages that still have a
/// meaning:
///
/// | message | effect on waiting messages |
/// |---|---|
/// | `Request`, `Resume` | the newer replaces the older |
/// | `Release`, `Shutdown`, a stop or request pin that is low | cancels a request by message that has not begun |
/// | `Acknowledge`, `Release`, `HandBack`, `Resend`, `Shutdown` again | is merged with the waiting one |
/// | a pin that is low | replaces the waiting levels of this pin |
/// | a pin that is high | waits behind its low level |
/// | any message after `Shutdown` | is dropped |
#[derive(Debug, Default)]
pub(crate) struct Edges(Vec<Edge, ROOM>);

/// The number of messages for which the queue has room: one of `Request` and `Resume`, one of each other message, and
/// the newest two levels of each pin.
const ROOM: usize = 1 + 3 + 2 * 3 + if cfg!(feature = "programs") { 2 } else { 0 };

impl Edges {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn push(&mut self, edge: Edge) {
        if self.0.contains(&Edge::Shutdown) {
            return;
        }
        let takes_back = match edge {
            Edge::Acknowledge | Edge::Pin(Contact::Acknowledge, _) | Edge::Pin(_, true) => false,
            #[cfg(feature = "programs")]
            Edge::HandBack | Edge::Resend => false,
            Edge::Request(_) | Edge::Resume(_) | Edge::Release | Edge::Shutdown | Edge::Pin(_, false) => true,
        };
        if takes_back {
            self.0.retain(|waiting| !matches!(waiting, Edge::Request(_) | Edge::Resume(_)));
        }
        if let Edge::Pin(pin, false) = edge {
            self.0.retain(|waiting| !matches!(waiting, Edge::Pin(other, _) if *other == pin));
        }
        if !self.0.contains(&edge) {
            // There is room for all that can wait at the same time.
            let _ = self.0.push(edge);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
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
    use super::Edge::{Acknowledge, Pin, Release, Shutdown};
    use super::*;

    const REQUEST: Edge = Edge::Request(Epoch::from_number(3));
    const RESUME: Edge = Edge::Resume(Epoch::from_number(3));

    fn waiting(pushed: &[Edge]) -> Vec<Edge, 8> {
        let mut edges = Edges::new();
        pushed.iter().for_each(|edge| edges.push(*edge));
        core::iter::from_fn(|| edges.pop()).collect()
    }

    #[test]
    fn edges_are_taken_in_the_order_they_came() {
        assert_eq!(waiting(&[Acknowledge, REQUEST]), [Acknowledge, REQUEST]);
        assert_eq!(waiting(&[Release, Acknowledge, RESUME, Shutdown]), [Release, Acknowledge, Shutdown]);
        assert_eq!(waiting(&[Release, REQUEST]), [Release, REQUEST]);
    }

    #[test]
    fn a_release_takes_back_what_was_asked_for_before_it_and_nothing_after_it() {
        assert_eq!(waiting(&[REQUEST, Release]), [Release]);
        assert_eq!(waiting(&[Release, REQUEST, Release]), [Release]);
        assert_eq!(waiting(&[REQUEST, Release, RESUME]), [Release, RESUME]);
        assert_eq!(waiting(&[Acknowledge, REQUEST, Release]), [Acknowledge, Release]);
    }

    #[cfg(feature = "programs")]
    #[test]
    fn words_for_the_program_wait_beside_the_others_and_after_a_shutdown_nothing() {
        let asked = [Edge::HandBack, REQUEST, Edge::Resend, Edge::HandBack, Release];
        assert_eq!(waiting(&asked), [Edge::HandBack, Edge::Resend, Release]);
        assert_eq!(waiting(&[Shutdown, Edge::HandBack]), [Shutdown]);
    }

    #[test]
    fn the_newer_of_request_and_resume_counts() {
        assert_eq!(waiting(&[REQUEST, RESUME]), [RESUME]);
        assert_eq!(waiting(&[RESUME, Acknowledge, REQUEST]), [Acknowledge, REQUEST]);
        assert_eq!(waiting(&[REQUEST, REQUEST]), [REQUEST]);
    }

    #[test]
    fn nothing_is_asked_for_after_a_shutdown() {
        assert_eq!(waiting(&[REQUEST, Shutdown, REQUEST, Acknowledge, Release]), [Shutdown]);
    }

    #[test]
    fn a_release_and_a_shutdown_are_never_lost_whatever_comes_before_and_after_them() {
        let all = [REQUEST, RESUME, Release, Acknowledge];
        // Every sequence of six of the four messages.
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

    #[test]
    fn a_low_level_is_never_lost_and_high_comes_after_it() {
        use Contact::{Acknowledge as Ack, Request, Stop};
        assert_eq!(waiting(&[Pin(Request, false), Pin(Request, true)]), [Pin(Request, false), Pin(Request, true)]);
        assert_eq!(waiting(&[Pin(Request, true), Pin(Request, false)]), [Pin(Request, false)]);
        assert_eq!(waiting(&[REQUEST, Pin(Stop, false), Acknowledge]), [Pin(Stop, false), Acknowledge]);
        assert_eq!(waiting(&[REQUEST, Pin(Ack, false), Pin(Ack, true)]), [REQUEST, Pin(Ack, false), Pin(Ack, true)]);
        // Every sequence of six levels of two pins, while all other messages wait too.
        for number in 0..4_usize.pow(6) {
            let mut pushed: Vec<Edge, 16> = [Acknowledge, Release, RESUME].into_iter().collect();
            let levels = (0..6).map(|digit| number >> (2 * digit) & 3);
            pushed.extend(levels.map(|level| Pin(if level & 2 == 0 { Stop } else { Request }, level & 1 == 1)));
            let mut edges = Edges::new();
            pushed.iter().for_each(|edge| edges.push(*edge));
            edges.push(Shutdown);
            let taken: Vec<Edge, 16> = core::iter::from_fn(|| edges.pop()).collect();
            assert_eq!(taken.last(), Some(&Shutdown), "{pushed:?} -> {taken:?}");
            for pin in [Stop, Request] {
                let of = |edges: &[Edge]| -> Vec<bool, 16> {
                    let level =
                        |edge: &Edge| if let Pin(of, high) = edge { (*of == pin).then_some(*high) } else { None };
                    edges.iter().filter_map(level).collect()
                };
                let (given, got) = (of(&pushed), of(&taken));
                assert_eq!(given.last(), got.last(), "{pushed:?} -> {taken:?}");
                assert_eq!(given.contains(&false), got.contains(&false), "{pushed:?} -> {taken:?}");
            }
        }
    }
}

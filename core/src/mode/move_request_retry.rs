//! The repetition of a request for a move while the reason against it is temporary.
//!
//! | reason against the move | result |
//! |---|---|
//! | the arm is not at rest, the program has not reported yet, or is held by the speed slider or a pause | the request is repeated until `patience` is over |
//! | any other reason, or the same after that time | the move is refused for it |
//!
//! ```
//! use outrigger_core::mode::{MoveNumber, Offer};
//! use outrigger_core::robot::Reason;
//! use outrigger_wire::time::{Duration, Instant};
//!
//! let mut offer = Offer::new(Duration::from_secs(5));
//! assert_eq!(offer.judge(Err(Reason::NotAtRest), Instant::ZERO), None);
//! let late = Instant::ZERO + Duration::from_secs(6);
//! assert_eq!(offer.judge(Err(Reason::NotAtRest), late), Some(Err(Reason::NotAtRest)));
//! assert_eq!(offer.judge(Ok(MoveNumber::new(1).unwrap()), late), Some(Ok(MoveNumber::new(1).unwrap())));
//! ```

use super::MoveNumber;
use crate::robot::Reason;
use outrigger_wire::time::{Duration, Instant};

/// A request for a move that is repeated until it is accepted or refused. Its timeout counts from the first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    patience: Duration,
    since: Option<Instant>,
}

impl Offer {
    /// Creates a request for a move that is repeated for `patience` at most.
    #[must_use]
    pub const fn new(patience: Duration) -> Self {
        Self { patience, since: None }
    }

    /// Takes the answer of [`Engine::offer`](crate::engine::Engine::offer) to the attempt made at `now`. Returns `None`
    /// if the request is to be repeated, otherwise the number of the accepted move or the refusal.
    ///
    /// # Errors
    /// In the returned value: the reason for which the move is refused.
    pub fn judge(&mut self, answer: Result<MoveNumber, Reason>, now: Instant) -> Option<Result<MoveNumber, Reason>> {
        let waits = now.since(*self.since.get_or_insert(now)) <= self.patience;
        match answer {
            Err(Reason::NotAtRest | Reason::EvidenceMissing | Reason::HeldByScaling | Reason::ProgramPaused)
                if waits =>
            {
                None
            }
            answer => Some(answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_waited_out_or_told_and_none_for_longer_than_the_patience() {
        let patience = Duration::from_millis(5_000);
        for &reason in Reason::ALL {
            let passes = [Reason::NotAtRest, Reason::EvidenceMissing, Reason::HeldByScaling, Reason::ProgramPaused]
                .contains(&reason);
            let mut offer = Offer::new(patience);
            // The time counts from the first request, whenever that is.
            for millis in [70_000, 70_001, 74_999, 75_000] {
                let answer = offer.judge(Err(reason), Instant::from_micros(millis * 1_000));
                assert_eq!(answer, (!passes).then_some(Err(reason)), "{reason:?} at {millis} ms");
            }
            assert_eq!(offer.judge(Err(reason), Instant::from_micros(75_000_001)), Some(Err(reason)), "{reason:?}");
        }
    }

    #[test]
    fn another_reason_does_not_begin_the_time_anew_and_a_move_that_is_taken_is_told_at_any_time() {
        let at = |millis: u64| Instant::from_micros(millis * 1_000);
        let mut offer = Offer::new(Duration::from_millis(100));
        assert_eq!(offer.judge(Err(Reason::NotAtRest), at(0)), None);
        assert_eq!(offer.judge(Err(Reason::HeldByScaling), at(100)), None);
        assert_eq!(offer.judge(Err(Reason::EvidenceMissing), at(101)), Some(Err(Reason::EvidenceMissing)));
        let number = MoveNumber::FIRST;
        for millis in [0, 50, 900] {
            assert_eq!(offer.judge(Ok(number), at(millis)), Some(Ok(number)));
        }
        // With a patience of zero it is repeated only at the time of the first request.
        assert_eq!(Offer::new(Duration::ZERO).judge(Err(Reason::NotAtRest), at(3)), None, "this very time is not over");
    }
}

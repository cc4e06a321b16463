//! Ending somebody else's program before ours can be seen to begin.
//!
//! Acceptance is proven by a *rise*: no program ran, our text went out, a program runs. Where another program runs (and
//! may be taken over), one `stopj` goes first, and then nothing until it has ended: a zero velocity every cycle would
//! keep some program running for ever.

use crate::time::{Duration, Instant};

/// What stands in the place of the next zero velocity of `Arming`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// A `stopj`, against the other program.
    EndOther,
    /// Nothing: the other program is being ended.
    Wait,
    /// The zero velocity itself.
    Zero,
}

/// How far another program has been ended; one value per arming.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum TakeOver {
    /// Nothing has been sent yet.
    #[default]
    Untried,
    /// The `stopj` went out at this time.
    Ending(Instant),
    /// Our own text goes out: whatever runs from now on is ours.
    Done,
}

impl TakeOver {
    /// What comes next, where `program_runs` as far as anybody can tell. The `stopj` is repeated after `patience`.
    pub(super) fn next(&mut self, program_runs: bool, patience: Duration, now: Instant) -> Opening {
        match *self {
            Self::Done => Opening::Zero,
            Self::Ending(since) if program_runs && now.since(since) < patience => Opening::Wait,
            Self::Untried | Self::Ending(_) if program_runs => {
                *self = Self::Ending(now);
                Opening::EndOther
            }
            Self::Untried | Self::Ending(_) => {
                *self = Self::Done;
                Opening::Zero
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_is_ended_first_and_ours_is_left_alone() {
        let mut take_over = TakeOver::default();
        let mut next = |runs, millis| {
            take_over.next(runs, Duration::from_millis(300), Instant::ZERO + Duration::from_millis(millis))
        };
        assert_eq!(next(true, 0), Opening::EndOther);
        assert_eq!(next(true, 2), Opening::Wait);
        assert_eq!(next(true, 300), Opening::EndOther, "it is told again");
        assert_eq!(next(false, 400), Opening::Zero);
        assert_eq!(next(true, 500), Opening::Zero, "this one is ours");
    }

    #[test]
    fn where_nothing_runs_the_first_text_is_the_zero_velocity() {
        assert_eq!(TakeOver::default().next(false, Duration::from_millis(300), Instant::ZERO), Opening::Zero);
    }
}

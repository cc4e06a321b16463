//! The end of a foreign program on the controller before ours starts.
//!
//! Acceptance is proven by a *rise*: no program ran, our text was sent, a program runs. If another program runs (and
//! may be taken over), one `stopj` is sent first, and then nothing until it has ended: a zero velocity in every cycle
//! would keep some program running forever.
//!
//! A controller in local control takes no text, and writes a log entry for each. So one zero velocity is sent, and the
//! next only when a program is shown, or when a refusal would have arrived.

use outrigger_wire::time::{Duration, Instant};

/// The text that is sent during arming, in place of the next zero velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// A `stopj`, which ends the other program.
    EndOther,
    /// No text is sent: the other program is being ended, or our first text is not shown to run yet.
    Wait,
    /// The zero velocity itself, because no other program has to be ended.
    Zero,
}

/// The progress of ending another program on the controller; one value per arming.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum TakeOver {
    /// No URScript text has been sent to the controller yet in this arming.
    #[default]
    Untried,
    /// The `stopj` against the other program was sent at this time.
    Ending(Instant),
    /// The first URScript text of this driver was shown to run, or was not refused in time: such text is sent from
    /// now on, and any program that runs counts as the driver's.
    Done,
    /// The first URScript text of this driver was sent to the controller at this time.
    Asked(Instant),
}

impl TakeOver {
    /// Returns the text to send next; `program_runs` is the newest finding about a program on the controller. For
    /// `patience` the end of another program is awaited, and then the start of ours.
    pub(super) fn next(&mut self, program_runs: bool, patience: Duration, now: Instant) -> Opening {
        match *self {
            Self::Done => Opening::Zero,
            Self::Asked(since) if !program_runs && now.since(since) < patience => Opening::Wait,
            Self::Asked(_) => {
                *self = Self::Done;
                Opening::Zero
            }
            Self::Ending(since) if program_runs && now.since(since) < patience => Opening::Wait,
            Self::Untried | Self::Ending(_) if program_runs => {
                *self = Self::Ending(now);
                Opening::EndOther
            }
            Self::Untried | Self::Ending(_) => {
                *self = Self::Asked(now);
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
    fn one_text_asks_and_the_others_follow_when_it_is_shown_to_run_or_was_not_refused() {
        for (shown_at, next_at) in [(4, 4), (250, 250), (u64::MAX, 300)] {
            let mut take_over = TakeOver::default();
            let said = (0..400).step_by(2).map(|millis| {
                let at = Instant::ZERO + Duration::from_millis(millis);
                (millis, take_over.next(millis >= shown_at, Duration::from_millis(300), at))
            });
            let zeros: Vec<u64> = said.filter(|(_, what)| *what == Opening::Zero).map(|(millis, _)| millis).collect();
            assert_eq!(zeros, [0].into_iter().chain((next_at..400).step_by(2)).collect::<Vec<_>>());
        }
    }
}

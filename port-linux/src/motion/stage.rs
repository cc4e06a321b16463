//! How far a motion is, in the words of answers.

use outrigger_core::command::LocateError;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Progress;

/// How far a motion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is to begin once the arm rests.
    Waits,
    /// The arm follows it.
    Runs,
    /// It came to its end, and the arm rests there.
    Done,
    /// Somebody ended it.
    Cancelled,
    /// Commanding ended on its way; a request to resume goes on with it.
    Suspended,
    /// Commanding ended on its way, and nothing goes on with it.
    Stopped,
    /// Ended by a contact of the tool before its end; the arm rests, and stays commanded.
    Touched,
    /// Ended short of its goal, or a joint left the tolerance that the motion brought along; the arm came to rest, and stays commanded.
    Missed(Reason),
    /// It was not begun.
    Refused(Reason),
    /// It was not begun: there is no such place.
    NotFound(LocateError),
}

impl Stage {
    /// Whether it moves the arm, or is about to.
    pub(crate) const fn goes_on(self) -> bool {
        matches!(self, Self::Waits | Self::Runs)
    }

    /// As it stands in answers.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Waits => "waiting",
            Self::Runs => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Suspended => "suspended",
            Self::Stopped => "stopped",
            Self::Touched => "touched",
            Self::Missed(_) => "missed",
            Self::Refused(_) | Self::NotFound(_) => "refused",
        }
    }
}

/// How a motion stands, for who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its number in this session, from 1.
    pub number: u32,
    pub stage: Stage,
    /// How much of it is behind, in percent.
    pub(crate) percent: u8,
    /// How long it takes at full speed, in tenths of a second.
    pub(crate) tenths: u32,
}

impl Standing {
    /// Returns a word for how far the motion is: that of the law which follows it, or of the newest motion where the law follows
    /// none; `None` without any motion.
    pub(crate) fn word(newest: Option<Self>, law: Progress) -> Option<&'static str> {
        match law {
            Progress::Endless => newest.map(|standing| standing.stage.name()),
            Progress::Waiting => Some("waiting"),
            Progress::Running => Some("running"),
            Progress::Suspended => Some("suspended"),
            Progress::Finished => Some("finished"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_that_has_ended_is_not_called_endless_and_none_is_named_where_there_is_none() {
        let standing = |stage| Some(Standing { number: 1, stage, percent: 100, tenths: 40 });
        assert_eq!(Standing::word(standing(Stage::Done), Progress::Endless), Some("done"));
        assert_eq!(Standing::word(standing(Stage::Cancelled), Progress::Endless), Some("cancelled"));
        assert_eq!(Standing::word(standing(Stage::Runs), Progress::Running), Some("running"));
        assert_eq!(Standing::word(None, Progress::Suspended), Some("suspended"));
        assert_eq!(Standing::word(None, Progress::Endless), None);
    }
}

//! The stage of a motion, with the words that answers use.

use outrigger_core::command::LocateError;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Progress;

/// The stage of a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It starts as soon as the arm is at standstill.
    Waits,
    /// The arm follows it.
    Runs,
    /// It was completed, and the arm is at standstill there.
    Done,
    /// It was cancelled.
    Cancelled,
    /// Commanding ended during the motion. A request to resume continues it.
    Suspended,
    /// Commanding ended during the motion, and it cannot be continued.
    Stopped,
    /// A contact of the tool ended it early. The arm is at standstill, and still commanded.
    Touched,
    /// It ended short of its goal, or a joint exceeded the motion's own tolerance. The arm came to rest, and is still
    /// commanded.
    Missed(Reason),
    /// It was not started, for this reason.
    Refused(Reason),
    /// It was not started, because its goal could not be located.
    NotFound(LocateError),
}

impl Stage {
    /// Returns `true` if it moves the arm, or is about to.
    pub(crate) const fn goes_on(self) -> bool {
        matches!(self, Self::Waits | Self::Runs)
    }

    /// Returns the word in answers.
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

/// The state of a motion, for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The number of the motion in this session, from 1.
    pub number: u32,
    pub stage: Stage,
    /// The part of the motion that is done \[%\].
    pub(crate) percent: u8,
    /// The duration at full speed, in tenths of a second.
    pub(crate) tenths: u32,
}

impl Standing {
    /// Returns the word for the stage of the motion that the law follows. If it follows none, returns the word of the
    /// newest motion, or `None` without any motion.
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

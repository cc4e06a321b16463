//! The stage of a motion, with the words for it in answers to clients.

use outrigger_core::command::LocateError;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Progress;

/// The stage of a requested motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MotionStage {
    /// The requested motion waits to be started, e.g. for the arm's standstill.
    Waits,
    /// The requested motion is being executed: the arm follows it.
    Runs,
    /// The motion was completed, with the arm at standstill at its end.
    Done,
    /// The motion was cancelled on request, before its end.
    Cancelled,
    /// The motion is suspended, because commanding ended during it. A request to resume continues it.
    Suspended,
    /// The requested motion ended together with commanding, and cannot be continued.
    Stopped,
    /// The motion was ended early by a contact of the tool. The arm is at standstill, and still commanded.
    Touched,
    /// The motion ended short of its goal, or because a joint exceeded the motion's own tolerance. The arm came to
    /// rest, and is still commanded.
    Missed(Reason),
    /// The requested motion was not started, for this reason.
    Refused(Reason),
    /// The requested move was not started, because the controller could not locate its goal, for this reason.
    NotFound(LocateError),
}

impl MotionStage {
    /// Returns `true` if the motion moves the arm, or is about to.
    pub(crate) const fn goes_on(self) -> bool {
        matches!(self, Self::Waits | Self::Runs)
    }

    /// Returns the word for the stage of a motion in answers to clients.
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

/// The state of a requested motion, for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MotionReport {
    /// The number of the motion in this session, from 1.
    pub number: u32,
    pub stage: MotionStage,
    /// The part of the motion that is completed \[%\].
    pub(crate) percent: u8,
    /// The duration of the motion at full speed, in tenths of a second.
    pub(crate) tenths: u32,
}

impl MotionReport {
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
        let standing = |stage| Some(MotionReport { number: 1, stage, percent: 100, tenths: 40 });
        assert_eq!(MotionReport::word(standing(MotionStage::Done), Progress::Endless), Some("done"));
        assert_eq!(MotionReport::word(standing(MotionStage::Cancelled), Progress::Endless), Some("cancelled"));
        assert_eq!(MotionReport::word(standing(MotionStage::Runs), Progress::Running), Some("running"));
        assert_eq!(MotionReport::word(None, Progress::Suspended), Some("suspended"));
        assert_eq!(MotionReport::word(None, Progress::Endless), None);
    }
}

//! Makes the results of trajectory goals: status, error code and text.

use outrigger_core::robot::Reason;
use outrigger_ros2_messages::{FollowError, Status};

use crate::trajectory_goals::Unfit;
use outrigger::motion::MotionStage;
use outrigger::released::ReleasedBy;

/// The result text of a goal whose trajectory was followed to its end.
pub(super) const REACHED: &str = "Goal successfully reached!";
/// The result text of a goal that was replaced by a new one.
pub(super) const REPLACED: &str = "replaced by a new goal";
/// The result text of a goal whose motion ended by a contact of the tool.
pub(super) const TOUCHED: &str = "tool contact: the motion has ended";

/// The end of a goal: its status, its error code and its text.
pub(super) struct Ended<'t> {
    pub(super) how: Status,
    pub(super) code: FollowError,
    pub(super) text: &'t str,
    /// `true` if a contact of the tool ended the goal's motion.
    pub(super) touched: bool,
}

/// The origin of the cancellation of a goal; neither flag is set if the cancellation came from outside ROS 2.
#[derive(Clone, Copy, Debug)]
pub(super) struct CancelOrigin {
    /// `true` if a client cancelled the goal by a request of the action.
    pub(super) cancelled: bool,
    /// `true` if the goal was cancelled because a new goal replaced it.
    pub(super) makes_room: bool,
}

/// Returns the end of a goal whose motion did not end by itself: aborted, with the code `INVALID_GOAL` and this text.
pub(super) const fn aborted(text: &str) -> Ended<'_> {
    Ended { how: Status::Aborted, code: FollowError::InvalidGoal, text, touched: false }
}

/// Returns the reason for a rejection of a goal, with the code `INVALID_GOAL` and this text.
pub(super) fn invalid(text: impl Into<String>) -> Unfit {
    Unfit { code: FollowError::InvalidGoal, text: text.into() }
}

/// Returns the error code of a goal for the reason why commanding ended; `INVALID_GOAL` for all but the tolerances.
fn code_of(reason: Option<Reason>) -> FollowError {
    match reason {
        Some(Reason::PathTolerance) => FollowError::PathTolerance,
        Some(Reason::GoalTolerance) => FollowError::GoalTolerance,
        _ => FollowError::InvalidGoal,
    }
}

/// Returns the status, the error code and the text of a goal's result by the stage of its motion and, if commanding
/// ended, the reason and the side that ended it. Returns `None` while the motion waits or runs.
pub(super) fn ended_as(
    stage: Option<MotionStage>,
    whose: CancelOrigin,
    left: Option<Reason>,
    released: Option<ReleasedBy>,
) -> Option<(Status, FollowError, String)> {
    let named = |reason: Reason| match reason {
        Reason::Released => format!("{} ({})", released.unwrap_or(ReleasedBy::Input), reason.name()),
        _ => format!("{} ({})", reason.text(), reason.name()),
    };
    let why = |what: &str| left.map_or_else(|| what.to_owned(), |reason| format!("{what}: {}", named(reason)));
    let aborted = |code, text: String| Some((Status::Aborted, code, text));
    match stage {
        Some(MotionStage::Waits | MotionStage::Runs) => None,
        Some(MotionStage::Done) => Some((Status::Succeeded, FollowError::Successful, REACHED.into())),
        Some(MotionStage::Cancelled) if whose.cancelled => {
            Some((Status::Canceled, FollowError::Successful, "cancelled: the arm is at standstill".into()))
        }
        Some(MotionStage::Cancelled) if whose.makes_room => aborted(FollowError::InvalidGoal, REPLACED.into()),
        Some(MotionStage::Cancelled) => aborted(FollowError::InvalidGoal, "cancelled by another client".into()),
        Some(MotionStage::Touched) => aborted(FollowError::InvalidGoal, TOUCHED.into()),
        Some(MotionStage::Missed(reason) | MotionStage::Refused(reason)) => {
            aborted(code_of(Some(reason)), named(reason))
        }
        Some(MotionStage::Suspended | MotionStage::Stopped) => {
            aborted(code_of(left), why("commanding ended during the motion"))
        }
        Some(MotionStage::NotFound(error)) => aborted(FollowError::InvalidGoal, error.text().into()),
        None => aborted(FollowError::InvalidGoal, why("replaced by another motion")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_of_a_motion_has_its_code_and_its_words() {
        let nobody = CancelOrigin { cancelled: false, makes_room: false };
        let (bad, path) = (FollowError::InvalidGoal as i32, FollowError::PathTolerance as i32);
        let left = Some(Reason::PathTolerance);
        for (stage, whose, left, how, code, said) in [
            (Some(MotionStage::Done), nobody, None, Status::Succeeded, 0, REACHED),
            (
                Some(MotionStage::Cancelled),
                CancelOrigin { cancelled: true, ..nobody },
                None,
                Status::Canceled,
                0,
                "cancelled",
            ),
            (
                Some(MotionStage::Cancelled),
                CancelOrigin { makes_room: true, ..nobody },
                None,
                Status::Aborted,
                bad,
                REPLACED,
            ),
            (Some(MotionStage::Cancelled), nobody, None, Status::Aborted, bad, "cancelled by another client"),
            (Some(MotionStage::Missed(Reason::PathTolerance)), nobody, None, Status::Aborted, path, "a joint"),
            (Some(MotionStage::Stopped), nobody, left, Status::Aborted, path, "commanding ended during the motion: "),
            (Some(MotionStage::Touched), nobody, None, Status::Aborted, bad, TOUCHED),
            (
                Some(MotionStage::Stopped),
                nobody,
                Some(Reason::Released),
                Status::Aborted,
                bad,
                "commanding ended during the motion: released by key s (Released)",
            ),
            (Some(MotionStage::Stopped), nobody, None, Status::Aborted, bad, "commanding ended during the motion"),
            (None, nobody, None, Status::Aborted, bad, "replaced by another motion"),
        ] {
            let Some((found, error, text)) = ended_as(stage, whose, left, Some(ReleasedBy::Key)) else {
                panic!("{stage:?} goes on")
            };
            assert!(found == how && error as i32 == code && !text.is_empty(), "{stage:?}: {found:?} {text}");
            assert!(
                text.starts_with(said) || stage == Some(MotionStage::Missed(Reason::PathTolerance)),
                "{stage:?}: {text}"
            );
        }
        for stage in [MotionStage::Waits, MotionStage::Runs] {
            assert!(ended_as(Some(stage), nobody, None, None).is_none());
        }
    }
}

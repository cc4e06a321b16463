//! Answers each piece of a motion that a client sends, until the motion is complete.

use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::Reason;
use outrigger_wire::time::Instant;

use super::answer::{self, Answer, Verdict};
use super::client_shared_state::Shared;
use super::line_action::ClientAction;
use super::motion_plans::{LATE, Planner};
use crate::motion::motion_text::Piece;
use crate::motion::requested_motion::MotionRequest;

impl<const N: usize> Shared<N> {
    /// Handles a piece of a client's motion, received at `at`, and returns the action that follows. A motion is
    /// answered twice: at its beginning, and at its end or its first error.
    pub(super) fn planned(
        &self,
        planner: &mut Planner<'_, N>,
        (id, epoch): (Option<u32>, Epoch),
        piece: Piece<'_, N>,
        at: Instant,
    ) -> ClientAction<N> {
        let (begins, ends) = (matches!(piece, Piece::Begin(_)), matches!(piece, Piece::End));
        if planner.failed && !begins {
            planner.failed = !ends;
            return ClientAction::Collected;
        }
        let status = self.slot.get();
        let told = |verdict| Answer { id, word: "move", status, verdict }.line(self.here);
        let unfit = |wrong: String| answer::unfit(id, &status, &wrong);
        let taken = if status.mode != Mode::Command {
            // A motion that could not start is not collected.
            Err(told(Verdict::Refused(Reason::NotCommanding, status.unmet)))
        } else if epoch != status.epoch {
            Err(told(Verdict::WrongEpoch(epoch)))
        } else {
            match piece {
                Piece::Begin(heading) => {
                    let begun = !self.is_reading() && planner.begin((id, epoch), heading, at);
                    if begun { Ok(ClientAction::Say(told(Verdict::Done))) } else { Err(told(Verdict::Reads)) }
                }
                Piece::Rows(rows) => planner.add(epoch, rows, at).map(|()| ClientAction::Collected).map_err(unfit),
                Piece::End => {
                    let motion = planner.end(epoch, at).map_err(unfit);
                    motion.map(|motion| ClientAction::Move(id, epoch, MotionRequest::Motion(Box::new(motion)), None))
                }
            }
        };
        taken.unwrap_or_else(|line| {
            planner.give_up();
            planner.failed = !ends;
            ClientAction::Say(line)
        })
    }

    /// Drops this client's incomplete motion if its next piece is late. Returns the answer for that.
    pub(super) fn expired(&self, planner: &mut Planner<'_, N>, now: Instant) -> Option<String> {
        let plan = planner.expire(now)?;
        Some(answer::unfit(plan.id, &self.slot.get(), LATE))
    }
}

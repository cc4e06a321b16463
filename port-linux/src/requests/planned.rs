//! The answers to pieces of a plan.

use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::Reason;
use outrigger_wire::time::Instant;

use super::answer::{self, Answer, Verdict};
use super::plans::{LATE, Planner};
use super::shared::Shared;
use super::step::Step;
use crate::motion::asked::Wish;
use crate::motion::pieces::Piece;

impl<const N: usize> Shared<N> {
    /// Takes a piece of a plan, received at `at`. A plan is answered at its beginning, and once more: at its end or its first fault.
    pub(super) fn planned(
        &self,
        planner: &mut Planner<'_, N>,
        (id, epoch): (Option<u32>, Epoch),
        piece: Piece<'_, N>,
        at: Instant,
    ) -> Step<N> {
        let (begins, ends) = (matches!(piece, Piece::Begin(_)), matches!(piece, Piece::End));
        if planner.failed && !begins {
            planner.failed = !ends;
            return Step::Collected;
        }
        let status = self.slot.get();
        let told = |verdict| Answer { id, word: "move", status, verdict }.line(self.here);
        let unfit = |wrong: String| answer::unfit(id, &status, &wrong);
        let taken = if status.mode != Mode::Command {
            // Nothing is collected that could not begin.
            Err(told(Verdict::Refused(Reason::NotCommanding, status.unmet)))
        } else if epoch != status.epoch {
            Err(told(Verdict::WrongEpoch(epoch)))
        } else {
            match piece {
                Piece::Begin(heading) => {
                    let begun = !self.is_reading() && planner.begin((id, epoch), heading, at);
                    if begun { Ok(Step::Say(told(Verdict::Done))) } else { Err(told(Verdict::Reads)) }
                }
                Piece::Rows(rows) => planner.add(epoch, rows, at).map(|()| Step::Collected).map_err(unfit),
                Piece::End => {
                    let motion = planner.end(epoch, at).map_err(unfit);
                    motion.map(|motion| Step::Move(id, epoch, Wish::Motion(Box::new(motion)), None))
                }
            }
        };
        taken.unwrap_or_else(|line| {
            planner.give_up();
            planner.failed = !ends;
            Step::Say(line)
        })
    }

    /// Drops this client's plan where it is late. Returns the line that says so.
    pub(super) fn expired(&self, planner: &mut Planner<'_, N>, now: Instant) -> Option<String> {
        let plan = planner.expire(now)?;
        Some(answer::unfit(plan.id, &self.slot.get(), LATE))
    }
}

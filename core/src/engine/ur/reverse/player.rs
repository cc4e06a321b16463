//! Moves that the player executes: what was asked for, what it shows, and whether the arm is where the move may take it.

use super::Reverse;
use super::guide::beside;
use crate::command::{ApprovedMove, ForceMode, Guidance, JointMove};
use crate::engine::cycle::Executed;
use crate::mode::{Course, CourseConfig, Held, Mirrored, MoveNumber};
use crate::robot::State;
use crate::time::Instant;
use crate::wire::player::{PlayerOrderRepr, PlayerReport};
use crate::wire::program::{Kind, What};

/// The move that was asked for last.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
struct Assignment {
    number: MoveNumber,
    asked: JointMove<6>,
    course: Course<6>,
}

/// What is known of moves.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Player {
    assigned: Option<Assignment>,
    /// What the program shows, and when it last showed that it lives.
    mirrored: Option<Held<Mirrored>>,
    progress: i32,
    /// What the arm was to give way to last, and whether a contact ends the motion.
    pub(super) guidance: Option<Guidance>,
    pub(super) watches: bool,
    /// A force that is to act beside the move that runs, by the next order.
    pub(super) beside: Option<ForceMode>,
    /// The newest verdict was about a move: whether the program answers in time is judged by the move then.
    pub(super) executes: bool,
}

impl Player {
    /// Nothing is known of a program any more.
    pub(super) const fn forget(&mut self) {
        (self.mirrored, self.progress, self.executes, self.watches) = (None, 0, false, false);
        self.beside = None;
    }

    /// All that it shows.
    #[cfg(test)]
    pub(super) const fn shown(&self) -> (Option<Held<Mirrored>>, i32) {
        (self.mirrored, self.progress)
    }

    /// The arm is to give way so.
    pub(super) const fn assign(&mut self, what: Guidance) {
        (self.assigned, self.guidance) = (None, Some(what));
    }

    /// What the program says of itself; so many control cycles ago a contact began, where that has ended the motion just now.
    pub(super) fn observe(&mut self, report: &PlayerReport, arrival: Instant) -> Option<u32> {
        let shown = match report.mirrored() {
            None => Mirrored::Idle,
            Some((number, runs)) => match MoveNumber::new(number) {
                Some(number) if runs => Mirrored::Running(number),
                Some(number) => Mirrored::Ended(number),
                // No program of ours says so.
                None => return None,
            },
        };
        self.mirrored = Some(Held::new(shown, arrival));
        let touches = report.progress < 0 && self.progress >= 0;
        self.progress = report.progress;
        touches.then_some(report.progress.unsigned_abs())
    }
}

impl Reverse {
    /// Whether the program executes moves.
    pub(in crate::engine::ur) const fn is_player(&self) -> bool {
        matches!(self.kind, Kind::Player)
    }

    /// What is known of the move that was asked for last, beside `state`.
    pub(in crate::engine::ur) fn executed(&self, state: &State<6>) -> Executed {
        let config = CourseConfig::default();
        let on_course = match self.player.assigned {
            Some(assigned) => assigned.course.holds(state, &config),
            // A hand or a force was the last to move the arm, and its limits were for that.
            None => self.player.guidance.is_some(),
        };
        Executed { mirrored: self.player.mirrored, paused: false, on_course }
    }

    /// The program is to make this move, by a verdict that comes.
    pub(in crate::engine::ur) fn delegated(&mut self, number: MoveNumber, asked: JointMove<6>, state: &State<6>) {
        let course = Course { from: state.target_positions, to: *asked.to(), speed: asked.speed() };
        (self.player.assigned, self.player.guidance) = (Some(Assignment { number, asked, course }), None);
        self.player.beside = None;
    }

    pub(in crate::engine::ur) fn asked_move(&self) -> Option<JointMove<6>> {
        self.player.assigned.map(|assigned| assigned.asked)
    }

    /// How far the move is that runs, or ran last, as a share of its way.
    #[cfg(feature = "reverse")]
    pub(in crate::engine::ur) fn progress(&self) -> Option<f32> {
        self.player.mirrored.map(|_| self.player.progress.max(0) as f32 * 1e-6)
    }

    /// The approved move in the program's units: the only function that makes an order of it.
    pub(super) fn start(&mut self, approved: ApprovedMove<'_, 6>, number: MoveNumber) -> bool {
        let (asked, _authority) = approved.into_parts();
        let first = |value: f32| [micro(value), 0, 0, 0, 0, 0];
        self.tell(PlayerOrderRepr {
            what: What::Move,
            number: number.get(),
            positions: asked.to().0.map(micro),
            velocities: first(asked.speed()),
            accelerations: first(asked.acceleration()),
            ..PlayerOrderRepr::keep(self.counter)
        })
    }

    pub(super) fn keep(&mut self) -> bool {
        let time = u32::from(self.player.watches);
        let keep = PlayerOrderRepr::keep(self.counter);
        if let Some(mode) = self.player.beside {
            let made = self.tell(beside(&mode, keep));
            if made {
                self.player.beside = None;
            }
            return made;
        }
        self.tell(PlayerOrderRepr { time, ..keep })
    }

    pub(super) fn cancel(&mut self, number: MoveNumber) -> bool {
        let keep = PlayerOrderRepr::keep(self.counter);
        self.tell(PlayerOrderRepr { what: What::Cancel, number: number.get(), ..keep })
    }

    pub(super) fn tell(&mut self, order: PlayerOrderRepr) -> bool {
        let now = self.moment.now;
        self.is_ready() && self.count(now) && self.order.put(|out| order.emit(out)).is_ok_and(|len| len > 0)
    }
}

pub(super) fn micro(value: f32) -> i32 {
    let micro = value * 1e6;
    (micro + 0.5_f32.copysign(micro)) as i32
}

//! Moves that the player executes: what was asked for, what it shows, and whether the arm is where the move may take it.

use super::Reverse;
use super::legs::Legs;
use super::units::{force, micro};
use crate::command::{ApprovedMove, ForceMode, Guidance, JointMove};
use crate::engine::cycle::Executed;
use crate::law::FeedError;
use crate::mode::{Course, CourseConfig, Held, Mirrored, MoveNumber};
use crate::robot::State;
use crate::time::{Duration, Instant};
use crate::trajectory::{Leg, Waypoint};
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
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Player {
    assigned: Option<Assignment>,
    /// Of a move that leads on.
    legs: Legs,
    /// What the program shows, and when it last showed that it lives.
    mirrored: Option<Held<Mirrored>>,
    progress: i32,
    /// What the arm was to give way to last, and whether a contact ends the motion.
    pub(super) guidance: Option<Guidance>,
    pub(super) watches: bool,
    /// The move is to come to rest on its way: it leaves its plan.
    ends: bool,
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

    /// How much of its own time the move that leads on has made \[µs\].
    fn elapsed(&self) -> u64 {
        u64::try_from(self.progress).unwrap_or_default()
    }

    /// Whether what is shown is the move that leads on.
    fn led_by(&self, shown: Mirrored) -> bool {
        self.assigned.is_some_and(|assigned| {
            assigned.asked.leads_on()
                && matches!(shown, Mirrored::Running(number) | Mirrored::Ended(number) if number == assigned.number)
        })
    }

    /// Whether the arm is where the move may take it.
    fn is_on_course(&self, state: &State<6>, period: Duration) -> bool {
        let Some(Assignment { number, asked, course }) = &self.assigned else { return false };
        let config = CourseConfig::default();
        if !asked.leads_on() {
            return course.holds(state, &config);
        }
        let shown = self.mirrored.map(|held| held.value);
        let runs = shown == Some(Mirrored::Running(*number)) && !self.ends;
        let planned = self.legs.planned(self.elapsed()).filter(|_| runs);
        // What is shown may be three cycles old.
        let late = asked.speed() * period.times(3).as_secs_f32();
        let config = CourseConfig { position: config.position + late, ..config };
        // Before and after, it is held to its speed, and to rest.
        course.holds_at(&planned.unwrap_or(state.target_positions), state, &config)
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
        self.legs.answered(report.report.counter);
        if self.led_by(shown) {
            self.legs.passed(self.elapsed());
        }
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
        let on_course = match self.player.assigned {
            Some(_) => self.player.is_on_course(state, self.period),
            // A hand or a force was the last to move the arm, and its limits were for that.
            None => self.player.guidance.is_some(),
        };
        Executed { mirrored: self.player.mirrored, paused: false, on_course }
    }

    /// The program is to make this move, by a verdict that comes.
    pub(in crate::engine::ur) fn delegated(&mut self, number: MoveNumber, asked: JointMove<6>, state: &State<6>) {
        let course = Course { from: state.target_positions, to: *asked.to(), speed: asked.speed() };
        (self.player.assigned, self.player.guidance) = (Some(Assignment { number, asked, course }), None);
        (self.player.beside, self.player.ends) = (None, false);
        if asked.leads_on() {
            self.player.legs.begin(*asked.to());
        }
    }

    /// The move comes to rest from now on.
    pub(in crate::engine::ur) const fn move_ends(&mut self) {
        self.player.ends = true;
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
            what: if asked.leads_on() { What::Begin } else { What::Move },
            number: number.get(),
            positions: asked.to().0.map(micro),
            velocities: if asked.leads_on() { [0; 6] } else { first(asked.speed()) },
            accelerations: if asked.leads_on() { [0; 6] } else { first(asked.acceleration()) },
            ..PlayerOrderRepr::keep(self.counter)
        })
    }

    pub(super) fn keep(&mut self) -> bool {
        let (counter, time) = (self.counter, u32::from(self.player.watches));
        if let Some(mode) = self.player.beside {
            let made = self.tell(force(&mode, PlayerOrderRepr::keep(counter)));
            if made {
                self.player.beside = None;
            }
            return made;
        }
        if let Some(leg) = self.next_leg() {
            let went = self.tell(PlayerOrderRepr { counter, ..leg });
            if went {
                self.player.legs.sent(counter);
            }
            return went;
        }
        self.tell(PlayerOrderRepr { time, ..PlayerOrderRepr::keep(counter) })
    }

    /// The next leg of the move that runs, or was begun.
    fn next_leg(&self) -> Option<PlayerOrderRepr> {
        let assigned = self.player.assigned.filter(|assigned| assigned.asked.leads_on())?;
        let number = assigned.number;
        if self.player.mirrored.is_some_and(|held| held.value == Mirrored::Ended(number)) {
            return None;
        }
        self.player.legs.next(self.lag).map(|leg| PlayerOrderRepr { number: number.get(), ..leg })
    }

    fn leading(&self) -> Option<&Legs> {
        self.player.assigned.filter(|assigned| assigned.asked.leads_on()).map(|_| &self.player.legs)
    }

    pub(in crate::engine::ur) fn leg_room(&self) -> usize {
        self.leading().map_or(0, Legs::room)
    }

    pub(in crate::engine::ur) fn leg_to(&self, to: &Waypoint<6>, last: bool) -> Result<Leg<6>, FeedError> {
        self.leading().ok_or(FeedError::NoMotion)?.to(to, last)
    }

    pub(in crate::engine::ur) fn lead_on(&mut self, to: &Waypoint<6>, last: bool) {
        self.player.legs.put(to, last);
    }

    pub(in crate::engine::ur) fn led(&self) -> Option<Duration> {
        let shown = self.player.mirrored?.value;
        self.player.led_by(shown).then(|| Duration::from_micros(self.player.elapsed()))
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

//! The moves that our program on the controller executes by itself: the request, the program's report, and whether the
//! arm is on the course of the move.

use super::Reverse;
use super::order_units::{force, micro};
use super::segment_queue::SegmentQueue;
#[cfg(feature = "motions")]
use super::{move_tolerances::Tolerated, pose_conversion::Locating};
use crate::command::{ApprovedMove, ForceMode, Guidance, JointMove};
#[cfg(feature = "motions")]
use crate::command::{Destination, Limits, LocateError, MoveTarget};
use crate::engine::cycle::MotionProgress;
use crate::law::FeedError;
#[cfg(feature = "motions")]
use crate::mode::LineCourse;
use crate::mode::{Course, CourseConfig, Mirrored, MoveNumber, TimedFact};
use crate::robot::Reason;
use crate::trajectory::{Leg, Waypoint};
// Without the feature `motions` there are no lines and no tolerances, and nothing is located: the types take no room.
#[cfg(not(feature = "motions"))]
use crate::trajectory::{Never as LineCourse, Never as Locating, Never as Tolerated};
#[cfg(feature = "motions")]
use crate::trajectory::{Tolerances, Watch};
use outrigger_wire::player_messages::{PlayerOrderRepr, PlayerReport};
use outrigger_wire::program_messages::{Kind, What};
use outrigger_wire::robot::{Pose, State};
use outrigger_wire::time::{Duration, Instant};

/// The move that was requested last, with its number and course.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Assignment {
    number: MoveNumber,
    asked: JointMove<6>,
    course: Course<6>,
    /// The course of the tool in a move on a line.
    #[cfg_attr(not(any(feature = "motions", feature = "record")), expect(dead_code, reason = "always `None`"))]
    line: Option<LineCourse>,
}

/// The known facts about moves that the program executes.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Player {
    assigned: Option<Assignment>,
    /// The legs of a move along waypoints.
    pub(super) legs: SegmentQueue,
    /// The tolerances of the move along waypoints, in addition to the limits of its course.
    tolerated: Option<Tolerated>,
    /// The question to the controller about the place (joint positions or pose) that the next move is to lead to, and
    /// its answer.
    #[cfg_attr(not(any(feature = "motions", feature = "record")), expect(dead_code, reason = "always `None`"))]
    locating: Option<Locating>,
    /// The status of moves that the program reports, with the time of the newest report.
    mirrored: Option<TimedFact<Mirrored>>,
    progress: i32,
    /// `guidance`: the parameters of freedrive or force mode that were set last; `watches`: a contact ends the motion.
    pub(super) guidance: Option<Guidance>,
    pub(super) watches: bool,
    /// `true` if the move is to come to rest on its way, so that it deviates from its plan.
    ends: bool,
    /// The force that is to act together with the move that runs, from the next order on.
    pub(super) beside: Option<ForceMode>,
    /// `true` if the newest command was about a move: the timeouts of moves then decide whether the program answers in
    /// time.
    pub(super) executes: bool,
}

impl Player {
    /// Discards the reports and the settings of an earlier program, when it has ended or another one connects.
    pub(super) const fn forget(&mut self) {
        (self.mirrored, self.progress, self.executes, self.watches) = (None, 0, false, false);
        self.beside = None;
        #[cfg(feature = "motions")]
        if let Some(locating) = &mut self.locating {
            locating.forget();
        }
    }

    /// Returns the order, with a question to the controller added if one is due: the conversion of a pose to joint
    /// positions, or the other way round.
    #[cfg(feature = "motions")]
    pub(super) fn asking(&mut self, order: PlayerOrderRepr) -> PlayerOrderRepr {
        match &mut self.locating {
            Some(locating) => locating.ride(order),
            None => order,
        }
    }

    /// Returns the order unchanged: without the feature `motions` the controller is not requested to convert a pose or
    /// joint positions.
    #[cfg(not(feature = "motions"))]
    pub(super) const fn asking(&self, order: PlayerOrderRepr) -> PlayerOrderRepr {
        order
    }

    /// Returns the progress of the move along waypoints, in the move's own time \[µs\].
    fn elapsed(&self) -> u64 {
        u64::try_from(self.progress).unwrap_or_default()
    }

    /// Returns `true` if a contact has ended the move: its own time is no longer reported.
    const fn has_touched(&self) -> bool {
        self.progress < 0
    }

    /// Returns `true` if the program reports that it executes, or has executed, the move along waypoints.
    fn led_by(&self, shown: Mirrored) -> bool {
        !self.has_touched()
            && self.assigned.is_some_and(|assigned| {
                assigned.asked.leads_on()
                    && matches!(shown, Mirrored::Running(number) | Mirrored::Ended(number) if number == assigned.number)
            })
    }

    /// Returns `true` if the controller's target is on the course of the move that was requested last.
    fn is_on_course(&self, state: &State<6>, period: Duration) -> bool {
        let Some(Assignment { number, asked, course, .. }) = &self.assigned else { return false };
        let config = CourseConfig::default();
        if !asked.leads_on() {
            return course.holds(state, &config);
        }
        let shown = self.mirrored.map(|held| held.value);
        let runs = shown == Some(Mirrored::Running(*number)) && !self.ends && !self.has_touched();
        let planned = self.legs.planned(self.elapsed()).filter(|_| runs);
        // The report may be three cycles old.
        let late = asked.speed() * period.times(3).as_secs_f32();
        let config = CourseConfig { position: config.position + late, ..config };
        // Before and after the move, its speed is checked, and that it rests.
        course.holds_at(&planned.unwrap_or(state.target_positions), state, &config)
    }

    /// Returns the course of the move that was requested last; `None` before the first, and for freedrive or force mode.
    #[cfg(feature = "urcap")]
    pub(super) fn course(&self) -> Option<Course<6>> {
        self.assigned.map(|assigned| assigned.course)
    }

    /// Returns the number of the move that was requested last; `None` before the first, and for freedrive or force mode.
    #[cfg(feature = "urcap")]
    pub(super) fn number(&self) -> Option<MoveNumber> {
        self.assigned.map(|assigned| assigned.number)
    }

    /// Returns the program's whole report on its moves, for tests.
    #[cfg(test)]
    pub(super) const fn shown(&self) -> (Option<TimedFact<Mirrored>>, i32) {
        (self.mirrored, self.progress)
    }

    /// Stores the parameters of freedrive or force mode for the orders to the program.
    pub(super) const fn assign(&mut self, what: Guidance) {
        (self.assigned, self.guidance) = (None, Some(what));
    }

    /// Takes the program's report. If the program has just detected a contact, which ends the motion, returns the number of
    /// control cycles since the contact began.
    pub(super) fn observe(&mut self, report: &PlayerReport, arrival: Instant) -> Option<u32> {
        let shown = match report.mirrored() {
            None => Mirrored::Idle,
            Some((number, runs)) => match MoveNumber::new(number) {
                Some(number) if runs => Mirrored::Running(number),
                Some(number) => Mirrored::Ended(number),
                // No program of ours reports this.
                None => return None,
            },
        };
        self.mirrored = Some(TimedFact::new(shown, arrival));
        #[cfg(feature = "motions")]
        if self.locating.as_mut().is_some_and(|locating| locating.observe(report)) {
            self.legs.answered(report.report.counter);
            return None;
        }
        let touches = report.progress < 0 && !self.has_touched();
        self.progress = report.progress;
        self.legs.answered(report.report.counter);
        if self.led_by(shown) {
            self.legs.passed(self.elapsed());
        }
        touches.then_some(report.progress.unsigned_abs())
    }
}

/// Returns `true` if each joint's target is within its range and no faster than its limit.
#[cfg(feature = "motions")]
fn are_within(state: &State<6>, limits: &Limits<6>, config: &CourseConfig) -> bool {
    let slow = |v: f32, most: f32| v.abs() <= most + config.speed + config.relative * most;
    let ranges = limits.position_min.iter().zip(limits.position_max.iter());
    let inside = |q: f32, (least, most): (f32, f32)| (least - config.position..=most + config.position).contains(&q);
    state.target_velocities.iter().zip(limits.velocity.iter()).all(|(v, most)| slow(v, most))
        && state.target_positions.iter().zip(ranges).all(|(q, range)| inside(q, range))
}

impl Reverse {
    /// Returns `true` if the program on this path executes moves by itself.
    pub(in crate::engine::ur) const fn is_player(&self) -> bool {
        matches!(self.kind, Kind::Player)
    }

    /// Returns the progress of the move (or of freedrive or force mode) that was requested last, as of `state`.
    pub(in crate::engine::ur) fn executed(&mut self, state: &State<6>, now: Instant) -> MotionProgress {
        #[cfg(feature = "urcap")]
        if self.is_foreign() && !self.path.is_torques() {
            return self.executed_forward(state, now);
        }
        let _ = now;
        let on_course = match self.player.assigned {
            #[cfg(feature = "motions")]
            Some(Assignment { line: Some(line), .. }) => {
                let config = CourseConfig::default();
                line.holds(state, &config) && are_within(state, &self.limits, &config)
            }
            Some(_) => self.player.is_on_course(state, self.period),
            // Freedrive or force mode was the last motion, and had its own limits.
            None => self.player.guidance.is_some(),
        };
        MotionProgress { mirrored: self.player.mirrored, paused: false, on_course }
    }

    /// Takes the move that the program is to execute by itself, from `state` on. The order to start it follows.
    pub(in crate::engine::ur) fn delegated(&mut self, number: MoveNumber, asked: JointMove<6>, state: &State<6>) {
        let course = Course { from: state.target_positions, to: *asked.to(), speed: asked.speed() };
        #[cfg(feature = "motions")]
        let line = asked.line().map(|to| {
            let from = state.tcp_pose.unwrap_or_default();
            LineCourse { from, to: *to, speed: asked.speed() }
        });
        #[cfg(not(feature = "motions"))]
        let line = None;
        self.player.assigned = Some(Assignment { number, asked, course, line });
        self.player.guidance = None;
        (self.player.beside, self.player.tolerated, self.player.ends) = (None, None, false);
        if asked.leads_on() {
            self.player.legs.begin(*asked.to());
            #[cfg(feature = "urcap")]
            if self.is_foreign() {
                self.player.legs.begin_with_accelerations();
            }
        }
    }

    /// Starts to have the program on the controller convert `target`: a pose of the tool to joint positions, or the
    /// other way round.
    ///
    /// # Errors
    /// `NoSuchProgram` if the path has no program that executes moves, `ProgramAway` if its program does not run.
    #[cfg(feature = "motions")]
    pub(in crate::engine::ur) fn locate(&mut self, target: MoveTarget<6>) -> Result<(), Reason> {
        if !self.is_player() {
            return Err(Reason::NoSuchProgram);
        }
        if !self.is_ready() {
            return Err(Reason::ProgramAway);
        }
        self.player.locating.get_or_insert_default().begin(target);
        Ok(())
    }

    /// Returns the program's answer to [`locate`](Self::locate); `None` before it arrives.
    #[cfg(feature = "motions")]
    pub(in crate::engine::ur) fn located(&self) -> Option<Result<Destination<6>, LocateError>> {
        self.player.locating.as_ref().and_then(Locating::outcome)
    }

    /// Records that the move that the controller executes comes to rest from now on, short of its end.
    pub(in crate::engine::ur) const fn move_ends(&mut self) {
        self.player.ends = true;
    }

    pub(in crate::engine::ur) fn asked_move(&self) -> Option<JointMove<6>> {
        self.player.assigned.map(|assigned| assigned.asked)
    }

    /// Returns the progress of the move that runs, or ran last: the share of its way, 0 … 1, or for a move along
    /// waypoints its own time \[s\]; `None` before the first report.
    #[cfg(feature = "programs")]
    pub(in crate::engine::ur) fn progress(&self) -> Option<f32> {
        self.player.mirrored.map(|_| self.player.progress.max(0) as f32 * 1e-6)
    }

    /// Makes the order that starts the approved move, in the program's units; no other function makes such an order. Returns
    /// `true` if it was made.
    pub(super) fn start(&mut self, approved: ApprovedMove<'_, 6>, number: MoveNumber) -> bool {
        let (asked, _authority) = approved.into_parts();
        let first = |value: f32| [micro(value), 0, 0, 0, 0, 0];
        let what = if asked.line().is_some() { What::Line } else { What::Move };
        let begin = asked.line().map_or([0; 6], |Pose { position: [x, y, z], rotation: [rx, ry, rz] }| {
            [x, y, z, rx, ry, rz].map(|value| micro(*value))
        });
        self.tell(PlayerOrderRepr {
            what: if asked.leads_on() { What::Begin } else { what },
            number: number.get(),
            positions: asked.to().0.map(micro),
            velocities: if asked.leads_on() { [0; 6] } else { first(asked.speed()) },
            accelerations: if asked.leads_on() { [0; 6] } else { first(asked.acceleration()) },
            begin,
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

    /// Returns the order with the next leg of the move along waypoints; `None` if none is due.
    fn next_leg(&self) -> Option<PlayerOrderRepr> {
        let assigned = self.player.assigned.filter(|assigned| assigned.asked.leads_on())?;
        let number = assigned.number;
        if self.player.has_touched() {
            return None;
        }
        if self.player.mirrored.is_some_and(|held| held.value == Mirrored::Ended(number)) {
            return None;
        }
        self.player.legs.next(self.lag).map(|leg| PlayerOrderRepr { number: number.get(), ..leg })
    }

    fn leading(&self) -> Option<&SegmentQueue> {
        self.player.assigned.filter(|assigned| assigned.asked.leads_on()).map(|_| &self.player.legs)
    }

    pub(in crate::engine::ur) fn leg_room(&self) -> usize {
        self.leading().map_or(0, SegmentQueue::room)
    }

    pub(in crate::engine::ur) fn leg_to(&self, to: &Waypoint<6>, last: bool) -> Result<Leg<6>, FeedError> {
        let legs = self.leading().ok_or(FeedError::NoMotion)?;
        legs.to(&self.in_line(to), last)
    }

    /// Returns the waypoint as the program takes it: for External Control without accelerations, unless the waypoint
    /// before it has some.
    fn in_line(&self, to: &Waypoint<6>) -> Waypoint<6> {
        #[cfg(feature = "urcap")]
        if self.is_foreign() {
            return self.player.legs.in_its_line(to);
        }
        *to
    }

    pub(in crate::engine::ur) fn lead_on(&mut self, to: &Waypoint<6>, last: bool) {
        let to = self.in_line(to);
        self.player.legs.put(&to, last);
    }

    pub(in crate::engine::ur) fn led(&self) -> Option<Duration> {
        #[cfg(feature = "urcap")]
        if self.is_foreign() {
            return self.led_forward();
        }
        let shown = self.player.mirrored?.value;
        self.player.led_by(shown).then(|| Duration::from_micros(self.player.elapsed()))
    }

    /// Sets the tolerances of the move along waypoints.
    #[cfg(feature = "motions")]
    pub(in crate::engine::ur) fn hold_to(&mut self, tolerances: Tolerances<6>) -> Result<(), FeedError> {
        self.leading().ok_or(FeedError::NoMotion)?;
        self.player.tolerated = Some(Tolerated::new(tolerances));
        Ok(())
    }

    /// Returns the tolerances of the move along waypoints, and how well the move keeps them; `None` if it has none.
    #[cfg(feature = "motions")]
    pub(in crate::engine::ur) fn tolerated(&self) -> Option<&Watch<6>> {
        self.player.tolerated.as_ref().map(Tolerated::watch)
    }

    /// Checks that the move along waypoints, which the controller executes now, is within its tolerances in `state`.
    ///
    /// # Errors
    /// The tolerance that is violated.
    pub(in crate::engine::ur) fn heed_tolerances(&mut self, state: &State<6>, paused: bool) -> Result<(), Reason> {
        let led = self.led().map(Duration::as_micros);
        // A program of ours reports its own time, which is all that can have passed.
        #[cfg(feature = "motions")]
        let could = led.unwrap_or_default();
        #[cfg(all(feature = "motions", feature = "urcap"))]
        let could = self.could_have_led().unwrap_or(could);
        let player = &mut self.player;
        match (&mut player.tolerated, led) {
            #[cfg(feature = "motions")]
            (Some(tolerated), Some(led)) => tolerated.observe(&player.legs, [led, could], self.period, state, paused),
            _ => {
                let _ = (state, paused);
                Ok(())
            }
        }
    }

    pub(super) fn cancel(&mut self, number: MoveNumber) -> bool {
        let keep = PlayerOrderRepr::keep(self.counter);
        self.tell(PlayerOrderRepr { what: What::Cancel, number: number.get(), ..keep })
    }

    pub(super) fn tell(&mut self, order: PlayerOrderRepr) -> bool {
        let now = self.moment.now;
        let stops = matches!(order.what, What::Cancel | What::Rest | What::End);
        if !self.is_ready() || !self.count(stops, now) {
            return false;
        }
        let order = self.player.asking(order);
        self.order.put(|out| order.emit(out)).is_ok_and(|len| len > 0)
    }
}

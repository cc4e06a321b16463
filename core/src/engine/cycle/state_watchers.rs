//! The watchers that check each state of the arm: standstill, tracking, pendant, sensors.

use super::CycleMemory;
use super::side_facts::{MotionProgress, SideFacts};
use crate::law::{Law, Motion};
use crate::link::{Answer, LinkMonitor};
use crate::mode::{Mode, ModeMachine, Pendant, PendantReading, Standstill, TimedFact};
#[cfg(feature = "programs")]
use crate::mode::{ResidentReading, ResidentWatch};
use crate::robot::Reason;
use outrigger_wire::robot::{ProgramState, State};
use outrigger_wire::time::{Duration, Instant};

/// The controller's target speed up to which the target counts as being at rest \[rad/s\].
const SLOW: f32 = 0.001;

/// The findings about one state of the arm: its age, standstill, tracking, pendant, sensors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    /// `true` if the state is young enough to be answered by a moving command.
    pub(super) fresh: bool,
    /// `true` if the state is fresh, and an answer to it reaches the controller in time.
    pub(super) timely: bool,
    /// The result of the standstill measurement: `true` at rest, with the time of the measurement.
    pub(super) at_rest: TimedFact<bool>,
    /// `true` if the controller's target follows the commands, or the course of the move that it executes, or if there
    /// is nothing that it has to follow.
    pub(super) follows: bool,
    /// The effect of the pendant on the program that takes the commands.
    pub(super) pendant: Pendant,
    /// `true` if the program state in the packet may be used: its meaning is confirmed, or no other source is available.
    pub(super) speaks: bool,
    /// `true` if the controller's target slows down or is at rest, while the arm is brought to rest or a stop at the
    /// pendant was seen; `false` at all other times.
    pub(super) slowing: bool,
    /// `Ok` if the sensors permit commanding, or else the reason against commanding.
    pub(super) sources: Result<(), Reason>,
    /// After a reconnect: `true` if the arm still moves by our last command; `None` at other times.
    pub(super) moving_by_us: Option<bool>,
}

impl<const N: usize> CycleMemory<N> {
    /// Passes the newest state to every watcher (standstill, tracking, pendant, sensors) and returns their findings;
    /// `None` if no state has arrived since the last one that was judged.
    pub(super) fn watch<L: Law<N>>(
        &mut self,
        law: &L,
        facts: &SideFacts,
        executed: Option<&MotionProgress>,
        arrival: Instant,
        now: Instant,
    ) -> Option<Watched> {
        let state = self.state.as_ref().filter(|_| self.unjudged > 0)?;
        let commanding = self.mode.mode().drives();
        if commanding {
            // Cycles whose state was overtaken by a newer one, or is still too old, got no answer.
            let unanswered = self.unjudged.saturating_sub(u32::from(self.sent)).min(64);
            (0..unanswered).for_each(|_| self.following.skipped());
        }
        self.unjudged = 0;
        self.sent = false;

        let period = self.link.config().period;
        let dt = self.judged_at.map_or(period, |at| state.controller_time.since(at));
        self.judged_at = Some(state.controller_time);
        // A motion queued behind text that does not get through would be carried out long after its time: like the
        // state it answers, what was sent before it must not be older than a cycle and the margin.
        let bound = period + self.link.config().margin;
        // A program that is paused answers nothing that could carry an acknowledgement.
        let gets_through = self.mode.mode() != Mode::Command || facts.unacked <= bound;
        #[cfg(feature = "programs")]
        let gets_through = gets_through || {
            let paused = state.program_state.is_some_and(is_paused);
            self.evidence.pendant == Pendant::Paused || (facts.resident.is_some() && paused)
        };
        let fresh = self.link.answer(now) == Answer::Moving;
        let timely = fresh && gets_through;
        let at_rest = measured_rest(&mut self.standstill, &self.link, &self.mode, state, fresh, arrival, now);
        let follows = match executed {
            // The course of freedrive or force mode is not known in advance.
            #[cfg(feature = "programs")]
            Some(_) if self.mode.executes_move() && self.guide.is_on() => true,
            Some(executed) if self.mode.executes_move() => executed.on_course,
            // The speeds that a torque causes are not known in advance: the governor judges the measured ones.
            _ if self.stream.commands_torques() && self.mode.mode() == Mode::Command => true,
            Some(_) | None => {
                let reported = facts.speed_slider.map(|slider| now.since(slider.at));
                !commanding || self.following.judge(state, dt, reported).holds()
            }
        };
        // The number in the real-time packet is unconfirmed: it is used only if no other source is available.
        let speaks = facts.program_state_known || facts.program.is_none();
        let program = state.program_state.filter(|_| speaks);
        #[cfg(feature = "programs")]
        let by_program = watch_resident(&mut self.resident, self.mode.mode(), facts, program, timely, now);
        #[cfg(not(feature = "programs"))]
        let by_program = None::<Pendant>;
        let pendant = match (by_program, self.mode.mode()) {
            (Some(by_program), _) => by_program,
            (None, mode @ (Mode::Arming | Mode::Command)) => {
                // Computed only if no program is seen, because it is expensive.
                let lasts = matches!(program, Some(ProgramState::Stopping | ProgramState::Stopped)) && {
                    // Everything is acknowledged, or what was sent before the oldest text that is not.
                    let age =
                        if facts.unacked == Duration::ZERO { now.since(self.spoke_at) } else { facts.unacked + period };
                    age + period.times(u64::from(self.pendant.config.left)) <= self.hold
                };
                let accepted_by = self.mode.accepted_by();
                let reading = PendantReading { fresh: timely, accepted_by, program, reported: facts.program, lasts };
                self.pendant.observe(&reading, mode == Mode::Command, now)
            }
            (None, Mode::Offline | Mode::Monitor | Mode::Stopping) => Pendant::Go,
        };
        #[cfg(feature = "programs")]
        let follows = follows || (pendant == Pendant::Paused && !self.mode.executes_move());
        #[cfg(feature = "programs")]
        if pendant == Pendant::Paused {
            // The way in which a paused program brings the arm to rest is not known in advance.
            self.following.reset();
        }
        let slowing = (self.mode.mode() == Mode::Stopping || pendant == Pendant::Stopped) && {
            let (before, speed) = (self.target_speed, state.target_velocities.max_abs());
            self.target_speed = speed;
            speed < before || speed <= SLOW
        };
        // Computed only while it is unknown whether the arm moves: it is expensive, since it compares with every stored command.
        let moving_by_us = self.mode.is_motion_unknown().then(|| self.following.is_moving_by_us(state));
        let sources = self.sources_verdict(law, state, now);
        Some(Watched { fresh, timely, at_rest, follows, pendant, speaks, slowing, sources, moving_by_us })
    }

    /// Checks, except while commanding, the sensors that the law needs, and that the arm is where the law's motion
    /// begins. While commanding, an old reading may be used for some cycles: then [`answer`](Self::answer) checks the
    /// sensors, once per cycle.
    fn sources_verdict<L: Law<N>>(&self, law: &L, state: &State<N>, now: Instant) -> Result<(), Reason> {
        match self.mode.mode() {
            Mode::Command => Ok(()),
            Mode::Offline | Mode::Monitor | Mode::Arming | Mode::Stopping => {
                self.stream.sources.fresh(law.sources(), now)?;
                let Some((start, tolerance)) = law.motion().and_then(Motion::begins_at) else { return Ok(()) };
                let off = state.positions.zip_with(start.as_array(), |q, start| q - start).max_abs();
                if off <= tolerance { Ok(()) } else { Err(Reason::PathTolerance) }
            }
        }
    }
}

/// Passes the state to the measurement of standstill, and returns the result with its time. A state that is late by
/// less than the allowed gap still counts, for its own time. This does not hold for a controller that needs an answer
/// to every state (KRC), because it ends commanding by itself if its link is late.
#[inline(never)]
fn measured_rest<const N: usize>(
    standstill: &mut Standstill<N>,
    link: &LinkMonitor,
    mode: &ModeMachine,
    state: &State<N>,
    fresh: bool,
    arrival: Instant,
    now: Instant,
) -> TimedFact<bool> {
    let (usable, at) = if fresh {
        (true, now)
    } else {
        let age = link.age(now).unwrap_or(Duration::MAX);
        (!mode.config().mirrors && age <= standstill.config().max_gap, now - age)
    };
    TimedFact::new(standstill.observe(state, arrival, usable), at)
}

/// Returns `true` if the program on the controller does not continue by itself.
#[cfg(feature = "programs")]
const fn is_paused(state: ProgramState) -> bool {
    matches!(state, ProgramState::Pausing | ProgramState::Paused)
}

/// Returns the effect of a stop or a pause on our program that carries the commands. It is watched only while arming
/// and commanding; at other times nothing is reported. `None` if no program carries the commands.
#[cfg(feature = "programs")]
fn watch_resident(
    watch: &mut Option<ResidentWatch>,
    mode: Mode,
    facts: &SideFacts,
    program: Option<ProgramState>,
    timely: bool,
    now: Instant,
) -> Option<Pendant> {
    let Some(resident) = facts.resident else {
        *watch = None;
        return None;
    };
    let watch = watch.get_or_insert_default();
    if !matches!(mode, Mode::Arming | Mode::Command) {
        *watch = ResidentWatch::default();
        return Some(Pendant::Go);
    }
    let reading = ResidentReading { fresh: timely, connected: resident.connected, program, reported: facts.program };
    Some(watch.observe(&reading, now))
}

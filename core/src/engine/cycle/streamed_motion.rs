//! The streamed motion: the control law's speeds, paced by the robot's speed scaling and limited by the governor.

use super::side_facts::CycleConfig;
#[cfg(feature = "motions")]
use crate::command::{
    AddedBounds, AddedGovernor, AddedSlot, ApprovedTorques, Samples, TorqueGovernor, TorqueLimits, TorqueSlot,
};
#[cfg(all(feature = "record", feature = "motions"))]
use crate::command::{AddedPhase, TorqueMemory};
use crate::command::{Approved, Gathered, Governor, Limits, Sources};
use crate::engine::event::{Event, Events};
use crate::kinematics::KinematicChain;
use crate::law::{Law, Start};
use crate::mode::Pacer;
#[cfg(feature = "record")]
use crate::mode::Scaling;
use crate::robot::{Authority, Reason};
#[cfg(feature = "programs")]
use crate::trajectory::Progress;
#[cfg(feature = "programs")]
use outrigger_wire::robot::JointPositions;
#[cfg(feature = "motions")]
use outrigger_wire::robot::JointTorques;
use outrigger_wire::robot::{ControllerTime, State};
use outrigger_wire::time::{Duration, Instant};

/// The newest state, with the kinematics and the period that apply to it.
pub(super) struct StateContext<'a, const N: usize> {
    pub(super) state: &'a mut State<N>,
    /// The arm's kinematics, if they are known.
    pub(super) kinematics: Option<&'a KinematicChain<N>>,
    /// The period in which the controller sends states.
    pub(super) period: Duration,
    pub(super) now: Instant,
}

/// The parts of a [`Stream`] that a checkpoint of a recording contains.
#[cfg(feature = "record")]
type Saved<G, S> = ((Scaling, f32, bool), G, S, (Option<ControllerTime>, bool, bool));

/// A pause that halts a streamed motion. After the pause, the motion starts again from where the arm is then.
#[cfg(feature = "programs")]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Halt {
    /// `true` if a motion was in progress when the pause began.
    runs: bool,
    /// `true` once the arm has come to rest; `Stream::stood` is the position then.
    rests: bool,
}

/// The largest permitted travel of a joint during a pause, once the arm has come to rest \[rad\]. A larger one ends
/// commanding.
#[cfg(feature = "programs")]
const MOVED: f32 = 0.01;

/// The motion that the control law and the governor have for the controller in one cycle: speeds, torques, or none.
pub(super) enum Streamed<'c, const N: usize> {
    /// No motion is sent, because the robot's speed scaling holds the arm.
    Held,
    Speeds(Approved<'c, N>),
    #[cfg(feature = "motions")]
    Torques(ApprovedTorques<'c, N>),
}

/// The memory of streamed motion from cycle to cycle, apart from the control law.
#[derive(Debug)]
pub(super) struct Stream<const N: usize> {
    pub(super) governor: Governor<N>,
    pub(super) sources: Sources,
    pub(super) pacer: Pacer,
    /// The governor of torques, if torques are commanded in place of speeds.
    #[cfg(feature = "motions")]
    torques: Option<TorqueGovernor<N>>,
    /// The governor of the torques, or of the force and torque, that our law adds to the controller's own control.
    #[cfg(feature = "motions")]
    added: AddedGovernor,
    /// The highest feedback gain, speed per error, that a law may use \[1/s\].
    #[cfg(feature = "programs")]
    most_feedback: f32,
    /// The controller's time of the last state for which the control law made a step, or for which its motion was held.
    pub(super) stepped_at: Option<ControllerTime>,
    /// The pause that halts the streamed motion; `None` if nothing does.
    #[cfg(feature = "programs")]
    halt: Option<Halt>,
    /// The position at which the arm came to rest in the pause `halt`.
    #[cfg(feature = "programs")]
    stood: JointPositions<N>,
    /// `true` if the control law was started since commanding began, and no motion of the controller has replaced it.
    pub(super) begun: bool,
    /// `true` if the next start of the control law continues a suspended motion.
    pub(super) resume: bool,
}

impl<const N: usize> Stream<N> {
    pub(super) fn new(config: &CycleConfig, limits: Limits<N>, sources: Sources) -> Self {
        Self {
            governor: Governor::new(limits),
            sources,
            pacer: Pacer::new(config.scaling),
            #[cfg(feature = "motions")]
            torques: None,
            #[cfg(feature = "motions")]
            added: AddedGovernor::default(),
            #[cfg(feature = "programs")]
            most_feedback: config.most_feedback,
            #[cfg(feature = "programs")]
            halt: None,
            #[cfg(feature = "programs")]
            stood: JointPositions::ZERO,
            stepped_at: None,
            begun: false,
            resume: false,
        }
    }

    /// Sets the thresholds that apply to the streamed motion in a new session with the controller.
    pub(super) const fn set_config(&mut self, config: &CycleConfig) {
        self.pacer.set_config(config.scaling);
        #[cfg(feature = "programs")]
        {
            self.most_feedback = config.most_feedback;
        }
    }

    /// Returns the state of the streamed motion for a checkpoint, except the values that
    /// [`set_config`](Self::set_config) takes.
    #[cfg(feature = "record")]
    pub(super) const fn saved(&self) -> Saved<&Governor<N>, &Sources> {
        let Self {
            governor,
            sources,
            pacer,
            // These values are saved separately.
            #[cfg(feature = "motions")]
                torques: _,
            #[cfg(feature = "motions")]
                added: _,
            #[cfg(feature = "programs")]
                halt: _,
            #[cfg(feature = "programs")]
                stood: _,
            // This value follows from the session.
            #[cfg(feature = "programs")]
                most_feedback: _,
            stepped_at,
            begun,
            resume,
        } = self;
        (pacer.saved(), governor, sources, (*stepped_at, *begun, *resume))
    }

    /// Restores a state of the streamed motion that was [saved](Self::saved) in a checkpoint.
    #[cfg(feature = "record")]
    pub(super) fn resume_from(&mut self, saved: Saved<Governor<N>, Sources>) {
        let pacer;
        (pacer, self.governor, self.sources, (self.stepped_at, self.begun, self.resume)) = saved;
        self.pacer.resume(pacer);
    }

    /// Halts the streamed motion at this state, in which the arm `rests` or not. `why` is the reason: a pause of the
    /// program that carries the motion, or an unmet precondition after one.
    ///
    /// # Errors
    /// `why`, if the motion was halted for longer than [`held_timeout`](crate::mode::ScalingConfig::held_timeout);
    /// [`Reason::ProgramPaused`] if somebody has moved the arm meanwhile, because the remaining part of the program
    /// might lead it back.
    #[cfg(feature = "programs")]
    pub(super) fn stand<L: Law<N>, E>(
        &mut self,
        (why, rests): (Reason, bool),
        law: &mut L,
        newest: StateContext<'_, N>,
        events: &mut Events<E>,
    ) -> Result<(), Reason> {
        let StateContext { state, period, .. } = newest;
        let halt = self.halt.get_or_insert_with(|| Halt { runs: self.begun && is_under_way(law), rests: false });
        if rests {
            if !halt.rests {
                (halt.rests, self.stood) = (true, state.positions);
            }
            let moved = state.positions.zip_with(self.stood.as_array(), |q, stood| q - stood).max_abs();
            if moved.is_nan() || moved > MOVED {
                return Err(Reason::ProgramPaused);
            }
        }
        let dt = self.stepped_at.map_or(period, |at| state.controller_time.since(at));
        self.stepped_at = Some(state.controller_time);
        if self.pacer.observe_paused(dt) {
            events.push(Event::Held(self.pacer.held_by()));
        }
        #[cfg(feature = "motions")]
        if let Some(motion) = law.motion_mut().filter(|_| self.begun) {
            motion.stand(dt);
        }
        #[cfg(not(feature = "motions"))]
        let _ = law;
        self.rest();
        if self.pacer.is_overdue() { Err(why) } else { Ok(()) }
    }

    /// Has the control law begin at rest from this state if a pause or the speed scaling holds its motion, because
    /// another motion is about to be set.
    #[cfg(feature = "trajectories")]
    pub(super) fn settle_held<L: Law<N>>(&self, law: &mut L, state: &State<N>, kinematics: Option<&KinematicChain<N>>) {
        if self.pacer.held_by().is_some() {
            law.suspend();
            // An error of the law here occurs again when it continues.
            let _ = law.arm(&Start { state, kinematics, resume: false });
        }
    }

    /// Returns the pause that halts the motion, and the position at which the arm came to rest in it.
    #[cfg(all(feature = "record", feature = "programs"))]
    pub(super) fn halt(&self) -> Option<(Halt, &JointPositions<N>)> {
        self.halt.map(|halt| (halt, &self.stood))
    }

    /// Restores the pause that halts the motion, or none, from a checkpoint.
    #[cfg(all(feature = "record", feature = "programs"))]
    pub(super) fn resume_halt(&mut self, halt: Option<(Halt, JointPositions<N>)>) {
        self.halt = halt.map(|(halt, _)| halt);
        self.stood = halt.map_or(self.stood, |(_, stood)| stood);
    }

    /// Discards the pause that halts the streamed motion.
    #[cfg(feature = "programs")]
    pub(super) const fn end_halt(&mut self) {
        self.halt = None;
    }

    /// Commands torques in place of speeds from now on, within these limits.
    #[cfg(feature = "motions")]
    pub(super) fn set_torques(&mut self, limits: TorqueLimits<N>) {
        self.torques = Some(TorqueGovernor::new(limits));
    }

    /// Returns the highest torque of each joint \[Nm\] that the law may command in place of speeds, or add to the
    /// controller's own control; `None` if it may do neither.
    #[cfg(feature = "motions")]
    pub(super) fn torque_limits(&self) -> Option<JointTorques<N>> {
        self.torques.as_ref().map_or_else(|| self.added.most_torques(), |torques| Some(torques.limits().torque))
    }

    /// Returns `true` if torques are commanded in place of speeds: then there is no speed that the controller's target
    /// could follow.
    #[cfg(feature = "motions")]
    pub(super) const fn commands_torques(&self) -> bool {
        self.torques.is_some()
    }

    #[cfg(not(feature = "motions"))]
    pub(super) const fn commands_torques(&self) -> bool {
        false
    }

    /// Sets the bounds of the torques, or of the force and torque, that our law adds to the controller's own control;
    /// `None` if the controller adds nothing.
    #[cfg(feature = "motions")]
    pub(super) const fn set_added(&mut self, bounds: Option<AddedBounds>) {
        self.added.set_bounds(bounds);
    }

    /// Moves the torques or forces that our law adds to the controller's own control towards the constant of the
    /// configuration, `dt` after the last command, in a cycle without a motion.
    #[cfg(feature = "motions")]
    pub(super) fn hold_added(&mut self, dt: Duration) {
        // Nothing is given that could be refused.
        if self.added.step(None, 1.0, dt).is_err() {
            self.added.reset();
        }
    }

    /// Returns the torques of the joints \[Nm\], or the force and torque at the tool \[N, Nm\], that are added in place
    /// of the constant of the configuration while the arm follows the law; `None` at other times.
    #[cfg(feature = "motions")]
    pub(super) const fn added(&self) -> Option<&[f32; 7]> {
        self.added.sent()
    }

    /// Returns the states of the governors of torques and of added torques or forces; `None` if the former does not
    /// exist and the latter is idle.
    #[cfg(all(feature = "record", feature = "motions"))]
    pub(super) fn saved_torques(&self) -> Option<(Option<&TorqueMemory<N>>, &AddedPhase)> {
        let (torques, added) = (self.torques.as_ref().map(TorqueGovernor::saved), self.added.saved());
        (torques.is_some() || *added != AddedPhase::Idle).then_some((torques, added))
    }

    /// Restores the states of both governors that [`saved_torques`](Self::saved_torques) returned.
    #[cfg(all(feature = "record", feature = "motions"))]
    pub(super) fn resume_torques(&mut self, saved: Option<(Option<TorqueMemory<N>>, AddedPhase)>) {
        let (torques, added) = saved.unwrap_or_default();
        if let (Some(governor), Some(saved)) = (&mut self.torques, torques) {
            governor.resume(saved);
        }
        self.added.resume(added);
    }

    /// Returns `None`, because this build commands no torques that a checkpoint could contain.
    #[cfg(all(feature = "record", feature = "programs", not(feature = "motions")))]
    pub(super) const fn saved_torques(&self) -> Option<()> {
        None
    }

    /// Ignores the saved torques, because this build commands no torques.
    #[cfg(all(feature = "record", feature = "programs", not(feature = "motions")))]
    pub(super) const fn resume_torques(&self, _saved: Option<()>) {}

    /// Discards the last command, because the arm is at rest, or another function brings it to rest.
    pub(super) fn rest(&mut self) {
        self.governor.reset();
        #[cfg(feature = "motions")]
        if let Some(torques) = &mut self.torques {
            torques.reset();
        }
        #[cfg(feature = "motions")]
        self.added.reset();
    }

    /// Returns the approved joint speeds \[rad/s\] or torques \[Nm\] of the control law for the `newest` state, or `Held`
    /// while the robot's speed scaling holds the arm.
    ///
    /// # Errors
    /// The reason for which law, sensor or governor refuse.
    pub(super) fn next<'c, L: Law<N>, E>(
        &'c mut self,
        authority: Authority<'c>,
        law: &mut L,
        newest: StateContext<'_, N>,
        events: &mut Events<E>,
    ) -> Result<Streamed<'c, N>, Reason> {
        let StateContext { state, kinematics, period, now } = newest;
        if !self.begun {
            law.arm(&Start { state, kinematics, resume: self.resume })?;
            self.begun = true;
            self.stepped_at = None;
        }
        #[cfg(feature = "programs")]
        if self.halt.is_some()
            && let Some(halt) = self.halt.take()
        {
            let resume = halt.runs || is_under_way(law);
            law.suspend();
            law.arm(&Start { state, kinematics, resume })?;
        }
        let dt = self.stepped_at.map_or(period, |at| state.controller_time.since(at));
        let mut gathered = Gathered::nothing();
        self.sources.gather_into(&mut gathered, law.sources(), now, period)?;
        if let Some(bridged) = gathered.bridged {
            events.push(Event::Bridged(bridged));
        }
        self.stepped_at = Some(state.controller_time);
        let moving = || self.governor.last().max_abs() > 0.0;
        // No scaling slows a torque down: only the slider can hold the arm.
        let scaling = if self.commands_torques() { state.speed_slider.unwrap_or(1.0) } else { state.scaling() };
        if self.pacer.observe(scaling, state.speed_slider, dt, moving) {
            events.push(Event::Held(self.pacer.held_by()));
        }
        if self.pacer.is_held()? {
            #[cfg(feature = "motions")]
            if let Some(motion) = law.motion_mut() {
                motion.stand(dt);
            }
            // The motion that follows starts at rest.
            self.rest();
            return Ok(Streamed::Held);
        }
        let reported = state.speed_scaling;
        state.speed_scaling = self.pacer.scaling_of_law(reported);
        let samples = gathered.samples();
        #[cfg(feature = "programs")]
        let samples = samples.with_most_feedback(self.most_feedback);
        #[cfg(feature = "motions")]
        if let Some(torques) = &mut self.torques {
            state.speed_scaling = Some(scaling);
            let wanted = torques_of(law, state, samples, torques.limits(), dt);
            state.speed_scaling = reported;
            let arm = self.governor.limits();
            return torques.approve(authority, wanted?, gathered.scale, state, arm, dt).map(Streamed::Torques);
        }
        #[cfg(feature = "motions")]
        let added = self.added.slot();
        #[cfg(feature = "motions")]
        let samples = samples.taking_added(added.as_ref());
        let wanted = law.step(state, &samples, dt);
        state.speed_scaling = reported;
        #[cfg(feature = "motions")]
        if wanted.is_ok() {
            let most = dt.min(self.governor.limits().longest_step);
            self.added.step(added.as_ref().and_then(AddedSlot::take), gathered.scale, most)?;
        }
        let wanted = self.pacer.limit(wanted?.map(|v| v * gathered.scale));
        self.governor.approve(authority, wanted, state, dt).map(Streamed::Speeds)
    }
}

/// Returns `true` if the control law is executing a motion with an end: not before its start or after its end, nor
/// while it is suspended.
#[cfg(feature = "programs")]
fn is_under_way<const N: usize>(law: &impl Law<N>) -> bool {
    law.motion().is_some_and(|motion| motion.status().progress == Progress::Running)
}

/// Returns the joint torques \[Nm\] that the control law `law` wants for `state`.
///
/// # Errors
/// The law's own error, or [`Reason::PathUnfit`] if it wants speeds.
#[cfg(feature = "motions")]
fn torques_of<const N: usize>(
    law: &mut impl Law<N>,
    state: &State<N>,
    samples: Samples<'_>,
    limits: &TorqueLimits<N>,
    dt: Duration,
) -> Result<JointTorques<N>, Reason> {
    let slot = TorqueSlot::new(limits);
    law.step(state, &samples.taking_torques(&slot), dt)?;
    slot.take().ok_or(Reason::PathUnfit)
}

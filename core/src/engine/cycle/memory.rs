//! The memory of the control cycle, apart from the law that moves the arm.

use super::pendant_stop_rule::PendantRule;
use super::side_facts::CycleConfig;
use super::streamed_motion::Stream;
#[cfg(feature = "motions")]
use crate::command::{AddedBounds, TorqueLimits};
use crate::command::{Limits, Sources};
use crate::engine::event::Events;
use crate::kinematics::KinematicChain;
use crate::link::{AnswerFigures, LinkMonitor};
use crate::mode::{
    Drive, Evidence, Following, Mode, ModeMachine, Operator, OperatorConfig, Pace, Standstill, StandstillConfig,
    TimedFact,
};
#[cfg(feature = "programs")]
use crate::mode::{Guide, MoveEnd, ResidentWatch};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use crate::robot::{Reason, ReasonSet};
#[cfg(feature = "motions")]
use outrigger_wire::robot::JointTorques;
use outrigger_wire::robot::{ControllerTime, JointVelocities, State};
use outrigger_wire::time::{Duration, Instant, earliest};

/// The memory of the control cycle of one arm with `N` joints: everything that its decisions depend on, apart from the
/// law that moves the arm.
#[derive(Debug)]
pub struct CycleMemory<const N: usize> {
    pub(super) link: LinkMonitor,
    pub(super) mode: ModeMachine,
    pub(super) following: Following<N>,
    pub(super) stream: Stream<N>,
    /// The last reported reason for which the motion that the controller executes is held; `None` if it is not held.
    #[cfg(feature = "programs")]
    pub(super) held: Option<Reason>,
    pub(super) pendant: PendantRule,
    #[cfg(feature = "programs")]
    pub(super) resident: Option<ResidentWatch>,
    #[cfg(feature = "programs")]
    pub(super) guide: Guide,
    #[cfg(feature = "programs")]
    pub(super) move_end: MoveEnd,
    pub(super) hold: Duration,
    pub(super) standstill: Standstill<N>,
    pub(super) operator: Operator,
    /// The arm's kinematics for the control law, if they are known.
    pub(super) chain: Option<KinematicChain<N>>,
    pub(super) evidence: Evidence,
    pub(super) state: Option<State<N>>,
    /// The arrival of the newest state that waits to be judged, because more states probably wait behind it.
    pub(super) arrived: Option<Instant>,
    /// The number of states that were stored as the newest since the last one that was judged. It is 0 while no other
    /// state confirms the newest, which is then used only to check the next one.
    pub(super) unjudged: u32,
    /// `true` if a command was sent since the last state that was judged.
    pub(super) sent: bool,
    pub(super) judged_at: Option<ControllerTime>,
    /// The time at which speeds, torques or a stop were last sent to the controller.
    pub(super) spoke_at: Instant,
    /// The highest joint speed of the controller's target in the last judged state \[rad/s\], while the arm is brought
    /// to rest.
    pub(super) target_speed: f32,
    /// `true` if a change of the mode has ended the motion of the control law; see
    /// [`suspend_ended`](Self::suspend_ended).
    pub(super) law_ended: bool,
    /// `true` if the arm's kinematics may be known better than before, and no law that needs them has read them
    /// since.
    learned: bool,
}

impl<const N: usize> CycleMemory<N> {
    #[inline(always)]
    pub(in crate::engine) fn new(
        config: CycleConfig,
        standstill: StandstillConfig,
        limits: Limits<N>,
        sources: Sources,
        operator: OperatorConfig,
    ) -> Self {
        Self {
            link: LinkMonitor::new(config.link),
            mode: ModeMachine::new(config.mode),
            following: Following::new(config.following),
            stream: Stream::new(&config, limits, sources),
            #[cfg(feature = "programs")]
            held: None,
            pendant: PendantRule::new(config.pendant, config.sight),
            #[cfg(feature = "programs")]
            resident: None,
            #[cfg(feature = "programs")]
            guide: Guide::default(),
            #[cfg(feature = "programs")]
            move_end: MoveEnd::default(),
            hold: config.hold,
            standstill: Standstill::new(standstill),
            operator: Operator::new(operator),
            chain: None,
            evidence: Evidence::default(),
            state: None,
            arrived: None,
            unjudged: 0,
            sent: false,
            judged_at: None,
            spoke_at: Instant::ZERO,
            target_speed: 0.0,
            law_ended: false,
            learned: false,
        }
    }

    /// Starts a new session with a controller of this kind. The state, the evidence and the link's figures of the last
    /// session are discarded. The latched reasons, which an operator must still acknowledge, are kept, and so are our
    /// last commands to the arm if the control cycle is as long as before.
    pub(in crate::engine) fn establish<E>(&mut self, config: CycleConfig, now: Instant, events: &mut Events<E>) {
        if self.mode.config().cycle != config.mode.cycle {
            self.following = Following::new(config.following);
        }
        self.stream.set_config(&config);
        self.pendant = PendantRule::new(config.pendant, config.sight);
        self.hold = config.hold;
        self.link = LinkMonitor::new(config.link);
        self.mode.set_config(config.mode);
        self.standstill.reset();
        self.evidence = Evidence::default();
        self.state = None;
        self.unjudged = 0;
        self.judged_at = None;
        let transition = self.mode.established(now);
        self.after(transition, events);
    }

    /// Sets the limits of the arm's motion for every later command.
    pub(in crate::engine) const fn set_limits(&mut self, limits: Limits<N>) {
        self.stream.governor.set_limits(limits);
    }

    /// Commands torques in place of speeds from now on, within these limits.
    #[cfg(feature = "motions")]
    pub(in crate::engine) fn set_torques(&mut self, limits: TorqueLimits<N>) {
        self.stream.set_torques(limits);
    }

    /// Returns the highest torque of each joint \[Nm\] that the law may command in place of speeds, or add to the
    /// controller's own control; `None` if it may do neither.
    #[cfg(feature = "motions")]
    pub(in crate::engine) fn torque_limits(&self) -> Option<JointTorques<N>> {
        self.stream.torque_limits()
    }

    /// Sets the bounds of the torques, or of the force and torque, that our law adds to the controller's own control;
    /// `None` if the controller adds nothing.
    #[cfg(feature = "motions")]
    pub(in crate::engine) const fn set_added(&mut self, bounds: Option<AddedBounds>) {
        self.stream.set_added(bounds);
    }

    /// Moves the torques or forces that our law adds to the controller's own control towards the constant of the
    /// configuration, `dt` after the last command, in a cycle without a motion.
    #[cfg(feature = "motions")]
    pub(in crate::engine) fn hold_added(&mut self, dt: Duration) {
        self.stream.hold_added(dt);
    }

    /// Returns the torques of the joints \[Nm\], or the force and torque at the tool \[N, Nm\], that are added in place
    /// of the constant of the configuration while the arm follows the law; `None` at other times.
    #[cfg(feature = "motions")]
    pub(in crate::engine) const fn added(&self) -> Option<&[f32; 7]> {
        self.stream.added()
    }

    pub(in crate::engine) const fn mode_now(&self) -> Mode {
        self.mode.mode()
    }

    pub(in crate::engine) const fn link(&self) -> &LinkMonitor {
        &self.link
    }

    pub(in crate::engine) const fn mode(&self) -> &ModeMachine {
        &self.mode
    }

    /// Returns the newest state of this session, in the order of the controller's clock; `None` before the first.
    pub(in crate::engine) const fn state(&self) -> Option<&State<N>> {
        self.state.as_ref()
    }

    pub(in crate::engine) const fn sources(&self) -> &Sources {
        &self.stream.sources
    }

    pub(in crate::engine) const fn sources_mut(&mut self) -> &mut Sources {
        &mut self.stream.sources
    }

    pub(in crate::engine) const fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Returns `true` if the last granted request to command was to continue a suspended motion, and no motion of the
    /// controller has started since.
    pub(in crate::engine) const fn goes_on(&self) -> bool {
        self.stream.resume
    }

    /// Returns the joint speeds that the governor approved last \[rad/s\].
    pub(in crate::engine) const fn approved(&self) -> JointVelocities<N> {
        self.stream.governor.last()
    }

    /// Returns whether the robot's speed scaling permits the speeds of the control law, limits them, or holds the arm.
    pub(in crate::engine) const fn pace(&self) -> Pace {
        self.stream.pacer.pace()
    }

    /// Returns the reason that holds the arm during commanding; `None` if nothing does.
    pub(in crate::engine) fn held_by(&self) -> Option<Reason> {
        match self.mode.drive() {
            Drive::Delegated(_) => self.mode.held_by(&self.evidence),
            Drive::Streamed => self.stream.pacer.held_by().filter(|_| self.mode.mode() == Mode::Command),
        }
    }

    /// Returns the reasons for which a request to command would be refused now; the set is empty if it would be granted.
    pub(in crate::engine) fn unmet(&self, now: Instant) -> ReasonSet {
        self.mode.unmet(&self.evidence, now).union(self.operator.unmet())
    }

    pub(in crate::engine) const fn operator(&self) -> &Operator {
        &self.operator
    }

    /// Records that this device has started, so that it may make its automatic request to command.
    pub(in crate::engine) fn start(&mut self, now: Instant) {
        self.operator.start(now);
    }

    /// Records that newer data about the arm's kinematics may have arrived.
    pub(in crate::engine) const fn learn(&mut self) {
        self.learned = true;
    }

    /// Returns `true` if [`learn`](Self::learn) was called since the last call of this function.
    pub(in crate::engine) const fn take_learned(&mut self) -> bool {
        core::mem::replace(&mut self.learned, false)
    }

    /// Stores the arm's kinematics for the next start of the control law.
    pub(in crate::engine) const fn set_chain(&mut self, chain: Option<KinematicChain<N>>) {
        self.chain = chain;
    }

    pub(in crate::engine) const fn chain(&self) -> Option<&KinematicChain<N>> {
        self.chain.as_ref()
    }

    /// Returns `true` if the evidence shows that a program runs on the controller.
    pub(in crate::engine) fn program_runs(&self, now: Instant) -> bool {
        self.evidence.acceptance.program(now, self.mode.config().evidence_age) == Some(true)
    }

    /// Stores the figures of the commands that the controller has mirrored: answer rate, losses, round trip.
    pub(in crate::engine) const fn set_answers(&mut self, answers: AnswerFigures) {
        self.link.set_answers(answers);
    }

    /// Stores the newest state of the arm.
    pub(in crate::engine) const fn keep(&mut self, state: &State<N>) {
        self.state = Some(*state);
        // A state that no other state confirms yet is only used to compare the next one with.
        self.unjudged = if self.link.agrees() { self.unjudged.saturating_add(1) } else { 0 };
    }

    /// Completes the newest state with the speed `slider`, if its packet does not have it: the speed scaling in such a
    /// packet contains at most the share of the controller's speed limiter. Returns the slider if it was used.
    #[inline(always)]
    pub(in crate::engine) fn complete_slider(&mut self, slider: Option<TimedFact<f32>>) -> Option<TimedFact<f32>> {
        let state = self.state.as_mut().filter(|state| state.speed_slider.is_none());
        let (slider, state) = slider.zip(state)?;
        state.speed_scaling = Some(state.speed_scaling.unwrap_or(1.0) * slider.value);
        state.speed_slider = Some(slider.value);
        Some(slider)
    }

    /// Records that states wait to be judged; the newest arrived at `arrival`.
    pub(in crate::engine) const fn arrived(&mut self, arrival: Instant) {
        self.arrived = Some(arrival);
    }

    /// Returns the newest state of the arm if it has not been judged yet.
    pub(in crate::engine) fn awaiting(&self) -> Option<&State<N>> {
        self.state.as_ref().filter(|_| self.unjudged > 0)
    }

    /// Returns `true` while states of the arm wait to be judged.
    pub(in crate::engine) const fn is_awaited(&self) -> bool {
        self.arrived.is_some()
    }

    /// Returns the arrival time of the states that are judged now; no states wait afterwards.
    pub(in crate::engine) const fn take_arrival(&mut self) -> Option<Instant> {
        self.arrived.take()
    }

    /// Returns `true` if the next command would override a stop at the pendant, while commanding.
    pub(in crate::engine) const fn overrides_pendant(&self) -> bool {
        self.pendant.overrides() && matches!(self.mode.mode(), Mode::Command)
    }

    /// Records that the command of this cycle is about to be sent. Returns the arrival of the state that the command
    /// answers, if any.
    pub(in crate::engine) fn answered(&mut self) -> Option<Instant> {
        self.link.answered()
    }

    /// Records that the command was written at `now`. Returns the time since the `arrival` of the state that the
    /// command answers; `None` if it answers none.
    pub(in crate::engine) fn written(&mut self, arrival: Option<Instant>, now: Instant) -> Option<Duration> {
        let turnaround = now.since(arrival?);
        self.link.written(turnaround);
        Some(turnaround)
    }

    /// Updates the link's displayed figures after a call of the engine; no decision depends on them.
    pub(in crate::engine) fn account(&mut self) {
        self.link.account();
    }

    /// Returns the latest time at which [`wake`](Self::wake) must be called next; `None` if nothing is waited for.
    pub(in crate::engine) fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let link = if self.mode.mode() == Mode::Offline { None } else { self.link.next_deadline(now) };
        #[cfg(feature = "programs")]
        let guide = self.guide.next_deadline();
        #[cfg(not(feature = "programs"))]
        let guide = None;
        earliest(&[link, self.mode.next_deadline(), guide, self.operator.next_deadline()])
    }

    /// Saves the memory of the control cycle in a checkpoint, except the control law and the values that follow from
    /// the configuration and the session.
    #[cfg(feature = "record")]
    pub(in crate::engine) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        // Every field is named, so that none is left out by mistake.
        let Self {
            link,
            mode,
            following,
            stream,
            #[cfg(feature = "programs")]
            held,
            pendant,
            #[cfg(feature = "programs")]
            resident,
            #[cfg(feature = "programs")]
            guide,
            #[cfg(feature = "programs")]
            move_end,
            // This value follows from the session.
            hold: _,
            standstill,
            operator,
            chain,
            evidence,
            state,
            arrived,
            unjudged,
            sent,
            judged_at,
            spoke_at,
            target_speed,
            // This value is `false` between two calls of the engine.
            law_ended: _,
            learned,
        } = self;
        let (pacer, governor, sources, marks) = stream.saved();
        to.put(&(link, mode, pacer, spoke_at, target_speed))?;
        pendant.save(to)?;
        to.put(&(following, standstill, governor, sources, operator))?;
        to.put(&(chain, evidence, state, arrived, unjudged, sent))?;
        to.put(&(judged_at, marks, learned))?;
        #[cfg(feature = "programs")]
        to.put(&(resident, guide, move_end, held, stream.halt(), stream.saved_torques()))?;
        #[cfg(not(feature = "programs"))]
        to.put(&[None::<()>; 6])?;
        Some(())
    }

    /// Restores the memory of the control cycle that was saved by [`save`](Self::save), with the thresholds of the
    /// `session` with the controller; `None` if it cannot be read.
    #[cfg(feature = "record")]
    pub(in crate::engine) fn load(&mut self, from: &mut Loader<'_>, session: &CycleConfig) -> Option<()> {
        self.stream.set_config(session);
        self.hold = session.hold;
        let pacer;
        (self.link, self.mode, pacer, self.spoke_at, self.target_speed) = from.take()?;
        self.pendant.load(from)?;
        let (governor, sources, marks);
        (self.following, self.standstill, governor, sources, self.operator) = from.take()?;
        (self.chain, self.evidence, self.state, self.arrived, self.unjudged, self.sent) = from.take()?;
        (self.judged_at, marks, self.learned) = from.take()?;
        self.stream.resume_from((pacer, governor, sources, marks));
        #[cfg(feature = "programs")]
        {
            let (halt, torques);
            (self.resident, self.guide, self.move_end, self.held, halt, torques) = from.take()?;
            self.stream.resume_halt(halt);
            self.stream.resume_torques(torques);
        }
        #[cfg(not(feature = "programs"))]
        from.take::<[Option<()>; 6]>()?;
        Some(())
    }
}

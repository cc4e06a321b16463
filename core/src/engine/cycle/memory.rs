//! The memory of the control cycle, apart from the law.

use super::given::CycleConfig;
use super::pendant::PendantRule;
use super::stream::Stream;
#[cfg(feature = "motions")]
use crate::command::{AddedBounds, TorqueLimits};
use crate::command::{Limits, Sources};
use crate::engine::event::Events;
use crate::kinematics::KinematicChain;
use crate::link::{AnswerFigures, LinkMonitor};
use crate::mode::{
    Drive, Evidence, Following, Held, Mode, ModeMachine, Operator, OperatorConfig, Pace, Standstill, StandstillConfig,
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

/// The memory of the control cycle of one arm with `N` joints: every input of grade, entry, staying and tracking.
#[derive(Debug)]
pub struct CycleMemory<const N: usize> {
    pub(super) link: LinkMonitor,
    pub(super) mode: ModeMachine,
    pub(super) following: Following<N>,
    pub(super) stream: Stream<N>,
    /// The reason last reported for which the controller's motion is held.
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
    /// The arm's kinematics, where they are known.
    pub(super) chain: Option<KinematicChain<N>>,
    pub(super) evidence: Evidence,
    pub(super) state: Option<State<N>>,
    /// The arrival of the newest state that waits to be judged, because more is likely to wait behind it.
    pub(super) arrived: Option<Instant>,
    /// States seen since the last one that was judged.
    pub(super) unjudged: u32,
    /// A command went out since the last state that was judged.
    pub(super) sent: bool,
    pub(super) judged_at: Option<ControllerTime>,
    /// The time of the last command.
    pub(super) spoke_at: Instant,
    /// The controller's fastest target, while the arm is brought to rest \[rad/s\].
    pub(super) target_speed: f32,
    /// A transition has ended what the law was asked for; see [`suspend_ended`](Self::suspend_ended).
    pub(super) law_ended: bool,
    /// The arm's kinematics may be known better than before, and no law that needs them has asked since.
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

    /// A new session with a controller of this kind: everything learned is forgotten, except what an operator must
    /// still acknowledge, and what we last told the arm to do.
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

    /// Sets the limits of every later command.
    pub(in crate::engine) const fn set_limits(&mut self, limits: Limits<N>) {
        self.stream.governor.set_limits(limits);
    }

    /// Commands torques in place of speeds, within these limits.
    #[cfg(feature = "motions")]
    pub(in crate::engine) fn set_torques(&mut self, limits: TorqueLimits<N>) {
        self.stream.set_torques(limits);
    }

    /// Returns the highest torque of each joint, where torques go out in place of speeds or beside them.
    #[cfg(feature = "motions")]
    pub(in crate::engine) fn torque_limits(&self) -> Option<JointTorques<N>> {
        self.stream.torque_limits()
    }

    /// Sets the bounds of what the law adds to the control law of the controller; `None` where it adds nothing.
    #[cfg(feature = "motions")]
    pub(in crate::engine) const fn set_added(&mut self, bounds: Option<AddedBounds>) {
        self.stream.set_added(bounds);
    }

    /// Returns what is added in place of the constant of the configuration, while the arm follows the law: torques of the joints, or
    /// force and torque at the tool.
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

    /// The newest state of this session, in the order of the controller's clock.
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

    /// Returns `true` where the request that was granted last goes on with a suspended motion.
    pub(in crate::engine) const fn goes_on(&self) -> bool {
        self.stream.resume
    }

    /// The speeds that were approved last.
    pub(in crate::engine) const fn approved(&self) -> JointVelocities<N> {
        self.stream.governor.last()
    }

    /// The pace that the robot's speed scaling allows.
    pub(in crate::engine) const fn pace(&self) -> Pace {
        self.stream.pacer.pace()
    }

    /// Returns the reason that holds the motion while commanding lasts.
    pub(in crate::engine) fn held_by(&self) -> Option<Reason> {
        match self.mode.drive() {
            Drive::Delegated(_) => self.mode.held_by(&self.evidence),
            Drive::Streamed => self.stream.pacer.held_by().filter(|_| self.mode.mode() == Mode::Command),
        }
    }

    /// The reasons for which a request would be refused now.
    pub(in crate::engine) fn unmet(&self, now: Instant) -> ReasonSet {
        self.mode.unmet(&self.evidence, now).union(self.operator.unmet())
    }

    pub(in crate::engine) const fn operator(&self) -> &Operator {
        &self.operator
    }

    /// This device has started.
    pub(in crate::engine) fn start(&mut self, now: Instant) {
        self.operator.start(now);
    }

    /// Takes note that the arm's kinematics may be known better.
    pub(in crate::engine) const fn learn(&mut self) {
        self.learned = true;
    }

    /// Returns `true` once after [`learn`](Self::learn).
    pub(in crate::engine) const fn take_learned(&mut self) -> bool {
        core::mem::replace(&mut self.learned, false)
    }

    /// Stores the arm's kinematics for the next time that the law begins.
    pub(in crate::engine) const fn set_chain(&mut self, chain: Option<KinematicChain<N>>) {
        self.chain = chain;
    }

    pub(in crate::engine) const fn chain(&self) -> Option<&KinematicChain<N>> {
        self.chain.as_ref()
    }

    /// Returns `true` where the evidence says that a program runs.
    pub(in crate::engine) fn program_runs(&self, now: Instant) -> bool {
        self.evidence.acceptance.program(now, self.mode.config().evidence_age) == Some(true)
    }

    /// Figures of the answers that the peer has seen.
    pub(in crate::engine) const fn set_answers(&mut self, answers: AnswerFigures) {
        self.link.set_answers(answers);
    }

    /// The newest state.
    pub(in crate::engine) const fn keep(&mut self, state: &State<N>) {
        self.state = Some(*state);
        // What nothing agrees with yet is used for nothing but to compare the next with.
        self.unjudged = if self.link.agrees() { self.unjudged.saturating_add(1) } else { 0 };
    }

    /// Completes the newest state by the speed `slider`, where the packet does not have it: the packet alone has at most the limiter's
    /// share. Returns the slider where it was used.
    #[inline(always)]
    pub(in crate::engine) fn complete_slider(&mut self, slider: Option<Held<f32>>) -> Option<Held<f32>> {
        let state = self.state.as_mut().filter(|state| state.speed_slider.is_none());
        let (slider, state) = slider.zip(state)?;
        state.speed_scaling = Some(state.speed_scaling.unwrap_or(1.0) * slider.value);
        state.speed_slider = Some(slider.value);
        Some(slider)
    }

    /// States arrived, at `arrival` the newest, that wait to be judged.
    pub(in crate::engine) const fn arrived(&mut self, arrival: Instant) {
        self.arrived = Some(arrival);
    }

    /// The newest state, where it was not judged yet.
    pub(in crate::engine) fn awaiting(&self) -> Option<&State<N>> {
        self.state.as_ref().filter(|_| self.unjudged > 0)
    }

    /// Returns `true` while states wait to be judged.
    pub(in crate::engine) const fn is_awaited(&self) -> bool {
        self.arrived.is_some()
    }

    /// Returns the arrival of the states that are judged now; none wait any more.
    pub(in crate::engine) const fn take_arrival(&mut self) -> Option<Instant> {
        self.arrived.take()
    }

    /// Returns whether the next command would override a stop at the pendant, while commanding.
    pub(in crate::engine) const fn overrides_pendant(&self) -> bool {
        self.pendant.overrides() && matches!(self.mode.mode(), Mode::Command)
    }

    /// Takes note that the command is on its way out. Returns the arrival of the state that it answers, where it answers one.
    pub(in crate::engine) fn answered(&mut self) -> Option<Instant> {
        self.link.answered()
    }

    /// Takes note that the command was written at `now`. Returns the time since the `arrival` of the state that it answers.
    pub(in crate::engine) fn written(&mut self, arrival: Option<Instant>, now: Instant) -> Option<Duration> {
        let turnaround = now.since(arrival?);
        self.link.written(turnaround);
        Some(turnaround)
    }

    /// Counts what the last call noted for people; no decision depends on it.
    pub(in crate::engine) fn account(&mut self) {
        self.link.account();
    }

    /// The latest time at which it is to be woken.
    pub(in crate::engine) fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let link = if self.mode.mode() == Mode::Offline { None } else { self.link.next_deadline(now) };
        #[cfg(feature = "programs")]
        let guide = self.guide.next_deadline();
        #[cfg(not(feature = "programs"))]
        let guide = None;
        earliest(&[link, self.mode.next_deadline(), guide, self.operator.next_deadline()])
    }

    /// Writes everything except the law and what follows from the configuration and the session.
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
            // Follows from the session.
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
            // `false` between two calls of the engine.
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

    /// Goes on from what was saved, in a `session` with these thresholds.
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

//! One control cycle, for an arm with `N` joints: state → evidence → mode → law → governor → what may go out.
//!
//! Every state read is shown to the link monitor; the newest, after draining, is judged by [`Cycle::judge`], and then
//! [`Cycle::answer`] says what goes out. A law, a sensor or the governor may refuse on the way: the caller reports the
//! refusal by [`Cycle::fault`] and asks again, so that zero velocity goes out in the very same cycle.

mod executed;
mod given;
mod heard;
mod pendant;

pub(super) use self::given::{Beside, CycleConfig, Executed, Resident};
use self::pendant::PendantRule;
pub(super) use self::pendant::PendantSight;
use super::event::{Event, Events};
use crate::command::{Approved, ApprovedMove, Gathered, Governor, JointMove, Limits, Sources};
use crate::kinematics::KinematicChain;
use crate::law::{Law, Motion, Start};
use crate::link::{Answer, AnswerFigures, LinkMonitor};
use crate::mode::{
    Acceptance, Action, Activity, Channel, Contact, Drive, Epoch, Evidence, Following, Held, Lapse, Mode, ModeMachine,
    MoveNumber, Operator, OperatorConfig, Outcome, Pace, PeerGate, Pendant, PendantReading, Refusal, Scaling,
    ScalingConfig, Standstill, StandstillConfig, Transition,
};
#[cfg(feature = "programs")]
use crate::mode::{Guide, MoveEnd, ResidentReading, ResidentWatch};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
#[cfg(feature = "programs")]
use crate::robot::Authority;
use crate::robot::{Reason, ReasonSet};
use outrigger_wire::robot::{ControllerTime, JointVelocities, ProgramState, Safety, State};
use outrigger_wire::time::{Duration, Instant, earliest};

/// What goes out in this cycle.
#[derive(Debug)]
#[must_use]
pub enum Verdict<'m, const N: usize> {
    Silent,
    /// The measured position, unchanged: to a peer that wants an answer to every state.
    Mirror,
    Hold,
    Stop,
    Move(Approved<'m, N>),
    /// The controller is given this move, by this number, to execute by itself.
    Start(ApprovedMove<'m, N>, MoveNumber),
    /// The arm gives way to a hand or a force from now on, as this move.
    #[cfg(feature = "programs")]
    Guide(Authority<'m>, MoveNumber),
    /// The program that executes moves is kept alive.
    Keep,
    /// It is told to end this move.
    Cancel(MoveNumber),
}

/// A target below this is as good as at rest \[rad/s\].
const SLOW: f32 = 0.001;

/// The control cycle: link monitor, mode machine, operator, law and governor of one arm with `N` joints.
#[derive(Debug)]
pub struct Cycle<const N: usize, L> {
    link: LinkMonitor,
    mode: ModeMachine,
    following: Following<N>,
    scaling: Scaling,
    /// The reason last reported for which the controller's motion is held.
    #[cfg(feature = "programs")]
    held: Option<Reason>,
    scaling_config: ScalingConfig,
    pendant: PendantRule,
    #[cfg(feature = "programs")]
    resident: Option<ResidentWatch>,
    #[cfg(feature = "programs")]
    guide: Guide,
    #[cfg(feature = "programs")]
    move_end: MoveEnd,
    #[cfg(feature = "programs")]
    most_feedback: f32,
    hold: Duration,
    standstill: Standstill<N>,
    governor: Governor<N>,
    sources: Sources,
    operator: Operator,
    law: L,
    /// The arm's kinematics, where they are known.
    chain: Option<KinematicChain<N>>,
    evidence: Evidence,
    state: Option<State<N>>,
    /// When the newest of the states arrived that wait to be judged, because more is likely to wait behind them.
    arrived: Option<Instant>,
    /// States seen since the last one that was judged.
    unjudged: u32,
    /// Whether anything went out since the last state that was judged.
    sent: bool,
    judged_at: Option<ControllerTime>,
    stepped_at: Option<ControllerTime>,
    /// When something went out last.
    spoke_at: Instant,
    /// The controller's fastest target, while the arm is brought to rest \[rad/s\].
    target_speed: f32,
    /// Whether the law has begun in this `Command`.
    begun: bool,
    /// The share of what the law wanted last that [`Pace::Begin`] let go out.
    begin_share: f32,
    /// The next beginning goes on with a suspended motion.
    resume: bool,
}

impl<const N: usize, L> Cycle<N, L> {
    /// The mode, whatever the law.
    pub(super) const fn mode_now(&self) -> Mode {
        self.mode.mode()
    }
}

impl<const N: usize, L: Law<N>> Cycle<N, L> {
    pub(super) fn new(
        config: CycleConfig,
        standstill: StandstillConfig,
        limits: Limits<N>,
        sources: Sources,
        operator: OperatorConfig,
        law: L,
    ) -> Self {
        Self {
            link: LinkMonitor::new(config.link),
            mode: ModeMachine::new(config.mode),
            following: Following::new(config.following),
            scaling: Scaling::BEGIN,
            #[cfg(feature = "programs")]
            held: None,
            scaling_config: config.scaling,
            pendant: PendantRule::new(config.pendant, config.sight),
            #[cfg(feature = "programs")]
            resident: None,
            #[cfg(feature = "programs")]
            guide: Guide::default(),
            #[cfg(feature = "programs")]
            move_end: MoveEnd::default(),
            #[cfg(feature = "programs")]
            most_feedback: config.most_feedback,
            hold: config.hold,
            standstill: Standstill::new(standstill),
            governor: Governor::new(limits),
            sources,
            operator: Operator::new(operator),
            law,
            chain: None,
            evidence: Evidence::default(),
            state: None,
            arrived: None,
            unjudged: 0,
            sent: false,
            judged_at: None,
            stepped_at: None,
            spoke_at: Instant::ZERO,
            target_speed: 0.0,
            begun: false,
            begin_share: 1.0,
            resume: false,
        }
    }

    /// A new session with a controller of this kind: everything learned is forgotten, except what an operator must
    /// still acknowledge, and what we last told the arm to do.
    pub(super) fn establish<E>(&mut self, config: CycleConfig, now: Instant, events: &mut Events<E>) {
        if self.mode.config().cycle != config.mode.cycle {
            self.following = Following::new(config.following);
        }
        self.scaling_config = config.scaling;
        self.pendant = PendantRule::new(config.pendant, config.sight);
        self.hold = config.hold;
        #[cfg(feature = "programs")]
        {
            self.most_feedback = config.most_feedback;
        }
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

    /// What the arm may do from now on.
    pub(super) const fn set_limits(&mut self, limits: Limits<N>) {
        self.governor.set_limits(limits);
    }

    pub(super) const fn link(&self) -> &LinkMonitor {
        &self.link
    }

    pub(super) const fn mode(&self) -> &ModeMachine {
        &self.mode
    }

    /// The newest state of this session, in the order of the controller's clock.
    pub(super) const fn state(&self) -> Option<&State<N>> {
        self.state.as_ref()
    }

    pub(super) const fn law(&self) -> &L {
        &self.law
    }

    pub(super) const fn law_mut(&mut self) -> &mut L {
        &mut self.law
    }

    pub(super) const fn sources(&self) -> &Sources {
        &self.sources
    }

    pub(super) const fn sources_mut(&mut self) -> &mut Sources {
        &mut self.sources
    }

    pub(super) const fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Whether the request that was granted last is to go on with a suspended motion.
    pub(super) const fn goes_on(&self) -> bool {
        self.resume
    }

    /// The speeds that were approved last.
    pub(super) const fn approved(&self) -> JointVelocities<N> {
        self.governor.last()
    }

    /// What the robot's speed scaling lets go out.
    pub(super) const fn pace(&self) -> Pace {
        self.scaling.pace()
    }

    /// Returns the reason that holds the motion while commanding lasts.
    pub(super) fn held_by(&self) -> Option<Reason> {
        match self.mode.drive() {
            Drive::Delegated(_) => self.mode.held_by(&self.evidence),
            Drive::Streamed => {
                let held = self.mode.mode() == Mode::Command && self.pace() == Pace::Held;
                held.then_some(Reason::HeldByScaling)
            }
        }
    }

    /// Reports a change of what holds a motion that the controller executes.
    #[cfg(feature = "programs")]
    fn report_hold<E>(&mut self, events: &mut Events<E>) {
        let held = self.mode.held_by(&self.evidence);
        if held == self.held {
            return;
        }
        self.held = held;
        // A motion that has ended does not go on.
        if held.is_some() || self.mode.unfinished_move().is_some() {
            events.push(Event::Held(held));
        }
    }

    /// Everything a request would be refused for now.
    pub(super) fn unmet(&self, now: Instant) -> ReasonSet {
        self.mode.unmet(&self.evidence, now).union(self.operator.unmet())
    }

    pub(super) const fn operator(&self) -> &Operator {
        &self.operator
    }

    /// This device has started.
    pub(super) fn start(&mut self, now: Instant) {
        self.operator.start(now);
    }

    /// Stores the arm's kinematics for the next time that the law begins.
    pub(super) const fn set_chain(&mut self, chain: Option<KinematicChain<N>>) {
        self.chain = chain;
    }

    pub(super) const fn chain(&self) -> Option<&KinematicChain<N>> {
        self.chain.as_ref()
    }

    /// Whether a program runs, as far as the evidence says.
    pub(super) fn program_runs(&self, now: Instant) -> bool {
        self.evidence.acceptance.program(now, self.mode.config().evidence_age) == Some(true)
    }

    /// Time has passed: stalls of our own and stale states are seen here, before any bytes that waited meanwhile.
    pub(super) fn wake<E>(&mut self, now: Instant, due: Option<Instant>, events: &mut Events<E>) {
        if let Some(late) = self.link.local_stall(now, due) {
            events.push(Event::LocalStall { late, limit: self.link.config().stall });
        }
        self.grade_changed(now, events);
        if self.mode.mode() != Mode::Offline
            && let Err(reason) = self.link.staying(now)
        {
            self.fault(now, reason, events);
        }
        #[cfg(feature = "programs")]
        if let Some(reason) = self.guide.tick(now) {
            self.fault(now, reason, events);
        }
        let transition = self.mode.tick(now);
        self.after(transition, events);
        if self.operator.wake(now) {
            events.push(Event::Lapsed(Lapse::TooLate));
        }
    }

    fn grade_changed<E>(&mut self, now: Instant, events: &mut Events<E>) {
        if let Some(change) = self.link.tick(now) {
            events.push(Event::Grade(change));
            // A grade that falls because nothing comes is known before the next state says so.
            if !self.link.entry() {
                self.evidence.link_entry = Some(Held::new(false, now));
            }
        }
    }

    /// Figures of the answers that the peer has seen.
    pub(super) const fn set_answers(&mut self, answers: AnswerFigures) {
        self.link.set_answers(answers);
    }

    /// The newest state.
    pub(super) const fn keep(&mut self, state: &State<N>) {
        self.state = Some(*state);
        // What nothing agrees with yet is used for nothing but to compare the next with.
        self.unjudged = if self.link.agrees() { self.unjudged.saturating_add(1) } else { 0 };
    }

    /// States arrived, at `arrival` the newest, that wait to be judged.
    pub(super) const fn arrived(&mut self, arrival: Instant) {
        self.arrived = Some(arrival);
    }

    /// Whether states wait to be judged.
    pub(super) const fn is_awaited(&self) -> bool {
        self.arrived.is_some()
    }

    /// When the states arrived that are judged now; none wait any more.
    pub(super) const fn take_arrival(&mut self) -> Option<Instant> {
        self.arrived.take()
    }

    /// Judges the newest state, once all that has arrived is read; whether its inputs have acknowledged. `executed` is
    /// asked about that state, where the controller can execute moves.
    pub(super) fn judge<E>(
        &mut self,
        arrival: Instant,
        now: Instant,
        beside: &Beside,
        executed: impl FnOnce(&State<N>) -> Option<Executed>,
        events: &mut Events<E>,
    ) -> bool {
        let slider =
            beside.speed_slider.filter(|_| self.state.as_ref().is_some_and(|state| state.speed_slider.is_none()));
        if let (Some(slider), Some(state)) = (slider, self.state.as_mut()) {
            // The packet alone has at most the limiter's share of it.
            state.speed_scaling = Some(state.speed_scaling.unwrap_or(1.0) * slider.value);
            state.speed_slider = Some(slider.value);
        }
        let Some(state) = self.state.as_ref().filter(|_| self.unjudged > 0) else { return false };
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
        // A motion queued behind text that does not get through would be carried out long after its time: like the state
        // it answers, what was sent before it must not be older than a cycle and the margin.
        let bound = period + self.link.config().margin;
        let gets_through = self.mode.mode() != Mode::Command || beside.unacked <= bound;
        let fresh = self.link.answer(now) == Answer::Moving;
        let held = |value| Some(Held::new(value, now));
        // A state that is late by less than a gap that is allowed for is a measurement all the same, of then; but a peer that
        // mirrors leaves by itself where its link is late.
        let (rest_seen, seen_at) = if fresh {
            (true, now)
        } else {
            let age = self.link.age(now).unwrap_or(Duration::MAX);
            (!self.mode.config().mirrors && age <= self.standstill.config().max_gap, now - age)
        };
        let at_rest = self.standstill.observe(state, arrival, rest_seen);
        let reported = slider.map(|slider| now.since(slider.at));
        let executed = executed(state);
        let follows = match &executed {
            // Where a hand or a force takes the arm nobody knows beforehand.
            #[cfg(feature = "programs")]
            Some(_) if self.mode.executes_move() && self.guide.is_on() => true,
            Some(executed) if self.mode.executes_move() => executed.on_course,
            Some(_) | None => !commanding || self.following.judge(state, dt, reported).holds(),
        };
        // The number of the real-time packet is unconfirmed: it speaks only where nobody else does.
        let speaks = beside.program_state_known || beside.program.is_none();
        let from_packet = state.program_state.and_then(activity).and_then(held);
        let timely = fresh && gets_through;
        #[cfg(feature = "programs")]
        let by_program = beside.resident.map(|resident| {
            let watch = self.resident.get_or_insert_default();
            if !matches!(self.mode.mode(), Mode::Arming | Mode::Command) {
                *watch = ResidentWatch::default();
                return Pendant::Go;
            }
            let program = if speaks { state.program_state } else { None };
            let (connected, reported) = (resident.connected, beside.program);
            watch.observe(&ResidentReading { fresh: timely, connected, program, reported }, now)
        });
        #[cfg(feature = "programs")]
        if beside.resident.is_none() {
            self.resident = None;
        }
        #[cfg(not(feature = "programs"))]
        let by_program = None::<Pendant>;
        let pendant = match (by_program, self.mode.mode()) {
            (Some(by_program), _) => by_program,
            (None, mode @ (Mode::Arming | Mode::Command)) => {
                let program = if speaks { state.program_state } else { None };
                // Asked for where no program is seen, and dear.
                let lasts = matches!(program, Some(ProgramState::Stopping | ProgramState::Stopped)) && {
                    // Acknowledged is everything, or what went out before the oldest that is not.
                    let age = if beside.unacked == Duration::ZERO {
                        now.since(self.spoke_at)
                    } else {
                        beside.unacked + period
                    };
                    age + period.times(u64::from(self.pendant.config.left)) <= self.hold
                };
                let reading = PendantReading {
                    fresh: timely,
                    accepted_by: self.mode.accepted_by(),
                    program,
                    reported: beside.program,
                    lasts,
                };
                self.pendant.observe(&reading, mode == Mode::Command, now)
            }
            (None, Mode::Offline | Mode::Monitor | Mode::Stopping) => Pendant::Go,
        };
        let slowing = (self.mode.mode() == Mode::Stopping || pendant == Pendant::Stopped) && {
            let (before, speed) = (self.target_speed, state.target_velocities.max_abs());
            self.target_speed = speed;
            speed < before || speed <= SLOW
        };
        let sources = Some(Held::new(self.sources_verdict(state, now), now));
        // Asked for after a reconnect alone, and dear: it compares with every move that is remembered.
        let moving_by_us =
            (self.mode.is_motion_unknown()).then(|| Held::new(self.following.is_moving_by_us(state), now));
        self.evidence = Evidence {
            timely,
            link_entry: Some(Held::new(self.link.entry(), now)),
            robot_mode: state.robot_mode.map(|mode| Held::new(mode, now)).or(beside.robot_mode),
            safety: if state.safety == Safety::Unknown { beside.safety } else { Some(Held::new(state.safety, now)) },
            master_safety: beside.master_safety,
            remote: beside.remote,
            sources,
            at_rest: Some(Held::new(at_rest, seen_at)),
            following: Some(Held::new(follows, now)),
            strays: beside.strays,
            moving_by_us,
            gate: Some(Held::new(
                match beside.gate {
                    Some(gate) => gate,
                    None if beside.path_open => self.pendant.gate(),
                    None => PeerGate::No,
                },
                now,
            )),
            pendant,
            slowing,
            mirrored: executed.and_then(|executed| executed.mirrored),
            paused: executed.is_some_and(|executed| {
                let slider_down = |slider| slider < self.scaling_config.zero_below;
                executed.paused || state.speed_slider.is_some_and(slider_down)
            }),
            acceptance: Acceptance {
                #[cfg(feature = "programs")]
                mirrored_counter: beside.resident.map(|resident| resident.mirrors),
                #[cfg(not(feature = "programs"))]
                mirrored_counter: None,
                program_state: if speaks { from_packet } else { None },
                program_running: beside.program,
            },
        };
        let levels = state.digital_inputs;
        if self.mode.mode() == Mode::Offline {
            let transition = self.mode.established(now);
            self.after(transition, events);
        }
        if let Err(reason) = self.link.staying(now) {
            self.fault(now, reason, events);
        }
        let transition = if executed.is_some() {
            self.mode.observe(now, &self.evidence)
        } else {
            self.mode.observe_streamed(now, &self.evidence)
        };
        self.after(transition, events);
        #[cfg(feature = "programs")]
        if let Some(reason) =
            self.state.as_ref().and_then(|state| self.guide.observe(&self.mode, &self.evidence, state, now))
        {
            self.fault(now, reason, events);
        }
        #[cfg(feature = "programs")]
        self.report_hold(events);
        #[cfg(feature = "programs")]
        if let Some(reason) = self.move_end.observe(&self.mode, &self.evidence, self.mode.config(), now) {
            self.fault(now, reason, events);
        }
        #[cfg(feature = "programs")]
        if self.resident.is_some_and(|watch| watch.has_ended())
            && matches!(self.mode.mode(), Mode::Arming | Mode::Command)
        {
            // What stopped the robot, and its program with it, has spoken first.
            self.fault(now, Reason::ProgramEnded, events);
        }
        let gap = self.link.config().stale_after;
        let outcome = self.operator.observe(levels, fresh, gap, &mut self.mode, &self.evidence, now);
        outcome.is_some_and(|outcome| self.carry_out(&outcome, now, events))
    }

    /// Returns whether the next command would override a stop at the pendant, while commanding.
    pub(super) const fn overrides_pendant(&self) -> bool {
        self.pendant.overrides() && matches!(self.mode.mode(), Mode::Command)
    }

    /// While commanding, a sensor may be bridged: then [`Cycle::answer`] judges it, once per cycle.
    fn sources_verdict(&self, state: &State<N>, now: Instant) -> Result<(), Reason> {
        match self.mode.mode() {
            Mode::Command => Ok(()),
            Mode::Offline | Mode::Monitor | Mode::Arming | Mode::Stopping => {
                self.sources.fresh(self.law.sources(), now)?;
                let Some((start, tolerance)) = self.law.motion().and_then(Motion::begins_at) else { return Ok(()) };
                let off = state.positions.zip_with(start.as_array(), |q, start| q - start).max_abs();
                if off <= tolerance { Ok(()) } else { Err(Reason::PathTolerance) }
            }
        }
    }

    /// The move that the controller executes is to end: see [`MoveEnd::ask`].
    #[cfg(feature = "programs")]
    pub(super) fn end_move(&mut self, now: Instant) -> Result<(), Reason> {
        self.move_end.ask(&self.mode, now).map(|_| ())
    }

    /// What goes out now: asking is taking. `asked` is the move that the controller was asked to execute last.
    ///
    /// # Errors
    /// What the law, a sensor or the governor refuses for; to be given to [`Cycle::fault`].
    pub(super) fn answer<'c, E>(
        &'c mut self,
        asked: Option<&'c JointMove<N>>,
        now: Instant,
        events: &mut Events<E>,
    ) -> Result<Verdict<'c, N>, Reason> {
        #[cfg(feature = "programs")]
        let ending = self.guide.ending().or_else(|| self.move_end.cancels(&self.mode));
        match self.mode.action() {
            Action::Silent => Ok(Verdict::Silent),
            #[cfg(feature = "programs")]
            Action::Start(authority, number) if self.guide.is_on() => {
                self.following.reset();
                Ok(Verdict::Guide(authority, number))
            }
            Action::Start(authority, number) => {
                let (Some(asked), Some(state)) = (asked, self.state.as_ref()) else { return Err(Reason::Internal) };
                let approved = self.governor.approve_move(authority, asked, state)?;
                // What was streamed before says nothing about the target from now on.
                self.following.reset();
                Ok(Verdict::Start(approved, number))
            }
            #[cfg(feature = "programs")]
            Action::Keep => Ok(ending.map_or(Verdict::Keep, Verdict::Cancel)),
            #[cfg(not(feature = "programs"))]
            Action::Keep => Ok(Verdict::Keep),
            Action::Cancel(number) => Ok(Verdict::Cancel(number)),
            Action::Mirror => Ok(Verdict::Mirror),
            Action::Hold => {
                self.following.sent(&JointVelocities::ZERO);
                (self.sent, self.spoke_at) = (true, now);
                Ok(Verdict::Hold)
            }
            Action::Stop => {
                self.following.sent(&JointVelocities::ZERO);
                (self.sent, self.spoke_at) = (true, now);
                Ok(Verdict::Stop)
            }
            Action::Move(authority) => {
                let state = self.state.as_mut().ok_or(Reason::Internal)?;
                if !self.begun {
                    self.law.arm(&Start { state, kinematics: self.chain.as_ref(), resume: self.resume })?;
                    self.begun = true;
                    self.stepped_at = None;
                }
                let period = self.link.config().period;
                let dt = self.stepped_at.map_or(period, |at| state.controller_time.since(at));
                let mut gathered = Gathered::nothing();
                self.sources.gather_into(&mut gathered, self.law.sources(), now, period)?;
                if let Some(bridged) = gathered.bridged {
                    events.push(Event::Bridged(bridged));
                }
                self.stepped_at = Some(state.controller_time);
                let (before, moved) = (self.scaling.pace(), || self.governor.last().max_abs() > 0.0);
                let (scaling, slider) = (state.scaling(), state.speed_slider);
                let pace = self.scaling.observe(&self.scaling_config, scaling, slider, dt, moved);
                if (pace == Pace::Held) != (before == Pace::Held) {
                    events.push(Event::Held((pace == Pace::Held).then_some(Reason::HeldByScaling)));
                }
                if pace == Pace::Held {
                    if self.scaling.is_overdue(&self.scaling_config) {
                        return Err(Reason::HeldByScaling);
                    }
                    #[cfg(feature = "motions")]
                    if let Some(motion) = self.law.motion_mut() {
                        motion.stand(dt);
                    }
                    // Whatever goes on afterwards begins at rest.
                    self.governor.reset();
                    self.following.sent(&JointVelocities::ZERO);
                    (self.sent, self.spoke_at) = (true, now);
                    return Ok(Verdict::Hold);
                }
                let told = state.speed_scaling;
                if pace == Pace::Begin {
                    // What the law reckons with goes on as fast as the arm is asked to, and no faster.
                    state.speed_scaling = Some(self.begin_share);
                }
                let samples = gathered.samples();
                #[cfg(feature = "programs")]
                let samples = samples.with_most_feedback(self.most_feedback);
                let wanted = self.law.step(state, &samples, dt);
                state.speed_scaling = told;
                let mut wanted = wanted?.map(|v| v * gathered.scale);
                if pace == Pace::Begin {
                    let (fastest, most) = (wanted.max_abs(), self.scaling_config.begin_speed);
                    self.begin_share = if fastest > most { most / fastest } else { 1.0 };
                    wanted = wanted.map(|v| v * self.begin_share);
                }
                let approved = self.governor.approve(authority, wanted, state, dt)?;
                self.following.sent(approved.velocities());
                (self.sent, self.spoke_at) = (true, now);
                Ok(Verdict::Move(approved))
            }
        }
    }

    /// What was decided is on its way out: when the state arrived that it answers, where it answers one.
    pub(super) fn answered(&mut self) -> Option<Instant> {
        self.link.answered()
    }

    /// It has been written at `now`; from the arrival of its state to there, where it answers one.
    pub(super) fn written(&mut self, arrival: Option<Instant>, now: Instant) -> Option<Duration> {
        let turnaround = now.since(arrival?);
        self.link.written(turnaround);
        Some(turnaround)
    }

    /// Something ends commanding.
    pub(super) fn fault<E>(&mut self, now: Instant, reason: Reason, events: &mut Events<E>) {
        let transition = self.mode.fault(now, reason);
        self.after(transition, events);
    }

    /// The link is gone.
    pub(super) fn link_lost<E>(&mut self, now: Instant, reason: Reason, events: &mut Events<E>) {
        let transition = self.mode.link_lost(now, reason);
        self.after(transition, events);
    }

    /// An operator, who saw `epoch`, asks to command; `resume` goes on with a suspended motion.
    pub(super) fn request<E>(&mut self, epoch: Epoch, now: Instant, resume: bool, events: &mut Events<E>) {
        let asked = self.operator.request(epoch, &mut self.mode, &self.evidence, now);
        self.begin(asked, resume, now, events);
    }

    /// A pin of this device has another level; whether that has acknowledged.
    pub(super) fn pin<E>(&mut self, contact: Contact, high: bool, now: Instant, events: &mut Events<E>) -> bool {
        let outcome = self.operator.pin(contact, high, &mut self.mode, &self.evidence, now);
        self.carry_out(&outcome, now, events)
    }

    /// The operator takes the request back.
    pub(super) fn release<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let transition = self.operator.release(&mut self.mode, now);
        self.after(transition, events);
    }

    /// The same, and nobody's request is heard any more.
    pub(super) fn end<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let transition = self.operator.end(&mut self.mode, now);
        self.after(transition, events);
    }

    /// The operator has seen the latched reasons.
    pub(super) fn acknowledge<E>(&mut self, now: Instant, events: &mut Events<E>) {
        let acknowledged = self.operator.acknowledge(Channel::Message, &mut self.mode, now);
        if let Err(refusal) = acknowledged {
            events.push(Event::Refused(refusal));
        }
    }

    /// What lines have said; whether they have acknowledged.
    fn carry_out<E>(&mut self, outcome: &Outcome, now: Instant, events: &mut Events<E>) -> bool {
        self.after(outcome.stopped, events);
        if let Some(Err(refusal)) = outcome.acknowledged {
            events.push(Event::Refused(refusal));
        }
        if let Some(asked) = outcome.requested {
            self.begin(asked, false, now, events);
        }
        if outcome.lapsed {
            events.push(Event::Lapsed(Lapse::Latched));
        }
        outcome.acknowledged.is_some()
    }

    fn begin<E>(
        &mut self,
        asked: Result<Option<Transition>, Refusal>,
        resume: bool,
        now: Instant,
        events: &mut Events<E>,
    ) {
        match asked {
            Ok(transition) => {
                if transition.is_some() {
                    self.resume = resume;
                }
                self.after(transition, events);
            }
            Err(refusal) => {
                self.explain(Some(refusal.reason), now, events);
                events.push(Event::Refused(refusal));
            }
        }
    }

    /// By which figure, where the reason is the link's grade.
    fn explain<E>(&self, reason: Option<Reason>, now: Instant, events: &mut Events<E>) {
        if reason == Some(Reason::GradeLow) {
            events.push(Event::GradeLow(self.link.grade_low(now)));
        }
    }

    /// When to wake up at the latest.
    pub(super) fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let link = if self.mode.mode() == Mode::Offline { None } else { self.link.next_deadline(now) };
        #[cfg(feature = "programs")]
        let guide = self.guide.next_deadline();
        #[cfg(not(feature = "programs"))]
        let guide = None;
        earliest(&[link, self.mode.next_deadline(), guide, self.operator.next_deadline()])
    }

    /// Everything but the configuration, which the session has.
    #[cfg(feature = "record")]
    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        to.put(&self.link)?;
        to.put(&self.mode)?;
        to.put(&(&self.scaling, self.begin_share, self.spoke_at, self.target_speed))?;
        self.pendant.save(to)?;
        to.put(&(&self.following, &self.standstill, &self.governor, &self.sources, &self.operator))?;
        to.put(&(&self.chain, &self.evidence, &self.state, self.arrived, self.unjudged, self.sent))?;
        to.put(&(self.judged_at, self.stepped_at, self.begun, self.resume))?;
        #[cfg(feature = "programs")]
        to.put(&(&self.resident, &self.guide, &self.move_end))?;
        #[cfg(not(feature = "programs"))]
        to.put(&(None::<()>, None::<()>, None::<()>))?;
        // Last, because only the law knows how long it is.
        self.law.save(to)
    }

    #[cfg(feature = "record")]
    pub(super) fn load(&mut self, from: &mut Loader<'_>) -> Option<()> {
        self.link = from.take()?;
        self.mode = from.take()?;
        (self.scaling, self.begin_share, self.spoke_at, self.target_speed) = from.take()?;
        self.pendant.load(from)?;
        (self.following, self.standstill, self.governor, self.sources, self.operator) = from.take()?;
        (self.chain, self.evidence, self.state, self.arrived, self.unjudged, self.sent) = from.take()?;
        (self.judged_at, self.stepped_at, self.begun, self.resume) = from.take()?;
        #[cfg(feature = "programs")]
        {
            (self.resident, self.guide, self.move_end) = from.take()?;
        }
        #[cfg(not(feature = "programs"))]
        from.take::<(Option<()>, Option<()>, Option<()>)>()?;
        self.law.load(from)?;
        from.rest().is_empty().then_some(())
    }

    fn after<E>(&mut self, transition: Option<Transition>, events: &mut Events<E>) {
        let Some(transition) = transition else { return };
        if transition.to == Mode::Arming {
            self.following.reset();
            self.governor.reset();
            self.scaling = Scaling::BEGIN;
            self.begin_share = 1.0;
        }
        if transition.to != Mode::Command {
            self.pendant.begin();
        } else if self.pendant.overrides() {
            events.push(Event::PendantOverridden);
        }
        if transition.from == Mode::Command {
            self.law.suspend();
            #[cfg(feature = "programs")]
            self.guide.clear();
        }
        self.begun = false;
        // The end of a stop repeats why it began.
        self.explain(transition.reason.filter(|_| transition.from != Mode::Stopping), transition.at, events);
        events.push(Event::Transition(transition));
    }
}

/// What the program interpreter does, by the packet's number; `None` for a number without a name.
const fn activity(state: ProgramState) -> Option<Activity> {
    match state {
        ProgramState::Playing | ProgramState::Resuming => Some(Activity::Running),
        ProgramState::Pausing | ProgramState::Paused => Some(Activity::Paused),
        ProgramState::Stopping | ProgramState::Stopped => Some(Activity::Stopped),
        ProgramState::Unknown(_) => None,
    }
}

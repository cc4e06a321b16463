//! The conversation with a controller of Universal Robots: links, detection, facts, text.

mod delegated_motion;
mod link_intake;
#[cfg(feature = "record")]
mod recording_interface;
mod unacked_motion;

use super::config::{Mismatch, StatesFrom, UrConfig, UrOptions};
use super::connector::Connector;
use super::event::{DownCause, ProgramEvent, UrEvent};
use super::identity::Identity;
use super::links::{LINKS, WATCHED};
use super::memory::Memory;
use super::motion_command_text::MotionText;
use super::outputs::{Known, OutputsPath};
use super::primary::{Primary, PrimaryFacts};
use super::realtime::Realtime;
use super::refusal_detector::Refusal;
use super::reverse::{Carrier, Pause, Reverse, Wrote, carrier, exclusive, shared};
use super::rtde::{Attached, StateLink, attached};
use crate::client::rtde::Claim;
use crate::engine::config::{ConfigError, Options as _};
use crate::engine::controller::{
    ArmFacts, Context, Controller, ControllerKind, ControllerStatus, Judged, LinkRoles, LinkSet, Received, Waiting,
    sealed::Sealed,
};
use crate::engine::cycle::{CycleMemory, SideFacts, Verdict};
use crate::engine::event::Events;
use crate::engine::io::{Input, LinkId, Output};
use crate::kinematics::{DhParameters, KinematicChain};
use crate::link::{Unacked, UnackedConfig};
use crate::mode::{Mode, Pace, PeerGate, Pendant, TimedFact};
use crate::robot::Reason;
use outrigger_wire::frame::StreamCounts;
use outrigger_wire::robot::{Generation, SoftwareVersion};
use outrigger_wire::time::{Duration, Instant, earliest};

/// Our side of the conversation with one controller of Universal Robots: up to three connections to it, and those that a
/// program on it makes to us.
///
/// | input | does |
/// |---|---|
/// | `Start` | opens 30001 (else 30002), learns the version, opens 30003, and 30004 for states by RTDE |
/// | `Closed`, `Refused` | reconnects, after a pause that increases |
/// | bytes | messages → facts and states |
/// | `Unacked` | ends commanding if the controller acknowledges nothing, later closes the connection |
/// | `Set` | sets a value by an RTDE input or by text; the controller's own report confirms it |
#[derive(Debug)]
pub struct Ur<'m> {
    connector: Connector,
    primary: Primary<'m>,
    realtime: Realtime<'m>,
    rtde: Option<Attached<'m>>,
    identity: Option<Identity>,
    /// The software version that RTDE has reported, before a session is established.
    software: Option<SoftwareVersion>,
    motion: MotionText,
    /// The program on the controller that carries the commands, if the path has one.
    program: Option<Carrier>,
    /// `true` if the controller cannot run the program that is to carry the commands: its software is too old, or the
    /// program receives its orders in registers and states do not come by RTDE.
    unfit: bool,
    /// `true` if the controller reports another arm, or other software, than is configured.
    other: bool,
    outputs: OutputsPath,
    /// The unacknowledged bytes of each of the [`WATCHED`] links.
    unacked: [Unacked; WATCHED.len()],
    refusal: Refusal,
}

/// The status of the conversation with the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct UrStatus {
    /// The identity of the controller; `None` without a session.
    pub controller: Option<Identity>,
    /// `true` for each of the [`LINKS`] that has proven to be the expected service.
    pub up: [bool; LINKS.len()],
    /// The counts of messages of each link's present connection.
    pub streams: [StreamCounts; LINKS.len()],
    /// The number of skipped bytes (oversize messages, or no message) of each link's present connection.
    pub dropped: [u64; LINKS.len()],
}

impl ControllerStatus for UrStatus {
    const KIND: u8 = UrOptions::KIND;
}

type Cx<'c, 'm> = Context<'c, 6, Ur<'m>>;

impl Ur<'_> {
    /// The period that is assumed before a controller is connected and its own period is known; no state is judged
    /// then.
    const FIRST_PERIOD: Duration = Duration::from_micros(Generation::Cb3.period_micros());

    /// Returns the identity of the controller; `None` without a session.
    #[must_use]
    pub const fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// Returns the facts that the primary link has delivered in its present connection.
    #[must_use]
    pub const fn facts(&self) -> &PrimaryFacts {
        self.primary.facts()
    }

    /// Returns the first difference between the controller's report and the configuration; `None` if there is none, or as
    /// long as the controller's software is not known.
    #[must_use]
    pub fn mismatch(&self, config: &UrConfig) -> Option<Mismatch> {
        let facts = self.primary.facts();
        let software = facts.software.or(self.software);
        let generation = software.or(self.identity.map(|identity| identity.software))?.generation();
        config.peer.mismatch(software, facts.configuration.as_ref(), generation)
    }

    /// Returns the counts of messages of the present connection of one of the [`LINKS`].
    #[must_use]
    pub fn counts(&self, link: LinkId) -> &StreamCounts {
        match link {
            LinkId::PRIMARY => self.primary.counts(),
            LinkId::REALTIME => self.realtime.counts(),
            _ => self.rtde.as_deref().map_or(&StreamCounts::NONE, |rtde| &rtde.counts().stream),
        }
    }

    /// Returns RTDE, if the session was given memory for it: counts of its present connection, and its missing and late
    /// states.
    #[must_use]
    pub fn rtde(&self) -> Option<&dyn StateLink> {
        self.rtde.as_deref()
    }

    /// Returns the number of skipped bytes of the present connection of one of the [`LINKS`]: oversize messages, and bytes
    /// that are no message.
    #[must_use]
    pub fn dropped_bytes(&self, link: LinkId) -> u64 {
        match link {
            LinkId::PRIMARY => self.primary.dropped(),
            LinkId::REALTIME => self.realtime.dropped(),
            _ => self.rtde.as_deref().map_or(0, StateLink::dropped),
        }
    }

    /// Returns `true` if the link has proven to be the expected service of the controller.
    #[must_use]
    pub fn is_up(&self, link: LinkId) -> bool {
        self.connector.is_greeted(link)
    }

    /// Returns the progress of the move that our program executes, or executed last: the share of its way, 0 … 1, or
    /// for a move along waypoints its own time \[s\]. `None` if no program reports one.
    #[cfg(feature = "programs")]
    #[must_use]
    pub fn progress(&self) -> Option<f32> {
        shared(&self.program).filter(|program| program.is_player()).and_then(Reverse::progress)
    }

    /// Returns the number of connections to our port for a program that were closed as foreign.
    #[must_use]
    pub fn strangers(&self) -> u32 {
        shared(&self.program).map_or(0, Reverse::strangers)
    }

    /// Takes the controller's report that it refused URScript text. If the text may be this driver's, the requested
    /// outputs that are set by such text are refused; otherwise the report is discarded, unless the driver's text was
    /// refused before.
    fn refused(&mut self, cx: &mut Cx<'_, '_>) {
        if self.refusal.refused(cx.now) {
            self.outputs.refuse(self.rtde.as_deref(), cx.config.peer.connect.outputs, cx.events);
        } else if self.refusal.at().is_none() {
            self.primary.deny_local_control();
        }
    }

    /// Returns `false` (no remote control), as of now, if the controller has refused URScript text because it is in
    /// local control; `None` if it has not, if this driver's text was seen to run afterwards, or while that is still
    /// possible.
    fn remote(&mut self, cx: &Cx<'_, '_>) -> Option<TimedFact<bool>> {
        let now = cx.now;
        let local = self.primary.facts().local_control.then(|| TimedFact::new(false, now));
        let (Some(_), Some(refused), Some(identity)) = (local, self.refusal.at(), self.identity) else { return local };
        let machine = cx.cycle.mode();
        let accepted = machine.accepted_by().filter(|_| matches!(machine.mode(), Mode::Arming | Mode::Command));
        let Some(proof) = accepted else { return local };
        // Text that was sent before may still run until then.
        let over = refused + cx.config.peer.text.hold + identity.period.times(2);
        if cx.cycle.evidence().acceptance.shown_at(proof).is_some_and(|shown| shown > over) {
            self.refusal.forget();
            self.primary.deny_local_control();
            return None;
        }
        local.filter(|_| now > over + machine.config().evidence_age)
    }

    /// Compares the newest state of the arm, which arrived at `arrival`, with the tolerances of a move along waypoints and
    /// with the requested outputs, then decides whether outputs may be sent now. Called after the engine has decided on
    /// the state.
    fn judged(&mut self, arrival: Instant, cx: &mut Cx<'_, '_>) {
        if let Some(program) = exclusive(&mut self.program)
            && let Some(state) = cx.cycle.state().filter(|_| cx.cycle.mode().executes_move())
        {
            let paused = cx.cycle.evidence().is_paused();
            if let Err(reason) = program.heed_tolerances(state, paused) {
                cx.cycle.fault(cx.now, reason, cx.events);
            }
        }
        self.outputs.observe_state(&cx.config.peer.outputs, cx.cycle.state(), self.identity, arrival, cx.events);
        let waits = self.unacked_age(cx.now);
        self.outputs.admit(cx.config, || {
            let link = cx.cycle.link().config();
            let gets_through = waits <= link.period + link.margin;
            gets_through && cx.cycle.evidence().timely
        });
    }

    /// Reopens the connection to port 30003, after an acknowledgement in `Monitor`, if the controller has reported local
    /// control: a connection that was made then ignores text even afterwards.
    fn acknowledged(&mut self, cx: &mut Cx<'_, '_>) {
        if cx.cycle.mode_now() == Mode::Monitor && self.primary.facts().local_control {
            self.lost(LinkId::REALTIME, DownCause::LocalControl, cx);
        }
    }

    /// Returns the condition that forbids commanding this controller as configured: another arm or software, or a
    /// program that cannot run or does not run. `None` if there is no such condition.
    fn gate(&self) -> Option<PeerGate> {
        if self.other {
            return Some(PeerGate::Other);
        }
        match shared(&self.program) {
            Some(program) if self.unfit || !self.has_registers(program) => Some(PeerGate::Unfit),
            Some(program) if program.is_away() => Some(PeerGate::Away),
            _ => None,
        }
    }

    /// Returns `true` if this session owns the RTDE registers in which the program receives its orders, or if the
    /// program receives them in another way.
    fn has_registers(&self, program: &Reverse) -> bool {
        !program.by_registers() || self.rtde.as_deref().is_some_and(|rtde| rtde.is_ours(Claim::Program))
    }

    /// Writes the next order into the program's registers, if the program receives its orders there. Returns `true`
    /// if one was written.
    #[cfg(feature = "programs")]
    fn order_in_registers(&mut self) -> bool {
        let order = exclusive(&mut self.program).and_then(Reverse::next_in_registers);
        order.zip(self.rtde.as_deref_mut()).is_some_and(|(order, rtde)| rtde.order(order))
    }

    /// Returns `false`, because no program receives orders in registers in this build.
    #[cfg(not(feature = "programs"))]
    const fn order_in_registers(&mut self) -> bool {
        false
    }

    /// Returns the time at which the RTDE link must be woken next; `None` if there is no such link, or no deadline.
    fn rtde_deadline(&self) -> Option<Instant> {
        self.rtde.as_deref().and_then(StateLink::next_deadline)
    }
}

/// Takes note of states that arrived on the link that delivers the states. Returns `true` if they are to be judged at
/// once. A full window means that more bytes probably wait, and only the newest state is answered.
fn arrived(states: u32, arrival: Instant, full: bool, cx: &mut Cx<'_, '_>) -> bool {
    if states > 0 {
        cx.cycle.arrived(arrival);
    }
    !full
}

/// Returns the consequences of unacknowledged bytes on this link. 30003 carries motion; so does a program's connection,
/// or 30004 in its place.
#[inline(never)]
fn unacked_config(link: LinkId, options: &UrOptions, cycle: &CycleMemory<6>) -> UnackedConfig {
    let (judged, zeros) = (cycle.link().config(), cycle.mode().config().stop_cycles);
    let by_registers = options.program.by_registers(options.path);
    let carries = matches!(link, LinkId::REALTIME | LinkId::REVERSE) || (by_registers && link == LinkId::RTDE);
    UnackedConfig {
        fault_after: carries.then_some(judged.stale_after),
        abort_after: options.connect.abort_after,
        hold: options.text.hold,
        zeros: judged.period.times(u64::from(zeros)),
    }
}

/// Returns the time at which the mode `Stopping` or `Monitor` was entered, for the judgement of unacknowledged bytes;
/// `None` in other modes.
fn ended(cycle: &CycleMemory<6>) -> Option<Instant> {
    let machine = cycle.mode();
    matches!(machine.mode(), Mode::Stopping | Mode::Monitor).then(|| machine.entered())
}

impl Sealed for Ur<'_> {}

impl<'m> ControllerKind for Ur<'m> {
    type Event = UrEvent;
    type Options = UrOptions;
    type Status = UrStatus;
    type Memory = Memory<'m>;

    const LISTENS: bool = cfg!(feature = "programs");
    const DELEGATES: bool = cfg!(feature = "programs");
}

impl ArmFacts<6> for Ur<'_> {
    /// Returns the kinematics by the arm's own calibrated geometry, or else by the one in the controller's configuration, or
    /// else by the configured model; `None` if none is known.
    fn kinematics(&self, config: &UrConfig) -> Option<KinematicChain<6>> {
        let (facts, options) = (self.primary.facts(), &config.peer);
        let configured = facts.configuration.as_ref().map(|configuration| &configuration.geometry);
        let sent = facts.geometry.as_ref().or(configured);
        let parameters = sent.and_then(|g| DhParameters::from_arrays(g.theta, g.a, g.d, g.alpha).ok());
        let parameters = parameters.or(options.model.map(DhParameters::of));
        let tcp = options.tcp.or(facts.tcp_offset).unwrap_or_default();
        parameters.map(|parameters| KinematicChain::new(parameters, &tcp))
    }

    #[cfg(feature = "motions")]
    fn motion_ended(&mut self, ended: bool) {
        exclusive(&mut self.program).into_iter().for_each(|program| program.motion_ended(ended));
    }

    #[cfg(feature = "motions")]
    fn has_converged(&self) -> bool {
        shared(&self.program).is_none_or(Reverse::has_converged)
    }
}

impl<'m> Controller<6> for Ur<'m> {
    #[inline(always)]
    fn new(config: &UrConfig, memory: Memory<'m>) -> Result<(Self, CycleMemory<6>), ConfigError> {
        config.check()?;
        let too_small = |field, found, expected| ConfigError::Memory { field, found, expected };
        let (primary_len, realtime_len) = (memory.primary.len(), memory.realtime.len());
        let (primary_min, realtime_min) = (Memory::LEAST_PRIMARY, Memory::LEAST_REALTIME);
        let primary = Primary::new(memory.primary).filter(|_| primary_len >= primary_min);
        let realtime = Realtime::new(memory.realtime).filter(|_| realtime_len >= realtime_min);
        let claims = config.peer.claims();
        // The registers of a program are the first that are claimed.
        if memory.rtde.as_ref().is_some_and(|rtde| rtde.groups() == 0) && claims.has(Claim::Program) {
            return Err(too_small("rtde: groups of inputs", 0, 1));
        }
        let rtde = memory.rtde.and_then(|memory| attached(memory, claims));
        let by_registers = config.peer.program.by_registers(config.peer.path);
        if rtde.is_none() && (by_registers || config.peer.connect.states == StatesFrom::Rtde) {
            return Err(too_small("rtde", 0, Memory::LEAST_RTDE));
        }
        let peer = Self {
            connector: Connector::new(config.peer.connect),
            primary: primary.ok_or(too_small("primary", primary_len, primary_min))?,
            realtime: realtime.ok_or(too_small("realtime", realtime_len, realtime_min))?,
            rtde,
            identity: None,
            software: None,
            motion: MotionText::NONE,
            program: carrier(&config.peer, &config.limits),
            unfit: false,
            other: false,
            outputs: OutputsPath::new(),
            unacked: Default::default(),
            refusal: Refusal::default(),
        };
        let first = config.cycle(Self::FIRST_PERIOD, false);
        let sources = config.monitors()?;
        let cycle = CycleMemory::new(first, config.standstill, config.limits, sources, config.operator);
        #[cfg(feature = "motions")]
        if config.peer.path.is_torques() {
            let mut cycle = cycle;
            cycle.set_torques(config.peer.torque);
            return Ok((peer, cycle));
        }
        Ok((peer, cycle))
    }

    fn wake(&mut self, cx: &mut Cx<'_, 'm>) {
        #[cfg(feature = "record")]
        {
            self.motion.begin();
            self.outputs.begin();
        }
        if self.rtde_deadline().is_some_and(|at| at <= cx.now) {
            self.take_rtde(None, cx);
        }
        // Bounded: each link has one deadline, which is postponed when it has passed.
        for _ in LINKS {
            let Some((link, cause)) = self.connector.tick(cx.now) else { break };
            self.lost(link, cause, cx);
        }
        self.judge_unacked(cx);
        if let Some(program) = exclusive(&mut self.program) {
            let events = &mut *cx.events;
            let stale = cx.cycle.link().config().stale_after;
            let reason = program.wake(stale, cx.now, |news| events.push_peer(UrEvent::Program(news)));
            if let Some(reason) = reason {
                cx.cycle.fault(cx.now, reason, cx.events);
            }
        }
        self.outputs.tick(&cx.config.peer.outputs, cx.now, cx.events);
    }

    fn handle(&mut self, input: Input, cx: &mut Cx<'_, 'm>) {
        match input {
            Input::Start => self.connector.start(cx.now),
            Input::Acknowledge => self.acknowledged(cx),
            Input::Opened(link) => self.opened(link, cx),
            Input::Refused(link) => self.lost(link, DownCause::Refused, cx),
            Input::Closed(link) => self.lost(link, DownCause::Closed, cx),
            Input::Unacked { link, bytes, age } => {
                if let Some(unacked) = self.unacked.get_mut(link.index()) {
                    unacked.report(bytes, age, cx.now);
                }
                self.judge_unacked(cx);
            }
            Input::Set(write) => {
                let identity = self.identity.filter(|_| cx.running);
                let known =
                    Known { identity, facts: self.primary.facts(), config: cx.config, mode: cx.cycle.mode_now() };
                self.outputs.set(write, &known, self.rtde.as_deref(), cx.now, cx.events);
            }
            Input::Ends(LinkId::REALTIME, ours, theirs) => {
                exclusive(&mut self.program).into_iter().for_each(|program| program.ends(ours, theirs));
            }
            Input::Accepted(link, from) if link.index() >= LinkId::REVERSE.index() => {
                let news = exclusive(&mut self.program).and_then(|program| program.accepted(link, from, cx.now));
                news.into_iter().for_each(|news| cx.events.push_peer(UrEvent::Program(news)));
            }
            // No other link listens; the engine handles the other inputs.
            _ => {}
        }
    }

    fn receive_window(&mut self, link: LinkId) -> &mut [u8] {
        match link {
            LinkId::PRIMARY => self.primary.window(),
            LinkId::REALTIME => self.realtime.window(),
            LinkId::RTDE => self.rtde.as_deref_mut().map(StateLink::receive_window).unwrap_or_default(),
            LinkId::REVERSE => exclusive(&mut self.program).map(Reverse::window).unwrap_or_default(),
            LinkId::SCRIPT => exclusive(&mut self.program).map(Reverse::asking_window).unwrap_or_default(),
            LinkId::TRAJECTORY => exclusive(&mut self.program).map(Reverse::result_window).unwrap_or_default(),
            _ => exclusive(&mut self.program).map(Reverse::ignored).unwrap_or_default(),
        }
    }

    fn commit(&mut self, received: &Received, cx: &mut Cx<'_, 'm>) -> bool {
        let Received { link, count, arrival, .. } = *received;
        match link {
            LinkId::REVERSE => {
                let events = &mut *cx.events;
                if let Some(program) = exclusive(&mut self.program) {
                    program.commit(count, arrival, |news| events.push_peer(UrEvent::Program(news)));
                    if let Some(figures) = program.figures(cx.now) {
                        cx.cycle.set_answers(figures);
                    }
                }
                false
            }
            LinkId::SCRIPT | LinkId::TRAJECTORY | LinkId::COMMAND => {
                let news = exclusive(&mut self.program).and_then(|program| match link {
                    LinkId::SCRIPT => program.asked(count, cx.now),
                    _ => program.commit_foreign(link, count, cx.now),
                });
                news.into_iter().for_each(|news| cx.events.push_peer(UrEvent::Program(news)));
                false
            }
            _ if !self.connector.is_connected(link) => false,
            LinkId::PRIMARY => {
                self.take_primary(count, cx);
                false
            }
            LinkId::REALTIME => self.take_realtime(count, arrival, cx),
            _ => self.take_rtde(Some((count, arrival)), cx),
        }
    }

    fn facts(&mut self, cx: &mut Cx<'_, 'm>) -> SideFacts {
        let remote = self.remote(cx);
        let facts = self.primary.facts();
        // Both are in one sub-package.
        let slider = facts.speed_slider.zip(facts.robot_mode).map(|(slider, mode)| TimedFact::new(slider, mode.at));
        SideFacts {
            robot_mode: facts.robot_mode,
            safety: facts.safety,
            master_safety: facts.master_safety,
            remote,
            program: facts.program,
            speed_slider: cx.cycle.complete_slider(slider),
            program_state_known: self.identity.is_some_and(|identity| identity.states == LinkId::RTDE),
            path_open: self.motion.is_open()
                && self.connector.is_connected(LinkId::REALTIME)
                && shared(&self.program).is_none_or(Reverse::is_open),
            strays: false,
            gate: self.gate(),
            unacked: self.unacked_age(cx.now),
            #[cfg(feature = "programs")]
            resident: shared(&self.program).and_then(|program| program.resident(cx.now)),
        }
    }

    fn prepare(&mut self, judged: Option<Judged>, cx: &mut Cx<'_, 'm>) -> bool {
        if let Some(Judged { arrival, acknowledged }) = judged {
            // Outputs that the state confirms are confirmed before an acknowledgement closes the connection.
            self.judged(arrival, cx);
            if acknowledged {
                self.acknowledged(cx);
            }
        }
        if !self.motion.is_open() {
            return false;
        }
        let (now, cycle) = (cx.now, &*cx.cycle);
        if let Some(program) = exclusive(&mut self.program) {
            let (evidence, age) = (cycle.evidence(), cycle.mode().config().evidence_age);
            let pause = Pause {
                // At a slider of 0 its `speedj` has not ended, and would continue with the old speed once the slider is
                // moved.
                stands: evidence.pendant == Pendant::Paused || cycle.pace() == Pace::Held,
                reads_nothing: evidence.shows_pause(now, age),
                halts: cycle.mode().is_halted(),
            };
            program.prepare(now, cycle.mode_now(), cycle.state(), pause);
            // A `stopj` that replaces the order is no zero velocity of arming.
            self.motion.prepare(None);
            return true;
        }
        let arming = cycle.mode_now() == Mode::Arming;
        self.motion.prepare(arming.then(|| (cycle.program_runs(now), cycle.mode().config().evidence_age, now)));
        true
    }

    #[inline(always)]
    fn write(&mut self, verdict: Verdict<'_, 6>) -> Result<bool, Reason> {
        match exclusive(&mut self.program) {
            None => self.motion.write(verdict),
            Some(program) => match program.write(verdict)? {
                Wrote::Order(made) => Ok(made),
                Wrote::StopText => self.motion.write(Verdict::Stop),
            },
        }
    }

    fn conclude(&mut self, cx: &mut Cx<'_, 'm>) -> bool {
        if self.outputs.is_due() {
            let known = Known {
                identity: self.identity,
                facts: self.primary.facts(),
                config: cx.config,
                mode: cx.cycle.mode_now(),
            };
            self.outputs.feed_force(cx.cycle.sources(), self.rtde.as_deref_mut(), cx.config, cx.now);
            self.outputs.write(&known, self.rtde.as_deref_mut(), cx.now, cx.events);
        }
        if let Some(program) = exclusive(&mut self.program) {
            if program.conclude(cx.cycle.mode_now(), cx.now) {
                // There is room for it.
                let _ = self.motion.write(Verdict::Stop);
            }
            if program.holds_back() {
                cx.cycle.held_back();
            }
            #[cfg(feature = "motions")]
            program.convergence().into_iter().for_each(|news| cx.events.push_peer(UrEvent::Program(news)));
            program.lateness().into_iter().for_each(|news| cx.events.push_peer(UrEvent::Program(news)));
            if program.was_called() {
                cx.events.push_peer(UrEvent::Program(ProgramEvent::Sent));
            }
        }
        let sends = shared(&self.program).is_some_and(Reverse::is_sending);
        if self.motion.is_waiting() || self.outputs.is_waiting() || sends {
            self.refusal.texted(cx.now);
        }
        false
    }

    fn leave(&mut self, rest: Instant, cx: &mut Cx<'_, 'm>) -> bool {
        let left = shared(&self.program).is_none_or(|program| program.has_left(rest, cx.now));
        if left {
            cx.cycle.link_lost(cx.now, Reason::Released, cx.events);
            self.connector.shut_down();
            self.forget_session(cx);
        }
        left
    }

    fn is_established(&self) -> bool {
        self.identity.is_some()
    }

    fn waiting(&self) -> Waiting {
        if self.connector.has_output() || shared(&self.program).is_some_and(Reverse::has_link_output) {
            return Waiting::Links;
        }
        let asks = self.rtde.as_deref().is_some_and(StateLink::has_output)
            || shared(&self.program).is_some_and(Reverse::is_waiting);
        if self.motion.is_waiting() || self.outputs.is_waiting() || asks { Waiting::Bytes } else { Waiting::Nothing }
    }

    #[inline(always)]
    fn poll_output(&mut self, config: &UrConfig, events: &mut Events<UrEvent>) -> Option<Output<'_>> {
        if let Some(output) = self.connector.poll_output() {
            if let Output::Open { link, endpoint } = output {
                events.push_peer(UrEvent::Opening { link, endpoint });
            }
            return Some(output);
        }
        // Motion comes first: neither outputs nor questions may delay it. Nothing is sent in the middle of a program's
        // text.
        let ordered = self.order_in_registers();
        if let Some(program) = exclusive(&mut self.program)
            && program.is_waiting()
            && program.fetch(config)
        {
            return program.poll_output();
        }
        let (link, bytes) = if self.motion.is_waiting() && !ordered {
            (LinkId::REALTIME, self.motion.take())
        } else if self.outputs.is_waiting() && !ordered {
            (LinkId::REALTIME, self.outputs.take_text())
        } else {
            (LinkId::RTDE, self.rtde.as_deref_mut()?.poll_output()?)
        };
        Some(Output::Transmit { link, to: None, bytes })
    }

    fn next_deadline(&self, now: Instant, config: &UrConfig, cycle: &CycleMemory<6>) -> Option<Instant> {
        earliest(&[
            self.connector.next_deadline(),
            self.unacked_deadline(now, &config.peer, cycle),
            self.outputs.next_deadline(&config.peer.outputs),
            self.rtde_deadline(),
            shared(&self.program).and_then(|program| program.next_deadline(cycle.link().config().stale_after, now)),
        ])
    }

    fn links(&self) -> LinkRoles {
        let states = self.identity.map(|identity| identity.states);
        let waits = |link: LinkId| states.is_some_and(|states| states != link);
        let late = LINKS.iter().fold(LinkSet::NONE, |late, link| late.with(*link, waits(*link)));
        let unacked = WATCHED.iter().zip(&self.unacked);
        LinkRoles {
            commands: Some(self.carrying()),
            unacked: unacked.fold(LinkSet::NONE, |set, (link, unacked)| set.with(*link, unacked.is_waiting())),
            late: late.with(LinkId::COMMAND, states.is_some()),
        }
    }

    fn status(&self) -> UrStatus {
        UrStatus {
            controller: self.identity,
            up: LINKS.map(|link| self.is_up(link)),
            streams: LINKS.map(|link| *self.counts(link)),
            dropped: LINKS.map(|link| self.dropped_bytes(link)),
        }
    }
}

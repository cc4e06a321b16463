//! The conversation with a KRC: each measurement is answered by one command.

use core::net::SocketAddr;

use super::bounds::Bounds;
use super::config::{KrcConfig, KrcOptions, period_of};
use super::control::{Control, MirroredFrame, ToolImpedance};
use super::event::{KrcCounts, KrcEvent, KrcReport, is_milestone};
use super::handshake::Wanted;
use super::other_scheme::SchemeWatch;
use super::reading::{Readings, posture};
use super::sender::SenderFilter;
use super::target::Target;
use super::tool::offset_by;
use super::variables::Variables;
use crate::engine::config::ConfigError;
use crate::engine::config::Options as _;
use crate::engine::cycle::{Beside, Cycle, Verdict};
use crate::engine::event::Events;
use crate::engine::io::{Input, LinkId, Output};
#[cfg(feature = "postcard")]
use crate::engine::peer::MemorySizes;
use crate::engine::peer::{Context, Peer, PeerStatus, Received, sealed::Sealed};
use crate::kinematics::Posture;
use crate::law::Law;
use crate::link::{Answers, Histogram};
use crate::mode::{Mode, PeerGate};
#[cfg(feature = "postcard")]
use crate::recorder::{Loader, Saver};
use crate::robot::{ControllerTime, JointVelocities, Reason};
use crate::time::{Duration, Instant};
use crate::wire::fri::{
    COMMAND_LEN, CommandRepr, ControlScheme, Frame, FriState, JOINTS, KrlVariables, MEASUREMENT_LEN, Measurement,
    Quality,
};
use crate::wire::{WireError, WireErrorKind};

impl LinkId {
    /// The one flow of datagrams between a KRC and us.
    pub const FRI: Self = Self::of(0);
}

/// Where the period stands in a measurement.
const PERIOD_AT: usize = 152;
/// Longest wait, once the arm rests, for the KRL program to leave the command state: some decide alone.
const LEAVING: Duration = Duration::from_secs(2);
/// Wait before a port that cannot be listened on is tried again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);
/// So many datagrams, of whomever, are received at most before the newest measurement among them is answered: a flood
/// delays it no longer.
const BURST: u32 = 64;

/// The remote computer's side of one KRC.
#[derive(Debug)]
pub struct Krc {
    window: [u8; WINDOW],
    talk: Conversation,
}

/// The conversation, apart from what it receives into: a measurement is read there while the rest changes.
#[derive(Debug)]
struct Conversation {
    listening: Listening,
    sender: SenderFilter,
    /// The period that the KRC names, once there is one.
    period: Option<Duration>,
    answers: Answers<u16>,
    round_trips: Histogram,
    jitters: Histogram,
    /// The measurement used before: the time it stands for, and its arrival.
    arrived: Option<(ControllerTime, Instant)>,
    readings: Readings,
    newest: Option<Newest>,
    /// A measurement waits to be judged.
    waiting: bool,
    /// Datagrams since the last one was.
    burst: u32,
    target: Target,
    /// The counter, as a time, that was answered last, and where the KRL program itself commanded the arm then.
    answered: Option<(ControllerTime, [f32; JOINTS])>,
    counter: u16,
    control: Control,
    schemes: SchemeWatch,
    /// What `friStart` was given, as the limits in force know it.
    scale: f32,
    /// What the target is held to, with that.
    bounds: Bounds,
    variables: Variables,
    counts: KrcCounts,
    /// The step of the target that answers the measurement judged now.
    step: Option<Step>,
    out: [u8; COMMAND_LEN],
    queued: bool,
    /// The command was made in this call.
    #[cfg(feature = "postcard")]
    new: bool,
}

/// Longer than any measurement, so that one that is too long is seen.
const WINDOW: usize = MEASUREMENT_LEN + 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
enum Listening {
    No,
    /// The port is to be told.
    Wanted,
    Requested,
    /// That failed: it is told again then.
    Again(Instant),
}

/// What the newest measurement said beside the arm's state.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
struct Newest {
    counter: u16,
    at: ControllerTime,
    status: Status,
    setpoint: [f32; JOINTS],
    /// Where the KRL program itself commands the arm.
    own: [f32; JOINTS],
    joints: [f32; JOINTS],
    commanded: Frame,
    frame_offset: Frame,
    measured: Frame,
    posture: Posture<JOINTS>,
    krl: KrlVariables,
    scale: f32,
    report: KrcReport,
}

/// A step of the target.
#[derive(Clone, Copy, Debug)]
struct Step {
    dt: Duration,
    /// What the KRL program has moved its own setpoint by, where commands are on top of it \[rad\].
    moved: [f32; JOINTS],
    /// The target was moved by that.
    carried: bool,
    /// What it moves by in one cycle: a command takes effect a cycle later.
    lead: [f32; JOINTS],
    /// The tool is led, too.
    tool: bool,
    /// The KRC follows commands.
    leads: bool,
}

/// What is reported when it changes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
struct Status {
    state: FriState,
    quality: Quality,
    scheme: ControlScheme,
    power: bool,
}

impl Status {
    /// Whether the KRC follows commands.
    const fn leads(self) -> bool {
        matches!(self.state, FriState::Command) && self.power
    }

    const fn gate(self, control: &Control) -> PeerGate {
        match self.state {
            FriState::Command if self.power && control.leads_in(self.scheme) => PeerGate::Granted,
            FriState::Command => PeerGate::Ready,
            FriState::Monitor if self.quality.permits_command() => PeerGate::Ready,
            FriState::Monitor | FriState::Off | FriState::Unknown(_) => PeerGate::No,
        }
    }
}

/// Where the conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
pub struct KrcStatus {
    /// Period of the measurements; `None` while none come.
    pub period: Option<Duration>,
    /// State of the interface on the KRC.
    pub state: Option<FriState>,
    /// The KRC's own rating of the link.
    pub quality: Option<Quality>,
    /// The control scheme on the KRC.
    pub scheme: Option<ControlScheme>,
    /// What was counted.
    pub counts: KrcCounts,
}

impl PeerStatus for KrcStatus {
    const KIND: u8 = KrcOptions::KIND;
}

type Cx<'c, L> = Context<'c, 7, Krc, L>;

/// What can be seen of it from outside.
impl Krc {
    /// From each command to the measurement that reflects it: contains the KRC's wait for its next cycle.
    #[must_use]
    pub const fn round_trips(&self) -> &Histogram {
        &self.talk.round_trips
    }

    /// Changes of the way's length from measurement to measurement, either way: what RFC 3550's jitter is the mean of.
    #[must_use]
    pub const fn jitters(&self) -> &Histogram {
        &self.talk.jitters
    }

    /// What was counted.
    #[must_use]
    pub const fn counts(&self) -> KrcCounts {
        self.talk.counts
    }

    /// State of the interface on the KRC, as the newest measurement says.
    #[must_use]
    pub fn state(&self) -> Option<FriState> {
        self.talk.newest.as_ref().map(|newest| newest.status.state)
    }

    /// The KRC's own rating of the link, as the newest measurement says.
    #[must_use]
    pub fn quality(&self) -> Option<Quality> {
        self.talk.newest.as_ref().map(|newest| newest.status.quality)
    }

    /// What the KRC says of the link and of its drives, in the newest measurement.
    #[must_use]
    pub fn report(&self) -> Option<KrcReport> {
        self.talk.newest.as_ref().map(|newest| newest.report)
    }

    /// The control scheme on the KRC, as the newest measurement says.
    #[must_use]
    pub fn scheme(&self) -> Option<ControlScheme> {
        self.talk.newest.as_ref().map(|newest| newest.status.scheme)
    }

    /// Period of the measurements, while there is a KRC.
    #[must_use]
    pub const fn period(&self) -> Option<Duration> {
        self.talk.period
    }

    /// Who sends the measurements.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.talk.sender.address()
    }

    /// What the KRL program wrote last.
    #[must_use]
    pub fn krl(&self) -> Option<&KrlVariables> {
        self.talk.newest.as_ref().map(|newest| &newest.krl)
    }

    /// The control scheme and its parameters.
    #[must_use]
    pub const fn control(&self) -> &Control {
        &self.talk.control
    }

    pub(super) const fn control_mut(&mut self) -> &mut Control {
        &mut self.talk.control
    }

    pub(super) const fn krl_to_send_mut(&mut self) -> &mut KrlVariables {
        &mut self.talk.variables.sent
    }

    /// Whether the KRC is in monitor state.
    pub(super) fn monitors(&self) -> bool {
        self.talk.newest.is_none_or(|newest| newest.status.state == FriState::Monitor)
    }
}

impl Conversation {
    /// A measurement of the KRC. Whether it is the newest.
    fn measured<L: Law<7>>(
        &mut self,
        from: SocketAddr,
        measurement: &Measurement<'_>,
        period: Duration,
        arrival: Instant,
        cx: &mut Cx<'_, L>,
    ) -> bool {
        self.counts.measurements = self.counts.measurements.saturating_add(1);
        let first = self.sender.heard(from, cx.now);
        if first || self.period != Some(period) {
            self.establish(period, cx);
        }
        let epoch = cx.cycle.link().epoch();
        let reflected = measurement.refl_seq_count();
        if let Some(round_trip) = self.answers.reflected(reflected, arrival) {
            self.round_trips.record(round_trip);
            let echoed = cx.config.peer.echoed;
            self.variables.observe(reflected, &measurement.krl(), echoed, arrival, cx.events);
        }
        cx.cycle.set_answers(self.answers.figures(cx.now));
        let counter = measurement.send_seq_count();
        let Some(at) = cx.cycle.hear_counter(counter, arrival, cx.now, cx.events) else {
            self.counts.unanswered(true);
            return false;
        };
        if cx.cycle.link().epoch() != epoch {
            self.begin_anew();
        }
        if let Some((at_before, arrived_before)) = self.arrived.replace((at, arrival)) {
            let (took, should) = (arrival.since(arrived_before), at.since(at_before));
            self.jitters.record(Duration::from_micros(took.as_micros().abs_diff(should.as_micros())));
        }
        let task = cx.config.peer.task_frame;
        let state = self.readings.take(measurement, at, task, self.superposes(&cx.config.peer));
        cx.cycle.keep(&state);
        let status = Status {
            state: measurement.named_state(),
            quality: measurement.named_quality(),
            scheme: measurement.named_control(),
            power: measurement.power() != 0,
        };
        self.report_changes(status, cx.events);
        self.newest = Some(Newest {
            counter,
            at,
            status,
            setpoint: measurement.setpoint(),
            own: measurement.cmd_jnt_pos(),
            joints: measurement.msr_jnt_pos(),
            commanded: measurement.cmd_cart_pos(),
            frame_offset: measurement.cmd_cart_pos_fri_offset(),
            measured: measurement.msr_cart_pos(),
            posture: posture(measurement, task),
            krl: measurement.krl(),
            scale: measurement.safety_limits(),
            report: KrcReport {
                answer_rate: measurement.stat_answer_rate(),
                latency: measurement.stat_latency(),
                jitter: measurement.stat_jitter(),
                missed: measurement.stat_miss_counter(),
                power: measurement.power(),
                error: measurement.error(),
                warning: measurement.warning(),
            },
        });
        true
    }

    /// Whether commands are on top of the KRL program's own motion: frames are not.
    const fn superposes(&self, options: &KrcOptions) -> bool {
        options.superpose && !matches!(self.control, Control::ToolImpedance(_))
    }

    fn report_changes(&self, status: Status, events: &mut Events<KrcEvent>) {
        let before = self.newest.map(|newest| newest.status);
        let mut on_change = |changed: bool, event| {
            if changed {
                events.push_peer(event);
            }
        };
        on_change(before.is_none_or(|before| before.state != status.state), KrcEvent::State(status.state));
        on_change(before.is_none_or(|before| before.quality != status.quality), KrcEvent::Quality(status.quality));
        on_change(before.is_none_or(|before| before.scheme != status.scheme), KrcEvent::Scheme(status.scheme));
        on_change(before.is_none_or(|before| before.power != status.power), KrcEvent::Power(status.power));
    }

    /// A KRC, or the same one with another period.
    fn establish<L: Law<7>>(&mut self, period: Duration, cx: &mut Cx<'_, L>) {
        if self.period.is_some() {
            cx.cycle.link_lost(cx.now, Reason::ClockJump, cx.events);
        }
        self.period = Some(period);
        self.bounds = Bounds::new(cx.config, self.scale, cx.config.bridged(period));
        // A round trip contains the KRC's wait for its next cycle: later than half a cycle after that is late.
        self.answers = Answers::new(period.percent(150));
        self.begin_anew();
        let period_micros = u32::try_from(period.as_micros()).unwrap_or(u32::MAX);
        cx.events.push_peer(KrcEvent::Found { period_micros });
        cx.cycle.establish(cx.config.of(period), cx.now, cx.events);
    }

    /// Counters say nothing about those before.
    fn begin_anew(&mut self) {
        self.answers.clear();
        self.readings.forget();
        self.answered = None;
        self.arrived = None;
    }

    /// What the KRC's own state ends.
    fn watch<L: Law<7>>(&mut self, status: Status, cx: &mut Cx<'_, L>) {
        let (mode, patience) = (cx.cycle.mode_now(), cx.cycle.mode().config().good_cycles);
        if let Some(krc) = self.schemes.ends(mode, status.state, status.scheme, &self.control, patience) {
            cx.events.push_peer(KrcEvent::OtherScheme { krc, ours: self.control.scheme() });
            cx.cycle.fault(cx.now, Reason::OtherScheme, cx.events);
        } else if mode == Mode::Command && status.state != FriState::Command {
            // Nobody but us ends commanding without a reason of its own; which one, the KRC does not say.
            cx.cycle.fault(cx.now, Reason::LeftCommand, cx.events);
        }
    }

    /// `friStart` scales what the KRC lets the arm do: what is approved stays within it.
    fn limit<L: Law<7>>(&mut self, scale: f32, period: Duration, cx: &mut Cx<'_, L>) {
        if core::mem::replace(&mut self.scale, scale).to_bits() == scale.to_bits() {
            return;
        }
        self.bounds = Bounds::new(cx.config, scale, cx.config.bridged(period));
        let mut limits = cx.config.limits;
        // A scale that says nothing is left to the target, which refuses to move by it.
        if scale > 0.0 && scale < 1.0 {
            let bounded = |own: &mut [f32; JOINTS], arms: &[f32; JOINTS]| {
                own.iter_mut().zip(arms).for_each(|(own, arms)| *own = own.min(*arms));
            };
            bounded(&mut limits.velocity.0, &self.bounds.velocity);
            bounded(&mut limits.acceleration.0, &self.bounds.acceleration);
            bounded(&mut limits.braking.0, &self.bounds.braking);
        }
        cx.cycle.set_limits(limits);
    }

    /// Whether what is commanded, or would be at the beginning, is too far from where the arm is.
    fn strays(&self, options: &KrcOptions) -> bool {
        let Some(newest) = &self.newest else { return false };
        let (joints, frame) = match self.target.wanted() {
            Some(wanted) if newest.status.leads() => wanted,
            Some(_) | None => (newest.setpoint, self.mirrored_frame(newest)),
        };
        // What is no number is judged by whoever uses it.
        if !newest.joints.iter().all(|q| q.is_finite()) {
            return false;
        }
        // A frame without the offset that FRI has left is not where the tool is.
        let by_tool = match self.control {
            Control::ToolImpedance(ToolImpedance { mirrors, .. }) => mirrors != MirroredFrame::Commanded,
            Control::Position | Control::JointImpedance(_) => false,
        };
        options.tracking.strays(&self.control, &joints, &newest.joints)
            || by_tool && options.tracking.strays_from(&frame, &newest.measured)
    }

    fn mirrored_frame(&self, newest: &Newest) -> Frame {
        let Control::ToolImpedance(ToolImpedance { mirrors, .. }) = self.control else { return newest.commanded };
        match mirrors {
            MirroredFrame::Setpoint => offset_by(&newest.commanded, &newest.frame_offset).unwrap_or(newest.commanded),
            MirroredFrame::Commanded => newest.commanded,
            MirroredFrame::Measured => newest.measured,
        }
    }

    /// Makes the command, ahead of the target by `lead`. Whether there is one.
    fn send<L: Law<7>>(&mut self, newest: &Newest, lead: &[f32; JOINTS], cx: &mut Cx<'_, L>) -> bool {
        let Some((mut jnt_pos, frame)) = self.target.wanted() else { return false };
        jnt_pos.iter_mut().zip(lead).for_each(|(at, lead)| *at += lead);
        let mode = cx.cycle.mode_now();
        let mut krl = self.variables.take_up();
        cx.config.peer.handshake.write(Wanted { command: self.wants(mode), scheme: self.control.scheme() }, &mut krl);
        let counter = self.counter.wrapping_add(1);
        let mut command = CommandRepr {
            send_seq_count: counter,
            refl_seq_count: newest.counter,
            krl,
            jnt_pos,
            ..CommandRepr::default()
        };
        let follows = newest.status.leads() && mode == Mode::Command;
        self.control.write(frame, follows, &mut command);
        if command.emit(&mut self.out).is_err() {
            // A variable of the application that is no number: nothing goes out, and commanding ends.
            self.counts.unanswered(true);
            cx.cycle.fault(cx.now, Reason::NotFinite, cx.events);
            return false;
        }
        self.counter = counter;
        self.queued = true;
        #[cfg(feature = "postcard")]
        {
            self.new = true;
        }
        self.counts.commands = self.counts.commands.saturating_add(1);
        self.answers.sent(counter, cx.now);
        self.variables.carried(counter, cx.now, cx.events);
        true
    }

    /// Whether the KRL program is to be in command state.
    fn wants(&self, mode: Mode) -> bool {
        match mode {
            Mode::Arming | Mode::Command => true,
            Mode::Stopping => !self.target.rests(),
            Mode::Offline | Mode::Monitor => false,
        }
    }
}

impl Sealed for Krc {}

impl Peer<7> for Krc {
    type Event = KrcEvent;
    type Options = KrcOptions;
    type Status = KrcStatus;
    type Memory = ();

    const ACKNOWLEDGED: Option<LinkId> = None;

    fn new<L: Law<7>>(config: &KrcConfig, (): (), law: L) -> Result<(Self, Cycle<7, L>), ConfigError> {
        config.check()?;
        // The period is known once a measurement has come; nothing is judged before.
        let period = Duration::from_millis(1);
        let talk = Conversation {
            listening: Listening::No,
            sender: SenderFilter::new(config.peer.address),
            period: None,
            answers: Answers::new(period),
            round_trips: Histogram::default(),
            jitters: Histogram::default(),
            arrived: None,
            readings: Readings::default(),
            newest: None,
            waiting: false,
            burst: 0,
            target: Target::UNKNOWN,
            answered: None,
            counter: config.peer.first_counter.wrapping_sub(1),
            control: config.peer.control,
            schemes: SchemeWatch::default(),
            scale: 1.0,
            bounds: Bounds::new(config, 1.0, config.bridged(period)),
            variables: Variables::new(config.peer.variables),
            counts: KrcCounts::default(),
            step: None,
            out: [0; COMMAND_LEN],
            queued: false,
            #[cfg(feature = "postcard")]
            new: false,
        };
        let sources = config.monitors()?;
        let peer = Self { window: [0; WINDOW], talk };
        Ok((peer, Cycle::new(config.of(period), config.rest(), config.limits, sources, config.operator, law)))
    }

    fn wake<L: Law<7>>(&mut self, cx: &mut Cx<'_, L>) {
        #[cfg(feature = "postcard")]
        {
            self.talk.new = false;
        }
        if matches!(self.talk.listening, Listening::Again(at) if at <= cx.now) {
            self.talk.listening = Listening::Wanted;
        }
        let silent_at =
            self.talk.period.and_then(|period| self.talk.sender.silent_at(cx.config.peer.silence_of(period)));
        if silent_at.is_some_and(|at| cx.now >= at) {
            self.talk.sender.forget();
            self.talk.period = None;
            self.talk.newest = None;
            self.talk.counts.unanswered(core::mem::take(&mut self.talk.waiting));
            cx.cycle.take_arrival();
            self.talk.target = Target::UNKNOWN;
            cx.events.push_peer(KrcEvent::Silent);
            cx.cycle.link_lost(cx.now, Reason::StateStale, cx.events);
        }
        let there = self.talk.period.is_some();
        self.talk.variables.tick(&cx.config.peer.outputs, there, cx.now, cx.events);
    }

    fn handle<L: Law<7>>(&mut self, input: Input, cx: &mut Cx<'_, L>) {
        match input {
            Input::Start => self.talk.listening = Listening::Wanted,
            Input::Refused(_) | Input::Closed(_) => self.talk.listening = Listening::Again(cx.now + LISTEN_AGAIN),
            Input::Set(write) => {
                let (there, handshake) = (self.talk.period.is_some(), cx.config.peer.handshake);
                self.talk.variables.set(write, there, handshake, cx.now, cx.events);
            }
            // Nothing is acknowledged; the others are the engine's.
            _ => {}
        }
    }

    fn receive_window(&mut self, _: LinkId) -> &mut [u8] {
        &mut self.window
    }

    /// A datagram of anybody.
    fn commit<L: Law<7>>(&mut self, received: &Received, cx: &mut Cx<'_, L>) -> bool {
        let Received { count, from: Some(from), arrival, .. } = *received else { return false };
        self.talk.burst = self.talk.burst.saturating_add(1);
        let overdue = self.talk.burst >= BURST;
        if !self.talk.sender.admits(from) {
            self.talk.counts.foreign = self.talk.counts.foreign.saturating_add(1);
            if is_milestone(self.talk.counts.foreign) {
                cx.events.push_peer(KrcEvent::Foreign(self.talk.counts.foreign));
            }
            return self.talk.waiting && overdue;
        }
        let read = Measurement::new_checked(self.window.get(..count).unwrap_or_default()).and_then(|measurement| {
            let period = period_of(measurement.desired_cmd_sample_time());
            let period = period.ok_or(WireError::new(WireErrorKind::BadValue, PERIOD_AT, 0, 0))?;
            Ok((measurement, period))
        });
        match read {
            Ok((measurement, period)) => {
                if self.talk.measured(from, &measurement, period, arrival, cx) {
                    cx.cycle.arrived(arrival);
                    self.talk.counts.overtaken =
                        self.talk.counts.overtaken.saturating_add(u64::from(self.talk.waiting));
                    self.talk.waiting = true;
                }
            }
            Err(error) => {
                self.talk.counts.malformed = self.talk.counts.malformed.saturating_add(1);
                let count = self.talk.counts.malformed;
                if is_milestone(count) {
                    cx.events.push_peer(KrcEvent::Malformed { count, error });
                }
            }
        }
        self.talk.waiting && overdue
    }

    fn beside<L: Law<7>>(&mut self, cx: &mut Cx<'_, L>) -> Beside {
        (self.talk.waiting, self.talk.burst) = (false, 0);
        let (Some(newest), Some(period)) = (self.talk.newest, self.talk.period) else { return Beside::default() };
        cx.cycle.law_mut().use_posture(&newest.posture);
        self.talk.watch(newest.status, cx);
        self.talk.limit(newest.scale, period, cx);
        Beside {
            path_open: true,
            gate: Some(newest.status.gate(&self.talk.control)),
            strays: self.talk.strays(&cx.config.peer),
            ..Beside::default()
        }
    }

    fn judged<L: Law<7>>(&mut self, _: Instant, cx: &mut Cx<'_, L>) {
        let (Some(newest), Some(period)) = (self.talk.newest, self.talk.period) else { return };
        // After lost measurements a command goes on for as many cycles as are forgiven, and no farther.
        let longest = cx.config.bridged(period);
        let before = self.talk.answered.replace((newest.at, newest.own));
        let dt = before.map_or(period, |(before, _)| newest.at.since(before)).min(longest);
        let mut moved = [0.0; JOINTS];
        if let Some((_, own)) = before.filter(|_| self.talk.superposes(&cx.config.peer)) {
            let both = newest.own.iter().zip(own);
            moved.iter_mut().zip(both).for_each(|(moved, (now, before))| *moved = now - before);
        }
        let tool = matches!(self.talk.control, Control::ToolImpedance(_));
        let share = period.as_secs_f32() / dt.as_secs_f32();
        let lead = moved.map(|moved| if share.is_finite() { moved * share } else { 0.0 });
        self.talk.step = Some(Step { dt, moved, carried: false, lead, tool, leads: newest.status.leads() });
    }

    fn acknowledged<L: Law<7>>(&mut self, _: &mut Cx<'_, L>) {}

    fn prepare<L: Law<7>>(&mut self, _: Instant, _: &Cycle<7, L>) -> bool {
        self.talk.step.is_some()
    }

    fn write(&mut self, verdict: Verdict<'_, 7>) -> Result<bool, Reason> {
        let Conversation { step: Some(step), target, bounds, newest, .. } = &mut self.talk else { return Ok(false) };
        let tool = newest.as_ref().filter(|_| step.tool).map(|newest| &newest.posture.jacobian);
        // Once for each measurement, whatever else is asked for beside it.
        if !core::mem::replace(&mut step.carried, true) {
            target.carry(&step.moved);
        }
        match verdict {
            Verdict::Move(approved) if step.leads => target.advance(approved, step.dt, &step.moved, bounds, tool)?,
            Verdict::Move(_) => return Err(Reason::NotGranted),
            // Every measurement is answered, whatever the verdict. Where the KRC leads, its own setpoint is mirrored; where it
            // still follows, the target comes to rest first, and its resting place is what the KRC's setpoint becomes.
            Verdict::Mirror | Verdict::Silent | Verdict::Hold | Verdict::Stop => target.brake(step.dt, bounds, tool),
            // A KRC is given no moves.
            Verdict::Start(..) | Verdict::Keep | Verdict::Cancel(_) => return Err(Reason::Internal),
            #[cfg(feature = "reverse")]
            Verdict::Guide(..) => return Err(Reason::Internal),
        }
        Ok(false)
    }

    fn conclude<L: Law<7>>(&mut self, cx: &mut Cx<'_, L>) -> bool {
        let (Some(step), Some(newest)) = (self.talk.step.take(), self.talk.newest) else { return false };
        if !step.leads {
            let frame = self.talk.mirrored_frame(&newest);
            self.talk.target.mirror(&newest.setpoint, &frame);
        }
        self.talk.send(&newest, &step.lead, cx)
    }

    /// The KRL program has left the command state, or did not within 2 s.
    fn has_left(&self, rest: Instant, now: Instant) -> bool {
        self.state() != Some(FriState::Command) || now.since(rest) >= LEAVING
    }

    /// A measurement is answered all the same: that moves nothing.
    fn shut_down<L: Law<7>>(&mut self, _: &mut Cx<'_, L>) {}

    fn is_established(&self) -> bool {
        self.talk.period.is_some()
    }

    fn has_link_output(&self) -> bool {
        false
    }

    fn has_output(&self) -> bool {
        self.talk.queued || self.talk.listening == Listening::Wanted
    }

    fn poll_output(&mut self, config: &KrcConfig, _: &mut Events<KrcEvent>) -> Option<Output<'_>> {
        if self.talk.listening == Listening::Wanted {
            self.talk.listening = Listening::Requested;
            return Some(Output::Listen { link: LinkId::FRI, port: config.peer.port });
        }
        let to = self.talk.sender.address()?;
        core::mem::take(&mut self.talk.queued).then_some(Output::Transmit {
            link: LinkId::FRI,
            to: Some(to),
            bytes: &self.talk.out,
        })
    }

    fn next_deadline<L: Law<7>>(&self, _: Instant, config: &KrcConfig, _: &Cycle<7, L>) -> Option<Instant> {
        let silent = self.talk.period.and_then(|period| self.talk.sender.silent_at(config.peer.silence_of(period)));
        let again = if let Listening::Again(at) = self.talk.listening { Some(at) } else { None };
        let variables = self.talk.variables.next_deadline(&config.peer.outputs, self.talk.period.is_some());
        [silent, again, variables].into_iter().flatten().min()
    }

    fn has_unacked(&self, _: LinkId) -> bool {
        false
    }

    fn commanded(&self) -> Option<JointVelocities<7>> {
        Some(self.talk.target.speed())
    }

    fn status(&self) -> KrcStatus {
        KrcStatus {
            period: self.talk.period,
            state: self.state(),
            quality: self.quality(),
            scheme: self.scheme(),
            counts: self.talk.counts,
        }
    }

    #[cfg(feature = "postcard")]
    fn received(&mut self, _: LinkId, count: usize) -> &[u8] {
        self.window.get(..count).unwrap_or_default()
    }

    #[cfg(feature = "postcard")]
    fn memory_sizes(&self) -> MemorySizes {
        MemorySizes::default()
    }

    #[cfg(feature = "postcard")]
    fn exactly((): (), _: MemorySizes) -> Option<()> {
        Some(())
    }

    #[cfg(feature = "postcard")]
    fn made(&self) -> [&[u8]; 3] {
        [if self.talk.new { &self.talk.out } else { &[] }, &[], &[]]
    }

    #[cfg(feature = "postcard")]
    fn next_made(&mut self) -> Option<&[u8]> {
        core::mem::take(&mut self.talk.queued).then_some(&self.talk.out)
    }

    #[cfg(feature = "postcard")]
    fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        // Not the histograms: nothing is decided by them.
        to.put(&(&self.talk.listening, &self.talk.sender, &self.talk.period, &self.talk.answers))?;
        to.put(&(
            &self.talk.arrived,
            &self.talk.readings,
            &self.talk.newest,
            self.talk.waiting,
            self.talk.burst,
            &self.talk.target,
            &self.talk.answered,
        ))?;
        to.put(&(
            self.talk.counter,
            &self.talk.control,
            &self.talk.schemes,
            self.talk.scale,
            &self.talk.variables,
            &self.talk.counts,
        ))
    }

    #[cfg(feature = "postcard")]
    fn load(&mut self, from: &mut Loader<'_>, config: &KrcConfig) -> Option<()> {
        (self.talk.listening, self.talk.sender, self.talk.period, self.talk.answers) = from.take()?;
        (
            self.talk.arrived,
            self.talk.readings,
            self.talk.newest,
            self.talk.waiting,
            self.talk.burst,
            self.talk.target,
            self.talk.answered,
        ) = from.take()?;
        (
            self.talk.counter,
            self.talk.control,
            self.talk.schemes,
            self.talk.scale,
            self.talk.variables,
            self.talk.counts,
        ) = from.take()?;
        let period = self.talk.period.unwrap_or(Duration::from_millis(1));
        self.talk.bounds = Bounds::new(config, self.talk.scale, config.bridged(period));
        (self.talk.step, self.talk.queued) = (None, false);
        Some(())
    }
}

//! The conversation with a KRC: the facts that are kept and the commands that are sent, from one measurement to the
//! next.

use core::net::SocketAddr;

use super::commanded_tool_frame::offset_by;
use super::config::{KrcConfig, KrcOptions};
use super::control_schemes::{Control, MirroredFrame, ToolImpedance};
use super::event::{KrcCounts, KrcEvent, KrcReport};
use super::krl_convention::Wanted;
use super::krl_variables::Variables;
use super::position_target::Target;
use super::scheme_mismatch::SchemeWatch;
use super::sender_filter::SenderFilter;
use super::state_conversion::{Readings, posture};
use super::target_bounds::Bounds;
use crate::engine::controller::{Context, Controller};
use crate::engine::event::Events;
use crate::kinematics::Posture;

use crate::link::{Answers, Content, Histogram};
use crate::mode::{Mode, PeerGate};
#[cfg(feature = "record")]
use crate::recorder::{Loader, Saver};
use crate::robot::Reason;
use outrigger_wire::fri::{
    COMMAND_LEN, CommandRepr, ControlScheme, Frame, FriState, JOINTS, KrlVariables, Measurement, Quality,
};
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time::{Duration, Instant};

/// The conversation with a KRC, apart from the receive window: a measurement is read there while these fields change.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) listening: Listening,
    pub(super) sender: SenderFilter,
    /// The period of measurements that the KRC reports; `None` while no measurements arrive.
    pub(super) period: Option<Duration>,
    answers: Answers<u16>,
    pub(super) round_trips: Histogram,
    pub(super) jitters: Histogram,
    /// The newest measurement that was used: its time on the controller's clock, and its arrival.
    arrived: Option<(ControllerTime, Instant)>,
    readings: Readings,
    pub(super) newest: Option<MeasurementData>,
    /// `true` while a measurement waits to be judged and answered.
    pub(super) waiting: bool,
    /// The number of datagrams received since the last measurement was judged.
    pub(super) burst: u32,
    pub(super) target: Target,
    /// The time that the counter of the last answered measurement stands for, and the joint positions that the KRL
    /// program itself commanded in it \[rad\].
    pub(super) answered: Option<(ControllerTime, [f32; JOINTS])>,
    counter: u16,
    pub(super) control: Control,
    schemes: SchemeWatch,
    /// The scale of the limits that was passed to `friStart`, as used by the present limits.
    scale: f32,
    /// The bounds of the joints' commanded position; the limits of speed, acceleration and braking are multiplied by
    /// `scale`, at most by 1.
    pub(super) bounds: Bounds,
    pub(super) variables: Variables,
    pub(super) counts: KrcCounts,
    /// The step of the joints' commanded position in the answer to the measurement that is judged now.
    pub(super) step: Option<Step>,
    pub(super) out: [u8; COMMAND_LEN],
    pub(super) queued: bool,
    /// `true` if the command to the KRC was made in this call of the engine.
    #[cfg(feature = "record")]
    pub(super) new: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum Listening {
    No,
    /// Listening on the UDP port is to be requested.
    Wanted,
    Requested,
    /// Listening on the port failed; the port is requested again at this time.
    Again(Instant),
}

/// The contents of the newest measurement, apart from the arm's state.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct MeasurementData {
    counter: u16,
    pub(super) at: ControllerTime,
    pub(super) status: Status,
    pub(super) setpoint: [f32; JOINTS],
    /// The joint positions that the KRL program itself commands \[rad\].
    pub(super) own: [f32; JOINTS],
    joints: [f32; JOINTS],
    commanded: Frame,
    frame_offset: Frame,
    measured: Frame,
    pub(super) posture: Posture<JOINTS>,
    pub(super) krl: KrlVariables,
    pub(super) scale: f32,
    pub(super) report: KrcReport,
}

/// A step of the joints' commanded position in the answer to one measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) dt: Duration,
    /// The travel of the KRL program's own setpoint, if commands are added to it \[rad\].
    pub(super) moved: [f32; JOINTS],
    /// `true` if the target was moved by the program's own travel, `moved`.
    pub(super) carried: bool,
    /// `true` if joint speeds of our law answer the measurement that is judged.
    #[cfg(feature = "motions")]
    pub(super) moves: bool,
    /// The travel of the KRL program's own setpoint in one cycle \[rad\]: the command is ahead of the target by it,
    /// because it takes effect a cycle later.
    pub(super) lead: [f32; JOINTS],
    /// `true` if the tool's frame is commanded, in addition to the joints.
    pub(super) tool: bool,
    /// `true` if the KRC follows our commands.
    pub(super) leads: bool,
}

/// The KRC's state of FRI, link quality, control scheme and drive power, each reported when it changes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Status {
    pub(super) state: FriState,
    pub(super) quality: Quality,
    pub(super) scheme: ControlScheme,
    power: bool,
}

impl Status {
    /// Returns `true` if the KRC follows our commands.
    pub(super) const fn leads(self) -> bool {
        matches!(self.state, FriState::Command) && self.power
    }

    pub(super) const fn gate(self, control: &Control) -> PeerGate {
        if let Quality::Unknown(_) = self.quality {
            return PeerGate::No;
        }
        match self.state {
            FriState::Command if self.power && control.leads_in(self.scheme) => PeerGate::Granted,
            FriState::Command => PeerGate::Ready,
            FriState::Monitor if self.quality.permits_command() => PeerGate::Ready,
            FriState::Monitor | FriState::Off | FriState::Unknown(_) => PeerGate::No,
        }
    }
}

impl Conversation {
    pub(super) fn new(config: &KrcConfig, period: Duration) -> Self {
        Self {
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
            #[cfg(feature = "record")]
            new: false,
        }
    }

    /// Takes a measurement of the KRC. Returns `true` if it is used: possible for this arm, and newer than all before it.
    pub(super) fn measured<P: Controller<7, Event = KrcEvent, Options = KrcOptions>>(
        &mut self,
        from: SocketAddr,
        measurement: &Measurement<'_>,
        period: Duration,
        arrival: Instant,
        cx: &mut Context<'_, 7, P>,
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
        let (angles, commanded) = (measurement.msr_jnt_pos(), measurement.cmd_jnt_pos());
        let content = Content {
            at: cx.cycle.link().stamp_of(counter),
            positions: &angles,
            velocities: &[0.0; 7],
            targets: [&commanded, &measurement.cmd_jnt_pos_fri_offset()],
        };
        // The stored state does not contain the motion of the KRL program.
        let before = self.newest.as_ref().map(|newest| (newest.at, &newest.joints));
        if !cx.cycle.is_possible(&content, before, cx.events) {
            self.counts.unanswered(true);
            return false;
        }
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
        self.newest = Some(MeasurementData {
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

    /// Returns `true` if commands are added to the KRL program's own motion, which is not possible for frames.
    pub(super) const fn superposes(&self, options: &KrcOptions) -> bool {
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

    /// Starts a session with another KRC, or with the same KRC and another period of measurements.
    fn establish<P: Controller<7, Event = KrcEvent, Options = KrcOptions>>(
        &mut self,
        period: Duration,
        cx: &mut Context<'_, 7, P>,
    ) {
        if self.period.is_some() {
            cx.cycle.link_lost(cx.now, Reason::ClockJump, cx.events);
        }
        self.period = Some(period);
        self.bounds = Bounds::new(cx.config, self.scale, cx.config.bridged(period));
        // A round trip includes the KRC's wait for its next cycle: an answer more than half a cycle after that is late.
        self.answers = Answers::new(period.percent(150));
        self.begin_anew();
        let period_micros = u32::try_from(period.as_micros()).unwrap_or(u32::MAX);
        cx.events.push_peer(KrcEvent::Found { period_micros });
        cx.cycle.establish(cx.config.of(period), cx.now, cx.events);
    }

    /// Discards the facts learned from earlier counters of the KRC, which are not comparable with the new ones.
    fn begin_anew(&mut self) {
        self.answers.clear();
        self.readings.forget();
        self.answered = None;
        self.arrived = None;
    }

    /// Ends arming or commanding if the KRC commands in another control scheme than ours, and commanding if the KRC has left
    /// its command state.
    pub(super) fn watch<P: Controller<7, Event = KrcEvent, Options = KrcOptions>>(
        &mut self,
        status: Status,
        cx: &mut Context<'_, 7, P>,
    ) {
        let (mode, patience) = (cx.cycle.mode_now(), cx.cycle.mode().config().good_cycles);
        if let Some(krc) = self.schemes.ends(mode, status.state, status.scheme, &self.control, patience) {
            cx.events.push_peer(KrcEvent::OtherScheme { krc, ours: self.control.scheme() });
            cx.cycle.fault(cx.now, Reason::OtherScheme, cx.events);
        } else if mode == Mode::Command && status.state != FriState::Command {
            // The KRC ends commanding only for a reason of its own, and does not report which.
            cx.cycle.fault(cx.now, Reason::LeftCommand, cx.events);
        }
    }

    /// Applies the scale that the KRL program passed to `friStart` to the limits of the commands that the governor
    /// approves.
    pub(super) fn limit<P: Controller<7, Event = KrcEvent, Options = KrcOptions>>(
        &mut self,
        scale: f32,
        period: Duration,
        cx: &mut Context<'_, 7, P>,
    ) {
        if core::mem::replace(&mut self.scale, scale).to_bits() == scale.to_bits() {
            return;
        }
        self.bounds = Bounds::new(cx.config, scale, cx.config.bridged(period));
        let mut limits = cx.config.limits;
        // An invalid scale is left to the target, which refuses to move by it.
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

    /// Returns `true` if the commanded position, or the one that commanding would start from, is too far from the
    /// measured position of the arm.
    pub(super) fn strays(&self, options: &KrcOptions) -> bool {
        let Some(newest) = &self.newest else { return false };
        let (joints, frame) = match self.target.wanted() {
            Some(wanted) if newest.status.leads() => wanted,
            Some(_) | None => (newest.setpoint, self.mirrored_frame(newest)),
        };
        // NaN is judged where the positions are used.
        if !newest.joints.iter().all(|q| q.is_finite()) {
            return false;
        }
        // A frame without the offset that FRI has left is not the tool's.
        let by_tool = match self.control {
            Control::ToolImpedance(ToolImpedance { mirrors, .. }) => mirrors != MirroredFrame::Commanded,
            Control::Position | Control::JointImpedance(_) => false,
        };
        options.tracking.strays(&self.control, &joints, &newest.joints)
            || by_tool && options.tracking.strays_from(&frame, &newest.measured)
    }

    pub(super) fn mirrored_frame(&self, newest: &MeasurementData) -> Frame {
        let Control::ToolImpedance(ToolImpedance { mirrors, .. }) = self.control else { return newest.commanded };
        match mirrors {
            MirroredFrame::Setpoint => offset_by(&newest.commanded, &newest.frame_offset).unwrap_or(newest.commanded),
            MirroredFrame::Commanded => newest.commanded,
            MirroredFrame::Measured => newest.measured,
        }
    }

    /// Computes the step of the commanded position that answers the newest measurement, on which the engine has decided now.
    pub(super) fn judged(&mut self, config: &KrcConfig) {
        let (Some(newest), Some(period)) = (self.newest, self.period) else { return };
        // After lost measurements a command continues for as many cycles as are tolerated, and no longer.
        let longest = config.bridged(period);
        let before = self.answered.replace((newest.at, newest.own));
        let dt = before.map_or(period, |(before, _)| newest.at.since(before)).min(longest);
        let mut moved = [0.0; JOINTS];
        if let Some((_, own)) = before.filter(|_| self.superposes(&config.peer)) {
            let both = newest.own.iter().zip(own);
            moved.iter_mut().zip(both).for_each(|(moved, (now, before))| *moved = now - before);
        }
        let tool = matches!(self.control, Control::ToolImpedance(_));
        let share = period.as_secs_f32() / dt.as_secs_f32();
        let lead = moved.map(|moved| if share.is_finite() { moved * share } else { 0.0 });
        self.step = Some(Step {
            dt,
            moved,
            carried: false,
            #[cfg(feature = "motions")]
            moves: false,
            lead,
            tool,
            leads: newest.status.leads(),
        });
    }

    /// Makes the command to the KRC, ahead of the target by the step's `lead` \[rad\]. Returns `false` if there is none:
    /// the target is unknown, or a value is not finite, which ends commanding.
    pub(super) fn send<P: Controller<7, Event = KrcEvent, Options = KrcOptions>>(
        &mut self,
        newest: &MeasurementData,
        lead: &[f32; JOINTS],
        cx: &mut Context<'_, 7, P>,
    ) -> bool {
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
        #[cfg(feature = "motions")]
        if let Some(added) = cx.cycle.added().filter(|_| follows) {
            self.control.write_added(added, &mut command);
        }
        if command.emit(&mut self.out).is_err() {
            // A variable of the application is NaN or infinite: nothing is sent, and commanding ends.
            self.counts.unanswered(true);
            cx.cycle.fault(cx.now, Reason::NotFinite, cx.events);
            return false;
        }
        self.counter = counter;
        self.queued = true;
        #[cfg(feature = "record")]
        {
            self.new = true;
        }
        self.counts.commands = self.counts.commands.saturating_add(1);
        self.answers.sent(counter, cx.now);
        self.variables.carried(counter, cx.now, cx.events);
        true
    }

    /// Returns `true` if the KRL program is requested to be in command state: while arming or commanding, and until our
    /// target is at rest afterwards.
    fn wants(&self, mode: Mode) -> bool {
        match mode {
            Mode::Arming | Mode::Command => true,
            Mode::Stopping => !self.target.rests(),
            Mode::Offline | Mode::Monitor => false,
        }
    }

    #[cfg(feature = "record")]
    pub(super) fn save(&self, to: &mut Saver<'_>) -> Option<()> {
        // Every field is named, so that none is left out by mistake.
        let Self {
            listening,
            sender,
            period,
            answers,
            // These values decide nothing.
            round_trips: _,
            jitters: _,
            arrived,
            readings,
            newest,
            waiting,
            burst,
            target,
            answered,
            counter,
            control,
            schemes,
            scale,
            // This value follows from the configuration, `scale` and `period`.
            bounds: _,
            variables,
            counts,
            // No step is made and no command waits between two calls of the engine.
            step: _,
            out: _,
            queued: _,
            new: _,
        } = self;
        to.put(&(listening, sender, period, answers))?;
        to.put(&(arrived, readings, newest, waiting, burst, target, answered))?;
        to.put(&(counter, control, schemes, scale, variables, counts))
    }

    /// Restores a saved state of the conversation with the KRC. Returns the period of the measurements, 1 ms if there was no
    /// KRC; `None` if the state cannot be read.
    #[cfg(feature = "record")]
    pub(super) fn load(&mut self, from: &mut Loader<'_>, config: &KrcConfig) -> Option<Duration> {
        (self.listening, self.sender, self.period, self.answers) = from.take()?;
        (self.arrived, self.readings, self.newest, self.waiting, self.burst, self.target, self.answered) =
            from.take()?;
        (self.counter, self.control, self.schemes, self.scale, self.variables, self.counts) = from.take()?;
        let period = self.period.unwrap_or(Duration::from_millis(1));
        self.bounds = Bounds::new(config, self.scale, config.bridged(period));
        (self.step, self.queued) = (None, false);
        Some(period)
    }
}

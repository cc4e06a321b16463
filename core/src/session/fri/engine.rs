//! The engine itself.

mod report;

use core::net::SocketAddr;

use super::bounds::Bounds;
use super::config::{FriConfig, period_of};
use super::control::{Control, MirroredFrame, ToolImpedance};
use super::handshake::{Asked, KrlConvention, KrlHandshake};
use super::io::{FriCounts, FriEvent, FriInput, PeerReport, Transmit, is_milestone};
use super::other_scheme::SchemeWatch;
use super::peer::PeerFilter;
use super::reading::{Readings, posture};
use super::target::Target;
use super::tool::offset_by;
use crate::command::outputs::{WriteNews, WriteRefusal};
use crate::kinematics::Posture;
use crate::law::Law;
use crate::link::{Answers, Histogram};
use crate::mode::{Mode, PeerGate};
use crate::robot::{ControllerTime, Reason};
use crate::session::config::ConfigError;
use crate::session::cycle::{Beside, Cycle, Verdict};
use crate::session::event::{Event, Events};
use crate::time::{Duration, Instant};
use crate::wire::fri::{
    COMMAND_LEN, CommandRepr, ControlScheme, Frame, FriState, JOINTS, KrlVariables, Measurement, Quality,
};
use crate::wire::{WireError, WireErrorKind};

/// Where the period stands in a measurement.
const PERIOD_AT: usize = 152;
/// Longest wait, once the arm rests, for the KRL program to leave the command state: some decide alone.
const LEAVING: Duration = Duration::from_secs(2);

/// See the module. One value per KRC; any number of them live side by side.
#[derive(Debug)]
pub struct FriSession<L, H = KrlConvention> {
    config: FriConfig,
    peer: PeerFilter,
    /// The period that the peer names, once there is one.
    period: Option<Duration>,
    cycle: Cycle<JOINTS, L>,
    answers: Answers<u16>,
    round_trips: Histogram,
    jitters: Histogram,
    /// The measurement used before: the time it stands for, and its arrival.
    arrived: Option<(ControllerTime, Instant)>,
    readings: Readings,
    newest: Option<Newest>,
    /// The newest measurement waits to be answered since this arrival.
    waiting: Option<Instant>,
    target: Target,
    /// The counter, as a time, that was answered last.
    answered: Option<ControllerTime>,
    counter: u16,
    pub(super) control: Control,
    schemes: SchemeWatch,
    /// What `friStart` was given, as the limits in force know it.
    scale: f32,
    /// What the target is held to, with that.
    bounds: Bounds,
    handshake: H,
    krl: KrlVariables,
    out: [u8; COMMAND_LEN],
    queued: bool,
    /// When the measurement arrived that this command answers first, until the command is written.
    answers_to: Option<Instant>,
    events: Events,
    counts: FriCounts,
    due: Option<Instant>,
    ending: Ending,
}

/// How far a shutdown has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    NotAsked,
    /// The arm rests since then, if it does.
    Asked(Option<Instant>),
    Finished,
}

/// What the newest measurement said beside the arm's state.
#[derive(Clone, Copy, Debug)]
struct Newest {
    counter: u16,
    at: ControllerTime,
    told: Told,
    setpoint: [f32; JOINTS],
    joints: [f32; JOINTS],
    commanded: Frame,
    frame_offset: Frame,
    measured: Frame,
    posture: Posture<JOINTS>,
    krl: KrlVariables,
    scale: f32,
    report: PeerReport,
}

/// What is told when it changes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Told {
    state: FriState,
    quality: Quality,
    scheme: ControlScheme,
    power: bool,
}

impl Told {
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

impl<L: Law<JOINTS>, H: KrlHandshake> FriSession<L, H> {
    /// An engine that listens.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn new(config: FriConfig, law: L, handshake: H) -> Result<Self, ConfigError> {
        config.check()?;
        let sources = config.watched().map_err(ConfigError::Sources)?;
        // The period is known once a measurement has come; nothing is judged before.
        let period = Duration::from_millis(1);
        Ok(Self {
            peer: PeerFilter::new(config.peer),
            period: None,
            cycle: Cycle::new(config.of(period), config.rest(), config.limits, sources, config.operator, law),
            answers: Answers::new(period),
            round_trips: Histogram::default(),
            jitters: Histogram::default(),
            arrived: None,
            readings: Readings::default(),
            newest: None,
            waiting: None,
            target: Target::UNKNOWN,
            answered: None,
            counter: config.first_counter.wrapping_sub(1),
            control: config.control,
            schemes: SchemeWatch::default(),
            scale: 1.0,
            bounds: Bounds::new(&config, 1.0, config.bridged(period)),
            handshake,
            krl: KrlVariables::default(),
            out: [0; COMMAND_LEN],
            queued: false,
            answers_to: None,
            events: Events::default(),
            counts: FriCounts::default(),
            due: None,
            ending: Ending::NotAsked,
            config,
        })
    }

    /// Takes one input at `now`, which never goes back. Drain [`poll_transmit`](Self::poll_transmit) and
    /// [`poll_event`](Self::poll_event) after it.
    pub fn handle(&mut self, now: Instant, input: FriInput<'_>) {
        self.events.begin();
        self.cycle.start(now);
        self.cycle.wake(now, self.due, &mut self.events);
        self.miss_the_peer(now);
        match input {
            FriInput::Datagram { from, bytes, arrival } => self.take(from, bytes, arrival, now),
            // Woken without anything read: what was read before is complete too.
            FriInput::Drained | FriInput::Tick => self.answer(now),
            FriInput::Sample(sample) => self.cycle.sources_mut().observe(sample, now),
            FriInput::Request(epoch) => self.cycle.request(epoch, now, false, &mut self.events),
            FriInput::Resume(epoch) => self.cycle.request(epoch, now, true, &mut self.events),
            FriInput::Pin(contact, high) => {
                self.cycle.pin(contact, high, now, &mut self.events);
            }
            FriInput::Release => self.cycle.release(now, &mut self.events),
            FriInput::Acknowledge => self.cycle.acknowledge(now, &mut self.events),
            FriInput::Set(write) => {
                self.events.push(Event::Output { write, news: WriteNews::Refused(WriteRefusal::Off) });
            }
            FriInput::Shutdown => {
                self.cycle.end(now, &mut self.events);
                if self.ending == Ending::NotAsked {
                    self.ending = Ending::Asked(None);
                }
            }
        }
        self.end(now);
        let silent = self.period.and_then(|period| self.peer.silent_at(self.config.silence_of(period)));
        let cycle = self.period.and_then(|_| self.cycle.next_deadline(now));
        self.due = [silent, cycle].into_iter().flatten().min();
    }

    /// Whether a [`FriInput::Shutdown`] has been carried out: the arm rests, and the KRL program has left the command
    /// state or did not within 2 s. A measurement is answered all the same.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        matches!(self.ending, Ending::Finished)
    }

    /// The command that is to be sent; `None` once it was taken.
    #[must_use]
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        let to = self.peer.address()?;
        core::mem::take(&mut self.queued).then_some(Transmit { to, bytes: &self.out })
    }

    /// The command that was taken last has been written to the socket, at `now`: from the arrival of its measurement to
    /// there. For figures alone; a port may leave it out.
    pub fn written(&mut self, now: Instant) -> Option<Duration> {
        let arrival = self.answers_to.take();
        self.cycle.written(arrival, now)
    }

    /// The next event; `None` once all are taken.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// When [`FriInput::Tick`] is due at the latest: in the past while anything is queued, `None` while nothing is
    /// waited for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let queued = self.queued || self.waiting.is_some() || !self.events.is_empty();
        if queued { Some(Instant::ZERO) } else { self.due }
    }

    /// Brings a shutdown on its way.
    fn end(&mut self, now: Instant) {
        let Ending::Asked(rested) = self.ending else { return };
        let rests = matches!(self.cycle.mode_now(), Mode::Offline | Mode::Monitor);
        let since = rests.then(|| rested.unwrap_or(now));
        let left = self.peer_state() != Some(FriState::Command);
        let waited = since.is_some_and(|since| now.since(since) >= LEAVING);
        self.ending = if rests && (left || waited) { Ending::Finished } else { Ending::Asked(since) };
    }

    /// A datagram of anybody.
    fn take(&mut self, from: SocketAddr, bytes: &[u8], arrival: Instant, now: Instant) {
        if !self.peer.admits(from) {
            self.counts.foreign = self.counts.foreign.saturating_add(1);
            if is_milestone(self.counts.foreign) {
                self.events.push(Event::Fri(FriEvent::Foreign(self.counts.foreign)));
            }
            return;
        }
        let read = Measurement::new_checked(bytes).and_then(|measurement| {
            let period = period_of(measurement.desired_cmd_sample_time());
            let period = period.ok_or(WireError::new(WireErrorKind::BadValue, PERIOD_AT, 0, 0))?;
            Ok((measurement, period))
        });
        match read {
            Ok((measurement, period)) => self.measured(from, &measurement, period, arrival, now),
            Err(error) => {
                self.counts.malformed = self.counts.malformed.saturating_add(1);
                let count = self.counts.malformed;
                if is_milestone(count) {
                    self.events.push(Event::Fri(FriEvent::Malformed { count, error }));
                }
            }
        }
    }

    fn measured(
        &mut self,
        from: SocketAddr,
        measurement: &Measurement<'_>,
        period: Duration,
        arrival: Instant,
        now: Instant,
    ) {
        self.counts.measurements = self.counts.measurements.saturating_add(1);
        let first = self.peer.heard(from, now);
        if first || self.period != Some(period) {
            self.establish(period, now);
        }
        let epoch = self.cycle.link().epoch();
        if let Some(round_trip) = self.answers.reflected(measurement.refl_seq_count(), arrival) {
            self.round_trips.record(round_trip);
        }
        self.cycle.set_answers(self.answers.figures(now));
        let counter = measurement.send_seq_count();
        let Some(at) = self.cycle.hear_counter(counter, arrival, now, &mut self.events) else {
            self.counts.unused = self.counts.unused.saturating_add(1);
            return;
        };
        if self.cycle.link().epoch() != epoch {
            self.begin_anew();
        }
        if let Some((at_before, arrived_before)) = self.arrived.replace((at, arrival)) {
            let (took, should) = (arrival.since(arrived_before), at.since(at_before));
            self.jitters.record(Duration::from_micros(took.as_micros().abs_diff(should.as_micros())));
        }
        let state = self.readings.take(measurement, at, self.config.task_frame);
        self.cycle.keep(&state);
        if self.waiting.replace(arrival).is_some() {
            self.counts.overtaken = self.counts.overtaken.saturating_add(1);
        }
        let told = Told {
            state: measurement.named_state(),
            quality: measurement.named_quality(),
            scheme: measurement.named_control(),
            power: measurement.power() != 0,
        };
        self.tell(told);
        self.newest = Some(Newest {
            counter,
            at,
            told,
            setpoint: measurement.setpoint(),
            joints: measurement.msr_jnt_pos(),
            commanded: measurement.cmd_cart_pos(),
            frame_offset: measurement.cmd_cart_pos_fri_offset(),
            measured: measurement.msr_cart_pos(),
            posture: posture(measurement, self.config.task_frame),
            krl: measurement.krl(),
            scale: measurement.safety_limits(),
            report: PeerReport {
                answer_rate: measurement.stat_answer_rate(),
                latency: measurement.stat_latency(),
                jitter: measurement.stat_jitter(),
                missed: measurement.stat_miss_counter(),
                power: measurement.power(),
                error: measurement.error(),
                warning: measurement.warning(),
            },
        });
    }

    fn tell(&mut self, told: Told) {
        let before = self.newest.map(|newest| newest.told);
        let mut on_change = |changed: bool, event| {
            if changed {
                self.events.push(Event::Fri(event));
            }
        };
        on_change(before.is_none_or(|before| before.state != told.state), FriEvent::State(told.state));
        on_change(before.is_none_or(|before| before.quality != told.quality), FriEvent::Quality(told.quality));
        on_change(before.is_none_or(|before| before.scheme != told.scheme), FriEvent::Scheme(told.scheme));
        on_change(before.is_none_or(|before| before.power != told.power), FriEvent::Power(told.power));
    }

    /// A peer, or the same one with another period.
    fn establish(&mut self, period: Duration, now: Instant) {
        if self.period.is_some() {
            self.cycle.link_lost(now, Reason::ClockJump, &mut self.events);
        }
        self.period = Some(period);
        self.bounds = Bounds::new(&self.config, self.scale, self.config.bridged(period));
        // A round trip contains the KRC's wait for its next cycle: later than half a cycle after that is late.
        self.answers = Answers::new(period.percent(150));
        self.begin_anew();
        let period_micros = u32::try_from(period.as_micros()).unwrap_or(u32::MAX);
        self.events.push(Event::Fri(FriEvent::Found { period_micros }));
        self.cycle.establish(self.config.of(period), now, &mut self.events);
    }

    /// Counters say nothing about those before.
    fn begin_anew(&mut self) {
        self.answers.clear();
        self.readings.forget();
        self.answered = None;
        self.arrived = None;
    }

    fn miss_the_peer(&mut self, now: Instant) {
        let Some(period) = self.period else { return };
        if self.peer.silent_at(self.config.silence_of(period)).is_some_and(|at| now >= at) {
            self.peer.forget();
            self.period = None;
            self.newest = None;
            self.waiting = None;
            self.target = Target::UNKNOWN;
            self.events.push(Event::Fri(FriEvent::Silent));
            self.cycle.link_lost(now, Reason::StateStale, &mut self.events);
        }
    }

    /// Judges the newest measurement and answers it: the only place where a command is made.
    fn answer(&mut self, now: Instant) {
        let (Some(arrival), Some(newest), Some(period)) = (self.waiting.take(), self.newest, self.period) else {
            return;
        };
        self.cycle.law_mut().use_posture(&newest.posture);
        self.watch(newest.told, now);
        self.limit(newest.scale, period);
        let beside = Beside {
            path_open: true,
            gate: Some(newest.told.gate(&self.control)),
            strays: self.strays(),
            ..Beside::default()
        };
        self.cycle.judge(arrival, now, &beside, &mut self.events);
        // After lost measurements a command goes on for as many cycles as are forgiven, and no farther.
        let longest = self.config.bridged(period);
        let dt = self.answered.map_or(period, |before| newest.at.since(before)).min(longest);
        self.answered = Some(newest.at);
        let tool = matches!(self.control, Control::ToolImpedance(_)).then_some(&newest.posture.jacobian);
        let moved = match self.cycle.answer(now, &mut self.events) {
            Ok(Verdict::Move(approved)) if newest.told.leads() => self.target.advance(approved, dt, &self.bounds, tool),
            Ok(Verdict::Move(_)) => Err(Reason::NotGranted),
            // The setpoint is mirrored below where the KRC leads; where it still follows, the target comes to rest first,
            // and its resting place is what the KRC's setpoint becomes.
            Ok(Verdict::Mirror | Verdict::Silent | Verdict::Hold | Verdict::Stop) => {
                self.target.brake(dt, &self.bounds, tool);
                Ok(())
            }
            Err(reason) => Err(reason),
        };
        if let Err(reason) = moved {
            self.cycle.fault(now, reason, &mut self.events);
            self.target.brake(dt, &self.bounds, tool);
        }
        if !newest.told.leads() {
            self.target.mirror(&newest.setpoint, &self.mirrored_frame(&newest));
        }
        self.send(&newest, now);
    }

    /// What the KRC's own state ends.
    fn watch(&mut self, told: Told, now: Instant) {
        let (mode, patience) = (self.mode(), self.mode_machine().config().good_cycles);
        if let Some(krc) = self.schemes.ends(mode, told.state, told.scheme, &self.control, patience) {
            self.events.push(Event::Fri(FriEvent::OtherScheme { krc, ours: self.control.scheme() }));
            self.cycle.fault(now, Reason::OtherScheme, &mut self.events);
        } else if mode == Mode::Command && told.state != FriState::Command {
            // Nobody but us ends commanding without a reason of its own; which one, the KRC does not say.
            self.cycle.fault(now, Reason::LeftCommand, &mut self.events);
        }
    }

    /// `friStart` scales what the KRC lets the arm do: what is approved stays within it.
    fn limit(&mut self, scale: f32, period: Duration) {
        if core::mem::replace(&mut self.scale, scale).to_bits() == scale.to_bits() {
            return;
        }
        self.bounds = Bounds::new(&self.config, scale, self.config.bridged(period));
        let mut limits = self.config.limits;
        // A scale that says nothing is left to the target, which refuses to move by it.
        if scale > 0.0 && scale < 1.0 {
            let bounded = |own: &mut [f32; JOINTS], arms: &[f32; JOINTS]| {
                own.iter_mut().zip(arms).for_each(|(own, arms)| *own = own.min(*arms));
            };
            bounded(&mut limits.velocity.0, &self.bounds.velocity);
            bounded(&mut limits.acceleration.0, &self.bounds.acceleration);
            bounded(&mut limits.braking.0, &self.bounds.braking);
        }
        self.cycle.set_limits(limits);
    }

    /// Whether what is commanded, or would be at the beginning, is too far from where the arm is.
    fn strays(&self) -> bool {
        let Some(newest) = &self.newest else { return false };
        let (joints, frame) = match self.target.wanted() {
            Some(wanted) if newest.told.leads() => wanted,
            Some(_) | None => (newest.setpoint, self.mirrored_frame(newest)),
        };
        // What is no number is judged by whoever uses it.
        if !newest.joints.iter().all(|q| q.is_finite()) {
            return false;
        }
        let tracking = &self.config.tracking;
        // A frame without the offset that FRI has left is not where the tool is.
        let by_tool = match self.control {
            Control::ToolImpedance(ToolImpedance { mirrors, .. }) => mirrors != MirroredFrame::Commanded,
            Control::Position | Control::JointImpedance(_) => false,
        };
        tracking.strays(&self.control, &joints, &newest.joints)
            || by_tool && tracking.strays_from(&frame, &newest.measured)
    }

    fn mirrored_frame(&self, newest: &Newest) -> Frame {
        let Control::ToolImpedance(ToolImpedance { mirrors, .. }) = self.control else { return newest.commanded };
        match mirrors {
            MirroredFrame::Setpoint => offset_by(&newest.commanded, &newest.frame_offset).unwrap_or(newest.commanded),
            MirroredFrame::Commanded => newest.commanded,
            MirroredFrame::Measured => newest.measured,
        }
    }

    fn send(&mut self, newest: &Newest, now: Instant) {
        let Some((jnt_pos, frame)) = self.target.wanted() else { return };
        let asked = Asked { command: self.asks(), scheme: self.control.scheme() };
        let mut krl = self.krl;
        self.handshake.write(asked, &newest.krl, &mut krl);
        let counter = self.counter.wrapping_add(1);
        let mut command = CommandRepr {
            send_seq_count: counter,
            refl_seq_count: newest.counter,
            krl,
            jnt_pos,
            ..CommandRepr::default()
        };
        let follows = newest.told.leads() && self.mode() == Mode::Command;
        self.control.write(frame, follows, &mut command);
        match command.emit(&mut self.out) {
            Ok(_) => {
                self.counter = counter;
                self.queued = true;
                self.counts.commands = self.counts.commands.saturating_add(1);
                self.answers.sent(counter, now);
                self.answers_to = self.cycle.answered();
            }
            // A variable of the application that is no number: nothing goes out, and commanding ends.
            Err(_) => self.cycle.fault(now, Reason::NotFinite, &mut self.events),
        }
    }

    /// Whether the KRL program is to be in command state.
    fn asks(&self) -> bool {
        match self.mode() {
            Mode::Arming | Mode::Command => true,
            Mode::Stopping => !self.target.rests(),
            Mode::Offline | Mode::Monitor => false,
        }
    }
}

impl<L, H> FriSession<L, H> {
    /// Whether the KRC is in monitor state and nothing is asked of it.
    pub(super) fn monitors(&self) -> bool {
        let idle = matches!(self.cycle.mode_now(), Mode::Offline | Mode::Monitor);
        idle && self.newest.is_none_or(|newest| newest.told.state == FriState::Monitor)
    }
}

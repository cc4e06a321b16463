//! A plant with a controller of Universal Robots that is as late, slow and weak as a configuration permits.

mod arm;

use outrigger_core::engine::ur::{LINKS, UrOptions};
use std::collections::VecDeque;

use outrigger_core::command::{Limits, SourceConfig};
use outrigger_core::engine::ur::{FormChoice, Memory, StatesFrom, UrConfig, UrEngine};
use outrigger_core::engine::{Coast, Input, LinkId, Output};
use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_core::link::Grade;
use outrigger_core::mode::{Mode, PendantStop};
use outrigger_wire::robot::{
    JointAccelerations, JointPositions, JointVelocities, MessageSource, Pose, RobotModel, SoftwareVersion,
};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};
use outrigger_wire::{primary, realtime};

use super::Run;
use super::draw::{Draw, Mover, Senses, Wild, axes, sensed, senses};
use arm::Arm;

/// The property in which the plant is worse than the configuration permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worse {
    Nothing,
    /// The stop that the co-controller sends is weaker than `limits.braking`.
    Stop,
    /// The controller's own stop is weaker than `limits.braking`.
    OwnStop,
    /// Speeds decrease more slowly than `limits.acceleration`.
    Ramp,
    /// Text takes longer to arrive than the configuration permits, and acknowledgements do not show it.
    Latency,
    /// The drives lag behind by more than `limits.reaction`.
    Reaction,
    /// Text stays in force on the controller for longer than configured.
    Hold,
    /// The controller never ends the motion of a bare `speedj`, which has no end in its own text.
    Endless,
}

impl Worse {
    pub(crate) const EACH: [Self; 7] =
        [Self::Stop, Self::OwnStop, Self::Ramp, Self::Latency, Self::Reaction, Self::Hold, Self::Endless];
}

const SENSOR: SourceId = SourceId(1);
const START: [f64; 6] = [0.0, -1.5, 1.5, -1.5, -1.5, 0.0];
const SOFTWARES: [(u8, u8); 8] = [(1, 8), (3, 1), (3, 2), (3, 4), (3, 5), (3, 15), (5, 3), (5, 15)];

/// Draws a configuration, and the software of the controller that it is for. Some configurations are not sensible.
fn configuration(draw: &mut Draw) -> (UrConfig, SoftwareVersion) {
    let (major, minor) = draw.of(&SOFTWARES);
    let software = SoftwareVersion::new(major, minor);
    let mut config = UrConfig {
        peer: UrOptions { software: (!draw.one_in(3)).then_some(software), ..UrOptions::default() },
        ..UrConfig::default()
    };
    config.peer.connect.states = StatesFrom::Realtime;
    config.peer.connect.primary_required = true;
    config.peer.text.form =
        draw.of(&[FormChoice::ByVersion, FormChoice::ByVersion, FormChoice::Bare, FormChoice::SelfEnding]);
    config.peer.text.stop_acceleration = draw.magnitude(0.5, 100.0) as f32;
    config.peer.text.own_stop = draw.magnitude(0.5, 30.0) as f32;
    config.peer.text.acceleration = draw.magnitude(0.5, 100.0) as f32;
    config.peer.text.hold = draw.span(0.02, 0.3);
    // Mostly a value that these permit, often the largest; otherwise any value.
    let sensible = !draw.one_in(5);
    let most = |draw: &mut Draw, bound: f32| match () {
        () if !sensible => draw.magnitude(0.05, 100.0) as f32,
        () if draw.one_in(2) => bound,
        () => (f64::from(bound) * draw.magnitude(0.05, 1.0)) as f32,
    };
    let (braking, acceleration) =
        (config.peer.text.stop_acceleration.min(config.peer.text.own_stop), config.peer.text.acceleration);
    let limits = &mut config.limits;
    limits.braking = JointAccelerations(core::array::from_fn(|_| most(draw, braking)));
    limits.acceleration = JointAccelerations(core::array::from_fn(|_| most(draw, acceleration)));
    let fastest = draw.magnitude(0.05, 6.0);
    limits.velocity = JointVelocities(core::array::from_fn(|_| (fastest * draw.magnitude(0.1, 1.0)) as f32));
    limits.velocity_margin = draw.unit() as f32;
    limits.reaction = draw.span(0.001, 0.15);
    limits.longest_step = draw.span(0.002, 0.5);
    let stale = if sensible { config.peer.text.hold } else { draw.span(0.01, 0.5) };
    config.link.stale_after = Some(stale);
    config.mode.state_timeout = Some(if draw.one_in(2) { stale } else { draw.span(0.016, 0.3).min(stale) });
    config.link.margin = draw.one_in(2).then(|| draw.span(0.001, 0.05));
    config.link.max_misses = draw.one_in(2).then(|| 1 + (draw.unit() * 100.0) as u32);
    config.link.entry = Some(Grade::Bad);
    config.link.rise_time = Some(Duration::ZERO);
    config.mode.good_cycles = Some(1 + (draw.unit() * 5.0) as u32);
    config.mode.acceptance_unknown = true;
    config.mode.pendant.stop = PendantStop::Overridden;
    config.standstill.window = Duration::from_millis(20);
    // A late plant must not be mistaken for another commander.
    config.mode.following.delay = Some(31);
    config.mode.following.patience = Some(1_000);
    config.mode.following.late_patience = Some(1_000);
    config.mode.following.tolerance = Some(0.5);
    config.mode.following.relative = Some(0.5);
    if draw.one_in(3) {
        let max_age = draw.span(0.01, 0.2);
        config.sources[0] =
            Some(SourceConfig { max_age, stuck_after: None, ..SourceConfig::new(SENSOR, 1, -1.0, 1.0) });
    }
    // The limits of position are so near that the motion reaches them.
    let wide = draw.magnitude(0.3, 4.0);
    let far = config.worst_coast(software).joints.map(|way| (f64::from(way) * wide) as f32);
    let period = Duration::from_micros(software.generation().period_micros());
    let (start, kept) = (START.map(|q| q as f32), config.limits_on(software, period).position_max);
    let far = core::array::from_fn::<_, 6, _>(|joint| far[joint] + config.limits.position_max.0[joint] - kept.0[joint]);
    config.limits.position_min = JointPositions(core::array::from_fn(|joint| start[joint] - far[joint]));
    config.limits.position_max = JointPositions(core::array::from_fn(|joint| start[joint] + far[joint]));
    (config, software)
}

/// The fault by which a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Cable,
    States,
    Text,
    /// The co-controller's device ends.
    Death,
    Sensor,
    Held,
    Release,
}

struct Plant {
    engine: UrEngine<'static, Mover<6>>,
    senses: Option<Senses>,
    config: UrConfig,
    software: SoftwareVersion,
    arm: Arm,
    now: u64,
    period: u64,
    next_cycle: u64,
    /// The transit times in each direction, and the largest extra delay of a state [µs].
    down: u64,
    up: u64,
    late: u64,
    states: VecDeque<(u64, LinkId, Vec<u8>)>,
    texts: VecDeque<(u64, String)>,
    unacked: VecDeque<(u64, u64)>,
    open: [bool; LINKS.len()],
    fault: Option<Fault>,
    sequence: u32,
    worse: Worse,
}

/// Runs an engine and the plant with the random configuration of this seed. Returns `None` if the configuration is
/// rejected.
pub(crate) fn run(seed: u64, worse: Worse) -> Option<Run> {
    let draw = &mut Draw::new(seed, 1);
    let (mut config, software) = configuration(draw);
    // Every fourth run moves axes of the tool by a sensor. A plant that is worse than permitted is only found by a
    // law that demands more.
    let other = &mut Draw::new(seed, 9);
    let by_axes = (other.one_in(4) && worse == Worse::Nothing).then(|| axes(other, SENSOR));
    if by_axes.is_some() {
        config.sources[0] = Some(senses(other, SENSOR));
    }
    if config.check().is_err() {
        return None;
    }
    let chain = KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default());
    let sensed = match by_axes {
        Some(axes) => Some(sensed(seed, axes, &chain)?),
        None => None,
    };
    // The check may know another software than the controller's, or none.
    let endless = config.peer.text.form == FormChoice::Bare && !software.at_least(3, 5);
    if endless && config.peer.software.is_none() {
        // For this software check-config reports that the text never ends; here it does not know the software.
        return None;
    }
    let mut plant = Plant::new(draw, config, software, seed, worse, sensed);
    let (moved, broken) = plant.prove(draw);
    Some(Run {
        moved,
        broken: broken.map(|what| format!("{what}; {software:?} {:?} {:?}", config.peer.text, config.limits)),
    })
}

/// Checks that configuration values at their bounds are accepted, and values beyond are not.
pub(crate) fn bounds_are_exact(seed: u64) {
    let draw = &mut Draw::new(seed, 1);
    let (config, _) = configuration(draw);
    if config.check().is_err() {
        return;
    }
    let accepts = |change: &dyn Fn(&mut UrConfig)| {
        let mut config = config;
        change(&mut config);
        config.check().is_ok()
    };
    let joint = (draw.unit() * 5.99) as usize;
    let obeyed = config.peer.software.is_some_and(|software| software.at_least(3, 2));
    let bare = match (config.peer.text.form, config.peer.software) {
        (FormChoice::SelfEnding, _) => false,
        (FormChoice::ByVersion, Some(software)) => software.at_least(3, 5),
        (FormChoice::Bare, _) | (FormChoice::ByVersion, None) => true,
    };
    let sent = config.peer.text.stop_acceleration;
    let most = Limits::<6>::ACCELERATION.most;
    let braking = if obeyed && !bare { sent } else { sent.min(config.peer.text.own_stop) }.min(most);
    let acceleration = config.peer.text.acceleration.min(most);
    assert!(accepts(&|c| c.limits.braking.0[joint] = braking), "seed {seed}");
    assert!(!accepts(&|c| c.limits.braking.0[joint] = braking * 1.001), "seed {seed}");
    assert!(accepts(&|c| c.limits.acceleration.0[joint] = acceleration), "seed {seed}");
    assert!(!accepts(&|c| c.limits.acceleration.0[joint] = acceleration * 1.001), "seed {seed}");
    let outlasts = |c: &UrConfig| c.link.stale_after.max(c.mode.state_timeout).expect("both are given");
    assert!(accepts(&|c| c.peer.text.hold = outlasts(c)), "seed {seed}");
    assert!(!accepts(&|c| c.peer.text.hold = outlasts(c) - Duration::from_micros(1)), "seed {seed}");
}

impl Plant {
    fn new(
        draw: &mut Draw,
        config: UrConfig,
        software: SoftwareVersion,
        seed: u64,
        worse: Worse,
        sensed: Option<(Mover<6>, Senses)>,
    ) -> Self {
        let leak = |len: usize| -> &'static mut [u8] { Box::leak(vec![0; len].into_boxed_slice()) };
        let memory = Memory { primary: leak(4096), realtime: leak(8192), rtde: None };
        let sources = config.sources.iter().flatten().map(|source| source.id).collect();
        let in_force = config.limits_on(software, Duration::from_micros(software.generation().period_micros()));
        let wild = || Mover::Wild(Wild::new(seed, config.limits.velocity.0, &in_force, sources));
        let (law, senses) = sensed.map_or_else(|| (wild(), None), |(law, senses)| (law, Some(senses)));
        let engine = UrEngine::new(config, law, memory).expect("a configuration that was checked");
        let period = software.generation().period_micros();
        let answered = period + config.link.stream(Duration::from_micros(period)).margin.as_micros();
        // The longest transit time for which an acknowledgement, examined once in a cycle, does not show the delay.
        let both = (answered / period + 1) * period - 1;
        let both = if draw.one_in(2) { both } else { (both as f64 * draw.unit()) as u64 };
        let down = (both as f64 * draw.unit()) as u64;
        let mut up = both - down;
        let late = if draw.one_in(3) { 0 } else { answered };
        if worse == Worse::Latency {
            up += 150_000;
        }
        Self {
            engine,
            senses,
            config,
            software,
            arm: Arm::new(&config, software, period, worse),
            now: 0,
            period,
            next_cycle: 0,
            down,
            up,
            late,
            states: VecDeque::new(),
            texts: VecDeque::new(),
            unacked: VecDeque::new(),
            open: [false; LINKS.len()],
            fault: None,
            sequence: 0,
            worse,
        }
    }

    fn instant(&self) -> Instant {
        Instant::from_micros(self.now + 1_000_000_000)
    }

    fn dead(&self) -> bool {
        self.fault == Some(Fault::Death)
    }

    /// Runs the engine and the plant until after a random fault; the law drives the arm into its limits. Returns
    /// whether the arm moved, and the violation if there was one.
    fn prove(&mut self, draw: &mut Draw) -> (bool, Option<String>) {
        let fault = draw.of(&[
            Fault::Cable,
            Fault::Cable,
            Fault::States,
            Fault::Text,
            Fault::Death,
            Fault::Death,
            Fault::Sensor,
            Fault::Held,
            Fault::Release,
        ]);
        let after = draw.span(0.05, 1.0).as_micros();
        let near = draw.one_in(2).then(|| draw.between(0.4, 1.2));
        let fault = if self.config.sources[0].is_none() && fault == Fault::Sensor { Fault::Cable } else { fault };
        let jitters = draw.one_in(2);
        let in_force = self.config.limits_on(self.software, Duration::from_micros(self.period));
        self.input(Input::Start);
        let mut commanded: Option<u64> = None;
        let (mut struck, mut from, mut moved) = (None, self.arm.q, false);
        let end = 5_000_000;
        while self.now < end {
            let mode = self.engine.mode();
            if mode == Mode::Command {
                commanded.get_or_insert(self.now);
            } else if mode == Mode::Monitor && struck.is_none() && !self.dead() {
                if self.engine.latch().is_some() {
                    self.input(Input::Acknowledge);
                } else if self.engine.unmet(self.instant()).is_empty() {
                    self.input(Input::Request(self.engine.mode_machine().epoch()));
                }
            }
            let due = commanded.is_some_and(|since| {
                self.now - since > after
                    || mode == Mode::Command && near.is_some_and(|share| self.arm.is_near(&in_force, share))
            });
            if due && struck.is_none() {
                struck = Some(self.now);
                from = self.arm.q;
                self.strike(fault);
            }
            let late = if commanded.is_some() && (!jitters || draw.one_in(4)) { self.late } else { 0 };
            self.step(late);
            moved |= self.arm.qd.iter().any(|v| v.abs() > 1e-3);
            if let Err(what) = self.arm.check(&self.config) {
                return (moved, Some(format!("{what}, fault {fault:?} at {struck:?}, now {}", self.now)));
            }
            if let Some(since) = struck {
                let seen = !matches!(fault, Fault::Held);
                if seen && let Some(what) = self.farther(fault, &from) {
                    return (moved, Some(format!("{what}, fault {fault:?} at {since}, now {}", self.now)));
                }
                let longest = if seen { 1_500_000 } else { 400_000 };
                if self.now - since > longest || seen && self.arm.rests() && self.now - since > 400_000 {
                    break;
                }
            }
        }
        (moved, None)
    }

    /// Returns a description of a joint that moved farther after the fault than the configuration's worst-case coasting
    /// distance, if there is one.
    fn farther(&self, fault: Fault, from: &[f64; 6]) -> Option<String> {
        let coast: Coast<6> = match fault {
            Fault::Death => self.config.coast_without_us(self.software)?,
            _ => self.config.worst_coast(self.software),
        };
        let way = self.arm.q.iter().zip(from).map(|(q, from)| (q - from).abs());
        way.zip(coast.joints).enumerate().find_map(|(joint, (way, most))| {
            (way > f64::from(most) + 1e-4).then(|| format!("joint {joint} coasts {way:.4} of {most:.4} rad"))
        })
    }

    fn strike(&mut self, fault: Fault) {
        self.fault = Some(fault);
        match fault {
            Fault::Held => self.arm.held = true,
            Fault::Release => self.input(Input::Release),
            Fault::Cable | Fault::States | Fault::Text | Fault::Death | Fault::Sensor => {}
        }
    }

    /// Advances the plant to its next event.
    fn step(&mut self, late: u64) {
        let deadline = self.engine.poll_timeout().map(|at| at.as_micros().saturating_sub(1_000_000_000));
        let deadline = deadline.filter(|_| !self.dead()).unwrap_or(u64::MAX);
        let arrival = self.states.front().map_or(u64::MAX, |(at, ..)| *at);
        self.now = self.now.max(deadline.min(arrival).min(self.next_cycle));
        if self.now >= self.next_cycle {
            self.cycle(late);
            self.next_cycle += self.period;
        }
        let mut arrived = false;
        while self.states.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, link, bytes)) = self.states.pop_front() else { break };
            if !self.dead() && self.open[link.index()] {
                self.arrive(link, &bytes);
                arrived = true;
            }
        }
        if !arrived && !self.dead() && deadline <= self.now {
            self.input(Input::Tick);
        }
    }

    fn arrive(&mut self, link: LinkId, mut bytes: &[u8]) {
        while self.unacked.front().is_some_and(|(_, at)| *at <= self.now) {
            self.unacked.pop_front();
        }
        let oldest = self.unacked.front().map(|(sent, _)| Duration::from_micros(self.now - sent));
        let (waits, age) = (u32::from(oldest.is_some()) * 50, oldest.unwrap_or(Duration::ZERO));
        self.input(Input::Unacked { link: LinkId::REALTIME, bytes: waits, age });
        if self.config.sources[0].is_some() && self.fault != Some(Fault::Sensor) {
            self.sequence += 1;
            let scalar = SampleValue::scalar((self.sequence % 100) as f32 * 1e-3);
            let value = self.senses.as_mut().map_or(scalar, |senses| senses.read(self.now));
            let sample = Sample { source: SENSOR, value, seq: self.sequence, taken_at: self.instant() };
            self.input(Input::Sample(sample));
        }
        while !bytes.is_empty() {
            let window = self.engine.receive_window(link);
            let count = window.len().min(bytes.len());
            window[..count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            let now = self.instant();
            self.engine.commit(link, count, now, now);
            self.drain();
        }
    }

    fn input(&mut self, input: Input) {
        self.engine.handle(self.instant(), input);
        self.drain();
    }

    fn drain(&mut self) {
        let mut opened = Vec::new();
        while let Some(output) = self.engine.poll_output() {
            match output {
                Output::Open { link, .. } => opened.push(link),
                Output::Abort(link) => self.open[link.index()] = false,
                Output::Listen { .. } => unreachable!("no link of such a controller listens"),
                Output::Transmit { bytes, .. } => {
                    if matches!(self.fault, Some(Fault::Cable | Fault::Text)) {
                        self.unacked.push_back((self.now, u64::MAX));
                    } else {
                        let text = String::from_utf8(bytes.to_vec()).expect("ASCII");
                        self.texts.push_back((self.now + self.up, text));
                        let told = if self.worse == Worse::Latency { 0 } else { self.up + self.down };
                        self.unacked.push_back((self.now, self.now + told));
                    }
                }
            }
        }
        while self.engine.poll_event().is_some() {}
        for link in opened {
            if matches!(self.fault, Some(Fault::Cable | Fault::States | Fault::Text)) {
                continue;
            }
            self.open[link.index()] = true;
            self.input(Input::Opened(link));
            if link == LinkId::PRIMARY {
                let version = self.version();
                self.send(LinkId::PRIMARY, version, 0);
                let state = self.robot_state();
                self.send(LinkId::PRIMARY, state, 0);
            }
        }
    }

    fn send(&mut self, link: LinkId, bytes: Vec<u8>, late: u64) {
        if !matches!(self.fault, Some(Fault::Cable | Fault::States)) {
            let before = self.states.back().map_or(0, |(at, ..)| *at);
            self.states.push_back(((self.now + self.down + late).max(before), link, bytes));
        }
    }

    /// Runs one control cycle: the controller takes up the text that has arrived, moves the arm, and sends its state.
    fn cycle(&mut self, late: u64) {
        while self.texts.front().is_some_and(|(at, _)| *at <= self.now) {
            if let Some((_, text)) = self.texts.pop_front() {
                self.arm.take_up(&text);
            }
        }
        self.arm.cycle();
        if self.open[LinkId::REALTIME.index()] {
            let state = self.state();
            self.send(LinkId::REALTIME, state, late);
        }
        if self.open[LinkId::PRIMARY.index()] && self.now.is_multiple_of(96_000) {
            let state = self.robot_state();
            self.send(LinkId::PRIMARY, state, 0);
        }
    }

    fn state(&self) -> Vec<u8> {
        let repr = realtime::Repr {
            time: 10.0 + self.now as f64 * 1e-6,
            q_actual: self.arm.q,
            q_target: self.arm.q,
            qd_actual: self.arm.qd,
            qd_target: self.arm.target,
            robot_mode: if self.software.major < 3 { 0.0 } else { 7.0 },
            safety_mode: 1.0,
            speed_scaling: 1.0,
            program_state: if self.arm.runs() { 2.0 } else { 1.0 },
            ..realtime::Repr::default()
        };
        let mut bytes = [0; realtime::MAX_SIZE];
        let size = repr.emit(realtime::Repr::size_for(self.software), &mut bytes).expect("a known size");
        bytes[..size].to_vec()
    }

    fn version(&self) -> Vec<u8> {
        let version = primary::Version {
            project_name: primary::Text(b"URControl"),
            major: self.software.major,
            minor: self.software.minor,
            bugfix: 0,
            build_number: self.software.at_least(3, 3).then_some(0),
            build_date: primary::Text(b"01-01-2020, 00:00:00"),
        };
        let payload = primary::RobotMessagePayload::Version(version);
        let mut bytes = [0; 128];
        let size = primary::RobotMessage::emit(u64::MAX, MessageSource::RobotInterface, &payload, &mut bytes);
        bytes[..size.expect("a short message")].to_vec()
    }

    fn robot_state(&self) -> Vec<u8> {
        let cb2 = self.software.major < 3;
        let mode = primary::RobotModeDataRepr {
            timestamp: if cb2 { self.now / 1_000 } else { self.now },
            is_robot_connected: true,
            is_real_robot_enabled: true,
            is_power_on_robot: true,
            is_program_running: self.arm.runs(),
            robot_mode: if cb2 { 0 } else { 7 },
            target_speed_fraction: 1.0,
            speed_fraction: 1.0,
            ..Default::default()
        };
        let mut bytes = [0; 512];
        let mut writer = primary::RobotStateWriter::new(&mut bytes).expect("room for the header");
        let size = |kind| primary::size_for(kind, self.software).expect("sent by every software");
        writer.add(&mode, size(0)).expect("room");
        if cb2 {
            let board = primary::MasterboardDataCb2Repr { master_safety_state: 8, ..Default::default() };
            writer.add(&board, size(3)).expect("room");
        } else {
            let board = primary::MasterboardDataRepr { safety_mode: 1, ..Default::default() };
            writer.add(&board, size(3)).expect("room");
        }
        let size = writer.finish().expect("a whole message");
        bytes[..size].to_vec()
    }
}

//! A plant with a KRC that bridges as long, stops as weakly and has an arm that lags as much as a configuration
//! permits.

use outrigger_tests::fri::{receive, sent};
use std::collections::VecDeque;
use std::net::SocketAddr;

use outrigger_core::command::{Limits, SourceConfig};
use outrigger_core::engine::krc::{Control, JointImpedance, KrcConfig, KrcEngine, ToolImpedance};
use outrigger_core::engine::{Config, Input};
use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_core::link::Grade;
use outrigger_core::mode::Mode;
use outrigger_wire::fri::{Command, MeasurementRepr};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities, Pose};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use super::Run;
use super::draw::{Draw, Mover, Senses, Wild, axes, sensed, senses};
use super::drawn::Drawn;
use super::ways::Keys;

/// The property in which the plant is worse than the configuration permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worse {
    Nothing,
    /// The KRC's own stop is weaker than the configuration states for the arm.
    Stop,
    /// The KRC bridges more missing answers than the configuration states.
    Bridging,
}

impl Worse {
    pub(crate) const EACH: [Self; 2] = [Self::Stop, Self::Bridging];
}

const SENSOR: SourceId = SourceId(1);
const START: [f64; 7] = [0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0];

/// Draws a configuration, with the period and the scale of `friStart` for the run. Some configurations are not
/// sensible.
fn configuration(draw: &mut Draw) -> (KrcConfig, Duration, f32) {
    let period = Duration::from_millis(draw.of(&[1, 2, 4, 5, 10, 20]));
    let scale = if draw.one_in(2) { 1.0 } else { draw.between(0.1, 1.0) as f32 };
    let mut config = KrcConfig::default();
    let arm = config.peer.arm;
    let sensible = !draw.one_in(5);
    let mut drawn = |most: f32| match () {
        () if !sensible => draw.magnitude(0.05, 20.0) as f32,
        () if draw.one_in(2) => most,
        () => (f64::from(most) * draw.magnitude(0.05, 1.0)) as f32,
    };
    config.limits.velocity = JointVelocities(arm.velocity.map(&mut drawn));
    // The arm may be capable of more than a configuration may demand.
    let acceleration = arm.acceleration.map(|most| most.min(Limits::<7>::ACCELERATION.most));
    config.limits.acceleration = JointAccelerations(acceleration.map(&mut drawn));
    config.limits.braking = JointAccelerations(arm.braking.map(&mut drawn));
    config.limits.velocity_margin = draw.unit() as f32;
    config.limits.reaction = draw.span(0.001, 0.1);
    config.limits.longest_step = draw.span(0.001, 0.5);
    config.peer.tracking.joints = draw.one_in(2).then(|| core::array::from_fn(|_| draw.magnitude(0.02, 1.0) as f32));
    if draw.one_in(2) {
        let tool = draw.one_in(3);
        config.peer.control = if tool {
            Control::ToolImpedance(ToolImpedance::default())
        } else {
            Control::JointImpedance(JointImpedance::default())
        };
    }
    config.link.max_misses = draw.one_in(2).then(|| 1 + (draw.unit() * 12.0) as u32);
    config.link.stale_after = Some(period.times(2 + (draw.unit() * 12.0) as u64));
    // The default fits every period that the check examines, and the period of the run.
    if draw.one_in(2) {
        config.link.stale_after = None;
    }
    config.link.entry = Some(Grade::Bad);
    config.link.rise_time = Some(Duration::ZERO);
    config.mode.good_cycles = Some(1 + (draw.unit() * 5.0) as u32);
    config.standstill.window = Duration::from_millis(20);
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
    let wide = draw.magnitude(0.3, 4.0);
    let far = config.worst_coast(period).joints.map(|way| (f64::from(way) * wide).min(1.5) as f32);
    let start = START.map(|q| q as f32);
    config.limits.position_min = JointPositions(core::array::from_fn(|joint| start[joint] - far[joint]));
    config.limits.position_max = JointPositions(core::array::from_fn(|joint| start[joint] + far[joint]));
    (config, period, scale)
}

/// Returns an arm with about the dimensions of an LWR.
fn chain() -> KinematicChain<7> {
    let quarter = core::f64::consts::FRAC_PI_2;
    let alpha = [quarter, -quarter, -quarter, quarter, quarter, -quarter, 0.0];
    let dh = DhParameters::<7>::from_arrays([0.0; 7], [0.0; 7], [0.31, 0.0, 0.4, 0.0, 0.39, 0.0, 0.08], alpha);
    KinematicChain::new(dh.expect("dimensions"), &Pose::default())
}

/// The fault by which a run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Measurements,
    Answers,
    Cable,
    /// Our device ends. The reaction of the KRC is not checked, but the limits of position must hold.
    Death,
    Sensor,
    Held,
    Release,
}

/// The state of the KRC.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Monitor,
    Command,
}

struct Plant {
    session: KrcEngine<'static, Mover<7>>,
    senses: Option<Senses>,
    config: KrcConfig,
    period: Duration,
    scale: f32,
    cycle: u64,
    state: State,
    /// The number of consecutive cycles in which the KRL program received a request to start.
    asked: u32,
    setpoint: [f64; 7],
    /// The joint setpoint of the last command that the KRC received while it followed commands.
    told: Option<[f64; 7]>,
    /// The change of the joint setpoint per cycle \[rad\].
    step: [f64; 7],
    missing: u64,
    bridges: u64,
    brakes: f64,
    q: [f64; 7],
    on_the_way: VecDeque<[f64; 7]>,
    answer: Option<([f32; 7], i32, u16)>,
    /// The last command, with the number of its cycle.
    commanded: Option<(u64, [f64; 7])>,
    fault: Option<Fault>,
    lost: u64,
    reflected: u16,
}

/// Replaces settings of this configuration by random values, as a file with these keys would. Adds the keys to `keys`.
fn draw_keys(config: &mut KrcConfig, seed: u64, keys: &mut Keys) {
    let draw = &mut Draw::new(seed, 13);
    let mut file = Drawn::new(draw);
    let Config { peer, link, mode, standstill, limits, sources, operator } = config;
    let (handshake, superpose) = (peer.handshake, peer.superpose);
    file.section("robot.", |file| {
        peer.read(file);
        match &mut peer.control {
            Control::Position => {}
            Control::JointImpedance(joint) => joint.read(file),
            Control::ToolImpedance(tool) => tool.read(file),
        }
    });
    // The plant's program uses the default handshake, and moves the arm by no motion of its own.
    (peer.handshake, peer.superpose) = (handshake, superpose);
    file.section("limits.", |file| {
        limits.read(file);
        peer.tracking.read(file);
    });
    file.section("session.", |file| {
        mode.read(file);
        link.read(file);
    });
    file.section("standstill.", |file| standstill.read(file));
    file.section("outputs.", |file| peer.outputs.read(file));
    file.section("operator.", |file| operator.read(file));
    // No boolean of the program is wired: a stop input would be open.
    (operator.request_input, operator.acknowledge_input, operator.stop_input) = (None, None, None);
    for source in sources.iter_mut().flatten() {
        file.section("source.", |file| source.read(file));
        source.stuck_after = None;
    }
    if !file.draw().one_in(4) {
        let Limits { velocity, acceleration, braking, .. } = limits;
        let lower =
            |limits: &mut [f32; 7], arm: [f32; 7]| limits.iter_mut().zip(arm).for_each(|(of, arm)| *of = of.min(arm));
        lower(&mut velocity.0, peer.arm.velocity);
        lower(&mut acceleration.0, peer.arm.acceleration);
        lower(&mut braking.0, peer.arm.braking);
    }
    let Drawn { asked, stood, .. } = file;
    keys.asked.extend(asked);
    if config.check().is_ok() {
        keys.stood.extend(stood);
    }
}

/// Runs an engine and the plant with the random configuration of this seed. In every second run with a permitted plant,
/// keys of a random file change it. Returns `None` if the configuration is rejected.
pub(crate) fn run(seed: u64, worse: Worse, keys: &mut Keys) -> Option<Run> {
    let draw = &mut Draw::new(seed, 2);
    let (mut config, period, scale) = configuration(draw);
    if worse == Worse::Nothing && seed % 2 == 1 {
        draw_keys(&mut config, seed, keys);
    }
    // Every fourth run moves axes of the tool by a sensor. A plant that is worse than permitted is only found by a
    // law that demands more.
    let other = &mut Draw::new(seed, 9);
    let by_axes = (other.one_in(4) && worse == Worse::Nothing).then(|| axes(other, SENSOR));
    if by_axes.is_some() {
        config.sources[0] = Some(senses(other, SENSOR));
    }
    let (law, senses) = match by_axes {
        Some(axes) => {
            let (law, senses) = sensed(seed, axes, &chain())?;
            (law, Some(senses))
        }
        None => {
            let fastest = |joint: usize| config.limits.velocity.0[joint].min(config.peer.arm.velocity[joint] * scale);
            let sources = config.sources.iter().flatten().map(|source| source.id).collect();
            (Mover::Wild(Wild::new(seed, core::array::from_fn(fastest), &config.limits, sources)), None)
        }
    };
    let session = KrcEngine::new(config, law, ()).ok()?;
    let misses = config.link.max_misses.unwrap_or(3);
    let lag = config.limits.reaction.as_micros() / period.as_micros();
    let mut plant = Plant {
        session,
        senses,
        config,
        period,
        scale,
        cycle: 0,
        state: State::Monitor,
        asked: 0,
        setpoint: START.map(|q| f64::from(q as f32)),
        told: None,
        step: [0.0; 7],
        missing: 0,
        bridges: u64::from(misses) + if worse == Worse::Bridging { 60 } else { 1 },
        brakes: f64::from(scale) * if worse == Worse::Stop { 0.3 } else { 1.0 },
        q: START.map(|q| f64::from(q as f32)),
        on_the_way: VecDeque::from(vec![START.map(|q| f64::from(q as f32)); lag as usize]),
        answer: None,
        commanded: None,
        fault: None,
        lost: 0,
        reflected: 0,
    };
    let (moved, broken) = plant.prove(draw);
    let about = || format!("scale {scale}, period {period:?}, {:?}, {:?}", config.limits, config.peer.tracking);
    Some(Run { moved, broken: broken.map(|what| format!("{what}; {}", about())) })
}

/// A function that sets a limit in the configuration to the arm's own limit times a factor.
type Change<'a> = &'a dyn Fn(&mut KrcConfig, f32);

/// Checks that configuration values at their bounds are accepted, and values beyond are not.
pub(crate) fn bounds_are_exact(seed: u64) {
    let draw = &mut Draw::new(seed, 2);
    let (config, ..) = configuration(draw);
    if config.check().is_err() {
        return;
    }
    let joint = (draw.unit() * 6.99) as usize;
    let accepts = |change: Change<'_>, factor: f32| {
        let mut config = config;
        change(&mut config, factor);
        config.check().is_ok()
    };
    let changes: [Change<'_>; 3] = [
        &|c, factor| c.limits.velocity.0[joint] = c.peer.arm.velocity[joint] * factor,
        &|c, factor| {
            c.peer.arm.acceleration = [30.0; 7];
            c.limits.acceleration.0 = [10.0; 7];
            c.limits.acceleration.0[joint] = 30.0 * factor;
        },
        &|c, factor| c.limits.braking.0[joint] = c.peer.arm.braking[joint] * factor,
    ];
    for change in changes {
        assert!(accepts(change, 1.0) && !accepts(change, 1.001), "seed {seed}");
    }
}

impl Plant {
    fn now(&self) -> Instant {
        Instant::from_micros(1_000_000_000 + self.cycle * self.period.as_micros())
    }

    /// Runs the engine and the plant until after a random fault; the law drives the arm into its limits. Returns
    /// whether the setpoint moved, and the violation if there was one.
    fn prove(&mut self, draw: &mut Draw) -> (bool, Option<String>) {
        let fault = draw.of(&[
            Fault::Measurements,
            Fault::Answers,
            Fault::Cable,
            Fault::Death,
            Fault::Sensor,
            Fault::Held,
            Fault::Held,
            Fault::Release,
        ]);
        let cycles = |span: Duration| span.as_micros() / self.period.as_micros();
        let after = cycles(draw.span(0.05, 1.5));
        let (settled, end) = (cycles(Duration::from_millis(1_500)), cycles(Duration::from_secs(6)).max(600));
        let fault = if self.config.sources[0].is_none() && fault == Fault::Sensor { Fault::Cable } else { fault };
        let loses = draw.one_in(2);
        let (mut commanding, mut struck, mut moved) = (0, None, false);
        let mut from = (self.setpoint, self.q);
        while self.cycle < end {
            let mode = self.session.mode();
            commanding += u64::from(mode == Mode::Command);
            if mode == Mode::Monitor && struck.is_none() {
                let epoch = self.session.mode_machine().epoch();
                let input = if self.session.latch().is_some() { Input::Acknowledge } else { Input::Request(epoch) };
                self.input(input);
            }
            if commanding >= after && struck.is_none() {
                struck = Some(self.cycle);
                from = (self.setpoint, self.q);
                self.fault = Some(fault);
                if fault == Fault::Release {
                    self.input(Input::Release);
                }
            }
            self.turn(loses && draw.one_in(20), draw);
            moved |= self.step.iter().any(|step| step.abs() > 1e-9);
            let broken = self.check().or_else(|| {
                let coasts = struck.is_some() && !matches!(fault, Fault::Held | Fault::Death);
                if coasts { self.farther(&from) } else { None }
            });
            if let Some(what) = broken {
                return (moved, Some(format!("{what}, fault {fault:?} at {struck:?}, now cycle {}", self.cycle)));
            }
            if struck.is_some_and(|since| self.cycle - since > settled) {
                break;
            }
        }
        (moved, None)
    }

    fn input(&mut self, input: Input) {
        self.session.handle(self.now(), input);
        while self.session.poll_event().is_some() {}
    }

    /// Runs one cycle of the KRC. With `loses`, a series of lost commands begins, no longer than the KRC bridges.
    fn turn(&mut self, loses: bool, draw: &mut Draw) {
        self.cycle += 1;
        self.move_setpoint();
        self.on_the_way.push_back(self.setpoint);
        let at = self.on_the_way.pop_front().unwrap_or(self.setpoint);
        if self.fault != Some(Fault::Held) {
            self.q = at;
        }
        // The number of consecutive losses is at most the number that the KRC bridges.
        if loses && self.lost == 0 {
            self.lost = 1 + (draw.unit() * (self.bridges - 1) as f64) as u64;
        }
        let lost = self.lost > 0;
        self.lost = self.lost.saturating_sub(1);
        let cut = |faults: &[Fault]| self.fault.is_some_and(|fault| faults.contains(&fault));
        self.answer = None;
        if cut(&[Fault::Death]) {
            return;
        }
        let hears = !cut(&[Fault::Measurements, Fault::Cable]) && (!lost || !self.cycle.is_multiple_of(2));
        let heard = !cut(&[Fault::Answers, Fault::Cable]) && !lost;
        if self.config.sources[0].is_some() && self.fault != Some(Fault::Sensor) {
            let (scalar, now) = (SampleValue::scalar((self.cycle % 100) as f32 * 1e-3), self.now().as_micros());
            let value = self.senses.as_mut().map_or(scalar, |senses| senses.read(now));
            let seq = (self.cycle & 0xffff_ffff) as u32;
            self.input(Input::Sample(Sample { source: SENSOR, value, seq, taken_at: self.now() }));
        }
        if !hears {
            self.input(Input::Tick);
            return;
        }
        let mut bytes = [0; 916];
        self.measurement().emit(&mut bytes).expect("room");
        let from: SocketAddr = "192.0.2.1:49938".parse().expect("an address");
        let now = self.now();
        receive(&mut self.session, from, &bytes, now);
        self.input(Input::Tick);
        let sent = sent(&mut self.session).map(|bytes| {
            let command = Command::new_checked(&bytes).expect("a command");
            (command.jnt_pos(), command.krl().ints[1], command.send_seq_count())
        });
        self.answer = sent.filter(|_| heard);
    }

    fn measurement(&self) -> MeasurementRepr {
        let command = self.state == State::Command;
        MeasurementRepr {
            send_seq_count: (self.cycle & 0xffff) as u16,
            refl_seq_count: self.reflected,
            state: if command { 2 } else { 1 },
            quality: 3,
            power: 0x7f,
            control: if self.config.peer.control == Control::Position { 1 } else { 3 },
            desired_cmd_sample_time: self.period.as_secs_f32(),
            safety_limits: self.scale,
            msr_jnt_pos: self.q.map(|q| q as f32),
            cmd_jnt_pos: self.setpoint.map(|q| q as f32),
            ..MeasurementRepr::default()
        }
    }

    /// Moves the setpoint by the answer of this cycle, or as the KRC does without an answer.
    fn move_setpoint(&mut self) {
        let before = self.setpoint;
        match (self.state, self.answer) {
            (State::Command, Some((positions, start, counter))) => {
                self.reflected = counter;
                // A missing answer is bridged by the motion between the last two.
                let between = (self.missing + 1) as f64;
                self.missing = 0;
                self.setpoint = positions.map(f64::from);
                let last = self.told.unwrap_or(before);
                self.step = core::array::from_fn(|joint| (self.setpoint[joint] - last[joint]) / between);
                self.told = Some(self.setpoint);
                if start == 0 {
                    self.state = State::Monitor;
                }
            }
            (State::Command, None) if self.missing < self.bridges => {
                self.missing += 1;
                self.setpoint = core::array::from_fn(|joint| before[joint] + self.step[joint]);
            }
            (State::Command, None) => {
                self.state = State::Monitor;
                self.stop();
            }
            (State::Monitor, answer) => {
                self.stop();
                if let Some((_, start, counter)) = answer {
                    self.reflected = counter;
                    self.asked = if start == 1 { self.asked + 1 } else { 0 };
                    if self.asked > 4 && self.step == [0.0; 7] {
                        (self.state, self.asked, self.missing, self.told) = (State::Command, 0, 0, None);
                    }
                }
            }
        }
    }

    /// Moves the setpoint by the KRC's own stop.
    fn stop(&mut self) {
        let seconds = f64::from(self.period.as_secs_f32());
        for joint in 0..7 {
            let change = self.brakes * f64::from(self.config.peer.arm.braking[joint]) * seconds * seconds;
            let step = self.step[joint];
            self.step[joint] = if step.abs() <= change { 0.0 } else { step - change.copysign(step) };
            self.setpoint[joint] += self.step[joint];
        }
    }

    /// Returns a description of the limit that is violated at present, if there is one.
    fn check(&mut self) -> Option<String> {
        let (limits, arm) = (self.config.limits, self.config.peer.arm);
        let tracking = self.config.peer.tracking.joints_in(&self.config.peer.control);
        let bridged = f64::from(self.period.as_secs_f32()) * (self.config.link.max_misses.unwrap_or(3) as f64 + 3.0);
        for joint in 0..7 {
            let (at, min, max) = (self.setpoint[joint], limits.position_min.0[joint], limits.position_max.0[joint]);
            if at < f64::from(min) - 1e-5 || at > f64::from(max) + 1e-5 {
                return Some(format!("the setpoint of joint {joint} is {at:.6} outside {min:.6} to {max:.6} rad"));
            }
            let fastest = f64::from(limits.velocity.0[joint].min(arm.velocity[joint] * self.scale));
            let brakes = f64::from(arm.braking[joint]) * self.brakes;
            let most = f64::from(tracking[joint]) + fastest * bridged + fastest * fastest / (2.0 * brakes);
            let ahead = (at - self.q[joint]).abs();
            if ahead > most + 1e-4 {
                return Some(format!("the setpoint of joint {joint} is {ahead:.4} of {most:.4} rad ahead"));
            }
            if let (Some((positions, ..)), Some((cycle, before))) = (self.answer, self.commanded) {
                let seconds = f64::from(self.period.as_secs_f32()) * (self.cycle - cycle) as f64;
                let way = (f64::from(positions[joint]) - before[joint]).abs();
                if self.state == State::Command && way > fastest * seconds + 1e-5 {
                    return Some(format!("joint {joint} is commanded {} of {fastest} rad/s", way / seconds));
                }
            }
        }
        if let Some((positions, ..)) = self.answer {
            self.commanded = Some((self.cycle, positions.map(f64::from)));
        }
        None
    }

    /// Returns a description of a joint that moved farther after the fault than the configuration's worst-case coasting
    /// distance, if there is one.
    fn farther(&self, (setpoint, q): &([f64; 7], [f64; 7])) -> Option<String> {
        let coast = self.config.worst_coast(self.period);
        (0..7).find_map(|joint| {
            let way = (self.setpoint[joint] - setpoint[joint]).abs().max((self.q[joint] - q[joint]).abs());
            let most = f64::from(coast.joints[joint]);
            (way > most + 1e-4).then(|| format!("joint {joint} coasts {way:.4} of {most:.4} rad"))
        })
    }
}

//! All channels by which motion commands reach a controller of Universal Robots: the program text that is sent runs
//! in the interpreter, the network delays, loses and repeats, and the drives and stops are as weak as the
//! configuration permits.
//!
//! A configuration is drawn as if it were read from a file ([`Drawn`]): every declared key is drawn. Other fields are
//! drawn here, and each structure is destructured, so that a new field does not compile until it is handled.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration as Span;

use outrigger_core::command::{Limits, SourceConfig};
use outrigger_core::engine::ur::{StatesFrom, TextConfig, UrConfig, UrOptions};
use outrigger_core::engine::{Config, Input};
use outrigger_core::law::{
    AnyLaw, CartesianTwist, CartesianTwistConfig, JointServo, JointServoConfig, Reference, SensorFeedForward, Standoff,
    StandoffConfig, ToolAxes, TwistFrame, TwistInput,
};
use outrigger_core::mode::{Mode, PendantStop};
use outrigger_sim::arm::Drive;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::fault::FaultKind;
use outrigger_tests::cosim::{Buffers, CrashPoint, Read, Rig, SENSOR, Sensor, Setup, Way, core_time};
use outrigger_wire::robot::{JointPositions, SoftwareVersion};
use outrigger_wire::sensor::SampleValue;
use outrigger_wire::time::Duration;

use super::draw::{Draw, axes};
use super::drawn::Drawn;
use super::torques;

/// The software of each generation, and versions between which the behaviour changes.
const SOFTWARE: [SoftwareVersion; 9] = [
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 0),
    SoftwareVersion::new(3, 1),
    SoftwareVersion::new(3, 2),
    SoftwareVersion::new(3, 4),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 1),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(10, 11),
];
/// The factor by which a speed or an acceleration may exceed its limit, for the rounding of numbers in commands and the
/// filter of `servoj`.
const OVER: f64 = 1.02;
/// The speed that the checks take for zero, as it may be an error of rounding \[rad/s\].
const NOTHING: f64 = 2e-3;

/// The worst values of a run, each as a fraction of the permitted value except `beyond`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worst {
    pub(crate) speed: f64,
    pub(crate) acceleration: f64,
    /// The distance beyond a limit of position \[rad\]; negative within.
    pub(crate) beyond: f64,
    pub(crate) stopping: f64,
}

impl Worst {
    pub(crate) const NOTHING: Self = Self { speed: 0.0, acceleration: 0.0, beyond: f64::NEG_INFINITY, stopping: 0.0 };

    /// Returns the worse of both values in each property.
    pub(crate) fn worse_of(self, other: Self) -> Self {
        Self {
            speed: self.speed.max(other.speed),
            acceleration: self.acceleration.max(other.acceleration),
            beyond: self.beyond.max(other.beyond),
            stopping: self.stopping.max(other.stopping),
        }
    }
}

/// The result of the run of one configuration.
#[derive(Debug)]
pub(crate) struct Swept {
    pub(crate) moved: bool,
    pub(crate) worst: Worst,
    pub(crate) broken: Option<String>,
}

/// The configuration keys that were read; `stood` has those that were present in an accepted configuration.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) asked: BTreeSet<String>,
    pub(crate) stood: BTreeSet<String>,
}

impl Keys {
    pub(crate) fn extend(&mut self, other: Self) {
        self.asked.extend(other.asked);
        self.stood.extend(other.stood);
    }
}

/// A configuration, the controller's software, and the law that moves the arm.
struct Case {
    config: UrConfig,
    software: SoftwareVersion,
    law: AnyLaw<6>,
    sensor: Sensor,
    by_rtde: bool,
}

/// Draws a configuration, its software and its law for this command path. Returns `None` if it is rejected.
fn case(way: Way, draw: &mut Draw, keys: &mut Keys) -> Option<Case> {
    let fits: Vec<_> = SOFTWARE.into_iter().filter(|software| way.fits(*software)).collect();
    let software = draw.of(&fits);
    let mut config = UrConfig::default();
    let mut file = Drawn::new(draw);
    let Config { peer, link, mode, standstill, limits, sources, operator } = &mut config;
    let UrOptions {
        connect,
        software: told,
        model,
        tcp: _,
        path: _,
        program,
        buffered,
        torque,
        text,
        outputs,
        force: _,
    } = peer;
    file.section("session.", |file| {
        text.read(file);
        mode.read(file);
        link.read(file);
    });
    file.section("program.", |file| {
        program.read(file);
        buffered.read(file);
    });
    file.section("connect.", |file| connect.read(file));
    file.section("standstill.", |file| standstill.read(file));
    file.section("limits.", |file| limits.read(file));
    if way.path.is_torques() {
        file.section("limits.", |file| torque.read(file));
        // No arm is capable of more.
        torque.torque = torque.torque.zip_with(&torques::STRONGEST, |torque, most| torque.min(*most));
    }
    file.section("outputs.", |file| outputs.read(file));
    file.section("operator.", |file| operator.read(file));
    // Without this, nothing would move if a stop at the pendant cannot be seen.
    mode.pendant.stop = PendantStop::Overridden;
    // No input of the robot is wired here: a stop input would be open.
    (operator.request_input, operator.acknowledge_input, operator.stop_input) = (None, None, None);
    *told = file.draw().one_in(2).then_some(software);
    *model = Some(Options::for_software(software).model);
    let mut judged = SourceConfig::new(SENSOR, 6, -1e6, 1e6);
    file.section("source.", |file| judged.read(file));
    // Random readings may legitimately repeat.
    judged.stuck_after = None;
    sources[0] = Some(judged);
    let (law, sensor) =
        if way.path.is_torques() { torques::pushes(&mut file, limits)? } else { law(&mut file, limits)? };
    let Drawn { asked, stood, .. } = file;
    // The permitted value of one setting mostly follows from others. Without this adjustment the check may reject the
    // configuration.
    if !draw.one_in(4) {
        let text = &mut config.peer.text;
        let stop = text.stop_acceleration.min(text.own_stop);
        let Limits { acceleration, braking, .. } = &mut config.limits;
        braking.0 = braking.0.map(|most| most.min(stop));
        acceleration.0 = acceleration.0.map(|most| most.min(text.acceleration));
        let period = Duration::from_micros(software.generation().period_micros());
        let stale = config.link.stream(period).stale_after.max(config.mode.of(period).state_timeout);
        text.hold = text.hold.max(stale).min(TextConfig::HOLD.most);
    }
    // Places the limits about as far from the arm as it needs to stop.
    if draw.one_in(2) {
        let start = Setup::new(software).controller.q;
        // An arm that is moved by torques must get that far.
        let wide = if way.path.is_torques() { draw.between(1.0, 2.5) } else { draw.magnitude(0.3, 4.0) };
        let far = config.worst_coast(software).joints.map(|way| f64::from(way) * wide);
        let limit = |side: f64| std::array::from_fn(|joint| (start[joint] + side * far[joint]) as f32);
        (config.limits.position_min, config.limits.position_max) =
            (JointPositions(limit(-1.0)), JointPositions(limit(1.0)));
    }
    way.choose(&mut config);
    keys.asked.extend(asked);
    config.check().ok()?;
    // A text that never ends is the subject of another test, and the check reports it.
    config.coast_without_us(software)?;
    keys.stood.extend(stood);
    // The rig has memory for RTDE if the states have to be received over it.
    let needed = way.is_in_registers() || config.peer.connect.states == StatesFrom::Rtde;
    let by_rtde = needed || !draw.one_in(3);
    Some(Case { config, software, law, sensor, by_rtde })
}

/// Draws a law, and a sensor that mostly demands too much.
fn law(file: &mut Drawn<'_>, limits: &Limits<6>) -> Option<(AnyLaw<6>, Sensor)> {
    let which = file.draw().of(&[0, 0, 0, 1, 2, 3, 4]);
    let fastest = limits.velocity.0.map(f64::from);
    let period = file.draw().span(0.001, 0.05);
    let readings = Rc::new(RefCell::new(Readings::new(file.draw())));
    let (law, read): (AnyLaw<6>, Read) = match which {
        // The speeds of the joints, without feedback or with it.
        0 | 1 => {
            let mut config = JointServoConfig {
                proportional: 0.0,
                derivative: 0.0,
                path_tolerance: 6.0,
                sensor: Some(SensorFeedForward { source: SENSOR, gain: 1.0 }),
                ..JointServoConfig::default()
            };
            if which == 1 {
                config = JointServoConfig { path_tolerance: 1.0, sensor: config.sensor, ..JointServoConfig::default() };
                file.section("servo.", |file| config.read(file));
            }
            config.check().ok()?;
            // A demand above the limit of a joint ends commanding.
            let most = if file.draw().one_in(12) { 1.3 } else { 0.9999 };
            let law = AnyLaw::JointServo(JointServo::new(Reference::Hold, config));
            let read = move |controller: &Controller| {
                let shares = readings.borrow_mut().at(controller);
                let speeds: [f32; 6] = std::array::from_fn(|joint| (most * shares[joint] * fastest[joint]) as f32);
                SampleValue::new(&speeds)
            };
            (law, Box::new(read))
        }
        2 => {
            let frame = file.draw().of(&[TwistFrame::Base, TwistFrame::Tool]);
            let mut config = CartesianTwistConfig::new(frame, TwistInput::Source(SENSOR));
            file.section("twist.", |file| config.read(file));
            config.check().ok()?;
            let law = AnyLaw::CartesianTwist(CartesianTwist::new(config));
            let read = move |controller: &Controller| {
                SampleValue::new(&readings.borrow_mut().at(controller).map(|share| share as f32))
            };
            (law, Box::new(read))
        }
        3 => {
            let mut config = StandoffConfig::new(SENSOR, 0.1);
            file.section("standoff.", |file| config.read(file));
            config.check().ok()?;
            let law = AnyLaw::Standoff(Standoff::new(config));
            let read = move |controller: &Controller| {
                let share = readings.borrow_mut().at(controller)[0];
                SampleValue::new(&[(0.1 + 0.08 * share) as f32, 0.0, 0.0, 0.0, 0.0, 0.0])
            };
            (law, Box::new(read))
        }
        _ => {
            let config = axes(file.draw(), SENSOR);
            config.check().ok()?;
            let aims = config.axes.map(|axis| axis.map_or((0.0, 0.0), |axis| (axis.target, axis.slope)));
            let law = AnyLaw::ToolAxes(ToolAxes::new(config));
            let read = move |controller: &Controller| {
                let shares = readings.borrow_mut().at(controller);
                let numbers: [f32; 6] =
                    std::array::from_fn(|axis| aims[axis].0 - aims[axis].1 * 0.1 * shares[axis] as f32);
                SampleValue::new(&numbers)
            };
            (law, Box::new(read))
        }
    };
    Some((law, Sensor { id: SENSOR, period: Span::from_micros(period.as_micros()), read }))
}

/// Six numbers from -1 to 1 that change at random moments and mostly keep their sign.
pub(super) struct Readings {
    draw: Draw,
    shares: [f64; 6],
    side: f64,
    until: u64,
}

impl Readings {
    pub(super) fn new(draw: &mut Draw) -> Self {
        Self { draw: draw.another(), shares: [0.0; 6], side: 1.0, until: 0 }
    }

    pub(super) fn at(&mut self, controller: &Controller) -> [f64; 6] {
        let now = controller.now().as_micros();
        if now >= self.until {
            self.until = now + (self.draw.magnitude(0.005, 0.8) * 1e6) as u64;
            if self.draw.one_in(6) {
                self.side = -self.side;
            }
            for share in &mut self.shares {
                *share = self.side * if self.draw.one_in(2) { 1.0 } else { self.draw.unit() };
            }
        }
        self.shares
    }
}

/// Returns the set-up of a run with a controller that is as late and as weak as the configuration permits, and whether
/// the driver has memory for RTDE.
fn plant(case: Case, draw: &mut Draw) -> (Setup, bool) {
    let Case { config, software, law, sensor, by_rtde } = case;
    let mut setup = Setup::new(software);
    let period = software.generation().period_micros();
    let own = f64::from(config.peer.text.own_stop);
    let options = &mut setup.controller;
    (options.end_deceleration, options.fixed_stop_deceleration, options.stop_deceleration) = (own, own, own);
    let cycles = config.limits.reaction.as_micros() / period;
    options.drive = Drive { latency_cycles: cycles.saturating_sub(1) as usize, ..Drive::IDEAL };
    setup.latency = Span::from_micros(draw.of(&[50, 100, 500]));
    (setup.config, setup.law, setup.sensors) = (config, law, vec![sensor]);
    (setup, by_rtde)
}

/// A cause for the end of commanding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Strike {
    Cable,
    Death,
    Reset,
    Sensors,
    Release,
}

/// Injects a random disturbance of the network or of the host.
fn harass(rig: &mut Rig<'_>, draw: &mut Draw) {
    let span = |draw: &mut Draw, most: f64| Span::from_micros((draw.magnitude(1e-3, most) * 1e6) as u64);
    match draw.of(&[0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]) {
        0 => rig.fault(FaultKind::Stall, Some(span(draw, 0.08))),
        1 => rig.fault(FaultKind::Delay(span(draw, 0.04)), Some(span(draw, 0.3))),
        2 => rig.fault(FaultKind::Jitter(span(draw, 0.03)), Some(span(draw, 0.3))),
        3 => rig.fault(FaultKind::Backlog(span(draw, 0.06)), Some(span(draw, 0.1))),
        4 => rig.fault(FaultKind::Loss(0.1), Some(span(draw, 0.3))),
        5 => rig.fault(FaultKind::QuickLoss(0.2), Some(span(draw, 0.3))),
        6 => rig.fault(FaultKind::Repeat(2), Some(span(draw, 0.3))),
        7 => rig.fault(FaultKind::Skip(3), Some(span(draw, 0.3))),
        _ => {
            let lasting = span(draw, 0.06);
            rig.pause_host(lasting);
        }
    }
}

/// Commands for this long. Acknowledges and requests again whenever commanding has ended and may begin.
fn live(rig: &mut Rig<'_>, lasting: Span) {
    let end = rig.now() + lasting;
    while rig.now() < end {
        if rig.is_awake() && rig.engine().mode() == Mode::Monitor {
            if rig.engine().latch().is_some() {
                rig.input(Input::Acknowledge);
            } else if rig.engine().unmet(core_time(rig.now())).is_empty() {
                rig.request();
            }
        }
        rig.run_for(Span::from_millis(20).min(end.since(rig.now())));
    }
}

/// Runs a controller on this command path with the random configuration of this seed. Returns `None` if the
/// configuration is rejected.
pub(crate) fn run(way: Way, seed: u64, keys: &mut Keys) -> Option<Swept> {
    let place = Way::ALL.iter().position(|one| *one == way).unwrap_or(Way::ALL.len());
    let draw = &mut Draw::new(seed, 21 + place as u64);
    let case = case(way, draw, keys)?;
    let (config, software) = (case.config, case.software);
    let told = format!("{software}, {:?}, {:?}, {:?}", config.peer.text, config.peer.program, config.limits);
    let (setup, by_rtde) = plant(case, draw);
    let lived = catch_unwind(AssertUnwindSafe(|| {
        let mut buffers = if by_rtde { Buffers::with_rtde() } else { Buffers::default() };
        let mut rig = Rig::new(setup, &mut buffers);
        rig.run_until(Span::from_secs(8), |rig| rig.engine().unmet(core_time(rig.now())).is_empty());
        live(&mut rig, Span::from_millis(20));
        rig.run_until(Span::from_secs(4), |rig| rig.engine().mode() != Mode::Arming);
        live(&mut rig, Span::from_millis(400));
        for _ in 0..draw.of(&[1, 2, 4, 8]) {
            if draw.one_in(2) {
                harass(&mut rig, draw);
            }
            live(&mut rig, Span::from_micros((draw.magnitude(0.05, 0.6) * 1e6) as u64));
        }
        let commanded = rig.engine().mode() == Mode::Command;
        let strike = draw.of(&[Strike::Cable, Strike::Death, Strike::Reset, Strike::Sensors, Strike::Release]);
        let (at, from) = (rig.now(), rig.controller.truth().q);
        if rig.is_awake() {
            match strike {
                Strike::Cable => rig.cut_cable(None),
                Strike::Death => rig.kill(CrashPoint::Silent),
                Strike::Reset => rig.kill(CrashPoint::Reset),
                Strike::Sensors => rig.kill_sensors(),
                Strike::Release => rig.input(Input::Release),
            }
        }
        rig.run_for(Span::from_millis(1_500));
        if way.path.is_torques() {
            // A gentle stop from a high speed takes longer.
            let speed = rig.controller.truth().qd.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
            rig.run_for(Span::from_secs_f64(speed / f64::from(config.peer.text.stop_acceleration)));
            let struck = commanded.then_some((strike, at));
            return (torques::judge(&rig, &config, software, struck), None, [0.0; 6]);
        }
        (judge(&rig, &config, software), commanded.then_some((strike, at, from)), farthest(&rig, at, from))
    }));
    Some(match lived {
        Err(panic) => {
            let what = panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".into());
            Swept { moved: true, worst: Worst::NOTHING, broken: Some(format!("{what}; {told}")) }
        }
        Ok(((moved, mut worst, mut broken), struck, ways)) => {
            if let Some((strike, at, _)) = struck {
                let coast = match strike {
                    Strike::Death | Strike::Reset => config.coast_without_us(software)?,
                    _ => config.worst_coast(software),
                };
                for (joint, (way, most)) in ways.into_iter().zip(coast.joints).enumerate() {
                    worst.stopping = worst.stopping.max((way - 1e-3).max(0.0) / f64::from(most));
                    if way > f64::from(most) + 1e-3 {
                        broken.get_or_insert(format!(
                            "joint {joint} coasts {way:.4} of {most:.4} rad after {strike:?} at {at}"
                        ));
                    }
                }
            }
            Swept { moved, worst, broken: broken.map(|what| format!("{what}; {told}")) }
        }
    })
}

/// Returns the largest distance of each joint from the position `from` after the time `since` \[rad\].
fn farthest(rig: &Rig<'_>, since: outrigger_sim::time::SimTime, from: [f64; 6]) -> [f64; 6] {
    let after = rig.record().motion.iter().filter(|motion| motion.at >= since);
    after.fold([0.0; 6], |most, motion| {
        std::array::from_fn(|joint| f64::max(most[joint], (motion.q[joint] - from[joint]).abs()))
    })
}

/// Checks the recorded motion of a run. Returns whether the arm moved, its worst values, and the first violation.
fn judge(rig: &Rig<'_>, config: &UrConfig, software: SoftwareVersion) -> (bool, Worst, Option<String>) {
    let Limits { velocity, acceleration, braking, position_min, position_max, .. } = &config.limits;
    let (mut worst, mut broken) = (Worst::NOTHING, None);
    let text = &config.peer.text;
    let period = software.generation().period_micros() as f64 * 1e-6;
    let stops = [text.acceleration, text.stop_acceleration, text.own_stop];
    let steepest = acceleration.iter().chain(braking.iter()).chain(stops).fold(0.0, f32::max);
    let motion = &rig.record().motion;
    let start = motion.first().map_or([0.0; 6], |motion| motion.q);
    for pair in motion.windows(2) {
        let [before, now] = pair else { continue };
        for (joint, start) in start.iter().enumerate() {
            let (v, limit) = (now.qd_target[joint].abs(), f64::from(velocity.0[joint]));
            worst.speed = worst.speed.max((v - NOTHING).max(0.0) / limit);
            if v > limit * OVER + NOTHING {
                broken.get_or_insert(format!("joint {joint} goes {v:.4} of {limit:.4} rad/s at {}", now.at));
            }
            let a = (now.qd_target[joint] - before.qd_target[joint]).abs() / period;
            worst.acceleration = worst.acceleration.max((a - NOTHING / period).max(0.0) / f64::from(steepest));
            if a > f64::from(steepest) * OVER + NOTHING / period {
                broken.get_or_insert(format!(
                    "joint {joint} is accelerated by {a:.3} of {steepest:.3} rad/s² at {}",
                    now.at
                ));
            }
            let (low, high) = (f64::from(position_min.0[joint]), f64::from(position_max.0[joint]));
            if (low..=high).contains(start) {
                let beyond = (low - now.q[joint]).max(now.q[joint] - high);
                worst.beyond = worst.beyond.max(beyond);
                if beyond > 1e-3 {
                    broken.get_or_insert(format!("joint {joint} is {beyond:.5} rad outside at {}", now.at));
                }
            }
        }
    }
    let moved = motion.iter().any(|motion| motion.speed() > 1e-3);
    (moved, worst, broken)
}

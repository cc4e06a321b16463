//! Outrigger's own engine, on each of its command paths.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use outrigger_core::command::{JointMove, SourceConfig};
use outrigger_core::engine::ur::CommandPath;
use outrigger_core::law::{AnyLaw, JointServo, JointServoConfig, Reference, SensorFeedForward};
use outrigger_core::mode::Mode;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_sim::controller::{Action, Controller};
use outrigger_sim::rng::Rng;
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::sensor::SampleValue;
use outrigger_wire::time as core;

use super::clients::SLIDER;
use super::course::{Course, Sample, Wanted};
use super::mechanism::{Mechanisms, QUICK_ACK};
use crate::cosim::{Buffers, Motion, Rig, SENSOR, Sensor, Setup};

/// The task of the engine: path, motion and controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The software version of the controller.
    pub software: SoftwareVersion,
    /// The path by which the engine sends its commands.
    pub path: CommandPath,
    /// `true` if the measured joint is fed back: P = 20 /s, D = 0.1.
    pub feedback: bool,
    /// `true` if the operator moves the speed slider during the motion.
    pub slides: bool,
    /// The reference motion of the joint.
    pub wanted: Wanted,
}

/// The joint that moves to and fro.
const SHOULDER: usize = 1;

/// Executes one run of the engine. Returns the course of the arm.
///
/// # Panics
/// If commanding ends before the motion does and the controller has not stopped the arm by itself.
pub(super) fn run(task: Task, mechanisms: Mechanisms, seed: u64) -> Course {
    let begun = Rc::new(Cell::new(None));
    let mut setup = match task.wanted {
        _ if task.path == CommandPath::Player => played(&task),
        Wanted::ThereAndBack | Wanted::There => there(&task),
        Wanted::Place => unreachable!("only the player has such a move"),
        Wanted::ToAndFro(_) => to_and_fro(&task, Rc::clone(&begun)),
    };
    setup.config.peer.path = task.path;
    setup.controller = mechanisms.controller(task.software, seed, QUICK_ACK);
    setup.latency = mechanisms.latency();
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    if task.path == CommandPath::Player {
        // The first move waits until the arm has been at rest for a while; a move after it is delegated at once.
        delegate(&mut rig, 0.02);
        // A random time, so that the start is not in step with the control cycles.
        rig.run_for(Duration::from_millis(1_500) + Duration::from_micros(Rng::new(seed, 77).up_to(16_000)));
        match task.wanted {
            Wanted::Place => delegate(&mut rig, task.wanted.at(task.wanted.length())),
            wanted => lead(&mut rig, wanted),
        }
    }
    begun.set(Some(rig.now()));
    let mut ends = task.wanted.length() + 1.5;
    if task.slides {
        let start = rig.now();
        for (after, slider) in SLIDER {
            rig.run_for((start + after).since(rig.now()));
            rig.controller.act(Action::Slider(slider));
        }
        ends += 2.0;
    }
    rig.run_for(Duration::from_secs_f64(ends));
    // Without its filter, `servoj` can demand more than the joint is able to do.
    let stopped = !rig.controller.robot().may_move();
    assert!(stopped || rig.engine().mode() == Mode::Command, "{task:?}\n{}", rig.record().story());
    course(&rig, &task, begun.get())
}

/// Returns the set-up in which the law follows the reference motion of the task, with or without the way back.
fn there(task: &Task) -> Setup {
    let mut config = JointServoConfig { path_tolerance: 2.0, ..JointServoConfig::default() };
    if !task.feedback {
        (config.proportional, config.derivative) = (0.0, 0.0);
    }
    let at = |t: f64| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([task.wanted.at(t) as f32, 0.0, 0.0, 0.0, 0.0, 0.0]),
            velocities: JointVelocities::ZERO,
        },
        accelerations: None,
        at: core::Duration::from_micros((t * 1e6) as u64),
    };
    let end = task.wanted.length();
    let waypoints = [at(0.0), at(end / 2.0), at(end)];
    let waypoints = if task.wanted == Wanted::There { vec![at(0.0), at(end)] } else { waypoints.to_vec() };
    let trajectory = Trajectory::through(&waypoints).expect("a motion");
    Setup::servo(task.software, trajectory, config)
}

/// Delegates a move of the base joint by `way` \[rad\] to the player, Outrigger's program that executes whole moves.
fn delegate(rig: &mut Rig<'_>, way: f64) {
    let mut to = rig.controller.truth().q;
    to[0] += way;
    let (speed, acceleration) = (Wanted::SPEED as f32, Wanted::ACCELERATION as f32);
    let asked = JointMove::new(JointPositions(to.map(|q| q as f32)), speed, acceleration).expect("a move");
    rig.delegate(asked).expect("nothing speaks against it");
}

/// Returns the set-up for the player program. The motion is delegated to it later; until then the arm is held still.
fn played(task: &Task) -> Setup {
    let mut setup = there(&Task { wanted: Wanted::There, ..*task });
    setup.law = Setup::new(task.software).law;
    setup
}

/// Delegates a motion to the player program by its waypoints; the program computes each cubic by itself.
fn lead(rig: &mut Rig<'_>, wanted: Wanted) {
    let from = rig.controller.truth().q;
    let joints =
        |way: f64| JointPositions([from[0] + way, from[1], from[2], from[3], from[4], from[5]].map(|q| q as f32));
    rig.delegate(JointMove::along(joints(0.0), 2.5).expect("a move")).expect("nothing speaks against it");
    let halves = [wanted.length() / 2.0, wanted.length()];
    for t in halves {
        let setpoint = Setpoint { positions: joints(wanted.at(t)), velocities: JointVelocities::ZERO };
        let at = core::Duration::from_micros((t * 1e6) as u64);
        let waypoint = Waypoint { setpoint, accelerations: None, at };
        rig.lead_on(&waypoint, t == wanted.length()).expect("room for both");
    }
}

/// Returns the set-up in which a sensor commands the speed of the shoulder.
fn to_and_fro(task: &Task, begun: Rc<Cell<Option<SimTime>>>) -> Setup {
    let mut setup = Setup::new(task.software);
    let config = JointServoConfig {
        proportional: 0.0,
        derivative: 0.0,
        path_tolerance: 6.0,
        sensor: Some(SensorFeedForward { source: SENSOR, gain: 1.0 }),
        ..JointServoConfig::default()
    };
    setup.law = AnyLaw::JointServo(JointServo::new(Reference::Hold, config));
    setup.config.sources[0] = Some(SourceConfig { stuck_after: None, ..SourceConfig::new(SENSOR, 6, -2.0, 2.0) });
    let wanted = task.wanted;
    let read = Box::new(move |controller: &Controller| {
        let speed = begun.get().map_or(0.0, |begun| wanted.speed(controller.now().since(begun).as_secs_f64()));
        let mut speeds = [0.0; 6];
        speeds[SHOULDER] = speed as f32;
        SampleValue::new(&speeds)
    });
    setup.sensors = vec![Sensor { id: SENSOR, period: Duration::from_millis(2), read }];
    setup
}

/// Returns the course of the joint. Time zero is when the state was published that the first command of the motion
/// answers.
fn course(rig: &Rig<'_>, task: &Task, begun: Option<SimTime>) -> Course {
    let record = rig.record();
    let (joint, start) = match task.wanted {
        _ if task.path == CommandPath::Player => (0, begun.unwrap_or_default()),
        Wanted::ThereAndBack | Wanted::There => {
            let first = record.commands.iter().find(|command| command.mode == Mode::Command).expect("a command");
            (0, SimTime::from_micros(first.at.as_micros() - first.state_age.as_micros() as u64))
        }
        Wanted::Place | Wanted::ToAndFro(_) => (SHOULDER, begun.unwrap_or_default()),
    };
    let from = record.motion_at(start).expect("a cycle before").q[joint];
    let mut own = 0.0;
    let mut before = start;
    let sample = |motion: &Motion| {
        let t = motion.at.as_secs_f64() - start.as_secs_f64();
        if motion.at > start {
            own += motion.at.since(before.max(start)).as_secs_f64() * motion.scaling;
        }
        before = motion.at;
        let (qd, target) = (motion.qd[joint], motion.qd_target[joint]);
        Sample { t, own: if t < 0.0 { t } else { own }, q: motion.q[joint] - from, qd, target, scaling: motion.scaling }
    };
    // One second before the beginning is enough to see that the arm is at rest.
    let since = SimTime::from_micros(start.as_micros().saturating_sub(1_000_000));
    let samples = record.motion.iter().filter(|motion| motion.at >= since).map(sample).collect();
    Course { wanted: task.wanted, samples, stopped: !rig.controller.robot().may_move() }
}

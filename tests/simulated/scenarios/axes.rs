//! Axes of the tool, each moved by a sensor of its own, as in `port-linux/cli/examples/axes.toml`.

use std::cell::Cell;
use std::rc::Rc;

use outrigger_config::Configuration;
use outrigger_core::law::AnyLaw;
use outrigger_core::mode::{Mode, PendantStop};
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Controller;
use outrigger_sim::kinematics::{Frame, Vec3};
use outrigger_sim::simulated_workpiece::{DistanceSensor, Surface};
use outrigger_tests::cosim::{Buffers, Read, Rig, Sensor, Setup};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::sensor::{SampleValue, SourceId};

use super::{SOFTWARE, ms, secs};

const EXAMPLE: &str = include_str!("../../../port-linux/cli/examples/axes.toml");
/// The distance that the z axis of `examples/axes.toml` holds \[m\]; [`FORCE`] is the force that its x axis holds
/// \[N\].
const GAP: f64 = 0.05;
const FORCE: f64 = -10.0;
/// The stiffness of the wall on which the tool presses, less than the example states \[N/m\]; [`WALL`] is its
/// distance \[m\].
const STIFFNESS: f64 = 4_000.0;
const WALL: f64 = 0.004;
/// The tilt of the tool at the beginning \[rad\].
const TILTED: f64 = 0.1;

fn dot([ax, ay, az]: Vec3, [bx, by, bz]: Vec3) -> f64 {
    ax * bx + ay * by + az * bz
}

/// Returns the vector a + part · b.
fn add([ax, ay, az]: Vec3, [bx, by, bz]: Vec3, part: f64) -> Vec3 {
    [ax + part * bx, ay + part * by, az + part * bz]
}

/// Returns the tool's displacement along the axes that it had at the start, and its rotation about the first of them.
fn moved(start: Frame, now: Frame) -> (Vec3, f64) {
    let [x, y, z] = axes(start);
    let by = add(now.position, start.position, -1.0);
    let beam = now.z_axis();
    ([dot(by, x), dot(by, y), dot(by, z)], (-dot(beam, y)).atan2(dot(beam, z)))
}

fn axes(frame: Frame) -> [Vec3; 3] {
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| frame.rotation.turn(axis))
}

fn table(start: Frame) -> Surface {
    let ahead = start.z_axis();
    let point = add(start.position, ahead, 0.08);
    // Slow waves, and a surface that is not perpendicular to the tool.
    let [x, ..] = axes(start);
    Surface { heave: Some((0.002, 8.0)), ..Surface::plane(point, add(x.map(|part| 0.05 * part), ahead, -1.0)) }
}

/// Returns a set-up of `examples/axes.toml` with a controller of this software, and a flag that places a wall on which
/// the tool presses.
pub(super) fn setup(software: SoftwareVersion) -> (Setup, Rc<Cell<bool>>) {
    let mut setup = Setup::new(software);
    let start = Rig::new(Setup::new(software), &mut Buffers::default()).controller.truth().tool();
    let control = Configuration::parse(EXAMPLE).expect("the example").control;
    setup.config = control.engine();
    setup.config.mode.pendant.stop = PendantStop::Overridden;
    setup.config.peer.software = Some(software);
    setup.config.peer.model = Some(setup.controller.model);
    setup.law = AnyLaw::new(control.law).expect("a law");
    let wall = Rc::new(Cell::new(true));
    let (table, mut distance, there) = (table(start), DistanceSensor::new(5), Rc::clone(&wall));
    let gap = move |controller: &Controller| {
        let read = distance.read(&table, controller.truth().tool(), controller.now())?;
        Some(SampleValue::scalar(read as f32))
    };
    let wrench = move |controller: &Controller| {
        let ([x, ..], _) = moved(start, controller.truth().tool());
        let force = if there.get() { -STIFFNESS * (x - WALL).max(0.0) } else { 0.0 };
        SampleValue::new(&[force as f32, 3.0, -7.0, 0.1, 0.2, 0.3])
    };
    let tilt = move |controller: &Controller| {
        let (_, rx) = moved(start, controller.truth().tool());
        Some(SampleValue::scalar((rx - TILTED) as f32))
    };
    let reads: [(u64, Read); 3] = [(10, Box::new(gap)), (2, Box::new(wrench)), (10, Box::new(tilt))];
    setup.sensors = (0..)
        .zip(reads)
        .map(|(number, (period, read))| Sensor { id: SourceId(number), period: ms(period), read })
        .collect();
    (setup, wall)
}

#[test]
fn a_distance_a_force_and_a_tilt_are_held_at_once_and_what_gives_way_for_good_is_not_followed_for_ever() {
    for software in SOFTWARE {
        let (setup, wall) = setup(software);
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(setup, &mut buffers);
        let start = rig.controller.truth().tool();
        let surface = table(start);
        rig.command();
        rig.run_for(secs(6));
        for _ in 0..400 {
            rig.run_for(ms(10));
            let now = rig.controller.truth().tool();
            let ([x, y, _], rx) = moved(start, now);
            let gap = surface.distance(now.position, now.z_axis(), rig.now()).expect("it is ahead");
            let force = -STIFFNESS * (x - WALL).max(0.0);
            let what = || format!("{software}: {gap} m, {force} N, {rx} rad, {y} m aside\n{}", rig.record().story());
            // The gain is 2 /s: a wave causes an error of its speed divided by the gain, 0.8 mm, in addition to the
            // sensor's noise.
            assert!((gap - GAP).abs() < 1.2e-3, "{}", what());
            assert!((force - FORCE).abs() < 0.4, "{}", what());
            assert!((rx - TILTED).abs() < 2e-3 && y.abs() < 3e-4, "{}", what());
            let [held, ..] = axes(start);
            assert!(dot(axes(now)[0], held) > 0.999_99, "turned about y or z: {}", what());
        }
        assert_eq!(rig.engine().mode(), Mode::Command, "{}", rig.record().story());

        wall.set(false);
        rig.run_for(secs(8));
        let reason = rig.record().fallback().map(|(_, reason)| reason);
        assert_eq!(reason, Some(Reason::PathTolerance), "{software}: {}", rig.record().story());
        let ([x, ..], _) = moved(start, rig.controller.truth().tool());
        // The permitted distance is 20 mm. A force of 10 N over 5000 N/m is an error of 2 mm, and 4 mm/s at 2 /s.
        assert!((0.02..0.0215).contains(&x), "{software}: {x} m");
    }
}

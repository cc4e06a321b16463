use super::*;
use crate::kinematics::{DhParameters, KinematicChain};
use crate::law::test_arm::{CYCLE, Plant};
#[cfg(feature = "record")]
use crate::recorder::{Checkpoint as _, Loader, Saver};
use crate::robot::wording;
use outrigger_wire::math::{Vector3, subtract};
use outrigger_wire::robot::{Pose, RobotModel};
use outrigger_wire::sensor::{Sample, SampleValue};
use outrigger_wire::time::Instant;
use proptest::prelude::*;

/// A working pose: elbow and wrist are well bent, and the tool points down.
const BENT: [f32; 6] = [0.2, -1.3, 1.6, -1.87, -1.57, 0.4];
const GAP: SourceId = SourceId(0);
const FORCES: SourceId = SourceId(1);
const TILT: SourceId = SourceId(2);

fn chain() -> KinematicChain<6> {
    KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default())
}

fn law(config: ToolAxesConfig) -> ToolAxes<6> {
    config.check().unwrap();
    let mut law = ToolAxes::new(config);
    law.tool_space.set_chain(&chain());
    law
}

/// Returns the settings of a law that moves one axis.
fn of(axis: ToolAxis, config: AxisConfig) -> ToolAxesConfig {
    let mut axes = [None; 6];
    for ((_, name), place) in ToolAxis::WORDS.iter().zip(&mut axes) {
        *place = (*name == axis).then_some(config);
    }
    ToolAxesConfig { axes, ..ToolAxesConfig::default() }
}

/// Returns the settings of a law that moves z by a distance, x by the first of three forces, and rx by an inclination.
fn of_three() -> ToolAxesConfig {
    let z = AxisConfig { range: Some([0.05, 0.3]), ..AxisConfig::new(GAP, 0.12, -1.0) };
    let x = AxisConfig::new(FORCES, -8.0, -4_000.0);
    let rx = AxisConfig { value: 2, reach: 0.3, ..AxisConfig::new(TILT, 0.0, 1.0) };
    ToolAxesConfig { axes: [Some(x), None, Some(z), Some(rx), None, None], ..ToolAxesConfig::default() }
}

fn sample(source: SourceId, values: &[f32]) -> Sample {
    Sample { source, value: SampleValue::new(values).unwrap(), seq: 0, taken_at: Instant::ZERO }
}

/// A simulated arm, with the displacement and rotation of its tool along and about the axes at the start.
struct Scene {
    plant: Plant,
    start: Frame,
    fastest: PerAxis<f32>,
}

impl Scene {
    fn at(q: [f32; 6]) -> Self {
        let plant = Plant::at(q);
        let start = chain().posture(&plant.state.positions).tcp;
        Self { plant, start, fastest: [0.0; 6] }
    }

    fn moved(&self) -> PerAxis<f32> {
        let now = chain().posture(&self.plant.state.positions).tcp;
        let axes = &self.start.rotation;
        let along = |v: Vector3| [axes.x, axes.y, axes.z].map(|axis| dot(v, axis));
        let [x, y, z] = along(subtract(now.position, self.start.position));
        // Computed in another way than by the law: the rotation in the frame of the start, as a rotation vector.
        let [rx, ry, rz] = outrigger_wire::math::Rotation {
            x: along(now.rotation.x),
            y: along(now.rotation.y),
            z: along(now.rotation.z),
        }
        .to_vector();
        [x, y, z, rx, ry, rz]
    }

    fn cycle(&mut self, law: &mut ToolAxes<6>, samples: &[Sample]) -> Result<(), Reason> {
        let before = self.moved();
        self.plant.cycle(law, &Samples::new(samples))?;
        let after = self.moved();
        for ((fastest, before), after) in self.fastest.iter_mut().zip(before).zip(after) {
            *fastest = fastest.max((after - before).abs() / CYCLE.as_secs_f32());
        }
        Ok(())
    }

    /// Returns the readings of the three sensors of [`of_three`]: a surface 0.15 m ahead, a wall 5 mm away along x that
    /// yields by 1 mm for 4 N, and an inclination of 0.1 rad.
    fn read(&self) -> [Sample; 3] {
        let [x, _, z, rx, ..] = self.moved();
        let force = -4_000.0 * (x - 0.005).max(0.0);
        [sample(GAP, &[0.15 - z]), sample(FORCES, &[force, 3.0, -7.0]), sample(TILT, &[9.0, rx - 0.1])]
    }
}

#[test]
fn a_distance_a_force_and_a_tilt_are_reached_at_once_and_the_other_axes_stay() {
    let (mut scene, mut law) = (Scene::at(BENT), law(of_three()));
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    assert_eq!(Law::<6>::sources(&law), [FORCES, GAP, TILT]);
    for _ in 0..1_500 {
        scene.cycle(&mut law, &scene.read()).unwrap();
    }
    let [x, y, z, rx, ry, rz] = scene.moved();
    assert!((x - 0.007).abs() < 1e-4, "8 N into a wall of 4 N/mm that is 5 mm away: {x} m");
    assert!((z - 0.03).abs() < 1e-4 && (rx - 0.1).abs() < 1e-3, "{z} m, {rx} rad");
    assert!(y.abs() < 2e-4 && ry.abs() < 1e-3 && rz.abs() < 1e-3, "{y} m, {ry} rad, {rz} rad");
    let [x, y, z, rx, ry, rz] = law.ways;
    let near = |way: Option<f32>, least: f32| way.is_some_and(|way| way.abs() < least);
    assert!(near(x, 1e-4) && near(z, 1e-4) && near(rx, 1e-3));
    assert_eq!((y, ry, rz), (None, None, None));
}

#[test]
fn what_reads_its_target_at_arming_moves_nothing_there_and_after_arming_elsewhere() {
    let mut law = law(of_three());
    let readings = [sample(GAP, &[0.12]), sample(FORCES, &[-8.0, 0.0, 0.0]), sample(TILT, &[0.0, 0.0])];
    for q in [BENT, BENT.map(|q| q + 0.2)] {
        let state = Plant::at(q).state;
        law.arm(&Start::at(&state)).unwrap();
        let wanted = law.step(&state, &Samples::new(&readings), CYCLE).unwrap();
        assert!(wanted.max_abs() < 1e-5, "{wanted:?}");
    }
}

#[test]
fn a_force_that_meets_nothing_leads_no_farther_than_the_reach() {
    for (axis, reach) in [(ToolAxis::X, 0.03), (ToolAxis::Ry, 0.2)] {
        let (mut scene, mut law) = (
            Scene::at(BENT),
            law(of(axis, AxisConfig { reach, speed_limit: 0.1, ..AxisConfig::new(FORCES, 10.0, 200.0) })),
        );
        law.arm(&Start::at(&scene.plant.state)).unwrap();
        let ended = (0..2_000).find_map(|_| scene.cycle(&mut law, &[sample(FORCES, &[0.0])]).err());
        assert_eq!(ended, Some(Reason::PathTolerance));
        let farthest = scene.moved().into_iter().fold(0.0, f32::max);
        // Three cycles of the simulated arm's lag.
        assert!(farthest >= reach && farthest < reach + 0.1 * 4.0 * CYCLE.as_secs_f32(), "{axis:?}: {farthest}");
    }
}

#[test]
fn an_axis_that_is_held_and_pushed_off_ends_commanding() {
    let mut law = law(of(ToolAxis::Z, AxisConfig::new(GAP, 0.12, -1.0)));
    law.arm(&Start::at(&Plant::at(BENT).state)).unwrap();
    let mut step = |joint: usize, by: f32| {
        let mut q = BENT;
        q[joint] += by;
        law.step(&Plant::at(q).state, &Samples::new(&[sample(GAP, &[0.12])]), CYCLE).err()
    };
    assert_eq!(step(0, 0.01), None);
    assert_eq!(step(0, 0.1), Some(Reason::PathTolerance), "aside");
    assert_eq!(step(5, 0.2), Some(Reason::PathTolerance), "turned");
    assert_eq!(step(5, core::f32::consts::PI), Some(Reason::PathTolerance), "turned right round");
}

#[test]
fn an_axis_that_a_sensor_turns_is_not_held_and_the_others_are() {
    let config = AxisConfig { reach: 0.5, ..AxisConfig::new(TILT, 0.0, 1.0) };
    let mut law = law(of(ToolAxis::Rz, config));
    law.arm(&Start::at(&Plant::at(BENT).state)).unwrap();
    let mut step = |joint: usize, by: f32| {
        let mut q = BENT;
        q[joint] += by;
        law.step(&Plant::at(q).state, &Samples::new(&[sample(TILT, &[0.0])]), CYCLE).err()
    };
    // The last joint turns the tool about its z axis.
    assert_eq!((step(5, 0.45), step(5, -0.45)), (None, None));
    assert_eq!((step(5, 0.52), step(5, 2.0)), (Some(Reason::PathTolerance), Some(Reason::PathTolerance)));
    assert_eq!(step(4, 0.2), Some(Reason::PathTolerance), "about another axis");
}

#[test]
fn without_kinematics_reading_or_number_there_is_no_motion() {
    let state = Plant::at(BENT).state;
    let mut blind = ToolAxes::<6>::new(of_three());
    assert_eq!(blind.arm(&Start::at(&state)), Err(Reason::KinematicsUnknown));

    let mut law = law(of_three());
    assert_eq!(law.step(&state, &Samples::NONE, CYCLE), Err(Reason::Internal), "not armed");
    law.arm(&Start::at(&state)).unwrap();
    let mut step = |gap: &[f32], forces: &[f32], tilt: &[f32]| {
        let samples = [sample(GAP, gap), sample(FORCES, forces), sample(TILT, tilt)];
        law.step(&state, &Samples::new(&samples), CYCLE).err()
    };
    let (forces, tilt) = ([-8.0, 0.0, 0.0], [0.0, 0.0]);
    assert_eq!(step(&[0.12], &forces, &tilt), None);
    assert_eq!(step(&[f32::NAN], &forces, &tilt), Some(Reason::NotFinite));
    assert_eq!(step(&[0.12], &[f32::INFINITY, 0.0, 0.0], &tilt), Some(Reason::NotFinite));
    assert_eq!(step(&[0.31], &forces, &tilt), Some(Reason::SourceOutOfRange));
    assert_eq!(step(&[0.049], &forces, &tilt), Some(Reason::SourceOutOfRange));
    assert_eq!(step(&[0.12], &forces, &[0.0]), Some(Reason::SourceOutOfRange), "it has no second number");
    // Values of a sensor that no axis follows may be anything.
    assert_eq!(step(&[0.12], &[-8.0, f32::NAN, 1e30], &[f32::NAN, 0.0]), None);
    for missing in 0..3 {
        let mut samples = vec![sample(GAP, &[0.12]), sample(FORCES, &forces), sample(TILT, &tilt)];
        samples.remove(missing);
        assert_eq!(law.step(&state, &Samples::new(&samples), CYCLE), Err(Reason::SourceStale));
    }
}

#[test]
fn settings_that_are_no_law_are_named() {
    let field = |config: ToolAxesConfig| config.check().err().map(|error| error.field);
    let axis = |axis: ToolAxis, change: fn(&mut AxisConfig)| {
        let mut config = AxisConfig::new(GAP, 0.1, -1.0);
        change(&mut config);
        field(of(axis, config))
    };
    assert_eq!(field(of_three()), None);
    assert_eq!(field(ToolAxesConfig::default()), Some(wording("axis")));
    assert_eq!(axis(ToolAxis::Z, |_| {}), None);
    for slope in [0.0, 1e-7, -1e-7, f32::NAN, f32::INFINITY] {
        let config = of(ToolAxis::Z, AxisConfig::new(GAP, 0.1, slope));
        assert_eq!(field(config), Some(wording("slope")), "{slope}");
    }
    for target in [f32::NAN, f32::NEG_INFINITY, 2e9] {
        assert_eq!(field(of(ToolAxis::Z, AxisConfig::new(GAP, target, 1.0))), Some(wording("target")));
    }
    assert_eq!(axis(ToolAxis::X, |c| c.value = 0), Some(wording("value")));
    assert_eq!(axis(ToolAxis::X, |c| c.value = 7), Some(wording("value")));
    assert_eq!(axis(ToolAxis::X, |c| c.range = Some([0.1, 0.2])), Some(wording("range")), "the target at its edge");
    assert_eq!(axis(ToolAxis::X, |c| c.range = Some([0.2, 0.0])), Some(wording("range")));
    assert_eq!(axis(ToolAxis::X, |c| c.reach = 0.9), None);
    assert_eq!(axis(ToolAxis::Ry, |c| c.reach = 0.5), None);
    assert_eq!(axis(ToolAxis::Ry, |c| c.reach = 0.51), Some(wording("reach")));
    assert_eq!(axis(ToolAxis::Rz, |c| c.speed_limit = 0.0), Some(wording("speed_limit")));
    assert_eq!(axis(ToolAxis::Rz, |c| c.proportional = f32::NAN), Some(wording("proportional")));
    assert_eq!(axis(ToolAxis::Rz, |c| c.deceleration = -1.0), Some(wording("deceleration")));
    assert_eq!(field(ToolAxesConfig { hold_gain: 0.0, ..of_three() }), Some(wording("hold_gain")));
    assert_eq!(field(ToolAxesConfig { turn_tolerance: 9.0, ..of_three() }), Some(wording("turn_tolerance")));

    let mut five = of_three();
    for (number, axis) in (0..5).zip(&mut five.axes) {
        *axis = Some(AxisConfig::new(SourceId(number), 0.1, 1.0));
    }
    assert_eq!(field(five), Some(wording("axis")), "five sensors");
    five.axes[4] = Some(AxisConfig::new(SourceId(0), 0.1, 1.0));
    assert_eq!(field(five), None, "four, one of them for two axes");
}

#[test]
#[cfg(feature = "programs")]
fn no_axis_answers_its_error_with_more_than_is_granted() {
    let (state, mut law) = (Plant::at(BENT).state, law(of(ToolAxis::Z, AxisConfig::new(GAP, 0.12, -1.0))));
    law.arm(&Start::at(&state)).unwrap();
    let readings = [sample(GAP, &[0.125])];
    let mut speed = |most| {
        let wanted = law.step(&state, &Samples::new(&readings).with_most_feedback(most), CYCLE).unwrap();
        let posture = chain().posture(&state.positions);
        dot(posture.jacobian.twist(&wanted).linear, posture.tcp.rotation.z)
    };
    assert!((speed(f32::INFINITY) - 0.01).abs() < 1e-4 && (speed(0.5) - 0.0025).abs() < 1e-4);
}

#[test]
#[cfg(feature = "record")]
fn what_was_saved_goes_on_with_the_same_bits() {
    let (mut scene, mut law) = (Scene::at(BENT), law(of_three()));
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    for _ in 0..50 {
        scene.cycle(&mut law, &scene.read()).unwrap();
    }
    let mut saved = [0; 1024];
    let mut saver = Saver::new(&mut saved);
    law.save(&mut saver).unwrap();
    let length = saver.written();
    let mut other = ToolAxes::<6>::new(of(ToolAxis::Y, AxisConfig::new(GAP, 0.0, 1.0)));
    other.load(&mut Loader::new(&saved[..length])).unwrap();
    assert_eq!(Law::<6>::sources(&other), [FORCES, GAP, TILT]);
    let readings = scene.read();
    let [one, two] = [&mut law, &mut other].map(|law| law.step(&scene.plant.state, &Samples::new(&readings), CYCLE));
    assert_eq!(one.unwrap().0.map(f32::to_bits), two.unwrap().0.map(f32::to_bits));
}

fn any_axis() -> impl Strategy<Value = ToolAxis> {
    (0..ToolAxis::WORDS.len()).prop_map(|at| ToolAxis::WORDS[at].1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For either sign and any unit of a sensor, the axis settles if the actual slope is at most the given one.
    #[test]
    fn any_axis_settles_at_its_target_by_a_sensor_of_any_slope(
        axis in any_axis(),
        magnitude in -3_i32..6,
        mirrored in any::<bool>(),
        real in 0.5_f32..=1.0,
        far in -0.04_f32..0.04,
        target in -5.0_f32..5.0,
    ) {
        let slope = 10.0_f32.powi(magnitude) * if mirrored { -1.0 } else { 1.0 };
        let target = target * slope.abs();
        let config = AxisConfig { reach: 0.1, ..AxisConfig::new(GAP, target, slope) };
        let (mut scene, mut law) = (Scene::at(BENT), law(of(axis, config)));
        law.arm(&Start::at(&scene.plant.state)).unwrap();
        let at = ToolAxis::WORDS.iter().position(|(_, name)| *name == axis).unwrap();
        for _ in 0..1_200 {
            // The reading is at its target when the axis has moved by `far`.
            let reading = target + real * slope * (scene.moved()[at] - far);
            scene.cycle(&mut law, &[sample(GAP, &[reading])]).unwrap();
        }
        for (other, moved) in scene.moved().into_iter().enumerate() {
            let wanted = if other == at { far } else { 0.0 };
            prop_assert!((moved - wanted).abs() < 5e-4, "axis {other} at {moved}, of {wanted}");
        }
        prop_assert!(scene.fastest[at] <= 0.05 * 1.02, "{}", scene.fastest[at]);
    }

    /// For any readings, no axis is commanded to exceed its speed limit.
    #[test]
    fn no_axis_is_faster_than_its_limit(
        readings in prop::collection::vec((-1e6_f32..1e6, -1e6_f32..1e6, -1e6_f32..1e6), 1..40),
        limit in 0.001_f32..0.2,
    ) {
        let mut config = of_three();
        for axis in config.axes.iter_mut().flatten() {
            (axis.speed_limit, axis.range) = (limit, None);
        }
        config.tool_space.joint_speed = 6.0;
        let (state, mut law) = (Plant::at(BENT).state, law(config));
        let posture = chain().posture(&state.positions);
        law.arm(&Start::at(&state)).unwrap();
        for (gap, force, tilt) in readings {
            let samples = [sample(GAP, &[gap]), sample(FORCES, &[force, 0.0, 0.0]), sample(TILT, &[0.0, tilt])];
            let wanted = law.step(&state, &Samples::new(&samples), CYCLE).unwrap();
            let twist = posture.jacobian.twist(&wanted);
            let axes = &posture.tcp.rotation;
            for axis in [axes.x, axes.y, axes.z] {
                for speed in [dot(twist.linear, axis), dot(twist.angular, axis)] {
                    prop_assert!(speed.abs() <= limit * 1.001 + 1e-4, "{speed}, of {limit}");
                }
            }
        }
    }
}

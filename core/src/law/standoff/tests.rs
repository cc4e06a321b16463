use super::*;
use crate::kinematics::{DhParameters, KinematicChain};
use crate::law::test_arm::{CYCLE, Plant};
use outrigger_wire::math::{dot, subtract};
use outrigger_wire::robot::{Pose, RobotModel};
use outrigger_wire::sensor::{Sample, SampleValue};
use outrigger_wire::time::Instant;
use proptest::prelude::*;

/// An ordinary working pose: elbow and wrist are well bent, and the tool points down.
const BENT: [f32; 6] = [0.2, -1.3, 1.6, -1.87, -1.57, 0.4];
const SOURCE: SourceId = SourceId(1);
const WANTED: f32 = 0.12;

fn chain() -> KinematicChain<6> {
    KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default())
}

fn law(config: StandoffConfig) -> Standoff<6> {
    let mut law = Standoff::new(config);
    law.tool_space.set_chain(&chain());
    law
}

/// A simulated arm with a surface below the tool, whose height is a function of the time and the tool's position.
struct Scene<F> {
    plant: Plant,
    start: Frame,
    seconds: f32,
    distance: F,
}

impl<F: Fn(f32, Vector3) -> f32> Scene<F> {
    /// Creates a scene. `distance(seconds, moved)` is the sensor's reading \[m\] at this time at the tool's position,
    /// before the tool's displacement along its axis is subtracted.
    fn new(distance: F) -> Self {
        let plant = Plant::at(BENT);
        let start = chain().posture(&plant.state.positions).tcp;
        Self { plant, start, seconds: 0.0, distance }
    }

    fn tcp(&self) -> Frame {
        chain().posture(&self.plant.state.positions).tcp
    }

    /// Returns the displacement of the tool along the axes it had at the start.
    fn moved(&self) -> Vector3 {
        let by = subtract(self.tcp().position, self.start.position);
        let Frame { rotation: axes, .. } = self.start;
        [dot(by, axes.x), dot(by, axes.y), dot(by, axes.z)]
    }

    fn measure(&self) -> f32 {
        let moved = self.moved();
        let [_, _, along] = moved;
        (self.distance)(self.seconds, moved) - along
    }

    fn cycle(&mut self, law: &mut Standoff<6>) -> Result<f32, Reason> {
        let value = SampleValue::scalar(self.measure());
        let samples = [Sample { source: SOURCE, value, seq: 0, taken_at: Instant::ZERO }];
        let [_, _, before] = self.moved();
        self.plant.cycle(law, &Samples::new(&samples))?;
        self.seconds += CYCLE.as_secs_f32();
        let [_, _, after] = self.moved();
        Ok((after - before) / CYCLE.as_secs_f32())
    }

    fn run(&mut self, law: &mut Standoff<6>, seconds: f32) -> Result<(), Reason> {
        for _ in 0..(seconds / CYCLE.as_secs_f32()) as usize {
            self.cycle(law)?;
        }
        Ok(())
    }
}

#[test]
fn the_distance_is_reached_and_held_without_turning_or_drifting_aside() {
    for start in [0.2, 0.08] {
        let mut scene = Scene::new(|_, _| start);
        let mut law = law(StandoffConfig::new(SOURCE, WANTED));
        law.arm(&Start::at(&scene.plant.state)).unwrap();
        scene.run(&mut law, 8.0).unwrap();
        assert!((scene.measure() - WANTED).abs() < 2e-4, "at {} m", scene.measure());
        assert!((law.error() - (scene.measure() - WANTED)).abs() < 1e-4);
        let [x, y, _] = scene.moved();
        assert!(x.hypot(y) < 2e-4, "{x} m, {y} m aside");
        assert!(dot(scene.tcp().rotation.z, scene.start.rotation.z) > 0.999_999);
    }
}

#[test]
fn nearing_is_slower_than_its_limit_and_so_is_retreating() {
    for (start, limit) in [(0.5, 0.05), (0.02, 0.1)] {
        let mut scene = Scene::new(|_, _| start);
        let mut law = law(StandoffConfig { range: [0.0, 1.0], ..StandoffConfig::new(SOURCE, WANTED) });
        law.arm(&Start::at(&scene.plant.state)).unwrap();
        let fastest = (0..500).map(|_| scene.cycle(&mut law).unwrap().abs()).fold(0.0, f32::max);
        assert!(fastest <= limit * 1.01, "{fastest} m/s");
        assert!(fastest >= limit * 0.95, "the limit is used: {fastest} m/s");
    }
}

#[test]
fn a_surface_is_not_run_into_while_settling() {
    let mut scene = Scene::new(|_, _| 0.3);
    let mut law = law(StandoffConfig::new(SOURCE, WANTED));
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    let nearest = (0..2_000).map(|_| {
        scene.cycle(&mut law).unwrap();
        scene.measure()
    });
    let nearest = nearest.fold(f32::INFINITY, f32::min);
    assert!(nearest > WANTED - 0.006, "came as near as {nearest} m");
}

#[test]
fn a_surface_that_recedes_steadily_is_followed_without_lag_by_the_integral() {
    let lag = |integral| {
        let mut scene = Scene::new(|seconds, _| WANTED + 0.01 * seconds);
        let mut law = law(StandoffConfig { integral, ..StandoffConfig::new(SOURCE, WANTED) });
        law.arm(&Start::at(&scene.plant.state)).unwrap();
        scene.run(&mut law, 6.0).unwrap();
        scene.measure() - WANTED
    };
    assert!((lag(0.0) - 0.002).abs() < 3e-4, "speed over gain: {}", lag(0.0));
    assert!(lag(5.0).abs() < 2e-4, "{}", lag(5.0));
}

#[test]
fn travelling_over_a_wavy_surface_keeps_the_distance() {
    // Waves of 10 mm, 0.2 m long, passed at 20 mm/s.
    let wave = |x: f32| 0.01 * (x * core::f32::consts::TAU / 0.2).sin();
    let mut scene = Scene::new(move |_, [x, _, _]| WANTED + wave(x));
    let mut law = law(StandoffConfig { travel: [0.02, 0.0], ..StandoffConfig::new(SOURCE, WANTED) });
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    scene.run(&mut law, 2.0).unwrap();
    let mut worst = 0.0_f32;
    for _ in 0..500 {
        scene.cycle(&mut law).unwrap();
        worst = worst.max((scene.measure() - WANTED).abs());
    }
    assert!(worst < 2e-3, "{worst} m off");
    let [x, y, _] = scene.moved();
    assert!(x > 0.08 && y.abs() < 1e-3, "travelled {x} m, {y} m aside");
}

#[test]
fn travel_waits_until_the_distance_is_nearly_reached() {
    let mut scene = Scene::new(|_, _| 0.25);
    let mut law = law(StandoffConfig { travel: [0.02, 0.0], ..StandoffConfig::new(SOURCE, WANTED) });
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    scene.run(&mut law, 2.0).unwrap();
    let [x, ..] = scene.moved();
    assert!(x.abs() < 1e-4, "still approaching, already {x} m aside");
}

#[test]
fn a_paused_robot_winds_nothing_up() {
    let mut scene = Scene::new(|_, _| WANTED + 0.004);
    let mut law = law(StandoffConfig { travel: [0.02, 0.0], ..StandoffConfig::new(SOURCE, WANTED) });
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    scene.plant.state.speed_scaling = Some(0.0);
    scene.run(&mut law, 20.0).unwrap();
    assert_eq!((law.trend, law.travelled), (0.0, [0, 0]));
}

#[test]
fn an_arm_pushed_off_its_line_or_turned_ends_commanding() {
    let mut law = law(StandoffConfig::new(SOURCE, WANTED));
    law.arm(&Start::at(&Plant::at(BENT).state)).unwrap();
    let samples = [Sample { source: SOURCE, value: SampleValue::scalar(WANTED), seq: 0, taken_at: Instant::ZERO }];
    let mut step = |joint: usize, by: f32| {
        let mut q = BENT;
        q[joint] += by;
        law.step(&Plant::at(q).state, &Samples::new(&samples), CYCLE).err()
    };
    assert_eq!(step(0, 0.01), None);
    assert_eq!(step(0, 0.1), Some(Reason::PathTolerance), "aside");
    assert_eq!(step(5, 0.2), Some(Reason::PathTolerance), "turned");
    assert_eq!(step(5, core::f32::consts::PI), Some(Reason::PathTolerance), "turned right round");
    assert_eq!(step(4, core::f32::consts::PI), Some(Reason::PathTolerance), "upside down");
}

#[test]
fn arming_again_begins_a_new_line() {
    // A surface that recedes while the line travels: all state of the law is in use.
    let mut scene = Scene::new(|seconds, _| WANTED + 0.005 * seconds);
    let mut law = law(StandoffConfig { travel: [0.02, 0.01], ..StandoffConfig::new(SOURCE, WANTED) });
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    scene.run(&mut law, 3.0).unwrap();
    assert!(law.trend > 0.004 && law.travelled.iter().all(|nanometres| *nanometres > 10_000_000));

    let elsewhere = Plant::at(BENT.map(|q| q + 0.2));
    law.arm(&Start::at(&elsewhere.state)).unwrap();
    law.config.travel = [0.0; 2];
    let samples = [Sample { source: SOURCE, value: SampleValue::scalar(WANTED), seq: 0, taken_at: Instant::ZERO }];
    let wanted = law.step(&elsewhere.state, &Samples::new(&samples), CYCLE).unwrap();
    assert!(wanted.max_abs() < 1e-5, "at the wanted distance nothing is to be done: {wanted:?}");
}

#[test]
fn without_kinematics_sample_or_numbers_there_is_no_motion() {
    let state = Plant::at(BENT).state;
    let mut blind = Standoff::<6>::new(StandoffConfig::new(SOURCE, WANTED));
    assert_eq!(blind.arm(&Start::at(&state)), Err(Reason::KinematicsUnknown));

    let mut law = law(StandoffConfig::new(SOURCE, WANTED));
    assert_eq!(law.sources(), [SOURCE]);
    law.arm(&Start::at(&state)).unwrap();
    assert_eq!(law.step(&state, &Samples::NONE, CYCLE), Err(Reason::SourceStale));
    for bad in [f32::NAN, f32::INFINITY] {
        let samples = [Sample { source: SOURCE, value: SampleValue::scalar(bad), seq: 0, taken_at: Instant::ZERO }];
        assert_eq!(law.step(&state, &Samples::new(&samples), CYCLE), Err(Reason::NotFinite));
    }
    let mut bad = state;
    bad.positions.0[2] = f32::NAN;
    let samples = [Sample { source: SOURCE, value: SampleValue::scalar(WANTED), seq: 0, taken_at: Instant::ZERO }];
    assert_eq!(law.step(&bad, &Samples::new(&samples), CYCLE), Err(Reason::NotFinite));
}

proptest! {
    #[test]
    fn the_speed_along_the_axis_stays_within_its_limits_whatever_the_sensor_says(
        readings in prop::collection::vec(0.0_f32..1.0, 1..200),
        millis in 0_u64..500,
    ) {
        let mut law = law(StandoffConfig::new(SOURCE, WANTED));
        let seconds = Duration::from_millis(millis).as_secs_f32();
        for reading in readings {
            let speed = law.along(reading - WANTED, seconds, f32::INFINITY);
            prop_assert!((-0.1..=0.05).contains(&speed), "{speed} m/s");
            prop_assert!((-0.1..=0.05).contains(&law.trend), "{} m/s", law.trend);
        }
    }
}

#[test]
fn a_beam_that_misses_ends_the_approach_after_a_bounded_way() {
    // The surface ends 0.2 s after arming; from then on the sensor reads its largest distance.
    for travel in [[0.0, 0.0], [0.01, 0.0]] {
        let mut scene = Scene::new(|seconds, [_, _, along]| if seconds < 0.2 { WANTED } else { 0.5 + along });
        let config = StandoffConfig { travel, ..StandoffConfig::new(SOURCE, WANTED) };
        let mut law = law(config);
        law.arm(&Start::at(&scene.plant.state)).unwrap();
        assert_eq!(scene.run(&mut law, 10.0), Err(Reason::SourceOutOfRange));
        let [_, _, along] = scene.moved();
        let farthest = config.longest_approach + config.approach_limit * 3.0 * CYCLE.as_secs_f32();
        assert!(along > 0.5 * config.longest_approach && along < farthest, "{along} m");
    }
}

#[test]
fn a_surface_that_comes_into_range_is_found_and_each_sight_begins_the_way_anew() {
    let mut scene = Scene::new(|_, _| WANTED + 0.24);
    let mut law = law(StandoffConfig::new(SOURCE, WANTED));
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    assert_eq!(scene.run(&mut law, 15.0), Ok(()));
    assert!((scene.measure() - WANTED).abs() < 1e-3, "{} m", scene.measure());
}

#[test]
fn a_reading_below_the_range_ends_commanding() {
    let mut scene = Scene::new(|seconds, [_, _, along]| if seconds < 0.2 { WANTED } else { 0.03 + along });
    let mut law = law(StandoffConfig { range: [0.05, 0.3], ..StandoffConfig::new(SOURCE, WANTED) });
    law.arm(&Start::at(&scene.plant.state)).unwrap();
    assert_eq!(scene.run(&mut law, 1.0), Err(Reason::SourceOutOfRange));
}

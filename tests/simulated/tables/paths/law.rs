//! A law with a UR5e: the time until it moves the arm, and its remaining error.

use std::time::Duration;

use outrigger_core::engine::ur::CommandPath;
use outrigger_core::law::JointServoConfig;
use outrigger_core::mode::Mode;
use outrigger_sim::simulated_workpiece::Surface;
use outrigger_tests::cosim::{Buffers, Motion, Rig, Setup, Way};
use outrigger_wire::robot::SoftwareVersion;

use super::super::servo;
use super::super::text::{in_parallel, markdown};
use super::wished;

/// The software of a UR5e.
const SOFTWARE: SoftwareVersion = SoftwareVersion::new(5, 15);

/// The speed that the sensor commands \[rad/s\].
const STEP: f32 = 0.2;
/// The number of steps, each at another moment between two states.
const STEPS: u32 = 20;
/// The distance to be held \[m\]; the tool begins farther away by [`BEGIN`] \[m\].
const DISTANCE: f64 = 0.1;
const BEGIN: f64 = 0.2;

/// The sum and the longest of all steps' reaction times \[ms\], each from the sensor's step to the end of the control
/// cycle in which the arm reacts.
#[derive(Clone, Copy, Debug, Default)]
struct Reaction {
    sum: f64,
    most: f64,
}

impl Reaction {
    fn add(&mut self, span: Duration) {
        let span = span.as_secs_f64() * 1e3;
        self.sum += span;
        self.most = self.most.max(span);
    }

    fn text(&self) -> String {
        format!("{:.1} / {:.1}", self.sum / f64::from(STEPS), self.most)
    }
}

/// Returns the reaction times until the controller's target moves, until the joint moves, and until it has nine
/// tenths of its speed.
fn reactions(path: Way) -> [Reaction; 3] {
    let (setup, wish) = wished(SOFTWARE, path, 0.0);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    let mut reactions = [Reaction::default(); 3];
    for step in 0..STEPS {
        wish.set(Some(0.0));
        // A start that is not in step with the cycles, nor with the sensor's readings.
        rig.run_for(Duration::from_millis(800) + Duration::from_micros(100) * step);
        let begun = rig.now();
        wish.set(Some(if step % 2 == 0 { STEP } else { -STEP }));
        rig.run_for(Duration::from_millis(600));
        let what = format!("{}, step {step}", path.name());
        assert_eq!(rig.engine().mode(), Mode::Command, "{what}\n{}", rig.record().story());
        let rested = *rig.record().motion_at(begun).unwrap();
        assert!(rested.speed() < 1e-3, "{what}: {rested:?}");
        let speed = f64::from(STEP);
        let marks: [&dyn Fn(&Motion) -> bool; 3] =
            [&|motion| motion.target_speed() > speed * 1e-2, &|motion| motion.speed() > speed * 1e-2, &|motion| {
                motion.speed() > speed * 0.9
            }];
        for (reaction, mark) in reactions.iter_mut().zip(marks) {
            let mut after = rig.record().motion.iter().filter(|motion| motion.at > begun);
            let reached = after.find(|motion| mark(motion)).unwrap_or_else(|| panic!("{what}: it does not move"));
            reaction.add(reached.at.since(begun));
        }
    }
    reactions
}

/// Moves the base joint by half a turn in two seconds, as in `servo.md`. Returns the joint's delay \[ms\], and the
/// largest error on the way and the error at the end \[deg\].
fn half_a_turn(path: Way) -> servo::Figures {
    let config = JointServoConfig { path_tolerance: 1.0, ..JointServoConfig::default() };
    let mut setup = Setup::servo(SOFTWARE, servo::trajectory(false), config);
    path.choose(&mut setup.config);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    rig.run_for(Duration::from_secs(5));
    assert_eq!(rig.engine().mode(), Mode::Command, "{}\n{}", path.name(), rig.record().story());
    servo::figures(rig.record(), rig.controller.period(), servo::HALF)
}

/// Lowers the tool to a surface and holds it over it. Returns the mean and the largest error in the last two seconds
/// \[m\].
fn standoff(path: Way) -> [f64; 2] {
    let mut buffers = Buffers::with_rtde();
    let tool = Rig::new(Setup::new(SOFTWARE), &mut buffers).controller.truth().tool().position;
    let below = tool[2] - DISTANCE - BEGIN;
    let surface = Surface::plane([tool[0], tool[1], below], [0.0, 0.0, 1.0]);
    let mut setup = Setup::standoff(SOFTWARE, DISTANCE as f32, surface);
    path.choose(&mut setup.config);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    rig.run_for(Duration::from_secs(12));
    let (mut sum, mut most, mut count) = (0.0, 0.0_f64, 0.0);
    let end = rig.now() + Duration::from_secs(2);
    while rig.now() < end {
        rig.run_for(Duration::from_millis(2));
        let off = rig.controller.truth().tool().position[2] - below - DISTANCE;
        (sum, most, count) = (sum + off, most.max(off.abs()), count + 1.0);
    }
    assert_eq!(rig.engine().mode(), Mode::Command, "{}\n{}", path.name(), rig.record().story());
    [sum / count, most]
}

/// Returns the time that a command waits in the program on the controller before it takes effect \[ms\].
fn waits(path: Way) -> f64 {
    if path.path == CommandPath::Buffered { 40.0 } else { 0.0 }
}

pub(super) fn section() -> String {
    let rows = in_parallel(&Way::ALL, |path| {
        let [target, joint, speed] = reactions(path);
        let turn = half_a_turn(path);
        let [mean, most] = standoff(path);
        let what = format!("{}: {target:?}, {joint:?}, {turn:?}, {mean}, {most}", path.name());
        // The step waits for a reading, for the next state, and for the cycle in which its command is executed.
        assert!((waits(path)..waits(path) + 10.0).contains(&target.most), "{what}");
        assert!(joint.most > target.most && joint.most < waits(path) + 16.0, "{what}");
        assert!(turn.end.abs() < 0.05 && turn.worst < 2.0, "{what}");
        assert!(mean.abs() < 1e-4 && most < 1e-4, "{what}");
        vec![
            path.name(),
            target.text(),
            joint.text(),
            speed.text(),
            format!("{:+.1} ms", turn.delay),
            format!("{:.2}°", turn.worst),
            format!("{:.3}°", turn.end.abs()),
            format!("{:.3} / {:.3} mm", mean.abs() * 1e3, most * 1e3),
        ]
    });
    HEAD.to_owned() + &markdown(&COLUMNS, &rows)
}

const COLUMNS: [&str; 8] = [
    "path",
    "target moves",
    "joint moves",
    "nine tenths of the speed",
    "delay",
    "worst on the way",
    "error at −180°",
    "error of the distance",
];

const HEAD: &str = "
## A law beside a UR5e

Software 5.15, cycles of 2 ms, every law with its default settings.

* *target moves*, *joint moves*, *nine tenths of the speed*: a sensor, read every 2 ms, asks the base joint for 0.2 rad/s from one
  moment to the next. From that moment to the end of the control cycle in which the controller's target, and the joint, has a
  hundredth of it, and the joint nine tenths; mean / longest of 20 steps, in ms. At the default limit of 2 rad/s² the speed
  takes 100 ms;
* *delay*, *worst on the way*, *error at −180°*: half a turn of the base joint in 2 s with feedback, as in `servo.md`;
* *error of the distance*: the tool comes down to a still surface by 0.2 m and is held 0.1 m over it by a distance sensor, read
  every 10 ms; mean / largest error in the last two of 14 s.

`buffered` waits for 40 ms, which is the lag that it is to have (`program.expert.lag`).

";

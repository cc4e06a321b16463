//! The tracking error of the joints, computed from the robot's states only.

use outrigger_core::law::{Law, Motion};
use outrigger_core::mode::Mode;
use outrigger_core::trajectory::{Progress, Setpoint};
use outrigger_wire::robot::{ControllerTime, JointPositions, State};
use outrigger_wire::time::Duration;
use serde::{Serialize, Serializer};

use crate::json::Number;

/// The lowest speed that counts as motion, even if the arm's own noise is lower \[rad/s\].
const LEAST_MOTION: f32 = 1e-4;

/// The measured tracking errors of the joints while the arm is commanded.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracking {
    newest: Option<ControllerTime>,
    /// The largest target and measured speeds while the arm was at standstill \[rad/s\].
    noise: [f32; 2],
    origin: Option<JointPositions<6>>,
    worst: [f32; 6],
    last: [f32; 6],
    wanted: Excursion,
    reached: Excursion,
    settled: Settled,
    reaction: Reaction,
}

/// The largest displacement of each joint from its start position, with its sign \[rad\].
#[derive(Clone, Copy, Debug, Default)]
struct Excursion([f32; 6]);

impl Excursion {
    fn observe(&mut self, q: &JointPositions<6>, origin: &JointPositions<6>) {
        for (most, (q, origin)) in self.0.iter_mut().zip(q.iter().zip(origin.iter())) {
            if (q - origin).abs() > most.abs() {
                *most = q - origin;
            }
        }
    }
}

/// The sum of the tracking errors after the end of the motion, for their mean.
#[derive(Clone, Copy, Debug, Default)]
struct Settled {
    sum: [f64; 6],
    states: u32,
}

/// The time of the state that the first moving command answered, and the times of the states in which motion was
/// first visible in the target and in the joint.
#[derive(Clone, Copy, Debug, Default)]
struct Reaction {
    asked: Option<ControllerTime>,
    target: Option<ControllerTime>,
    joint: Option<ControllerTime>,
}

impl Tracking {
    /// Evaluates the joints' tracking errors in the newest robot state, after the control law has computed the command
    /// that answers it.
    pub(super) fn observe(&mut self, state: &State<6>, mode: Mode, law: &impl Law<6>, progress: Progress) {
        let Some(Setpoint { positions, velocities }) = law.motion().and_then(Motion::setpoint) else { return };
        if self.newest == Some(state.controller_time) {
            return;
        }
        self.newest = Some(state.controller_time);
        let [target, joint] = [state.target_velocities.max_abs(), state.velocities.max_abs()];
        match mode {
            Mode::Arming => {
                let [noisy_target, noisy_joint] = self.noise;
                self.noise = [noisy_target.max(target), noisy_joint.max(joint)];
            }
            Mode::Command => {
                let origin = self.origin.get_or_insert(state.positions);
                self.wanted.observe(positions, origin);
                self.reached.observe(&state.positions, origin);
                self.last = positions.zip_with(state.positions.as_array(), |wanted, q| wanted - q).0;
                for (worst, error) in self.worst.iter_mut().zip(self.last) {
                    *worst = worst.max(error.abs());
                }
                if progress == Progress::Finished {
                    self.settled.states += 1;
                    for (sum, error) in self.settled.sum.iter_mut().zip(self.last) {
                        *sum += f64::from(error);
                    }
                }
                let moves = |speed: f32, noise: f32| speed > LEAST_MOTION.max(2.0 * noise);
                let [noisy_target, noisy_joint] = self.noise;
                let Reaction { asked, target: target_at, joint: joint_at } = &mut self.reaction;
                if asked.is_some() {
                    if moves(target, noisy_target) {
                        target_at.get_or_insert(state.controller_time);
                    }
                    if moves(joint, noisy_joint) {
                        joint_at.get_or_insert(state.controller_time);
                    }
                } else if velocities.max_abs() > 0.0 {
                    *asked = Some(state.controller_time);
                }
            }
            Mode::Offline | Mode::Monitor | Mode::Stopping => {}
        }
    }

    /// Returns the tracking errors of the run. `None` if nothing was commanded.
    #[must_use]
    pub(super) fn summary(&self, period: Duration) -> Option<Summary> {
        self.origin?;
        let degrees = |radians: [f32; 6]| radians.map(f32::to_degrees);
        let mut short = self.wanted.0;
        for (wanted, reached) in short.iter_mut().zip(self.reached.0) {
            *wanted -= reached;
        }
        let Reaction { asked, target, joint } = self.reaction;
        let cycles = |shown: Option<ControllerTime>| {
            // A state shows the cycle that ends with it, which started one period before.
            let span = shown?.since(asked?).as_micros() as f32;
            Some(span / period.as_micros().max(1) as f32 - 1.0)
        };
        let states = f64::from(self.settled.states);
        Some(Summary {
            worst: degrees(self.worst),
            turning: degrees(short),
            end: degrees(self.last),
            steady: (self.settled.states > 0).then(|| self.settled.sum.map(|sum| ((sum / states) as f32).to_degrees())),
            reaction: [cycles(target), cycles(joint)],
        })
    }
}

/// The tracking errors of the joints in a run \[deg\].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Summary {
    /// The largest distance of each joint from the reference \[deg\].
    pub(super) worst: [f32; 6],
    /// The shortfall of each joint at its turning point \[deg\]: the distance by which the farthest point reached
    /// fell short of the farthest point of the reference, both measured from the start.
    pub(super) turning: [f32; 6],
    /// The distance of each joint from the reference in the last state \[deg\].
    pub(super) end: [f32; 6],
    /// The mean distance of each joint from the reference after the end of the motion \[deg\]. `None` if the motion
    /// did not end.
    pub(super) steady: Option<[f32; 6]>,
    /// Two numbers of cycles from the state that the first moving command answered to the start of motion: of the
    /// controller's target, and of the joint. `None` if it never moved.
    pub(super) reaction: [Option<f32>; 2],
}

impl Summary {
    /// Formats the tracking errors of the joints for people.
    #[must_use]
    pub(super) fn text(&self) -> String {
        let joints = |values: &[f32; 6]| {
            let values: Vec<_> = values.iter().map(|value| format!("{value:9.4}")).collect();
            values.join("")
        };
        let mut text = String::from("tracking [deg]            base shoulder    elbow  wrist 1  wrist 2  wrist 3\n");
        let mut line = |name: &str, values: &[f32; 6]| text.push_str(&format!("  {name:<19}{}\n", joints(values)));
        line("largest error", &self.worst);
        line("farthest point", &self.turning);
        if let Some(steady) = &self.steady {
            line("steady state", steady);
        }
        line("end", &self.end);
        let cycles = |cycles: Option<f32>| cycles.map_or("never".into(), |cycles| format!("{cycles:.0} cycles"));
        let [target, joint] = self.reaction;
        text.push_str(&format!("reaction: target {}, joint {}", cycles(target), cycles(joint)));
        text
    }
}

/// The JSON members of a [`Summary`] of tracking errors, for scripts.
#[derive(Serialize)]
struct Members {
    max_error_deg: [Number<f32>; 6],
    farthest_point_error_deg: [Number<f32>; 6],
    #[serde(skip_serializing_if = "Option::is_none")]
    steady_state_error_deg: Option<[Number<f32>; 6]>,
    end_error_deg: [Number<f32>; 6],
    reaction_target_cycles: Option<Number<f32>>,
    reaction_joint_cycles: Option<Number<f32>>,
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { worst, turning, end, steady, reaction: [target, joint] } = *self;
        Members {
            max_error_deg: worst.map(Number),
            farthest_point_error_deg: turning.map(Number),
            steady_state_error_deg: steady.map(|steady| steady.map(Number)),
            end_error_deg: end.map(Number),
            reaction_target_cycles: target.map(Number),
            reaction_joint_cycles: joint.map(Number),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::command::Samples;
    use outrigger_core::law::{JointServo, JointServoConfig, Reference, Start};
    use outrigger_core::trajectory::{Trajectory, Waypoint};
    use outrigger_wire::robot::JointVelocities;

    use super::*;

    const CYCLE: Duration = Duration::from_millis(8);

    fn state(cycle: u64, q: f32, target: f32, speed: f32) -> State<6> {
        State {
            controller_time: ControllerTime::from_micros(cycle * 8_000),
            positions: JointPositions([q; 6]),
            target_velocities: JointVelocities([target; 6]),
            velocities: JointVelocities([speed; 6]),
            ..State::default()
        }
    }

    /// Creates the control law whose tracking errors are measured. Its reference moves each joint by 0.1 rad in one
    /// second, from the position 0.
    fn servo() -> JointServo<6> {
        let at = |q: f32, millis| Waypoint {
            setpoint: Setpoint { positions: JointPositions([q; 6]), velocities: JointVelocities::ZERO },
            accelerations: None,
            at: Duration::from_millis(millis),
        };
        let motion = Trajectory::through(&[at(0.0, 0), at(0.1, 1_000)]).expect("a motion");
        let mut servo = JointServo::new(Reference::Relative(motion), JointServoConfig::default());
        servo.arm(&Start::at(&state(0, 0.0, 0.0, 0.0))).expect("armed");
        servo
    }

    #[test]
    fn reaction_is_counted_from_the_state_answered_to_the_cycle_that_moves() {
        let (mut servo, mut tracking) = (servo(), Tracking::default());
        // The noise of an arm at standstill is not motion.
        tracking.observe(&state(1, 0.0, 0.0, 0.001), Mode::Arming, &servo, Progress::Waiting);
        for (cycle, target, speed) in [(2, 0.0, 0.001), (3, 0.0, 0.0015), (4, 0.02, 0.001), (5, 0.03, 0.02)] {
            let state = state(cycle, 0.0, target, speed);
            servo.step(&state, &Samples::NONE, CYCLE).expect("within the tolerance");
            tracking.observe(&state, Mode::Command, &servo, Progress::Running);
        }
        let summary = tracking.summary(CYCLE).expect("it was commanded");
        assert_eq!(summary.reaction, [Some(1.0), Some(2.0)]);
    }

    #[test]
    fn errors_are_those_of_the_reference_and_the_end_is_the_last() {
        let (mut servo, mut tracking) = (servo(), Tracking::default());
        let mut observe = |cycle, q, progress| {
            let state = state(cycle, q, 0.0, 0.0);
            servo.step(&state, &Samples::NONE, Duration::from_millis(500)).expect("within the tolerance");
            tracking.observe(&state, Mode::Command, &servo, progress);
        };
        observe(1, 0.0, Progress::Running);
        observe(2, 0.09, Progress::Finished);
        observe(3, 0.099, Progress::Finished);
        let summary = tracking.summary(CYCLE).expect("it was commanded");
        let near = |values: [f32; 6], radians: f32| values.iter().all(|v| (v - radians.to_degrees()).abs() < 1e-4);
        assert!(near(summary.worst, 0.05), "{summary:?}");
        assert!(near(summary.turning, 0.001), "{summary:?}");
        assert!(near(summary.end, 0.001), "{summary:?}");
        assert!(summary.steady.is_some_and(|steady| near(steady, 0.0055)), "{summary:?}");
    }

    #[test]
    fn what_was_never_commanded_has_no_summary() {
        assert_eq!(Tracking::default().summary(CYCLE), None);
    }
}

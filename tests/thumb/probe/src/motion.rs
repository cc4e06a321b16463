//! Kinematics, trajectories and laws, for six and for seven joints.

use outrigger_core::command::Samples;
use outrigger_core::kinematics::{DampedLeastSquares, DhParameters, KinematicChain};
use outrigger_core::law::{AnyLaw, JointServoConfig, Law, LawConfig, MotionStatus, Reference, Start};
use outrigger_core::trajectory::{Sampler, Setpoint, Trajectory, Waypoint};
use outrigger_wire::robot::{JointPositions, JointVelocities, RobotModel, State};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_numbers, any_state, shown, used};

#[inline(never)]
pub fn probe() {
    let Some(state) = any_state() else { return };
    let chain = KinematicChain::new(any(DhParameters::of(any(RobotModel::Ur5e))), any(&Default::default()));
    kinematics(&chain, &state);
    if let Ok(dh) = DhParameters::<7>::from_arrays(any([0.0; 7]), any([0.0; 7]), any([0.0; 7]), any([0.0; 7])) {
        used(KinematicChain::new(dh, any(&Default::default())).forward(&JointPositions(any_numbers())));
    }

    let config = JointServoConfig { proportional: any(20.0), ..any(JointServoConfig::default()) };
    let reference = trajectory::<6>().map_or(Reference::Hold, Reference::Relative);
    // The compiler does not know which law it is, so all of them are linked.
    law(any(LawConfig::JointServo { reference: any(reference), config }), &chain, &state);
    used(trajectory::<7>());
}

#[inline(never)]
fn kinematics(chain: &KinematicChain<6>, state: &State<6>) {
    let posture = any(chain).posture(&state.positions);
    used(posture.jacobian.twist(&state.velocities));
    let solver = any(DampedLeastSquares::default());
    used(solver.solve(&posture.jacobian, &any(posture.jacobian.twist(&state.velocities))));
}

#[inline(never)]
fn trajectory<const N: usize>() -> Option<Trajectory<N>> {
    let waypoint = Waypoint {
        setpoint: Setpoint { positions: JointPositions(any_numbers()), velocities: JointVelocities(any_numbers()) },
        accelerations: None,
        at: any(Duration::from_secs(1)),
    };
    let trajectory = match Trajectory::through(any::<&[Waypoint<N>]>(&[waypoint, waypoint])) {
        Ok(trajectory) => trajectory,
        Err(error) => {
            shown(error);
            return None;
        }
    };
    used((trajectory.peak_velocities(), trajectory.peak_accelerations(), trajectory.duration()));
    let mut sampler = Sampler::new(any(trajectory.clone()), any(Duration::from_millis(500)));
    sampler.start(JointPositions(any_numbers()));
    used(sampler.advance(any(Duration::from_millis(2)), any(0.5)));
    sampler.suspend();
    used(sampler.resume(&JointPositions(any_numbers()), any(0.1)));
    used((sampler.progress(), sampler.elapsed()));
    Some(trajectory)
}

#[inline(never)]
fn law(config: LawConfig<6>, chain: &KinematicChain<6>, state: &State<6>) {
    let mut law = match AnyLaw::new(config) {
        Ok(law) => law,
        Err(error) => return shown(error),
    };
    used(law.arm(&Start::at(state).with_kinematics(any(chain))));
    let now = any(Instant::from_micros(1));
    let value = SampleValue::new(any::<&[f32]>(&[0.0; 6])).unwrap_or(SampleValue::scalar(any(0.1)));
    let samples = [Sample { source: any(SourceId(1)), value, seq: any(1), taken_at: now }];
    used(law.step(state, &Samples::new(any(&samples)), any(Duration::from_millis(2))));
    law.suspend();
    used((law.arm(&Start::at(state).resuming()), MotionStatus::of(&law).progress, law.sources().len()));
}

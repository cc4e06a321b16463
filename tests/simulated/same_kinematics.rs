//! Compares the core's kinematics (`f32`, Denavit-Hartenberg) with the simulator's (`f64`, axes in space). The two
//! share no code and no table; on every arm they must give the same poses and tool speeds.

use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_sim::kinematics::{Chain, Rotation};
use outrigger_sim::model::ArmModel;
use outrigger_sim::rng::Rng;
use outrigger_wire::robot::{JointPositions, JointVelocities, Pose, RobotModel};

/// The error of `f32` in a pose [m, rad] or a speed [m/s, rad/s] within two metres and turns of ±2π.
const TOLERANCE: f64 = 2e-5;

fn near(ours: &[f32; 3], theirs: &[f64], what: &str) {
    for (a, b) in ours.iter().zip(theirs) {
        assert!((f64::from(*a) - b).abs() < TOLERANCE, "{what}: {ours:?} is not {theirs:?}");
    }
}

#[test]
fn core_and_simulator_agree_on_poses_and_tool_speeds_of_every_arm() {
    let tcp = [0.02, -0.01, 0.15, 0.2, -0.4, 0.3];
    for model in RobotModel::ALL {
        let core = KinematicChain::new(DhParameters::of(*model), &Pose::from_wire(tcp));
        let simulated = Chain::new(ArmModel::of(*model).lengths);
        let mut rng = Rng::new(1, 0);
        for _ in 0..200 {
            let draw = |rng: &mut Rng, span: f64| std::array::from_fn::<f64, 6, _>(|_| (rng.unit() * 2.0 - 1.0) * span);
            // The core computes with angles of `f32`: the simulator uses the same ones.
            let q = draw(&mut rng, std::f64::consts::TAU).map(|q| f64::from(q as f32));
            let qd = draw(&mut rng, 1.0);
            let posture = core.posture(&JointPositions(q.map(|q| q as f32)));
            let tool = simulated.tool(&q, &tcp);
            near(&posture.tcp.position, &tool.position, model.name());
            // Axes are compared instead of rotation vectors, which jump at half a turn.
            let turned = |rotation: Rotation, axis| rotation.turn(axis);
            near(&posture.tcp.rotation.x, &turned(tool.rotation, [1.0, 0.0, 0.0]), model.name());
            near(&posture.tcp.rotation.z, &turned(tool.rotation, [0.0, 0.0, 1.0]), model.name());
            let twist = posture.jacobian.twist(&JointVelocities(qd.map(|v| v as f32)));
            let speed = simulated.tool_speed(&q, &qd, &tcp);
            near(&twist.linear, &speed[..3], model.name());
            near(&twist.angular, &speed[3..], model.name());
        }
    }
}

//! Forward kinematics of an arm, and the joint speeds that move its tool by a desired twist.
//!
//! The geometry uses Denavit–Hartenberg parameters in the controller's own form: for each joint a turn by θ about z, a
//! shift by d along z, a shift by a along x, and a turn by α about x.
//!
//! ```
//! use outrigger_core::kinematics::{DampedLeastSquares, DhParameters, KinematicChain};
//! use outrigger_wire::robot::{JointPositions, Pose, RobotModel, Twist};
//!
//! let arm = KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default());
//! let posture = arm.posture(&JointPositions([0.0, -1.6, -1.4, -1.7, 1.6, 0.0]));
//! let forward = Twist { linear: [0.05, 0.0, 0.0], angular: [0.0; 3] };
//! let solution = DampedLeastSquares::default().solve(&posture.jacobian, &forward);
//! assert!((posture.jacobian.twist(&solution.velocities).linear[0] - 0.05).abs() < 1e-3);
//! ```

mod chain;
mod damped;
mod dh;
mod models;

pub use chain::{Jacobian, KinematicChain, Posture};
pub use damped::{DampedLeastSquares, Solution};
pub use dh::{DhError, DhParameters};

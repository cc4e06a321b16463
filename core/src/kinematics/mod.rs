//! Where the tool is, and which joint speeds move it as wanted.
//!
//! Geometry by Denavit and Hartenberg's parameters, in the controller's own form: for each joint a turn by
//! θ about z, a shift by d along z, a shift by a along x, and a turn by α about x.

mod chain;
mod damped;
mod dh;
mod models;

pub use chain::{Jacobian, KinematicChain, Posture};
pub use damped::{DampedLeastSquares, Solution};
pub use dh::{DhError, DhParameters};

//! A board in virtual time: `port-embassy` with its network stack, over a wire of frames, opposite the simulated
//! controller behind a stack of its own.
//!
//! ```text
//!  outrigger-embassy ─ embassy-net ─ frames ─ Wire ─ frames ─ Peer (smoltcp, outrigger-sim) ──► arm: the truth
//! ```
//!
//! No executor, no wall clock: a [`Rig`], and a [`KrcRig`] beside a simulated KRC, goes from one event to the next, polls the board's two tasks where something
//! woke them, and the same set-up with the same seed gives the same frames. The board computes in no time.

mod cable;
mod clock;
mod krc;
mod rig;
mod segment;
mod task;

pub use clock::sim_time;
pub use krc::{Arrived, KrcRig};
pub use rig::{Network, Rig, Way};
pub use segment::{Segment, datagram};

//! A board in virtual time: `port-embassy` with its network stack, over a wire of frames, opposite the simulated
//! controller behind a stack of its own.
//!
//! ```text
//!  outrigger-embassy ─ embassy-net ─ frames ─ Wire ─ frames ─ Peer (smoltcp, outrigger-sim) ──► arm: the truth
//! ```
//!
//! No executor, no wall clock: a [`Rig`] goes from one event to the next, polls the board's two tasks where something woke
//! them, and the same set-up with the same seed gives the same frames. The board computes in no time; with
//! [`Interface::W5500`], the bus to its chip takes what it takes. [`UrRig`] is one
//! beside a controller of Universal Robots, [`KrcRig`] one beside a KRC.

mod cable;
mod caller;
mod interface;
mod krc;
mod rig;
mod segment;
mod ur;

pub use caller::CallerRig;
pub use interface::Interface;
pub use krc::{Arrived, KrcRig};
pub use outrigger_emulated::executor::clock::sim_time;
pub use rig::{Rig, Side, Way};
pub use segment::{Segment, datagram};
pub use ur::{Network, UrRig};

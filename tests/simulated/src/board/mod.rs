//! A board in virtual time: `port-embassy` with its network stack, over a wire of frames, opposite the simulated
//! controller with a network stack of its own.
//!
//! ```text
//!  outrigger-embassy ─ embassy-net ─ frames ─ Wire ─ frames ─ Peer (smoltcp, outrigger-sim) ──► arm: the truth
//! ```
//!
//! A run uses neither an executor nor the wall clock. A [`Rig`] goes from one event to the next and polls the board's
//! two tasks when an event woke them. The same set-up with the same seed gives the same frames. The board computes in
//! no time; with [`Interface::W5500`], transfers on the bus to its chip take their real time. [`UrRig`] is a rig with
//! a controller of Universal Robots, [`KrcRig`] one with a KRC.

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

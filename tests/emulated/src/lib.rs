//! Emulated boards opposite the simulated controller.
//!
//! [`peer::Peer`] is the robot's end of a network of Ethernet frames: the simulated controller behind a TCP/IP stack of
//! its own, sans-IO and in virtual time. [`wire::Wire`] is one direction of a cable that loses, delays, doubles and
//! reorders frames. Both serve tests in virtual time (a port's stack on the other end of the wire) and a board that
//! runs in QEMU in real time.
//!
//! Nothing here decides with the core's link, mode or session: what a board does is judged by what it put on the wire,
//! by where the arm really is, and by what its telemetry says.
#![forbid(unsafe_code)]

#[cfg(feature = "qemu")]
pub mod bench;
pub mod caller;
#[cfg(feature = "machine")]
pub mod clock;
#[cfg(feature = "qemu")]
pub mod closed_loop;
#[cfg(feature = "board")]
pub mod executor;
pub mod hostile;
pub mod krc;
#[cfg(feature = "machine")]
pub mod namespace;
pub mod peer;
#[cfg(feature = "machine")]
pub mod priority;
#[cfg(feature = "qemu")]
pub mod qemu;
pub use outrigger_require as require;
// For a driver's tests, which name no other package of ours: random numbers by a seed, and virtual time.
pub use outrigger_sim::rng::Rng;
pub use outrigger_sim::time::SimTime;
pub mod sensor;
#[cfg(feature = "machine")]
pub mod standstill;
#[cfg(feature = "qemu")]
pub mod telemetry;
#[cfg(feature = "machine")]
pub mod tries;
#[cfg(feature = "board")]
pub mod w5500;
pub mod wire;

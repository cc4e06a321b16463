//! Emulated boards opposite the simulated controller.
//!
//! [`peer::Peer`] is the robot's end of a network of Ethernet frames: the simulated controller behind a TCP/IP stack of
//! its own. It performs no input or output of its own and runs in virtual time. [`wire::Wire`] is one direction of a
//! cable that loses, delays, duplicates and reorders frames. Both serve tests in virtual time, with a port's stack on
//! the other end of the wire, and boards that run in QEMU in real time.
//!
//! No code here uses the core's link, mode or session to decide. The behaviour of a board is judged by the traffic on
//! the wire, by the actual position of the arm, and by the board's telemetry.
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
// For a driver's tests, which depend on no other package of ours: random numbers from a seed, and virtual time.
pub use outrigger_sim::rng::Rng;
pub use outrigger_sim::time::SimTime;
#[cfg(feature = "machine")]
pub mod machine_standstills;
pub mod sensor;
#[cfg(feature = "qemu")]
pub mod telemetry;
#[cfg(feature = "machine")]
pub mod tries;
#[cfg(feature = "board")]
pub mod w5500;
pub mod wire;

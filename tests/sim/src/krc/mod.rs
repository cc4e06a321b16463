//! A simulated KRC2 lr with an LWR 4+, limited to its Fast Research Interface (`core/docs/protocol/kuka-fri.md A15`,
//! and beyond).
//!
//! [`Krc`] is sans-IO: it runs in virtual time, sends measurements through [`Krc::poll_transmit`] and receives
//! commands by [`Krc::receive`]. [`crate::udp`] is the driver for kernel sockets; tests drive it directly.
//!
//! ```
//! use outrigger_sim::krc::{Krc, Options};
//! use outrigger_sim::time::SimTime;
//!
//! let mut krc = Krc::new(Options::default())?;
//! krc.advance_to(SimTime::from_millis(5));
//! let first = krc.poll_transmit().expect("one measurement per millisecond");
//! assert_eq!(first.bytes.len(), 916);
//! # Ok::<(), outrigger_sim::krc::OptionsError>(())
//! ```
//!
//! Each undocumented property is an option with a named default: [`Options`], [`Rating`], [`Limits`], [`ArmOptions`];
//! [`Assumption`] parses each by its name. The arm has the mass of the real one, but is otherwise only similar to it
//! ([`model`]). Cartesian values are those of the flange in the base's directions: no tool, no other base, no other
//! task frame. A frame's FRI offset is the difference of the positions, and the rotation that leads from the KRC's
//! own frame to the commanded one ([`FrameOffset`]).

mod arm;
mod assumption;
mod controller;
mod fault;
mod fri_interface;
mod link_rating;
pub mod model;
mod network_channel;
mod options;
mod program;
mod program_motion;
mod publish;

pub use arm::{ArmOptions, Impedance};
pub use assumption::{Assumption, AssumptionError};
pub use controller::{Counts, Krc, Truth};
pub use fault::{Fault, FaultError, FaultKind};
pub use fri_interface::Reason;
pub use link_rating::Statistics;
pub use network_channel::{Sender, Transmit};
pub use options::{
    Bridging, FrameOffset, Limits, MirroredFrame, OffsetAfterStop, OperationMode, Options, OptionsError, QualityLimits,
    Rating,
};
pub use program::{Convention, ProgramOptions};
pub use program_motion::{Move, MoveError};

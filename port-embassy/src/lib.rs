#![doc = include_str!("../README.md")]
//!
//! [`Runner::run`] is the task of one robot, a [`Handle`] passes samples and requests of the other tasks to it, and an
//! [`Observer`] receives its events. The loop is [`core::drive`]: nothing here makes a decision about a protocol or a motion.
//!
//! [`core::drive`]: outrigger_core::drive
//!
//! # States by RTDE
//!
//! With the engine above states come from port 30003, by which a stop at the pendant cannot be seen. To have them from RTDE wherever the software knows it (from 3.4),
//! in packages of a third of the size, give the engine and the sockets the memory:
//!
//! ```
//! # use outrigger_core::law::{JointServo, JointServoConfig, Reference};
//! # use outrigger_core::engine::ur::{Memory, UrConfig, UrEngine};
//! use outrigger_core::engine::ur::rtde::RtdeMemory;
//! use outrigger_embassy::BuffersWithRtde;
//! # use outrigger_embassy::Windows;
//!
//! # let law = JointServo::new(Reference::Hold, JointServoConfig::default());
//! let mut rtde: RtdeMemory = RtdeMemory::new();
//! let (mut windows, buffers): (_, BuffersWithRtde) = (Windows::new(), BuffersWithRtde::with_rtde());
//! let memory = Memory { rtde: Some(&mut rtde), ..windows.memory() };
//! let engine = UrEngine::new(UrConfig::default(), law, memory);
//! # let _ = (engine, buffers);
//! ```
//!
//! # Commands by a program on the controller
//!
//! With the feature `programs`, and `session.path` other than `text`, commands go to a program that this device sends to the
//! controller, and that connects to it (`core/docs/protocol/outrigger-programs.md`). The sockets need room for that connection:
//!
//! ```
//! use outrigger_embassy::{BuffersWithRtde, FOR_A_PROGRAM};
//!
//! let buffers = BuffersWithRtde::<FOR_A_PROGRAM>::with_rtde();
//! # let _ = buffers;
//! ```
//!
//! # Beside a KUKA LWR
//!
//! [`krc`] is the same over one UDP socket: its own `new` and `Buffers`, and everything else as here.
//!
//! # Executors and interrupts
//!
//! The stack's own runner and [`Runner::run`] belong on **one** executor: [`Stack`] cannot be shared between
//! two. Everything else may be anywhere, interrupt handlers included: a [`Handle`] is `Copy`, `Send` and `Sync`, never
//! waits, and holds a critical section for the copy of one sample (~50 bytes) at most.
//!
//! # Around the stack
//!
//! | module | does |
//! |---|---|
//! | [`arp_guard`] | wraps a driver: one forged or conflicting ARP packet does not redirect what is sent to the robot |
//! | [`frame_monitor`] | counts received frames and classifies those from the robot's address |
//! | [`link_watchdog`] | decides when a silent interface is to be restarted, and when the device |
//! | [`heartbeat`] | tells a watchdog whether the control loop is alive |
//!
//! # What the stack must be given
//!
//! * Sockets: two of the stack's `StackResources` are taken, three with RTDE, four with a program, one beside a KRC.
//! * A seed that differs after every reset: with the same ports and sequence numbers as before it, the controller
//!   takes a new connection for a piece of the old one.
//! * An interface that keeps as many frames as the sockets have room for: 8 KiB of them ([`Buffers`] says why).
//! * `max_burst_size` of the driver `None`: with a number the stack advertises a window of no more packets than that.
//! * Ticks of 1 MHz (`embassy-time`): time stamps are then what they say, in µs.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::arithmetic_side_effects,
        clippy::std_instead_of_core,
        clippy::alloc_instead_of_core,
        clippy::float_cmp
    )
)]

// The critical sections of its tests.
#[cfg(test)]
use critical_section as _;

mod address;
mod arp_claim;
pub mod arp_guard;
mod edges;
pub mod frame_monitor;
mod handle;
pub mod heartbeat;
pub mod krc;
pub mod link_watchdog;
mod memory;
mod net;
mod runner;
pub mod sensor;
#[cfg(feature = "test-peer")]
#[doc(hidden)]
pub mod test_peer;
mod trouble;

pub use address::hardware_address;
pub use handle::{Handle, Shared};
pub use memory::{Buffers, BuffersWithRtde, FOR_A_PROGRAM, SmallBuffers, Windows};
pub use net::{Connections, Flow, Stack, now};
pub use runner::{Observer, Runner, UrRunner, new};
pub use trouble::Trouble;

#![doc = include_str!("../README.md")]
//! [`Runner::run`] is the task of one robot, a [`Handle`] passes samples and requests of the other tasks to it, and an
//! [`Observer`] receives its events. The loop is [`core::drive`]; this crate makes no decision about a protocol or a
//! motion.
//!
//! [`core::drive`]: outrigger_core::drive
//!
//! # States by RTDE
//!
//! The engine above receives states from port 30003, which does not show a stop at the pendant. To receive them by RTDE
//! from all software that supports it (from 3.4), in packages of a third of the size, provide memory to the engine and
//! the sockets:
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
//! With the feature `programs`, and `session.path` other than `text`, commands go to a program that this device sends
//! to the controller and that connects back to it (`core/docs/protocol/outrigger-programs.md`). The sockets need room
//! for this connection:
//!
//! ```
//! use outrigger_embassy::{BuffersWithRtde, FOR_A_PROGRAM};
//!
//! let buffers = BuffersWithRtde::<FOR_A_PROGRAM>::with_rtde();
//! # let _ = buffers;
//! ```
//!
//! # KUKA LWR
//!
//! [`krc`] is the equivalent over one UDP socket: it has its own `new` and `Buffers`, and all else is as described
//! here.
//!
//! # Executors and interrupts
//!
//! The stack's own runner and [`Runner::run`] must run on **one** executor, because [`Stack`] cannot be shared between
//! two. All else may be anywhere, interrupt handlers included: a [`Handle`] is `Copy`, `Send` and `Sync`, never waits,
//! and holds a critical section at most for the copy of one sample (~50 bytes).
//!
//! # Around the stack
//!
//! | module | does |
//! |---|---|
//! | [`arp_guard`] | wraps a driver: one forged or conflicting ARP packet does not redirect packets to the robot |
//! | [`frame_monitor`] | counts received frames and classifies those from the robot's address |
//! | [`link_watchdog`] | decides when to restart a silent interface, and when the device |
//! | [`heartbeat`] | shows a watchdog whether the control loop is alive |
//!
//! # Requirements on the stack
//!
//! * Sockets: two of the stack's `StackResources` are used, three with RTDE, four with a program, one with a KRC.
//! * A seed that differs after every reset: with the ports and sequence numbers of the previous run, the controller
//!   takes a new connection for a part of the old one.
//! * An interface that stores as many frames as the sockets have room for: 8 KiB of them ([`Buffers`] states why).
//! * `max_burst_size` of the driver `None`: with a number the stack advertises a window of at most that many packets.
//! * Ticks of 1 MHz (`embassy-time`), so that time stamps have a resolution of 1 µs.
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

// Provides the critical sections of the tests.
#[cfg(test)]
use critical_section as _;

mod arp_claim;
pub mod arp_guard;
mod connection_fault;
pub mod frame_monitor;
mod hardware_address;
pub mod heartbeat;
pub mod krc;
pub mod link_watchdog;
mod memory;
mod net;
mod operator_queue;
mod robot_mailbox;
mod runner;
pub mod sensor;
#[cfg(feature = "test-peer")]
#[doc(hidden)]
pub mod test_peer;

pub use connection_fault::ConnectionFault;
pub use hardware_address::hardware_address;
pub use memory::{Buffers, BuffersWithRtde, FOR_A_PROGRAM, SmallBuffers, Windows};
pub use net::{Connections, Flow, Stack, now};
pub use robot_mailbox::{Handle, Shared};
pub use runner::{Observer, Runner, UrRunner, new};

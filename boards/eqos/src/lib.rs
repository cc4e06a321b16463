//! Driver of the Synopsys DesignWare Ethernet QoS controller (DWC EQOS), as it is in the STM32H7, for `embassy-net`.
//!
//! | module | what |
//! |---|---|
//! | [`Bus`], [`Cells`] | what a board gives: registers, barriers, clock; and the memory that core and DMA share |
//! | [`registers`] | the registers that are used, and their bits |
//! | `receive`, `transmit` | the two rings of descriptors: who owns what, in which order it is written |
//! | `phy` | the transceiver: found, reset, negotiated, looked at; one transfer at a time, none waited for |
//! | [`Interface`] | start, link, recovery; the driver that `embassy-net` polls |
//! | [`Shared`] | what the interrupt and others know of it: counters, news, the wish for a restart |
//!
//! Nothing here waits. A reset, a transfer to the transceiver or a negotiation is begun, and looked at in a later poll; each
//! has a time after which it counts as failed, and the whole start begins anew no more often than once a second.
//!
//! # Order of writes and tail pointers
//!
//! The DMA reads the first word of a descriptor before the last, which says whose it is (oxidecomputer/hubris 750). A
//! descriptor that is handed over while the DMA reads it would be used with its old first word, whatever the order of
//! writes. So the DMA is kept away by the tail pointer: each ring has one descriptor that the DMA may not process. On
//! reception the tail names the descriptor that was handed over last (STMicroelectronics/stm32h7xx-hal-driver,
//! `stm32h7xx_hal_eth.c`, `ETH_UpdateDescriptor`; embassy-rs/embassy 7048), on transmission the one behind the last
//! frame, and at most all but one wait there.
//!
//! Words and payload are written, then a barrier, then the word with OWN, then a barrier that completes the writes, then the
//! tail pointer.
//!
//! `tests/` has a model of the controller that a driver can be run against, and shows what of this is needed.
#![no_std]
#![forbid(unsafe_code)]

mod bus;
mod interface;
mod memory;
mod phy;
mod receive;
pub mod registers;
mod shared;
mod transmit;

pub use bus::{Bus, Cells};
pub use interface::{Interface, ReceiveToken, TransmitToken};
pub use memory::{BUFFER, RingMemory};
pub use phy::LinkMode;
#[doc(hidden)]
pub use receive::ReceiveRing;
pub use shared::{Cause, Counters, Fault, News, Shared};
#[doc(hidden)]
pub use transmit::TransmitRing;

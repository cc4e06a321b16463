#![doc = include_str!("../README.md")]
//!
//! # Order of writes and tail pointers
//!
//! The DMA reads the first word of a descriptor before the last, which has the owner (oxidecomputer/hubris 750). A
//! descriptor that is given to the DMA while it reads it would be used with its old first word, whatever the order of
//! writes. So the tail pointer keeps the DMA away: each ring has one descriptor that the DMA may not process. On
//! reception the tail names the descriptor that was given last (STMicroelectronics/stm32h7xx-hal-driver,
//! `stm32h7xx_hal_eth.c`, `ETH_UpdateDescriptor`; embassy-rs/embassy 7048), on transmission the one behind the last
//! frame, and at most all but one wait there.
//!
//! Words and payload are written, then a barrier, then the word with OWN, then a barrier that completes the writes, then the
//! tail pointer.
//!
//! # Starting
//!
//! Each step is begun in one poll and checked in a later one. A step that exceeds its timeout ends the start as a [`Fault`],
//! and all of it is repeated, a second after the last start at the earliest: reset of the controller 500 ms, transfer to the
//! transceiver 10 ms, reset of the transceiver 600 ms.
#![no_std]
#![forbid(unsafe_code)]

mod board_traits;
mod interface;
mod memory;
mod phy;
mod receive;
pub mod registers;
mod shared;
mod transmit;

pub use board_traits::{Bus, Cells};
pub use interface::{Interface, ReceiveToken, TransmitToken};
pub use memory::{BUFFER, RingMemory};
pub use phy::LinkMode;
#[doc(hidden)]
pub use receive::ReceiveRing;
pub use shared::{Cause, Counters, Fault, News, Shared};
#[doc(hidden)]
pub use transmit::TransmitRing;

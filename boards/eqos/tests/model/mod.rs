//! A model of the controller as seen by a driver: registers, two DMA processes, the memory they share with a core whose
//! stores arrive late, a transceiver, and a wire.
//!
//! # Sources
//!
//! * Tail pointers: the DMA processes descriptors up to the one that the tail names, and suspends there; writing the
//!   tail makes it look again (Synopsys, as quoted in the Linux commit "stmmac: add GMAC4 DMA/CORE", and Intel's Agilex
//!   5 manual 814346, 5.1.6.3.1). It also suspends at a descriptor that it does not own, wherever the tail is.
//! * The first word of a descriptor is read before the last (oxidecomputer/hubris 750: a marker in the first word
//!   appeared in the DMA's register of the current buffer), and the write-back on reception uses the first word for
//!   VLAN tags (ST, `stm32h7xx_hal_eth.h`).
//! * A bus error (FBE) stops a process until the controller is reset. Bits of DMACSR are cleared by writing them, and
//!   those that DMACIER enables interrupt, level by level.
//! * Stores of a core to normal memory arrive in any order between two barriers. Stores to registers are in order among
//!   themselves and do not wait for the former. Loads may return the content as of the last barrier.
//!
//! # Limits
//!
//! The model does not show whether this chip behaves as these sources say. It contains no timing of the bus, no bursts,
//! no FIFOs of the MAC, checksums, frame filters, pause, half duplex, collisions or caches, and no effect of the reset
//! except its end. Each word of a payload arrives with its half of the frame, not separately; words of descriptors are
//! loaded in order. The ring wraps by number, not by address. Every write-back here leaves VLAN tags in the first word;
//! on the chip only a tagged frame does, and the content after other frames is not documented in our sources.
#![allow(dead_code, unused_imports, reason = "every test program has its own copy, and uses its own part")]

mod choose;
mod controller;
mod machine;
mod port;
pub(crate) mod released;

pub(crate) use choose::{Choose, Every, Seeded};
pub(crate) use machine::{Machine, Side, State, Tail};
pub(crate) use port::{ModelCells, Port, Woken};

/// Returns a frame that can be identified: its number, and bytes that follow from it, in both halves of a buffer.
pub(crate) fn frame(number: u32) -> Vec<u8> {
    let length = 60 + (number as usize * 389) % 1_455;
    let mut frame: Vec<u8> = (0..length).map(|at| (number as usize * 31 + at * 7) as u8).collect();
    frame[..4].copy_from_slice(&number.to_le_bytes());
    frame
}

/// Returns the number of a frame, if [`frame`] made it.
pub(crate) fn number(bytes: &[u8]) -> Option<u32> {
    let number = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    (frame(number) == bytes).then_some(number)
}

//! A model of the controller, as a driver sees it: registers, two DMA processes, the memory they share with a core whose
//! stores arrive late, a transceiver, and a wire.
//!
//! # What it is made from
//!
//! * Tail pointers: the DMA processes descriptors up to the one that the tail names, and suspends there; writing the tail is
//!   what makes it look again (Synopsys, as quoted in the Linux commit "stmmac: add GMAC4 DMA/CORE", and Intel's Agilex 5
//!   manual 814346, 5.1.6.3.1). It suspends at a descriptor that is not its own, too, wherever the tail is.
//! * The first word of a descriptor is read before the last (oxidecomputer/hubris 750: a marker in the first word turned up in
//!   the DMA's register of the current buffer), and the write-back on reception uses the first word for VLAN tags (ST,
//!   `stm32h7xx_hal_eth.h`).
//! * A bus error (FBE) stops a process until the controller is reset. Bits of DMACSR are cleared by writing them, and those
//!   that DMACIER enables interrupt, level by level.
//! * Stores of a core to normal memory arrive in any order between two barriers; stores to registers are in order among
//!   themselves and do not wait for the former. Loads may return what was there at the last barrier.
//!
//! # What it does not show
//!
//! Whether this chip does what those sources say; anything about time on the bus, bursts, FIFOs of the MAC, checksums, frame
//! filters, pause, half duplex and collisions, caches; what else the reset does than end. Each word of a payload arrives with
//! its half of the frame, not by itself; words of descriptors are loaded in order. That the ring wraps is by number, not by
//! address. Every write-back here leaves tags of a VLAN in the first word; on the chip that takes a tagged frame, and what it
//! leaves of others is not documented where we could read it.
#![allow(dead_code, unused_imports, reason = "every test program has its own copy, and uses its own part")]

mod choose;
mod controller;
mod machine;
mod port;
pub(crate) mod released;

pub(crate) use choose::{Choose, Every, Seeded};
pub(crate) use machine::{Machine, Side, State, Tail};
pub(crate) use port::{ModelCells, Port, Woken};

/// A frame that is told from any other: its number, and bytes that follow from it, in both halves of a buffer.
pub(crate) fn frame(number: u32) -> Vec<u8> {
    let length = 60 + (number as usize * 389) % 1_455;
    let mut frame: Vec<u8> = (0..length).map(|at| (number as usize * 31 + at * 7) as u8).collect();
    frame[..4].copy_from_slice(&number.to_le_bytes());
    frame
}

/// The number of a frame, if it is one of those.
pub(crate) fn number(bytes: &[u8]) -> Option<u32> {
    let number = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    (frame(number) == bytes).then_some(number)
}

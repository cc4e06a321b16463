//! The registers that the driver uses, as byte offsets from the controller's first one (`usize`), and bits in them and in
//! descriptors (`u32`). A double of the controller, as in a test, needs them; a [`Bus`](crate::Bus) on a chip does not.
//!
//! ```
//! use outrigger_eqos::registers::{DMAMR, DMAMR_SWR};
//!
//! /// Reads of a controller that ends its reset at once.
//! fn read(register: usize) -> u32 {
//!     if register == DMAMR { !DMAMR_SWR } else { 0 }
//! }
//! assert_eq!(read(DMAMR) & DMAMR_SWR, 0);
//! ```
//!
//! Source: ST's CMSIS header `stm32h743xx.h` (cmsis-device-h7 de8243d2c15f) and `stm32-metapac`; a test compares them with
//! the latter. Bits of descriptors: ST's `stm32h7xx_hal_eth.h`.

/// The operating mode of the MAC.
pub const MACCR: usize = 0x000;
/// Enables the receiver.
pub const MACCR_RE: u32 = 1;
/// Enables the transmitter.
pub const MACCR_TE: u32 = 1 << 1;
/// Full duplex, else half.
pub const MACCR_DM: u32 = 1 << 13;
/// 100 Mbit/s, else 10.
pub const MACCR_FES: u32 = 1 << 14;
/// Removes padding and check sequence of received frames whose type field is a length.
pub const MACCR_ACS: u32 = 1 << 20;
/// Removes the check sequence of received frames whose type field is a type.
pub const MACCR_CST: u32 = 1 << 21;
/// The filter of received frames.
pub const MACPFR: usize = 0x008;
/// Passes all multicast frames.
pub const MACPFR_PM: u32 = 1 << 4;
/// The clocks of the bus in a microsecond, less one.
pub const MAC1USTCR: usize = 0x0dc;
/// The control of transfers to the transceiver.
pub const MACMDIOAR: usize = 0x200;
/// Busy: reads 1 during a transfer, and begins one when written.
pub const MACMDIOAR_MB: u32 = 1;
/// The kind of transfer: a read.
pub const MACMDIOAR_READ: u32 = 0b11 << 2;
/// The kind of transfer: a write.
pub const MACMDIOAR_WRITE: u32 = 0b01 << 2;
/// The 16 bits of a transfer to the transceiver, read or to be written.
pub const MACMDIODR: usize = 0x204;
/// Bytes 4 and 5 of the hardware address, byte 4 lowest.
pub const MACA0HR: usize = 0x300;
/// Bytes 0 to 3 of the hardware address, byte 0 lowest; writing it makes the whole address valid.
pub const MACA0LR: usize = 0x304;
/// The mask of counters of received frames: a 1 suppresses the interrupt.
pub const MMC_RX_INTERRUPT_MASK: usize = 0x70c;
/// Every bit of [`MMC_RX_INTERRUPT_MASK`].
pub const MMC_RX_ALL: u32 = 1 << 5 | 1 << 6 | 1 << 17 | 1 << 26 | 1 << 27;
/// The mask of counters of sent frames: a 1 suppresses the interrupt.
pub const MMC_TX_INTERRUPT_MASK: usize = 0x710;
/// Every bit of [`MMC_TX_INTERRUPT_MASK`].
pub const MMC_TX_ALL: u32 = 1 << 14 | 1 << 15 | 1 << 21 | 1 << 26 | 1 << 27;

/// The operating mode of the transmit queue.
pub const MTLTXQOMR: usize = 0xd00;
/// Flushes the queue.
pub const MTLTXQOMR_FTQ: u32 = 1;
/// Store and forward: sends a frame once all of it is in the queue.
pub const MTLTXQOMR_TSF: u32 = 1 << 1;
/// The operating mode of the receive queue.
pub const MTLRXQOMR: usize = 0xd30;
/// Store and forward: passes a frame on once all of it has arrived and is good.
pub const MTLRXQOMR_RSF: u32 = 1 << 5;

/// The mode of the DMA.
pub const DMAMR: usize = 0x1000;
/// Resets the controller; reads 0 at its end, which needs all clocks, the transceiver's among them.
pub const DMAMR_SWR: u32 = 1;
/// The state of the DMA's two processes.
pub const DMADSR: usize = 0x100c;
/// The lowest of the four bits of reception's state.
pub const DMADSR_RPS0: u32 = 8;
/// The state of a process that is not started, or stopped.
pub const STOPPED: u32 = 0;
/// The state of reception that is suspended, until the tail pointer is written.
pub const SUSPENDED: u32 = 4;
/// The lowest of the four bits of transmission's state.
pub const DMADSR_TPS0: u32 = 12;
/// The state of transmission that is suspended, until the tail pointer is written.
pub const TX_SUSPENDED: u32 = 6;
/// The control of transmission.
pub const DMACTXCR: usize = 0x1104;
/// Starts transmission.
pub const DMACTXCR_ST: u32 = 1;
/// Bursts of one beat, for transmission.
pub const DMACTXCR_PBL_1: u32 = 1 << 16;
/// The control of reception.
pub const DMACRXCR: usize = 0x1108;
/// Starts reception.
pub const DMACRXCR_SR: u32 = 1;
/// The lowest bit of the size of the receive buffers \[B\].
pub const DMACRXCR_RBSZ: u32 = 1 << 1;
/// Bursts of one beat, for reception.
pub const DMACRXCR_PBL_1: u32 = 1 << 16;
/// The address of the first transmit descriptor.
pub const DMACTXDLAR: usize = 0x1114;
/// The address of the first receive descriptor.
pub const DMACRXDLAR: usize = 0x111c;
/// The tail pointer of transmission: the address of the descriptor at which the DMA suspends. Writing it wakes the DMA.
pub const DMACTXDTPR: usize = 0x1120;
/// The tail pointer of reception, likewise.
pub const DMACRXDTPR: usize = 0x1128;
/// The number of transmit descriptors, less one.
pub const DMACTXRLR: usize = 0x112c;
/// The number of receive descriptors, less one.
pub const DMACRXRLR: usize = 0x1130;
/// The bits of [`DMACSR`] that raise the interrupt.
pub const DMACIER: usize = 0x1134;
/// The events of the DMA; writing a 1 clears a bit.
pub const DMACSR: usize = 0x1160;
/// A frame was sent.
pub const TI: u32 = 1;
/// Transmission has stopped.
pub const TPS: u32 = 1 << 1;
/// A frame was received.
pub const RI: u32 = 1 << 6;
/// No descriptor for a received frame: reception is suspended.
pub const RBU: u32 = 1 << 7;
/// Reception has stopped.
pub const RPS: u32 = 1 << 8;
/// The bus refused an access: the process stops until the controller is reset.
pub const FBE: u32 = 1 << 12;
/// The sum of abnormal events; in [`DMACIER`], enables them.
pub const AIS: u32 = 1 << 14;
/// The sum of normal events; in [`DMACIER`], enables them.
pub const NIS: u32 = 1 << 15;
/// Every bit of [`DMACSR`] that can be cleared.
pub const CLEARABLE: u32 = 0xffff;

/// The last word of a descriptor: owned by the DMA, else by the core.
pub const OWN: u32 = 1 << 31;
/// The last word: a context descriptor, of no frame.
pub const CTXT: u32 = 1 << 30;
/// The last word: first descriptor of a frame.
pub const FD: u32 = 1 << 29;
/// The last word: last descriptor of a frame.
pub const LD: u32 = 1 << 28;
/// The last word, written by the DMA: an error in the frame.
pub const ES: u32 = 1 << 15;
/// The last word: length of the frame \[B\].
pub const LENGTH: u32 = 0x7fff;
/// The last word, reception: interrupts when the buffer is filled.
pub const RX_IOC: u32 = 1 << 30;
/// The last word, reception: the first word is the address of a buffer.
pub const RX_BUF1V: u32 = 1 << 24;
/// The third word, transmission: interrupts when the frame is sent.
pub const TX_IOC: u32 = 1 << 31;

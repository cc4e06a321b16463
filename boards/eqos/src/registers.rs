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

/// The register for the operating mode of the Ethernet MAC.
pub const MACCR: usize = 0x000;
/// The bit of [`MACCR`] that enables the receiver.
pub const MACCR_RE: u32 = 1;
/// The bit of [`MACCR`] that enables the transmitter.
pub const MACCR_TE: u32 = 1 << 1;
/// The bit of [`MACCR`] that selects full duplex, else half duplex.
pub const MACCR_DM: u32 = 1 << 13;
/// The bit of [`MACCR`] that selects 100 Mbit/s, else 10 Mbit/s.
pub const MACCR_FES: u32 = 1 << 14;
/// The bit of [`MACCR`] that removes padding and check sequence of received frames whose type field is a length.
pub const MACCR_ACS: u32 = 1 << 20;
/// The bit of [`MACCR`] that removes the check sequence of received frames whose type field is a type.
pub const MACCR_CST: u32 = 1 << 21;
/// The register for the filter of received frames.
pub const MACPFR: usize = 0x008;
/// The bit of [`MACPFR`] that passes all multicast frames to the stack.
pub const MACPFR_PM: u32 = 1 << 4;
/// The register for the number of bus clocks in a microsecond, less one.
pub const MAC1USTCR: usize = 0x0dc;
/// The register that controls transfers to the transceiver.
pub const MACMDIOAR: usize = 0x200;
/// The busy bit of [`MACMDIOAR`]: reads 1 during a transfer, and begins one when written.
pub const MACMDIOAR_MB: u32 = 1;
/// The field of [`MACMDIOAR`] that selects a read as the kind of transfer.
pub const MACMDIOAR_READ: u32 = 0b11 << 2;
/// The field of [`MACMDIOAR`] that selects a write as the kind of transfer.
pub const MACMDIOAR_WRITE: u32 = 0b01 << 2;
/// The register with the 16 bits of a transfer to the transceiver, read or to be written.
pub const MACMDIODR: usize = 0x204;
/// The register with bytes 4 and 5 of the hardware address, byte 4 lowest.
pub const MACA0HR: usize = 0x300;
/// The register with bytes 0 to 3 of the hardware address, byte 0 lowest; writing it makes the whole address valid.
pub const MACA0LR: usize = 0x304;
/// The interrupt mask for the counters of received frames: a 1 suppresses the interrupt.
pub const MMC_RX_INTERRUPT_MASK: usize = 0x70c;
/// Every bit of [`MMC_RX_INTERRUPT_MASK`], to disable all interrupts of the counters for reception.
pub const MMC_RX_ALL: u32 = 1 << 5 | 1 << 6 | 1 << 17 | 1 << 26 | 1 << 27;
/// The interrupt mask for the counters of sent frames: a 1 suppresses the interrupt.
pub const MMC_TX_INTERRUPT_MASK: usize = 0x710;
/// Every bit of [`MMC_TX_INTERRUPT_MASK`], to disable all interrupts of the counters for transmission.
pub const MMC_TX_ALL: u32 = 1 << 14 | 1 << 15 | 1 << 21 | 1 << 26 | 1 << 27;

/// The register for the operating mode of the transmit queue.
pub const MTLTXQOMR: usize = 0xd00;
/// The bit of [`MTLTXQOMR`] that flushes the transmit queue.
pub const MTLTXQOMR_FTQ: u32 = 1;
/// The bit of [`MTLTXQOMR`] for store and forward: sends a frame once all of it is in the queue.
pub const MTLTXQOMR_TSF: u32 = 1 << 1;
/// The register for the operating mode of the receive queue.
pub const MTLRXQOMR: usize = 0xd30;
/// The bit of [`MTLRXQOMR`] for store and forward: passes a frame on once all of it has arrived and is good.
pub const MTLRXQOMR_RSF: u32 = 1 << 5;

/// The register for the mode of the Ethernet DMA.
pub const DMAMR: usize = 0x1000;
/// The bit of [`DMAMR`] that resets the controller; reads 0 at the end of the reset, which needs all clocks, the
/// transceiver's among them.
pub const DMAMR_SWR: u32 = 1;
/// The register with the state of the DMA's two processes, reception and transmission.
pub const DMADSR: usize = 0x100c;
/// The position in [`DMADSR`] of the four bits with the state of reception.
pub const DMADSR_RPS0: u32 = 8;
/// The state in [`DMADSR`] of a process of the DMA that is not started, or stopped.
pub const STOPPED: u32 = 0;
/// The state in [`DMADSR`] of reception that is suspended, until the tail pointer is written.
pub const SUSPENDED: u32 = 4;
/// The position in [`DMADSR`] of the four bits with the state of transmission.
pub const DMADSR_TPS0: u32 = 12;
/// The state in [`DMADSR`] of transmission that is suspended, until the tail pointer is written.
pub const TX_SUSPENDED: u32 = 6;
/// The register that controls transmission by the DMA.
pub const DMACTXCR: usize = 0x1104;
/// The bit of [`DMACTXCR`] that starts transmission.
pub const DMACTXCR_ST: u32 = 1;
/// The field of [`DMACTXCR`] that selects bursts of one beat for transmission.
pub const DMACTXCR_PBL_1: u32 = 1 << 16;
/// The register that controls reception by the DMA.
pub const DMACRXCR: usize = 0x1108;
/// The bit of [`DMACRXCR`] that starts reception.
pub const DMACRXCR_SR: u32 = 1;
/// The lowest bit of the field of [`DMACRXCR`] for the size of the receive buffers \[B\].
pub const DMACRXCR_RBSZ: u32 = 1 << 1;
/// The field of [`DMACRXCR`] that selects bursts of one beat for reception.
pub const DMACRXCR_PBL_1: u32 = 1 << 16;
/// The register with the address of the first transmit descriptor.
pub const DMACTXDLAR: usize = 0x1114;
/// The register with the address of the first receive descriptor.
pub const DMACRXDLAR: usize = 0x111c;
/// The register with the tail pointer of transmission: the address of the descriptor at which the DMA suspends.
/// Writing it wakes the DMA.
pub const DMACTXDTPR: usize = 0x1120;
/// The register with the tail pointer of reception: the address of the descriptor at which the DMA suspends. Writing
/// it wakes the DMA.
pub const DMACRXDTPR: usize = 0x1128;
/// The register with the number of transmit descriptors, less one.
pub const DMACTXRLR: usize = 0x112c;
/// The register with the number of receive descriptors, less one.
pub const DMACRXRLR: usize = 0x1130;
/// The register that selects the bits of [`DMACSR`] that raise the interrupt.
pub const DMACIER: usize = 0x1134;
/// The register with the events of the DMA; writing a 1 clears a bit.
pub const DMACSR: usize = 0x1160;
/// The bit of [`DMACSR`] for the event "a frame was sent".
pub const TI: u32 = 1;
/// The bit of [`DMACSR`] for the event "transmission has stopped".
pub const TPS: u32 = 1 << 1;
/// The bit of [`DMACSR`] for the event "a frame was received".
pub const RI: u32 = 1 << 6;
/// The bit of [`DMACSR`] for "no descriptor for a received frame": reception is suspended.
pub const RBU: u32 = 1 << 7;
/// The bit of [`DMACSR`] for the event "reception has stopped".
pub const RPS: u32 = 1 << 8;
/// The bit of [`DMACSR`] for "the bus refused an access": the process stops until the controller is reset.
pub const FBE: u32 = 1 << 12;
/// The bit of [`DMACSR`] for the sum of abnormal events; in [`DMACIER`], enables them.
pub const AIS: u32 = 1 << 14;
/// The bit of [`DMACSR`] for the sum of normal events; in [`DMACIER`], enables them.
pub const NIS: u32 = 1 << 15;
/// Every bit of [`DMACSR`] that can be cleared.
pub const CLEARABLE: u32 = 0xffff;

/// The bit of a descriptor's last word that is set if the DMA owns the descriptor, and clear if the core does.
pub const OWN: u32 = 1 << 31;
/// The bit of a descriptor's last word that marks a context descriptor, which belongs to no frame.
pub const CTXT: u32 = 1 << 30;
/// The bit of a descriptor's last word that marks the first descriptor of a frame.
pub const FD: u32 = 1 << 29;
/// The bit of a descriptor's last word that marks the last descriptor of a frame.
pub const LD: u32 = 1 << 28;
/// The bit of a descriptor's last word with which the DMA reports an error in the frame.
pub const ES: u32 = 1 << 15;
/// The bits of a descriptor's last word with the length of the frame \[B\].
pub const LENGTH: u32 = 0x7fff;
/// The bit of a receive descriptor's last word that requests an interrupt when the buffer is filled.
pub const RX_IOC: u32 = 1 << 30;
/// The bit of a receive descriptor's last word that marks the first word as the address of a buffer.
pub const RX_BUF1V: u32 = 1 << 24;
/// The bit of a transmit descriptor's third word that requests an interrupt when the frame is sent.
pub const TX_IOC: u32 = 1 << 31;

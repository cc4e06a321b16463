//! Registers by their offset \[B\] from the controller's first one, and bits of them.
//!
//! As in ST's CMSIS header `stm32h743xx.h` (cmsis-device-h7 de8243d2c15f) and `stm32-metapac`; a test holds them against
//! the latter.

/// Operating mode of the MAC.
pub const MACCR: usize = 0x000;
/// The receiver is on.
pub const MACCR_RE: u32 = 1;
/// The transmitter is on.
pub const MACCR_TE: u32 = 1 << 1;
/// Full duplex.
pub const MACCR_DM: u32 = 1 << 13;
/// 100 Mbit/s.
pub const MACCR_FES: u32 = 1 << 14;
/// Frames come without padding and check sequence: those with a length.
pub const MACCR_ACS: u32 = 1 << 20;
/// And those with a type.
pub const MACCR_CST: u32 = 1 << 21;
/// Which frames are received.
pub const MACPFR: usize = 0x008;
/// All of groups.
pub const MACPFR_PM: u32 = 1 << 4;
/// Ticks of the bus in a microsecond, less one.
pub const MAC1USTCR: usize = 0x0dc;
/// Transfers to the transceiver.
pub const MACMDIOAR: usize = 0x200;
/// A transfer is under way; writing it begins one.
pub const MACMDIOAR_MB: u32 = 1;
/// Kind of transfer: a read.
pub const MACMDIOAR_READ: u32 = 0b11 << 2;
/// A write.
pub const MACMDIOAR_WRITE: u32 = 0b01 << 2;
/// What was read, or is to be written.
pub const MACMDIODR: usize = 0x204;
/// Bytes 4 and 5 of the hardware address.
pub const MACA0HR: usize = 0x300;
/// Bytes 0 to 3; writing them makes the whole address valid.
pub const MACA0LR: usize = 0x304;
/// Counters of received frames that raise no interrupt.
pub const MMC_RX_INTERRUPT_MASK: usize = 0x70c;
/// Those that there are.
pub const MMC_RX_ALL: u32 = 1 << 5 | 1 << 6 | 1 << 17 | 1 << 26 | 1 << 27;
/// Counters of sent frames that raise no interrupt.
pub const MMC_TX_INTERRUPT_MASK: usize = 0x710;
/// Those that there are.
pub const MMC_TX_ALL: u32 = 1 << 14 | 1 << 15 | 1 << 21 | 1 << 26 | 1 << 27;

/// The transmit queue.
pub const MTLTXQOMR: usize = 0xd00;
/// Empty it.
pub const MTLTXQOMR_FTQ: u32 = 1;
/// Begin a frame on the wire when all of it has arrived.
pub const MTLTXQOMR_TSF: u32 = 1 << 1;
/// The receive queue.
pub const MTLRXQOMR: usize = 0xd30;
/// Pass a frame on when all of it has arrived and is good.
pub const MTLRXQOMR_RSF: u32 = 1 << 5;

/// Mode of the DMA.
pub const DMAMR: usize = 0x1000;
/// Resets everything; reads 0 when that is done, which takes all clocks, the transceiver's among them.
pub const DMAMR_SWR: u32 = 1;
/// What both processes do.
pub const DMADSR: usize = 0x100c;
/// Lowest bit of the four that say what reception does.
pub const DMADSR_RPS0: u32 = 8;
/// Reception has not been started, or was stopped.
pub const STOPPED: u32 = 0;
/// Reception waits for a tail pointer.
pub const SUSPENDED: u32 = 4;
/// Lowest bit of the four that say what transmission does.
pub const DMADSR_TPS0: u32 = 12;
/// Transmission waits for a tail pointer.
pub const TX_SUSPENDED: u32 = 6;
/// Transmission.
pub const DMACTXCR: usize = 0x1104;
/// Is on.
pub const DMACTXCR_ST: u32 = 1;
/// One word at a time.
pub const DMACTXCR_PBL_1: u32 = 1 << 16;
/// Reception.
pub const DMACRXCR: usize = 0x1108;
/// Is on.
pub const DMACRXCR_SR: u32 = 1;
/// Lowest bit of the buffers' size.
pub const DMACRXCR_RBSZ: u32 = 1 << 1;
/// One word at a time.
pub const DMACRXCR_PBL_1: u32 = 1 << 16;
/// First descriptor of transmission.
pub const DMACTXDLAR: usize = 0x1114;
/// First descriptor of reception.
pub const DMACRXDLAR: usize = 0x111c;
/// The descriptor of transmission at which the DMA stands still. Writing it makes the DMA look again.
pub const DMACTXDTPR: usize = 0x1120;
/// That of reception.
pub const DMACRXDTPR: usize = 0x1128;
/// Descriptors of transmission, less one.
pub const DMACTXRLR: usize = 0x112c;
/// Descriptors of reception, less one.
pub const DMACRXRLR: usize = 0x1130;
/// Which bits of [`DMACSR`] raise the interrupt.
pub const DMACIER: usize = 0x1134;
/// What happened; each bit is cleared by writing it.
pub const DMACSR: usize = 0x1160;
/// A frame was sent.
pub const TI: u32 = 1;
/// Transmission was stopped.
pub const TPS: u32 = 1 << 1;
/// A frame was received.
pub const RI: u32 = 1 << 6;
/// There was no descriptor for a received frame.
pub const RBU: u32 = 1 << 7;
/// Reception was stopped.
pub const RPS: u32 = 1 << 8;
/// The bus refused an access: the process stands for good.
pub const FBE: u32 = 1 << 12;
/// Sum of what is not normal, and what enables it.
pub const AIS: u32 = 1 << 14;
/// Sum of what is.
pub const NIS: u32 = 1 << 15;
/// Every bit of [`DMACSR`] that can be cleared.
pub const CLEARABLE: u32 = 0xffff;

/// The last word of every descriptor: it is the DMA's.
pub const OWN: u32 = 1 << 31;
/// Not of a frame.
pub const CTXT: u32 = 1 << 30;
/// First of a frame.
pub const FD: u32 = 1 << 29;
/// Last of a frame.
pub const LD: u32 = 1 << 28;
/// Something was wrong with the frame.
pub const ES: u32 = 1 << 15;
/// Length of a frame, in the last word.
pub const LENGTH: u32 = 0x7fff;
/// Last word, reception: interrupt when it is filled.
pub const RX_IOC: u32 = 1 << 30;
/// Last word, reception: the first word is an address.
pub const RX_BUF1V: u32 = 1 << 24;
/// Third word, transmission: interrupt when it is sent.
pub const TX_IOC: u32 = 1 << 31;

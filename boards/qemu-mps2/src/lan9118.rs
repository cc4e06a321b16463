//! The LAN9118 Ethernet controller (on the board its LAN9220), as a driver of `embassy-net`.
//!
//! Frames are copied between the controller's FIFOs and the stack through one buffer in each direction. The interrupt
//! only signals waiting frames: it masks itself, and is unmasked when `receive` has found the FIFO empty.

use core::sync::atomic::{AtomicU32, Ordering};
use core::task::Context;

use embassy_net_driver::{Capabilities, Driver, HardwareAddress, LinkState, RxToken, TxToken};
use embassy_sync::waitqueue::AtomicWaker;

use crate::interrupts::{self, Interrupt};
use crate::machine;
use crate::mmio::Registers;

// SAFETY: the network controller of the chosen machine; it has its own FIFOs and does not access memory.
const MAC: Registers<0x100> = unsafe { Registers::new(machine::THIS.mac) };

const RX_DATA: usize = 0x00;
const TX_DATA: usize = 0x20;
const RX_STATUS: usize = 0x40;
const TX_STATUS: usize = 0x48;
const IRQ_CONFIG: usize = 0x54;
const INTERRUPT_STATUS: usize = 0x58;
const INTERRUPT_ENABLE: usize = 0x5c;
const BYTE_TEST: usize = 0x64;
const FIFO_LEVELS: usize = 0x68;
const RX_CONFIG: usize = 0x6c;
const TX_CONFIG: usize = 0x70;
const HARDWARE_CONFIG: usize = 0x74;
const RX_USED: usize = 0x7c;
const TX_USED: usize = 0x80;
const CSR_COMMAND: usize = 0xa4;
const CSR_DATA: usize = 0xa8;

/// The interrupt bit of the controller for received frames that are waiting.
const RX_LEVEL: u32 = 1 << 3;
/// The setting of the interrupt line: enabled, active high, push-pull. Any other setting keeps QEMU's line asserted.
const IRQ_LINE: u32 = 0x111;
const RX_DUMP: u32 = 1 << 15;
const TX_ON: u32 = 1 << 1;
const SOFT_RESET: u32 = 1;
/// The setting of the FIFOs: 5 KiB for transmission, and the bit that real chips require to be set.
const FIFO_SPLIT: u32 = 0x0015_0000;

/// The number of the MAC's control register, which is accessed through the command register like the ones after it.
const MAC_CONTROL: u32 = 1;
const ADDRESS_HIGH: u32 = 2;
const ADDRESS_LOW: u32 = 3;
const FULL_DUPLEX: u32 = 1 << 20;
const TX_ENABLE: u32 = 1 << 3;
const RX_ENABLE: u32 = 1 << 2;
const CSR_BUSY: u32 = 1 << 31;

/// The length of the longest frame without its check sequence \[B\]: header and 1 500 bytes.
const MAX_FRAME: usize = 1_514;
const MIN_FRAME: usize = 14;
const CHECK_SEQUENCE: usize = 4;
/// The length of a buffer \[B\]: the longest frame rounded up to words.
const BUFFER: usize = 1_516;
/// The number of Ethernet frames taken before other tasks get their turn, so that a flood does not starve the control
/// loop.
const BURST: u8 = 8;

static WAKER: AtomicWaker = AtomicWaker::new();
static BAD_FRAMES: AtomicU32 = AtomicU32::new(0);

/// Returns the number of frames that were received and could not be used since boot: too short, too long, damaged, or
/// dropped with the FIFO because its state was inconsistent.
pub(crate) fn bad_frames() -> u32 {
    BAD_FRAMES.load(Ordering::Relaxed)
}

/// Counts a received frame with an error. Only `take` calls it, so a load and a store are sufficient.
fn count_bad_frame() {
    BAD_FRAMES.store(bad_frames().saturating_add(1), Ordering::Relaxed);
}

/// The error for a machine that has no LAN9118 Ethernet controller at its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, defmt::Format)]
pub(crate) struct Missing;

/// The emulated LAN9118 Ethernet controller; there is only one.
pub(crate) struct Lan9118 {
    address: [u8; 6],
    received: Buffer,
    transmitted: Buffer,
    /// The number of frames taken since the FIFO was last found empty or other tasks last got their turn.
    burst: u8,
}

/// The memory for one Ethernet frame; a whole number of words.
#[repr(align(4))]
struct Buffer([u8; BUFFER]);

impl Lan9118 {
    /// Returns an Ethernet controller that is not started; to be stored in a static.
    pub(crate) const fn new() -> Self {
        Self { address: [0; 6], received: Buffer([0; BUFFER]), transmitted: Buffer([0; BUFFER]), burst: 0 }
    }

    /// Resets the Ethernet controller and starts it with this hardware address.
    ///
    /// # Errors
    /// [`Missing`] if no LAN9118 answers at its address.
    pub(crate) fn start(&mut self, address: [u8; 6]) -> Result<(), Missing> {
        self.address = address;
        MAC.write::<HARDWARE_CONFIG>(SOFT_RESET);
        while MAC.read::<HARDWARE_CONFIG>() & SOFT_RESET != 0 {}
        if MAC.read::<BYTE_TEST>() != 0x8765_4321 {
            return Err(Missing);
        }
        MAC.write::<HARDWARE_CONFIG>(FIFO_SPLIT);
        MAC.write::<INTERRUPT_ENABLE>(0);
        MAC.write::<INTERRUPT_STATUS>(u32::MAX);
        // The interrupt occurs with the first waiting frame.
        MAC.write::<FIFO_LEVELS>(0x4800_0000);
        MAC.write::<RX_CONFIG>(0);
        let [a, b, c, d, e, f] = address;
        write_csr(ADDRESS_LOW, u32::from_le_bytes([a, b, c, d]));
        write_csr(ADDRESS_HIGH, u32::from_le_bytes([e, f, 0, 0]));
        MAC.write::<TX_CONFIG>(TX_ON);
        write_csr(MAC_CONTROL, FULL_DUPLEX | TX_ENABLE | RX_ENABLE);
        MAC.write::<IRQ_CONFIG>(IRQ_LINE);
        MAC.write::<INTERRUPT_ENABLE>(RX_LEVEL);
        interrupts::enable(Interrupt::Ethernet);
        Ok(())
    }

    /// Reads one received Ethernet frame into the buffer and returns its length \[B\]; `None` if no good frame waits.
    fn take(&mut self) -> Option<usize> {
        while MAC.read::<RX_USED>() >> 16 & 0xff != 0 {
            let status = MAC.read::<RX_STATUS>();
            let with_check = (status >> 16 & 0x3fff) as usize;
            let words = with_check.div_ceil(4);
            let waiting = (MAC.read::<RX_USED>() & 0xffff) as usize;
            if words * 4 > waiting.next_multiple_of(4) {
                count_bad_frame();
                dump();
                return None;
            }
            let length = with_check.saturating_sub(CHECK_SEQUENCE);
            let damaged = status >> 15 & 1 != 0;
            if damaged || !(MIN_FRAME..=MAX_FRAME).contains(&length) {
                count_bad_frame();
                for _ in 0..words {
                    MAC.read::<RX_DATA>();
                }
                continue;
            }
            for word in self.received.0[..length.next_multiple_of(4)].as_chunks_mut().0 {
                *word = MAC.read::<RX_DATA>().to_le_bytes();
            }
            for _ in length.div_ceil(4)..words {
                MAC.read::<RX_DATA>();
            }
            return Some(length);
        }
        None
    }
}

/// Stops the receiver, empties both receive FIFOs, and starts the receiver again.
fn dump() {
    write_csr(MAC_CONTROL, FULL_DUPLEX | TX_ENABLE);
    MAC.write::<RX_CONFIG>(RX_DUMP);
    while MAC.read::<RX_CONFIG>() & RX_DUMP != 0 {}
    write_csr(MAC_CONTROL, FULL_DUPLEX | TX_ENABLE | RX_ENABLE);
}

fn write_csr(register: u32, value: u32) {
    while MAC.read::<CSR_COMMAND>() & CSR_BUSY != 0 {}
    MAC.write::<CSR_DATA>(value);
    MAC.write::<CSR_COMMAND>(CSR_BUSY | register);
    while MAC.read::<CSR_COMMAND>() & CSR_BUSY != 0 {}
}

impl Driver for Lan9118 {
    type RxToken<'a> = Received<'a>;
    type TxToken<'a> = Transmit<'a>;

    fn receive(&mut self, context: &mut Context<'_>) -> Option<(Received<'_>, Transmit<'_>)> {
        if self.burst >= BURST {
            self.burst = 0;
            context.waker().wake_by_ref();
            return None;
        }
        let length = match self.take() {
            Some(length) => length,
            None => {
                WAKER.register(context.waker());
                MAC.write::<INTERRUPT_STATUS>(RX_LEVEL);
                // A frame that arrived before the bit was cleared does not raise the interrupt again: read again.
                let Some(length) = self.take() else {
                    self.burst = 0;
                    MAC.write::<INTERRUPT_ENABLE>(RX_LEVEL);
                    return None;
                };
                length
            }
        };
        self.burst += 1;
        Some((Received(&mut self.received.0[..length]), Transmit(&mut self.transmitted)))
    }

    fn transmit(&mut self, _context: &mut Context<'_>) -> Option<Transmit<'_>> {
        Some(Transmit(&mut self.transmitted))
    }

    fn link_state(&mut self, _context: &mut Context<'_>) -> LinkState {
        // The emulated link is always up.
        LinkState::Up
    }

    fn capabilities(&self) -> Capabilities {
        // No burst size: the stack would advertise a window of that many packets, and states arrive in pairs.
        let mut capabilities = Capabilities::default();
        capabilities.max_transmission_unit = MAX_FRAME;
        capabilities
    }

    fn hardware_address(&self) -> HardwareAddress {
        HardwareAddress::Ethernet(self.address)
    }
}

/// A received frame, as the network stack takes it.
pub(crate) struct Received<'a>(&'a mut [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

/// A buffer in which the network stack writes a frame to be sent.
pub(crate) struct Transmit<'a>(&'a mut Buffer);

impl TxToken for Transmit<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let Self(Buffer(buffer)) = self;
        // The stack requests at most the length in the capabilities.
        let result = f(&mut buffer[..len]);
        const FIRST_AND_LAST: u32 = 0b11 << 12;
        MAC.write::<TX_DATA>(FIRST_AND_LAST | len as u32);
        MAC.write::<TX_DATA>(len as u32);
        for word in buffer[..len.next_multiple_of(4)].as_chunks().0 {
            MAC.write::<TX_DATA>(u32::from_le_bytes(*word));
        }
        // The statuses of earlier frames would otherwise fill their FIFO.
        while MAC.read::<TX_USED>() >> 16 & 0xff != 0 {
            MAC.read::<TX_STATUS>();
        }
        result
    }
}

/// Wakes the network stack because received frames wait; the controller's interrupt handler.
#[unsafe(no_mangle)]
extern "C" fn ETHERNET() {
    MAC.write::<INTERRUPT_ENABLE>(0);
    WAKER.wake();
}

//! UART0 (CMSDK APB UART): what a sensor sends, as a stream of bytes.

use core::sync::atomic::{AtomicBool, Ordering};

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::pipe::Pipe;
use embedded_io_async::{ErrorKind, ErrorType, Read};

use crate::interrupts::{self, Interrupt};
use crate::machine;
use crate::mmio::Registers;

const DATA: usize = 0x00;
const STATE: usize = 0x04;
const CONTROL: usize = 0x08;
const INTERRUPTS: usize = 0x0c;
const DIVIDER: usize = 0x10;

const RX_FULL: u32 = 1 << 1;
const RX_OVERRUN: u32 = 1 << 3;
const RX_ENABLE: u32 = 1 << 1;
const RX_INTERRUPT: u32 = 1 << 3;
const RX_RAISED: u32 = 1 << 1;

const CLOCK_HZ: u32 = machine::THIS.megahertz * 1_000_000;
/// The device counts from this divider on.
const LEAST_DIVIDER: u32 = 16;
/// Several frames of a six-axis sensor.
const RING: usize = 512;

// SAFETY: the first UART of the MPS2 machines; it moves bytes through its registers and reaches no memory.
const UART: Registers<0x1000> = unsafe { Registers::new(machine::THIS.uart) };

static RECEIVED: Pipe<CriticalSectionRawMutex, RING> = Pipe::new();
/// Bytes were lost since the last read: nobody had read those before them.
static OVERRUN: AtomicBool = AtomicBool::new(false);

/// The receiving half; there is one.
pub(crate) struct Uart0(());

impl Uart0 {
    /// Starts to receive at `baud`.
    pub(crate) fn start(baud: u32) -> Self {
        UART.write::<DIVIDER>((CLOCK_HZ / baud.max(1)).max(LEAST_DIVIDER));
        UART.write::<INTERRUPTS>(u32::MAX);
        UART.write::<CONTROL>(RX_ENABLE | RX_INTERRUPT);
        interrupts::enable(Interrupt::Uart0Rx);
        Self(())
    }
}

/// Bytes were lost, because nobody had read those before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overrun;

impl core::fmt::Display for Overrun {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("bytes were lost at the serial port")
    }
}

impl core::error::Error for Overrun {}

impl embedded_io_async::Error for Overrun {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

impl ErrorType for Uart0 {
    type Error = Overrun;
}

impl Read for Uart0 {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Overrun> {
        if OVERRUN.swap(false, Ordering::Relaxed) {
            // What is left in the ring is before the gap, and behind it begins another message.
            RECEIVED.clear();
            return Err(Overrun);
        }
        Ok(RECEIVED.read(buf).await)
    }
}

/// A byte has come.
#[unsafe(no_mangle)]
extern "C" fn UART0_RX() {
    UART.write::<INTERRUPTS>(RX_RAISED);
    let state = UART.read::<STATE>();
    if state & RX_OVERRUN != 0 {
        UART.write::<STATE>(RX_OVERRUN);
        OVERRUN.store(true, Ordering::Relaxed);
    }
    if state & RX_FULL != 0 {
        let byte = UART.read::<DATA>() as u8;
        if RECEIVED.try_write(&[byte]).is_err() {
            OVERRUN.store(true, Ordering::Relaxed);
        }
    }
}

//! UART0 (CMSDK APB UART): what a sensor sends, as a stream of bytes.

use core::sync::atomic::{AtomicU32, Ordering};

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::pipe::Pipe;
use embedded_io_async::{ErrorType, Read};

use crate::interrupts::{self, Interrupt};
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

const CLOCK_HZ: u32 = 25_000_000;
/// The device counts from this divider on.
const LEAST_DIVIDER: u32 = 16;
/// Several frames of a six-axis sensor.
const RING: usize = 512;

// SAFETY: the first UART of the MPS2 machines; it moves bytes through its registers and reaches no memory.
const UART: Registers<0x1000> = unsafe { Registers::new(0x4000_4000) };

static RECEIVED: Pipe<CriticalSectionRawMutex, RING> = Pipe::new();
static OVERRUNS: AtomicU32 = AtomicU32::new(0);

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

/// Bytes lost since boot: nobody had read those before them.
pub(crate) fn overruns() -> u32 {
    OVERRUNS.load(Ordering::Relaxed)
}

impl ErrorType for Uart0 {
    type Error = core::convert::Infallible;
}

impl Read for Uart0 {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Self::Error> {
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
        OVERRUNS.fetch_add(1, Ordering::Relaxed);
    }
    if state & RX_FULL != 0 {
        let byte = UART.read::<DATA>() as u8;
        if RECEIVED.try_write(&[byte]).is_err() {
            OVERRUNS.fetch_add(1, Ordering::Relaxed);
        }
    }
}

//! UART0 to UART2 (CMSDK APB UART): the bytes of a sensor, the serial line for settings at the bench, and an operator's
//! contact.

use core::sync::atomic::{AtomicBool, Ordering};

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::pipe::Pipe;
use embassy_time::Timer;
use embedded_io_async::{ErrorKind, ErrorType, Read, Write};

use crate::interrupts::{self, Interrupt};
use crate::machine;
use crate::mmio::Registers;

const DATA: usize = 0x00;
const STATE: usize = 0x04;
const CONTROL: usize = 0x08;
const INTERRUPTS: usize = 0x0c;
const DIVIDER: usize = 0x10;

const TX_FULL: u32 = 1 << 0;
const RX_FULL: u32 = 1 << 1;
const RX_OVERRUN: u32 = 1 << 3;
const TX_ENABLE: u32 = 1 << 0;
const RX_ENABLE: u32 = 1 << 1;
const RX_INTERRUPT: u32 = 1 << 3;
const RX_RAISED: u32 = 1 << 1;

const CLOCK_HZ: u32 = machine::THIS.megahertz * 1_000_000;
/// The smallest clock divider with which the serial port works.
const LEAST_DIVIDER: u32 = 16;
/// The size of a serial port's receive buffer \[B\]: several frames of a six-axis sensor, or two frames of the protocol
/// that writes settings.
const RING: usize = 512;
/// The time between two polls of a transmitter whose buffer is full \[µs\].
const LOOK_US: u64 = 50;

/// A serial port, with its received bytes.
struct Port {
    registers: Registers<0x1000>,
    interrupt: Interrupt,
    received: Pipe<CriticalSectionRawMutex, RING>,
    /// `true` if bytes were lost since the last read because the buffer was full.
    overrun: AtomicBool,
}

// SAFETY: the first UART of the MPS2 machines; it moves bytes through its registers and does not access memory.
static UART0: Port = Port::new(unsafe { Registers::new(machine::THIS.uart) }, Interrupt::Uart0Rx);
// SAFETY: the second UART, as above.
static UART1: Port = Port::new(unsafe { Registers::new(machine::THIS.bench) }, Interrupt::Uart1Rx);

impl Port {
    const fn new(registers: Registers<0x1000>, interrupt: Interrupt) -> Self {
        Self { registers, interrupt, received: Pipe::new(), overrun: AtomicBool::new(false) }
    }

    fn start(&'static self, baud: u32, enable: u32) -> Uart {
        let Self { registers, interrupt, .. } = *self;
        registers.write::<DIVIDER>((CLOCK_HZ / baud.max(1)).max(LEAST_DIVIDER));
        registers.write::<INTERRUPTS>(u32::MAX);
        registers.write::<CONTROL>(enable | RX_INTERRUPT);
        interrupts::enable(interrupt);
        Uart(self)
    }

    /// Stores the byte that the serial port has received in its buffer; called by the port's interrupt handler.
    fn take(&self) {
        let registers = self.registers;
        registers.write::<INTERRUPTS>(RX_RAISED);
        let state = registers.read::<STATE>();
        if state & RX_OVERRUN != 0 {
            registers.write::<STATE>(RX_OVERRUN);
            self.overrun.store(true, Ordering::Relaxed);
        }
        if state & RX_FULL != 0 {
            let byte = registers.read::<DATA>() as u8;
            if self.received.try_write(&[byte]).is_err() {
                self.overrun.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// A running serial port; each port exists only once.
pub(crate) struct Uart(&'static Port);

impl Uart {
    /// Starts the serial port of the sensor, which only receives, at `baud`.
    pub(crate) fn of_sensor(baud: u32) -> Self {
        UART0.start(baud, RX_ENABLE)
    }

    /// Starts the serial port over which settings are written at the bench, in both directions, at `baud`.
    pub(crate) fn at_bench(baud: u32) -> Self {
        UART1.start(baud, RX_ENABLE | TX_ENABLE)
    }
}

// SAFETY: the third UART, as above.
const UART2: Registers<0x1000> = unsafe { Registers::new(machine::THIS.contact) };

/// A simulated operator's contact, because QEMU's host cannot drive a pin: the byte `1` at the third port closes it,
/// any other byte opens it.
pub(crate) struct Contact {
    closed: bool,
}

impl Contact {
    /// Returns the simulated contact, which is open at first.
    pub(crate) fn connect() -> Self {
        UART2.write::<DIVIDER>(LEAST_DIVIDER);
        UART2.write::<CONTROL>(RX_ENABLE);
        Self { closed: false }
    }

    /// Returns whether the contact is closed, as QEMU's host sent it last.
    pub(crate) fn is_closed(&mut self) -> bool {
        while UART2.read::<STATE>() & RX_FULL != 0 {
            self.closed = UART2.read::<DATA>() == u32::from(b'1');
        }
        self.closed
    }
}

/// The error for received bytes that were lost because the serial port's buffer was full.
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

impl ErrorType for Uart {
    type Error = Overrun;
}

impl Read for Uart {
    async fn read(&mut self, buf: &mut [u8]) -> Result<usize, Overrun> {
        let Port { received, overrun, .. } = self.0;
        if overrun.swap(false, Ordering::Relaxed) {
            // The bytes left in the buffer are from before the gap, and another message begins behind it.
            received.clear();
            return Err(Overrun);
        }
        Ok(received.read(buf).await)
    }
}

impl Write for Uart {
    async fn write(&mut self, buf: &[u8]) -> Result<usize, Overrun> {
        let registers = self.0.registers;
        for byte in buf {
            while registers.read::<STATE>() & TX_FULL != 0 {
                Timer::after_micros(LOOK_US).await;
            }
            registers.write::<DATA>((*byte).into());
        }
        Ok(buf.len())
    }

    async fn flush(&mut self) -> Result<(), Overrun> {
        while self.0.registers.read::<STATE>() & TX_FULL != 0 {
            Timer::after_micros(LOOK_US).await;
        }
        Ok(())
    }
}

#[unsafe(no_mangle)]
extern "C" fn UART0_RX() {
    UART0.take();
}

#[unsafe(no_mangle)]
extern "C" fn UART1_RX() {
    UART1.take();
}

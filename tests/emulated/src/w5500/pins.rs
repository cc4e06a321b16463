//! The pins of the simulated W5500 network chip as a driver holds them, and the time that the bus takes.

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use embedded_hal::digital::{ErrorType, OutputPin};
use embedded_hal::spi::{Error, ErrorKind, ErrorType as SpiErrorType, Operation};
use embedded_hal_async::digital::Wait;
use embedded_hal_async::spi::SpiDevice;
use outrigger_sim::time::SimTime;

use super::chip::Chip;

const MICRO: u64 = 1_000;

/// The durations on the simulated SPI bus to the W5500 network chip \[ns\]: of a byte, and of the processor's work for
/// an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The duration of one byte on the SPI bus \[ns\].
    pub byte: u64,
    /// The processor's time for one operation of an SPI transaction \[ns\]: it sets up the transfer, notices its end
    /// and runs the driver's task. This time passes before the first byte.
    pub operation: u64,
}

impl Default for Rate {
    /// Returns the duration of a byte at 25 MHz, and a guess of the processor's time for a Cortex-M33 at 150 MHz.
    fn default() -> Self {
        Self { byte: 320, operation: 4_000 }
    }
}

/// The condition of the simulated W5500 network chip's interrupt line: intact, broken or shorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Line {
    /// The line has the level that the chip gives it.
    #[default]
    Works,
    /// The line is never low, as if it were broken.
    Broken,
    /// The line is always low, as if it were shorted.
    Shorted,
}

/// An error of a transaction on the SPI bus to the simulated W5500 network chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusError;

impl Error for BusError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

struct Shared {
    chip: Chip,
    rate: Rate,
    line: Line,
    /// The faults of the next SPI transactions, in order: `true` in `errors` for one that fails, `true` in `garbled`
    /// for one that reads every bit inverted.
    errors: VecDeque<bool>,
    garbled: VecDeque<bool>,
    now: u64,
    /// The time at which the last transfer on the SPI bus ended \[ns\].
    free_at: u64,
    accessed: bool,
    sleepers: Vec<(u64, Waker)>,
    /// The wakers of tasks that wait for the interrupt line; then that line's level when it was last checked, and the
    /// counts of its falling and rising edges.
    watchers: Vec<Waker>,
    low: bool,
    falls: u64,
    rises: u64,
}

impl Shared {
    fn is_low(&self) -> bool {
        match self.line {
            Line::Works => self.chip.interrupts(),
            Line::Broken => false,
            Line::Shorted => true,
        }
    }

    /// Checks the level of the interrupt line. After a change, counts the edge and wakes the tasks that wait for the
    /// line.
    fn look(&mut self) {
        let low = self.is_low();
        if low != self.low {
            *(if low { &mut self.falls } else { &mut self.rises }) += 1;
            self.low = low;
            self.watchers.drain(..).for_each(Waker::wake);
        }
    }
}

/// The simulated W5500 network chip with its SPI bus and pins, shared by the tested driver and the test.
#[derive(Clone)]
pub struct Pins(Rc<RefCell<Shared>>);

impl Pins {
    /// Creates the pins of the simulated `chip`, on an SPI bus with the durations `rate`.
    #[must_use]
    pub fn new(chip: Chip, rate: Rate) -> Self {
        Self(Rc::new(RefCell::new(Shared {
            chip,
            rate,
            line: Line::Works,
            errors: VecDeque::new(),
            garbled: VecDeque::new(),
            now: 0,
            free_at: 0,
            accessed: false,
            sleepers: vec![],
            watchers: vec![],
            low: false,
            falls: 0,
            rises: 0,
        })))
    }

    /// Returns the SPI bus to the simulated chip, with its select line, for the tested driver.
    #[must_use]
    pub fn spi(&self) -> Spi {
        Spi(self.clone())
    }

    /// Returns the interrupt line of the simulated chip, for the tested driver.
    #[must_use]
    pub fn interrupt(&self) -> Interrupt {
        Interrupt(self.clone())
    }

    /// Returns the reset line of the simulated chip, for the tested driver.
    #[must_use]
    pub fn reset(&self) -> Reset {
        Reset(self.clone())
    }

    /// Returns the simulated chip behind the pins, for the test.
    #[must_use]
    pub fn chip(&self) -> RefMut<'_, Chip> {
        RefMut::map(self.0.borrow_mut(), |shared| &mut shared.chip)
    }

    /// Sets the condition of the interrupt line: intact, broken or shorted.
    pub fn set_line(&self, line: Line) {
        self.0.borrow_mut().line = line;
    }

    /// Sets for each of the next SPI transactions, in order, whether it fails.
    pub fn fail(&self, errors: impl IntoIterator<Item = bool>) {
        self.0.borrow_mut().errors = errors.into_iter().collect();
    }

    /// Sets for each of the next SPI transactions, in order, whether it reads every bit inverted.
    pub fn garble(&self, garbled: impl IntoIterator<Item = bool>) {
        self.0.borrow_mut().garbled = garbled.into_iter().collect();
    }

    /// Delivers a frame from the network to the simulated chip now.
    pub fn deliver(&self, frame: Vec<u8>) {
        let mut shared = self.0.borrow_mut();
        let now = shared.now;
        shared.chip.arrive(now, frame);
    }

    /// Plugs the network cable of the simulated chip in (`true`), or pulls it (`false`).
    pub fn plug(&self, plugged: bool) {
        let mut shared = self.0.borrow_mut();
        let now = shared.now;
        shared.chip.plug(now, plugged);
    }

    /// Takes the next frame that has left the simulated chip, and the time at which it left. During an SPI transaction,
    /// frames appear only when one of its operations ends.
    #[must_use]
    pub fn take(&self) -> Option<(SimTime, Vec<u8>)> {
        let (at, frame) = self.0.borrow_mut().chip.leave()?;
        Some((SimTime::from_micros(at.div_ceil(MICRO)), frame))
    }

    /// Sets the virtual time to `now`. Wakes the tasks whose waiting time has passed, and those that wait for the
    /// interrupt line if its level has changed.
    pub fn advance(&self, now: SimTime) {
        let mut shared = self.0.borrow_mut();
        shared.now = now.as_micros() * MICRO;
        let now = shared.now;
        // During an access, the chip's time is that of the last byte.
        if !shared.accessed {
            shared.chip.advance(now);
        }
        shared.look();
        shared.sleepers.extract_if(.., |(at, _)| *at <= now).for_each(|(_, waker)| waker.wake());
    }

    /// Returns the time of the next event of the simulated chip and its bus, by which [`Pins::advance`] must be called;
    /// [`SimTime::MAX`] if none is pending.
    #[must_use]
    pub fn next_event(&self) -> SimTime {
        let shared = self.0.borrow();
        let by_itself = shared.chip.next_event().filter(|_| !shared.accessed);
        let next = shared.sleepers.iter().map(|(at, _)| *at).chain(by_itself).min();
        next.map_or(SimTime::MAX, |at| SimTime::from_micros(at.div_ceil(MICRO)))
    }

    async fn until(&self, at: u64) {
        poll_fn(|context| {
            let mut shared = self.0.borrow_mut();
            if shared.now >= at {
                return Poll::Ready(());
            }
            shared.sleepers.push((at, context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    /// Waits until `done` returns `true`. It is called at once, and again after each change of the interrupt line.
    async fn line(&self, done: impl Fn(&Shared) -> bool) {
        poll_fn(|context| {
            let mut shared = self.0.borrow_mut();
            shared.look();
            if done(&shared) {
                return Poll::Ready(());
            }
            shared.watchers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// The SPI bus to the simulated W5500 network chip, with its select line.
pub struct Spi(Pins);

/// An SPI transaction in progress. Dropping it ends the transaction, also when the driver's task is dropped.
struct Access<'a>(&'a Pins);

impl<'a> Access<'a> {
    fn begin(pins: &'a Pins) -> (Self, u64) {
        let mut shared = pins.0.borrow_mut();
        shared.accessed = true;
        // An access that follows at once is not delayed to the next whole µs.
        let at = if shared.now - shared.free_at.min(shared.now) < MICRO { shared.free_at } else { shared.now };
        shared.chip.select(at);
        (Self(pins), at)
    }
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        let mut shared = self.0.0.borrow_mut();
        shared.accessed = false;
        let now = shared.now;
        shared.chip.advance(now);
        shared.look();
    }
}

impl SpiErrorType for Spi {
    type Error = BusError;
}

impl SpiDevice for Spi {
    async fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), BusError> {
        let (access, mut at) = Access::begin(&self.0);
        let fails = self.0.0.borrow_mut().errors.pop_front().unwrap_or(false);
        let garbled = self.0.0.borrow_mut().garbled.pop_front().unwrap_or(false);
        let rate = self.0.0.borrow().rate;
        for operation in operations {
            let bytes = match operation {
                Operation::Read(read) => read.len(),
                Operation::Write(written) => written.len(),
                Operation::Transfer(read, written) => read.len().max(written.len()),
                Operation::TransferInPlace(bytes) => bytes.len(),
                Operation::DelayNs(nanos) => {
                    at += u64::from(*nanos);
                    self.0.until(at).await;
                    continue;
                }
            };
            let begun = at + rate.operation;
            at = begun + bytes as u64 * rate.byte;
            self.0.until(at).await;
            let mut shared = self.0.0.borrow_mut();
            shared.free_at = at;
            if fails {
                continue;
            }
            let mut pass = |number: usize, byte: u8| {
                let read = shared.chip.exchange(begun + (number as u64 + 1) * rate.byte, byte);
                if garbled { !read } else { read }
            };
            match operation {
                Operation::Read(read) => read.iter_mut().enumerate().for_each(|(at, byte)| *byte = pass(at, 0)),
                Operation::Write(written) => written.iter().enumerate().for_each(|(at, byte)| {
                    pass(at, *byte);
                }),
                Operation::Transfer(read, written) => {
                    for at in 0..bytes {
                        let received = pass(at, written.get(at).copied().unwrap_or(0));
                        read.get_mut(at).into_iter().for_each(|byte| *byte = received);
                    }
                }
                Operation::TransferInPlace(bytes) => {
                    bytes.iter_mut().enumerate().for_each(|(at, byte)| *byte = pass(at, *byte));
                }
                Operation::DelayNs(_) => {}
            }
        }
        drop(access);
        if fails { Err(BusError) } else { Ok(()) }
    }
}

/// The interrupt line of the simulated W5500 network chip.
pub struct Interrupt(Pins);

impl ErrorType for Interrupt {
    type Error = Infallible;
}

impl Wait for Interrupt {
    async fn wait_for_high(&mut self) -> Result<(), Infallible> {
        self.0.line(|shared| !shared.is_low()).await;
        Ok(())
    }

    async fn wait_for_low(&mut self) -> Result<(), Infallible> {
        self.0.line(Shared::is_low).await;
        Ok(())
    }

    async fn wait_for_rising_edge(&mut self) -> Result<(), Infallible> {
        let before = self.0.0.borrow().rises;
        self.0.line(|shared| shared.rises != before).await;
        Ok(())
    }

    async fn wait_for_falling_edge(&mut self) -> Result<(), Infallible> {
        let before = self.0.0.borrow().falls;
        self.0.line(|shared| shared.falls != before).await;
        Ok(())
    }

    async fn wait_for_any_edge(&mut self) -> Result<(), Infallible> {
        let before = self.0.0.borrow().falls + self.0.0.borrow().rises;
        self.0.line(|shared| shared.falls + shared.rises != before).await;
        Ok(())
    }
}

/// The reset line of the simulated W5500 network chip.
pub struct Reset(Pins);

impl Reset {
    fn set(&self, held: bool) {
        let mut shared = self.0.0.borrow_mut();
        let now = shared.now;
        shared.chip.hold_reset(now, held);
    }
}

impl ErrorType for Reset {
    type Error = Infallible;
}

impl OutputPin for Reset {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.set(true);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.set(false);
        Ok(())
    }
}

//! When the W5500 is to be looked at: when it interrupts, and every millisecond.
//!
//! The driver, embassy-net-wiznet 0.3, fetches one frame per interrupt, while the chip forgets with one acknowledgement
//! the interrupts of all that have arrived. A frame that came with another one would lie in the chip until the next
//! arrives, then that one instead, and so on: every state would be an old one, for ever (embassy-rs/embassy issue 6456,
//! mended after the release). A look that finds nothing costs two short transfers.

use core::convert::Infallible;

use embassy_rp::gpio::Input;
use embassy_time::{Duration, Instant, with_deadline};
use embedded_hal::digital::ErrorType;
use embedded_hal_async::digital::Wait;

/// Longest time a frame may lie in the chip: short beside a cycle of 2 ms.
const LOOK: Duration = Duration::from_millis(1);

/// The chip's interrupt pin, low where it has something, as far as the driver is told.
pub(crate) struct Attention {
    pin: Input<'static>,
    /// When to look without an interrupt.
    look_at: Instant,
}

impl Attention {
    pub(crate) fn new(pin: Input<'static>) -> Self {
        Self { pin, look_at: Instant::MIN }
    }
}

impl ErrorType for Attention {
    type Error = Infallible;
}

impl Wait for Attention {
    /// What the driver waits for before it looks. Dropping the future puts no look off.
    async fn wait_for_low(&mut self) -> Result<(), Infallible> {
        let _ = with_deadline(self.look_at, self.pin.wait_for_low()).await;
        self.look_at = Instant::now() + LOOK;
        Ok(())
    }

    async fn wait_for_high(&mut self) -> Result<(), Infallible> {
        Wait::wait_for_high(&mut self.pin).await
    }

    async fn wait_for_rising_edge(&mut self) -> Result<(), Infallible> {
        Wait::wait_for_rising_edge(&mut self.pin).await
    }

    async fn wait_for_falling_edge(&mut self) -> Result<(), Infallible> {
        Wait::wait_for_falling_edge(&mut self.pin).await
    }

    async fn wait_for_any_edge(&mut self) -> Result<(), Infallible> {
        Wait::wait_for_any_edge(&mut self.pin).await
    }
}

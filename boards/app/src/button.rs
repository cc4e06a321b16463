//! Push buttons and contacts: edges out of a pin.

use core::future::pending;

use embassy_time::{Duration, with_timeout};
use embedded_hal_async::digital::Wait;

/// A level has to last this long before it counts.
const SETTLED: Duration = Duration::from_millis(20);

/// Calls `pressed` for each rising edge of `pin`, for ever. A pin that is high at boot, or stays high, is no edge.
pub async fn watch(pin: &mut impl Wait, mut pressed: impl FnMut()) -> ! {
    loop {
        settle(pin, false).await;
        settle(pin, true).await;
        pressed();
    }
}

/// Resolves when the pin has been at `level` for [`SETTLED`].
async fn settle(pin: &mut impl Wait, level: bool) {
    loop {
        let reached = if level { pin.wait_for_high().await } else { pin.wait_for_low().await };
        if reached.is_err() {
            // A pin that cannot be read asks for nothing.
            pending::<()>().await;
        }
        let left = async { if level { pin.wait_for_low().await } else { pin.wait_for_high().await } };
        if with_timeout(SETTLED, left).await.is_err() {
            return;
        }
    }
}

//! The analogue input: 0 … 3.3 V in 4 096 steps.

use embassy_rp::adc::{self, Blocking};
use outrigger_app::Adc;

/// Pin GP26 at the converter.
pub(crate) struct Level3V3 {
    pub(crate) adc: adc::Adc<'static, Blocking>,
    pub(crate) pin: adc::Channel<'static>,
}

impl Adc for Level3V3 {
    type Error = adc::Error;

    /// Waits 2 µs for the converter, in place.
    async fn convert(&mut self) -> Result<i32, adc::Error> {
        self.adc.blocking_read(&mut self.pin).map(i32::from)
    }
}

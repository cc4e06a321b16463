//! The analogue input: 0 … 3.3 V in 65 536 steps, the mean of 16 conversions.

use core::convert::Infallible;

use embassy_stm32::Peri;
use embassy_stm32::adc::SampleTime;
use embassy_stm32::peripherals::{ADC1, PA3};
use outrigger_app::Adc;

/// Pin A0 at converter 1.
pub(crate) struct Level3V3 {
    pub(crate) adc: embassy_stm32::adc::Adc<'static, ADC1>,
    pub(crate) pin: Peri<'static, PA3>,
}

impl Adc for Level3V3 {
    type Error = Infallible;

    /// Waits 40 to 80 µs for the converter, in place.
    async fn convert(&mut self) -> Result<i32, Infallible> {
        Ok(self.adc.blocking_read(&mut self.pin, SampleTime::CYCLES64_5).into())
    }
}

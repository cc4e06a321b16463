//! The analog inputs: 0 … 3.3 V in 65 536 steps, the mean of 16 conversions.

use core::cell::RefCell;
use core::convert::Infallible;

use embassy_stm32::adc::{self, AnyAdcChannel, SampleTime};
use embassy_stm32::peripherals::ADC1;
use outrigger_app::Adc;

/// The analog-to-digital converter ADC1, which all analog inputs of the board share.
pub(crate) type Converter = adc::Adc<'static, ADC1>;

/// An analog input of the board, 0 to 3.3 V: a pin of the converter.
pub(crate) struct Level3V3 {
    pub(crate) adc: &'static RefCell<Converter>,
    pub(crate) pin: AnyAdcChannel<'static, ADC1>,
}

impl Adc for Level3V3 {
    type Error = Infallible;

    /// Returns the converter's count for the voltage at this input. Waits 40 to 80 µs for it without yielding, so that
    /// no other task uses the converter meanwhile.
    async fn convert(&mut self) -> Result<i32, Infallible> {
        Ok(self.adc.borrow_mut().blocking_read(&mut self.pin, SampleTime::CYCLES64_5).into())
    }
}

//! The analog inputs of the board: 0 … 3.3 V in 4 096 steps.

use core::cell::RefCell;

use embassy_rp::adc::{self, Blocking};
use outrigger_app::Adc;

/// The chip's only analog-to-digital converter, which all analog inputs of the board share.
pub(crate) type Converter = adc::Adc<'static, Blocking>;

/// An analog input of the board, 0 to 3.3 V: a pin of the converter.
pub(crate) struct Level3V3 {
    pub(crate) adc: &'static RefCell<Converter>,
    pub(crate) pin: adc::Channel<'static>,
}

impl Adc for Level3V3 {
    type Error = adc::Error;

    /// Returns the converter's count for the voltage at this input. Waits 2 µs for it without yielding, so that no
    /// other task uses the converter meanwhile.
    async fn convert(&mut self) -> Result<i32, adc::Error> {
        self.adc.borrow_mut().blocking_read(&mut self.pin).map(i32::from)
    }
}

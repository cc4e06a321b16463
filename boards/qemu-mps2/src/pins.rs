//! The pins of the FPGA's input/output block: the board's two user lamps.

use core::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};

use crate::machine;
use crate::mmio::Registers;

const LAMPS: usize = 0x00;

// SAFETY: the input/output block of the MPS2 machines' FPGA; it switches lamps and counts, and does not access memory.
const FPGA: Registers<0x1000> = unsafe { Registers::new(machine::THIS.fpga) };

/// The user lamp `N`, 0 or 1, of the emulated board, as an output pin.
pub(crate) struct Lamp<const N: u8>;

impl<const N: u8> Lamp<N> {
    /// Switches user lamp `N` on or off. Both user lamps share a register, which one call at a time may access: `main`
    /// before the executor runs, then tasks of one executor.
    pub(crate) fn switch(on: bool) {
        const { assert!(N < 2, "the board has two") };
        let others = FPGA.read::<LAMPS>() & !(1 << N);
        FPGA.write::<LAMPS>(others | u32::from(on) << N);
    }
}

impl<const N: u8> ErrorType for Lamp<N> {
    type Error = Infallible;
}

impl<const N: u8> OutputPin for Lamp<N> {
    fn set_low(&mut self) -> Result<(), Infallible> {
        Self::switch(false);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        Self::switch(true);
        Ok(())
    }
}

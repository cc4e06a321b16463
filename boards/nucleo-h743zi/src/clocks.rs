//! The clock tree: 400 MHz out of the debugger's 8 MHz.

use embassy_stm32::Config;
use embassy_stm32::rcc::mux::Adcsel;
use embassy_stm32::rcc::{
    AHBPrescaler, APBPrescaler, Hse, HseMode, Pll, PllDiv, PllMul, PllPreDiv, PllSource, Sysclk, VoltageScale,
};
use embassy_stm32::time::Hertz;

/// What the HAL is told. 400 MHz is what every revision of the chip can do; 480 MHz needs revision V.
///
/// The reference is the debugger's crystal, not the chip's own oscillator: ages of states are judged on this clock, and
/// an oscillator that is 1 % off would look like a link that gets slower and slower.
pub(crate) fn config() -> Config {
    let mut config = Config::default();
    let rcc = &mut config.rcc;
    rcc.hse = Some(Hse { freq: Hertz(8_000_000), mode: HseMode::Bypass });
    rcc.pll1 = Some(Pll {
        source: PllSource::HSE,
        prediv: PllPreDiv::DIV2,
        mul: PllMul::MUL200,
        fracn: None,
        divp: Some(PllDiv::DIV2),
        divq: None,
        divr: None,
    });
    rcc.sys = Sysclk::PLL1_P;
    rcc.ahb_pre = AHBPrescaler::DIV2;
    rcc.apb1_pre = APBPrescaler::DIV2;
    rcc.apb2_pre = APBPrescaler::DIV2;
    rcc.apb3_pre = APBPrescaler::DIV2;
    rcc.apb4_pre = APBPrescaler::DIV2;
    rcc.voltage_scale = VoltageScale::Scale1;
    // The chip's own 64 MHz: what it measures does not depend on the exact rate.
    rcc.mux.adcsel = Adcsel::PER;
    config
}

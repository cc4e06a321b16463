//! The chip before anything runs on it: clocks (400 MHz out of the debugger's 8 MHz), cache, why it was reset.

use embassy_stm32::Config;
use embassy_stm32::pac::iwdg::vals::{Key, Pr};
use embassy_stm32::pac::{IWDG1, RCC};
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

/// Turns the instruction cache on: flash is several times slower than the core. The data cache stays off, because the
/// network interface's DMA reads and writes memory behind its back.
pub(crate) fn cache_instructions() {
    if let Some(mut core) = cortex_m::Peripherals::take() {
        core.SCB.enable_icache();
    }
}

/// Lets the watchdog wait for 32 s: erasing a sector takes up to 4 s by the data sheet, in which nothing feeds it. Ends with the
/// reset that follows.
pub(crate) fn be_patient() {
    IWDG1.kr().write(|w| w.set_key(Key::ENABLE));
    IWDG1.pr().write(|w| w.set_pr(Pr::DIVIDE_BY256));
    IWDG1.rlr().write(|w| w.set_rl(0xfff));
    // Both take some of its slow cycles to arrive.
    while IWDG1.sr().read().0 != 0 {}
    IWDG1.kr().write(|w| w.set_key(Key::RESET));
}

/// Why the chip was reset, as it says itself; forgotten by asking.
pub(crate) fn reset_cause() -> &'static str {
    let cause = RCC.rsr().read();
    RCC.rsr().modify(|causes| causes.set_rmvf(true));
    // One reset sets several flags: a watchdog's also pulls the pin, power-on does all.
    if cause.iwdg1rstf() {
        "watchdog (the control loop hung, or a panic ended it)"
    } else if cause.sftrstf() {
        "software"
    } else if cause.porrstf() {
        "power"
    } else if cause.borrstf() {
        "brown-out"
    } else {
        "reset pin or debugger"
    }
}

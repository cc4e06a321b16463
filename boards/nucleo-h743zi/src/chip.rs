//! The setup of the chip before all else: an erratum, the watchdog, clocks (400 MHz from the debugger's 8 MHz, or from
//! the chip's own oscillator), the cache, and the cause of the reset.

use embassy_stm32::Config;
use embassy_stm32::pac::iwdg::vals::{Key, Pr};
use embassy_stm32::pac::{DBGMCU, IWDG1, RCC};
use embassy_stm32::rcc::mux::{Adcsel, Saisel};
use embassy_stm32::rcc::{
    AHBPrescaler, APBPrescaler, Hse, HseMode, Pll, PllDiv, PllMul, PllPreDiv, PllSource, Sysclk, VoltageScale,
};
use embassy_stm32::time::Hertz;
use outrigger_app::boot::{Clock, ClockSource, ResetCause};

/// The identifier of revision Y in `DBGMCU_IDC` (ST's `stm32h7xx_hal.h`, `REV_ID_Y`).
const REVISION_Y: u16 = 0x1003;
/// The address of the interconnect's register `AXI_TARG7_FN_MOD`, which limits the concurrent reads of AXI SRAM (ST's
/// `stm32h743xx.h`, `GPV_BASE` and `AXI_TARG7_FN_MOD`; written alike by `system_stm32h7xx.c`, Zephyr and NuttX).
const READ_ISSUE: *mut u32 = 0x5100_8108 as *mut u32;

/// Limits reads of AXI SRAM to one at a time. On revision Y, concurrent reads of several masters may return wrong data
/// (erratum ES0392, 2.2.9), and all data, the stack and the Ethernet DMA's memory are there. Call it before any DMA
/// runs.
pub(crate) fn issue_reads_one_by_one() {
    if DBGMCU.idc().read().rev_id() == REVISION_Y {
        // SAFETY: a register of the interconnect with no other function; it is written once, by the only core.
        unsafe { READ_ISSUE.write_volatile(1) };
    }
}

/// Starts the watchdog with its period after a reset, half a second, because the HAL waits for clocks, for some without
/// end. The watchdog stops while a debugger halts the core.
pub(crate) fn watch_the_start() {
    DBGMCU.apb4fzr1().modify(|frozen| frozen.set_iwdg1(true));
    IWDG1.kr().write(|key| key.set_key(Key::START));
}

/// Switches the external clock on, and returns the clock source: external if it starts within 5 to 10 s. On boards like
/// this one the debugger took up to two seconds after power to provide it. Meanwhile the core runs at 64 MHz from its
/// own oscillator, as after every reset, and feeds the watchdog.
pub(crate) fn find_clock() -> ClockSource {
    /// The number of the processor's cycles in a tenth of a millisecond at 64 MHz. They take half of that time if the
    /// core executes two instructions at once.
    const TENTH: u32 = 6_400;
    for _ in 0..100_000 {
        if is_clock_there() {
            return ClockSource::External;
        }
        IWDG1.kr().write(|key| key.set_key(Key::RESET));
        cortex_m::asm::delay(TENTH);
    }
    ClockSource::Internal
}

/// Returns whether the external clock of the chip runs. Switches it on if it is off; it may start after this call.
pub(crate) fn is_clock_there() -> bool {
    let control = RCC.cr().read();
    if !control.hseon() {
        // The bypass can be changed only while the clock is off.
        RCC.cr().modify(|control| control.set_hsebyp(true));
        RCC.cr().modify(|control| control.set_hseon(true));
    }
    control.hserdy()
}

/// Returns the chip's clock configuration for the HAL. Every revision of the chip runs at 400 MHz; 480 MHz needs
/// revision V.
///
/// The reference is the debugger's crystal, not the chip's own oscillator. The ages of received robot states are
/// measured with this clock, and an oscillator with an error of 1 % would look like a link that becomes slower and
/// slower. Without the crystal commanding is not allowed.
pub(crate) fn config(clock: ClockSource) -> Config {
    let mut config = Config::default();
    let rcc = &mut config.rcc;
    // Both result in 800 MHz, which are halved: 8 MHz / 2 * 200, and the oscillator's 64 MHz / 4 * 50.
    let (source, prediv, mul) = match clock {
        ClockSource::External => {
            rcc.hse = Some(Hse { freq: Hertz(8_000_000), mode: HseMode::Bypass });
            (PllSource::HSE, PllPreDiv::DIV2, PllMul::MUL200)
        }
        ClockSource::Internal => (PllSource::HSI, PllPreDiv::DIV4, PllMul::MUL50),
    };
    rcc.pll1 = Some(Pll { source, prediv, mul, fracn: None, divp: Some(PllDiv::DIV2), divq: None, divr: None });
    rcc.sys = Sysclk::PLL1_P;
    rcc.ahb_pre = AHBPrescaler::DIV2;
    rcc.apb1_pre = APBPrescaler::DIV2;
    rcc.apb2_pre = APBPrescaler::DIV2;
    rcc.apb3_pre = APBPrescaler::DIV2;
    rcc.apb4_pre = APBPrescaler::DIV2;
    rcc.voltage_scale = VoltageScale::Scale1;
    // The chip's own 64 MHz: measurements do not depend on the exact rate.
    rcc.mux.adcsel = Adcsel::PER;
    rcc.mux.spi123sel = Saisel::PER;
    config
}

/// Enables the instruction cache, because flash is several times slower than the core. The data cache stays off,
/// because the network interface's DMA accesses memory without it.
pub(crate) fn cache_instructions() {
    if let Some(mut core) = cortex_m::Peripherals::take() {
        core.SCB.enable_icache();
    }
}

/// Extends the watchdog's period to 32 s, because erasing a sector takes up to 4 s according to the data sheet, and
/// nothing feeds the watchdog meanwhile. The following reset ends this.
pub(crate) fn be_patient() {
    IWDG1.kr().write(|w| w.set_key(Key::ENABLE));
    IWDG1.pr().write(|w| w.set_pr(Pr::DIVIDE_BY256));
    IWDG1.rlr().write(|w| w.set_rl(0xfff));
    // Both take some of the watchdog's slow cycles to take effect.
    while IWDG1.sr().read().0 != 0 {}
    IWDG1.kr().write(|w| w.set_key(Key::RESET));
}

/// Returns the cause of the chip's reset from its flags, and clears them.
pub(crate) fn reset_cause() -> ResetCause {
    let cause = RCC.rsr().read();
    RCC.rsr().modify(|causes| causes.set_rmvf(true));
    // One reset sets several flags: a watchdog reset also drives the pin, and power-on sets all.
    if cause.iwdg1rstf() {
        ResetCause::Watchdog
    } else if cause.sftrstf() {
        ResetCause::Software
    } else if cause.porrstf() {
        ResetCause::Power
    } else if cause.borrstf() {
        ResetCause::BrownOut
    } else {
        ResetCause::Pin
    }
}

/// Returns the processor's clock for telemetry: its rate and its source.
pub(crate) const fn clock(source: ClockSource) -> Clock {
    Clock { hertz: 400_000_000, source }
}

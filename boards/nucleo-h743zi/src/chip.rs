//! The chip before anything runs on it: an erratum, the watchdog, clocks (400 MHz out of the debugger's 8 MHz, or of its
//! own oscillator), cache, why it was reset.

use embassy_stm32::Config;
use embassy_stm32::pac::iwdg::vals::{Key, Pr};
use embassy_stm32::pac::{DBGMCU, IWDG1, RCC};
use embassy_stm32::rcc::mux::{Adcsel, Saisel};
use embassy_stm32::rcc::{
    AHBPrescaler, APBPrescaler, Hse, HseMode, Pll, PllDiv, PllMul, PllPreDiv, PllSource, Sysclk, VoltageScale,
};
use embassy_stm32::time::Hertz;
use outrigger_app::boot::{Clock, ClockSource, ResetCause};

/// Revision Y, as `DBGMCU_IDC` says it (ST's `stm32h7xx_hal.h`, `REV_ID_Y`).
const REVISION_Y: u16 = 0x1003;
/// `AXI_TARG7_FN_MOD` in the interconnect's registers: how many reads of AXI SRAM may be under way (ST's `stm32h743xx.h`,
/// `GPV_BASE` and `AXI_TARG7_FN_MOD`; written alike by `system_stm32h7xx.c`, Zephyr and NuttX).
const READ_ISSUE: *mut u32 = 0x5100_8108 as *mut u32;

/// On revision Y, reads of AXI SRAM under way for several masters may return wrong data (erratum ES0392, 2.2.9). All data, the
/// stack and the Ethernet DMA's memory lie there: one read at a time. To be called before any DMA runs.
pub(crate) fn issue_reads_one_by_one() {
    if DBGMCU.idc().read().rev_id() == REVISION_Y {
        // SAFETY: a register of the interconnect that has no other function; it is written once, by the only core.
        unsafe { READ_ISSUE.write_volatile(1) };
    }
}

/// Starts the watchdog with its time after a reset, half a second: the HAL waits for clocks, and for some without end. And
/// lets it stand while a debugger halts the core.
pub(crate) fn watch_the_start() {
    DBGMCU.apb4fzr1().modify(|frozen| frozen.set_iwdg1(true));
    IWDG1.kr().write(|key| key.set_key(Key::START));
}

/// Switches the clock from outside on, and says whether it came, within 5 to 10 s: on boards like this one the debugger was seen to give it
/// up to two seconds after power. The core runs at 64 MHz from its own oscillator meanwhile, as it does after every reset, and feeds the
/// watchdog.
pub(crate) fn find_clock() -> ClockSource {
    /// A tenth of a millisecond; half of that where the core executes two instructions at once.
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

/// Returns whether the clock from outside is there; it is switched on, and may come later.
pub(crate) fn is_clock_there() -> bool {
    let control = RCC.cr().read();
    if !control.hseon() {
        // How it is fed can be changed only while it is off.
        RCC.cr().modify(|control| control.set_hsebyp(true));
        RCC.cr().modify(|control| control.set_hseon(true));
    }
    control.hserdy()
}

/// What the HAL is told. 400 MHz is what every revision of the chip can do; 480 MHz needs revision V.
///
/// The reference is the debugger's crystal, not the chip's own oscillator: ages of states are judged on this clock, and
/// an oscillator that is 1 % off would look like a link that gets slower and slower. Without it nothing is commanded.
pub(crate) fn config(clock: ClockSource) -> Config {
    let mut config = Config::default();
    let rcc = &mut config.rcc;
    // Both make 800 MHz, which are halved: 8 MHz / 2 * 200, and the oscillator's 64 MHz / 4 * 50.
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
    // The chip's own 64 MHz: what it measures does not depend on the exact rate.
    rcc.mux.adcsel = Adcsel::PER;
    rcc.mux.spi123sel = Saisel::PER;
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
pub(crate) fn reset_cause() -> ResetCause {
    let cause = RCC.rsr().read();
    RCC.rsr().modify(|causes| causes.set_rmvf(true));
    // One reset sets several flags: a watchdog's also pulls the pin, power-on does all.
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

/// By what the processor runs.
pub(crate) const fn clock(source: ClockSource) -> Clock {
    Clock { hertz: 400_000_000, source }
}

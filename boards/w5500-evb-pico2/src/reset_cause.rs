//! The cause of the chip's reset, and a watchdog that runs before all else.

use embassy_rp::pac;
use embassy_rp::pac::psm::regs::Wdsel;
use outrigger_app::boot::ResetCause;

/// The parts of the chip that a watchdog reset affects: all except the two oscillators, as in the vendor's SDK
/// (`hardware_watchdog/watchdog.c`). The value that the HAL writes has the bit positions of the RP2040.
const CONCERNED: u32 = 0x01ff_ffff & !(1 << 2) & !(1 << 3);

/// The number of ticks after which the watchdog ends a start that hangs: 2 s with the ring oscillator at 12 MHz. The
/// oscillator may run at half of that rate, and the crystal takes 0.13 s to start.
const TICKS: u32 = 2_000_000;

/// Starts the watchdog with the ring oscillator as clock, because the HAL waits without end for a crystal that does not
/// start.
pub(crate) fn watch_over_start() {
    pac::TICKS.watchdog_cycles().write(|cycles| cycles.set_watchdog_cycles(12));
    pac::TICKS.watchdog_ctrl().write(|ctrl| ctrl.set_enable(true));
    concern_everything();
    pac::WATCHDOG.load().write(|load| load.set_load(TICKS));
    pac::WATCHDOG.ctrl().modify(|ctrl| ctrl.set_enable(true));
}

/// Sets the parts of the chip that a watchdog reset affects. Call it after the HAL has started the watchdog.
pub(crate) fn concern_everything() {
    pac::PSM.wdsel().write_value(Wdsel(CONCERNED));
}

/// Returns the cause of the reset. The watchdog's is checked first, because a hardware reset clears it; then lesser
/// resets before greater ones, because a lesser one may leave the flags of a greater one.
pub(crate) fn cause() -> ResetCause {
    let (reason, flags) = (pac::WATCHDOG.reason().read(), pac::POWMAN.chip_reset().read());
    if reason.force() {
        ResetCause::Software
    } else if reason.timer() {
        ResetCause::Watchdog
    } else if flags.had_glitch_detect() {
        ResetCause::BrownOut
    } else if flags.had_hzd_sys_reset_req() {
        ResetCause::Pin
    } else if flags.had_swcore_pd() {
        ResetCause::BrownOut
    } else if flags.had_dp_reset_req() || flags.had_rescue() || flags.had_run_low() {
        ResetCause::Pin
    } else if flags.had_bor() {
        ResetCause::BrownOut
    } else if flags.had_por() {
        ResetCause::Power
    } else {
        ResetCause::Unknown
    }
}

//! Why the chip began anew, and a watchdog that is there before anything else.

use embassy_rp::pac;
use embassy_rp::pac::psm::regs::Wdsel;
use outrigger_app::boot::ResetCause;

/// Everything that a reset by the watchdog concerns: all but the two oscillators, as the maker's SDK has it
/// (`hardware_watchdog/watchdog.c`). What the HAL writes there has the places of the RP2040.
const CONCERNED: u32 = 0x01ff_ffff & !(1 << 2) & !(1 << 3);

/// Ticks until a start that hangs is ended: 2 s where the ring oscillator runs at 12 MHz. It may run at half of that, and the
/// crystal takes 0.13 s.
const TICKS: u32 = 2_000_000;

/// The watchdog runs from here on, by the ring oscillator's time: the HAL waits without end for a crystal that does not start.
pub(crate) fn watch_over_start() {
    pac::TICKS.watchdog_cycles().write(|cycles| cycles.set_watchdog_cycles(12));
    pac::TICKS.watchdog_ctrl().write(|ctrl| ctrl.set_enable(true));
    concern_everything();
    pac::WATCHDOG.load().write(|load| load.set_load(TICKS));
    pac::WATCHDOG.ctrl().modify(|ctrl| ctrl.set_enable(true));
}

/// To be called after the HAL has started the watchdog.
pub(crate) fn concern_everything() {
    pac::PSM.wdsel().write_value(Wdsel(CONCERNED));
}

/// The watchdog first, whose reason a reset of the hardware clears; then lesser resets before greater ones, whose flags a lesser one
/// may leave.
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

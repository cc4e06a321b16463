//! What ends a run: its place is kept for the next one, and a debugger stops there with a back-trace. Without one the watchdog resets
//! the chip.

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};
use outrigger_app::boot;

#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    boot::panicked(information.location());
    defmt::error!("{}", defmt::Display2Format(information));
    cortex_m::asm::udf()
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    boot::faulted(frame.pc(), frame.lr());
    loop {
        cortex_m::asm::nop();
    }
}

//! What ends a run of a board on the bench: its place is kept for the next one, and a debugger stops there with a back-trace.
//! Without one the watchdog resets the chip.
#![expect(unsafe_code, reason = "handlers of the processor")]

use core::panic::PanicInfo;

use cortex_m_rt::{ExceptionFrame, exception};

#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    cortex_m::interrupt::disable();
    super::panicked(information.location());
    defmt::error!("{}", defmt::Display2Format(information));
    cortex_m::asm::udf()
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    super::faulted(frame.pc(), frame.lr());
    loop {
        cortex_m::asm::nop();
    }
}

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
    super::faulted((&raw const *frame).addr(), frame.pc(), frame.lr());
    if crate::stack_exceeded() {
        defmt::error!("stack overflow");
    } else {
        defmt::error!("hard fault at {=u32:#x}, called from {=u32:#x}", frame.pc(), frame.lr());
    }
    loop {
        cortex_m::asm::nop();
    }
}

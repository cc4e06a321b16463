//! The handlers that end a run of a board and record its place for the next run. An attached debugger stops there with
//! a back-trace; without one the chip is reset at once.
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
    if !cortex_m::peripheral::DCB::is_debugger_attached() {
        super::reset()
    }
    loop {
        cortex_m::asm::nop();
    }
}

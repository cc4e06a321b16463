//! The machine's interrupts: numbers, vector table, priorities. No device description crate exists for it.

use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;

use crate::machine;

/// The external interrupts of the MPS2 machines that are used here.
#[derive(Clone, Copy)]
#[repr(u16)]
pub(crate) enum Interrupt {
    Uart0Rx = machine::THIS.uart_interrupt,
    Uart1Rx = machine::THIS.bench_interrupt,
    DualTimer = machine::THIS.timer_interrupt,
    Ethernet = machine::THIS.mac_interrupt,
}

// SAFETY: the discriminants are the numbers of this machine's interrupt lines and never change.
unsafe impl InterruptNumber for Interrupt {
    fn number(self) -> u16 {
        self as u16
    }
}

/// Enables `interrupt`. The data that its handler shares is protected by critical sections and initialised before.
pub(crate) fn enable(interrupt: Interrupt) {
    // SAFETY: no code relies on an interrupt being masked for exclusion.
    unsafe { NVIC::unmask(interrupt) };
}

unsafe extern "C" {
    fn DefaultHandler();
    fn UART0_RX();
    fn UART1_RX();
    fn DUAL_TIMER();
    fn ETHERNET();
}

/// The external interrupts' part of the vector table, which `cortex-m-rt` places.
// SAFETY: the section and the name are those under which the linker script expects a device's table.
#[unsafe(link_section = ".vector_table.interrupts")]
#[unsafe(no_mangle)]
static __INTERRUPTS: [unsafe extern "C" fn(); machine::THIS.interrupts] = {
    let mut table: [unsafe extern "C" fn(); machine::THIS.interrupts] = [DefaultHandler; machine::THIS.interrupts];
    table[Interrupt::Uart0Rx as usize] = UART0_RX;
    table[Interrupt::Uart1Rx as usize] = UART1_RX;
    table[Interrupt::DualTimer as usize] = DUAL_TIMER;
    table[Interrupt::Ethernet as usize] = ETHERNET;
    table
};

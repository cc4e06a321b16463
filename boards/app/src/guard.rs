//! A stack that is used up ends in a fault, not in data that lie below it.
//!
//! Tasks run on the stack that the linker left, from then on by the process stack pointer; interrupts and faults get a small
//! one of their own, so that a fault for want of stack finds some. Below the tasks' stack nothing can be written: an
//! ARMv8-M core compares each move of the pointer with a limit; an ARMv7-M core has a region of its MPU there, which can be
//! read only. A function that moves the pointer by more than that region at once, and writes beyond it first, is not caught by
//! the latter: `tests/tables/board-budgets.md` has the largest frame of each image, which must be smaller.

/// Bytes at the far end of the stack that nothing may use, where the core has no limit registers.
pub const GUARD: usize = if cfg!(stack_limits) { 0 } else { 16_384 };

/// Where the stack ends, above the guard, if it reaches down to `end`. A region lies at a multiple of its size.
#[cfg(any(test, all(target_arch = "arm", target_os = "none")))]
const fn lowest(end: usize) -> usize {
    if GUARD == 0 { end.next_multiple_of(8) } else { end.next_multiple_of(GUARD) + GUARD }
}

/// Whether the guard stands, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Guard {
    /// The core's own limit.
    Limit,
    /// A region of the MPU.
    Region,
    /// Nothing: this core has neither.
    None,
}

#[cfg(all(target_arch = "arm", target_os = "none"))]
mod core_registers {
    #![expect(unsafe_code, reason = "which stack a core uses, and what may be written, is said in its registers")]

    use core::arch::asm;
    use core::cell::UnsafeCell;

    use super::{Guard, lowest};

    /// Bytes of the stack for interrupts and faults: a message of a fault is formatted on it.
    const HANDLERS: usize = 4_096;

    #[repr(C, align(8))]
    struct Handlers(UnsafeCell<[u8; HANDLERS]>);

    // SAFETY: no Rust code uses it: it is the core's, once.
    unsafe impl Sync for Handlers {}

    static STACK: Handlers = Handlers(UnsafeCell::new([0; HANDLERS]));

    unsafe extern "C" {
        static _stack_end: u32;
    }

    /// Where the tasks' stack ends.
    pub(crate) fn end() -> usize {
        lowest((&raw const _stack_end).addr())
    }

    /// Guards the stack. To be called once, first in `main`, before any interrupt is enabled.
    pub fn guard_stack() -> Guard {
        let top = STACK.0.get().addr() + HANDLERS;
        // SAFETY: the pointer in use keeps its value and only changes its name, in thread mode; the other one gets memory
        // that nothing else uses, and no interrupt is enabled yet that could use it meanwhile.
        unsafe {
            asm!(
                "mrs {scratch}, MSP",
                "msr PSP, {scratch}",
                "mrs {scratch}, CONTROL",
                "orr {scratch}, {scratch}, #2",
                "msr CONTROL, {scratch}",
                "isb",
                "msr MSP, {top}",
                scratch = out(reg) _,
                top = in(reg) top,
            );
        }
        limit()
    }

    /// Whether the fault that is being handled is one for want of stack.
    pub fn stack_exceeded() -> bool {
        /// Of an exception's frame that found no room.
        const NO_FRAME: u32 = 1 << 4 | 1 << 5;
        /// Of an access, and that its address is known.
        const ACCESS: u32 = 1 << 1 | 1 << 7;
        /// Of a pointer below its limit.
        const BELOW_LIMIT: u32 = 1 << 20;
        // SAFETY: two registers that say why there is a fault; reading changes nothing.
        let (why, at) = unsafe {
            let system = &*cortex_m::peripheral::SCB::PTR;
            (system.cfsr.read(), system.mmfar.read() as usize)
        };
        let guarded = (end() - super::GUARD..end()).contains(&at);
        why & (NO_FRAME | BELOW_LIMIT) != 0 || why & ACCESS == ACCESS && guarded
    }

    #[cfg(stack_limits)]
    fn limit() -> Guard {
        // SAFETY: both pointers are above their limit.
        unsafe {
            asm!(
                "msr PSPLIM, {tasks}",
                "msr MSPLIM, {handlers}",
                tasks = in(reg) end(),
                handlers = in(reg) STACK.0.get().addr(),
            );
        }
        Guard::Limit
    }

    #[cfg(not(stack_limits))]
    fn limit() -> Guard {
        /// Everything else as without MPU, which is off in faults.
        const ON: u32 = 1 | 1 << 2;
        /// Normal memory, without code, that can be read only.
        const READ_ONLY: u32 = 1 << 28 | 0b101 << 24 | 0b001 << 19;
        let (base, size) = (end() - super::GUARD, (super::GUARD.trailing_zeros() - 1) << 1);
        // SAFETY: the registers are there on every such core; the region is memory that nothing writes to.
        unsafe {
            let mpu = &*cortex_m::peripheral::MPU::PTR;
            if mpu._type.read() >> 8 & 0xff == 0 {
                return Guard::None;
            }
            mpu.ctrl.write(0);
            mpu.rnr.write(0);
            mpu.rbar.write(base as u32);
            mpu.rasr.write(READ_ONLY | size | 1);
            cortex_m::asm::dsb();
            mpu.ctrl.write(ON);
        }
        cortex_m::asm::dsb();
        cortex_m::asm::isb();
        Guard::Region
    }
}

#[cfg(all(target_arch = "arm", target_os = "none"))]
pub(crate) use core_registers::end;
#[cfg(all(target_arch = "arm", target_os = "none"))]
pub use core_registers::{guard_stack, stack_exceeded};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_lies_at_a_multiple_of_its_size_and_within_the_stack() {
        assert!(GUARD.is_power_of_two());
        for end in 0x2000_0000..0x2000_4000 {
            let base = lowest(end) - GUARD;
            assert!(base.is_multiple_of(GUARD) && base >= end && base < end + GUARD);
        }
    }
}

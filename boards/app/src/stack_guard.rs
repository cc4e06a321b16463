//! Makes a stack overflow cause a fault instead of overwriting the data below the stack.
//!
//! Tasks run on the stack that the linker placed, which `guard_stack` assigns to the process stack pointer. Interrupts
//! and faults get a small stack of their own, so that a fault caused by a stack overflow can be handled. Memory below
//! the tasks' stack cannot be written: an ARMv8-M core compares each change of the pointer with a limit; on an ARMv7-M
//! core a region of the MPU is read-only there. The MPU does not detect a function that moves the pointer by more than
//! that region at once and writes beyond it first: `tests/tables/board-budgets.md` has the largest frame of each image,
//! which must be smaller.

#[cfg(any(test, all(target_arch = "arm", target_os = "none")))]
use core::ops::Range;

/// The size of the region at the far end of the stack that must not be used, if the core has no limit registers
/// \[B\]; 0 otherwise.
pub const GUARD: usize = if cfg!(stack_limits) { 0 } else { 16_384 };

/// Returns the lowest usable address of the stack, above the guard, for memory that ends at `end`. A region is
/// aligned to its size.
#[cfg(any(test, all(target_arch = "arm", target_os = "none")))]
const fn lowest(end: usize) -> usize {
    if GUARD == 0 { end.next_multiple_of(8) } else { end.next_multiple_of(GUARD) + GUARD }
}

/// The kind of guard that protects memory below the stack from an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Guard {
    /// The stack is guarded by the core's stack limit register (ARMv8-M).
    Limit,
    /// The stack is guarded by a read-only region of the memory protection unit (ARMv7-M).
    Region,
    /// The stack has no guard, because this core has neither a stack limit register nor a memory protection unit.
    None,
}

/// The fault registers of a core at the time of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg(any(test, all(target_arch = "arm", target_os = "none")))]
struct FaultStatus {
    /// The cause of the processor's fault (register CFSR).
    why: u32,
    /// The address of the rejected memory access (MMFAR), if `why` marks it as valid.
    address: u32,
}

#[cfg(any(test, all(target_arch = "arm", target_os = "none")))]
impl FaultStatus {
    /// The fault bits for a stack without room for an exception frame (MSTKERR, MLSPERR).
    const NO_FRAME: u32 = 1 << 4 | 1 << 5;
    /// The fault bits for a data access that was rejected and whose address is valid (DACCVIOL, MMARVALID).
    const ACCESS: u32 = 1 << 1 | 1 << 7;
    /// The fault bit for a stack pointer that was below its limit (STKOF, only ARMv8-M).
    const BELOW_LIMIT: u32 = 1 << 20;

    /// Returns `true` if the fault is a stack overflow; `guarded` is the range of addresses that cannot be written.
    fn is_stack_overflow(self, guarded: &Range<usize>) -> bool {
        let Self { why, address } = self;
        why & (Self::NO_FRAME | Self::BELOW_LIMIT) != 0
            || why & Self::ACCESS == Self::ACCESS && guarded.contains(&(address as usize))
    }
}

#[cfg(all(target_arch = "arm", target_os = "none"))]
mod core_registers {
    #![expect(unsafe_code, reason = "which stack a core uses, and what may be written, is said in its registers")]

    use core::arch::asm;
    use core::cell::UnsafeCell;

    use super::{FaultStatus, Guard, lowest};

    /// The size of the stack for interrupts and faults \[B\]: a fault's message is formatted on it.
    const HANDLERS: usize = 4_096;

    #[repr(C, align(8))]
    struct Handlers(UnsafeCell<[u8; HANDLERS]>);

    // SAFETY: no Rust code accesses it; only the core does, through one pointer.
    unsafe impl Sync for Handlers {}

    static STACK: Handlers = Handlers(UnsafeCell::new([0; HANDLERS]));

    unsafe extern "C" {
        static _stack_end: u32;
    }

    /// Returns the end of the tasks' stack: its lowest address.
    pub(crate) fn end() -> usize {
        lowest((&raw const _stack_end).addr())
    }

    /// Activates the guard of the stack. Must be called once, first in `main`, before any interrupt is enabled.
    pub fn guard_stack() -> Guard {
        let top = STACK.0.get().addr() + HANDLERS;
        // SAFETY: the pointer in use keeps its value and only changes its name, in thread mode. The other pointer gets
        // memory that nothing else uses, and no interrupt that could use it meanwhile is enabled yet.
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

    /// Returns `true` if the fault of the processor that is being handled is a stack overflow.
    pub fn stack_exceeded() -> bool {
        // SAFETY: two registers with the cause of a fault; reading has no side effects.
        let status = unsafe {
            let system = &*cortex_m::peripheral::SCB::PTR;
            FaultStatus { why: system.cfsr.read(), address: system.mmfar.read() }
        };
        status.is_stack_overflow(&(end() - super::GUARD..end()))
    }

    /// Returns `true` if an exception frame at this address was written completely, which is the case above the guard.
    /// Without enough room, an ARMv8-M core leaves the pointer at the limit, and an ARMv7-M core within the guard.
    pub(crate) fn is_frame_whole(address: usize) -> bool {
        address > end()
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
        /// The value that enables the memory protection unit (MPU); all other memory has its default attributes, and
        /// the MPU is off in faults.
        const ON: u32 = 1 | 1 << 2;
        /// The attributes of a memory region that is read-only and not executable.
        const READ_ONLY: u32 = 1 << 28 | 0b101 << 24 | 0b001 << 19;
        let (base, size) = (end() - super::GUARD, (super::GUARD.trailing_zeros() - 1) << 1);
        // SAFETY: every such core has these registers, and nothing writes to the region's memory.
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
pub(crate) use core_registers::{end, is_frame_whole};
#[cfg(all(target_arch = "arm", target_os = "none"))]
pub use core_registers::{guard_stack, stack_exceeded};

#[cfg(test)]
mod tests {
    use super::*;

    const GUARDED: Range<usize> = 0x2400_4000..0x2400_8000;

    #[test]
    fn a_fault_is_for_want_of_stack_where_the_registers_say_so_and_nowhere_else() {
        for (why, address, is, what) in [
            (1 << 20, 0, true, "UFSR.STKOF: the pointer below its limit, ARMv8-M"),
            (1 << 4, 0, true, "MMFSR.MSTKERR: no room for the frame of an exception"),
            (1 << 5, 0, true, "MMFSR.MLSPERR: nor for its floating-point registers"),
            (1 << 1 | 1 << 7, 0x2400_4000, true, "MMFSR.DACCVIOL in the guard, its first byte"),
            (1 << 1 | 1 << 7, 0x2400_7fff, true, "its last"),
            (1 << 1 | 1 << 7, 0x2400_8000, false, "above it"),
            (1 << 1 | 1 << 7, 0x2400_3fff, false, "below it"),
            (1 << 1, 0x2400_4000, false, "an address that is not known: what stands there is old"),
            (1 << 7, 0x2400_4000, false, "no access"),
            (1 << 0 | 1 << 7, 0x2400_4000, false, "MMFSR.IACCVIOL: an instruction that was to be fetched"),
            (1 << 9 | 1 << 15, 0x2400_4000, false, "BFSR.PRECISERR"),
            (1 << 10, 0, false, "BFSR.IMPRECISERR"),
            (1 << 12, 0, false, "BFSR.STKERR: a bus without memory, and no guard"),
            (1 << 16, 0, false, "UFSR.UNDEFINSTR"),
            (1 << 25, 0, false, "UFSR.DIVBYZERO"),
            (0, 0, false, "nothing"),
        ] {
            assert_eq!(FaultStatus { why, address }.is_stack_overflow(&GUARDED), is, "{what}");
        }
    }

    #[test]
    fn a_core_with_limits_needs_no_guard_and_an_address_is_never_in_none() {
        let status = FaultStatus { why: 1 << 1 | 1 << 7, address: 0x2400_4000 };
        assert!(!status.is_stack_overflow(&(0x2400_4000..0x2400_4000)));
    }

    #[test]
    fn the_region_lies_at_a_multiple_of_its_size_and_within_the_stack() {
        assert!(GUARD.is_power_of_two());
        for end in 0x2000_0000..0x2000_4000 {
            let base = lowest(end) - GUARD;
            assert!(base.is_multiple_of(GUARD) && base >= end && base < end + GUARD);
        }
    }
}

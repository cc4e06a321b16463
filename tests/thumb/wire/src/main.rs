//! A proof by linking: with optimisation, no call of `outrigger-wire` can panic or allocate.
//!
//! The panic handler needs a symbol that is not defined, and there is no allocator. `.ci/run probe` builds it, and
//! names the caller if it does not link.
#![no_std]
#![no_main]

/// The start of the linked program, to which a board's reset code would jump. Calls all functions of `outrigger-wire`.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    outrigger_wire_probe::probe();
    #[cfg(feature = "must_fail")]
    outrigger_wire_probe::used(outrigger_wire_probe::any_bytes()[outrigger_wire_probe::any(3)]);
    loop {
        core::hint::spin_loop();
    }
}

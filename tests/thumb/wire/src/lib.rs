//! Calls every message, view and reader of `outrigger-wire` with inputs that are opaque to the optimiser.
//!
//! A program that links this with a panic handler that cannot be linked proves that none of them can panic. The helpers
//! are public for the same proof of the other crates.
#![no_std]

mod messages;
mod numbers;
mod programs;
mod sensor;
mod services;

use core::fmt::Write;
use core::hint::black_box;

pub use self::messages::any_state;

/// Consumes a result so that the optimiser cannot remove its computation.
pub fn used<T>(value: T) {
    let _ = black_box(value);
}

/// Returns an input that is opaque to the optimiser.
pub fn any<T>(value: T) -> T {
    black_box(value)
}

/// Returns bytes of unknown content and length.
pub fn any_bytes() -> &'static [u8] {
    static BYTES: [u8; 16] = [0; 16];
    any::<&[u8]>(&BYTES)
}

/// Returns text of unknown content and length.
pub fn any_text() -> &'static str {
    any("text")
}

/// Returns numbers of unknown value, NaN included.
pub fn any_numbers<const N: usize>() -> [f32; N] {
    any([0.0; N])
}

/// Calls `write` with memory of unknown length, and consumes the result and the memory.
pub fn into_room<T>(write: impl FnOnce(&mut [u8]) -> T) {
    let mut room = [0; 1024];
    let result = write(any::<&mut [u8]>(&mut room));
    used((result, room));
}

/// Formats `value` through `core::fmt`, like a log line.
pub fn shown(value: impl core::fmt::Display) {
    struct Nowhere;
    impl Write for Nowhere {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            used(text);
            Ok(())
        }
    }
    let _ = write!(Nowhere, "{value}");
}

/// Calls all functions of `outrigger-wire`.
pub fn probe() {
    messages::probe();
    numbers::probe();
    programs::probe();
    sensor::probe();
    services::probe();
}

#[cfg(feature = "explain")]
#[unsafe(no_mangle)]
extern "C" fn a_panic_is_reachable() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[cfg(not(feature = "explain"))]
unsafe extern "C" {
    safe fn a_panic_is_reachable() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    a_panic_is_reachable()
}

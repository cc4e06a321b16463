//! Proof by linking: with optimisation, no call of the core or of the URScript renderer can panic or allocate.
//!
//! The panic handler needs a symbol that nobody defines, and there is no allocator. If any entry point called below can
//! reach a panic, or wants the heap, this program does not link. Inputs are opaque to the optimiser, so nothing is
//! proven about one constant only. `.ci/run probe` builds it, and shows who is to blame where it fails.
#![no_std]
#![no_main]

mod board_sensors;
mod command;
mod dashboard;
#[cfg(feature = "engine_only")]
mod drive;
mod fri;
mod link;
mod mode;
mod motion;
#[cfg(not(feature = "engine_only"))]
mod requests;
mod robot;
mod rtde;
mod sensor;
mod session;
mod upload;
mod urscript;
mod wire;

use core::fmt::Write;
use core::hint::black_box;

/// A result the optimiser cannot leave out.
fn used<T>(value: T) {
    let _ = black_box(value);
}

/// An input the optimiser knows nothing about.
fn any<T>(value: T) -> T {
    black_box(value)
}

/// Bytes of unknown content and length.
fn any_bytes() -> &'static [u8] {
    static BYTES: [u8; 16] = [0; 16];
    any::<&[u8]>(&BYTES)
}

/// Text of unknown content and length.
fn any_text() -> &'static str {
    any("text")
}

/// Numbers of unknown value, NaN included.
fn any_numbers<const N: usize>() -> [f32; N] {
    any([0.0; N])
}

/// Room of unknown length, and the use of whatever was written.
fn into_room<T>(write: impl FnOnce(&mut [u8]) -> T) {
    let mut room = [0; 1024];
    let result = write(any::<&mut [u8]>(&mut room));
    used((result, room));
}

/// Shown through `core::fmt`, as a log line would be.
fn shown(value: impl core::fmt::Display) {
    struct Nowhere;
    impl Write for Nowhere {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            used(text);
            Ok(())
        }
    }
    if cfg!(feature = "engine_only") {
        // A board tells of errors by their numbers.
        return used(value);
    }
    let _ = write!(Nowhere, "{value}");
}

/// Where a board's reset code would jump.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    session::probe();
    if !cfg!(feature = "engine_only") {
        robot::probe();
        sensor::probe();
        board_sensors::probe();
        command::probe();
        link::probe();
        mode::probe();
        motion::probe();
        rtde::probe();
        dashboard::probe();
        upload::probe();
        fri::probe();
        urscript::probe();
        wire::probe();
        #[cfg(not(feature = "engine_only"))]
        requests::probe();
    }
    #[cfg(feature = "must_fail")]
    used(any_bytes()[any(3)]);
    loop {
        core::hint::spin_loop();
    }
}

/// What one robot's engine holds, without the memory it receives into.
#[cfg(feature = "engine_only")]
#[used]
static mut ENGINE: [u8; session::ENGINE_SIZE] = [0; session::ENGINE_SIZE];

/// What RTDE holds beside it.
#[cfg(all(feature = "engine_only", feature = "rtde"))]
#[used]
static mut RTDE: [u8; session::RTDE_SIZE] = [0; session::RTDE_SIZE];

#[cfg(any(feature = "explain", feature = "engine_only"))]
#[unsafe(no_mangle)]
extern "C" fn a_panic_is_reachable() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[cfg(not(any(feature = "explain", feature = "engine_only")))]
unsafe extern "C" {
    safe fn a_panic_is_reachable() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    a_panic_is_reachable()
}

//! A proof by linking: with optimisation, no call of the core or of the URScript renderer can panic or allocate.
//!
//! The panic handler needs a symbol that is not defined, and there is no allocator. If any entry point called below can
//! reach a panic, or needs the heap, this program does not link. Inputs are opaque to the optimiser, so that the proof
//! does not depend on a constant. `.ci/run probe` builds it, and shows the caller if it fails.
#![no_std]
#![no_main]

mod board_sensors;
mod command;
mod dashboard;
#[cfg(feature = "engine_only")]
mod drive;
mod fri;
mod interpreter;
mod link;
mod mode;
mod motion;
#[cfg(not(feature = "engine_only"))]
mod requests;
mod robot;
mod rtde;
mod session;
mod upload;
mod urscript;

use outrigger_wire_probe::{any, any_bytes, any_numbers, any_state, any_text, into_room, used};

/// Formats `value` like a log line; a board with the engine alone reports errors by their numbers.
fn shown(value: impl core::fmt::Display) {
    if cfg!(feature = "engine_only") {
        return used(value);
    }
    outrigger_wire_probe::shown(value);
}

/// The start of the linked program, to which a board's reset code would jump. Calls all functions that must not panic.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    session::probe();
    if !cfg!(feature = "engine_only") {
        robot::probe();
        board_sensors::probe();
        command::probe();
        link::probe();
        mode::probe();
        motion::probe();
        rtde::probe();
        dashboard::probe();
        upload::probe();
        interpreter::probe();
        fri::probe();
        urscript::probe();
        outrigger_wire_probe::probe();
        #[cfg(not(feature = "engine_only"))]
        requests::probe();
    }
    #[cfg(feature = "must_fail")]
    used(any_bytes()[any(3)]);
    loop {
        core::hint::spin_loop();
    }
}

/// The memory of one robot's engine, without its receive memory, so that the size of the program includes it.
#[cfg(feature = "engine_only")]
#[used]
static mut ENGINE: [u8; session::ENGINE_SIZE] = [0; session::ENGINE_SIZE];

/// The additional memory for RTDE, so that the size of the program includes it.
#[cfg(all(feature = "engine_only", feature = "rtde"))]
#[used]
static mut RTDE: [u8; session::RTDE_SIZE] = [0; session::RTDE_SIZE];

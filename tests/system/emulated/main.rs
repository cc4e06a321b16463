//! The firmware on emulated boards in closed loop with a simulated controller, in real time.

mod board;

use std::process::ExitCode;

use outrigger_emulated::require::{self, Need};

/// The requirements of most of these tests: QEMU, and the compiler's targets of the boards.
const BOARD: &[Need] = &[Need::Qemu, Need::Thumb];

fn main() -> ExitCode {
    let (tests, at_once) = board::tests();
    require::main_at_once(at_once, tests)
}

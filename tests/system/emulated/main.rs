//! The emulated boards in closed loop, in real time.

mod board;

use std::process::ExitCode;

use outrigger_emulated::require::{self, Need};

/// The needs of each of these tests.
const BOARD: &[Need] = &[Need::Qemu, Need::Thumb];

fn main() -> ExitCode {
    let (tests, at_once) = board::tests();
    require::main_at_once(at_once, tests)
}

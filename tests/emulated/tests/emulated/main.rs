//! The emulated board in closed loop, for who asks for it.

#[cfg(feature = "qemu")]
mod board;

use std::process::ExitCode;

use outrigger_emulated::require::{self, Need};

/// What each of these tests needs.
const BOARD: &[Need] = &[Need::Qemu, Need::Thumb];

fn main() -> ExitCode {
    let how = "twelve minutes with QEMU: cargo test -p outrigger-emulated --features qemu --test emulated -- --ignored";
    #[cfg(feature = "qemu")]
    let tests = Some(board::tests());
    #[cfg(not(feature = "qemu"))]
    let tests = None;
    require::main_where_asked(BOARD, how, tests)
}

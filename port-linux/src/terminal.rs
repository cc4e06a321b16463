//! The terminal that the full-screen view took, given back in every way a process can end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::terminal::disable_raw_mode;

use crate::os::{self, Standard};

/// Whether the view has it.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Out of the alternate screen, and the cursor visible.
const AS_IT_WAS: &[u8] = b"\x1b[?1049l\x1b[?25h";

/// Takes it for the view.
pub(crate) fn take() -> io::Result<DefaultTerminal> {
    TAKEN.store(true, Ordering::Release);
    ratatui::try_init()
}

/// Gives it back on the thread that draws.
pub(crate) fn leave() {
    if TAKEN.swap(false, Ordering::AcqRel) {
        let _ = ratatui::try_restore();
    }
}

/// Gives it back where the view has it, whatever the thread that draws hangs in.
pub(crate) fn give_back() {
    if !TAKEN.swap(false, Ordering::AcqRel) {
        return;
    }
    // Of the line discipline: it waits for no output.
    let _ = disable_raw_mode();
    // Around the lock of standard output, which who draws may hold; what takes nothing is not written to.
    if os::takes_something(Standard::Output, Some(Duration::ZERO)) {
        let _ = os::write_around(Standard::Output, AS_IT_WAS);
    }
}

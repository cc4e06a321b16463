//! The terminal that the full-screen view took, given back in every way a process can end.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::DefaultTerminal;
use ratatui::crossterm::terminal::disable_raw_mode;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

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
    let out = io::stdout();
    if takes_something(&out, 0) {
        let _ = rustix::io::write(out.as_fd(), AS_IT_WAS);
    }
}

/// Whether `file` takes something within `millis`.
pub(crate) fn takes_something(file: &impl AsFd, millis: i64) -> bool {
    let mut looked = [PollFd::new(file, PollFlags::OUT)];
    let patience = Timespec { tv_sec: millis / 1_000, tv_nsec: millis % 1_000 * 1_000_000 };
    poll(&mut looked, Some(&patience)).is_ok_and(|ready| ready > 0)
}

/// Whether the terminal behind `file` was closed.
pub(crate) fn is_gone(file: &impl AsFd) -> bool {
    let mut looked = [PollFd::new(file, PollFlags::IN)];
    let answered = poll(&mut looked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    answered.is_ok() && looked[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

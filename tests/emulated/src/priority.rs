//! Going before other programs: an emulated processor has no other way to keep time on a busy machine.

use std::process::{Command, Stdio};

use rustix::thread::gettid;

/// Above everything that computes, below what the kernel needs.
const PRIORITY: &str = "20";
/// Above that.
const ABOVE: &str = "30";

/// The calling thread, and every process it starts, goes before others until this is dropped; where that is granted.
#[derive(Debug)]
pub struct Priority {
    granted: bool,
}

impl Priority {
    /// Asks for it, in turns with others who have: a board that hangs without end must not keep from its processor what would
    /// end it. This takes root, or a limit for real-time priorities, and the program `chrt`.
    #[must_use]
    pub fn ask() -> Self {
        Self { granted: chrt("--rr", PRIORITY) }
    }

    /// Asks to go before those who have asked as well, for what hardly computes.
    #[must_use]
    pub fn above() -> Self {
        Self { granted: chrt("--fifo", ABOVE) }
    }

    /// Whether it was granted.
    #[must_use]
    pub fn is_granted(&self) -> bool {
        self.granted
    }
}

impl Drop for Priority {
    fn drop(&mut self) {
        if self.granted {
            chrt("--other", "0");
        }
    }
}

/// Sets policy and priority of this thread. A program does it, for no library does without unsafe code.
fn chrt(policy: &str, priority: &str) -> bool {
    let thread = gettid().as_raw_nonzero().to_string();
    let mut chrt = Command::new("chrt");
    chrt.args([policy, "--pid", priority, &thread]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    chrt.status().is_ok_and(|status| status.success())
}

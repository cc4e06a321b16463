//! The real-time priority of an emulated processor, which has no other way to keep time on a busy machine.

use std::process::{Command, Stdio};

use rustix::thread::gettid;

/// A priority above all computing programs, below what the kernel needs.
const PRIORITY: &str = "20";
/// A priority above that of other emulated processors.
const ABOVE: &str = "30";

/// A raised priority. While the value exists, the calling thread and every process it starts have priority over other
/// programs, if that is granted.
#[derive(Debug)]
pub struct Priority {
    granted: bool,
}

impl Priority {
    /// Requests priority, shared in turns with other holders, because a board that hangs must not keep the processor
    /// from what would end it. Requires root, or a limit for real-time priorities, and the program `chrt`.
    #[must_use]
    pub fn ask() -> Self {
        Self { granted: chrt("--rr", PRIORITY) }
    }

    /// Requests a priority above that of other emulated processors, for threads that hardly compute.
    #[must_use]
    pub fn above() -> Self {
        Self { granted: chrt("--fifo", ABOVE) }
    }

    /// Returns `true` if the priority was granted.
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

/// Sets the scheduling policy and priority of this thread with the program `chrt`, because no library does so without
/// unsafe code. Returns `true` if that succeeded.
fn chrt(policy: &str, priority: &str) -> bool {
    let thread = gettid().as_raw_nonzero().to_string();
    let mut chrt = Command::new("chrt");
    chrt.args([policy, "--pid", priority, &thread]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    chrt.status().is_ok_and(|status| status.success())
}

//! What is asked of the operating system beyond what the crates in use have for all: one file for each.
//!
//! Linux is what an arm is commanded from. Elsewhere the same calls are there, and what such a system cannot grant is an error of
//! the kind `Unsupported`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub use macos::*;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!(
    "the program is for Linux, and on macOS for what only reads; on Windows use WSL 2: see port-linux/docs/install.md"
);

/// How the kernel schedules a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// The time-sharing scheduler.
    Other,
    /// `SCHED_FIFO` with this priority, 1 … 99.
    Fifo(u8),
    /// Another policy, by its number.
    #[cfg_attr(target_os = "macos", expect(dead_code, reason = "threads there have one policy, as far as we ask"))]
    Policy(i32),
}

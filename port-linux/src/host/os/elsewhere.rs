//! The calls that only Linux supports, as they are rejected on other systems. A session can only command an arm from
//! Linux.

use std::io::{self, ErrorKind};

use rustix::fd::AsFd;

use super::Scheduling;

/// The flag of `poll` for the end of a connection. It is 0, because on Windows and macOS `poll` reports the end without
/// a flag.
pub(crate) const ENDING: i16 = 0;

/// The upper bound of the numbers of a machine's processors.
pub(crate) const MOST_PROCESSORS: usize = 1_024;

/// Returns `None`: on Windows and macOS only the standard library's clock is used.
pub(crate) const fn monotonic_nanos() -> Option<u64> {
    None
}

/// Returns the error for system calls that are supported only on Linux.
pub(super) fn only_on_linux() -> io::Error {
    let system = if cfg!(windows) { "Windows" } else { "macOS" };
    let text = format!("only on Linux; on {system} Outrigger has no `run` and no `move`");
    io::Error::new(ErrorKind::Unsupported, text)
}

/// Refuses the real-time scheduler `SCHED_FIFO`.
///
/// # Errors
/// Always returns an error: these systems have no such class with guaranteed timing.
pub fn set_fifo(_: u8) -> io::Result<()> {
    Err(only_on_linux())
}

/// Does nothing: on Windows and macOS every thread of this process has the time-sharing scheduler.
///
/// # Errors
/// Never returns an error.
pub(crate) fn set_other() -> io::Result<()> {
    Ok(())
}

/// Returns the scheduling of the calling thread.
///
/// # Errors
/// Never returns an error.
pub(crate) fn scheduling() -> io::Result<Scheduling> {
    Ok(Scheduling::Other)
}

/// Does nothing: a socket cannot be made to acknowledge received data immediately here.
///
/// # Errors
/// Never returns an error.
pub(crate) fn acknowledge_at_once(_: impl AsFd) -> io::Result<()> {
    Ok(())
}

/// Refuses to bind the thread to one processor.
///
/// # Errors
/// Always returns an error.
pub(crate) fn pin(_: usize) -> io::Result<()> {
    Err(only_on_linux())
}

/// The processors of a thread before [`pin`]. No thread is pinned here.
#[derive(Clone, Copy)]
pub(crate) struct Unpinned;

impl Unpinned {
    pub(crate) const fn of_caller() -> Self {
        Self
    }

    #[expect(clippy::unnecessary_wraps, reason = "fails on Linux")]
    pub(crate) const fn apply(self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns no processors, because these systems do not report those of a thread.
pub(crate) fn processors() -> Vec<usize> {
    Vec::new()
}

/// Refuses to lock the memory of this process.
///
/// # Errors
/// Always returns an error.
pub(crate) fn lock_memory() -> io::Result<()> {
    Err(only_on_linux())
}

/// The exclusive right to command one robot from this machine. No process can take it on this system.
#[derive(Debug)]
pub(crate) enum Name {}

impl Name {
    /// Refuses the exclusive right to a robot.
    ///
    /// # Errors
    /// Always returns an error: a session can only command an arm from Linux.
    pub(crate) fn take(_: &str) -> io::Result<Result<Self, Option<String>>> {
        Err(only_on_linux())
    }
}

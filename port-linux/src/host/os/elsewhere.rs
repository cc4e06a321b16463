//! What only Linux grants, as it is refused elsewhere: an arm is commanded from Linux.

use std::io::{self, ErrorKind};

use rustix::fd::AsFd;

use super::Scheduling;

/// Of `poll`: it names every end of a connection by itself.
pub(crate) const ENDING: i16 = 0;

/// Processors are numbered below this.
pub(crate) const MOST_PROCESSORS: usize = 1_024;

/// No clock but that of the standard library.
pub(crate) const fn monotonic_nanos() -> Option<u64> {
    None
}

/// Why an arm is not commanded from here.
pub(super) fn only_on_linux() -> io::Error {
    let system = if cfg!(windows) { "Windows" } else { "macOS" };
    let text = format!("only on Linux; this is {system}, where Outrigger reads and simulates, and commands no arm");
    io::Error::new(ErrorKind::Unsupported, text)
}

/// # Errors
/// Always: there is no such class that ends in time.
pub fn set_fifo(_: u8) -> io::Result<()> {
    Err(only_on_linux())
}

/// Puts the calling thread under the time-sharing scheduler: it is.
///
/// # Errors
/// None.
pub(crate) fn set_other() -> io::Result<()> {
    Ok(())
}

/// How the calling thread is scheduled.
///
/// # Errors
/// None.
pub(crate) fn scheduling() -> io::Result<Scheduling> {
    Ok(Scheduling::Other)
}

/// What arrives next is acknowledged at once: no socket can be told so.
///
/// # Errors
/// None.
pub(crate) fn acknowledge_at_once(_: impl AsFd) -> io::Result<()> {
    Ok(())
}

/// # Errors
/// Always.
pub(crate) fn pin(_: usize) -> io::Result<()> {
    Err(only_on_linux())
}

/// The processors of a thread before [`pin`]: no thread is pinned here.
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

/// The processors that the calling thread may use: it is not said.
pub(crate) fn processors() -> Vec<usize> {
    Vec::new()
}

/// # Errors
/// Always.
pub(crate) fn lock_memory() -> io::Result<()> {
    Err(only_on_linux())
}

/// The right to command one robot from this machine, which nobody has here.
#[derive(Debug)]
pub(crate) enum Name {}

impl Name {
    /// # Errors
    /// Always: an arm is commanded from Linux.
    pub(crate) fn take(_: &str) -> io::Result<Result<Self, Option<String>>> {
        Err(only_on_linux())
    }
}

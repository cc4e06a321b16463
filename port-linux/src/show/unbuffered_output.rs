//! Writes to standard output and standard error without the locks and buffers that a blocked thread could hold.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::{Failure, Outcome, output_closed};
pub(super) use crate::host::os::Standard;
use crate::host::os::{takes_something, write_around};
use crate::host::worker::within;

/// The longest time for writing a last message to standard output or standard error.
const PATIENCE: Duration = Duration::from_secs(1);

/// `true` if a write to standard output is blocked and was abandoned.
static OUTPUT_HANGS: AtomicBool = AtomicBool::new(false);

/// A standard stream that is written to directly, a whole text at a time.
#[derive(Debug)]
pub(super) struct Straight(Standard);

impl Straight {
    pub(super) const fn new(standard: Standard) -> Self {
        Self(standard)
    }
}

impl Write for Straight {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match write_around(self.0, bytes) {
                // The output was made non-blocking by another process.
                Err(error) if error.kind() == ErrorKind::WouldBlock => drop(takes_something(self.0, None)),
                written => return written,
            }
        }
    }

    fn write_fmt(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.write_all(text.to_string().as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes each later [`tell`] fail at once, because a write to standard output is blocked.
pub(super) fn takes_nothing() {
    OUTPUT_HANGS.store(true, Ordering::Release);
}

/// Prints `text`, which ends with a line end, to standard output, and waits for at most a second. Succeeds if the
/// reader has closed the output.
///
/// # Errors
/// Returns [`Failure::BadInput`] if it cannot be written.
pub fn tell(text: &str) -> Outcome {
    let hangs = || Err(Failure::BadInput("cannot write the output: its reader does not read".into()));
    if OUTPUT_HANGS.load(Ordering::Acquire) {
        return hangs();
    }
    match write_within(Standard::Output, text.to_owned()) {
        Some(written) => written.or_else(|error| output_closed(&error)),
        None => {
            takes_nothing();
            hangs()
        }
    }
}

/// Prints `what` to standard error, and waits for at most a second.
pub fn complain(what: &str) {
    // An error here cannot be reported anywhere else.
    let _ = write_within(Standard::Error, format!("outrigger: {what}\n"));
}

/// Writes `text` to a standard stream within the time limit for last messages. Returns `None` if it was not written in
/// time.
fn write_within(standard: Standard, text: String) -> Option<io::Result<()>> {
    let (tell, told) = std::sync::mpsc::channel();
    within(PATIENCE, move || drop(tell.send(Straight::new(standard).write_all(text.as_bytes()))));
    told.try_recv().ok()
}

//! Standard output and error, around the locks and buffers that a thread which hangs in a write would hold.

use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::{Failure, Outcome, output_closed};
pub(super) use crate::host::os::Standard;
use crate::host::os::{takes_something, write_around};
use crate::host::worker::within;

/// So long what is said at the end may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether a write to standard output hangs that nobody waits for any more.
static OUTPUT_HANGS: AtomicBool = AtomicBool::new(false);

/// One of the two, written to as it stands: a whole text at a time.
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
                // Of an output that somebody else made return at once.
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

/// From now on nothing more is written to standard output: somebody hangs in that.
pub(super) fn takes_nothing() {
    OUTPUT_HANGS.store(true, Ordering::Release);
}

/// Says `text`, which ends in a line, on standard output, and waits for that no longer than a second. A reader that has gone
/// away needs nothing more.
///
/// # Errors
/// [`Failure::BadInput`] where it cannot be written.
pub fn tell(text: &str) -> Outcome {
    let hangs = || Err(Failure::BadInput("cannot write the output: nobody reads it".into()));
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

/// Says `what` on standard error, and waits for that no longer than a second.
pub fn complain(what: &str) {
    // There is nowhere else to say that it cannot be said.
    let _ = write_within(Standard::Error, format!("outrigger: {what}\n"));
}

/// `None` where it was not written in time.
fn write_within(standard: Standard, text: String) -> Option<io::Result<()>> {
    let (tell, told) = std::sync::mpsc::channel();
    within(PATIENCE, move || drop(tell.send(Straight::new(standard).write_all(text.as_bytes()))));
    told.try_recv().ok()
}

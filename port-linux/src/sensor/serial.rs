//! Serial devices, by the kernel's terminal interface.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::termios::{OptionalActions, QueueSelector, SpecialCodeIndex, tcflush, tcgetattr, tcsetattr};

/// Opens `device` at `baud`, 8 data bits, no parity, one stop bit, raw: bytes come as they were sent. What was
/// buffered before is dropped, because its age is unknown.
///
/// # Errors
/// Those of the kernel, among them `WouldBlock` where another process holds the device, and a rate that does
/// not exist.
pub(crate) fn open(device: &Path, baud: u32) -> io::Result<File> {
    let port =
        OpenOptions::new().read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed()).open(device)?;
    flock(&port, FlockOperation::NonBlockingLockExclusive)?;
    let mut settings = tcgetattr(&port)?;
    settings.make_raw();
    settings.set_speed(baud)?;
    // Each read returns as soon as one byte is there.
    settings.special_codes[SpecialCodeIndex::VMIN] = 1;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(&port, OptionalActions::Now, &settings)?;
    tcflush(&port, QueueSelector::IFlush)?;
    Ok(port)
}

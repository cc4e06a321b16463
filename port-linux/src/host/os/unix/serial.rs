//! Serial devices, through the kernel's terminal interface.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, fcntl_setfl, flock};
use rustix::pty::{grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, QueueSelector, SpecialCodeIndex, tcflush, tcgetattr, tcsetattr};

use crate::host::os::{PSEUDO_TERMINAL, unacknowledged};

/// Opens `device` at `baud`, with 8 data bits, no parity and one stop bit, in raw mode: bytes are not modified. Bytes
/// that were buffered before are discarded, because their age is unknown.
///
/// # Errors
/// Returns the error of the operating system, among them `WouldBlock` if another process holds the device, and the
/// error for a rate that does not exist.
pub fn open(device: &Path, baud: u32) -> io::Result<File> {
    let port =
        OpenOptions::new().read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed()).open(device)?;
    flock(&port, FlockOperation::NonBlockingLockExclusive)?;
    make_raw(&port, baud)?;
    tcflush(&port, QueueSelector::IFlush)?;
    Ok(port)
}

/// Opens a device like [`open`], for a writer: neither opening nor writing waits for a carrier, a reader or a blocked
/// line.
///
/// # Errors
/// Returns the errors of [`open`].
pub fn open_to_write(device: &Path, baud: u32) -> io::Result<File> {
    let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
    let port = OpenOptions::new().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(device)?;
    flock(&port, FlockOperation::NonBlockingLockExclusive)?;
    make_raw(&port, baud)?;
    Ok(port)
}

fn make_raw(port: &File, baud: u32) -> io::Result<()> {
    let mut settings = tcgetattr(port)?;
    settings.make_raw();
    settings.set_speed(baud)?;
    // Each read returns as soon as one byte is available.
    settings.special_codes[SpecialCodeIndex::VMIN] = 1;
    settings.special_codes[SpecialCodeIndex::VTIME] = 0;
    Ok(tcsetattr(port, OptionalActions::Now, &settings)?)
}

/// Creates a pseudo terminal. Returns the end that is written to, without blocking, and the path of the device that
/// others open. Until somebody opens it, `poll` reports `POLLHUP`.
///
/// # Errors
/// Returns the error of the operating system.
pub fn pseudo(baud: u32) -> io::Result<(File, PathBuf)> {
    let end = openpt(PSEUDO_TERMINAL)?;
    grantpt(&end)?;
    unlockpt(&end)?;
    let device = PathBuf::from(OsString::from_vec(ptsname(&end, Vec::new())?.into_bytes()));
    // The device keeps its settings after this. Opening and closing it once puts it into the state in which nobody
    // has it open.
    drop(open_to_write(&device, baud)?);
    let end = File::from(end);
    fcntl_setfl(&end, OFlags::RDWR | OFlags::NONBLOCK)?;
    Ok((end, device))
}

/// Gives the device of a pseudo terminal a fixed name: makes a symbolic link at the path `name` to it. Replaces a link
/// that an earlier process left behind.
///
/// # Errors
/// Returns the error of the operating system, `AlreadyExists` if the name is used otherwise.
pub fn name(device: &Path, name: &Path) -> io::Result<()> {
    match symlink(device, name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && name.is_symlink() && is_left(name, device) => {
            std::fs::remove_file(name)?;
            symlink(device, name)
        }
        done => done,
    }
}

/// Returns `true` if the path `name` is a link that an earlier process left behind: its pseudo terminal no longer
/// exists, or has the same path as the new `device`.
fn is_left(name: &Path, device: &Path) -> bool {
    std::fs::read_link(name).is_ok_and(|to| to == device || (to.starts_with("/dev/pts") && !to.exists()))
}

/// Returns the number of bytes that were written to a serial device and not yet transmitted.
///
/// # Errors
/// Returns the error of the operating system, and of a driver that does not count them.
pub fn unsent(port: &File) -> io::Result<usize> {
    unacknowledged(port)
}

/// Returns `true` if nobody has the device of a pseudo terminal open. The kernel would store the written bytes for a
/// later reader.
pub fn is_unheard(pseudo: &File) -> bool {
    super::is_hung_up(pseudo)
}

/// Discards bytes that were written to a serial device and not yet transmitted, because closing the device would wait
/// for them.
pub fn forget(port: &File) {
    let _ = tcflush(port, QueueSelector::OFlush);
}

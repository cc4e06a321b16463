//! The system calls that Linux and macOS share.

pub mod local;
pub mod serial;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

pub(crate) use std::os::fd::RawFd as Descriptor;

pub(crate) use libc::{POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, pollfd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::{HANG_UP, INTERRUPT, Standard};

/// The operating system's error code for a non-blocking connect that is in progress.
pub(super) const UNDER_WAY: Errno = Errno::INPROGRESS;

/// Returns the number by which `poll` identifies a descriptor.
pub(crate) fn descriptor(of: &impl AsFd) -> i32 {
    of.as_fd().as_raw_fd()
}

/// Does nothing: the timers of Linux and macOS are precise already.
pub const fn wake_promptly() {}

/// Takes over the signals that request the end of the process. The returned function waits for them forever, and
/// passes their names to `tell`.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn signals(tell: impl FnMut(&'static str)) -> io::Result<impl FnOnce()> {
    // `SIGXFSZ` is taken over, too: a write beyond a file size limit then fails with an error, and does not end the
    // process.
    let mut arriving = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGXFSZ])?;
    Ok(move || arriving.forever().filter_map(name_of).for_each(tell))
}

/// Returns the name of a signal that requests the end of the process.
const fn name_of(signal: i32) -> Option<&'static str> {
    match signal {
        SIGINT => Some(INTERRUPT),
        SIGTERM => Some("SIGTERM"),
        SIGHUP => Some(HANG_UP),
        _ => None,
    }
}

/// Requests the end of a process as Ctrl-C does. Ignores a process that has already ended.
pub fn interrupt(process: &Child) {
    if let Some(pid) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::INT);
    }
}

/// Returns the name and the release of this operating system, for reports.
pub(crate) fn name() -> String {
    let uname = rustix::system::uname();
    format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy())
}

/// Fills `room` with unpredictable random bytes.
///
/// # Errors
/// Returns the error of the operating system.
pub fn random(room: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(room)
}

/// Creates a directory with its parents, for this user only.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates or truncates a file that only this user can read.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Opens a file for reading. Does not wait for the other end of a pipe.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn open_at_once(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// Syncs the names in this directory to disk, so that they survive a loss of power.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Returns `true` if there is a socket at this path.
pub fn is_socket(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.file_type().is_socket())
}

/// Writes to a standard stream without its buffer and its lock, which a thread that is blocked in a write would hold.
///
/// # Errors
/// Returns the error of the operating system; `WouldBlock` if the stream was made non-blocking.
pub fn write_around(to: Standard, bytes: &[u8]) -> io::Result<usize> {
    Ok(match to {
        Standard::Output => rustix::io::write(io::stdout(), bytes),
        Standard::Error => rustix::io::write(io::stderr(), bytes),
    }?)
}

/// Waits until a standard stream accepts output, at most for `patience` if it is given. Returns `true` if it does.
pub fn takes_something(stream: Standard, patience: Option<Duration>) -> bool {
    match stream {
        Standard::Output => is_ready(&io::stdout(), PollFlags::OUT, patience),
        Standard::Error => is_ready(&io::stderr(), PollFlags::OUT, patience),
    }
    .is_ok_and(|ready| ready)
}

/// Returns `true` if the other end of a terminal or a pipe is closed.
fn is_hung_up(file: &impl AsFd) -> bool {
    let mut looked = [PollFd::new(file, PollFlags::IN)];
    let answered = poll(&mut looked, Some(&Timespec::default()));
    answered.is_ok() && looked[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// Waits until the kernel reports one of `flags` for the file, at most for `patience` if it is given. Returns `true`
/// if it does.
fn is_ready(file: &impl AsFd, flags: PollFlags, patience: Option<Duration>) -> io::Result<bool> {
    let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
    Ok(poll(&mut [PollFd::new(file, flags)], patience.as_ref())? > 0)
}

/// A serial line to a board (a microcontroller that commands a robot): a serial device, or a socket that is connected
/// to one.
#[derive(Debug)]
pub struct Line(File);

impl Line {
    /// Opens a line to a board at a serial device with the rate `baud` \[Bd\].
    ///
    /// # Errors
    /// Returns the errors of [`serial::open`].
    pub fn device(path: &Path, baud: u32) -> io::Result<Self> {
        serial::open(path, baud).map(Self)
    }

    /// Opens a line to a board by connecting to a Unix socket.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn unix(path: &Path) -> io::Result<Self> {
        UnixStream::connect(path).map(|stream| Self(OwnedFd::from(stream).into()))
    }

    /// Returns `true` if data of the board arrives on the line within the time `within`.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn has_something(&self, within: Duration) -> io::Result<bool> {
        is_ready(&self.0, PollFlags::IN, Some(within))
    }
}

impl From<TcpStream> for Line {
    fn from(stream: TcpStream) -> Self {
        Self(OwnedFd::from(stream).into())
    }
}

impl Read for Line {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.0.read(room)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

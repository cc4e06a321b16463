//! Windows.

#![expect(unsafe_code, reason = "raw calls of the system: each is one call with arguments owned by the caller")]

pub mod local;
pub mod serial;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Child;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use rustix::fd::{AsFd, AsRawFd as _, OwnedFd};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketType, socket};
use windows_sys::Win32::Media::timeBeginPeriod;
use windows_sys::Win32::Networking::WinSock::WSAPoll;
pub(crate) use windows_sys::Win32::Networking::WinSock::{
    POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, SOCKET as Descriptor, WSAPOLLFD as pollfd,
};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::core::BOOL;

use super::{HANG_UP, INTERRUPT, Standard, only_on_linux};

/// What a connect that does not wait says of itself.
pub(super) const UNDER_WAY: Errno = Errno::WOULDBLOCK;

/// # Errors
/// Always: who commands asks, and nobody does from here.
pub(crate) fn unacknowledged(_: impl AsFd) -> io::Result<usize> {
    Err(only_on_linux())
}

/// The number that `poll` knows a socket by.
pub(crate) fn descriptor(of: &impl AsFd) -> Descriptor {
    of.as_fd().as_raw_fd() as Descriptor
}

/// Waits until one of `descriptors` is ready, or for so long, in whole milliseconds that are not too short; without end where no
/// time is given. How many are ready.
///
/// # Errors
/// Those of the system.
pub(crate) fn poll(descriptors: &mut [pollfd], timeout: Option<Duration>) -> io::Result<usize> {
    let millis = timeout.map_or(-1, |timeout| i32::try_from(timeout.as_micros().div_ceil(1_000)).unwrap_or(i32::MAX));
    let count = u32::try_from(descriptors.len()).unwrap_or(u32::MAX);
    // SAFETY: the slice outlives the call and has at least `count` entries; a number that is no socket's is told as such.
    let ready = unsafe { WSAPoll(descriptors.as_mut_ptr(), count, millis) };
    usize::try_from(ready).map_err(|_| io::Error::last_os_error())
}

/// What one thread waits for by `poll` and others ring: a socket that sends to itself, because `poll` waits for nothing else.
#[derive(Debug)]
pub(crate) struct Event(UdpSocket);

impl Event {
    /// One that has not been rung.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn new() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    /// The socket to wait for.
    pub(crate) fn descriptor(&self) -> Descriptor {
        descriptor(&self.0)
    }

    /// Rings. Refused only where it rings so often that it will be heard anyway.
    pub(crate) fn ring(&self) {
        let _ = self.0.send(&[1]);
    }

    /// As if it had not been rung.
    pub(crate) fn clear(&self) {
        while self.0.recv(&mut [0]).is_ok() {}
    }
}

/// A TCP socket that does not block.
///
/// # Errors
/// Those of the system.
pub(super) fn stream_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    // Sockets have to be started once in a process. The standard library does that before the first of its own; rustix does not.
    static STARTED: OnceLock<Result<(), Errno>> = OnceLock::new();
    (*STARTED.get_or_init(|| rustix::net::wsa_startup().map(drop)))?;
    let socket = socket(family, SocketType::STREAM, None)?;
    ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// This process wakes up within a millisecond of when it asks to, and not up to 16 ms later.
pub fn wake_promptly() {
    // SAFETY: it takes a number, and nothing of ours. Refused, everything is later.
    let _ = unsafe { timeBeginPeriod(1) };
}

/// Who is told what the console asks for.
static ASKED: OnceLock<Sender<&'static str>> = OnceLock::new();

/// Called by the system, on a thread of its own.
unsafe extern "system" fn asked(what: u32) -> BOOL {
    let name = match what {
        CTRL_C_EVENT => INTERRUPT,
        CTRL_BREAK_EVENT => "SIGTERM",
        _ => HANG_UP,
    };
    let told = ASKED.get().is_some_and(|told| told.send(name).is_ok());
    if told && name == HANG_UP {
        // The window is closed, or the user leaves: the process is ended when this returns, or in a few seconds.
        std::thread::park();
    }
    told.into()
}

/// Takes what asks for the end, from now on; what is returned waits for it without end, and tells the names that signals have
/// elsewhere.
///
/// # Errors
/// Those of the system.
pub(crate) fn signals(tell: impl FnMut(&'static str)) -> io::Result<impl FnOnce()> {
    let (teller, told) = channel();
    let _ = ASKED.set(teller);
    // SAFETY: the function is there as long as the process is, and may be called on any thread.
    match unsafe { SetConsoleCtrlHandler(Some(asked), true.into()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(move || told.into_iter().for_each(tell)),
    }
}

/// Asks a process for its end as Ctrl-C does. Here that would reach every process of the console; who waits in vain ends it.
pub const fn interrupt(_: &Child) {}

/// Name of this system.
pub(crate) fn name() -> String {
    "Windows".into()
}

/// Fills `room` with random numbers that nobody can foretell.
///
/// # Errors
/// Those of the system.
pub fn random(room: &mut [u8]) -> io::Result<()> {
    getrandom::fill(room).map_err(|error| io::Error::other(error.to_string()))
}

/// Makes a directory, with those it is in. Who can use it is what its place says.
///
/// # Errors
/// Those of the system.
pub(crate) fn private_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Opens a file to write it anew. Who can read it is what its place says.
///
/// # Errors
/// Those of the system.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

/// Opens a file to read it.
///
/// # Errors
/// Those of the system.
pub(crate) fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// A name in this directory is there also after a loss of power: the file system sees to that.
///
/// # Errors
/// None.
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether there is a socket of this name: there are none.
pub const fn is_socket(_: &Path) -> bool {
    false
}

/// Why a serial device or a Unix socket is not opened here.
fn not_here() -> io::Error {
    io::Error::new(
        ErrorKind::Unsupported,
        "serial devices and Unix sockets are opened on Linux and macOS; this is Windows",
    )
}

/// Writes to a standard stream, and keeps nothing back. A console wants characters, and only the standard library makes them of
/// bytes: its lock is taken.
///
/// # Errors
/// Those of the system.
pub fn write_around(to: Standard, bytes: &[u8]) -> io::Result<usize> {
    match to {
        Standard::Output => {
            let mut output = io::stdout().lock();
            let written = output.write(bytes)?;
            output.flush()?;
            Ok(written)
        }
        Standard::Error => io::stderr().lock().write(bytes),
    }
}

/// Whether a standard stream takes something: it is not said, and tried.
pub const fn takes_something(_: Standard, _: Option<Duration>) -> bool {
    true
}

/// A line to a board: a socket that somebody passes on to a serial device.
#[derive(Debug)]
pub struct Line(TcpStream);

impl Line {
    /// # Errors
    /// Always.
    pub fn device(_: &Path, _: u32) -> io::Result<Self> {
        Err(not_here())
    }

    /// # Errors
    /// Always.
    pub fn unix(_: &Path) -> io::Result<Self> {
        Err(not_here())
    }

    /// Whether something has come within this time.
    ///
    /// # Errors
    /// Those of the system.
    pub fn has_something(&self, within: Duration) -> io::Result<bool> {
        let mut looked = [pollfd { fd: descriptor(&self.0), events: POLLIN, revents: 0 }];
        Ok(poll(&mut looked, Some(within))? > 0)
    }
}

impl From<TcpStream> for Line {
    fn from(stream: TcpStream) -> Self {
        Self(stream)
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

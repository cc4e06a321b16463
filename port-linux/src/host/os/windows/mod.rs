//! System calls of Windows.

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

/// The operating system's error code for a non-blocking connect that is in progress.
pub(super) const UNDER_WAY: Errno = Errno::WOULDBLOCK;

/// Refuses to count the bytes that the peer has not acknowledged yet.
///
/// # Errors
/// Always returns an error: only a session that commands needs this, and it is not possible here.
pub(crate) fn unacknowledged(_: impl AsFd) -> io::Result<usize> {
    Err(only_on_linux())
}

/// Returns the number by which `poll` identifies a socket.
pub(crate) fn descriptor(of: &impl AsFd) -> Descriptor {
    of.as_fd().as_raw_fd() as Descriptor
}

/// Waits until one of `descriptors` is ready, or until the timeout if there is one, rounded up to whole milliseconds.
/// Returns the number of ready descriptors.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn poll(descriptors: &mut [pollfd], timeout: Option<Duration>) -> io::Result<usize> {
    let millis = timeout.map_or(-1, |timeout| i32::try_from(timeout.as_micros().div_ceil(1_000)).unwrap_or(i32::MAX));
    let count = u32::try_from(descriptors.len()).unwrap_or(u32::MAX);
    // SAFETY: the slice outlives the call and has at least `count` entries; an invalid socket is reported as such.
    let ready = unsafe { WSAPoll(descriptors.as_mut_ptr(), count, millis) };
    usize::try_from(ready).map_err(|_| io::Error::last_os_error())
}

/// An event that one thread waits for by `poll`, and that other threads trigger. It is a socket that sends to
/// itself, because `poll` waits for sockets only.
#[derive(Debug)]
pub(crate) struct Event(UdpSocket);

impl Event {
    /// Creates an event that is not triggered.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn new() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    /// Returns the socket that `poll` waits for to notice the event.
    pub(crate) fn descriptor(&self) -> Descriptor {
        descriptor(&self.0)
    }

    /// Triggers the event. Fails only if it is triggered so often that it will be noticed anyway.
    pub(crate) fn ring(&self) {
        let _ = self.0.send(&[1]);
    }

    /// Resets the event, so that `poll` waits for it again.
    pub(crate) fn clear(&self) {
        while self.0.recv(&mut [0]).is_ok() {}
    }
}

/// Creates a non-blocking TCP socket.
///
/// # Errors
/// Returns the error of the operating system.
pub(super) fn stream_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    // Sockets have to be initialized once per process. The standard library does that before its first socket; rustix
    // does not.
    static STARTED: OnceLock<Result<(), Errno>> = OnceLock::new();
    (*STARTED.get_or_init(|| rustix::net::wsa_startup().map(drop)))?;
    let socket = socket(family, SocketType::STREAM, None)?;
    ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// Makes timers of this process precise to a millisecond, instead of up to 16 ms.
pub fn wake_promptly() {
    // SAFETY: it takes a number, and no memory of this process. If it is refused, timers are less precise.
    let _ = unsafe { timeBeginPeriod(1) };
}

/// The sender for the console's requests to end the process, such as Ctrl-C. The thread that waits for them receives
/// them.
static ASKED: OnceLock<Sender<&'static str>> = OnceLock::new();

/// Handles a request of the console to end the process. The system calls it on a thread of its own.
unsafe extern "system" fn asked(what: u32) -> BOOL {
    let name = match what {
        CTRL_C_EVENT => INTERRUPT,
        CTRL_BREAK_EVENT => "SIGTERM",
        _ => HANG_UP,
    };
    let told = ASKED.get().is_some_and(|told| told.send(name).is_ok());
    if told && name == HANG_UP {
        // The window was closed, or the user logs off. The system ends the process when this returns, or after a few
        // seconds.
        std::thread::park();
    }
    told.into()
}

/// Takes over the console's requests to end the process. The returned function waits for them forever, and passes the
/// names of the corresponding signals on other systems to `tell`.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn signals(tell: impl FnMut(&'static str)) -> io::Result<impl FnOnce()> {
    let (teller, told) = channel();
    let _ = ASKED.set(teller);
    // SAFETY: the function is there as long as the process is, and may be called on any thread.
    match unsafe { SetConsoleCtrlHandler(Some(asked), true.into()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(move || told.into_iter().for_each(tell)),
    }
}

/// Does nothing. A request like Ctrl-C would reach every process of the console, so the caller ends the process after
/// its timeout.
pub const fn interrupt(_: &Child) {}

/// Returns the name of this operating system, for reports.
pub(crate) fn name() -> String {
    "Windows".into()
}

/// Fills `room` with unpredictable random bytes.
///
/// # Errors
/// Returns the error of the operating system.
pub fn random(room: &mut [u8]) -> io::Result<()> {
    getrandom::fill(room).map_err(|error| io::Error::other(error.to_string()))
}

/// Creates a directory with its parents. Its location determines who can use it.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn private_directory(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Creates or truncates a file. Its location determines who can read it.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

/// Opens a file for reading.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Does nothing: the file system itself makes names survive a loss of power.
///
/// # Errors
/// Never returns an error.
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns `false`: on Windows, no path leads to a socket.
pub const fn is_socket(_: &Path) -> bool {
    false
}

/// Returns the error for serial devices and Unix sockets, which are not supported here.
fn not_here() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "serial devices and Unix sockets need Linux or macOS; this is Windows")
}

/// Writes to a standard stream without keeping data in its buffer. A console expects characters, and only the
/// standard library converts bytes to them, so the stream's lock is taken.
///
/// # Errors
/// Returns the error of the operating system.
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

/// Returns `true`: the system does not report whether a stream accepts output.
pub const fn takes_something(_: Standard, _: Option<Duration>) -> bool {
    true
}

/// A serial line to a board (a microcontroller that commands a robot): a socket that is connected to a serial device.
#[derive(Debug)]
pub struct Line(TcpStream);

impl Line {
    /// Refuses to open a serial device.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn device(_: &Path, _: u32) -> io::Result<Self> {
        Err(not_here())
    }

    /// Refuses to connect to a Unix socket.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn unix(_: &Path) -> io::Result<Self> {
        Err(not_here())
    }

    /// Returns `true` if data of the board arrives on the line within the time `within`.
    ///
    /// # Errors
    /// Returns the error of the operating system.
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

//! System calls of macOS.

#![expect(unsafe_code, reason = "raw kernel calls: each is one call with arguments owned by the caller")]

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::ioctl::{Getter, ioctl};
use rustix::net::{AddressFamily, SocketType, socket};
use rustix::pty::OpenptFlags;

/// The flags for opening a pseudo terminal.
pub(crate) const PSEUDO_TERMINAL: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY);

/// Returns the number of bytes written to a serial device and not yet transmitted, or written to a TCP socket and not
/// yet acknowledged.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn unacknowledged(descriptor: impl AsFd) -> io::Result<usize> {
    let fd = descriptor.as_fd();
    let (mut bytes, mut size): (libc::c_int, _) = (0, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: both outlive the call, and the size is that of the value.
    let of_socket = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_NWRITE, (&raw mut bytes).cast(), &raw mut size)
    };
    if of_socket != 0 {
        // SAFETY: `TIOCOUTQ` writes one `int`, as the getter declares.
        bytes = unsafe { ioctl(fd, Getter::<{ libc::TIOCOUTQ as rustix::ioctl::Opcode }, libc::c_int>::new()) }?;
    }
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Waits until one of `descriptors` is ready, or until the timeout if there is one, rounded up to whole milliseconds.
/// Returns the number of ready descriptors.
///
/// # Errors
/// Returns `EINTR` if a signal arrived first.
pub(crate) fn poll(descriptors: &mut [libc::pollfd], timeout: Option<Duration>) -> io::Result<usize> {
    let millis = timeout.map_or(-1, |timeout| i32::try_from(timeout.as_micros().div_ceil(1_000)).unwrap_or(i32::MAX));
    // SAFETY: the slice outlives the call; an invalid descriptor is reported as such.
    let ready = unsafe { libc::poll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, millis) };
    usize::try_from(ready).map_err(|_| io::Error::last_os_error())
}

/// An event that one thread waits for by `poll`, and that other threads trigger.
#[derive(Debug)]
pub(crate) struct Event {
    heard: OwnedFd,
    rung: OwnedFd,
}

impl Event {
    /// Creates an event that is not triggered.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn new() -> io::Result<Self> {
        let (heard, rung) = io::pipe()?;
        let (heard, rung) = (OwnedFd::from(heard), OwnedFd::from(rung));
        for end in [&heard, &rung] {
            fcntl_setfl(end, OFlags::NONBLOCK)?;
        }
        Ok(Self { heard, rung })
    }

    /// Returns the descriptor that `poll` waits for to notice the event.
    pub(crate) fn descriptor(&self) -> i32 {
        self.heard.as_raw_fd()
    }

    /// Triggers the event. A failure to do so is ignored, because it means that the event was triggered already.
    pub(crate) fn ring(&self) {
        let _ = rustix::io::write(&self.rung, &[1]);
    }

    /// Resets the event, so that `poll` waits for it again.
    pub(crate) fn clear(&self) {
        while rustix::io::read(&self.heard, &mut [0; 64]).is_ok_and(|count| count == 64) {}
    }
}

/// Creates a non-blocking TCP socket that child processes do not inherit.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn stream_socket(family: AddressFamily) -> io::Result<OwnedFd> {
    let socket = socket(family, SocketType::STREAM, None)?;
    fcntl_setfl(&socket, OFlags::NONBLOCK)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    Ok(socket)
}

/// Returns the process at the other end of a local socket: its id if the kernel reports it, and its user id.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn peer_of(stream: &UnixStream) -> io::Result<(Option<i32>, u32)> {
    let (mut user, mut group) = (0, 0);
    // SAFETY: both numbers outlive the call.
    match unsafe { libc::getpeereid(stream.as_raw_fd(), &raw mut user, &raw mut group) } {
        0 => Ok((None, user)),
        _ => Err(io::Error::last_os_error()),
    }
}

//! Differences between operating systems in serving sockets.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

/// The error code of a non-blocking connect that is still in progress.
pub(crate) const UNDER_WAY: Errno = if cfg!(windows) { Errno::WOULDBLOCK } else { Errno::INPROGRESS };

/// Makes the calling thread wake up on time instead of up to 50 µs late. Has no effect if the system refuses this, and
/// on systems other than Linux.
pub(crate) fn wake_promptly() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Returns a TCP socket that does not block and that no child process inherits.
#[cfg(target_os = "linux")]
pub(crate) fn stream_socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    use rustix::net::{SocketFlags, socket_with};
    socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
}

/// Returns a TCP socket that does not block and that no child process inherits.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stream_socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    // The simulator starts no child process; Windows has no such flag.
    #[cfg(unix)]
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    Ok(socket)
}

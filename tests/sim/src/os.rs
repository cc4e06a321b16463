//! What operating systems do differently.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

/// What a connect that does not wait says of itself.
pub(crate) const UNDER_WAY: Errno = if cfg!(windows) { Errno::WOULDBLOCK } else { Errno::INPROGRESS };

/// The calling thread wakes up when it asked to, and not up to 50 µs later; without the right to ask, and elsewhere than on
/// Linux, it is later.
pub(crate) fn wake_promptly() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// A TCP socket that does not block and that no child inherits.
#[cfg(target_os = "linux")]
pub(crate) fn stream_socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    use rustix::net::{SocketFlags, socket_with};
    socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)
}

/// A TCP socket that does not block and that no child inherits.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stream_socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    // The simulator starts no child; there is no such flag on Windows.
    #[cfg(unix)]
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    Ok(socket)
}

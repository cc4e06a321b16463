//! System calls beyond those that the used crates offer for all systems: `linux`, `macos` and `windows`, and `unix`
//! for the common part of the first two.
//!
//! Commanding an arm requires Linux. Other systems provide the same functions, in `elsewhere`, and return an error of
//! the kind `Unsupported` for what they lack.

use std::io;
use std::net::{SocketAddr, TcpStream};

use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{AddressFamily, connect};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
compile_error!(
    "the program is for Linux, and without `run` and `move` for macOS and Windows: see port-linux/docs/install.md"
);

/// The name of the request to end the process that a closed terminal causes. The request arrives as this signal, from
/// the full-screen view that detects the closed terminal, or both.
pub(crate) const HANG_UP: &str = "SIGHUP";
/// The name of the request to end the process that Ctrl-C causes, as a signal or as a key.
pub const INTERRUPT: &str = "SIGINT";

/// The scheduling policy of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// The time-sharing scheduler (`SCHED_OTHER`), without real-time priority.
    Other,
    /// The real-time scheduler `SCHED_FIFO` with this priority, 1 … 99.
    Fifo(u8),
    /// Another scheduling policy, by its name in `sched(7)`, such as `SCHED_RR`.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "threads there have one policy, as far as we ask"))]
    Named(&'static str),
    /// A scheduling policy that `sched(7)` does not list, by its number.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "threads there have one policy, as far as we ask"))]
    Policy(i32),
}

/// A standard stream of the process for output.
#[derive(Clone, Copy, Debug)]
pub enum Standard {
    /// The standard output of the process.
    Output,
    /// The standard error of the process.
    Error,
}

/// Starts a TCP connection, with the options that it needs before its first byte. The socket does not block. When it
/// becomes writable, the connection is established or refused.
///
/// # Errors
/// Returns the error of the operating system.
pub(crate) fn connecting(to: SocketAddr) -> io::Result<TcpStream> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = stream_socket(family)?;
    set_tcp_nodelay(&socket, true)?;
    match connect(&socket, &to) {
        Ok(()) => Ok(socket.into()),
        Err(error) if error == UNDER_WAY => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}

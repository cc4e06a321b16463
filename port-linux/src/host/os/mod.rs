//! What is asked of the operating system beyond what the crates in use have for all: `linux`, `macos` and `windows`, and `unix` for
//! what the first two have in common.
//!
//! Linux is what an arm is commanded from. Elsewhere the same calls are there, and what such a system cannot grant is an error of
//! the kind `Unsupported`: `elsewhere`.

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
pub use macos::*;

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
    "the program is for Linux, and on macOS and Windows for what reads and simulates: see port-linux/docs/install.md"
);

/// Who asks for the end when the terminal is closed: this signal, the view that finds nobody there, or both.
pub(crate) const HANG_UP: &str = "SIGHUP";
/// Ctrl-C, by whatever way it comes.
pub const INTERRUPT: &str = "SIGINT";

/// How the kernel schedules a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheduling {
    /// The time-sharing scheduler.
    Other,
    /// `SCHED_FIFO` with this priority, 1 … 99.
    Fifo(u8),
    /// Another policy, by its number.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "threads there have one policy, as far as we ask"))]
    Policy(i32),
}

/// Which standard stream is written to.
#[derive(Clone, Copy, Debug)]
pub enum Standard {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// A connection that is being made, with the options that it needs before its first byte. It does not block; ready to be written
/// to, it is made or refused.
///
/// # Errors
/// Those of the kernel.
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

//! The socket for requests to a run. There is none, because no run is possible on Windows.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{not_here, only_on_linux};
use crate::exit::Failure;

/// The client's end of a local socket connection to another program, e.g. to a run (a process that commands a robot).
/// Never used on Windows.
pub type Client = std::net::TcpStream;
/// The run's end of a local connection to a client. A run is a process that commands a robot. Never used on Windows.
pub(crate) type Stream = tokio::net::TcpStream;

/// Returns the directory for a run's sockets. Empty on Windows.
pub const fn directory() -> PathBuf {
    PathBuf::new()
}

/// A local socket for requests to a run. It cannot be created on Windows.
#[derive(Debug)]
pub(crate) enum RequestSocket {}

impl RequestSocket {
    /// Refuses to create a socket for requests.
    ///
    /// # Errors
    /// Always returns an error.
    pub(crate) fn take(_: &Path, seat: SocketAddr) -> Result<Self, Failure> {
        Err(Failure::BadInput(format!("cannot take requests for {seat}: {}", only_on_linux())))
    }

    pub(crate) const fn path(&self) -> &Path {
        match *self {}
    }

    pub(crate) const fn listener(&self) -> io::Result<Listener> {
        match *self {}
    }
}

/// A listener for clients of a run. It cannot be created on Windows.
#[derive(Debug)]
pub(crate) enum Listener {}

impl Drop for Listener {
    fn drop(&mut self) {
        match *self {}
    }
}

impl Listener {
    pub(crate) async fn accept(&self) -> io::Result<Option<(Stream, Option<i32>)>> {
        match *self {}
    }
}

/// Refuses to connect to a run.
///
/// # Errors
/// Always returns an error: requests must be sent from the machine of the run.
pub fn connect(seat: SocketAddr) -> Result<(Client, (Option<i32>, u32)), Failure> {
    Err(Failure::BadInput(format!("cannot connect to the run for {seat}: {}", only_on_linux())))
}

/// Refuses to connect to a Unix-domain socket, which needs Linux or macOS.
///
/// # Errors
/// Always returns an error.
pub fn dial(_: &Path) -> io::Result<Client> {
    Err(not_here())
}

//! Where requests to a run are taken: nowhere, because no run is here.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{not_here, only_on_linux};
use crate::exit::Failure;

/// The end of whoever asks; there are none.
pub type Client = std::net::TcpStream;
/// The end of the run that is asked; there are none.
pub(crate) type Stream = tokio::net::TcpStream;

/// The directory that a run uses.
pub const fn directory() -> PathBuf {
    PathBuf::new()
}

/// A place that nobody has here.
#[derive(Debug)]
pub(crate) enum Place {}

impl Place {
    /// # Errors
    /// Always.
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

/// Those who ask.
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

/// # Errors
/// Always: a run is asked where it runs.
pub fn connect(seat: SocketAddr) -> Result<(Client, (Option<i32>, u32)), Failure> {
    Err(Failure::BadInput(format!("cannot ask the run beside the robot at {seat}: {}", only_on_linux())))
}

/// # Errors
/// Always.
pub fn dial(_: &Path) -> io::Result<Client> {
    Err(not_here())
}

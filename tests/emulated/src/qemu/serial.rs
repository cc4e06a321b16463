//! A serial line of the board over a Unix socket.

use std::io::{self, ErrorKind, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use super::Folder;
use super::command;

/// The far end of the line.
#[derive(Debug)]
pub struct Serial {
    listener: UnixListener,
    path: PathBuf,
    stream: Option<UnixStream>,
    /// The rest of what the line took only a part of: half a message would be a fault of this harness.
    rest: Vec<u8>,
    refused: u64,
}

impl Serial {
    /// Listens in `folder` by this name, before QEMU starts.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(folder: &Folder, name: &str) -> io::Result<Self> {
        let path = folder.file(name);
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path, stream: None, rest: vec![], refused: 0 })
    }

    /// What QEMU is to be connected to.
    #[must_use]
    pub fn mode(&self) -> command::Serial {
        command::Serial::Socket(self.path.clone())
    }

    /// Sends one message; the line carries it whole or, where the board does not keep up, not at all.
    pub fn send(&mut self, message: &[u8]) {
        if self.stream.is_none()
            && let Ok((stream, _)) = self.listener.accept()
            && stream.set_nonblocking(true).is_ok()
        {
            self.stream = Some(stream);
        }
        if self.rest.is_empty() {
            self.rest.extend_from_slice(message);
        } else {
            self.refused += 1;
        }
        let Some(stream) = &mut self.stream else {
            self.rest.clear();
            return;
        };
        while !self.rest.is_empty() {
            match stream.write(&self.rest) {
                Ok(count) if count > 0 => drop(self.rest.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                _ => self.rest.clear(),
            }
        }
    }

    /// Messages that were not sent because the board did not keep up.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

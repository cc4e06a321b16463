//! A serial line of the board over a Unix socket.

use std::io::{self, ErrorKind, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use super::Folder;
use super::command;

/// The host's end of one of the board's serial lines.
#[derive(Debug)]
pub struct Serial {
    listener: UnixListener,
    path: PathBuf,
    stream: Option<UnixStream>,
    /// The unsent rest of a message that the line took in part: a half message would be a fault of this test setup.
    rest: Vec<u8>,
    refused: u64,
}

impl Serial {
    /// Listens in `folder` under this name, before QEMU starts.
    ///
    /// # Errors
    /// Returns the system's error if the socket cannot be opened.
    pub fn open(folder: &Folder, name: &str) -> io::Result<Self> {
        let path = folder.file(name);
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path, stream: None, rest: vec![], refused: 0 })
    }

    /// Returns the serial connection that QEMU must be given.
    #[must_use]
    pub fn mode(&self) -> command::Serial {
        command::Serial::Socket(self.path.clone())
    }

    /// Sends a message. The line transmits it entirely or, if the board does not keep up, not at all.
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

    /// Returns the number of messages that were not sent because the board did not keep up.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

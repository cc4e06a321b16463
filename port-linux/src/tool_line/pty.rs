//! A pseudo-terminal for the tool's serial line, with a name chosen by the user.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::termios::{QueueSelector, tcflush};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::Turn;
use crate::exit::Failure;
use crate::host::os::serial;

/// The rate that the pseudo-terminal shows \[Bd\]. A program that opens it may set another rate, which has no
/// effect.
const SHOWN: u32 = 115_200;
/// The time without room for the tool's bytes after which the pseudo-terminal counts as unread.
const PATIENCE: Duration = Duration::from_secs(1);

/// A pseudo-terminal under a name of its own. The name is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Pty {
    end: AsyncFd<File>,
    /// The device end of the pseudo-terminal. It is kept open, because the other end reports errors continually
    /// while no process has the device open.
    held: File,
    device: PathBuf,
    name: PathBuf,
}

impl Pty {
    /// Creates a pseudo-terminal, and a symbolic link to it with this name.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if either cannot be created, with advice if the name is used, its directory does
    /// not exist, or this user may not write there.
    pub(super) fn make(name: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::BadInput(format!("cannot make a pseudo-terminal: {error}"));
        let (end, device) = serial::pseudo(SHOWN).map_err(failed)?;
        let flags = (OFlags::NOCTTY | OFlags::NONBLOCK).bits().cast_signed();
        let held = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&device).map_err(failed)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for values that give their descriptor away: a file keeps it"
        )]
        let end = AsyncFd::new(end).map_err(failed)?;
        serial::name(&device, name).map_err(|error| {
            let next = match error.kind() {
                ErrorKind::AlreadyExists => "; remove that file, or choose another name",
                ErrorKind::NotFound => "; there is no such directory",
                ErrorKind::PermissionDenied => "; this user may not write to that directory",
                _ => "",
            };
            Failure::BadInput(format!(
                "cannot make the name {} for {}: {error}{next}",
                name.display(),
                device.display()
            ))
        })?;
        Ok(Self { end, held, device, name: name.into() })
    }

    pub(super) fn ready(&self) -> String {
        format!("Pseudo-terminal {} is {}", self.name.display(), self.device.display())
    }

    pub(super) async fn turn(&mut self, reads: bool, writes: bool) -> Result<Turn, Failure> {
        let failed = |error| Failure::BadInput(format!("the pseudo-terminal is broken: {error}"));
        tokio::select! {
            ready = self.end.ready(Interest::READABLE), if reads => ready.map(|_| Turn::Readable).map_err(failed),
            ready = tokio::time::timeout(PATIENCE, self.end.ready(Interest::WRITABLE)), if writes => match ready {
                Ok(ready) => ready.map(|_| Turn::Writable).map_err(failed),
                Err(_) => {
                    // Whoever opens it later gets nothing that is as old as this.
                    let _ = tcflush(&self.held, QueueSelector::IFlush);
                    Ok(Turn::Unread)
                }
            },
            () = std::future::pending() => Ok(Turn::Nothing),
        }
    }

    pub(super) fn read(&self, room: &mut [u8]) -> io::Result<usize> {
        self.end.try_io(Interest::READABLE, |mut end| end.read(room))
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.end.try_io(Interest::WRITABLE, |mut end| end.write(bytes))
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Somebody else may have given the name away.
        if std::fs::read_link(&self.name).is_ok_and(|to| to == self.device) {
            drop(std::fs::remove_file(&self.name));
        }
    }
}

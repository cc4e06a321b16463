//! Where requests to the run beside one robot are taken: a Unix-domain socket in a directory of this user's own.

use std::fs::{DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::os::user_of;

/// The end of whoever asks.
pub(crate) type Client = std::os::unix::net::UnixStream;
/// The end of the run that is asked.
pub(crate) type Stream = tokio::net::UnixStream;

/// The directory of runs that the package's unit `outrigger@.service` starts: their XDG_RUNTIME_DIR is `/run`.
const OF_SERVICES: &str = "/run/outrigger";

/// The directory that a run uses.
pub(crate) fn directory() -> PathBuf {
    directories().swap_remove(0)
}

/// Where a run may have its socket: it may have been started with another environment than whoever asks.
fn directories() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let without = PathBuf::from(format!("/tmp/outrigger-{}", rustix::process::geteuid().as_raw()));
    runtime.map(|path| path.join("outrigger")).into_iter().chain([without, OF_SERVICES.into()]).collect()
}

/// The socket of the robot at `seat`, named as its lock is.
fn socket(directory: &Path, seat: SocketAddr) -> PathBuf {
    directory.join(format!("{seat}.sock"))
}

/// A socket of this process, which is removed with it.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    listener: UnixListener,
}

impl Place {
    /// Takes the place of the robot at `seat`, whose lock this process holds: a socket that is there already is a dead process's.
    ///
    /// # Errors
    /// [`Failure::BadInput`] naming the path and what is wrong with it.
    pub(crate) fn take(directory: &Path, seat: SocketAddr) -> Result<Self, Failure> {
        let failed = |path: &Path, error: io::Error| {
            Failure::BadInput(format!("cannot take requests at {}: {error}", path.display()))
        };
        own(directory).map_err(|error| failed(directory, error))?;
        let path = socket(directory, seat);
        let take = || {
            match std::fs::symlink_metadata(&path) {
                Ok(old) if old.file_type().is_socket() => std::fs::remove_file(&path)?,
                Ok(_) => return Err(io::Error::other("something else has this name: remove it")),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            let listener = UnixListener::bind(&path)?;
            // Nobody else gets into the directory meanwhile.
            std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = take().map_err(|error| failed(&path, error))?;
        Ok(Self { path, listener })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Who asks, for the runtime that this is called in.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn listener(&self) -> io::Result<Listener> {
        tokio::net::UnixListener::from_std(self.listener.try_clone()?).map(Listener)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Those who ask.
#[derive(Debug)]
pub(crate) struct Listener(tokio::net::UnixListener);

impl Listener {
    /// The next one; `None` where it is neither of the same user nor root's.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) async fn accept(&self) -> io::Result<Option<Stream>> {
        let (stream, _) = self.0.accept().await?;
        let ours = rustix::process::geteuid().as_raw();
        let is_ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == ours || peer.uid() == 0);
        Ok(is_ours.then_some(stream))
    }
}

/// Where requests to the run beside the robot at `seat` are taken, if any process has a place there.
///
/// # Errors
/// [`Failure::Connection`], with what to do, where there is none.
pub(crate) fn connect(seat: SocketAddr) -> Result<Client, Failure> {
    let tried: Vec<PathBuf> = directories().iter().map(|directory| socket(directory, seat)).collect();
    for path in &tried {
        let Ok(stream) = dial(path) else { continue };
        let ours = rustix::process::geteuid();
        let theirs = user_of(&stream);
        if ours.is_root() || theirs.is_ok_and(|uid| uid == ours || uid.is_root()) {
            return Ok(stream);
        }
        return Err(Failure::Connection(format!("{} is another user's: nothing is asked there", path.display())));
    }
    let tried: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
    Err(Failure::Connection(format!(
        "nobody runs beside the robot at {seat} and takes requests (no answer at {}): start `outrigger run CONFIG.toml` as this \
         user, with run.requests = true, which is the default",
        tried.join(", ")
    )))
}

/// A connection to the socket of this name.
///
/// # Errors
/// Those of the kernel.
pub(crate) fn dial(path: &Path) -> io::Result<Client> {
    Client::connect(path)
}

/// Makes the directory where it is missing, and sees that it is a directory of this user's that nobody else can use.
fn own(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = std::fs::symlink_metadata(directory)?;
    let mode = found.mode() & 0o777;
    if !found.is_dir() {
        return Err(io::Error::other("it is no directory"));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("it is the user's with number {}: expected this user's", found.uid())));
    }
    if mode != 0o700 {
        return Err(io::Error::other(format!("its mode is {mode:03o}: expected 700")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("outrigger-seat-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    const SEAT: ([u8; 4], u16) = ([192, 0, 2, 1], 30_003);

    #[test]
    fn the_socket_is_this_users_alone_a_dead_ones_is_replaced_and_the_own_is_removed() {
        let folder = empty("own");
        let seat = SocketAddr::from(SEAT);
        let path = folder.join("192.0.2.1:30003.sock");
        let place = Place::take(&folder, seat).expect("a new directory");
        assert_eq!(place.path(), path);
        let mode = |path: &Path| std::fs::symlink_metadata(path).expect("there").mode() & 0o777;
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        // As a process that was killed leaves it.
        std::mem::forget(place);
        drop(Place::take(&folder, seat).expect("a stale socket"));
        assert!(!path.exists());
        std::fs::write(&path, "a file").expect("room");
        let refused = Place::take(&folder, seat).expect_err("no socket").to_string();
        assert!(refused.contains("something else has this name"), "{refused}");
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn a_directory_that_others_can_use_is_refused() {
        let folder = empty("open");
        std::fs::create_dir(&folder).expect("a directory");
        std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("ours");
        let refused = Place::take(&folder, SEAT.into()).expect_err("open to others").to_string();
        assert!(refused.contains("its mode is 755: expected 700"), "{refused}");
        let link = empty("link");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&folder, &link).expect("a link");
        let refused = Place::take(&link, SEAT.into()).expect_err("a link").to_string();
        assert!(refused.contains("it is no directory"), "{refused}");
        let _ = (std::fs::remove_file(&link), std::fs::remove_dir_all(&folder));
    }
}

//! The socket for requests to the run of one robot: a Unix-domain socket in a private directory of this user.

use std::fs::{DirBuilder, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::host::os::peer_of;

/// The client's end of a connection to a Unix-domain socket of another program, e.g. of a run (a process that
/// commands a robot).
pub type Client = std::os::unix::net::UnixStream;
/// The run's end of a local connection to a client. A run is a process that commands a robot.
pub(crate) type Stream = tokio::net::UnixStream;

/// The directory for the sockets of runs that the package's unit `outrigger@.service` starts. Their XDG_RUNTIME_DIR
/// is `/run`.
const OF_SERVICES: &str = "/run/outrigger";
/// The user id of root, who may send requests to every run.
const ROOT: u32 = 0;

/// Returns the directory in which this process, if it commands a robot, creates the socket for clients' requests.
pub fn directory() -> PathBuf {
    directories().swap_remove(0)
}

/// Returns the directories in which a process that commands a robot may have its socket for requests, in the order of
/// search. There are several, because that process may have another environment than the client.
fn directories() -> Vec<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let without = PathBuf::from(format!("/tmp/outrigger-{}", rustix::process::geteuid().as_raw()));
    runtime.map(|path| path.join("outrigger")).into_iter().chain([without, OF_SERVICES.into()]).collect()
}

/// Returns the path of the socket for requests to the robot that the address `seat` identifies. The file is named after
/// this address, as is the lock by which one process alone commands the robot.
fn socket(directory: &Path, seat: SocketAddr) -> PathBuf {
    directory.join(format!("{seat}.sock"))
}

/// The socket on which this process accepts clients' requests to its run. The socket is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct RequestSocket {
    path: PathBuf,
    listener: UnixListener,
}

impl RequestSocket {
    /// Creates the socket for requests to the robot that the address `seat` identifies, and whose lock this process
    /// holds. So an existing socket belongs to a dead process, and is replaced.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] with the path and what is wrong with it.
    pub(crate) fn take(directory: &Path, seat: SocketAddr) -> Result<Self, Failure> {
        let failed = |path: &Path, error: io::Error| {
            Failure::BadInput(format!("cannot take requests at {}: {error}", path.display()))
        };
        own(directory).map_err(|error| failed(directory, error))?;
        let path = socket(directory, seat);
        let take = || {
            match std::fs::symlink_metadata(&path) {
                Ok(old) if old.file_type().is_socket() => std::fs::remove_file(&path)?,
                Ok(_) => return Err(io::Error::other("another file has this name: remove it")),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            let listener = UnixListener::bind(&path)?;
            // Other users cannot enter the directory in the meantime.
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

    /// Returns a listener for clients. Must be called on the runtime that will use the listener.
    pub(crate) fn listener(&self) -> io::Result<Listener> {
        tokio::net::UnixListener::from_std(self.listener.try_clone()?).map(Listener)
    }
}

impl Drop for RequestSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A listener that accepts the connections of clients to a run.
#[derive(Debug)]
pub(crate) struct Listener(tokio::net::UnixListener);

impl Listener {
    /// Waits for the next client. Returns its connection, and its process id if the kernel reports it; `None` if its
    /// user is neither that of this process nor root.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) async fn accept(&self) -> io::Result<Option<(Stream, Option<i32>)>> {
        let (stream, _) = self.0.accept().await?;
        let ours = rustix::process::geteuid().as_raw();
        let Ok(peer) = stream.peer_cred() else { return Ok(None) };
        Ok((peer.uid() == ours || peer.uid() == ROOT).then(|| (stream, peer.pid())))
    }
}

/// A connection to a run, and the process that replies there: its id if the kernel reports it, and its user.
pub type Answering = (Client, (Option<i32>, u32));

/// Connects to the run of the robot that the address `seat` identifies, only if no other user could reply in its place.
///
/// # Errors
/// Returns [`Failure::Connection`], with advice, if there is no run, or if another user could reply in its place.
pub fn connect(seat: SocketAddr) -> Result<Answering, Failure> {
    connect_within(&directories(), seat)
}

fn connect_within(directories: &[PathBuf], seat: SocketAddr) -> Result<Answering, Failure> {
    let me = rustix::process::geteuid().as_raw();
    let (mut tried, mut distrusted) = (vec![], vec![]);
    for directory in directories {
        let path = socket(directory, seat);
        match answering(directory, &path, me) {
            Ok(found) => return Ok(found),
            Err(Unfit::Nobody) => tried.push(path.display().to_string()),
            Err(Unfit::Distrusted(why)) => distrusted.push(format!("{}: {why}", path.display())),
        }
    }
    if !distrusted.is_empty() {
        return Err(Failure::Connection(format!(
            "no request was sent, because another user could answer in place of the run: {}",
            distrusted.join("; ")
        )));
    }
    Err(Failure::Connection(format!(
        "no `outrigger run` is active for {seat} (no answer at {}): start `outrigger run CONFIG.toml` as this user, \
         with run.expert.requests = true, which is the default",
        tried.join(", ")
    )))
}

/// A reason why a client does not use a run's socket.
enum Unfit {
    /// No process accepts connections at the run's socket.
    Nobody,
    /// Another user could reply at the run's socket. The text explains why.
    Distrusted(String),
}

fn answering(directory: &Path, path: &Path, me: u32) -> Result<Answering, Unfit> {
    let found = |path: &Path| std::fs::symlink_metadata(path).map_err(|_| Unfit::Nobody);
    let (there, folder) = (found(path)?, found(directory)?);
    if !there.file_type().is_socket() {
        return Err(Unfit::Nobody);
    }
    if !folder.is_dir() {
        return Err(Unfit::Distrusted("its directory is a symbolic link".into()));
    }
    let above = directory.canonicalize().map_err(|_| Unfit::Nobody)?;
    let above: Vec<Folder> =
        above.ancestors().skip(1).map(|path| found(path).map(|found| Folder::of(&found))).collect::<Result<_, _>>()?;
    let owner = trusted(me, &above, Folder::of(&folder), there.uid()).map_err(Unfit::Distrusted)?;
    let stream = dial(path).map_err(|_| Unfit::Nobody)?;
    let unknown = |error| {
        Unfit::Distrusted(format!(
            "the kernel does not identify the process that answers: \
                                                     {error}"
        ))
    };
    let (process, user) = peer_of(&stream).map_err(unknown)?;
    // Checked again in case the path was replaced after the checks above.
    if user != owner {
        return Err(Unfit::Distrusted(format!("a process of user {user} answers, expected one of user {owner}")));
    }
    Ok((stream, (process, user)))
}

/// The owner and the permissions of a directory on the path of a run's socket.
#[derive(Clone, Copy, Debug)]
struct Folder {
    owner: u32,
    mode: u32,
}

impl Folder {
    fn of(found: &Metadata) -> Self {
        Self { owner: found.uid(), mode: found.mode() & 0o7777 }
    }

    /// Returns `true` if users other than the owner can create files in this directory.
    const fn is_open(self) -> bool {
        self.mode & 0o022 != 0
    }
}

/// Returns the user whose run may reply to user `me` at a socket of `socket_owner` in `directory`, which is below
/// `above`.
///
/// This is `me`, because only that user can create such a directory. Root may also use runs of other users, in a
/// place that only root or that user can have created. A directory below one that everybody can write to is not such
/// a place, because the first user to create it owns the name.
///
/// # Errors
/// Returns, as text for people, the reason why another user could reply at the socket.
fn trusted(me: u32, above: &[Folder], directory: Folder, socket_owner: u32) -> Result<u32, String> {
    let Folder { owner, mode } = directory;
    if directory.is_open() {
        return Err(format!("others can write to its directory, of mode {mode:03o}: expected 700"));
    }
    if socket_owner != owner {
        return Err(format!("it belongs to user {socket_owner}, and its directory to user {owner}"));
    }
    if owner == me {
        return Ok(owner);
    }
    if me != ROOT {
        return Err(format!("it belongs to user {owner}, expected user {me}"));
    }
    if above.iter().any(|folder| folder.is_open() || (folder.owner != ROOT && folder.owner != owner)) {
        return Err(format!("it belongs to user {owner}, below a directory that others can write to"));
    }
    Ok(owner)
}

/// Connects to the Unix-domain socket of any program at `path`.
///
/// # Errors
/// Returns the error of the operating system.
pub fn dial(path: &Path) -> io::Result<Client> {
    Client::connect(path)
}

/// Creates the directory if it is missing, and checks that it is a private directory of this user.
fn own(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = std::fs::symlink_metadata(directory)?;
    let mode = found.mode() & 0o777;
    if !found.is_dir() {
        return Err(io::Error::other("it is not a directory"));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("it belongs to user {}, expected this user", found.uid())));
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
        let place = RequestSocket::take(&folder, seat).expect("a new directory");
        assert_eq!(place.path(), path);
        let mode = |path: &Path| std::fs::symlink_metadata(path).expect("there").mode() & 0o777;
        assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        // A killed process leaves its socket in this state.
        std::mem::forget(place);
        drop(RequestSocket::take(&folder, seat).expect("a stale socket"));
        assert!(!path.exists());
        std::fs::write(&path, "a file").expect("room");
        let refused = RequestSocket::take(&folder, seat).expect_err("no socket").to_string();
        assert!(refused.contains("another file has this name"), "{refused}");
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn a_directory_that_others_can_use_is_refused() {
        let folder = empty("open");
        std::fs::create_dir(&folder).expect("a directory");
        std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("ours");
        let refused = RequestSocket::take(&folder, SEAT.into()).expect_err("open to others").to_string();
        assert!(refused.contains("its mode is 755: expected 700"), "{refused}");
        let link = empty("link");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(&folder, &link).expect("a link");
        let refused = RequestSocket::take(&link, SEAT.into()).expect_err("a link").to_string();
        assert!(refused.contains("it is not a directory"), "{refused}");
        let _ = (std::fs::remove_file(&link), std::fs::remove_dir_all(&folder));
    }

    #[test]
    fn a_socket_is_asked_where_nobody_but_its_user_can_answer() {
        const OPEN: Folder = Folder { owner: ROOT, mode: 0o1777 };
        const CLOSED: Folder = Folder { owner: ROOT, mode: 0o755 };
        let users = [ROOT, 7, 8];
        let modes = [0o700, 0o755, 0o770, 0o707, 0o777, 0o1777];
        for (me, owner, socket) in
            users.iter().flat_map(|me| users.map(|owner| users.map(|socket| (*me, owner, socket)))).flatten()
        {
            for mode in modes {
                for above in
                    [&[CLOSED][..], &[CLOSED, CLOSED], &[OPEN, CLOSED], &[Folder { owner: 7, mode: 0o700 }, CLOSED]]
                {
                    let places = above.iter().all(|folder| !folder.is_open() && [ROOT, owner].contains(&folder.owner));
                    let expected = owner == socket && mode & 0o022 == 0 && (owner == me || (me == ROOT && places));
                    let trusted = trusted(me, above, Folder { owner, mode }, socket);
                    assert_eq!(trusted.ok(), expected.then_some(owner), "{me} {owner} {socket} {mode:o} {above:?}");
                }
            }
        }
    }

    #[test]
    fn the_process_that_answers_is_named_and_a_place_that_others_can_write_to_is_not_asked() {
        let (folder, seat) = (empty("asked"), SocketAddr::from(SEAT));
        let place = RequestSocket::take(&folder, seat).expect("a new directory");
        let directories = [empty("missing"), folder.clone()];
        let (_stream, (process, user)) = connect_within(&directories, seat).expect("it is this process's");
        assert_eq!(user, rustix::process::geteuid().as_raw());
        if cfg!(target_os = "linux") {
            assert_eq!(process, i32::try_from(std::process::id()).ok());
        }
        std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).expect("ours");
        let refused = connect_within(&directories, seat).expect_err("anybody may have put it there").to_string();
        assert!(
            refused.contains("of mode 777: expected 700") && refused.contains("another user could answer"),
            "{refused}"
        );
        std::fs::set_permissions(&folder, Permissions::from_mode(0o700)).expect("ours");
        let other = 65_534;
        // Only root can test a directory of another user. For others the kernel refuses.
        if std::os::unix::fs::chown(&folder, Some(other), None).is_ok() {
            std::os::unix::fs::chown(place.path(), Some(other), None).expect("likewise");
            let refused = connect_within(&directories, seat).expect_err("another user's").to_string();
            let below_all = refused.contains("it belongs to user 65534, below a directory that others can write to");
            assert!(
                below_all || refused.contains("a process of user 0 answers, expected one of user 65534"),
                "{refused}"
            );
        }
        drop(place);
        let nobody = connect_within(&directories, seat).expect_err("it is gone").to_string();
        assert!(nobody.contains("no `outrigger run` is active"), "{nobody}");
        let _ = std::fs::remove_dir_all(&folder);
    }
}

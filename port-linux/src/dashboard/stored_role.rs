//! Stores the former user role of a pendant that this process has locked, so that a later process can restore it.

use std::fmt;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use outrigger_config::bounded_file_read;
use outrigger_wire::dashboard::UserRole;

use crate::host::os;

/// The maximum size of the file with a user role \[B\]. Every role has a shorter name.
const LONGEST: u64 = 256;

/// The file that stores the user role of one controller's pendant: `192.168.56.101:29999.pendant`, with the role as
/// its only word. The file survives a reboot of this machine, because the pendant then stays locked.
#[derive(Clone, Debug)]
pub(super) struct StoredRole {
    /// The path of the file that stores the user role of the pendant. `None` if this user has no directory for state
    /// files.
    path: Option<PathBuf>,
}

impl StoredRole {
    /// Returns the file with the stored user role for the controller whose dashboard server is at `dashboard`. It is
    /// in `$STATE_DIRECTORY` (which systemd sets), else in `outrigger` below `$XDG_STATE_HOME`, else below
    /// `~/.local/state`.
    pub(super) fn of(dashboard: SocketAddr) -> Self {
        let named = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let below = |home: PathBuf| home.join("outrigger");
        let home = || named("HOME").map(|home| home.join(".local/state"));
        let directory = named("STATE_DIRECTORY").or_else(|| named("XDG_STATE_HOME").or_else(home).map(below));
        Self::within(directory.as_deref(), dashboard)
    }

    /// Returns the file with the stored user role for this controller, in `directory`.
    pub(super) fn within(directory: Option<&Path>, dashboard: SocketAddr) -> Self {
        Self { path: directory.map(|directory| directory.join(format!("{dashboard}.pendant"))) }
    }

    /// Returns the stored user role. `None` if there is none, or none that is valid.
    pub(super) fn read(&self) -> Option<UserRole> {
        let text = bounded_file_read::read(self.path.as_ref()?, LONGEST).ok()?;
        UserRole::from_word(text.trim_ascii()).filter(|role| *role != UserRole::Locked)
    }

    /// Stores the user role, and syncs the file to disk, so that it survives a loss of power.
    pub(super) fn write(&self, role: UserRole) -> io::Result<()> {
        let nowhere = || io::Error::other("none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set");
        let path = self.path.as_ref().ok_or_else(nowhere)?;
        if let Some(directory) = path.parent() {
            os::private_directory(directory)?;
        }
        let new = path.with_extension("new");
        let mut file = os::private_file(&new)?;
        writeln!(file, "{}", role.word())?;
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        // The directory entry is synced, too.
        path.parent().map_or(Ok(()), os::sync_directory)
    }

    /// Deletes the file with the stored user role, because no role of the pendant has to be restored any more.
    pub(super) fn remove(&self) {
        if let Some(path) = &self.path {
            // If the file stays, the next process finds the pendant unlocked, and deletes the file.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl fmt::Display for StoredRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}", path.display()),
            None => f.write_str("nowhere to keep the pendant's role"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_there_for_the_next_process_until_it_is_removed() {
        let folder = std::env::temp_dir().join(format!("outrigger-kept-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let kept = StoredRole::within(Some(&folder.join("deep")), SocketAddr::from(([192, 0, 2, 1], 29_999)));
        assert_eq!(kept.read(), None);
        for role in UserRole::ALL {
            kept.write(*role).expect("room");
            // A locked role is never restored.
            assert_eq!(kept.read(), Some(*role).filter(|role| *role != UserRole::Locked));
        }
        std::fs::write(folder.join("deep/192.0.2.1:29999.pendant"), "king\n").expect("room");
        assert_eq!(kept.read(), None);
        kept.remove();
        assert!(std::fs::read_dir(folder.join("deep")).expect("a folder").next().is_none());
        let _ = std::fs::remove_dir_all(&folder);
    }
}

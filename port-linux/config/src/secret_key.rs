//! Reads the secret key that authenticates requests to a board. The key is in a file of its own, never in a
//! configuration, because configurations are shown and copied.

use std::path::{Path, PathBuf};

use outrigger_remote::request::keyed::Key;

/// A reason why a file cannot be used as the key that authenticates requests to a board.
#[derive(Debug, thiserror::Error)]
pub enum KeyFailure {
    /// The file with the key for requests cannot be read.
    #[error("cannot read the key {}: {error}", path.display())]
    Unreadable {
        /// The path of the file with the key for requests.
        path: PathBuf,
        /// The operating system's error when the key file was read.
        error: std::io::Error,
    },
    /// The key file is not private: users other than its owner and its group have access to it.
    #[error("the key {} is open to every user (mode {mode:03o}): `chmod 600 {}`, and make another key", path.display(), path.display())]
    Open {
        /// The path of the file with the key for requests.
        path: PathBuf,
        /// The permission bits of the key file, e.g. `0o644`.
        mode: u32,
    },
    /// The content of the key file is not a key: 64 hexadecimal digits, not all the same.
    #[error("{} is not a key: expected 64 hexadecimal digits, not all the same, e.g. of `openssl rand -hex 32`", path.display())]
    NoKey {
        /// The path of the file with the key for requests.
        path: PathBuf,
    },
}

/// Reads the 32 bytes of the key in the file at `path`: 64 hexadecimal digits.
///
/// # Errors
/// Returns [`KeyFailure`], which shows nothing of the file's content.
pub fn load(path: &Path) -> Result<[u8; 32], KeyFailure> {
    let unreadable = |error| KeyFailure::Unreadable { path: path.into(), error };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mode = mode(&file.metadata().map_err(unreadable)?);
    if mode & 0o007 != 0 {
        return Err(KeyFailure::Open { path: path.into(), mode });
    }
    // Only the first bytes are read: a file without an end is no key.
    let mut text = vec![0; 256];
    let length = std::io::Read::read(&mut file, &mut text).map_err(unreadable)?;
    text.truncate(length);
    let bytes = std::str::from_utf8(&text).ok().and_then(Key::bytes_of);
    let random = bytes.filter(|bytes| bytes.iter().any(|byte| *byte != bytes[0]));
    random.ok_or_else(|| KeyFailure::NoKey { path: path.into() })
}

#[cfg(unix)]
fn mode(metadata: &std::fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o777
}

/// Returns 0 as the permission bits of a key file, because systems other than Unix have none to check.
#[cfg(not(unix))]
fn mode(_: &std::fs::Metadata) -> u32 {
    0
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_is_64_digits_that_others_cannot_read() {
        let path = std::env::temp_dir().join(format!("outrigger-key-{}", std::process::id()));
        let with = |text: &str, mode| {
            write(&path, text).expect("a file");
            set_permissions(&path, Permissions::from_mode(mode)).expect("its mode");
            load(&path).map_err(|failure| failure.to_string())
        };
        let text = "0f".repeat(31) + "FE\n";
        assert_eq!(with(&text, 0o600).expect("a key")[30..], [0x0f, 0xfe]);
        let open = with(&text, 0o644).expect_err("others can read it");
        assert!(open.contains("mode 644") && open.contains("chmod 600") && !open.contains("0f0f"), "{open}");
        for wrong in ["", "0f", &"00".repeat(32), &text[1..], &format!("0{text}")] {
            let refused = with(wrong, 0o600).expect_err(wrong);
            assert!(refused.contains("64 hexadecimal digits"), "{refused}");
        }
        std::fs::remove_file(&path).expect("it was there");
        assert!(load(&path).expect_err("nothing there").to_string().starts_with("cannot read the key"));
    }
}

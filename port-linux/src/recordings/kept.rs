//! How many recordings of fallbacks stay in a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use outrigger_core::robot::Reason;

use super::{SUFFIX, UNFINISHED};

/// `2026-01-31-12-00-00-UTC-`, where `0` is any digit.
const WHEN: &[u8] = b"0000-00-00-00-00-00-UTC-";
/// A file that was not finished in this time never will be.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// What stays; the oldest goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// At most so many files.
    pub files: usize,
    /// At most so many bytes of them.
    pub bytes: u64,
}

/// A file that a run has made.
struct Ours {
    path: PathBuf,
    length: u64,
    modified: SystemTime,
}

impl Kept {
    /// Removes what has to go so that one more of `length` bytes may come. Only what a run has made is counted, or removed.
    ///
    /// # Errors
    /// Those of the kernel where the directory cannot be read.
    pub(super) fn make_room(&self, directory: &Path, length: u64) -> io::Result<()> {
        let mut ours = vec![];
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if !metadata.is_file() {
                continue;
            }
            if name.strip_suffix(UNFINISHED).is_some_and(is_ours) {
                if modified.elapsed().is_ok_and(|age| age > ABANDONED) {
                    let _ = fs::remove_file(entry.path());
                }
            } else if name.strip_suffix(SUFFIX).is_some_and(is_ours) {
                ours.push(Ours { path: entry.path(), length: metadata.len(), modified });
            }
        }
        // By name where two are of one time.
        ours.sort_by(|a, b| a.modified.cmp(&b.modified).then_with(|| a.path.cmp(&b.path)));
        let mut bytes = ours.iter().map(|file| file.length).sum::<u64>().saturating_add(length);
        let mut files = ours.len().saturating_add(1);
        for Ours { path, length, .. } in ours {
            if files <= self.files && bytes <= self.bytes {
                break;
            }
            // One that somebody else has removed is gone as well.
            let _ = fs::remove_file(path);
            files -= 1;
            bytes = bytes.saturating_sub(length);
        }
        Ok(())
    }
}

/// Whether a run gives such names: when, why, and numbers.
fn is_ours(stem: &str) -> bool {
    let Some((when, rest)) = stem.as_bytes().split_at_checked(WHEN.len()) else { return false };
    let is_when =
        when.iter().zip(WHEN).all(|(byte, like)| if *like == b'0' { byte.is_ascii_digit() } else { byte == like });
    let Ok(rest) = std::str::from_utf8(rest) else { return false };
    let mut words = rest.split('-');
    let why = words.next().is_some_and(|word| Reason::ALL.iter().any(|reason| reason.name() == word));
    let mut numbers = words.peekable();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    is_when && why && numbers.peek().is_some() && numbers.all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_a_run_gives_are_ours() {
        for ours in ["2026-01-31-12-00-00-UTC-StateStale-0", "2026-01-31-12-00-00-UTC-LinkLost-17-2"] {
            assert!(is_ours(ours) == Reason::ALL.iter().any(|r| ours.contains(r.name())), "{ours}");
        }
        assert!(is_ours("2026-01-31-12-00-00-UTC-StateStale-0"));
        let others = [
            "",
            "best",
            "2026-01-31-12-00-00-UTC-StateStale",
            "2026-01-31-12-00-00-UTC-StateStale-best",
            "2026-01-31-12-00-00-UTC-Nothing-0",
            "2026-01-31-12-00-00-UTC-192.168.56.60-00000001-StateStale-1",
            "x2026-01-31-12-00-00-UTC-StateStale-0",
            "2026-01-31-12-00-00-CET-StateStale-0",
        ];
        for other in others {
            assert!(!is_ours(other), "{other}");
        }
    }
}

//! Limits the number and the size of recordings of fallbacks (ends of commanding by a fault) in a directory.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use outrigger_core::robot::Reason;

use super::{BEFORE_RESET, SUFFIX, UNFINISHED};

/// The pattern of the date at the start of a recording's name, `2026-01-31-12-00-00-UTC-`. `0` stands for any digit.
const WHEN: &[u8] = b"0000-00-00-00-00-00-UTC-";
/// The age from which an unfinished recording's file counts as abandoned.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// The limits on recordings of fallbacks (ends of commanding by a fault) in a directory. If one is exceeded, the oldest
/// recording is deleted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The maximum number of recordings by `whose` that the directory keeps, including a new one.
    pub files: usize,
    /// The maximum total size of the recordings by `whose` that the directory keeps, including a new one \[B\].
    pub bytes: u64,
    /// The kind of program whose recordings are counted and deleted.
    pub whose: RecordingOwner,
}

/// The program that wrote a recording, recognized by the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingOwner {
    /// A process on this machine that commands a robot (`outrigger run`), which has written the recording.
    Run,
    /// A microcontroller board with this IP address that commands a robot, whose recording `outrigger watch` has
    /// received.
    Board(IpAddr),
}

/// A recording in the directory that is counted and may be deleted.
struct Ours {
    path: PathBuf,
    length: u64,
    modified: SystemTime,
}

impl Kept {
    /// Deletes recordings until a new one of `length` bytes fits, and unfinished ones older than an hour. Files that
    /// were not made by `whose` are neither counted nor deleted.
    ///
    /// # Errors
    /// Returns the error of the operating system if the directory cannot be read.
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
            if name.strip_suffix(UNFINISHED).is_some_and(|stem| self.whose.made(stem)) {
                if modified.elapsed().is_ok_and(|age| age > ABANDONED) {
                    let _ = fs::remove_file(entry.path());
                }
            } else if name.strip_suffix(SUFFIX).is_some_and(|stem| self.whose.made(stem)) {
                ours.push(Ours { path: entry.path(), length: metadata.len(), modified });
            }
        }
        // Files of the same time are ordered by name.
        ours.sort_by(|a, b| a.modified.cmp(&b.modified).then_with(|| a.path.cmp(&b.path)));
        let mut bytes = ours.iter().map(|file| file.length).sum::<u64>().saturating_add(length);
        let mut files = ours.len().saturating_add(1);
        for Ours { path, length, .. } in ours {
            if files <= self.files && bytes <= self.bytes {
                break;
            }
            // A file that was deleted by other code is gone as well.
            let _ = fs::remove_file(path);
            files -= 1;
            bytes = bytes.saturating_sub(length);
        }
        Ok(())
    }
}

impl RecordingOwner {
    /// Returns `true` if `stem` is the name of a recording by this program: date, reason and numbers. For a
    /// microcontroller board, its address and the number of its start precede the reason.
    fn made(self, stem: &str) -> bool {
        let Some((when, rest)) = stem.as_bytes().split_at_checked(WHEN.len()) else { return false };
        let is_when =
            when.iter().zip(WHEN).all(|(byte, like)| if *like == b'0' { byte.is_ascii_digit() } else { byte == like });
        let Ok(rest) = std::str::from_utf8(rest) else { return false };
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let by_a_reason = |rest: &str| {
            let mut words = rest.split('-');
            let why = words.next().is_some_and(|word| Reason::ALL.iter().any(|reason| reason.name() == word));
            let mut numbers = words.peekable();
            why && numbers.peek().is_some() && numbers.all(is_number)
        };
        is_when
            && match self {
                Self::Run => by_a_reason(rest),
                Self::Board(address) => {
                    let address = address.to_string().replace(':', "-");
                    let rest = rest.strip_prefix(&*address).and_then(|rest| rest.strip_prefix('-'));
                    rest.and_then(|rest| rest.split_once('-')).is_some_and(|(start, rest)| {
                        let is_start = start.len() == 8 && start.bytes().all(|byte| byte.is_ascii_hexdigit());
                        let mut words = rest.strip_prefix(BEFORE_RESET).into_iter().flat_map(|rest| rest.split('-'));
                        let before = words.next() == Some("") && words.all(is_number);
                        is_start && (before || by_a_reason(rest))
                    })
                }
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_a_run_gives_are_ours() {
        for ours in ["2026-01-31-12-00-00-UTC-StateStale-0", "2026-01-31-12-00-00-UTC-LinkLost-17-2"] {
            assert!(RecordingOwner::Run.made(ours) == Reason::ALL.iter().any(|r| ours.contains(r.name())), "{ours}");
        }
        assert!(RecordingOwner::Run.made("2026-01-31-12-00-00-UTC-StateStale-0"));
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
            assert!(!RecordingOwner::Run.made(other), "{other}");
        }
        let board = RecordingOwner::Board(IpAddr::from([192, 168, 56, 60]));
        for name in ["StateStale-1", "StateStale-1-2", "before-reset", "before-reset-7"] {
            let stem = format!("2026-01-31-12-00-00-UTC-192.168.56.60-00000001-{name}");
            assert!(board.made(&stem) && !RecordingOwner::Board(IpAddr::from([192, 168, 56, 6])).made(&stem), "{stem}");
        }
        for name in ["StateStale", "before-reset-x", "before-resets", "x", "StateStale-best"] {
            assert!(!board.made(&format!("2026-01-31-12-00-00-UTC-192.168.56.60-00000001-{name}")), "{name}");
        }
        assert!(!board.made("2026-01-31-12-00-00-UTC-StateStale-0"));
    }
}

//! Reads recordings: the traffic of a session's connections, from an MCAP file, compressed or not.

mod reader;

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

pub use self::reader::LARGEST;
use self::reader::{Fault, MAGIC};
pub use super::wire_formats::{raw_topic, sent_topic};
use crate::exit::Failure;
use crate::host::os;

/// The topic, in a recording, of the configuration with which a run started.
pub const CONFIGURATION: &str = "/engine/configuration";
/// The topic of the inputs and outputs of a run's engine, in the form of [`EntryContent::Engine`](crate::feed::EntryContent::Engine).
pub const ENGINE: &str = "/engine/recording";
/// The topic, in a recording, of the session's log lines.
pub const LOG: &str = "/log";

/// The error text for a recording's path that leads to a pipe, a device or a directory.
const NO_FILE: &str = "it is no regular file";

/// Bytes of recorded traffic, with the port and the time.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The number of the stream of the bytes in feeds and recordings: the controller's port, `FRI` or `VARIABLES`.
    pub port: u16,
    /// `true` for bytes sent to the controller, `false` for bytes received from it.
    pub sent: bool,
    /// The time at which the bytes were read or written, since 1970 \[ns\].
    pub nanos: u64,
    /// The bytes themselves. Empty at the start of a connection, or if earlier bytes are missing.
    pub bytes: &'a [u8],
}

/// Returns `true` if the file at `path` is an MCAP file.
#[must_use]
pub fn is_recording(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    open(path).and_then(|(mut file, _)| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// Returns the error for a file that is named like a recording (`.mcap`) and is not one. `None` for a recording, for a
/// file with another name, and if there is no file.
#[must_use]
pub fn is_none(path: &Path) -> Option<Failure> {
    let found = std::fs::metadata(path).ok()?;
    let named = path.extension().is_some_and(|extension| extension == "mcap");
    (named && !is_recording(path)).then(|| {
        let shown = path.display();
        Failure::BadInput(match found.len() {
            _ if !found.is_file() => format!("cannot read {shown}: {NO_FILE}"),
            0 => format!("{shown} is empty: its recording never began"),
            _ => format!("{shown} does not begin as an MCAP file does"),
        })
    })
}

/// Calls `take` with all traffic of the controller's `ports` in the recording at `path`, in the order of the file.
///
/// # Errors
/// Returns [`Failure::BadInput`] if the file cannot be read, is damaged or ends early, after every message before that
/// place; and any failure of `take`.
pub fn each_raw(
    path: &Path,
    ports: &[u16],
    mut take: impl FnMut(Raw<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let topics: Vec<_> =
        ports.iter().flat_map(|port| [(raw_topic(*port), *port, false), (sent_topic(*port), *port, true)]).collect();
    each_message(path, |topic, nanos, bytes| match topics.iter().find(|(known, ..)| *known == topic) {
        Some((_, port, sent)) => take(Raw { port: *port, sent: *sent, nanos, bytes }),
        None => Ok(()),
    })
}

/// Calls `take` with topic, time since 1970 \[ns\] and data of every message in the recording at `path`, in order.
///
/// # Errors
/// Returns the errors of [`each_raw`].
pub fn each_message(path: &Path, take: impl FnMut(&str, u64, &[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
    each_message_and_fact(path, take, |_, _| {}).map_err(|unread| unread.failure)
}

/// A failure to read a recording to its end.
#[derive(Debug)]
pub struct Unread {
    /// The error for users, or the one that the caller's function returned.
    pub failure: Failure,
    /// The offset of the damage in the file \[B\]. `None` if the failure has no place there.
    pub at: Option<u64>,
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Self { failure, at: None }
    }
}

/// Calls `take` like [`each_message`], and `fact` with key and value of each fact about the recording, such as `robot`
/// and `entries_lost`.
///
/// # Errors
/// Returns the errors of [`each_raw`], with the place of the damage.
pub fn each_message_and_fact(
    path: &Path,
    mut take: impl FnMut(&str, u64, &[u8]) -> Result<(), Failure>,
    mut fact: impl FnMut(&str, &str),
) -> Result<(), Unread> {
    let shown = path.display();
    is_none(path).map_or(Ok(()), Err)?;
    let cannot = |what, error| Unread::from(Failure::BadInput(format!("cannot {what} {shown}: {error}")));
    let (mut file, length) = open(path).map_err(|error| cannot("open", error))?;
    let is_whole = is_whole(&mut file, length).map_err(|error| cannot("read", error))?;
    // A file that grows is read up to its length at this moment.
    let read = reader::each_message(BufReader::new(file), length, &mut take, &mut fact);
    let (at, what) = match read {
        Ok(()) => return Ok(()),
        Err(Fault::Refused(failure)) => return Err(failure.into()),
        Err(Fault::Unreadable(error)) => return Err(cannot("read", error)),
        Err(Fault::Compression { at, name }) => {
            let failure = Failure::BadInput(format!(
                "{shown} is compressed by {name} at byte {at}, which this program was built without: use one with its feature \
                 lz4, or `mcap compress --compression none` of the MCAP tools"
            ));
            return Err(Unread { failure, at: Some(at) });
        }
        Err(Fault::CutOff { at, .. }) if !is_whole => (at, String::new()),
        Err(Fault::CutOff { at, claimed, left }) => {
            (at, format!("found a record of {claimed} bytes, expected at most the {left} that are left"))
        }
        Err(Fault::Damaged { at, what }) => (at, what),
    };
    let failure = Failure::BadInput(if is_whole {
        format!(
            "{shown} is damaged at byte {at}: {what}; use another copy, or `mcap recover` of the MCAP tools, which keeps what is \
             whole"
        )
    } else {
        let what = if what.is_empty() { what } else { format!(" ({what})") };
        format!(
            "{shown} is not complete: its end is missing from byte {at} on{what}, as after a full disk, a power cut, \
             or a copy that broke off, or it is still being written; `mcap recover` of the MCAP tools repairs such a \
             file"
        )
    });
    Err(Unread { failure, at: Some(at) })
}

/// Opens a recording, and returns its length. Only regular files are accepted: a pipe or a device has no end that
/// could be checked, and may never deliver a byte.
fn open(path: &Path) -> std::io::Result<(File, u64)> {
    let file = os::open_at_once(path)?;
    let found = file.metadata()?;
    if found.is_file() { Ok((file, found.len())) } else { Err(std::io::Error::other(NO_FILE)) }
}

/// Returns `true` if `file` ends like a completed MCAP file. Afterwards its reading position is at the beginning.
fn is_whole(file: &mut File, length: u64) -> std::io::Result<bool> {
    let mut end = MAGIC;
    let is_whole = match length.checked_sub(2 * end.len() as u64) {
        Some(before) => {
            file.seek(SeekFrom::Start(before + end.len() as u64))?;
            file.read_exact(&mut end)?;
            end == MAGIC
        }
        None => false,
    };
    file.rewind()?;
    Ok(is_whole)
}

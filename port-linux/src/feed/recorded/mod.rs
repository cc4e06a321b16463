//! A reader of recordings: the bytes that a session's connections carried, out of an MCAP file, compressed or not.

mod reader;

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

pub use self::reader::LARGEST;
use self::reader::{Fault, MAGIC};
pub use super::format::{raw_topic, sent_topic};
use crate::exit::Failure;
use crate::host::os;

/// Topic of the configuration that a run began with.
pub const CONFIGURATION: &str = "/engine/configuration";
/// Topic of what the engine of a run was given and did, as [`What::Engine`](crate::feed::What::Engine) has it.
pub const ENGINE: &str = "/engine/recording";
/// Topic of the log.
pub const LOG: &str = "/log";

/// The remark on a pipe, a device or a directory.
const NO_FILE: &str = "it is no regular file";

/// Some bytes that crossed the wire.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The controller's port.
    pub port: u16,
    /// Whether they went to the controller.
    pub sent: bool,
    /// When, in ns since 1970.
    pub nanos: u64,
    /// As they were; none where a connection begins, or something before is missing.
    pub bytes: &'a [u8],
}

/// Whether `path` is an MCAP file.
#[must_use]
pub fn is_recording(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    open(path).and_then(|(mut file, _)| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

/// Why `path` is no recording although its name says so; `None` for one, and for a file of another name.
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

/// Calls `take` with everything that crossed `ports`, in order.
///
/// # Errors
/// [`Failure::BadInput`] where the file cannot be read or breaks off, after everything before; any failure of `take`.
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

/// Calls `take` with topic, time in ns since 1970 and data of every message, in order.
///
/// # Errors
/// Those of [`each_raw`].
pub fn each_message(path: &Path, mut take: impl FnMut(&str, u64, &[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
    let shown = path.display();
    is_none(path).map_or(Ok(()), Err)?;
    let cannot = |what, error| Failure::BadInput(format!("cannot {what} {shown}: {error}"));
    let (mut file, length) = open(path).map_err(|error| cannot("open", error))?;
    let is_whole = is_whole(&mut file, length).map_err(|error| cannot("read", error))?;
    // A file that grows is read as far as it was there.
    let read = reader::each_message(BufReader::new(file), length, &mut take);
    let (at, what) = match read {
        Ok(()) => return Ok(()),
        Err(Fault::Refused(failure)) => return Err(failure),
        Err(Fault::Unreadable(error)) => return Err(cannot("read", error)),
        Err(Fault::Compression { at, name }) => {
            return Err(Failure::BadInput(format!(
                "{shown} is compressed by {name} at byte {at}, which this program was built without: use one with its feature \
                 lz4, or `mcap compress --compression none` of the MCAP tools"
            )));
        }
        Err(Fault::CutOff { at, .. }) if !is_whole => (at, String::new()),
        Err(Fault::CutOff { at, claimed, left }) => {
            (at, format!("found a record of {claimed} bytes, expected at most the {left} that are left"))
        }
        Err(Fault::Damaged { at, what }) => (at, what),
    };
    Err(Failure::BadInput(if is_whole {
        format!(
            "{shown} is damaged at byte {at}: {what}; use another copy, or `mcap recover` of the MCAP tools, which keeps what is \
             whole"
        )
    } else {
        let what = if what.is_empty() { what } else { format!(" ({what})") };
        format!(
            "{shown} is not complete: its end is missing from byte {at} on{what}, as after a full disk, a power cut, or a copy \
             that broke off, or it is still being written; `mcap recover` of the MCAP tools mends such a file"
        )
    }))
}

/// Opens a recording, and returns its length. Only a regular file is one: a pipe or a device has no end to look at, and may never
/// deliver a byte.
fn open(path: &Path) -> std::io::Result<(File, u64)> {
    let file = os::open_at_once(path)?;
    let found = file.metadata()?;
    if found.is_file() { Ok((file, found.len())) } else { Err(std::io::Error::other(NO_FILE)) }
}

/// Returns `true` if `file` ends as a file that was completed does. It is at its beginning afterwards.
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

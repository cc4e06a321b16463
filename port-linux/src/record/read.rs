//! A recording's bytes, as they crossed the wire.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use mcap::McapError;
use mcap::io::MessageReader;

use super::file::{raw_topic, sent_topic};
use crate::exit::Failure;

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
    let mut start = [0; mcap::MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == mcap::MAGIC
}

/// Why `path` is no recording although its name says so; `None` for one, and for a file of another name.
#[must_use]
pub fn is_none(path: &Path) -> Option<Failure> {
    let size = std::fs::metadata(path).ok()?.len();
    let named = path.extension().is_some_and(|extension| extension == "mcap");
    (named && !is_recording(path)).then(|| {
        let why = if size == 0 { "is empty: its recording never began" } else { "does not begin as an MCAP file does" };
        Failure::BadInput(format!("{} {why}", path.display()))
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
pub(crate) fn each_message(
    path: &Path,
    mut take: impl FnMut(&str, u64, &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let shown = path.display();
    is_none(path).map_or(Ok(()), Err)?;
    let cannot = |what, error| Failure::BadInput(format!("cannot {what} {shown}: {error}"));
    let mut file = File::open(path).map_err(|error| cannot("open", error))?;
    let is_whole = is_whole(&mut file).map_err(|error| cannot("read", error))?;
    let cut_off = || {
        Failure::BadInput(format!(
            "{shown} is not complete: its end is missing, as after a full disk, a power cut, or a copy that broke off, or it is \
             still being written; `mcap recover` of the MCAP tools mends such a file"
        ))
    };
    for message in MessageReader::new(BufReader::new(file)) {
        let message = match message {
            Ok(message) => message,
            Err(_) if !is_whole => return Err(cut_off()),
            Err(McapError::UnsupportedCompression(name)) => {
                return Err(Failure::BadInput(format!(
                    "{shown} is compressed by {name}, which this program was built without: use one with its feature lz4, \
                     or `mcap compress --compression none` of the MCAP tools"
                )));
            }
            Err(error) => return Err(Failure::BadInput(format!("{shown}: {error}"))),
        };
        take(&message.channel.topic, message.log_time, &message.data)?;
    }
    if is_whole { Ok(()) } else { Err(cut_off()) }
}

/// Whether `file` ends as a file that was completed does. It is at its beginning afterwards.
fn is_whole(file: &mut File) -> std::io::Result<bool> {
    let mut end = [0; mcap::MAGIC.len()];
    let length = file.seek(SeekFrom::End(0))?;
    let is_whole = match length.checked_sub(2 * end.len() as u64) {
        Some(before) => {
            file.seek(SeekFrom::Start(before + end.len() as u64))?;
            file.read_exact(&mut end)?;
            end == mcap::MAGIC
        }
        None => false,
    };
    file.rewind()?;
    Ok(is_whole)
}

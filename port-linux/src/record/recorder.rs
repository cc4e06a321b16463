//! The recorder: a thread that takes entries out of a feed, decodes them, and writes them to a file.
//!
//! The session never waits for the disk. If the disk is too slow, the oldest entries of the feed are lost. Their
//! number is recorded in the file's log and in its facts.

use std::fs;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::arm_frames::ArmGeometry;
use super::entry_writer::SessionChannels;
use super::file::File;
use crate::exit::Failure;
use crate::feed::{Progress, Reader, Streams, stream_memory};
use crate::host::clock::{Clock, utc_now};
use crate::host::worker::{Joined, Worker};
use mcap::McapError;

/// The time for writing the remaining entries at the end of a recording.
const PATIENCE: Duration = Duration::from_secs(10);

/// A running recorder of a feed (a queue of a session's traffic and events): its thread, its file and its progress.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    worker: Worker,
    progress: Arc<Progress>,
}

impl Recorder {
    /// Creates the file and starts to write the entries of `reader`, with frames of the arm once `arm` knows its
    /// geometry. `robot` is the robot's address, for the file's metadata.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if the file exists or cannot be created, or if no thread can be started.
    pub fn start(
        path: &Path,
        reader: Reader,
        arm: ArmGeometry,
        clock: Clock,
        robot: &str,
        compressed: bool,
    ) -> Result<Self, Failure> {
        let created = create(path)?;
        let progress = Arc::new(Progress::default());
        let (shared, robot, origin) = (Arc::clone(&progress), robot.to_owned(), clock.origin_unix_nanos());
        let begun = utc_now();
        let work = move || {
            let facts = [("robot", robot), ("begun", begun)];
            if let Err(error) = record(BufWriter::new(created), reader, arm, (compressed, origin), &facts, &shared) {
                shared.fail(words(&error));
            }
        };
        let worker = Worker::start("record", work).map_err(|error| {
            let _ = fs::remove_file(path);
            Failure::BadInput(format!("cannot start a thread: {error}"))
        })?;
        Ok(Self { path: path.to_owned(), worker, progress })
    }

    /// Returns the path of the recording's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the progress of the recording, which is updated while it is written.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Waits until the file is complete, at most for 10 s. The feed must have ended. Returns a summary of the file.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] with the reason why the file is not complete.
    pub fn finish(self) -> Result<String, Failure> {
        let joined = self.worker.join(PATIENCE);
        let (path, progress) = (self.path.display(), &self.progress);
        let why = progress.failure().or(match joined {
            Joined::Ended => None,
            Joined::Panicked => Some("the recorder ended early".into()),
            Joined::Hangs => Some(format!("the disk did not store it within {} s", PATIENCE.as_secs())),
        });
        if let Some(why) = why {
            return Err(Failure::BadInput(format!(
                "{path} is not complete: {why}; `mcap recover` of the MCAP tools repairs such a file"
            )));
        }
        let size = fs::metadata(&self.path).map_or(0, |metadata| metadata.len());
        Ok(format!(
            "{path}: {} messages, {:.1} MB, {} entries lost",
            progress.messages(),
            size as f64 / 1e6,
            progress.lost()
        ))
    }
}

/// Checks that a recording can be created at `path`, and leaves no file there.
///
/// # Errors
/// Returns [`Failure::BadInput`] if the file exists or cannot be created.
pub fn can_create(path: &Path) -> Result<(), Failure> {
    drop(create(path)?);
    fs::remove_file(path).map_err(|error| Failure::BadInput(format!("cannot remove {}: {error}", path.display())))
}

fn create(path: &Path) -> Result<fs::File, Failure> {
    let shown = path.display();
    fs::File::create_new(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::BadInput(format!("{shown} exists: recordings are never overwritten, choose another name"))
        }
        _ => Failure::BadInput(format!("cannot create {shown}: {error}")),
    })
}

fn words(error: &McapError) -> String {
    match error {
        McapError::Io(error) => format!("cannot write: {error}"),
        error => error.to_string(),
    }
}

/// Writes the entries that `reader` receives to `to` until the feed ends, then completes the file.
pub(super) fn record<W: Write + Seek>(
    to: W,
    mut reader: Reader,
    arm: ArmGeometry,
    (compressed, origin): (bool, u64),
    facts: &[(&str, String)],
    progress: &Progress,
) -> Result<(), McapError> {
    let mut memory = stream_memory();
    let Some(streams) = Streams::new(&mut memory) else { return Ok(()) };
    let mut file = File::begin(to, compressed)?;
    file.facts("recording", facts)?;
    let mut channels = SessionChannels::new(file, origin, arm, streams);
    while let Some(item) = reader.next_blocking() {
        channels.item(&item)?;
        let (messages, bytes) = channels.written();
        progress.note(messages, bytes, reader.lost());
    }
    let (messages, bytes) = channels.written();
    let summary = [
        ("ended", utc_now()),
        ("messages", messages.to_string()),
        ("bytes_before_compression", bytes.to_string()),
        ("entries_lost", reader.lost().to_string()),
    ];
    channels.sink().facts("summary", &summary)?;
    channels.sink().finish()
}

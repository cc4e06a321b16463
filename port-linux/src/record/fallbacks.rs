//! Writes recordings of fallbacks (ends of commanding by a fault) to files, one after another on a thread, while the
//! control loop continues.
//!
//! The loop never waits for the disk. A recording that arrives while the disk is too slow is not written, and this is
//! reported. A file gets its final name only after it is complete and synced to disk.

mod retention;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use self::retention::Kept;
pub use self::retention::RecordingOwner;
use crate::exit::Failure;
use crate::host::worker::{Joined, Worker};

/// The number of recordings of fallbacks (ends of commanding by a fault) that can wait for the disk or be written at a
/// time.
const WAITING: usize = 2;
/// The time for writing the remaining recordings of fallbacks (ends of commanding by a fault) at the end of the
/// process.
const PATIENCE: Duration = Duration::from_secs(5);
/// The suffix of the file name of a finished recording.
const SUFFIX: &str = ".outrigger";
/// The word, in the name of a file, for a microcontroller board's recording of its run before a reset, in place of the
/// reason of a fallback.
pub const BEFORE_RESET: &str = "before-reset";
/// The suffix of the file name of a recording that is being written.
const UNFINISHED: &str = ".outrigger.part";

/// A running writer of recordings of fallbacks (ends of commanding by a fault).
#[derive(Debug)]
pub struct Recordings {
    sender: SyncSender<Job>,
    /// The memory buffers that are free for further recordings of fallbacks (ends of commanding by a fault).
    spare: Receiver<Vec<u8>>,
    reports: UnboundedReceiver<Report>,
    worker: Worker,
}

#[derive(Debug)]
struct Job {
    of: String,
    stem: String,
    bytes: Vec<u8>,
}

/// The result of writing a recording to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The recording was written to the file at `path`.
    Written {
        /// A description of the recorded event, e.g. a fallback (end of commanding by a fault) by its reason.
        of: String,
        /// The path of the recording's file.
        path: PathBuf,
    },
    /// The recording could not be written.
    Failed {
        /// A description of the event whose recording failed, e.g. a fallback (end of commanding by a fault) by its
        /// reason.
        of: String,
        /// The reason why the recording could not be written, e.g. the operating system's error.
        why: String,
    },
}

impl Report {
    /// Returns the result of writing a recording as text, and the path of the file, if there is one, as a field for
    /// scripts.
    #[must_use]
    pub fn words(&self) -> (String, Vec<(&'static str, String)>) {
        match self {
            Self::Written { of, path } => {
                let file = path.display().to_string();
                (format!("recording {of}: {file}"), vec![("file", file)])
            }
            Self::Failed { of, why } => (format!("the recording {of} cannot be written: {why}"), vec![]),
        }
    }
}

impl Recordings {
    /// Starts a writer into `directory`, which is created if it is missing. Recordings have at most `size` bytes.
    /// Older recordings are deleted according to `kept`. Must be called before the loop requests priority and locked
    /// memory.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if no file can be created there, or no thread can be started.
    pub fn start(directory: &Path, size: usize, kept: Option<Kept>) -> Result<Self, Failure> {
        let shown = directory.display();
        try_to_write(directory).map_err(|error| {
            Failure::BadInput(format!(
                "cannot write recordings into {shown}: {error}; name a directory that this user may write to"
            ))
        })?;
        let (sender, jobs) = sync_channel(WAITING);
        let (give_back, spare) = sync_channel(WAITING);
        let (tell, reports) = unbounded_channel();
        for _ in 0..WAITING {
            // Written to once, so that the loop causes no page faults in it.
            let mut memory = vec![1; size];
            memory.clear();
            let _ = give_back.send(memory);
        }
        let directory = directory.to_owned();
        let worker = Worker::start("recordings", move || work(&directory, kept.as_ref(), &jobs, &give_back, &tell))
            .map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        Ok(Self { sender, spare, reports, worker })
    }

    /// Queues a recording of the event `of`, composed of `parts`. The name of its file begins with `stem`.
    ///
    /// # Errors
    /// Returns [`Report::Failed`] if the disk is too slow, or if the writer has ended.
    pub fn write(&self, of: String, stem: String, parts: &[&[u8]]) -> Result<(), Report> {
        let Ok(mut bytes) = self.spare.try_recv() else {
            let why = "the disk is still busy with earlier ones".into();
            return Err(Report::Failed { of, why });
        };
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        self.sender.try_send(Job { of, stem, bytes }).map_err(|error| {
            let (std::sync::mpsc::TrySendError::Full(job) | std::sync::mpsc::TrySendError::Disconnected(job)) = error;
            Report::Failed { of: job.of, why: "the writer has ended".into() }
        })
    }

    /// Waits for the result of writing the next recording. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Report {
        match self.reports.recv().await {
            Some(report) => report,
            // The writer has panicked, and will not return.
            None => std::future::pending().await,
        }
    }

    /// Ends the writer after everything is written, or after a timeout. Returns the results not yet reported.
    pub fn finish(self) -> Vec<Report> {
        let Self { sender, spare, mut reports, worker } = self;
        drop(sender);
        let joined = worker.join(PATIENCE);
        drop(spare);
        let mut left: Vec<_> = std::iter::from_fn(|| reports.try_recv().ok()).collect();
        let why = match joined {
            Joined::Ended => return left,
            Joined::Panicked => "the writer has ended".to_owned(),
            Joined::Hangs => format!("the disk did not store it within {} s", PATIENCE.as_secs()),
        };
        left.push(Report::Failed { of: "that was last".into(), why });
        left
    }
}

/// Waits for the result of writing the next recording. Never returns if `recordings` (the writer) is `None`.
pub async fn next_report(recordings: &mut Option<Recordings>) -> Report {
    match recordings {
        Some(recordings) => recordings.next().await,
        None => std::future::pending().await,
    }
}

fn work(
    directory: &Path,
    kept: Option<&Kept>,
    jobs: &Receiver<Job>,
    give_back: &SyncSender<Vec<u8>>,
    tell: &UnboundedSender<Report>,
) {
    for Job { of, stem, mut bytes } in jobs {
        let report = match write(directory, kept, &stem, &bytes) {
            Ok(path) => Report::Written { of, path },
            Err(error) => Report::Failed { of, why: error.to_string() },
        };
        bytes.clear();
        let _ = give_back.send(bytes);
        // At the end there may be no receiver any more.
        let _ = tell.send(report);
    }
}

/// Checks that files can be created in the directory: creates it if it is missing and, briefly, a file in it.
fn try_to_write(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let probe = directory.join(format!(".{}{UNFINISHED}", std::process::id()));
    let made = File::create(&probe).and_then(|mut file| file.write_all(b"?"));
    let gone = fs::remove_file(&probe);
    made.and(gone)
}

fn write(directory: &Path, kept: Option<&Kept>, stem: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    if let Some(kept) = kept {
        kept.make_room(directory, bytes.len() as u64)?;
    }
    let (mut file, unfinished, path) = create(directory, stem)?;
    let whole = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&unfinished, &path));
    if let Err(error) = whole {
        let _ = fs::remove_file(&unfinished);
        return Err(error);
    }
    Ok(path)
}

/// Creates a new file. Returns it with its temporary path and its final path, both unused so far.
fn create(directory: &Path, stem: &str) -> io::Result<(File, PathBuf, PathBuf)> {
    for number in 1..=u32::MAX {
        let name = if number == 1 { stem.to_owned() } else { format!("{stem}-{number}") };
        let (path, unfinished) =
            (directory.join(format!("{name}{SUFFIX}")), directory.join(format!("{name}{UNFINISHED}")));
        match File::create_new(&unfinished) {
            Ok(file) if !path.exists() => return Ok((file, unfinished, path)),
            Ok(_) => fs::remove_file(&unfinished)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests;

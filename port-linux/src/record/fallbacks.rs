//! Recordings of fallbacks as files: one thread writes them, one after the other, while the loop goes on.
//!
//! The disk may take as long as it likes. What comes while it is behind is not written, and that is said. A file has its name
//! only once it is whole and on the disk.

mod kept;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use self::kept::Kept;
pub use self::kept::Whose;
use crate::exit::Failure;
use crate::host::worker::{Joined, Worker};

/// Recordings that wait for the disk, or are on their way to it.
const WAITING: usize = 2;
/// At the end they get so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// What the name of a recording ends with.
const SUFFIX: &str = ".outrigger";
/// The name of a board's recording of the run before a reset, in the place of a reason.
pub const BEFORE_RESET: &str = "before-reset";
/// What the name of one that is being written ends with.
const UNFINISHED: &str = ".outrigger.part";

/// A writer at work.
#[derive(Debug)]
pub struct Recordings {
    sender: SyncSender<Job>,
    /// Memory that no recording is in.
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

/// What became of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// It is in this file.
    Written {
        /// What it is of.
        of: String,
        /// The file.
        path: PathBuf,
    },
    /// There is no file of it.
    Failed {
        /// What it is of.
        of: String,
        /// Why.
        why: String,
    },
}

impl Report {
    /// In words, and the file where there is one.
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
    /// Writes into `directory`, which is made where it is missing, recordings of `size` bytes at most, and keeps of those before
    /// what `kept` says. To be called before the loop asks for priority and locked memory.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where no file can be made there, or no thread is to be had.
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
            // Written to once, so that the loop meets no page that the kernel still has to find.
            let mut memory = vec![1; size];
            memory.clear();
            let _ = give_back.send(memory);
        }
        let directory = directory.to_owned();
        let worker = Worker::start("recordings", move || work(&directory, kept.as_ref(), &jobs, &give_back, &tell))
            .map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?;
        Ok(Self { sender, spare, reports, worker })
    }

    /// Hands over a recording of `of`, whose parts are `parts`, to be written under a name that begins with `stem`.
    ///
    /// # Errors
    /// [`Report::Failed`] where the disk is behind.
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

    /// What became of the next one. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Report {
        match self.reports.recv().await {
            Some(report) => report,
            // Its writer has panicked; it will not come back.
            None => std::future::pending().await,
        }
    }

    /// Ends it once everything is written, or the disk takes nothing. What has not been told yet.
    pub fn finish(self) -> Vec<Report> {
        let Self { sender, spare, mut reports, worker } = self;
        drop(sender);
        let joined = worker.join(PATIENCE);
        drop(spare);
        let mut left: Vec<_> = std::iter::from_fn(|| reports.try_recv().ok()).collect();
        let why = match joined {
            Joined::Ended => return left,
            Joined::Panicked => "the writer has ended".to_owned(),
            Joined::Hangs => format!("the disk did not take it within {} s", PATIENCE.as_secs()),
        };
        left.push(Report::Failed { of: "that was last".into(), why });
        left
    }
}

/// What became of the next recording.
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
        // At the end nobody may listen any more.
        let _ = tell.send(report);
    }
}

/// Makes the directory and, for a moment, a file in it.
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

/// A new file, its name for now, and its name to be: nobody else's.
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

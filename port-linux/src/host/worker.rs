//! Threads that may block in the kernel, at a terminal, a pipe or a disk that accepts nothing. Others wait for such a
//! thread only for a limited time.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::host::os::{self, Unpinned};

/// The stack size of a worker \[B\]. It is locked into memory if the process locks its memory.
const STACK: usize = 1 << 20;

/// The interval at which a thread without new data checks for data again.
pub const LOOK: Duration = Duration::from_millis(20);

/// `true` if a blocked worker thread of this process was abandoned, i.e. left running.
static LEFT_BEHIND: AtomicBool = AtomicBool::new(false);

/// A worker thread of normal priority on any processor, regardless of the priority and the processor (`host.cpu`) of
/// the thread that starts it.
#[derive(Debug)]
pub struct Worker {
    end: Receiver<()>,
}

/// The way in which a worker thread ended, or did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined {
    /// The worker has returned normally.
    Ended,
    /// The worker has panicked. The panic was printed.
    Panicked,
    /// The worker thread has not ended within the time limit, e.g. because a system call blocks it, and was abandoned.
    Hangs,
}

impl Worker {
    /// Runs `body` on a thread called `name`.
    ///
    /// # Errors
    /// Returns the error of the operating system if it starts no thread.
    pub fn start(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let (ended, end) = sync_channel(1);
        let thread = std::thread::Builder::new().name(format!("outrigger-{name}")).stack_size(STACK);
        let unpinned = Unpinned::of_caller();
        thread.spawn(move || {
            // Refused if the thread has another scheduler. Then it has not inherited the loop's priority either.
            let _ = os::set_other();
            // Refused if the processors were taken from the process in the meantime. Then the kernel has chosen
            // others.
            let _ = unpinned.apply();
            body();
            let _ = ended.send(());
        })?;
        Ok(Self { end })
    }

    /// Waits for the end of the worker thread, at most for `patience`.
    #[must_use]
    pub fn join(self, patience: Duration) -> Joined {
        match self.end.recv_timeout(patience) {
            Ok(()) => Joined::Ended,
            Err(RecvTimeoutError::Disconnected) => Joined::Panicked,
            Err(RecvTimeoutError::Timeout) => {
                LEFT_BEHIND.store(true, Ordering::Release);
                Joined::Hangs
            }
        }
    }
}

/// Runs `body` on a thread of its own, and waits at most for `patience`. Returns `true` if it has returned by then.
pub(crate) fn within(patience: Duration, body: impl FnOnce() + Send + 'static) -> bool {
    Worker::start("within", body).is_ok_and(|worker| worker.join(patience) == Joined::Ended)
}

/// Writes a file, or gives up after `patience`, because a disk may hang, and a FIFO may have no reader.
///
/// # Errors
/// Returns the error of the operating system; `TimedOut` after `patience`.
pub fn write_within(patience: Duration, path: &Path, bytes: Vec<u8>) -> io::Result<()> {
    let (tell, told) = sync_channel(1);
    let path = path.to_owned();
    within(patience, move || drop(tell.send(std::fs::write(path, bytes))));
    told.try_recv().unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "nothing takes it")))
}

/// Checks that a file can be written, before long work produces its content. Creates the file if it is missing, and
/// keeps its content.
///
/// # Errors
/// Returns the errors of [`write_within`].
pub fn writable_within(patience: Duration, path: &Path) -> io::Result<()> {
    let (tell, told) = sync_channel(1);
    let path = path.to_owned();
    let open = move || std::fs::OpenOptions::new().create(true).append(true).open(path).map(drop);
    within(patience, move || drop(tell.send(open())));
    told.try_recv().unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, "nothing takes it")))
}

/// Returns `true` if a blocked thread was abandoned. Then the process must not end through anything that this thread
/// may hold, such as the lock of standard output.
pub fn is_one_left_behind() -> bool {
    LEFT_BEHIND.load(Ordering::Acquire)
}

/// Ends the process immediately with `code`, without the waits of an orderly exit.
pub fn exit_at_once(code: u8) -> ! {
    signal_hook::low_level::exit(code.into())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::host::os::Scheduling;

    #[test]
    fn one_that_hangs_is_left_behind_and_one_that_ends_is_not() {
        let (_held, never) = channel::<()>();
        let hangs = Worker::start("hangs", move || assert!(never.recv().is_err())).expect("a thread");
        assert_eq!(hangs.join(Duration::from_millis(1)), Joined::Hangs);
        assert!(is_one_left_behind());
        let ends = Worker::start("ends", || {}).expect("a thread");
        assert_eq!(ends.join(Duration::from_secs(60)), Joined::Ended);
        let panics = Worker::start("panics", || panic!("meant")).expect("a thread");
        assert_eq!(panics.join(Duration::from_secs(60)), Joined::Panicked);
    }

    #[test]
    fn none_inherits_the_scheduling_class_of_who_starts_it() {
        let told = std::thread::spawn(|| {
            os::set_batch().expect("anybody may have less");
            let (tell, told) = channel();
            let worker = Worker::start("class", move || tell.send(os::scheduling().expect("a class")).expect("kept"));
            assert_eq!(worker.expect("a thread").join(Duration::from_secs(60)), Joined::Ended);
            (os::scheduling().expect("a class"), told.recv().expect("told"))
        });
        assert_eq!(told.join().expect("no panic"), (Scheduling::Named("SCHED_BATCH"), Scheduling::Other));
    }
    #[test]
    fn none_stays_on_the_processor_of_who_starts_it() {
        let told = std::thread::spawn(|| {
            let before = os::processors();
            // Repeated, as for two sessions of one thread.
            for processor in before.iter().rev() {
                os::pin(*processor).expect("one of its own");
                assert_eq!(os::processors(), [*processor]);
            }
            let (tell, told) = channel();
            let worker = Worker::start("processors", move || {
                let (further, from) = channel();
                let of_worker = Worker::start("further", move || further.send(os::processors()).expect("kept"));
                assert_eq!(of_worker.expect("a thread").join(Duration::from_secs(60)), Joined::Ended);
                tell.send([os::processors(), from.recv().expect("told")]).expect("kept");
            });
            assert_eq!(worker.expect("a thread").join(Duration::from_secs(60)), Joined::Ended);
            assert_eq!(told.recv().expect("told"), [before.clone(), before]);
        });
        told.join().expect("no panic");
    }
}

//! Detects interruptions of this process: it was stopped and continues (`SIGSTOP`, as by Ctrl-Z or a debugger).
//!
//! After a stop, Linux ends each wait of `epoll_wait` early, with `EINTR` (signal(7), "Interruption of system calls
//! and library functions by stop signals"). `rustdds` 0.15 treats that as a failure of its sockets and ends its two
//! threads: the participant then announces and receives nothing any more, and does not report that. A thread that
//! waits here in the same way is interrupted by the same signal.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::Errno;

use outrigger::host::worker::Worker;

/// The longest wait for the end of the thread that detects interruptions.
const PATIENCE: Duration = Duration::from_secs(1);

/// A detector of interruptions of this process, which works until it is dropped.
#[derive(Debug)]
pub(super) struct InterruptionDetector {
    seen: Arc<AtomicBool>,
    /// An event descriptor; writing to it ends the detector's thread.
    ends: Arc<OwnedFd>,
    worker: Option<Worker>,
}

impl InterruptionDetector {
    /// Starts to detect, on a thread of its own, that this process was stopped and continued.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub(super) fn watch() -> io::Result<Self> {
        let ends = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let waits = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&waits, &*ends, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        let seen = Arc::new(AtomicBool::new(false));
        let (here, kept) = (Arc::clone(&seen), Arc::clone(&ends));
        let wait = move || {
            // Keeps the descriptor open for as long as the thread waits for it.
            let _kept = kept;
            loop {
                let mut events = [MaybeUninit::uninit(); 1];
                match epoll::wait(&waits, events.as_mut_slice(), None) {
                    Err(Errno::INTR) => here.store(true, Ordering::Release),
                    Ok(_) | Err(_) => return,
                }
            }
        };
        Ok(Self { seen, ends, worker: Some(Worker::start("ros2-stop", wait)?) })
    }

    /// Returns `true` if this process was stopped and continued since the last call.
    pub(super) fn take(&self) -> bool {
        self.seen.load(Ordering::Relaxed) && self.seen.swap(false, Ordering::AcqRel)
    }
}

impl Drop for InterruptionDetector {
    fn drop(&mut self) {
        let _ = rustix::io::write(&*self.ends, &1_u64.to_ne_bytes());
        if let Some(worker) = self.worker.take() {
            let _ = worker.join(PATIENCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_interrupts_a_process_that_runs_and_the_watch_ends() {
        let interrupted = InterruptionDetector::watch().unwrap();
        assert!(!interrupted.take());
        drop(interrupted);
    }
}

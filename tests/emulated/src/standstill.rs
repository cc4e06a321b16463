//! Whether this machine ran what was due: a virtual one may stand still for many milliseconds, whoever goes first on it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

use crate::clock::Clock;
use crate::qemu::Priority;

/// How often each processor is looked at.
const GLANCE: Duration = Duration::from_millis(2);

/// One thread on each processor that asks to be woken before everything else, and notes by how much it was woken too
/// late: so long nothing else ran there either.
#[derive(Debug)]
pub struct Watch {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    over: AtomicBool,
    /// \[µs\]
    longest: AtomicU64,
}

impl Watch {
    /// Begins to watch the processors that this program may use.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn start() -> io::Result<Self> {
        let allowed = sched_getaffinity(None)?;
        let mut watch = Self { shared: Arc::default(), threads: vec![] };
        for processor in (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)) {
            let shared = Arc::clone(&watch.shared);
            let thread = std::thread::Builder::new().name(format!("watch {processor}"));
            watch.threads.push(thread.spawn(move || shared.look_at(processor))?);
        }
        Ok(watch)
    }

    /// The longest time so far in which a processor ran nothing that was due.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_micros(self.shared.longest.load(Ordering::Relaxed))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn look_at(&self, processor: usize) {
        let mut one = CpuSet::new();
        one.set(processor);
        // Where it is not granted, the processor that the thread happens to run on is looked at.
        let _ = sched_setaffinity(None::<Pid>, &one);
        let _priority = Priority::above();
        let clock = Clock::start();
        while !self.over.load(Ordering::Relaxed) {
            let begun = clock.now();
            std::thread::sleep(GLANCE);
            let late = clock.now().since(begun).saturating_sub(GLANCE);
            self.longest.fetch_max(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }
}

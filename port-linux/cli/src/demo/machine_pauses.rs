//! Measures the pauses of this machine: threads that are to be woken every millisecond record their delay, and the
//! kernel counts the time for which the demo's other threads waited for a processor.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use outrigger_wire::time::{Duration, Instant};

use outrigger::exit::Failure;
use outrigger::host::clock::{Clock, std_now};

/// The number of threads that measure pauses; a single one may happen to be scheduled well.
const THREADS: usize = 3;
/// The period in which each measuring thread is to be woken.
const EVERY: StdDuration = StdDuration::from_millis(1);
/// The time for which each measuring thread computes per wake-up while the demo's link limits are determined, equal to
/// that of a control loop that answers a robot. A thread that computes is delayed for longer than one that does
/// nothing.
const WORK: StdDuration = StdDuration::from_micros(60);
/// The shortest pause of this machine that is recorded.
const LEAST: Duration = Duration::from_millis(2);
/// The largest number of pauses of this machine that are recorded.
const KEPT: usize = 1 << 16;

/// A period in which this machine did not run a thread of the demo that was due, by the clock of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    pub(super) from: Instant,
    pub(super) until: Instant,
}

/// The recorded pauses of this machine, ordered by the times at which they end.
#[derive(Clone, Debug, Default)]
pub(super) struct Pauses(Vec<Pause>);

impl Pauses {
    /// Records a pause of this machine if it is at least [`LEAST`] long, and fewer than [`KEPT`] are recorded.
    pub(super) fn note(&mut self, pause: Pause) {
        if pause.until.since(pause.from) >= LEAST && self.0.len() < KEPT {
            self.0.push(pause);
        }
    }

    /// Returns the length of the longest pause of this machine between `from` and `until`. Of a pause that is only
    /// partly in that time, only that part counts. Pauses are not added up.
    pub(super) fn longest(&self, from: Instant, until: Instant) -> Duration {
        let parts = self.0.iter().map(|pause| pause.until.min(until).since(pause.from.max(from)));
        parts.max().unwrap_or_default()
    }

    /// Returns the part of the time between `from` and `until` that was taken by pauses of at least `least`. A state
    /// passes through several threads: if one waits for a processor after the other, their pauses add up. If they
    /// overlap, they count once.
    pub(super) fn covered(&self, from: Instant, until: Instant, least: Duration) -> Duration {
        let long = self.0.iter().filter(|pause| pause.until.since(pause.from) >= least);
        let mut parts: Vec<_> = long.map(|pause| (pause.from.max(from), pause.until.min(until))).collect();
        parts.sort_unstable();
        let (mut sum, mut reached) = (Duration::ZERO, from);
        for (begins, ends) in parts {
            sum = sum + ends.since(begins.max(reached));
            reached = reached.max(ends);
        }
        sum
    }

    /// Returns the highest jitter by RFC 3550 that the pauses cause at `at` on a link with states every `period`: the
    /// first state after a pause is late by the pause, the states after it catch up, and each change of the delay
    /// counts for a sixteenth, with less weight by a sixteenth at every later state.
    pub(super) fn jitter(&self, at: Instant, period: Duration) -> Duration {
        let mut parts: Vec<_> = self.0.iter().filter(|pause| pause.from < at).collect();
        parts.sort_unstable_by_key(|pause| pause.from);
        let (mut sum, mut reached) = (0.0, Instant::ZERO);
        for pause in parts {
            let until = pause.until.min(at);
            let added = until.since(pause.from.max(reached));
            let states = at.since(until).as_micros() as f64 / period.as_micros() as f64;
            sum += 2.0 * added.as_micros() as f64 * (15.0_f64 / 16.0).powf(states);
            reached = reached.max(until);
        }
        Duration::from_micros((sum / 16.0) as u64)
    }
}

/// A measurement of this machine's pauses by threads, from its start until it is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    clock: Clock,
    stop: AtomicBool,
    works: AtomicBool,
    seen: Mutex<Pauses>,
    /// The threads whose waiting times are read from the kernel.
    waits: Mutex<Vec<Waits>>,
}

impl Watch {
    /// Starts threads that measure the pauses of this machine, with as much computation per wake-up as a control loop
    /// has.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the system provides no thread.
    pub(super) fn start(clock: Clock) -> Result<Self, Failure> {
        let shared = Arc::new(Shared {
            clock,
            stop: AtomicBool::new(false),
            works: AtomicBool::new(true),
            seen: Mutex::default(),
            waits: Mutex::default(),
        });
        let mut watch = Self { shared, threads: vec![] };
        for number in 0..THREADS {
            let shared = Arc::clone(&watch.shared);
            let thread = std::thread::Builder::new().name(format!("pauses-{number}"));
            let thread = thread.spawn(move || shared.measure(number == 0));
            watch.threads.push(thread.map_err(|error| Failure::BadInput(format!("cannot start a thread: {error}")))?);
        }
        Ok(watch)
    }

    /// Adds threads to the measurement: this process's first thread and those with these `names`. Their waiting times
    /// for a processor are read from the kernel, if it counts them. The measuring threads compute nothing from now on.
    pub(super) fn look_at(&self, names: &[&str]) {
        self.shared.works.store(false, Ordering::Relaxed);
        let own = std::process::id().to_string();
        let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let named = threads.filter(|thread| {
            let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            *thread.file_name() == *own || names.contains(&name.trim_end())
        });
        let waits = named.filter_map(|thread| Waits::open(&thread.path().join("schedstat"))).collect();
        *self.shared.waits.lock().unwrap_or_else(PoisonError::into_inner) = waits;
    }

    /// Returns every pause of this machine recorded so far.
    pub(super) fn seen(&self) -> Pauses {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic has been printed by then; there is nothing to add.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn measure(&self, asks_the_kernel: bool) {
        outrigger::host::os::wake_promptly();
        // The time runs from the end of one turn to the end of the next, so that a pause within the work counts as
        // well.
        let mut before = std_now();
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(EVERY);
            let work = if self.works.load(Ordering::Relaxed) { WORK } else { StdDuration::ZERO };
            let woken = std_now();
            while woken.elapsed() < work {
                std::hint::spin_loop();
            }
            let late = before.elapsed().saturating_sub(EVERY + work);
            self.note(late);
            before = std_now();
            if asks_the_kernel {
                let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
                let longest = waits.iter_mut().map(Waits::since_last).max().unwrap_or_default();
                drop(waits);
                self.note(longest);
            }
        }
    }

    /// Records a pause of this length, in the system's time, that has just ended, if it is at least [`LEAST`] long in
    /// the session's time.
    fn note(&self, length: StdDuration) {
        let (until, length) = (self.clock.now(), self.clock.span(length));
        let from = Instant::from_micros(until.as_micros().saturating_sub(length.as_micros()));
        if length >= LEAST {
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).note(Pause { from, until });
        }
    }
}

/// The time for which a thread was ready to run and was not scheduled, as Linux counts it.
#[derive(Debug)]
struct Waits {
    file: File,
    /// The thread's total time of waiting for a processor at the last reading \[ns\].
    before: u64,
}

impl Waits {
    fn open(path: &std::path::Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let mut waits = Self { file, before: 0 };
        waits.before = waits.total()?;
        Some(waits)
    }

    /// Returns the time for which the thread has waited for a processor since the last call; zero if that cannot be
    /// read.
    fn since_last(&mut self) -> StdDuration {
        let Some(now) = self.total() else { return StdDuration::ZERO };
        let added = now.saturating_sub(self.before);
        self.before = now;
        StdDuration::from_nanos(added)
    }

    /// Returns the thread's total waiting time, the second number of `schedstat` \[ns\]; `None` if it cannot be read.
    fn total(&mut self) -> Option<u64> {
        let mut text = [0; 64];
        self.file.rewind().ok()?;
        let length = self.file.read(&mut text).ok()?;
        std::str::from_utf8(text.get(..length)?).ok()?.split_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(of: &[(u64, u64)]) -> Pauses {
        let mut pauses = Pauses::default();
        for (from, until) in of {
            pauses.note(Pause { from: at(*from), until: at(*until) });
        }
        pauses
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn only_what_lies_between_counts_and_nothing_is_added_up() {
        let pauses = pauses(&[(100, 130), (400, 401), (500, 520), (521, 560), (510, 530)]);
        let longest = |from, until| pauses.longest(at(from), at(until)).as_millis();
        assert_eq!(longest(0, 1_000), 39);
        assert_eq!((longest(0, 450), longest(110, 450), longest(140, 450)), (30, 20, 0));
        assert_eq!(longest(540, 1_000), 20);
    }

    #[test]
    fn pauses_one_after_the_other_add_up_and_those_at_once_do_not() {
        let pauses = pauses(&[(100, 130), (120, 140), (140, 150), (160, 164), (170, 200)]);
        let covered =
            |from, until, least| pauses.covered(at(from), at(until), Duration::from_millis(least)).as_millis();
        assert_eq!(covered(0, 1_000, 2), 84);
        assert_eq!(covered(0, 1_000, 10), 80, "short ones do not count");
        assert_eq!(covered(125, 180, 10), 35, "only what lies between");
        assert_eq!((covered(0, 100, 2), covered(300, 400, 2)), (0, 0));
    }

    #[test]
    fn jitter_fades_within_a_tenth_of_a_second() {
        let period = Duration::from_millis(2);
        let jitter = |of: &[(u64, u64)], millis| pauses(of).jitter(at(millis), period).as_micros();
        assert_eq!(jitter(&[(992, 1_000)], 1_000), 1_000, "8 ms, late and caught up, of sixteen states");
        assert_eq!(jitter(&[(992, 1_000)], 1_032), 356);
        assert!(jitter(&[(992, 1_000)], 1_100) < 50);
        assert_eq!(jitter(&[(992, 1_000), (994, 1_000), (995, 999)], 1_000), 1_000, "pauses at once count once");
        assert!(jitter(&[(952, 957), (964, 969), (976, 981), (988, 993)], 994) > 1_400);
        assert_eq!(jitter(&[(992, 1_000)], 992), 0, "not before it begins");
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn a_thread_that_is_put_off_is_seen_to_be() {
        let watch = Watch::start(Clock::start()).expect("threads");
        watch.look_at(&["pauses-0"]);
        std::thread::sleep(StdDuration::from_millis(20));
        // The other pauses of the machine in that time do not matter to the test; every pause ends after its
        // beginning.
        assert!(watch.seen().0.iter().all(|pause| pause.until.since(pause.from) >= LEAST));
    }
}

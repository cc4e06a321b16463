//! The times at which this machine ran nothing that was due. A virtual machine may pause for many milliseconds,
//! regardless of priority.

use std::collections::VecDeque;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

use crate::clock::Clock;
use crate::priority::Priority;

/// The interval at which each processor is checked for a standstill.
const GLANCE: Duration = Duration::from_millis(2);
/// The delay above which a standstill of a processor is recorded, because it disturbs a board's timing: a state is
/// due every 1–10 ms.
pub const TELLING: Duration = Duration::from_millis(5);
/// The highest number of standstills that are stored; a further one replaces the oldest.
const KEPT: usize = 4_096;

/// A span of time in which something was measured, for queries about standstills of this machine in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The time at which the span begins.
    pub from: Instant,
    /// The time at which the span ends.
    pub until: Instant,
}

impl Window {
    /// Returns the window extended by `span` into the past.
    #[must_use]
    pub fn and_before(self, span: Duration) -> Self {
        Self { from: self.from.checked_sub(span).unwrap_or(self.from), until: self.until }
    }
}

/// The standstills of all processors that were longer than [`TELLING`].
#[derive(Clone, Debug, Default)]
pub struct Standstills {
    list: VecDeque<Window>,
}

impl Standstills {
    /// Adds a span in which a processor ran nothing. A span no longer than [`TELLING`] is not added; if there are too
    /// many, the oldest is dropped.
    pub fn note(&mut self, span: Window) {
        if span.until.saturating_duration_since(span.from) > TELLING {
            if self.list.len() == KEPT {
                self.list.pop_front();
            }
            self.list.push_back(span);
        }
    }

    /// Returns the parts of the standstills that lie within `window`, by their beginning.
    fn within(&self, window: Window) -> Vec<Window> {
        let part = |span: &Window| Window { from: span.from.max(window.from), until: span.until.min(window.until) };
        let mut parts: Vec<Window> = self.list.iter().map(part).filter(|part| part.from < part.until).collect();
        parts.sort_unstable_by_key(|part| part.from);
        parts
    }

    /// Returns the length of the longest standstill within `window`, counting only the part inside it.
    #[must_use]
    pub fn longest(&self, window: Window) -> Duration {
        let spans = self.within(window).into_iter().map(|part| part.until - part.from);
        spans.max().unwrap_or_default()
    }

    /// Returns the time within `window` in which at least one processor stood still.
    #[must_use]
    pub fn total(&self, window: Window) -> Duration {
        let (mut total, mut counted) = (Duration::ZERO, window.from);
        for part in self.within(window) {
            total += part.until.saturating_duration_since(part.from.max(counted));
            counted = counted.max(part.until);
        }
        total
    }
}

/// Starts to record the standstills of this machine, at the first call only: one thread per processor requests to be
/// woken before all other programs, and records how late it was woken. Where that priority is granted, no other program
/// ran during this delay either.
///
/// # Panics
/// If the system cannot start threads.
pub fn watch() {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        let allowed = sched_getaffinity(None).expect("this program's processors");
        for processor in (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)) {
            let thread = std::thread::Builder::new().name(format!("watch {processor}"));
            thread.spawn(move || look_at(processor)).expect("a thread");
        }
    });
}

static SEEN: Mutex<Standstills> = Mutex::new(Standstills { list: VecDeque::new() });

/// Returns the standstills of this machine since the first call of [`watch`]. A standstill appears a moment after it
/// ended.
#[must_use]
pub fn seen() -> Standstills {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn look_at(processor: usize) {
    let mut one = CpuSet::new();
    one.set(processor);
    // If the processor cannot be selected, the processor on which the thread happens to run is checked.
    let _ = sched_setaffinity(None::<Pid>, &one);
    let _priority = Priority::above();
    let clock = Clock::start();
    let mut glances = Glances::default();
    loop {
        let due = clock.now() + GLANCE;
        std::thread::sleep(GLANCE);
        if let Some(window) = glances.woken(clock.window(due, clock.now())) {
            SEEN.lock().unwrap_or_else(PoisonError::into_inner).note(window);
        }
    }
}

/// The checks of one processor, by which standstills are found. Two consecutive late checks count as one standstill,
/// because between them the processor is only known to have run this thread for a moment.
#[derive(Debug, Default)]
struct Glances {
    /// The time since which every check of the processor was late; `None` if the last one was not.
    late_since: Option<Instant>,
}

impl Glances {
    /// Evaluates a check of the processor that was delayed for the window `late`. Returns the standstill that it shows,
    /// from the first of consecutive late checks on; `None` if the delay was too short.
    fn woken(&mut self, late: Window) -> Option<Window> {
        if late.until - late.from <= TELLING {
            self.late_since = None;
            return None;
        }
        let from = *self.late_since.get_or_insert(late.from);
        Some(Window { from, ..late })
    }
}

#[cfg(test)]
mod tests {
    use outrigger_sim::time::SimTime;

    use super::*;

    fn seen(of: &[(u64, u64)]) -> (Standstills, impl Fn(u64, u64) -> Window) {
        let clock = Clock::start();
        let window =
            move |from, until| clock.window(SimTime::from_micros(from * 1_000), SimTime::from_micros(until * 1_000));
        let mut seen = Standstills::default();
        of.iter().for_each(|(from, until)| seen.note(window(*from, *until)));
        (seen, window)
    }

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn only_what_lies_within_the_window_counts() {
        let (seen, window) = seen(&[(100, 132), (500, 512)]);
        assert_eq!((seen.longest(window(0, 1_000)), seen.total(window(0, 1_000))), (MS(32), MS(44)));
        assert_eq!((seen.longest(window(133, 499)), seen.total(window(133, 499))), (MS(0), MS(0)));
        assert_eq!((seen.longest(window(120, 505)), seen.total(window(120, 505))), (MS(12), MS(17)));
        assert_eq!(seen.longest(window(133, 499).and_before(MS(20))), MS(19));
    }

    #[test]
    fn glances_late_in_a_row_are_one_standstill() {
        let (_, window) = seen(&[]);
        let mut glances = Glances::default();
        let mut woken = |due, at| glances.woken(window(due, at)).map(|told| told.until - told.from);
        assert_eq!(
            [woken(2, 2), woken(4, 15), woken(17, 26), woken(28, 28), woken(30, 41)],
            [None, Some(MS(11)), Some(MS(22)), None, Some(MS(11))]
        );
    }

    #[test]
    fn processors_that_stand_still_together_are_counted_once() {
        let (seen, window) = seen(&[(100, 130), (110, 120), (120, 150), (150, 160)]);
        assert_eq!(seen.total(window(0, 1_000)), MS(60));
    }

    #[test]
    fn what_is_short_is_not_kept_and_of_too_many_the_oldest_are_not() {
        let (mut seen, window) = seen(&[(100, 105)]);
        assert_eq!(seen.total(window(0, 1_000)), MS(0));
        for at in 0..=KEPT as u64 {
            seen.note(window(at * 10, at * 10 + 6));
        }
        assert_eq!((seen.list.len(), seen.total(window(0, 8))), (KEPT, MS(0)));
    }
}

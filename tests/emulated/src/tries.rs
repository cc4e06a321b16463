//! Runs tests in real time on a machine that may stand still meanwhile: tries them again, and allows for standstills.
//!
//! A measurement names its window, and only a standstill inside that window affects it. For a measured time, the length
//! of the standstill is allowed in addition ([`within`]). A fallback that a standstill was long enough to cause is
//! excused ([`falls_back_for`]). Only what a standstill prevents from beginning at all ([`late`]) is tried again. The
//! motion of the arm and the reason for it are never excused. Each second try and each excuse is printed, and added as
//! a line to the file that `OUTRIGGER_TRIES` names.

use std::cell::RefCell;
use std::fmt::{self, Display, Formatter};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::panic::{RefUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use outrigger_core::robot::Reason;

use crate::machine_standstills::{self, TELLING, Window};
use crate::priority::Priority;

/// The highest number of times that a test is tried.
const ATTEMPTS: u32 = 3;
/// The number of tests of a program that are tried at once: each waits most of its time, and needs to be woken when it
/// is due.
const AT_ONCE: usize = 3;
/// The time by which the window of a measurement is extended into the past, because a machine that stood still before
/// the window is still behind in it.
const BEFORE: Duration = Duration::from_millis(20);
/// The environment variable with the path of the file to which each second try of a test and each excused measurement
/// is added.
const FILE: &str = "OUTRIGGER_TRIES";

/// The reasons of a fallback that a machine which stands still can cause in a device on it. All of them mean that
/// something arrived too late.
pub const LATENESS: [Reason; 7] = [
    Reason::LocalStall,
    Reason::StateStale,
    Reason::StatesMissed,
    Reason::Unacknowledged,
    Reason::SourceStale,
    Reason::LeftCommand,
    Reason::MoveUnseen,
];

/// Returns `true` if the text of a program, `said`, names one of [`LATENESS`] in brackets, as programs do.
#[must_use]
pub fn names_lateness(said: &str) -> bool {
    LATENESS.iter().any(|reason| said.contains(&format!("({})", reason.name())))
}

/// The payload of the unwinding by which [`late`] ends a try.
struct Late {
    window: Window,
    told: String,
}

/// Checks that a condition of a test holds; if it does not, reports that something arrived too late in `window`.
pub fn in_time(window: Window, holds: bool, told: impl FnOnce() -> String) {
    if !holds {
        late(window, told());
    }
}

/// Reports that something other than a motion arrived too late in `window`, or not at all. The test is tried again if
/// the machine stood still there.
pub fn late(window: Window, told: String) -> ! {
    // A panic would be reported before it is known whether it counts, so this unwinds without one.
    resume_unwind(Box::new(Late { window, told }))
}

/// The effect of a standstill of the machine on a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The measurement is within its limits.
    Holds,
    /// The measurement is not within its limits, and the machine stood still for this time, which excuses it.
    Excused(Duration),
    /// The measurement is not within its limits, and nothing excuses it.
    Fails,
}

impl Verdict {
    /// Judges a time that may be up to `bound`, on a machine that stood still for `stood` in total meanwhile.
    #[must_use]
    pub fn of_time(took: Duration, bound: Duration, stood: Duration) -> Self {
        if took <= bound {
            Self::Holds
        } else if took <= bound + stood {
            Self::Excused(stood)
        } else {
            Self::Fails
        }
    }

    /// Judges a fallback with the text `said`. It holds for a reason in `expected`. It is excused for a reason in
    /// `excused` if the machine stood still for `stood` at a stretch and `stood` is at least `least`, the duration that
    /// can cause it.
    #[must_use]
    pub fn of_reason(said: &str, expected: &[Reason], excused: &[Reason], stood: Duration, least: Duration) -> Self {
        // The log of a board names the reason alone, other programs in brackets.
        let mut words = said.split(|c: char| !c.is_ascii_alphanumeric());
        let named = words.find_map(|word| Reason::ALL.iter().find(|reason| reason.name() == word));
        match named {
            Some(reason) if expected.contains(reason) => Self::Holds,
            Some(reason) if excused.contains(reason) && stood >= least => Self::Excused(stood),
            _ => Self::Fails,
        }
    }

    /// Returns `true` unless the measurement fails; an excuse is printed and counted.
    #[must_use]
    pub fn passes(self, what: &str) -> bool {
        if let Self::Excused(stood) = self {
            Note { again: false, test: NAME.with_borrow(Clone::clone), what: what.into(), stood }.tell();
        }
        self != Self::Fails
    }
}

/// Checks that `took` is within `bound`, extended by the total standstill of the machine in `window`.
///
/// # Panics
/// If it is longer.
pub fn within(what: &str, took: Duration, bound: Duration, window: Window, story: impl FnOnce() -> String) {
    let stood = machine_standstills::seen().total(window);
    let told = format!("{what}: {took:?} (bound {bound:?})");
    assert!(
        Verdict::of_time(took, bound, stood).passes(&told),
        "{told}, the machine stood still for {stood:?}\n{}",
        story()
    );
}

/// Checks that a fallback with the text `said` names one of `expected`, or `LocalStall` if the machine stood still for
/// `least` at a stretch in `window`.
///
/// # Panics
/// If it names neither.
pub fn falls_back_for(
    said: &str,
    expected: &[Reason],
    window: Window,
    least: Duration,
    story: impl FnOnce() -> String,
) {
    let stood = machine_standstills::seen().longest(window);
    let verdict = Verdict::of_reason(said, expected, &[Reason::LocalStall], stood, least);
    assert!(
        verdict.passes(said),
        "{said}: expected one of {expected:?}, the machine stood still for {stood:?}\n{}",
        story()
    );
}

/// Judges a fallback that the test did not cause: excused if it is one of [`LATENESS`] and the machine stood still for
/// `least` at a stretch in `window`.
#[must_use]
pub fn nobodys_fallback(said: &str, window: Window, least: Duration) -> Verdict {
    let stood = machine_standstills::seen().longest(window);
    let verdict = Verdict::of_reason(said, &[], &LATENESS, stood, least);
    if verdict == Verdict::Fails {
        println!("{said}: the machine stood still for {stood:?} before it, and {least:?} would excuse it");
    }
    verdict
}

/// A record of a second try or of an excuse.
struct Note {
    again: bool,
    test: String,
    what: String,
    stood: Duration,
}

impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { again, test, what, stood } = self;
        let kind = if *again { "again" } else { "excused" };
        let what = what.lines().next().unwrap_or_default().replace('\t', " ");
        write!(f, "{kind}\t{test}\t{what}\tthe machine stood still for {:.1} ms", stood.as_secs_f64() * 1e3)
    }
}

impl Note {
    fn tell(&self) {
        println!("{self}");
        if let Some(file) = std::env::var_os(FILE) {
            self.count(Path::new(&file)).unwrap_or_else(|error| panic!("{}: {error}", Path::new(&file).display()));
        }
    }

    fn count(&self, file: &Path) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(file)?.write_all(format!("{self}\n").as_bytes())
    }
}

thread_local! {
    /// The name of the test that this thread runs.
    static NAME: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Sets the name of the test that this thread runs, so that its excuses are attributed to it, and starts to measure
/// standstills.
pub fn runs(name: &str) {
    machine_standstills::watch();
    NAME.set(name.into());
}

/// Runs the body of a test in real time, together with at most two other tests of this program. If the body reports
/// lateness and the machine stood still, runs it again, up to two times.
///
/// # Panics
/// If the body panics. If the body arrives too late without a standstill of a processor, or in each try.
pub fn attempt(name: &str, body: impl Fn() + RefUnwindSafe) {
    let _seat = Seat::wait_for();
    runs(name);
    judge(
        || catch_unwind(&body),
        |window| machine_standstills::seen().longest(window),
        |what, stood| Note { again: true, test: name.into(), what: what.into(), stood }.tell(),
    );
}

/// A place among the tests that run at the same time; it is released when dropped.
struct Seat;

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

impl Seat {
    fn wait_for() -> Self {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = FREED.wait_while(taken, |taken| *taken >= AT_ONCE).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Self
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        FREED.notify_one();
    }
}

/// Runs a test of the built-in harness like [`attempt`]. If granted, programs that it starts have priority over others:
/// then only the machine itself can delay it.
///
/// # Panics
/// If [`attempt`] panics.
pub fn attempt_first(body: fn()) {
    let _priority = Priority::ask();
    attempt(std::thread::current().name().unwrap_or_default(), body);
}

/// Executes a try of a test until it does not report lateness, at most [`ATTEMPTS`] times, and only if the machine
/// stood still. Calls `again` before each repetition.
fn judge(
    mut each: impl FnMut() -> std::thread::Result<()>,
    stood: impl Fn(Window) -> Duration,
    mut again: impl FnMut(&str, Duration),
) {
    for left in (0..ATTEMPTS).rev() {
        let Err(thrown) = each() else { return };
        let Late { window, told } = *thrown.downcast::<Late>().unwrap_or_else(|other| resume_unwind(other));
        let stood = stood(window.and_before(BEFORE));
        println!("{told}\na processor stood still for {stood:?} in that window");
        assert!(left > 0 && stood > TELLING, "{told}");
        again(&told, stood);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use outrigger_sim::time::SimTime;

    use super::*;
    use crate::clock::Clock;
    use crate::machine_standstills::Standstills;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn at(clock: Clock, from: u64, until: u64) -> Window {
        clock.window(SimTime::from_micros(from * 1_000), SimTime::from_micros(until * 1_000))
    }

    /// Runs `body` as a test on a machine that stood still from 100 ms to 112 ms. Returns the number of tries, whether
    /// the last one passed, and the number of repetitions that were reported.
    fn tried(body: impl Fn(Clock, u32)) -> (u32, bool, usize) {
        let clock = Clock::start();
        let mut standstills = Standstills::default();
        standstills.note(at(clock, 100, 112));
        let (mut count, mut told) = (0, 0);
        let once = || {
            count += 1;
            catch_unwind(AssertUnwindSafe(|| body(clock, count)))
        };
        let judged = || judge(once, |window| standstills.longest(window), |_, _| told += 1);
        let passed = catch_unwind(AssertUnwindSafe(judged)).is_ok();
        (count, passed, told)
    }

    #[test]
    fn what_came_too_late_is_tried_again_where_the_machine_stood_still_in_its_window() {
        assert_eq!(tried(|clock, count| in_time(at(clock, 90, 200), count == 2, || "late".into())), (2, true, 1));
        assert_eq!(tried(|clock, _| late(at(clock, 90, 200), "each time".into())), (3, false, 2));
    }

    #[test]
    fn a_standstill_shortly_before_the_window_counts_and_one_elsewhere_does_not() {
        assert_eq!(tried(|clock, count| in_time(at(clock, 113, 200), count == 2, || "late".into())), (2, true, 1));
        assert_eq!(tried(|clock, count| in_time(at(clock, 133, 200), count == 2, || "late".into())), (1, false, 0));
        assert_eq!(tried(|clock, count| in_time(at(clock, 0, 99), count == 2, || "late".into())), (1, false, 0));
    }

    #[test]
    fn what_nothing_may_spoil_fails_the_first_time() {
        assert_eq!(tried(|_, count| assert_eq!(count, 2, "a motion nobody asked for")), (1, false, 0));
    }

    #[test]
    fn a_time_is_allowed_exactly_what_the_machine_stood_still() {
        assert_eq!(Verdict::of_time(MS(400), MS(400), MS(32)), Verdict::Holds);
        assert_eq!(Verdict::of_time(MS(432), MS(400), MS(32)), Verdict::Excused(MS(32)));
        assert_eq!(Verdict::of_time(MS(433), MS(400), MS(32)), Verdict::Fails);
        assert_eq!(Verdict::of_time(MS(401), MS(400), MS(0)), Verdict::Fails);
    }

    #[test]
    fn a_reason_is_one_of_those_expected_or_one_that_a_standstill_was_long_enough_for() {
        let of = |said: &str, stood| {
            Verdict::of_reason(said, &[Reason::LinkClosed], &[Reason::LocalStall], MS(stood), MS(20))
        };
        assert_eq!(of("fallback: LinkClosed, no connection to the controller", 0), Verdict::Holds);
        assert_eq!(of("fallback: LocalStall, this device itself stood still", 20), Verdict::Excused(MS(20)));
        assert_eq!(of("fallback: LocalStall, this device itself stood still", 19), Verdict::Fails);
        assert_eq!(of("fallback: StateStale, the newest robot state is too old", 500), Verdict::Fails);
        assert_eq!(of("something else", 500), Verdict::Fails);
        assert!(!Verdict::Fails.passes("a reason is not tried again"));
    }

    #[test]
    fn a_line_is_written_for_each() {
        let file = std::env::temp_dir().join(format!("outrigger-tries-{}", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let note = |again, what: &str| Note { again, test: "a_test".into(), what: what.into(), stood: MS(32) };
        note(true, "not armed:\nand so on").count(&file).unwrap();
        note(false, "fallback:\tLocalStall").count(&file).unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(
            written,
            "again\ta_test\tnot armed:\tthe machine stood still for 32.0 ms\n\
             excused\ta_test\tfallback: LocalStall\tthe machine stood still for 32.0 ms\n"
        );
    }
}

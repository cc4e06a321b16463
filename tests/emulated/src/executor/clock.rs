//! The time driver of `embassy-time` in tests: virtual time, separate for each test thread.

use std::cell::RefCell;
use std::task::Waker;

use embassy_time_driver::{Driver, time_driver_impl};
use outrigger_sim::time::SimTime;
use outrigger_wire::time::Instant;

/// The uptime of the board when the simulation begins \[µs\]. It is not zero, so that a test fails if it confuses the
/// board's clock with the simulation's.
const UPTIME: u64 = 7_000_000;

/// The virtual clock of a simulated board, and the tasks that sleep on it.
#[derive(Default)]
struct Clock {
    micros: u64,
    /// The tasks with the earliest time to wake each of them \[µs\], as in an executor's own queue.
    sleepers: Vec<(u64, Waker)>,
}

thread_local! {
    static CLOCK: RefCell<Clock> = RefCell::default();
}

struct Virtual;

time_driver_impl!(static DRIVER: Virtual = Virtual);

impl Driver for Virtual {
    fn now(&self) -> u64 {
        CLOCK.with_borrow(|clock| clock.micros)
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        CLOCK.with_borrow_mut(|clock| match clock.sleepers.iter_mut().find(|(_, known)| known.will_wake(waker)) {
            Some((earliest, _)) => *earliest = at.min(*earliest),
            None => clock.sleepers.push((at, waker.clone())),
        });
    }
}

/// Begins a new simulation on this thread: resets its virtual clock, and forgets all sleeping tasks.
pub fn begin() {
    CLOCK.set(Clock { micros: UPTIME, sleepers: vec![] });
}

/// Sets the time to `now` and wakes the tasks that are due.
pub fn advance(now: SimTime) {
    let due: Vec<Waker> = CLOCK.with_borrow_mut(|clock| {
        clock.micros = UPTIME + now.as_micros();
        let micros = clock.micros;
        clock.sleepers.extract_if(.., |(at, _)| *at <= micros).map(|(_, waker)| waker).collect()
    });
    due.iter().for_each(Waker::wake_by_ref);
}

/// Returns the present time of the simulation on this thread.
#[must_use]
pub fn now() -> SimTime {
    SimTime::from_micros(CLOCK.with_borrow(|clock| clock.micros).saturating_sub(UPTIME))
}

/// Returns the time of the next wake-up; [`SimTime::MAX`] if there is none.
#[must_use]
pub fn next_alarm() -> SimTime {
    let next = CLOCK.with_borrow(|clock| clock.sleepers.iter().map(|(at, _)| *at).min());
    next.map_or(SimTime::MAX, |at| SimTime::from_micros(at.saturating_sub(UPTIME)))
}

/// Converts a time on the board's clock to the simulation's clock, which begins at zero.
#[must_use]
pub fn sim_time(at: Instant) -> SimTime {
    SimTime::from_micros(at.as_micros().saturating_sub(UPTIME))
}

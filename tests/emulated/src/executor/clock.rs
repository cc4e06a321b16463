//! The time driver of `embassy-time` in tests: virtual, and each test thread's own.

use std::cell::RefCell;
use std::task::Waker;

use embassy_time_driver::{Driver, time_driver_impl};
use outrigger_sim::time::SimTime;
use outrigger_wire::time::Instant;

/// The board has been running for a while when the simulation begins: nothing may depend on where either begins.
const UPTIME: u64 = 7_000_000;

/// One clock, and who waits on it.
#[derive(Default)]
struct Clock {
    micros: u64,
    /// The earliest time each task is to be woken at, as in an executor's own queue.
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

/// A new simulation begins on this thread.
pub fn begin() {
    CLOCK.set(Clock { micros: UPTIME, sleepers: vec![] });
}

/// It is `now`: wakes who waited for it.
pub fn advance(now: SimTime) {
    let due: Vec<Waker> = CLOCK.with_borrow_mut(|clock| {
        clock.micros = UPTIME + now.as_micros();
        let micros = clock.micros;
        clock.sleepers.extract_if(.., |(at, _)| *at <= micros).map(|(_, waker)| waker).collect()
    });
    due.iter().for_each(Waker::wake_by_ref);
}

/// Returns the time of this thread's simulation.
#[must_use]
pub fn now() -> SimTime {
    SimTime::from_micros(CLOCK.with_borrow(|clock| clock.micros).saturating_sub(UPTIME))
}

/// When somebody is to be woken next.
#[must_use]
pub fn next_alarm() -> SimTime {
    let next = CLOCK.with_borrow(|clock| clock.sleepers.iter().map(|(at, _)| *at).min());
    next.map_or(SimTime::MAX, |at| SimTime::from_micros(at.saturating_sub(UPTIME)))
}

/// The board's time, on the simulation's clock.
#[must_use]
pub fn sim_time(at: Instant) -> SimTime {
    SimTime::from_micros(at.as_micros().saturating_sub(UPTIME))
}

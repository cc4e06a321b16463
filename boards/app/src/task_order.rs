//! The order in which ready tasks run: the control loop, then the network, then the rest in their order.
//!
//! A task is never interrupted by another. Before the control loop can run, only the poll that is in progress and
//! interrupts can run; before the network, also a poll of the control loop. A network that is always ready, as under a
//! flood, would keep the other tasks from running, among them the contacts that stop the arm. Therefore the network
//! gets the priority of the rest if no task of the rest has run for a while.

use core::future::poll_fn;
use core::pin::pin;
use core::sync::atomic::{AtomicU32, Ordering};

use embassy_time::{Duration, Instant, Ticker};

/// The priority of the control loop. The executor runs the highest priority first.
pub const CONTROL: u8 = 2;
/// The priority of the tasks that process network frames, as long as the other tasks get their turns.
pub const NETWORK: u8 = 1;
/// The executor's priority of all tasks except control loop and network.
pub const REST: u8 = 0;

/// The period in which the lowest-priority task records that it has run.
const LOOK: Duration = Duration::from_millis(5);
/// The longest time that the other tasks wait for the network's tasks: ten cycles of the fastest UR controller.
const PATIENCE: Duration = Duration::from_millis(20);

/// The time at which a task of the lowest priority last ran.
#[derive(Debug, Default)]
pub struct Turns {
    /// The time at which a task of the lowest priority last ran \[ms\], wrapping.
    last: AtomicU32,
}

impl Turns {
    /// Returns the record of turns at the start of the clock: a turn of the lowest priority at time zero.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: AtomicU32::new(0) }
    }

    /// Records repeatedly the time at which a task of the lowest priority runs; never returns. Run it as a separate
    /// task with priority [`REST`].
    pub async fn note(&self) -> ! {
        let mut ticker = Ticker::every(LOOK);
        loop {
            self.noted(Instant::now());
            ticker.next().await;
        }
    }

    /// Runs a task of the network, and sets its executor priority for the next turn with `set`.
    pub async fn give_way<F: Future>(&self, network: F, set: impl Fn(u8)) -> F::Output {
        let mut network = pin!(network);
        poll_fn(|context| {
            set(self.network(Instant::now()));
            network.as_mut().poll(context)
        })
        .await
    }

    fn noted(&self, now: Instant) {
        self.last.store(millis(now), Ordering::Relaxed);
    }

    /// Returns the executor's priority for the network's tasks at `now`: [`NETWORK`], or [`REST`] if the other tasks
    /// have not run for longer than [`PATIENCE`].
    fn network(&self, now: Instant) -> u8 {
        let since = millis(now).wrapping_sub(self.last.load(Ordering::Relaxed));
        if u64::from(since) <= PATIENCE.as_millis() { NETWORK } else { REST }
    }
}

const fn millis(at: Instant) -> u32 {
    // Only differences matter.
    at.as_millis() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn the_network_goes_before_the_rest_until_that_has_waited_for_its_turn() {
        let turns = Turns::new();
        // The clock's milliseconds wrap after 49 days.
        for begin in [0, 1_000, (1 << 32) - 10] {
            turns.noted(at(begin));
            assert_eq!([0, 5, 20].map(|later| turns.network(at(begin + later))), [NETWORK; 3]);
            assert_eq!([21, 50, 100_000].map(|later| turns.network(at(begin + later))), [REST; 3]);
            turns.noted(at(begin + 30));
            assert_eq!(turns.network(at(begin + 40)), NETWORK, "the rest has had it");
        }
    }

    /// Simulates an executor with priorities, as embassy's: the highest first, and among equals the one that has waited
    /// longest. A turn takes a millisecond. The control loop is ready every 3 ms, every other task always.
    #[test]
    fn under_a_flood_the_rest_has_all_its_turns_in_time_and_the_control_loop_always_goes_first() {
        let turns = Turns::new();
        // The control loop is ready every 3 ms; the network, three tasks of the rest, and the one that notes turns
        // always.
        let (mut queue, mut network) = (vec![("network", NETWORK), ("a", REST), ("b", REST), ("notes", REST)], 0);
        let (mut last_of_a, mut longest) = (0, 0);
        for now in 0..10_000 {
            if now % 3 == 0 {
                queue.push(("control", CONTROL));
            }
            // The first one with the highest priority.
            let highest = queue.iter().map(|(_, priority)| *priority).max().unwrap();
            let next = queue.iter().position(|(_, priority)| *priority == highest).unwrap();
            let (task, _) = queue.remove(next);
            assert_eq!(task == "control", now % 3 == 0, "at once");
            match task {
                "network" => {
                    network += 1;
                    queue.push((task, turns.network(at(now))));
                }
                "notes" => {
                    turns.noted(at(now));
                    queue.push((task, REST));
                }
                "a" => {
                    longest = longest.max(now - last_of_a);
                    last_of_a = now;
                    queue.push((task, REST));
                }
                "b" => queue.push((task, REST)),
                _ => {}
            }
        }
        longest = longest.max(10_000 - last_of_a);
        assert!(longest <= 2 * PATIENCE.as_millis(), "{longest} ms without a turn");
        assert!(network > 4_000, "{network} of 10 000 turns are the network's");
    }
}

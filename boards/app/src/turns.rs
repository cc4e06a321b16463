//! The order of tasks that are ready: the control loop, then the network, then the rest in their order.
//!
//! A task is never interrupted by another, so that what can run before the control loop is the one poll that is under way, and
//! interrupts; before the network, that and a poll of the control loop. A network that is always ready, as under a flood, would keep the
//! rest from its turn, contacts that stop the arm among it: where nothing of the rest has run for a while, the network takes its
//! turn with it.

use core::future::poll_fn;
use core::pin::pin;
use core::sync::atomic::{AtomicU32, Ordering};

use embassy_time::{Duration, Instant, Ticker};

/// Priority of the control loop; the executor runs the highest first.
pub const CONTROL: u8 = 2;
/// Priority of the tasks that carry frames, while the rest has its turns.
pub const NETWORK: u8 = 1;
/// Priority of all others.
pub const REST: u8 = 0;

/// The rest looks at the time so often.
const LOOK: Duration = Duration::from_millis(5);
/// The rest waits so long for the network, ten cycles of the fastest UR controller.
const PATIENCE: Duration = Duration::from_millis(20);

/// The time of the rest's last turn.
#[derive(Debug, Default)]
pub struct Turns {
    /// In ms of the clock, which wrap.
    last: AtomicU32,
}

impl Turns {
    /// Returns the state at the start of the clock.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: AtomicU32::new(0) }
    }

    /// Notes that the rest has its turn; a task of its own with priority [`REST`], for ever.
    pub async fn note(&self) -> ! {
        let mut ticker = Ticker::every(LOOK);
        loop {
            self.noted(Instant::now());
            ticker.next().await;
        }
    }

    /// Runs a task of the network, whose priority `set` changes: that of its next turn.
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

    /// Returns the network's priority.
    fn network(&self, now: Instant) -> u8 {
        let since = millis(now).wrapping_sub(self.last.load(Ordering::Relaxed));
        if u64::from(since) <= PATIENCE.as_millis() { NETWORK } else { REST }
    }
}

const fn millis(at: Instant) -> u32 {
    // Differences are what counts.
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

    /// An executor's rule, as embassy's is with priorities: the highest first, and among equals the one that has waited longest. Every
    /// task is always ready, and a turn takes a millisecond.
    #[test]
    fn under_a_flood_the_rest_has_all_its_turns_in_time_and_the_control_loop_always_goes_first() {
        let turns = Turns::new();
        // The loop, ready every 3 ms; the network, always; three tasks of the rest, always; and the one that notes.
        let (mut queue, mut network) = (vec![("network", NETWORK), ("a", REST), ("b", REST), ("notes", REST)], 0);
        let (mut last_of_a, mut longest) = (0, 0);
        for now in 0..10_000 {
            if now % 3 == 0 {
                queue.push(("control", CONTROL));
            }
            // The first of the highest.
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

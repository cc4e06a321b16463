//! Parts that the integration tests share: the oracle, runs in virtual time, a scripted controller, and asking for what a plain machine may lack.
#![forbid(unsafe_code)]

pub mod board;
pub mod comparison;
pub mod cosim;
pub mod fri;
pub mod noise;
#[path = "../oracle/mod.rs"]
pub mod oracle;
#[path = "../../core/examples/peer/mod.rs"]
pub mod scripted;
pub mod settings;

pub use outrigger_emulated::require;

use outrigger_core::engine::Event;
use outrigger_core::mode::{Channel, Refusal};
use outrigger_core::robot::Reason;

/// A request by a message was refused for `reason`.
#[must_use]
pub const fn refused<E>(reason: Reason) -> Event<E> {
    Event::Refused(Refusal::of_request(Channel::Message, reason))
}

/// `make` of every item, on as many threads as there are processors; the results are in the order of the items.
///
/// # Panics
/// Where `make` does.
pub fn in_parallel<T: Copy + Send + Sync, R: Send>(items: &[T], make: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let make = &make;
        // Some items take more time than others: each thread has some of all.
        let workers: Vec<_> = (0..threads)
            .map(|first| {
                let share = items.iter().enumerate().skip(first).step_by(threads);
                scope.spawn(move || share.map(|(at, item)| (at, make(*item))).collect::<Vec<(usize, R)>>())
            })
            .collect();
        let mut made: Vec<(usize, R)> = workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        made.sort_by_key(|(at, _)| *at);
        made.into_iter().map(|(_, result)| result).collect()
    })
}

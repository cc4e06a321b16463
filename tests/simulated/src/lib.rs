//! The code that simulated tests share: the oracle, runs in virtual time, a scripted controller, and the check for
//! prerequisites that a plain machine may lack.
#![forbid(unsafe_code)]

pub mod board;
pub mod comparison;
pub mod cosim;
pub mod fri;
#[path = "../../../core/examples/peer/mod.rs"]
pub mod scripted;
pub mod settings;

pub use outrigger_emulated::require;
pub use outrigger_oracle as oracle;
pub use outrigger_oracle::noise;

use outrigger_core::engine::Event;
use outrigger_core::mode::{Channel, Refusal};
use outrigger_core::robot::Reason;

/// Returns the event of a request by message that was rejected for `reason`.
#[must_use]
pub const fn refused<E>(reason: Reason) -> Event<E> {
    Event::Refused(Refusal::of_request(Channel::Message, reason))
}

/// Applies `make` to every item, on as many threads as there are processors. The results are in the order of the
/// items.
///
/// # Panics
/// If `make` panics.
pub fn in_parallel<T: Copy + Send + Sync, R: Send>(items: &[T], make: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let make = &make;
        // Some items take longer than others: each thread takes every n-th item.
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

//! The progress of a consumer that takes entries out of a feed: a recorder, or a ROS 2 node.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The progress of a consumer of a feed: messages and bytes written, entries lost, failure. It can be read from any
/// thread.
#[derive(Debug)]
pub struct Progress {
    /// The word for the action of a feed's consumer on each message, such as `recorded`.
    done: &'static str,
    messages: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    failed: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Default for Progress {
    fn default() -> Self {
        Self::of("recorded")
    }
}

impl Progress {
    /// Creates the progress of a consumer of a feed, which is displayed with the word `done`, such as `recorded`.
    pub const fn of(done: &'static str) -> Self {
        Self {
            done,
            messages: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
        }
    }

    /// Returns the number of messages that the consumer of the feed has written.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Returns the size of the messages that the consumer of the feed has written, before compression \[B\].
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of feed entries that were lost because the consumer wrote too slowly.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Returns `true` if the consumer of the feed has ended because it failed to write.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Returns the reason why the consumer of the feed failed to write. `None` if it did not fail.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores that the consumer of the feed failed to write, for the reason `why`.
    pub fn fail(&self, why: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        self.failed.store(true, Ordering::Release);
    }

    /// Stores the consumer's totals: messages and bytes written, and feed entries lost.
    pub fn note(&self, messages: u64, bytes: u64, lost: u64) {
        self.messages.store(messages, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.lost.store(lost, Ordering::Relaxed);
    }

    /// Returns the rows about the consumer's progress for a live display, such as `recorded` and `12 messages, 0.1 MB`.
    pub(crate) fn shown(&self) -> Vec<(String, String)> {
        let megabytes = self.bytes() as f64 / 1e6;
        let mut shown = vec![(self.done.to_owned(), format!("{} messages, {megabytes:.1} MB", self.messages()))];
        if self.lost() > 0 {
            shown.push(("entries lost".to_owned(), self.lost().to_string()));
        }
        shown
    }
}

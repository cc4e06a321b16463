//! How far somebody is who takes entries out of a feed: a recorder, or a node of ROS 2.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a recorder is; read from any thread.
#[derive(Debug)]
pub struct Progress {
    /// What becomes of a message, in a word.
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
    /// Of somebody whose messages are `done` so.
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

    /// Messages written.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Their bytes, before compression.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Entries that were lost, because the file could not be written as fast.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Whether nothing more is written.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Why nothing more is written.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that nothing more is written, for this reason.
    pub fn fail(&self, why: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        self.failed.store(true, Ordering::Release);
    }

    /// So much is written, and so much lost.
    pub fn note(&self, messages: u64, bytes: u64, lost: u64) {
        self.messages.store(messages, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.lost.store(lost, Ordering::Relaxed);
    }

    /// What is shown of it beside a session.
    pub(crate) fn shown(&self) -> Vec<(String, String)> {
        let megabytes = self.bytes() as f64 / 1e6;
        let mut shown = vec![(self.done.to_owned(), format!("{} messages, {megabytes:.1} MB", self.messages()))];
        if self.lost() > 0 {
            shown.push(("entries lost".to_owned(), self.lost().to_string()));
        }
        shown
    }
}

//! Wakes the control loop after a request was queued. While nothing is queued, a check costs the loop one atomic
//! load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

/// A flag with a waker. The thread of requests sets it after it has queued a request for the control loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Notify(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    rung: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Notify {
    /// Sets the flag and wakes the control loop, after a request was queued.
    pub(super) fn ring(&self) {
        self.0.rung.store(true, Ordering::SeqCst);
        if let Ok(waker) = self.0.waker.lock()
            && let Some(waker) = &*waker
        {
            waker.wake_by_ref();
        }
    }

    /// Returns `true` if the flag is set: a request to the control loop may be in the queue.
    pub(super) fn is_rung(&self) -> bool {
        self.0.rung.load(Ordering::SeqCst)
    }

    /// Clears the flag after the queues of requests were found empty. The caller must check them once more, because a
    /// request may have been queued in the meantime.
    pub(super) fn still(&self) {
        self.0.rung.store(false, Ordering::SeqCst);
    }

    /// Stores the waker of the control loop, unless it is the one in `known`.
    pub(super) fn wake(&self, known: &mut Option<Waker>, context: &Context<'_>) {
        if known.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            return;
        }
        // Happens once in a run, because the loop waits with a single waker. Other threads hold this lock only for a
        // wake-up.
        if let Ok(mut waker) = self.0.waker.lock() {
            *waker = Some(context.waker().clone());
            *known = Some(context.waker().clone());
        }
    }
}

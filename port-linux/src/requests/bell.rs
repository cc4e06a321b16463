//! Wakes the loop where something was asked. A look at it while nothing was costs the loop one load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

/// Rung by the thread of requests, after what was asked is in its lane.
#[derive(Clone, Debug, Default)]
pub(super) struct Bell(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    rung: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Bell {
    /// Something is in a lane.
    pub(super) fn ring(&self) {
        self.0.rung.store(true, Ordering::SeqCst);
        if let Ok(waker) = self.0.waker.lock()
            && let Some(waker) = &*waker
        {
            waker.wake_by_ref();
        }
    }

    /// Whether something may be in a lane.
    pub(super) fn is_rung(&self) -> bool {
        self.0.rung.load(Ordering::SeqCst)
    }

    /// Nothing was in a lane: to be looked at once more, because somebody may have rung meanwhile.
    pub(super) fn still(&self) {
        self.0.rung.store(false, Ordering::SeqCst);
    }

    /// Whom to wake, unless that is known: what it was is in `known`.
    pub(super) fn wake(&self, known: &mut Option<Waker>, context: &Context<'_>) {
        if known.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            return;
        }
        // Once in a run: it waits in one call of the kernel, with one waker. Held elsewhere for no longer than a wake-up.
        if let Ok(mut waker) = self.0.waker.lock() {
            *waker = Some(context.waker().clone());
            *known = Some(context.waker().clone());
        }
    }
}

//! The board's executor: tasks that are polled where something woke them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

/// Nothing should need this many rounds without time passing.
pub const BUSY: u32 = 10_000;

/// One task.
pub struct Task {
    /// `None` once it has ended.
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    woken: Arc<Flag>,
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Task {
    /// Polled with the others from now on.
    pub fn new(future: impl Future<Output = ()> + 'static) -> Self {
        Self { future: Some(Box::pin(future)), woken: Arc::new(Flag(AtomicBool::new(true))) }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.future.is_none()
    }

    /// Polls it if something has woken it; says whether it was.
    fn run(&mut self) -> bool {
        let Some(future) = self.future.as_mut().filter(|_| self.woken.0.swap(false, Ordering::Relaxed)) else {
            return false;
        };
        let waker = Waker::from(Arc::clone(&self.woken));
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            self.future = None;
        }
        true
    }
}

/// Polls each that something has woken; says whether there was one.
pub fn run_all(tasks: &mut [Task]) -> bool {
    tasks.iter_mut().fold(false, |busy, task| task.run() | busy)
}

/// Memory that lives as long as a board's does. Tests end soon.
pub fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

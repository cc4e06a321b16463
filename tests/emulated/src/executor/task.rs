//! The board's executor: polls the tasks that have been woken.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

/// The highest number of rounds in which tasks are polled without time passing; no task should need more.
pub const BUSY: u32 = 10_000;

/// A task of the board's firmware.
pub struct Task {
    /// The task's future; `None` once the task has ended.
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
    /// Creates a task from a future. It is polled together with the other tasks of the board.
    pub fn new(future: impl Future<Output = ()> + 'static) -> Self {
        Self { future: Some(Box::pin(future)), woken: Arc::new(Flag(AtomicBool::new(true))) }
    }

    /// Returns `true` if the task has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.future.is_none()
    }

    /// Polls the task if it has been woken. Returns `true` if it was polled.
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

/// Polls each task that has been woken. Returns `true` if there was one.
pub fn run_all(tasks: &mut [Task]) -> bool {
    tasks.iter_mut().fold(false, |busy, task| task.run() | busy)
}

/// Allocates memory for the life of a board. It is never freed, because tests end soon.
pub fn leak<T>(value: T) -> &'static mut T {
    Box::leak(Box::new(value))
}

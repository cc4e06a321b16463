//! A trace of the tasks that run before the control loop and the network although these are ready. It is written to the
//! log if the host requests it by `order=1`.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use embassy_time::Instant;

/// A task with a high priority whose delays by other tasks are measured.
struct Watched {
    /// The executor's number of the watched task; 0 before it is known.
    task: AtomicU32,
    /// `true` if the watched task is ready and has not begun.
    waits: AtomicBool,
    /// The number of polls of other tasks that have begun while this task was ready.
    others: AtomicU32,
    most: AtomicU32,
}

impl Watched {
    const fn new() -> Self {
        Self {
            task: AtomicU32::new(0),
            waits: AtomicBool::new(false),
            others: AtomicU32::new(0),
            most: AtomicU32::new(0),
        }
    }

    fn ready(&self, task: u32) {
        if task == self.task.load(Ordering::Relaxed) && !self.waits.swap(true, Ordering::Relaxed) {
            self.others.store(0, Ordering::Relaxed);
        }
    }

    /// Records that a poll of another task begins while the watched one may wait.
    fn passed(&self) {
        if self.waits.load(Ordering::Relaxed) {
            self.others.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Records that the watched task begins; returns the number of polls of other tasks that began before it, if
    /// that is a new maximum.
    fn begins(&self) -> Option<u32> {
        self.waits.store(false, Ordering::Relaxed);
        let others = self.others.swap(0, Ordering::Relaxed);
        (others > self.most.fetch_max(others, Ordering::Relaxed)).then_some(others)
    }

    fn is(&self, task: u32) -> bool {
        task == self.task.load(Ordering::Relaxed)
    }
}

static ASKED: AtomicBool = AtomicBool::new(false);
static CONTROL: Watched = Watched::new();
static NETWORK: Watched = Watched::new();
/// The time at which the current poll began, in the clock's lower 32 bits \[µs\].
static BEGAN: AtomicU32 = AtomicU32::new(0);
static LONGEST: AtomicU32 = AtomicU32::new(0);

/// Begins to log how many polls of other tasks begin while the control loop or the network is ready, and the longest
/// poll of another task. `control` and `network` are the executor's numbers of these two tasks.
pub(crate) fn tell(control: u32, network: u32) {
    CONTROL.task.store(control, Ordering::Relaxed);
    NETWORK.task.store(network, Ordering::Relaxed);
    ASKED.store(true, Ordering::Relaxed);
}

fn now() -> u32 {
    Instant::now().as_micros() as u32
}

#[unsafe(no_mangle)]
fn _embassy_trace_task_ready_begin(_executor: u32, task: u32) {
    CONTROL.ready(task);
    NETWORK.ready(task);
}

#[unsafe(no_mangle)]
fn _embassy_trace_task_exec_begin(_executor: u32, task: u32) {
    if !ASKED.load(Ordering::Relaxed) {
        return;
    }
    let most = if CONTROL.is(task) {
        CONTROL.begins().map(|most| ("control", most))
    } else if NETWORK.is(task) {
        CONTROL.passed();
        NETWORK.begins().map(|most| ("network", most))
    } else {
        CONTROL.passed();
        NETWORK.passed();
        None
    };
    if let Some((whose, most)) = most {
        defmt::info!("order: {=u32} polls of others began before {=str}", most, whose);
    }
    BEGAN.store(now(), Ordering::Relaxed);
}

#[unsafe(no_mangle)]
fn _embassy_trace_task_exec_end(_executor: u32, task: u32) {
    if !ASKED.load(Ordering::Relaxed) || CONTROL.is(task) || NETWORK.is(task) {
        return;
    }
    let took = now().wrapping_sub(BEGAN.load(Ordering::Relaxed));
    if took > LONGEST.fetch_max(took, Ordering::Relaxed) {
        defmt::info!("order: {=u32} us, the longest poll of the rest, of task {=u32:#x}", took, task);
    }
}

#[unsafe(no_mangle)]
fn _embassy_trace_poll_start(_executor: u32) {}

#[unsafe(no_mangle)]
fn _embassy_trace_task_new(_executor: u32, _task: u32) {}

#[unsafe(no_mangle)]
fn _embassy_trace_task_end(_executor: u32, _task: u32) {}

#[unsafe(no_mangle)]
fn _embassy_trace_executor_idle(_executor: u32) {}

//! The executor's idle loop. The ready-made one waits with WFE, which QEMU does not wait at: the guest would burn a
//! whole core of the host. WFI waits on both, and wakes for an interrupt that is pending although masked.

use core::sync::atomic::{AtomicBool, Ordering};

use embassy_executor::Spawner;
use embassy_executor::raw::Executor;
use static_cell::StaticCell;

static WORK: AtomicBool = AtomicBool::new(false);

/// Called by the executor where a task has become ready.
#[unsafe(no_mangle)]
fn __pender(_context: *mut ()) {
    WORK.store(true, Ordering::Release);
}

/// Runs what `start` spawns, for ever.
pub(crate) fn run(start: impl FnOnce(Spawner)) -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    let executor = EXECUTOR.init(Executor::new(core::ptr::null_mut()));
    start(executor.spawner());
    loop {
        // SAFETY: initialised above, and polled from here only; the pender does not poll.
        unsafe { executor.poll() };
        cortex_m::interrupt::free(|_| {
            if !WORK.swap(false, Ordering::AcqRel) {
                cortex_m::asm::wfi();
            }
        });
    }
}

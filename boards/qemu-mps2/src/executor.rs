//! The executor's idle loop. The standard one waits with WFE, at which QEMU does not wait: the guest would use a whole
//! core of the host. WFI waits on both, and wakes for a pending interrupt even if it is masked.

use core::sync::atomic::{AtomicBool, Ordering};

use embassy_executor::Spawner;
use embassy_executor::raw::Executor;
use static_cell::StaticCell;

static WORK: AtomicBool = AtomicBool::new(false);

/// Records that a task is ready to run; called by the executor whenever a task becomes ready.
#[unsafe(no_mangle)]
fn __pender(_context: *mut ()) {
    WORK.store(true, Ordering::Release);
}

/// Runs the tasks that `start` spawns; never returns.
pub(crate) fn run(start: impl FnOnce(Spawner)) -> ! {
    static EXECUTOR: StaticCell<Executor> = StaticCell::new();
    let executor = EXECUTOR.init(Executor::new(core::ptr::null_mut()));
    start(executor.spawner());
    loop {
        // SAFETY: initialised above, and polled only from here; the pender does not poll.
        unsafe { executor.poll() };
        cortex_m::interrupt::free(|_| {
            if !WORK.swap(false, Ordering::AcqRel) {
                cortex_m::asm::wfi();
            }
        });
    }
}

//! A timer that wakes to the microsecond. The runtime's own resolve a millisecond, which is a whole period of FRI.

use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;

use outrigger_core::time::{Duration, Instant};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

use crate::clock::Clock;
use crate::syscalls;

/// A timer of the kernel, waited for beside sockets.
#[derive(Debug)]
pub struct Timer {
    clock: Clock,
    timer: AsyncFd<OwnedFd>,
    /// What it is set to.
    set: Cell<Option<Instant>>,
}

impl Timer {
    /// A timer that is not set, on `clock`; inside of a runtime.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = syscalls::watched(timerfd_create(TimerfdClockId::Monotonic, flags)?)?;
        Ok(Self { clock, timer, set: Cell::new(None) })
    }

    /// Waits until `at`; at once where that is over. Dropping the future loses nothing. One waits at a time.
    ///
    /// # Errors
    /// Those of the kernel.
    pub async fn until(&self, at: Instant) -> io::Result<()> {
        let now = self.clock.now();
        if at <= now {
            return Ok(());
        }
        if self.set.get() != Some(at) {
            self.set.set(None);
            let once = Itimerspec { it_interval: spec(Duration::ZERO), it_value: spec(at.since(now)) };
            timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
            self.set.set(Some(at));
        }
        loop {
            let mut ready = self.timer.readable().await?;
            // Setting it anew takes back that it went off: then there is nothing to read.
            if let Ok(read) = ready.try_io(|timer| Ok(rustix::io::read(timer, &mut [0; 8])?)) {
                self.set.set(None);
                return read.map(drop);
            }
        }
    }
}

fn spec(span: Duration) -> Timespec {
    let micros = span.as_micros();
    Timespec {
        tv_sec: i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(micros % 1_000_000 * 1_000).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wakes_never_early_and_can_be_set_again_while_it_runs() {
        let runtime = crate::runtime().expect("a runtime");
        runtime.block_on(async {
            let clock = Clock::start();
            let timer = Timer::new(clock).expect("a timer");
            let far = clock.now() + Duration::from_secs(3_600);
            for micros in [300, 700, 0, 1_500] {
                let at = clock.now() + Duration::from_micros(micros);
                tokio::select! {
                    biased;
                    // Asked for first, dropped, and never waited for.
                    _ = timer.until(far) => panic!("an hour is not over"),
                    () = std::future::ready(()) => {}
                }
                timer.until(at).await.expect("it goes off");
                assert!(clock.now() >= at);
            }
        });
    }
}

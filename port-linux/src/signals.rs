//! SIGINT, SIGTERM and SIGHUP as events.

use outrigger_core::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::clock::Clock;
use crate::exit::Failure;

/// Who asks for the end when the terminal is closed: this signal, the view that finds nobody there, or both.
pub(crate) const HANG_UP: &str = "SIGHUP";

/// A signal that comes again within this time is the same wish: `timeout` sends it to the process, and then to its group.
const AGAIN: Duration = Duration::from_millis(250);

/// The signals that ask this process to end.
#[derive(Debug)]
pub struct Signals {
    clock: Clock,
    last: Option<(&'static str, Instant)>,
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// From now on these signals no longer end the process by themselves.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the kernel refuses.
    pub fn listen() -> Result<Self, Failure> {
        let on = |kind| signal(kind).map_err(|error| Failure::BadInput(format!("cannot handle signals: {error}")));
        Ok(Self {
            clock: Clock::start(),
            last: None,
            interrupt: on(SignalKind::interrupt())?,
            terminate: on(SignalKind::terminate())?,
            hang_up: on(SignalKind::hangup())?,
        })
    }

    /// The name of the next signal. Dropping the future loses nothing.
    pub async fn next(&mut self) -> &'static str {
        loop {
            let name = tokio::select! {
                _ = self.interrupt.recv() => "SIGINT",
                _ = self.terminate.recv() => "SIGTERM",
                _ = self.hang_up.recv() => HANG_UP,
            };
            if is_another(&mut self.last, name, self.clock.now()) {
                return name;
            }
        }
    }
}

/// Whether the signal `name` at `now` is another wish than the `last` one.
fn is_another(last: &mut Option<(&'static str, Instant)>, name: &'static str, now: Instant) -> bool {
    let same = last.is_some_and(|(before, at)| before == name && now.since(at) < AGAIN);
    if !same {
        *last = Some((name, now));
    }
    !same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_sent_twice_at_once_is_one_wish_and_later_another() {
        let mut last = None;
        let mut another = |name, ms: u64| is_another(&mut last, name, Instant::from_micros(1_000 * ms));
        assert!(another("SIGTERM", 5_000));
        assert!(!another("SIGTERM", 5_001), "to the process, then to its group");
        assert!(another("SIGINT", 5_002), "another signal");
        assert!(another("SIGINT", 5_400), "asked again");
    }
}

//! Requests to end the process: SIGINT, SIGTERM and SIGHUP, and keys with the same meaning.
//!
//! A thread of its own receives them and waits for nothing else. The first one requests an orderly end. A second one
//! ends the process immediately, whatever the loop, the terminal or a disk is doing.

use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration as StdDuration;

use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::host::os::{self, HANG_UP};
use crate::host::worker::{Worker, within};

/// The time within which a repeated signal counts as the same request: `timeout` sends a signal to the process and
/// then to its group.
const AGAIN: Duration = Duration::from_millis(250);

/// The time for the last message of a process that ends immediately, and for restoring the terminal.
const FAREWELL: StdDuration = StdDuration::from_millis(100);

/// The consequence of ending the process immediately, for its last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSignal {
    /// The process leaves no arm in motion behind: it commands none, or its arm is at standstill already.
    Nothing,
    /// The process may leave an arm in motion behind.
    AnArm,
}

/// A receiver of requests to end this process, such as Ctrl-C.
#[derive(Debug)]
pub struct Signals {
    wishes: UnboundedReceiver<&'static str>,
}

/// The receiver of all requests to end this process. The thread that receives signals lives as long as the process,
/// so that a second request is always handled.
struct Hub {
    clock: Clock,
    wishes: Wishes,
    leaves: OnSignal,
    listener: UnboundedSender<&'static str>,
}

static HUB: Mutex<Option<Hub>> = Mutex::new(None);

impl Signals {
    /// Takes over the signals, so that they no longer end the process by themselves. The newest listener receives the
    /// first request. A second one ends the process with exit code 4, and a message that depends on `leaves`.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if the operating system refuses.
    pub fn listen(leaves: OnSignal) -> Result<Self, Failure> {
        let (listener, wishes) = unbounded_channel();
        let mut hub = HUB.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *hub {
            Some(hub) => {
                (hub.leaves, hub.listener) = (leaves, listener);
                hub.wishes.begin();
            }
            none => {
                let refused = |error| Failure::BadInput(format!("cannot handle signals: {error}"));
                let listening = os::signals(ask).map_err(refused)?;
                Worker::start("signals", listening).map_err(refused)?;
                *none = Some(Hub { clock: Clock::start(), wishes: Wishes::default(), leaves, listener });
            }
        }
        Ok(Self { wishes })
    }

    /// Returns the origin of a request to end the process, such as `SIGINT`. `None` if there was none since the last
    /// call.
    pub fn heard(&mut self) -> Option<&'static str> {
        self.wishes.try_recv().ok()
    }

    /// Waits for the next request to end the process, and returns its origin, such as `SIGINT`. Dropping the future
    /// loses nothing.
    pub async fn next(&mut self) -> &'static str {
        match self.wishes.recv().await {
            Some(who) => who,
            // A newer listener receives them.
            None => std::future::pending().await,
        }
    }
}

/// Requests the end of the process on behalf of `who`; the listener of [`Signals`] receives it. Does not return if the
/// end is already in progress, unless this repeats the previous request or reports the closed terminal.
pub fn ask(who: &'static str) {
    let mut hub = HUB.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(known) = &mut *hub else { return };
    let now = known.clock.now();
    let wished = known.wishes.take(who, now);
    // A process that commands an arm keeps listening until the arm is at standstill.
    let leaves = if known.listener.is_closed() { OnSignal::Nothing } else { known.leaves };
    let heard = wished != EndRequest::First || known.listener.send(who).is_ok();
    drop(hub);
    // Without a listener the end is in progress, too.
    if wished == EndRequest::AtOnce || !heard {
        end_at_once(who, leaves);
    }
}

/// Declares that the orderly end of the process is in progress, so that the next request to end it counts as the second
/// one.
pub(crate) fn end_is_under_way() {
    if let Some(hub) = &mut *HUB.lock().unwrap_or_else(PoisonError::into_inner) {
        hub.wishes.ending = true;
    }
}

/// Returns `true` if the end of the process was requested, or is in progress.
pub fn is_ending() -> bool {
    HUB.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|hub| hub.wishes.ending)
}

/// The function that is called before the process is ended immediately, e.g. to restore the terminal.
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();

/// Sets the function that is called before a second request ends the process immediately, e.g. to restore the terminal.
/// Only the first call has an effect.
pub(crate) fn before_exit(last: fn()) {
    let _ = BEFORE_EXIT.set(last);
}

/// Ends the process immediately, because `who` requested the end while it was in progress.
fn end_at_once(who: &str, leaves: OnSignal) -> ! {
    let what = match leaves {
        OnSignal::Nothing => "",
        OnSignal::AnArm => ", standstill is NOT confirmed; check the arm",
    };
    let text = format!("outrigger: {who} during shutdown: ended at once{what}\n");
    within(FAREWELL, move || {
        if let Some(last) = BEFORE_EXIT.get() {
            last();
        }
        let _ = std::io::stderr().write_all(text.as_bytes());
    });
    // No orderly exit: another thread may hold the lock of an output that blocks.
    signal_hook::low_level::exit(4)
}

/// The meaning of a request to end this process, after the requests before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndRequest {
    /// The first request to end the process, or the message that the terminal was closed.
    First,
    /// A repetition of the previous request to end the process within 250 ms, which is ignored.
    Same,
    /// Another request to end the process, while its orderly end is in progress.
    AtOnce,
}

/// The requests to end the process so far, by which repetitions are recognized.
#[derive(Debug, Default)]
struct Wishes {
    last: Option<(&'static str, Instant)>,
    ending: bool,
}

impl Wishes {
    /// Forgets that the end of the process was requested, because a new session starts in the same process. Repetitions
    /// of the last request are still recognized.
    const fn begin(&mut self) {
        self.ending = false;
    }

    fn take(&mut self, who: &'static str, now: Instant) -> EndRequest {
        if self.last.is_some_and(|(before, at)| before == who && now.since(at) < AGAIN) {
            return EndRequest::Same;
        }
        self.last = Some((who, now));
        let under_way = std::mem::replace(&mut self.ending, true);
        // This is not a second request: the kernel, the view and the keys all report a closed terminal.
        if under_way && who != HANG_UP { EndRequest::AtOnce } else { EndRequest::First }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::os::INTERRUPT;

    #[test]
    fn a_signal_sent_twice_at_once_is_one_wish_and_later_another() {
        let mut wishes = Wishes::default();
        let mut take = |who, ms: u64| wishes.take(who, Instant::from_micros(1_000 * ms));
        assert_eq!(take("SIGTERM", 5_000), EndRequest::First);
        assert_eq!(take("SIGTERM", 5_001), EndRequest::Same, "to the process, then to its group");
        assert_eq!(take("SIGINT", 5_002), EndRequest::AtOnce, "another signal");
        assert_eq!(take("SIGINT", 5_400), EndRequest::AtOnce, "asked again");
    }

    #[test]
    fn a_terminal_that_goes_away_is_never_the_second_wish_and_is_the_first() {
        let mut wishes = Wishes::default();
        let mut take = |who, ms: u64| wishes.take(who, Instant::from_micros(1_000 * ms));
        assert_eq!(
            [take(HANG_UP, 1), take(HANG_UP, 900), take(HANG_UP, 901)],
            [EndRequest::First, EndRequest::First, EndRequest::Same]
        );
        assert_eq!(take("quit", 2_000), EndRequest::AtOnce);
        let mut next_session = Wishes { ending: true, ..Wishes::default() };
        next_session.begin();
        assert_eq!(next_session.take(INTERRUPT, Instant::ZERO), EndRequest::First, "the session before has ended");
        let mut ended_from_inside = Wishes { ending: true, ..Wishes::default() };
        assert_eq!(ended_from_inside.take(INTERRUPT, Instant::ZERO), EndRequest::AtOnce);
    }
}

//! Who asks for the end: SIGINT, SIGTERM and SIGHUP, and the keys that mean the same.
//!
//! They are taken on a thread of their own that waits for nothing else. The first asks; a second one ends the process
//! there and then, whatever the loop, the terminal or a disk is doing.

use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration as StdDuration;

use outrigger_wire::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::host::os::{self, HANG_UP};
use crate::host::worker::{Worker, within};

/// What comes again within this time is the same wish: `timeout` sends a signal to the process, and then to its group.
const AGAIN: Duration = Duration::from_millis(250);

/// The last words of a process that ends at once have so long to get out, and the terminal to be as it was.
const FAREWELL: StdDuration = StdDuration::from_millis(100);

/// What a process that is ended at once leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Nothing that goes on.
    Nothing,
    /// An arm that may still move.
    AnArm,
}

/// Wishes for the end of this process, as a stream.
#[derive(Debug)]
pub struct Signals {
    wishes: UnboundedReceiver<&'static str>,
}

/// Everything in this process that hears of wishes. The thread that takes signals lives as long as the process does: at no
/// time does nobody hear a second one.
struct Hub {
    clock: Clock,
    wishes: Wishes,
    leaves: Leaves,
    listener: UnboundedSender<&'static str>,
}

static HUB: Mutex<Option<Hub>> = Mutex::new(None);

impl Signals {
    /// From now on these signals no longer end the process by themselves; the newest listener is told of the first. A second
    /// one ends a process that `leaves` that, with exit code 4.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the kernel refuses.
    pub fn listen(leaves: Leaves) -> Result<Self, Failure> {
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

    /// Who has asked since this was called last, if anybody has.
    pub fn heard(&mut self) -> Option<&'static str> {
        self.wishes.try_recv().ok()
    }

    /// Who asks next. Dropping the future loses nothing.
    pub async fn next(&mut self) -> &'static str {
        match self.wishes.recv().await {
            Some(who) => who,
            // A newer listener hears them.
            None => std::future::pending().await,
        }
    }
}

/// `who` asks for the end: whoever listens to [`Signals`] is told. Does not return where the end is under way already.
pub fn ask(who: &'static str) {
    let mut hub = HUB.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(known) = &mut *hub else { return };
    let now = known.clock.now();
    let wished = known.wishes.take(who, now);
    // Who commands an arm listens until it rests.
    let leaves = if known.listener.is_closed() { Leaves::Nothing } else { known.leaves };
    let heard = wished != Wished::First || known.listener.send(who).is_ok();
    drop(hub);
    // Where nobody listens any more the end is under way, too.
    if wished == Wished::AtOnce || !heard {
        end_at_once(who, leaves);
    }
}

/// The end is under way: the next wish for it is the second one.
pub(crate) fn end_is_under_way() {
    if let Some(hub) = &mut *HUB.lock().unwrap_or_else(PoisonError::into_inner) {
        hub.wishes.ending = true;
    }
}

/// Returns whether somebody has asked for the end, or it is under way.
pub fn is_ending() -> bool {
    HUB.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|hub| hub.wishes.ending)
}

/// The function that is called before the process is ended at once.
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();

/// Calls `last` before the process is ended at once, for the output of a second wish for the end. The first one that is given stays.
pub(crate) fn before_exit(last: fn()) {
    let _ = BEFORE_EXIT.set(last);
}

/// Ends the process: `who` asked for the end while it was on its way.
fn end_at_once(who: &str, leaves: Leaves) -> ! {
    let what = match leaves {
        Leaves::Nothing => "",
        Leaves::AnArm => ", rest is NOT confirmed; look at the arm",
    };
    let text = format!("outrigger: {who} while it was ending: ended at once{what}\n");
    within(FAREWELL, move || {
        if let Some(last) = BEFORE_EXIT.get() {
            last();
        }
        let _ = std::io::stderr().write_all(text.as_bytes());
    });
    // Not by way of what runs at an orderly exit: another thread may hold the lock of an output that takes nothing.
    signal_hook::low_level::exit(4)
}

/// What one more wish for the end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wished {
    /// The one that the end begins with, or word that the terminal is gone.
    First,
    /// The same wish as the one before.
    Same,
    /// Another one, while the end is under way.
    AtOnce,
}

/// Wishes so far.
#[derive(Debug, Default)]
struct Wishes {
    last: Option<(&'static str, Instant)>,
    ending: bool,
}

impl Wishes {
    /// A session begins: the end of the one before is over.
    const fn begin(&mut self) {
        self.ending = false;
    }

    fn take(&mut self, who: &'static str, now: Instant) -> Wished {
        if self.last.is_some_and(|(before, at)| before == who && now.since(at) < AGAIN) {
            return Wished::Same;
        }
        self.last = Some((who, now));
        let under_way = std::mem::replace(&mut self.ending, true);
        // Nobody presses that twice: it is told of by the kernel, by the view and by the keys.
        if under_way && who != HANG_UP { Wished::AtOnce } else { Wished::First }
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
        assert_eq!(take("SIGTERM", 5_000), Wished::First);
        assert_eq!(take("SIGTERM", 5_001), Wished::Same, "to the process, then to its group");
        assert_eq!(take("SIGINT", 5_002), Wished::AtOnce, "another signal");
        assert_eq!(take("SIGINT", 5_400), Wished::AtOnce, "asked again");
    }

    #[test]
    fn a_terminal_that_goes_away_is_never_the_second_wish_and_is_the_first() {
        let mut wishes = Wishes::default();
        let mut take = |who, ms: u64| wishes.take(who, Instant::from_micros(1_000 * ms));
        assert_eq!(
            [take(HANG_UP, 1), take(HANG_UP, 900), take(HANG_UP, 901)],
            [Wished::First, Wished::First, Wished::Same]
        );
        assert_eq!(take("quit", 2_000), Wished::AtOnce);
        let mut next_session = Wishes { ending: true, ..Wishes::default() };
        next_session.begin();
        assert_eq!(next_session.take(INTERRUPT, Instant::ZERO), Wished::First, "the session before has ended");
        let mut ended_from_inside = Wishes { ending: true, ..Wishes::default() };
        assert_eq!(ended_from_inside.take(INTERRUPT, Instant::ZERO), Wished::AtOnce);
    }
}

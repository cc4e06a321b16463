//! When an interface through which nothing comes any more is started anew, and when the whole board.
//!
//! An arm that was switched off is as silent as an interface that hangs. So:
//!
//! * Silence counts only while there is a link and the engine is `Offline`: whatever else it does, frames come. Each frame, a
//!   link that is lost, and every other mode end it.
//! * After [`SILENCE`], the interface is started anew, and again after twice that time, four times, and so on, up to
//!   [`LONGEST`] between two.
//! * After [`GIVE_UP`] of silence the board is started anew, but only if it has heard a frame since it was started: one where
//!   nobody is does it once, and then never again until somebody speaks. It has no memory of the boot before.
//!
//! So a board restarts itself at most once in [`GIVE_UP`], and at most once for each time that it was spoken to; an interface
//! at most once in [`SILENCE`], and where nobody is soon only once in [`LONGEST`].

use outrigger_core::mode::Mode;
use outrigger_core::time::{Duration, Instant};

/// Silence that an interface is first started anew after. A controller that is there sends at least every 8 ms, or answers
/// to attempts to connect within seconds.
pub const SILENCE: Duration = Duration::from_secs(10);
/// The longest time from one start of the interface to the next, where silence goes on.
pub const LONGEST: Duration = Duration::from_secs(640);
/// Silence that the board is started anew after.
pub const GIVE_UP: Duration = Duration::from_secs(300);

/// What is to be started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Revive {
    /// The network interface.
    Interface,
    /// The board: a reset.
    Board,
}

/// What is seen of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sight {
    /// There is a link.
    pub linked: bool,
    /// Frames received since the boot; it may wrap.
    pub frames: u32,
    /// Mode of the engine.
    pub mode: Mode,
}

/// Watches over one interface, from the boot on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Revival {
    /// Since when there is silence, what the next start waits for, and from when on it does.
    silent: Option<Silence>,
    frames: u32,
    heard: bool,
    /// How often the interface was started anew.
    interfaces: u32,
}

#[derive(Clone, Copy, Debug)]
struct Silence {
    since: Instant,
    from: Instant,
    wait: Duration,
}

impl Revival {
    /// Nothing was seen yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { silent: None, frames: 0, heard: false, interfaces: 0 }
    }

    /// How often the interface was started anew since the boot.
    #[must_use]
    pub const fn interfaces(&self) -> u32 {
        self.interfaces
    }

    /// What is to be started anew now; it is for the caller to do so at once. To be asked about once a second.
    pub fn handle(&mut self, now: Instant, sight: Sight) -> Option<Revive> {
        let Sight { linked, frames, mode } = sight;
        let spoken = frames != self.frames;
        self.frames = frames;
        self.heard |= spoken;
        if spoken || !linked || mode != Mode::Offline {
            self.silent = None;
            return None;
        }
        let silence = self.silent.get_or_insert(Silence { since: now, from: now, wait: SILENCE });
        if self.heard && now.since(silence.since) >= GIVE_UP {
            return Some(Revive::Board);
        }
        if now.since(silence.from) < silence.wait {
            return None;
        }
        silence.from = now;
        silence.wait = (silence.wait + silence.wait).min(LONGEST);
        self.interfaces = self.interfaces.saturating_add(1);
        Some(Revive::Interface)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    const MODES: [Mode; 5] = [Mode::Offline, Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping];

    /// A board with its boots: the machine is new after each, and everything it did is judged as it is done.
    #[derive(Clone)]
    struct Board {
        revival: Revival,
        now: u64,
        frames: u32,
        heard: bool,
        /// Since when nothing ended the silence.
        quiet_since: Option<u64>,
        last_interface: Option<u64>,
        last_board: Option<u64>,
        done: [u32; 2],
    }

    impl Board {
        const fn new() -> Self {
            Self {
                revival: Revival::new(),
                now: 0,
                frames: 0,
                heard: false,
                quiet_since: None,
                last_interface: None,
                last_board: None,
                done: [0; 2],
            }
        }

        fn step(&mut self, after: u64, spoken: bool, linked: bool, mode: Mode) {
            self.now += after;
            let now = self.now;
            self.frames = self.frames.wrapping_add(spoken.into());
            self.heard |= spoken;
            if spoken || !linked || mode != Mode::Offline {
                self.quiet_since = None;
            } else {
                self.quiet_since.get_or_insert(now);
            }
            let silence = self.quiet_since.map(|since| now - since);
            match self.revival.handle(at(now), Sight { linked, frames: self.frames, mode }) {
                None => {
                    // Whoever was heard and fell silent is not left so.
                    assert!(!self.heard || silence.is_none_or(|silence| silence < 300));
                }
                Some(what) => {
                    assert!(linked && !spoken && mode == Mode::Offline, "{what:?} in {mode:?}");
                    let silence = silence.expect("quiet");
                    if what == Revive::Interface {
                        assert!(silence >= 10, "{silence} s");
                        assert!(self.last_interface.is_none_or(|last| now - last >= 10));
                        self.last_interface = Some(now);
                        self.done[0] += 1;
                    } else {
                        assert!(self.heard && silence >= 300, "{silence} s, heard: {}", self.heard);
                        assert!(self.last_board.is_none_or(|last| now - last >= 300));
                        let Self { done: [interfaces, boards], .. } = *self;
                        *self = Self { now, last_board: Some(now), done: [interfaces, boards + 1], ..Self::new() };
                    }
                }
            }
        }
    }

    #[test]
    fn in_every_short_history_it_acts_only_in_silence_with_a_link_while_offline_and_no_more_often_than_said() {
        let mut letters = Vec::new();
        for after in [1, 10, 150] {
            for (spoken, linked) in [(false, false), (false, true), (true, true)] {
                letters.extend(MODES.iter().map(|mode| (after, spoken, linked, *mode)));
            }
        }
        let mut done = [0_u64; 2];
        let mut histories = vec![Board::new()];
        for length in 1..=4 {
            let mut longer = Vec::new();
            for board in &histories {
                for (after, spoken, linked, mode) in &letters {
                    let mut board = board.clone();
                    board.step(*after, *spoken, *linked, *mode);
                    done[0] += u64::from(board.done[0] > 0);
                    done[1] += u64::from(board.done[1] > 0);
                    if length < 4 {
                        longer.push(board);
                    }
                }
            }
            histories = longer;
        }
        // Four steps reach both: a frame, silence, and twice 150 s.
        assert!(done[0] > 1_000 && done[1] > 10, "{done:?}");
    }

    #[test]
    fn in_every_longer_history_of_frames_and_silence_boards_restart_once_for_each_time_they_were_spoken_to() {
        let mut most = 0;
        for history in 0_u32..1 << 15 {
            let mut board = Board::new();
            let mut spoken = 0;
            for step in 0..15 {
                let speaks = history >> step & 1 != 0;
                spoken += u32::from(speaks);
                board.step(100, speaks, true, Mode::Offline);
            }
            assert!(board.done[1] <= spoken, "{history:#b}");
            most = most.max(board.done[1]);
        }
        assert_eq!(most, 3, "of 1500 s; a frame, silence seen, and three times 100 s");
    }

    #[test]
    fn where_nobody_is_the_board_stays_and_its_interface_is_started_ever_less_often() {
        let mut board = Board::new();
        let mut times = Vec::new();
        for _ in 0..86_400 {
            let before = board.done[0];
            board.step(1, false, true, Mode::Offline);
            if board.done[0] > before {
                times.push(board.now - 1);
            }
        }
        assert_eq!(times[..8], [10, 30, 70, 150, 310, 630, 1_270, 1_910]);
        assert_eq!(board.done[1], 0);
        assert!(board.done[0] < 150, "{} in a day", board.done[0]);
    }

    #[test]
    fn who_falls_silent_gets_the_interface_then_the_board_once() {
        let mut board = Board::new();
        board.step(1, true, true, Mode::Offline);
        for _ in 0..3_600 {
            board.step(1, false, true, Mode::Offline);
        }
        assert_eq!(board.done[1], 1);
        assert_eq!(board.last_board, Some(302), "300 s after the first second of silence");
    }
}

//! Decides when to restart a network interface that receives no frames, and when to restart the board.
//!
//! A switched-off arm is as silent as an interface that hangs. Therefore:
//!
//! * Silence is time with a link and with the engine `Offline`, because in every other mode frames arrive. Each frame
//!   and every other mode end it. Without a link it does not count, because a start of the interface removes the link
//!   for some seconds.
//! * After [`SILENCE`] the interface is restarted, and again after twice that time, four times, and so on, up to
//!   [`LONGEST`] between two restarts.
//! * After [`GIVE_UP`] of silence the board is restarted, but only if it has received a frame since its last start. A
//!   board on a network without other devices is thus restarted at most once, and then not until a frame arrives. It
//!   has no memory of the previous boot.
//!
//! So a board restarts itself at most once in [`GIVE_UP`], and at most once for each period with received frames. An
//! interface is restarted at most once in [`SILENCE`], and without other devices soon only once in [`LONGEST`].
//!
//! ```
//! use outrigger_core::mode::Mode;
//! use outrigger_embassy::link_watchdog::{InterfaceState, LinkWatchdog, Restart, SILENCE};
//! use outrigger_wire::time::Instant;
//!
//! let mut watchdog = LinkWatchdog::new();
//! let silent = InterfaceState { linked: true, frames: 0, mode: Mode::Offline };
//! assert_eq!(watchdog.handle(Instant::ZERO, silent), None);
//! assert_eq!(watchdog.handle(Instant::ZERO + SILENCE, silent), Some(Restart::Interface));
//! ```

use outrigger_core::mode::Mode;
use outrigger_wire::time::{Duration, Instant};

/// The silence after which an interface is first restarted. A controller that is present sends at least every 8 ms, or
/// answers attempts to connect within seconds.
pub const SILENCE: Duration = Duration::from_secs(10);
/// The longest time between two restarts of the network interface during silence.
pub const LONGEST: Duration = Duration::from_secs(640);
/// The silence after which the board is restarted, if it has received a frame since its last start.
pub const GIVE_UP: Duration = Duration::from_secs(300);

/// The part of a board that is to be restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Restart {
    /// The board's network interface alone; the firmware continues.
    Interface,
    /// The whole board, by a reset of its chip.
    Board,
}

/// The state of a network interface, as the watchdog observes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceState {
    /// `true` if the network interface has a link.
    pub linked: bool,
    /// The number of frames that the interface has received since the boot; it may wrap.
    pub frames: u32,
    /// The mode of the engine, for example monitor or command.
    pub mode: Mode,
}

/// The watchdog of one network interface. It decides when to restart the interface, or the whole board, because no
/// frame was received for a time although there is a link and the engine is `Offline`.
#[derive(Clone, Copy, Debug)]
pub struct LinkWatchdog {
    /// The length of the current silence, in which no frame is received.
    silence: Duration,
    /// The time of the last observation during the current silence of the network.
    seen: Option<Instant>,
    /// The length of the network's silence after which the interface is restarted next.
    next: Duration,
    /// The silence between the previous restart of the interface, or the beginning of the silence, and the next
    /// restart; it doubles with each restart, up to [`LONGEST`].
    wait: Duration,
    frames: u32,
    heard: bool,
    /// The number of restarts of the network interface since the boot.
    interfaces: u32,
}

impl LinkWatchdog {
    /// Creates a watchdog that has not observed the network interface yet.
    #[must_use]
    pub const fn new() -> Self {
        let silence = Duration::from_secs(0);
        Self { silence, seen: None, next: SILENCE, wait: SILENCE, frames: 0, heard: false, interfaces: 0 }
    }

    /// Returns the number of restarts of the network interface since the boot.
    #[must_use]
    pub const fn interface_restarts(&self) -> u32 {
        self.interfaces
    }

    /// Returns the part of the board to restart at `now`, if any; the caller must restart it at once. Call this about
    /// once a second.
    pub fn handle(&mut self, now: Instant, state: InterfaceState) -> Option<Restart> {
        let InterfaceState { linked, frames, mode } = state;
        if frames != self.frames || mode != Mode::Offline {
            let heard = self.heard || frames != self.frames;
            *self = Self { frames, heard, interfaces: self.interfaces, ..Self::new() };
            return None;
        }
        if !linked {
            self.seen = None;
            return None;
        }
        if let Some(seen) = self.seen {
            self.silence = self.silence + now.since(seen);
        }
        self.seen = Some(now);
        if self.heard && self.silence >= GIVE_UP {
            return Some(Restart::Board);
        }
        if self.silence < self.next {
            return None;
        }
        self.wait = (self.wait + self.wait).min(LONGEST);
        self.next = self.silence + self.wait;
        self.interfaces = self.interfaces.saturating_add(1);
        Some(Restart::Interface)
    }
}

impl Default for LinkWatchdog {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    const MODES: [Mode; 5] = [Mode::Offline, Mode::Monitor, Mode::Arming, Mode::Command, Mode::Stopping];

    /// A simulated board that may boot several times. Its watchdog is new after each boot, and each decision of the
    /// watchdog is checked when it is made.
    #[derive(Clone)]
    struct Board {
        watchdog: LinkWatchdog,
        now: u64,
        frames: u32,
        heard: bool,
        /// The network's silence so far, and the time of its last observation.
        silence: u64,
        seen: Option<u64>,
        last_interface: Option<u64>,
        last_board: Option<u64>,
        done: [u32; 2],
    }

    impl Board {
        const fn new() -> Self {
            Self {
                watchdog: LinkWatchdog::new(),
                now: 0,
                frames: 0,
                heard: false,
                silence: 0,
                seen: None,
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
            if spoken || mode != Mode::Offline {
                (self.silence, self.seen) = (0, None);
            } else if linked {
                self.silence += self.seen.map_or(0, |seen| now - seen);
                self.seen = Some(now);
            } else {
                self.seen = None;
            }
            let silence = self.silence;
            match self.watchdog.handle(at(now), InterfaceState { linked, frames: self.frames, mode }) {
                None => {
                    // A board that has received frames must not remain silent.
                    assert!(!self.heard || !linked || silence < 300);
                }
                Some(what) => {
                    assert!(linked && !spoken && mode == Mode::Offline, "{what:?} in {mode:?}");
                    if what == Restart::Interface {
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
        // Four steps reach both kinds of restart: a frame, silence, and twice 150 s.
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
        // 10 s, and then 20, 40 … up to 640 more each time.
        assert_eq!(times[..9], [10, 30, 70, 150, 310, 630, 1_270, 1_910, 2_550]);
        assert_eq!(board.done[1], 0);
        assert!(board.done[0] < 150, "{} in a day", board.done[0]);
    }

    #[test]
    fn that_a_start_of_the_interface_takes_the_link_away_does_not_keep_the_board_from_its_own() {
        let mut board = Board::new();
        board.step(1, true, true, Mode::Offline);
        let (mut away, mut starts) = (0, 0);
        for _ in 0..3_600 {
            let before = board.done[0];
            board.step(1, false, away == 0, Mode::Offline);
            away = if board.done[0] > before { 4 } else { away.max(1) - 1 };
            starts += u32::from(board.done[0] > before && board.done[1] == 0);
        }
        assert_eq!((starts, board.done[1]), (4, 1), "at 10, 30, 70 and 150 s; then the board");
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

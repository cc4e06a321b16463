//! Delays of a controller that are not documented; each can be changed or switched off.

use std::time::Duration;

/// The time from a program's arrival to its first instruction: the program is compiled first, so a long one starts
/// late (`core/docs/protocol/ur-client-interfaces.md 5.2`). The figures are UNCONFIRMED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiling {
    /// Number of lines that need no time.
    pub free_lines: usize,
    /// Time for each further line.
    pub per_line: Duration,
}

impl Default for Compiling {
    /// Returns 10 lines without delay, then 100 µs each.
    fn default() -> Self {
        Self { free_lines: 10, per_line: Duration::from_micros(100) }
    }
}

impl Compiling {
    /// No delay: programs of any length start at once.
    pub const NONE: Self = Self { free_lines: 0, per_line: Duration::ZERO };

    /// Returns the compile time of this text.
    pub(crate) fn time(&self, text: &str) -> Duration {
        let lines = text.lines().count().saturating_sub(self.free_lines);
        self.per_line * u32::try_from(lines).unwrap_or(u32::MAX)
    }
}

/// Undocumented properties of `servoj`. All of them are UNCONFIRMED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoJ {
    /// `lookahead_time` before 3.1, where a call cannot set it \[s\].
    pub lookahead: f64,
    /// `gain` before 3.1, where a call cannot set it.
    pub gain: f64,
    /// `true` if the targets follow a position through a filter. Otherwise they reach it within a control cycle,
    /// whatever look-ahead and gain a call sets.
    pub filters: bool,
    /// Deceleration \[rad/s²\] during one control cycle when another program replaces one in the middle of `servoj`,
    /// even if the new one calls `servoj` in the same cycle; 0 for none. An aborted `servoj` stops abruptly; how much
    /// of this is visible when the next one follows at once is not known.
    pub replaced_deceleration: f64,
}

impl Default for ServoJ {
    /// Returns 0.1 s and 300, the defaults from 3.1 on, with the filter; a replacing program continues at the present
    /// speed.
    fn default() -> Self {
        Self { lookahead: 0.1, gain: 300.0, filters: true, replaced_deceleration: 0.0 }
    }
}

/// The timing of the start of programs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starting {
    /// The time before a control cycle by which text must have arrived to run in it.
    pub(crate) intake: Duration,
    pub(crate) compiling: Compiling,
    /// See [`ServoJ::replaced_deceleration`].
    pub(crate) servoj_deceleration: f64,
}

//! Delays of a controller that are not documented; each can be changed or switched off.

use std::time::Duration;

/// The compile time of programs. A program is compiled before its first instruction, so a long one starts late
/// (`core/docs/protocol/ur-client-interfaces.md 5.2`). The figures are UNCONFIRMED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiling {
    /// Number of program lines that need no compile time.
    pub free_lines: usize,
    /// Compile time of each further line of a program.
    pub per_line: Duration,
}

impl Default for Compiling {
    /// Returns a compile time of 0 for the first 10 lines and of 100 µs for each further line.
    fn default() -> Self {
        Self { free_lines: 10, per_line: Duration::from_micros(100) }
    }
}

impl Compiling {
    /// No compile time: programs of any length start at once.
    pub const NONE: Self = Self { free_lines: 0, per_line: Duration::ZERO };

    /// Returns the compile time of this program text.
    pub(crate) fn time(&self, text: &str) -> Duration {
        let lines = text.lines().count().saturating_sub(self.free_lines);
        self.per_line * u32::try_from(lines).unwrap_or(u32::MAX)
    }
}

/// Undocumented properties of the URScript function `servoj`. All of them are UNCONFIRMED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoJ {
    /// The look-ahead time of `servoj` \[s\] on software before 3.1, where a call cannot set it.
    pub lookahead: f64,
    /// The gain of `servoj` on software before 3.1, where a call cannot set it.
    pub gain: f64,
    /// `true` if the joint targets follow the position of a `servoj` through a filter. `false` if they reach it
    /// within a control cycle, whatever look-ahead time and gain a call sets.
    pub filters: bool,
    /// Deceleration \[rad/s²\] during one control cycle when another program replaces one in the middle of `servoj`,
    /// even if the new one calls `servoj` in the same cycle; 0 for none. An aborted `servoj` stops abruptly; how much
    /// of this is visible when the next one follows at once is not known.
    pub replaced_deceleration: f64,
}

impl Default for ServoJ {
    /// Returns a look-ahead time of 0.1 s and a gain of 300, the defaults from 3.1 on, with the filter; a replacing
    /// program continues at the present speed.
    fn default() -> Self {
        Self { lookahead: 0.1, gain: 300.0, filters: true, replaced_deceleration: 0.0 }
    }
}

/// The times that decide when a program that has arrived starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starting {
    /// The time before a control cycle by which a program's text must have arrived to run in that cycle.
    pub(crate) intake: Duration,
    pub(crate) compiling: Compiling,
    /// The deceleration \[rad/s²\] when another program replaces one in the middle of `servoj`; see
    /// [`ServoJ::replaced_deceleration`].
    pub(crate) servoj_deceleration: f64,
}

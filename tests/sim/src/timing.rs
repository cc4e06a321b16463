//! What makes a controller late, where nobody has published figures: each of these can be changed, or taken away.

use std::time::Duration;

/// How long a program takes from its arrival to its first instruction: it is compiled first, and long ones start late
/// (`core/docs/protocol/ur-client-interfaces.md 5.2`). The figures are UNCONFIRMED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiling {
    /// Lines that cost nothing.
    pub free_lines: usize,
    /// What each further line takes.
    pub per_line: Duration,
}

impl Default for Compiling {
    /// 10 lines, then 100 µs each.
    fn default() -> Self {
        Self { free_lines: 10, per_line: Duration::from_micros(100) }
    }
}

impl Compiling {
    /// Programs of any length start at once.
    pub const NONE: Self = Self { free_lines: 0, per_line: Duration::ZERO };

    /// How long this text takes.
    pub(crate) fn time(&self, text: &str) -> Duration {
        let lines = text.lines().count().saturating_sub(self.free_lines);
        self.per_line * u32::try_from(lines).unwrap_or(u32::MAX)
    }
}

/// What is not known of `servoj`. All of it is UNCONFIRMED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoJ {
    /// `lookahead_time` before 3.1, where a call cannot give one \[s\].
    pub lookahead: f64,
    /// `gain` before 3.1.
    pub gain: f64,
    /// Whether the targets follow a position through a filter; otherwise they are there within a control cycle, whatever
    /// look-ahead and gain say.
    pub filters: bool,
    /// Deceleration \[rad/s²\] for a control cycle where another program replaces one in the middle of `servoj`, even one that
    /// goes on with `servoj` in the same cycle; none where 0. An aborted `servoj` stops abruptly: how much of that is to be seen
    /// where the next one comes at once is not known.
    pub replaced_deceleration: f64,
}

impl Default for ServoJ {
    /// 0.1 s and 300, which are the defaults from 3.1 on; filtered; what replaces it goes on at the speed it finds.
    fn default() -> Self {
        Self { lookahead: 0.1, gain: 300.0, filters: true, replaced_deceleration: 0.0 }
    }
}

/// How programs come to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starting {
    /// How long before a control cycle text must have arrived to run in it.
    pub(crate) intake: Duration,
    pub(crate) compiling: Compiling,
    /// See [`ServoJ::replaced_deceleration`].
    pub(crate) servoj_deceleration: f64,
}

//! An operator at the bench: presses buttons, and goes by what the board's log says.

use std::time::Duration;

use outrigger_sim::time::SimTime;

use super::Bench;
use crate::qemu::Line;

/// How long an operator waits before pressing again.
const PAUSE: Duration = Duration::from_millis(400);

impl Bench<'_> {
    /// Lives on until the log says something, from `since` on, that begins with one of `words`.
    pub fn hear(&mut self, since: SimTime, words: &[&str], limit: Duration) -> Option<Line> {
        let mut heard = None;
        self.run_until(limit, |bench| {
            heard = bench.record().said(since, words).cloned();
            heard.is_some()
        });
        heard
    }

    /// Asks the board to command, as often as it takes, as an operator does: what is refused is asked for again, and
    /// what is latched is acknowledged first. The line that says it commands; `None` if it did not within `limit`.
    pub fn arm(&mut self, limit: Duration) -> Option<Line> {
        let end = self.now() + limit;
        loop {
            let left = end.since(self.now());
            let pressed = self.now();
            self.request();
            let line = self.hear(pressed, &["armed", "refused", "not armed"], left)?;
            if line.text.starts_with("armed") {
                return Some(line);
            }
            self.run_for(PAUSE);
            if line.text.starts_with("not armed") || line.text.contains("atched") {
                self.acknowledge();
                self.run_for(PAUSE);
            }
        }
    }
}

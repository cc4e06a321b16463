//! Displays the progress of a command: one line at the end of standard error that is overwritten, with other lines
//! above it.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};

use super::is_quiet;
use super::unbuffered_output::{Standard, Straight};

/// The progress line that the terminal displays at present.
static LINE: Mutex<Option<String>> = Mutex::new(None);

/// The escape sequence that returns to the start of the line and erases it.
const ANEW: &str = "\r\x1b[K";

/// The progress display of a command. Dropping it ends its line.
#[derive(Debug)]
pub struct Progress {
    terminal: bool,
    step: Option<u64>,
}

impl Default for Progress {
    fn default() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), step: None }
    }
}

impl Progress {
    /// Displays `text`: on a terminal in place of the previous text, elsewhere as another line with each new `step`.
    pub fn show(&mut self, text: &str, step: u64) {
        if is_quiet() {
            return;
        }
        if self.terminal {
            let mut line = LINE.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = Straight::new(Standard::Error).write_all(format!("{ANEW}{text}").as_bytes());
            *line = Some(text.to_owned());
        } else if self.step.replace(step) != Some(step) {
            let _ = Straight::new(Standard::Error).write_all(format!("{text}\n").as_bytes());
        }
    }

    /// Clears the stored progress line after the operator has ended it by entering an answer.
    pub fn answered(&mut self) {
        let _ = LINE.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Ends the progress line, and continues below it.
    pub fn end(&mut self) {
        if self.terminal && LINE.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            let _ = Straight::new(Standard::Error).write_all(b"\n");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns `text` as a line of its own, above the progress line if there is one.
pub(super) fn line_above(text: &str) -> String {
    above(text, LINE.lock().unwrap_or_else(PoisonError::into_inner).as_deref())
}

fn above(text: &str, progress: Option<&str>) -> String {
    progress.map_or_else(|| format!("{text}\n"), |progress| format!("{ANEW}{text}\n{progress}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_above_the_line_of_progress_and_that_stays_last() {
        assert_eq!(above("Command → Stopping: Ctrl-C", None), "Command → Stopping: Ctrl-C\n");
        let shown = above("Command → Stopping: Ctrl-C", Some(" 25 %  1.0 of 4.0 s"));
        assert_eq!(shown, "\r\x1b[KCommand → Stopping: Ctrl-C\n 25 %  1.0 of 4.0 s");
    }
}

//! Switches the terminal to the full-screen view and back. The terminal is restored in every way in which a process
//! can end.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::{is_gone, keys};

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::{is_gone, keys};

use std::io::{self, BufRead, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::terminal::disable_raw_mode;

use outrigger::host::os::{self, Standard};

/// `true` while the full-screen view uses the terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The escape sequence that returns a terminal from the full-screen view to its former screen, and shows the cursor.
const AS_IT_WAS: &[u8] = b"\x1b[?1049l\x1b[?25h";

/// The longest line that a user may type \[B\]; input that is not a terminal may have no line end at all.
const TYPED: usize = 4096;

/// Reads the next line of standard input, with its line end. The line is empty at the end of the input.
///
/// # Errors
/// The errors of [`line`].
pub(crate) fn typed() -> io::Result<String> {
    line(io::stdin().lock(), TYPED)
}

/// Reads a line of at most `most` bytes from `from`, with its line end.
///
/// # Errors
/// The errors of the operating system; [`ErrorKind::InvalidData`] for a longer line, and for bytes that are not
/// UTF-8.
pub(crate) fn line(from: impl BufRead, most: usize) -> io::Result<String> {
    let (mut line, mut from) = (String::new(), from.take(most as u64));
    from.read_line(&mut line)?;
    if from.limit() == 0 && !line.ends_with('\n') {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("a line of more than {most} bytes")));
    }
    Ok(line)
}

/// Switches the terminal to the full-screen view.
pub(crate) fn take() -> io::Result<DefaultTerminal> {
    TAKEN.store(true, Ordering::Release);
    ratatui::try_init()
}

/// Restores the terminal after the full-screen view. Called on the thread that draws the view.
pub(crate) fn leave() {
    if TAKEN.swap(false, Ordering::AcqRel) {
        let _ = ratatui::try_restore();
    }
}

/// Restores the terminal if the full-screen view uses it, even if the thread that draws the view is blocked.
pub(crate) fn give_back() {
    if !TAKEN.swap(false, Ordering::AcqRel) {
        return;
    }
    // The line discipline is changed first, which does not wait for output.
    let _ = disable_raw_mode();
    // Standard output is written around its lock, which the drawing thread may hold, and only if it accepts data.
    if os::takes_something(Standard::Output, Some(Duration::ZERO)) {
        let _ = os::write_around(Standard::Output, AS_IT_WAS);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, repeat};

    use super::*;

    #[test]
    fn a_line_without_an_end_is_read_no_further_than_its_limit() {
        let endless = line(BufReader::new(repeat(b'y')), TYPED).expect_err("it has no end");
        assert_eq!(endless.to_string(), "a line of more than 4096 bytes");
        for (text, most, found) in [("yes\nno\n", 4, "yes\n"), ("yes", 4, "yes"), ("", 4, "")] {
            assert_eq!(line(text.as_bytes(), most).expect("a line"), found);
        }
        assert!(line(&b"yes\n"[..], 3).is_err());
    }
}

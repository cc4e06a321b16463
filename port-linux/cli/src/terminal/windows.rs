//! Reads keys of a console on Windows.

use ratatui::crossterm::event::{self, Event as OfTerminal, KeyCode, KeyEventKind, KeyModifiers};

/// Returns `true` if the terminal that keys are read from was closed. This is never the case, because the system
/// reports that to the process.
pub(crate) const fn is_gone() -> bool {
    false
}

/// Waits for the next key of the console, writes the bytes that a terminal of another system would send for it, and
/// returns their number. Returns 0 if the console is gone.
pub(crate) fn keys(bytes: &mut [u8]) -> usize {
    loop {
        let Ok(event) = event::read() else { return 0 };
        let OfTerminal::Key(key) = event else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        let mut character = [0; 4];
        let sent: &[u8] = match key.code {
            KeyCode::Char('c' | 'C') if key.modifiers.contains(KeyModifiers::CONTROL) => b"\x03",
            // A key pressed together with these is a different key, which has no meaning here.
            KeyCode::Char(_) if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => continue,
            KeyCode::Char(of) => of.encode_utf8(&mut character).as_bytes(),
            KeyCode::Esc => b"\x1b",
            KeyCode::Tab => b"\t",
            KeyCode::BackTab => b"\x1b[Z",
            KeyCode::Up => b"\x1b[A",
            KeyCode::Down => b"\x1b[B",
            KeyCode::Right => b"\x1b[C",
            KeyCode::Left => b"\x1b[D",
            KeyCode::PageUp => b"\x1b[5~",
            KeyCode::PageDown => b"\x1b[6~",
            _ => continue,
        };
        let Some(room) = bytes.get_mut(..sent.len()) else { return 0 };
        room.copy_from_slice(sent);
        return sent.len();
    }
}

//! The keys of the full-screen view, read on a thread of their own, so that keys work even if the terminal accepts no
//! output.

use std::io;
use std::sync::Arc;

use outrigger_core::mode::Epoch;
use tokio::sync::mpsc::UnboundedSender;

use super::PAGES;
use super::page_state::{ScrollState, Turn};
use crate::terminal;
use outrigger::host::os::INTERRUPT;
use outrigger::host::signals::ask;
use outrigger::host::worker::Worker;
use outrigger::released::{QUIT, ReleasedBy};
use outrigger::show::{Key, seen};

const ESCAPE: u8 = 0x1b;
const CONTROL_C: u8 = 0x03;

/// The number of rows by which the keys page up and page down scroll the help.
const PAGE: i16 = 10;

/// Reads keys of standard input into `keys` as long as the process or the terminal exists. Keys that only change the
/// view are applied to `place`.
///
/// # Errors
/// The errors of the kernel if it provides no thread.
pub(super) fn listen(keys: UnboundedSender<Key>, place: Arc<ScrollState>) -> io::Result<Worker> {
    Worker::start("keys", move || read(&keys, &place))
}

fn read(keys: &UnboundedSender<Key>, place: &ScrollState) {
    let mut bytes = [0; 64];
    loop {
        match terminal::keys(&mut bytes) {
            0 => break,
            count => {
                let pressed = pressed(bytes.get(..count).unwrap_or_default(), seen());
                pressed.for_each(|press| tell(press, keys, place));
            }
        }
    }
    // From here on no key can stop an arm.
    let _ = keys.send(Key::HangUp);
}

fn tell(press: KeyAction, keys: &UnboundedSender<Key>, place: &ScrollState) {
    match press {
        KeyAction::Escape if place.close() => {}
        // If the end is requested twice, it does not depend on the loop that handles keys.
        KeyAction::Escape => ask(QUIT),
        KeyAction::End(who) => ask(who),
        KeyAction::Key(key) => drop(keys.send(key)),
        KeyAction::Turn(turn) => place.turn(turn, PAGES),
    }
}

/// The action that a key pressed in the full-screen view causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyAction {
    /// End the command on behalf of this cause: the key q or Ctrl-C, which also arrives as a key, because a terminal in
    /// raw mode does not send SIGINT.
    End(&'static str),
    /// Hide the explanation of the words on the page, or end the command if none is shown.
    Escape,
    Key(Key),
    Turn(Turn),
}

/// Returns the actions of the keys in `bytes`, the result of one read. `seen` is the session's [`Epoch`] that the
/// screen shows; a request of the user contains it. Of the keys that send an escape sequence, only those that change
/// the view have an action.
fn pressed(bytes: &[u8], seen: Epoch) -> impl Iterator<Item = KeyAction> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let (first, after) = rest.split_first()?;
            if *first == ESCAPE && !after.is_empty() {
                rest = after_sequence(after);
                let length = after.len().saturating_sub(rest.len());
                match by_sequence(after.get(..length).unwrap_or_default()) {
                    Some(turn) => return Some(KeyAction::Turn(turn)),
                    None => continue,
                }
            }
            rest = after;
            match first {
                &CONTROL_C => return Some(KeyAction::End(INTERRUPT)),
                b'q' => return Some(KeyAction::End(QUIT)),
                &ESCAPE => return Some(KeyAction::Escape),
                b'r' => return Some(KeyAction::Key(Key::Request(seen))),
                b'c' => return Some(KeyAction::Key(Key::Resume(seen))),
                b's' | b' ' => return Some(KeyAction::Key(Key::Release(ReleasedBy::Key))),
                b'a' => return Some(KeyAction::Key(Key::Acknowledge)),
                b'\t' => return Some(KeyAction::Turn(Turn::Next)),
                b'?' => return Some(KeyAction::Turn(Turn::Explain)),
                number @ b'1'..=b'9' => return Some(KeyAction::Turn(Turn::To(u16::from(number - b'1')))),
                _ => {}
            }
        }
    })
}

/// Returns the effect on the view of a key that sends an escape sequence, given without its escape character: the
/// arrows, backward tab, page up and page down. `None` for any other sequence.
fn by_sequence(sequence: &[u8]) -> Option<Turn> {
    match sequence {
        b"[C" | b"OC" => Some(Turn::Next),
        b"[D" | b"OD" | b"[Z" => Some(Turn::Previous),
        b"[A" | b"OA" => Some(Turn::Scroll(-1)),
        b"[B" | b"OB" => Some(Turn::Scroll(1)),
        b"[5~" => Some(Turn::Scroll(-PAGE)),
        b"[6~" => Some(Turn::Scroll(PAGE)),
        _ => None,
    }
}

/// Returns the bytes after the first escape sequence in `bytes`, which begin after its escape character. A sequence is
/// `[`, parameters and a last letter; `O` and a letter; or one key that was pressed together with Alt.
fn after_sequence(bytes: &[u8]) -> &[u8] {
    let length = match bytes {
        [b'[', parameters @ ..] => {
            let last = parameters.iter().position(|byte| (0x40..=0x7e).contains(byte));
            last.map_or(bytes.len(), |last| last + 2)
        }
        [b'O', ..] => 2,
        // Another escape character begins a new sequence.
        [ESCAPE, ..] => 0,
        _ => 1,
    };
    bytes.get(length..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: Epoch = Epoch::from_number(5);

    fn keys(bytes: &[u8]) -> Vec<KeyAction> {
        pressed(bytes, SEEN).collect()
    }

    #[test]
    fn each_key_has_its_meaning_and_control_c_is_an_interrupt() {
        use Key::{Acknowledge, Request, Resume};
        let release = Key::Release(ReleasedBy::Key);
        assert_eq!(keys(b"rcs a"), [Request(SEEN), Resume(SEEN), release, release, Acknowledge].map(KeyAction::Key));
        assert_eq!(keys(b"q\x03\x1b"), [KeyAction::End(QUIT), KeyAction::End(INTERRUPT), KeyAction::Escape]);
        assert_eq!(keys("xäQ0\r".as_bytes()), []);
    }

    #[test]
    fn keys_that_send_a_sequence_turn_pages_or_are_no_keys_and_hide_none() {
        let f5_home_end_alt_q = b"\x1b[15~\x1bOH\x1b[1;5F\x1bq";
        assert_eq!(keys(f5_home_end_alt_q), []);
        let (up, stop) = (KeyAction::Turn(Turn::Scroll(-1)), KeyAction::Key(Key::Release(ReleasedBy::Key)));
        assert_eq!(keys(b"\x1b[As\x1bOAs"), [up, stop, up, stop]);
        assert_eq!(keys(b"\x1b[15"), [], "cut off");
        assert_eq!(keys(b"\x1b\x1b"), [KeyAction::Escape]);
    }

    #[test]
    fn numbers_tab_and_arrows_turn_pages_and_nothing_of_the_robot() {
        use Turn::{Explain, Next, Previous, Scroll, To};
        let turns = [To(0), To(8), Next, Next, Previous, Previous, Explain, Scroll(1), Scroll(10), Scroll(-10)];
        assert_eq!(keys(b"19\t\x1b[C\x1b[D\x1b[Z?\x1b[B\x1b[6~\x1b[5~"), turns.map(KeyAction::Turn));
    }

    #[test]
    fn escape_ends_an_explanation_before_it_ends_the_command() {
        let (keys, _taken) = tokio::sync::mpsc::unbounded_channel();
        let place = ScrollState::default();
        tell(KeyAction::Turn(Turn::Explain), &keys, &place);
        assert!(place.explains());
        tell(KeyAction::Escape, &keys, &place);
        assert!(!place.explains());
    }
}

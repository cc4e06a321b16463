//! Keys of the full-screen view, read on a thread of their own: a terminal that takes no output still gives keys.
//!
//! Read here and not by crossterm, whose reader never returns where the terminal is closed (0.29, its issue 793).

use std::io;
use std::os::fd::AsFd;

use outrigger_core::mode::Epoch;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc::UnboundedSender;

use super::{Key, shown};
use crate::signals::{INTERRUPT, ask};
use crate::worker::Worker;

const ESCAPE: u8 = 0x1b;
const CONTROL_C: u8 = 0x03;

/// Reads keys of standard input into `keys` for as long as the process lives, or the terminal.
///
/// # Errors
/// Those of the kernel where it gives no thread.
pub(super) fn listen(keys: UnboundedSender<Key>) -> io::Result<Worker> {
    Worker::start("keys", move || read(&io::stdin(), &keys))
}

fn read(terminal: &impl AsFd, keys: &UnboundedSender<Key>) {
    let mut bytes = [0; 64];
    loop {
        match poll(&mut [PollFd::new(terminal, PollFlags::IN)], None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => break,
        }
        match rustix::io::read(terminal, &mut bytes) {
            Ok(0) => break,
            Ok(count) => {
                let pressed = pressed(bytes.get(..count).unwrap_or_default(), shown::seen());
                pressed.for_each(|press| tell(press, keys));
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => break,
        }
    }
    // Nobody can stop an arm by a key any more.
    let _ = keys.send(Key::HangUp);
}

fn tell(press: Press, keys: &UnboundedSender<Key>) {
    match press {
        // Asked for twice, the end does not depend on the loop that takes keys.
        Press::End(who) => ask(who),
        Press::Key(key) => drop(keys.send(key)),
    }
}

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Press {
    /// The end, by this word. Ctrl-C is what SIGINT is: a terminal in raw mode sends none.
    End(&'static str),
    Key(Key),
}

const QUIT: Press = Press::End("quit");

/// The keys in what one read returned, of somebody who has seen this epoch. Keys that send a sequence mean nothing here.
fn pressed(bytes: &[u8], seen: Epoch) -> impl Iterator<Item = Press> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        loop {
            let (first, after) = rest.split_first()?;
            rest = if *first == ESCAPE { after_sequence(after) } else { after };
            // Alone it is the key.
            let alone = *first == ESCAPE && after.is_empty();
            match first {
                &CONTROL_C => return Some(Press::End(INTERRUPT)),
                b'q' => return Some(QUIT),
                &ESCAPE if alone => return Some(QUIT),
                b'r' => return Some(Press::Key(Key::Request(seen))),
                b'c' => return Some(Press::Key(Key::Resume(seen))),
                b's' | b' ' => return Some(Press::Key(Key::Release)),
                b'a' => return Some(Press::Key(Key::Acknowledge)),
                _ => {}
            }
        }
    })
}

/// What is left behind the sequence that an escape character begins: `[`, parameters and a last letter; `O` and a letter;
/// or one key that was pressed together with Alt.
fn after_sequence(bytes: &[u8]) -> &[u8] {
    let length = match bytes {
        [b'[', parameters @ ..] => {
            let last = parameters.iter().position(|byte| (0x40..=0x7e).contains(byte));
            last.map_or(bytes.len(), |last| last + 2)
        }
        [b'O', ..] => 2,
        // An escape once more begins anew.
        [ESCAPE, ..] => 0,
        _ => 1,
    };
    bytes.get(length..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: Epoch = Epoch::from_number(5);

    fn keys(bytes: &[u8]) -> Vec<Press> {
        pressed(bytes, SEEN).collect()
    }

    #[test]
    fn each_key_has_its_meaning_and_control_c_is_an_interrupt() {
        use Key::{Acknowledge, Release, Request, Resume};
        assert_eq!(keys(b"rcs a"), [Request(SEEN), Resume(SEEN), Release, Release, Acknowledge].map(Press::Key));
        assert_eq!(keys(b"q\x03\x1b"), [QUIT, Press::End(INTERRUPT), QUIT]);
        assert_eq!(keys("xäQ7\r".as_bytes()), []);
    }

    #[test]
    fn keys_that_send_a_sequence_are_no_keys_and_hide_none() {
        let up_f5_home_end_alt_q = b"\x1b[A\x1b[15~\x1bOH\x1b[1;5F\x1bq";
        assert_eq!(keys(up_f5_home_end_alt_q), []);
        assert_eq!(keys(b"\x1b[As\x1bOAs"), [Press::Key(Key::Release); 2]);
        assert_eq!(keys(b"\x1b[15"), [], "cut off");
        assert_eq!(keys(b"\x1b\x1b"), [QUIT]);
    }
}

//! Reads keys of a terminal on Linux and macOS.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The byte with which a terminal begins the escape sequence of a key.
const ESCAPE: u8 = 0x1b;
/// The longest wait for the remaining bytes of a key's escape sequence.
const REST: Duration = Duration::from_millis(50);

/// Returns `true` if the terminal that keys are read from was closed.
pub(crate) fn is_gone() -> bool {
    is_hung_up(&io::stdin())
}

/// Reads the bytes of the next keys of the terminal, complete sequences if there is space, and returns their number.
/// Returns 0 if the terminal is gone.
pub(crate) fn keys(bytes: &mut [u8]) -> usize {
    // Keys are not read by crossterm, whose reader never returns if the terminal is closed (0.29, its issue 793).
    let terminal = io::stdin();
    loop {
        match is_ready(&terminal, PollFlags::IN, None).and_then(|_| Ok(rustix::io::read(&terminal, &mut *bytes)?)) {
            Ok(mut count) => {
                // Over a network the rest of a sequence may arrive a little later; an escape character alone is a
                // key.
                if bytes.get(..count).is_some_and(|read| read.ends_with(&[ESCAPE]))
                    && let Some(room) = bytes.get_mut(count..).filter(|room| !room.is_empty())
                    && is_ready(&terminal, PollFlags::IN, Some(REST)).is_ok_and(|ready| ready)
                {
                    count += rustix::io::read(&terminal, room).unwrap_or(0);
                }
                return count;
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(_) => return 0,
        }
    }
}

/// Returns `true` if the other end of a terminal or of a pipe is closed.
fn is_hung_up(file: &impl AsFd) -> bool {
    let mut looked = [PollFd::new(file, PollFlags::IN)];
    let answered = poll(&mut looked, Some(&Timespec::default()));
    answered.is_ok() && looked[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// Returns `true` if the kernel reports one of `flags` for the open `file`. Waits for that, for `patience` at most if
/// it is given.
fn is_ready(file: &impl AsFd, flags: PollFlags, patience: Option<Duration>) -> io::Result<bool> {
    let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
    Ok(poll(&mut [PollFd::new(file, flags)], patience.as_ref())? > 0)
}

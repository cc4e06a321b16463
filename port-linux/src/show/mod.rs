//! The output of a running command: a live view, plain lines, or JSON lines.
//!
//! The control loop never writes to a terminal or a pipe. It passes messages to a thread, and drops and counts them
//! if that thread is too slow. The thread may be blocked in a write forever; others wait for it for at most a second.

pub mod condition_log;
pub mod events;
pub mod examination_result;
pub mod grade;
pub mod histogram;
mod io_terminals;
pub mod law_values;
mod progress;
mod reason_advice;
pub mod reason_text;
pub mod replayed_link_quality;
mod seen_epoch;
pub mod snapshot;
mod state_source;
mod unbuffered_output;
mod variables;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration as StdDuration;

use outrigger_core::mode::Epoch;
use outrigger_wire::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

pub use self::io_terminals::Terminals;
pub use self::progress::Progress;
pub use self::seen_epoch::seen;
pub use self::snapshot::{Arm, Joint, LawError, ReportedState, Snapshot};
pub use self::state_source::States;
pub use self::unbuffered_output::complain;
pub use self::unbuffered_output::tell;
use self::unbuffered_output::{Standard, Straight};
pub use self::variables::Variables;
use crate::exit::output_failed;
use crate::feed::Reader;
pub use crate::feed::notice::Notice;
use crate::host::signals::before_exit;
use crate::host::worker::{Joined, LOOK, Worker, within};
use crate::released::ReleasedBy;

/// `true` if all details (option `--verbose`) are to be displayed to people.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Displays all details to people from now on: each change of the link's grade (quality), each histogram.
pub fn be_verbose() {
    VERBOSE.store(true, Ordering::Relaxed);
}

/// Returns `true` if all details (option `--verbose`) are to be displayed to people.
pub fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// `true` if only results, events and errors are to be displayed to people.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Displays only results, events and errors to people from now on: no progress, no line per second, no view.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Returns `true` if only results, events and errors are to be displayed to people.
fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// The number of messages that can wait for the output thread: a second of snapshots and a burst of events. Older
/// messages are of no use any more.
const WAITING: usize = 256;
/// The time for writing the last messages to the output at the end of the command.
const LAST_WORDS: StdDuration = StdDuration::from_secs(1);
/// The time for restoring the terminal at the end, if the full-screen view is blocked.
const GIVEN_BACK: StdDuration = StdDuration::from_millis(100);

/// Prints like `println!`, for commands without a view. After a failed write the line is lost, and the command
/// continues to its end and its exit code. Unless the reader has closed the output (`| head`), the exit code is then
/// that of the failed write, if the command itself succeeds.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {{
        let line = format_args!("{}\n", format_args!($($text)*)).to_string();
        if let Err(error) = std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes()) {
            $crate::exit::output_failed(&error);
        }
    }};
}
pub use crate::say;

/// Prints like `eprint!`, but loses the text if standard error has no reader, and never panics.
#[macro_export]
macro_rules! eprint_lossy {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!($($text)*));
    }};
}
pub use crate::eprint_lossy;

/// Prints like `eprintln!`, but loses the line if standard error has no reader, and never panics.
#[macro_export]
macro_rules! eprintln_lossy {
    ($($text:tt)*) => { $crate::show::eprint_lossy!("{}\n", format_args!($($text)*)) };
}
pub use crate::eprintln_lossy;

/// The form of a command's output, for people or scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A full-screen view on the terminal.
    View,
    /// A line of text per event and per second, for people.
    Lines,
    /// A JSON object per event and per second, for scripts.
    Json,
    /// A line of text per event on standard error. Standard output is left to the application.
    Remarks,
    /// No output of the command at all.
    Silent,
}

impl Format {
    /// Returns JSON if it is requested, otherwise the full-screen view if this process [has one](use_screen), is not
    /// [quiet](be_quiet), and has a terminal as standard input and output; otherwise lines.
    #[must_use]
    pub fn choose(json: bool) -> Self {
        let has_screen = SCREEN.get().is_some() && !is_quiet();
        match (json, has_screen && io::stdout().is_terminal() && io::stdin().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::View,
            (false, false) => Self::Lines,
        }
    }

    /// Returns this form of output, or lines in place of a full-screen view if this process [has none](use_screen).
    pub(crate) fn possible(self) -> Self {
        if self == Self::View && SCREEN.get().is_none() { Self::Lines } else { self }
    }

    /// Returns the time between two snapshots of the session in this form of output.
    #[must_use]
    pub const fn pace(self) -> outrigger_wire::time::Duration {
        outrigger_wire::time::Duration::from_millis(if matches!(self, Self::View) { 100 } else { 1_000 })
    }
}

/// An input of the operator to a session: a key of the view, the closed terminal, or a request by a handle in the same
/// process. Keys that end the command are reported as [`Signals`](crate::host::signals::Signals).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The terminal of the view was closed, which ends the command.
    HangUp,
    /// A request by a handle in the same process to end the session, for this cause.
    End(ReleasedBy),
    /// A key or a handle that requests to command. Contains the session's epoch, a counter of connections and losses of
    /// authority, that the operator has seen.
    Request(Epoch),
    /// A key or a handle that requests to resume a suspended motion. Contains the session's epoch (a counter of
    /// connections and losses of authority) that the operator has seen.
    Resume(Epoch),
    /// A key or a handle that releases the arm for this cause: it is brought to rest, and the session continues.
    Release(ReleasedBy),
    /// A key or a handle that acknowledges a fault: clears its reason, which was latched, i.e. prevented commanding
    /// until now.
    Acknowledge,
}

/// A message to the output thread, and the session's epoch (a counter of connections and losses of authority) at that
/// time.
type Dated = (Epoch, Message);

/// A message to the thread that writes a command's output.
#[derive(Debug)]
pub enum Message {
    /// The displayed state of the session at one instant.
    Snapshot(Box<Snapshot>),
    /// An event of the session, with a text for people and values for scripts.
    Notice(Notice),
    /// Lines of text that are printed without a time. With [`Format::Remarks`] they follow `outrigger: ` on standard
    /// error. A full-screen view does not show them.
    Text(String),
    /// A reader of the session's feed (the queue of its traffic and events), for a full-screen view.
    Feed(Reader),
}

/// The receiver of the messages that a full-screen view displays.
#[derive(Debug)]
pub struct Messages(Receiver<Dated>);

impl Messages {
    /// Waits for the next message to display, at most for `wait`. Returns it with the session's epoch, or `None`.
    ///
    /// # Errors
    /// Returns [`Over`] when the session has ended.
    pub fn next(&self, wait: StdDuration) -> Result<Option<(Epoch, Message)>, Over> {
        next(&self.0, wait).map_err(|()| Over)
    }

    /// Records that the operator has seen this epoch of the session (a counter of connections and losses of authority).
    /// Later input was decided with this knowledge.
    pub fn show(&self, epoch: Epoch) {
        seen_epoch::show(epoch);
    }
}

/// The error that there will be no more messages, because the session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over;

/// A full-screen view, which uses the terminal of this process.
pub trait Screen: Send + Sync {
    /// Starts to display the `messages` of the command `title`, on the returned thread, and sends pressed keys.
    ///
    /// # Errors
    /// Returns the error of the operating system if it starts no thread.
    fn start(&self, title: &str, messages: Messages, keys: UnboundedSender<Key>) -> io::Result<Worker>;

    /// Restores the terminal if this view uses it, even if the view's thread is blocked.
    fn give_back(&self);
}

static SCREEN: OnceLock<&'static dyn Screen> = OnceLock::new();

/// Displays sessions on this full-screen view from now on, if standard input and output are a terminal: see
/// [`Format::choose`]. Only the first call has an effect.
pub fn use_screen(screen: &'static dyn Screen) {
    let _ = SCREEN.set(screen);
    before_exit(give_back);
}

/// Restores the terminal if a full-screen view uses it, before the process exits or if the view is blocked.
fn give_back() {
    if let Some(screen) = SCREEN.get() {
        screen.give_back();
    }
}

/// A handle to the thread that writes a command's output.
#[derive(Debug)]
pub struct Show {
    sender: Option<SyncSender<Dated>>,
    speaker: Option<Worker>,
    format: Format,
    /// The session's epoch (a counter of connections and losses of authority), which is attached to the messages that
    /// follow.
    epoch: Epoch,
    lost: Arc<Lost>,
    unread: Arc<AtomicBool>,
}

/// The number of messages that were not printed, because the reader of the output was too slow or a write failed.
#[derive(Debug, Default)]
struct Lost {
    count: AtomicU64,
    failed: AtomicBool,
}

impl Lost {
    fn add(&self, count: u64) {
        self.count.fetch_add(count, Ordering::Relaxed);
    }

    /// Records that a write to the command's output failed.
    fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Describes how many messages were dropped, and why. Returns `None` if there were none.
    fn words(&self, to: Standard) -> Option<String> {
        let failed = self.failed.load(Ordering::Relaxed);
        let why = if failed { "cannot be written" } else { "did not take them in time" };
        let name = match to {
            Standard::Output => "standard output",
            Standard::Error => "standard error",
        };
        Some(self.count()).filter(|lost| *lost > 0).map(|lost| format!("{lost} messages were dropped: {name} {why}"))
    }
}

impl Show {
    /// Starts the thread that writes the output. Pressed keys of the view are sent to `keys`, even if the output
    /// fails.
    #[must_use]
    pub fn start(format: Format, title: &str, keys: UnboundedSender<Key>) -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        let lost = Arc::new(Lost::default());
        let missed = Arc::clone(&lost);
        let unread = Arc::new(AtomicBool::new(false));
        let gone = Arc::clone(&unread);
        let screen = SCREEN.get().filter(|_| format == Format::View);
        let speaker = match screen {
            Some(screen) => screen.start(title, Messages(receiver), keys),
            None => Worker::start("output", move || match format {
                Format::View | Format::Lines => speak(&receiver, (&missed, &gone), Standard::Output, line),
                Format::Json => speak(&receiver, (&missed, &gone), Standard::Output, json),
                Format::Remarks => speak(&receiver, (&missed, &gone), Standard::Error, remark),
                Format::Silent => receiver.into_iter().for_each(drop),
            }),
        };
        let (sender, speaker) = match speaker {
            Ok(speaker) => (Some(sender), Some(speaker)),
            Err(_) => (None, None),
        };
        Self { sender, speaker, format, epoch: Epoch::default(), lost, unread }
    }

    /// Returns `true` after the reader of the output has closed it (`| head`).
    pub fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    /// Returns the form of the command's output.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Sets the session's epoch (a counter of connections and losses of authority). A reader of later messages has seen
    /// it.
    pub const fn epoch(&mut self, epoch: Epoch) {
        self.epoch = epoch;
    }

    /// Displays the state of the session at one instant.
    pub fn snapshot(&mut self, snapshot: Snapshot) {
        self.send(Message::Snapshot(Box::new(snapshot)));
    }

    /// Displays an event of the session.
    pub fn notice(&mut self, notice: Notice) {
        self.send(Message::Notice(notice));
    }

    /// Lets a full-screen view read the traffic of the session's connections from `reader`. Other forms of output
    /// ignore it.
    pub(crate) fn hear(&mut self, reader: Reader) {
        if self.format == Format::View {
            self.send(Message::Feed(reader));
        }
    }

    /// Prints lines of text without a time. With [`Format::Remarks`] they follow `outrigger: ` on standard error. A
    /// full-screen view does not show them.
    pub fn text(&mut self, text: String) {
        self.send(Message::Text(text));
    }

    fn send(&mut self, message: Message) {
        let message = (self.epoch, message);
        if self.sender.as_ref().is_none_or(|sender| sender.try_send(message).is_err()) {
            self.lost.add(1);
        }
    }

    /// Ends the output after all messages were printed, or after a timeout, and restores the terminal. Prints the
    /// number of dropped messages to standard error, and returns it.
    pub fn finish(mut self) -> u64 {
        self.close();
        let to = if self.format == Format::Remarks { Standard::Error } else { Standard::Output };
        if let Some(dropped) = self.lost.words(to) {
            complain(&dropped);
        }
        self.lost.count()
    }

    fn close(&mut self) {
        self.sender = None;
        let Some(speaker) = self.speaker.take() else { return };
        if speaker.join(LAST_WORDS) == Joined::Hangs {
            // Counts at least the message in whose write the thread is blocked.
            self.lost.add(1);
            unbuffered_output::takes_nothing();
            within(GIVEN_BACK, give_back);
        }
    }
}

impl Drop for Show {
    fn drop(&mut self) {
        self.close();
    }
}

fn line(message: &Message) -> Option<String> {
    match message {
        Message::Snapshot(_) if is_quiet() => None,
        Message::Snapshot(snapshot) => Some(snapshot.line()),
        Message::Notice(notice) => Some(notice_line(notice)),
        Message::Text(text) => Some(text.clone()),
        Message::Feed(_) => None,
    }
}

/// Formats an event of the session or a text as a line for standard error. Returns `None` for messages that this form
/// of output does not display: snapshots of the session, and readers of its traffic and events.
fn remark(message: &Message) -> Option<String> {
    match message {
        Message::Snapshot(_) | Message::Feed(_) => None,
        Message::Notice(notice) => Some(format!("outrigger: {}", notice_line(notice).trim_start())),
        Message::Text(text) => Some(format!("outrigger: {text}")),
    }
}

fn json(message: &Message) -> Option<String> {
    match message {
        Message::Snapshot(snapshot) => Some(crate::json::text(snapshot)),
        Message::Notice(notice) => Some(crate::json::text(notice)),
        Message::Text(text) => Some(text.clone()),
        Message::Feed(_) => None,
    }
}

/// Formats the notice of an event as a line of text, without the line end.
#[must_use]
pub fn notice_line(notice: &Notice) -> String {
    format!("{:9.3} s  {}", notice.at.since(Instant::ZERO).as_secs_f64(), notice.text)
}

/// Prints one line per message until the session has ended. Discards messages after the reader has closed the
/// output, and counts those that cannot be written.
fn speak(
    messages: &Receiver<Dated>,
    (lost, unread): (&Lost, &AtomicBool),
    to: Standard,
    text_of: impl Fn(&Message) -> Option<String>,
) {
    let mut out = Straight::new(to);
    while let Ok(next) = next(messages, LOOK) {
        let Some((epoch, message)) = next else { continue };
        let Some(text) = text_of(&message) else { continue };
        let text = match to {
            Standard::Error => progress::line_above(&text),
            Standard::Output => format!("{text}\n"),
        };
        match out.write_all(text.as_bytes()) {
            Ok(()) => seen_epoch::show(epoch),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                unread.store(true, Ordering::Relaxed);
                for _ in messages {}
                return;
            }
            // A full disk may have space again later.
            Err(error) => {
                lost.add(1);
                lost.fail();
                if matches!(to, Standard::Output) {
                    output_failed(&error);
                }
            }
        }
    }
}

/// Waits for the next message by polling, at most for `wait`, because waking this thread would cost the control loop
/// a system call. Returns `Err` when the session has ended.
fn next(messages: &Receiver<Dated>, mut wait: StdDuration) -> Result<Option<Dated>, ()> {
    loop {
        match messages.try_recv() {
            Ok(message) => return Ok(Some(message)),
            Err(TryRecvError::Disconnected) => return Err(()),
            Err(TryRecvError::Empty) if wait.is_zero() => return Ok(None),
            Err(TryRecvError::Empty) => {
                let look = wait.min(LOOK);
                std::thread::sleep(look);
                wait -= look;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_messages_are_counted_and_a_failed_write_is_told_from_a_slow_reader() {
        let lost = Lost::default();
        assert_eq!(lost.words(Standard::Output), None);
        lost.add(3);
        let said = "3 messages were dropped: standard output did not take them in time";
        assert_eq!(lost.words(Standard::Output).as_deref(), Some(said));
        lost.add(1);
        lost.fail();
        let said = "4 messages were dropped: standard output cannot be written";
        assert_eq!(lost.words(Standard::Output).as_deref(), Some(said));
        let said = "4 messages were dropped: standard error cannot be written";
        assert_eq!(lost.words(Standard::Error).as_deref(), Some(said));
    }
}

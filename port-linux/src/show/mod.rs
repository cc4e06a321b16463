//! What a running command shows: a live view, plain lines, or JSON lines.
//!
//! The control loop never writes to a terminal or a pipe: it hands what there is to say to a thread, and drops and counts it
//! where that thread is behind. The thread may hang in a write for ever; nobody waits for it longer than a second.

mod advice;
pub mod events;
pub mod grade;
pub mod histogram;
pub mod link_story;
pub mod log;
mod progress;
pub mod sheet;
mod shown;
pub mod snapshot;
mod states;
mod straight;
mod terminals;
pub mod values;
mod variables;
pub mod words;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration as StdDuration;

use outrigger_core::mode::Epoch;
use outrigger_wire::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

pub use self::progress::Progress;
pub use self::shown::seen;
pub use self::snapshot::{Arm, Joint, LawError, Snapshot, Word};
pub use self::states::States;
pub use self::straight::complain;
pub use self::straight::tell;
use self::straight::{Standard, Straight};
pub use self::terminals::Terminals;
pub use self::variables::Variables;
use crate::exit::output_failed;
use crate::feed::Reader;
pub use crate::feed::notice::Notice;
use crate::host::signals::before_exit;
use crate::host::worker::{Joined, LOOK, Worker, within};
use crate::released::ReleasedBy;

/// People asked for everything.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// From now on people are shown everything: each change of grade, each histogram.
pub fn be_verbose() {
    VERBOSE.store(true, Ordering::Relaxed);
}

/// Returns `true` if people asked for everything.
pub fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Messages that wait for the thread that speaks: a second of snapshots and a burst of events. What is older than that is of no
/// interest any more.
const WAITING: usize = 256;
/// So long the last of them may take to get out, at the end.
const LAST_WORDS: StdDuration = StdDuration::from_secs(1);
/// So long the terminal may take to be as it was, where the view hangs.
const GIVEN_BACK: StdDuration = StdDuration::from_millis(100);

/// `println!` for commands that speak without a view. Where the reader has gone away (`| head`) the line is lost, and the
/// command goes on to its end and its exit code. After any other failed write the process ends with that failure.
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

/// `eprint!` that loses the text where standard error has no reader, and panics never.
#[macro_export]
macro_rules! eprint_lossy {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!($($text)*));
    }};
}
pub use crate::eprint_lossy;

/// `eprintln!` that loses the line where standard error has no reader, and panics never.
#[macro_export]
macro_rules! eprintln_lossy {
    ($($text:tt)*) => { $crate::show::eprint_lossy!("{}\n", format_args!($($text)*)) };
}
pub use crate::eprintln_lossy;

/// How a command speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Full screen, redrawn.
    View,
    /// One line per event and second.
    Lines,
    /// One JSON object per event and second.
    Json,
    /// One line per event on standard error: a program's own output is its own.
    Remarks,
    /// Nothing.
    Silent,
}

impl Format {
    /// Returns JSON where it is asked for, otherwise what fits standard output; the view where this process [has one](use_screen).
    #[must_use]
    pub fn choose(json: bool) -> Self {
        match (json, SCREEN.get().is_some() && io::stdout().is_terminal() && io::stdin().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::View,
            (false, false) => Self::Lines,
        }
    }

    /// Returns the same, or lines in place of a view that this process does not [have](use_screen).
    pub(crate) fn possible(self) -> Self {
        if self == Self::View && SCREEN.get().is_none() { Self::Lines } else { self }
    }

    /// Time between two snapshots that are worth taking.
    #[must_use]
    pub const fn pace(self) -> outrigger_wire::time::Duration {
        outrigger_wire::time::Duration::from_millis(if matches!(self, Self::View) { 100 } else { 1_000 })
    }
}

/// A key pressed in the view, or what became of it. Those that end the command are [`Signals`](crate::host::signals::Signals).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The terminal was closed: end the command.
    HangUp,
    /// End it, for this cause.
    End(ReleasedBy),
    /// Ask to command, having seen this epoch.
    Request(Epoch),
    /// Ask to go on with a motion that was suspended.
    Resume(Epoch),
    /// Take the request back, for this cause.
    Release(ReleasedBy),
    /// Clear the latched reason.
    Acknowledge,
}

/// Something to say, and the epoch that it is of.
type Dated = (Epoch, Message);

/// Something to say.
#[derive(Debug)]
pub enum Message {
    /// The state of the session.
    Snapshot(Box<Snapshot>),
    /// An event.
    Notice(Notice),
    /// Lines as they are.
    Text(String),
    /// A reader of the session's feed, for a full-screen view.
    Feed(Reader),
}

/// The messages that a full-screen view shows.
#[derive(Debug)]
pub struct Messages(Receiver<Dated>);

impl Messages {
    /// Returns the next message within `wait`, with its epoch, or `None`; an error when there will be none any more.
    ///
    /// # Errors
    /// [`Over`] when the session has ended.
    pub fn next(&self, wait: StdDuration) -> Result<Option<(Epoch, Message)>, Over> {
        next(&self.0, wait).map_err(|()| Over)
    }

    /// Notes that whoever sits before the screen has seen this epoch: what is typed from now on was decided by it.
    pub fn show(&self, epoch: Epoch) {
        shown::show(epoch);
    }
}

/// The session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over;

/// A full-screen view, which takes the terminal of this process.
pub trait Screen: Send + Sync {
    /// Starts to show `messages` of the command `title`, on the thread that is returned, and sends keys that are pressed.
    ///
    /// # Errors
    /// Those of the operating system where it gives no thread.
    fn start(&self, title: &str, messages: Messages, keys: UnboundedSender<Key>) -> io::Result<Worker>;

    /// Gives the terminal back where the view has it, whatever its thread hangs in.
    fn give_back(&self);
}

static SCREEN: OnceLock<&'static dyn Screen> = OnceLock::new();

/// Shows sessions on this full-screen view from now on, where standard output is a terminal: see [`Format::choose`]. The first one
/// that is given stays.
pub fn use_screen(screen: &'static dyn Screen) {
    let _ = SCREEN.set(screen);
    before_exit(give_back);
}

/// Gives the terminal back where a full-screen view has it.
fn give_back() {
    if let Some(screen) = SCREEN.get() {
        screen.give_back();
    }
}

/// The way to the thread that speaks.
#[derive(Debug)]
pub struct Show {
    sender: Option<SyncSender<Dated>>,
    speaker: Option<Worker>,
    format: Format,
    /// What is said from now on is of this epoch.
    epoch: Epoch,
    lost: Arc<Lost>,
    unread: Arc<AtomicBool>,
}

/// What was not said, because the reader of the output was too slow, or gone wrong.
#[derive(Debug, Default)]
struct Lost {
    count: AtomicU64,
    failed: AtomicBool,
}

impl Lost {
    fn add(&self, count: u64) {
        self.count.fetch_add(count, Ordering::Relaxed);
    }

    /// Notes that a write failed.
    fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns how much was dropped on the way to this output and why, if anything was.
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
    /// Starts speaking. In the view, keys go to `keys`, whatever becomes of the output.
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

    /// Returns `true` once the reader of the output has gone away (`| head`).
    pub fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    /// How it speaks.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// From now on the robot's machine is in this epoch: who reads what is said then has seen it.
    pub const fn epoch(&mut self, epoch: Epoch) {
        self.epoch = epoch;
    }

    /// Says how things stand.
    pub fn snapshot(&mut self, snapshot: Snapshot) {
        self.send(Message::Snapshot(Box::new(snapshot)));
    }

    /// Says what happened.
    pub fn notice(&mut self, notice: Notice) {
        self.send(Message::Notice(notice));
    }

    /// In the view, what the session's connections carry is shown as well.
    pub(crate) fn hear(&mut self, reader: Reader) {
        if self.format == Format::View {
            self.send(Message::Feed(reader));
        }
    }

    /// Says lines as they are, without a time.
    pub fn text(&mut self, text: String) {
        self.send(Message::Text(text));
    }

    fn send(&mut self, message: Message) {
        let message = (self.epoch, message);
        if self.sender.as_ref().is_none_or(|sender| sender.try_send(message).is_err()) {
            self.lost.add(1);
        }
    }

    /// Ends speaking once everything is said, or cannot be; the terminal is as it was. How many messages were dropped, which
    /// is said on standard error.
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
            // As many as still wait for it, at least the one it hangs in.
            self.lost.add(1);
            straight::takes_nothing();
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
        Message::Snapshot(snapshot) => Some(snapshot.line()),
        Message::Notice(notice) => Some(notice_line(notice)),
        Message::Text(text) => Some(text.clone()),
        Message::Feed(_) => None,
    }
}

/// What happened; how things stand is the program's to say.
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

/// Returns a notice as a line, without its end.
#[must_use]
pub fn notice_line(notice: &Notice) -> String {
    format!("{:9.3} s  {}", notice.at.since(Instant::ZERO).as_secs_f64(), notice.text)
}

/// Prints one line per message until the sender is gone. What nobody reads any more is drained, what cannot be written is
/// counted.
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
            Ok(()) => shown::show(epoch),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                unread.store(true, Ordering::Relaxed);
                for _ in messages {}
                return;
            }
            // A full disk may have room again.
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

/// The next message within `wait`, looked for again and again: to wake this thread would cost the loop a call of the kernel.
/// `Err` when the sender is gone.
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

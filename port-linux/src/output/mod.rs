//! What a running command shows: a live view, plain lines, or JSON lines.
//!
//! The control loop never writes to a terminal or a pipe: it hands what there is to say to a thread, and
//! drops it where that thread is behind.

pub mod events;
pub mod histogram;
mod snapshot;
mod states;
mod view;
pub mod words;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration as StdDuration;

use outrigger_core::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

pub use self::snapshot::{Arm, Joint, Snapshot, Word};
pub use self::states::States;
use crate::json::Json;

/// `println!` for commands that speak without a view. Where the reader has gone away (`| head`) the line is lost, and the
/// command goes on to its end and its exit code.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{}\n", format_args!($($text)*)));
    }};
}
pub(crate) use say;

/// How a command speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Full screen, redrawn.
    View,
    /// One line per event and second.
    Lines,
    /// One JSON object per event and second.
    Json,
}

impl Format {
    /// JSON where it is asked for, otherwise what fits standard output.
    #[must_use]
    pub fn choose(json: bool) -> Self {
        match (json, io::stdout().is_terminal() && io::stdin().is_terminal()) {
            (true, _) => Self::Json,
            (false, true) => Self::View,
            (false, false) => Self::Lines,
        }
    }

    /// Time between two snapshots that are worth taking.
    #[must_use]
    pub const fn pace(self) -> outrigger_core::time::Duration {
        outrigger_core::time::Duration::from_millis(if matches!(self, Self::View) { 100 } else { 1_000 })
    }
}

/// Something that happened, once.
#[derive(Clone, Debug)]
pub struct Notice {
    /// When, since the start of the process.
    pub at: Instant,
    /// What kind of thing, as one word for scripts.
    pub kind: &'static str,
    /// What happened, for people.
    pub text: String,
    /// Further words for scripts.
    pub fields: Vec<(&'static str, String)>,
}

impl Notice {
    /// Puts one object into `json`.
    pub fn json(&self, json: &mut Json) {
        json.begin_object().key("type").text("event");
        json.key("time").float(self.at.as_micros() as f64 / 1e6);
        json.key("kind").text(self.kind).key("text").text(&self.text);
        for (name, value) in &self.fields {
            json.key(name).text(value);
        }
        json.end_object();
    }
}

/// A key pressed in the view, or what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// End the command.
    Quit,
    /// The terminal was closed: end the command.
    HangUp,
    /// Ask to command.
    Request,
    /// Ask to go on with a motion that was suspended.
    Resume,
    /// Take the request back.
    Release,
    /// Clear the latched reason.
    Acknowledge,
}

enum Message {
    Snapshot(Box<Snapshot>),
    Notice(Notice),
}

/// The way to the thread that speaks.
#[derive(Debug)]
pub struct Output {
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<()>>,
    format: Format,
    dropped: u64,
}

impl Output {
    /// Starts speaking. In the view, keys go to `keys`; a view that cannot be opened becomes lines.
    #[must_use]
    pub fn start(format: Format, title: &str, keys: UnboundedSender<Key>) -> Self {
        // A second of snapshots and a burst of events: what is older than that is of no interest any more.
        let (sender, receiver) = sync_channel(64);
        let title = title.to_owned();
        let thread = std::thread::Builder::new().name("outrigger-output".into()).spawn(move || match format {
            Format::View => view::run(&title, &receiver, &keys),
            Format::Lines => speak(&receiver, |message, text| match message {
                Message::Snapshot(snapshot) => text.push_str(&snapshot.line()),
                Message::Notice(notice) => text.push_str(&notice_line(notice)),
            }),
            Format::Json => speak(&receiver, |message, text| {
                let mut json = Json::default();
                match message {
                    Message::Snapshot(snapshot) => snapshot.json(&mut json),
                    Message::Notice(notice) => notice.json(&mut json),
                }
                text.push_str(json.as_str());
            }),
        });
        let (sender, thread) = match thread {
            Ok(thread) => (Some(sender), Some(thread)),
            Err(_) => (None, None),
        };
        Self { sender, thread, format, dropped: 0 }
    }

    /// How it speaks.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// Says how things stand.
    pub fn snapshot(&mut self, snapshot: Snapshot) {
        self.send(Message::Snapshot(Box::new(snapshot)));
    }

    /// Says what happened.
    pub fn notice(&mut self, notice: Notice) {
        self.send(Message::Notice(notice));
    }

    fn send(&mut self, message: Message) {
        if self.sender.as_ref().is_some_and(|sender| sender.try_send(message).is_err()) {
            self.dropped += 1;
        }
    }

    /// Ends speaking once everything is said; the terminal is as it was. How many messages were dropped because
    /// the reader of the output was too slow.
    pub fn finish(mut self) -> u64 {
        self.close();
        self.dropped
    }

    fn close(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.close();
    }
}

fn notice_line(notice: &Notice) -> String {
    format!("{:9.3} s  {}", notice.at.since(Instant::ZERO).as_secs_f64(), notice.text)
}

/// Prints one line per message until the sender is gone or nobody reads any more.
fn speak(messages: &Receiver<Message>, print: impl Fn(&Message, &mut String)) {
    let mut text = String::new();
    while let Ok(message) = messages.recv() {
        text.clear();
        print(&message, &mut text);
        let mut out = io::stdout().lock();
        if writeln!(out, "{text}").and_then(|()| out.flush()).is_err() {
            // A closed pipe: keep the control loop's channel drained, say nothing.
            for _ in messages {}
            return;
        }
    }
}

/// The next message within `wait`; `Err` when the sender is gone.
fn next(messages: &Receiver<Message>, wait: StdDuration) -> Result<Option<Message>, ()> {
    match messages.recv_timeout(wait) {
        Ok(message) => Ok(Some(message)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(()),
    }
}

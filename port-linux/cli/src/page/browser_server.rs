//! Serves the browsers that show the page: a bounded number of connections, each with one slot for the newest state.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::FAREWELL;
use super::browser_messages::{Messages, Numbered, lost};
use super::http::{self, HttpRequest, PageResource, Refusal};
use outrigger::json;

/// The largest number of browser pages that show the session at once; further ones are refused.
const MOST_WATCHING: usize = 64;
/// The largest number of connections that browsers may have to the live page's server at once, including those that
/// only load the page; further ones are closed unread.
const MOST_CONNECTIONS: usize = 128;
/// The time within which a browser's request must be complete, and the answer to it be read.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time without reading after which a browser page counts as inactive, because the browser has suspended it. Its
/// connection is closed, and it opens a new one when it continues.
const ASLEEP: Duration = Duration::from_secs(10);
/// The size of the kernel's send buffer for each connection of a browser \[B\], so that little is queued for one that
/// reads slowly.
const KEPT_BY_THE_KERNEL: usize = 64 * 1024;
/// The interval at which the server checks whether there is a new robot state for the open pages.
const PACE: Duration = Duration::from_micros(16_667);
/// The interval at which the server's counters are sent if there is no robot state, so that a page sees that it is
/// connected.
const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// The largest number of events that may be queued for a slow browser; older ones are dropped.
const EVENTS_BEHIND: usize = 64;

/// The first line of a message with a state from before the page was opened.
const PAST: &str = "data: {\"type\":\"past\"}\n";

const PAGE: &str = include_str!("web/index.html");
const SCRIPT: &str = concat!(
    include_str!("../report/plot/plot.js"),
    include_str!("web/kept.js"),
    include_str!("web/plots.js"),
    include_str!("web/figures.js"),
    include_str!("web/view.js"),
    include_str!("web/cursor.js")
);
const PICTURE: &str = concat!(include_str!("web/labels.js"), include_str!("web/solids.js"), include_str!("web/arm.js"));
const STYLE: &str = concat!(
    include_str!("../report/plot/palette.css"),
    ":root[data-scheme=\"dark\"] {\n",
    include_str!("../report/plot/dark.css"),
    "}\n",
    include_str!("web/view.css")
);

/// The HTTP headers of every answer. By them the browser loads the page's parts from this server only, and no other
/// page can embed the page.
const RULES: &str = "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
                     X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
                     Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\nConnection: close\r\n";

/// The state that all connections of the page's server share with the thread that started it.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    watching: AtomicUsize,
    left_out: AtomicU64,
    opened: AtomicU64,
    sent: AtomicU64,
    dropped: AtomicU64,
    refused: AtomicU64,
    asleep: AtomicU64,
    over: AtomicBool,
}

/// The counters of the live page's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "page")]
pub(crate) struct Counts {
    /// The number of times that the live page was opened.
    pub(crate) opened: u64,
    /// The number of states sent, to all open pages together.
    pub(crate) sent: u64,
    /// The number of states not sent, because a page was too slow.
    pub(crate) dropped: u64,
    /// The number of pages closed because they read nothing for 10 s.
    pub(crate) asleep: u64,
    /// The number of requests of browsers that were refused.
    pub(crate) refused: u64,
}

impl Counts {
    /// Returns these counters as a line of text for people.
    pub(crate) fn text(&self) -> String {
        let Self { opened, sent, dropped, refused, asleep } = self;
        format!(
            "page: opened {opened} times, {sent} states sent, {dropped} dropped for slow readers, {asleep} idle pages closed, {refused} \
             requests refused"
        )
    }

    /// Returns these counters as a JSON object for scripts.
    pub(crate) fn json(&self) -> String {
        json::text(self)
    }
}

impl Shared {
    /// Returns `true` if a browser shows the page. Otherwise no states are prepared.
    fn is_watched(&self) -> bool {
        self.watching.load(Ordering::Relaxed) > 0
    }

    /// Ends the service of the live page: open pages are notified, and nothing more is served.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    pub(super) fn counts(&self) -> Counts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            opened: of(&self.opened),
            sent: of(&self.sent),
            dropped: of(&self.dropped) + of(&self.left_out),
            refused: of(&self.refused),
            asleep: of(&self.asleep),
        }
    }
}

/// A slot for one of the [`MOST_WATCHING`] browser pages that may show the session at once. It is free again when this
/// is dropped.
pub(super) struct ReaderSlot(Arc<Shared>);

impl ReaderSlot {
    pub(super) fn take(shared: &Arc<Shared>) -> Option<Self> {
        // Only one thread takes slots.
        if shared.watching.load(Ordering::Relaxed) >= MOST_WATCHING {
            return None;
        }
        shared.watching.fetch_add(1, Ordering::Relaxed);
        Some(Self(Arc::clone(shared)))
    }
}

impl Drop for ReaderSlot {
    fn drop(&mut self) {
        self.0.watching.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The channels that carry new states and events to every reader of the page.
struct Broadcast {
    robot: watch::Sender<Numbered>,
    states: watch::Sender<Option<Numbered>>,
    events: broadcast::Sender<Numbered>,
}

/// The first texts for a browser that has opened the page, and the channels that bring it later states and events.
struct Hearing {
    first: Vec<Arc<str>>,
    /// The number of the newest event that the first text contains.
    event: u64,
    robot: watch::Receiver<Numbered>,
    states: watch::Receiver<Option<Numbered>>,
    events: broadcast::Receiver<Numbered>,
}

/// Serves the live page to browsers until `messages` has no more messages. `serial` finds out the arm's serial number;
/// it begins when the page is first opened, unless the controller is known to report none.
pub(super) async fn serve(
    listener: std::net::TcpListener,
    shared: Arc<Shared>,
    messages: &mut dyn Messages,
    serial: impl Future<Output = Option<String>>,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let robot = watch::channel(messages.robot()).0;
    let told = Broadcast { robot, states: watch::channel(None).0, events: broadcast::channel(EVENTS_BEHIND).0 };
    let mut connections = JoinSet::new();
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut serial, mut is_identified) = (pin!(serial), false);
    // Each connection asks once.
    let (ask, mut asked) = mpsc::channel(MOST_CONNECTIONS);
    loop {
        let asks_serial = !is_identified && shared.opened.load(Ordering::Relaxed) > 0 && messages.may_report_serial();
        tokio::select! {
            _ = pace.tick() => {
                // The end is checked first, so that everything before it is sent.
                let over = messages.is_over() || shared.over.load(Ordering::Acquire);
                while let Some(event) = messages.event() {
                    // An error means that there is no reader.
                    let _ = told.events.send(event);
                }
                let state = messages.state(shared.is_watched());
                shared.left_out.store(messages.left_out(), Ordering::Relaxed);
                let robot = messages.robot();
                told.robot.send_if_modified(|told| {
                    let is_new = told.number != robot.number;
                    if is_new {
                        *told = robot;
                    }
                    is_new
                });
                if let Some(state) = state {
                    told.states.send_replace(Some(state));
                }
                if over {
                    break;
                }
            }
            Some(reader) = asked.recv() => answer(reader, messages, &told),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if connections.len() < MOST_CONNECTIONS => {
                    connections.spawn(attend(stream, Arc::clone(&shared), ask.clone()));
                }
                Ok((stream, _)) => {
                    shared.refused.fetch_add(1, Ordering::Relaxed);
                    drop(stream);
                }
                // An error such as too many open files persists for a while.
                Err(_) => tokio::time::sleep(FAREWELL).await,
            },
            number = &mut serial, if asks_serial => {
                is_identified = true;
                if let Some(number) = number {
                    messages.identify(number);
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
    while let Ok(reader) = asked.try_recv() {
        answer(reader, messages, &told);
    }
    drop((listener, asked, told));
    // Connections that stall are abandoned after a while.
    let _ = timeout(FAREWELL, async { while connections.join_next().await.is_some() {} }).await;
    Ok(())
}

/// A place for the first texts and the channels of a browser that has requested the stream.
type Waiting = oneshot::Sender<Hearing>;

fn answer(reader: Waiting, messages: &dyn Messages, told: &Broadcast) {
    // An error means that the browser has disconnected.
    let _ = reader.send(hearing(messages, told));
}

/// Returns the stored messages as the first texts for a browser, and subscribes it to later states and events.
fn hearing(messages: &dyn Messages, told: &Broadcast) -> Hearing {
    let (mut robot, news, events) = (told.robot.subscribe(), told.states.subscribe(), told.events.subscribe());
    let known = Arc::clone(&robot.borrow_and_update().text);
    let mut first = vec![messages.about(), known];
    first.extend(messages.remembered().iter().map(|event| Arc::clone(&event.text)));
    let (begin, end): (Arc<str>, Arc<str>) = (PAST.into(), "\n".into());
    let states = messages.past().texts();
    first.extend(states.flat_map(|state| [Arc::clone(&begin), Arc::clone(state), Arc::clone(&end)]));
    let event = messages.remembered().back().map_or(0, |event| event.number);
    Hearing { first, event, robot, states: news, events }
}

/// Answers one request of a browser: with a part of the page, with the stream of states, or with a refusal.
async fn attend(stream: TcpStream, shared: Arc<Shared>, ask: mpsc::Sender<Waiting>) {
    // Without this limit, the kernel may buffer megabytes for each client that does not read.
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(&stream, KEPT_BY_THE_KERNEL);
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else { return };
    let (mut from, mut to) = stream.into_split();
    let asked = timeout(PATIENCE, head(&mut from, local)).await.unwrap_or(Some(HttpRequest::Refused(Refusal::TooSlow)));
    let (status, kind, body) = match asked {
        None | Some(HttpRequest::More) => return,
        Some(HttpRequest::For(PageResource::Stream)) => match ReaderSlot::take(&shared) {
            Some(_place) => {
                shared.opened.fetch_add(1, Ordering::Relaxed);
                let (reader, hearing) = oneshot::channel();
                // An error means that the session is over.
                let _ = ask.send(reader).await;
                if let Ok(hearing) = hearing.await {
                    watch(&mut from, &mut to, &shared, hearing).await;
                }
                return;
            }
            None => refused(&shared, Refusal::Full),
        },
        Some(HttpRequest::For(PageResource::Page)) => ("200 OK", "text/html", PAGE),
        Some(HttpRequest::For(PageResource::Script)) => ("200 OK", "text/javascript", SCRIPT),
        Some(HttpRequest::For(PageResource::Picture)) => ("200 OK", "text/javascript", PICTURE),
        Some(HttpRequest::For(PageResource::Style)) => ("200 OK", "text/css", STYLE),
        Some(HttpRequest::Refused(refusal)) => refused(&shared, refusal),
    };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\n{RULES}\r\n{body}"
    );
    let sent = timeout(PATIENCE, async {
        to.write_all(answer.as_bytes()).await?;
        to.shutdown().await
    });
    if matches!(sent.await, Ok(Ok(()))) {
        // If a connection is closed with unread data, the kernel drops what is still being sent.
        let mut ignored = [0; 1024];
        let rest = async { while from.read(&mut ignored).await.is_ok_and(|count| count > 0) {} };
        let _ = timeout(FAREWELL, rest).await;
    }
}

fn refused(shared: &Shared, refusal: Refusal) -> (&'static str, &'static str, &'static str) {
    shared.refused.fetch_add(1, Ordering::Relaxed);
    let (status, what) = refusal.words();
    (status, "text/plain", what)
}

/// Reads the head of a browser's HTTP request from `from`. Returns `None` if the connection is closed before its end.
async fn head(from: &mut OwnedReadHalf, local: SocketAddr) -> Option<HttpRequest> {
    let mut head = Vec::with_capacity(1024);
    let mut piece = [0; 1024];
    loop {
        let count = from.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        let room = http::MOST.saturating_sub(head.len()).min(count);
        head.extend_from_slice(piece.get(..room)?);
        let asked = http::asked(&head, local);
        if asked != HttpRequest::More {
            return Some(asked);
        }
    }
}

/// Sends new states and events to one browser, until it disconnects or the session ends. A browser that sends further
/// data is disconnected.
async fn watch(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, shared: &Shared, hearing: Hearing) {
    let mut ignored = [0; 16];
    tokio::select! {
        _ = from.read(&mut ignored) => {}
        () = tell(to, shared, hearing) => {}
    }
}

async fn tell(to: &mut OwnedWriteHalf, shared: &Shared, hearing: Hearing) {
    let Hearing { first, mut event, mut robot, mut states, mut events } = hearing;
    let mut dropped = 0;
    // States from before its connection do not count for it.
    let mut newest = states.borrow_and_update().as_ref().map_or(0, |state| state.number);
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n{RULES}\r\nretry: 1000\n\n");
    // States missed while it was asleep count as dropped as well.
    let missed_all = |newest: u64, states: &watch::Receiver<Option<Numbered>>| {
        let last = states.borrow().as_ref().map_or(0, |state| state.number);
        shared.dropped.fetch_add(last.saturating_sub(newest), Ordering::Relaxed);
    };
    for text in [head.into()].into_iter().chain(first) {
        if !send(to, shared, &text).await {
            return missed_all(newest, &states);
        }
    }
    loop {
        let text = tokio::select! {
            biased;
            heard = events.recv() => match heard {
                Ok(message) if message.number <= event => continue,
                Ok(message) => {
                    event = message.number;
                    message.text.to_string()
                }
                Err(broadcast::error::RecvError::Lagged(count)) => missed(count),
                Err(broadcast::error::RecvError::Closed) => {
                    send(to, shared, "data: {\"type\":\"end\"}\n\n").await;
                    return;
                }
            },
            Ok(()) = robot.changed() => robot.borrow_and_update().text.to_string(),
            Ok(()) = states.changed() => {
                let Some(state) = states.borrow_and_update().clone() else { continue };
                let behind = state.number.saturating_sub(newest + 1);
                dropped += behind;
                shared.dropped.fetch_add(behind, Ordering::Relaxed);
                shared.sent.fetch_add(1, Ordering::Relaxed);
                newest = state.number;
                format!("{}{}", state.text, counted(shared, dropped))
            }
            () = tokio::time::sleep(SIGN_OF_LIFE) => counted(shared, dropped),
        };
        if !send(to, shared, &text).await {
            return missed_all(newest, &states);
        }
    }
}

/// The counters that an open page shows, as a JSON object: those of all pages, and in `dropped` the number of states
/// that this page missed.
#[derive(Serialize)]
#[serde(tag = "type", rename = "page")]
struct Served {
    watching: usize,
    dropped: u64,
    dropped_of_all: u64,
    refused: u64,
}

fn counted(shared: &Shared, dropped: u64) -> String {
    let served = Served {
        watching: shared.watching.load(Ordering::Relaxed),
        dropped,
        dropped_of_all: shared.counts().dropped,
        refused: shared.refused.load(Ordering::Relaxed),
    };
    format!("data: {}\n\n", json::text(&served))
}

fn missed(count: u64) -> String {
    format!("data: {}\n\n", lost(&format!("{count} events dropped: this browser reads too slowly")))
}

/// Sends `text` to a browser. Returns `false` if the browser did not read it within [`ASLEEP`], or has disconnected.
async fn send(to: &mut OwnedWriteHalf, shared: &Shared, text: &str) -> bool {
    match timeout(ASLEEP, to.write_all(text.as_bytes())).await {
        Ok(sent) => sent.is_ok(),
        Err(_) => {
            shared.asleep.fetch_add(1, Ordering::Relaxed);
            false
        }
    }
}

#[cfg(test)]
mod tests;

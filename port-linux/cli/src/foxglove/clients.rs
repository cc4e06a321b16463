//! The connections of clients: their requests, their limits, and the messages to them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde::Serialize;
use tokio::io::{Join, Take};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request as Handshake, Response};
use tokio_tungstenite::tungstenite::http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use super::FAREWELL;
use super::live::{Client, Live};
use super::protocol::{PROTOCOL, READ_ONLY, Request, Severity, status};
use outrigger::json;

/// The largest number of clients at once; further ones are closed unread.
const MOST_CLIENTS: usize = 32;
/// The largest size of a client's request for a connection, and of each of its messages \[B\].
const LONGEST: usize = 8192;
/// The largest number of bytes that a client may send: subscriptions, and answers to pings for weeks.
const MOST_SENT: u64 = 1 << 20;
/// The size of the kernel's send buffer for each client \[B\], so that little is queued for one that reads slowly.
const KEPT_BY_THE_KERNEL: usize = 64 * 1024;
/// The largest number of pings in succession without any message of the client.
const MOST_UNANSWERED: u32 = 2;

/// The times that a client gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// The time within which a client's request must be complete, and the answer to it be read.
    pub(super) request: Duration,
    /// The time without reading after which a client is disconnected.
    pub(super) asleep: Duration,
    /// The interval of pings. A client that has vanished is disconnected after three of them.
    pub(super) ping: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { request: Duration::from_secs(5), asleep: Duration::from_secs(10), ping: Duration::from_secs(10) }
    }
}

/// The counters of a server for Foxglove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "foxglove")]
pub(super) struct Counts {
    /// The number of clients that were connected.
    pub(super) clients: u64,
    /// The number of clients that were closed because there were too many, or because of their request.
    pub(super) refused: u64,
    /// The number of clients that were disconnected because they read nothing for 10 s, answered no ping, or sent too
    /// much.
    pub(super) disconnected: u64,
    /// The number of messages that were dropped because a client was too slow.
    pub(super) dropped: u64,
}

impl Counts {
    /// Returns these counters as a line of text for people.
    pub(super) fn text(&self) -> String {
        let Self { clients, refused, disconnected, dropped } = self;
        format!(
            "foxglove: {clients} clients, {refused} refused, {disconnected} disconnected for what they sent or did not read, \
             {dropped} messages dropped for slow readers"
        )
    }

    /// Returns these counters as a JSON object for scripts.
    pub(super) fn json(&self) -> String {
        json::text(self)
    }
}

/// The data that the connections of all clients share.
#[derive(Clone, Debug)]
pub(super) struct Served {
    pub(super) live: Live,
    /// The first message to each client.
    pub(super) info: Arc<str>,
    pub(super) patience: Patience,
    pub(super) counts: Arc<Mutex<Counts>>,
}

impl Served {
    fn count(&self, add: impl FnOnce(&mut Counts)) {
        add(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Accepts clients, and serves each by a task of `clients`. Never returns.
pub(super) async fn accept(listener: &TcpListener, clients: &mut JoinSet<()>, served: &Served) {
    loop {
        tokio::select! {
            biased;
            Some(_) = clients.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((client, _)) if clients.len() < MOST_CLIENTS => {
                    clients.spawn(attend(client, served.clone()));
                }
                Ok(_) => served.count(|counts| counts.refused += 1),
                // An error such as too many open files persists for a while.
                Err(_) => tokio::time::sleep(FAREWELL).await,
            },
        }
    }
}

/// The connection of a client. No more bytes are read from it than the limit of the `Take`.
type Socket = WebSocketStream<Join<Take<OwnedReadHalf>, OwnedWriteHalf>>;

/// Serves a client from its request to its end.
pub(super) async fn attend(client: TcpStream, served: Served) {
    // Without this limit, the kernel may buffer megabytes for each client that does not read.
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(&client, KEPT_BY_THE_KERNEL);
    let _ = client.set_nodelay(true);
    let (from, to) = client.into_split();
    let stream = tokio::io::join(tokio::io::AsyncReadExt::take(from, LONGEST as u64), to);
    // Everything is written at once: what waits for a client is in its queue, where it can be dropped.
    let config = WebSocketConfig::default().read_buffer_size(LONGEST).write_buffer_size(0);
    let config = config.max_message_size(Some(LONGEST)).max_frame_size(Some(LONGEST));
    let accepted = timeout(served.patience.request, accept_hdr_async_with_config(stream, admit, Some(config)));
    let Ok(Ok(mut socket)) = accepted.await else { return served.count(|counts| counts.refused += 1) };
    socket.get_mut().reader_mut().set_limit(MOST_SENT);
    served.count(|counts| counts.clients += 1);
    let Err(Ended::Disconnected(code, why)) = talk(&mut socket, &served).await else { return };
    served.count(|counts| counts.disconnected += 1);
    let _ = timeout(FAREWELL, socket.close(Some(CloseFrame { code, reason: why.into() }))).await;
}

/// The end of a client's connection.
enum Ended {
    /// The client has left.
    Left,
    /// The server disconnects the client, for this reason.
    Disconnected(CloseCode, &'static str),
}

impl Ended {
    fn of(error: &Error) -> Self {
        match error {
            Error::Capacity(_) => Self::Disconnected(CloseCode::Size, "a message of more than 8192 bytes"),
            Error::Protocol(
                ProtocolError::ResetWithoutClosingHandshake
                | ProtocolError::SendAfterClosing
                | ProtocolError::ReceivedAfterClosing,
            ) => Self::Left,
            Error::Protocol(_) => Self::Disconnected(CloseCode::Protocol, "frames that break the WebSocket protocol"),
            Error::Utf8(_) => Self::Disconnected(CloseCode::Invalid, "a text that is not UTF-8"),
            _ => Self::Left,
        }
    }
}

/// Returns the answer to a request for a connection.
///
/// # Errors
/// Returns the refusal of a path that does not exist, of a page of another site, and of other protocols.
#[expect(clippy::result_large_err, reason = "the library determines the type")]
fn admit(request: &Handshake, mut response: Response) -> Result<Response, ErrorResponse> {
    let refused = |status: StatusCode, why: &str| {
        let mut refused = ErrorResponse::new(Some(format!("{why}\n")));
        *refused.status_mut() = status;
        refused.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        refused
    };
    let path = request.uri().path();
    if path != "/" {
        return Err(refused(StatusCode::NOT_FOUND, "no such path: expected /"));
    }
    if !request.headers().get_all(header::ORIGIN).iter().all(|origin| may_read(origin.as_bytes())) {
        let why = "expected a program, or a page of foxglove.dev or of this machine; found a page of another site";
        return Err(refused(StatusCode::FORBIDDEN, why));
    }
    if !speaks(request.headers()) {
        return Err(refused(StatusCode::BAD_REQUEST, "expected the WebSocket subprotocol foxglove.sdk.v1"));
    }
    response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    Ok(response)
}

/// Returns `true` if a client with these headers speaks the protocol of this server.
fn speaks(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL);
    offers
        .iter()
        .filter_map(|offer| offer.to_str().ok())
        .flat_map(|offer| offer.split(','))
        .any(|one| one.trim() == PROTOCOL)
}

/// Returns `true` if a client with this `Origin` may read: a program, Foxglove's own site, or a page of this machine. A
/// browser sends that of the page that connects, and it connects for a page of any site.
fn may_read(origin: &[u8]) -> bool {
    let Some((scheme, host)) = std::str::from_utf8(origin).ok().and_then(|origin| origin.split_once("://")) else {
        return false;
    };
    if !matches!(scheme, "http" | "https") {
        return true;
    }
    let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
    let is_of_foxglove = name == "foxglove.dev" || name.ends_with(".foxglove.dev");
    is_of_foxglove || matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// Sends a client what it has subscribed to, until it leaves, the session ends, or the client exceeds a limit.
async fn talk(socket: &mut Socket, served: &Served) -> Result<(), Ended> {
    let Patience { asleep, ping, .. } = served.patience;
    let mut client = served.live.join();
    send(socket, Message::text(&*served.info), asleep).await?;
    let mut pings = interval_at(tokio::time::Instant::now() + ping, ping);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut unanswered = 0;
    loop {
        tokio::select! {
            received = socket.next() => {
                unanswered = 0;
                let received = match received {
                    Some(Ok(received)) => received,
                    _ if socket.get_ref().reader().limit() == 0 => {
                        return Err(Ended::Disconnected(CloseCode::Policy, "more than 1 MiB in all"));
                    }
                    Some(Err(error)) => return Err(Ended::of(&error)),
                    None => return Err(Ended::Left),
                };
                if let Message::Close(_) = received {
                    // The library has an answer ready.
                    let _ = timeout(asleep, socket.flush()).await;
                    return Err(Ended::Left);
                }
                if let Err(why) = answer(&client, &received) {
                    send(socket, Message::text(status(Severity::Error, &why, None)), asleep).await?;
                }
            }
            next = client.next() => match next {
                Some(message) => send(socket, message, asleep).await?,
                None => return farewell(socket).await,
            },
            _ = pings.tick() => {
                if unanswered == MOST_UNANSWERED {
                    return Err(Ended::Disconnected(CloseCode::Policy, "no answer to pings"));
                }
                unanswered += 1;
                send(socket, Message::Ping(Bytes::new()), asleep).await?;
                tell_losses(socket, &client, asleep).await?;
            }
        }
    }
}

/// Processes a message of a client.
///
/// # Errors
/// Returns a text for the client's user: the reason why the message is not accepted.
fn answer(client: &Client, message: &Message) -> Result<(), String> {
    match message {
        Message::Text(text) => client.take(Request::parse(text)?),
        Message::Binary(_) => Err(format!("binary message not accepted: {READ_ONLY}")),
        _ => Ok(()),
    }
}

/// Tells a client how many messages it has missed, if any.
async fn tell_losses(socket: &mut Socket, client: &Client, asleep: Duration) -> Result<(), Ended> {
    let missed = client.missed();
    if missed == 0 {
        return Ok(());
    }
    let text = format!("{missed} messages dropped in the last seconds: this client reads too slowly");
    send(socket, Message::text(status(Severity::Warning, &text, Some("dropped"))), asleep).await
}

/// Sends a message to a client, which must read it within the time `asleep`.
async fn send(socket: &mut Socket, message: Message, asleep: Duration) -> Result<(), Ended> {
    match timeout(asleep, socket.send(message)).await {
        Ok(sent) => sent.map_err(|error| Ended::of(&error)),
        Err(_) => Err(Ended::Disconnected(CloseCode::Policy, "nothing was read for too long")),
    }
}

/// Closes the connection of a client at the end of the session, and waits until the client has read everything.
async fn farewell(socket: &mut Socket) -> Result<(), Ended> {
    let frame = CloseFrame { code: CloseCode::Away, reason: "the session has ended".into() };
    if socket.close(Some(frame)).await.is_ok() {
        while let Some(Ok(_)) = socket.next().await {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_other_sites_other_paths_and_other_protocols_are_refused() {
        let asked = |path: &str, origin: &str, protocol: &str| {
            let request =
                Handshake::builder().uri(path).header("origin", origin).header("sec-websocket-protocol", protocol);
            admit(&request.body(()).expect("a request"), Response::new(())).map_err(|refused| refused.status().as_u16())
        };
        for origin in [
            "https://app.foxglove.dev",
            "https://foxglove.dev",
            "file://",
            "http://localhost:8080",
            "http://127.0.0.1",
            "http://[::1]:8080",
        ] {
            let answer = asked("/", origin, "foxglove.websocket.v1, foxglove.sdk.v1").expect(origin);
            assert_eq!(answer.headers()["sec-websocket-protocol"], PROTOCOL);
        }
        for origin in ["https://example.org", "https://foxglove.dev.example.org", "https://notfoxglove.dev", "null", ""]
        {
            assert_eq!(asked("/", origin, PROTOCOL).err(), Some(403), "{origin}");
        }
        assert_eq!(asked("/page", "file://", PROTOCOL).err(), Some(404));
        for protocol in ["foxglove.websocket.v1", "foxglove.sdk.v1.1", ""] {
            assert_eq!(asked("/", "file://", protocol).err(), Some(400), "{protocol}");
        }
    }
}

//! Passes a bounded number of clients on to the server of the crate `foxglove`, which itself accepts any number of
//! connections, requests that are never completed, and messages of up to 64 MiB.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::FAREWELL;
use outrigger::json;

/// The largest number of clients at once; further ones are closed unread.
const MOST_CLIENTS: usize = 32;
/// The largest number of bytes that a client may send: a request, and subscriptions for a long time.
const MOST_SENT: usize = 1 << 20;
/// The largest size of a client's request \[B\].
const LONGEST_REQUEST: usize = 8192;
/// The largest number of header fields of a client's request.
const MOST_FIELDS: usize = 64;
/// The time within which a client's request must be complete.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time without reading after which a client is disconnected.
const ASLEEP: Duration = Duration::from_secs(10);
/// The size of the kernel's send buffer for each client \[B\], so that little is queued for one that reads slowly.
const KEPT_BY_THE_KERNEL: usize = 64 * 1024;

/// The counters of a server for Foxglove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "foxglove")]
pub(super) struct Counts {
    /// The number of clients that were passed on.
    clients: u64,
    /// The number of clients that were closed because there were too many, or because of their request.
    refused: u64,
    /// The number of clients that were disconnected because they read nothing for 10 s or sent too much.
    disconnected: u64,
}

impl Counts {
    /// Returns these counters as a line of text for people.
    pub(super) fn text(&self) -> String {
        let Self { clients, refused, disconnected } = self;
        format!(
            "foxglove: {clients} clients, {refused} refused, {disconnected} disconnected for what they sent or did not read"
        )
    }

    /// Returns these counters as a JSON object for scripts.
    pub(super) fn json(&self) -> String {
        json::text(self)
    }
}

/// The clients of a server, and the listener at which further ones arrive.
pub(super) struct Gate {
    listener: TcpListener,
    /// The port of the server on the loopback.
    port: u16,
    clients: JoinSet<()>,
    counts: Arc<Mutex<Counts>>,
}

impl Gate {
    /// Passes the clients that arrive at `listener` on to `port` of the loopback.
    pub(super) fn new(listener: TcpListener, port: u16, counts: Arc<Mutex<Counts>>) -> Self {
        Self { listener, port, clients: JoinSet::new(), counts }
    }

    /// Waits until a client arrives or goes. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) {
        let Self { listener, port, clients, counts } = self;
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) if clients.len() < MOST_CLIENTS => {
                    clients.spawn(attend(client, *port, Arc::clone(counts)));
                }
                Ok(_) => count(counts, |counts| counts.refused += 1),
                // An error such as too many open files persists for a while.
                Err(_) => tokio::time::sleep(FAREWELL).await,
            },
            Some(_) = clients.join_next() => {}
        }
    }
}

fn count(counts: &Mutex<Counts>, add: impl FnOnce(&mut Counts)) {
    if let Ok(mut counts) = counts.lock() {
        add(&mut counts);
    }
}

/// Passes the request of a client, later bytes and those of the server on, until one of them closes the connection or the client
/// exceeds a limit.
async fn attend(client: TcpStream, port: u16, counts: Arc<Mutex<Counts>>) {
    // Without this limit, the kernel may buffer megabytes for each client that does not read.
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(&client, KEPT_BY_THE_KERNEL);
    let _ = client.set_nodelay(true);
    let (mut from, mut to) = client.into_split();
    let Ok(Some(head)) = timeout(PATIENCE, request(&mut from)).await else {
        return count(&counts, |counts| counts.refused += 1);
    };
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else { return };
    let (mut answers, mut requests) = server.into_split();
    if requests.write_all(&head).await.is_err() {
        return;
    }
    count(&counts, |counts| counts.clients += 1);
    let within_limits = tokio::select! {
        within = upwards(&mut from, &mut requests) => within,
        within = downwards(&mut answers, &mut to) => within,
    };
    if !within_limits {
        count(&counts, |counts| counts.disconnected += 1);
    }
}

/// Reads the request of a client, with bytes that follow it. Returns `None` if it is none of HTTP, too long, or that of
/// a page of another site.
async fn request(client: &mut OwnedReadHalf) -> Option<Vec<u8>> {
    let mut head = Vec::with_capacity(1024);
    loop {
        let count = client.read_buf(&mut head).await.ok()?;
        if count == 0 || head.len() > LONGEST_REQUEST {
            return None;
        }
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        if parsed.parse(&head).ok()?.is_complete() {
            let mut origins = parsed.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("origin"));
            return origins.all(|origin| may_read(origin.value)).then_some(head);
        }
    }
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

/// Passes the bytes of a client on to the server. Returns `false` if there are too many.
async fn upwards(client: &mut OwnedReadHalf, server: &mut OwnedWriteHalf) -> bool {
    let (mut piece, mut left) = ([0; 4096], MOST_SENT);
    loop {
        let count = client.read(&mut piece).await.unwrap_or_default();
        let Some(rest) = left.checked_sub(count) else { return false };
        left = rest;
        let bytes = piece.get(..count).unwrap_or_default();
        if bytes.is_empty() || server.write_all(bytes).await.is_err() {
            return true;
        }
    }
}

/// Passes the bytes of the server on to a client. Returns `false` if the client's request is not answered in time, or
/// if it does not read.
async fn downwards(server: &mut OwnedReadHalf, client: &mut OwnedWriteHalf) -> bool {
    let mut piece = [0; 16 * 1024];
    let Ok(mut count) = timeout(PATIENCE, server.read(&mut piece)).await else { return false };
    loop {
        let bytes = piece.get(..count.unwrap_or_default()).unwrap_or_default();
        if bytes.is_empty() {
            return true;
        }
        match timeout(ASLEEP, client.write_all(bytes)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return true,
            Err(_) => return false,
        }
        count = server.read(&mut piece).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_other_sites_read_nothing() {
        for origin in [
            "https://app.foxglove.dev",
            "https://foxglove.dev",
            "file://",
            "http://localhost:8080",
            "http://127.0.0.1",
            "http://[::1]:8080",
        ] {
            assert!(may_read(origin.as_bytes()), "{origin}");
        }
        for origin in ["https://example.org", "https://foxglove.dev.example.org", "https://notfoxglove.dev", "null", ""]
        {
            assert!(!may_read(origin.as_bytes()), "{origin}");
        }
    }
}

//! The server that shows a session live in Foxglove and other clients of its WebSocket protocol. It is read-only.
//!
//! The server is a [companion](outrigger::companion): it runs on a thread of its own, and receives data from the
//! control loop by a [`Feed`](outrigger::feed::Feed), which waits for no reader. Its channels are those of a recording
//! without the bytes of connections. A message is encoded once for all clients, and not at all if nobody has subscribed
//! to its channel. A client that is too slow misses the oldest messages.

mod clients;
mod live;
mod protocol;
mod simulated;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;

use self::clients::{Counts, Patience, Served, accept};
use self::live::Live;
use self::protocol::ServerInfo;
pub(crate) use self::simulated::Simulated;
use crate::bound::Bound;
use outrigger::companion::{Companion, Ended, Needs, Session, Started, arm_of};
use outrigger::exit::Failure;
use outrigger::feed::{Reader, Streams, stream_memory};
use outrigger::host::worker::Worker;
use outrigger::json;
use outrigger::record::{ArmGeometry, SessionChannels};
use outrigger::show::complain;

/// The default address of the server: the port that Foxglove proposes.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8765);
/// The time that clients get at the end of a session to receive the last messages.
const FAREWELL: Duration = Duration::from_millis(200);
/// The largest number of entries of the feed that are processed before the clients' turn: fewer messages than wait for
/// one client.
const TURN: usize = 16;

/// Listens for clients at `wanted` or at the default address.
///
/// # Errors
/// [`Failure::BadInput`] if the address is not available.
pub(crate) fn bind(wanted: Option<SocketAddr>) -> Result<Bound, Failure> {
    Bound::at("--foxglove", wanted, ADDRESS)
}

/// Returns the URL at which Foxglove opens the session.
fn url(bound: &Bound) -> String {
    bound.url("ws")
}

/// Returns the text that announces the server.
pub(crate) fn announced(bound: &Bound) -> String {
    format!("live data for Foxglove: {} ({}; read-only: nobody can command by it)", url(bound), bound.readers())
}

/// The server for Foxglove as a companion of a session.
pub(crate) struct OnFoxglove {
    bound: Mutex<Option<Bound>>,
    /// The description of the server that its clients show.
    name: String,
}

impl OnFoxglove {
    /// Creates the server of this command, and listens at `wanted` or at the default address.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the address is not available.
    pub(crate) fn new(command: &str, wanted: Option<SocketAddr>) -> Result<Self, Failure> {
        Ok(Self { bound: Mutex::new(Some(bind(wanted)?)), name: named(command) })
    }
}

/// Returns the description of a server of this command of `outrigger`.
fn named(command: &str) -> String {
    format!("outrigger {command} {}", env!("CARGO_PKG_VERSION"))
}

impl<const N: usize> Companion<N> for OnFoxglove {
    fn needs(&self) -> Needs {
        Needs { traffic: true, views: true, ..Needs::default() }
    }

    fn start(&self, session: Session<N>) -> Result<Started, Failure> {
        let Session { views, feed, clock, .. } = session;
        let bound = self.bound.lock().ok().and_then(|mut bound| bound.take());
        let Some(bound) = bound else { return Err(Failure::BadInput("--foxglove: the server started before".into())) };
        let (text, url) = (announced(&bound), url(&bound));
        let server = Server::start(bound, &self.name, feed, arm_of(views), clock.origin_unix_nanos())?;
        let started = Started::saying("foxglove", text, vec![("url", url)]);
        Ok(started.ending(move |_| {
            let counts = server.finish();
            Ok(Some(Ended { text: counts.text(), json: counts.json() }))
        }))
    }
}

/// A running server. It ends with the feed that it reads.
#[derive(Debug)]
struct Server {
    served: Served,
    worker: Worker,
}

impl Server {
    /// Starts a server that sends the data of the session that `reader` receives. `arm` is the geometry of the arm,
    /// `origin` the time at the start of the process's clock \[ns since 1970\].
    ///
    /// # Errors
    /// [`Failure::BadInput`] if no thread can be started.
    fn start(bound: Bound, name: &str, reader: Reader, arm: ArmGeometry, origin: u64) -> Result<Self, Failure> {
        let runtime = outrigger::host::runtime::one_threaded()?;
        let info = json::text(&ServerInfo { name, capabilities: [], session_id: &origin.to_string() });
        let patience = Patience::default();
        let served = Served { live: Live::default(), info: info.into(), patience, counts: Arc::default() };
        let theirs = served.clone();
        let work = move || {
            let address = bound.address;
            if let Err(error) = runtime.block_on(serve(bound, theirs, reader, arm, origin)) {
                complain(&format!("the server for Foxglove on {address} failed: {error}"));
            }
        };
        let worker = Worker::start("foxglove", work)
            .map_err(|error| Failure::BadInput(format!("--foxglove: cannot start a thread: {error}")))?;
        Ok(Self { served, worker })
    }

    /// Waits for the end of the server, for 1 s at most, and returns its counters.
    fn finish(self) -> Counts {
        let Self { served, worker } = self;
        // A panic of the thread has been printed by then; there is nothing to add.
        let _ = worker.join(5 * FAREWELL);
        let counts = *served.counts.lock().unwrap_or_else(PoisonError::into_inner);
        Counts { dropped: served.live.dropped(), ..counts }
    }
}

/// Serves clients until the feed ends.
async fn serve(bound: Bound, served: Served, reader: Reader, arm: ArmGeometry, origin: u64) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(bound.listener)?;
    let mut memory = stream_memory();
    let Some(streams) = Streams::new(&mut memory) else { return Ok(()) };
    let channels = SessionChannels::new(served.live.clone(), origin, arm, streams);
    let mut clients = JoinSet::new();
    tokio::select! {
        ended = send_all(reader, channels) => ended?,
        () = accept(&listener, &mut clients, &served) => {}
    }
    drop(listener);
    served.live.end();
    // What waits still reaches the clients; those that stall are abandoned.
    let _ = tokio::time::timeout(FAREWELL, async { while clients.join_next().await.is_some() {} }).await;
    Ok(())
}

/// Sends the entries of a feed to the clients until it ends. After some entries, it is the clients' turn: on a busy
/// machine entries may arrive as fast as they are processed.
async fn send_all(mut reader: Reader, mut channels: SessionChannels<'_, Live>) -> io::Result<()> {
    while let Some(item) = reader.next().await {
        channels.item(&item)?;
        for item in reader.up_to(TURN - 1) {
            channels.item(&item)?;
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

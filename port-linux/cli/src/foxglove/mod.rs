//! The server that shows a session live in Foxglove and other clients of its WebSocket protocol. It is read-only.
//!
//! The server is a [companion](outrigger::companion): it runs on a thread of its own, and receives data from the
//! control loop by a [`Feed`](outrigger::feed::Feed), which waits for no reader. Its channels are those of a recording
//! without the bytes of connections. A channel that nobody has subscribed to is not encoded, and a reader that is too
//! slow misses messages.

mod gate;
mod live;
mod simulated;
#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use foxglove::{Context, FoxgloveError, WebSocketServer};

use self::gate::{Counts, Gate};
use self::live::Live;
pub(crate) use self::simulated::Simulated;
use outrigger::companion::{Companion, Ended, Needs, Session, Started, arm_of};
use outrigger::exit::Failure;
use outrigger::feed::{Reader, Streams, stream_memory};
use outrigger::host::worker::Worker;
use outrigger::record::{ArmGeometry, SessionChannels};
use outrigger::show::complain;

/// The default address of the server: the port that Foxglove proposes.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8765);
/// The largest number of messages that wait for one reader; older ones are dropped.
const WAITING: usize = 256;
/// The time that readers get at the end of a session to receive the last messages.
const FAREWELL: Duration = Duration::from_millis(200);

/// An address at which a server for Foxglove listens.
pub(crate) struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// Listens at `wanted`, else at the default address or, if another process uses that, on a free port of the
    /// loopback.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the address is not available.
    pub(crate) fn at(wanted: Option<SocketAddr>) -> Result<Self, Failure> {
        let bound = match wanted {
            Some(address) => TcpListener::bind(address),
            None => TcpListener::bind(ADDRESS).or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))),
        };
        let failed = |error: std::io::Error| {
            let at = wanted.unwrap_or(ADDRESS);
            Failure::BadInput(format!(
                "--foxglove: cannot listen on {at}: {error}; check that the port is free and the address is this machine's"
            ))
        };
        let listener = bound.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, address })
    }

    /// Returns the URL at which Foxglove opens the session.
    pub(crate) fn url(&self) -> String {
        let address = self.address;
        if address.ip().is_unspecified() {
            format!("ws://THIS-MACHINE:{}", address.port())
        } else {
            format!("ws://{address}")
        }
    }

    /// Returns the text that announces the server.
    pub(crate) fn announced(&self) -> String {
        let who = if self.address.ip().is_loopback() {
            "reachable from this machine only"
        } else {
            "anyone who reaches this address can read it without a password"
        };
        format!("live data for Foxglove: {} ({who}; read-only: nobody can command by it)", self.url())
    }
}

/// The server for Foxglove as a companion of a session.
pub(crate) struct OnFoxglove {
    bound: Mutex<Option<Bound>>,
    /// The description of the server that its readers show.
    name: String,
}

impl OnFoxglove {
    /// Creates the server of this command, and listens at `wanted` or at the default address.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the address is not available.
    pub(crate) fn new(command: &str, wanted: Option<SocketAddr>) -> Result<Self, Failure> {
        Ok(Self { bound: Mutex::new(Some(Bound::at(wanted)?)), name: named(command) })
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
        let (text, url) = (bound.announced(), bound.url());
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
    counts: Arc<Mutex<Counts>>,
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
        let counts = Arc::<Mutex<Counts>>::default();
        let (theirs, name) = (Arc::clone(&counts), name.to_owned());
        let work = move || {
            let address = bound.address;
            if let Err(error) = runtime.block_on(serve(bound, theirs, name, reader, arm, origin)) {
                complain(&format!("the server for Foxglove on {address} failed: {error}"));
            }
        };
        let worker = Worker::start("foxglove", work)
            .map_err(|error| Failure::BadInput(format!("--foxglove: cannot start a thread: {error}")))?;
        Ok(Self { counts, worker })
    }

    /// Waits for the end of the server, for 1 s at most, and returns its counters.
    fn finish(self) -> Counts {
        // A panic of the thread has been printed by then; there is nothing to add.
        let _ = self.worker.join(5 * FAREWELL);
        self.counts.lock().map(|counts| *counts).unwrap_or_default()
    }
}

async fn serve(
    bound: Bound,
    counts: Arc<Mutex<Counts>>,
    name: String,
    mut reader: Reader,
    arm: ArmGeometry,
    origin: u64,
) -> Result<(), FoxgloveError> {
    let context = Context::new();
    let server = WebSocketServer::new().context(&context).name(name).message_backlog_size(WAITING);
    let server = server.bind(Ipv4Addr::LOCALHOST.to_string(), 0).start().await?;
    let listener = tokio::net::TcpListener::from_std(bound.listener).map_err(FoxgloveError::Bind)?;
    let mut gate = Gate::new(listener, server.port(), counts);
    let mut memory = stream_memory();
    let Some(streams) = Streams::new(&mut memory) else { return Ok(()) };
    let mut channels = SessionChannels::new(Live::new(context), origin, arm, streams);
    loop {
        tokio::select! {
            item = reader.next() => match item {
                Some(item) => channels.item(&item)?,
                None => break,
            },
            () = gate.next() => {}
        }
    }
    // What is queued still reaches the readers.
    let _ = tokio::time::timeout(FAREWELL, server.stop().wait()).await;
    Ok(())
}

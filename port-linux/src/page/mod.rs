//! A page in a browser that shows a session live: states up to 60 times a second, events, and how the link is. It reads only.
//!
//! The control loop leaves its newest state in a slot ([`Tap`]) and waits for nobody; everything else happens on a thread of its
//! own ([`Page`]): lines of JSON, HTTP, and one bounded place for each who looks. Who is slow misses states, and is told how many.

mod attend;
mod frame;
mod http;
mod lines;
mod outline;
mod tap;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::attend::Counts;
use self::attend::{Shared, serve};
use self::frame::Slot;
use self::lines::Lines;
pub(crate) use self::lines::{SIDE, Workpiece};
pub(crate) use self::outline::outline;
pub(crate) use self::tap::{OnPage, Tap};
use crate::exit::Failure;
use crate::feed::Reader;
use crate::maker::Maker;
use crate::show::complain;
use crate::worker::Worker;

/// Where the page is, unless told otherwise.
pub(crate) const ADDRESS: &str = "127.0.0.1:8750";

/// Entries of a feed that only the page reads: events of some minutes.
pub(crate) const ENTRIES: usize = 256;

/// At the end, whoever still reads gets so long to hear of it.
const FAREWELL: Duration = Duration::from_millis(200);

/// What the page is told once.
pub(crate) struct About {
    /// The command that it belongs to.
    pub(crate) command: &'static str,
    /// Names of the sensors, by the numbers of their sources.
    pub(crate) sources: Vec<String>,
    /// What lies before the tool, where that is known.
    pub(crate) workpiece: Option<Box<dyn FnMut() -> Option<Workpiece> + Send>>,
}

/// A page at work; it ends with the session, or when its feed does.
#[derive(Debug)]
pub(crate) struct Page {
    address: SocketAddr,
    shared: Arc<Shared>,
    worker: Worker,
}

impl Page {
    /// Listens on `wanted`, else on [`ADDRESS`] or, where another process has that, on a free port of the loopback. Events come
    /// from `reader`, states by the tap.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the address cannot be had.
    pub(crate) fn start<M: Clone + Maker + Send + 'static, const N: usize>(
        wanted: Option<SocketAddr>,
        about: About,
        reader: Reader,
    ) -> Result<(Self, Tap<M, N>), Failure> {
        let usual = || {
            ADDRESS
                .parse()
                .map_or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)), TcpListener::bind::<SocketAddr>)
        };
        let bound = match wanted {
            Some(address) => TcpListener::bind(address),
            None => usual().or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))),
        };
        let failed = |error: std::io::Error| {
            let at = wanted.map_or_else(|| ADDRESS.to_owned(), |address| address.to_string());
            Failure::BadInput(format!(
                "--web: cannot listen on {at}: {error}; does another process have it, has this machine that address?"
            ))
        };
        let listener = bound.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let runtime = crate::runtime::one_threaded()?;
        let shared = Arc::new(Shared::default());
        let slot = Slot::default();
        let tap = Tap::new(slot.clone(), Arc::clone(&shared));
        let mut lines = Lines::<M, N>::new(about, slot, reader);
        let theirs = Arc::clone(&shared);
        let work = move || {
            if let Err(error) = runtime.block_on(serve(listener, theirs, &mut lines)) {
                complain(&format!("the page on {address} ended: {error}"));
            }
        };
        let worker = Worker::start("page", work).map_err(failed)?;
        Ok((Self { address, shared, worker }, tap))
    }

    /// Where it is, for a browser.
    pub(crate) fn url(&self) -> String {
        let Self { address, .. } = self;
        if address.ip().is_unspecified() {
            format!("http://THIS-MACHINE:{}/", address.port())
        } else {
            format!("http://{address}/")
        }
    }

    /// What is said of it at the start.
    pub(crate) fn announced(&self) -> String {
        let open = if self.address.ip().is_loopback() {
            "it is for this machine only"
        } else {
            "whoever reaches this address can watch, without a password; nobody can command by it"
        };
        format!("live page in a browser: {} ({open})", self.url())
    }

    /// Waits for its end, and says how it went.
    pub(crate) fn finish(self) -> Counts {
        self.shared.end();
        // A panic of the thread has been printed by then; there is nothing to add.
        let _ = self.worker.join(5 * FAREWELL);
        self.shared.counts()
    }
}

//! The page in a browser that shows a session live: states up to 60 times a second, events, and the quality of the
//! link. It is read-only.
//!
//! The page is a [companion](outrigger::companion): lines of JSON, HTTP and one bounded slot for each reader are
//! handled on a thread of its own ([`Page`]). A slow reader misses states, and receives their number. A page that is
//! opened late receives the states of the last half minute first.

mod arm_polyline;
mod arm_shape;
mod browser_messages;
mod browser_server;
mod http;
mod past_states;
mod serial_number;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) use self::arm_polyline::outline;
use self::browser_messages::Lines;
pub(crate) use self::browser_messages::{SIDE, Workpiece};
pub(crate) use self::browser_server::Counts;
use self::browser_server::{Shared, serve};
use self::serial_number::serial_number;
use crate::bound::Bound;
use outrigger::companion::{Companion, Ended, Needs, Session, Started, Views};
use outrigger::exit::Failure;
use outrigger::feed::Reader;
use outrigger::host::worker::Worker;
use outrigger::show::complain;

/// The default address at which the live page is served.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8750);

/// The time that browsers get at the end of a session to receive the last messages.
const FAREWELL: Duration = Duration::from_millis(200);

/// The live page of a session as a companion, which works beside the control loop: the requested address, and the
/// description of the session.
pub(crate) struct OnPage {
    /// The requested address of the live page; `None` for the default one.
    wanted: Option<SocketAddr>,
    command: &'static str,
    workpiece: Mutex<Option<Look>>,
    /// `true` to request the arm's serial number from the controller's dashboard server.
    asks_serial_number: bool,
}

/// A function that returns the present surface in front of the tool, which the live page draws; `None` if it is
/// unknown.
type Look = Box<dyn FnMut() -> Option<Workpiece> + Send>;

impl OnPage {
    /// Creates the live page of this command. It is served at `wanted`, else at [`ADDRESS`] or, if another process uses
    /// that, on a free port of the loopback.
    pub(crate) const fn new(command: &'static str, wanted: Option<SocketAddr>) -> Self {
        Self { wanted, command, workpiece: Mutex::new(None), asks_serial_number: false }
    }

    /// Adds a function that returns the surface in front of the tool, which the live page then draws.
    pub(crate) fn with_workpiece(self, look: impl FnMut() -> Option<Workpiece> + Send + 'static) -> Self {
        Self { workpiece: Mutex::new(Some(Box::new(look))), ..self }
    }

    /// Lets the live page show the arm's serial number, which is requested from the controller's dashboard server when
    /// the page is first opened. Only for a session that does not command.
    pub(crate) fn asking_serial_number(self) -> Self {
        Self { asks_serial_number: true, ..self }
    }
}

impl<const N: usize> Companion<N> for OnPage {
    fn needs(&self) -> Needs {
        Needs { views: true, ..Needs::default() }
    }

    fn start(&self, session: Session<N>) -> Result<Started, Failure> {
        let Session { sources, views, feed, target, clock, .. } = session;
        let workpiece = self.workpiece.lock().ok().and_then(|mut look| look.take());
        let about = About { command: self.command, sources, workpiece };
        let asked = target.filter(|_| self.asks_serial_number);
        let serial = async move {
            match asked {
                Some(target) => serial_number(target, clock).await,
                None => None,
            }
        };
        let bound = Bound::at("--web", self.wanted, ADDRESS)?;
        let url = format!("{}/", bound.url("http"));
        let text = format!("live page in a browser: {url} ({}; read-only)", bound.readers());
        let page = Page::start(bound, about, (views, feed), serial)?;
        let started = Started::saying("page", text, vec![("url", url)]);
        Ok(started.ending(move |_| {
            let counts = page.finish();
            Ok(Some(Ended { text: counts.text(), json: counts.json() }))
        }))
    }
}

/// The description of a session that its live page shows.
struct About {
    /// The name of the command of `outrigger` that shows the page.
    command: &'static str,
    /// The names of the session's sensors, in the order of their numbers in the engine.
    sources: Vec<String>,
    workpiece: Option<Look>,
}

/// The running server of a live page. It ends with the session, or with the feed of events that it reads.
#[derive(Debug)]
struct Page {
    shared: Arc<Shared>,
    worker: Worker,
}

impl Page {
    /// Starts to serve the live page at `bound`. Events are read from `reader`, states from `views`; `serial` finds out
    /// the arm's serial number.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if no thread can be started.
    fn start<const N: usize>(
        bound: Bound,
        about: About,
        (views, reader): (Option<Views<N>>, Reader),
        serial: impl Future<Output = Option<String>> + Send + 'static,
    ) -> Result<Self, Failure> {
        let Bound { listener, address } = bound;
        let runtime = outrigger::host::runtime::one_threaded()?;
        let shared = Arc::new(Shared::default());
        let mut lines = Lines::new(about, views, reader);
        let theirs = Arc::clone(&shared);
        let work = move || {
            if let Err(error) = runtime.block_on(serve(listener, theirs, &mut lines, serial)) {
                complain(&format!("the page on {address} failed: {error}"));
            }
        };
        let worker = Worker::start("page", work)
            .map_err(|error| Failure::BadInput(format!("--web: cannot start a thread: {error}")))?;
        Ok(Self { shared, worker })
    }

    /// Ends the page's server, waits for that for 1 s at most, and returns its counters.
    fn finish(self) -> Counts {
        self.shared.end();
        // A panic of the thread has been printed by then; there is nothing to add.
        let _ = self.worker.join(5 * FAREWELL);
        self.shared.counts()
    }
}

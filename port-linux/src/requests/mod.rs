//! Requests to a run from other processes of this machine: lines of JSON over a Unix-domain socket.
//!
//! [`Requests`] listens, reads and answers on a thread of its own; [`Desk`] is the loop's side. What the loop has to decide comes
//! by two bounded lanes, one for releases alone; how it stands is in a slot that neither waits for. An answer's place is taken
//! before its request is passed on, so that the loop never finds a full queue.

mod answer;
mod bell;
mod board;
mod client;
mod desk;
mod errand;
pub(crate) mod guidance;
#[cfg(feature = "ros2")]
mod inside;
mod letter;
mod pace;
pub(crate) mod said;
mod shared;
mod slot;
mod streamed;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use outrigger_config::{SourceSettings, VariableSettings};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

pub(crate) use self::board::line as board_line;
use self::client::attend;
use self::desk::Spent;
pub(crate) use self::desk::{Desk, next_asked};
use self::pace::Pace;
use self::shared::Shared;
#[cfg(feature = "ros2")]
pub(crate) use self::{
    errand::{Errand, OnItsWay},
    inside::{Decided, Inside},
    letter::Asked,
    slot::Status,
    streamed::Streaming,
};
use crate::clock::Clock;
use crate::exit::Failure;
use crate::motion::asked::Moving;
use crate::os::local::{self, Listener, Place};
use crate::show::complain;
use crate::worker::Worker;

/// How many may be connected at the same time.
const CLIENTS: usize = 100;
/// Room for what waits for the loop; who finds none waits.
const WAITING: usize = 64;
/// At the end, clients that still read get so long to take what they have not taken yet.
const FAREWELL: Duration = Duration::from_millis(100);

/// Where a client in the same process asks.
#[derive(Debug)]
#[cfg_attr(not(feature = "ros2"), expect(dead_code, reason = "only a node of ROS 2 is such a client"))]
pub(crate) struct Local<const N: usize>(Arc<Shared<N>>);

#[cfg(feature = "ros2")]
impl<const N: usize> Local<N> {
    /// One client.
    pub(crate) fn client(&self) -> Inside<N> {
        Inside::new(Arc::clone(&self.0))
    }
}

/// Listens, until it is dropped or [finished](Requests::finish).
#[derive(Debug)]
pub(crate) struct Requests {
    place: Place,
    /// Dropped to end the thread.
    open: watch::Sender<()>,
    worker: Worker,
}

impl Requests {
    /// Listens for requests to the run beside the robot at `seat`, whose lock this process holds, and which has `sources`
    /// and these `variables`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] with what the kernel refuses, and for a directory that is somebody else's.
    pub(crate) fn start<const N: usize>(
        seat: SocketAddr,
        robot: &str,
        (sources, variables): (&[SourceSettings], &[VariableSettings]),
        moving: Moving<N>,
        clock: Clock,
    ) -> Result<(Self, Desk<N>, Local<N>), Failure> {
        let place = Place::take(&local::directory(), seat)?;
        let failed = |error: std::io::Error| Failure::BadInput(format!("cannot take requests: {error}"));
        let runtime = crate::runtime::one_threaded()?;
        let listener = {
            let _inside = runtime.enter();
            place.listener().map_err(failed)?
        };
        let (releases, released) = mpsc::channel(WAITING);
        let (asks, asked) = mpsc::channel(WAITING);
        let (desk, spent) = Desk::new(released, asked);
        let (open, closing) = watch::channel(());
        let here = seat.ip().is_loopback();
        let loop_side = (desk.slot(), desk.bell(), desk.stands(), desk.errand(), desk.newest());
        let shared =
            Shared::new(robot.to_owned(), here, (sources, variables), moving, clock, loop_side, releases, asks);
        let shared = Arc::new(shared);
        let local = Local(Arc::clone(&shared));
        let work = move || {
            if let Err(error) = runtime.block_on(serve(listener, shared, spent, closing)) {
                complain(&format!("requests are not taken any more: {error}"));
            }
        };
        let worker = Worker::start("requests", work).map_err(failed)?;
        Ok((Self { place, open, worker }, desk, local))
    }

    /// Where it listens.
    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    /// Sends clients away, and gives the place back.
    pub(crate) fn finish(self) {
        let Self { place, open, worker } = self;
        drop((place, open));
        // A panic of the thread has been printed by then; one that hangs holds nothing that is needed.
        let _ = worker.join(5 * FAREWELL);
    }
}

async fn serve<const N: usize>(
    listener: Listener,
    shared: Arc<Shared<N>>,
    mut spent: mpsc::UnboundedReceiver<Spent>,
    mut closing: watch::Receiver<()>,
) -> std::io::Result<()> {
    let mut clients = JoinSet::new();
    let mut refusals = Pace::new(20.0, 20.0, shared.now());
    loop {
        // Those that are gone leave their places to whoever comes now.
        while clients.try_join_next().is_some() {}
        tokio::select! {
            _ = closing.changed() => break,
            accepted = listener.accept() => match accepted {
                Ok(None) => {}
                Ok(Some((stream, _))) if clients.len() < CLIENTS => {
                    clients.spawn(attend(stream, shared.clone(), closing.clone()));
                }
                Ok(Some((stream, _))) => {
                    // What does not fit into the socket at once is not sent.
                    let _ = stream.try_write(answer::no_place(CLIENTS).as_bytes());
                    let wait = refusals.take(shared.now());
                    tokio::time::sleep(wait).await;
                }
                // A client that is gone before it is accepted is nobody's loss; where no file can be opened, that lasts.
                Err(_) => tokio::time::sleep(FAREWELL).await,
            },
            Some(_) = clients.join_next() => {}
            // The memory of a motion that is over: given back here, where nobody waits for it.
            Some(motion) = spent.recv() => drop(motion),
        }
    }
    drop(listener);
    // Those that stand still are left behind.
    let _ = tokio::time::timeout(FAREWELL, async { while clients.join_next().await.is_some() {} }).await;
    Ok(())
}

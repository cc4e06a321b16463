//! Requests to a run from other processes of this machine: lines of JSON over a Unix-domain socket.
//!
//! One thread accepts connections, reads and answers; the control loop has a part of its own. Requests that the loop
//! decides are in two bounded queues, one of them for releases only. The status of the run is in a slot that neither
//! side waits for. The place for an answer is reserved before its request is queued, so that the loop never finds a
//! full queue.

mod answer;
mod board_answer_text;
mod client;
mod client_shared_state;
mod client_table;
mod envelope;
pub mod failure_text;
pub mod freedrive_arguments;
mod in_process_client;
mod line_action;
mod loop_wakeup;
mod motion_claim;
mod motion_plans;
mod output_assignment;
mod plan_answers;
mod queue;
mod run_status;
mod streamed_commands;
mod upload_permit;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use outrigger_config::{SourceSettings, VariableSettings};
use outrigger_remote::request::ClientRequest;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{Id, JoinSet};

pub use self::board_answer_text::line as board_line;
use self::client::{Presence, attend};
use self::client_shared_state::Shared;
use self::client_table::Places;
pub use self::envelope::RequestKind;
pub use self::in_process_client::{Client, Decided};
pub use self::output_assignment::{FORMS, Setting};
use self::queue::Spent;
pub(crate) use self::queue::{RequestQueue, next_asked};
pub use self::run_status::{Contacts, Status};
pub use self::streamed_commands::{StreamRejection, Streaming};
pub use self::upload_permit::{UploadGuard, UploadPermit};
use crate::exit::Failure;
use crate::host::clock::Clock;
use crate::host::os::local::{self, Listener, RequestSocket};
use crate::host::worker::Worker;
use crate::motion::impedance;
use crate::motion::requested_motion::Moving;
use crate::show::complain;

/// Returns `true` if a run accepts the request only with a valid challenge, because it can cause motion. A change of
/// stiffness is such a request, because it moves an arm that an external force deflects.
#[must_use]
pub fn causes_motion(ask: &ClientRequest<'_>) -> bool {
    ask.causes_motion() || matches!(ask, ClientRequest::Set { output, .. } if output.starts_with(impedance::WORD))
}

/// The number of requests that can wait for the control loop, in each of its two queues (releases, all others). A
/// client waits if there is no room.
const WAITING: usize = 64;
/// The wait for the next attempt after this process could open no more files for a client's connection.
const NO_FILES: Duration = Duration::from_millis(5);
/// The time at the end of a run for clients to receive their remaining answers.
const FAREWELL: Duration = Duration::from_millis(100);

/// The access of clients in the same process to the requests of a run.
#[derive(Debug)]
pub(crate) struct Local<const N: usize>(Arc<Shared<N>>);

impl<const N: usize> Local<N> {
    /// Creates a client of the run in this process.
    pub(crate) fn client(&self) -> Client<N> {
        Client::new(Arc::clone(&self.0))
    }
}

/// The thread that accepts the requests of clients to a run (a process that commands a robot). It ends when this is
/// dropped or [finished](Requests::finish).
#[derive(Debug)]
pub(crate) struct Requests {
    /// The socket for other processes. `None` if only clients of this process are accepted.
    place: Option<RequestSocket>,
    /// The reason why there is no socket for other processes, although they were to be accepted.
    refused: Option<Failure>,
    /// The sender that keeps the thread of clients alive, which ends when it is dropped.
    open: watch::Sender<()>,
    worker: Worker,
}

impl Requests {
    /// Accepts requests to the run of the robot that the address `seat` identifies, and whose lock this process holds.
    /// `sources` are the run's sensors, `variables` those of the controller's program. Clients of this process are
    /// always accepted; other processes only if it `listens`.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] with the error of the operating system if it starts no runtime or thread. A socket
    /// that cannot be created is no error: see [`refused`](Self::refused).
    pub(crate) fn start<const N: usize>(
        seat: SocketAddr,
        listens: bool,
        robot: &str,
        (sources, variables): (&[SourceSettings], &[VariableSettings]),
        moving: Moving<N>,
        clock: Clock,
    ) -> Result<(Self, RequestQueue<N>, Local<N>), Failure> {
        let failed = |error: std::io::Error| Failure::BadInput(format!("cannot take requests: {error}"));
        let runtime = crate::host::runtime::one_threaded()?;
        let taken = listens.then(|| {
            let place = RequestSocket::take(&local::directory(), seat)?;
            let _inside = runtime.enter();
            let listener = place.listener().map_err(failed)?;
            Ok((place, listener))
        });
        // Clients of this process are accepted all the same.
        let (place, listener, refused) = match taken {
            Some(Ok((place, listener))) => (Some(place), Some(listener), None),
            Some(Err(failure)) => (None, None, Some(failure)),
            None => (None, None, None),
        };
        let (releases, released) = mpsc::channel(WAITING);
        let (asks, asked) = mpsc::channel(WAITING);
        let (desk, spent) = RequestQueue::new(released, asked, clock);
        let (open, closing) = watch::channel(());
        let here = seat.ip().is_loopback();
        let loop_side = (desk.slot(), desk.bell(), desk.stands(), desk.upload_permits(), desk.newest());
        let shared =
            Shared::new(robot.to_owned(), here, (sources, variables), moving, clock, loop_side, releases, asks);
        let shared = Arc::new(shared);
        let local = Local(Arc::clone(&shared));
        let work = move || {
            if let Err(error) = runtime.block_on(serve(listener, shared, spent, closing, std::convert::identity)) {
                complain(&format!("requests are no longer accepted: {error}"));
            }
        };
        let worker = Worker::start("requests", work).map_err(failed)?;
        Ok((Self { place, refused, open, worker }, desk, local))
    }

    /// Returns the path of the socket for other processes, if there is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.place.as_ref().map(RequestSocket::path)
    }

    /// Returns the reason why there is no socket for other processes, although they were to be accepted.
    pub(crate) const fn refused(&self) -> Option<&Failure> {
        self.refused.as_ref()
    }

    /// Disconnects all clients of the run, and removes its socket.
    pub(crate) fn finish(self) {
        let Self { place, refused: _, open, worker } = self;
        drop((place, open));
        // A panic of the thread was printed by then. A blocked thread holds nothing that is needed.
        let _ = worker.join(5 * FAREWELL);
    }
}

/// The state of a connected client: its task, the use of its connection, and the sender that disconnects it.
type Attended = (Id, Arc<Presence>, oneshot::Sender<()>);

/// Serves the clients of a run until `closing` changes. `whose` converts the process id that the kernel reports to the
/// process that a client is counted for; tests replace it.
async fn serve<const N: usize>(
    listener: Option<Listener>,
    shared: Arc<Shared<N>>,
    mut spent: mpsc::UnboundedReceiver<Spent>,
    mut closing: watch::Receiver<()>,
    whose: fn(Option<i32>) -> Option<i32>,
) -> std::io::Result<()> {
    let (mut clients, mut places, mut taken) = (JoinSet::new(), Places::<Attended>::new(), 0);
    loop {
        // Clients that have disconnected leave their places to new ones.
        while let Some(gone) = clients.try_join_next_with_id() {
            let gone = gone.map_or_else(|error| error.id(), |(id, ())| id);
            places.leave(|(id, ..)| *id == gone);
        }
        tokio::select! {
            _ = closing.changed() => break,
            accepted = accept(listener.as_ref()) => match accepted {
                Ok(None) => {}
                Ok(Some((stream, process))) => {
                    let (presence, (leave, leaves)) = (Arc::<Presence>::default(), oneshot::channel());
                    let attending = attend(stream, shared.clone(), presence.clone(), leaves, closing.clone());
                    let id = clients.spawn(attending).id();
                    let newcomer = (id, presence, leave);
                    let gives_way = places.enter(whose(process), newcomer, shared.now(), |(_, presence, _)| presence.of());
                    if let Some((_, _, leave)) = gives_way {
                        // A client that has disconnected does not need the message.
                        let _ = leave.send(());
                    }
                    // Other tasks run before so many clients were accepted that one of these would lose its place, so
                    // that their first lines are read.
                    taken = (taken + 1) % client_table::NEWEST;
                    if taken == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                // A client that disconnects before it is accepted does no harm. If no file can be opened, the error
                // persists.
                Err(_) => {
                    if let Some((_, _, leave)) = places.spare(shared.now(), |(_, presence, _)| presence.of()) {
                        let _ = leave.send(());
                    }
                    tokio::time::sleep(NO_FILES).await;
                }
            },
            Some(gone) = clients.join_next_with_id() => {
                let gone = gone.map_or_else(|error| error.id(), |(id, ())| id);
                places.leave(|(id, ..)| *id == gone);
            }
            // The memory of a finished motion is freed here, where nothing waits for it.
            Some(motion) = spent.recv() => drop(motion),
        }
    }
    drop(listener);
    // Clients that do not read are abandoned.
    let _ = tokio::time::timeout(FAREWELL, async { while clients.join_next().await.is_some() {} }).await;
    Ok(())
}

/// Accepts the next client of the run. Never returns without a listener.
async fn accept(listener: Option<&Listener>) -> std::io::Result<Option<(local::Stream, Option<i32>)>> {
    match listener {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::net::UnixStream;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::client_shared_state::tests::{Bench, bench};
    use super::envelope::RequestKind;
    use super::*;
    use crate::released::ReleasedBy;

    /// The number of clients in the test that connect to the run and never read.
    const HUNG: usize = 1_000;

    /// Returns the time from a client's request for a release until the control loop receives it, while [`HUNG`] other
    /// clients do not read. `whose` counts these for one process, or each for a process of its own.
    fn release_beside_hung_clients(name: &str, whose: fn(Option<i32>) -> Option<i32>) -> Duration {
        let files = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
        let folder = std::env::temp_dir().join(format!("outrigger-hung-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let place = RequestSocket::take(&folder, SocketAddr::from(([192, 0, 2, 1], 30_003))).expect("a new directory");
        let Bench { shared, mut releases, open, asks: _asks, .. } = bench();
        let (clock, closing, (_spent, dropped)) = (Clock::start(), open.subscribe(), mpsc::unbounded_channel());
        let runtime = crate::host::runtime::one_threaded().expect("a runtime");
        let listener = {
            let _inside = runtime.enter();
            place.listener().expect("a listener")
        };
        let serving =
            std::thread::spawn(move || runtime.block_on(serve(Some(listener), shared, dropped, closing, whose)));
        let connect = || UnixStream::connect(place.path()).expect("a connection");

        let mut watcher = BufReader::new(connect());
        watcher.get_mut().write_all(b"{\"do\":\"watch\"}\n").expect("room");
        let mut line = String::new();
        watcher.read_line(&mut line).expect("a status");
        let hung: Vec<_> = (0..HUNG).map(|_| connect()).collect();
        line.clear();
        // By the time that this client loses its place, all but a few were accepted.
        BufReader::new(&hung[HUNG - 1 - client_table::PLACES]).read_line(&mut line).expect("a farewell");
        assert!(line.contains("\"what\":\"NoPlace\""), "{line}");
        let began = clock.now();
        let mut operator = connect();
        operator.write_all(b"{\"do\":\"release\"}\n").expect("room");
        let release = async { tokio::time::timeout(Duration::from_secs(60), releases.recv()).await };
        let letter = crate::host::runtime::one_threaded().expect("a runtime").block_on(release);
        let took = clock.now().since(began);
        let letter = letter.expect("a release is never kept waiting").expect("the run goes on");
        assert_eq!(letter.asked, RequestKind::Release(ReleasedBy::Request));
        watcher.get_mut().write_all(b"{\"id\":7,\"do\":\"status\"}\n").expect("it has its place");
        while !line.starts_with("{\"id\":7,\"ok\":true") {
            line.clear();
            assert_ne!(watcher.read_line(&mut line).expect("an answer"), 0, "who watches has its place");
        }
        drop(open);
        serving.join().expect("no panic").expect("it listened");
        drop(place);
        let _ = std::fs::remove_dir_all(&folder);
        Duration::from_micros(took.as_micros())
    }

    #[test]
    fn a_release_is_taken_beside_a_thousand_clients_that_hang() {
        release_beside_hung_clients("one", std::convert::identity);
        release_beside_hung_clients("each", |_| None);
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn a_release_is_taken_within_50_ms_beside_a_thousand_clients_that_hang() {
        let of_one_and_of_each: [fn(Option<i32>) -> Option<i32>; 2] = [std::convert::identity, |_| None];
        for whose in of_one_and_of_each {
            let took = release_beside_hung_clients("time", whose);
            assert!(took < Duration::from_millis(50), "{took:?}");
        }
    }

    #[test]
    fn a_client_that_gives_its_place_away_is_read_once_more() {
        let folder = std::env::temp_dir().join(format!("outrigger-last-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let place = RequestSocket::take(&folder, SocketAddr::from(([192, 0, 2, 1], 30_003))).expect("a new directory");
        let Bench { shared, mut releases, open, .. } = bench();
        crate::host::runtime::one_threaded().expect("a runtime").block_on(async {
            let listener = place.listener().expect("a listener");
            let mut client = UnixStream::connect(place.path()).expect("a connection");
            let (stream, _) = listener.accept().await.expect("a client").expect("of this user");
            let (presence, (leave, leaves)) = (Arc::<Presence>::default(), oneshot::channel());
            let attending = tokio::spawn(attend(stream, shared, presence, leaves, open.subscribe()));
            tokio::task::yield_now().await;
            client.write_all(b"{\"do\":\"release\"}\n").expect("room");
            leave.send(()).expect("it is there");
            attending.await.expect("no panic");
            assert_eq!(releases.try_recv().expect("it is passed on").asked, RequestKind::Release(ReleasedBy::Request));
        });
        drop(place);
        let _ = std::fs::remove_dir_all(&folder);
    }
}

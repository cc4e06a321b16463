//! Locks the pendant while a run commands the arm, on a thread that the control loop never waits for.

use std::net::SocketAddr;

use outrigger_core::client::dashboard::{Client, LockInput, LockOutput, PendantLock, Timeouts};
use outrigger_core::mode::Mode;
use outrigger_wire::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::connection::{Connection, LINE_MEMORY};
use super::stored_role::StoredRole;
use super::transport::Transport as _;
use crate::exit::Failure;
use crate::host::clock::{Clock, std_duration};
use crate::host::worker::{Joined, Worker};

/// The time within which the controller has to unlock the pendant at the end of the process.
const FAREWELL: Duration = Duration::from_secs(3);

/// A pendant that is locked while the arm is commanded, and unlocked when this is dropped.
#[derive(Debug)]
pub(crate) struct LockedPendant {
    /// The sender of the session's mode to the thread. The thread ends when it is dropped.
    mode: Option<watch::Sender<Mode>>,
    worker: Option<Worker>,
    news: UnboundedReceiver<String>,
    /// `true` locks the pendant while the arm is commanded. `false` only restores the role that an earlier run has
    /// left locked.
    locks: bool,
}

impl LockedPendant {
    /// Starts the thread for the pendant of the controller whose dashboard server is at `dashboard`. If `locks` is
    /// `true`, the pendant is locked with each arming. Returns `None` if `locks` is `false` and no earlier run has
    /// left the pendant locked.
    ///
    /// # Errors
    /// Returns [`Failure::BadInput`] if no thread can be started.
    pub(crate) fn start(dashboard: SocketAddr, locks: bool, clock: Clock) -> Result<Option<Self>, Failure> {
        Self::keeping(StoredRole::of(dashboard), dashboard, locks, clock)
    }

    fn keeping(kept: StoredRole, dashboard: SocketAddr, locks: bool, clock: Clock) -> Result<Option<Self>, Failure> {
        let left = kept.read();
        if !locks && left.is_none() {
            return Ok(None);
        }
        let (mode, modes) = watch::channel(Mode::Offline);
        let (tell, news) = unbounded_channel();
        if let Some(role) = left {
            let text = format!("an earlier run left the pendant locked: restoring its role {}", role.word());
            let _ = tell.send(text);
        }
        let runtime = crate::host::runtime::one_threaded()?;
        let lock = left.map_or_else(PendantLock::new, PendantLock::left_behind);
        let work = move || runtime.block_on(attend(dashboard, kept, lock, clock, modes, tell));
        let worker = Worker::start("pendant", work)
            .map_err(|error| Failure::BadInput(format!("cannot lock the pendant: {error}")))?;
        Ok(Some(Self { mode: Some(mode), worker: Some(worker), news, locks }))
    }

    /// Passes the mode of the control loop to the thread that locks the pendant. The loop does not wait for that
    /// thread.
    pub(crate) fn follow(&self, mode: Mode) {
        if let Some(to) = self.mode.as_ref().filter(|_| self.locks) {
            to.send_replace(mode);
        }
    }

    /// Unlocks the pendant, waiting for at most 3 s. Returns the messages about the pendant that were not shown yet.
    pub(crate) fn finish(mut self) -> Vec<String> {
        let ended = self.end();
        let mut told: Vec<String> = std::iter::from_fn(|| self.news.try_recv().ok()).collect();
        if ended == Some(Joined::Hangs) {
            let seconds = FAREWELL.as_secs_f32();
            told.push(format!(
                "the pendant may still be locked: the dashboard server did not unlock it within {seconds} s; the \
                 next run unlocks it, or `outrigger dashboard ROBOT unlock-pendant` does"
            ));
        }
        told
    }

    fn end(&mut self) -> Option<Joined> {
        drop(self.mode.take());
        self.worker.take().map(|worker| worker.join(std_duration(FAREWELL)))
    }
}

impl Drop for LockedPendant {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits for the next message about the pendant. Never returns if `pendant` is `None`.
pub(crate) async fn next_news(pendant: &mut Option<LockedPendant>) -> String {
    let next = match pendant {
        Some(pendant) => pendant.news.recv().await,
        None => None,
    };
    match next {
        Some(text) => text,
        None => std::future::pending().await,
    }
}

/// Locks and unlocks the pendant as the state machine `lock` decides, by requests to the dashboard server, and stores
/// its former user role in `kept`. Ends when the run is over and the pendant is unlocked.
async fn attend(
    dashboard: SocketAddr,
    kept: StoredRole,
    mut lock: PendantLock,
    clock: Clock,
    mut modes: watch::Receiver<Mode>,
    tell: UnboundedSender<String>,
) {
    let mut memory = vec![0; LINE_MEMORY];
    let timeouts = Timeouts { opening: Duration::from_secs(1), ..Timeouts::default() };
    let mut connection = Connection::new(dashboard, clock, Client::new(&mut memory, timeouts));
    let mut over = false;
    loop {
        over |= modes.has_changed().is_err();
        let mode = if over { Mode::Offline } else { *modes.borrow_and_update() };
        lock.handle(clock.now(), LockInput::Mode(mode));
        let output = lock.poll_output();
        while let Some(news) = lock.poll_event() {
            let _ = tell.send(news.to_string());
        }
        match output {
            Some(LockOutput::Ask(request)) => {
                let answered =
                    connection.execute(request, |reply| lock.handle(clock.now(), LockInput::Reply(*reply))).await;
                if answered.is_err() {
                    lock.handle(clock.now(), LockInput::NoAnswer);
                }
            }
            Some(LockOutput::Keep(role)) => {
                let written = kept.write(role);
                if let Err(error) = &written {
                    let _ = tell.send(format!("{kept}: {error}"));
                }
                lock.handle(clock.now(), LockInput::Kept(written.is_ok()));
            }
            Some(LockOutput::Forget) => kept.remove(),
            None if over && lock.is_open() => return,
            None => {
                let due = async {
                    match lock.poll_timeout() {
                        Some(at) => tokio::time::sleep_until(clock.std_instant(at).into()).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    changed = modes.changed(), if !over => over |= changed.is_err(),
                    () = due => {}
                }
                lock.handle(clock.now(), LockInput::Tick);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{Ipv4Addr, TcpStream};
    use std::path::PathBuf;
    use std::time::Duration as StdDuration;

    use outrigger_sim::controller::{Controller, Options};
    use outrigger_sim::port::Port;
    use outrigger_sim::tcp::{Running, Server};
    use outrigger_wire::dashboard::UserRole;
    use outrigger_wire::robot::SoftwareVersion;
    use outrigger_wire::time::Instant;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("outrigger-lock-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        folder
    }

    fn controller(major: u8, minor: u8) -> (Running, SocketAddr) {
        let controller =
            Controller::new(Options::for_software(SoftwareVersion::new(major, minor))).expect("a controller");
        let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 59_000).expect("free ports");
        let server = server.spawn().expect("a thread");
        let at = (Ipv4Addr::LOCALHOST, server.port_base() + (Port::Dashboard.number() - 29_999));
        (server, at.into())
    }

    fn start(name: &str, at: SocketAddr, locks: bool) -> Option<LockedPendant> {
        let kept = StoredRole::within(Some(&folder(name)), at);
        LockedPendant::keeping(kept, at, locks, Clock::start()).expect("a thread")
    }

    /// Sends a request to the simulated dashboard server over a connection of its own, and returns the reply.
    fn ask(at: SocketAddr, request: &str) -> String {
        let mut stream = BufReader::new(TcpStream::connect(at).expect("a dashboard server"));
        let mut greeting = String::new();
        stream.read_line(&mut greeting).expect("a greeting");
        stream.get_mut().write_all(format!("{request}\n").as_bytes()).expect("it reads");
        let mut line = String::new();
        stream.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Returns `true` if the pendant gets the user role `role` within 10 s.
    fn comes_to(at: SocketAddr, role: &str) -> bool {
        let clock = Clock::start();
        while clock.now().since(Instant::ZERO) < Duration::from_secs(10) {
            if ask(at, "getUserRole") == role {
                return true;
            }
            std::thread::sleep(StdDuration::from_millis(5));
        }
        false
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn a_pendant_is_locked_while_commanded_and_given_back_on_every_way_out() {
        let (_server, at) = controller(3, 15);
        assert_eq!(ask(at, "setUserRole operator"), "Setting user role: operator");
        let pendant = start("ways", at, true).expect("it is to lock");
        for _ in 0..2 {
            pendant.follow(Mode::Monitor);
            assert!(comes_to(at, "OPERATOR"));
            pendant.follow(Mode::Arming);
            assert!(comes_to(at, "LOCKED"));
            for mode in [Mode::Command, Mode::Stopping] {
                pendant.follow(mode);
                assert!(comes_to(at, "LOCKED"));
            }
        }
        let told = pendant.finish();
        assert!(comes_to(at, "OPERATOR") && told.last().expect("news").contains("role is restored"), "{told:?}");
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn what_a_process_that_died_has_locked_the_next_one_gives_back() {
        let (_server, at) = controller(3, 15);
        let kept = StoredRole::within(Some(&folder("death")), at);
        kept.write(UserRole::Operator).expect("room");
        ask(at, "setUserRole locked");
        let next = LockedPendant::keeping(kept.clone(), at, false, Clock::start()).expect("a thread");
        let told = next.expect("something was left").finish();
        assert!(comes_to(at, "OPERATOR") && told[0].contains("earlier run left the pendant locked"), "{told:?}");
        assert_eq!(kept.read(), None, "{told:?}");
        assert!(LockedPendant::keeping(kept, at, false, Clock::start()).expect("a thread").is_none());
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn other_controllers_are_not_locked_and_that_is_told() {
        let (_server, at) = controller(5, 15);
        let pendant = start("e-series", at, true).expect("it is to lock");
        pendant.follow(Mode::Command);
        std::thread::sleep(StdDuration::from_millis(300));
        let told = pendant.finish();
        assert!(told.iter().any(|text| text.contains("not locked") && text.contains("3.1")), "{told:?}");
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn without_a_place_to_write_to_nothing_is_locked() {
        let (_server, at) = controller(3, 15);
        let kept = StoredRole::within(None, at);
        let pendant = LockedPendant::keeping(kept, at, true, Clock::start()).expect("a thread").expect("it is to lock");
        pendant.follow(Mode::Command);
        std::thread::sleep(StdDuration::from_millis(300));
        assert_eq!(ask(at, "getUserRole"), "PROGRAMMER");
        let told = pendant.finish();
        assert!(told.iter().any(|text| text.contains("cannot be saved")), "{told:?}");
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn a_dashboard_that_is_gone_delays_the_end_by_a_few_seconds_at_most() {
        let pendant = start("gone", (Ipv4Addr::LOCALHOST, 9).into(), true).expect("it is to lock");
        pendant.follow(Mode::Command);
        std::thread::sleep(StdDuration::from_millis(100));
        let clock = Clock::start();
        let told = pendant.finish();
        assert!(
            clock.now().since(Instant::ZERO) < Duration::from_secs(4) && told[0].contains("does not answer"),
            "{told:?}"
        );
    }
}

//! The state that all clients share: the status of the run, the interpretation of their lines, and the queues to the
//! control loop.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration as StdDuration;

use outrigger_config::{SourceInput, SourceSettings, VariableSettings};
use outrigger_core::law::Forward;
use outrigger_core::mode::ClientNumber;
use outrigger_remote::request::{Challenge, ClientRequest, Fault, Message};
use outrigger_wire::sensor::{Reading, Sample, SampleValue, Scale, SourceId};
use outrigger_wire::time::Instant;
use tokio::sync::mpsc;

use super::answer::{self, Answer, Effect, Verdict};
use super::envelope::{Envelope, Reply, RequestKind};
use super::freedrive_arguments;
use super::line_action::ClientAction;
use super::loop_wakeup::Notify;
use super::motion_claim::{Claims, Withdrawal};
use super::motion_plans::{Planner, Plans};
use super::output_assignment::Setting;
use super::run_status::{LatestStatus, Status};
use super::streamed_commands::LatestCommand;
use super::streamed_commands::Streamed;
use super::upload_permit::{UploadPermit, UploadPermits};
use crate::host::clock::Clock;
use crate::host::rate_limit::Pace;
use crate::motion::impedance::{self, Impedance};
use crate::motion::motion_text::{Piece, Pieces};
use crate::motion::requested_motion::{ArmMotionState, MotionRequest, Moving, Ready, ready};
use crate::released::ReleasedBy;

/// The rate limit on lines of all clients together: lines per second in the long run, and lines at once. It limits
/// the load of the thread that serves the clients.
const ALL_LINES: (f32, f32) = (2_000.0, 200.0);
/// The rate limit on pieces of motions of all clients together: pieces per second in the long run, and pieces at
/// once. Each piece is a line of up to ten waypoints.
const ALL_PIECES: (f32, f32) = (4_000.0, 200.0);
/// The rate limit on requests of all clients to the control loop: requests per second in the long run, and requests
/// at once. Releases are not limited.
const PASSED_ON: (f32, f32) = (1_000.0, 100.0);

/// A sensor of the configuration. Its readings may arrive as requests of clients.
#[derive(Debug)]
struct Source {
    name: String,
    /// The number of values in a reading. `None` if the sensor's readings do not arrive as requests of clients.
    values: Option<usize>,
    scale: Scale,
    newest: AtomicU32,
}

/// The parts of the clients' shared state through which they exchange data with the control loop: the session's status,
/// the flag that wakes the loop, the arm's motion state, the upload permits and the newest streamed command.
type LoopSide<const N: usize> = (LatestStatus, Notify, Arc<Mutex<ArmMotionState<N>>>, UploadPermits, LatestCommand<N>);

/// The state of a run (a process that commands a robot) that the tasks of all its clients share.
#[derive(Debug)]
pub(super) struct Shared<const N: usize> {
    robot: String,
    pub(super) here: bool,
    sources: Vec<Source>,
    variables: Vec<VariableSettings>,
    clock: Clock,
    pub(super) slot: LatestStatus,
    bell: Notify,
    /// The motion state of the arm a short time ago: joint positions and speeds, active setpoint, period of robot states.
    stands: Arc<Mutex<ArmMotionState<N>>>,
    /// The permits for clients that upload third-party programs.
    upload_permits: UploadPermits,
    newest: LatestCommand<N>,
    moving: Moving<N>,
    /// The plan that is being received, i.e. the motion that a client sends piece by piece. There is one at most.
    pub(super) plans: Plans<N>,
    /// `true` while the motion of a client is checked: see [`ReadPermit`].
    reads: Arc<AtomicBool>,
    pub(super) releases: mpsc::Sender<Envelope<N>>,
    pub(super) asks: mpsc::Sender<Envelope<N>>,
    /// The rate limit of clients' requests that are passed to the control loop.
    pub(super) passed_on: Mutex<Pace>,
    /// The rate limit of text lines of all clients together.
    pub(super) lines: Mutex<Pace>,
    /// The rate limit of the pieces in which all clients together send motions.
    pub(super) pieces: Mutex<Pace>,
    /// The number of clients that have connected to the run so far.
    pub(super) askers: AtomicU32,
}

impl<const N: usize> Shared<N> {
    #[expect(clippy::too_many_arguments, reason = "each is one thing, and there is one caller")]
    pub(super) fn new(
        robot: String,
        here: bool,
        (sources, variables): (&[SourceSettings], &[VariableSettings]),
        moving: Moving<N>,
        clock: Clock,
        (slot, bell, stands, upload_permits, newest): LoopSide<N>,
        releases: mpsc::Sender<Envelope<N>>,
        asks: mpsc::Sender<Envelope<N>>,
    ) -> Self {
        let of = |source: &SourceSettings| Source {
            name: source.name.clone(),
            values: (source.input == SourceInput::Requests).then_some(source.values),
            scale: Scale { factor: source.scale, offset: source.offset },
            newest: AtomicU32::new(u32::MAX),
        };
        let pace = |(per_second, at_once)| Mutex::new(Pace::new(per_second, at_once, clock.now()));
        let (passed_on, lines, pieces) = (pace(PASSED_ON), pace(ALL_LINES), pace(ALL_PIECES));
        Self {
            robot,
            here,
            sources: sources.iter().map(of).collect(),
            variables: variables.to_vec(),
            clock,
            slot,
            bell,
            stands,
            upload_permits,
            newest,
            moving,
            plans: Plans::default(),
            reads: Arc::default(),
            releases,
            asks,
            passed_on,
            lines,
            pieces,
            askers: AtomicU32::new(0),
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Takes a share of the rate limit `of` of all clients. Returns the time to wait before the share may be used.
    pub(super) fn share(&self, of: &Mutex<Pace>) -> StdDuration {
        of.lock().map(|mut pace| pace.take(self.now())).unwrap_or_default()
    }

    /// Queues a client's request for the control loop, and waits for room in the queue. Returns `false` if the loop has
    /// ended.
    pub(super) async fn pass_on(&self, lane: &mpsc::Sender<Envelope<N>>, letter: Envelope<N>) -> bool {
        let sent = lane.send(letter).await.is_ok();
        self.bell.ring();
        sent
    }

    /// Queues a client's request for the control loop if the queue has room. Returns `false` if there is none.
    pub(super) fn pass_on_now(&self, lane: &mpsc::Sender<Envelope<N>>, letter: Envelope<N>) -> bool {
        let sent = lane.try_send(letter).is_ok();
        self.bell.ring();
        sent
    }

    /// Wakes the control loop after a client's request was queued.
    pub(super) fn ring(&self) {
        self.bell.ring();
    }

    /// Returns `true` if a client's release is queued.
    pub(super) fn is_releasing(&self) -> bool {
        !self.releases.is_closed() && self.releases.capacity() < self.releases.max_capacity()
    }

    /// Queues a client's request for the control loop at once if the queue has room and the rate limit permits. Requests
    /// that stop the arm, and the disconnection of a client, are not limited. Returns `false` if it is not queued.
    pub(super) fn hand_over(&self, letter: Envelope<N>) -> bool {
        let ends = letter.asked.stops() || matches!(letter.asked, RequestKind::Gone(_));
        let lane = if letter.asked.stops() { &self.releases } else { &self.asks };
        let may = ends || self.passed_on.lock().is_ok_and(|mut pace| pace.take_now(self.clock.now()));
        may && self.pass_on_now(lane, letter)
    }

    /// Passes the newest command of a client's stream to the control loop.
    pub(super) fn stream(&self, forward: Forward<N>) {
        let (epoch, at) = (self.newest().epoch, self.clock.now());
        self.newest.put(Streamed { forward, epoch, at });
        self.bell.ring();
    }

    /// Returns the number that identifies a new client.
    pub(super) fn next_asker(&self) -> ClientNumber {
        ClientNumber(self.askers.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn upload_permit(&self) -> UploadPermit {
        self.upload_permits.permit()
    }

    pub(super) fn newest(&self) -> Status {
        self.slot.get()
    }

    pub(super) fn stands(&self) -> ArmMotionState<N> {
        self.stands.lock().map(|stands| *stands).unwrap_or_default()
    }

    pub(super) fn moving(&self) -> Moving<N> {
        self.moving.clone()
    }

    pub(super) const fn is_here(&self) -> bool {
        self.here
    }

    pub(super) fn status(&self, id: Option<u32>, word: &str, now: &Status, challenge: Option<Challenge>) -> String {
        answer::status(id, word, now, (&self.robot, self.here), challenge)
    }

    /// Returns `true` if the motion of a client is being checked.
    pub(super) fn is_reading(&self) -> bool {
        self.reads.load(Ordering::Acquire)
    }

    /// Checks a requested motion, on a thread of its own, because the check of a long motion takes time.
    ///
    /// # Errors
    /// Returns the reason why the motion is not valid; `None` if another motion is being checked.
    pub(super) async fn ready(&self, wish: MotionRequest<N>) -> Result<Ready<N>, Option<String>> {
        let stands = self.stands.lock().map(|stands| *stands).unwrap_or_default();
        let moving = self.moving.clone();
        let read = self.read_alone(move || ready(wish, &moving, &stands)).await.ok_or(None)?;
        read.map_err(Some)
    }

    /// Runs `read`, the check of a motion, on a thread of its own. Returns `None` while an earlier call is running,
    /// whether or not the client of that call still waits for it.
    async fn read_alone<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Option<Result<T, String>> {
        let permit = ReadPermit::take(&self.reads)?;
        let read = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            read()
        });
        // The message of a panic was printed.
        Some(read.await.unwrap_or_else(|_| Err("its reader failed".into())))
    }

    /// Ends the motion of a client that has disconnected, if it has `asked` for one. Freedrive and force mode end without
    /// this call, because the client no longer renews them. If the future is dropped early, this must be called again.
    pub(super) async fn gone(&self, asker: ClientNumber, asked: &AtomicBool) {
        if !asked.load(Ordering::Relaxed) {
            return;
        }
        let letter = Envelope::new(RequestKind::Gone(asker), Reply { id: None, to: None });
        self.pass_on(&self.asks, letter).await;
        // Cleared only now: the wait may be dropped while the queue is full, and the motion would continue without
        // its client.
        asked.store(false, Ordering::Relaxed);
    }

    /// Interprets a line of text of this client that was received at `at`.
    pub(super) fn understand(
        &self,
        (planner, claims): (&mut Planner<'_, N>, &mut Claims<'_>),
        line: Result<Message<'_>, Fault<'_>>,
        at: Instant,
    ) -> ClientAction<N> {
        let now = self.slot.get();
        let Message { id, challenge, ask } = match line {
            Ok(message) => message,
            Err(fault) => return ClientAction::Say(answer::fault(&fault, &now)),
        };
        let refused = |claims: &Claims<'_>| {
            let refused = Answer { id, word: ask.word(), status: now, verdict: Verdict::NotFresh };
            ClientAction::Say(refused.line_with(self.here, Some(claims.issue(at))))
        };
        // The claim is checked before the end of a plan consumes the plan. The rest of a failed plan is discarded
        // without an answer.
        let ends = matches!(ask, ClientRequest::Move { how: Pieces::END, .. }) && !planner.is_dropping();
        let early = if ends { claims.accept(id, challenge, at) } else { None };
        if ends && early.is_none() {
            return refused(claims);
        }
        let step = self.meant((planner, claims), (id, ask), at, &now);
        let moves = super::causes_motion(&ask) && matches!(step, ClientAction::PassOn(..) | ClientAction::Move(..));
        let claim = if moves { early.or_else(|| claims.accept(id, challenge, at)) } else { None };
        match step {
            _ if moves && claim.is_none() => refused(claims),
            ClientAction::PassOn(id, asked, _) => ClientAction::PassOn(id, asked, claim),
            ClientAction::Move(id, epoch, wish, _) => ClientAction::Move(id, epoch, wish, claim),
            other => other,
        }
    }

    /// Returns the action that follows from a client's parsed message. The challenge, which proves that a request for
    /// motion was not delayed on its way, is not checked here.
    fn meant(
        &self,
        (planner, claims): (&mut Planner<'_, N>, &Claims<'_>),
        (id, ask): (Option<u32>, ClientRequest<'_>),
        at: Instant,
        now: &Status,
    ) -> ClientAction<N> {
        let asker = planner.asker;
        let asked = match ask {
            ClientRequest::Status => {
                return ClientAction::Say(self.status(id, ask.word(), now, Some(claims.issue(at))));
            }
            ClientRequest::Watch => return ClientAction::Watch(id),
            ClientRequest::Request(epoch) => RequestKind::Request(epoch),
            ClientRequest::Resume(epoch) => RequestKind::Resume(epoch),
            ClientRequest::Release => RequestKind::Release(ReleasedBy::Request),
            ClientRequest::Acknowledge => RequestKind::Acknowledge,
            ClientRequest::HandBack(epoch) => RequestKind::HandBack(epoch),
            ClientRequest::Resend(epoch) => RequestKind::Resend(epoch),
            ClientRequest::Renew => RequestKind::Renew(asker),
            ClientRequest::Stiffen => RequestKind::Stiffen,
            ClientRequest::Cancel => RequestKind::Cancel,
            ClientRequest::Withdraw { what } => match claims.withdraw(what) {
                Withdrawal::AtTheLoop(named) => RequestKind::Withdraw(named),
                withdrawal => {
                    let back = withdrawal == Withdrawal::TakenBack;
                    let verdict = Verdict::Withdrew(if back { Effect::TakenBack } else { Effect::Nothing });
                    return ClientAction::Withdrew(
                        Answer { id, word: ask.word(), status: *now, verdict }.line(self.here),
                    );
                }
            },
            ClientRequest::Dashboard { how, .. } => {
                let expected = "a board: for a run, use `outrigger dashboard ROBOT`";
                return ClientAction::Say(answer::value(id, now, "how", expected, how));
            }
            ClientRequest::Move { epoch, how } => {
                let piece = Piece::of(how).transpose();
                return match piece {
                    Ok(Some(piece)) => self.planned(planner, (id, epoch), piece, at),
                    Ok(None) => match MotionRequest::of(how) {
                        Ok(wish) => ClientAction::Move(id, epoch, wish, None),
                        Err(expected) => ClientAction::Say(answer::value(id, now, "how", &expected, how)),
                    },
                    Err(expected) => ClientAction::Say(answer::value(id, now, "how", &expected, how)),
                };
            }
            ClientRequest::Freedrive { epoch, how } | ClientRequest::Force { epoch, how } => {
                let hand = matches!(ask, ClientRequest::Freedrive { .. });
                match if hand { freedrive_arguments::freedrive(how) } else { freedrive_arguments::force(how) } {
                    Ok((what, limits)) => RequestKind::Guide(epoch, asker, what, limits),
                    Err(expected) => return ClientAction::Say(answer::value(id, now, "how", &expected, how)),
                }
            }
            ClientRequest::ToolContact { epoch, how } => match freedrive_arguments::contact(how) {
                Ok(stops) => RequestKind::ToolContact(epoch, stops),
                Err(expected) => return ClientAction::Say(answer::value(id, now, "how", &expected, how)),
            },
            ClientRequest::Set { epoch, output } if let Some(how) = output.strip_prefix(impedance::WORD) => {
                match Impedance::of(how) {
                    Ok(asked) => RequestKind::Impedance(epoch, asked),
                    Err(expected) => return ClientAction::Say(answer::value(id, now, "output", &expected, output)),
                }
            }
            ClientRequest::Set { epoch, output } => match Setting::of(output, &self.variables) {
                Ok(Setting(write)) => RequestKind::Set(epoch, write),
                Err(expected) => return ClientAction::Say(answer::value(id, now, "output", &expected, output)),
            },
            ClientRequest::Sample { epoch, source, values, seq } => match self.sample((source, values, seq), at) {
                Ok(sample) => RequestKind::Sample(epoch, sample),
                Err((key, expected, found)) => {
                    return ClientAction::Say(answer::value(id, now, key, &expected, &found));
                }
            },
        };
        ClientAction::PassOn(id, asked, None)
    }

    /// Returns the scaled reading of a sensor (source) from a client's request; or the wrong key of the request, what
    /// was expected and what was found.
    pub(super) fn sample(
        &self,
        (name, values, seq): (&str, SampleValue, Option<u32>),
        taken_at: Instant,
    ) -> Result<Sample, (&'static str, String, String)> {
        let takes = self.sources.iter().enumerate().find(|(_, source)| source.name == name && source.values.is_some());
        let Some((index, source)) = takes else {
            let names = self.sources.iter().filter(|source| source.values.is_some()).map(|source| source.name.as_str());
            let names: Vec<_> = names.collect();
            let expected = if names.is_empty() {
                "a source with input = \"requests\", and the configuration has none".into()
            } else {
                format!("a source with input = \"requests\": {}", names.join(", "))
            };
            return Err(("source", expected, name.into()));
        };
        let seq = seq.unwrap_or_else(|| source.newest.load(Ordering::Relaxed).wrapping_add(1));
        let reading = Reading { seq, value: values };
        let expected = source.values.unwrap_or_default();
        let reading = reading.with_count(expected).map_err(|_| {
            ("values", format!("{expected} values for source \"{name}\""), values.as_slice().len().to_string())
        })?;
        source.newest.store(seq, Ordering::Relaxed);
        let source_id = SourceId(u8::try_from(index).unwrap_or(u8::MAX));
        Ok(source.scale.of(reading).sample(source_id, taken_at))
    }
}

/// A permit to check a motion, one at a time. Dropping it in any way admits the next check.
#[derive(Debug)]
struct ReadPermit(Arc<AtomicBool>);

impl ReadPermit {
    fn take(reads: &Arc<AtomicBool>) -> Option<Self> {
        (!reads.swap(true, Ordering::AcqRel)).then(|| Self(Arc::clone(reads)))
    }
}

impl Drop for ReadPermit {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::future::Future as _;
    use std::task::Poll;

    use outrigger_config::Format;
    use outrigger_core::command::{Limits, SourceConfig};
    use outrigger_wire::robot::JointPositions;
    use tokio::sync::watch;

    use super::*;
    use crate::motion::requested_motion::{MotionExecutor, RejectedMotions};

    fn source(name: &str, input: SourceInput) -> SourceSettings {
        let judged = SourceConfig::new(SourceId(0), 2, f32::MIN, f32::MAX);
        SourceSettings { name: name.into(), input, format: Format::Text, values: 2, scale: 0.001, offset: 1.0, judged }
    }

    pub(in crate::requests) struct Bench {
        pub(in crate::requests) shared: Arc<Shared<6>>,
        pub(in crate::requests) releases: mpsc::Receiver<Envelope<6>>,
        pub(in crate::requests) asks: mpsc::Receiver<Envelope<6>>,
        pub(in crate::requests) slot: LatestStatus,
        pub(in crate::requests) open: watch::Sender<()>,
    }

    impl Bench {
        /// Publishes zero as the position of every joint of the arm, from which requested motions are checked.
        pub(in crate::requests) fn stand(&self) {
            self.shared.stands.lock().unwrap().at = Some(JointPositions([0.0; 6]));
        }
    }

    pub(in crate::requests) fn bench() -> Bench {
        bench_at(Clock::start())
    }

    pub(in crate::requests) fn bench_at(clock: Clock) -> Bench {
        let ((release, releases), (ask, asks)) = (mpsc::channel(2), mpsc::channel(2));
        let slot = LatestStatus::default();
        let sources = [source("lamp", SourceInput::Stdin), source("goal", SourceInput::Requests)];
        let moving = Moving { limits: Limits::default(), by: MotionExecutor::Law, refuses: RejectedMotions::default() };
        let loop_side =
            (slot.clone(), Notify::default(), Arc::default(), UploadPermits::default(), LatestCommand::default());
        let shared = Shared::new("arm".into(), true, (&sources, &[]), moving, clock, loop_side, release, ask);
        Bench { shared: Arc::new(shared), releases, asks, slot, open: watch::channel(()).0 }
    }

    #[test]
    fn a_sample_is_scaled_counted_and_timed() {
        let bench = bench();
        let value = SampleValue::new(&[1000.0, -500.0]).unwrap();
        let at = Instant::from_micros(77);
        let taken = |seq| bench.shared.sample(("goal", value, seq), at).unwrap();
        assert_eq!((taken(None).seq, taken(None).seq, taken(Some(40)).seq, taken(None).seq), (0, 1, 40, 41));
        let sample = taken(None);
        assert_eq!((sample.value.as_slice(), sample.source, sample.taken_at), (&[2.0, 0.5][..], SourceId(1), at));
    }

    #[test]
    fn an_asker_that_is_gone_ends_its_motion_once_and_one_without_a_motion_nothing() {
        let mut bench = bench();
        crate::host::runtime::one_threaded().unwrap().block_on(async {
            bench.shared.gone(ClientNumber(3), &AtomicBool::new(false)).await;
            assert!(bench.asks.try_recv().is_err());
            let moves = AtomicBool::new(true);
            bench.shared.gone(ClientNumber(3), &moves).await;
            bench.shared.gone(ClientNumber(3), &moves).await;
            assert_eq!(bench.asks.try_recv().expect("a letter").asked, RequestKind::Gone(ClientNumber(3)));
            assert!(bench.asks.try_recv().is_err(), "it was told once");
        });
    }

    #[test]
    fn a_client_that_is_gone_while_its_motion_is_read_leaves_nothing_busy() {
        let bench = bench();
        crate::host::runtime::one_threaded().unwrap().block_on(async {
            let read = |shared: &Arc<Shared<6>>| {
                let (open, opened) = std::sync::mpsc::channel::<()>();
                let shared = Arc::clone(shared);
                let reading = tokio::spawn(async move {
                    let read = shared.read_alone(move || {
                        let _ = opened.recv();
                        Ok(())
                    });
                    read.await
                });
                (open, reading)
            };
            let (file, client) = read(&bench.shared);
            tokio::task::yield_now().await;
            assert_eq!(bench.shared.read_alone(|| Ok(())).await, None, "one at a time");
            client.abort();
            assert!(client.await.unwrap_err().is_cancelled());
            assert_eq!(bench.shared.read_alone(|| Ok(())).await, None, "its reader still runs");
            drop(file);
            while bench.shared.read_alone(|| Ok(())).await.is_none() {
                std::thread::yield_now();
                tokio::task::yield_now().await;
            }
            let panicked = bench.shared.read_alone(|| -> Result<(), String> { panic!("a reader that fails") }).await;
            assert_eq!(panicked, Some(Err("its reader failed".into())));
            assert_eq!(bench.shared.read_alone(|| Ok(())).await, Some(Ok(())), "nor after a panic");
        });
    }

    #[test]
    fn the_end_of_an_asker_is_passed_on_though_the_first_attempt_is_dropped_at_a_full_lane() {
        let mut bench = bench();
        crate::host::runtime::one_threaded().unwrap().block_on(async {
            let letter = || Envelope::new(RequestKind::Cancel, Reply { id: None, to: None });
            while bench.shared.asks.try_send(letter()).is_ok() {}
            let moves = AtomicBool::new(true);
            {
                let mut attempt = std::pin::pin!(bench.shared.gone(ClientNumber(3), &moves));
                let pending = std::future::poll_fn(|cx| Poll::Ready(attempt.as_mut().poll(cx).is_pending())).await;
                assert!(pending, "the lane is full");
            }
            while bench.asks.try_recv().is_ok() {}
            bench.shared.gone(ClientNumber(3), &moves).await;
            assert_eq!(bench.asks.try_recv().expect("a letter").asked, RequestKind::Gone(ClientNumber(3)));
        });
    }
}

//! FRI through `port-linux`, over the kernel's UDP and in real time. Checks the counts, the order and the reasons
//! that `embassy_fri` checks in virtual time.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger::host::{Clock, block_on};
use outrigger::net::Net;
use outrigger::vendor::krc::run as beside_krc;
use outrigger_core::drive::Application;
use outrigger_core::engine::krc::{Krc, KrcConfig, KrcCounts, KrcEvent};
use outrigger_core::engine::{Engine, Event, Input};
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_sim::krc::{self, Fault, FaultKind, Options};
use outrigger_sim::udp::{Running, Server};
use outrigger_tests::fri::Swing;
use outrigger_wire::fri::FriState;
use outrigger_wire::time;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// The time limit of a wait, only to end a test that hangs.
const PATIENCE: time::Duration = time::Duration::from_secs(120);
const PERIOD: Duration = Duration::from_millis(10);

/// A running `port-linux` with its simulated KRC. A busy machine exceeds none of its thresholds: the tests check what
/// follows an event, not its time.
struct Bench {
    inputs: UnboundedSender<Input>,
    shared: Arc<Shared>,
    krc: Running,
    port: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    log: Mutex<Log>,
    changed: Condvar,
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The events and states that the application has received from `port-linux`.
#[derive(Clone, Debug, Default)]
struct Log {
    events: Vec<Event<KrcEvent>>,
    mode: Option<Mode>,
    epoch: Epoch,
    latch: Option<Reason>,
    unmet: ReasonSet,
    counts: KrcCounts,
    over: bool,
}

impl Log {
    fn is_ready(&self) -> bool {
        self.mode == Some(Mode::Monitor) && self.unmet.is_empty()
    }

    /// Returns the reason of each fallback, that is, of each end of commanding that nobody requested.
    fn fallbacks(&self) -> Vec<Reason> {
        let fallback = |event: &Event<KrcEvent>| match event {
            Event::Transition(transition) if transition.from == Mode::Command => transition.fallback(),
            _ => None,
        };
        self.events.iter().filter_map(fallback).collect()
    }
}

struct Desk {
    inputs: UnboundedReceiver<Input>,
    shared: Arc<Shared>,
}

impl Application<7, Krc, Swing> for Desk {
    async fn next(&mut self) -> Input {
        match self.inputs.recv().await {
            Some(input) => input,
            // The bench was dropped.
            None => Input::Shutdown,
        }
    }

    fn event(&mut self, event: Event<KrcEvent>) {
        self.shared.log().events.push(event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 7, Krc, Swing>, now: time::Instant) {
        let mut log = self.shared.log();
        log.mode = Some(engine.mode());
        (log.epoch, log.latch, log.unmet) = (engine.mode_machine().epoch(), engine.latch(), engine.unmet(now));
        log.counts = engine.peer().counts();
        self.shared.changed.notify_all();
    }
}

impl Bench {
    fn start() -> Self {
        let mut config = KrcConfig::default();
        config.link.stale_after = Some(time::Duration::from_secs(1));
        // Not more, because the distance that the arm may coast during missed measurements narrows its joint range.
        config.link.max_misses = Some(110);
        config.mode.state_timeout = Some(time::Duration::from_secs(1));
        config.mode.evidence_age = Some(time::Duration::from_secs(1));
        config.peer.silence = time::Duration::from_secs(5);
        let options = Options { period: PERIOD, max_bridge: 1_000, ..Options::default() };

        let shared = Arc::<Shared>::default();
        let (inputs, receiver) = unbounded_channel();
        let (tell, listens) = std::sync::mpsc::channel();
        let mut desk = Desk { inputs: receiver, shared: Arc::clone(&shared) };
        let port = std::thread::spawn(move || {
            let session = async {
                let mut net = Net::listening(LOCAL, Clock::start()).await.expect("a free port");
                tell.send(net.local().expect("an address")).expect("somebody waits for it");
                beside_krc(config, Swing::new(0.05, 2.0), &mut net, &mut desk, 0).await.expect("a configuration");
            };
            block_on(session).expect("a reactor");
            desk.shared.log().over = true;
            desk.shared.changed.notify_all();
        });
        let listens = listens.recv().expect("the port runs");
        let krc = krc::Krc::new(options).expect("a possible KRC");
        let krc = Server::bind(krc, LOCAL, listens).and_then(Server::spawn).expect("a KRC");
        Self { inputs, shared, krc, port: Some(port) }
    }

    fn tell(&self, input: Input) {
        self.inputs.send(input).expect("the port runs");
    }

    /// Requests commanding with the newest epoch that the application has seen. A request for an earlier epoch would be
    /// refused.
    fn request(&self) {
        self.tell(Input::Request(self.look().epoch));
    }

    fn look(&self) -> Log {
        self.shared.log().clone()
    }

    fn wait(&self, what: &str, mut done: impl FnMut(&Log) -> bool) {
        let clock = Clock::start();
        while clock.now() < time::Instant::ZERO + PATIENCE {
            let log = self.shared.log();
            if done(&log) {
                return;
            }
            drop(self.shared.changed.wait_timeout(log, PERIOD));
        }
        panic!("not seen: {what}\n{:?}\n{:?}", self.look(), self.krc.krc().counts());
    }

    fn command(&self) {
        self.wait("nothing speaks against a request", Log::is_ready);
        self.request();
        self.wait("Command", |log| log.mode == Some(Mode::Command));
    }

    /// Injects a fault into the simulated KRC that begins now and lasts this long.
    fn fault(&self, kind: FaultKind, lasting: Duration) {
        let mut krc = self.krc.krc();
        let start = krc.now();
        krc.add_fault(Fault::new(kind, start, Some(lasting)));
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let (nobody, _) = unbounded_channel();
        self.inputs = nobody;
        let ended = self.port.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(()))) || std::thread::panicking(), "the port panicked");
    }
}

#[test]
fn each_measurement_has_one_answer_at_most_and_the_newest_is_answered() {
    let bench = Bench::start();
    bench.command();
    let begun = bench.look().counts.commands;
    bench.wait("three hundred answers", |log| log.counts.commands >= begun + 300);
    let KrcCounts { measurements, commands, overtaken, unused, malformed, foreign } = bench.look().counts;
    assert_eq!((commands + overtaken + unused, malformed, foreign), (measurements, 0, 0));
    let counts = bench.krc.krc().counts();
    assert_eq!((counts.malformed, counts.old), (0, 0), "answered twice, or backwards");
    assert_eq!(bench.look().fallbacks(), []);
}

#[test]
fn after_silence_only_an_acknowledgement_and_a_request_command_again() {
    let bench = Bench::start();
    bench.command();
    bench.fault(FaultKind::Silence, Duration::from_millis(2_500));
    bench.wait("a fallback", |log| !log.fallbacks().is_empty());
    bench.wait("measurements again", |log| log.mode == Some(Mode::Monitor));
    assert_eq!((bench.look().fallbacks(), bench.look().latch), (vec![Reason::StateStale], Some(Reason::StateStale)));
    bench.request();
    bench.wait("a refusal", |log| log.events.contains(&outrigger_tests::refused(Reason::Latched)));
    bench.tell(Input::Acknowledge);
    bench.wait("nothing speaks against a request", Log::is_ready);
    let answered = bench.look().counts.commands;
    bench.wait("fifty answers", |log| log.counts.commands >= answered + 50);
    assert_eq!(bench.look().mode, Some(Mode::Monitor), "an acknowledgement asks for nothing");
    bench.command();
    assert_eq!(bench.look().fallbacks(), [Reason::StateStale]);
}

#[test]
fn a_second_sender_is_counted_and_changes_nothing() {
    let bench = Bench::start();
    bench.command();
    bench.fault(FaultKind::SecondSender, Duration::from_secs(60));
    bench.wait("a hundred of a stranger's", |log| log.counts.foreign >= 100);
    let begun = bench.look().counts.commands;
    bench.wait("a hundred answers", |log| log.counts.commands >= begun + 100);
    assert_eq!((bench.look().mode, bench.look().fallbacks()), (Some(Mode::Command), vec![]));
    assert!(bench.look().events.contains(&Event::Peer(KrcEvent::Foreign(100))));
}

#[test]
fn a_shutdown_rests_the_arm_and_hands_it_back_before_the_loop_ends() {
    let bench = Bench::start();
    bench.command();
    bench.tell(Input::Shutdown);
    bench.wait("the end of the loop", |log| log.over);
    let krc = bench.krc.krc();
    assert_eq!(krc.state(), FriState::Monitor);
    assert!(krc.truth().qd.iter().all(|speed| speed.abs() < 0.02), "{:?}", krc.truth());
}

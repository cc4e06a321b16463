//! The conformance bench for `port-linux` in real time, over the kernel's loopback interface.

use outrigger_core::engine::Engine;
use outrigger_core::engine::ur::{Ur, UrEvent};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger::config::RobotAddress;
use outrigger::host::Clock;
use outrigger::net::Net;
use outrigger::vendor::ur::run as beside_ur;
use outrigger_core::drive::Application;
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::AnyLaw;
use outrigger_core::link::{Grade, GradeLimitsTuning, GradeTuning, Share};
use outrigger_core::mode::{Epoch, Mode};
use outrigger_core::robot::{Reason, ReasonSet};
use outrigger_sim::controller::{Action, Controller};
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::tcp::{Running, Server};
use outrigger_tests::cosim::Setup;
use outrigger_wire::robot::ControllerTime;
use outrigger_wire::time;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::bench::{Bench, Look, TextKind};
use crate::relay::Relay;

const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// The first port base that is tried for the simulator.
const PORT_BASE: u16 = 21_000;
/// The time limit of a wait, only to end a test that hangs.
const PATIENCE: time::Duration = time::Duration::from_secs(120);
/// The longest delay until a waiting test notices a change of the simulated controller that `port-linux` does not
/// report.
const STEP: Duration = Duration::from_millis(20);

pub(crate) struct LinuxBench {
    port: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    inputs: UnboundedSender<Input>,
    shared: Arc<Shared>,
    relay: Relay,
    server: Arc<Running>,
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
struct Log {
    events: Vec<Event<UrEvent>>,
    mode: Mode,
    epoch: Epoch,
    latch: Option<Reason>,
    unmet: ReasonSet,
    commanded: u64,
    newest: Option<ControllerTime>,
    texts: Vec<TextKind>,
    over: bool,
}

impl Default for Log {
    fn default() -> Self {
        let (mode, unmet) = (Mode::Offline, ReasonSet::default());
        Self {
            events: vec![],
            mode,
            epoch: Epoch::default(),
            latch: None,
            unmet,
            commanded: 0,
            newest: None,
            texts: vec![],
            over: false,
        }
    }
}

impl Log {
    fn look<'a>(&'a mut self, controller: &'a Controller) -> Look<'a> {
        TextKind::learn(&mut self.texts, controller);
        let Self { events, mode, epoch, latch, unmet, commanded, texts, over, .. } = self;
        Look {
            events,
            mode: *mode,
            epoch: *epoch,
            latch: *latch,
            unmet: *unmet,
            commanded: *commanded,
            texts,
            over: *over,
            controller,
        }
    }
}

/// The application that `port-linux` serves in the tests: forwards the inputs of a test, and logs events and states.
struct Desk {
    inputs: UnboundedReceiver<Input>,
    events: Vec<Event<UrEvent>>,
    shared: Arc<Shared>,
}

impl<'m> Application<6, Ur<'m>, AnyLaw<6>> for Desk {
    async fn next(&mut self) -> Input {
        match self.inputs.recv().await {
            Some(input) => input,
            None => std::future::pending().await,
        }
    }

    fn event(&mut self, event: Event<UrEvent>) {
        self.events.push(event);
    }

    fn observe(&mut self, engine: &mut Engine<'_, 6, Ur<'m>, AnyLaw<6>>, now: time::Instant) {
        // Written under one lock, because a mode belongs to the events that led to it.
        let log = &mut *self.shared.log();
        log.events.append(&mut self.events);
        log.mode = engine.mode();
        log.epoch = engine.mode_machine().epoch();
        log.latch = engine.latch();
        log.unmet = engine.unmet(now);
        let newest = engine.state().map(|state| state.controller_time);
        if newest != log.newest {
            log.newest = newest;
            log.commanded += u64::from(log.mode == Mode::Command);
        }
        self.shared.changed.notify_all();
    }
}

/// Sets thresholds of the engine that a busy machine does not exceed: the scenarios check what follows an event, not
/// its time.
fn patient(config: &mut UrConfig) {
    let (long, second) = (time::Duration::from_secs(2), time::Duration::from_secs(1));
    let any =
        GradeLimitsTuning { received: Some(Share(0)), delay: Some(long), jitter: Some(long), misses: Some(10_000) };
    config.link.limits = GradeTuning { perfect: any, ok: any, bad: any };
    config.link.entry = Some(Grade::Ok);
    config.link.stale_after = Some(second);
    config.link.margin = Some(time::Duration::from_millis(900));
    config.link.max_misses = Some(10_000);
    config.link.clock_jump = Some(long);
    config.link.shift_hold = Some(long);
    config.mode.state_timeout = Some(second);
    config.peer.text.hold = second;
    config.mode.evidence_age = Some(second);
    config.mode.program_timeout = Some(time::Duration::from_secs(5));
    config.mode.arming_timeout = Some(time::Duration::from_secs(30));
    config.mode.following.patience = Some(1_000);
    config.mode.following.late_patience = Some(1_000);
    config.peer.connect.abort_after = long;
}

impl Bench for LinuxBench {
    fn start(mut setup: Setup) -> Self {
        patient(&mut setup.config);
        let mut controller = Controller::new(setup.controller).expect("a controller that existed");
        controller.keep_texts();
        let server = Server::bind_from(controller, LOCAL, PORT_BASE).expect("free ports");
        let server = Arc::new(server.spawn().expect("a thread"));
        let relay = Relay::new(Arc::clone(&server));
        let robot = RobotAddress::new("127.0.0.1", relay.port_base()).expect("an address");

        let shared = Arc::new(Shared::default());
        let (inputs, receiver) = unbounded_channel();
        let (end, ended) = oneshot::channel();
        let desk = Desk { inputs: receiver, events: vec![], shared: Arc::clone(&shared) };
        let thread = std::thread::spawn(move || run(setup.config, setup.law, &robot, desk, ended));
        Self { port: Some((end, thread)), inputs, shared, relay, server }
    }

    fn tell(&mut self, input: Input) {
        self.inputs.send(input).expect("the port runs");
    }

    fn act(&mut self, action: Action) {
        self.server.controller().act(action);
    }

    fn fault(&mut self, kind: FaultKind, lasting: Option<Duration>) {
        let mut controller = self.server.controller();
        let start = controller.now() + Duration::from_micros(1);
        controller.inject(Fault::new(kind, start, lasting));
    }

    fn reset(&mut self) {
        self.relay.reset();
    }

    fn take_nothing(&mut self) {
        self.relay.take_nothing();
    }

    fn wait(&mut self, what: &str, mut done: impl FnMut(&Look<'_>) -> bool) {
        let clock = Clock::start();
        while clock.now() < time::Instant::ZERO + PATIENCE {
            let mut log = self.shared.log();
            if done(&log.look(&self.server.controller())) {
                return;
            }
            drop(self.shared.changed.wait_timeout(log, STEP));
        }
        let story = self.shared.log().look(&self.server.controller()).story();
        panic!("not seen: {what}\n{story}");
    }

    fn look<R>(&mut self, at: impl FnOnce(&Look<'_>) -> R) -> R {
        at(&self.shared.log().look(&self.server.controller()))
    }
}

impl Drop for LinuxBench {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.port.take() {
            // The port may have ended by itself.
            let _ = end.send(());
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the port panicked");
        }
    }
}

/// Runs `port-linux` beside the controller until it has shut down, or until the test sends `ended`.
fn run(config: UrConfig, law: AnyLaw<6>, robot: &RobotAddress, mut desk: Desk, ended: oneshot::Receiver<()>) {
    let shared = Arc::clone(&desk.shared);
    let mut net = Net::connecting(robot, LOCAL, Clock::start());
    let over = outrigger::host::block_on(async {
        tokio::select! {
            ended = beside_ur(config, law, &mut net, &mut desk, 0) => ended.expect("a configuration that can be run"),
            _ = ended => {}
        }
    });
    over.expect("a reactor");
    shared.log().over = true;
    shared.changed.notify_all();
}

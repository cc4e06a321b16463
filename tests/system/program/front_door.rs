//! The library interface `outrigger::Robot` as a program uses it, opposite simulated controllers, in this process and
//! in example programs.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration as StdDuration;

use outrigger::{
    Checkpoint, Duration, Ended, Failure, JointVelocities, Law, Mode, Reason, ReleasedBy, Robot, Samples, Sensor,
    SessionState, SourceId, Start, State,
};
use outrigger_emulated::clock::Clock;
use outrigger_emulated::machine_standstills::TELLING;
use outrigger_emulated::tries::{Verdict, attempt_first, late, nobodys_fallback};
use outrigger_sim::controller::{Controller, Options, StartState};
use outrigger_sim::port::Port;
use outrigger_sim::tcp::{Running, Server};
use outrigger_sim::time::SimTime;
use rustix::process::{Pid, Signal, kill_process};

use crate::port;

/// The time limit of events that normally take about a second.
const PATIENCE: StdDuration = StdDuration::from_secs(30);
/// The time between two checks of a condition that a test waits for.
const LOOK: StdDuration = StdDuration::from_millis(20);

/// A law that turns the last joint until the sensor reads 50 mm.
struct Follow;

impl Checkpoint for Follow {}

impl Law<6> for Follow {
    fn step(&mut self, _: &State<6>, samples: &Samples<'_>, _: Duration) -> Result<JointVelocities<6>, Reason> {
        let error = samples.first(SourceId(0))? - 0.050;
        Ok(JointVelocities([0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * error]))
    }
}

/// A law that turns the last joint forever.
struct Turn;

impl Checkpoint for Turn {}

impl Law<6> for Turn {
    fn step(&mut self, _: &State<6>, _: &Samples<'_>, _: Duration) -> Result<JointVelocities<6>, Reason> {
        Ok(JointVelocities([0.0, 0.0, 0.0, 0.0, 0.0, 0.05]))
    }
}

fn simulated(state: StartState) -> (Running, String) {
    let controller = Controller::new(Options { state, ..Options::default() }).expect("an arm");
    let server = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), 43_000).expect("free ports");
    let running = server.spawn().expect("a thread");
    let robot = format!("127.0.0.1:{}", running.port_base());
    (running, robot)
}

/// A thread that sends a sensor reading every 10 ms until this value is dropped.
struct Readings(Arc<AtomicBool>);

impl Readings {
    fn to(port: u16, reading: &'static str) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        std::thread::spawn(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            while !ended.load(Ordering::Relaxed) {
                // Sending fails until the port is opened.
                let _ = socket.send_to(reading.as_bytes(), ("127.0.0.1", port));
                std::thread::sleep(StdDuration::from_millis(10));
            }
        });
        Self(ends)
    }
}

impl Drop for Readings {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_robot_that_nobody_is_ends_with_the_address() {
    // A port that was free a moment ago, so that no process listens on it.
    let base = port::free().clamp(1, 65_000);
    let robot = Robot::ur(&format!("127.0.0.1:{base}")).expect("an address").quiet();
    let first = robot.states().expect("a thread").next();
    match first {
        Some(Err(Failure::Connection(text))) => assert!(text.contains("cannot connect to 127.0.0.1:"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn states_are_those_of_the_arm_and_end_with_their_reader() {
    let (_controller, robot) = simulated(StartState::default());
    let wanted = Options::default().q;
    let robot = Robot::ur(&robot).expect("an address").quiet();
    let states: Vec<State<6>> = robot.states().expect("a thread").take(100).collect::<Result<_, _>>().expect("states");
    for state in &states {
        assert!(
            state.positions.iter().zip(wanted).all(|(q, wanted)| (f64::from(q) - wanted).abs() < 1e-3),
            "{state:?}"
        );
    }
    let increasing = states.windows(2).all(|pair| pair[0].controller_time < pair[1].controller_time);
    assert!(increasing, "each of them once, in their order");
}

#[test]
fn a_request_that_is_not_granted_says_what_speaks_against_it() {
    let (_controller, robot) = simulated(StartState::PowerOff);
    let robot = Robot::ur(&robot).expect("an address").quiet().start_within(StdDuration::from_secs(2));
    match robot.run(Turn, None) {
        Err(Failure::Fault(text)) => {
            assert!(text.starts_with("commanding did not start."), "{text}");
            let robot = "Not ready: the robot is not in mode RUNNING (RobotNotRunning); in POWER_OFF or IDLE, power \
                         the arm on";
            assert!(text.contains(robot), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn run_moves_the_arm_by_the_law_and_returns_the_reason_when_the_sensor_ends() {
    attempt_first(|| {
        let (_controller, robot) = simulated(StartState::default());
        let port = port::free();
        let readings = Readings::to(port, "0.060");
        let robot = Robot::ur(&robot).expect("an address").quiet();
        let clock = Clock::start();
        let moved = Arc::new(AtomicBool::new(false));
        let law = Seeing { law: Follow, moved: Arc::clone(&moved) };
        let stopper = std::thread::spawn(move || {
            while !moved.load(Ordering::Relaxed) && clock.now() < SimTime::ZERO + PATIENCE {
                std::thread::sleep(LOOK);
            }
            drop(readings);
            moved.load(Ordering::Relaxed)
        });
        let sensor = Sensor::udp(&format!("127.0.0.1:{port}")).from("127.0.0.1").expect("an address").range(0.0, 0.5);
        let ended = robot.run(law, sensor).expect("it commanded");
        let window = clock.window(SimTime::ZERO, clock.now());
        let moved = stopper.join().expect("it watched");
        let Ended::Fallback(reason) = ended else { panic!("{ended:?}") };
        if !moved {
            let said = format!("({})", reason.name());
            match nobodys_fallback(&said, window, TELLING) {
                Verdict::Fails => panic!("{ended:?} before the arm had moved"),
                _ => late(window, said),
            }
        }
        assert_eq!(reason, Reason::SourceStale, "{ended}");
        assert!(ended.to_string().ends_with("(SourceStale); check the sensor and its cable"), "{ended}");
    });
}

/// A law that notes whether the arm has moved at the expected speed.
struct Seeing<L> {
    law: L,
    moved: Arc<AtomicBool>,
}

impl<L> Checkpoint for Seeing<L> {}

impl<L: Law<6>> Law<6> for Seeing<L> {
    fn arm(&mut self, start: &Start<'_, 6>) -> Result<(), Reason> {
        self.law.arm(start)
    }

    fn step(&mut self, state: &State<6>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<6>, Reason> {
        // An error of 10 mm at a gain of 2 1/s gives 0.02 rad/s.
        let [.., speed] = state.velocities.0;
        self.moved.fetch_or((speed - 0.02).abs() < 0.002, Ordering::Relaxed);
        self.law.step(state, samples, dt)
    }
}

/// A running session. [`Session::until`] waits until the session reaches a state. If a standstill of this machine
/// ended commanding, or the state is not reached in time, the test may be repeated.
struct Session {
    running: outrigger::Running<6, outrigger::core::engine::ur::UrEvent>,
    clock: Clock,
}

impl Session {
    fn until(&self, what: &str, holds: impl Fn(&SessionState<6>) -> bool) -> SessionState<6> {
        let begin = self.clock.now();
        loop {
            let seen = self.running.seen();
            if holds(&seen) {
                return seen;
            }
            let window = self.clock.window(begin, self.clock.now());
            let ended = seen.latch.filter(|_| seen.mode == Mode::Monitor);
            if ended.is_some_and(|reason| {
                nobodys_fallback(&format!("({})", reason.name()), window, TELLING) != Verdict::Fails
            }) || self.clock.now().since(begin) > PATIENCE
            {
                late(window, format!("not {what}: {seen:?}"));
            }
            assert_eq!(ended, None, "not {what}: {seen:?}");
            std::thread::sleep(LOOK);
        }
    }
}

#[test]
fn a_handle_shows_the_session_takes_an_operators_words_and_ends_with_the_arm_at_rest() {
    attempt_first(|| {
        let (_controller, robot) = simulated(StartState::default());
        let robot = Robot::ur(&robot).expect("an address").quiet();
        let running = robot.start(Turn, None).expect("a thread");
        let session = Session { running, clock: Clock::start() };
        let turning = |seen: &SessionState<6>| {
            seen.mode == Mode::Command && seen.state.is_some_and(|state| (state.velocities.0[5] - 0.05).abs() < 0.005)
        };
        let first = session.until("turning by the one request", turning);
        session.running.release();
        session.until("released", |seen| seen.mode == Mode::Monitor);
        // The epoch of this observation is from before the release.
        session.running.request(&first);
        let refused = std::iter::from_fn(|| session.running.next_event(PATIENCE)).find_map(|event| match event {
            outrigger::core::engine::Event::Refused(refusal) => Some(refusal.reason),
            _ => None,
        });
        assert_eq!(refused, Some(Reason::WrongEpoch));
        let ready = session.until("ready", |seen| seen.mode == Mode::Monitor && seen.unmet.is_empty());
        session.running.request(&ready);
        session.until("turning again", turning);
        assert!(!session.running.has_ended());
        let modes: Vec<Mode> = session
            .running
            .events()
            .into_iter()
            .filter_map(|event| match event {
                outrigger::core::engine::Event::Transition(transition) => Some(transition.to),
                _ => None,
            })
            .collect();
        assert_eq!(modes, [Mode::Arming, Mode::Command]);
        assert_eq!(session.running.stop().expect("it stops"), Ended::Released(ReleasedBy::Program));
    });
}

#[test]
fn a_handle_that_is_dropped_brings_the_arm_to_rest() {
    attempt_first(|| {
        let (controller, robot) = simulated(StartState::default());
        let running = Robot::ur(&robot).expect("an address").quiet().start(Turn, None).expect("a thread");
        let session = Session { running, clock: Clock::start() };
        session.until("commanding", |seen| seen.mode == Mode::Command);
        drop(session);
        let truth = controller.controller().truth().clone();
        assert!(truth.qd.iter().all(|speed| speed.abs() < 1e-3), "{truth:?}");
    });
}

/// A running program of `examples/`. Dropping it ends the process.
struct Example {
    child: Child,
    lines: Receiver<String>,
    clock: Clock,
}

impl Example {
    fn start(name: &str, arguments: &[&str]) -> Self {
        let program = Path::new(outrigger_system::program()).with_file_name("examples").join(name);
        let child = Command::new(&program).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let (sender, lines) = channel();
        let errors = BufReader::new(child.stderr.take().expect("piped"));
        std::thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, clock: Clock::start() }
    }

    /// Waits until the program commands, ends it by SIGINT, and returns its output.
    fn commands_and_ends(mut self) -> String {
        let mut told = vec![];
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("never in Command: {told:#?}"));
            told.push(line);
            let line = told.last().expect("a line");
            if line.contains("Arming → Command") {
                break;
            }
            if line.contains("Arming → Monitor") {
                late(self.clock.window(SimTime::ZERO, self.clock.now()), line.clone());
            }
        }
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).expect("it runs");
        let status = self.child.wait().expect("it ends");
        let mut printed = String::new();
        self.child.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
        told.extend(self.lines.iter());
        assert!(status.success(), "{status}: {told:#?}");
        printed
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_example_beside_a_ur_commands_and_ends_by_ctrl_c() {
    attempt_first(|| {
        let (_controller, robot) = simulated(StartState::default());
        let _readings = Readings::to(5005, "0.050");
        assert_eq!(Example::start("custom_law_ur", &[&robot]).commands_and_ends(), "Ctrl-C\n");
    });
}

#[test]
fn the_example_beside_a_krc_commands_and_ends_by_ctrl_c() {
    attempt_first(|| {
        let listen = format!("127.0.0.1:{}", port::free());
        let mut krc = Command::new(outrigger_system::program());
        krc.args(["sim", "krc", "--period-ms", "5", "--remote", &listen]).stdout(Stdio::null());
        let mut krc = krc.spawn().expect("the binary under test");
        let _readings = Readings::to(5006, "0.050");
        let printed = Example::start("custom_law_krc", &[&listen]).commands_and_ends();
        let _ = krc.kill();
        let _ = krc.wait();
        assert_eq!(printed, "Ctrl-C\n");
    });
}

#[test]
fn the_example_that_reads_states_prints_the_arms_joints() {
    let (_controller, robot) = simulated(StartState::default());
    let program = Path::new(outrigger_system::program()).with_file_name("examples/states");
    let mut child =
        Command::new(&program).arg(&robot).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the example");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let lines: Vec<String> = lines.take(20).collect::<Result<_, _>>().expect("text");
    let _ = child.kill();
    let _ = child.wait();
    assert!(lines.iter().all(|line| line.starts_with("JointPositions([0.0, -1.57")), "{lines:?}");
}

#[test]
fn the_example_that_decodes_reads_what_a_controller_sends() {
    let (controller, _) = simulated(StartState::default());
    let mut stream = TcpStream::connect(controller.address(Port::Realtime)).expect("it listens");
    let mut message = vec![0; 4];
    stream.read_exact(&mut message).expect("a length");
    let length = u32::from_be_bytes([message[0], message[1], message[2], message[3]]);
    message.resize(length as usize, 0);
    stream.read_exact(&mut message[4..]).expect("a message");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-message-of-30003");
    let program = Path::new(outrigger_system::program()).with_file_name("examples/decode");
    let decoded = |bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("room");
        let output = Command::new(&program).arg(&file).output().expect("the example");
        let [told, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.success(), told, error)
    };
    let (well, told, error) = decoded(&message);
    assert!(well && told.starts_with("[0.0, -1.57"), "{told}{error}");
    let (well, told, error) = decoded(&message[..100]);
    assert!(!well && told.is_empty() && error.contains("100"), "{error}");
    std::fs::remove_file(file).expect("it is there");
}

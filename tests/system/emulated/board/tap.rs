//! The board over a tap interface in a network namespace, opposite the program `outrigger sim ur`: the kernel's TCP,
//! and the standard ports.

use std::io::{ErrorKind, Read};
use std::net::{TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};

use outrigger_core::robot::Reason;
use outrigger_emulated::bench::REST;
use outrigger_emulated::clock::Clock;
use outrigger_emulated::namespace::Namespace;
use outrigger_emulated::peer::Datagram;
use outrigger_emulated::priority::Priority;
use outrigger_emulated::qemu::{self, Folder, Line, Log, NetworkMode, Process, Serial};
use outrigger_emulated::sensor::workpiece;
use outrigger_emulated::telemetry::Telemetry;
use outrigger_emulated::tries::nobodys_fallback;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::kinematics::{Frame, Rotation};
use outrigger_sim::simulated_workpiece::DistanceSensor;
use outrigger_wire::realtime::Packet;

use super::*;

const NEEDS: &[Need] = &[Need::Qemu, Need::Thumb, Need::Root];
/// The address of the simulated robot, at which the test also receives the board's telemetry. `boards/standoff.toml`
/// has the same.
const ROBOT: &str = "10.0.2.2";
/// The faults and digital inputs of the simulated robot, with their times. Input 0 requests commanding when it rises,
/// input 1 acknowledges a fallback. After each fault commanding is first requested without an acknowledgement. The
/// sensor reads port 30013, which has no fault.
const FAULTS: [&str; 10] = [
    "digital-input@6s:4s:0",
    "stall/30003@9s:300ms",
    "stall/30004@9s:300ms",
    "digital-input@10500ms:700ms:0",
    "digital-input@11500ms:200ms:1",
    "digital-input@13s:5500ms:0",
    "drop/30003@17s:500ms",
    "digital-input@19500ms:700ms:0",
    "digital-input@20500ms:200ms:1",
    "digital-input@21500ms:10s:0",
];
/// The option of the firmware that sets for how long the board runs.
const SPAN: &str = "seconds=25";
/// The time after which every process that the test has started is ended.
const LIMIT: Duration = Duration::from_secs(45);
/// The bit of the robot's digital input by which a fallback is acknowledged.
const ACKNOWLEDGE: u64 = 1 << 1;
/// The time after a fallback from which the arm must be at rest.
const BRAKING: Duration = Duration::from_millis(700);
/// The limit on the root mean square of the error of the controlled distance before each fallback \[m\].
const ERROR: f64 = 0.002;

pub(crate) fn tests() -> Vec<Timed> {
    vec![timed(
        "over_a_tap_the_program_for_people_is_commanded_and_again_only_when_acknowledged_and_asked",
        NEEDS,
        story,
    )]
}

/// The running simulator. Dropping it ends the process.
struct Simulator(Child);

impl Drop for Simulator {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Simulator {
    fn start(namespace: &Namespace) -> Self {
        let mut words = namespace.within();
        words.push(program());
        let limit = LIMIT.as_secs().to_string();
        words.extend(["sim", "ur", "--listen", ROBOT, "--polyscope", "3.15", "--duration", &limit].map(String::from));
        words.extend(FAULTS.iter().flat_map(|fault| ["--fault", fault]).map(String::from));
        let mut call = Command::new(&words[0]);
        Self(call.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("a simulator"))
    }
}

/// Builds the program `outrigger` and returns its path.
pub(super) fn program() -> String {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(require::workspace()).args(["build", "--locked", "-p", "outrigger-cli", "--bin", "outrigger"]);
    let built = cargo.arg("--message-format=json-render-diagnostics").output().expect("cargo");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let said = String::from_utf8_lossy(&built.stdout);
    let program = said.lines().find_map(|line| line.split_once("\"executable\":\"")?.1.split('"').next());
    program.expect("a program").into()
}

/// A state of the simulated robot, as it publishes it on port 30013, with the distance of the tool from the workpiece.
struct Transcript {
    at: SimTime,
    speed: f64,
    distance: Option<f64>,
    inputs: u64,
}

/// The record of a run of the simulated robot, the emulated board and the sensor.
struct Left {
    clock: Clock,
    log: Vec<Line>,
    robot: Vec<Transcript>,
    telemetry: Vec<Datagram>,
    exit: Option<Exit>,
    complaints: String,
}

impl Left {
    fn story(&self) -> String {
        let lines: String = self.log.iter().map(|line| format!("{:>9} {line}\n", line.at.to_string())).collect();
        lines + &self.complaints
    }

    fn all(&self, word: &str) -> Vec<&Line> {
        self.log.iter().filter(|line| line.text.starts_with(word)).collect()
    }

    /// Returns the first line of the board's log after `since` that begins with `word`.
    fn after(&self, since: SimTime, word: &str) -> &Line {
        let found = self.all(word).into_iter().find(|line| line.at > since);
        found.unwrap_or_else(|| panic!("no `{word}` after {since}:\n{}", self.story()))
    }

    fn robot(&self, from: SimTime, until: SimTime) -> impl Iterator<Item = &Transcript> {
        self.robot.iter().filter(move |told| from <= told.at && told.at < until)
    }
}

/// Runs the simulated robot, the emulated board and the sensor, and returns the record. Every process has ended once
/// this returns or panics.
fn run(machine: Machine) -> Left {
    let firmware = firmware(machine, SLOW);
    let folder = Folder::new().expect("a folder");
    // Variables are dropped in reverse order, so the processes in the namespace end before it is removed.
    let namespace = Namespace::new(&format!("{ROBOT}/24")).expect("a network namespace");
    let _priority = Priority::ask();
    let _simulator = Simulator::start(&namespace);
    let clock = Clock::start();
    let (mut robot, telemetry) = namespace
        .inside(|| {
            let telemetry = UdpSocket::bind((ROBOT, 47_000))?;
            telemetry.set_nonblocking(true)?;
            let mut robot = TcpStream::connect((ROBOT, 30_013));
            while robot.is_err() && clock.now() < SimTime::ZERO + PATIENCE {
                std::thread::sleep(Duration::from_millis(10));
                robot = TcpStream::connect((ROBOT, 30_013));
            }
            Ok((robot?, telemetry))
        })
        .expect("the simulator listens");
    robot.set_read_timeout(Some(Duration::from_millis(20))).expect("a limit");
    let mut serial = Serial::open(&folder, "uart0").expect("a serial line");
    let mut command = qemu::Command::new(machine, firmware.elf());
    command.network = NetworkMode::Tap(namespace.tap());
    command.within = namespace.within();
    command.serial = serial.mode();
    command.options = vec![SPAN.into()];
    command.limit = Some(LIMIT);
    let mut process = Process::start(&command).expect("QEMU starts");

    let surface = workpiece(&Controller::new(Options::for_software(SLOW)).expect("a controller"), 0.07);
    let mut sensor = DistanceSensor::new(1);
    let mut log = Log::new(firmware.table());
    let (mut bytes, mut chunk) = (vec![], [0; 4096]);
    let mut left = Left { clock, log: vec![], robot: vec![], telemetry: vec![], exit: None, complaints: String::new() };
    while left.exit.is_none() {
        match robot.read(&mut chunk) {
            Ok(0) => panic!("the simulator ended:\n{}", left.story()),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted), "{error}"),
        }
        let now = clock.now();
        while let Some(size) = bytes.first_chunk().map(|size| u32::from_be_bytes(*size) as usize)
            && size <= bytes.len()
        {
            let packet = Packet::new_checked(&bytes[..size]).expect("a packet");
            let [x, y, z, rx, ry, rz] = packet.measured_pose().expect("a pose");
            let tool = Frame { position: [x, y, z], rotation: Rotation::from_vector([rx, ry, rz]) };
            let speed = packet.qd_actual().iter().fold(0.0, |most: f64, speed| speed.abs().max(most));
            let distance = surface.distance(tool.position, tool.z_axis(), now);
            left.robot.push(Transcript { at: now, speed, distance, inputs: packet.digital_input_bits() });
            if let Some(read) = sensor.read(&surface, tool, now) {
                serial.send(format!("seq={} {read:.6}\n", left.robot.len()).as_bytes());
            }
            bytes.drain(..size);
        }
        let mut datagram = [0; 2048];
        while let Ok((count, from)) = telemetry.recv_from(&mut datagram)
            && let std::net::SocketAddr::V4(from) = from
        {
            let (from, bytes) = ((*from.ip(), from.port()), datagram[..count].to_vec());
            left.telemetry.push(Datagram { at: now, from, bytes });
        }
        // Read before the log, so that the log is complete.
        left.exit = process.exit();
        log.receive(now, &process.output(), |line| left.log.push(line));
    }
    left.complaints = process.complaints().into();
    left
}

fn story(machine: Machine) {
    let left = run(machine);
    let story = left.story();
    assert_eq!(left.exit, Some(Exit::Success), "{story}");
    let connected = left.after(SimTime::ZERO, "connected");
    assert!(connected.text.contains("software 3.15.0 known by Message"), "{}", connected.text);
    left.after(connected.at, "link quality: Bad -> Ok");

    // The counts are exact: no more requests were made, and nothing fell back without a fault.
    let (armed, fallen) = (left.all("armed"), left.all("fallback"));
    assert_eq!(left.all("boot").len(), 1, "{story}");
    let (least, back) = (closed_loop::ending_standstill(SLOW), closed_loop::looked_back(SLOW));
    let window = |line: &Line| left.clock.window(line.at, line.at).and_before(back);
    if let Some(line) = fallen.iter().find(|line| nobodys_fallback(&line.text, window(line), least) != Verdict::Fails)
        && (armed.len(), fallen.len()) != (3, 2)
    {
        late(window(line), format!("disturbed: {}\n{story}", line.text));
    }
    assert_eq!((armed.len(), fallen.len()), (3, 2), "{story}");
    let expected = [&[Reason::StateStale, Reason::StatesMissed, Reason::Unacknowledged][..], &[Reason::LinkClosed]];
    for (round, (fallen, expected)) in fallen.iter().zip(expected).enumerate() {
        let (before, again) = (armed[round], armed[round + 1]);
        assert!(before.at < fallen.at && fallen.at < again.at, "{story}");
        falls_back_for(&fallen.text, expected, window(fallen), least, || story.clone());

        // The distance had settled, and was held while the workpiece moved.
        let settled = before.at + Duration::from_millis(1_500);
        let errors = left.robot(settled, fallen.at).filter_map(|told| Some(told.distance? - closed_loop::DISTANCE));
        let squares: Vec<f64> = errors.map(|error| error * error).collect();
        assert!(squares.len() > 50, "{} states before the fault\n{story}", squares.len());
        let error = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        assert!(error < ERROR, "{error} m\n{story}");
        let moving = left.robot(settled, fallen.at).filter(|told| told.speed > REST).count();
        assert!(moving * 2 > squares.len(), "the arm follows: {moving} of {}", squares.len());
        println!("{}: {:.2} mm before it, in {} states", fallen.text, error * 1e3, squares.len());

        // The request before the acknowledgement is refused, for that reason.
        let refused = left.after(fallen.at, "refused");
        assert!(refused.text.contains(Reason::Latched.name()), "{story}");
        let acknowledged = left.robot(fallen.at, again.at).find(|told| told.inputs & ACKNOWLEDGE != 0);
        let acknowledged = acknowledged.unwrap_or_else(|| panic!("armed without an acknowledgement\n{story}")).at;
        let arming = left.after(fallen.at, "arming").at;
        assert!(refused.at < acknowledged, "{story}");
        assert!(acknowledged < arming && arming < again.at, "{story}");
        let rest = left.robot(fallen.at + BRAKING, arming);
        let unasked = rest.filter(|told| told.speed > REST).count();
        assert_eq!(unasked, 0, "states in which the arm moved that nobody had asked to\n{story}");
    }
    left.after(armed[2].at, "released");

    let told = Telemetry::of(&left.telemetry);
    assert_eq!((told.unreadable, told.boots, told.recordings.len()), (0, 1, 2), "{told:?}");
}

//! A simulated controller for the tests of a program that moves an arm.
//!
//! ```no_run
//! use std::io::Write as _;
//! use std::net::TcpStream;
//! use std::time::Duration;
//!
//! use outrigger_sim::testing;
//!
//! let ur = testing::ur("5.15").model("ur10e").fault("delay/30003@1s:500ms:4ms").start();
//! let mut program = TcpStream::connect(ur.address(30002))?; // yours, in place of these two lines
//! program.write_all(b"movej([0.2, -1.57, -1.57, -1.57, 1.57, 0.0], a=5, v=2)\n")?;
//! ur.wait_until_at_rest(Duration::from_secs(20));
//! assert!((ur.q()[0] - 0.2).abs() < 1e-3);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Bad arguments panic with what was expected, as an assertion does. If the test panics, the motion of the arm and the
//! events of the controller are written into the folder `outrigger-report` of the target directory, in the files
//! `TEST.csv` and `TEST.events.txt`, and standard error names them. The second controller that a test starts has the
//! files `TEST-2.csv` and `TEST-2.events.txt`, and so on. Tests of one process run in parallel, each with its own
//! controller and ports.
//!
//! The same controller without sockets, in virtual time and as fast as the computer permits:
//!
//! ```
//! use outrigger_sim::{port::Port, testing, time::SimTime};
//!
//! let mut controller = testing::ur("3.15").controller();
//! let client = controller.connect(Port::Secondary).unwrap();
//! controller.write(client, b"movej([0.2, -1.57, -1.57, -1.57, 1.57, 0.0], a=5, v=2)\n");
//! controller.advance_to(SimTime::from_secs(10));
//! assert!((controller.truth().q[0] - 0.2).abs() < 1e-3);
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use outrigger_wire::robot::{RobotModel, SoftwareVersion};

use crate::controller::{Controller, Options};
use crate::fault::Fault;
use crate::history::{History, SharedHistory};
use crate::port::Port;
use crate::tcp::{Addresses, Clock, Running, Server};

/// The first port base that is tried, below the ports that the kernel assigns.
const FIRST_BASE: u16 = 15_000;
/// The number of port bases among which processes that run at the same time begin their search.
const SPREAD: u32 = 400;
/// The time without motion after which the arm counts as being at rest: longer than a program takes to start.
const REST: Duration = Duration::from_millis(500);
/// The time between two looks at the arm.
const LOOK: Duration = Duration::from_millis(5);
/// The greatest length of the name of a report's file, without its ending.
const NAME: usize = 120;
/// The number of controllers that each test of this process has started, by the name of its report.
static STARTED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Returns the options of a simulated controller of Universal Robots with this PolyScope version, e.g. "5.15". The arm
/// is the UR5 of the generation, without faults.
///
/// # Panics
/// Panics if `software` is no version.
#[track_caller]
pub fn ur(software: &str) -> Ur {
    let (major, rest) = software.split_once('.').unwrap_or((software, ""));
    let (minor, bugfix) = rest.split_once('.').unwrap_or((rest, "0"));
    let (Ok(major), Ok(minor), Ok(bugfix)) = (major.parse(), minor.parse(), bugfix.parse()) else {
        panic!("software: expected MAJOR.MINOR or MAJOR.MINOR.BUGFIX, e.g. 5.15, found '{software}'");
    };
    let version = SoftwareVersion { major, minor, bugfix };
    Ur(Options::for_software(version))
}

/// The options of a simulated controller of Universal Robots, before its start.
#[derive(Clone, Debug)]
#[must_use = "call start() or controller()"]
pub struct Ur(Options);

impl Ur {
    /// Selects the arm by its name, e.g. "ur10e".
    ///
    /// # Panics
    /// Panics if no arm has this name.
    #[track_caller]
    pub fn model(mut self, name: &str) -> Self {
        let known = RobotModel::ALL.iter().copied();
        self.0.model = known.clone().find(|model| model.name().eq_ignore_ascii_case(name)).unwrap_or_else(|| {
            let names: Vec<_> = known.map(RobotModel::name).collect();
            panic!("model: expected one of {}, found '{name}'", names.join(", "))
        });
        self
    }

    /// Sets the joint angles \[rad\] at the start.
    pub fn q(mut self, q: [f64; 6]) -> Self {
        self.0.q = q;
        self
    }

    /// Adds a fault in the notation of `outrigger sim ur --fault`, e.g. "stall@2s:200ms". Its times count from the
    /// start of the controller.
    ///
    /// # Panics
    /// Panics if no fault is written like this.
    #[track_caller]
    pub fn fault(mut self, text: &str) -> Self {
        self.0.faults.push(text.parse::<Fault>().unwrap_or_else(|error| panic!("fault: {error}")));
        self
    }

    /// Returns the controller in virtual time, without sockets.
    ///
    /// # Panics
    /// Panics if no real controller can have these options.
    #[must_use]
    #[track_caller]
    pub fn controller(self) -> Controller {
        Controller::new(self.0).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Starts the controller in real time, on free ports of the loopback interface.
    ///
    /// # Panics
    /// Panics if no real controller can have these options, or if there are no free ports.
    #[must_use]
    #[track_caller]
    pub fn start(self) -> SimulatedUr {
        let first = FIRST_BASE + u16::try_from(std::process::id() % SPREAD).unwrap_or_default() * 23;
        let addresses = Addresses { listen: Ipv4Addr::LOCALHOST.into(), base: first, robot_api: None };
        let mut server =
            Server::bind_free(self.controller(), addresses).unwrap_or_else(|error| panic!("no free ports: {error}"));
        let history = server.keep_history();
        let running = server.spawn().unwrap_or_else(|error| panic!("no thread for the controller: {error}"));
        SimulatedUr { running, history, report: report_path() }
    }
}

/// A simulated controller that serves its clients in real time until this value is dropped.
#[derive(Debug)]
pub struct SimulatedUr {
    running: Running,
    history: SharedHistory,
    report: PathBuf,
}

impl SimulatedUr {
    /// Returns the address that stands for this port of a real controller, e.g. 30004.
    ///
    /// # Panics
    /// Panics if a controller has no such port.
    #[must_use]
    #[track_caller]
    pub fn address(&self, port: u16) -> SocketAddr {
        let ports = || Port::ALL.map(|port| port.number().to_string()).join(", ");
        let known = Port::from_number(port);
        self.running.address(known.unwrap_or_else(|| panic!("port: expected one of {}, found {port}", ports())))
    }

    /// Returns the port base: port P of a real controller is at this number + P − 29999.
    #[must_use]
    pub fn port_base(&self) -> u16 {
        self.running.port_base()
    }

    /// Returns the true joint angles \[rad\], which no interface of the controller publishes exactly.
    #[must_use]
    pub fn q(&self) -> [f64; 6] {
        self.running.controller().truth().q
    }

    /// Returns the true joint speeds \[rad/s\].
    #[must_use]
    pub fn qd(&self) -> [f64; 6] {
        self.running.controller().truth().qd
    }

    /// Returns whether no joint moves.
    #[must_use]
    pub fn at_rest(&self) -> bool {
        self.running.controller().truth().at_rest()
    }

    /// Waits until no joint has moved for half a second, counted from this call, and returns the true joint angles
    /// \[rad\].
    ///
    /// # Panics
    /// Panics if this takes longer than `timeout`, which therefore includes the half second.
    #[track_caller]
    pub fn wait_until_at_rest(&self, timeout: Duration) -> [f64; 6] {
        let clock = Clock::start();
        let mut moved = self.running.controller().now();
        loop {
            let controller = self.running.controller();
            let (now, arm) = (controller.now(), controller.truth());
            if !arm.at_rest() {
                moved = now;
            } else if now.since(moved) >= REST {
                return arm.q;
            }
            let (rests, qd) = (arm.at_rest(), arm.qd);
            drop(controller);
            let waited = clock.now().as_secs_f64();
            if waited >= timeout.as_secs_f64() {
                assert!(!rests, "the arm is at rest, but after {waited:.1} s not yet for {REST:?}");
                panic!("the arm is not at rest after {waited:.1} s: {qd:.3?} rad/s");
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Locks the controller between two of its cycles, for everything else about it.
    pub fn controller(&self) -> std::sync::MutexGuard<'_, Controller> {
        self.running.controller()
    }

    /// Returns a copy of the history: the arm in the last 60 s, and the events of the controller.
    #[must_use]
    pub fn history(&self) -> History {
        self.history.read()
    }
}

impl Drop for SimulatedUr {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let written = match write_report(&self.report, &self.history()) {
            Ok(path) => format!("the motion of the simulated arm: {}", path.display()),
            Err(error) => format!("no report of the simulated arm: {error}"),
        };
        // A reader that is gone must not cause a second panic.
        let _ = writeln!(std::io::stderr(), "{written}");
    }
}

/// Returns the path of the next report of this test, without an ending: in the target directory if the test's program
/// is there.
fn report_path() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target =
        program.ancestors().find(|folder| folder.ends_with("deps")).and_then(Path::parent).and_then(Path::parent);
    let program = program.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // Cargo adds a hash to the name of the program.
    let program = program.rsplit_once('-').map_or(program.as_str(), |(name, _)| name);
    let thread = std::thread::current();
    let test = format!("{program}-{}", thread.name().unwrap_or("thread"));
    let mut name: String =
        test.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).take(NAME).collect();
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let number = started.entry(name.clone()).or_insert(0_u64);
    *number += 1;
    if *number > 1 {
        let _ = write!(name, "-{number}");
    }
    target.unwrap_or(Path::new(".")).join("outrigger-report").join(name)
}

fn write_report(path: &Path, history: &History) -> std::io::Result<PathBuf> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut events = String::new();
    for event in history.events() {
        let times = if event.times > 1 { format!(", {} times in a row", event.times) } else { String::new() };
        let _ = writeln!(events, "{}: {}{times}", event.at, event.text);
    }
    std::fs::write(path.with_extension("events.txt"), events)?;
    let motion = path.with_extension("csv");
    std::fs::write(&motion, csv(history))?;
    Ok(motion)
}

/// Returns the motion of the arm as a table: time, joint angles and speeds, tool, force and torque, in SI units.
fn csv(history: &History) -> String {
    let mut table = String::from("t [s]");
    for (column, unit) in [("q", "rad"), ("qd", "rad/s")] {
        for joint in 0..6 {
            let _ = write!(table, ",{column}{joint} [{unit}]");
        }
    }
    table.push_str(",x [m],y [m],z [m],rx [rad],ry [rad],rz [rad],fx [N],fy [N],fz [N],mx [Nm],my [Nm],mz [Nm]\n");
    for moment in history.moments() {
        let _ = write!(table, "{:.3}", moment.at.as_secs_f64());
        for value in [moment.q, moment.qd, moment.tool.to_pose(), moment.force].concat() {
            let _ = write!(table, ",{value:.6}");
        }
        table.push('\n');
    }
    table
}

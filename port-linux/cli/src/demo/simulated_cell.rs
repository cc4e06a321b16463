//! The surroundings of the demo: a simulated controller behind kernel TCP, a workpiece that heaves under the tool,
//! and a distance sensor that sends its readings as UDP datagrams.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_sim::controller::{Action, Controller, Moment, Options};
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::port::Port;
use outrigger_sim::simulated_workpiece::{DistanceSensor, Surface, Wave};
use outrigger_sim::tcp::{self, Running, Server};
use outrigger_sim::time::SimTime;
use outrigger_wire::math::Frame;
use outrigger_wire::robot::{JointPositions, Pose, RobotModel};
use outrigger_wire::sensor::{DATAGRAM_MAX, Reading, SampleValue};
use outrigger_wire::time::{Duration, Instant};

use super::deliberate_faults::Broken;
use super::pause_allowance::SOFTWARE;
use crate::page::{SIDE, Workpiece, outline};
use crate::report::scene::Scene;
use outrigger::exit::Failure;
use outrigger::host::clock::{Clock, Pace, std_duration, std_now};

/// The robot model of the demo's simulated arm.
pub(super) const MODEL: RobotModel = RobotModel::Ur5e;
/// The distance of the tool from the workpiece at the start \[m\].
const START_DISTANCE: f64 = 0.07;
/// The side length of the workpiece as it is drawn \[m\].
const WORKPIECE: f64 = 0.4;
/// The interval of the simulated distance sensor's readings.
const READING_EVERY: Duration = Duration::from_millis(2);
/// The number of points of the workpiece that a picture shows to each side of the tool.
const SEEN: i32 = 30;
/// The distance between two points of the drawn workpiece \[m\].
const STEP: f64 = 0.01;
/// The first port base that is tried for the simulated controller. With port base B, the controller's port p is at B +
/// p - 29999; these ports must be free.
const FIRST_BASE: u16 = 40_000;

/// The true state of the simulation at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truth {
    pub(super) at: Instant,
    /// The distance from the tool to the workpiece along the tool's axis \[m\], without the sensor's noise.
    pub(super) distance: f64,
    /// The true joint speeds of the simulated arm \[rad/s\].
    pub(super) speeds: [f32; 6],
    /// The true joint positions of the simulated arm \[rad\].
    pub(super) joints: [f32; 6],
    /// The time of the simulation, which determines the heave of the workpiece.
    pub(super) simulated: SimTime,
}

/// The amplitude \[m\] and the period \[s\] of the workpiece's heave.
const HEAVE: (f64, f64) = (0.008, 9.0);
/// The share of its highest speed at which the workpiece must move for a fault to be caused. Otherwise the arm would
/// be nearly at rest and stop at once.
const BRISK: f64 = 0.6;

/// The names of the simulator's threads that must not be delayed, as the operating system shows them.
pub(super) const THREADS: [&str; 2] = ["controller", "distance-sensor"];

/// The clock of the demo's simulator, which the session uses as well, so that both are slowed together.
#[derive(Debug, Default)]
pub(super) struct OneClock(pub(super) tcp::Clock);

impl Pace for OneClock {
    fn now(&self) -> Instant {
        Instant::from_micros(self.0.now().as_micros())
    }

    fn std_instant(&self, at: Instant) -> Option<std::time::Instant> {
        self.0.instant(SimTime::from_micros(at.as_micros()))
    }

    fn slowed(&self) -> u32 {
        self.0.slowed()
    }
}

/// Returns `true` if the workpiece moves fast enough at the time `at` for a fault to be caused.
pub(super) fn moves(at: Instant) -> bool {
    let (_, period) = HEAVE;
    (std::f64::consts::TAU * at.since(Instant::ZERO).as_secs_f64() / period).cos().abs() >= BRISK
}

/// Returns the options of the simulated controller, with the effect of the deliberate fault `broken` on it.
pub(super) fn options(broken: Option<Broken>) -> Options {
    let options = Options::new(MODEL, SOFTWARE);
    Options { after_t: broken.and_then(Broken::after_t).or(options.after_t), ..options }
}

/// Returns the surface of the workpiece under the tool of the simulated controller.
pub(super) fn surface(controller: &Controller) -> Surface {
    let tool = controller.truth().tool();
    let [x, y, z] = tool.position;
    let [ax, ay, az] = tool.z_axis();
    let below = [x + START_DISTANCE * ax, y + START_DISTANCE * ay, z + START_DISTANCE * az];
    Surface {
        waves: vec![Wave { amplitude: 0.003, length: 0.12, direction: 0.4 }],
        heave: Some(HEAVE),
        ..Surface::plane(below, [-ax, -ay, -az])
    }
}

/// Stalls the connections of states and commands for `span`, from `at` on. Afterwards everything arrives at once.
pub(super) fn stall(controller: &mut Controller, at: Instant, span: Duration) {
    let at = SimTime::from_micros(at.as_micros()).max(controller.now());
    let fault = Fault::new(FaultKind::Stall, at, Some(std_duration(span)));
    for port in [Port::Realtime, Port::Rtde] {
        controller.inject(Fault { port: Some(port), ..fault });
    }
}

/// Returns the true state of the simulation at one instant; `None` if the tool does not point at the workpiece.
pub(super) fn truth(surface: &Surface, moment: &Moment) -> Option<Truth> {
    let distance = surface.distance(moment.tool.position, moment.tool.z_axis(), moment.at)?;
    let [joints, speeds] = [moment.q, moment.qd].map(|values| values.map(|value| value as f32));
    let at = Instant::from_micros(moment.at.as_micros());
    Some(Truth { at, distance, speeds, joints, simulated: moment.at })
}

/// The simulated controller of the demo with its workpiece and distance sensor.
pub(super) struct World {
    controller: Arc<Running>,
    truths: Arc<Mutex<Vec<Truth>>>,
    surface: Surface,
    silent: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    sensor: Option<JoinHandle<()>>,
    pub(super) options: Options,
    tool_centre: Pose,
}

impl World {
    /// Starts the simulated controller and the distance sensor, which sends its readings to the address `to`. Both use
    /// the clock `pace`; `broken` is the deliberate fault.
    pub(super) fn start(pace: &'static OneClock, to: SocketAddr, broken: Option<Broken>) -> Result<Self, Failure> {
        let clock = Clock::paced(pace);
        let options = options(broken);
        let mut controller = Controller::new(options.clone()).map_err(|error| Failure::Usage(error.to_string()))?;
        controller.take_course();
        let surface = surface(&controller);
        let [x, y, z, rx, ry, rz] = controller.truth().tcp.map(|value| value as f32);
        let tool_centre = Pose { position: [x, y, z], rotation: [rx, ry, rz] };
        let controller = Server::bind_from(controller, Ipv4Addr::LOCALHOST.into(), FIRST_BASE)
            .map_err(|error| Failure::Connection(error.to_string()))?
            .spawn_by(&pace.0)
            .map_err(no_thread)?;
        let controller = Arc::new(controller);
        let (truths, silent, stop) = <(Arc<Mutex<Vec<Truth>>>, Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        let sensor = Sensor {
            clock,
            socket: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(no_socket)?,
            to,
            surface: surface.clone(),
            device: DistanceSensor::new(options.seed),
            controller: Arc::clone(&controller),
            truths: Arc::clone(&truths),
            silent: Arc::clone(&silent),
            stop: Arc::clone(&stop),
        };
        let thread = std::thread::Builder::new().name("distance-sensor".into()).spawn(move || sensor.run());
        Ok(Self {
            controller,
            truths,
            silent,
            stop,
            sensor: Some(thread.map_err(no_thread)?),
            options,
            surface,
            tool_centre,
        })
    }

    /// Returns the port base B of the simulated controller, whose port p is at B + p - 29999.
    pub(super) fn port_base(&self) -> u16 {
        self.controller.port_base()
    }

    /// Stalls the connections of states and commands for `span`, from `at` on. Afterwards everything arrives at once.
    pub(super) fn stall(&self, at: Instant, span: Duration) {
        stall(&mut self.controller.controller(), at, span);
    }

    /// Lets another client command the simulated arm.
    pub(super) fn second_commander(&self) {
        self.controller.controller().act(Action::SecondCommander(Some(0.05)));
    }

    /// Pulls the distance sensor's cable, so that no reading is sent, or plugs it in again.
    pub(super) fn pull_sensor_cable(&self, pulled: bool) {
        self.silent.store(pulled, Ordering::Relaxed);
    }

    /// Returns the arm and the workpiece at the instant of `truth`, for a drawing.
    pub(super) fn scene(&self, truth: &Truth) -> Scene {
        let chain = KinematicChain::new(DhParameters::of(MODEL), &self.tool_centre);
        let joints = JointPositions(truth.joints);
        let Frame { position: tool, rotation } = chain.posture(&joints).tcp;
        let wide = |point: [f32; 3]| point.map(f64::from);
        let looks = wide(rotation.z);
        let tool = wide(tool);
        // The profile is taken along the line from the arm's base through the tool, as far as the picture shows.
        let away = tool[0].hypot(tool[1]).max(1e-6);
        let along = [tool[0] / away, tool[1] / away, 0.0];
        let profile = (-SEEN..=SEEN).filter_map(|step| {
            let from = std::array::from_fn(|axis| tool[axis] + along[axis] * f64::from(step) * STEP);
            let distance = self.surface.distance(from, looks, truth.simulated)?;
            Some(std::array::from_fn(|axis| from[axis] + looks[axis] * distance))
        });
        Scene {
            arm: outline(&chain, &joints).into_iter().map(wide).collect(),
            workpiece: profile.collect(),
            distance: truth.distance,
            looks,
        }
    }

    /// Returns a function that provides the current shape of the workpiece, for a picture.
    pub(super) fn workpiece(&self) -> Box<dyn FnMut() -> Option<Workpiece> + Send> {
        let (surface, controller) = (self.surface.clone(), Arc::clone(&self.controller));
        Box::new(move || {
            let now = controller.controller().now();
            Some(workpiece(&surface, now))
        })
    }

    /// Returns the true states of the simulation so far, in the order of time.
    pub(super) fn truths(&self) -> Vec<Truth> {
        self.truths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(sensor) = self.sensor.take() {
            // A panic of the sensor's thread has been printed by then; there is nothing to add.
            let _ = sensor.join();
        }
    }
}

/// Returns the heights of `surface` over a square around its origin, for the picture of the live page.
fn workpiece(surface: &Surface, now: SimTime) -> Workpiece {
    let [n, u, v] = surface.basis();
    let along = |i: usize| (i as f64 / (SIDE - 1) as f64 - 0.5) * WORKPIECE;
    let heights = std::array::from_fn(|i| std::array::from_fn(|j| surface.height(along(i), along(j), now)));
    Workpiece { origin: surface.origin, axes: [u, v, n], side: WORKPIECE, heights }
}

fn no_thread(error: std::io::Error) -> Failure {
    Failure::BadInput(format!("cannot start a thread: {error}"))
}

fn no_socket(error: std::io::Error) -> Failure {
    Failure::BadInput(format!("cannot open a UDP socket on the loopback: {error}"))
}

/// The simulated distance sensor of the demo, which runs on its own thread, like a device on the network.
struct Sensor {
    clock: Clock,
    socket: UdpSocket,
    to: SocketAddr,
    surface: Surface,
    device: DistanceSensor,
    controller: Arc<Running>,
    truths: Arc<Mutex<Vec<Truth>>>,
    silent: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

impl Sensor {
    fn run(mut self) {
        let mut due = self.clock.now();
        let mut bytes = [0; DATAGRAM_MAX];
        for seq in 0_u32.. {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let reading = self.read();
            if let Some(value) = reading.filter(|_| !self.silent.load(Ordering::Relaxed)) {
                let reading = Reading { seq, value: SampleValue::scalar(value) };
                // A failure to send is ignored, because a sensor does not notice an unplugged cable either.
                let _ = self.socket.send_to(reading.to_datagram(&mut bytes), self.to);
            }
            due = (due + READING_EVERY).max(self.clock.now());
            std::thread::sleep(self.clock.std_instant(due).saturating_duration_since(std_now()));
        }
    }

    /// Records the true states of the simulation so far, and returns the distance that the sensor reads \[m\]; `None`
    /// if it measures no surface.
    fn read(&mut self) -> Option<f32> {
        let (course, tool, now) = {
            let mut controller = self.controller.controller();
            (controller.take_course(), controller.truth().tool(), controller.now())
        };
        let truths = course.iter().filter_map(|moment| truth(&self.surface, moment));
        self.truths.lock().unwrap_or_else(PoisonError::into_inner).extend(truths);
        self.device.read(&self.surface, tool, now).map(|distance| distance as f32)
    }
}

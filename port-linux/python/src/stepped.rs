//! A simulated controller in virtual time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::PyArray1;
use outrigger_sim::controller::{Action, Conn, Controller};
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::ConnectionFailed;
use crate::simulator::options;
use crate::state::array;

/// The longest time of one step [s].
const LONGEST: f64 = 3600.0;
/// The time between two looks for Ctrl-C, in virtual time. What the controller sends is read in this interval.
const SLICE: SimTime = SimTime::from_millis(100);
/// The highest number of bytes of programs that the controller has not taken yet.
const UNSENT: usize = 1 << 20;
/// The highest number of events that are kept until they are read. The simulated controller keeps no more.
const READ: usize = 4096;

/// A simulated controller of Universal Robots without ports, whose time passes only in step(): as fast as this computer
/// computes, and always with the same result.
#[pyclass(frozen, module = "outrigger_robot.sim")]
pub(crate) struct SteppedUr(Mutex<Stepped>);

struct Stepped {
    controller: Controller,
    /// The connection to port 30002 that sends programs.
    programs: Option<Conn>,
    /// The bytes of programs that the controller has no room for yet.
    unsent: Vec<u8>,
    events: Vec<(f64, String)>,
}

impl Stepped {
    fn seconds(&self) -> f64 {
        self.controller.now().as_micros() as f64 * 1e-6
    }

    /// Passes bytes of programs to the controller, as far as it has room for them.
    fn write(&mut self) {
        let Some(programs) = self.programs.filter(|_| !self.unsent.is_empty()) else { return };
        if !self.controller.is_open(programs) {
            self.unsent.clear();
            return;
        }
        let taken = self.controller.write(programs, &self.unsent);
        self.unsent.drain(..taken);
    }

    /// Advances the controller to `to`, and reads what it has sent.
    fn advance_to(&mut self, to: SimTime) {
        self.controller.advance_to(to);
        self.write();
        if let Some(programs) = self.programs {
            let mut sent = [0; 4096];
            while self.controller.read(programs, &mut sent) > 0 {}
        }
        let (events, _) = self.controller.take_events();
        let room = READ.saturating_sub(self.events.len());
        let timed = events.into_iter().map(|event| (event.at.as_micros() as f64 * 1e-6, event.kind.to_string()));
        self.events.extend(timed.take(room));
    }
}

impl SteppedUr {
    fn lock(&self) -> MutexGuard<'_, Stepped> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl SteppedUr {
    /// Creates a controller with this PolyScope version and arm, as `sim.ur` does. Times of faults are virtual.
    #[new]
    #[pyo3(signature = (software = "5.15", *, model = None, q = None, faults = vec![], surface = None))]
    fn new(
        software: &str,
        model: Option<&str>,
        q: Option<Vec<f64>>,
        faults: Vec<String>,
        surface: Option<f64>,
    ) -> PyResult<Self> {
        let options = options(software, model, q.as_deref(), &faults, surface)?;
        let controller = Controller::new(options).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut stepped = Stepped { controller, programs: None, unsent: vec![], events: vec![] };
        stepped.controller.keep_events();
        Ok(Self(Mutex::new(stepped)))
    }

    /// Advances virtual time by `seconds` [s], 0 to 3600.
    fn step(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        if !(0.0..=LONGEST).contains(&seconds) {
            return Err(PyValueError::new_err(format!("seconds: expected 0 to {LONGEST}, found {seconds}")));
        }
        let end = self.lock().controller.now() + std::time::Duration::from_micros((seconds * 1e6) as u64);
        loop {
            let is_over = py.detach(|| {
                let mut stepped = self.lock();
                let next = (stepped.controller.now() + std::time::Duration::from_micros(SLICE.as_micros())).min(end);
                stepped.advance_to(next);
                next >= end
            });
            py.check_signals()?;
            if is_over {
                return Ok(());
            }
        }
    }

    /// Sends a program or a statement of URScript to port 30002, as a client does. It runs in the next step().
    fn send(&self, text: &str) -> PyResult<()> {
        let mut stepped = self.lock();
        let Stepped { controller, programs, .. } = &mut *stepped;
        let refused = |_| ConnectionFailed::new_err("port 30002 accepts no client now");
        let connection = match programs.filter(|connection| controller.is_open(*connection)) {
            Some(connection) => connection,
            None => controller.connect(Port::Secondary).map_err(refused)?,
        };
        *programs = Some(connection);
        if stepped.unsent.len() + text.len() > UNSENT {
            return Err(PyValueError::new_err(format!("text: expected at most {UNSENT} bytes that are not taken yet")));
        }
        stepped.unsent.extend_from_slice(text.as_bytes());
        if !text.ends_with('\n') {
            stepped.unsent.push(b'\n');
        }
        stepped.write();
        Ok(())
    }

    /// Sets the digital inputs; bit 0 is the first.
    fn set_inputs(&self, levels: u32) {
        self.lock().controller.act(Action::DigitalInputs(levels));
    }

    /// The virtual time since the start [s].
    #[getter]
    fn time(&self) -> f64 {
        self.lock().seconds()
    }

    /// True if a program runs, or is paused.
    #[getter]
    fn program_runs(&self) -> bool {
        self.lock().controller.program().0
    }

    /// Returns the events since the last call, as pairs of time [s] and text: clients, programs, their errors, and
    /// faults. At most 4096 are kept.
    fn events(&self) -> Vec<(f64, String)> {
        std::mem::take(&mut self.lock().events)
    }

    /// The true joint angles [rad], float64 of shape (6,).
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.lock().controller.truth().q)
    }

    /// The true joint speeds [rad/s], float64 of shape (6,).
    #[getter]
    fn qd<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.lock().controller.truth().qd)
    }

    /// The true pose of the tool: x, y, z [m] and a rotation vector [rad], float64 of shape (6,).
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.lock().controller.truth().tool().to_pose())
    }

    /// The true force [N] and torque [Nm] on the tool in the base frame, float64 of shape (6,).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.lock().controller.truth().push)
    }

    /// True if no joint moves.
    #[getter]
    fn at_rest(&self) -> bool {
        self.lock().controller.truth().at_rest()
    }

    /// The levels of the digital outputs: bits 0 to 7 of the box, 8 to 15 configurable, 16 and 17 of the tool; with CB2
    /// 8 and 9 of the tool.
    #[getter]
    fn outputs(&self) -> u32 {
        self.lock().controller.io().digital_out
    }

    fn __repr__(&self) -> String {
        format!("SteppedUr(time={:.3})", self.time())
    }
}

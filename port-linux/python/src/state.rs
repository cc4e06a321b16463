//! A state of the robot, with arrays of NumPy.

use numpy::PyArray1;
use pyo3::prelude::*;

use crate::vendor::{Of, each};

/// One state of the robot. Arrays are of float64 and have their own memory. Those of joints have shape (6,), of a KUKA
/// LWR (7,); all others have shape (6,).
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct State(Of<outrigger::State<6>, outrigger::State<7>>);

impl From<outrigger::State<6>> for State {
    fn from(state: outrigger::State<6>) -> Self {
        Self(Of::Ur(state))
    }
}

impl From<outrigger::State<7>> for State {
    fn from(state: outrigger::State<7>) -> Self {
        Self(Of::Krc(state))
    }
}

type Array<'py> = Bound<'py, PyArray1<f64>>;

/// Copies numbers into a new array, which owns its memory.
pub(crate) fn array(py: Python<'_>, numbers: impl IntoIterator<Item = f64>) -> Array<'_> {
    PyArray1::from_slice(py, &numbers.into_iter().collect::<Vec<_>>())
}

fn six(py: Python<'_>, first: [f32; 3], last: [f32; 3]) -> Array<'_> {
    array(py, first.into_iter().chain(last).map(f64::from))
}

#[pymethods]
impl State {
    /// The controller's clock [s].
    #[getter]
    fn time(&self) -> f64 {
        each!(&self.0, state => state.controller_time).as_micros() as f64 * 1e-6
    }

    /// The measured joint angles [rad].
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Array<'py> {
        each!(&self.0, state => array(py, state.positions.0.map(f64::from)))
    }

    /// The measured joint speeds [rad/s].
    #[getter]
    fn qd<'py>(&self, py: Python<'py>) -> Array<'py> {
        each!(&self.0, state => array(py, state.velocities.0.map(f64::from)))
    }

    /// The joint angles that the controller commands [rad].
    #[getter]
    fn q_target<'py>(&self, py: Python<'py>) -> Array<'py> {
        each!(&self.0, state => array(py, state.target_positions.0.map(f64::from)))
    }

    /// The pose of the tool in the base frame: x, y, z [m] and a rotation vector [rad]; None if it is not sent.
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> Option<Array<'py>> {
        each!(&self.0, state => state.tcp_pose).map(|pose| six(py, pose.position, pose.rotation))
    }

    /// The speed of the tool in the base frame: linear [m/s], then angular [rad/s]; None if it is not sent.
    #[getter]
    fn tool_speed<'py>(&self, py: Python<'py>) -> Option<Array<'py>> {
        each!(&self.0, state => state.tcp_speed).map(|speed| six(py, speed.linear, speed.angular))
    }

    /// The force [N] and torque [Nm] at the tool; None if they are not sent.
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> Option<Array<'py>> {
        each!(&self.0, state => state.tcp_force).map(|wrench| six(py, wrench.force, wrench.torque))
    }

    /// The levels of the digital inputs; bit 0 is the first.
    #[getter]
    fn digital_inputs(&self) -> u64 {
        each!(&self.0, state => state.digital_inputs)
    }

    /// The levels of the digital outputs, bit 0 is the first; None if they are not sent.
    #[getter]
    fn digital_outputs(&self) -> Option<u64> {
        each!(&self.0, state => state.digital_outputs)
    }

    fn __repr__(&self) -> String {
        each!(&self.0, state => format!("State(time={:.3}, q={:.4?})", self.time(), state.positions.0))
    }
}

//! The recent history of a simulator, with arrays of NumPy.

use numpy::{PyArray1, PyArray2};
use outrigger_sim::controller::Moment;
use outrigger_sim::history;
use pyo3::prelude::*;

use crate::state::array;

/// The true arm over time. Arrays are of float64 and have their own memory; row i of each belongs to time[i].
#[pyclass(frozen, module = "outrigger_robot.sim")]
pub(crate) struct History(history::History);

impl From<history::History> for History {
    fn from(past: history::History) -> Self {
        Self(past)
    }
}

impl History {
    fn rows<'py>(&self, py: Python<'py>, of: impl Fn(&Moment) -> [f64; 6]) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows: Vec<_> = self.0.moments().map(|moment| of(moment).to_vec()).collect();
        // An array made of no rows would have no columns.
        if rows.is_empty() { Ok(PyArray2::zeros(py, [0, 6], false)) } else { Ok(PyArray2::from_vec2(py, &rows)?) }
    }
}

#[pymethods]
impl History {
    /// The time since the start of the controller [s], of shape (n,).
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.0.moments().map(|moment| moment.at.as_secs_f64()))
    }

    /// The joint angles [rad], of shape (n, 6).
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |moment| moment.q)
    }

    /// The joint speeds [rad/s], of shape (n, 6).
    #[getter]
    fn qd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |moment| moment.qd)
    }

    /// The pose of the tool in the base frame: x, y, z [m] and a rotation vector [rad], of shape (n, 6).
    #[getter]
    fn pose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |moment| moment.tool.to_pose())
    }

    /// The force [N] and torque [Nm] on the tool in the base frame, of shape (n, 6).
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |moment| moment.force)
    }

    fn __len__(&self) -> usize {
        self.0.moments().len()
    }

    fn __repr__(&self) -> String {
        let at = |moment: Option<&Moment>| moment.map_or(0.0, |moment| moment.at.as_secs_f64());
        let (first, last) = (at(self.0.moments().next()), at(self.0.moments().last()));
        format!("History({} states from {first:.3} s to {last:.3} s)", self.0.moments().len())
    }
}

/// Returns the events of a history as pairs of time [s] and text.
pub(crate) fn events(past: &history::History) -> Vec<(f64, String)> {
    let text = |event: &history::PastEvent| match event.times {
        1 => event.text.clone(),
        times => format!("{}, {times} times in a row", event.text),
    };
    past.events().map(|event| (event.at.as_secs_f64(), text(event))).collect()
}

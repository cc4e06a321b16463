//! An iterator over the states of a robot.

use std::time::Duration;

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;

use crate::error::of_failure;
use crate::process_bound::ProcessBound;
use crate::state::State;
use crate::vendor::{Of, each};

/// The interval at which a waiting iterator looks for Ctrl-C.
const WAIT: Duration = Duration::from_millis(20);

/// The states of a robot as they arrive.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct States(pub(crate) Of<ProcessBound<outrigger::States<6>>, ProcessBound<outrigger::States<7>>>);

/// Waits for the next state, and for Ctrl-C.
fn next<const N: usize>(py: Python<'_>, of: &ProcessBound<outrigger::States<N>>) -> PyResult<State>
where
    State: From<outrigger::State<N>>,
{
    loop {
        let next = py.detach(|| {
            let mut states = of.lock("this iterator")?;
            let next = states.as_mut().map(|states| (states.next_within(WAIT), states.has_ended()));
            PyResult::Ok(next.unwrap_or((Ok(None), true)))
        })?;
        match next {
            (Ok(Some(state)), _) => return Ok(state.into()),
            (Err(failure), _) => return Err(of_failure(&failure)),
            (Ok(None), true) => return Err(PyStopIteration::new_err(())),
            (Ok(None), false) => py.check_signals()?,
        }
    }
}

#[pymethods]
impl States {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<State> {
        each!(&self.0, states => next(py, states))
    }

    /// The number of states that were lost so far, because 64 waited already.
    #[getter]
    fn lost(&self) -> PyResult<u64> {
        each!(&self.0, states => Ok(states.lock("this iterator")?.as_ref().map_or(0, outrigger::States::lost)))
    }
}

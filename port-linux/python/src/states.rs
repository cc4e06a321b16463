//! An iterator over the states of a robot.

use std::sync::Arc;
use std::time::Duration;

use outrigger::Failure;
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;

use crate::connection::Connection;
use crate::error::{ConnectionFailed, of_failure};
use crate::process_bound::ProcessBound;
use crate::state::State;
use crate::vendor::{Of, each};

/// The interval at which a waiting iterator looks for Ctrl-C.
const WAIT: Duration = Duration::from_millis(20);

/// The states of a robot as they arrive.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct States(pub(crate) Of<ProcessBound<Following<6>>, ProcessBound<Following<7>>>);

/// The states of one session after the other.
pub(crate) struct Following<const N: usize> {
    connection: Arc<Connection<N>>,
    states: outrigger::States<N>,
    /// The number of the session that they come from.
    session: u32,
    /// The number of states of earlier sessions that were lost.
    lost_before: u64,
}

/// The result of one look for a state.
enum Look<const N: usize> {
    State(outrigger::State<N>),
    Nothing,
    /// The robot was closed, or its session has ended.
    Over,
    Failed(Failure),
}

impl<const N: usize> Following<N> {
    /// Begins with the states of the present session.
    pub(crate) fn begin(connection: Arc<Connection<N>>) -> PyResult<Self> {
        let none = || ConnectionFailed::new_err("the robot is closed");
        let (states, session) = connection.states()?.ok_or_else(none)?;
        Ok(Self { connection, states, session, lost_before: 0 })
    }

    fn lost(&self) -> u64 {
        self.lost_before + self.states.lost()
    }

    fn look(&mut self) -> PyResult<Look<N>> {
        // Before it looks for the end: a replacement that begins later is no reason for it.
        let replacing = self.connection.is_replacing();
        let ended = match self.states.next_within(WAIT) {
            Ok(Some(state)) => return Ok(Look::State(state)),
            Ok(None) if !self.states.has_ended() => return Ok(Look::Nothing),
            Ok(None) => Look::Over,
            Err(failure) => Look::Failed(failure),
        };
        match self.connection.states()? {
            Some((states, session)) if session != self.session => {
                self.lost_before += self.states.lost();
                (self.states, self.session) = (states, session);
                Ok(Look::Nothing)
            }
            _ if replacing || self.connection.is_replacing() => {
                std::thread::sleep(WAIT);
                Ok(Look::Nothing)
            }
            _ => Ok(ended),
        }
    }
}

/// Waits for the next state, and for Ctrl-C.
fn next<const N: usize>(py: Python<'_>, of: &ProcessBound<Following<N>>) -> PyResult<State>
where
    State: From<outrigger::State<N>>,
{
    loop {
        let look = py.detach(|| of.lock("this iterator")?.as_mut().map_or(Ok(Look::Over), Following::look))?;
        match look {
            Look::State(state) => return Ok(state.into()),
            Look::Failed(failure) => return Err(of_failure(&failure)),
            Look::Over => return Err(PyStopIteration::new_err(())),
            Look::Nothing => py.check_signals()?,
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
        each!(&self.0, states => Ok(states.lock("this iterator")?.as_ref().map_or(0, Following::lost)))
    }
}

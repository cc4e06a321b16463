//! Errors as Python exceptions, and the reason why an arm stopped.

use outrigger::{Failure, Reason};
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::session::Report;

pyo3::create_exception!(
    outrigger_robot,
    OutriggerError,
    PyException,
    "An error of a robot, of its connection or of a simulator. `reason` is its name, or None; `advice` says what to do; \
     `figure` has the figures that led to it, or None."
);
pyo3::create_exception!(
    outrigger_robot,
    ConnectionFailed,
    OutriggerError,
    "The robot cannot be reached, or another process commands it."
);
pyo3::create_exception!(
    outrigger_robot,
    Rejected,
    OutriggerError,
    "A request was rejected, and nothing moved because of it."
);
pyo3::create_exception!(
    outrigger_robot,
    Stopped,
    OutriggerError,
    "A motion ended before its goal, or commanding ended. `reason` and `advice` are those of why_stopped()."
);

pyo3::create_exception!(
    outrigger_robot,
    RecordingError,
    OutriggerError,
    "A recording or a capture cannot be read, or not to its end. `position` is the offset of the fault in the file \
     in bytes, or None."
);

/// Adds the exceptions to the package.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, kind) in [
        ("OutriggerError", py.get_type::<OutriggerError>()),
        ("ConnectionFailed", py.get_type::<ConnectionFailed>()),
        ("Rejected", py.get_type::<Rejected>()),
        ("Stopped", py.get_type::<Stopped>()),
        ("RecordingError", py.get_type::<RecordingError>()),
    ] {
        // Every exception has the attributes, whoever raises it.
        kind.setattr("reason", py.None())?;
        kind.setattr("advice", py.None())?;
        kind.setattr("figure", py.None())?;
        module.add(name, kind)?;
    }
    py.get_type::<RecordingError>().setattr("position", py.None())
}

/// Creates a [`RecordingError`] at a byte of the file.
pub(crate) fn recording_error(py: Python<'_>, text: &str, position: Option<u64>) -> PyErr {
    let error = RecordingError::new_err(text.to_owned());
    error.value(py).setattr("position", position).map_or_else(|failed| failed, |()| error)
}

/// Creates an exception of the class `kind`, with the name of a reason and its advice.
pub(crate) fn exception(kind: &Bound<'_, PyType>, text: &str, reason: Option<Reason>, figure: Option<String>) -> PyErr {
    let made = kind.call1((text,)).and_then(|value| {
        value.setattr("reason", reason.map(Reason::name))?;
        value.setattr("advice", reason.map(Reason::advice))?;
        value.setattr("figure", figure)?;
        Ok(value)
    });
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Converts an error of the library into an exception: `ValueError` for arguments, otherwise one of this package.
pub(crate) fn of_failure(failure: &Failure) -> PyErr {
    let text = failure.told();
    match failure {
        Failure::BadInput(_) | Failure::Usage(_) => PyValueError::new_err(text),
        Failure::Connection(_) => ConnectionFailed::new_err(text),
        Failure::Fault(_) => Stopped::new_err(text),
        Failure::Interrupted(_) => OutriggerError::new_err(text),
    }
}

/// The reason why commanding ended.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Stop {
    /// The name of the reason, e.g. "ProtectiveStop".
    #[pyo3(get)]
    reason: &'static str,
    /// The reason as a sentence.
    #[pyo3(get)]
    text: String,
    /// The advice that belongs to the reason.
    #[pyo3(get)]
    advice: &'static str,
    /// The text of the reason with the figures and limits that led to it, e.g. of the link; None if it has none.
    #[pyo3(get)]
    figure: Option<String>,
    /// True if commanding cannot start again before reset().
    #[pyo3(get)]
    latched: bool,
    /// The newest file in the folder `fault_recordings`; None if there is none.
    #[pyo3(get)]
    recording: Option<String>,
}

impl Stop {
    pub(crate) fn new(reason: Reason, released: Option<String>, latched: bool, report: &Report) -> Self {
        let text = released.unwrap_or_else(|| reason.text().to_owned());
        let (figure, recording) = (report.figure(reason), report.recording.clone());
        Self { reason: reason.name(), text, advice: reason.advice(), figure, latched, recording }
    }
}

#[pymethods]
impl Stop {
    fn __str__(&self) -> String {
        format!("{} ({}); {}", self.figure.as_ref().unwrap_or(&self.text), self.reason, self.advice)
    }

    fn __repr__(&self) -> String {
        let latched = if self.latched { "True" } else { "False" };
        format!("Stop(reason={:?}, text={:?}, latched={latched})", self.reason, self.text)
    }
}

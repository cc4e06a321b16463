//! Recordings: their channels as tables, their events, why commanding ended, and the replay.

mod column;
mod replay;
mod scan;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outrigger::Failure;
use outrigger::feed::recorded::{Unread, each_message_and_fact};
use outrigger_cli::replay::replayed;
use pyo3::exceptions::{PyImportError, PyKeyError, PyModuleNotFoundError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(crate) use self::replay::Replay;
use self::scan::{Damage, End, Scan, again, seconds};
use self::table::{LARGEST_TABLE, Refusal, Table};
use crate::error::recording_error;

/// A recording of an arm: an MCAP file of `outrigger record` or `run --record`, or the recording of a fault.
///
/// Nothing of the file is held in memory but its events, of which 65536 with 16 MB of text are kept. Each call that
/// returns data reads the file again, record by record; a record has at most 64 MiB.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Recording {
    path: PathBuf,
    scan: Scan,
}

/// An event of the recording: a log line of a session, of its connections or of the controller.
#[pyclass(frozen, get_all, module = "outrigger_robot")]
pub(crate) struct Event {
    /// The time since 1970 [s]; in the recording of a fault, since the start of the recorded process.
    time: f64,
    /// The severity: "info", "warning" or "error".
    severity: &'static str,
    /// The kind of the event, e.g. "transition", "link" or "grade"; for messages of the controller, who sent it.
    name: String,
    /// The event as a sentence.
    text: String,
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        format!(
            "Event(time={:.3}, severity={:?}, name={:?}, text={:?})",
            self.time, self.severity, self.name, self.text
        )
    }
}

/// An end of arming or commanding in a recording.
#[pyclass(frozen, get_all, module = "outrigger_robot")]
pub(crate) struct RecordedStop {
    /// The time since 1970 [s]; in the recording of a fault, since the start of the recorded process.
    time: f64,
    /// The name of the reason, e.g. "ProtectiveStop".
    reason: &'static str,
    /// The reason as a sentence.
    text: String,
    /// The advice that belongs to the reason.
    advice: &'static str,
}

impl From<&End> for RecordedStop {
    fn from(End { time, reason, text }: &End) -> Self {
        Self { time: *time, reason: reason.name(), text: text.clone(), advice: reason.advice() }
    }
}

#[pymethods]
impl RecordedStop {
    fn __str__(&self) -> String {
        format!("{} ({}); {}", self.text, self.reason, self.advice)
    }

    fn __repr__(&self) -> String {
        format!("RecordedStop(time={:.3}, reason={:?}, text={:?})", self.time, self.reason, self.text)
    }
}

/// Opens a recording: an MCAP file of `outrigger record` or `run --record`, or the recording of a fault.
///
/// The file is read once from beginning to end. RecordingError, with `position`, if it is no recording, or if it is
/// damaged or its end is missing. With `partial`, everything before the damage is delivered, and `damage` is that error.
#[pyfunction]
#[pyo3(signature = (path, *, partial = false))]
pub(crate) fn open(py: Python<'_>, path: PathBuf, partial: bool) -> PyResult<Recording> {
    let shown = path.display();
    let found =
        std::fs::metadata(&path).map_err(|error| std::io::Error::new(error.kind(), format!("{shown}: {error}")))?;
    if !found.is_file() {
        return Err(recording_error(py, &format!("cannot read {shown}: it is no regular file"), None));
    }
    let scan = uninterrupted(py, |go_on| scan::scan(&path, go_on))?;
    let scan = scan.map_err(|damage| raised(py, &damage))?;
    match &scan.damage {
        Some(damage) if !partial => {
            let Damage { text, at } = damage;
            let text = format!("{text}; open(path, partial=True) delivers everything before");
            Err(recording_error(py, &text, *at))
        }
        _ => Ok(Recording { path, scan }),
    }
}

fn raised(py: Python<'_>, damage: &Damage) -> PyErr {
    recording_error(py, &damage.text, damage.at)
}

/// Calls `act` without the interpreter's lock, with a function that looks for Ctrl-C and ends it then.
fn uninterrupted<T: Send>(
    py: Python<'_>,
    act: impl FnOnce(&mut dyn FnMut() -> Result<(), Failure>) -> T + Send,
) -> PyResult<T> {
    let mut raised = None;
    let done = py.detach(|| {
        act(&mut || {
            Python::attach(|py| py.check_signals()).map_err(|error| {
                raised = Some(error);
                Failure::Interrupted("interrupted".into())
            })
        })
    });
    raised.map_or(Ok(done), Err)
}

impl Recording {
    /// Returns the full name of a channel that the recording has.
    fn channel(&self, name: &str) -> PyResult<&str> {
        let known = self.scan.channels.keys().find(|known| *known == name || known.strip_prefix('/') == Some(name));
        known.map(String::as_str).ok_or_else(|| {
            let names: Vec<_> = self.scan.channels.keys().map(String::as_str).collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            PyKeyError::new_err(format!("no channel {name:?} in {}; it has {names}", self.path.display()))
        })
    }

    fn table(&self, py: Python<'_>, channel: &str, fields: Option<Vec<String>>) -> PyResult<Table> {
        let topic = self.channel(channel)?;
        let is_bytes = topic.starts_with("/raw/") || topic.starts_with("/engine/");
        let mut table = Table::new(fields.unwrap_or_default());
        let mut read = 0_u64;
        let mut refusal = None;
        let ended = uninterrupted(py, |go_on| {
            let take = |found: &str, nanos: u64, data: &[u8]| {
                read += 1;
                if read.is_multiple_of(1024) {
                    go_on()?;
                }
                if found != topic {
                    return Ok(());
                }
                let time = seconds(nanos);
                let put = if is_bytes { table.bytes(time, data) } else { table.object(time, data) };
                put.map_err(|error| {
                    refusal = Some(error);
                    Failure::Interrupted(String::new())
                })
            };
            let ended = each_message_and_fact(&self.path, take, |_, _| {});
            if let (Ok(()), Err(error)) = (&ended, table.end()) {
                refusal = Some(error);
            }
            ended
        })?;
        let path = self.path.display();
        let refused = |refusal: &Refusal| {
            let text = match refusal {
                Refusal::TooLarge => format!(
                    "{path}: the table of {topic} would have more than {} GiB: name the fields that you need",
                    LARGEST_TABLE >> 30
                ),
                Refusal::NoObject(error) => format!("{path}: a message of {topic}: expected a JSON object: {error}"),
            };
            recording_error(py, &text, None)
        };
        if let Some(refusal) = refusal {
            return Err(refused(&refusal));
        }
        if let Err(Unread { failure, at }) = ended {
            if self.scan.damage.is_none() || at.is_none() {
                return Err(recording_error(py, &failure.told(), at));
            }
            // The channel is complete up to the damage.
            table.end().map_err(|refusal| refused(&refusal))?;
        }
        if let Some(missing) = table.missing() {
            return Err(PyKeyError::new_err(format!("no field {missing:?} in {topic} of {path}")));
        }
        Ok(table)
    }

    fn frame<'py>(
        &self,
        py: Python<'py>,
        of: &str,
        channel: &str,
        fields: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = py.import(of).map_err(|error| {
            if !error.is_instance_of::<PyModuleNotFoundError>(py) {
                return error;
            }
            let told =
                PyImportError::new_err(format!("this frame needs {of}, which cannot be imported: pip install {of}"));
            told.set_cause(py, Some(error));
            told
        })?;
        let columns = self.table(py, channel, fields)?.flat(py)?;
        module.getattr("DataFrame")?.call1((columns,))
    }
}

#[pymethods]
impl Recording {
    /// The path of the file.
    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// The channels: the number of messages of each by its name, e.g. "/joint_states". Empty in the recording of a fault.
    #[getter]
    fn channels(&self) -> BTreeMap<String, u64> {
        self.scan.channels.clone()
    }

    /// Facts about the recording: "robot", "begun", "ended", "messages", "bytes_before_compression" and "entries_lost",
    /// as far as the file has them.
    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        self.scan.facts.clone()
    }

    /// The number of entries that are missing because the disk was too slow.
    #[getter]
    fn entries_lost(&self) -> u64 {
        self.scan.lost
    }

    /// The events in the order of their times. The first 65536 of them, with 16 MB of text, are kept.
    #[getter]
    fn events(&self) -> Vec<Event> {
        let severity = |level| match level {
            0..=2 => "info",
            3 => "warning",
            _ => "error",
        };
        let event = |entry: &scan::Entry| Event {
            time: entry.time,
            severity: severity(entry.level),
            name: entry.name.clone(),
            text: entry.text.clone(),
        };
        self.scan.events.iter().map(event).collect()
    }

    /// The number of events that were not kept.
    #[getter]
    fn events_left_out(&self) -> u64 {
        self.scan.events_left_out
    }

    /// The last fault that ended arming or commanding; None if there was none.
    #[getter]
    fn fault(&self) -> Option<RecordedStop> {
        self.scan.fault.as_ref().map(RecordedStop::from)
    }

    /// Returns why commanding ended last, also by a request ("Released"). None if it never did.
    fn why_stopped(&self) -> Option<RecordedStop> {
        self.scan.last_end.as_ref().map(RecordedStop::from)
    }

    /// The damage of a file that was opened with `partial`, as an exception with `position`; None without damage.
    #[getter]
    fn damage(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.scan.damage.as_ref().map(|damage| raised(py, damage).into_value(py).into_any())
    }

    /// Returns the messages of a channel as columns, each an array with a row for each message.
    ///
    /// `channel` is a name of `channels`, with or without its first "/". `fields` selects columns; a name selects also
    /// what is below it ("pose" selects "pose.position.x"). Lengths are in m, angles in rad, forces in N, moments in Nm
    /// and times in s, except where a name says otherwise. The columns are, besides `arrival_time` [s since 1970]:
    ///
    /// "joint_states": `position` [rad], `velocity` [rad/s], `current` [A], `target_position`, `target_velocity`; of a KRC
    /// `torque` and `external_torque` [Nm] in place of speeds and currents. Shape (n, 6), of a KRC (n, 7), base first.
    ///
    /// "tool": `pose` (x, y, z [m], rotation vector [rad]), `speed` [m/s, rad/s], `force` [N, Nm]: shape (n, 6).
    ///
    /// "modes": `robot_mode`, `safety_mode` and their names; "io": `inputs`, `outputs` of shape (n, 18); "link": figures
    /// of the link. "realtime", "rtde", "fri": every field, under the name and in the unit of its specification.
    /// "raw/PORT": `data`, bytes.
    ///
    /// Numbers are bool, int64 or float64. A column with gaps is float64 with NaN there, and so are infinite numbers.
    /// Texts are of dtype object, with None in gaps; lists that are not of numbers are texts in JSON.
    /// A table of more than 4 GiB raises RecordingError; a name that is not there KeyError.
    #[pyo3(signature = (channel, fields = None))]
    fn columns<'py>(
        &self,
        py: Python<'py>,
        channel: &str,
        fields: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.table(py, channel, fields)?.arrays(py)
    }

    /// Returns the columns of a channel as a pandas.DataFrame. A vector has a column for each number, `position_0` and on.
    /// ImportError without pandas.
    #[pyo3(signature = (channel, fields = None))]
    fn pandas<'py>(&self, py: Python<'py>, channel: &str, fields: Option<Vec<String>>) -> PyResult<Bound<'py, PyAny>> {
        self.frame(py, "pandas", channel, fields)
    }

    /// Returns the columns of a channel as a polars.DataFrame. A vector has a column for each number, `position_0` and on.
    /// ImportError without polars.
    #[pyo3(signature = (channel, fields = None))]
    fn polars<'py>(&self, py: Python<'py>, channel: &str, fields: Option<Vec<String>>) -> PyResult<Bound<'py, PyAny>> {
        self.frame(py, "polars", channel, fields)
    }

    /// Runs the engine again over the recorded inputs, as `outrigger replay` does. The same inputs must give the same
    /// transitions and commands. Of a damaged file, the part before the damage is replayed. RecordingError if the
    /// recording has gaps, or is not of a run.
    fn replay(&self, py: Python<'_>) -> PyResult<Replay> {
        let (results, ended) = uninterrupted(py, |go_on| replayed(&self.path, again, go_on))?;
        match replay::difference(ended) {
            Ok(difference) => Ok(Replay::new(results, difference)),
            Err(_) if self.scan.damage.is_some() && results.total.inputs > 0 => Ok(Replay::new(results, None)),
            Err(failure) => {
                let text = failure.at(&self.path).told();
                Err(recording_error(py, &text, None))
            }
        }
    }

    fn __repr__(&self) -> String {
        let kind =
            if self.scan.is_dump { ", of a fault".into() } else { format!(", {} channels", self.scan.channels.len()) };
        let damaged = if self.scan.damage.is_some() { ", damaged" } else { "" };
        format!("Recording({:?}{kind}{damaged})", self.path.display().to_string())
    }
}

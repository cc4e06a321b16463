//! A control law with sensors, run by the control loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use outrigger::Failure;
use outrigger::config::{Configuration, KrcConfiguration, SourceInput, SourceSettings};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyTuple};

use crate::commanding::Course;
use crate::connection::{LOOK, Turn, rejected};
use crate::error::of_failure;
use crate::robot::Arm;
use crate::session::{Recordings, Session};
use crate::vendor::{Of, each};

/// The deepest nesting of tables and lists.
const DEEPEST: usize = 8;
/// The highest number of items of a list.
const LONGEST: usize = 10_000;
/// The tables of a configuration that are not of its control loop, or are arguments of their own.
const OTHERS: [&str; 9] = ["robot", "law", "source", "run", "host", "serve", "ros", "variable", "device"];

/// Converts a dictionary, a list or a value of Python to TOML. The error names the key.
fn toml(key: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<toml::Value> {
    if depth > DEEPEST {
        return Err(PyValueError::new_err(format!("{key}: nested too deeply")));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let members = table.iter().map(|(name, value)| {
            let name = name.extract::<String>()?;
            let member = toml(&format!("{key}.{name}"), &value, depth + 1)?;
            Ok((name, member))
        });
        return Ok(toml::Value::Table(members.collect::<PyResult<_>>()?));
    }
    // Also that of NumPy.
    if let Ok(truth) = value.extract::<bool>() {
        return Ok(toml::Value::Boolean(truth));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(toml::Value::String(text));
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(toml::Value::Integer(number));
    }
    if let (Ok(number), false) = (value.extract::<f64>(), value.is_instance_of::<PyInt>()) {
        return Ok(toml::Value::Float(number));
    }
    let length = value.len().ok().filter(|length| *length <= LONGEST);
    let list = length.and_then(|_| value.try_iter().ok()).ok_or_else(|| {
        let expected = format!("a table, a text, a number, a bool or a list of at most {LONGEST} of them");
        PyTypeError::new_err(format!("{key}: expected {expected}, found {value}"))
    })?;
    let items = list.take(LONGEST).enumerate().map(|(at, item)| toml(&format!("{key}[{at}]"), &item?, depth + 1));
    Ok(toml::Value::Array(items.collect::<PyResult<_>>()?))
}

/// Returns the text of a configuration with these tables.
pub(crate) fn configuration(
    robot: toml::Table,
    law: &Bound<'_, PyDict>,
    sensors: Option<&Bound<'_, PyAny>>,
    tables: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut document = toml::Table::new();
    document.insert("robot".into(), robot.into());
    document.insert("law".into(), toml("law", law, 0)?);
    if let Some(sensors) = sensors {
        let list = if sensors.is_instance_of::<PyDict>() {
            PyList::new(sensors.py(), [sensors])?
        } else {
            sensors.extract()?
        };
        document.insert("source".into(), toml("sensor", &list, 0)?);
    }
    for (name, table) in tables.iter() {
        let name = name.extract::<String>()?;
        if OTHERS.contains(&name.as_str()) {
            let text = format!("{name}: expected a table of the control loop, e.g. limits, session or outputs");
            return Err(PyValueError::new_err(text));
        }
        let table = toml(&name, &table, 0)?;
        document.insert(name, table);
    }
    Ok(document.to_string())
}

/// Returns the text of a configuration with these limits, and a law that holds the arm at rest.
pub(crate) fn limiting(robot: toml::Table, limits: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
    let mut document = toml::Table::new();
    document.insert("robot".into(), robot.into());
    let waypoint = |at: f64| toml::Table::from_iter([("at".to_owned(), at.into()), ("degrees".to_owned(), 0.into())]);
    let waypoints = vec![waypoint(0.0), waypoint(1.0)];
    let law = [("kind", "joint-servo".into()), ("relative", true.into()), ("waypoint", waypoints.into())];
    document.insert("law".into(), toml::Table::from_iter(law.map(|(key, value)| (key.to_owned(), value))).into());
    if let Some(limits) = limits {
        document.insert("limits".into(), toml("limits", limits, 0)?);
    }
    Ok(document.to_string())
}

pub(crate) fn faulty(problems: &[impl ToString]) -> Failure {
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    Failure::BadInput(lines.join("\n"))
}

/// A control law that the control loop runs with its sensors, until the end of its `with` block.
#[pyclass(frozen, module = "outrigger_robot")]
pub(crate) struct Run {
    arm: Arm,
    /// The name of the first sensor.
    source: Option<String>,
    /// The stops of the connection when the run began.
    stops: u32,
    /// The course of the request for commanding; `None` as soon as the arm was commanded. Without a sensor that Python
    /// reads, that is from the start.
    course: Mutex<Option<Course>>,
    closed: AtomicBool,
}

/// Returns the name of the first sensor, and whether Python reads a sensor.
fn sensors(sources: &[SourceSettings]) -> (Option<String>, bool) {
    let first = sources.first().map(|source| source.name.clone());
    (first, sources.iter().any(|source| source.input == SourceInput::Requests))
}

impl Run {
    /// Replaces the session of the connection by one with this configuration, and commands the arm.
    pub(crate) fn begin(py: Python<'_>, arm: &Arm, text: &str, recordings: Recordings) -> PyResult<Self> {
        let (stops, (source, is_read_here)) = match arm {
            Of::Ur(connection) => {
                let parsed = Configuration::parse(text).map_err(|problems| of_failure(&faulty(&problems)))?;
                let sensors = sensors(&parsed.control.sources);
                let begin = |turn: &Turn<'_, 6>| if sensors.1 { Ok(()) } else { connection.command(py, turn) };
                (connection.begin_run(py, || Session::ur_configured(parsed, &recordings), begin)?, sensors)
            }
            Of::Krc(connection) => {
                let parsed = KrcConfiguration::parse(text).map_err(|problems| of_failure(&faulty(&problems)))?;
                let sensors = sensors(&parsed.sources);
                let begin = |turn: &Turn<'_, 7>| if sensors.1 { Ok(()) } else { connection.command(py, turn) };
                (connection.begin_run(py, || Session::krc_configured(parsed, &recordings), begin)?, sensors)
            }
        };
        let course = Mutex::new(is_read_here.then(Course::begin));
        Ok(Self { arm: arm.clone(), source, stops, course, closed: AtomicBool::new(false) })
    }

    /// Requests commanding, if the arm was not commanded yet and `commands`.
    fn progress(&self, py: Python<'_>, commands: bool) -> PyResult<()> {
        let Some(mut course) = self.course.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
        let commanded = each!(&self.arm, arm => {
            if commands { arm.attempt(py, &mut course) } else { course.check(py).map(|()| false) }
        })?;
        // A stop that came during the request ends what it began.
        self.check_stops(py).inspect_err(|_| self.abandon())?;
        if !commanded {
            *self.course.lock().unwrap_or_else(PoisonError::into_inner) = Some(course);
        }
        Ok(())
    }

    fn check_stops(&self, py: Python<'_>) -> PyResult<()> {
        each!(&self.arm, arm => arm.check_stops(py, self.stops))
    }

    fn is_commanded(&self) -> bool {
        self.course.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Releases the arm.
    fn abandon(&self) {
        let _ = each!(&self.arm, arm => arm.release());
    }

    /// Returns an error with the reason if the arm is no longer commanded.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.check_stops(py)?;
        each!(&self.arm, arm => {
            if !self.is_commanded() || arm.with(Session::commands)? {
                return Ok(());
            }
            Err(arm.ended(py, "the law no longer commands the arm", &arm.with(Session::status)?))
        })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.closed.swap(true, Ordering::SeqCst) {
            each!(&self.arm, arm => arm.abandon_run());
        }
    }
}

#[pymethods]
impl Run {
    /// Passes a reading, one to six numbers in the unit of the sensor, to the control loop. `sensor` is its name; the
    /// default is the first one. Its `input` has to be "requests". The first readings start the motion. Raises Stopped if
    /// the arm is no longer commanded, and Rejected if it is not within 10 s.
    #[pyo3(signature = (*values, sensor = None))]
    fn sample(&self, py: Python<'_>, values: Vec<f64>, sensor: Option<&str>) -> PyResult<()> {
        self.check(py)?;
        let name = sensor.or(self.source.as_deref());
        let name = name.ok_or_else(|| PyValueError::new_err("sensor: the law was started without one"))?;
        let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        let passed = each!(&self.arm, arm => arm.with(|session| session.sample(name, &values)))?;
        passed.map_err(|text| rejected(py, &text, None))?;
        self.progress(py, true)
    }

    /// Waits for `seconds`, or without a number until commanding ends. Raises Stopped when it ends, by a fault or a stop.
    #[pyo3(signature = (seconds = None))]
    fn wait(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<()> {
        let bad = |seconds| PyValueError::new_err(format!("seconds: expected 0 or more, found {seconds}"));
        let time = seconds.map(|seconds| Duration::try_from_secs_f64(seconds).map_err(|_| bad(seconds))).transpose()?;
        let begun = Instant::now();
        while time.is_none_or(|time| begun.elapsed() < time) {
            self.check(py)?;
            self.progress(py, false)?;
            py.detach(|| std::thread::sleep(LOOK));
            py.check_signals()?;
        }
        Ok(())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Stops the arm and waits until it is at rest. The next motion commands it again.
    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        each!(&self.arm, arm => arm.end_run(py))
    }
}

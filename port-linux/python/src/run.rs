//! A control law with sensors, run by the control loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use outrigger::Failure;
use outrigger::config::{Configuration, KrcConfiguration, SourceInput, SourceSettings};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

use crate::connection::{LOOK, rejected, stopped};
use crate::error::of_failure;
use crate::robot::Arm;
use crate::session::{Recordings, Session};
use crate::vendor::{Of, each};

/// The deepest nesting of tables and lists.
const DEEPEST: usize = 8;

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
    if value.is_instance_of::<PyBool>() {
        return Ok(toml::Value::Boolean(value.extract()?));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(toml::Value::String(text));
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(toml::Value::Integer(number));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(toml::Value::Float(number));
    }
    let list = value.try_iter().map_err(|_| {
        PyTypeError::new_err(format!("{key}: expected a table, a list, a text, a number or a bool, found {value}"))
    })?;
    let items = list.enumerate().map(|(at, item)| toml(&format!("{key}[{at}]"), &item?, depth + 1));
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
        if document.contains_key(&name) {
            return Err(PyValueError::new_err(format!("{name}: expected one of limits, session, link, outputs")));
        }
        let table = toml(&name, &table, 0)?;
        document.insert(name, table);
    }
    Ok(document.to_string())
}

fn faulty(problems: &[impl ToString]) -> Failure {
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
    begun: Instant,
    /// True as soon as the arm was commanded. Without a sensor that Python reads, that is from the start.
    commanded: AtomicBool,
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
        let (source, is_read_here) = match arm {
            Of::Ur(connection) => {
                let parsed = Configuration::parse(text).map_err(|problems| of_failure(&faulty(&problems)))?;
                let sensors = sensors(&parsed.control.sources);
                connection.begin_run(py, !sensors.1, || Session::ur_configured(parsed, &recordings))?;
                sensors
            }
            Of::Krc(connection) => {
                let parsed = KrcConfiguration::parse(text).map_err(|problems| of_failure(&faulty(&problems)))?;
                let sensors = sensors(&parsed.sources);
                connection.begin_run(py, !sensors.1, || Session::krc_configured(parsed, &recordings))?;
                sensors
            }
        };
        let stops = each!(arm, connection => connection.stops());
        let (commanded, closed) = (AtomicBool::new(!is_read_here), AtomicBool::new(false));
        Ok(Self { arm: arm.clone(), source, stops, begun: Instant::now(), commanded, closed })
    }

    /// Returns an error with the reason if the arm is no longer commanded.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        each!(&self.arm, arm => {
            if arm.stops() != self.stops {
                return Err(stopped(py, "another call stopped the arm", None));
            }
            if arm.with(Session::commands)? {
                return Ok(());
            }
            if !self.commanded.load(Ordering::SeqCst) {
                return arm.awaits_law(py, self.begun);
            }
            Err(arm.ended(py, "the law no longer commands the arm", &arm.with(Session::status)?))
        })
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
        if !self.commanded.load(Ordering::SeqCst) && each!(&self.arm, arm => arm.command_law(py, self.begun))? {
            self.commanded.store(true, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Waits for `seconds`, or without a number until the arm is no longer commanded. Raises Stopped if commanding ends
    /// earlier by a fault or a stop.
    #[pyo3(signature = (seconds = None))]
    fn wait(&self, py: Python<'_>, seconds: Option<f64>) -> PyResult<()> {
        let bad = |seconds| PyValueError::new_err(format!("seconds: expected 0 or more, found {seconds}"));
        let time = seconds.map(|seconds| Duration::try_from_secs_f64(seconds).map_err(|_| bad(seconds))).transpose()?;
        let begun = Instant::now();
        while time.is_none_or(|time| begun.elapsed() < time) {
            self.check(py)?;
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

//! The messages of one channel as a table with typed columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::column::{Cell, Column, Data, cell};

/// The largest size of a table \[B\].
pub(super) const LARGEST_TABLE: u64 = 4 << 30;
/// The name of the first column: the time at which a message arrived, since 1970 \[s\].
const ARRIVAL: &str = "arrival_time";
/// The name of the only column of a channel that is not decoded.
const DATA: &str = "data";

/// An error of a table that is built.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The table would be larger than [`LARGEST_TABLE`].
    TooLarge,
    /// A message is not a JSON object.
    NoObject(String),
}

/// A table that is built, with a row for each message.
pub(super) struct Table {
    times: Vec<f64>,
    names: HashMap<String, usize>,
    columns: Vec<(String, Column)>,
    /// The names of fields to take, with what is below them. Empty for all.
    wanted: Vec<String>,
    size: u64,
}

impl Table {
    pub(super) fn new(wanted: Vec<String>) -> Self {
        Self { times: vec![], names: HashMap::new(), columns: vec![], wanted, size: 0 }
    }

    /// Adds a row of bytes that are not decoded.
    pub(super) fn bytes(&mut self, time: f64, data: &[u8]) -> Result<(), Refusal> {
        self.charge(data.len().saturating_add(32))?;
        self.times.push(time);
        if !self.wants(DATA) {
            return Ok(());
        }
        if self.columns.is_empty() {
            self.names.insert(DATA.into(), 0);
            self.columns.push((DATA.into(), Column::of_bytes()));
        }
        if let Some((_, column)) = self.columns.first_mut() {
            column.push(Cell::Bytes(data.to_vec()));
        }
        Ok(())
    }

    /// Adds a row with the fields of a JSON object.
    pub(super) fn object(&mut self, time: f64, data: &[u8]) -> Result<(), Refusal> {
        self.charge(8)?;
        self.times.push(time);
        let mut refusal = None;
        let mut reader = serde_json::Deserializer::from_slice(data);
        let read = reader.deserialize_map(Row { table: self, refusal: &mut refusal }).and_then(|()| reader.end());
        match (refusal, read) {
            (Some(refusal), _) => Err(refusal),
            (None, read) => read.map_err(|error| Refusal::NoObject(error.to_string())),
        }
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.size = self.size.saturating_add(bytes as u64);
        if self.size > LARGEST_TABLE { Err(Refusal::TooLarge) } else { Ok(()) }
    }

    /// Returns whether a field, something in it or something around it is wanted.
    fn wants(&self, name: &str) -> bool {
        let is_below = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.'));
        let touches = |wanted: &String| wanted == name || is_below(name, wanted) || is_below(wanted, name);
        self.wanted.is_empty() || self.wanted.iter().any(touches)
    }

    /// Returns the first wanted field that the channel does not have.
    pub(super) fn missing(&self) -> Option<&str> {
        let has = |wanted: &str| {
            let in_it = |name: &str| name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'));
            wanted == ARRIVAL || self.names.keys().any(|name| name == wanted || in_it(name))
        };
        self.wanted.iter().map(String::as_str).find(|wanted| !has(wanted))
    }

    fn put(&mut self, name: &str, value: Value) -> Result<(), Refusal> {
        if !self.wants(name) {
            return Ok(());
        }
        match value {
            Value::Object(members) => {
                for (member, value) in members {
                    self.put(&format!("{name}.{member}"), value)?;
                }
                Ok(())
            }
            value => self.cell(name, cell(value)),
        }
    }

    fn cell(&mut self, name: &str, cell: Cell) -> Result<(), Refusal> {
        let row = self.times.len() - 1;
        let index = match self.names.get(name) {
            Some(index) => *index,
            None => {
                self.charge(name.len().saturating_add(128))?;
                self.names.insert(name.to_owned(), self.columns.len());
                self.columns.push((name.to_owned(), Column::default()));
                self.columns.len() - 1
            }
        };
        let Some((_, column)) = self.columns.get_mut(index) else { return Ok(()) };
        // A second value of the same name in one message.
        if column.rows > row {
            return Ok(());
        }
        let bytes = column.cost(row, &cell);
        self.charge(bytes)?;
        if let Some((_, column)) = self.columns.get_mut(index) {
            column.fill(row);
            column.push(cell);
        }
        Ok(())
    }

    /// Fills the gaps after the last values. The table is complete afterwards.
    pub(super) fn end(&mut self) -> Result<(), Refusal> {
        let rows = self.times.len();
        let bytes = self.columns.iter().map(|(_, column)| column.cost(rows, &Cell::Nothing)).sum();
        self.charge(bytes)?;
        self.columns.iter_mut().for_each(|(_, column)| column.fill(rows));
        Ok(())
    }

    /// Returns the columns as arrays: `arrival_time` first, then those of the fields.
    pub(super) fn arrays(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item(ARRIVAL, PyArray1::from_vec(py, self.times))?;
        for (name, Column { data, width, rows, .. }) in self.columns {
            let array = match data {
                Data::Bools(values) => array(py, values, width, rows)?,
                Data::Integers(values) => array(py, values, width, rows)?,
                Data::Floats(values) => array(py, values, width, rows)?,
                Data::Texts(values) => objects(py, &values)?.into_any(),
                Data::Bytes(values) => PyArray1::from_vec(py, bytes_of(py, values)).into_any(),
            };
            columns.set_item(name, array)?;
        }
        Ok(columns)
    }

    /// Returns the columns for a frame: a vector has a column for each number, `name_0` and on, and texts are lists.
    pub(super) fn flat(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let columns = PyDict::new(py);
        columns.set_item(ARRIVAL, PyArray1::from_vec(py, self.times))?;
        for (name, Column { data, width, .. }) in self.columns {
            match data {
                Data::Bools(values) => split(&columns, &name, values, width)?,
                Data::Integers(values) => split(&columns, &name, values, width)?,
                Data::Floats(values) => split(&columns, &name, values, width)?,
                Data::Texts(values) => columns.set_item(name, PyList::new(py, values)?)?,
                Data::Bytes(values) => columns.set_item(name, PyList::new(py, bytes_of(py, values))?)?,
            }
        }
        Ok(columns)
    }
}

fn bytes_of(py: Python<'_>, values: Vec<Option<Vec<u8>>>) -> Vec<Py<PyAny>> {
    values.into_iter().map(|value| value.map_or_else(|| py.None(), |value| PyBytes::new(py, &value).into())).collect()
}

fn objects<'py>(py: Python<'py>, values: &[Option<String>]) -> PyResult<Bound<'py, PyArray1<Py<PyAny>>>> {
    let values: PyResult<Vec<_>> = values.iter().map(|value| Ok(value.into_pyobject(py)?.unbind())).collect();
    Ok(PyArray1::from_vec(py, values?))
}

fn array<T: Element>(py: Python<'_>, values: Vec<T>, width: Option<usize>, rows: usize) -> PyResult<Bound<'_, PyAny>> {
    let array = PyArray1::from_vec(py, values);
    Ok(match width {
        Some(width) => array.reshape([rows, width])?.into_any(),
        None => array.into_any(),
    })
}

fn split<T: Element + Copy>(
    columns: &Bound<'_, PyDict>,
    name: &str,
    values: Vec<T>,
    width: Option<usize>,
) -> PyResult<()> {
    let py = columns.py();
    let Some(width) = width else { return columns.set_item(name, PyArray1::from_vec(py, values)) };
    for number in 0..width {
        let each = values.iter().copied().skip(number).step_by(width).collect();
        columns.set_item(format!("{name}_{number}"), PyArray1::from_vec(py, each))?;
    }
    Ok(())
}

/// A visitor of the members of a message, in their order.
struct Row<'t> {
    table: &'t mut Table,
    refusal: &'t mut Option<Refusal>,
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            if self.refusal.is_some() || !self.table.wants(&name) {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            if let Err(refusal) = self.table.put(&name, members.next_value()?) {
                *self.refusal = Some(refusal);
            }
        }
        Ok(())
    }
}

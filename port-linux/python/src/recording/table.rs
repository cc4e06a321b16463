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

/// The largest size of a table \[B\].
pub(super) const LARGEST_TABLE: usize = 4 << 30;
/// The name of the first column: the time at which a message arrived, since 1970 \[s\].
const ARRIVAL: &str = "arrival_time";

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
    size: usize,
}

/// One column. Rows that were not put yet, or have no value, are gaps.
struct Column {
    data: Data,
    /// The number of values in each row. `None` for a column of single values.
    width: Option<usize>,
    rows: usize,
    /// True while no row has a value, so that type and width are open.
    is_open: bool,
}

enum Data {
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

/// The kind of a number, the most general last.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Kind {
    Bool,
    Integer,
    Float,
}

/// A value, or several, for one row.
enum Cell {
    Numbers(Kind, Vec<f64>, Vec<i64>, bool),
    Text(String),
    Nothing,
}

impl Table {
    pub(super) fn new(wanted: Vec<String>) -> Self {
        Self { times: vec![], names: HashMap::new(), columns: vec![], wanted, size: 0 }
    }

    /// Adds a row of bytes that are not decoded.
    pub(super) fn bytes(&mut self, time: f64, data: &[u8]) -> Result<(), Refusal> {
        self.charge(data.len().saturating_add(32))?;
        self.times.push(time);
        if self.columns.is_empty() {
            let column = Column { data: Data::Bytes(vec![]), width: None, rows: 0, is_open: false };
            self.columns.push(("data".into(), column));
        }
        if let Some((_, Column { data: Data::Bytes(rows), rows: count, .. })) = self.columns.first_mut() {
            rows.push(Some(data.to_vec()));
            *count += 1;
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
        self.size = self.size.saturating_add(bytes);
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
                let column = Column { data: Data::Bools(vec![]), width: None, rows: 0, is_open: true };
                self.columns.push((name.to_owned(), column));
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

/// Returns a value that is not an object as the content of a cell. A list that is not of numbers is text, as JSON.
fn cell(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Nothing,
        Value::String(text) => Cell::Text(text),
        Value::Array(items) => {
            let numbers: Option<Vec<_>> = items.iter().map(number).collect();
            match numbers {
                Some(numbers) => of_numbers(&numbers, true),
                None => Cell::Text(Value::Array(items).to_string()),
            }
        }
        value => number(&value).map_or(Cell::Nothing, |value| of_numbers(&[value], false)),
    }
}

fn of_numbers(numbers: &[(Kind, f64, i64)], is_vector: bool) -> Cell {
    let kind = numbers.iter().fold(Kind::Bool, |most, (kind, ..)| if *kind > most { *kind } else { most });
    let floats = numbers.iter().map(|(_, float, _)| *float).collect();
    Cell::Numbers(kind, floats, numbers.iter().map(|(.., integer)| *integer).collect(), is_vector)
}

/// Returns kind and value of a number; `null` stands for one that JSON has no form for.
fn number(value: &Value) -> Option<(Kind, f64, i64)> {
    match value {
        Value::Null => Some((Kind::Float, f64::NAN, 0)),
        Value::Bool(value) => Some((Kind::Bool, f64::from(u8::from(*value)), (*value).into())),
        Value::Number(value) => Some(match value.as_i64() {
            Some(integer) => (Kind::Integer, integer as f64, integer),
            None => (Kind::Float, value.as_f64().unwrap_or(f64::NAN), 0),
        }),
        _ => None,
    }
}

impl Column {
    /// Returns an upper bound of the memory that a cell in this row needs \[B\].
    fn cost(&self, row: usize, cell: &Cell) -> usize {
        let gaps = row.saturating_sub(self.rows);
        let width = self.width.unwrap_or(1);
        match cell {
            Cell::Text(text) => gaps.saturating_add(1).saturating_mul(24).saturating_add(text.len()),
            Cell::Nothing => gaps.saturating_add(1).saturating_mul(width.max(3)).saturating_mul(8),
            Cell::Numbers(_, floats, ..) => {
                let (new, rows) = (width.max(floats.len()), row.saturating_add(1));
                let added = rows.saturating_mul(new).saturating_sub(self.rows.saturating_mul(width));
                added.saturating_mul(8)
            }
        }
    }

    /// Adds gaps up to this row.
    fn fill(&mut self, row: usize) {
        while self.rows < row {
            self.push(Cell::Nothing);
        }
    }

    fn push(&mut self, cell: Cell) {
        match cell {
            Cell::Nothing => {
                if matches!(self.data, Data::Bools(_) | Data::Integers(_)) {
                    self.generalise(Kind::Float);
                }
                match &mut self.data {
                    Data::Floats(values) => values.extend(std::iter::repeat_n(f64::NAN, self.width.unwrap_or(1))),
                    Data::Texts(values) => values.push(None),
                    Data::Bytes(values) => values.push(None),
                    Data::Bools(_) | Data::Integers(_) => {}
                }
            }
            Cell::Text(text) => {
                self.is_open = false;
                self.make_texts();
                if let Data::Texts(values) = &mut self.data {
                    values.push(Some(text));
                }
            }
            Cell::Numbers(kind, floats, integers, is_vector) => {
                if self.is_open {
                    self.is_open = false;
                    self.width = is_vector.then_some(integers.len());
                    let gaps = vec![f64::NAN; self.rows * self.width.unwrap_or(1)];
                    self.data = if self.rows == 0 { Data::Bools(vec![]) } else { Data::Floats(gaps) };
                }
                if is_vector != self.width.is_some() {
                    self.make_texts();
                }
                self.numbers(kind, floats, &integers);
            }
        }
        self.rows += 1;
    }

    fn numbers(&mut self, kind: Kind, mut floats: Vec<f64>, integers: &[i64]) {
        if let Data::Texts(values) = &mut self.data {
            values.push(Some(as_text(&floats)));
            return;
        }
        let width = self.width.unwrap_or(1);
        if floats.len() > width {
            self.widen(floats.len());
        } else if floats.len() < width {
            self.generalise(Kind::Float);
            floats.resize(width, f64::NAN);
        }
        self.generalise(kind);
        match &mut self.data {
            Data::Bools(values) => values.extend(integers.iter().map(|value| *value != 0)),
            Data::Integers(values) => values.extend(integers),
            Data::Floats(values) => values.extend(floats),
            Data::Texts(_) | Data::Bytes(_) => {}
        }
    }

    /// Makes all rows of the column as long as `to`.
    fn widen(&mut self, to: usize) {
        let from = self.width.unwrap_or(1);
        self.width = Some(to);
        if self.rows == 0 {
            return;
        }
        self.generalise(Kind::Float);
        if let Data::Floats(values) = &mut self.data {
            let mut wider = Vec::with_capacity(self.rows * to);
            for row in 0..self.rows {
                wider.extend((0..to).map(|n| {
                    let value = if n < from { values.get(row * from + n) } else { None };
                    value.copied().unwrap_or(f64::NAN)
                }));
            }
            *values = wider;
        }
    }

    /// Converts the column, if necessary, so that it can hold numbers of this kind.
    fn generalise(&mut self, kind: Kind) {
        match (&mut self.data, kind) {
            (Data::Bools(values), Kind::Integer) => {
                self.data = Data::Integers(values.iter().map(|value| i64::from(*value)).collect());
            }
            (Data::Bools(values), Kind::Float) => {
                self.data = Data::Floats(values.iter().map(|value| f64::from(u8::from(*value))).collect());
            }
            (Data::Integers(values), Kind::Float) => {
                self.data = Data::Floats(values.iter().map(|value| *value as f64).collect());
            }
            _ => {}
        }
    }

    /// Converts the column to texts.
    fn make_texts(&mut self) {
        if matches!(self.data, Data::Texts(_) | Data::Bytes(_)) {
            return;
        }
        self.generalise(Kind::Float);
        let Data::Floats(values) = &self.data else { return };
        let texts = match self.width {
            None => values.iter().map(|value| (!value.is_nan()).then(|| value.to_string())).collect(),
            Some(0) => vec![Some(as_text(&[])); self.rows],
            Some(width) => values.chunks(width).map(|row| Some(as_text(row))).collect(),
        };
        (self.data, self.width) = (Data::Texts(texts), None);
    }
}

fn as_text(numbers: &[f64]) -> String {
    let numbers: Vec<_> = numbers.iter().map(f64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

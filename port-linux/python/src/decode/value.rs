//! The fields of a message, first as values of Rust, then as objects of Python.

use numpy::PyArray1;
use outrigger::json::latin1;
use outrigger::wire::fields::{FieldVisitor, Group, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A field of a message, or a group of fields.
pub(super) enum Node {
    Nothing,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Record(Vec<(String, Self)>),
    List(Vec<Self>),
}

impl Node {
    fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(match self {
            Self::Nothing => py.None().into_bound(py),
            Self::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
            Self::Unsigned(value) => value.into_pyobject(py)?.into_any(),
            Self::Signed(value) => value.into_pyobject(py)?.into_any(),
            Self::Float(value) => value.into_pyobject(py)?.into_any(),
            Self::Text(text) => text.into_pyobject(py)?.into_any(),
            Self::Bytes(values) => PyArray1::from_vec(py, values).into_any(),
            Self::Integers(values) => PyArray1::from_vec(py, values).into_any(),
            Self::Floats(values) => PyArray1::from_vec(py, values).into_any(),
            Self::Record(fields) => dict(py, fields)?.into_any(),
            Self::List(items) => {
                let items: PyResult<Vec<_>> = items.into_iter().map(|item| item.into_object(py)).collect();
                PyList::new(py, items?)?.into_any()
            }
        })
    }
}

/// Converts fields with names to a dict.
pub(super) fn dict(py: Python<'_>, fields: Vec<(String, Node)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, node) in fields {
        dict.set_item(name, node.into_object(py)?)?;
    }
    Ok(dict)
}

/// A visitor that stores the fields of one message.
pub(super) struct Collected {
    fields: Vec<(String, Node)>,
    /// The open groups, the innermost last.
    open: Vec<(String, Node)>,
}

impl Collected {
    /// Creates the storage for a message, with these fields before its own.
    pub(super) const fn after(fields: Vec<(String, Node)>) -> Self {
        Self { fields, open: vec![] }
    }

    /// Returns the fields, also of groups that the message left open.
    pub(super) fn fields(mut self) -> Vec<(String, Node)> {
        while !self.open.is_empty() {
            self.end();
        }
        self.fields
    }

    fn add(&mut self, name: String, node: Node) {
        match self.open.last_mut() {
            Some((_, Node::List(items))) => items.push(node),
            Some((_, Node::Record(fields))) => fields.push((name, node)),
            _ => self.fields.push((name, node)),
        }
    }
}

impl FieldVisitor for Collected {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let node = match value {
            Value::Bool(value) => Node::Bool(value),
            Value::Unsigned(value) | Value::Mask(value) => Node::Unsigned(value),
            Value::Signed(value) => Node::Signed(value),
            Value::F32(value) => Node::Float(value.into()),
            Value::F64(value) => Node::Float(value),
            Value::Bytes(values) => Node::Bytes(values.to_vec()),
            Value::U32s(values) => Node::Integers(values.iter().copied().map(i64::from).collect()),
            Value::I32s(values) => Node::Integers(values.iter().copied().map(i64::from).collect()),
            Value::F32s(values) => Node::Floats(values.iter().copied().map(f64::from).collect()),
            Value::F64s(values) => Node::Floats(values.to_vec()),
            Value::Text(bytes) => Node::Text(latin1(bytes)),
            _ => Node::Nothing,
        };
        self.add(name.to_owned(), node);
    }

    fn begin(&mut self, name: &str, group: Group) {
        let node = match group {
            Group::Record => Node::Record(vec![]),
            Group::List => Node::List(vec![]),
        };
        self.open.push((name.to_owned(), node));
    }

    fn end(&mut self) {
        if let Some((name, node)) = self.open.pop() {
            self.add(name, node);
        }
    }
}

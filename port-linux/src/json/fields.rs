//! Fields of any message, as JSON.

use outrigger_wire::fields::{FieldVisitor, Group, Value};

use crate::json::Json;

/// Prints fields as they come.
///
/// Strings of a controller are one byte per character ("extended ASCII"); a group knows how it was begun.
pub struct Fields<'j> {
    json: &'j mut Json,
    open: Vec<Group>,
}

impl<'j> Fields<'j> {
    /// Returns one that writes to `json`.
    pub const fn new(json: &'j mut Json) -> Self {
        Self { json, open: Vec::new() }
    }

    /// The name of the next value, where its group has names.
    fn name(&mut self, name: &str) {
        if self.open.last() != Some(&Group::List) {
            self.json.key(name);
        }
    }
}

impl FieldVisitor for Fields<'_> {
    fn field(&mut self, name: &str, value: Value<'_>) {
        self.name(name);
        match value {
            Value::Bool(value) => self.json.boolean(value),
            Value::Unsigned(value) | Value::Mask(value) => self.json.integer(value),
            Value::Signed(value) => self.json.integer(value),
            Value::F32(value) => self.json.single(value),
            Value::F64(value) => self.json.float(value),
            Value::Bytes(values) => self.json.array(values, |json, v| json.integer(v)),
            Value::U32s(values) => self.json.array(values, |json, v| json.integer(v)),
            Value::I32s(values) => self.json.array(values, |json, v| json.integer(v)),
            Value::F32s(values) => self.json.array(values, |json, v| json.single(v)),
            Value::F64s(values) => self.json.array(values, |json, v| json.float(v)),
            Value::Text(bytes) => self.json.latin1(bytes),
            _ => self.json.null(),
        };
    }

    fn begin(&mut self, name: &str, group: Group) {
        self.name(name);
        match group {
            Group::Record => self.json.begin_object(),
            Group::List => self.json.begin_array(),
        };
        self.open.push(group);
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Group::List) => self.json.end_array(),
            Some(Group::Record) | None => self.json.end_object(),
        };
    }
}

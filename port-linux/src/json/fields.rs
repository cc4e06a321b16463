//! Writes the fields of any message as a JSON object.

use outrigger_wire::fields::{FieldVisitor, Group, Value};
use serde::Serialize;

use super::{Number, append, latin1};

/// A JSON object under construction, to which fields are appended.
///
/// A message passes its fields one by one to a [`FieldVisitor`], several hundred times a second. So they are written
/// directly, without an intermediate tree. Values have the same form as in all other JSON output.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    text: Vec<u8>,
    /// The arrays and objects that are open at present, the innermost last.
    open: Vec<Group>,
    nulls: bool,
}

impl Fields {
    /// Creates an empty JSON object under construction in which numbers without a JSON form (NaN, infinity) are `null`,
    /// as schemas require.
    #[must_use]
    pub const fn with_nulls() -> Self {
        Self { text: Vec::new(), open: Vec::new(), nulls: true }
    }

    /// Starts a new JSON object, and writes the fields that `show` passes.
    pub fn object<T>(&mut self, show: impl FnOnce(&mut Self) -> T) -> T {
        self.text.clear();
        self.open.clear();
        self.text.push(b'{');
        let shown = show(self);
        // A message that ends early may leave groups open.
        while !self.open.is_empty() {
            self.end();
        }
        self.text.push(b'}');
        shown
    }

    /// Writes a field of a JSON object with a value of any serializable type. [`FieldVisitor`] has the methods for
    /// values of messages.
    pub fn put(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        self.name(name);
        append(&mut self.text, value);
    }

    /// Returns the JSON text written so far.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Only text is ever appended.
        std::str::from_utf8(&self.text).unwrap_or_default()
    }

    /// Starts a value in the JSON text: writes a comma unless it is the first value, and `name` if the enclosing
    /// group is an object.
    fn name(&mut self, name: &str) {
        if !matches!(self.text.last(), None | Some(b'{' | b'[')) {
            self.text.push(b',');
        }
        if self.open.last() != Some(&Group::List) {
            append(&mut self.text, name);
            self.text.push(b':');
        }
    }

    /// Writes a JSON field with one or more numbers: as `numbers`, in which NaN and infinity become strings, or as
    /// `plain`, in which they become `null`, if this object was created by [`with_nulls`](Self::with_nulls).
    fn put_numbers(&mut self, name: &str, numbers: &impl Serialize, plain: &(impl Serialize + ?Sized)) {
        if self.nulls { self.put(name, plain) } else { self.put(name, numbers) }
    }
}

impl FieldVisitor for Fields {
    fn field(&mut self, name: &str, value: Value<'_>) {
        match value {
            Value::Bool(value) => self.put(name, &value),
            Value::Unsigned(value) | Value::Mask(value) => self.put(name, &value),
            Value::Signed(value) => self.put(name, &value),
            Value::F32(value) => self.put_numbers(name, &Number(value), &value),
            Value::F64(value) => self.put_numbers(name, &Number(value), &value),
            Value::Bytes(values) => self.put(name, values),
            Value::U32s(values) => self.put(name, values),
            Value::I32s(values) => self.put(name, values),
            Value::F32s(values) => self.put_numbers(name, &Number(values), values),
            Value::F64s(values) => self.put_numbers(name, &Number(values), values),
            Value::Text(bytes) => self.put(name, &latin1(bytes)),
            _ => self.put(name, &()),
        }
    }

    fn begin(&mut self, name: &str, group: Group) {
        self.name(name);
        self.text.push(if group == Group::List { b'[' } else { b'{' });
        self.open.push(group);
    }

    fn end(&mut self) {
        let group = self.open.pop();
        self.text.push(if group == Some(Group::List) { b']' } else { b'}' });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_each_type_are_written_under_their_names_and_items_of_a_list_without() {
        let show = |mut object: Fields| {
            object.object(|fields| {
                fields.field("bool", Value::Bool(true));
                fields.field("unsigned", Value::Unsigned(u64::MAX));
                fields.field("mask", Value::Mask(3));
                fields.field("signed", Value::Signed(i64::MIN));
                fields.field("single", Value::F32(0.1));
                fields.field("double", Value::F64(1e16));
                fields.field("none", Value::F64(f64::NAN));
                fields.field("bytes", Value::Bytes(&[0, 255]));
                fields.field("u32s", Value::U32s(&[]));
                fields.field("i32s", Value::I32s(&[-1, 2]));
                fields.field("f32s", Value::F32s(&[-0.0, f32::INFINITY]));
                fields.field("f64s", Value::F64s(&[1e-5, 1e-4, 123_456_789.5]));
                fields.field("text", Value::Text(b"a\"\\\n\x08\x1b\x7f\x9b\xe9"));
                fields.begin("list", Group::List);
                fields.begin("", Group::Record);
                fields.field("one", Value::Unsigned(1));
                fields.end();
                fields.begin("", Group::Record);
                fields.end();
                fields.field("", Value::Unsigned(2));
                fields.end();
                fields.begin("record", Group::Record);
                fields.begin("empty", Group::List);
                fields.end();
                fields.end();
                fields.field("last", Value::Bool(false));
            });
            object.as_str().to_owned()
        };
        let whole = |nan: &str, infinity: &str| {
            [
                r#"{"bool":true,"unsigned":18446744073709551615,"mask":3,"signed":-9223372036854775808,"single":0.1,"#,
                r#""double":1e16,"none":"#,
                nan,
                r#","bytes":[0,255],"u32s":[],"i32s":[-1,2],"f32s":[-0.0,"#,
                infinity,
                r#"],"f64s":[1e-5,0.0001,123456789.5],"text":"a\"\\\n\u0008\u001b\u007f\u009bé","#,
                r#""list":[{"one":1},{},2],"record":{"empty":[]},"last":false}"#,
            ]
            .concat()
        };
        assert_eq!(show(Fields::default()), whole(r#""NaN""#, r#""Infinity""#));
        assert_eq!(show(Fields::with_nulls()), whole("null", "null"));
    }

    #[test]
    fn groups_that_a_message_leaves_open_are_ended_with_it() {
        let mut object = Fields::default();
        object.object(|fields| {
            fields.begin("labels", Group::List);
            fields.begin("", Group::Record);
            fields.field("id", Value::Unsigned(1));
        });
        assert_eq!(object.as_str(), r#"{"labels":[{"id":1}]}"#);
        object.object(|fields| fields.field("last", Value::Bool(true)));
        assert_eq!(object.as_str(), r#"{"last":true}"#);
    }
}

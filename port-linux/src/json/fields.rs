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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_each_type_are_written_under_their_names_and_items_of_a_list_without() {
        let show = |mut json: Json| {
            json.begin_object();
            let mut fields = Fields::new(&mut json);
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
            json.end_object();
            json.as_str().to_owned()
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
        assert_eq!(show(Json::default()), whole(r#""NaN""#, r#""Infinity""#));
        assert_eq!(show(Json::with_nulls()), whole("null", "null"));
    }
}

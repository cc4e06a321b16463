//! Derives the JSON Schema of a message from the first message of its kind.

use outrigger_wire::fields::{FieldVisitor, Group, Value};
use outrigger_wire::rtde::registry::{Direction, Variable};
use serde::{Serialize, Serializer};

use crate::json;

/// Returns the JSON Schema, with this `title`, of the recorded message that `visit` passes.
///
/// It contains the fields of that message. Later messages may have additional fields, and may lack some.
pub(super) fn schema_of(title: &str, visit: &dyn Fn(&mut dyn FieldVisitor)) -> String {
    let mut shape = Shape { open: vec![(String::new(), Node::Record(None, vec![]))] };
    visit(&mut shape);
    while shape.open.len() > 1 {
        shape.end();
    }
    let root = shape.open.pop().map(|(_, root)| root);
    json::text(&Schema { dialect: "https://json-schema.org/draft/2020-12/schema", title, root })
}

/// A JSON Schema of one kind of message in a recording, under a title.
#[derive(Serialize)]
struct Schema<'s> {
    #[serde(rename = "$schema")]
    dialect: &'static str,
    title: &'s str,
    #[serde(flatten)]
    root: Option<Node>,
}

/// The description, for a JSON Schema, of a value in a recorded message, or of an array of values.
enum Node {
    /// A value of this JSON type in a message, with its unit if it is known.
    Value(&'static str, Option<&'static str>),
    /// An array of values of this JSON type in a message, with their unit if it is known.
    Array(&'static str, Option<&'static str>),
    /// A group of fields, with the title by which Foxglove recognizes a time or a duration.
    Record(Option<&'static str>, Vec<(String, Self)>),
    /// A list of groups of fields. The first item describes all of them.
    List(Option<Box<Self>>),
}

/// The JSON Schema keywords of a description: type, unit, items or members.
#[derive(Serialize)]
#[serde(untagged)]
enum Keywords<'n> {
    Value {
        #[serde(rename = "type")]
        word: &'static str,
        #[serde(rename = "description", skip_serializing_if = "Option::is_none")]
        unit: Option<&'static str>,
    },
    Array {
        #[serde(rename = "type")]
        word: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        items: Option<Box<Self>>,
        #[serde(rename = "description", skip_serializing_if = "Option::is_none")]
        unit: Option<&'static str>,
    },
    Record {
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'static str>,
        #[serde(rename = "type")]
        word: &'static str,
        #[serde(serialize_with = "json::members")]
        properties: &'n [(String, Node)],
    },
}

impl Node {
    fn keywords(&self) -> Keywords<'_> {
        match self {
            Self::Value(word, unit) => Keywords::Value { word, unit: *unit },
            Self::Array(word, unit) => {
                let items = Some(Box::new(Keywords::Value { word, unit: None }));
                Keywords::Array { word: "array", items, unit: *unit }
            }
            Self::Record(title, properties) => Keywords::Record { title: *title, word: "object", properties },
            Self::List(item) => {
                let items = item.as_ref().map(|item| Box::new(item.keywords()));
                Keywords::Array { word: "array", items, unit: None }
            }
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.keywords().serialize(serializer)
    }
}

/// The groups of the message that are open at present, each with its name. The first one is the message itself.
struct Shape {
    open: Vec<(String, Node)>,
}

impl Shape {
    fn add(&mut self, name: &str, node: Node) {
        match self.open.last_mut() {
            Some((_, Node::Record(_, fields))) => fields.push((name.to_owned(), node)),
            Some((_, Node::List(item @ None))) => *item = Some(Box::new(node)),
            _ => {}
        }
    }
}

impl FieldVisitor for Shape {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let unit = Variable::named(name, Direction::Output).map(Variable::unit);
        let node = match value {
            Value::Bool(_) => Node::Value("boolean", unit),
            Value::Unsigned(_) | Value::Signed(_) | Value::Mask(_) => Node::Value("integer", unit),
            Value::F32(_) | Value::F64(_) => Node::Value("number", unit),
            Value::Text(_) => Node::Value("string", unit),
            Value::Bytes(_) | Value::U32s(_) | Value::I32s(_) => Node::Array("integer", unit),
            Value::F32s(_) | Value::F64s(_) => Node::Array("number", unit),
            _ => Node::Value("null", None),
        };
        self.add(name, node);
    }

    fn begin(&mut self, name: &str, group: Group) {
        let node = match group {
            Group::Record => {
                let title = match name {
                    "timestamp" => Some("time"),
                    "lifetime" => Some("duration"),
                    _ => None,
                };
                Node::Record(title, vec![])
            }
            Group::List => Node::List(None),
        };
        self.open.push((name.to_owned(), node));
    }

    fn end(&mut self) {
        if self.open.len() > 1
            && let Some((name, node)) = self.open.pop()
        {
            self.add(&name, node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_has_every_field_of_the_message_with_its_type_and_unit() {
        let schema = schema_of("example", &|visitor| {
            visitor.field("actual_q", Value::F64s(&[0.0; 6]));
            visitor.field("word", Value::Text(b"x"));
            visitor.begin("joints", Group::List);
            for _ in 0..2 {
                visitor.begin("", Group::Record);
                visitor.field("mode", Value::Unsigned(253));
                visitor.end();
            }
            visitor.end();
            visitor.field("flag", Value::Bool(true));
        });
        let expected = concat!(
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"example","type":"object","#,
            r#""properties":{"actual_q":{"type":"array","items":{"type":"number"},"description":"rad"},"#,
            r#""word":{"type":"string"},"joints":{"type":"array","items":{"type":"object","properties":{"#,
            r#""mode":{"type":"integer"}}}},"flag":{"type":"boolean"}}}"#
        );
        assert_eq!(schema, expected);
    }
}

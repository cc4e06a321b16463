//! What a message looks like, as JSON Schema: made from a first message of its kind.

use outrigger_wire::fields::{FieldVisitor, Group, Value};
use outrigger_wire::rtde::registry::{Direction, Variable};

use crate::json::Json;

/// The schema, called `title`, of the message that `visit` shows.
///
/// It names the fields of that message. Others may come (they are not forbidden), and some may stay away.
pub(super) fn schema_of(title: &str, visit: &dyn Fn(&mut dyn FieldVisitor)) -> String {
    let mut shape = Shape { open: vec![(String::new(), Node::Record(vec![]))] };
    visit(&mut shape);
    while shape.open.len() > 1 {
        shape.end();
    }
    let mut json = Json::default();
    json.begin_object().key("$schema").text("https://json-schema.org/draft/2020-12/schema").key("title").text(title);
    if let Some((_, root)) = shape.open.pop() {
        root.print(&mut json);
    }
    json.end_object();
    json.as_str().to_owned()
}

/// A value, or several.
enum Node {
    /// One of this type, with its unit where that is known.
    Value(&'static str, Option<&'static str>),
    /// Several of this type.
    Array(&'static str, Option<&'static str>),
    Record(Vec<(String, Self)>),
    /// The first item stands for all.
    List(Option<Box<Self>>),
}

impl Node {
    /// The keywords of its description, without the object around them.
    fn print(&self, json: &mut Json) {
        json.key("type");
        let unit = match self {
            Self::Value(word, unit) => {
                json.text(word);
                *unit
            }
            Self::Array(word, unit) => {
                json.text("array").key("items").begin_object().key("type").text(word).end_object();
                *unit
            }
            Self::Record(fields) => {
                json.text("object").key("properties").begin_object();
                for (name, node) in fields {
                    json.key(name).begin_object();
                    node.print(json);
                    json.end_object();
                }
                json.end_object();
                None
            }
            Self::List(item) => {
                json.text("array");
                if let Some(item) = item {
                    json.key("items").begin_object();
                    item.print(json);
                    json.end_object();
                }
                None
            }
        };
        if let Some(unit) = unit {
            json.key("description").text(unit);
        }
    }
}

/// Groups that have begun, each with its name; the first is the message.
struct Shape {
    open: Vec<(String, Node)>,
}

impl Shape {
    fn add(&mut self, name: &str, node: Node) {
        match self.open.last_mut() {
            Some((_, Node::Record(fields))) => fields.push((name.to_owned(), node)),
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
            Group::Record => Node::Record(vec![]),
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

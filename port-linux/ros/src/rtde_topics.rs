//! RTDE variables as topics: each under its own name below `rtde/`, with the type of `std_msgs` that fits its values.

use outrigger_wire::fields::{FieldVisitor, Group, Value};
use outrigger_wire::rtde::DataType;
use outrigger_wire::rtde::registry::{Direction, Variable};

use outrigger_ros2_messages::cdr::encode;
use outrigger_ros2_messages::{
    ArrayLayout, Flag, Int32, Int32s, Message, Number, Numbers, UInt8, UInt32, UInt32s, UInt64,
};

/// An RTDE variable that is published on a topic of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The name of the RTDE variable.
    pub variable: String,
    /// The name of the variable's topic, below the node's namespace.
    pub topic: String,
    /// The type of the topic's messages as `package/msg/Name`.
    pub message: &'static str,
    data_type: DataType,
}

impl Published {
    /// Returns the topic of the RTDE variable `variable`; `None` if no controller sends a variable of this name.
    #[must_use]
    pub fn new(variable: &str) -> Option<Self> {
        let data_type = Variable::named(variable, Direction::Output)?.data_type();
        let message = match data_type {
            DataType::Bool => Flag::TYPE,
            DataType::Uint8 => UInt8::TYPE,
            DataType::Uint32 => UInt32::TYPE,
            DataType::Uint64 => UInt64::TYPE,
            DataType::Int32 => Int32::TYPE,
            DataType::Double => Number::TYPE,
            DataType::Vector3d | DataType::Vector6d => Numbers::TYPE,
            DataType::Vector6Int32 => Int32s::TYPE,
            DataType::Vector6Uint32 => UInt32s::TYPE,
        };
        Some(Self { variable: variable.into(), topic: format!("rtde/{variable}"), message, data_type })
    }

    /// Returns the message with a value of the RTDE variable; `None` if the value does not have the type of the
    /// variable.
    fn message(&self, value: &Value<'_>) -> Option<Vec<u8>> {
        let layout = ArrayLayout::default;
        Some(match (self.data_type, *value) {
            (DataType::Bool, Value::Bool(data)) => encode(&Flag { data }),
            (DataType::Uint8, Value::Unsigned(data)) => encode(&UInt8 { data: u8::try_from(data).ok()? }),
            (DataType::Uint32, Value::Unsigned(data) | Value::Mask(data)) => {
                encode(&UInt32 { data: u32::try_from(data).ok()? })
            }
            (DataType::Uint64, Value::Unsigned(data) | Value::Mask(data)) => encode(&UInt64 { data }),
            (DataType::Int32, Value::Signed(data)) => encode(&Int32 { data: i32::try_from(data).ok()? }),
            (DataType::Double, Value::F64(data)) => encode(&Number { data }),
            (DataType::Vector3d | DataType::Vector6d, Value::F64s(data)) => {
                encode(&Numbers { layout: layout(), data: data.to_vec() })
            }
            (DataType::Vector6Int32, Value::I32s(data)) => encode(&Int32s { layout: layout(), data: data.to_vec() }),
            (DataType::Vector6Uint32, Value::U32s(data)) => encode(&UInt32s { layout: layout(), data: data.to_vec() }),
            _ => return None,
        })
    }
}

/// The silence of a connection \[µs\] after which the values of another one are used.
const SILENCE: u64 = 1_000_000;

/// The RTDE variables that have topics, each with the connection that provides its values.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    published: Vec<(Published, Option<(u16, u64)>)>,
}

impl Variables {
    /// Creates the topics of those RTDE variables in `names` that a controller can send.
    #[must_use]
    pub fn new(names: &[String]) -> Self {
        Self { published: names.iter().filter_map(|name| Some((Published::new(name)?, None))).collect() }
    }

    /// Returns each published RTDE variable with its topic.
    pub fn iter(&self) -> impl Iterator<Item = &Published> {
        self.published.iter().map(|(published, _)| published)
    }

    /// Takes values received by RTDE over the connection `port` at `at` \[µs\], which `visit` passes, and emits the
    /// message of each one that has a topic, with its index. If the session's own connection and another one provide
    /// the same variable, the values of only one are used.
    pub fn take(
        &mut self,
        (port, at): (u16, u64),
        visit: impl FnOnce(&mut dyn FieldVisitor),
        emit: &mut dyn FnMut(usize, Vec<u8>),
    ) {
        if !self.published.is_empty() {
            visit(&mut Taking { variables: self, port, at, emit });
        }
    }
}

struct Taking<'v, 'e> {
    variables: &'v mut Variables,
    port: u16,
    at: u64,
    emit: &'e mut dyn FnMut(usize, Vec<u8>),
}

impl FieldVisitor for Taking<'_, '_> {
    fn field(&mut self, name: &str, value: Value<'_>) {
        let found = self.variables.published.iter_mut().enumerate().find(|(_, (of, _))| of.variable == name);
        let Some((index, (published, source))) = found else { return };
        if source.is_some_and(|(port, at)| port != self.port && self.at <= at.saturating_add(SILENCE)) {
            return;
        }
        if let Some(message) = published.message(&value) {
            *source = Some((self.port, self.at));
            (self.emit)(index, message);
        }
    }

    fn begin(&mut self, _: &str, _: Group) {}

    fn end(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_ros2_messages::cdr::decode;

    #[test]
    fn every_variable_that_a_controller_sends_has_a_topic_of_a_type_that_holds_it() {
        for variable in Variable::all(Direction::Output) {
            let name = variable.to_string();
            let published = Published::new(&name).unwrap_or_else(|| panic!("no topic of {name}"));
            let bytes = vec![1; variable.data_type().size()];
            let value = outrigger_wire::rtde::Value::read(variable.data_type(), &bytes).expect("as many bytes");
            let mut variables = Variables::new(std::slice::from_ref(&name));
            let mut told = vec![];
            variables.take((30_004, 0), |visitor| value.visit(&name, visitor), &mut |_, bytes| told.push(bytes));
            assert_eq!(told.len(), 1, "{name}: {}", published.message);
            assert!(published.topic.starts_with("rtde/") && published.message.starts_with("std_msgs/msg/"));
        }
        assert_eq!(Published::new("actual_Q"), None);
    }

    #[test]
    fn a_variable_that_two_connections_bring_is_published_once() {
        let names = ["actual_q".to_owned(), "robot_mode".to_owned()];
        let mut variables = Variables::new(&names);
        let mut told = vec![];
        for (port, at, q) in [(30_004, 0, 1.0), (30_014, 1_000, 2.0), (30_004, 2_000, 3.0), (30_014, 1_002_001, 4.0)] {
            let visit = |visitor: &mut dyn FieldVisitor| {
                visitor.field("actual_q", Value::F64s(&[q; 6]));
                visitor.field("actual_qd", Value::F64s(&[q; 6]));
            };
            variables.take((port, at), visit, &mut |index, bytes| told.push((index, bytes)));
        }
        let values: Vec<f64> =
            told.iter().map(|(index, bytes)| decode::<Numbers>(bytes).expect("its type").data[*index]).collect();
        assert_eq!(values, [1.0, 3.0, 4.0], "the other one counts once the first has been silent for a second");
    }
}

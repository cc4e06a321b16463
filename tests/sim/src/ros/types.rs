//! The ROS 2 types that scripts can use, with the conversion between a message's bytes and a script's value.

use outrigger_interpreter::Value;
use outrigger_ros2_messages as ros;
use outrigger_ros2_messages::cdr::{decode, encode};
use outrigger_ros2_messages::{
    Flag, Header, Int32, Int64, JointState, Message, Number, PoseStamped, Service, SetBool, Text, Trigger, Twist,
    UInt32, WrenchStamped,
};

use super::message_to_value::AsValue;
use super::type_mismatch::Mismatch;
use super::value_to_message::Part;

/// The name of the byte that ROS 2 adds to a message without members. Scripts need not set it, and never receive it.
pub(super) const NOTHING: &str = "structure_needs_at_least_one_member";

/// A type of ROS 2 messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The name of the message type, `package/msg/Name`.
    pub(crate) name: &'static str,
    /// Function that returns the message bytes in CDR for a script's value.
    pub(crate) encode: fn(&Value) -> Result<Vec<u8>, Mismatch>,
    /// Function that returns the script's value for message bytes; `None` if the bytes are not a message of this
    /// type.
    pub(crate) decode: fn(&[u8]) -> Option<Value>,
}

impl Kind {
    const fn of<M: Message>() -> Self {
        Self { name: M::TYPE, encode: to_bytes::<M>, decode: to_value::<M> }
    }
}

/// A type of ROS 2 services: its request and its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The name of the service type, `package/srv/Name`.
    pub(crate) name: &'static str,
    pub(crate) request: Kind,
    pub(crate) response: Kind,
}

impl Pair {
    const fn of<S: Service>() -> Self {
        Self { name: S::TYPE, request: Kind::of::<S::Request>(), response: Kind::of::<S::Response>() }
    }
}

fn to_bytes<M: Message>(value: &Value) -> Result<Vec<u8>, Mismatch> {
    M::deserialize(Part(value)).map(|message| encode(&message))
}

fn to_value<M: Message>(bytes: &[u8]) -> Option<Value> {
    decode::<M>(bytes).ok()?.serialize(AsValue).ok()
}

static MESSAGES: &[Kind] = &[
    Kind::of::<Flag>(),
    Kind::of::<Int32>(),
    Kind::of::<Int64>(),
    Kind::of::<UInt32>(),
    Kind::of::<Number>(),
    Kind::of::<Text>(),
    Kind::of::<Header>(),
    Kind::of::<JointState>(),
    Kind::of::<PoseStamped>(),
    Kind::of::<Twist>(),
    Kind::of::<WrenchStamped>(),
    Kind::of::<ros::Time>(),
    Kind::of::<ros::Span>(),
    Kind::of::<ros::Vector3>(),
    Kind::of::<ros::Point>(),
    Kind::of::<ros::Quaternion>(),
    Kind::of::<ros::Pose>(),
    Kind::of::<ros::Wrench>(),
    Kind::of::<ros::AccelStamped>(),
    Kind::of::<ros::InertiaStamped>(),
    Kind::of::<ros::Transform>(),
    Kind::of::<ros::TransformStamped>(),
    Kind::of::<ros::TFMessage>(),
    Kind::of::<ros::Temperature>(),
    Kind::of::<ros::TimeReference>(),
    Kind::of::<ros::ActiveTCP>(),
    Kind::of::<ros::AnalogPin>(),
    Kind::of::<ros::AnalogIO>(),
    Kind::of::<ros::AnalogIOStateStamped>(),
    Kind::of::<ros::BoolStamped>(),
    Kind::of::<ros::ControlCycle>(),
    Kind::of::<ros::Current>(),
    Kind::of::<ros::DigitalPin>(),
    Kind::of::<ros::DigitalIO>(),
    Kind::of::<ros::DigitalIOStateStamped>(),
    Kind::of::<ros::Float32Stamped>(),
    Kind::of::<ros::Float64Stamped>(),
    Kind::of::<ros::JointMode>(),
    Kind::of::<ros::JointTemperature>(),
    Kind::of::<ros::JointVoltage>(),
    Kind::of::<ros::RobotMode>(),
    Kind::of::<ros::RuntimeState>(),
    Kind::of::<ros::SafetyStatus>(),
    Kind::of::<ros::SpeedSliderFraction>(),
    Kind::of::<ros::TCPState>(),
    Kind::of::<ros::ToolOutputMode>(),
    Kind::of::<ros::VoltageCurrentStamped>(),
    Kind::of::<ros::WorldModelNames>(),
];

static SERVICES: &[Pair] = &[
    Pair::of::<Trigger>(),
    Pair::of::<SetBool>(),
    Pair::of::<ros::Empty>(),
    Pair::of::<ros::SetSpeedFraction>(),
    Pair::of::<ros::SetDigitalOutput>(),
    Pair::of::<ros::SetAnalogPins>(),
];

/// Returns whether `name` is `whole`, or is `whole` without its middle part, such as `std_msgs/Bool`.
fn is_name_of(whole: &str, name: &str) -> bool {
    let mut parts = whole.split('/');
    let (Some(package), Some(_), Some(last)) = (parts.next(), parts.next(), parts.next()) else { return false };
    name == whole || name.split_once('/') == Some((package, last))
}

/// Returns the type of messages of this name.
///
/// # Errors
/// Returns a text with the known names if there is no such type.
pub(crate) fn message(name: &str) -> Result<&'static Kind, String> {
    let found = MESSAGES.iter().find(|kind| is_name_of(kind.name, name));
    found.ok_or_else(|| unknown(name, MESSAGES.iter().map(|kind| kind.name)))
}

/// Returns the type of services of this name.
///
/// # Errors
/// Returns the errors of [`message`].
pub(crate) fn service(name: &str) -> Result<&'static Pair, String> {
    let found = SERVICES.iter().find(|pair| is_name_of(pair.name, name));
    found.ok_or_else(|| unknown(name, SERVICES.iter().map(|pair| pair.name)))
}

/// Returns the error text for an unknown name: the types of the same package, or else the packages.
fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> String {
    let package = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let (mut types, mut packages) = (vec![], vec![]);
    for one in known {
        let of = package(one);
        if of == package(name) {
            types.push(one);
        }
        if !packages.contains(&of) {
            packages.push(of);
        }
    }
    let listed = if types.is_empty() { format!("those of {}", packages.join(", ")) } else { types.join(", ") };
    format!("type '{name}' is not known here, but {listed}")
}

/// Returns the value that a script reads when `bytes` arrive as a message of this type.
///
/// # Errors
/// Returns a text if the type is unknown, or if the bytes are no such message.
pub fn value_of(name: &str, bytes: &[u8]) -> Result<Value, String> {
    let kind = message(name)?;
    (kind.decode)(bytes).ok_or_else(|| format!("{} bytes are no {}", bytes.len(), kind.name))
}

/// Returns the bytes of a value that a script writes as a message of this type.
///
/// # Errors
/// Returns a text if the type is unknown, or if the value does not fit the message.
pub fn bytes_of(name: &str, value: &Value) -> Result<Vec<u8>, String> {
    let kind = message(name)?;
    (kind.encode)(value).map_err(|mismatch| format!("{}: {mismatch}", kind.name))
}

/// Returns the types of messages that scripts can use: `package/msg/Name`.
pub fn message_types() -> impl Iterator<Item = &'static str> {
    MESSAGES.iter().map(|kind| kind.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(members: &[(&str, Value)]) -> Value {
        Value::Struct(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    }

    fn data(value: Value) -> Value {
        members(&[("data", value)])
    }

    fn bytes(name: &str, value: &Value) -> Result<Vec<u8>, String> {
        (message(name).unwrap().encode)(value).map_err(|mismatch| mismatch.to_string())
    }

    #[test]
    fn a_type_has_its_name_with_or_without_the_middle_and_any_other_is_refused_by_its_name() {
        assert_eq!(message("std_msgs/msg/Bool").unwrap().name, "std_msgs/msg/Bool");
        assert_eq!(message("std_msgs/Bool").unwrap().name, "std_msgs/msg/Bool");
        assert_eq!(service("std_srvs/Trigger").unwrap().name, "std_srvs/srv/Trigger");
        let elsewhere = "those of std_msgs, sensor_msgs, geometry_msgs, ";
        for (name, listed) in [
            ("std_msgs/msg/Banana", "std_msgs/msg/Bool, std_msgs/msg/Int32, "),
            ("std_msgs/srv/Bool", "std_msgs/msg/Bool, "),
            ("Bool", elsewhere),
            ("", elsewhere),
            ("std_srvs/srv/Trigger", elsewhere),
            ("/Bool", elsewhere),
        ] {
            let refused = message(name).unwrap_err();
            assert!(refused.starts_with(&format!("type '{name}' is not known here, but {listed}")), "{refused}");
        }
        assert!(
            service("std_srvs/Nothing")
                .unwrap_err()
                .ends_with("std_srvs/srv/Trigger, std_srvs/srv/SetBool, std_srvs/srv/Empty")
        );
    }

    /// Checks the conversion of a struct, whose members are in another order, to the bytes of a message and back. The
    /// expected bytes are the output of two independent encoders: `core/docs/protocol/ros2-surface.md` 6.
    #[test]
    fn a_struct_with_the_members_of_a_message_has_its_bytes_in_any_order() {
        let stamp = members(&[("nanosec", Value::Int(2)), ("sec", Value::Int(1))]);
        let header = members(&[("stamp", stamp), ("frame_id", Value::String("b".into()))]);
        let state = members(&[
            ("position", Value::List(vec![Value::Int(1)])),
            ("name", Value::List(vec![Value::String("a".into())])),
            ("velocity", Value::List(vec![])),
            ("effort", Value::List(vec![])),
            ("header", header),
        ]);
        let measured = "000100000100000002000000020000006200000001000000020000006100000001000000000000000000f03f\
                        0000000000000000";
        let hex: String =
            bytes("sensor_msgs/JointState", &state).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, measured);
        let back =
            (message("sensor_msgs/JointState").unwrap().decode)(&bytes("sensor_msgs/JointState", &state).unwrap());
        let text =
            "{header: {stamp: {sec: 1, nanosec: 2}, frame_id: b}, name: [a], position: [1], velocity: [], effort: []}";
        assert_eq!(back.unwrap().to_string(), text);
    }

    #[test]
    fn whole_numbers_wrap_to_32_bits() {
        let int64 = message("std_msgs/msg/Int64").unwrap();
        for (sent, read) in [(5, 5), (-1, -1), ((1 << 32) + 7, 7), (1 << 31, i32::MIN), (i64::MAX, -1)] {
            let value = (int64.decode)(&encode(&Int64 { data: sent }));
            assert_eq!(value, Some(data(Value::Int(read))), "{sent}");
        }
        assert_eq!(bytes("std_msgs/msg/Int64", &data(Value::Int(-2))), Ok(encode(&Int64 { data: -2 })));
        // An unsigned number is written and read as the same bits.
        let unsigned = data(Value::Int(-1));
        assert_eq!(bytes("std_msgs/msg/UInt32", &unsigned), Ok(encode(&UInt32 { data: u32::MAX })));
        assert_eq!(
            (message("std_msgs/msg/UInt32").unwrap().decode)(&encode(&UInt32 { data: u32::MAX })),
            Some(unsigned)
        );
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_member() {
        for (name, value, why) in [
            ("std_msgs/Bool", Value::Bool(true), "expected struct(data=…), found Bool"),
            ("std_msgs/Bool", data(Value::Int(1)), "data: invalid type: integer `1`, expected a boolean"),
            ("std_msgs/Bool", members(&[]), "member 'data' is missing"),
            (
                "std_msgs/Bool",
                members(&[("data", Value::Bool(true)), ("more", Value::None)]),
                "'more' is no member of the message, which has data",
            ),
            ("std_msgs/Int32", data(Value::Float(1.5)), "data: invalid type: floating point `1.5`, expected i32"),
            (
                "std_msgs/String",
                data(Value::String("\u{e9}".into())),
                "data: expected a text of UTF-8, found other bytes",
            ),
            (
                "std_msgs/Header",
                members(&[("stamp", members(&[("sec", Value::Int(1))])), ("frame_id", Value::String(String::new()))]),
                "stamp: member 'nanosec' is missing",
            ),
            ("std_msgs/Float64", data(Value::Pose([0.0; 6])), "data: expected a value of the message, found Pose"),
        ] {
            assert_eq!(bytes(name, &value), Err(why.into()), "{name}");
        }
    }

    #[test]
    fn texts_are_bytes_within_a_program() {
        let text = message("std_msgs/String").unwrap();
        let inside = data(Value::String("\u{c3}\u{a9}".into()));
        assert_eq!((text.encode)(&inside), Ok(encode(&Text { data: "é".into() })));
        assert_eq!((text.decode)(&encode(&Text { data: "é".into() })), Some(inside));
        let long = (text.decode)(&encode(&Text { data: "a".repeat(5000) })).unwrap();
        assert_eq!(long, data(Value::String("a".repeat(1023))));
    }

    #[test]
    fn a_request_without_members_is_an_empty_struct() {
        let request = service("std_srvs/srv/Trigger").unwrap().request;
        assert_eq!((request.encode)(&members(&[])), Ok(vec![0, 1, 0, 0, 0]));
        assert_eq!((request.decode)(&[0, 1, 0, 0, 0]), Some(members(&[])));
    }

    #[test]
    fn bytes_that_are_no_message_are_none() {
        assert!(MESSAGES.iter().all(|kind| (kind.decode)(&[]).is_none() && (kind.decode)(&[0, 9, 0, 0, 1]).is_none()));
    }

    /// Checks for every type that a script can write a message that it has read.
    #[test]
    fn a_message_that_was_read_can_be_written_again() {
        for kind in MESSAGES.iter().chain(SERVICES.iter().flat_map(|pair| [&pair.request, &pair.response])) {
            // Texts and lists without content, and every number 0.
            let long = [&[0, 1, 0, 0][..], &[0; 400]].concat();
            let value = (kind.decode)(&long).unwrap_or_else(|| panic!("{}: zeros are no message", kind.name));
            let bytes = (kind.encode)(&value).unwrap_or_else(|mismatch| panic!("{}: {mismatch}", kind.name));
            assert_eq!((kind.decode)(&bytes), Some(value), "{}", kind.name);
        }
        let names: std::collections::BTreeSet<_> = message_types().collect();
        assert_eq!(names.len(), MESSAGES.len(), "each name once");
    }

    #[test]
    fn interfaces_of_ur_have_lists_of_pins_and_arrays() {
        let pin = |pin: i32, state| members(&[("pin", Value::Int(pin)), ("state", Value::Bool(state))]);
        let request = service("urinterfaces/srv/SetDigitalOutput").unwrap().request;
        let value = members(&[("data", Value::List(vec![pin(0, true), pin(7, false)]))]);
        assert_eq!((request.encode)(&value), Ok(vec![0, 1, 0, 0, 2, 0, 0, 0, 0, 1, 7, 0]));
        let mode = message("urinterfaces/JointMode").unwrap();
        let read =
            (mode.decode)(&encode(&ros::JointMode { joint_modes: [253; 6], tool_mode: 255, ..Default::default() }));
        let text = "{header: {stamp: {sec: 0, nanosec: 0}, frame_id: }, joint_modes: [253, 253, 253, 253, 253, 253], tool_mode: 255}";
        assert_eq!(read.map(|value| value.to_string()), Some(text.into()));
    }
}

//! The ROS 2 interface of PolyScope X scripts (`core/docs/protocol/ros2-surface.md` 4.1): publishers, subscribers and
//! clients of services, as messages in bytes, without a transport.
//!
//! The driver of the simulation, which has a transport, polls
//! [`Controller::poll_ros`](crate::controller::Controller::poll_ros) for the endpoints that scripts have opened and
//! closed and the messages that they have sent. It passes arriving messages to
//! [`ros_message`](crate::controller::Controller::ros_message) and
//! [`ros_answer`](crate::controller::Controller::ros_answer), and the existence of servers to
//! [`ros_served`](crate::controller::Controller::ros_served). Without a driver a program receives its own messages
//! only, and no call is answered.
//!
//! | what | here | source |
//! |---|---|---|
//! | the factories, `read`, which blocks, `read_history`, `close` | since 10.7 | manual; the first release is UNCONFIRMED |
//! | `topic`, `msg_type`, `durability`, `reliability`, `write`, `wait` | as UR's sample of a gripper uses them | clients |
//! | `call(request, timeout)`, whose answer is a struct, `wait_for_service`, `to_string`, `std_srvs/Empty`, `urinterfaces` | as UR's paper uses them | manual |
//! | the timeout of `wait_for_service`, without which it waits forever; the result of a call whose timeout passes | `True` or `False`; an error | UNCONFIRMED |
//! | `to_string` | a function and a method of any value: the same text as `to_str` | UNCONFIRMED |
//! | messages of a program reach its own subscribers to that topic and type, if their quality of service fits | at once | manual; the time is UNCONFIRMED |
//! | other arguments and their order, `publish` | as in `outrigger_interpreter::Builtins` | UNCONFIRMED |
//! | integers beyond 32 bits | wrap | manual: of unsigned ones |
//! | `read`, `wait`, `read_history` remove the messages that they return | a second `read` waits for another message | UNCONFIRMED |
//! | `read_history` does not wait; without a count it returns all stored messages | an empty list | UNCONFIRMED |
//! | quality of service by default | publishers reliable, subscribers best effort: those of Fast DDS | UNCONFIRMED |
//! | `deadline`, `lifespan`, `liveliness`, `lease_duration` | accepted, without effect | |
//! | a call without an answer | [`RosOptions::call_timeout`] | UNCONFIRMED |
//! | endpoints that a program has opened are closed when it ends | as with sockets | UNCONFIRMED |
//! | texts | UTF-8 outside, within a program a character for each byte, cut after 1023 | UNCONFIRMED |

mod message_to_value;
mod outbox;
mod program_endpoints;
mod type_mismatch;
mod types;
mod value_to_message;

use std::time::Duration;

use outrigger_ros2_messages::endpoint::Qos;

pub(crate) use message_to_value::TEXT;
pub(crate) use program_endpoints::{Ends, Role, Taken};
pub(crate) use types::{Kind, Pair, message, service};
pub use types::{bytes_of, message_types, value_of};

/// The number of a ROS 2 endpoint (publisher, subscriber or service client) that a script has opened; it is never
/// reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End(pub u32);

/// Undocumented properties of scripts that use ROS 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RosOptions {
    /// The number of control cycles that each operation on a ROS 2 endpoint takes at least. One cycle, 2 ms, is the
    /// least that UR names.
    pub cycles: u32,
    /// The time after which a service call that has no answer and no timeout of its own ends its program with an error.
    /// `None`, the default, waits forever. Assumed.
    pub call_timeout: Option<Duration>,
    /// The highest number of publishers, subscribers and clients that a program may have open at a time; 64 is
    /// assumed.
    pub count: usize,
}

impl Default for RosOptions {
    fn default() -> Self {
        Self { cycles: 1, call_timeout: None, count: 64 }
    }
}

/// A ROS 2 output of a script, which the caller of the simulator forwards to other participants. Bytes are CDR with
/// their encapsulation header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RosOutput {
    /// A script opened a publisher of a ROS 2 topic.
    Publishes {
        /// The new ROS 2 publisher.
        end: End,
        /// The whole name of the ROS 2 topic.
        topic: String,
        /// The type of the topic's messages, `package/msg/Name`.
        message: &'static str,
        /// The quality of service that the publisher offers.
        qos: Qos,
    },
    /// A script opened a subscriber to a ROS 2 topic.
    Listens {
        /// The new ROS 2 subscriber.
        end: End,
        /// The whole name of the ROS 2 topic.
        topic: String,
        /// The type of the topic's messages, `package/msg/Name`.
        message: &'static str,
        /// The quality of service that the subscriber requests.
        qos: Qos,
    },
    /// A script opened a client of a ROS 2 service.
    Asks {
        /// The new ROS 2 service client.
        end: End,
        /// The whole name of the ROS 2 service.
        service: String,
        /// The type of the ROS 2 service, `package/srv/Name`.
        kind: &'static str,
    },
    /// A script published a message on a ROS 2 topic.
    Message {
        /// The publisher that sends the message.
        end: End,
        /// The message as bytes in CDR with its encapsulation header.
        bytes: Vec<u8>,
    },
    /// A script sent a request to a ROS 2 service.
    Request {
        /// The service client that sends the request.
        end: End,
        /// The number of the service request, which its answer must repeat.
        number: u64,
        /// The service request in CDR with its encapsulation header.
        bytes: Vec<u8>,
    },
    /// A ROS 2 endpoint was closed: it sends and accepts nothing more.
    Closed {
        /// The closed endpoint: publisher, subscriber or service client.
        end: End,
    },
}

impl RosOutput {
    /// Returns the ROS 2 endpoint that this output of a script concerns.
    #[must_use]
    pub const fn end(&self) -> End {
        match self {
            Self::Publishes { end, .. }
            | Self::Listens { end, .. }
            | Self::Asks { end, .. }
            | Self::Message { end, .. }
            | Self::Request { end, .. }
            | Self::Closed { end } => *end,
        }
    }
}

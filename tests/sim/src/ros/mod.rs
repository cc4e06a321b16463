//! What scripts of a PolyScope X say to others in ROS 2 (`core/docs/protocol/ros2-surface.md` 4.1): publishers, subscribers and
//! clients of services, as messages in bytes, without a transport.
//!
//! A driver asks [`Controller::poll_ros`](crate::controller::Controller::poll_ros) what scripts have opened, sent and closed, and hands
//! in what comes by [`ros_message`](crate::controller::Controller::ros_message) and
//! [`ros_answer`](crate::controller::Controller::ros_answer), and who serves by
//! [`ros_served`](crate::controller::Controller::ros_served). Without a driver a program hears itself alone, and nobody answers.
//!
//! | what | here | how sure |
//! |---|---|---|
//! | the factories, `read`, which blocks, `read_history`, `close` | since 10.7 | manual; UNCONFIRMED since when |
//! | `topic`, `msg_type`, `durability`, `reliability`, `write`, `wait` | as UR's sample of a gripper uses them | clients |
//! | `call(request, timeout)`, whose answer is a struct, `wait_for_service`, `to_string`, `std_srvs/Empty`, `urinterfaces` | as UR's paper uses them | manual |
//! | the time-out of `wait_for_service`, without which it waits for ever; what a call ends with where its time-out passes | `True` or `False`; an error | UNCONFIRMED |
//! | `to_string` | a function and a method of any value: the same text as `to_str` | UNCONFIRMED |
//! | what a program publishes reaches its own subscribers of that topic and type, where their quality of service fits | at once | manual; UNCONFIRMED when |
//! | other arguments and their order, `publish` | as they stand in `outrigger_interpreter::Builtins` | UNCONFIRMED |
//! | whole numbers beyond 32 bits | wrap | manual: of unsigned ones |
//! | `read`, `wait`, `read_history` take what they return | a second `read` waits for another message | UNCONFIRMED |
//! | `read_history` waits for nothing; without a count it returns everything that is kept | an empty list | UNCONFIRMED |
//! | quality of service by default | publishers reliable, subscribers best effort: those of Fast DDS | UNCONFIRMED |
//! | `deadline`, `lifespan`, `liveliness`, `lease_duration` | taken, without effect | |
//! | a call that nobody answers | [`RosOptions::call_timeout`] | UNCONFIRMED |
//! | what a program has opened is closed when it ends | so it is with sockets | UNCONFIRMED |
//! | texts | UTF-8 outside, within a program a character for each byte, cut after 1023 | UNCONFIRMED |

mod ends;
mod mismatch;
mod outbox;
mod reading;
mod types;
mod writing;

use std::time::Duration;

use outrigger_ros2_messages::endpoint::Qos;

pub(crate) use ends::{Ends, Role, Taken};
pub(crate) use types::{Kind, Pair, message, service};
pub use types::{bytes_of, message_types, value_of};
pub(crate) use writing::TEXT;

/// Something a script has opened, by a number that is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End(pub u32);

/// What is not known of scripts that speak ROS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RosOptions {
    /// Control cycles that each operation takes: one, which is 2 ms, is the least that UR names.
    pub cycles: u32,
    /// After this a call that nobody has answered ends its program with an error; where there is none, as by default, it waits for
    /// ever. Assumed.
    pub call_timeout: Option<Duration>,
    /// Publishers, subscribers and clients that a program may have open at once; 64 is assumed.
    pub count: usize,
}

impl Default for RosOptions {
    fn default() -> Self {
        Self { cycles: 1, call_timeout: None, count: 64 }
    }
}

/// What a script has done, for a driver. Bytes are CDR with their encapsulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RosOutput {
    /// Messages of this type are going to be published.
    Publishes {
        /// By whom.
        end: End,
        /// The topic's whole name.
        topic: String,
        /// `package/msg/Name`.
        message: &'static str,
        /// How they travel.
        qos: Qos,
    },
    /// Messages of this type are wanted.
    Listens {
        /// By whom.
        end: End,
        /// The topic's whole name.
        topic: String,
        /// `package/msg/Name`.
        message: &'static str,
        /// How they have to travel.
        qos: Qos,
    },
    /// A service is going to be called.
    Asks {
        /// By whom.
        end: End,
        /// The service's whole name.
        service: String,
        /// `package/srv/Name`.
        kind: &'static str,
    },
    /// A message is published.
    Message {
        /// By whom.
        end: End,
        /// The message.
        bytes: Vec<u8>,
    },
    /// A service is called.
    Request {
        /// By whom.
        end: End,
        /// Its answer has the same number.
        number: u64,
        /// The request.
        bytes: Vec<u8>,
    },
    /// It is closed: nothing comes of it, and nothing is taken.
    Closed {
        /// What.
        end: End,
    },
}

impl RosOutput {
    /// Whose it is.
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

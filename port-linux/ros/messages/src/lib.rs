#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

macro_rules! messages {
    ($( $(#[$meta:meta])* $name:ident = $type:literal { $( $field:ident : $of:ty ),* $(,)? } )*) => { $(
        $(#[$meta])*
        #[doc = concat!("`", $type, "`")]
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[allow(missing_docs, reason = "what a field is stands in the definition, under its name")]
        pub struct $name { $( pub $field: $of, )* }

        impl $crate::Message for $name {
            const TYPE: &'static str = $type;
        }
    )* };
}

mod action;
mod basic;
pub mod cdr;
mod control;
mod controllers;
mod dashboard;
pub mod endpoint;
mod graph;
mod parameters;
mod polyscope_x;
pub mod type_hash;
mod ur;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::action::*;
pub use self::basic::*;
pub use self::control::*;
pub use self::controllers::*;
pub use self::dashboard::*;
pub use self::graph::*;
pub use self::parameters::*;
pub use self::polyscope_x::*;
pub use self::ur::*;

/// A message of ROS 2, or the request or response of a service, that can be encoded as CDR.
pub trait Message: Serialize + DeserializeOwned {
    /// The name of the message type as `package/kind/Name`.
    const TYPE: &'static str;
}

/// The request and response types of a service of ROS 2.
pub trait Service {
    /// The name of the service type as `package/srv/Name`.
    const TYPE: &'static str;
    /// The message by which a client calls the service.
    type Request: Message;
    /// The message by which the server answers a call.
    type Response: Message;
}

macro_rules! services {
    ($( $name:ident = $type:literal: $request:ty => $response:ty; )*) => { $(
        #[doc = concat!("`", $type, "`")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl $crate::Service for $name {
            const TYPE: &'static str = $type;
            type Request = $request;
            type Response = $response;
        }
    )* };
}
pub(crate) use services;

/// Returns the name that a [`Message::TYPE`] has on DDS: `package::kind::dds_::Name_`.
#[must_use]
pub fn dds_type(name: &str) -> String {
    let mut parts = name.rsplitn(2, '/');
    let (last, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{}::dds_::{last}_", rest.replace('/', "::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_names_on_dds() {
        assert_eq!(dds_type(JointState::TYPE), "sensor_msgs::msg::dds_::JointState_");
        assert_eq!(dds_type("std_srvs/srv/Trigger_Request"), "std_srvs::srv::dds_::Trigger_Request_");
    }
}

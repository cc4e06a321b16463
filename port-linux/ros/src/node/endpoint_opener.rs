//! The endpoints of a node, independent of the transport that carries them.

use outrigger_ros2_messages::dds_type;
use outrigger_ros2_messages::endpoint::Qos;

use crate::neighbours::{OwnEndpoint, Side};
use outrigger::exit::Failure;

/// The handle by which the node publishes on a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Out(pub(super) usize);

/// The handle of a topic that is subscribed to, or of a service's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct In(pub(super) usize);

/// Opens the topics, services and actions of a node, by their absolute names.
pub(super) trait Offers {
    /// Opens a publisher of this topic and returns its handle.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    fn publishes(&mut self, name: &str, message: &str, qos: Qos) -> Result<Out, Failure>;

    /// Opens a subscription to this topic and returns its handle.
    ///
    /// # Errors
    /// The errors of [`publishes`](Self::publishes).
    fn listens(&mut self, name: &str, message: &str, qos: Qos) -> Result<In, Failure>;

    /// Opens a server of this service and returns its handle; its types are `service` followed by `_Request` and
    /// `_Response`.
    ///
    /// # Errors
    /// The errors of [`publishes`](Self::publishes).
    fn serves(&mut self, name: &str, service: &str) -> Result<In, Failure>;
}

/// A list of the endpoints that a node would offer, without announcing them.
#[derive(Debug, Default)]
pub(super) struct Listed(pub(super) Vec<OwnEndpoint>);

impl Listed {
    fn add(&mut self, side: Side, topic: String, message: &str, qos: Qos) -> usize {
        self.0.push(OwnEndpoint { side, topic, kind: dds_type(message), qos });
        self.0.len()
    }
}

impl Offers for Listed {
    fn publishes(&mut self, name: &str, message: &str, qos: Qos) -> Result<Out, Failure> {
        Ok(Out(self.add(Side::Writes, format!("rt{name}"), message, qos)))
    }

    fn listens(&mut self, name: &str, message: &str, qos: Qos) -> Result<In, Failure> {
        Ok(In(self.add(Side::Reads, format!("rt{name}"), message, qos)))
    }

    fn serves(&mut self, name: &str, service: &str) -> Result<In, Failure> {
        self.add(Side::Writes, format!("rr{name}Reply"), &format!("{service}_Response"), Qos::SERVICES);
        Ok(In(self.add(Side::Reads, format!("rq{name}Request"), &format!("{service}_Request"), Qos::SERVICES)))
    }
}

//! What a node offers, to whoever carries it.

use outrigger_ros2_messages::dds_type;
use outrigger_ros2_messages::endpoint::Qos;

use crate::neighbours::{Ours, Side};
use outrigger::exit::Failure;

/// Where something is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Out(pub(super) usize);

/// Where something is heard: a topic, or requests of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct In(pub(super) usize);

/// Takes endpoints, by their whole names.
pub(super) trait Offers {
    /// Publishes at this topic.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the transport refuses.
    fn publishes(&mut self, name: &str, message: &str, qos: Qos) -> Result<Out, Failure>;

    /// Listens to this topic.
    ///
    /// # Errors
    /// Those of [`publishes`](Self::publishes).
    fn listens(&mut self, name: &str, message: &str, qos: Qos) -> Result<In, Failure>;

    /// Serves this service; its types are `service` with `_Request` and `_Response` behind.
    ///
    /// # Errors
    /// Those of [`publishes`](Self::publishes).
    fn serves(&mut self, name: &str, service: &str) -> Result<In, Failure>;
}

/// What would be offered: nobody is told of it.
#[derive(Debug, Default)]
pub(super) struct Listed(pub(super) Vec<Ours>);

impl Listed {
    fn add(&mut self, side: Side, topic: String, message: &str, qos: Qos) -> usize {
        self.0.push(Ours { side, topic, kind: dds_type(message), qos });
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

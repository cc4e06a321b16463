//! Opens the readers and writers of a participant that stay open as long as it exists.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;

use outrigger_ros2_messages::dds_type;
use outrigger_ros2_messages::endpoint::Qos;
use rustdds::{QosPolicies, RTPSEntity as _, Topic, TopicKind};

use super::super::endpoint_opener::{In, Offers, Out};
use super::super::qos_policies::policies;
use super::super::raw_messages::Reader;
use super::{Dds, Listening, Published, Writer, refused};
use crate::neighbours::{OwnEndpoint, Side};
use outrigger::exit::Failure;

/// Returns the description of an endpoint for messages of this ROS type.
pub(super) fn endpoint(side: Side, topic: String, message: &str, qos: Qos) -> OwnEndpoint {
    OwnEndpoint { side, topic, kind: dds_type(message), qos }
}

impl Dds {
    fn topic(&self, of: &OwnEndpoint) -> Result<(Topic, QosPolicies), Failure> {
        let qos = policies(of.qos);
        let made = self.participant.create_topic(of.topic.clone(), of.kind.clone(), &qos, TopicKind::NoKey);
        made.map(|topic| (topic, qos)).map_err(|error| refused(&of.topic, error))
    }

    pub(super) fn make_writer(&self, of: &OwnEndpoint) -> Result<Writer, Failure> {
        let (topic, qos) = self.topic(of)?;
        let made = self.publisher.create_datawriter_no_key(&topic, Some(qos));
        made.map_err(|error| refused(&of.topic, error))
    }

    pub(super) fn make_reader(&self, of: &OwnEndpoint) -> Result<Reader, Failure> {
        let (topic, qos) = self.topic(of)?;
        let made = self.subscriber.create_simple_datareader_no_key(&topic, Some(qos));
        made.map_err(|error| refused(&of.topic, error))
    }

    pub(super) fn writer(&mut self, of: OwnEndpoint) -> Result<Writer, Failure> {
        let writer = self.make_writer(&of)?;
        self.ours.insert(writer.guid(), of);
        Ok(writer)
    }

    pub(super) fn reader(&mut self, of: OwnEndpoint) -> Result<Reader, Failure> {
        let reader = self.make_reader(&of)?;
        self.ours.insert(reader.guid(), of);
        reader.set_waker(Some(Waker::from(Arc::clone(&self.came))));
        Ok(reader)
    }

    pub(super) fn publishes_to(&mut self, of: OwnEndpoint) -> Result<Out, Failure> {
        let depth = if of.qos.latched { usize::from(of.qos.depth.max(1)) } else { 0 };
        let writer = self.writer(of)?;
        self.published.push(Published { writer, newest: VecDeque::new(), depth });
        Ok(Out(self.published.len() - 1))
    }

    pub(super) fn listens_to(&mut self, of: OwnEndpoint, answers: Option<OwnEndpoint>) -> Result<In, Failure> {
        let reader = self.reader(of)?;
        let answers = answers.map(|answers| self.writer(answers)).transpose()?;
        self.listening.push(Listening { reader, answers });
        Ok(In(self.listening.len() - 1))
    }
}

impl Offers for Dds {
    fn publishes(&mut self, name: &str, message: &str, qos: Qos) -> Result<Out, Failure> {
        self.publishes_to(endpoint(Side::Writes, format!("rt{name}"), message, qos))
    }

    fn listens(&mut self, name: &str, message: &str, qos: Qos) -> Result<In, Failure> {
        self.listens_to(endpoint(Side::Reads, format!("rt{name}"), message, qos), None)
    }

    fn serves(&mut self, name: &str, service: &str) -> Result<In, Failure> {
        let of = |side, topic, half| endpoint(side, topic, &format!("{service}_{half}"), Qos::SERVICES);
        let answers = of(Side::Writes, format!("rr{name}Reply"), "Response");
        self.listens_to(of(Side::Reads, format!("rq{name}Request"), "Request"), Some(answers))
    }
}

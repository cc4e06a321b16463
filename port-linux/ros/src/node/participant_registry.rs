//! The other participants of the domain, from the information of DDS and of `ros_discovery_info`.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use outrigger_ros2_messages::Gid;
use outrigger_ros2_messages::endpoint::Qos;
use outrigger_ros2_messages::type_hash;
use rustdds::dds::CreateResult;
use rustdds::{
    DomainParticipant, DomainParticipantStatusEvent, GUID, LostReason, QosPolicies, RTPSEntity as _, Subscriber, Topic,
    TopicKind,
};

use super::qos_policies::{policies, quality};
use super::raw_messages::{Raw, Reader};
use crate::neighbours::{Endpoint, Neighbourhood, Nodes, Participant, Prefix, Side};

/// The topic on which DDS participants announce their nodes of ROS 2.
pub(super) const GRAPH: &str = "ros_discovery_info";

pub(super) const GRAPH_TYPE: &str = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

/// The largest number of other DDS participants that are stored.
const MOST: usize = 256;

/// The participants of the DDS domain and their nodes of ROS 2, as far as they have been announced.
pub(super) struct Census {
    graph: Reader,
    vendors: BTreeMap<Prefix, [u8; 2]>,
    nodes: BTreeMap<Prefix, Nodes>,
    /// The nodes of participants that were silent for longer than their lease. A participant that comes back does
    /// not announce its nodes again.
    silent: BTreeMap<Prefix, Nodes>,
    /// `true` if a participant came, went or changed since the last call of `changed`.
    changed: bool,
}

fn gid(of: GUID) -> Gid {
    Gid(of.to_bytes())
}

/// Returns the identifier of the DDS participant that the endpoint `of` belongs to.
pub(super) fn prefix(of: GUID) -> Prefix {
    crate::neighbours::prefix(gid(of))
}

/// Creates the topic [`GRAPH`].
///
/// # Errors
/// The errors of DDS.
pub(super) fn graph_topic(participant: &DomainParticipant) -> CreateResult<Topic> {
    participant.create_topic(GRAPH.into(), GRAPH_TYPE.into(), &policies(Qos::LATCHED), TopicKind::NoKey)
}

impl Census {
    /// Subscribes to the topic [`GRAPH`].
    ///
    /// # Errors
    /// The errors of DDS.
    pub(super) fn listening(subscriber: &Subscriber, topic: &Topic, qos: QosPolicies) -> CreateResult<Self> {
        let graph = subscriber.create_simple_datareader_no_key(topic, Some(qos))?;
        Ok(Self { graph, vendors: BTreeMap::new(), nodes: BTreeMap::new(), silent: BTreeMap::new(), changed: false })
    }

    /// Reads the announcements of nodes that have arrived on the topic [`GRAPH`].
    pub(super) fn look(&mut self) {
        self.graph.drain_read_notifications();
        loop {
            match self.graph.try_take_one() {
                Ok(Some(sample)) => {
                    let Raw(bytes) = sample.into_value();
                    self.told(&bytes);
                }
                Ok(None) => return,
                // A message in another encoding is not from ROS.
                Err(_) => {}
            }
        }
    }

    /// Records an event of DDS about the discovery or loss of another participant.
    pub(super) fn learn(&mut self, event: &DomainParticipantStatusEvent) {
        match event {
            DomainParticipantStatusEvent::ParticipantDiscovered { dpd } => {
                if self.vendors.len() < MOST {
                    self.vendors.insert(prefix(dpd.guid), dpd.vendor_id.as_bytes());
                }
                if let Some(nodes) = self.silent.remove(&prefix(dpd.guid)) {
                    self.nodes.entry(nodes.prefix).or_insert(nodes);
                }
            }
            DomainParticipantStatusEvent::ParticipantLost { id, reason } => {
                let Ok(gone) = Prefix::try_from(AsRef::<[u8]>::as_ref(id)) else { return };
                self.vendors.remove(&gone);
                let nodes = self.nodes.remove(&gone);
                match (reason, nodes) {
                    (LostReason::Timeout { .. }, Some(nodes)) if self.silent.len() < MOST => {
                        self.silent.insert(gone, nodes);
                    }
                    (LostReason::Timeout { .. }, _) => {}
                    (LostReason::Disposed, _) => drop(self.silent.remove(&gone)),
                }
            }
            DomainParticipantStatusEvent::ReaderDetected { .. }
            | DomainParticipantStatusEvent::WriterDetected { .. }
            | DomainParticipantStatusEvent::ReaderLost { .. }
            | DomainParticipantStatusEvent::WriterLost { .. } => {}
            _ => return,
        }
        self.changed = true;
    }

    /// Records a message of `ros_discovery_info`. Bytes that are not such a message are ignored.
    fn told(&mut self, bytes: &[u8]) {
        let Ok(nodes) = Nodes::read(bytes) else { return };
        if self.nodes.len() < MOST || self.nodes.contains_key(&nodes.prefix) {
            self.nodes.insert(nodes.prefix, nodes);
            self.changed = true;
        }
    }

    /// Returns the names of a participant's nodes, as far as they are known.
    pub(super) fn names(&self, of: &Prefix) -> Vec<&str> {
        let nodes = self.nodes.get(of).or_else(|| self.silent.get(of));
        nodes.map(|of| of.nodes.iter().map(|(name, _)| name.as_str()).collect()).unwrap_or_default()
    }

    /// Returns `true` if a participant came, went or changed since the last call.
    pub(super) const fn changed(&mut self) -> bool {
        std::mem::replace(&mut self.changed, false)
    }

    /// Returns every participant of the domain except `participant` itself, with its endpoints and nodes.
    pub(super) fn seen(&self, participant: &DomainParticipant) -> Neighbourhood {
        let own = prefix(participant.guid());
        let readers = participant.discovered_readers().into_iter().map(|of| {
            let data = &of.subscription_topic_data;
            let unicast = &of.reader_proxy.unicast_locator_list;
            Endpoint {
                gid: gid(of.reader_proxy.remote_reader_guid),
                side: Side::Reads,
                topic: data.topic_name().clone(),
                kind: data.type_name().clone(),
                qos: quality(&data.qos()),
                type_hash: type_hash::said(&of.user_data),
                at: address(unicast.iter().map(|locator| SocketAddr::from(*locator))),
            }
        });
        let writers = participant.discovered_writers().into_iter().map(|of| {
            let data = &of.publication_topic_data;
            let unicast = &of.writer_proxy.unicast_locator_list;
            Endpoint {
                gid: gid(of.writer_proxy.remote_writer_guid),
                side: Side::Writes,
                topic: data.topic_name.clone(),
                kind: data.type_name.clone(),
                qos: quality(&data.qos()),
                type_hash: type_hash::said(&of.user_data),
                at: address(unicast.iter().map(|locator| SocketAddr::from(*locator))),
            }
        });
        let is_other = |of: &Endpoint| crate::neighbours::prefix(of.gid) != own;
        let endpoints: Vec<_> = readers.chain(writers).filter(is_other).collect();
        let vendors = self.vendors.iter().filter(|(prefix, _)| **prefix != own);
        Neighbourhood {
            participants: vendors.map(|(prefix, vendor)| Participant { prefix: *prefix, vendor: *vendor }).collect(),
            endpoints,
            nodes: self.nodes.values().filter(|nodes| nodes.prefix != own).cloned().collect(),
        }
    }
}

/// Returns the address among `locators` at which an endpoint is reached; `None` if there is none. Loopback addresses,
/// which every machine has, are used only if there is no other.
fn address(locators: impl Iterator<Item = SocketAddr>) -> Option<IpAddr> {
    let all: Vec<_> = locators.map(|at| at.ip()).filter(|ip| !ip.is_unspecified()).collect();
    all.iter().find(|ip| !ip.is_loopback()).or_else(|| all.first()).copied()
}

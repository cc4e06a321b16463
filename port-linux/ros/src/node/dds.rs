//! The DDS transport: sends and receives the bytes of messages, by topic and service.
//!
//! Requests of services name the client in one of three ways (module `client_identity`); a server answers in the same
//! way.

mod client_identity;
mod dds_reconnect;
mod dynamic_endpoints;
mod permanent_endpoints;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use outrigger_ros2_messages::cdr::{ENCAPSULATION, encode};
use outrigger_ros2_messages::endpoint::{Distro, Qos};
use outrigger_ros2_messages::{Gid, NodeEntities, ParticipantEntities, WideGid};
use outrigger_wire::time::{Duration, Instant};
use rustdds::bytes::Bytes;
use rustdds::no_key::{DataWriter, DeserializedCacheChange};
use rustdds::rpc::SampleIdentity;
use rustdds::with_key::WriteOptionsBuilder;
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, DomainParticipantStatusEvent, DomainParticipantStatusListener, GUID,
    Publisher, QosPolicies, RTPSEntity as _, StatusEvented as _, Subscriber, Timestamp,
};

pub(super) use self::client_identity::Asker;
use self::client_identity::Style;
use self::dds_reconnect::Back;
pub use self::dynamic_endpoints::{ServiceClient, TopicPublisher, TopicSubscriber};
use self::permanent_endpoints::endpoint;
use super::discovery_probe;
pub use super::domain_selection::Domain;
pub(super) use super::endpoint_opener::{In, Offers, Out};
use super::interruption_detector::InterruptionDetector;
use super::lost_participants::Returning;
use super::multicast_filter::confine;
use super::participant_registry::{Census, GRAPH, graph_topic};
use super::qos_policies::{policies, quality};
use super::raw_messages::{Payload, Raw, Reader, Through};
use super::unicast_peers::{self, Peers};
use crate::neighbours::{Neighbourhood, OwnEndpoint, Prefix, listed, prefix};
use outrigger::exit::Failure;
use outrigger::host::clock::Clock;

/// The longest wait of an answer until the client's reader is discovered.
const MATCHING: Duration = Duration::from_secs(1);
/// The largest number of answers that wait until the client's reader is discovered.
const WAITING: usize = 64;
/// The largest number of matched endpoints of others that are stored for each endpoint; answers to further ones are
/// delayed.
const MATCHED: usize = 1024;
/// The largest number of remarks about other DDS participants that are stored.
const REMARKS: usize = 64;
/// The largest number of texts about the discovery and loss of DDS participants that are stored until they are read.
const NEWS: usize = 64;
/// The interval at which every reader is examined even if no arrival was signalled.
const SCAN: Duration = Duration::from_millis(50);
type Writer = DataWriter<Payload, Through>;

/// A message that arrived at a subscription or service of the node.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) at: In,
    /// The message in CDR, with the four bytes that name the encoding in front (encapsulation).
    pub(super) bytes: Vec<u8>,
    /// The client to answer, if the message is a request.
    pub(super) asker: Option<Asker>,
}

/// A remark about another DDS participant; each is made once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// An endpoint of another participant and one of this participant have qualities of service that do not match, so
    /// no messages pass between them.
    Incompatible {
        /// The name of the topic in ROS 2 whose qualities of service do not match.
        topic: String,
        /// The quality of service of the other participant's endpoint.
        theirs: String,
        /// The quality of service of this participant's endpoint.
        ours: String,
    },
}

/// A flag that the DDS transport's threads set when data has arrived.
#[derive(Debug, Default)]
struct ArrivalFlag(AtomicBool);

impl Wake for ArrivalFlag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

struct Listening {
    reader: Reader,
    /// The writer of the responses, if the reader receives the requests of a service.
    answers: Option<Writer>,
}

/// A topic that is published, with the messages kept for late subscribers.
struct Published {
    writer: Writer,
    /// The newest messages of a latched topic, for the participant that replaces this one.
    newest: VecDeque<Bytes>,
    /// The number of messages that are kept for late subscribers; 0 if the topic is not latched.
    depth: usize,
}

/// An answer to a request that waits until the client's reader is discovered.
struct Waits {
    to: Asker,
    payload: Bytes,
    until: Instant,
}

/// A participant of one DDS domain, with its endpoints.
pub struct Dds {
    participant: DomainParticipant,
    status: DomainParticipantStatusListener,
    publisher: Publisher,
    subscriber: Subscriber,
    published: Vec<Published>,
    listening: Vec<Listening>,
    graph: Writer,
    census: Census,
    distro: Distro,
    came: Arc<ArrivalFlag>,
    clock: Clock,
    /// The time at which every reader is examined even if no arrival was signalled.
    scan_at: Instant,
    /// The endpoints of other participants that match each endpoint of this participant.
    matched: BTreeMap<GUID, BTreeSet<GUID>>,
    /// The open endpoints of this participant, by their identifiers.
    ours: BTreeMap<GUID, OwnEndpoint>,
    waits: Vec<Waits>,
    remarks: Vec<Remark>,
    news: Vec<String>,
    /// The DDS domain that was joined, with the network interfaces and the hosts to which the node announces itself.
    place: Domain,
    /// The namespace and name of the node that this participant has announced.
    node: Option<(String, String)>,
    returning: Returning,
    /// The participants that were lost and have come back, with which endpoints are matched again.
    back: Vec<Back>,
    /// The time of the last call of `rejoin_if_needed`, which recognizes interruptions.
    looked_at: Instant,
    /// The time and the length of the last interruption of this process that a call of `rejoin_if_needed` noticed.
    stood: Option<(Instant, Duration)>,
    interrupted: InterruptionDetector,
    /// The reason to join the domain again, and the time of the next attempt; `None` if there is no reason.
    rejoins: Option<(String, Instant)>,
    /// The forwarder of this participant's announcements to hosts. Dropped after the participant, because it forwards
    /// the participant's farewell.
    _peers: Option<Peers>,
}

/// Returns the failure of an operation that the operating system or the domain refuses.
fn refused(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::BadInput(format!("ROS 2: {what}: {error}"))
}

impl Dds {
    /// Joins `domain` through the network interfaces with these addresses, and announces the participant to each of
    /// `peers`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] with the operating system's error, or if another program occupies the domain's port;
    /// [`Failure::Connection`] for a peer without an address.
    pub fn join(
        domain: u16,
        interfaces: &[IpAddr],
        peers: &[String],
        distro: Distro,
        clock: Clock,
    ) -> Result<Self, Failure> {
        // It runs as long as the threads of the participant.
        let interrupted = InterruptionDetector::watch().map_err(|error| refused("no thread", error))?;
        // Started first, so that it receives the first messages of the participant.
        let peers = unicast_peers::Listening::start(domain, peers)?;
        let spare = unicast_peers::spare(domain, Ipv4Addr::UNSPECIFIED);
        // Names are resolved once, so that joining again does not wait for a name server.
        let hosts = peers.as_ref().map(|peers| peers.hosts().iter().map(ToString::to_string).collect());
        let place = Domain { domain, interfaces: interfaces.to_vec(), peers: hosts.unwrap_or_default() };
        discovery_probe::can_be_joined(domain).map_err(Failure::BadInput)?;
        let built = DomainParticipantBuilder::new(domain).with_only_networks(interfaces.iter().copied()).build();
        let participant =
            built.map_err(|error| refused(&format!("cannot join domain {domain} at {}", listed(interfaces)), error))?;
        let open = confine(domain, interfaces).err().map(|error| {
            let at = listed(interfaces);
            format!("cannot restrict multicast to {at} ({error}): other interfaces may receive the node and command it")
        });
        let plain = policies(Qos::SYSTEM);
        let publisher = participant.create_publisher(&plain).map_err(|error| refused("no publisher", error))?;
        let subscriber = participant.create_subscriber(&plain).map_err(|error| refused("no subscriber", error))?;
        let (graph, of_nodes) = (policies(Qos::LATCHED), |error| refused(GRAPH, error));
        let topic = graph_topic(&participant).map_err(of_nodes)?;
        let census = Census::listening(&subscriber, &topic, graph.clone()).map_err(of_nodes)?;
        let graph = publisher.create_datawriter_no_key(&topic, Some(graph)).map_err(of_nodes)?;
        let own = prefix(Gid(participant.guid().to_bytes()));
        let told = peers.map(|peers| peers.tell(own, clock)).transpose()?;
        let now = clock.now();
        let returning = Returning::start(domain, interfaces, spare, (own, participant.participant_id()), now);
        Ok(Self {
            status: participant.status_listener(),
            participant,
            publisher,
            subscriber,
            published: vec![],
            listening: vec![],
            graph,
            census,
            distro,
            came: Arc::default(),
            scan_at: now,
            clock,
            matched: BTreeMap::new(),
            ours: BTreeMap::new(),
            waits: vec![],
            remarks: vec![],
            news: open.into_iter().collect(),
            place,
            node: None,
            returning,
            back: vec![],
            looked_at: now,
            stood: None,
            interrupted,
            rejoins: None,
            _peers: told,
        })
    }

    /// Announces the node to which all endpoints of this participant belong, for `ros2 node`.
    pub(super) fn announce(&mut self, namespace: &str, name: &str) {
        self.node = Some((namespace.into(), name.into()));
        let gid = |guid: GUID| Gid(guid.to_bytes());
        let answers = self.listening.iter().filter_map(|listening| listening.answers.as_ref());
        let readers = self.listening.iter().map(|listening| gid(listening.reader.guid())).collect();
        let writers = self
            .published
            .iter()
            .map(|published| &published.writer)
            .chain(answers)
            .map(|writer| gid(writer.guid()))
            .collect();
        self.announce_all(namespace, name, readers, writers);
    }

    /// Announces a node with these readers and writers, some of which were opened after the participant joined.
    pub fn announce_all(&self, namespace: &str, name: &str, readers: Vec<Gid>, writers: Vec<Gid>) {
        let node = NodeEntities {
            node_namespace: if namespace.is_empty() { "/".into() } else { namespace.into() },
            node_name: name.into(),
            reader_gid_seq: readers,
            writer_gid_seq: writers,
        };
        let gid = Gid(self.participant.guid().to_bytes());
        let bytes = if self.distro == Distro::Humble {
            let wide = |gids: &[Gid]| gids.iter().copied().map(WideGid::from).collect();
            let node = NodeEntities {
                reader_gid_seq: wide(&node.reader_gid_seq),
                writer_gid_seq: wide(&node.writer_gid_seq),
                node_namespace: node.node_namespace,
                node_name: node.node_name,
            };
            encode(&ParticipantEntities { gid: WideGid::from(gid), node_entities_info_seq: vec![node] })
        } else {
            encode(&ParticipantEntities { gid, node_entities_info_seq: vec![node] })
        };
        let _ = self.graph.write(Payload(body(bytes)), Some(Timestamp::now()));
    }

    /// Publishes a message. Returns `false` if it was dropped because no buffer was free.
    pub(super) fn publish(&mut self, out: Out, message: Vec<u8>) -> bool {
        let Some(Published { writer, newest, depth }) = self.published.get_mut(out.0) else { return false };
        let bytes = body(message);
        if *depth > 0 {
            newest.truncate(depth.saturating_sub(1));
            newest.push_front(bytes.clone());
        }
        writer.write(Payload(bytes), Some(Timestamp::now())).is_ok()
    }

    /// Queues the answer to a request of the client `to`; it is sent once the client's reader is discovered, and after
    /// [`MATCHING`] in any case. It is dropped if [`WAITING`] answers wait already.
    pub(super) fn answer(&mut self, to: Asker, message: Vec<u8>) {
        let payload = match to.style {
            Style::Beside(_) => body(message),
            Style::Before(header) => {
                let mut prefixed = header.to_vec();
                prefixed.extend_from_slice(message.get(ENCAPSULATION.len()..).unwrap_or_default());
                prefixed.into()
            }
        };
        if self.waits.len() < WAITING {
            self.waits.push(Waits { to, payload, until: self.clock.now() + MATCHING });
        }
        self.answer_those_found();
    }

    /// Returns `true` if a reader of the client's participant is matched with the service's writer.
    fn is_found(&self, to: &Asker) -> bool {
        let Some(writer) = self.listening.get(to.at.0).and_then(|listening| listening.answers.as_ref()) else {
            return false;
        };
        let readers = self.matched.get(&writer.guid());
        readers.is_some_and(|readers| readers.iter().any(|reader| reader.prefix == to.from.prefix))
    }

    fn answer_those_found(&mut self) {
        let now = self.clock.now();
        for waits in std::mem::take(&mut self.waits) {
            // A reader may exist although it was not discovered, so the answer is sent after the wait in any case.
            if !self.is_found(&waits.to) && now < waits.until {
                self.waits.push(waits);
                continue;
            }
            let related = match waits.to.style {
                Style::Beside(identity) => Some(identity),
                Style::Before(_) => None,
            };
            let options = WriteOptionsBuilder::new()
                .source_timestamp(Timestamp::now())
                .related_sample_identity_opt(related)
                .build();
            let writer = self.listening.get(waits.to.at.0).and_then(|listening| listening.answers.as_ref());
            let written = writer.map(|writer| writer.write_with_options(Payload(waits.payload.clone()), options));
            // An answer that finds no free buffer is tried again.
            if matches!(written, Some(Err(_))) && now < waits.until {
                self.waits.push(waits);
            }
        }
    }

    /// Returns the messages that arrived at the node's endpoints since the last call.
    pub(super) fn look(&mut self) -> Vec<Arrival> {
        self.learn_all();
        if !self.waits.is_empty() {
            self.answer_those_found();
        }
        // A message that only becomes readable by a later one is not signalled.
        let (came, now) = (self.came.0.swap(false, Ordering::AcqRel), self.clock.now());
        if !came && now < self.scan_at {
            return vec![];
        }
        self.scan_at = now + SCAN;
        let mut arrivals = vec![];
        for (index, listening) in self.listening.iter().enumerate() {
            let reader = &listening.reader;
            reader.set_waker(Some(Waker::from(Arc::clone(&self.came))));
            reader.drain_read_notifications();
            // A message in another encoding, or a request without a client, is not from ROS.
            loop {
                match reader.try_take_one() {
                    Ok(Some(sample)) => arrivals.extend(arrival(In(index), listening.answers.is_some(), sample)),
                    Ok(None) => break,
                    Err(_) => {}
                }
            }
        }
        arrivals
    }

    /// Handles all pending events about the discovery and loss of other participants.
    pub fn learn_all(&mut self) {
        let now = self.clock.now();
        while let Some(event) = self.status.try_recv_status() {
            self.report_loss(&event);
            self.census.learn(&event);
            if let Some(prefix) = self.returning.learn(&event, now) {
                self.reconnect(prefix, now);
            }
            self.learn(event);
        }
        self.returning.step(now);
        self.match_again(now);
    }

    fn learn(&mut self, event: DomainParticipantStatusEvent) {
        match event {
            DomainParticipantStatusEvent::RemoteReaderMatched { local_writer, remote_reader } => {
                self.matches(local_writer, remote_reader);
            }
            DomainParticipantStatusEvent::RemoteWriterMatched { local_reader, remote_writer } => {
                self.matches(local_reader, remote_writer);
            }
            DomainParticipantStatusEvent::ReaderLost { guid, .. }
            | DomainParticipantStatusEvent::WriterLost { guid, .. } => {
                for others in self.matched.values_mut() {
                    others.remove(&guid);
                }
            }
            DomainParticipantStatusEvent::ParticipantLost { id, .. } => {
                for others in self.matched.values_mut() {
                    others.retain(|other| other.prefix != id);
                }
            }
            DomainParticipantStatusEvent::RemoteReaderQosIncompatible {
                local_writer,
                requested_qos,
                offered_qos,
                ..
            } => {
                self.incompatible(local_writer, &requested_qos, &offered_qos);
            }
            DomainParticipantStatusEvent::RemoteWriterQosIncompatible {
                local_reader,
                requested_qos,
                offered_qos,
                ..
            } => {
                self.incompatible(local_reader, &offered_qos, &requested_qos);
            }
            _ => {}
        }
    }

    fn matches(&mut self, ours: GUID, theirs: GUID) {
        if !self.ours.contains_key(&ours) {
            return;
        }
        let others = self.matched.entry(ours).or_default();
        if others.len() < MATCHED {
            others.insert(theirs);
        }
    }

    fn incompatible(&mut self, of: GUID, theirs: &QosPolicies, ours: &QosPolicies) {
        let Some(of) = self.ours.get(&of) else { return };
        let topic = of.topic.trim_start_matches("rt").to_owned();
        let (theirs, ours) = (quality(theirs).to_string(), quality(ours).to_string());
        let remark = Remark::Incompatible { topic, theirs, ours };
        if self.remarks.len() < REMARKS && !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// Returns the other participants of the domain if they have changed since the last call, else `None`.
    pub(super) fn others(&mut self) -> Option<Neighbourhood> {
        self.census.look();
        self.census.changed().then(|| self.census.seen(&self.participant))
    }

    /// Returns the identifier of this participant, with which those of its endpoints begin.
    pub(super) fn prefix(&self) -> Prefix {
        prefix(Gid(self.participant.guid().to_bytes()))
    }

    /// Reads the announcements of other nodes that have arrived, and discards them.
    pub fn ignore_others(&mut self) {
        let _ = self.others();
    }

    /// Returns the news about the participant and others since the last call, as sentences.
    pub fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }

    /// Returns the first 64 remarks about other participants since the beginning, in the order in which they were made.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
}

/// Returns the bytes of a message without its encapsulation.
fn body(mut message: Vec<u8>) -> Bytes {
    message.drain(..ENCAPSULATION.len().min(message.len()));
    message.into()
}

fn arrival(at: In, is_request: bool, sample: DeserializedCacheChange<Raw>) -> Option<Arrival> {
    let from = sample.writer_guid();
    let own = SampleIdentity { writer_guid: from, sequence_number: sample.sequence_number };
    let related = sample.related_sample_identity();
    let Raw(mut bytes) = sample.into_value();
    if !is_request {
        return Some(Arrival { at, bytes, asker: None });
    }
    let style = Style::of_request(own, related, &mut bytes)?;
    Some(Arrival { at, bytes, asker: Some(Asker { at, from, style }) })
}

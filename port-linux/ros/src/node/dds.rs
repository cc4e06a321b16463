//! DDS as the transport: bytes of messages in and out, by topic and service.
//!
//! Requests of services name the client in one of three ways (module `asker`); a server answers in the same way.

mod again;
mod asker;
mod ends;
mod opened;

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

use self::again::Back;
pub(super) use self::asker::Asker;
use self::asker::Style;
pub use self::ends::{Asking, Hearing, Publishing};
use self::opened::endpoint;
use super::bytes::{Payload, Raw, Reader, Through};
use super::census::{Census, GRAPH, graph_topic};
use super::confined::confine;
use super::interrupted::Interrupted;
pub(super) use super::offers::{In, Offers, Out};
use super::peers::{self, Peers};
pub use super::place::Place;
use super::probe;
use super::quality::{policies, quality};
use super::returning::Returning;
use crate::neighbours::{Ours, Prefix, Seen, listed, prefix};
use outrigger::exit::Failure;
use outrigger::host::clock::Clock;

/// So long an answer waits for its reader to be found.
const MATCHING: Duration = Duration::from_secs(1);
/// Answers that wait for that, at most.
const WAITING: usize = 64;
/// Readers and writers of others that are known at each end, at most: those beyond are answered late.
const MATCHED: usize = 1024;
/// Remarks about others, at most.
const REMARKS: usize = 64;
/// Sentences about what became of the participant and of others, that wait to be told, at most.
const NEWS: usize = 64;
/// Every reader is looked at so often.
const SCAN: Duration = Duration::from_millis(50);
type Writer = DataWriter<Payload, Through>;

/// What came in.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) at: In,
    /// The message, with its encapsulation.
    pub(super) bytes: Vec<u8>,
    /// Of a request.
    pub(super) asker: Option<Asker>,
}

/// A remark on others, in words, once each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A reader or writer of others wants what is not offered.
    Incompatible {
        /// The topic, with its name in ROS 2.
        topic: String,
        /// The quality of service that the others ask for.
        theirs: String,
        /// The quality of service here.
        ours: String,
    },
}

/// Set by the transport's threads where something came.
#[derive(Debug, Default)]
struct Came(AtomicBool);

impl Wake for Came {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

struct Listening {
    reader: Reader,
    /// Of a service: where its answers go.
    answers: Option<Writer>,
}

/// A topic that is published.
struct Published {
    writer: Writer,
    /// The newest messages of a latched topic, for the participant that comes in the place of this one.
    newest: VecDeque<Bytes>,
    /// The number of messages that are kept; 0 where the topic is not latched.
    depth: usize,
}

/// An answer whose reader is not known yet.
struct Waits {
    to: Asker,
    payload: Bytes,
    until: Instant,
}

/// A participant of one domain, with its endpoints.
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
    came: Arc<Came>,
    clock: Clock,
    /// When to look at every reader, told or not.
    scan_at: Instant,
    /// Readers of others that a writer of ours serves, and writers that a reader of ours hears.
    matched: BTreeMap<GUID, BTreeSet<GUID>>,
    /// Endpoints that are open.
    ours: BTreeMap<GUID, Ours>,
    waits: Vec<Waits>,
    remarks: Vec<Remark>,
    news: Vec<String>,
    /// The domain that it has joined.
    place: Place,
    /// Namespace and name of the node that was announced.
    node: Option<(String, String)>,
    returning: Returning,
    /// Participants that were given up and are there again.
    back: Vec<Back>,
    /// The time of the last look, and the last standstill before one.
    looked_at: Instant,
    stood: Option<(Instant, Duration)>,
    interrupted: Interrupted,
    /// The reason to join again, and the time at which that is tried.
    rejoins: Option<(String, Instant)>,
    /// The hosts that are told of it. Behind the participant, whose farewell they are sent.
    _peers: Option<Peers>,
}

/// What the operating system or the domain refuses.
fn refused(what: &str, error: impl std::fmt::Display) -> Failure {
    Failure::BadInput(format!("ROS 2: {what}: {error}"))
}

impl Dds {
    /// Joins `domain` by the network interfaces with these addresses, and announces itself to each of `peers`.
    ///
    /// # Errors
    /// [`Failure::BadInput`] with what the operating system refuses, and where somebody else has the domain's port;
    /// [`Failure::Connection`] for a peer without an address.
    pub fn join(
        domain: u16,
        interfaces: &[IpAddr],
        peers: &[String],
        distro: Distro,
        clock: Clock,
    ) -> Result<Self, Failure> {
        // As long as the threads of the participant.
        let interrupted = Interrupted::watch().map_err(|error| refused("no thread", error))?;
        // It hears the first words of the participant.
        let peers = peers::Listening::start(domain, peers)?;
        let spare = peers::spare(domain, Ipv4Addr::UNSPECIFIED);
        // Names are looked up once: who joins again does not wait for a server of names.
        let hosts = peers.as_ref().map(|peers| peers.hosts().iter().map(ToString::to_string).collect());
        let place = Place { domain, interfaces: interfaces.to_vec(), peers: hosts.unwrap_or_default() };
        probe::can_be_joined(domain).map_err(Failure::BadInput)?;
        let built = DomainParticipantBuilder::new(domain).with_only_networks(interfaces.iter().copied()).build();
        let participant =
            built.map_err(|error| refused(&format!("cannot join domain {domain} at {}", listed(interfaces)), error))?;
        let open = confine(domain, interfaces).err().map(|error| {
            let at = listed(interfaces);
            format!("cannot keep multicast of other interfaces than {at} from the node ({error}): it may be heard and commanded by them")
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

    /// Tells which node all of this belongs to, for `ros2 node`.
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

    /// Announces a node with these readers and writers, which were opened while the participant is there.
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

    /// Publishes a message; one that finds no room is dropped.
    pub(super) fn publish(&mut self, out: Out, message: Vec<u8>) -> bool {
        let Some(Published { writer, newest, depth }) = self.published.get_mut(out.0) else { return false };
        let bytes = body(message);
        if *depth > 0 {
            newest.truncate(depth.saturating_sub(1));
            newest.push_front(bytes.clone());
        }
        writer.write(Payload(bytes), Some(Timestamp::now())).is_ok()
    }

    /// Answers who asked, as soon as its reader is known.
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

    /// Whether a reader of the same participant takes the answers.
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
            // Nobody may have told of a reader that takes it all the same.
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
            // One that finds no room is tried again.
            if matches!(written, Some(Err(_))) && now < waits.until {
                self.waits.push(waits);
            }
        }
    }

    /// What came in since the last look.
    pub(super) fn look(&mut self) -> Vec<Arrival> {
        self.learn_all();
        if !self.waits.is_empty() {
            self.answer_those_found();
        }
        // What becomes readable by a later message alone is told of by nobody.
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
            // What is encoded in another way, or addressed to nobody, is none of ours.
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

    /// Takes what DDS has told of others.
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

    /// Returns everybody else in the domain, where that has changed since the last call.
    pub(super) fn others(&mut self) -> Option<Seen> {
        self.census.look();
        self.census.changed().then(|| self.census.seen(&self.participant))
    }

    /// The first bytes of the names of all that this participant has on DDS.
    pub(super) fn prefix(&self) -> Prefix {
        prefix(Gid(self.participant.guid().to_bytes()))
    }

    /// Takes the descriptions of nodes that others have sent, and drops them.
    pub fn ignore_others(&mut self) {
        let _ = self.others();
    }

    /// Takes what became of the participant and of others, in sentences.
    pub fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.news)
    }

    /// Returns the remarks on others since the beginning, in the order in which they were made.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
}

/// A message without its encapsulation.
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

//! Endpoints that are opened and closed while a participant exists, and the client side of services.
//!
//! A request names its client in one of two ways, and so does its answer. A server of Cyclone DDS is called in its
//! own way; any other is called in the way of Fast DDS, which controllers use.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use outrigger_ros2_messages::Gid;
use outrigger_ros2_messages::cdr::ENCAPSULATION;
use outrigger_ros2_messages::endpoint::Qos;
use rustdds::rpc::SampleIdentity;
use rustdds::with_key::WriteOptionsBuilder;
use rustdds::{GUID, RTPSEntity as _, SequenceNumber, Timestamp};

use super::super::raw_messages::{Payload, Raw, Reader};
use super::client_identity::{CYCLONE_DDS, HEADER};
use super::{Dds, Writer, body, endpoint};
use crate::neighbours::{OwnEndpoint, Side};
use outrigger::exit::Failure;

/// The largest number of requests of one client that wait for a server or an answer; beyond it the oldest is dropped.
const ASKED: usize = 64;
/// The number of bytes before a request of Cyclone DDS that name the client; the bytes after them are the number of
/// the request.
const WHO: usize = 8;

/// A publisher of a topic that can be closed while the participant stays.
pub struct TopicPublisher {
    of: OwnEndpoint,
    writer: Writer,
}

/// A subscription to a topic that can be closed while the participant stays.
pub struct TopicSubscriber {
    of: OwnEndpoint,
    reader: Reader,
}

/// A client of a service that can be closed while the participant stays.
pub struct ServiceClient {
    name: String,
    service: String,
    requests: Writer,
    answers: Reader,
    /// The identifier of this client in requests of Cyclone DDS.
    client: [u8; WHO],
    /// The requests that wait because no server of the service is discovered yet.
    waiting: VecDeque<(u64, Vec<u8>)>,
    /// The caller's numbers of the requests that were sent in the way of Fast DDS and wait for an answer, by the
    /// sequence numbers of those requests.
    beside: BTreeMap<i64, u64>,
}

/// Returns `true` if the endpoint belongs to a participant of Cyclone DDS.
fn is_cyclone(of: GUID) -> bool {
    of.to_bytes().starts_with(&CYCLONE_DDS)
}

/// Returns an identifier for a service client that no other client has.
fn client(answers: GUID) -> [u8; WHO] {
    let bytes = answers.to_bytes();
    std::array::from_fn(|at| bytes[at] ^ bytes[at + WHO])
}

/// Returns a request of Cyclone DDS: the client and the number, followed by the message without its encapsulation.
fn before(client: [u8; WHO], number: u64, message: &[u8]) -> Vec<u8> {
    let mut whole = [client, number.to_le_bytes()].concat();
    whole.extend_from_slice(message.get(ENCAPSULATION.len()..).unwrap_or_default());
    whole
}

/// Returns the number of an answer of Cyclone DDS to this client, and the answer with its encapsulation; `None` if it
/// is for another client, or too short.
fn after(client: [u8; WHO], mut bytes: Vec<u8>) -> Option<(u64, Vec<u8>)> {
    let begin = ENCAPSULATION.len();
    let (whose, number) = bytes.get(begin..begin + HEADER)?.split_at_checked(WHO)?;
    if whose != client {
        return None;
    }
    let number = u64::from_le_bytes(number.try_into().ok()?);
    bytes.drain(begin..begin + HEADER);
    Some((number, bytes))
}

impl Dds {
    /// Opens a publisher of this topic, until it is closed.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the transport refuses.
    pub fn opens(&mut self, name: &str, message: &str, qos: Qos) -> Result<TopicPublisher, Failure> {
        let of = endpoint(Side::Writes, format!("rt{name}"), message, qos);
        self.writer(of.clone()).map(|writer| TopicPublisher { of, writer })
    }

    /// Opens a subscription to this topic, until it is closed.
    ///
    /// # Errors
    /// The errors of [`opens`](Self::opens).
    pub fn hears(&mut self, name: &str, message: &str, qos: Qos) -> Result<TopicSubscriber, Failure> {
        let of = endpoint(Side::Reads, format!("rt{name}"), message, qos);
        self.reader(of.clone()).map(|reader| TopicSubscriber { of, reader })
    }

    /// Opens a client of this service, until it is closed.
    ///
    /// # Errors
    /// The errors of [`opens`](Self::opens).
    pub fn asks(&mut self, name: &str, service: &str) -> Result<ServiceClient, Failure> {
        let of = |side, topic, half| endpoint(side, topic, &format!("{service}_{half}"), Qos::SERVICES);
        let answers = self.reader(of(Side::Reads, format!("rr{name}Reply"), "Response"))?;
        let requests = self.writer(of(Side::Writes, format!("rq{name}Request"), "Request"))?;
        let client = client(answers.guid());
        Ok(ServiceClient {
            name: name.into(),
            service: service.into(),
            requests,
            answers,
            client,
            waiting: VecDeque::new(),
            beside: BTreeMap::new(),
        })
    }

    fn forget(&mut self, ends: impl IntoIterator<Item = GUID>) {
        for end in ends {
            self.ours.remove(&end);
            self.matched.remove(&end);
        }
    }

    /// Returns the reader of a server of this service, one that takes requests and whose answers are received; `None`
    /// if there is none.
    fn server(&self, asking: &ServiceClient) -> Option<GUID> {
        let of = |end: GUID| self.matched.get(&end);
        let (takes, answers) = (of(asking.requests.guid())?, of(asking.answers.guid())?);
        takes.iter().find(|reader| answers.iter().any(|writer| writer.prefix == reader.prefix)).copied()
    }
}

fn gid(guid: GUID) -> Gid {
    Gid(guid.to_bytes())
}

impl TopicPublisher {
    /// Returns the identifiers of the publisher's writers, for [`Dds::announce_all`].
    pub fn writers(&self) -> [Gid; 1] {
        [gid(self.writer.guid())]
    }

    /// Opens the publisher again in `dds`, which has joined again.
    ///
    /// # Errors
    /// The errors of [`Dds::opens`].
    pub fn open_again(&mut self, dds: &mut Dds) -> Result<(), Failure> {
        self.writer = dds.writer(self.of.clone())?;
        Ok(())
    }

    /// Publishes a message on the topic. Returns `false` if no buffer was free.
    pub fn publish(&self, message: Vec<u8>) -> bool {
        self.writer.write(Payload(body(message)), Some(Timestamp::now())).is_ok()
    }

    /// Closes the publisher and drops its matched endpoints from `dds`.
    pub fn close(self, dds: &mut Dds) {
        dds.forget([self.writer.guid()]);
    }
}

impl TopicSubscriber {
    /// Returns the identifiers of the subscription's readers, for [`Dds::announce_all`].
    pub fn readers(&self) -> [Gid; 1] {
        [gid(self.reader.guid())]
    }

    /// Opens the subscription again in `dds`, which has joined again.
    ///
    /// # Errors
    /// The errors of [`Dds::opens`].
    pub fn open_again(&mut self, dds: &mut Dds) -> Result<(), Failure> {
        self.reader = dds.reader(self.of.clone())?;
        Ok(())
    }

    /// Returns the messages that have arrived since the last call, with their encapsulation.
    pub fn take(&self) -> Vec<Vec<u8>> {
        taken(&self.reader).into_iter().map(|(bytes, _)| bytes).collect()
    }

    /// Closes the subscription and drops its matched endpoints from `dds`.
    pub fn close(self, dds: &mut Dds) {
        dds.forget([self.reader.guid()]);
    }
}

impl ServiceClient {
    /// Returns the identifiers of the client's readers, for [`Dds::announce_all`].
    pub fn readers(&self) -> [Gid; 1] {
        [gid(self.answers.guid())]
    }

    /// Returns the identifiers of the client's writers, for [`Dds::announce_all`].
    pub fn writers(&self) -> [Gid; 1] {
        [gid(self.requests.guid())]
    }

    /// Opens the client again in `dds`, which has joined again. Requests that were already sent are not answered.
    ///
    /// # Errors
    /// The errors of [`Dds::opens`].
    pub fn open_again(&mut self, dds: &mut Dds) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        *self = Self { waiting, ..dds.asks(&self.name, &self.service)? };
        Ok(())
    }

    /// Queues a request to the service; it is sent once a server is discovered.
    pub fn ask(&mut self, number: u64, message: Vec<u8>) {
        self.waiting.push_back((number, message));
        while self.waiting.len() > ASKED {
            self.waiting.pop_front();
        }
    }

    /// Returns `true` if a server of the service is discovered.
    pub fn is_served(&self, dds: &Dds) -> bool {
        dds.server(self).is_some()
    }

    /// Sends the queued requests and returns the answers that have arrived, each with the number of its request and
    /// with its encapsulation.
    pub fn attend(&mut self, dds: &Dds) -> Vec<(u64, Vec<u8>)> {
        if !self.waiting.is_empty()
            && let Some(server) = dds.server(self)
        {
            for (number, message) in std::mem::take(&mut self.waiting) {
                self.send(server, number, message);
            }
        }
        let ours: BTreeSet<GUID> = [self.requests.guid(), self.answers.guid()].into();
        let mut answers = vec![];
        for (bytes, related) in taken(&self.answers) {
            answers.extend(match related {
                Some(SampleIdentity { writer_guid, sequence_number }) if ours.contains(&writer_guid) => {
                    self.beside.remove(&i64::from(sequence_number)).map(|number| (number, bytes))
                }
                Some(_) => None,
                None => after(self.client, bytes),
            });
        }
        answers
    }

    fn send(&mut self, server: GUID, number: u64, message: Vec<u8>) {
        if is_cyclone(server) {
            let whole = before(self.client, number, &message);
            // A request that finds no free buffer is lost.
            let _ = self.requests.write(Payload(whole.into()), Some(Timestamp::now()));
            return;
        }
        let identity = SampleIdentity { writer_guid: self.answers.guid(), sequence_number: SequenceNumber::UNKNOWN };
        let options = WriteOptionsBuilder::new()
            .source_timestamp(Timestamp::now())
            .related_sample_identity_opt(Some(identity))
            .build();
        if let Ok(SampleIdentity { sequence_number, .. }) =
            self.requests.write_with_options(Payload(body(message)), options)
        {
            self.beside.insert(i64::from(sequence_number), number);
            if self.beside.len() > ASKED {
                self.beside.pop_first();
            }
        }
    }

    /// Closes the service client and drops its matched endpoints from `dds`.
    pub fn close(self, dds: &mut Dds) {
        dds.forget([self.requests.guid(), self.answers.guid()]);
    }
}

/// Returns the messages that have arrived at a reader, each with its related identity.
fn taken(reader: &Reader) -> Vec<(Vec<u8>, Option<SampleIdentity>)> {
    reader.drain_read_notifications();
    let mut found = vec![];
    loop {
        match reader.try_take_one() {
            Ok(Some(sample)) => {
                let related = sample.related_sample_identity();
                let Raw(bytes) = sample.into_value();
                found.push((bytes, related));
            }
            Ok(None) => return found,
            // A message in another encoding is skipped.
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_cyclone_dds_is_known_by_who_asked_and_its_number() {
        let message = [0, 1, 0, 0, 7];
        let whole = [&ENCAPSULATION[..], &before([3; WHO], 258, &message)].concat();
        assert_eq!(whole, [0, 1, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3, 2, 1, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(after([3; WHO], whole.clone()), Some((258, message.to_vec())));
        assert_eq!(after([4; WHO], whole.clone()), None);
        for length in 0..20 {
            assert_eq!(after([3; WHO], whole[..length].to_vec()), None, "{length}");
        }
    }
}

//! The ROS 2 endpoints that the running program has open: publishers, subscribers with their queues, clients with
//! their answers.

use std::collections::{BTreeMap, VecDeque};

use outrigger_interpreter::Value;
use outrigger_ros2_messages::endpoint::Qos;

use super::outbox::Outbox;
use super::types::{Kind, Pair};
use super::{End, RosOptions, RosOutput};

/// The largest number of bytes that one subscriber's queue holds, whatever its depth.
const BYTES: usize = 8 << 20;
/// The number of requests of one service client that may wait for their answers; if there are more, the oldest is
/// discarded.
const ASKED: usize = 64;

/// The role of a ROS 2 endpoint (publisher, subscriber or service client), with the type of its messages or service.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// A publisher of this type of messages.
    Publisher(&'static Kind),
    /// A subscriber to this type of messages.
    Subscriber(&'static Kind),
    /// A client of this type of service.
    Client(&'static Pair),
}

#[derive(Debug)]
struct Open {
    role: Role,
    name: String,
    qos: Qos,
    /// The newest messages of a latched publisher (one that also sends them to subscribers that appear later), up to
    /// its depth, the oldest first.
    latched: VecDeque<Vec<u8>>,
    /// `true` while a server for the client's service exists.
    served: bool,
    /// Unread messages of a subscriber with their size in bytes, the oldest first.
    unread: VecDeque<(usize, Value)>,
    /// Requests of a service client by their number, each with its answer once that has arrived.
    asked: BTreeMap<u64, Option<Value>>,
}

impl Open {
    fn depth(&self) -> usize {
        usize::from(self.qos.depth).max(1)
    }

    /// Adds a received message to a subscriber's queue. Returns `false` if this endpoint is no subscriber or the
    /// bytes are not a message of its type.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let Role::Subscriber(kind) = self.role else { return false };
        let Some(value) = (kind.decode)(bytes) else { return false };
        self.unread.push_back((bytes.len(), value));
        let held = |unread: &VecDeque<(usize, Value)>| unread.iter().map(|(size, _)| size).sum::<usize>();
        while self.unread.len() > self.depth() || (self.unread.len() > 1 && held(&self.unread) > BYTES) {
            self.unread.pop_front();
        }
        true
    }

    /// Returns whether this subscriber receives that publisher's messages: the topic and the type are equal, and the
    /// publisher offers the requested quality of service.
    fn hears(&self, publisher: &Self) -> bool {
        let (Role::Subscriber(of), Role::Publisher(published)) = (self.role, publisher.role) else { return false };
        let fits = |asked: bool, offered: bool| !asked || offered;
        self.name == publisher.name
            && of.name == published.name
            && fits(self.qos.reliable, publisher.qos.reliable)
            && fits(self.qos.latched, publisher.qos.latched)
    }
}

/// The answer to a ROS 2 service request, as far as it has arrived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Taken {
    /// No answer to the service request has arrived.
    Nothing,
    /// The answer to the service request; it is returned only once.
    Answer(Value),
}

/// All ROS 2 endpoints (publishers, subscribers, service clients) that the running program has open.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) options: RosOptions,
    open: BTreeMap<End, Open>,
    outbox: Outbox,
    /// The number of ROS 2 endpoints that programs have ever opened.
    count: u32,
    /// The number of ROS 2 service requests that programs have ever sent.
    requests: u64,
}

impl Ends {
    pub(crate) fn new(options: RosOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Opens an endpoint for the topic or service `name`. `None` if the program has too many open.
    pub(crate) fn open(&mut self, role: Role, name: String, qos: Qos) -> Option<End> {
        if self.open.len() >= self.options.count {
            return None;
        }
        let end = End(self.count);
        self.count = self.count.wrapping_add(1);
        self.outbox.push(match role {
            Role::Publisher(kind) => RosOutput::Publishes { end, topic: name.clone(), message: kind.name, qos },
            Role::Subscriber(kind) => RosOutput::Listens { end, topic: name.clone(), message: kind.name, qos },
            Role::Client(pair) => RosOutput::Asks { end, service: name.clone(), kind: pair.name },
        });
        let (latched, unread) = (VecDeque::new(), VecDeque::new());
        let mut open = Open { role, name, qos, latched, served: false, unread, asked: BTreeMap::new() };
        // A late subscriber receives the latched messages.
        let earlier = self.open.values().filter(|publisher| qos.latched && open.hears(publisher));
        let earlier: Vec<_> = earlier.flat_map(|publisher| publisher.latched.iter().cloned()).collect();
        for bytes in earlier {
            open.take(&bytes);
        }
        self.open.insert(end, open);
        Some(end)
    }

    /// Returns the role and the topic or service of an endpoint. `None` after it was closed.
    pub(crate) fn find(&self, end: End) -> Option<(Role, &str)> {
        self.open.get(&end).map(|open| (open.role, open.name.as_str()))
    }

    /// Returns whether this ROS 2 endpoint was ever open.
    pub(crate) fn ever(&self, end: End) -> bool {
        end.0 < self.count
    }

    pub(crate) fn close(&mut self, end: End) {
        if self.open.remove(&end).is_some() {
            self.outbox.push(RosOutput::Closed { end });
        }
    }

    /// Closes all ROS 2 endpoints, at the end of the program.
    pub(crate) fn close_all(&mut self) {
        for (end, _) in std::mem::take(&mut self.open) {
            self.outbox.push(RosOutput::Closed { end });
        }
    }

    /// Publishes a message to other participants and to the program's own subscribers.
    pub(crate) fn publish(&mut self, end: End, bytes: Vec<u8>) {
        let Some(mut publisher) = self.open.remove(&end) else { return };
        for subscriber in self.open.values_mut().filter(|open| open.hears(&publisher)) {
            subscriber.take(&bytes);
        }
        if publisher.qos.latched {
            publisher.latched.push_back(bytes.clone());
            let held = |latched: &VecDeque<Vec<u8>>| latched.iter().map(Vec::len).sum::<usize>();
            let depth = publisher.depth();
            while publisher.latched.len() > depth || (publisher.latched.len() > 1 && held(&publisher.latched) > BYTES) {
                publisher.latched.pop_front();
            }
        }
        self.outbox.push_within(RosOutput::Message { end, bytes }, publisher.depth());
        self.open.insert(end, publisher);
    }

    /// Sets whether a server exists for the service that this client calls.
    pub(crate) fn serve(&mut self, end: End, served: bool) {
        if let Some(open) = self.open.get_mut(&end) {
            open.served = served;
        }
    }

    /// Returns whether a server exists for the service that this client calls.
    pub(crate) fn is_served(&self, end: End) -> bool {
        self.open.get(&end).is_some_and(|open| open.served)
    }

    /// Sends a request to a ROS 2 service. Returns the number of the request.
    pub(crate) fn ask(&mut self, end: End, bytes: Vec<u8>) -> u64 {
        let number = self.requests;
        if let Some(open) = self.open.get_mut(&end) {
            self.requests += 1;
            open.asked.insert(number, None);
            if open.asked.len() > ASKED {
                open.asked.pop_first();
            }
            self.outbox.push_within(RosOutput::Request { end, number, bytes }, ASKED);
        }
        number
    }

    /// Returns the answer to a ROS 2 service request, if it has arrived.
    pub(crate) fn answer(&mut self, end: End, number: u64) -> Taken {
        let Some(open) = self.open.get_mut(&end) else { return Taken::Nothing };
        let answered = open.asked.get(&number).is_some_and(Option::is_some);
        let answer = answered.then(|| open.asked.remove(&number)).flatten().flatten();
        answer.map_or(Taken::Nothing, Taken::Answer)
    }

    /// Discards a ROS 2 service request whose answer is no longer needed.
    pub(crate) fn give_up(&mut self, end: End, number: u64) {
        if let Some(open) = self.open.get_mut(&end) {
            open.asked.remove(&number);
        }
    }

    /// Returns whether a ROS 2 subscriber has an unread message.
    pub(crate) fn has_news(&self, end: End) -> bool {
        self.open.get(&end).is_some_and(|open| !open.unread.is_empty())
    }

    /// Returns the newest `count` unread messages of a subscriber, the oldest of them first; the ones before them are
    /// dropped.
    pub(crate) fn read(&mut self, end: End, count: usize) -> Vec<Value> {
        let Some(open) = self.open.get_mut(&end) else { return vec![] };
        let unread = std::mem::take(&mut open.unread);
        let before = unread.len().saturating_sub(count);
        unread.into_iter().skip(before).map(|(_, value)| value).collect()
    }

    pub(crate) fn poll(&mut self) -> Option<RosOutput> {
        self.outbox.poll()
    }

    /// Adds a received message to the queue of the subscriber `end`. Returns whether `end` is a subscriber and the
    /// message is valid for its type.
    pub(crate) fn arrive(&mut self, end: End, bytes: &[u8]) -> bool {
        self.open.get_mut(&end).is_some_and(|open| open.take(bytes))
    }

    /// Stores the answer of a service that has arrived for the client `end`. Returns whether it is a valid answer to a
    /// waiting request.
    pub(crate) fn answered(&mut self, end: End, number: u64, bytes: &[u8]) -> bool {
        let Some(open) = self.open.get_mut(&end) else { return false };
        let Role::Client(pair) = open.role else { return false };
        let Some(waiting @ None) = open.asked.get_mut(&number) else { return false };
        *waiting = (pair.response.decode)(bytes);
        waiting.is_some()
    }
}

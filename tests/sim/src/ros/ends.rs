//! What the running program has open: publishers, subscribers with their queues, clients with their answers.

use std::collections::{BTreeMap, VecDeque};

use outrigger_interpreter::Value;
use outrigger_ros2_messages::endpoint::Qos;

use super::outbox::Outbox;
use super::types::{Kind, Pair};
use super::{End, RosOptions, RosOutput};

/// Bytes that wait for one subscriber, whatever the depth of its queue.
const BYTES: usize = 8 << 20;
/// Requests of one client that wait for their answers; of more, the oldest is forgotten.
const ASKED: usize = 64;

/// What an end is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// Publishes such messages.
    Publisher(&'static Kind),
    /// Hears such messages.
    Subscriber(&'static Kind),
    /// Calls such a service.
    Client(&'static Pair),
}

#[derive(Debug)]
struct Open {
    role: Role,
    name: String,
    depth: usize,
    /// Of a subscriber: messages that nobody has read, the oldest first, with the size of their bytes.
    unread: VecDeque<(usize, Value)>,
    /// Of a client: requests by their number, with their answers.
    asked: BTreeMap<u64, Option<Value>>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Taken {
    /// Nobody has answered it.
    Nothing,
    /// Its answer, which is told once.
    Answer(Value),
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) options: RosOptions,
    open: BTreeMap<End, Open>,
    outbox: Outbox,
    /// Ends that there ever were.
    count: u32,
    /// Requests that there ever were.
    requests: u64,
}

impl Ends {
    pub(crate) fn new(options: RosOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Opens an end at this topic or service; none where there are too many.
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
        let depth = usize::from(qos.depth).max(1);
        self.open.insert(end, Open { role, name, depth, unread: VecDeque::new(), asked: BTreeMap::new() });
        Some(end)
    }

    /// What an end is for, and where; none once it is closed.
    pub(crate) fn find(&self, end: End) -> Option<(Role, &str)> {
        self.open.get(&end).map(|open| (open.role, open.name.as_str()))
    }

    /// Whether there was such an end at any time.
    pub(crate) fn ever(&self, end: End) -> bool {
        end.0 < self.count
    }

    pub(crate) fn close(&mut self, end: End) {
        if self.open.remove(&end).is_some() {
            self.outbox.push(RosOutput::Closed { end });
        }
    }

    /// The program is over.
    pub(crate) fn close_all(&mut self) {
        for (end, _) in std::mem::take(&mut self.open) {
            self.outbox.push(RosOutput::Closed { end });
        }
    }

    /// Publishes a message.
    pub(crate) fn publish(&mut self, end: End, bytes: Vec<u8>) {
        if let Some(open) = self.open.get(&end) {
            self.outbox.push_within(RosOutput::Message { end, bytes }, open.depth);
        }
    }

    /// Calls a service: the number of the request.
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

    /// What became of a request.
    pub(crate) fn answer(&mut self, end: End, number: u64) -> Taken {
        let Some(open) = self.open.get_mut(&end) else { return Taken::Nothing };
        let answered = open.asked.get(&number).is_some_and(Option::is_some);
        let answer = answered.then(|| open.asked.remove(&number)).flatten().flatten();
        answer.map_or(Taken::Nothing, Taken::Answer)
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn give_up(&mut self, end: End, number: u64) {
        if let Some(open) = self.open.get_mut(&end) {
            open.asked.remove(&number);
        }
    }

    /// Whether a message waits to be read.
    pub(crate) fn has_news(&self, end: End) -> bool {
        self.open.get(&end).is_some_and(|open| !open.unread.is_empty())
    }

    /// The newest `count` messages that nobody has read, the oldest of them first; those before them are dropped.
    pub(crate) fn read(&mut self, end: End, count: usize) -> Vec<Value> {
        let Some(open) = self.open.get_mut(&end) else { return vec![] };
        let unread = std::mem::take(&mut open.unread);
        let before = unread.len().saturating_sub(count);
        unread.into_iter().skip(before).map(|(_, value)| value).collect()
    }

    pub(crate) fn poll(&mut self) -> Option<RosOutput> {
        self.outbox.poll()
    }

    /// A message has come: whether it is one, for somebody who listens.
    pub(crate) fn arrive(&mut self, end: End, bytes: &[u8]) -> bool {
        let Some(open) = self.open.get_mut(&end) else { return false };
        let Role::Subscriber(kind) = open.role else { return false };
        let Some(value) = (kind.decode)(bytes) else { return false };
        open.unread.push_back((bytes.len(), value));
        let held = |unread: &VecDeque<(usize, Value)>| unread.iter().map(|(size, _)| size).sum::<usize>();
        while open.unread.len() > open.depth || (open.unread.len() > 1 && held(&open.unread) > BYTES) {
            open.unread.pop_front();
        }
        true
    }

    /// An answer has come: whether it is one, for a request that waits for it.
    pub(crate) fn answered(&mut self, end: End, number: u64, bytes: &[u8]) -> bool {
        let Some(open) = self.open.get_mut(&end) else { return false };
        let Role::Client(pair) = open.role else { return false };
        let Some(waiting @ None) = open.asked.get_mut(&number) else { return false };
        *waiting = (pair.response.decode)(bytes);
        waiting.is_some()
    }
}

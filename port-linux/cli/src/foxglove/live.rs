//! The channels of a session, and the messages that wait for each client. A message is encoded once for all clients.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Message;

use super::protocol::{Channel, Request, Subscription, advertise, message_data};
use outrigger::json;
use outrigger::record::Sink;

/// The largest number of messages that wait for one client; older ones are dropped.
const MOST_WAITING: usize = 256;
/// The largest size of the messages that wait for one client \[B\]; older ones are dropped.
const MOST_BYTES: usize = 1 << 20;

/// The channels of a session and their clients. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Live(Arc<Mutex<Shared>>);

#[derive(Debug, Default)]
struct Shared {
    /// The descriptions of the channels, in the order of their numbers.
    channels: Vec<String>,
    /// The clients by their numbers.
    clients: BTreeMap<u64, Waiting>,
    /// The number of clients so far.
    joined: u64,
    /// The number of messages that slow clients have missed.
    dropped: u64,
    is_over: bool,
}

/// The data that waits for a client.
#[derive(Debug, Default)]
struct Waiting {
    /// The numbers of the client's subscriptions by those of the channels.
    subscriptions: BTreeMap<u16, u32>,
    messages: VecDeque<Encoded>,
    /// The size of the messages \[B\].
    bytes: usize,
    /// The number of messages that were dropped since the client was last told.
    dropped: u64,
    wake: Arc<Notify>,
}

/// A message of a channel for a subscription.
#[derive(Debug)]
struct Encoded {
    subscription: u32,
    at: u64,
    data: Arc<[u8]>,
}

impl Waiting {
    /// Adds a message, and drops the oldest ones beyond the limits. Returns the number of those.
    fn push(&mut self, message: Encoded) -> u64 {
        self.bytes += message.data.len();
        self.messages.push_back(message);
        let before = self.dropped;
        while self.messages.len() > MOST_WAITING || (self.bytes > MOST_BYTES && self.messages.len() > 1) {
            self.pop();
            self.dropped += 1;
        }
        self.wake.notify_one();
        self.dropped - before
    }

    fn pop(&mut self) -> Option<Encoded> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.data.len();
        Some(message)
    }
}

impl Live {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client, until the result is dropped.
    pub(super) fn join(&self) -> Client {
        let mut shared = self.shared();
        shared.joined += 1;
        let (number, waiting) = (shared.joined, Waiting::default());
        let wake = Arc::clone(&waiting.wake);
        shared.clients.insert(number, waiting);
        drop(shared);
        Client { live: self.clone(), number, wake, offered: None }
    }

    /// Ends the session: clients receive what waits for them, and then the end.
    pub(super) fn end(&self) {
        let mut shared = self.shared();
        shared.is_over = true;
        shared.clients.values().for_each(|client| client.wake.notify_one());
    }

    /// Returns the number of messages that slow clients have missed.
    pub(super) fn dropped(&self) -> u64 {
        self.shared().dropped
    }
}

impl Sink for Live {
    type Error = io::Error;
    const REPEATS: bool = true;
    const BYTES: bool = false;

    fn add_channel(&mut self, topic: &str, schema: Option<(&str, &str)>) -> io::Result<u16> {
        let mut shared = self.shared();
        let id = u16::try_from(shared.channels.len())
            .map_err(|_| io::Error::other(format!("{topic}: more than {} channels", usize::from(u16::MAX) + 1)))?;
        let (schema_name, schema) = schema.unwrap_or_default();
        let channel = Channel { id, topic, encoding: "json", schema_name, schema_encoding: "jsonschema", schema };
        shared.channels.push(json::text(&channel));
        shared.clients.values().for_each(|client| client.wake.notify_one());
        Ok(id)
    }

    fn is_wanted(&self, channel: u16) -> bool {
        self.shared().clients.values().any(|client| client.subscriptions.contains_key(&channel))
    }

    fn write(&mut self, channel: u16, at: u64, data: &[u8]) -> io::Result<()> {
        let mut shared = self.shared();
        let shared = &mut *shared;
        let data: Arc<[u8]> = data.into();
        for client in shared.clients.values_mut() {
            if let Some(subscription) = client.subscriptions.get(&channel).copied() {
                shared.dropped += client.push(Encoded { subscription, at, data: Arc::clone(&data) });
            }
        }
        Ok(())
    }
}

/// A client among those of a session. It leaves when this is dropped.
#[derive(Debug)]
pub(super) struct Client {
    live: Live,
    number: u64,
    wake: Arc<Notify>,
    /// The number of channels that the client knows. `None` before it is told of any.
    offered: Option<usize>,
}

impl Client {
    /// Waits for the next message to the client. Returns `None` at the end of the session. Dropping the future loses
    /// nothing.
    pub(super) async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(next) = self.now() {
                return next;
            }
            self.wake.notified().await;
        }
    }

    /// Returns the next message; `Some(None)` for the end. `None` if there is nothing yet.
    pub(super) fn now(&mut self) -> Option<Option<Message>> {
        let mut shared = self.live.shared();
        let known = shared.channels.len();
        // The protocol asks for at least one such message, even if there is no channel yet.
        if self.offered != Some(known) {
            let new = shared.channels.get(self.offered.unwrap_or_default()..).unwrap_or_default();
            let text = advertise(new);
            self.offered = Some(known);
            return Some(Some(Message::text(text)));
        }
        let is_over = shared.is_over;
        let message = shared.clients.get_mut(&self.number)?.pop();
        drop(shared);
        match message {
            Some(Encoded { subscription, at, data }) => {
                Some(Some(Message::binary(message_data(subscription, at, &data))))
            }
            None => is_over.then_some(None),
        }
    }

    /// Returns the number of messages that this client has missed since the last call.
    pub(super) fn missed(&self) -> u64 {
        let mut shared = self.live.shared();
        shared.clients.get_mut(&self.number).map_or(0, |client| std::mem::take(&mut client.dropped))
    }

    /// Processes a request of the client.
    ///
    /// # Errors
    /// Returns a text for the client's user: the first part of the request that was not accepted.
    pub(super) fn take(&self, request: Request) -> Result<(), String> {
        let mut shared = self.live.shared();
        let shared = &mut *shared;
        let Some(client) = shared.clients.get_mut(&self.number) else { return Ok(()) };
        match request {
            Request::Subscribe { subscriptions } => {
                let known = shared.channels.len();
                subscriptions.iter().map(|one| subscribe(client, known, one)).fold(Ok(()), Result::and)
            }
            Request::Unsubscribe { subscription_ids } => {
                client.subscriptions.retain(|_, id| !subscription_ids.contains(id));
                Ok(())
            }
        }
    }
}

/// Adds a subscription of a client to one of `known` channels.
fn subscribe(client: &mut Waiting, known: usize, one: &Subscription) -> Result<(), String> {
    let Subscription { id, channel_id } = *one;
    let channel = u16::try_from(channel_id).ok().filter(|channel| usize::from(*channel) < known);
    let Some(channel) = channel else { return Err(format!("subscription {id}: there is no channel {channel_id}")) };
    if client.subscriptions.values().any(|other| *other == id) {
        return Err(format!("subscription {id}: its id is that of another subscription"));
    }
    if client.subscriptions.contains_key(&channel) {
        return Err(format!("subscription {id}: channel {channel_id} has a subscription already"));
    }
    client.subscriptions.insert(channel, id);
    Ok(())
}

impl Drop for Client {
    fn drop(&mut self) {
        self.live.shared().clients.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(live: &Live) -> Client {
        let mut client = live.join();
        assert!(matches!(client.now(), Some(Some(Message::Text(_)))), "an advertisement");
        client
    }

    fn ask(client: &Client, text: &str) -> Result<(), String> {
        client.take(Request::parse(text)?)
    }

    /// Returns the time of the next message and its size. `None` if nothing waits.
    fn next(client: &mut Client) -> Option<(u64, usize)> {
        let Some(Some(Message::Binary(message))) = client.now() else { return None };
        let at = message.get(5..13)?.try_into().ok()?;
        Some((u64::from_le_bytes(at), message.len() - 13))
    }

    #[test]
    fn a_slow_client_gets_the_newest_messages_and_their_memory_is_bounded() {
        let mut live = Live::default();
        let channel = live.add_channel("/a", Some(("a", "{}"))).expect("room");
        let (mut slow, mut quick) = (client(&live), client(&live));
        for client in [&slow, &quick] {
            ask(client, r#"{"op":"subscribe","subscriptions":[{"id":7,"channelId":0}]}"#).expect("a channel");
        }
        for at in 0..300 {
            live.write(channel, at, b"{}").expect("it is live");
            assert_eq!(next(&mut quick), Some((at, 2)));
        }
        assert_eq!((slow.missed(), slow.missed(), quick.missed(), live.dropped()), (44, 0, 0, 44));
        let all: Vec<_> = std::iter::from_fn(|| next(&mut slow)).map(|(at, _)| at).collect();
        assert_eq!(all, (44..300).collect::<Vec<_>>());
        let long = vec![b' '; 600_000];
        for at in 0..3 {
            live.write(channel, at, &long).expect("it is live");
        }
        assert_eq!((next(&mut slow), next(&mut slow)), (Some((2, long.len())), None), "1 MiB at most");
    }

    #[test]
    fn a_channel_is_wanted_while_a_client_has_a_subscription_and_a_false_one_is_refused() {
        let mut live = Live::default();
        let mut client = client(&live);
        let channel = live.add_channel("/a", Some(("a", "{}"))).expect("room");
        assert!(matches!(client.now(), Some(Some(Message::Text(text))) if text.contains("\"topic\":\"/a\"")));
        assert!(client.now().is_none() && !live.is_wanted(channel));
        let both = r#"{"op":"subscribe","subscriptions":[{"id":1,"channelId":9},{"id":2,"channelId":0}]}"#;
        assert_eq!(ask(&client, both), Err("subscription 1: there is no channel 9".into()));
        assert!(live.is_wanted(channel), "the other one holds");
        let again = r#"{"op":"subscribe","subscriptions":[{"id":2,"channelId":0}]}"#;
        assert!(ask(&client, again).is_err_and(|error| error.contains("its id is that of another")));
        let other = r#"{"op":"subscribe","subscriptions":[{"id":3,"channelId":0}]}"#;
        assert!(ask(&client, other).is_err_and(|error| error.contains("has a subscription already")));
        ask(&client, r#"{"op":"unsubscribe","subscriptionIds":[2,5]}"#).expect("it is one");
        assert!(!live.is_wanted(channel));
        ask(&client, again).expect("the id is free again");
        live.write(channel, 5, b"{}").expect("it is live");
        live.end();
        assert_eq!(next(&mut client), Some((5, 2)));
        assert!(matches!(client.now(), Some(None)), "the end comes last");
        drop(client);
        assert!(!live.is_wanted(channel));
    }
}

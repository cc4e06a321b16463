//! The messages of Foxglove's WebSocket protocol, as far as a server that is only read needs them.

use serde::{Deserialize, Serialize};
use tokio_tungstenite::tungstenite::Bytes;

use outrigger::json;

/// The subprotocol of WebSocket that this server speaks.
pub(super) const PROTOCOL: &str = "foxglove.sdk.v1";
/// The opcode of a message of a channel.
const MESSAGE_DATA: u8 = 1;

/// A description of the server, the first message that a client receives.
#[derive(Serialize)]
#[serde(tag = "op", rename = "serverInfo", rename_all = "camelCase")]
pub(super) struct ServerInfo<'m> {
    /// The text that clients show.
    pub(super) name: &'m str,
    /// The optional features of the server: none.
    pub(super) capabilities: [&'m str; 0],
    /// A text by which clients recognize the same session after a loss of the connection.
    pub(super) session_id: &'m str,
}

/// A channel that clients can subscribe to.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Channel<'m> {
    pub(super) id: u16,
    pub(super) topic: &'m str,
    pub(super) encoding: &'m str,
    pub(super) schema_name: &'m str,
    pub(super) schema_encoding: &'m str,
    /// The JSON Schema of the channel's messages, as text.
    pub(super) schema: &'m str,
}

/// Returns the message that offers channels, each described by a [`Channel`] as JSON.
pub(super) fn advertise(channels: &[String]) -> String {
    format!("{{\"op\":\"advertise\",\"channels\":[{}]}}", channels.join(","))
}

/// The severity of a [`Status`], by the protocol's numbers.
#[derive(Clone, Copy)]
pub(super) enum Severity {
    Warning = 1,
    Error = 2,
}

#[derive(Serialize)]
#[serde(tag = "op", rename = "status")]
struct Status<'m> {
    level: u8,
    message: &'m str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m str>,
}

/// Returns the message that shows `text` to the client's user. One with an `id` replaces the earlier one with it.
pub(super) fn status(severity: Severity, text: &str, id: Option<&str>) -> String {
    json::text(&Status { level: severity as u8, message: text, id })
}

/// Returns a message of a channel, for the client's subscription with this number. `at` is its time since 1970 \[ns\].
pub(super) fn message_data(subscription: u32, at: u64, data: &[u8]) -> Bytes {
    let mut message = Vec::with_capacity(13 + data.len());
    message.push(MESSAGE_DATA);
    message.extend_from_slice(&subscription.to_le_bytes());
    message.extend_from_slice(&at.to_le_bytes());
    message.extend_from_slice(data);
    message.into()
}

/// A message of a client.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Request {
    /// Asks for the messages of channels.
    Subscribe { subscriptions: Vec<Subscription> },
    /// Ends subscriptions.
    Unsubscribe { subscription_ids: Vec<u32> },
}

/// A subscription of a client to a channel.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subscription {
    /// The number of the subscription, which the client chooses.
    pub(super) id: u32,
    /// The number of the channel.
    pub(super) channel_id: u64,
}

impl Request {
    /// Returns the request of a client's text message.
    ///
    /// # Errors
    /// Returns a text for the client's user: what is wrong with the message.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("message not accepted: {error}; {READ_ONLY}"))
    }
}

/// The reason why most messages of clients are not accepted.
pub(super) const READ_ONLY: &str = "this server is read-only and has no capability, such as clientPublish";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_fields_of_the_specification() {
        let info = ServerInfo { name: "x", capabilities: [], session_id: "1675789422160" };
        assert_eq!(
            json::text(&info),
            r#"{"op":"serverInfo","name":"x","capabilities":[],"sessionId":"1675789422160"}"#
        );
        let (schema_name, schema_encoding, schema) = ("t2-schema", "jsonschema", r#"{"type": "object"}"#);
        let channel = Channel { id: 20, topic: "/t2", encoding: "json", schema_name, schema_encoding, schema };
        assert_eq!(
            advertise(&[json::text(&channel)]),
            r#"{"op":"advertise","channels":[{"id":20,"topic":"/t2","encoding":"json","schemaName":"t2-schema","schemaEncoding":"jsonschema","schema":"{\"type\": \"object\"}"}]}"#
        );
        assert_eq!(advertise(&[]), r#"{"op":"advertise","channels":[]}"#);
        assert_eq!(status(Severity::Warning, "Oh no", None), r#"{"op":"status","level":1,"message":"Oh no"}"#);
        assert_eq!(status(Severity::Error, "a", Some("b")), r#"{"op":"status","level":2,"message":"a","id":"b"}"#);
        assert_eq!(message_data(30, 1234, b"{}")[..], *b"\x01\x1e\0\0\0\xd2\x04\0\0\0\0\0\0{}");
    }

    #[test]
    fn requests_are_read_and_others_are_refused_with_the_reason() {
        let request =
            Request::parse(r#"{"op":"subscribe","subscriptions":[{"id":0,"channelId":3},{"id":1,"channelId":5}]}"#);
        let Ok(Request::Subscribe { subscriptions }) = request else { panic!("a subscription") };
        let numbers: Vec<_> = subscriptions.iter().map(|one| (one.id, one.channel_id)).collect();
        assert_eq!(numbers, [(0, 3), (1, 5)]);
        let request = Request::parse(r#"{"op":"unsubscribe","subscriptionIds":[0,1]}"#);
        assert!(matches!(request, Ok(Request::Unsubscribe { subscription_ids }) if subscription_ids == [0, 1]));
        for (message, expected) in [
            ("{", "EOF while parsing an object"),
            ("[]", "missing field `op`"),
            (r#"{"op":"subscribe"}"#, "missing field `subscriptions`"),
            (r#"{"op":"advertise","channels":[]}"#, "unknown variant `advertise`"),
        ] {
            let refused = Request::parse(message).err().expect("it is none");
            assert!(refused.contains(expected) && refused.contains("clientPublish"), "{message}: {refused}");
        }
    }
}

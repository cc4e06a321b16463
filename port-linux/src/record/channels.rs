//! The channels of a session's data: one for each kind of decoded data, and for the bytes from which it was decoded. They
//! are written to a recording, or sent to readers over a network.

use std::collections::HashMap;

use outrigger_wire::fields::{FieldVisitor, Value};
use outrigger_wire::time::Instant;
use serde::Serialize;

use super::common_values::{Timestamp, timestamp};
use super::schema::schema_of;
use crate::feed::recorded::LOG;
use crate::json;
use crate::json::fields::Fields;

/// The severity of a log line, by Foxglove's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Info = 2,
    Warning = 3,
    Error = 4,
}

/// A log line as `foxglove.Log`.
#[derive(Serialize)]
struct Line<'l> {
    timestamp: Timestamp,
    level: u8,
    message: &'l str,
    name: &'l str,
    file: &'static str,
    line: u32,
}

/// A destination for the channels of a session's data: a recording, or readers over a network.
pub trait Sink {
    /// The reason why a message cannot be stored or sent.
    type Error;
    /// `true` for readers that connect at any time: data that is written when it changes is repeated for them.
    const REPEATS: bool;
    /// `true` if the sink takes the bytes of connections beside decoded data.
    const BYTES: bool;

    /// Adds a channel for `topic`, and returns its number. `schema` has the name and the JSON Schema of its messages in
    /// JSON; without it they are bytes.
    ///
    /// # Errors
    /// Returns the reason why the channel cannot be stored or announced.
    fn add_channel(&mut self, topic: &str, schema: Option<(&str, &str)>) -> Result<u16, Self::Error>;

    /// Returns `true` if a message on this channel would be stored or sent now.
    fn is_wanted(&self, channel: u16) -> bool;

    /// Writes a message to a channel. `at` is its time since 1970 \[ns\].
    ///
    /// # Errors
    /// Returns the reason why the message cannot be stored or sent.
    fn write(&mut self, channel: u16, at: u64, data: &[u8]) -> Result<(), Self::Error>;
}

/// The channels of a session's data in a [`Sink`].
pub(super) struct Channels<S> {
    sink: S,
    /// The numbers of the channels by their topics.
    numbers: HashMap<String, u16>,
    fields: Fields,
    /// The time at the start of the process's clock, since 1970 \[ns\].
    origin: u64,
    /// The size of the messages written so far, before compression \[B\].
    bytes: u64,
    messages: u64,
}

impl<S: Sink> Channels<S> {
    /// Creates the channels of a session in `sink`. `origin` is the time at which the process's clock started, since
    /// 1970 \[ns\].
    pub(super) fn new(sink: S, origin: u64) -> Self {
        Self { sink, numbers: HashMap::new(), fields: Fields::with_nulls(), origin, bytes: 0, messages: 0 }
    }

    /// Returns the destination of the channels.
    pub(super) const fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Converts a time of the process's clock to the time since 1970 \[ns\].
    pub(super) const fn nanos(&self, at: Instant) -> u64 {
        self.origin.saturating_add(at.as_micros().saturating_mul(1_000))
    }

    /// Returns the number of messages written to the sink, and their size before compression \[B\].
    pub(super) const fn written(&self) -> (u64, u64) {
        (self.messages, self.bytes)
    }

    /// Writes a message with the fields that `visit` passes. `schema` is the name of its kind.
    pub(super) fn message(
        &mut self,
        topic: &str,
        schema: &str,
        at: Instant,
        visit: &dyn Fn(&mut dyn FieldVisitor),
    ) -> Result<(), S::Error> {
        let channel = self.described(topic, schema, visit)?;
        self.described_message(channel, at, visit)
    }

    /// Writes a message with the fields that `visit` passes to a channel that was [described](Self::described).
    pub(super) fn described_message(
        &mut self,
        channel: u16,
        at: Instant,
        visit: &dyn Fn(&mut dyn FieldVisitor),
    ) -> Result<(), S::Error> {
        if !self.sink.is_wanted(channel) {
            return Ok(());
        }
        let mut fields = std::mem::take(&mut self.fields);
        fields.object(|fields| visit(fields));
        let written = self.write(channel, at, fields.as_str().as_bytes());
        self.fields = fields;
        written
    }

    /// Writes bytes of a connection's traffic, if the sink takes them. An empty message says that a connection starts, or that
    /// earlier bytes are missing.
    pub(super) fn raw(&mut self, topic: &str, at: Instant, bytes: &[u8]) -> Result<(), S::Error> {
        if !S::BYTES {
            return Ok(());
        }
        let channel = match self.numbers.get(topic) {
            Some(number) => *number,
            None => self.add_channel(topic, None)?,
        };
        self.write(channel, at, bytes)
    }

    /// Writes a log line, as `foxglove.Log`.
    pub(super) fn log(&mut self, level: Level, at: Instant, name: &str, text: &str) -> Result<(), S::Error> {
        let nanos = self.nanos(at);
        let channel = self.described(LOG, "foxglove.Log", &|visitor| {
            timestamp(nanos, visitor);
            visitor.field("level", Value::Unsigned(0));
            for text in ["message", "name", "file"] {
                visitor.field(text, Value::Text(b""));
            }
            visitor.field("line", Value::Unsigned(0));
        })?;
        if !self.sink.is_wanted(channel) {
            return Ok(());
        }
        let (level, timestamp) = (level as u8, Timestamp::of(nanos));
        let line = Line { timestamp, level, message: text, name, file: "", line: 0 };
        self.write(channel, at, json::text(&line).as_bytes())
    }

    /// Returns the number of the topic's channel. If there is none, adds it with a schema for messages like the one that
    /// `visit` passes.
    pub(super) fn described(
        &mut self,
        topic: &str,
        schema: &str,
        visit: &dyn Fn(&mut dyn FieldVisitor),
    ) -> Result<u16, S::Error> {
        match self.numbers.get(topic) {
            Some(number) => Ok(*number),
            None => self.add_channel(topic, Some((schema, &schema_of(schema, visit)))),
        }
    }

    fn add_channel(&mut self, topic: &str, schema: Option<(&str, &str)>) -> Result<u16, S::Error> {
        let number = self.sink.add_channel(topic, schema)?;
        self.numbers.insert(topic.to_owned(), number);
        Ok(number)
    }

    fn write(&mut self, channel: u16, at: Instant, data: &[u8]) -> Result<(), S::Error> {
        self.messages += 1;
        self.bytes += data.len() as u64;
        self.sink.write(channel, self.nanos(at), data)
    }
}

//! A recording: an MCAP file with a channel for each kind of decoded data, and for the bytes from which it was
//! decoded.

use std::collections::{BTreeMap, HashMap};
use std::io::{Seek, Write};

use mcap::records::{MessageHeader, Metadata};
use mcap::{Compression, McapError, WriteOptions, Writer};
use outrigger_wire::fields::{FieldVisitor, Value};
use outrigger_wire::time::Instant;
use serde::Serialize;

use super::common_values::{Timestamp, timestamp};
use super::schema::schema_of;
use crate::feed::recorded::LOG;
use crate::json;
use crate::json::fields::Fields;

/// The severity of a log line in the recording, by Foxglove's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Info = 2,
    Warning = 3,
    Error = 4,
}

/// The compression of recordings. A program without the feature `lz4` has none.
#[cfg(feature = "lz4")]
const COMPRESSION: Option<Compression> = Some(Compression::Lz4);
#[cfg(not(feature = "lz4"))]
const COMPRESSION: Option<Compression> = None;

/// A log line in a recording, as `foxglove.Log`.
#[derive(Serialize)]
struct Line<'l> {
    timestamp: Timestamp,
    level: u8,
    message: &'l str,
    name: &'l str,
    file: &'static str,
    line: u32,
}

struct Channel {
    id: u16,
    next: u32,
}

/// An MCAP file that is being written.
pub(super) struct File<W: Write + Seek> {
    writer: Writer<W>,
    channels: HashMap<String, Channel>,
    fields: Fields,
    /// The time at the start of the process's clock, since 1970 \[ns\].
    origin: u64,
    /// The size of the messages written to the recording so far, before compression \[B\].
    bytes: u64,
    messages: u64,
}

impl<W: Write + Seek> File<W> {
    /// Writes the header of an MCAP file to `to`. `origin` is the time at which the process's clock started, since
    /// 1970 \[ns\].
    pub(super) fn begin(to: W, compressed: bool, origin: u64) -> Result<Self, McapError> {
        let options = WriteOptions::new()
            .compression(if compressed { COMPRESSION } else { None })
            .library(concat!("outrigger ", env!("CARGO_PKG_VERSION")));
        let writer = options.create(to)?;
        let fields = Fields::with_nulls();
        Ok(Self { writer, channels: HashMap::new(), fields, origin, bytes: 0, messages: 0 })
    }

    /// Converts a time of the process's clock to the time since 1970 \[ns\].
    pub(super) const fn nanos(&self, at: Instant) -> u64 {
        self.origin.saturating_add(at.as_micros().saturating_mul(1_000))
    }

    /// Returns the number of messages written to the recording, and their size before compression \[B\].
    pub(super) const fn written(&self) -> (u64, u64) {
        (self.messages, self.bytes)
    }

    /// Writes a message with the fields that `visit` passes to the recording. `schema` is the name of its kind.
    pub(super) fn message(
        &mut self,
        topic: &str,
        schema: &str,
        at: Instant,
        visit: &dyn Fn(&mut dyn FieldVisitor),
    ) -> Result<(), McapError> {
        self.described(topic, schema, visit)?;
        let mut fields = std::mem::take(&mut self.fields);
        fields.object(|fields| visit(fields));
        let written = self.write(topic, at, fields.as_str().as_bytes());
        self.fields = fields;
        written
    }

    /// Writes bytes of a connection's traffic to the recording. An empty message says that a connection starts, or that
    /// earlier bytes are missing.
    pub(super) fn raw(&mut self, topic: &str, at: Instant, bytes: &[u8]) -> Result<(), McapError> {
        if !self.channels.contains_key(topic) {
            self.add_channel(topic, 0, "application/octet-stream")?;
        }
        self.write(topic, at, bytes)
    }

    /// Writes a log line to the recording, as `foxglove.Log`.
    pub(super) fn log(&mut self, level: Level, at: Instant, name: &str, text: &str) -> Result<(), McapError> {
        let nanos = self.nanos(at);
        self.described(LOG, "foxglove.Log", &|visitor| {
            timestamp(nanos, visitor);
            visitor.field("level", Value::Unsigned(0));
            for text in ["message", "name", "file"] {
                visitor.field(text, Value::Text(b""));
            }
            visitor.field("line", Value::Unsigned(0));
        })?;
        let (level, timestamp) = (level as u8, Timestamp::of(nanos));
        let line = Line { timestamp, level, message: text, name, file: "", line: 0 };
        self.write(LOG, at, json::text(&line).as_bytes())
    }

    /// Writes named facts about the recording, such as the robot's address, to its file as a metadata record.
    pub(super) fn facts(&mut self, name: &str, facts: &[(&str, String)]) -> Result<(), McapError> {
        let metadata: BTreeMap<_, _> = facts.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        self.writer.write_metadata(&Metadata { name: name.to_owned(), metadata })
    }

    /// Writes the end of the MCAP file, which completes it.
    pub(super) fn finish(&mut self) -> Result<(), McapError> {
        self.writer.finish().map(drop)
    }

    /// Adds a channel to the recording, with a schema for messages like the one that `visit` passes, unless the topic
    /// already has a channel.
    pub(super) fn described(
        &mut self,
        topic: &str,
        schema: &str,
        visit: &dyn Fn(&mut dyn FieldVisitor),
    ) -> Result<(), McapError> {
        if self.channels.contains_key(topic) {
            return Ok(());
        }
        let shape = schema_of(schema, visit);
        let schema = self.writer.add_schema(schema, "jsonschema", shape.as_bytes())?;
        self.add_channel(topic, schema, "json")
    }

    fn add_channel(&mut self, topic: &str, schema: u16, encoding: &str) -> Result<(), McapError> {
        let id = self.writer.add_channel(schema, topic, encoding, &BTreeMap::new())?;
        self.channels.insert(topic.to_owned(), Channel { id, next: 0 });
        Ok(())
    }

    fn write(&mut self, topic: &str, at: Instant, data: &[u8]) -> Result<(), McapError> {
        let log_time = self.nanos(at);
        let Some(channel) = self.channels.get_mut(topic) else { return Ok(()) };
        let header = MessageHeader { channel_id: channel.id, sequence: channel.next, log_time, publish_time: log_time };
        channel.next = channel.next.wrapping_add(1);
        self.messages += 1;
        self.bytes += data.len() as u64;
        self.writer.write_to_known_channel(&header, data)
    }
}

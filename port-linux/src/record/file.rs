//! A recording as an MCAP file.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use mcap::records::{MessageHeader, Metadata};
use mcap::{Compression, McapError, WriteOptions, Writer};

use super::channels::Sink;

/// The compression of recordings. A program without the feature `lz4` has none.
#[cfg(feature = "lz4")]
const COMPRESSION: Option<Compression> = Some(Compression::Lz4);
#[cfg(not(feature = "lz4"))]
const COMPRESSION: Option<Compression> = None;

/// An MCAP file that is being written.
pub(super) struct File<W: Write + Seek> {
    writer: Writer<W>,
    /// The number of the next message of each channel, by the channel's number.
    next: BTreeMap<u16, u32>,
}

impl<W: Write + Seek> File<W> {
    /// Writes the header of an MCAP file to `to`.
    pub(super) fn begin(to: W, compressed: bool) -> Result<Self, McapError> {
        let options = WriteOptions::new()
            .compression(if compressed { COMPRESSION } else { None })
            .library(concat!("outrigger ", env!("CARGO_PKG_VERSION")));
        Ok(Self { writer: options.create(to)?, next: BTreeMap::new() })
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
}

impl<W: Write + Seek> Sink for File<W> {
    type Error = McapError;
    const REPEATS: bool = false;
    const BYTES: bool = true;

    fn add_channel(&mut self, topic: &str, schema: Option<(&str, &str)>) -> Result<u16, McapError> {
        let (schema, encoding) = match schema {
            Some((name, text)) => (self.writer.add_schema(name, "jsonschema", text.as_bytes())?, "json"),
            None => (0, "application/octet-stream"),
        };
        self.writer.add_channel(schema, topic, encoding, &BTreeMap::new())
    }

    fn is_wanted(&self, _: u16) -> bool {
        true
    }

    fn write(&mut self, channel: u16, at: u64, data: &[u8]) -> Result<(), McapError> {
        let next = self.next.entry(channel).or_default();
        let header = MessageHeader { channel_id: channel, sequence: *next, log_time: at, publish_time: at };
        *next = next.wrapping_add(1);
        self.writer.write_to_known_channel(&header, data)
    }
}

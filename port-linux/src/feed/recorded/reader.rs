//! Reads MCAP files without trusting any length in them. Each is checked against the rest of the file before memory
//! is allocated, and memory grows by the bytes that were read, never by those that a length claims.
//!
//! The messages of a whole chunk are delivered after its checksum was verified. A file that ends early delivers every
//! message before its end, also those of the chunk that is cut.
//!
//! This file uses nothing else of this program: the fuzz target `recordings` compiles it alone.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read};
use std::mem;

use crc32fast::Hasher;

/// The bytes at the start and at the end of every MCAP file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89MCAP0\r\n";

/// The maximum size of a record, and of a chunk without its compression \[B\].
pub const LARGEST: u64 = 64 << 20;

/// The maximum length of a topic's name in a recording \[B\].
const LONGEST_TOPIC: usize = 1024;

/// The maximum size of a record with facts about the recording \[B\]. A larger one is skipped.
const LARGEST_FACTS: u64 = 64 << 10;

// The kinds of records.
const HEADER: u8 = 1;
const FOOTER: u8 = 2;
const SCHEMA: u8 = 3;
const CHANNEL: u8 = 4;
const MESSAGE: u8 = 5;
const CHUNK: u8 = 6;
const MESSAGE_INDEX: u8 = 7;
const ATTACHMENT: u8 = 9;
const METADATA: u8 = 12;
const DATA_END: u8 = 15;

/// A reason why reading a recording ended before the end of the file.
#[derive(Debug)]
pub(crate) enum Fault<E> {
    /// The caller of the reader rejected a message of the recording, for this reason.
    Refused(E),
    /// The recording's file cannot be read, for this error of the operating system.
    Unreadable(io::Error),
    /// The chunk of the MCAP file at byte `at` has a compression that this program was built without.
    Compression {
        /// The byte offset of the chunk in the MCAP file.
        at: u64,
        /// The name of the chunk's compression method.
        name: String,
    },
    /// The record at byte `at` of the MCAP file does not end within the file.
    CutOff {
        /// The byte offset of the record in the file.
        at: u64,
        /// The size of the record according to its header \[B\].
        claimed: u64,
        /// The number of bytes that are left in the file \[B\].
        left: u64,
    },
    /// The record at byte `at` of the file is corrupted.
    Damaged {
        /// The byte offset of the record in the file.
        at: u64,
        /// A description of the damage: what was found, and what was expected.
        what: String,
    },
}

/// A function that receives the messages of a recording: topic, time since 1970 \[ns\] and data of each.
pub(crate) type Take<'t, E> = dyn FnMut(&str, u64, &[u8]) -> Result<(), E> + 't;

/// A function that receives the facts about a recording: key and value of each.
pub(crate) type TakeFact<'t> = dyn FnMut(&str, &str) + 't;

/// Calls `take` with topic, time since 1970 \[ns\] and data of every message in the first `length` bytes of `input`,
/// in order, and `fact` with each entry of the file's metadata.
///
/// # Errors
/// Returns [`Fault`], after every complete message before it.
pub(crate) fn each_message<'t, E>(
    input: impl Read,
    length: u64,
    take: &'t mut Take<'t, E>,
    fact: &'t mut TakeFact<'t>,
) -> Result<(), Fault<E>> {
    let source = Source { input: input.take(length), at: 0, sum: Hasher::new() };
    Walk { source, is_data: true, has_chunks: false, channels: HashMap::new(), content: vec![], take, fact }.run()
}

fn damaged<E>(at: u64, what: impl Into<String>) -> Fault<E> {
    Fault::Damaged { at, what: what.into() }
}

/// An MCAP file that is read, with the reading position \[B\] and a running checksum.
struct Source<R> {
    input: io::Take<R>,
    at: u64,
    sum: Hasher,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(room)?;
        self.at += count as u64;
        self.sum.update(room.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// The part of an MCAP file that belongs to one record.
#[derive(Clone, Copy)]
struct Extent {
    at: u64,
    end: u64,
    /// `true` if the whole record is in the file, i.e. its end was not cut off.
    is_whole: bool,
}

/// A pass through the records of an MCAP file from its beginning.
struct Walk<'t, R, E> {
    source: Source<R>,
    /// `true` until the end of the data section. The summary after that section repeats data.
    is_data: bool,
    /// `true` after the first chunk of the file was read.
    has_chunks: bool,
    /// The topics of messages, by the numbers of their channels.
    channels: HashMap<u16, String>,
    /// The content of the newest record, or of the newest chunk, of the file.
    content: Vec<u8>,
    take: &'t mut Take<'t, E>,
    fact: &'t mut TakeFact<'t>,
}

impl<R: Read, E> Walk<'_, R, E> {
    fn run(&mut self) -> Result<(), Fault<E>> {
        if self.array(0)? != MAGIC {
            return Err(damaged(0, "found other bytes than those that an MCAP file begins with"));
        }
        while self.record()? {}
        let at = self.source.at;
        if self.array(at)? != MAGIC {
            return Err(damaged(at, "found other bytes than those that an MCAP file ends with"));
        }
        match self.source.input.limit() {
            0 => Ok(()),
            rest => Err(damaged(self.source.at, format!("found {rest} bytes, expected the end of the file"))),
        }
    }

    /// Reads the next record of an MCAP file, and delivers its messages. Returns `false` for the footer.
    fn record(&mut self) -> Result<bool, Fault<E>> {
        let at = self.source.at;
        let sum_before = self.source.sum.clone();
        let [kind, size @ ..]: [u8; 9] = self.array(at)?;
        let claimed = u64::from_le_bytes(size);
        let left = self.source.input.limit();
        let extent = Extent { at, end: self.source.at.saturating_add(claimed.min(left)), is_whole: claimed <= left };
        let cut_off = Fault::CutOff { at, claimed, left };
        if !extent.is_whole && (kind != CHUNK || !self.is_data) {
            return Err(cut_off);
        }
        if extent.is_whole && claimed > LARGEST {
            return Err(damaged(at, format!("found a record of {claimed} bytes, expected at most {LARGEST}")));
        }
        match kind {
            // A sparse file has terabytes of zeros.
            0 => return Err(damaged(at, "found 0, expected the kind of a record")),
            CHUNK if self.is_data => self.chunk(extent)?,
            // A single bit error can turn an index into a message. A writer that uses chunks writes every message
            // into one.
            MESSAGE if self.is_data && self.has_chunks => {
                return Err(damaged(at, "found a message outside of chunks, expected all of them in chunks"));
            }
            CHANNEL | MESSAGE if self.is_data => self.entry_outside_of_chunks(extent, kind, claimed)?,
            DATA_END if self.is_data => {
                self.check(extent, &sum_before, "data")?;
                self.is_data = false;
            }
            FOOTER if self.is_data => {
                return Err(damaged(at, "found the footer, expected the end of the data before it"));
            }
            FOOTER => {
                if claimed != 20 {
                    return Err(damaged(at, format!("found a footer of {claimed} bytes, expected 20")));
                }
                let _: [u8; 16] = self.field(extent)?;
                let sum = self.source.sum.clone();
                self.check(extent, &sum, "summary")?;
                return Ok(false);
            }
            MESSAGE_INDEX if self.is_data => {
                let _channel: [u8; 2] = self.field(extent)?;
                let size = u32::from_le_bytes(self.field(extent)?);
                if u64::from(size) + 6 != claimed {
                    return Err(damaged(at, format!("found an index of {size} bytes in a record of {claimed}")));
                }
            }
            METADATA if self.is_data && claimed <= LARGEST_FACTS => {
                let mut content = vec![];
                self.source.by_ref().take(claimed).read_to_end(&mut content).map_err(Fault::Unreadable)?;
                each_fact(&content, self.fact);
            }
            HEADER | SCHEMA | ATTACHMENT | METADATA if self.is_data => {}
            // A single bit error can turn a chunk into a record of unknown kind. The data after it would be delivered
            // without it.
            _ if self.is_data => return Err(damaged(at, format!("found {kind}, expected the kind of a record"))),
            _ => {}
        }
        let rest = extent.end.saturating_sub(self.source.at);
        let skipped = io::copy(&mut self.source.by_ref().take(rest), &mut io::sink()).map_err(Fault::Unreadable)?;
        if kind == DATA_END {
            self.source.sum = Hasher::new();
        }
        // A file may shrink while it is read.
        if extent.is_whole && skipped == rest { Ok(true) } else { Err(cut_off) }
    }

    /// Reads the checksum in a record of an MCAP file, and compares it with `sum`, that of the bytes before it. Zero is
    /// not compared.
    fn check(&mut self, extent: Extent, sum: &Hasher, of: &str) -> Result<(), Fault<E>> {
        let expected = u32::from_le_bytes(self.field(extent)?);
        if expected != 0 && sum.clone().finalize() != expected {
            return Err(damaged(
                extent.at,
                format!("found another checksum of the {of} before it than when it was written"),
            ));
        }
        Ok(())
    }

    /// Reads the record of a channel or message that is outside of the chunks of an MCAP file.
    fn entry_outside_of_chunks(&mut self, extent: Extent, kind: u8, size: u64) -> Result<(), Fault<E>> {
        let mut content = mem::take(&mut self.content);
        content.clear();
        self.source.by_ref().take(size).read_to_end(&mut content).map_err(Fault::Unreadable)?;
        if (content.len() as u64) < size {
            return Err(Fault::CutOff { at: extent.at, claimed: size, left: content.len() as u64 });
        }
        self.entry(extent.at, kind, &content)?;
        self.content = content;
        Ok(())
    }

    /// Reads a chunk of an MCAP file, checks its checksum if it is whole, and delivers its messages.
    fn chunk(&mut self, extent: Extent) -> Result<(), Fault<E>> {
        let at = extent.at;
        self.has_chunks = true;
        let _times: [u8; 16] = self.field(extent)?;
        let size = u64::from_le_bytes(self.field(extent)?);
        let sum = u32::from_le_bytes(self.field(extent)?);
        let length = u32::from_le_bytes(self.field(extent)?);
        // The longest name of a compression is `zstd`.
        let mut name = [0; 8];
        let Some(name) = usize::try_from(length).ok().and_then(|length| name.get_mut(..length)) else {
            return Err(damaged(
                at,
                format!("found a name of {length} bytes of its compression, expected lz4 or none"),
            ));
        };
        self.fill(extent, name)?;
        let name = String::from_utf8_lossy(name);
        let packed = u64::from_le_bytes(self.field(extent)?);
        let left = extent.end.saturating_sub(self.source.at);
        if extent.is_whole && packed != left {
            return Err(damaged(
                at,
                format!("found a chunk that claims {packed} bytes, expected the {left} of its record"),
            ));
        }
        let is_whole = packed <= left;
        let largest = size.max(packed);
        if is_whole && largest > LARGEST {
            return Err(damaged(at, format!("found a chunk of {largest} bytes, expected at most {LARGEST}")));
        }
        // A chunk that was never finished claims the largest possible size. One byte more detects a chunk that is
        // longer than claimed.
        let most = size.min(LARGEST) + 1;
        let mut content = mem::take(&mut self.content);
        content.clear();
        let source = self.source.by_ref().take(packed.min(left).min(LARGEST));
        let read = match &*name {
            "" => source.take(most).read_to_end(&mut content).map(drop),
            #[cfg(feature = "lz4")]
            "lz4" => {
                lz4::Decoder::new(source).and_then(|decoder| decoder.take(most).read_to_end(&mut content)).map(drop)
            }
            #[cfg(not(feature = "lz4"))]
            "lz4" => return Err(Fault::Compression { at, name: name.into_owned() }),
            "zstd" => return Err(Fault::Compression { at, name: name.into_owned() }),
            _ => return Err(damaged(at, format!("found the compression {name:?}, expected lz4 or none"))),
        };
        match read {
            Err(error) if error.raw_os_error().is_some() => return Err(Fault::Unreadable(error)),
            Err(error) if is_whole => {
                return Err(damaged(at, format!("found a chunk that does not decompress: {error}")));
            }
            // The part before the cut was decompressed.
            Ok(()) | Err(_) => {}
        }
        if is_whole && content.len() as u64 != size {
            let found = if content.len() as u64 > size { "more" } else { "fewer" };
            return Err(damaged(at, format!("found a chunk of {found} bytes than it claims, {size}")));
        }
        if is_whole && sum != 0 && crc32fast::hash(&content) != sum {
            return Err(damaged(at, "found another checksum of the chunk than when it was written"));
        }
        self.entries(at, &content, is_whole)?;
        self.content = content;
        Ok(())
    }

    /// Delivers the messages of an MCAP file's chunk to the caller.
    fn entries(&mut self, at: u64, content: &[u8], is_whole: bool) -> Result<(), Fault<E>> {
        let mut rest = content;
        while let Some((kind, body, behind)) = first_record(rest) {
            self.entry(at, kind, body)?;
            rest = behind;
        }
        if is_whole && !rest.is_empty() {
            return Err(damaged(at, "found a record in the chunk that does not end within it"));
        }
        Ok(())
    }

    /// Processes a record of an MCAP file: stores the topic of a channel, or delivers a message to the caller.
    fn entry(&mut self, at: u64, kind: u8, body: &[u8]) -> Result<(), Fault<E>> {
        match kind {
            CHANNEL => {
                let (id, topic) = channel(body).ok_or_else(|| {
                    damaged(at, format!("found no channel, expected its topic of at most {LONGEST_TOPIC} bytes"))
                })?;
                let known = self.channels.entry(id).or_insert_with(|| topic.to_owned());
                if known != topic {
                    return Err(damaged(at, format!("found a second channel {id}, expected the same topic")));
                }
                Ok(())
            }
            MESSAGE => {
                let (id, nanos, data) =
                    message(body).ok_or_else(|| damaged(at, "found a message that is shorter than its head"))?;
                let topic = self.channels.get(&id).ok_or_else(|| {
                    damaged(at, format!("found a message of channel {id}, expected that channel before it"))
                })?;
                (self.take)(topic, nanos, data).map_err(Fault::Refused)
            }
            _ => Ok(()),
        }
    }

    /// Reads the next `N` bytes of a record in an MCAP file.
    fn field<const N: usize>(&mut self, extent: Extent) -> Result<[u8; N], Fault<E>> {
        let mut bytes = [0; N];
        self.fill(extent, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads bytes of a record in an MCAP file into `room`. Bytes after the end of the record are not read.
    fn fill(&mut self, extent: Extent, room: &mut [u8]) -> Result<(), Fault<E>> {
        let left = extent.end.saturating_sub(self.source.at);
        if extent.is_whole && left < room.len() as u64 {
            return Err(damaged(extent.at, "found a record that is shorter than its fields"));
        }
        self.exactly(extent.at, room)
    }

    fn array<const N: usize>(&mut self, at: u64) -> Result<[u8; N], Fault<E>> {
        let mut bytes = [0; N];
        self.exactly(at, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads bytes of the record at the byte offset `at` into `room`.
    fn exactly(&mut self, at: u64, room: &mut [u8]) -> Result<(), Fault<E>> {
        let left = self.source.input.limit();
        self.source.read_exact(room).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => Fault::CutOff { at, claimed: room.len() as u64, left },
            _ => Fault::Unreadable(error),
        })
    }
}

/// Returns the first record in `bytes` of an MCAP chunk: its kind, its content and the bytes behind it. `None` without
/// a whole record.
fn first_record(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let ([kind, size @ ..], rest) = bytes.split_first_chunk::<9>()?;
    let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
    let (body, behind) = rest.split_at_checked(size)?;
    Some((*kind, body, behind))
}

/// Returns the number and the topic of a channel, from the body of its record. `None` if the body is not valid.
fn channel(body: &[u8]) -> Option<(u16, &str)> {
    let (id, rest) = body.split_first_chunk()?;
    let (_schema, rest) = rest.split_first_chunk::<2>()?;
    let (topic, rest) = sized(rest)?;
    let (_encoding, rest) = sized(rest)?;
    let (_metadata, rest) = sized(rest)?;
    let topic = std::str::from_utf8(topic).ok().filter(|topic| topic.len() <= LONGEST_TOPIC)?;
    rest.is_empty().then_some((u16::from_le_bytes(*id), topic))
}

/// Calls `fact` with each key and value in the body of a metadata record, up to the first one that is not valid.
fn each_fact(body: &[u8], fact: &mut TakeFact<'_>) {
    let pairs = sized(body).and_then(|(_name, rest)| sized(rest));
    let mut rest = pairs.map_or(&[][..], |(pairs, _)| pairs);
    while let Some((key, after)) = sized(rest)
        && let Some((value, after)) = sized(after)
        && let (Ok(key), Ok(value)) = (std::str::from_utf8(key), std::str::from_utf8(value))
    {
        fact(key, value);
        rest = after;
    }
}

/// Splits off a byte string that is preceded by its length. Returns it and the rest, or `None` if `bytes` are too
/// short.
fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// Returns the channel, time and data of a message, from the body of its record. `None` if the body is too short.
fn message(body: &[u8]) -> Option<(u16, u64, &[u8])> {
    let (id, rest) = body.split_first_chunk()?;
    let (_sequence, rest) = rest.split_first_chunk::<4>()?;
    let (logged, rest) = rest.split_first_chunk()?;
    let (_published, data) = rest.split_first_chunk::<8>()?;
    Some((u16::from_le_bytes(*id), u64::from_le_bytes(*logged), data))
}

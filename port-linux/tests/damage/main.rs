//! Recordings that are damaged in every way: an error with its place, every message before it, and no more memory than the file can
//! account for.

mod counting;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use counting::{greatest, most_held};
use mcap::records::MessageHeader;
use mcap::{Compression, WriteOptions, Writer};
use outrigger::feed::recorded::{each_raw, is_recording, raw_topic};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

const PORT: u16 = 30_003;
const MESSAGES: u64 = 16;

/// The greatest single request for memory that is permitted while a file of a few kilobytes is read \[B\]. A chunk of
/// LZ4 needs 32 KiB of buffers.
const ROOM: usize = 128 << 10;

/// The wrong lengths that are written into the length fields of a recording.
const CLAIMS: [u64; 8] = [0, 1, 0xffff, u32::MAX as u64, 1 << 40, i64::MAX as u64, u64::MAX - 8, u64::MAX];

/// A file in memory whose content the test can read while it is written.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<Cursor<Vec<u8>>>>);

impl Disk {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("one thread").get_ref().clone()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.lock().expect("one thread").seek(to)
    }
}

/// Returns bytes that do not compress, other ones for each `number`.
fn noise(number: u64, length: usize) -> Vec<u8> {
    let mut next = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let byte = |_| {
        next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (next >> 56) as u8
    };
    (0..length).map(byte).collect()
}

/// The way that a recording is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Plain,
    Packed,
    WithoutChunks,
}

const FORMS: [Form; 3] = [Form::Plain, Form::Packed, Form::WithoutChunks];

/// A recording, and the messages of port 30003 in it.
struct Recording {
    form: Form,
    bytes: Vec<u8>,
    messages: Vec<(u64, Vec<u8>)>,
}

impl Recording {
    fn new(form: Form) -> Self {
        Self::written(form, |_| {})
    }

    fn written(form: Form, look: impl FnOnce(&Disk)) -> Self {
        let disk = Disk::default();
        let compression = (form == Form::Packed).then_some(Compression::Lz4);
        let options = WriteOptions::new().compression(compression).chunk_size(Some(700));
        let mut writer: Writer<Disk> =
            options.use_chunks(form != Form::WithoutChunks).create(disk.clone()).expect("memory");
        let schema = writer.add_schema("log", "jsonschema", b"{}").expect("memory");
        let ours = writer.add_channel(0, &raw_topic(PORT), "", &BTreeMap::new()).expect("memory");
        let log = writer.add_channel(schema, "/log", "json", &BTreeMap::new()).expect("memory");
        let mut messages = vec![];
        for number in 1..=MESSAGES {
            let data = noise(number, 60 + number as usize * 5);
            for (channel_id, data) in [(ours, data.as_slice()), (log, b"{}")] {
                let header = MessageHeader { channel_id, sequence: 0, log_time: number, publish_time: number };
                writer.write_to_known_channel(&header, data).expect("memory");
            }
            messages.push((number, data));
        }
        look(&disk);
        writer.finish().expect("memory");
        Self { form, bytes: disk.bytes(), messages }
    }

    /// Returns how many messages must be delivered before byte `at`: those that end before it, or whose chunk does.
    fn safe_before(&self, at: usize, is_cut: bool) -> usize {
        if is_cut && self.form != Form::Packed || self.form == Form::WithoutChunks {
            let ends = |data: &[u8]| {
                let start = self.bytes.windows(data.len()).position(|window| window == data).expect("written as it is");
                start + data.len()
            };
            return self.messages.iter().take_while(|(_, data)| ends(data) <= at).count();
        }
        let summary = mcap::Summary::read(&self.bytes).expect("a summary").expect("a whole file");
        let whole =
            summary.chunk_indexes.iter().filter(|chunk| chunk.chunk_start_offset + chunk.chunk_length <= at as u64);
        whole.map(|chunk| chunk.message_end_time).max().map_or(0, |last| last as usize)
    }

    /// Returns offset and size \[B\] of the length fields of the recording, including those of chunks, and of the
    /// records in chunks if they are not compressed.
    fn lengths(&self) -> Vec<(usize, usize)> {
        let mut lengths = vec![];
        let mut at = 8;
        while at + 9 <= self.bytes.len() - 8 {
            lengths.push((at + 1, 8));
            let size = u64::from_le_bytes(self.bytes[at + 1..at + 9].try_into().expect("eight")) as usize;
            if self.bytes[at] == 6 {
                // The size without compression, the length of its name, and the size with it.
                let name = u32::from_le_bytes(self.bytes[at + 37..at + 41].try_into().expect("four")) as usize;
                lengths.extend([(at + 25, 8), (at + 37, 4), (at + 41 + name, 8)]);
                if self.form == Form::Plain {
                    // The lengths of the records in it.
                    let (mut inner, end) = (at + 49, at + 9 + size);
                    while inner + 9 <= end {
                        lengths.push((inner + 1, 8));
                        inner += 9 + u64::from_le_bytes(self.bytes[inner + 1..inner + 9].try_into().expect("eight"))
                            as usize;
                    }
                }
            }
            at += 9 + size;
        }
        assert!(lengths.len() > 12, "{:?}: {lengths:?}", self.form);
        lengths
    }
}

/// The time and the data of a message.
type Message = (u64, Vec<u8>);

/// A file on disk that a test overwrites with one damaged recording after another.
struct Scratch {
    path: PathBuf,
    file: File,
}

impl Scratch {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.mcap", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).expect("room");
        Self { path, file }
    }

    fn set(&self, bytes: &[u8]) {
        self.file.set_len(0).expect("room");
        self.file.write_all_at(bytes, 0).expect("room");
    }

    /// Reads the messages of the port from the file. Asserts that no single request for memory exceeds `room` \[B\].
    fn read(&self, room: usize) -> (Result<(), String>, Vec<Message>) {
        // The messages that are kept here do not count.
        let mut messages = Vec::with_capacity(4 * MESSAGES as usize);
        let (held, (most, read)) = most_held(|| {
            greatest(|| {
                each_raw(&self.path, &[PORT], |raw| {
                    messages.push((raw.nanos, raw.bytes.to_vec()));
                    Ok(())
                })
            })
        });
        assert!(most <= room, "{most} bytes at once: {read:?}");
        let delivered: usize = messages.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(held <= 2 * room + 2 * delivered, "{held} bytes held: {read:?}");
        (read.map_err(|failure| failure.to_string()), messages)
    }

    /// Asserts that reading a damaged recording ends with an error that names a byte, after at least `safe` correct
    /// messages. Returns the error and the number of messages.
    fn refused(&self, whole: &Recording, safe: usize, what: &str) -> (String, usize) {
        let (read, messages) = self.read(ROOM);
        let form = whole.form;
        let error = read.expect_err(&format!("{form:?}, {what}: it is damaged"));
        assert!(error.contains("byte "), "{form:?}, {what}: {error}");
        assert!(messages.len() >= safe, "{form:?}, {what}: {} of {safe} messages, {error}", messages.len());
        // In a chunk the checksum is seen first; without one the damage is delivered, and named at the end.
        let sure = if form == Form::WithoutChunks { safe } else { messages.len() };
        assert_eq!(messages.get(..sure), whole.messages.get(..sure), "{form:?}, {what}: {error}");
        (error, messages.len())
    }
}

#[test]
fn a_recording_that_is_whole_is_read_without_an_error() {
    let scratch = Scratch::new("whole");
    for form in FORMS {
        let recording = Recording::new(form);
        scratch.set(&recording.bytes);
        assert_eq!(scratch.read(ROOM), (Ok(()), recording.messages), "{form:?}");
    }
}

#[test]
fn any_bit_that_is_another_is_found_and_everything_before_is_delivered() {
    let scratch = Scratch::new("flipped");
    for form in FORMS {
        let recording = Recording::new(form);
        scratch.set(&recording.bytes);
        // The magic of the beginning is what makes it a recording.
        for at in 8..recording.bytes.len() {
            let (was, safe) = (recording.bytes[at], recording.safe_before(at, false));
            for bit in 0..8 {
                scratch.file.write_all_at(&[was ^ (1 << bit)], at as u64).expect("room");
                scratch.refused(&recording, safe, &format!("bit {bit} of byte {at}"));
            }
            scratch.file.write_all_at(&[was], at as u64).expect("room");
        }
    }
}

#[test]
fn a_length_that_is_not_true_is_found_before_memory_is_asked_for() {
    let scratch = Scratch::new("lengths");
    for form in FORMS {
        let recording = Recording::new(form);
        for (at, size) in recording.lengths() {
            let was = &recording.bytes[at..at + size];
            let mut near = [0; 8];
            near[..size].copy_from_slice(was);
            let near = u64::from_le_bytes(near);
            for claim in CLAIMS.into_iter().chain([near.wrapping_sub(1), near + 1, near + 9, near * 2]) {
                let claim = &claim.to_le_bytes()[..size];
                if claim == was {
                    continue;
                }
                scratch.set(&recording.bytes);
                scratch.file.write_all_at(claim, at as u64).expect("room");
                let what = format!("length at {at}: {claim:?}");
                scratch.refused(&recording, recording.safe_before(at, false), &what);
            }
        }
    }
}

#[test]
fn a_recording_that_is_cut_anywhere_delivers_exactly_the_messages_before() {
    let scratch = Scratch::new("cut");
    for form in FORMS {
        let recording = Recording::new(form);
        let mut before = 0;
        for cut in (9..recording.bytes.len()).rev().step_by(97).collect::<Vec<_>>().into_iter().rev() {
            scratch.set(&recording.bytes[..cut]);
            let safe = recording.safe_before(cut, true);
            let (error, delivered) = scratch.refused(&recording, safe, &format!("cut at {cut}"));
            assert!(error.contains("is not complete") && error.contains("mcap recover"), "{error}");
            assert!(delivered >= before, "{form:?}, cut at {cut}: {delivered} messages, {before} of a shorter file");
            assert!(
                form == Form::Packed || delivered == safe,
                "{form:?}, cut at {cut}: {delivered} of {safe} messages"
            );
            before = delivered;
        }
        assert_eq!(before, recording.messages.len(), "{form:?}: only its end is missing");
    }
}

#[test]
fn a_chunk_that_was_never_finished_delivers_its_messages() {
    let scratch = Scratch::new("unfinished");
    for form in [Form::Plain, Form::Packed] {
        let mut bytes = vec![];
        let recording = Recording::written(form, |disk| bytes = disk.bytes());
        assert_ne!(bytes, recording.bytes);
        scratch.set(&bytes);
        let summary = mcap::Summary::read(&recording.bytes).expect("a summary").expect("a whole file");
        let finished = summary.chunk_indexes.len() - 1;
        let safe = recording.safe_before(summary.chunk_indexes[finished].chunk_start_offset as usize, false);
        let (error, delivered) = scratch.refused(&recording, safe, "unfinished");
        assert!(error.contains("is not complete"), "{error}");
        // LZ4 keeps the newest block until it is full.
        assert!(form == Form::Packed || delivered == recording.messages.len(), "{delivered} messages: {error}");
    }
}

#[test]
fn ninety_four_bytes_do_not_make_a_reader_ask_for_gigabytes() {
    let scratch = Scratch::new("ninety-four");
    let record = |kind: u8, size: u64, content: &[u8]| [&[kind][..], &size.to_le_bytes(), content].concat();
    let ends = |records: &[u8]| [b"\x89MCAP0\r\n", records, b"\x89MCAP0\r\n"].concat();
    let chunk = |size: u64, name: &[u8], packed: u64| {
        let length = (name.len() as u32).to_le_bytes();
        [&[0; 16][..], &size.to_le_bytes(), &[0; 4], &length, name, &packed.to_le_bytes()].concat()
    };
    let mut files = vec![];
    for claim in CLAIMS.into_iter().filter(|claim| *claim > 0xffff) {
        for kind in [1, 2, 3, 4, 5, 6, 7, 9, 12, 15, 0x80] {
            files.push(ends(&record(kind, claim, &[0; 69])));
        }
        for name in [&b""[..], b"lz4"] {
            for head in [chunk(claim, name, 0), chunk(0, name, claim), chunk(claim, name, claim)] {
                files.push(ends(&record(6, head.len() as u64, &head)));
                files.push(ends(&record(6, claim, &head)));
            }
        }
    }
    for bytes in files {
        scratch.set(&bytes);
        let (read, messages) = scratch.read(ROOM);
        let error = read.expect_err("it is damaged");
        assert!(error.contains("byte ") && messages.is_empty(), "{error}");
    }
}

#[test]
fn a_chunk_that_decompresses_to_more_than_it_says_is_refused_while_it_is_read() {
    let disk = Disk::default();
    let options = WriteOptions::new().compression(Some(Compression::Lz4)).chunk_size(None);
    let mut writer: Writer<Disk> = options.create(disk.clone()).expect("memory");
    let channel_id = writer.add_channel(0, &raw_topic(PORT), "", &BTreeMap::new()).expect("memory");
    let header = MessageHeader { channel_id, sequence: 0, log_time: 1, publish_time: 1 };
    writer.write_to_known_channel(&header, &vec![0; 16 << 20]).expect("memory");
    writer.finish().expect("memory");
    let mut bytes = disk.bytes();
    assert!(bytes.len() < 100_000);
    let summary = mcap::Summary::read(&bytes).expect("a summary").expect("a whole file");
    let size_at = summary.chunk_indexes[0].chunk_start_offset as usize + 25;
    bytes[size_at..size_at + 8].copy_from_slice(&1_000_u64.to_le_bytes());
    let scratch = Scratch::new("bomb");
    scratch.set(&bytes);
    let (read, messages) = scratch.read(ROOM);
    assert!(read.expect_err("it is damaged").contains("more bytes than it claims") && messages.is_empty());
}

#[test]
fn a_sparse_file_and_one_that_grows_are_bounded_while_they_are_read() {
    let scratch = Scratch::new("sparse");
    let recording = Recording::new(Form::Plain);
    // Ends as a whole file does, with a terabyte of nothing before.
    scratch.set(&recording.bytes[..recording.bytes.len() - 200]);
    scratch.file.write_all_at(b"\x89MCAP0\r\n", 1 << 40).expect("a sparse file");
    let (error, _) = scratch.refused(&recording, 1, "sparse");
    assert!(error.contains("is damaged"), "{error}");
    // A message that claims half of it.
    scratch.set(&recording.bytes[..8]);
    scratch.file.write_all_at(&[&[5][..], &(1_u64 << 39).to_le_bytes()].concat(), 8).expect("room");
    scratch.file.write_all_at(b"\x89MCAP0\r\n", 1 << 40).expect("a sparse file");
    let (read, _) = scratch.read(ROOM);
    assert!(read.expect_err("it is damaged").contains("expected at most 67108864"));
    // A file to which every message adds another.
    let growing = Recording::new(Form::WithoutChunks);
    let end = growing.bytes.len() - 500;
    scratch.set(&growing.bytes[..end]);
    let mut count = 0;
    let read = each_raw(&scratch.path, &[PORT], |raw| {
        count += 1;
        let length = scratch.file.metadata().expect("a file").len();
        scratch.file.write_all_at(raw.bytes, length).expect("room");
        Ok(())
    });
    assert!(read.expect_err("it is being written").to_string().contains("is not complete"));
    assert!(count <= MESSAGES);
}

#[test]
fn a_pipe_a_device_and_a_directory_are_no_recordings_and_nobody_waits_for_them() {
    let pipe = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("pipe-{}.mcap", std::process::id()));
    let folder = pipe.parent().expect("a folder").to_path_buf();
    let _ = std::fs::remove_file(&pipe);
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    for path in [&pipe, &PathBuf::from("/dev/zero"), &PathBuf::from("/dev/urandom"), &folder] {
        assert!(!is_recording(path));
        let (most, read) = greatest(|| each_raw(path, &[PORT], |_| Ok(())));
        let error = read.expect_err("no file").to_string();
        assert!(error.contains("it is no regular file") && most <= ROOM, "{error}, {most} bytes");
    }
    std::fs::remove_file(&pipe).expect("it was there");
}

#[test]
fn a_device_or_a_sparse_file_is_no_motion_and_little_of_it_is_read() {
    let sparse = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sparse-{}.csv", std::process::id()));
    File::create(&sparse).expect("room").set_len(1 << 30).expect("a hole");
    for path in [&PathBuf::from("/dev/zero"), &sparse] {
        let (held, read) = most_held(|| outrigger::motion::Motion::<6>::read(path));
        let error = read.expect_err("no text").to_string();
        assert!(error.contains("found a byte 0, expected text") && held <= 3 * ROOM, "{error}, {held} bytes");
    }
    std::fs::remove_file(&sparse).expect("it was there");
}

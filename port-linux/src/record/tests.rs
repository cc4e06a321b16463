//! Tests the content of recordings, from feeds that are filled by hand.

use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};

use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_wire::primary::{RobotMessage, RobotMessagePayload, Text};
use outrigger_wire::realtime::Repr;
use outrigger_wire::robot::{Pose, RobotModel};
use outrigger_wire::time::Instant;

use super::arm_frames::ArmGeometry;
use super::channels::Sink;
use super::entry_writer::SessionChannels;
use super::recorder::{can_create, record};
use crate::feed::{Feed, Progress, Streams, Tap, stream_memory};

const ORIGIN: u64 = 1_700_000_000_000_000_000;

/// A disk in memory that can be full.
#[derive(Clone, Default)]
struct Disk {
    bytes: Arc<Mutex<Cursor<Vec<u8>>>>,
    room: Option<u64>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.bytes.lock().unwrap();
        if self.room.is_some_and(|room| disk.position() + bytes.len() as u64 > room) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        disk.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.lock().unwrap().seek(to)
    }
}

/// A completed recording in memory.
struct Recorded {
    messages: Vec<(String, u64, Vec<u8>)>,
    bytes: Vec<u8>,
}

impl Recorded {
    /// Records the content of the feed, which then ends.
    fn of(feed: Feed, reader: crate::feed::Reader) -> Self {
        drop(feed);
        let disk = Disk::default();
        let chain = KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &Pose::default());
        let arm = ArmGeometry::of_chain(move || Some(chain));
        record(disk.clone(), reader, arm, (true, ORIGIN), &[("robot", "here".into())], &Progress::default()).unwrap();
        let bytes = disk.bytes.lock().unwrap().get_ref().clone();
        let messages = mcap::MessageStream::new(&bytes).unwrap().map(|message| {
            let message = message.unwrap();
            (message.channel.topic.clone(), message.log_time, message.data.to_vec())
        });
        Self { messages: messages.collect(), bytes }
    }

    fn on(&self, topic: &str) -> Vec<&[u8]> {
        self.messages.iter().filter(|(on, ..)| on == topic).map(|(.., data)| data.as_slice()).collect()
    }

    fn text(&self, topic: &str) -> String {
        self.on(topic).iter().map(|data| std::str::from_utf8(data).unwrap()).collect::<Vec<_>>().join("\n")
    }

    fn fact(&self, page: &str, name: &str) -> String {
        let summary = mcap::Summary::read(&self.bytes).unwrap().expect("a file that is complete");
        let index = summary.metadata_indexes.iter().find(|index| index.name == page).unwrap();
        let metadata = mcap::read::metadata(&self.bytes, index).unwrap();
        metadata.metadata.get(name).unwrap().clone()
    }
}

fn packet(time: f64) -> Vec<u8> {
    let mut bytes = vec![0; 1220];
    let repr = Repr { time, q_actual: [time; 6], robot_mode: 7.0, safety_mode: 1.0, ..Repr::default() };
    repr.emit(1220, &mut bytes).unwrap();
    bytes
}

fn words(text: &str) -> Vec<u8> {
    let mut bytes = vec![0; text.len() + 64];
    let payload = RobotMessagePayload::Text(Text(text.as_bytes()));
    let len = RobotMessage::emit(0, outrigger_wire::robot::MessageSource::Controller, &payload, &mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1_000)
}

#[test]
fn a_state_is_written_with_every_field_and_its_bytes_come_out_as_they_were() {
    let feed = Feed::new(64);
    let (reader, mut tap) = (feed.reader(), Tap::new(feed.clone()));
    tap.opened(at(1), 30_003);
    let stream = [packet(1.0), packet(1.002), packet(1.004)].concat();
    // Cut at any position, because reads do not respect packets.
    for (n, piece) in stream.chunks(1000).enumerate() {
        tap.received(at(2 + n as u64), piece);
    }
    tap.closed(at(9));
    drop(tap);
    let recorded = Recorded::of(feed, reader);
    assert_eq!(recorded.on("/raw/30003").concat(), stream);
    assert_eq!(recorded.on("/raw/30003")[0], b"", "a connection begins");
    let states = recorded.on("/realtime");
    assert_eq!(states.len(), 3);
    let first = std::str::from_utf8(states[0]).unwrap();
    assert!(first.starts_with(r#"{"message_size":1220,"time":1.0,"q_target":[0.0,"#), "{first}");
    assert!(recorded.text("/joint_states").starts_with(r#"{"position":[1.0,1.0,1.0,1.0,1.0,1.0],"#));
    let modes = r#"{"robot_mode":7,"robot_mode_name":"RUNNING","safety_mode":1,"safety_mode_name":"NORMAL","#;
    assert!(recorded.text("/modes").starts_with(modes) && recorded.on("/modes").len() == 1, "written when they change");
    let (_, time, _) = recorded.messages.iter().find(|(topic, ..)| topic == "/realtime").unwrap();
    assert_eq!(*time, ORIGIN + 3_000_000, "the packet was complete with the second read");
}

#[test]
fn joints_by_name_and_frames_come_thirty_times_and_the_shape_once_a_second_at_any_rate_of_states() {
    for cycle_millis in [2, 8] {
        let feed = Feed::new(8192);
        let (reader, mut tap) = (feed.reader(), Tap::new(feed.clone()));
        tap.opened(at(1), 30_003);
        let states = (0..10_000).step_by(cycle_millis);
        states.for_each(|millis| tap.received(at(1_000 + millis), &packet(0.25)));
        drop(tap);
        let recorded = Recorded::of(feed, reader);
        let counts = ["/joints", "/transforms", "/arm"].map(|topic| recorded.on(topic).len());
        assert!(counts[0] == counts[1] && (298..=302).contains(&counts[0]), "{counts:?} at {cycle_millis} ms");
        assert!((9..=11).contains(&counts[2]), "{counts:?} at {cycle_millis} ms");
        let joints = recorded.text("/joints");
        assert!(
            joints.contains(r#""joints":[{"name":"shoulder_pan_joint","position":0.25,"velocity":0.0},"#),
            "{joints:.300}"
        );
        let (from, to) = (r#""parent_frame_id":"base","child_frame_id":"link_1","#, r#""child_frame_id":"tool","#);
        let frames = recorded.text("/transforms");
        assert!(frames.contains(from) && frames.contains(to), "{frames:.300}");
        assert_eq!(recorded.text("/arm").lines().next().expect("a scene").matches("\"frame_locked\":true").count(), 7);
    }
}

/// A sink for readers that connect at any time, with the topic of each channel and the number of its messages.
#[derive(Default)]
struct Counting(Vec<(String, usize)>);

impl Sink for Counting {
    type Error = std::convert::Infallible;
    const REPEATS: bool = true;
    const BYTES: bool = false;

    fn add_channel(&mut self, topic: &str, _: Option<(&str, &str)>) -> Result<u16, Self::Error> {
        self.0.push((topic.to_owned(), 0));
        Ok(self.0.len() as u16 - 1)
    }

    fn is_wanted(&self, channel: u16) -> bool {
        self.0[usize::from(channel)].0 != "/log"
    }

    fn write(&mut self, channel: u16, _: u64, _: &[u8]) -> Result<(), Self::Error> {
        self.0[usize::from(channel)].1 += 1;
        Ok(())
    }
}

#[test]
fn modes_and_inputs_are_repeated_once_a_second_when_states_come_irregularly_and_unwanted_lines_are_not_written() {
    let feed = Feed::new(8192);
    let (mut reader, mut tap) = (feed.reader(), Tap::new(feed.clone()));
    tap.opened(at(1), 30_003);
    // Up to 1.4 ms late, as on a network.
    let late = |n: u64| (n * 7_919) % 1_400;
    (0..5_000).for_each(|n| tap.received(Instant::from_micros(1_000_000 + n * 2_000 + late(n)), &packet(0.25)));
    let mut memory = stream_memory();
    let streams = Streams::new(&mut memory).unwrap();
    let mut channels = SessionChannels::new(Counting::default(), ORIGIN, ArmGeometry::unknown(), streams);
    while let Some(item) = reader.next_now() {
        channels.item(&item).unwrap();
    }
    let counts = &channels.sink().0;
    let count = |topic: &str| counts.iter().find(|(name, _)| name == topic).unwrap().1;
    let [modes, io, states, lines] = ["/modes", "/io", "/joint_states", "/log"].map(count);
    assert!((10..=11).contains(&modes) && (10..=11).contains(&io) && states == 5_000, "{counts:?}");
    assert_eq!(lines, 0);
}

#[test]
fn what_was_lost_to_a_slow_disk_is_counted_logged_and_leaves_whole_messages() {
    let feed = Feed::new(16);
    let (reader, mut tap) = (feed.reader(), Tap::new(feed.clone()));
    tap.opened(at(0), 30_001);
    let stream: Vec<u8> = (0..40).flat_map(|n| words(&format!("line {n}"))).collect();
    for (n, piece) in stream.chunks(20).enumerate() {
        tap.received(at(n as u64), piece);
    }
    let entries = 1 + stream.len().div_ceil(20);
    drop(tap);
    let recorded = Recorded::of(feed, reader);
    let lost = entries - 16;
    assert_eq!(recorded.fact("summary", "entries_lost"), lost.to_string());
    assert!(recorded.text("/log").contains(&format!("{lost} entries lost")), "{}", recorded.text("/log"));
    let raw = recorded.on("/raw/30001").concat();
    assert!(stream.ends_with(&raw) && raw[4] == 20, "from the start of a message to the end");
    let said = recorded.text("/messages/text");
    assert!(said.lines().count() >= 13 && said.ends_with(r#""text":"line 39"}"#), "{said}");
    assert!(!recorded.text("/log").contains("no message starts here"), "{}", recorded.text("/log"));
}

#[test]
fn a_full_disk_ends_the_recording_with_the_reason_and_holds_nobody_up() {
    let feed = Feed::new(4096);
    let (reader, mut tap) = (feed.reader(), Tap::new(feed.clone()));
    tap.opened(at(0), 30_003);
    for n in 0..2_000_u64 {
        tap.received(at(n * 2), &packet(n as f64 * 0.002));
    }
    let disk = Disk { room: Some(300_000), ..Disk::default() };
    let failure = record(disk, reader, ArmGeometry::unknown(), (false, ORIGIN), &[], &Progress::default()).unwrap_err();
    assert!(matches!(failure, mcap::McapError::Io(_)), "{failure}");
    tap.received(at(5_000), &packet(10.0));
}

#[test]
fn what_the_controller_says_is_in_the_log_and_in_a_channel_of_its_kind() {
    let feed = Feed::new(64);
    let (reader, mut tap) = (feed.reader(), Tap::new(feed.clone()));
    tap.opened(at(0), 30_001);
    tap.received(at(1), &words("seam 1 done \u{1b}"));
    tap.closed(at(2));
    drop(tap);
    let recorded = Recorded::of(feed, reader);
    let log = recorded.text("/log");
    assert!(log.contains(r#""level":2,"message":"seam 1 done"#) && log.contains(r#""name":"CONTROLLER""#), "{log}");
    assert!(log.contains("lost the connection to port 30001"), "{log}");
    assert!(recorded.text("/messages/text").contains(r#""text":"seam 1 done"#));
    assert_eq!(recorded.fact("recording", "robot"), "here");
}

/// Returns the path of the first value whose type differs from its schema.
fn misfit(schema: &serde_json::Value, value: &serde_json::Value, path: &str) -> Option<String> {
    use serde_json::Value;
    let fits = match schema["type"].as_str() {
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    let each = || match value {
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(n, item)| misfit(&schema["items"], item, &format!("{path}[{n}]")))
        }
        Value::Object(fields) => fields.iter().find_map(|(name, field)| match &schema["properties"][name] {
            Value::Null => Some(format!("{path}.{name} is not in the schema")),
            known => misfit(known, field, &format!("{path}.{name}")),
        }),
        _ => None,
    };
    if fits { each() } else { Some(format!("{path} is {value}, of {schema}")) }
}

#[test]
fn every_message_fits_its_own_schema_also_before_the_first_state() {
    use crate::boxed_law::BoxedLaw;
    use outrigger_core::engine::krc::{KrcConfig, KrcEngine};
    use outrigger_core::mode::Mode;
    let feed = Feed::new(64);
    let (reader, mut tap) = (feed.reader(), Tap::new(feed.clone()));
    let engine = KrcEngine::new(KrcConfig::default(), BoxedLaw::<7>::idle(), ()).unwrap();
    let mut figures = engine.figures(at(0));
    assert_eq!(figures.age, None);
    feed.put(at(0), crate::feed::EntryContent::Link { mode: Mode::Offline, figures: Box::new(figures) });
    figures.age = Some(outrigger_wire::time::Duration::from_millis(2));
    feed.put(at(100), crate::feed::EntryContent::Link { mode: Mode::Monitor, figures: Box::new(figures) });
    tap.opened(at(101), 30_003);
    tap.received(at(102), &packet(1.0));
    tap.opened(at(103), 30_001);
    tap.received(at(104), &words("seam 1 done"));
    drop(tap);
    let recorded = Recorded::of(feed, reader);
    let mut topics = vec![];
    for message in mcap::MessageStream::new(&recorded.bytes).unwrap() {
        let message = message.unwrap();
        let Some(schema) = &message.channel.schema else { continue };
        let schema = serde_json::from_slice(&schema.data).unwrap();
        let value = serde_json::from_slice(&message.data).unwrap();
        assert_eq!(misfit(&schema, &value, &message.channel.topic), None);
        topics.push(message.channel.topic.clone());
    }
    assert_eq!(topics.iter().filter(|topic| *topic == "/link").count(), 2);
    for expected in ["/joint_states", "/log", "/joints", "/transforms", "/arm", "/tool_pose"] {
        assert!(topics.iter().any(|topic| topic == expected), "{expected} is not in {topics:?}");
    }
    let link = recorded.text("/link");
    assert!(link.contains(r#""age_ms":2.0"#) && !link.contains("null"), "{link}");
}

#[test]
fn a_recording_that_is_cut_off_anywhere_is_refused_once_everything_before_was_read() {
    let feed = Feed::new(1 << 12);
    let reader = feed.reader();
    for number in 0..600_u64 {
        // Data that cannot be compressed.
        let mut next = number;
        let mut noise = || {
            next = next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (next >> 56) as u8
        };
        let bytes = (0..500).map(|_| noise()).collect();
        feed.put(Instant::from_micros(number), crate::feed::EntryContent::Sent { port: 30_003, bytes });
    }
    let whole = Recorded::of(feed, reader).bytes;
    let path = std::env::temp_dir().join(format!("outrigger-cut-{}.mcap", std::process::id()));
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let mut count = 0;
        (
            crate::feed::recorded::each_message(&path, |_, _, _| {
                count += 1;
                Ok(())
            })
            .map_err(|failure| failure.to_string()),
            count,
        )
    };
    let (outcome, most) = read(&whole);
    assert!(outcome.is_ok() && most >= 600, "{outcome:?}, {most} messages");
    let at_each_page = (0..whole.len()).step_by(4_096).chain(whole.len().saturating_sub(200)..whole.len());
    for cut in at_each_page.skip(1) {
        let (outcome, count) = read(&whole[..cut]);
        let told = outcome.expect_err("it is cut off");
        assert!(told.contains("is not complete") && told.contains("mcap recover"), "{cut} bytes: {told}");
        assert!(count <= most);
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_check_of_a_recording_leaves_no_file_and_keeps_one_that_exists() {
    let path = std::env::temp_dir().join(format!("outrigger-can-create-{}.mcap", std::process::id()));
    can_create(&path).expect("room for a file");
    assert!(!path.exists());
    std::fs::write(&path, "kept").expect("room for a file");
    let exists = can_create(&path).expect_err("it exists");
    assert!(exists.to_string().contains("recordings are never overwritten"), "{exists}");
    assert_eq!(std::fs::read(&path).expect("a file"), b"kept");
    std::fs::remove_file(&path).expect("a file");
}

#[test]
fn a_reader_gets_the_facts_of_a_recording_and_the_place_where_it_is_cut() {
    let feed = Feed::new(8);
    let reader = feed.reader();
    feed.put(Instant::ZERO, crate::feed::EntryContent::Opened { port: 30_003 });
    let whole = Recorded::of(feed, reader).bytes;
    let path = std::env::temp_dir().join(format!("outrigger-facts-{}.mcap", std::process::id()));
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let mut facts = std::collections::BTreeMap::new();
        let fact = |key: &str, value: &str| drop(facts.insert(key.to_owned(), value.to_owned()));
        let ended = crate::feed::recorded::each_message_and_fact(&path, |_, _, _| Ok(()), fact);
        (facts, ended.map_err(|unread| unread.at))
    };
    let (facts, ended) = read(&whole);
    assert_eq!((ended, facts["robot"].as_str(), facts["entries_lost"].as_str()), (Ok(()), "here", "0"));
    let cut = whole.len() - 9;
    let (facts, ended) = read(&whole[..cut]);
    let at = ended.expect_err("it is cut").expect("a place");
    assert!(facts.contains_key("robot") && at > 0 && at < cut as u64, "{facts:?} {at}");
    std::fs::remove_file(&path).unwrap();
}

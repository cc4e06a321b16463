//! Telemetry of an engine with a scripted controller: the contents and the timing of the datagrams, and a recording
//! assembled from its pieces.

use std::collections::BTreeMap;

use outrigger_core::engine::ur::{Memory, Ur, UrEvent, UrStatus};
use outrigger_core::engine::{Event, Input, replay};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_remote::telemetry::{
    self, Boot, Chunk, CrashReport, DATAGRAM_MAX, Message, Pace, PeerDatagram, Recording, ResetCause, Sampler,
    StartStage, TelemetryError,
};
use outrigger_wire::time::{Duration, Instant};

mod bench;
mod page;
use bench::Bench;

type UrDatagram<'a> = PeerDatagram<'a, 6, Ur<'a>>;

const BOOT: Boot<'static> = Boot {
    cause: ResetCause::Watchdog,
    starts: 300,
    before: Some(StartStage::Interface),
    crash: Some(CrashReport::Panic { file: "main.rs", line: 200 }),
    stage: StartStage::Running,
    clock: 400_000_000,
    is_clock_as_meant: false,
    refused: Some("source[1].input"),
};

const SETTINGS: [u8; 2_500] = [0x5a; 2_500];

/// An engine with a scripted controller, and a telemetry sampler that is polled every millisecond.
struct Device {
    bench: Bench,
    sampler: Sampler<'static, 6, Ur<'static>>,
    shown: usize,
    sent: Vec<Vec<u8>>,
}

impl Device {
    fn new(memory: usize) -> Self {
        let pace = Pace::default();
        Self::of(Bench::keeping(memory, pace.recording_time(memory)))
    }

    /// Creates a device after a restart, with the data that an earlier recorder left in the two halves of its memory,
    /// of `half` bytes each.
    fn after(left: [&[u8]; 2], half: usize) -> Self {
        let pace = Pace::default();
        Self::of(Bench::after_a_reset(left, half, pace.recording_time(2 * half)))
    }

    fn of(bench: Bench) -> Self {
        let device = telemetry::Device { board: "bench", build: "1f2e3d4c", boot: 7, settings: &SETTINGS };
        let pace = Pace::default();
        let mut device = Self { bench, sampler: Sampler::new(device, pace), shown: 0, sent: Vec::new() };
        device.sampler.boot(BOOT);
        device.bench.input(Input::Start);
        device
    }

    /// Creates a device that was in `Command` and fell back because no more states arrived.
    fn fallen(memory: usize) -> Self {
        let mut device = Self::new(memory);
        device.run_until(|b| b.engine.mode() == Mode::Monitor && b.engine.unmet(b.now).is_empty());
        device.bench.request();
        device.run_until(|b| b.engine.mode() == Mode::Command);
        device.run(1_000);
        device.bench.stalled = true;
        device.run(100);
        device.bench.stalled = false;
        device.run_until(|b| b.engine.mode() == Mode::Monitor);
        device
    }

    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            self.bench.run(1);
            for event in &self.bench.events[self.shown..] {
                self.sampler.event(*event);
            }
            self.shown = self.bench.events.len();
            self.sampler.observe(&self.bench.engine, self.bench.now);
            let mut out = [0; DATAGRAM_MAX];
            if let Some(length) = self.sampler.poll(self.bench.now, &mut out) {
                self.sent.push(out[..length].to_vec());
            }
        }
    }

    fn run_until(&mut self, done: impl Fn(&Bench) -> bool) {
        for _ in 0..20_000 {
            if done(&self.bench) {
                return;
            }
            self.run(1);
        }
        panic!("still {:?}", self.bench.engine.mode());
    }

    fn datagrams(&self) -> Vec<UrDatagram<'_>> {
        self.sent.iter().map(|bytes| UrDatagram::decode(bytes).expect("what was sent is telemetry")).collect()
    }
}

fn kind(message: &Message<'_, 6, UrStatus, UrEvent>) -> &'static str {
    match message {
        Message::Hello(_) => "hello",
        Message::Status(_) => "status",
        Message::Motion(_) => "motion",
        Message::Histogram(_) => "histogram",
        Message::Event(_) => "event",
        Message::Port(_) => "port",
        Message::Settings(_) => "settings",
        Message::Recording(_) => "recording",
        Message::Boot(_) => "boot",
        other => panic!("a kind without a name here: {other:?}"),
    }
}

#[test]
fn everything_is_sent_whole_in_sequence_and_not_more_often_than_said() {
    let mut device = Device::fallen(100_000);
    device.run(4_000);
    let datagrams = device.datagrams();
    let mut sent = BTreeMap::<_, Vec<Instant>>::new();
    for (sequence, datagram) in (0..).zip(&datagrams) {
        assert_eq!((datagram.boot, datagram.sequence), (7, sequence));
        sent.entry(kind(&datagram.message)).or_default().push(datagram.at);
    }
    assert_eq!(sent.len(), 9, "{:?}", sent.keys());
    assert!(datagrams.iter().any(|datagram| datagram.message == Message::Boot(BOOT)));
    let gap = |kind: &str| sent[kind].windows(2).map(|pair| pair[1].since(pair[0])).min();
    for repeated in ["status", "motion"] {
        assert!(gap(repeated) >= Some(Duration::from_millis(100)), "{repeated}: {:?}", gap(repeated));
    }
    for slow in ["hello", "port", "boot", "histogram"] {
        assert!(gap(slow) >= Some(Duration::from_secs(1)), "{slow}: {:?}", gap(slow));
    }
    assert!(gap("recording") >= Some(Duration::from_millis(5)));
}

#[test]
fn the_status_says_what_the_engine_says() {
    let mut device = Device::fallen(100_000);
    device.run(300);
    let datagrams = device.datagrams();
    let status = datagrams.iter().rev().find_map(|d| if let Message::Status(s) = &d.message { Some(s) } else { None });
    let status = status.expect("a status");
    assert_eq!((status.mode, status.latch), (Mode::Monitor, Some(Reason::StateStale)));
    assert!(status.unmet.contains(Reason::Latched));
    assert_eq!(status.peer.controller, device.bench.engine.peer().identity().copied());
    assert!(status.peer.streams[1].messages > 500 && status.evidence.at_rest.is_some());
    let moved = datagrams.iter().filter_map(|d| if let Message::Motion(m) = &d.message { m.approved } else { None });
    assert!(moved.into_iter().any(|approved| approved.0[0] > 0.1), "what was commanded was shown");
}

#[test]
fn every_event_is_sent_once_with_its_time() {
    let device = Device::fallen(100_000);
    let datagrams = device.datagrams();
    let sent: Vec<_> = datagrams
        .iter()
        .filter_map(|d| if let Message::Event(e) = d.message { Some((d.at, e)) } else { None })
        .collect();
    let events: Vec<_> = sent.iter().map(|(_, event)| *event).collect();
    assert_eq!(events, device.bench.events[..events.len()]);
    let transitions =
        sent.iter().filter_map(|(at, e)| if let Event::Transition(t) = e { Some((*at, t.at)) } else { None });
    for (at, happened) in transitions {
        assert!(at.since(happened) <= Duration::from_millis(1), "{at:?} for {happened:?}");
    }
}

#[test]
fn more_events_than_fit_are_counted() {
    const LATE: Event<UrEvent> =
        Event::LocalStall { late: Duration::from_millis(79), limit: Duration::from_millis(40) };
    let mut device = Device::new(0);
    (0..40).for_each(|_| device.sampler.event(LATE));
    device.run(2_000);
    let lost = device.datagrams().iter().rev().find_map(|d| match &d.message {
        Message::Status(status) => Some(status.events_lost),
        _ => None,
    });
    assert!(lost >= Some(24), "{lost:?}");
}

/// Returns the recording of the first fallback, assembled from the datagrams; `None` unless all its pieces arrived.
fn whole<'a>(datagrams: impl Iterator<Item = UrDatagram<'a>>) -> Option<Vec<u8>> {
    whole_of(datagrams, 1, Some(Reason::StateStale))
}

fn whole_of<'a>(datagrams: impl Iterator<Item = UrDatagram<'a>>, of: u32, why: Option<Reason>) -> Option<Vec<u8>> {
    let mut pieces = BTreeMap::new();
    let mut length = 0;
    for datagram in datagrams {
        if let Message::Recording(Recording { number, reason, chunk, .. }) = datagram.message
            && (number, reason) == (of, why)
        {
            length = chunk.length as usize;
            pieces.insert(chunk.offset, chunk.bytes);
        }
    }
    let bytes: Vec<u8> = pieces.into_values().flatten().copied().collect();
    (length > 0 && bytes.len() == length).then_some(bytes)
}

#[test]
fn a_recording_in_pieces_is_the_dump_and_replays() {
    for memory in [24_000, 64_000, 400_000] {
        let mut device = Device::fallen(memory);
        device.run(6_000);
        let dump = whole(device.datagrams().into_iter()).expect("every piece");
        let law = JointServo::new(Reference::Hold, JointServoConfig::default());
        let memory = Memory { primary: &mut [0; 65_536], realtime: &mut [0; 65_536], rtde: None };
        let replayed = replay::<6, Ur<'_>, _>(&dump, law, memory).expect("the same run");
        assert!(replayed.transitions >= 1 && replayed.inputs > 5, "{replayed:?}");
    }
}

#[test]
fn what_an_earlier_run_left_is_sent_from_where_it_lies_until_this_run_arms() {
    // Reset while commanding, and after a fallback.
    let mut commanding = Device::new(60_000);
    commanding.run_until(|b| b.engine.mode() == Mode::Monitor && b.engine.unmet(b.now).is_empty());
    commanding.bench.request();
    commanding.run_until(|b| b.engine.mode() == Mode::Command);
    commanding.run(500);
    for mut before in [commanding, Device::fallen(60_000)] {
        before.run(3);
        let mut after = Device::after(before.bench.engine.recorder().halves(), 30_000);
        after.run(40_000);
        let dump = whole_of(after.datagrams().into_iter(), 0, None).expect("every piece");
        let law = JointServo::new(Reference::Hold, JointServoConfig::default());
        let memory = Memory { primary: &mut [0; 65_536], realtime: &mut [0; 65_536], rtde: None };
        let replayed = replay::<6, Ur<'_>, _>(&dump, law, memory).expect("the same run");
        assert!(replayed.inputs > 5 && replayed.texts > 0, "{replayed:?}");
        let begun: Vec<_> = after
            .datagrams()
            .iter()
            .filter(|d| {
                matches!(d.message, Message::Recording(Recording { number: 0, chunk: Chunk { offset: 0, .. }, .. }))
            })
            .map(|d| d.at)
            .collect();
        assert_eq!(begun.len(), 4, "three times, and again after half a minute: {begun:?}");
        assert!(begun[3].since(begun[2]) > Duration::from_secs(30), "{begun:?}");

        // A request discards the earlier recording; the recording of a fallback is sent as usual.
        assert!(after.bench.engine.recorder().earlier().is_some());
        after.bench.request();
        after.run_until(|b| b.engine.mode() == Mode::Command);
        assert_eq!(after.bench.engine.recorder().earlier(), None);
        after.sent.clear();
        after.bench.stalled = true;
        after.run(100);
        after.bench.stalled = false;
        after.run_until(|b| b.engine.mode() == Mode::Monitor);
        after.run(40_000);
        assert_eq!(whole_of(after.datagrams().into_iter(), 0, None), None);
        let dump = whole(after.datagrams().into_iter()).expect("every piece");
        let law = JointServo::new(Reference::Hold, JointServoConfig::default());
        let memory = Memory { primary: &mut [0; 65_536], realtime: &mut [0; 65_536], rtde: None };
        let replayed = replay::<6, Ur<'_>, _>(&dump, law, memory).expect("the same run");
        assert!(replayed.transitions >= 1 && replayed.texts > 0, "{replayed:?}");
    }
}

#[test]
fn a_recording_survives_the_loss_of_any_one_datagram_in_seven() {
    // With a multiple of seven datagrams in each pass, the same ones would be lost every time.
    let mut devices = (56..64).map(|kilo| {
        let mut device = Device::fallen(kilo * 1_000);
        device.run(6_000);
        device
    });
    let begun =
        |d: &UrDatagram<'_>| matches!(d.message, Message::Recording(Recording { chunk: Chunk { offset: 0, .. }, .. }));
    let device = devices
        .find(|device| {
            let starts: Vec<_> = device.datagrams().iter().filter(|d| begun(d)).map(|d| d.sequence).collect();
            starts.len() > 1 && starts.windows(2).all(|pair| (pair[1] - pair[0]) % 7 != 0)
        })
        .expect("passes of another length");
    for lost in 0..7 {
        let arrived = device.datagrams().into_iter().filter(|d| d.sequence % 7 != lost);
        assert!(whole(arrived).is_some(), "without every seventh from {lost}");
    }
}

#[test]
fn a_recording_is_sent_a_few_times_and_then_no_more() {
    let mut device = Device::fallen(64_000);
    device.run(6_000);
    let passes: Vec<_> = device
        .datagrams()
        .iter()
        .filter_map(|d| if let Message::Recording(r) = d.message { Some((r.pass, r.chunk.offset)) } else { None })
        .collect();
    assert!(passes.is_sorted());
    assert_eq!(passes.iter().filter(|(_, offset)| *offset == 0).count(), 3);
}

#[test]
fn what_is_recorded_after_a_kept_fallback_is_recorded_again() {
    let mut device = Device::fallen(64_000);
    assert!(device.bench.engine.kept_fallback().is_some());
    device.bench.input(Input::Acknowledge);
    device.run_until(|b| b.engine.kept_fallback().is_none());
    device.run_until(|b| b.engine.unmet(b.now).is_empty());
    device.bench.request();
    device.run_until(|b| b.engine.mode() == Mode::Command);
    device.run(500);
    assert!(device.bench.replay().is_ok(), "{:?}", device.bench.replay());
    device.bench.stalled = true;
    device.run(100);
    device.bench.stalled = false;
    device.run_until(|b| b.engine.mode() == Mode::Monitor);
    assert_eq!(device.bench.engine.kept_fallback().map(|kept| kept.number), Some(2));
}

#[test]
fn every_cut_and_every_byte_behind_is_refused() {
    let mut device = Device::fallen(30_000);
    device.run(1_500);
    let mut seen = Vec::new();
    for bytes in &device.sent {
        let datagram = UrDatagram::decode(bytes).expect("telemetry");
        if seen.contains(&kind(&datagram.message)) {
            continue;
        }
        seen.push(kind(&datagram.message));
        for cut in 0..bytes.len() {
            let expected = if cut < 5 { TelemetryError::NotTelemetry } else { TelemetryError::Malformed };
            assert_eq!(UrDatagram::decode(&bytes[..cut]).err(), Some(expected), "{} at {cut}", kind(&datagram.message));
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(UrDatagram::decode(&longer).err(), Some(TelemetryError::Malformed));
    }
    assert_eq!(seen.len(), 9);
}

#[test]
fn too_little_room_sends_nothing_and_is_seen_as_a_loss() {
    let mut device = Device::new(0);
    device.bench.run(10);
    device.sampler.observe(&device.bench.engine, device.bench.now);
    assert_eq!(device.sampler.poll(device.bench.now, &mut [0; 8]), None);
    device.run(10);
    assert_eq!(device.datagrams()[0].sequence, 1);
}

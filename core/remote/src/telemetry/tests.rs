use proptest::prelude::*;

use super::*;
use outrigger_core::engine::ur::Ur;
use outrigger_core::engine::{Input, LinkId};
use outrigger_core::law::{JointServo, JointServoConfig, Reference};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_wire::time::Duration;

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

/// Does not compile if a kind of message is missing here. Add new kinds to `outrigger-tests` (`telemetry`) too, which
/// checks that each is sent.
const fn _every_kind(message: &Message<'_, 6, u8, u8>) {
    match message {
        Message::Hello(_)
        | Message::Status(_)
        | Message::Motion(_)
        | Message::Histogram(_)
        | Message::Event(_)
        | Message::Port(_)
        | Message::Settings(_)
        | Message::Recording(_)
        | Message::Boot(_) => {}
    }
}

#[test]
fn beside_a_krc_the_status_says_what_that_engine_says_and_fits_whatever_was_counted() {
    use outrigger_core::engine::krc::{Krc, KrcConfig, KrcEngine};
    use outrigger_wire::fri::{FriState, MeasurementRepr, Quality};

    let law = JointServo::<7>::new(Reference::Hold, JointServoConfig::default());
    let mut engine = KrcEngine::new(KrcConfig::default(), law, ()).expect("a session");
    let device = Device { board: "bench", build: "1f2e3d4c", boot: 7, settings: &[] };
    let mut sampler = Sampler::<7, Krc>::new(device, Pace::default());
    let from = "192.0.2.1:49938".parse().expect("an address");
    let mut bytes = [0; 916];
    let (mut told, mut positions) = (None, None);
    for counter in 1..=300_u16 {
        let repr = MeasurementRepr {
            send_seq_count: counter,
            state: 1,
            quality: 3,
            power: 0x7f,
            desired_cmd_sample_time: 0.001,
            safety_limits: 1.0,
            msr_jnt_pos: [0.25; 7],
            ..MeasurementRepr::default()
        };
        repr.emit(&mut bytes).expect("room");
        let now = Instant::from_micros(1_000 * u64::from(counter));
        engine.receive_window(LinkId::FRI)[..916].copy_from_slice(&bytes);
        engine.commit_datagram(LinkId::FRI, 916, from, now, now);
        engine.handle(now, Input::Tick);
        while let Some(event) = engine.poll_event() {
            sampler.event(event);
        }
        sampler.observe(&engine, now);
        let mut out = [0; DATAGRAM_MAX];
        while let Some(length) = sampler.poll(now, &mut out) {
            match PeerDatagram::<7, Krc>::decode(&out[..length]).expect("telemetry").message {
                Message::Status(status) => told = Some(status),
                Message::Motion(motion) => positions = Some(motion.positions),
                _ => {}
            }
        }
    }
    let mut told = told.expect("a status");
    assert_eq!(
        (told.mode, told.peer.state, told.peer.quality),
        (Mode::Monitor, Some(FriState::Monitor), Some(Quality::Perfect))
    );
    assert_eq!((told.peer.period, positions.map(|q| q.0)), (Some(Duration::from_millis(1)), Some([0.25; 7])));
    assert!((200..=300).contains(&told.peer.counts.commands), "{:?}", told.peer.counts);
    assert_eq!(told.peer.counts.commands, told.peer.counts.measurements);

    let most = u64::MAX;
    told.peer.counts = outrigger_core::engine::krc::KrcCounts {
        measurements: most,
        commands: most,
        overtaken: most,
        unused: most,
        malformed: most,
        foreign: most,
    };
    let datagram =
        Datagram { boot: 7, sequence: u32::MAX, at: Instant::from_micros(most), message: Message::Status(told) };
    let mut out = [0; DATAGRAM_MAX];
    let length = datagram.encode(&mut out).expect("it fits");
    assert_eq!(PeerDatagram::<7, Krc>::decode(&out[..length]), Ok(datagram));
    assert_eq!(UrDatagram::decode(&out[..length]).err(), Some(TelemetryError::OtherKind));
}

#[test]
fn another_format_is_named() {
    assert_eq!(UrDatagram::decode(b"ORTM\x01\x00\x00").err(), Some(TelemetryError::OtherFormat(1)));
    assert_eq!(UrDatagram::decode(b"GARBAGE").err(), Some(TelemetryError::NotTelemetry));
    let text = TelemetryError::OtherFormat(1).to_string();
    assert_eq!(text, "telemetry of format 1, expected 12: device and listener differ in version");
}

proptest! {
    #[test]
    fn what_is_decoded_encodes_to_a_datagram_that_says_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let bytes = [&MAGIC[..], b"U", &bytes].concat();
        let Ok(datagram) = UrDatagram::decode(&bytes) else { return Ok(()) };
        let mut out = [0; DATAGRAM_MAX];
        let length = datagram.encode(&mut out).expect("no longer than it was");
        let again = UrDatagram::decode(&out[..length]).expect("telemetry");
        // Compared as text, because NaN is not equal to itself.
        prop_assert_eq!(format!("{again:?}"), format!("{datagram:?}"));
    }

    #[test]
    fn what_the_port_sees_and_how_a_run_ended_come_back_as_they_were(network: [u32; 6], place: [u32; 2], end in 0..4_u8,
                                                                     frames: u32, interface_restarts: u32) {
        let [bad, unsent, link_losses, timeouts, bus_errors, restarts] = network;
        let network = NetworkCounts { bad, unsent, link_losses, timeouts, bus_errors, restarts };
        let brake_release = (frames % 2 == 0).then_some("Running");
        let port = PortReport { network, frames, interface_restarts, brake_release, ..PortReport::default() };
        let [at, from] = place;
        let crash = match end {
            0 => None,
            1 => Some(CrashReport::Fault { at, from }),
            2 => Some(CrashReport::StackOverflow(None)),
            _ => Some(CrashReport::StackOverflow(Some(CodeAddress { at, from }))),
        };
        for message in [Message::Port(port), Message::Boot(Boot { crash, ..BOOT })] {
            let datagram = Datagram { boot: 1, sequence: 2, at: Instant::from_micros(3), message };
            let mut out = [0; DATAGRAM_MAX];
            let length = datagram.encode(&mut out).expect("it is short");
            prop_assert_eq!(UrDatagram::decode(&out[..length]), Ok(datagram));
            // No truncated datagram is accepted as complete.
            for cut in 0..length {
                prop_assert!(UrDatagram::decode(&out[..cut]).is_err());
            }
        }
    }

    #[test]
    fn pieces_come_back_as_they_were(number: u32, length: u32, offset: u32, pass: u8, boot: u32, sequence: u32, at: u64,
                                     bytes in proptest::collection::vec(any::<u8>(), 0..=CHUNK_MAX)) {
        let chunk = Chunk { length, offset, bytes: &bytes };
        let reason = (number > 0).then_some(Reason::Internal);
        let message = Message::Recording(Recording { number, reason, pass, chunk });
        let datagram = Datagram { boot, sequence, at: Instant::from_micros(at), message };
        let mut out = [0; DATAGRAM_MAX];
        let length = datagram.encode(&mut out).expect("a piece fits");
        prop_assert_eq!(UrDatagram::decode(&out[..length]), Ok(datagram));
    }
}

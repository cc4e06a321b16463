//! The replay of recordings of a session with a KRC: of a whole one, and from every checkpoint.

use super::{A, address, bytes, measurement};
use crate::command::SourceConfig;
use crate::engine::krc::{Control, JointImpedance, Krc, KrcConfig, KrcEngine};
use crate::engine::{Input, LinkId, Output, ReplayError, dump_end, replay};
#[cfg(feature = "motions")]
use crate::law::SensorAdds;
use crate::law::{JointServo, JointServoConfig, Reference, SensorFeedForward};
use crate::mode::Mode;
use crate::recorder::{Kind, entries};
use crate::robot::Reason;
use outrigger_wire::fri::{Command, MeasurementRepr};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

const SENSOR: SourceId = SourceId(1);

/// Returns the settings and the law of a session in joint position, or of one in which a sensor `adds` torques to joint impedance.
fn session(adds: bool) -> (KrcConfig, JointServo<7>) {
    let (mut config, mut servo) = (KrcConfig::default(), JointServoConfig::default());
    if adds {
        config.peer.control = Control::JointImpedance(JointImpedance { torque: [1.0; 7], ..JointImpedance::default() });
        config.sources[0] = Some(SourceConfig::new(SENSOR, 6, -10.0, 10.0));
        servo.sensor = Some(SensorFeedForward { source: SENSOR, gain: 2.0 });
        #[cfg(feature = "motions")]
        {
            servo.sensor_adds = SensorAdds::Torques;
        }
    }
    (config, JointServo::new(Reference::Hold, servo))
}

#[test]
fn a_fallback_beside_a_krc_is_recorded_and_runs_again_to_the_same_bytes() {
    let (header, recorded) = fallback(false, 0);
    let dump = whole(&header, &recorded);
    let replayed = replay::<7, Krc, _>(&dump, session(false).1, ()).unwrap();
    assert!(replayed.texts >= 799 && replayed.transitions >= 4, "{replayed:?}");
    let memory = crate::engine::ur::Memory { primary: &mut [], realtime: &mut [], rtde: None };
    let other = JointServo::<6>::new(Reference::Hold, JointServoConfig::default());
    let refused = replay::<6, crate::engine::ur::Ur<'_>, _>(&dump, other, memory);
    assert_eq!(refused, Err(ReplayError::OtherKind));
}

/// Returns the recording of a session that is commanded until a fallback: the header of its dump, and the recorded
/// entries. With `checkpoints` above 0, a checkpoint is taken before every `checkpoints`th measurement.
fn fallback(adds: bool, checkpoints: usize) -> (Vec<u8>, Vec<u8>) {
    let mut memory = vec![0; 64 << 20];
    let (config, law) = session(adds);
    let mut engine = KrcEngine::new(config, law, ()).unwrap().with_recorder(&mut memory);
    let mut torques = vec![];
    let mut now = Instant::from_micros(5_000_000);
    engine.handle(now, Input::Start);
    let (mut reflected, mut modes) = (0, vec![]);
    for counter in 1..=800_u16 {
        now = now + Duration::from_millis(1);
        if checkpoints != 0 && usize::from(counter).is_multiple_of(checkpoints) {
            let _ = engine.law_mut();
        }
        let asked = matches!(engine.mode(), Mode::Arming | Mode::Command);
        let repr = MeasurementRepr {
            refl_seq_count: reflected,
            msr_jnt_pos: [0.75; 7],
            state: if asked { 2 } else { 1 },
            control: if adds { 3 } else { 1 },
            ..measurement(counter)
        };
        if adds {
            // Every second one is new: in between the last is used again.
            let value = SampleValue::new(&[f32::from(counter % 100) * 0.05; 6]).unwrap();
            let sample = Sample { source: SENSOR, value, seq: u32::from(counter / 2), taken_at: now };
            engine.handle(now, Input::Sample(sample));
        }
        engine.receive_window(LinkId::FRI)[..916].copy_from_slice(&bytes(&repr));
        engine.commit_datagram(LinkId::FRI, 916, address(A), now, now);
        engine.handle(now, Input::Tick);
        if engine.mode() == Mode::Monitor && engine.unmet(now).is_empty() {
            engine.handle(now, Input::Request(engine.mode_machine().epoch()));
        }
        while let Some(output) = engine.poll_output() {
            if let Output::Transmit { bytes, .. } = output {
                let command = Command::new_checked(bytes).unwrap();
                (reflected, torques) = (command.send_seq_count(), [&torques[..], &[command.add_jnt_trq()[1]]].concat());
            }
        }
        while engine.poll_event().is_some() {}
        modes.push(engine.mode());
    }
    assert!(modes.contains(&Mode::Command), "{:?}", engine.unmet(now));
    let differ = torques.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(adds && cfg!(feature = "motions"), differ > 100, "{torques:?}");
    // Nothing more comes.
    (1..=50).for_each(|millis| engine.handle(now + Duration::from_millis(millis), Input::Tick));
    assert_eq!(engine.latch(), Some(Reason::StateStale));

    let mut header = vec![0; 2048];
    let length = engine.dump_header(&mut header).unwrap();
    header.truncate(length);
    let [older, newer] = engine.recorder().halves();
    (header, [older, newer].concat())
}

fn whole(header: &[u8], entries: &[u8]) -> Vec<u8> {
    let length = header.len() + entries.len();
    [header, entries, &dump_end(length)].concat()
}

/// Replays a recorded session from each checkpoint to the next one with a new engine, in which fields that are neither
/// saved nor derived have their initial values.
#[test]
fn a_session_beside_a_krc_is_the_same_from_every_measurement_on() {
    [false, true].into_iter().for_each(is_the_same_from_every_measurement_on);
}

fn is_the_same_from_every_measurement_on(adds: bool) {
    let (header, recorded) = fallback(adds, 1);
    let (mut at, mut begins) = (0, vec![]);
    for entry in entries(&recorded) {
        begins.extend((entry.kind == Kind::Checkpoint).then_some(at));
        at += 13 + entry.payload.len();
    }
    begins.push(at);
    for piece in begins.windows(2) {
        let dump = whole(&header, &recorded[piece[0]..piece[1]]);
        if let Err(error) = replay::<7, Krc, _>(&dump, session(adds).1, ()) {
            panic!("from byte {}: {error}", piece[0]);
        }
    }
    assert!(begins.len() > 700);
}

//! Recordings beside a KRC run again: all of one, and from every checkpoint.

use super::{A, address, bytes, measurement};
use crate::engine::krc::{Krc, KrcConfig, KrcEngine};
use crate::engine::{Input, LinkId, Output, ReplayError, dump_end, replay};
use crate::law::{JointServo, JointServoConfig, Reference};
use crate::mode::Mode;
use crate::recorder::{Kind, entries};
use crate::robot::Reason;
use outrigger_wire::fri::{Command, MeasurementRepr};
use outrigger_wire::time::{Duration, Instant};

fn law() -> JointServo<7> {
    JointServo::new(Reference::Hold, JointServoConfig::default())
}

#[test]
fn a_fallback_beside_a_krc_is_recorded_and_runs_again_to_the_same_bytes() {
    let (header, recorded) = fallback(law(), 0);
    let dump = whole(&header, &recorded);
    let replayed = replay::<7, Krc, _>(&dump, law(), ()).unwrap();
    assert!(replayed.texts >= 799 && replayed.transitions >= 4, "{replayed:?}");
    let memory = crate::engine::ur::Memory { primary: &mut [], realtime: &mut [], rtde: None };
    let other = JointServo::<6>::new(Reference::Hold, JointServoConfig::default());
    let refused = replay::<6, crate::engine::ur::Ur<'_>, _>(&dump, other, memory);
    assert_eq!(refused, Err(ReplayError::OtherKind));
}

/// A session to its fallback: the beginning of its dump, and its entries. A checkpoint is taken before every `checkpoints`th call.
fn fallback(law: JointServo<7>, checkpoints: usize) -> (Vec<u8>, Vec<u8>) {
    let mut memory = vec![0; 64 << 20];
    let mut engine = KrcEngine::new(KrcConfig::default(), law, ()).unwrap().with_recorder(&mut memory);
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
            ..measurement(counter)
        };
        engine.receive_window(LinkId::FRI)[..916].copy_from_slice(&bytes(&repr));
        engine.commit_datagram(LinkId::FRI, 916, address(A), now, now);
        engine.handle(now, Input::Tick);
        if engine.mode() == Mode::Monitor && engine.unmet(now).is_empty() {
            engine.handle(now, Input::Request(engine.mode_machine().epoch()));
        }
        while let Some(output) = engine.poll_output() {
            if let Output::Transmit { bytes, .. } = output {
                reflected = Command::new_checked(bytes).unwrap().send_seq_count();
            }
        }
        while engine.poll_event().is_some() {}
        modes.push(engine.mode());
    }
    assert!(modes.contains(&Mode::Command), "{:?}", engine.unmet(now));
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

/// An engine of its own for each checkpoint: what is neither saved nor derived is at its beginning there.
#[test]
fn a_session_beside_a_krc_is_the_same_from_every_measurement_on() {
    let (header, recorded) = fallback(law(), 1);
    let (mut at, mut begins) = (0, vec![]);
    for entry in entries(&recorded) {
        begins.extend((entry.kind == Kind::Checkpoint).then_some(at));
        at += 13 + entry.payload.len();
    }
    begins.push(at);
    for piece in begins.windows(2) {
        let dump = whole(&header, &recorded[piece[0]..piece[1]]);
        if let Err(error) = replay::<7, Krc, _>(&dump, law(), ()) {
            panic!("from byte {}: {error}", piece[0]);
        }
    }
    assert!(begins.len() > 700);
}

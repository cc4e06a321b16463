//! The replay of recordings, and the reports of a replay that differs.

use super::bench::Bench;
use crate::engine::{Input, LinkId, Outcome, ReplayError, Replayed};
#[cfg(feature = "trajectories")]
use crate::law::{FeedError, Replaced};
#[cfg(feature = "motions")]
use crate::law::{Forward, ForwardError, Forwarded, Forwarding};
use crate::law::{JointServo, JointServoConfig, Law as _, Motion, Reference};
use crate::mode::Mode;
use crate::recorder::{Kind, entries};
use crate::robot::Reason;
use crate::trajectory::{Progress, Setpoint, Trajectory, Waypoint};
#[cfg(feature = "motions")]
use outrigger_wire::robot::JointTorques;
use outrigger_wire::robot::{JointPositions, JointVelocities};
use outrigger_wire::time::Duration;

/// Returns a bench with a recording of a fallback, long after the beginning of the session.
fn fallback() -> Bench {
    let mut bench = Bench::moving(5, 15);
    bench.run(1_000);
    bench.stalled = true;
    bench.run(120);
    assert_eq!(bench.engine.latch(), Some(Reason::StateStale));
    bench.stalled = false;
    bench.run(300);
    bench
}

#[test]
fn a_fallback_is_replayed_to_the_same_transitions_and_the_same_bytes() {
    let bench = fallback();
    let Replayed { inputs, transitions, texts, from, to } = bench.replay().unwrap();
    assert!(to.since(from) > Duration::from_millis(200), "{from:?} to {to:?}");
    assert!(inputs > 100 && texts > 10, "{inputs} inputs, {texts} texts");
    // Command to Stopping, Stopping to Monitor.
    assert_eq!(transitions, 2);
    assert_eq!(bench.engine.mode(), Mode::Monitor);
}

#[test]
fn what_was_recorded_before_the_memory_turned_over_is_summed_up_in_its_checkpoint() {
    let mut bench = Bench::moving(5, 15);
    for _ in 0..8 {
        bench.run(150);
        let kinds: Vec<_> = bench.engine.recorder().entries().map(|entry| entry.kind).collect();
        assert_eq!(kinds[0], Kind::Checkpoint);
        assert!(bench.replay().is_ok(), "{:?}", bench.replay());
    }
    assert_eq!(bench.engine.recorder().lost(), 0);
}

#[test]
fn a_changed_text_is_found_with_its_place() {
    let bench = fallback();
    let mut dump = bench.dump();
    let at = dump.windows(6).rposition(|window| window == b"speedj").unwrap();
    dump[at + 10] ^= 1;
    let Err(ReplayError::Diverged { recorded: Some(Outcome::Text { at, .. }), now: Some(_), .. }) = replayed(&dump)
    else {
        panic!("{:?}", replayed(&dump));
    };
    assert_eq!(at, 10);
}

#[test]
fn an_input_that_was_not_there_makes_a_difference() {
    let bench = fallback();
    let mut dump = bench.dump();
    let halves = bench.engine.recorder().halves().iter().map(|half| half.len()).sum::<usize>();
    let header = dump.len() - halves - crate::engine::DUMP_END_LEN;
    // The operator releases where nothing happened in the recording: a Tick becomes a Release.
    let mut at = header;
    let command = entries(&dump[header..])
        .find_map(|entry| {
            let here = at;
            at += 13 + entry.payload.len();
            let tick = entry.kind == Kind::Input && entry.payload.len() == 1;
            tick.then_some(here)
        })
        .unwrap();
    let mut bytes = [0; 8];
    let release = postcard::to_slice(&Input::Release, &mut bytes).unwrap();
    assert_eq!(release.len(), 1);
    dump[command + 13] = release[0];
    assert!(matches!(replayed(&dump), Err(ReplayError::Diverged { .. })), "{:?}", replayed(&dump));
}

#[test]
fn bytes_that_are_no_dump_and_one_that_is_cut_off_anywhere_are_refused() {
    assert_eq!(replayed(b""), Err(ReplayError::NoDump));
    assert_eq!(replayed(b"OUTRIGGER"), Err(ReplayError::NoDump));
    let other = replayed(b"OUTRIGGER\x02").unwrap_err();
    assert_eq!(other, ReplayError::OtherFormat(2));
    assert_eq!(other.to_string(), "a dump of format 2, and this version reads format 20");
    let dump = fallback().dump();
    assert!(replayed(&dump).is_ok());
    for cut in 10..dump.len() {
        assert_eq!(replayed(&dump[..cut]), Err(ReplayError::CutOff), "{cut} bytes");
        assert_eq!(crate::engine::recorded_transitions(&dump[..cut]).count(), 0);
    }
}

#[test]
fn a_dump_of_an_engine_with_other_features_is_refused_by_name() {
    let mut dump = fallback().dump();
    // The flag is after the format, in the top bit of the kind of controller.
    dump[10] ^= 0x80;
    let refused = replayed(&dump).unwrap_err();
    assert_eq!(refused, ReplayError::OtherFeatures { programs: !cfg!(feature = "programs") });
    assert!(refused.to_string().contains("feature `programs`"));
}

#[test]
fn a_dump_with_something_missing_in_between_is_refused() {
    let dump = fallback().dump();
    let without = [&dump[..4_096], &dump[8_192..]].concat();
    assert_eq!(replayed(&without), Err(ReplayError::CutOff));
}

#[test]
fn another_law_put_in_place_is_part_of_the_recording() {
    let mut bench = Bench::ready(3, 15);
    *bench.engine.law_mut() = super::bench::turning();
    bench.request();
    bench.run_until(5_000, |b| b.engine.mode() == Mode::Command);
    bench.run(300);
    assert!(bench.replay().unwrap().texts > 30);
}

#[test]
fn waypoints_that_are_fed_are_part_of_the_recording_and_refused_ones_too() {
    let at = |number: u16| {
        let positions = JointPositions([f32::from(number) * 0.004; 6]);
        let velocities = JointVelocities(if matches!(number, 0 | 60) { [0.0; 6] } else { [0.04; 6] });
        let at = Duration::from_millis(100 * u64::from(number));
        Waypoint { setpoint: Setpoint { positions, velocities }, accelerations: None, at }
    };
    let mut bench = Bench::ready(3, 15);
    let beginning = Trajectory::beginning(&[at(0), at(1)]).unwrap();
    *bench.engine.law_mut() = JointServo::new(Reference::Relative(beginning), JointServoConfig::default());
    bench.request();
    let mut next = 2;
    for _ in 0..7_500 {
        while bench.engine.motion_status().room > 0 {
            assert!(bench.engine.feed(&at(next - 1), false, bench.now).is_err(), "not later than the one before");
            bench.engine.feed(&at(next), next == 60, bench.now).unwrap();
            next += 1;
        }
        bench.run(1);
    }
    assert_eq!((next, bench.engine.motion_status().progress), (61, Progress::Finished));
    assert!(bench.replay().unwrap().texts > 10, "{:?}", bench.replay());

    // A recording without its end: the error names it, and the arm is at rest.
    let mut bench = Bench::ready(3, 15);
    *bench.engine.law_mut() = JointServo::new(
        Reference::Relative(Trajectory::beginning(&[at(0), at(1)]).unwrap()),
        JointServoConfig::default(),
    );
    bench.request();
    bench.run(1_500);
    assert_eq!((bench.engine.latch(), bench.engine.mode()), (Some(Reason::Starved), Mode::Monitor));
    assert!(bench.replay().is_ok(), "{:?}", bench.replay());
}

#[cfg(feature = "trajectories")]
#[test]
fn a_motion_that_takes_the_place_of_another_is_part_of_the_recording() {
    let mut bench = Bench::moving(5, 15);
    bench.run(500);
    let (was, at) = (
        bench.engine.law().motion().and_then(Motion::setpoint).unwrap().positions,
        bench.engine.motion_status().elapsed,
    );
    let back = |millis| Waypoint {
        setpoint: Setpoint { positions: was.map(|q| q - 0.05), velocities: JointVelocities::ZERO },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    assert!(matches!(bench.engine.replace(&[back(1)], true), Err(FeedError::Beyond(_))), "sixty metres a second");
    assert_eq!(bench.engine.motion_status().elapsed, at, "it goes on as before");
    let replaced = bench.engine.replace(&[back(1_500)], true).unwrap();
    assert_eq!(replaced, Replaced { progress: Progress::Running, elapsed: at });
    bench.run(3_000);
    assert_eq!(bench.engine.motion_status().progress, Progress::Finished);
    assert!((bench.peer.q[0] - f64::from(was.0[0] - 0.05)).abs() < 2e-3, "{} from {was:?}", bench.peer.q[0]);
    assert!(bench.replay().unwrap().texts > 100, "{:?}", bench.replay());
    bench.input(Input::Release);
    bench.run(1_000);
    assert_eq!(bench.engine.replace(&[back(1_500)], true), Err(FeedError::NotCommanding));
}

#[cfg(feature = "motions")]
#[test]
fn what_is_streamed_is_part_of_the_recording_and_what_is_refused_too() {
    let sent = |what| Forward { what, holds: Forward::<6>::DRIVER_HOLDS };
    let speeds = |first| sent(Forwarded::Speeds(JointVelocities([first, 0.0, 0.0, 0.0, 0.0, 0.0])));
    let mut bench = Bench::ready(5, 15);
    *bench.engine.law_mut() = JointServo::new(Reference::Hold, JointServoConfig::default());
    assert_eq!(bench.engine.forward(&speeds(0.2), bench.now), Err(ForwardError::NotCommanding));
    bench.request();
    bench.run_until(5_000, |b| b.engine.mode() == Mode::Command);
    bench.run(100);
    for _ in 0..50 {
        bench.engine.forward(&speeds(0.2), bench.now).unwrap();
        assert!(matches!(bench.engine.forward(&speeds(9.0), bench.now), Err(ForwardError::Beyond(_))));
        let torques = sent(Forwarded::Torques(JointTorques::ZERO));
        assert_eq!(bench.engine.forward(&torques, bench.now), Err(ForwardError::NoTorques));
        bench.run(20);
        assert_eq!(bench.engine.motion_status().forwarding, Forwarding::Speeds);
    }
    let there = bench.peer.q[0];
    assert!(bench.replay().unwrap().texts > 100, "{:?}", bench.replay());
    bench.run(100);
    assert_eq!(bench.engine.motion_status().forwarding, Forwarding::Lapsed);
    bench.run(400);
    assert_eq!((bench.engine.motion_status().forwarding, bench.engine.mode()), (Forwarding::Idle, Mode::Command));
    assert!(bench.peer.q[0] > there && there > 0.1, "{there} rad");
    assert!(bench.replay().is_ok(), "{:?}", bench.replay());
    // Recorded in the middle of a stream.
    bench.engine.forward(&speeds(0.2), bench.now).unwrap();
    bench.run(20);
    assert!(bench.engine.recorder().entries().any(|entry| entry.kind == Kind::Forward));
    bench.input(Input::Release);
    assert_eq!(bench.engine.forward(&speeds(0.2), bench.now), Err(ForwardError::NotCommanding));
    bench.run(500);
    assert_eq!((bench.engine.motion_status().forwarding, bench.engine.mode()), (Forwarding::Idle, Mode::Monitor));
    assert!(bench.replay().is_ok(), "{:?}", bench.replay());
}

#[test]
fn a_checkpoint_leaves_most_of_64_kib_to_the_recording() {
    let bench = fallback();
    let checkpoint = bench.engine.recorder().entries().next().unwrap();
    assert_eq!(checkpoint.kind, Kind::Checkpoint);
    assert!(checkpoint.payload.len() < 6_000, "{} bytes", checkpoint.payload.len());
}

#[test]
fn half_a_message_at_the_turn_over_is_part_of_the_checkpoint() {
    let mut bench = Bench::moving(5, 15);
    bench.read_most = 700;
    bench.run(1_500);
    let halves = bench.engine.recorder().entries().filter(|entry| entry.kind == Kind::Checkpoint).count();
    assert_eq!(halves, 2);
    assert!(bench.replay().is_ok(), "{:?}", bench.replay());
    bench.close(LinkId::PRIMARY);
    bench.run(400);
    assert!(bench.replay().is_ok(), "{:?}", bench.replay());
}

fn replayed(dump: &[u8]) -> Result<Replayed, ReplayError> {
    let memory = crate::engine::ur::Memory { primary: &mut [0; 4096], realtime: &mut [0; 8192], rtde: None };
    crate::engine::replay::<6, crate::engine::ur::Ur<'_>, _>(dump, super::bench::turning(), memory)
}

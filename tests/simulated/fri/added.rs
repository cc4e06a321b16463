//! Torques and a force that a law adds to the impedance of the KRC: they act on the arm, no bound is exceeded, and
//! they are zero while the arm does not follow the law.

use std::time::Duration as StdDuration;

use outrigger_core::command::{Samples, SourceConfig};
use outrigger_core::engine::krc::{
    AddedLimits, Control, JointImpedance, KrcConfig, KrcOptions, KrlConvention, ToolImpedance,
};
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::{JointServo, JointServoConfig, Law, Reference, SensorAdds, SensorFeedForward};
use outrigger_core::mode::Mode;
use outrigger_core::recorder::Checkpoint;
use outrigger_core::robot::Reason;
use outrigger_sim::krc::Options;
use outrigger_tests::fri::Rig;
use outrigger_wire::fri::{Command, FriState};
use outrigger_wire::robot::{JointTorques, JointVelocities, State};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

use super::{assert_clean, options};

const SENSOR: SourceId = SourceId(0);
/// The age above which a sensor reading is no longer used, so that its absence is bridged.
const MAX_AGE: Duration = Duration::from_millis(40);
/// The time in which the added torque may rise to its limit.
const RISE: Duration = Duration::from_millis(200);
/// The highest torque that the law may add \[Nm\].
const MOST: f32 = 30.0;

fn joints() -> Control {
    Control::JointImpedance(JointImpedance::default())
}

/// Returns a law without feedback, so that the arm yields, that adds `gain` times the sensor's value to the torques
/// or the force.
fn adding(adds: SensorAdds, gain: f32) -> JointServo<7> {
    let config = JointServoConfig {
        proportional: 0.0,
        derivative: 0.0,
        sensor: Some(SensorFeedForward { source: SENSOR, gain }),
        sensor_adds: adds,
        ..JointServoConfig::default()
    };
    JointServo::new(Reference::Hold, config)
}

fn beside<L: Law<7>>(control: Control, options: Options, law: L) -> Run<L> {
    let added = AddedLimits { torque: [MOST; 7], rise: RISE, ..AddedLimits::default() };
    let mut config = KrcConfig { peer: KrcOptions { control, added, ..KrcOptions::default() }, ..KrcConfig::default() };
    let judged = SourceConfig { max_age: MAX_AGE, stuck_after: None, ..SourceConfig::new(SENSOR, 6, -100.0, 100.0) };
    config.sources[0] = Some(judged);
    let mut rig = Rig::new(options, config, law, KrlConvention::RosControl);
    rig.written = Some(vec![]);
    Run { rig, seq: 0, reading: [0.0; 6] }
}

/// A run of the engine with a simulated KRC and a sensor.
struct Run<L: Law<7>> {
    rig: Rig<L>,
    seq: u32,
    reading: [f32; 6],
}

impl<L: Law<7>> Run<L> {
    /// Runs for `millis`, with one sensor reading in each millisecond.
    fn advance(&mut self, millis: u64) {
        for _ in 0..millis {
            self.seq += 1;
            let taken_at = self.now();
            let value = SampleValue::new(&self.reading).expect("six numbers");
            self.rig.input(Input::Sample(Sample { source: SENSOR, value, seq: self.seq, taken_at }));
            self.rig.advance(1);
        }
    }

    fn now(&self) -> Instant {
        Instant::from_micros(self.rig.krc.now().as_micros())
    }

    fn commanded(mut self) -> Self {
        for _ in 0..10_000 {
            self.advance(1);
            if self.rig.session.mode() == Mode::Command {
                return self;
            }
            if self.rig.session.mode() == Mode::Monitor && self.rig.session.unmet(self.now()).is_empty() {
                self.rig.request();
            }
        }
        panic!("{:?} {:?}", self.rig.session.mode(), self.rig.session.latch());
    }

    /// Returns the torque of the second joint \[Nm\] and the force along z \[N\] of each command since the last call.
    fn added(&mut self) -> Vec<(f32, f32)> {
        let written = self.rig.written.replace(vec![]).expect("a list");
        let commands = written.iter().map(|(_, bytes)| Command::new_checked(bytes).expect("a command"));
        commands.map(|command| (command.add_jnt_trq()[1], command.add_tcp_ft().linear[2])).collect()
    }
}

/// Checks that the torque of the second joint changes from command to command by no more than a `period` \[s\] permits,
/// except when commanding ends. Returns the last torque \[Nm\].
fn steps(added: &[(f32, f32)], period: f32) -> f32 {
    let most = MOST * period / RISE.as_secs_f32() * 1.001 + 1e-4;
    for pair in added.windows(2) {
        let change = (pair[1].0 - pair[0].0).abs();
        assert!(change <= most || pair[1].0 == 0.0, "{} to {} Nm, {most} allowed", pair[0].0, pair[1].0);
    }
    added.last().map_or(0.0, |added| added.0)
}

#[test]
fn an_added_torque_bends_the_arm_against_its_stiffness_at_every_period() {
    for millis in [1, 2, 5, 12] {
        let options = Options { period: StdDuration::from_millis(millis), ..options(&[]) };
        let mut run = beside(joints(), options, adding(SensorAdds::Torques, 2.0)).commanded();
        let before = run.rig.krc.truth().q;
        run.reading = [0.0, 10.0, 0.0, -5.0, 0.0, 0.0];
        let _ = run.added();
        run.advance(3_000);
        let added = run.added();
        assert_eq!(steps(&added, millis as f32 * 1e-3), 20.0, "{millis} ms");
        let after = run.rig.krc.truth().q;
        for (joint, torque) in [(1, 20.0), (3, -10.0), (0, 0.0), (6, 0.0)] {
            // 1000 Nm/rad; gravity is compensated.
            let bent = after[joint] - before[joint];
            assert!((bent - torque / 1_000.0).abs() < 1e-4, "{millis} ms: joint {joint} by {bent} rad");
        }
        assert_eq!(run.rig.session.mode(), Mode::Command, "{:?}", run.rig.session.latch());
        run.reading = [0.0; 6];
        run.advance(2_000);
        let back = (run.rig.krc.truth().q[1] - before[1]).abs();
        assert!(back < 1e-4, "{millis} ms: {back} rad");
        assert_clean(&run.rig, &format!("{millis} ms"));
    }
}

#[test]
fn a_stiffness_that_is_halved_while_commanding_doubles_the_bend_and_less_damping_swings_farther() {
    let hold = JointServo::new(
        Reference::Hold,
        JointServoConfig { proportional: 0.0, derivative: 0.0, ..JointServoConfig::default() },
    );
    let mut run = beside(joints(), options(&[]), hold).commanded();
    let before = run.rig.krc.truth().q[1];
    // Changes the scheme in force, as a request for stiffness and damping does. Returns the final bend of the second
    // joint, and its largest on the way [rad].
    let mut change = |changes: &dyn Fn(&mut JointImpedance)| {
        let Control::JointImpedance(mut impedance) = *run.rig.session.peer().control() else {
            panic!("joint impedance")
        };
        changes(&mut impedance);
        assert_eq!(run.rig.session.set_joint_impedance(impedance), Ok(()));
        let mut farthest = 0.0_f64;
        for _ in 0..3_000 {
            run.rig.advance(1);
            farthest = farthest.max(run.rig.krc.truth().q[1] - before);
        }
        assert_eq!(run.rig.session.mode(), Mode::Command, "{:?}", run.rig.session.latch());
        (run.rig.krc.truth().q[1] - before, farthest)
    };
    let (stiff, _) = change(&|impedance| impedance.torque[1] = 20.0);
    assert!((stiff - 0.02).abs() < 1e-4, "20 Nm on 1000 Nm/rad: {stiff} rad");
    let (soft, damped) = change(&|impedance| impedance.stiffness = [500.0; 7]);
    assert!((soft - 0.04).abs() < 1e-4, "20 Nm on 500 Nm/rad: {soft} rad");
    let (_, back) = change(&|impedance| impedance.stiffness = [1_000.0; 7]);
    assert!((back - 0.04).abs() < 1e-4, "it swings back from 40 mrad: {back} rad");
    let (again, undamped) = change(&|impedance| (impedance.stiffness, impedance.damping) = ([500.0; 7], [0.1; 7]));
    assert!((again - 0.04).abs() < 1e-3, "damping does not move where it rests: {again} rad");
    assert!(undamped > damped + 0.005, "{undamped} rad with damping 0.1, {damped} rad with 0.7");
    assert_clean(&run.rig, "softer");
}

#[test]
fn an_added_force_moves_the_tool_against_its_stiffness() {
    let control = Control::ToolImpedance(ToolImpedance::default());
    let mut run = beside(control, options(&[]), adding(SensorAdds::Wrench, 1.0)).commanded();
    let height = |run: &Run<_>| outrigger_sim::krc::model::flange(&run.rig.krc.truth().q).position[2];
    let before = height(&run);
    run.reading = [0.0, 0.0, -20.0, 0.0, 0.0, 0.0];
    run.advance(4_000);
    let moved = height(&run) - before;
    assert!((moved + 0.01).abs() < 5e-4, "20 N at 2000 N/m moved it by {moved} m");
    assert_eq!(run.added().last(), Some(&(0.0, -20.0)));
    assert_clean(&run.rig, "wrench");
}

#[test]
fn a_source_that_falls_silent_ends_commanding_and_nothing_is_added_after_its_age() {
    let mut run = beside(joints(), options(&[]), adding(SensorAdds::Torques, 1.0)).commanded();
    run.reading = [0.0, 20.0, 0.0, 0.0, 0.0, 0.0];
    run.advance(1_000);
    let _ = run.added();
    // The age, and two cycles that are bridged; each command answers the measurement before.
    run.rig.advance(MAX_AGE.as_micros() / 1_000 + 4);
    let added = run.added();
    assert!(added.len() >= 40 && added[30].0 == 20.0, "{added:?}");
    assert_eq!((steps(&added, 1e-3), run.rig.session.latch()), (0.0, Some(Reason::SourceStale)));
    run.rig.advance(500);
    assert!(run.added().iter().all(|added| added.0 == 0.0));
    assert_clean(&run.rig, "silent source");
}

#[test]
fn a_release_and_a_krc_that_stops_leave_nothing_added_while_it_still_follows() {
    for stops in [false, true] {
        let options = options(if stops { &["stop@4s"] } else { &[] });
        let mut run = beside(joints(), options, adding(SensorAdds::Torques, 1.0)).commanded();
        run.reading = [0.0, 20.0, 0.0, 0.0, 0.0, 0.0];
        if stops {
            run.rig.until(1, "a sample", |_| true);
            while run.rig.session.mode() == Mode::Command {
                run.advance(1);
            }
            assert_eq!(run.rig.session.latch(), Some(Reason::LeftCommand));
        } else {
            run.advance(1_000);
            assert_eq!(run.rig.krc.state(), FriState::Command);
            run.rig.input(Input::Release);
        }
        let _ = run.added();
        run.advance(300);
        let added = run.added();
        assert!(added.len() > 250 && added.iter().skip(1).all(|added| added.0 == 0.0), "{added:?}");
        assert_clean(&run.rig, "stop");
    }
}

#[test]
fn a_torque_above_its_limit_ends_commanding_by_its_name() {
    let mut run = beside(joints(), options(&[]), adding(SensorAdds::Torques, 1.0)).commanded();
    run.reading = [0.0, MOST, 0.0, 0.0, 0.0, 0.0];
    run.advance(1_000);
    assert_eq!(run.rig.session.mode(), Mode::Command, "just at it: {:?}", run.rig.session.latch());
    run.reading[1] = MOST + 0.1;
    let _ = run.added();
    run.advance(5);
    assert_eq!(run.rig.session.latch(), Some(Reason::TorqueLimit));
    assert!(run.added().iter().all(|added| added.0 == 0.0 || added.0 == MOST));
    assert_clean(&run.rig, "above");
}

/// A law that adds a torque of 1 Nm, and one above the limit once its source has been late for longer than [`MAX_AGE`].
struct Grows {
    late: f32,
    seen: Option<u32>,
}

impl Checkpoint for Grows {}

impl Law<7> for Grows {
    fn step(&mut self, _: &State<7>, samples: &Samples<'_>, _: Duration) -> Result<JointVelocities<7>, Reason> {
        let seq = samples.of(SENSOR).map(|sample| sample.seq);
        let old = std::mem::replace(&mut self.seen, seq) == seq;
        self.late = if old { self.late + 1.0 } else { 0.0 };
        // Beyond the limit from the cycle in which the reading is bridged on.
        let cycles = MAX_AGE.as_micros() as f32 / 1_000.0;
        samples.add_torques(&JointTorques([if self.late > cycles { MOST + 1.0 } else { 1.0 }; 7]))?;
        Ok(JointVelocities::ZERO)
    }

    fn sources(&self) -> &[SourceId] {
        &[SENSOR]
    }
}

#[test]
fn a_torque_above_its_limit_ends_commanding_while_a_late_source_is_bridged_too() {
    let mut run = beside(joints(), options(&[]), Grows { late: 0.0, seen: None }).commanded();
    run.advance(500);
    run.rig.advance(MAX_AGE.as_micros() / 1_000 + 10);
    let bridged = run.rig.events.iter().any(|event| matches!(event, Event::Bridged(_)));
    assert_eq!((run.rig.session.latch(), bridged), (Some(Reason::TorqueLimit), true));
    assert!(run.added().iter().all(|added| added.0 <= 1.0));
    assert_clean(&run.rig, "bridged");
}

/// A law that adds random torques for random times: sometimes none, and occasionally one that is too large.
struct Wild {
    random: u64,
    wanted: Option<[f32; 7]>,
    left: f32,
}

impl Wild {
    /// Returns a random number in 0 … 1, by Marsaglia's xorshift.
    fn unit(&mut self) -> f32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 40) as f32 / (1_u64 << 24) as f32
    }
}

impl Checkpoint for Wild {}

impl Law<7> for Wild {
    fn step(&mut self, _: &State<7>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<7>, Reason> {
        self.left -= dt.as_secs_f32();
        if self.left <= 0.0 {
            self.left = 0.4 * self.unit();
            let most = if self.unit() < 0.03 { 1.5 * MOST } else { MOST };
            let torques = std::array::from_fn(|_| most * (2.0 * self.unit() - 1.0));
            self.wanted = (self.unit() > 0.25).then_some(torques);
        }
        self.wanted.map_or(Ok(()), |wanted| samples.add_torques(&JointTorques(wanted)))?;
        Ok(JointVelocities::ZERO)
    }
}

#[test]
fn whatever_a_law_adds_beside_whatever_fails_no_bound_is_exceeded_and_nothing_is_added_but_while_commanding() {
    const FAULTS: [&[&str]; 5] = [
        &[],
        &["drop@0s::3%", "jitter@0s::500us"],
        &["silence@4s:15ms", "silence/up@7s:30ms"],
        &["power-off@4s:300ms", "stop@7s"],
        &["restart@5s", "close@8s:200ms"],
    ];
    let (mut commanded, mut given, mut ends) = (0, 0, std::collections::BTreeSet::new());
    for seed in 1..=20_u64 {
        let period = [1, 2, 5, 12][seed as usize % 4];
        let options = Options { period: StdDuration::from_millis(period), ..options(FAULTS[seed as usize % 5]) };
        let constant = if seed % 3 == 0 { 0.0 } else { 4.0 };
        let control = Control::JointImpedance(JointImpedance { torque: [constant; 7], ..JointImpedance::default() });
        let law = Wild { random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, wanted: None, left: 0.0 };
        let mut run = beside(control, options, law);
        let mut last = (0_u16, [0.0_f32; 7]);
        for _ in 0..12_000 {
            run.rig.advance(1);
            let mode = run.rig.session.mode();
            for (at, bytes) in run.rig.written.replace(vec![]).expect("a list") {
                let command = Command::new_checked(&bytes).expect("a command");
                let (counter, torques) = (command.refl_seq_count(), command.add_jnt_trq());
                let seconds = f32::from(counter.wrapping_sub(last.0)) * period as f32 * 1e-3;
                let allowed = MOST * seconds / RISE.as_secs_f32() * 1.001 + 1e-4;
                for (before, after) in last.1.into_iter().zip(torques) {
                    let what = format!("seed {seed} at {at}: {before} to {after} Nm in {seconds} s, {mode:?}");
                    assert!(after.abs() <= MOST, "{what}");
                    let sets_in = before == 0.0 && after == constant;
                    assert!((after - before).abs() <= allowed || after == 0.0 || sets_in, "{what}");
                    assert!(mode == Mode::Command || after == 0.0, "{what}");
                    given += u32::from(after != 0.0 && after != constant);
                }
                last = (counter, torques);
            }
            commanded += u32::from(mode == Mode::Command);
            if mode == Mode::Monitor {
                ends.extend(run.rig.session.latch().map(Reason::name));
                run.rig.input(Input::Acknowledge);
                run.rig.request();
            }
        }
        assert_clean(&run.rig, &format!("seed {seed}"));
    }
    println!("{commanded} ms commanded, {given} torques, ended by {ends:?}");
    assert!(commanded > 50_000 && given > 100_000, "{commanded} {given}");
    assert!(ends.contains("TorqueLimit") && ends.contains("LeftCommand"), "{ends:?}");
}

//! Motions of many waypoints, fed while they run, at every period.

use std::time::Duration as StdDuration;

use outrigger_core::engine::krc::{
    Control, ControlRefusal, JointImpedance, KrcConfig, KrcOptions, KrlConvention, ToolImpedance, Tracking,
};
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::{JointServo, JointServoConfig, Law as _, Motion, Reference};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{MAX_WAYPOINTS, Progress, Setpoint, Trajectory, Waypoint};
use outrigger_sim::krc::{Move, Options};
use outrigger_sim::time::SimTime;
use outrigger_tests::fri::Rig;
use outrigger_wire::fri::{CommandFlags, ControlScheme, FriState};
use outrigger_wire::robot::{JointPositions, JointVelocities};
use outrigger_wire::time::{Duration, Instant};

use super::assert_clean;

const SECONDS: f64 = 4.0;

/// Returns a motion of every joint by half a radian from the position of the simulated arm and back, in the shape of
/// a cosine.
fn swing(home: &[f64; 7], waypoints: u32) -> Vec<Waypoint<7>> {
    let at = |number: u32| {
        let share = f64::from(number) / f64::from(waypoints);
        let (sine, cosine) = (share * std::f64::consts::TAU).sin_cos();
        let way = 0.25 - 0.25 * cosine;
        let speed = 0.25 * std::f64::consts::TAU / SECONDS * sine;
        let speed = if number == 0 || number == waypoints { 0.0 } else { speed };
        Waypoint {
            setpoint: Setpoint {
                positions: JointPositions(home.map(|q| (q - way.copysign(q)) as f32)),
                velocities: JointVelocities(home.map(|q| -speed.copysign(speed * q.signum()) as f32)),
            },
            accelerations: None,
            at: Duration::from_micros((share * SECONDS * 1e6).round() as u64),
        }
    };
    (0..=waypoints).map(at).collect()
}

/// A run in which the engine executes a motion through waypoints with a simulated KRC.
struct Run {
    rig: Rig<JointServo<7>>,
    motion: Vec<Waypoint<7>>,
    next: usize,
    /// The largest distance of a joint from its reference \[rad\]; `lead` is the largest distance of the setpoint
    /// from the measured position \[rad\].
    worst: f64,
    lead: f64,
}

impl Run {
    /// Creates a run with four waypoints per cycle, or one every 4 ms if that is longer.
    fn of(options: Options, config: KrcConfig) -> Self {
        let period = options.period;
        let apart = u32::try_from(period.as_millis()).expect("a period").div_ceil(4).max(4);
        let motion = swing(&options.start, 4_000 / apart);
        let beginning = Trajectory::beginning(&motion[..MAX_WAYPOINTS]).expect("a beginning");
        let fastest = config.limits.velocity.0.iter().copied().fold(f32::INFINITY, f32::min);
        let servo = JointServoConfig { joint_speed: fastest, ..JointServoConfig::default() };
        let law = JointServo::new(Reference::Absolute(beginning), servo);
        let rig = Rig::new(options, config, law, KrlConvention::RosControl);
        Self { rig, motion, next: MAX_WAYPOINTS, worst: 0.0, lead: 0.0 }
    }

    /// Feeds the waypoints for which the engine has room, then runs for a millisecond.
    fn step(&mut self) {
        let now = Instant::from_micros(self.rig.krc.now().as_micros());
        while self.rig.session.motion_status().room > 0
            && let Some(waypoint) = self.motion.get(self.next)
        {
            self.next += 1;
            self.rig.session.feed(waypoint, self.next == self.motion.len(), now).expect("it was judged before");
        }
        self.rig.advance(1);
        let running = self.progress() == Progress::Running && self.rig.session.mode() == Mode::Command;
        let wanted = self.rig.session.law().motion().and_then(Motion::setpoint).filter(|_| running);
        if let (Some(wanted), Some(state)) = (wanted, self.rig.session.state()) {
            let off = self.rig.krc.truth().q.into_iter().zip(wanted.positions.0).map(|(q, w)| (q - f64::from(w)).abs());
            self.worst = off.fold(self.worst, f64::max);
            let lead = state.target_positions.zip_with(state.positions.as_array(), |at, q| at - q);
            self.lead = self.lead.max(f64::from(lead.max_abs()));
        }
    }

    /// Runs until the motion is no longer executed, or commanding has ended.
    fn through(&mut self) {
        while self.progress() == Progress::Running && self.rig.session.mode() == Mode::Command {
            self.step();
        }
    }

    fn progress(&self) -> Progress {
        self.rig.session.motion_status().progress
    }

    /// Returns the largest distance of a joint from the end of the motion \[rad\].
    fn off_the_goal(&self) -> f64 {
        let goal = self.motion.last().expect("a goal").setpoint.positions.0;
        self.rig.krc.truth().q.iter().zip(goal).map(|(q, goal)| (q - f64::from(goal)).abs()).fold(0.0, f64::max)
    }
}

#[test]
fn the_same_motion_is_followed_at_every_period() {
    // The permitted distance from the reference, at a speed of 0.39 rad/s: the motion during the time until a command
    // takes effect.
    for (millis, worst) in [(1, 0.001), (2, 0.001), (4, 0.002), (12, 0.006), (50, 0.025), (100, 0.045)] {
        let options = Options { period: StdDuration::from_millis(millis), ..Options::default() };
        let mut run = Run::of(options, KrcConfig::default());
        run.rig.command(120_000);
        let begun = run.rig.krc.now();
        run.through();
        let took = run.rig.krc.now().since(begun);
        for _ in 0..1_000 {
            run.step();
        }
        let what = format!("{millis} ms, {took:?}: {} rad off, {} ahead", run.worst, run.lead);
        assert_eq!((run.progress(), run.rig.session.mode()), (Progress::Finished, Mode::Command), "{what}");
        assert!(took.abs_diff(StdDuration::from_secs(4)) <= StdDuration::from_millis(2 * millis), "{what}");
        assert!(run.worst < worst && run.off_the_goal() < 0.002, "{what}, {} at the end", run.off_the_goal());
        // In position control, the target is never farther than this from the arm.
        assert!(run.lead < 0.1, "{what}");
        assert_clean(&run.rig, &what);
    }
}

#[test]
fn a_target_that_the_arm_does_not_reach_suspends_the_motion_and_only_a_word_resumes_it() {
    for millis in [1, 12, 100] {
        let options = Options { period: StdDuration::from_millis(millis), ..Options::default() };
        let control = Control::JointImpedance(JointImpedance { stiffness: [500.0; 7], ..JointImpedance::default() });
        let tracking = Tracking { joints: Some([0.15; 7]), ..Tracking::default() };
        let peer = KrcOptions { control, tracking, ..KrcOptions::default() };
        let mut run = Run::of(options, KrcConfig { peer, ..KrcConfig::default() });
        run.rig.command(120_000);
        for _ in 0..1_000 {
            run.step();
        }
        run.rig.krc.push([0.0, 0.0, -200.0, 0.0, 0.0, 0.0]);
        run.through();
        let what = format!("{millis} ms: {} rad ahead", run.lead);
        assert_eq!(run.rig.session.latch(), Some(Reason::TrackingError), "{what}");
        assert_eq!(run.progress(), Progress::Suspended, "{what}");
        assert!(run.lead < 0.15 + 0.4e-3 * millis as f64, "{what}: no more than a cycle beyond the limit");
        let left = run.rig.session.motion_status().elapsed;
        run.rig.until(3_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
        run.rig.krc.push([0.0; 6]);
        for _ in 0..3_000 {
            run.step();
        }
        let stands = (run.rig.session.motion_status().elapsed, run.progress());
        assert_eq!(stands, (left, Progress::Suspended), "{what}: nothing goes on by itself");
        run.rig.until(120_000, "ready", |rig| {
            let now = Instant::from_micros(rig.krc.now().as_micros());
            rig.session.unmet(now).iter().all(|reason| reason == Reason::Latched)
        });
        run.rig.input(Input::Acknowledge);
        run.rig.input(Input::Resume(run.rig.session.mode_machine().epoch()));
        run.rig.until(120_000, "command", |rig| rig.session.mode() == Mode::Command);
        run.through();
        for _ in 0..2_000 {
            run.step();
        }
        assert_eq!(run.progress(), Progress::Finished, "{what}: {:?}", run.rig.session.latch());
        assert_clean(&run.rig, &what);
    }
}

/// Returns the options of a KRL program that moves the arm to and fro by itself: two joints by 0.3 rad, each time
/// after so many seconds.
fn with_a_motion_of_its_own(millis: u64, wait: f64) -> Options {
    let home = Options::default().start;
    let mut there = home;
    there[0] += 0.3;
    there[3] += 0.3;
    let motion = vec![Move::Wait(wait), Move::Ptp { to: there, speed: 0.2 }, Move::Ptp { to: home, speed: 0.2 }];
    Options { period: StdDuration::from_millis(millis), motion, ..Options::default() }
}

/// Returns a law that moves all joints by 0.2 rad in two seconds, from the position of the arm.
fn offset() -> JointServo<7> {
    let waypoint = |q, millis| Waypoint {
        setpoint: Setpoint { positions: JointPositions([q; 7]), velocities: JointVelocities::ZERO },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    let way = Trajectory::through(&[waypoint(0.0, 0), waypoint(0.2, 2_000)]).expect("a motion");
    JointServo::new(Reference::Relative(way), JointServoConfig { proportional: 5.0, ..JointServoConfig::default() })
}

fn on_top(superpose: bool) -> KrcConfig {
    let peer = KrcOptions { superpose, ..KrcOptions::default() };
    KrcConfig { peer, ..KrcConfig::default() }
}

#[test]
fn our_offset_is_on_top_of_the_motion_of_the_krl_program() {
    for millis in [1, 4, 12] {
        let what = format!("{millis} ms");
        let mut rig =
            Rig::new(with_a_motion_of_its_own(millis, 12.0), on_top(true), offset(), KrlConvention::RosControl);
        let seen = |rig: &Rig<JointServo<7>>| rig.session.state().expect("a state").positions;
        rig.until(5_000, "a state", |rig| rig.session.state().is_some());
        let held = seen(&rig);
        rig.command(20_000);
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        while rig.krc.now() < SimTime::from_secs(16) {
            rig.advance(1);
            // The position of the arm due to the program alone: the setpoint without the offset that we added.
            let state = rig.session.state().expect("a state");
            let own = rig.krc.truth().setpoint[0] - f64::from(state.target_positions.0[0] - held.0[0]);
            (lowest, highest) = (lowest.min(own), highest.max(own));
        }
        let added = seen(&rig).zip_with(held.as_array(), |q, held| q - held);
        assert_eq!(rig.session.mode(), Mode::Command, "{what}: {:?}", rig.session.latch());
        assert!(added.iter().all(|added| (added - 0.2).abs() < 0.005), "{what}: {added:?}");
        assert!(highest - lowest > 0.25, "{what}: the program goes on: {lowest} to {highest} rad");
        assert!(rig.krc.fallbacks().is_empty(), "{what}: {:?}", rig.krc.fallbacks());
        // After the release, the offset stays and the program continues.
        rig.input(Input::Release);
        rig.until(5_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
        assert_eq!(rig.session.latch(), None, "{what}");
    }
}

#[test]
fn without_it_an_arm_that_its_program_moves_is_not_commanded() {
    let mut rig = Rig::new(with_a_motion_of_its_own(1, 0.0), on_top(false), offset(), KrlConvention::RosControl);
    rig.advance(1_500);
    rig.request();
    let refused =
        rig.events.iter().any(|event| matches!(event, Event::Refused(refusal) if refusal.reason == Reason::NotAtRest));
    assert!(refused && rig.session.mode() == Mode::Monitor, "{:?}", rig.events);
}

#[test]
fn position_limits_hold_for_offset_and_program_together() {
    let mut config = on_top(true);
    // Both together reach the limit, and neither does alone.
    config.limits.position_max.0[0] = 0.4;
    let mut rig = Rig::new(with_a_motion_of_its_own(1, 3.0), config, offset(), KrlConvention::RosControl);
    rig.command(20_000);
    rig.until(8_000, "the limit", |rig| rig.session.latch().is_some());
    assert_eq!(rig.session.latch(), Some(Reason::PositionLimit));
    let at = rig.krc.truth().setpoint[0];
    assert!((0.3..0.4).contains(&at), "before both together are there: {at}");
}

#[test]
fn fields_left_to_the_krl_program_have_its_values_and_are_chosen_in_monitor_state_only() {
    let left = CommandFlags::JOINT_STIFFNESS.with(CommandFlags::JOINT_DAMPING);
    let soft = JointImpedance { stiffness: [50.0; 7], left_to_krl: left, ..JointImpedance::default() };
    let lean = |control: Control| {
        let peer = KrcOptions { control, ..KrcOptions::default() };
        let config = KrcConfig { peer, ..KrcConfig::default() };
        let mut rig = Rig::new(Options::default(), config, super::Swing::new(0.0, 2.0), KrlConvention::RosControl);
        rig.command(20_000);
        let before = rig.krc.truth().q;
        rig.krc.push([0.0, 0.0, -40.0, 0.0, 0.0, 0.0]);
        rig.advance(1_000);
        let after = rig.krc.truth().q;
        (rig, before.iter().zip(after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
    };
    let (mut rig, given) = lean(Control::JointImpedance(soft));
    let (_, stiff) = lean(Control::JointImpedance(JointImpedance::default()));
    assert!((given - stiff).abs() < 1e-6, "the program's stiffness is 1000 Nm/rad as well: {given} rad, {stiff}");
    assert_eq!(rig.krc.scheme(), ControlScheme::JointImpedance);

    let all = JointImpedance { left_to_krl: CommandFlags::NONE, ..soft };
    let flags = Control::JointImpedance(soft).flags();
    assert_eq!(rig.session.set_joint_impedance(all), Err(ControlRefusal::OtherFields(flags)));
    let strong = JointImpedance { torque: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.0], ..soft };
    assert!(matches!(rig.session.set_joint_impedance(strong), Err(ControlRefusal::BadValue(_))));
    let tool = rig.session.set_tool_impedance(ToolImpedance::default());
    assert_eq!(tool, Err(ControlRefusal::OtherScheme(ControlScheme::JointImpedance)));
    // A parameter may change at any time: a torque turns the last joint against its spring.
    let before = rig.krc.truth().q[6];
    assert_eq!(
        rig.session.set_joint_impedance(JointImpedance { torque: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 10.0], ..soft }),
        Ok(())
    );
    rig.advance(1_000);
    let turned = rig.krc.truth().q[6] - before;
    assert!((turned - 0.01).abs() < 1e-3, "10 Nm on 1000 Nm/rad: {turned} rad");
    rig.input(Input::Release);
    rig.until(5_000, "monitor", |rig| rig.session.mode() == Mode::Monitor && rig.krc.state() == FriState::Monitor);
    rig.advance(10);
    assert_eq!(rig.session.set_joint_impedance(all), Ok(()));
}

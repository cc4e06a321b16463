//! Motions of many waypoints, fed while they run, at every period.

use std::time::Duration as StdDuration;

use outrigger_core::engine::Input;
use outrigger_core::engine::krc::{Control, JointImpedance, KrcConfig, KrcOptions, KrlConvention, Tracking};
use outrigger_core::law::{JointServo, JointServoConfig, Law as _, Reference};
use outrigger_core::mode::Mode;
use outrigger_core::robot::{JointPositions, JointVelocities, Reason};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::trajectory::{MAX_WAYPOINTS, Progress, Setpoint, Trajectory, Waypoint};
use outrigger_sim::krc::Options;
use outrigger_tests::fri::Rig;

use super::assert_clean;

const SECONDS: f64 = 4.0;

/// Every joint half a radian away from where the simulated arm stands and back, as smooth as a cosine.
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

/// A run of a motion.
struct Run {
    rig: Rig<JointServo<7>>,
    motion: Vec<Waypoint<7>>,
    next: usize,
    /// How far a joint was from where it was wanted, and the setpoint from what was measured, at most \[rad\].
    worst: f64,
    lead: f64,
}

impl Run {
    /// With four waypoints a cycle, or one every 4 ms.
    fn of(options: Options, config: KrcConfig) -> Self {
        let period = options.period;
        let apart = u32::try_from(period.as_millis()).expect("a period").div_ceil(4).max(4);
        let motion = swing(&options.start, 4_000 / apart);
        let beginning = Trajectory::beginning(&motion[..MAX_WAYPOINTS]).expect("a beginning");
        let fastest = config.limits.velocity.0.iter().copied().fold(f32::INFINITY, f32::min);
        let servo = JointServoConfig { joint_speed: fastest, ..JointServoConfig::default() };
        let servo = servo.for_cycle(Duration::from_micros(period.as_micros() as u64));
        let law = JointServo::new(Reference::Absolute(beginning), servo);
        let rig = Rig::new(options, config, law, KrlConvention::RosControl);
        Self { rig, motion, next: MAX_WAYPOINTS, worst: 0.0, lead: 0.0 }
    }

    /// A millisecond; what there is room for is fed before.
    fn step(&mut self) {
        let now = Instant::from_micros(self.rig.krc.now().as_micros());
        while self.rig.session.law().room() > 0
            && let Some(waypoint) = self.motion.get(self.next)
        {
            self.next += 1;
            self.rig.session.feed(waypoint, self.next == self.motion.len(), now).expect("it was judged before");
        }
        self.rig.advance(1);
        let running = self.progress() == Progress::Running && self.rig.session.mode() == Mode::Command;
        let wanted = self.rig.session.law().setpoint().filter(|_| running);
        if let (Some(wanted), Some(state)) = (wanted, self.rig.session.state()) {
            let off = self.rig.krc.truth().q.into_iter().zip(wanted.positions.0).map(|(q, w)| (q - f64::from(w)).abs());
            self.worst = off.fold(self.worst, f64::max);
            let lead = state.target_positions.zip_with(state.positions.as_array(), |at, q| at - q);
            self.lead = self.lead.max(f64::from(lead.max_abs()));
        }
    }

    /// Until the motion runs no more.
    fn through(&mut self) {
        while self.progress() == Progress::Running && self.rig.session.mode() == Mode::Command {
            self.step();
        }
    }

    fn progress(&self) -> Progress {
        self.rig.session.law().progress()
    }

    /// How far the arm is from the end of the motion \[rad\].
    fn off_the_goal(&self) -> f64 {
        let goal = self.motion.last().expect("a goal").setpoint.positions.0;
        self.rig.krc.truth().q.iter().zip(goal).map(|(q, goal)| (q - f64::from(goal)).abs()).fold(0.0, f64::max)
    }
}

#[test]
fn the_same_motion_is_followed_at_every_period() {
    // How far from where it is wanted, at a speed of 0.39 rad/s: what goes by while a command takes effect.
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
        // In position control, the target is farther than this from the arm in no cycle.
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
        let left = run.rig.session.law().elapsed();
        run.rig.until(3_000, "rest", |rig| rig.session.mode() == Mode::Monitor);
        run.rig.krc.push([0.0; 6]);
        for _ in 0..3_000 {
            run.step();
        }
        let stands = (run.rig.session.law().elapsed(), run.progress());
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

//! Streamed joint speeds and positions on every path. Random streams jump, starve, arrive late and have invalid
//! values; limits and the time to rest hold all the same, measured on the true position of the simulated arm.

use std::time::Duration;

use outrigger_core::engine::Input;
use outrigger_core::engine::ur::CommandPath;
use outrigger_core::law::{
    AnyLaw, FeedError, Forward, ForwardError, Forwarded, Forwarding, JointServo, JointServoConfig, Reference,
};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Setpoint, Waypoint};
use outrigger_sim::controller::Action;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, REST, Rig, Setup, Way, sim_time};
use outrigger_tests::noise::Noise;
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointTorques, JointVelocities, SoftwareVersion};
use outrigger_wire::time as core;

use super::motion_histories::{histories, in_parallel};
use super::ms;

const SOFTWARE: [SoftwareVersion; 2] = [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];
/// The speed limit of each joint \[rad/s\].
const FASTEST: f32 = 1.0;
/// The acceleration limit of each joint \[rad/s²\].
const STEEPEST: f32 = 3.0;
/// The default number of random streams.
const STREAMS: u64 = 400;

fn setup(software: SoftwareVersion, way: Way) -> Setup {
    let mut setup = Setup::new(software);
    way.choose(&mut setup.config);
    setup.config.limits.velocity = JointVelocities([FASTEST; 6]);
    setup.config.limits.acceleration = JointAccelerations([STEEPEST; 6]);
    setup.law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
    setup
}

/// Returns every path on which a law's speeds are sent.
fn ways() -> Vec<(SoftwareVersion, Way)> {
    let each = SOFTWARE.into_iter().flat_map(|software| Way::ALL.map(|way| (software, way)));
    each.filter(|(software, way)| way.path != CommandPath::ExternalControl && way.fits(*software)).collect()
}

fn speeds(of: [f32; 6]) -> Forward<6> {
    Forward { what: Forwarded::Speeds(JointVelocities(of)), holds: Forward::<6>::DRIVER_HOLDS }
}

fn positions(of: [f32; 6]) -> Forward<6> {
    Forward { what: Forwarded::Positions(JointPositions(of)), holds: Forward::<6>::DRIVER_HOLDS }
}

fn send(rig: &mut Rig<'_>, forward: &Forward<6>) -> Result<(), ForwardError> {
    rig.with_engine(|engine, now| engine.forward(forward, now))
}

/// Returns the positions in the engine's newest state. Without a state, a stream is rejected anyway.
fn measured(rig: &Rig<'_>) -> [f32; 6] {
    rig.engine().state().map_or([0.0; 6], |state| state.positions.0)
}

/// Begins a motion to 0.1 rad from the position of the arm.
fn begin(rig: &mut Rig<'_>) -> Result<(), FeedError> {
    let positions = JointPositions(measured(rig).map(|q| q + 0.1));
    let setpoint = Setpoint { positions, velocities: JointVelocities::ZERO };
    let to = Waypoint { setpoint, accelerations: None, at: core::Duration::from_millis(800) };
    rig.with_engine(|engine, _| engine.replace(&[to], true)).map(|_| ())
}

fn forwarding(rig: &Rig<'_>) -> Forwarding {
    rig.engine().motion_status().forwarding
}

#[test]
fn speeds_move_the_arm_on_every_path_and_without_further_ones_it_rests_and_stays_commanded() {
    for (software, way) in ways() {
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup(software, way), &mut buffers);
        let what = |rig: &Rig<'_>| format!("{software}, {}:\n{}", way.name(), rig.record().story());
        assert_eq!(send(&mut rig, &speeds([0.1; 6])), Err(ForwardError::NotCommanding));
        rig.command();
        rig.run_for(ms(300));
        let torques = Forward { what: Forwarded::Torques(JointTorques::ZERO), ..speeds([0.0; 6]) };
        assert_eq!(send(&mut rig, &torques), Err(ForwardError::NoTorques), "{}", what(&rig));
        let begun = rig.controller.truth().q[0];
        for _ in 0..50 {
            send(&mut rig, &speeds([0.5, 0.0, 0.0, 0.0, 0.0, 0.0])).unwrap();
            assert_eq!(begin(&mut rig), Err(FeedError::Forwarded), "{}", what(&rig));
            rig.run_for(ms(20));
        }
        let truth = rig.controller.truth();
        assert!((truth.qd[0] - 0.5).abs() < 0.02, "{:?}: {}", truth.qd, what(&rig));
        assert!((0.3..0.5).contains(&(truth.q[0] - begun)), "{} rad: {}", truth.q[0] - begun, what(&rig));
        // The last speeds were sent 20 ms ago: they stay in force for a while, take time to arrive, and 0.17 s of
        // braking follow.
        let ended = rig.now();
        rig.run_for(ms(2_000));
        let rest = rig.record().rest_after(ended).unwrap_or_else(|| {
            panic!("it moves on, {:?}: {:?}: {}", forwarding(&rig), rig.controller.truth().qd, what(&rig))
        });
        assert!((ms(150)..ms(450)).contains(&rest), "{rest:?}: {}", what(&rig));
        assert_eq!((rig.engine().mode(), forwarding(&rig)), (Mode::Command, Forwarding::Idle), "{}", what(&rig));
        judge(&rig, &what);
        // Afterwards either kind of motion may begin, and it rejects the other.
        begin(&mut rig).unwrap();
        rig.run_for(ms(400));
        assert_eq!(send(&mut rig, &speeds([0.1; 6])), Err(ForwardError::MotionUnderWay), "{}", what(&rig));
        rig.run_for(ms(1_000));
        let to = measured(&rig).map(|q| q - 0.1);
        send(&mut rig, &positions(to)).unwrap();
        rig.run_for(ms(2_000));
        assert!((rig.controller.truth().q[0] - f64::from(to[0])).abs() < 0.01, "{}", what(&rig));
        assert_eq!((rig.engine().mode(), forwarding(&rig)), (Mode::Command, Forwarding::Idle), "{}", what(&rig));
    }
}

/// The state of a random stream of speeds or positions.
struct Streaming {
    noise: Noise,
    /// The last valid speeds of the stream \[rad/s\]; for a stream of positions, the speeds at which these change.
    pace: [f32; 6],
    /// The position to which the stream has led.
    led: [f32; 6],
    /// A delayed command, and the time of its arrival.
    late: Option<(SimTime, Forward<6>)>,
    taken: u32,
    /// The time at which the engine last accepted a command.
    last: Option<SimTime>,
}

impl Streaming {
    fn around(&mut self, most: f32) -> f32 {
        (self.noise.below(20_001) as f32 / 10_000.0 - 1.0) * most
    }

    /// Returns the next command, valid or not.
    fn next(&mut self, at: [f32; 6], by_positions: bool) -> Forward<6> {
        let kind = self.noise.below(20);
        if kind < 3 {
            self.pace = std::array::from_fn(|_| self.around(FASTEST));
        }
        let mut to: [f32; 6] = if by_positions {
            let far = std::array::from_fn(|j| self.led[j] + self.pace[j] * 0.02);
            if (0..6).any(|j| (far[j] - at[j]).abs() > 0.15) { at } else { far }
        } else {
            self.pace
        };
        match (kind, by_positions) {
            (3, _) => to[self.noise.below(6)] = [f32::NAN, f32::INFINITY, -1e30][self.noise.below(3)],
            (4, true) => to[0] += self.around(1.0),
            (5, true) => to[0] = 6.4,
            (4 | 5, false) => to[self.noise.below(6)] = self.around(4.0),
            // To the other end of the permitted range at once.
            (6, true) => to = at.map(|q| q + if self.noise.below(2) == 0 { 0.19 } else { -0.19 }),
            (6, false) => to = to.map(|v| -FASTEST.copysign(v)),
            _ if by_positions => self.led = to,
            _ => {}
        }
        if by_positions { positions(to) } else { speeds(to) }
    }

    fn give(&mut self, rig: &mut Rig<'_>, forward: &Forward<6>) {
        let (at, mode) = (measured(rig), rig.engine().mode());
        let (Forwarded::Speeds(JointVelocities(numbers)) | Forwarded::Positions(JointPositions(numbers))) =
            forward.what
        else {
            panic!("{forward:?}: this stream sends no torques");
        };
        let is_sound = numbers.iter().all(|number| number.is_finite());
        let taken = send(rig, forward);
        if taken.is_ok() {
            assert!(is_sound && mode == Mode::Command, "{forward:?} in {mode:?}");
            let is_speeds = matches!(forward.what, Forwarded::Speeds(_));
            assert!(!is_speeds || numbers.iter().all(|v| v.abs() <= FASTEST), "{forward:?}");
            assert!(is_speeds || (0..6).all(|j| (numbers[j] - at[j]).abs() <= 0.2), "{forward:?} from {at:?}");
            (self.taken, self.last) = (self.taken + 1, Some(rig.now()));
        }
    }
}

/// Runs one random stream, with other events that may happen to an arm.
fn lives_through(seed: u64, (software, way): (SoftwareVersion, Way)) {
    let mut setup = setup(software, way);
    setup.controller.seed = seed;
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    rig.run_for(ms(100));
    let led = measured(&rig);
    let mut streaming = Streaming { noise: Noise::seeded(seed), pace: [0.0; 6], led, late: None, taken: 0, last: None };
    let by_positions = streaming.noise.below(2) == 0;
    let (mut told, mut disturbed) = (vec![], false);
    for _ in 0..150 {
        rig.run_for(ms(2 + streaming.noise.below(30) as u64));
        if !rig.is_awake() {
            continue;
        }
        if let Some((_, forward)) = streaming.late.take_if(|(at, _)| *at <= rig.now()) {
            streaming.give(&mut rig, &forward);
        }
        match streaming.noise.below(60) {
            0 => rig.run_for(ms(streaming.noise.below(400) as u64)),
            1 => {
                let share = [0.0, 0.2, 0.7, 1.0][streaming.noise.below(4)];
                rig.controller.act(Action::Slider(share));
                told.push((rig.now(), format!("slider {share}")));
            }
            2 => drop(begin(&mut rig)),
            3 if streaming.noise.below(4) == 0 => {
                (disturbed, _) = (true, told.push((rig.now(), "cable".into())));
                rig.cut_cable(Some(ms(5 + streaming.noise.below(300) as u64)));
            }
            4 if streaming.noise.below(4) == 0 => {
                (disturbed, _) = (true, told.push((rig.now(), "host".into())));
                rig.pause_host(ms(5 + streaming.noise.below(100) as u64));
            }
            5 if streaming.noise.below(8) == 0 => {
                (disturbed, _) = (true, told.push((rig.now(), "release".into())));
                rig.input(Input::Release);
            }
            6..=9 => {
                let at = rig.now() + ms(1 + streaming.noise.below(80) as u64);
                streaming.late = Some((at, streaming.next(measured(&rig), by_positions)));
            }
            _ => {
                // Now and then a command of the other kind.
                let by_positions = by_positions != (streaming.noise.below(40) == 0);
                let forward = streaming.next(measured(&rig), by_positions);
                streaming.give(&mut rig, &forward);
            }
        }
    }
    rig.controller.act(Action::Slider(1.0));
    rig.run_for(ms(2_500));
    let what = |rig: &Rig<'_>| {
        let kind = if by_positions { "positions" } else { "speeds" };
        format!("seed {seed}, {software}, {}, {kind}: {told:?}\n{}", way.name(), rig.record().story())
    };
    assert!(streaming.taken > 5 || disturbed, "{} taken: {}", streaming.taken, what(&rig));
    // A low slider with speeds that often change their direction may look like an arm that does not follow; the arm
    // is at rest then.
    let slowed = !told.is_empty() && rig.record().fallbacks() == [Reason::NotFollowing];
    assert!(disturbed || slowed || rig.engine().mode() == Mode::Command, "{}", what(&rig));
    assert_eq!(forwarding(&rig), Forwarding::Idle, "{}", what(&rig));
    let fastest = rig.controller.truth().qd.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    assert!(fastest < REST, "{fastest} rad/s: {}", what(&rig));
    judge(&rig, &what);
}

/// Checks the true motion of the arm: no joint is faster than its limit, no change of a commanded speed is steeper
/// than its limit, and the arm is at rest without a command.
fn judge(rig: &Rig<'_>, what: &dyn Fn(&Rig<'_>) -> String) {
    let mut transitions = rig.record().transitions().map(|t| (sim_time(t.at), t.to)).peekable();
    let (mut mode, mut commanded) = (Mode::Offline, None::<SimTime>);
    for motion in &rig.record().motion {
        while let Some((_, to)) = transitions.next_if(|(at, _)| *at <= motion.at) {
            mode = to;
        }
        if mode == Mode::Command {
            commanded = Some(motion.at);
        }
        let fastest = motion.speed();
        assert!(fastest < f64::from(FASTEST) * 1.02, "{fastest} rad/s at {}: {}", motion.at, what(rig));
        let calm = commanded.is_none_or(|last| motion.at.since(last) > Duration::from_millis(600));
        assert!(!calm || fastest < REST, "{fastest} rad/s at {}, commanded by nobody: {}", motion.at, what(rig));
    }
    for pair in rig.record().commands.windows(2) {
        let (Some(before), Some(after)) = (pair[0].speeds, pair[1].speeds) else { continue };
        if pair[0].mode != Mode::Command || pair[1].mode != Mode::Command || pair[1].holds() {
            continue;
        }
        // At most 40 ms count if states are lost.
        let most = f64::from(STEEPEST) * pair[1].at.since(pair[0].at).as_secs_f64().max(0.04) + 1e-3;
        let change = before.iter().zip(after).map(|(b, a)| (a - b).abs()).fold(0.0, f64::max);
        assert!(change <= most, "{change} rad/s at {}: {}", pair[1].at, what(rig));
    }
}

#[test]
fn limits_and_rest_hold_under_random_streams() {
    let ways = ways();
    in_parallel(histories(STREAMS), |seed| lives_through(seed, ways[seed as usize % ways.len()]));
}

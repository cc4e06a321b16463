//! Random accepted motions with random histories of sliders and faults. In all of them limits, tolerances and the
//! time to rest hold, measured on the true position of the simulated arm.

use std::env;
use std::time::Duration;

use outrigger_core::engine::Input;
use outrigger_core::law::Reference;
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Progress, Trajectory, Waypoint};
use outrigger_sim::controller::Action;
use outrigger_sim::fault::FaultKind;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, REST, Rig, Way, sim_time};
use outrigger_tests::noise::Noise;
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};

use super::motions::{Point, TOLERANCES, apart, executors, following, line, nearest, off, setup, waypoint};
use super::ms;

/// The default number of random histories: motions with random disturbances.
const HISTORIES: u64 = 2_000;
/// The divisor of the number of histories on an e-Series, which has four times as many cycles.
const E_SERIES: u64 = 20;
/// The speed limit of each joint \[rad/s\].
pub(super) const FASTEST: f32 = 1.5;
/// The time within which an arm without a command is at rest: the timeout of the slowest path, then the slowest stop.
const REST_WITHIN: Duration = ms(500);

/// Returns a random number between `-most` and `most`.
fn around(noise: &mut Noise, most: f64) -> f64 {
    (noise.below(20_001) as f64 / 10_000.0 - 1.0) * most
}

/// Returns the waypoints of a random motion that the law's check accepts with these limits.
pub(super) fn motion(noise: &mut Noise, setup: &outrigger_core::command::Limits<6>) -> Vec<Point> {
    loop {
        let count = 1 + noise.below(4);
        let mut points: Vec<Point> = vec![(0.0, [0.0; 6], [0.0; 6])];
        for number in 1..=count {
            let (t, q, _) = points[points.len() - 1];
            let at = t + 0.2 + noise.below(700) as f64 * 1e-3;
            let joints = 1 + noise.below(6);
            let to = std::array::from_fn(|j| if j < joints { q[j] + around(noise, 0.3) } else { q[j] });
            let speed = std::array::from_fn(|j| if number < count && j < joints { around(noise, 0.6) } else { 0.0 });
            points.push((at, to, speed));
        }
        let waypoints: Vec<Waypoint<6>> = points.iter().copied().map(waypoint).collect();
        if Reference::Relative(Trajectory::through(&waypoints).unwrap()).check(setup).is_ok() {
            return points;
        }
    }
}

/// Executes a random action on an arm in motion, or injects a fault. Returns its name, and adds the actions that end
/// it to `mends`.
pub(super) fn deed(rig: &mut Rig<'_>, noise: &mut Noise, mends: &mut Vec<Action>) -> String {
    let sliders = [0.0, 0.0, 0.1, 0.3, 0.6, 1.0];
    let (number, share, span) = (noise.below(16), sliders[noise.below(6)], noise.below(400) as u64);
    let action = match number {
        0..=5 => Action::Slider(share),
        6 => Action::PauseProgram,
        7 => Action::StopProgram,
        8 => {
            mends.extend([Action::ReleaseEmergencyStop, Action::PowerOn, Action::ReleaseBrakes]);
            Action::EmergencyStop
        }
        9 => {
            mends.push(Action::UnlockProtectiveStop);
            Action::ProtectiveStop
        }
        10 => {
            mends.push(Action::CloseSafeguard);
            Action::OpenSafeguard
        }
        11 => {
            rig.cut_cable(Some(ms(5 + span)));
            return format!("cable out for {} ms", 5 + span);
        }
        12 => {
            rig.pause_host(ms(5 + span / 2));
            return format!("host stands for {} ms", 5 + span / 2);
        }
        13 => {
            rig.fault(FaultKind::Jitter(ms(3)), Some(ms(500)));
            return "jitter".into();
        }
        14 => {
            rig.input(Input::Release);
            return "release".into();
        }
        _ => {
            rig.resume();
            return "resume".into();
        }
    };
    rig.controller.act(action);
    format!("{action:?}")
}

/// Continues a motion, unless the arm is commanded: executes the actions `mends`, which end the arm's stops,
/// acknowledges and resumes. `wait` runs the simulation for the given time, or until its condition is fulfilled.
pub(super) fn goes_on<'m>(
    rig: &mut Rig<'m>,
    mends: &mut Vec<Action>,
    mut wait: impl FnMut(&mut Rig<'m>, Duration, &dyn Fn(&Rig<'_>) -> bool),
) {
    if rig.engine().mode() == Mode::Command {
        return;
    }
    let rests = |rig: &Rig<'_>| matches!(rig.engine().mode(), Mode::Monitor) && rig.controller.truth().at_rest();
    wait(rig, ms(12_000), &rests);
    let never = |_: &Rig<'_>| false;
    if mends.contains(&Action::UnlockProtectiveStop) {
        wait(rig, ms(5_500), &never);
    }
    for action in mends.drain(..) {
        rig.controller.act(action);
        wait(rig, ms(2_500), &never);
    }
    rig.controller.act(Action::StopProgram);
    wait(rig, ms(300), &never);
    rig.input(Input::Acknowledge);
    rig.ready();
    rig.resume();
    wait(rig, ms(12_000), &|rig| !matches!(rig.engine().mode(), Mode::Monitor | Mode::Arming));
}

fn lives_through(seed: u64, (software, way): (SoftwareVersion, Way)) {
    let mut noise = Noise::seeded(seed);
    let mut setup = setup(software, way, &[(0.0, [0.0; 6], [0.0; 6]), (1.0, [0.0; 6], [0.0; 6])]);
    setup.config.limits.velocity = JointVelocities([FASTEST; 6]);
    setup.controller.seed = seed;
    let points = motion(&mut noise, &setup.config.limits);
    setup.law = following(&points, FASTEST);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    let line = line(&points, &rig.controller.truth().q);
    let (mut told, mut mends) = (vec![], vec![]);
    for _ in 0..1 + noise.below(4) {
        rig.run_for(ms(noise.below(900) as u64));
        if !rig.is_awake() {
            rig.run_for(ms(300));
        }
        let at = rig.now();
        told.push((at, deed(&mut rig, &mut noise, &mut mends)));
    }
    rig.run_for(ms(700));
    rig.controller.act(Action::Slider(1.0));
    // `Endless` means that the motion has ended before, and a later request holds the arm there.
    let ended = |rig: &Rig<'_>| matches!(rig.engine().motion_status().progress, Progress::Finished | Progress::Endless);
    for _ in 0..3 {
        if ended(&rig) {
            break;
        }
        goes_on(&mut rig, &mut mends, |rig, span, done| {
            rig.run_until(span, done);
        });
        rig.run_until(ms(20_000), |rig| ended(rig) || rig.engine().mode() != Mode::Command);
    }
    let what = || format!("seed {seed}, {software}, {}: {points:?}\n{told:?}\n{}", way.name(), rig.record().story());
    judge(&rig, &line, &what);
    if ended(&rig) {
        let end = off(&line[line.len() - 1..], &rig.controller.truth().q);
        assert!(end < 0.01, "{end} rad off its end: {}", what());
        return;
    }
    // Setpoints that the controller holds in advance move the arm on after the link is lost. The motion is resumed
    // from within the tolerance of the point at which it was left, and from nowhere else.
    let waypoints: Vec<Waypoint<6>> = points.iter().copied().map(waypoint).collect();
    let left =
        Trajectory::through(&waypoints).unwrap().at_nanos(rig.engine().motion_status().elapsed.as_micros() * 1_000);
    let left = std::array::from_fn(|j| line[0][j] + f64::from(left.positions.0[j]));
    let apart = off(&[left], &rig.controller.truth().q);
    let refused = rig.engine().latch() == Some(Reason::PathTolerance) && apart > f64::from(TOLERANCES.path.0[0]);
    let progress = rig.engine().motion_status().progress;
    assert!(refused, "it does not end: {progress:?}, {apart} rad from where it was left: {}", what());
}

/// Checks limits, tolerances and rest in a run, by the true motion of the arm.
pub(super) fn judge(rig: &Rig<'_>, line: &[[f64; 6]], what: &dyn Fn() -> String) {
    let mut transitions = rig.record().transitions().map(|t| (sim_time(t.at), t.to)).peekable();
    let mut commanded = None::<SimTime>;
    let mut mode = Mode::Offline;
    // The index of a point of the path beside the arm. A search through the whole path for each cycle took a quarter of the test.
    let mut near = 0;
    for motion in &rig.record().motion {
        while let Some((_, to)) = transitions.next_if(|(at, _)| *at <= motion.at) {
            mode = to;
            // The mode may last for less than a cycle.
            if mode == Mode::Command {
                commanded = Some(motion.at);
            }
        }
        if mode == Mode::Command {
            commanded = Some(motion.at);
        }
        let fastest = motion.speed();
        assert!(fastest < f64::from(FASTEST) * 1.02, "{fastest} rad/s at {}: {}", motion.at, what());
        if apart(&line[near], &motion.q) > 0.05 {
            near = nearest(line, &motion.q);
        }
        let beside = apart(&line[near], &motion.q);
        assert!(beside < 0.1, "{beside} rad off its path at {}: {}", motion.at, what());
        let calm = commanded.is_none_or(|last| motion.at.since(last) > REST_WITHIN);
        assert!(!calm || fastest < REST, "{fastest} rad/s at {}, commanded by nobody: {}", motion.at, what());
    }
}

fn live_through(software: SoftwareVersion, histories: u64) {
    in_parallel(histories, |seed| live_through_seed(software, seed));
}

fn live_through_seed(software: SoftwareVersion, seed: u64) {
    let executors: Vec<_> = executors().into_iter().filter(|(of, _)| *of == software).collect();
    lives_through(seed, executors[seed as usize % executors.len()]);
}

#[test]
fn random_motions_hold_their_limits_and_tolerances_through_random_histories() {
    // A cycle is 8 ms: the same number of events takes a quarter of the cycles.
    live_through(SoftwareVersion::new(3, 15), histories(HISTORIES));
}

/// Repeats the random history in which an arm that caught up with its motion after a slider at 0 exceeded its speed
/// limit. Its seed was found in 100 000 histories.
#[test]
fn a_slider_that_returns_while_points_wait_makes_no_arm_too_fast() {
    live_through_seed(SoftwareVersion::new(3, 15), 24_357);
}

#[test]
fn the_same_holds_in_a_share_of_them_on_an_e_series() {
    live_through(SoftwareVersion::new(5, 15), histories(HISTORIES) / E_SERIES);
}

/// Returns the number of random histories (motions with random disturbances) to test: that of the environment variable
/// `OUTRIGGER_MOTIONS`, or the default.
pub(super) fn histories(default: u64) -> u64 {
    env::var("OUTRIGGER_MOTIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Calls `lives` for each seed from 1 to `seeds`, on all processors.
pub(super) fn in_parallel(seeds: u64, lives: impl Fn(u64) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    std::thread::scope(|scope| {
        for first in 0..threads {
            let lives = &lives;
            scope.spawn(move || (first..seeds).step_by(threads as usize).for_each(|seed| lives(seed + 1)));
        }
    });
}

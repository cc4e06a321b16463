//! A motion through waypoints on each executor, with disturbances on the way, checked by the true motion of the arm.

use std::time::Duration;

use outrigger_core::engine::ur::{CommandPath, ProgramEvent, UrEvent};
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::{AnyLaw, FeedError, JointServo, JointServoConfig, Reference, Replaced};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Progress, Setpoint, Tolerances, Trajectory, Waypoint};
use outrigger_sim::controller::Action;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Motion, Rig, Setup, Way};
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::time as core;

use super::{ms, secs};

/// A waypoint: time \[s\], positions \[rad\], speeds \[rad/s\].
pub(crate) type Point = (f64, [f64; 6], [f64; 6]);

/// The waypoints of the motion in this file, relative to the position of the arm.
pub(crate) const MOTION: [Point; 4] = [
    (0.0, [0.0; 6], [0.0; 6]),
    (1.2, [0.3, 0.0, -0.15, 0.0, 0.2, -0.1], [0.3, 0.0, -0.15, 0.0, 0.15, -0.1]),
    (2.0, [0.5, 0.1, -0.3, 0.0, 0.3, -0.2], [0.2, 0.1, -0.1, 0.0, 0.1, -0.1]),
    (3.2, [0.7, 0.2, -0.4, 0.0, 0.5, -0.3], [0.0; 6]),
];

/// The tolerances of the motions: the core ends a motion that exceeds them, and the scenarios check the true motion
/// of the arm as well.
pub(crate) const TOLERANCES: Tolerances<6> = Tolerances {
    path: JointPositions([0.1; 6]),
    goal: JointPositions([0.005; 6]),
    goal_time: Some(core::Duration::from_secs(2)),
};

/// The largest movement of an arm that is held \[rad\].
pub(super) const HELD: f64 = 2e-3;

/// Returns the command paths by which `outrigger move` executes a motion, each with a software version.
pub(super) fn executors() -> Vec<(SoftwareVersion, Way)> {
    let software = [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];
    let has = |way: &Way| matches!(way.path, CommandPath::Text | CommandPath::ReverseServoJ | CommandPath::Buffered);
    let all = software.into_iter().flat_map(|software| Way::ALL.into_iter().map(move |way| (software, way)));
    all.filter(|(software, way)| has(way) && way.fits(*software)).collect()
}

pub(crate) fn waypoint((at, q, qd): Point) -> Waypoint<6> {
    Waypoint {
        setpoint: Setpoint {
            positions: JointPositions(q.map(|q| q as f32)),
            velocities: JointVelocities(qd.map(|v| v as f32)),
        },
        accelerations: None,
        at: core::Duration::from_micros((at * 1e6).round() as u64),
    }
}

/// Returns the path through waypoints, every 8 ms, by an independent calculation.
pub(crate) fn line(points: &[Point], from: &[f64; 6]) -> Vec<[f64; 6]> {
    let mut line = vec![];
    for pair in points.windows(2) {
        let ((t0, q0, v0), (t1, q1, v1)) = (pair[0], pair[1]);
        let span = t1 - t0;
        let steps = (span / 0.008).ceil() as u32;
        line.extend((0..=steps).map(|step| {
            let s = f64::from(step) / f64::from(steps);
            std::array::from_fn(|j| {
                let (a, b) = (1.0 - s, s);
                let ends = q0[j] * (1.0 + 2.0 * s) * a * a + q1[j] * (3.0 - 2.0 * s) * b * b;
                from[j] + ends + span * (v0[j] * s * a * a - v1[j] * a * b * b)
            })
        }));
    }
    line
}

/// Returns the distance of the worst joint from the nearest point of the path \[rad\].
pub(crate) fn off(line: &[[f64; 6]], q: &[f64; 6]) -> f64 {
    line.iter().map(|place| apart(place, q)).fold(f64::INFINITY, f64::min)
}

/// Returns the index of the point of the path that is nearest to `q`.
pub(super) fn nearest(line: &[[f64; 6]], q: &[f64; 6]) -> usize {
    let found = line.iter().enumerate().min_by(|(_, a), (_, b)| apart(a, q).total_cmp(&apart(b, q)));
    found.expect("a path").0
}

/// Returns the distance of the joint whose positions differ most \[rad\].
pub(super) fn apart(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
}

/// Returns a law that follows `points` from the position of the arm.
pub(super) fn following(points: &[Point], fastest: f32) -> AnyLaw<6> {
    let waypoints: Vec<Waypoint<6>> = points.iter().copied().map(waypoint).collect();
    let trajectory = Trajectory::through(&waypoints).unwrap();
    let config = JointServoConfig { joint_speed: fastest, path_tolerance: 0.1, ..JointServoConfig::default() };
    AnyLaw::JointServo(JointServo::new(Reference::Relative(trajectory), config).with_tolerances(TOLERANCES))
}

pub(crate) fn setup(software: SoftwareVersion, way: Way, points: &[Point]) -> Setup {
    let still = Trajectory::through(&[waypoint(MOTION[0]), waypoint((1.0, [0.0; 6], [0.0; 6]))]).unwrap();
    let mut setup = Setup::servo(software, still, JointServoConfig::default());
    setup.law = following(points, 3.0);
    way.choose(&mut setup.config);
    setup
}

/// Returns a simulation in which the motion of this file has been executed for a given time, and the path of the
/// motion.
fn moving<'m>(
    software: SoftwareVersion,
    way: Way,
    buffers: &'m mut Buffers,
    long: Duration,
) -> (Rig<'m>, Vec<[f64; 6]>) {
    let mut rig = Rig::new(setup(software, way, &MOTION), buffers);
    rig.command();
    let line = line(&MOTION, &rig.controller.truth().q);
    rig.run_for(long);
    (rig, line)
}

/// Runs to the end of the motion. Checks that the arm is commanded all the time.
fn ends(rig: &mut Rig<'_>, what: &str) {
    let done = |rig: &Rig<'_>| {
        rig.engine().motion_status().progress == Progress::Finished || rig.engine().mode() != Mode::Command
    };
    assert!(rig.run_until(secs(30), done), "{what}: it does not end\n{}", rig.record().story());
    rig.run_for(ms(300));
    assert_eq!(rig.engine().mode(), Mode::Command, "{what}\n{}", rig.record().story());
}

/// Checks that the arm stayed on its path all the time, and is at its end. Returns the largest distance from the
/// path.
fn was_on(rig: &Rig<'_>, line: &[[f64; 6]], what: &str) -> f64 {
    let worst = rig.record().motion.iter().map(|motion| off(line, &motion.q)).fold(0.0, f64::max);
    assert!(worst < 0.02, "{what}: {worst} rad off its path\n{}", rig.record().story());
    let end = off(&line[line.len() - 1..], &rig.controller.truth().q);
    assert!(end < 0.005, "{what}: {end} rad off its end\n{}", rig.record().story());
    worst
}

#[test]
fn a_slider_slows_a_motion_down_and_leaves_it_on_its_path() {
    for (software, way) in executors() {
        for share in [0.9, 0.3] {
            let what = format!("{software}, {}, slider at {share}", way.name());
            let mut buffers = Buffers::with_rtde();
            let (mut rig, line) = moving(software, way, &mut buffers, secs(1));
            let begun = rig.now();
            rig.controller.act(Action::Slider(share));
            ends(&mut rig, &what);
            let took = rig.now().since(begun).as_secs_f64();
            assert!((took - 2.2 / share - 0.3).abs() < 0.3, "{what}: {took} s");
            assert!(rig.record().fallback().is_none(), "{what}\n{}", rig.record().story());
            was_on(&rig, &line, &what);
        }
    }
}

#[test]
fn a_slider_at_0_for_2_s_holds_a_motion_that_goes_on_by_itself() {
    for (software, way) in executors() {
        let what = format!("{software}, {}", way.name());
        let mut buffers = Buffers::with_rtde();
        let (mut rig, line) = moving(software, way, &mut buffers, secs(1));
        rig.controller.act(Action::Slider(0.0));
        rig.run_for(ms(700));
        let stood = rig.controller.truth().q;
        rig.run_for(ms(1_300));
        assert!(off(&[stood], &rig.controller.truth().q) < 1e-3, "{what}: it stands");
        rig.controller.act(Action::Slider(1.0));
        ends(&mut rig, &what);
        assert!(rig.record().fallback().is_none(), "{what}\n{}", rig.record().story());
        was_on(&rig, &line, &what);
    }
}

/// A stop that lasts until an operator acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stop {
    Pause,
    Emergency,
    Protective,
    /// A release by an operator of the co-controller.
    Release,
}

impl Stop {
    pub(super) const ALL: [Self; 4] = [Self::Pause, Self::Emergency, Self::Protective, Self::Release];

    pub(super) fn happens(self, rig: &mut Rig<'_>) {
        match self {
            Self::Pause => rig.controller.act(Action::PauseProgram),
            Self::Emergency => rig.controller.act(Action::EmergencyStop),
            Self::Protective => rig.controller.act(Action::ProtectiveStop),
            Self::Release => rig.input(Input::Release),
        }
    }

    /// Executes the actions of a person at the robot that end the stop.
    pub(super) fn is_over(self, rig: &mut Rig<'_>) {
        let actions: &[Action] = match self {
            Self::Pause => &[Action::ResumeProgram],
            Self::Emergency => &[Action::ReleaseEmergencyStop, Action::PowerOn, Action::ReleaseBrakes],
            Self::Protective => &[Action::UnlockProtectiveStop],
            Self::Release => &[],
        };
        // A protective stop is locked for 5 s.
        rig.run_for(secs(if self == Self::Protective { 6 } else { 1 }));
        for action in actions {
            rig.controller.act(*action);
            rig.run_for(secs(3));
        }
    }
}

#[test]
fn after_a_pause_and_a_stop_a_motion_goes_on_by_word_alone_from_where_it_stands() {
    for (software, way) in executors() {
        for stop in Stop::ALL {
            let what = format!("{software}, {}, {stop:?}", way.name());
            let mut buffers = Buffers::with_rtde();
            let (mut rig, line) = moving(software, way, &mut buffers, ms(1_300));
            stop.happens(&mut rig);
            // Longer than the 10 s for which a program that carries the motion waits in a pause.
            rig.run_for(if stop == Stop::Pause { secs(11) } else { secs(1) });
            let stood = rig.controller.truth().q;
            let left = rig.engine().motion_status().elapsed;
            stop.is_over(&mut rig);
            let story = rig.record().story();
            let stands =
                |rig: &Rig<'_>| off(&[stood], &rig.controller.truth().q) < 1e-3 && rig.controller.truth().at_rest();
            assert!(stands(&rig), "{what}: nothing goes on by itself\n{story}");
            assert_eq!(rig.engine().motion_status().progress, Progress::Suspended, "{what}\n{story}");
            if rig.engine().latch().is_some() {
                rig.resume();
                assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}: not acknowledged\n{story}");
                rig.input(Input::Acknowledge);
            }
            rig.ready();
            // After a request without resuming, the arm is held at its position.
            rig.request();
            rig.run_to(Mode::Command);
            rig.run_for(ms(500));
            let moved = off(&[stood], &rig.controller.truth().q);
            assert!(moved < HELD, "{what}: {moved} rad\n{}", rig.record().story());
            rig.input(Input::Release);
            rig.run_to(Mode::Monitor);
            rig.ready();
            rig.resume();
            rig.run_to(Mode::Command);
            assert!(rig.engine().motion_status().elapsed >= left, "{what}: from where it was left");
            ends(&mut rig, &what);
            was_on(&rig, &line, &what);
        }
    }
}

/// Checks that an acknowledgement while the robot is still stopped confirms the reason, and no more. Once the stop is
/// over, the rest of our program is ended all the same, and the motion is resumed on request.
#[test]
fn a_stop_that_is_acknowledged_before_it_is_over_changes_nothing_of_what_follows() {
    for (software, way) in executors() {
        for stop in [Stop::Emergency, Stop::Protective] {
            let what = format!("{software}, {}, {stop:?}", way.name());
            let mut buffers = Buffers::with_rtde();
            let (mut rig, line) = moving(software, way, &mut buffers, ms(1_300));
            stop.happens(&mut rig);
            rig.run_for(secs(1));
            let stood = rig.controller.truth().q;
            rig.input(Input::Acknowledge);
            assert_eq!(rig.engine().latch(), None, "{what}\n{}", rig.record().story());
            rig.resume();
            assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}: it is stopped\n{}", rig.record().story());
            stop.is_over(&mut rig);
            let moved = off(&[stood], &rig.controller.truth().q);
            assert!(moved < 1e-3, "{what}: {moved} rad by itself\n{}", rig.record().story());
            rig.ready();
            rig.resume();
            rig.run_to(Mode::Command);
            ends(&mut rig, &what);
            was_on(&rig, &line, &what);
        }
    }
}

/// Returns the largest change of a joint's speed within 40 ms from `since` on, as an acceleration \[rad/s²\]. Changes
/// within a single cycle are due to the filter of `servoj` and do not count.
fn steepest(rig: &Rig<'_>, since: SimTime) -> f64 {
    let period = rig.controller.period();
    let cycles = (ms(40).as_micros() / period.as_micros()) as usize;
    let motion = &rig.record().motion;
    let after = motion.windows(cycles + 1).filter(|window| window[0].at >= since);
    let change = |a: &[f64; 6], b: &[f64; 6]| a.iter().zip(b).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    let steep = |window: &[Motion]| change(&window[0].qd, &window[cycles].qd) / ms(40).as_secs_f64();
    after.map(steep).fold(0.0, f64::max)
}

#[test]
fn a_motion_that_is_cancelled_comes_to_rest_within_the_acceleration_limit() {
    for (software, way) in executors() {
        let what = format!("{software}, {}", way.name());
        let mut buffers = Buffers::with_rtde();
        let (mut rig, line) = moving(software, way, &mut buffers, ms(1_300));
        let limit = f64::from(rig.engine().config().limits.acceleration.0[0]);
        let begun = rig.now();
        let elapsed = rig.engine().motion_status().elapsed;
        let cancelled = rig.with_engine(|engine, _| engine.cancel());
        assert_eq!(cancelled, Ok(Replaced { progress: Progress::Running, elapsed }), "{what}");
        ends(&mut rig, &what);
        let steep = steepest(&rig, begun);
        // Positions that wait in the ring take effect late, and feedback compensates for them with an overshoot.
        let swing = if way.path == CommandPath::Buffered { 1.25 } else { 1.0 };
        assert!(steep < limit * swing, "{what}: {steep} rad/s²\n{}", rig.record().story());
        rig.run_for(secs(1));
        let stood = rig.controller.truth().q;
        let beside = off(&line, &stood);
        assert!(beside < 0.02, "{what}: {beside} rad off its path");
        rig.run_for(secs(1));
        assert!(off(&[stood], &rig.controller.truth().q) < HELD, "{what}: it is held");
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
    }
}

#[test]
fn a_motion_that_takes_the_place_of_another_goes_on_smoothly_and_the_other_is_forgotten() {
    for (software, way) in executors() {
        let what = format!("{software}, {}", way.name());
        let mut buffers = Buffers::with_rtde();
        let (mut rig, _) = moving(software, way, &mut buffers, ms(1_300));
        let limit = f64::from(rig.engine().config().limits.acceleration.0[0]);
        let home = rig.record().motion[0].q;
        let back = |at| waypoint((at, home, [0.0; 6]));
        let begun = rig.now();
        let hasty = rig.with_engine(|engine, _| engine.replace(&[back(0.05)], true));
        assert!(matches!(hasty, Err(FeedError::Beyond(_))), "{what}: {hasty:?}");
        let elapsed = rig.engine().motion_status().elapsed;
        let replaced = rig.with_engine(|engine, _| engine.replace(&[back(2.0)], true));
        assert_eq!(replaced, Ok(Replaced { progress: Progress::Running, elapsed }), "{what}");
        ends(&mut rig, &what);
        let steep = steepest(&rig, begun);
        assert!(steep < limit * 1.05, "{what}: {steep} rad/s²\n{}", rig.record().story());
        let end = off(&[home], &rig.controller.truth().q);
        assert!(end < 0.005, "{what}: {end} rad off its end\n{}", rig.record().story());
        assert!(rig.record().fallback().is_none(), "{what}\n{}", rig.record().story());
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
        let late = rig.with_engine(|engine, _| engine.replace(&[back(2.0)], true));
        assert_eq!(late, Err(FeedError::NotCommanding), "{what}");
    }
}

/// Returns a law with the beginning of a motion whose remaining waypoints never arrive, at `speed` where it ends.
fn that_starves(way: f64) -> AnyLaw<6> {
    let at = |at, share: f64, speed: f64| {
        waypoint((at, [way * share, 0.0, 0.0, 0.0, -way * share, 0.0], [speed, 0.0, 0.0, 0.0, -speed, 0.0]))
    };
    let beginning = Trajectory::beginning(&[at(0.0, 0.0, 0.0), at(0.3, 1.0, way * 4.0)]).unwrap();
    AnyLaw::JointServo(JointServo::new(Reference::Relative(beginning), JointServoConfig::default()))
}

/// Runs motions that run out of waypoints, each followed by one that goes back. Returns the number of programs sent.
fn starves(software: SoftwareVersion, way: Way, times: u32) -> usize {
    let mut setup = setup(software, way, &MOTION);
    setup.config.peer.program.resident = way.path != CommandPath::Text;
    setup.law = that_starves(0.1);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.ready();
    let home = rig.controller.truth().q[0];
    for number in 0..times {
        let what = |rig: &Rig<'_>| format!("{software}, {}, {number}\n{}", way.name(), rig.record().story());
        rig.request();
        rig.run_to(Mode::Command);
        rig.run_to(Mode::Stopping);
        let begun = rig.now();
        assert_eq!(rig.engine().latch(), Some(Reason::Starved), "{}", what(&rig));
        rig.run_to(Mode::Monitor);
        let rest = rig.record().rest_after(begun).expect("at rest");
        assert!(rest < ms(250), "{rest:?}: {}", what(&rig));
        // A late waypoint belongs to a motion that has ended.
        let late = waypoint((0.6, [0.6, 0.0, 0.0, 0.0, -0.6, 0.0], [0.0; 6]));
        let _ = rig.with_engine(|engine, now| engine.feed(&late, true, now));
        let stood = rig.controller.truth().q[0];
        assert!((0.08..0.16).contains(&(stood - home)), "{stood} from {home}: {}", what(&rig));
        rig.input(Input::Acknowledge);
        rig.ready();
        let back = [MOTION[0], (0.5, [home - stood, 0.0, 0.0, 0.0, stood - home, 0.0], [0.0; 6])];
        rig.with_engine(|engine, _| *engine.law_mut() = following(&back, 3.0));
        rig.request();
        rig.run_to(Mode::Command);
        let done = rig.run_until(secs(3), |rig| rig.engine().motion_status().progress == Progress::Finished);
        assert!(done && rig.engine().mode() == Mode::Command, "{}", what(&rig));
        rig.run_for(ms(50));
        assert!((rig.controller.truth().q[0] - home).abs() < 0.005, "{}", what(&rig));
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
        rig.with_engine(|engine, _| *engine.law_mut() = that_starves(0.1));
        rig.ready();
    }
    let beyond = rig.record().motion.iter().find(|motion| !(-0.01..0.16).contains(&(motion.q[0] - home)));
    assert!(beyond.is_none(), "a point that came late: {beyond:?}");
    let sent = |(_, event): &&(_, Event<UrEvent>)| matches!(event, Event::Peer(UrEvent::Program(ProgramEvent::Sent)));
    rig.record().events.iter().filter(sent).count()
}

#[test]
fn a_starved_motion_is_followed_by_the_next_without_an_upload_a_thousand_times() {
    let software = SoftwareVersion::new(3, 15);
    let ways: Vec<Way> = executors().into_iter().filter(|(of, _)| *of == software).map(|(_, way)| way).collect();
    let times = 1_000_u32.div_ceil(ways.len() as u32);
    std::thread::scope(|scope| {
        for way in ways {
            scope.spawn(move || {
                let sent = starves(software, way, times);
                let expected = usize::from(way.path != CommandPath::Text);
                assert_eq!(sent, expected, "{}: the program stays", way.name());
            });
        }
    });
}

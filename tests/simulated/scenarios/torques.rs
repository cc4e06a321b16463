//! Commands by joint torques, of a law and of a stream: the arm obeys them, each bound ends them with its own reason,
//! and the arm comes to rest whichever part stops sending.

use outrigger_core::engine::Input;

use outrigger_core::law::{
    AnyLaw, CartesianTwist, CartesianTwistConfig, Forward, ForwardError, Forwarded, Forwarding, JointServo,
    JointServoConfig, Reference, TwistFrame, TwistInput,
};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_tests::cosim::{Buffers, CrashPoint, REST, Rig, SENSOR, Setup, Way};
use outrigger_wire::robot::{JointPositions, JointTorques, JointVelocities, SoftwareVersion};
use outrigger_wire::time::Duration;

use super::{ms, secs};

/// The first software of either generation with torques, and newer versions.
const SOFTWARE: [SoftwareVersion; 4] = [
    SoftwareVersion::new(5, 23),
    SoftwareVersion::new(5, 25),
    SoftwareVersion::new(10, 11),
    SoftwareVersion::new(10, 12),
];

/// Returns a set-up in which a sensor demands a speed of the base joint, and torques accelerate the joint to it.
fn setup(way: Way, software: SoftwareVersion, speed: f32) -> Setup {
    let mut setup = Setup::sweep(software, speed);
    way.choose(&mut setup.config);
    setup.config.peer.torque.travel = 6.0;
    setup
}

fn each(speed: f32, mut check: impl FnMut(&str, &mut Rig<'_>)) {
    for way in Way::TORQUES {
        for software in SOFTWARE {
            let mut buffers = Buffers::with_rtde();
            let mut rig = Rig::new(setup(way, software, speed), &mut buffers);
            rig.command();
            check(&format!("{software} {}", way.name()), &mut rig);
        }
    }
}

#[test]
fn torques_move_the_arm_as_the_law_wants_and_a_release_brings_it_to_rest() {
    each(0.3, |what, rig| {
        rig.run_for(secs(1));
        let (qd, story) = (rig.controller.truth().qd, rig.record().story());
        assert!((qd[0] - 0.3).abs() < 0.05 && rig.engine().mode() == Mode::Command, "{what}: {qd:?}\n{story}");
        let torques = rig.record().motion.iter().filter(|motion| motion.torque.is_some()).count();
        assert!(torques > 400, "{what}: {torques} cycles\n{story}");
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
        let story = rig.record().story();
        assert!(rig.controller.truth().at_rest() && rig.engine().latch().is_none(), "{what}\n{story}");
        rig.command();
        rig.run_for(secs(1));
        assert!((rig.controller.truth().qd[0] - 0.3).abs() < 0.05, "{what}: again");
    });
}

#[test]
fn a_pause_holds_the_arm_and_torques_begin_again_once_it_has_rested_after_it() {
    each(0.3, |what, rig| {
        rig.run_for(ms(600));
        rig.controller.act(Action::PauseProgram);
        rig.run_for(secs(3));
        let (stood, story) = (rig.controller.truth().clone(), rig.record().story());
        assert!(stood.at_rest() && rig.engine().mode() == Mode::Command, "{what}: {:?}\n{story}", stood.qd);
        rig.controller.act(Action::ResumeProgram);
        rig.run_for(ms(180));
        let moved = (rig.controller.truth().q[0] - stood.q[0]).abs();
        assert!(moved < 2e-3, "{what}: {moved} rad\n{}", rig.record().story());
        rig.run_for(secs(1));
        let qd = rig.controller.truth().qd[0];
        assert!((qd - 0.3).abs() < 0.05, "{what}: {qd} rad/s\n{}", rig.record().story());
        assert_eq!(rig.record().fallback(), None, "{what}");
    });
}

/// Runs a set-up until commanding has ended. Returns the reason, and the largest distance of the base joint from its
/// position at the beginning \[rad\].
fn ended(what: &str, setup: Setup) -> (Option<Reason>, f64) {
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    let from = rig.controller.truth().q[0];
    rig.ready();
    rig.request();
    rig.run_until(secs(8), |rig| rig.engine().latch().is_some());
    rig.run_for(secs(2));
    let story = rig.record().story();
    assert!(rig.controller.truth().at_rest(), "{what}: {:?}\n{story}", rig.controller.truth().qd);
    let far = rig.record().motion.iter().map(|motion| (motion.q[0] - from).abs()).fold(0.0, f64::max);
    (rig.engine().latch(), far)
}

#[test]
fn each_bound_ends_commanding_by_its_name_and_the_arm_rests_within_it() {
    for (way, software) in Way::TORQUES.into_iter().flat_map(|way| SOFTWARE.map(|software| (way, software))) {
        let what = format!("{software} {}", way.name());
        let mut travels = setup(way, software, 0.3);
        travels.config.peer.torque.travel = 0.3;
        let (reason, far) = ended(&what, travels);
        assert!(reason == Some(Reason::GuideLimit) && (0.1..0.3).contains(&far), "{what}: {reason:?}, {far} rad");

        let mut ranges = setup(way, software, 0.3);
        ranges.config.limits.position_max.0[0] = ranges.controller.q[0] as f32 + 0.3;
        let (reason, far) = ended(&what, ranges);
        assert!(reason == Some(Reason::PositionLimit) && (0.1..0.3).contains(&far), "{what}: {reason:?}, {far} rad");

        let mut fast = setup(way, software, 0.9);
        fast.config.limits.velocity.0[0] = 0.5;
        let (reason, _) = ended(&what, fast);
        assert_eq!(reason, Some(Reason::VelocityLimit), "{what}");

        let mut speeds = setup(way, software, 0.1);
        speeds.config.peer.model = Some(speeds.controller.model);
        let twist = CartesianTwistConfig::new(TwistFrame::Base, TwistInput::Source(SENSOR));
        speeds.law = AnyLaw::CartesianTwist(CartesianTwist::new(twist));
        let (reason, far) = ended(&what, speeds);
        assert!(reason == Some(Reason::PathUnfit) && far < 1e-3, "{what}: a law of speeds, {reason:?}, {far} rad");
    }
}

/// Calls `hush`, which makes a part stop sending. Returns the time for which torques continued afterwards \[s\]. Checks
/// that the arm is at rest a second later.
fn silent(rig: &mut Rig<'_>, hush: impl FnOnce(&mut Rig<'_>)) -> f64 {
    rig.run_for(ms(600));
    let at = rig.now();
    hush(rig);
    rig.run_for(secs(1));
    assert!(rig.controller.truth().at_rest(), "{:?}\n{}", rig.controller.truth().qd, rig.record().story());
    let pushed = rig.record().motion.iter().filter(|motion| motion.torque.is_some()).map(|motion| motion.at).max();
    pushed.expect("torques").since(at).as_secs_f64()
}

#[test]
fn a_source_that_falls_silent_leaves_no_torque_within_its_time() {
    // The order stays in force for 40 ms; a sensor is stale after 100 ms, a state after 40 ms.
    each(0.3, |what, rig| {
        let lasted = silent(rig, |rig| rig.kill(CrashPoint::Silent));
        assert!(lasted < 0.05, "{what}: our own death, {lasted} s");
    });
    each(0.3, |what, rig| {
        let lasted = silent(rig, |rig| {
            rig.kill_sensors();
        });
        assert!(lasted < 0.11, "{what}: the sensor, {lasted} s");
        assert_eq!(rig.engine().latch(), Some(Reason::SourceStale), "{what}");
    });
    each(0.3, |what, rig| {
        let lasted = silent(rig, |rig| rig.cut_cable(None));
        assert!(lasted < 0.05, "{what}: the cable, {lasted} s");
    });
}

/// Checks that the program alone protects the arm if the computer dies while the full torque accelerates a joint, at
/// various distances from a bound. The computer's own margins are as small as a configuration permits.
#[test]
fn the_program_alone_keeps_range_and_travel_while_a_torque_lasts() {
    let dies = |way: Way, after: u64, bound: fn(&mut Setup, f32)| {
        let mut setup = setup(way, SoftwareVersion::new(5, 25), 1.9);
        let start = setup.controller.q[0];
        bound(&mut setup, start as f32);
        let config = &mut setup.config;
        config.limits.velocity.0 = [6.0; 6];
        (config.limits.acceleration.0, config.limits.braking.0) = ([0.01; 6], [10.0; 6]);
        (config.peer.text.own_stop, config.peer.text.hold) = (10.0, Duration::from_millis(200));
        config.peer.torque.torque.0[0] = 60.0;
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(ms(after));
        rig.kill(CrashPoint::Silent);
        rig.run_for(secs(1));
        assert!(rig.controller.truth().at_rest(), "{}: {:?}", way.name(), rig.controller.truth().qd);
        rig.record().motion.iter().map(|motion| (motion.q[0] - start).abs()).fold(0.0, f64::max)
    };
    let bounds: [fn(&mut Setup, f32); 2] = [
        |setup, start| setup.config.limits.position_max.0[0] = start + 0.4,
        |setup, _| setup.config.peer.torque.travel = 0.4,
    ];
    for (way, bound) in Way::TORQUES.into_iter().flat_map(|way| bounds.map(|bound| (way, bound))) {
        let farthest = (10..90).step_by(5).map(|after| dies(way, after, bound)).fold(0.0, f64::max);
        // 0.02 rad are the program's own margin, and three control cycles pass at 3 rad/s before the drives brake.
        assert!((0.3..0.5).contains(&farthest), "{}: {farthest} of 0.4 rad", way.name());
    }
}

/// Calls `check` with an arm that is commanded and held by a law without a sensor, on each path and software.
fn each_streamed(travel: f32, mut check: impl FnMut(&str, &mut Rig<'_>)) {
    for (way, software) in Way::TORQUES.into_iter().flat_map(|way| SOFTWARE.map(|software| (way, software))) {
        let mut setup = Setup::new(software);
        way.choose(&mut setup.config);
        setup.config.peer.torque.travel = travel;
        setup.law = AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default()));
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(ms(300));
        check(&format!("{software} {}", way.name()), &mut rig);
    }
}

/// The torque that is streamed to the base joint \[Nm\].
const PUSH: f32 = 4.0;

fn pushes(first: f32) -> Forward<6> {
    let what = Forwarded::Torques(JointTorques([first, 0.0, 0.0, 0.0, 0.0, 0.0]));
    Forward { what, holds: Forward::<6>::DRIVER_HOLDS }
}

fn send(rig: &mut Rig<'_>, forward: &Forward<6>) -> Result<(), ForwardError> {
    rig.with_engine(|engine, now| engine.forward(forward, now))
}

/// Streams `count` torques at 50 Hz, but no more once commanding has ended.
fn stream(rig: &mut Rig<'_>, count: u32) {
    for _ in 0..count {
        if rig.engine().mode() != Mode::Command {
            return;
        }
        assert_eq!(send(rig, &pushes(PUSH)), Ok(()), "{}", rig.record().story());
        rig.run_for(ms(20));
    }
}

#[test]
fn streamed_torques_push_as_they_are_sent_and_without_further_ones_are_gone_within_their_time() {
    each_streamed(6.0, |what, rig| {
        let begun = rig.now();
        stream(rig, 15);
        let forwarding = |rig: &Rig<'_>| rig.engine().motion_status().forwarding;
        assert_eq!((rig.engine().mode(), forwarding(rig)), (Mode::Command, Forwarding::Torques), "{what}");
        let qd = rig.controller.truth().qd[0];
        assert!(qd > 0.1, "{what}: {qd} rad/s\n{}", rig.record().story());
        // A rejected command changes nothing.
        let slow = Forward { what: Forwarded::Speeds(JointVelocities([0.1; 6])), ..pushes(0.0) };
        let near = Forward { what: Forwarded::Positions(JointPositions([0.0; 6])), ..pushes(0.0) };
        assert!(matches!(send(rig, &pushes(29.0)), Err(ForwardError::Torque { joint: 0, .. })), "{what}");
        assert_eq!(send(rig, &pushes(f32::NAN)), Err(ForwardError::NotFinite), "{what}");
        assert_eq!(send(rig, &slow), Err(ForwardError::OtherKind), "{what}");
        assert_eq!(send(rig, &near), Err(ForwardError::OtherKind), "{what}");
        // The last torques were sent 20 ms ago and stay in force for 40 ms, a state and an order are in transit, and
        // the torque decreases by no more than its limit in the time to rise.
        let ended = rig.now();
        let torques = rig.engine().config().peer.torque;
        let rise = torques.rise.as_secs_f64() * f64::from(PUSH / torques.torque.0[0]);
        let gone = ended + std::time::Duration::from_secs_f64(0.02 + 0.012 + rise);
        rig.run_for(secs(2));
        assert_eq!((rig.engine().mode(), forwarding(rig)), (Mode::Command, Forwarding::Idle), "{what}");
        let qd = rig.controller.truth().qd;
        assert!(qd.iter().all(|speed| speed.abs() < REST), "{what}: {qd:?}\n{}", rig.record().story());
        let rest = rig.record().rest_after(ended).expect("it rests");
        assert!(rest < ms(800), "{what}: {rest:?}");
        let motion = &rig.record().motion;
        let torque = |from, to| motion.iter().filter(move |m| m.at > from && m.at <= to).filter_map(|m| m.torque);
        let pushed = torque(begun + ms(150), ended).map(|torque| torque[0]);
        assert!(pushed.clone().count() > 50 && pushed.clone().all(|t| (t - f64::from(PUSH)).abs() < 0.01), "{what}");
        // No torque pushes the joint on while it moves, a small one is needed to stop it, and none at rest.
        let after = motion.iter().filter(|m| m.at > gone);
        for m in after {
            let [torque, speed] = [m.torque.map_or(0.0, |torque| torque[0]), m.qd[0]];
            let most = if speed > 0.05 { 0.0 } else { 1.0 };
            assert!(torque <= most, "{what}: {torque} Nm at {} with {speed} rad/s\n{}", m.at, rig.record().story());
        }
        let held = torque(ended + ms(1_200), rig.now()).flatten().fold(0.0, |most: f64, t| most.max(t.abs()));
        assert!(held < 0.3, "{what}: {held} Nm at rest");
        // Each change of the total torque is within the limits.
        for pair in motion.windows(2).filter(|pair| pair[1].at > begun) {
            let [Some(before), Some(after)] = [pair[0].torque, pair[1].torque] else { continue };
            let dt = pair[1].at.since(pair[0].at).as_secs_f64() / torques.rise.as_secs_f64();
            for (joint, most) in torques.torque.iter().enumerate() {
                let (change, most) = ((after[joint] - before[joint]).abs(), f64::from(most) * dt);
                assert!(change < most * 1.001 + 1e-3, "{what}: joint {joint} by {change}, not {most} Nm");
            }
        }
        // Once the arm is at rest, other kinds of commands may begin.
        assert_eq!(send(rig, &slow), Ok(()), "{what}");
    });
}

#[test]
fn streamed_torques_end_by_the_name_of_their_bound_and_stand_while_the_slider_is_at_0() {
    each_streamed(0.3, |what, rig| {
        let from = rig.controller.truth().q[0];
        rig.controller.act(Action::Slider(0.0));
        rig.run_for(ms(300));
        stream(rig, 15);
        let moved = (rig.controller.truth().q[0] - from).abs();
        assert!(moved < 2e-3, "{what}: {moved} rad with the slider at 0\n{}", rig.record().story());
        rig.run_for(ms(300));
        rig.controller.act(Action::Slider(1.0));
        rig.run_for(ms(500));
        let moved = (rig.controller.truth().q[0] - from).abs();
        assert!(moved < 2e-3, "{what}: {moved} rad by torques that lapsed\n{}", rig.record().story());
        stream(rig, 200);
        rig.run_for(secs(1));
        let moved = (rig.controller.truth().q[0] - from).abs();
        assert_eq!(rig.engine().latch(), Some(Reason::GuideLimit), "{what}: {moved} rad\n{}", rig.record().story());
        assert!(rig.controller.truth().at_rest() && (0.1..0.3).contains(&moved), "{what}: {moved} rad");
        assert_eq!(send(rig, &pushes(PUSH)), Err(ForwardError::NotCommanding), "{what}");
    });
}

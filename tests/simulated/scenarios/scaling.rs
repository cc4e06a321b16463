//! The robot's speed scaling: the commands sent while the arm is slowed down, or does not move at all.

use outrigger_core::engine::Event;
use outrigger_core::engine::ur::UrEvent;
use outrigger_core::law::{AnyLaw, CartesianTwist, CartesianTwistConfig, JointServoConfig, TwistFrame, TwistInput};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_sim::controller::Action;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::simulated_workpiece::Surface;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Command, Rig, Setup};
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion, Twist};
use outrigger_wire::time::Duration;

use super::{ms, secs};

/// The tested versions of CB3 and e-Series whose packets have a speed scaling.
const SOFTWARE: [SoftwareVersion; 4] =
    [SoftwareVersion::new(3, 1), SoftwareVersion::new(3, 5), SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];

/// Returns a motion of joint 1 by half a radian within two seconds.
fn trajectory() -> Trajectory<6> {
    let at = |positions, millis| Waypoint {
        setpoint: Setpoint { positions: JointPositions(positions), velocities: JointVelocities::ZERO },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    Trajectory::through(&[at([0.0; 6], 0), at([0.5, 0.0, 0.0, 0.0, 0.0, 0.0], 2_000)]).unwrap()
}

/// Returns a set-up with each law. Each law demands motion from the first cycle on.
fn laws(software: SoftwareVersion) -> [(&'static str, Setup); 5] {
    let servo = || Setup::servo(software, trajectory(), JointServoConfig::default());
    let mut twist = servo();
    let along = Twist { linear: [0.05, 0.0, 0.0], angular: [0.0; 3] };
    let config = CartesianTwistConfig::new(TwistFrame::Base, TwistInput::Constant(along));
    twist.law = AnyLaw::CartesianTwist(CartesianTwist::new(config));
    twist.config.peer.model = Some(twist.controller.model);
    // 0.2 m farther away than the target distance.
    let tool = Rig::new(servo(), &mut Buffers::default()).controller.truth().tool().position;
    let below = [tool[0], tool[1], tool[2] - 0.3];
    let standoff = Setup::standoff(software, 0.1, Surface::plane(below, [0.0, 0.0, 1.0]));
    let (axes, _) = super::axes::setup(software);
    let sweep = Setup::sweep(software, 0.5);
    [("servo", servo()), ("sweep", sweep), ("twist", twist), ("standoff", standoff), ("axes", axes)]
}

/// Returns the reported changes of a hold by the speed scaling, in order: `true` for its beginning, `false` for its
/// end.
fn told(rig: &Rig<'_>) -> Vec<bool> {
    let held =
        |(_, event): &(_, Event<UrEvent>)| if let Event::Held(held) = event { Some(held.is_some()) } else { None };
    rig.record().events.iter().filter_map(held).collect()
}

/// Returns the largest joint speed that a command demands \[rad/s\].
fn speed(command: &Command) -> f64 {
    command.speeds.unwrap_or_default().into_iter().fold(0.0, |most, v| most.max(v.abs()))
}

#[test]
fn opposite_a_controller_with_scaling_0_that_never_moves_next_to_nothing_goes_out() {
    for software in SOFTWARE {
        for with_rtde in [false, true] {
            for (law, mut setup) in laws(software) {
                setup.controller.faults.push(Fault::new(FaultKind::Limiter(0.0), SimTime::ZERO, None));
                let mut buffers = if with_rtde { Buffers::with_rtde() } else { Buffers::default() };
                let mut rig = Rig::new(setup, &mut buffers);
                rig.command();
                let begun = rig.now();
                rig.run_for(secs(12));
                let what = format!("{software}, rtde {with_rtde}, {law}:\n{}", rig.record().story());
                let moving: Vec<&Command> = rig.record().commands.iter().filter(|command| command.moves()).collect();
                let fastest = moving.iter().fold(0.0_f64, |most, command| most.max(speed(command)));
                assert!(fastest > 0.001 && fastest <= 0.02 + 1e-5, "{fastest} rad/s, {what}");
                let lasted = moving.last().unwrap().at.since(moving[0].at);
                assert!(lasted <= ms(500), "{lasted:?}, {what}");
                let (fell, reason) = rig.record().fallback().unwrap();
                assert_eq!(reason, Reason::HeldByScaling, "{what}");
                let after = fell.since(begun);
                assert!(after > secs(10) && after < ms(10_600), "{after:?}, {what}");
                assert_eq!(told(&rig), [true], "{what}");
            }
        }
    }
}

#[test]
fn a_slider_at_0_holds_and_lets_go_without_a_jump() {
    for software in super::SOFTWARE {
        for with_rtde in [false, true] {
            for (law, setup) in laws(software) {
                let limits = setup.config.limits;
                let mut buffers = if with_rtde { Buffers::with_rtde() } else { Buffers::default() };
                let mut rig = Rig::new(setup, &mut buffers);
                rig.command();
                rig.run_for(ms(700));
                rig.controller.act(Action::Slider(0.0));
                // If the packet has no slider, it is reported ten times a second; then the arm slows down.
                rig.run_for(ms(600));
                let held = rig.now();
                rig.run_for(secs(5));
                let what = format!("{software}, rtde {with_rtde}, {law}:\n{}", rig.record().story());
                assert!(rig.record().commands_since(held).all(Command::holds), "{what}");
                assert!(rig.record().commands_since(held).count() > 500, "held is not silent: {what}");
                assert_eq!((rig.engine().mode(), told(&rig)), (Mode::Command, vec![true]), "{what}");
                let stood = rig.controller.truth().q;
                rig.controller.act(Action::Slider(1.0));
                let released = rig.now();
                rig.run_for(ms(400));
                let what = format!("{software}, rtde {with_rtde}, {law}:\n{}", rig.record().story());
                assert_eq!((rig.engine().mode(), told(&rig)), (Mode::Command, vec![true, false]), "{what}");
                // From zero, and no faster than the acceleration limit permits from one state to the next.
                let period = rig.controller.period().as_secs_f64();
                let mut before = [0.0; 6];
                for command in rig.record().commands_since(released) {
                    let speeds = command.speeds.unwrap();
                    for ((v, before), most) in speeds.iter().zip(before).zip(limits.acceleration.iter()) {
                        assert!((v - before).abs() <= f64::from(most) * period * 1.01 + 2e-5, "{command:?}, {what}");
                    }
                    before = speeds;
                }
                assert!(before != [0.0; 6] && rig.controller.truth().q != stood, "it goes on: {what}");
            }
        }
    }
}

#[test]
fn a_slider_at_0_for_longer_than_it_may_ends_commanding_by_name() {
    for software in super::SOFTWARE {
        let mut buffers = Buffers::default();
        let mut setup = Setup::sweep(software, 0.3);
        setup.config.mode.scaling.held_timeout = Duration::from_secs(2);
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(secs(1));
        rig.controller.act(Action::Slider(0.0));
        let begun = rig.now();
        rig.run_for(secs(4));
        let (fell, reason) = rig.record().fallback().unwrap();
        assert_eq!(reason, Reason::HeldByScaling, "{software}\n{}", rig.record().story());
        let after = fell.since(begun);
        assert!(after > secs(2) && after < ms(2_300), "{software}: {after:?}");
        assert_eq!(rig.engine().latch(), Some(Reason::HeldByScaling), "{software}");
    }
}

#[test]
fn a_limiter_that_reads_0_while_the_arm_rests_lets_a_motion_begin_and_end() {
    for software in SOFTWARE {
        for with_rtde in [false, true] {
            let mut buffers = if with_rtde { Buffers::with_rtde() } else { Buffers::default() };
            let mut setup = Setup::servo(software, trajectory(), JointServoConfig::default());
            setup.controller.limiter_rests = true;
            let mut rig = Rig::new(setup, &mut buffers);
            rig.command();
            let begun = rig.controller.truth().q[0];
            rig.run_for(ms(2_400));
            let off = (rig.controller.truth().q[0] - begun - 0.5).to_degrees().abs();
            assert!(off < 0.1, "{software}, rtde {with_rtde}: {off}°\n{}", rig.record().story());
        }
    }
}

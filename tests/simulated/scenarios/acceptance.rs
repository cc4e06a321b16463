//! Compares the controllers that the ROS 2 node lists as active with the commands that the engine accepts: on every
//! path, with every law, in `Command` and outside.

use outrigger_core::command::outputs::{Write, WriteOutcome};
use outrigger_core::command::{ForceMode, ForceType, Guidance, JointMove};
use outrigger_core::engine::Input;
use outrigger_core::engine::ur::CommandPath;
use outrigger_core::law::{
    AnyLaw, CartesianTwist, CartesianTwistConfig, Forward, ForwardError, Forwarded, JointServo, JointServoConfig, Law,
    Reference, TwistFrame, TwistInput,
};
use outrigger_core::mode::{ClientNumber, GuideLimits, Mirrored, Mode};
use outrigger_core::trajectory::{Setpoint, Waypoint};
use outrigger_ros2::command_acceptance::{Command, MotionSource, Run, SessionFacts};
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way, core_time};
use outrigger_wire::robot::{JointPositions, JointTorques, JointVelocities, Pose, SoftwareVersion, Twist, Wrench};
use outrigger_wire::time::Duration;

use super::ms;

/// Software on either side of the first version that reports contacts, and one version of each generation.
const SOFTWARE: [SoftwareVersion; 6] = [
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 13),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 3),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(10, 11),
];

/// A law, and the reasons for which it rejects every stream of speeds and every stream of positions.
type Refusing = (fn(SoftwareVersion) -> Setup, Option<ForwardError>, Option<ForwardError>);

fn holds(software: SoftwareVersion) -> Setup {
    Setup::new(software)
}

fn senses(software: SoftwareVersion) -> Setup {
    Setup::sweep(software, 0.0)
}

fn without_feedback(software: SoftwareVersion) -> Setup {
    let config = JointServoConfig { proportional: 0.0, ..JointServoConfig::default() };
    Setup { law: AnyLaw::JointServo(JointServo::new(Reference::Hold, config)), ..Setup::new(software) }
}

/// Returns a set-up with a law of the tool that holds it at rest.
fn turns_no_joint(software: SoftwareVersion) -> Setup {
    let mut setup = Setup::new(software);
    let still = Twist { linear: [0.0; 3], angular: [0.0; 3] };
    let config = CartesianTwistConfig::new(TwistFrame::Base, TwistInput::Constant(still));
    setup.law = AnyLaw::CartesianTwist(CartesianTwist::new(config));
    setup.config.peer.model = Some(setup.controller.model);
    setup
}

const LAWS: [Refusing; 4] = [
    (holds, None, None),
    (senses, Some(ForwardError::Sensor), Some(ForwardError::Sensor)),
    (without_feedback, None, Some(ForwardError::NoFeedback)),
    (turns_no_joint, Some(ForwardError::NoJointLaw), Some(ForwardError::NoJointLaw)),
];

/// Returns the facts about the session by which the ROS 2 node decides whether it accepts a command.
fn standing(rig: &Rig<'_>, (software, way): (SoftwareVersion, Way), (_, speeds, positions): &Refusing) -> SessionFacts {
    let engine = rig.engine();
    let by = match way.path {
        CommandPath::Player => MotionSource::Controller,
        path => {
            let torques = if path.is_torques() { *speeds } else { Some(ForwardError::NoTorques) };
            let follows = engine.law().motion().is_some();
            MotionSource::Law { follows, speeds: *speeds, positions: *positions, torques }
        }
    };
    let (mode, latch, unmet) = (engine.mode(), engine.latch(), engine.unmet(core_time(rig.now())));
    SessionFacts { run: Some(Run { goals_request: false, mode, latch, unmet, by }), software: Some(software) }
}

/// Sends the command to the engine, as the run does for a client. Returns whether the engine accepts it.
fn engine_accepts(rig: &mut Rig<'_>, way: Way, command: Command) -> bool {
    let here = rig.controller.truth().q.map(|q| q as f32);
    let positions = JointPositions(here.map(|q| q + 0.05));
    let plays = way.path == CommandPath::Player;
    let holds = Forward::<6>::DRIVER_HOLDS;
    let by_program = |rig: &mut Rig<'_>| {
        let to = JointMove::new(positions, 0.3, 1.0).expect("a move");
        let Ok(number) = rig.delegate(to) else { return false };
        rig.run_for(ms(600));
        let mirrored = rig.engine().evidence().mirrored.map(|held| held.value);
        [Mirrored::Running(number), Mirrored::Ended(number)].map(Some).contains(&mirrored)
    };
    match command {
        Command::Follow if plays => by_program(rig),
        Command::PassThrough => by_program(rig),
        Command::Follow => {
            let setpoint = Setpoint { positions, velocities: JointVelocities::ZERO };
            let to = Waypoint { setpoint, accelerations: None, at: Duration::from_millis(800) };
            rig.with_engine(|engine, _| engine.replace(&[to], true)).is_ok()
        }
        Command::FollowUntilContact | Command::DetectContact => {
            rig.with_engine(|engine, _| engine.mode() == Mode::Command && engine.stop_at_contact(true).is_ok())
        }
        Command::Speeds => {
            let forward = Forward { what: Forwarded::Speeds(JointVelocities([0.01; 6])), holds };
            rig.with_engine(|engine, now| engine.forward(&forward, now)).is_ok()
        }
        Command::Positions => {
            let forward = Forward { what: Forwarded::Positions(JointPositions(here)), holds };
            rig.with_engine(|engine, now| engine.forward(&forward, now)).is_ok()
        }
        Command::Torques => {
            let forward = Forward { what: Forwarded::Torques(JointTorques::ZERO), holds };
            rig.with_engine(|engine, now| engine.forward(&forward, now)).is_ok()
        }
        Command::Force | Command::Freedrive => {
            let mode = ForceMode {
                task_frame: Pose { position: [0.0; 3], rotation: [0.0; 3] },
                selection: [false, false, true, false, false, false],
                wrench: Wrench { force: [0.0; 3], torque: [0.0; 3] },
                kind: ForceType::Frame,
                limits: [0.1; 6],
                damping: 0.02,
                gain_scaling: 0.5,
            };
            let what = if command == Command::Force { Guidance::Force(mode) } else { Guidance::Freedrive };
            rig.ask(|engine, now| engine.guide(what, ClientNumber(1), GuideLimits::default(), now)).is_ok()
        }
        Command::Gravity => {
            let write = Write::Gravity([0.0, 0.0, 9.82]);
            rig.input(Input::Set(write));
            rig.run_for(ms(50));
            rig.record().news().all(|(of, news)| of != write || !matches!(news, WriteOutcome::Refused(_)))
        }
    }
}

/// Checks for each command that the ROS 2 node accepts it if and only if the engine does. By policy, the node rejects
/// some that the engine accepts.
fn compare(software: SoftwareVersion, way: Way, law: &Refusing, commands: bool) {
    for command in Command::ALL {
        let mut buffers = Buffers::with_rtde();
        let mut setup = law.0(software);
        way.choose(&mut setup.config);
        let kind = setup.law.clone();
        let mut rig = Rig::new(setup, &mut buffers);
        if commands {
            rig.command();
            rig.run_for(ms(500));
        } else {
            rig.ready();
        }
        let told = standing(&rig, (software, way), law).accepts(command);
        let found = engine_accepts(&mut rig, way, command);
        // By policy, a run accepts streams only with laws of joints, although the player takes speeds between its
        // moves, and makes no moves on External Control, although the engine does.
        let policy = match way.path {
            CommandPath::Player => matches!(command, Command::Speeds | Command::Positions),
            CommandPath::ExternalControl => command == Command::PassThrough,
            _ => false,
        };
        let agrees = told.is_ok() == found || (policy && told.is_err());
        let law = std::mem::discriminant(&kind);
        assert!(
            agrees,
            "{software} by {}, {law:?}: {command:?} is {told:?}, the engine says {found}\n{}",
            way.name(),
            rig.record().story()
        );
    }
}

fn ways() -> impl Iterator<Item = (SoftwareVersion, Way)> {
    let all = || Way::ALL.into_iter().chain([Way::PLAYER]).chain(Way::TORQUES);
    SOFTWARE
        .into_iter()
        .flat_map(move |software| all().map(move |way| (software, way)))
        .filter(|(of, way)| way.fits(*of))
}

#[test]
fn what_is_listed_as_active_is_what_is_accepted_on_every_path() {
    for (software, way) in ways() {
        for commands in [false, true] {
            compare(software, way, &LAWS[0], commands);
        }
    }
    // Every path was tested.
    for (word, path) in CommandPath::WORDS {
        assert!(ways().any(|(_, way)| way.path == *path), "{word}");
    }
}

#[test]
fn what_is_listed_as_active_is_what_is_accepted_by_every_law() {
    let software = SoftwareVersion::new(5, 15);
    for law in &LAWS {
        for way in [Way::ALL[0], Way::ALL[1], Way::PLAYER] {
            compare(software, way, law, true);
        }
    }
}

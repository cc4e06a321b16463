//! Laws in operation, and a fingerprint of their commands: the same on the emulated board and, in
//! `tests/simulated/same_bits.rs`, on the host.

use outrigger_core::command::Samples;
use outrigger_core::kinematics::{DhParameters, KinematicChain};
use outrigger_core::law::{
    AnyLaw, AxisConfig, JointServoConfig, Law, LawConfig, Reference, StandoffConfig, Start, ToolAxesConfig,
};
use outrigger_core::trajectory::{Setpoint, Trajectory, Waypoint};
use outrigger_wire::robot::{JointPositions, JointVelocities, Pose, RobotModel, State};
use outrigger_wire::sensor::{Sample, SampleValue, SourceId};
use outrigger_wire::time::{Duration, Instant};

/// The duration of a control cycle of an e-Series arm.
pub const CYCLE: Duration = Duration::from_millis(2);
/// Joint positions with elbow and wrist well bent and the tool pointing down \[rad\].
pub const BENT: [f32; 6] = [0.2, -1.3, 1.6, -1.87, -1.57, 0.4];
const SENSOR: SourceId = SourceId(1);
/// The wanted reading of the sensor \[m\].
pub const DISTANCE: f32 = 0.12;

/// Returns the kinematic chain of a UR5e with a tool.
pub fn chain() -> KinematicChain<6> {
    let tool = Pose { position: [0.0, 0.01, 0.15], rotation: [0.0, 0.1, 0.0] };
    KinematicChain::new(DhParameters::of(RobotModel::Ur5e), &tool)
}

/// Returns the state of a UR5e at rest at `positions` \[rad\].
pub fn state(positions: [f32; 6]) -> State<6> {
    State { positions: JointPositions(positions), speed_scaling: Some(1.0), ..State::default() }
}

/// Returns a reading of the sensor \[m\].
pub fn reading(distance: f32) -> [Sample; 1] {
    let value = SampleValue::scalar(distance);
    [Sample { source: SENSOR, value, seq: 0, taken_at: Instant::ZERO }]
}

fn armed(config: LawConfig<6>) -> AnyLaw<6> {
    let mut law = AnyLaw::new(config).expect("settings in range");
    law.arm(&Start::at(&state(BENT)).with_kinematics(&chain())).expect("an ordinary pose");
    law
}

/// Returns a law that keeps a distance by the sensor, while it travels.
pub fn standoff() -> AnyLaw<6> {
    armed(LawConfig::Standoff(StandoffConfig { travel: [0.01, 0.0], ..StandoffConfig::new(SENSOR, DISTANCE) }))
}

/// Returns a law that controls two tool axes by the sensor: along z, and about x.
pub fn axes() -> AnyLaw<6> {
    let mut config = ToolAxesConfig::default();
    let [_, _, z, rx, ..] = &mut config.axes;
    *z = Some(AxisConfig::new(SENSOR, DISTANCE, -1.0));
    *rx = Some(AxisConfig { speed_limit: 0.01, ..AxisConfig::new(SENSOR, DISTANCE, 10.0) });
    armed(LawConfig::ToolAxes(config))
}

/// Returns a law that turns the base by 3 rad through a waypoint and back within 4 s, and two other joints by a tenth
/// of that.
pub fn servo() -> AnyLaw<6> {
    let waypoint = |q, v, millis| Waypoint {
        setpoint: Setpoint {
            positions: JointPositions([q, 0.1 * q, 0.0, 0.0, -0.1 * q, 0.0]),
            velocities: JointVelocities([v, 0.1 * v, 0.0, 0.0, -0.1 * v, 0.0]),
        },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    let waypoints =
        [waypoint(0.0, 0.0, 0), waypoint(-1.5, -2.0, 1_000), waypoint(-3.0, 0.0, 2_000), waypoint(0.0, 0.0, 4_000)];
    let trajectory = Trajectory::through(&waypoints).expect("a motion");
    armed(LawConfig::JointServo { reference: Reference::Relative(trajectory), config: JointServoConfig::default() })
}

/// The expected result of [`fingerprints`], which must be the same on the host and on the emulated board.
pub const FINGERPRINTS: [u64; 2] = [0x569a_c1f1_937f_8fbe, 0xcf8d_4532_d567_fc22];

/// Returns two fingerprints, of the distance and joint laws, and of two tool axes. A fingerprint is a hash of the bits
/// of all commands of the laws in some hundred cycles with an ideal arm.
pub fn fingerprints() -> [u64; 2] {
    [hash([standoff(), servo()]), hash([axes()])]
}

fn hash<const LAWS: usize>(laws: [AnyLaw<6>; LAWS]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for mut law in laws {
        let mut arm = state(BENT);
        for cycle in 0_u16..300 {
            // Up to 19 mm off: proportional and braked approach, with and without travel.
            let distance = DISTANCE + 2e-4 * f32::from(cycle % 97);
            let wanted = law.step(&arm, &Samples::new(&reading(distance)), CYCLE).expect("on its way");
            for (q, v) in arm.positions.0.iter_mut().zip(wanted.iter()) {
                *q += v * 0.002;
                hash = (hash ^ u64::from(v.to_bits())).wrapping_mul(0x0100_0000_01b3);
            }
            arm.velocities = wanted;
        }
    }
    hash
}

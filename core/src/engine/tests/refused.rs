//! The rejection of configurations that are out of their ranges or contradictory, with any features.

use crate::engine::ConfigError;
use crate::engine::krc::{KrcConfig, KrcEngine};
use crate::engine::ur::{FormChoice, Memory, StatesFrom, UrConfig, UrEngine};
use crate::law::{JointServo, JointServoConfig, Reference};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::Duration;

const LONG: Duration = Duration::from_secs(1_000_000);

/// Returns the result of making an engine with this configuration.
fn made(config: UrConfig) -> Result<(), ConfigError> {
    let law = JointServo::new(Reference::Hold, JointServoConfig::default());
    let memory =
        Memory { primary: &mut [0; Memory::LEAST_PRIMARY], realtime: &mut [0; Memory::LEAST_REALTIME], rtde: None };
    UrEngine::new(config, law, memory).map(drop)
}

#[test]
fn a_wrong_setting_of_each_part_of_a_ur_makes_no_engine() {
    type Case = (&'static str, fn(&mut UrConfig));
    let cases: [Case; 26] = [
        ("a port", |c| c.peer.connect.ports.realtime = 0),
        ("a wait", |c| c.peer.connect.open_timeout = Duration::ZERO),
        ("waits in order", |c| c.peer.connect.back_off_min = LONG),
        ("text's hold", |c| c.peer.text.hold = Duration::from_secs(2)),
        ("text's hold beside stale states", |c| c.link.stale_after = Some(Duration::from_millis(50))),
        ("text's hold beside the last state", |c| c.mode.state_timeout = Some(Duration::from_millis(50))),
        ("text's ramp", |c| c.peer.text.acceleration = f32::NAN),
        ("an end of text", |c| {
            c.peer.text.form = FormChoice::Bare;
            c.peer.software = Some(SoftwareVersion::new(3, 4));
        }),
        ("a force without a sensor", |c| c.peer.force = Some(outrigger_wire::sensor::SourceId(1))),
        ("cycles of a good link", |c| c.mode.good_cycles = Some(0)),
        ("evidence", |c| c.mode.evidence_age = Some(Duration::ZERO)),
        ("rest", |c| c.standstill.window = LONG),
        ("the longest stop", |c| c.mode.stop_timeout = Some(Duration::ZERO)),
        ("how far the arm may be off", |c| c.mode.following.tolerance = Some(f32::NAN)),
        ("stale states", |c| c.link.stale_after = Some(Duration::ZERO)),
        ("grades in order", |c| {
            c.link.limits.perfect.misses = Some(5);
            c.link.limits.bad.misses = Some(0);
        }),
        ("a range of a joint", |c| c.limits.position_min.0[2] = 3.0 + c.limits.position_max.0[2]),
        ("a range of another", |c| c.limits.position_max.0[0] = f32::NAN),
        ("a speed", |c| c.limits.velocity.0[1] = f32::NAN),
        ("no speed", |c| c.limits.velocity.0[5] = 0.0),
        ("an acceleration", |c| c.limits.acceleration.0[1] = f32::INFINITY),
        ("a braking", |c| c.limits.braking.0[1] = -1.0),
        ("a braking that nobody does", |c| c.limits.braking.0 = [8.0; 6]),
        ("an acceleration beyond the ramp", |c| c.limits.acceleration.0[3] = 10.5),
        ("an input for two things", |c| {
            c.operator.request_input = Some(1);
            c.operator.acknowledge_input = Some(1);
        }),
        ("states from where there is no memory", |c| c.peer.connect.states = StatesFrom::Rtde),
    ];
    for (what, spoil) in cases {
        let mut config = UrConfig::default();
        spoil(&mut config);
        assert!(made(config).is_err(), "{what}");
    }
    assert!(made(UrConfig::default()).is_ok());
}

#[test]
fn a_wrong_setting_beside_a_krc_makes_no_engine() {
    let made = |change: fn(&mut KrcConfig)| {
        let mut config = KrcConfig::default();
        change(&mut config);
        KrcEngine::new(config, JointServo::new(Reference::Hold, JointServoConfig::default()), ()).map(drop)
    };
    type Case = (&'static str, fn(&mut KrcConfig));
    let cases: [Case; 4] = [
        ("silence", |c| c.peer.silence = Duration::ZERO),
        ("the arm", |c| c.peer.arm.velocity[3] = -1.0),
        ("a speed that the arm has not", |c| c.limits.velocity.0[0] = 6.0),
        ("cycles of a good link", |c| c.mode.good_cycles = Some(0)),
    ];
    for (what, spoil) in cases {
        assert!(made(spoil).is_err(), "{what}");
    }
    assert!(made(|_| ()).is_ok());
}

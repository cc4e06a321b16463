//! Random motions that the player makes, with random histories of sliders and faults and with an operator's input
//! after each stop. Limits, tolerances and the time to rest hold, measured on the true position of the simulated arm.

use outrigger_core::mode::Mode;
use outrigger_core::trajectory::Progress;
use outrigger_sim::controller::Action;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_tests::noise::Noise;
use outrigger_wire::robot::{JointVelocities, SoftwareVersion};

use super::motion_histories::{FASTEST, deed, goes_on, histories, in_parallel, judge, motion};
use super::motions::{TOLERANCES, line};
use super::ms;
use super::played::Played;

/// The default number of random histories: motions with random disturbances.
const HISTORIES: u64 = 300;

fn lives_through(seed: u64, software: SoftwareVersion) {
    let mut noise = Noise::seeded(seed);
    let mut setup = Setup::new(software);
    Way::PLAYER.choose(&mut setup.config);
    setup.config.limits.velocity = JointVelocities([FASTEST; 6]);
    setup.controller.seed = seed;
    let points = motion(&mut noise, &setup.config.limits);
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    rig.command();
    let line = line(&points, &rig.controller.truth().q);
    let mut played = Played::from_here(&rig, &points, TOLERANCES);
    let (mut told, mut mends) = (vec![], vec![]);
    // The motion begins once the arm has been at rest in `Command`.
    played.run_until(&mut rig, ms(2_000), |played, _| played.progress() == Progress::Running);
    for _ in 0..1 + noise.below(4) {
        played.run_for(&mut rig, ms(noise.below(900) as u64));
        if !rig.is_awake() {
            played.run_for(&mut rig, ms(300));
        }
        let at = rig.now();
        told.push((at, deed(&mut rig, &mut noise, &mut mends)));
    }
    played.run_for(&mut rig, ms(700));
    rig.controller.act(Action::Slider(1.0));
    for _ in 0..4 {
        if played.progress() == Progress::Finished {
            break;
        }
        // After a request without resuming, the arm is held.
        if played.progress() == Progress::Suspended && rig.engine().mode() == Mode::Command {
            rig.input(outrigger_core::engine::Input::Release);
        }
        goes_on(&mut rig, &mut mends, |rig, span, done| {
            played.run_until(rig, span, |_, rig| done(rig));
        });
        played.run_until(&mut rig, ms(30_000), |played, rig| {
            played.progress() == Progress::Finished || rig.engine().mode() != Mode::Command
        });
    }
    let what = || format!("seed {seed}, {software}: {points:?}\n{told:?}\n{}", rig.record().story());
    let (progress, refused) = (played.progress(), played.refused);
    assert!(
        progress == Progress::Finished,
        "it does not end: {progress:?}, {refused:?}, {:?}, {}",
        played.elapsed(),
        what()
    );
    judge(&rig, &line, &what);
}

#[test]
fn random_motions_of_the_player_hold_their_limits_and_tolerances_through_random_histories() {
    let software = [SoftwareVersion::new(3, 15), SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];
    in_parallel(histories(HISTORIES), |seed| lives_through(seed, software[seed as usize % software.len()]));
}

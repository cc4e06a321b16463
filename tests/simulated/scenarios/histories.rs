//! Random histories on every command path. Whatever the order of requests and faults, the arm does not move without a
//! command, it comes to rest, and once all faults have ended it can be commanded again.

use std::env;

use outrigger_core::engine::Input;
use outrigger_core::mode::Mode;
use outrigger_sim::controller::Action;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_wire::robot::SoftwareVersion;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::ms;

/// Software on either side of each change in the way in which programs receive motion.
const SOFTWARE: [SoftwareVersion; 5] = [
    SoftwareVersion::new(1, 8),
    SoftwareVersion::new(3, 2),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(10, 11),
];

/// An action of an operator or of a person at the pendant, or a fault.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Request,
    Resume,
    Release,
    Acknowledge,
    HandBack,
    Resend,
    /// Stop pressed at the pendant.
    Stop,
    Pause,
    GoOn,
    Slider(u8),
    ProtectiveStop,
    Unlock,
    EmergencyStop,
    SafeguardOpens,
    SafeguardCloses,
    /// The cable is cut for so many milliseconds.
    CableOut(u16),
    HostStands(u16),
}

fn deed() -> impl Strategy<Value = Deed> {
    use Deed::*;
    let words = prop::sample::select(vec![Request, Request, Request, Resume, Release, Acknowledge, HandBack, Resend]);
    let pendant = prop::sample::select(vec![Stop, Pause, GoOn, GoOn]);
    let safety = prop::sample::select(vec![ProtectiveStop, Unlock, EmergencyStop, SafeguardOpens, SafeguardCloses]);
    prop_oneof![
        4 => words,
        3 => pendant,
        2 => safety,
        2 => prop::sample::select(vec![0, 1, 30, 100]).prop_map(Slider),
        1 => (5_u16..1_500).prop_map(CableOut),
        1 => (5_u16..300).prop_map(HostStands),
    ]
}

/// Returns a strategy for random histories of a run: actions, each with the time that passes after it \[ms\].
fn history() -> impl Strategy<Value = Vec<(Deed, u16)>> {
    let wait = prop_oneof![0_u16..40, 40_u16..400, 400_u16..3_000];
    prop::collection::vec((deed(), wait), 1..14)
}

fn act(rig: &mut Rig<'_>, deed: Deed) {
    let action = match deed {
        Deed::Request => return rig.request(),
        Deed::Resume => return rig.resume(),
        Deed::Release => return rig.input(Input::Release),
        Deed::Acknowledge => return rig.input(Input::Acknowledge),
        Deed::HandBack => return rig.input(Input::HandBack),
        Deed::Resend => return rig.input(Input::Resend),
        Deed::CableOut(millis) => return rig.cut_cable(Some(ms(millis.into()))),
        Deed::HostStands(millis) => return rig.pause_host(ms(millis.into())),
        Deed::Stop => Action::StopProgram,
        Deed::Pause => Action::PauseProgram,
        Deed::GoOn => Action::ResumeProgram,
        Deed::Slider(percent) => Action::Slider(f64::from(percent) / 100.0),
        Deed::ProtectiveStop => Action::ProtectiveStop,
        Deed::Unlock => Action::UnlockProtectiveStop,
        Deed::EmergencyStop => Action::EmergencyStop,
        Deed::SafeguardOpens => Action::OpenSafeguard,
        Deed::SafeguardCloses => Action::CloseSafeguard,
    };
    rig.controller.act(action);
}

/// The time after which an arm that is no longer commanded must rest: the timeout of a command and the longest stop,
/// with a margin.
const CALM: std::time::Duration = ms(1_000);

/// Runs for `millis`. Checks that an arm that has not been commanded for long is at rest.
fn passes(rig: &mut Rig<'_>, millis: u64, since: &mut Option<SimTime>, what: &str) {
    for _ in 0..millis.div_ceil(20) {
        rig.run_for(ms(20));
        let commanded = !matches!(rig.engine().mode(), Mode::Offline | Mode::Monitor);
        *since = if commanded { None } else { since.or(Some(rig.now())) };
        let calm = since.is_some_and(|since| rig.now().since(since) > CALM);
        let truth = rig.controller.truth();
        assert!(
            !calm || truth.qd[0].abs() < 0.02,
            "{what}: {} rad/s, commanded by nobody\n{}",
            truth.qd[0],
            rig.record().story()
        );
    }
}

fn lives_through(software: SoftwareVersion, way: Way, resident: bool, history: &[(Deed, u16)]) {
    let what = format!("{software}, {}, resident {resident}, {history:?}", way.name());
    let mut setup = Setup::to_and_fro(software, 0.4);
    way.choose(&mut setup.config);
    setup.config.peer.program.resident = resident;
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(setup, &mut buffers);
    let mut since = None;
    rig.ready();
    for (deed, wait) in history {
        // A frozen host takes no input.
        if !rig.is_awake() {
            passes(&mut rig, 300, &mut since, &what);
        }
        act(&mut rig, *deed);
        passes(&mut rig, u64::from(*wait), &mut since, &what);
    }
    passes(&mut rig, 300, &mut since, &what);
    rig.input(Input::Release);
    passes(&mut rig, 8_000, &mut since, &what);
    let mode = rig.engine().mode();
    assert!(matches!(mode, Mode::Offline | Mode::Monitor), "{what}: {mode:?}\n{}", rig.record().story());
    is_well_again(&mut rig, &mut since, &what);
    rig.command();
    passes(&mut rig, 500, &mut since, &what);
    assert_eq!(rig.engine().mode(), Mode::Command, "{what}\n{}", rig.record().story());
}

/// Ends all faults as a person at the robot does, and acknowledges. Checks that nothing moves, and that no motion is
/// commanded.
fn is_well_again(rig: &mut Rig<'_>, since: &mut Option<SimTime>, what: &str) {
    for action in [
        Action::ReleaseEmergencyStop,
        Action::CloseSafeguard,
        Action::UnlockProtectiveStop,
        Action::PowerOn,
        Action::ReleaseBrakes,
        Action::Slider(1.0),
        Action::StopProgram,
    ] {
        rig.controller.act(action);
        passes(rig, 3_000, since, what);
        assert!(matches!(rig.engine().mode(), Mode::Offline | Mode::Monitor), "{what}\n{}", rig.record().story());
    }
    rig.input(Input::Acknowledge);
    passes(rig, 4_000, since, what);
}

#[test]
fn whatever_happens_in_any_order_an_arm_that_nobody_commands_rests_and_can_be_commanded_again() {
    let cases = env::var("OUTRIGGER_HISTORIES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let fitting: Vec<(SoftwareVersion, Way)> = SOFTWARE
        .into_iter()
        .flat_map(|software| Way::ALL.map(|way| (software, way)))
        .filter(|(software, way)| way.fits(*software))
        .collect();
    let all = (prop::sample::select(fitting), any::<bool>(), history());
    let run = runner.run(&all, |((software, way), resident, history)| {
        lives_through(software, way, resident, &history);
        Ok(())
    });
    run.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn an_arm_that_its_slider_holds_has_nothing_left_to_do_once_it_is_released() {
    for software in SOFTWARE {
        for way in Way::ALL.into_iter().filter(|way| way.fits(software)) {
            for resident in [false, true] {
                let history = [(Deed::Slider(1), 41), (Deed::Request, 1_481), (Deed::Slider(0), 0)];
                lives_through(software, way, resident, &history);
            }
        }
    }
}

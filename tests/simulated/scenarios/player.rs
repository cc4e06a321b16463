//! Moves that the controller makes by itself in one of our programs: the delegated move and no other, and rest after
//! each end.

use outrigger_core::command::JointMove;
use outrigger_core::engine::ur::{ProgramEvent, UrEvent};
use outrigger_core::engine::{Engine, Event, Input};
use outrigger_core::mode::{Drive, Mirrored, Mode, MoveNumber};
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_wire::robot::{JointPositions, SoftwareVersion};

use super::{ms, secs};

/// Software versions on either side of each change in the execution of the controller's own moves.
const SOFTWARE: [SoftwareVersion; 5] = [
    SoftwareVersion::new(3, 0),
    SoftwareVersion::new(3, 2),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(10, 11),
];

const SPEED: f32 = 0.6;

fn setup(software: SoftwareVersion, resident: bool) -> Setup {
    let mut setup = Setup::new(software);
    Way::PLAYER.choose(&mut setup.config);
    setup.config.peer.program.resident = resident;
    setup
}

/// Calls `check` with a simulation of each software version. The arm is commanded and at rest.
fn each(resident: bool, mut check: impl FnMut(&str, &mut Rig<'_>)) {
    for software in SOFTWARE {
        for mut buffers in [Buffers::default(), Buffers::with_rtde()] {
            let mut rig = Rig::new(setup(software, resident), &mut buffers);
            rig.command();
            rig.run_for(ms(500));
            check(&software.to_string(), &mut rig);
        }
    }
}

fn base(rig: &Rig<'_>) -> f64 {
    rig.controller.truth().q[0]
}

/// Returns a move by `way` of the base joint and by half of it of the last joint, from the position of the arm.
fn by(rig: &Rig<'_>, way: f32) -> JointMove<6> {
    let mut to = rig.controller.truth().q.map(|q| q as f32);
    to[0] += way;
    to[5] += way / 2.0;
    JointMove::new(JointPositions(to), SPEED, 1.0).unwrap()
}

fn mirrored(rig: &Rig<'_>) -> Option<Mirrored> {
    rig.engine().evidence().mirrored.map(|held| held.value)
}

fn has_ended(rig: &Rig<'_>, number: MoveNumber) -> bool {
    mirrored(rig) == Some(Mirrored::Ended(number))
}

/// Returns the number of programs sent to the controller.
fn sent(rig: &Rig<'_>) -> usize {
    let is_sent = |event: &Event<UrEvent>| matches!(event, Event::Peer(UrEvent::Program(ProgramEvent::Sent)));
    rig.record().events.iter().filter(|(_, event)| is_sent(event)).count()
}

/// Delegates one move of the base joint by `way` \[rad\] to the controller, and runs until it has ended. Checks its
/// duration and its end.
fn make(rig: &mut Rig<'_>, way: f32) {
    let (asked, begun) = (by(rig, way), rig.now());
    let number = rig.delegate(asked).unwrap();
    assert!(rig.run_until(secs(10), |rig| has_ended(rig, number)), "{}", rig.record().story());
    let took = rig.now().since(begun).as_secs_f32();
    // The ramps take speed / acceleration longer.
    let whole = way.abs() / SPEED + SPEED + 0.2;
    assert!((whole - 0.2..whole + 0.35).contains(&took), "{took} s in place of {whole} s\n{}", rig.record().story());
    rig.run_for(ms(600));
    for (q, to) in rig.controller.truth().q.iter().zip(asked.to().iter()) {
        assert!((q - f64::from(to)).abs() < 2e-3, "{q} in place of {to}\n{}", rig.record().story());
    }
    assert_eq!(rig.engine().mode(), Mode::Command, "{}", rig.record().story());
}

#[test]
fn one_move_after_the_other_is_made_whole_and_shown_by_its_number() {
    each(false, |software, rig| {
        make(rig, 0.5);
        make(rig, -0.8);
        make(rig, 0.3);
        assert!(
            matches!(rig.engine().mode_machine().drive(), Drive::Delegated(number) if number.get() == 3),
            "{software}"
        );
        assert_eq!(sent(rig), 1, "{software}");
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
        rig.run_for(secs(1));
        assert!(rig.controller.truth().at_rest() && !rig.controller.program().0, "{software}");
        assert_eq!(rig.engine().latch(), None, "{software}");
    });
}

#[test]
fn a_move_shows_how_far_it_is() {
    each(false, |software, rig| {
        let (start, asked) = (base(rig), by(rig, 1.0));
        rig.delegate(asked).unwrap();
        for _ in 0..40 {
            rig.run_for(ms(50));
            let (share, shown) = (base(rig) - start, f64::from(rig.engine().peer().progress().unwrap_or_default()));
            assert!(
                (share - shown).abs() < 0.03,
                "{software}: {shown} of the way, and {share} of it is behind the arm"
            );
        }
    });
}

#[test]
fn a_release_in_mid_move_brings_the_arm_to_rest_and_the_next_one_needs_no_program() {
    each(true, |software, rig| {
        for round in 0..3 {
            let number = rig.delegate(by(rig, 1.0)).unwrap();
            rig.run_for(ms(1200));
            assert_eq!(mirrored(rig), Some(Mirrored::Running(number)), "{software}\n{}", rig.record().story());
            assert!(rig.controller.truth().qd[0] > 0.3, "{software}");
            let at = rig.now();
            rig.input(Input::Release);
            rig.run_to(Mode::Monitor);
            // v/a, or 0.6/2 s if the stop is the controller's own.
            let rest = rig.record().rest_after(at).expect("at rest");
            assert!(rest < ms(430), "{software}: {rest:?}\n{}", rig.record().story());
            assert!(has_ended(rig, number), "{software}: {:?}\n{}", mirrored(rig), rig.record().story());
            let rested = base(rig);
            rig.run_for(secs(1));
            assert!((base(rig) - rested).abs() < 1e-3, "{software} {round}");
            rig.command();
            rig.run_for(ms(300));
            make(rig, -0.7);
            rig.input(Input::Release);
            rig.run_to(Mode::Monitor);
            rig.command();
            rig.run_for(ms(300));
        }
        assert_eq!(sent(rig), 1, "{software}: one program for all of them\n{}", rig.record().story());
        assert_eq!(rig.engine().latch(), None, "{software}");
    });
}

#[test]
fn a_move_whose_end_is_asked_for_rests_on_its_way_and_the_next_one_begins_at_once() {
    each(false, |software, rig| {
        assert_eq!(rig.with_engine(Engine::end_move), Err(Reason::NotCommanding), "{software}");
        for _ in 0..3 {
            let start = base(rig);
            let number = rig.delegate(by(rig, 1.0)).unwrap();
            rig.run_for(ms(1200));
            assert!(rig.controller.truth().qd[0] > 0.3, "{software}");
            let at = rig.now();
            assert_eq!(rig.with_engine(Engine::end_move), Ok(()), "{software}");
            rig.run_for(secs(1));
            let rest = rig.record().rest_after(at).expect("at rest");
            assert!(rest < ms(430), "{software}: {rest:?}\n{}", rig.record().story());
            assert!(has_ended(rig, number), "{software}: {:?}", mirrored(rig));
            assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
            assert!((0.2..0.99).contains(&(base(rig) - start)), "{software}: {} of 1", base(rig) - start);
            assert_eq!(rig.with_engine(Engine::end_move), Err(Reason::NotCommanding), "{software}");
            make(rig, -0.5);
        }
        // Ended before it begins.
        let start = base(rig);
        let number = rig.delegate(by(rig, 1.0)).unwrap();
        assert_eq!(rig.with_engine(Engine::end_move), Ok(()), "{software}");
        rig.run_for(secs(1));
        assert!(has_ended(rig, number), "{software}: {:?}", mirrored(rig));
        assert!((base(rig) - start).abs() < 0.05, "{software}: {}", base(rig) - start);
        assert_eq!((sent(rig), rig.record().fallback()), (1, None), "{software}\n{}", rig.record().story());
    });
}

#[test]
fn the_slider_slows_a_move_and_holds_it_and_it_goes_on_by_itself() {
    each(false, |software, rig| {
        let asked = by(rig, 1.5);
        let number = rig.delegate(asked).unwrap();
        rig.run_for(ms(1200));
        rig.controller.act(Action::Slider(0.3));
        rig.run_for(ms(600));
        let qd = rig.controller.truth().qd[0];
        assert!((0.14..0.22).contains(&qd), "{software}: {qd}");
        rig.controller.act(Action::Slider(0.0));
        rig.run_for(secs(2));
        assert!(rig.controller.truth().at_rest(), "{software}");
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
        rig.controller.act(Action::Slider(1.0));
        assert!(rig.run_until(secs(10), |rig| has_ended(rig, number)), "{software}\n{}", rig.record().story());
        rig.run_for(ms(500));
        assert!((base(rig) - f64::from(asked.to().0[0])).abs() < 2e-3, "{software}");
    });
}

#[test]
fn a_pause_at_the_pendant_holds_the_move_and_a_protective_stop_ends_it() {
    each(false, |software, rig| {
        let asked = by(rig, 1.2);
        let number = rig.delegate(asked).unwrap();
        rig.run_for(ms(1200));
        rig.controller.act(Action::PauseProgram);
        rig.run_for(secs(2));
        assert!(rig.controller.truth().at_rest(), "{software}");
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}: it is not lost\n{}", rig.record().story());
        rig.controller.act(Action::ResumeProgram);
        assert!(rig.run_until(secs(10), |rig| has_ended(rig, number)), "{software}\n{}", rig.record().story());
        rig.run_for(ms(500));
        assert!((base(rig) - f64::from(asked.to().0[0])).abs() < 2e-3, "{software}");
    });
    each(false, |software, rig| {
        rig.delegate(by(rig, 1.2)).unwrap();
        rig.run_for(ms(1200));
        rig.controller.act(Action::ProtectiveStop);
        rig.run_for(secs(6));
        let story = rig.record().story();
        assert_eq!(
            rig.record().fallback().map(|(_, reason)| reason),
            Some(Reason::ProtectiveStop),
            "{software}\n{story}"
        );
        let rested = base(rig);
        rig.controller.act(Action::UnlockProtectiveStop);
        rig.controller.act(Action::ResumeProgram);
        rig.run_for(secs(3));
        assert!((base(rig) - rested).abs() < 1e-3, "{software}: nothing goes on\n{}", rig.record().story());
    });
}

#[test]
fn a_move_ends_within_the_time_out_of_a_read_where_we_vanish() {
    use outrigger_tests::cosim::CrashPoint;
    each(false, |software, rig| {
        rig.delegate(by(rig, 2.0)).unwrap();
        rig.run_for(ms(1500));
        let at = rig.now();
        rig.kill(CrashPoint::Silent);
        rig.run_for(secs(3));
        let rest = rig.record().rest_after(at).expect("at rest");
        assert!(rest < ms(40 + 24 + 300 + 60), "{software}: {rest:?}");
        assert!(!rig.controller.program().0, "{software}");
    });
}

#[test]
fn what_no_arm_may_do_is_refused_before_anything_goes_out() {
    each(false, |software, rig| {
        let there = |to: f32, speed: f32| {
            let mut goal = rig.controller.truth().q.map(|q| q as f32);
            goal[0] = to;
            JointMove::new(JointPositions(goal), speed, 1.0).unwrap()
        };
        let (far, fast) = (there(9.0, 0.5), there(0.5, 7.0));
        let fell = rig.record().fallback();
        assert_eq!(rig.delegate(far), Err(Reason::PositionLimit), "{software}");
        assert_eq!(rig.delegate(fast), Err(Reason::VelocityLimit), "{software}");
        make(rig, 0.2);
        let busy = rig.delegate(by(rig, 0.5)).unwrap();
        assert_eq!(rig.delegate(by(rig, 0.1)), Err(Reason::NotAtRest), "{software}");
        assert!(rig.run_until(secs(10), |rig| has_ended(rig, busy)), "{software}");
        assert_eq!(rig.record().fallback(), fell, "{software}");
    });
}

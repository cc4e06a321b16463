//! Motion by a hand or by a force: only while its requester renews it, and at rest after each end.

use outrigger_core::command::{ForceMode, Guidance, JointMove};
use outrigger_core::engine::ur::{ProgramEvent, UrEvent};
use outrigger_core::engine::{Event, GuideError, Input};
use outrigger_core::mode::{ClientNumber, Drive, GuideLimits, Mirrored, Mode, MoveNumber};
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Setpoint, Tolerances, Waypoint};
use outrigger_sim::arm::Drive as Drives;
use outrigger_sim::controller::Action;
use outrigger_sim::surface::Surface;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_wire::robot::{JointPositions, SoftwareVersion};
use outrigger_wire::time;

use super::{ms, secs};

/// One version of each generation that can run our programs.
const SOFTWARE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15), SoftwareVersion::new(10, 11)];

const WE: ClientNumber = ClientNumber(1);
const THEY: ClientNumber = ClientNumber(2);
/// The force and torque of a person who pushes the tool upwards \[N, Nm\].
const HAND: [f64; 6] = [0.0, 0.0, 10.0, 0.0, 0.0, 0.0];

fn setup(software: SoftwareVersion) -> Setup {
    let mut setup = Setup::new(software);
    Way::PLAYER.choose(&mut setup.config);
    setup
}

/// Calls `check` with a simulation of each software version. The arm is commanded and at rest.
fn each(mut check: impl FnMut(SoftwareVersion, &mut Rig<'_>)) {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(setup(software), &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        check(software, &mut rig);
    }
}

/// Returns a set-up with a level surface `distance` below the tool \[m\].
fn over(software: SoftwareVersion, distance: f64) -> Setup {
    let mut setup = setup(software);
    let mut buffers = Buffers::default();
    let rig = Rig::new(self::setup(software), &mut buffers);
    let [x, y, z] = rig.controller.truth().tool().position;
    setup.controller.surface = Surface::new([x, y, z - distance], [0.0, 0.0, 1.0], 20_000.0, 100.0);
    setup
}

fn guide(
    rig: &mut Rig<'_>,
    what: Guidance,
    asker: ClientNumber,
    limits: GuideLimits,
) -> Result<MoveNumber, GuideError> {
    rig.ask(|engine, now| engine.guide(what, asker, limits, now))
}

fn renew(rig: &mut Rig<'_>, asker: ClientNumber) -> Result<(), Reason> {
    rig.ask(|engine, now| engine.renew_guide(asker, now))
}

/// Runs for `halves` half seconds, and renews the client's request for freedrive or force mode after each.
fn run_renewed(rig: &mut Rig<'_>, halves: u32) {
    for _ in 0..halves {
        rig.run_for(ms(500));
        assert_eq!(renew(rig, WE), Ok(()), "{}", rig.record().story());
    }
}

fn height(rig: &Rig<'_>) -> f64 {
    rig.controller.truth().tool().position[2]
}

fn mirrored(rig: &Rig<'_>) -> Option<Mirrored> {
    rig.engine().evidence().mirrored.map(|held| held.value)
}

/// Checks that the arm stays at rest, even if it is pushed.
fn rests(rig: &mut Rig<'_>, software: SoftwareVersion) {
    let before = rig.controller.truth().q;
    rig.run_for(secs(1));
    let after = rig.controller.truth().q;
    let moved = before.iter().zip(after).map(|(before, after)| (before - after).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-4, "{software}: {moved} rad\n{}", rig.record().story());
}

fn freed(rig: &mut Rig<'_>) -> MoveNumber {
    let number = guide(rig, Guidance::Freedrive, WE, GuideLimits::default()).expect("at rest in Command");
    rig.run_for(ms(400));
    assert_eq!(mirrored(rig), Some(Mirrored::Running(number)), "{}", rig.record().story());
    number
}

#[test]
fn freedrive_follows_a_hand_and_ends_a_second_after_its_renewal_stops() {
    each(|software, rig| {
        freed(rig);
        renew(rig, WE).expect("ours");
        let before = height(rig);
        rig.controller.act(Action::Push(HAND));
        run_renewed(rig, 2);
        let after = height(rig);
        assert!(after - before > 0.05, "{software}: {before} to {after}\n{}", rig.record().story());
        let last = rig.now();
        rig.run_to(Mode::Stopping);
        let ended = rig.now().since(last);
        assert!((ms(1_000)..ms(1_010)).contains(&ended), "{software}: {ended:?}");
        rig.run_to(Mode::Monitor);
        assert!(rig.now().since(last) < ms(1_600), "{software}\n{}", rig.record().story());
        assert_eq!(rig.engine().latch(), Some(Reason::NotRenewed), "{software}\n{}", rig.record().story());
        rests(rig, software);
        assert_eq!(rig.engine().mode(), Mode::Monitor, "nothing resumes by itself");
    });
}

#[test]
fn another_askers_renewal_does_not_count() {
    each(|software, rig| {
        freed(rig);
        rig.controller.act(Action::Push(HAND));
        let begun = rig.now();
        for _ in 0..3 {
            assert_eq!(renew(rig, THEY), Err(Reason::NotYours), "{software}");
            rig.run_for(ms(200));
        }
        rig.run_to(Mode::Monitor);
        assert!(rig.now().since(begun) < ms(1_200), "{software}\n{}", rig.record().story());
        assert_eq!(rig.engine().latch(), Some(Reason::NotRenewed), "{software}");
        assert_eq!(renew(rig, WE), Err(Reason::NotCommanding), "{software}");
        rests(rig, software);
    });
}

#[test]
fn it_ends_when_told_to_and_the_arm_rests_in_command() {
    each(|software, rig| {
        for round in 0..2 {
            let number = freed(rig);
            rig.controller.act(Action::Push(HAND));
            rig.run_for(ms(300));
            rig.ask(|engine, _| engine.end_guide()).expect("it goes on");
            rig.run_for(ms(600));
            assert_eq!(mirrored(rig), Some(Mirrored::Ended(number)), "{software} {round}\n{}", rig.record().story());
            assert_eq!(rig.engine().mode(), Mode::Command, "{software} {round}\n{}", rig.record().story());
            rests(rig, software);
            assert_eq!(
                rig.engine().mode_machine().drive(),
                Drive::Delegated(number),
                "the law does not go on by itself"
            );
            rig.controller.act(Action::Push([0.0; 6]));
            rig.run_for(ms(300));
        }
        assert_eq!(rig.engine().latch(), None, "{software}");
    });
}

#[test]
fn every_other_end_brings_the_arm_to_rest() {
    let slow = GuideLimits { tool_speed: 0.02, ..GuideLimits::default() };
    let near = GuideLimits { deviation: 0.02, ..GuideLimits::default() };
    type End = fn(&mut Rig<'_>);
    let ends: [(&str, GuideLimits, End, &[Reason]); 5] = [
        ("release", GuideLimits::default(), |rig| rig.input(Input::Release), &[]),
        ("too fast", slow, |_| {}, &[Reason::GuideLimit]),
        ("too far", near, |_| {}, &[Reason::GuideLimit]),
        (
            "protective stop",
            GuideLimits::default(),
            |rig| rig.controller.act(Action::ProtectiveStop),
            &[Reason::ProtectiveStop],
        ),
        (
            "cable",
            GuideLimits::default(),
            |rig| rig.cut_cable(Some(secs(1))),
            &[Reason::StateStale, Reason::Unacknowledged],
        ),
    ];
    for software in SOFTWARE {
        for (name, limits, end, latch) in ends {
            let mut buffers = Buffers::default();
            let mut rig = Rig::new(setup(software), &mut buffers);
            rig.command();
            rig.run_for(ms(500));
            guide(&mut rig, Guidance::Freedrive, WE, limits).expect("at rest in Command");
            rig.run_for(ms(400));
            rig.controller.act(Action::Push(HAND));
            rig.run_for(ms(100));
            end(&mut rig);
            rig.run_for(ms(900));
            assert_ne!(rig.engine().mode(), Mode::Command, "{software} {name}\n{}", rig.record().story());
            let latched = rig.engine().latch();
            let expected = latched.map_or(latch.is_empty(), |reason| latch.contains(&reason));
            assert!(expected, "{software} {name}: {latched:?}\n{}", rig.record().story());
            rests(&mut rig, software);
        }
    }
}

#[test]
fn nobody_guides_an_arm_that_is_not_commanded_or_has_no_program_for_it() {
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(setup(SOFTWARE[1]), &mut buffers);
    rig.ready();
    let begin = |rig: &mut Rig<'_>| guide(rig, Guidance::Freedrive, WE, GuideLimits::default());
    assert_eq!(begin(&mut rig), Err(GuideError::Refused(Reason::NotCommanding)));
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(Setup::new(SOFTWARE[1]), &mut buffers);
    rig.command();
    assert_eq!(begin(&mut rig), Err(GuideError::Refused(Reason::NoSuchProgram)), "the path is text");
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(setup(SOFTWARE[1]), &mut buffers);
    rig.command();
    rig.run_for(ms(500));
    let none = Guidance::Force(ForceMode::pushing([0.0; 3]));
    assert!(matches!(guide(&mut rig, none, WE, GuideLimits::default()), Err(GuideError::Force(_))));
    let long = GuideLimits { renew_within: time::Duration::from_secs(3_600), ..GuideLimits::default() };
    assert!(matches!(guide(&mut rig, Guidance::Freedrive, WE, long), Err(GuideError::Limits(_))));
}

/// A force mode that presses downwards with 20 N.
const PRESS: Guidance = Guidance::Force(ForceMode {
    selection: [false, false, true, false, false, false],
    limits: [0.1, 0.1, 0.15, 0.3, 0.3, 0.3],
    gain_scaling: 1.0,
    ..ForceMode::pushing([0.0, 0.0, -20.0])
});

#[test]
fn force_mode_presses_with_the_wanted_force_until_its_renewal_stops() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut setup = over(software, 0.004);
        // Real drives make a contact bounce.
        setup.controller.drive = Drives::default();
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        guide(&mut rig, PRESS, WE, GuideLimits::default()).expect("at rest in Command");
        run_renewed(&mut rig, 8);
        for _ in 0..50 {
            rig.run_for(ms(20));
            renew(&mut rig, WE).expect("ours");
            let force = rig.controller.force().measured();
            assert!((force[2] - 20.0).abs() < 3.0, "{software}: {force:?}\n{}", rig.record().story());
        }
        let last = rig.now();
        rig.run_to(Mode::Monitor);
        assert!(rig.now().since(last) < ms(1_600), "{software}\n{}", rig.record().story());
        assert_eq!(rig.engine().latch(), Some(Reason::NotRenewed), "{software}");
        rests(&mut rig, software);
    }
}

#[test]
fn a_pause_at_the_pendant_ends_it_and_resuming_lets_nothing_press_again() {
    for (what, guidance) in [("freedrive", Guidance::Freedrive), ("force", PRESS)] {
        for software in SOFTWARE {
            let mut buffers = Buffers::with_rtde();
            let mut rig = Rig::new(setup(software), &mut buffers);
            rig.command();
            rig.run_for(ms(500));
            guide(&mut rig, guidance, WE, GuideLimits::default()).expect("at rest in Command");
            rig.controller.act(Action::Push(HAND));
            let before = height(&rig);
            run_renewed(&mut rig, 1);
            let moved = (height(&rig) - before).abs();
            assert!(moved > 1e-3, "{software} {what}: {moved} m\n{}", rig.record().story());
            rig.controller.act(Action::PauseProgram);
            rig.run_for(ms(500));
            let story = rig.record().story();
            let why = rig.record().fallback().map(|(_, reason)| reason);
            assert_eq!((why, rig.engine().latch()), (Some(Reason::ProgramPaused), None), "{software} {what}\n{story}");
            rig.controller.act(Action::ResumeProgram);
            rests(&mut rig, software);
            assert_ne!(rig.engine().mode(), Mode::Command, "{software} {what}\n{}", rig.record().story());
        }
    }
}

#[test]
fn a_force_acts_beside_a_move_takes_its_axis_from_it_and_ends_with_it() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(over(software, 0.002), &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        let mut to = rig.controller.truth().q.map(|q| q as f32);
        // The base joint moves the tool sideways over the surface.
        to[0] += 0.4;
        let asked = JointMove::new(JointPositions(to), 0.1, 0.5).expect("a move");
        let number = rig.delegate(asked).expect("at rest in Command");
        rig.run_for(ms(400));
        assert_eq!(guide(&mut rig, PRESS, WE, GuideLimits::default()), Ok(number), "{software}");
        assert!(guide(&mut rig, PRESS, WE, GuideLimits::default()).is_err(), "once is enough");
        run_renewed(&mut rig, 4);
        for _ in 0..25 {
            rig.run_for(ms(20));
            renew(&mut rig, WE).expect("ours");
            let force = rig.controller.force().measured();
            assert!((force[2] - 20.0).abs() < 3.0, "{software}: {force:?}\n{}", rig.record().story());
        }
        for _ in 0..8 {
            rig.run_for(ms(250));
            let _ = renew(&mut rig, WE);
        }
        assert_eq!(mirrored(&rig), Some(Mirrored::Ended(number)), "{software}\n{}", rig.record().story());
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
        assert!((rig.controller.truth().q[0] - f64::from(to[0])).abs() < 0.01, "{software}: it went on");
        assert!(!rig.engine().is_guided(), "it ended with the move");
        rests(&mut rig, software);
        // Another move, whose renewal lapses in the middle.
        to[0] -= 0.4;
        let back = JointMove::new(JointPositions(to), 0.1, 0.5).expect("a move");
        rig.delegate(back).expect("at rest in Command");
        rig.run_for(ms(400));
        guide(&mut rig, PRESS, WE, GuideLimits::default()).expect("a move runs");
        let last = rig.now();
        rig.run_to(Mode::Monitor);
        assert!(rig.now().since(last) < ms(1_600), "{software}\n{}", rig.record().story());
        assert_eq!(rig.engine().latch(), Some(Reason::NotRenewed), "{software}");
        rests(&mut rig, software);
    }
}

#[test]
fn a_contact_of_the_tool_ends_a_move_within_two_cycles() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(over(software, 0.02), &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        rig.ask(|engine, _| engine.stop_at_contact(true)).expect("this software tells of contacts");
        let mut to = rig.controller.truth().q.map(|q| q as f32);
        // The shoulder moves the tool downwards.
        to[1] -= 0.5;
        let asked = JointMove::new(JointPositions(to), 0.1, 0.5).expect("a move");
        let number = rig.delegate(asked).expect("at rest in Command");
        // The controller's criterion of a contact: 5 N against the tool's direction of motion.
        let touched = rig.run_until(secs(5), |rig| {
            let [x, y, z, ..] = rig.controller.truth().tool_speed();
            rig.controller.force().contact(Some([x, y, z]), 5.0) > 0
        });
        assert!(touched, "{software}: {:?} {}\n{}", rig.controller.truth().q, height(&rig), rig.record().story());
        let (at, period) = (rig.now(), rig.controller.period());
        rig.run_for(secs(1));
        let before = rig.record().motion_at(at).expect("a cycle").target_speed();
        let mut later = rig.record().motion.iter().filter(|motion| motion.at > at);
        let slower = later.find(|motion| motion.target_speed() < before - 1e-6).expect("it slows down").at.since(at);
        assert!(slower <= 2 * period, "{software}: {slower:?} of cycles of {period:?}\n{}", rig.record().story());
        assert_eq!(mirrored(&rig), Some(Mirrored::Ended(number)), "{software}\n{}", rig.record().story());
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
        let told =
            rig.record().events.iter().any(|(_, event)| {
                matches!(event, Event::Peer(UrEvent::Program(ProgramEvent::Contact { cycles: 1.. })))
            });
        assert!(told, "{software}\n{}", rig.record().story());
        rests(&mut rig, software);
    }
}

#[test]
fn a_contact_of_the_tool_ends_a_motion_of_legs_and_its_tolerances_are_none_of_it() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(over(software, 0.02), &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        rig.ask(|engine, _| engine.stop_at_contact(true)).expect("this software tells of contacts");
        let from = rig.controller.truth().q.map(|q| q as f32);
        let mut to = from;
        // The shoulder moves the tool downwards, at 0.15 rad/s in the middle.
        to[1] -= 0.5;
        let asked = JointMove::along(JointPositions(from), 0.2).expect("a move");
        let number = rig.delegate(asked).expect("at rest in Command");
        // The tolerance is less than the distance to the contact: after it, the program reports no time of the path.
        let tolerances = Tolerances { path: JointPositions([0.02; 6]), ..Tolerances::default() };
        rig.ask(|engine, _| engine.hold_to(tolerances)).expect("it leads on");
        let setpoint = Setpoint { positions: JointPositions(to), ..Setpoint::default() };
        rig.lead_on(&Waypoint { setpoint, accelerations: None, at: time::Duration::from_secs(5) }, true)
            .expect("there is room");
        let ended = rig.run_until(secs(6), |rig| mirrored(rig) == Some(Mirrored::Ended(number)));
        assert!(ended, "{software}\n{}", rig.record().story());
        rig.run_for(ms(500));
        let off = f64::from(to[1]) - rig.controller.truth().q[1];
        assert!(off.abs() > 0.2, "{software}: nothing was in the way");
        assert_eq!((rig.engine().mode(), rig.engine().latch()), (Mode::Command, None), "{software}");
        let contacts =
            rig.record().events.iter().filter(|(_, event)| {
                matches!(event, Event::Peer(UrEvent::Program(ProgramEvent::Contact { cycles: 1.. })))
            });
        assert_eq!(contacts.count(), 1, "{software}\n{}", rig.record().story());
        rests(&mut rig, software);
    }
}

#[test]
fn contacts_are_not_told_of_by_older_software() {
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(setup(SoftwareVersion::new(3, 5)), &mut buffers);
    rig.command();
    assert_eq!(rig.ask(|engine, _| engine.stop_at_contact(true)), Err(Reason::PathUnfit));
}

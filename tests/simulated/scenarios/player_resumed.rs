//! A motion that the player makes, stopped on its way, resumed on request and checked against its tolerances,
//! measured on the true position of the arm.

use outrigger_core::engine::{Input, LinkId};
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Progress, Tolerances};
use outrigger_sim::controller::Action;
use outrigger_tests::cosim::{Buffers, Rig, Setup, Way};
use outrigger_wire::robot::{JointPositions, SoftwareVersion};
use outrigger_wire::time as core;

use super::motions::{HELD, MOTION, Stop, TOLERANCES, line, off};
use super::played::Played;
use super::{ms, secs};

const SOFTWARE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15), SoftwareVersion::new(10, 11)];

fn setup(software: SoftwareVersion) -> Setup {
    let mut setup = Setup::new(software);
    Way::PLAYER.choose(&mut setup.config);
    setup
}

/// Returns a simulation in which the motion has been executed for a given time, the motion, and its path.
fn moving<'m>(
    setup: Setup,
    tolerances: Tolerances<6>,
    buffers: &'m mut Buffers,
    long: std::time::Duration,
) -> (Rig<'m>, Played, Vec<[f64; 6]>) {
    let mut rig = Rig::new(setup, buffers);
    rig.command();
    let line = line(&MOTION, &rig.controller.truth().q);
    let mut played = Played::from_here(&rig, &MOTION, tolerances);
    played.run_for(&mut rig, long);
    (rig, played, line)
}

/// Runs to the end of the motion. Checks that the arm is commanded all the time.
fn ends(rig: &mut Rig<'_>, played: &mut Played, what: &str) {
    let done = |played: &Played, rig: &Rig<'_>| {
        played.progress() == Progress::Finished || rig.engine().mode() != Mode::Command || played.refused.is_some()
    };
    let done = played.run_until(rig, secs(30), done);
    assert!(done, "{what}: it does not end: {:?}\n{}", played.elapsed(), rig.record().story());
    assert_eq!(played.progress(), Progress::Finished, "{what}: {:?}\n{}", played.refused, rig.record().story());
    played.run_for(rig, ms(300));
    assert_eq!(rig.engine().mode(), Mode::Command, "{what}\n{}", rig.record().story());
}

/// Checks that the arm stayed on its path all the time, and is at its end.
fn was_on(rig: &Rig<'_>, line: &[[f64; 6]], what: &str) {
    let worst = rig.record().motion.iter().map(|motion| off(line, &motion.q)).fold(0.0, f64::max);
    let end = off(&line[line.len() - 1..], &rig.controller.truth().q);
    println!("{what}: {:.1} mrad off its path at worst, {:.1} mrad off its end", worst * 1e3, end * 1e3);
    assert!(worst < 0.02, "{what}: {worst} rad off its path\n{}", rig.record().story());
    assert!(end < 0.005, "{what}: {end} rad off its end\n{}", rig.record().story());
}

#[test]
fn a_slider_at_30_percent_and_at_0_holds_it_on_its_path_and_it_goes_on_by_itself() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let (mut rig, mut played, line) = moving(setup(software), TOLERANCES, &mut buffers, ms(2_000));
        rig.controller.act(Action::Slider(0.3));
        played.run_for(&mut rig, secs(2));
        rig.controller.act(Action::Slider(0.0));
        played.run_for(&mut rig, secs(2));
        assert!(rig.controller.truth().at_rest() && played.progress() == Progress::Running, "{software}");
        rig.controller.act(Action::Slider(1.0));
        let what = format!("{software}, slider");
        ends(&mut rig, &mut played, &what);
        was_on(&rig, &line, &what);
        assert_eq!(rig.record().fallback(), None, "{what}\n{}", rig.record().story());
    }
}

#[test]
fn a_pause_holds_it_and_it_goes_on_with_the_program() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let (mut rig, mut played, line) = moving(setup(software), TOLERANCES, &mut buffers, ms(2_000));
        rig.controller.act(Action::PauseProgram);
        played.run_for(&mut rig, secs(3));
        assert!(rig.controller.truth().at_rest() && played.progress() == Progress::Running, "{software}");
        rig.controller.act(Action::ResumeProgram);
        let what = format!("{software}, pause");
        ends(&mut rig, &mut played, &what);
        was_on(&rig, &line, &what);
        assert_eq!(rig.record().fallback(), None, "{what}\n{}", rig.record().story());
    }
}

#[test]
fn over_30003_a_pause_holds_it_or_ends_it_for_good() {
    for software in SOFTWARE {
        // The pause is reported ten times a second: the sooner the next report, the more likely it arrives before the
        // mirror is too old.
        for phase in (0..100).step_by(20) {
            let mut buffers = Buffers::default();
            let (mut rig, mut played, _) = moving(setup(software), TOLERANCES, &mut buffers, ms(2_000 + phase));
            rig.controller.act(Action::PauseProgram);
            played.run_for(&mut rig, secs(1));
            let what = format!("{software}, {phase} ms");
            let why = rig.record().fallback().map(|(_, reason)| reason);
            assert!(matches!(why, None | Some(Reason::MoveUnseen)), "{what}: {why:?}\n{}", rig.record().story());
            let stood = rig.controller.truth().q;
            rig.controller.act(Action::ResumeProgram);
            played.run_for(&mut rig, ms(500));
            let moved = off(&[stood], &rig.controller.truth().q);
            assert_eq!(moved > 1e-3, why.is_none(), "{what}: {moved} rad\n{}", rig.record().story());
        }
    }
}

#[test]
fn a_paused_program_that_answers_nothing_is_no_controller_that_does_not_acknowledge() {
    for software in SOFTWARE {
        for pauses in [true, false] {
            let mut buffers = Buffers::with_rtde();
            let (mut rig, mut played, _) = moving(setup(software), TOLERANCES, &mut buffers, ms(2_000));
            if pauses {
                rig.controller.act(Action::PauseProgram);
                played.run_for(&mut rig, secs(1));
            }
            // Linux delays an acknowledgement by 40 ms and more if there is no answer to send.
            rig.input(Input::Unacked { link: LinkId::REVERSE, bytes: 112, age: core::Duration::from_millis(60) });
            let story = rig.record().story();
            let expected = if pauses { (Mode::Command, None) } else { (Mode::Stopping, Some(Reason::Unacknowledged)) };
            assert_eq!((rig.engine().mode(), rig.engine().latch()), expected, "{software}\n{story}");
        }
    }
}

#[test]
fn after_a_long_pause_and_a_stop_it_goes_on_by_word_alone_from_where_it_stands() {
    for software in SOFTWARE {
        for stop in Stop::ALL {
            let what = format!("{software}, {stop:?}");
            let mut buffers = Buffers::with_rtde();
            let (mut rig, mut played, line) = moving(setup(software), TOLERANCES, &mut buffers, ms(2_000));
            assert_eq!(played.progress(), Progress::Running, "{what}\n{}", rig.record().story());
            stop.happens(&mut rig);
            // A pause is held for 10 s.
            played.run_for(&mut rig, if stop == Stop::Pause { secs(11) } else { secs(1) });
            let (stood, left) = (rig.controller.truth().q, played.elapsed());
            assert!(left > core::Duration::from_millis(300), "{what}: {left:?}\n{}", rig.record().story());
            stop.is_over(&mut rig);
            played.run_for(&mut rig, ms(100));
            let story = rig.record().story();
            let stands =
                |rig: &Rig<'_>| off(&[stood], &rig.controller.truth().q) < 1e-3 && rig.controller.truth().at_rest();
            assert!(stands(&rig), "{what}: nothing goes on by itself\n{story}");
            assert_eq!((played.progress(), played.elapsed()), (Progress::Suspended, left), "{what}\n{story}");
            if stop == Stop::Pause {
                // Not a fault, and not a pause of the speed slider.
                let why = rig.record().fallback().map(|(_, reason)| reason);
                assert_eq!((why, rig.engine().latch()), (Some(Reason::ProgramPaused), None), "{what}\n{story}");
            }
            if rig.engine().latch().is_some() {
                rig.resume();
                assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}: not acknowledged\n{story}");
                rig.input(Input::Acknowledge);
            }
            rig.ready();
            // After a request without resuming, the arm is held at its position.
            rig.request();
            rig.run_to(Mode::Command);
            played.run_for(&mut rig, ms(500));
            let moved = off(&[stood], &rig.controller.truth().q);
            assert!(moved < HELD, "{what}: {moved} rad\n{}", rig.record().story());
            assert_eq!(played.progress(), Progress::Suspended, "{what}");
            rig.input(Input::Release);
            rig.run_to(Mode::Monitor);
            rig.ready();
            rig.resume();
            rig.run_to(Mode::Command);
            ends(&mut rig, &mut played, &what);
            was_on(&rig, &line, &what);
        }
    }
}

/// Returns a set-up with drives whose joints turn by this fraction more than commanded.
fn with_drives_off_by(software: SoftwareVersion, share: f64) -> Setup {
    let mut setup = setup(software);
    setup.controller.drive.velocity_error = share;
    setup
}

/// Runs until commanding ends. Returns the reason, and the motion's own time at the end.
fn falls(rig: &mut Rig<'_>, played: &mut Played, what: &str) -> (Reason, core::Duration) {
    played.run_until(rig, secs(30), |_, rig| rig.engine().mode() != Mode::Command);
    let story = rig.record().story();
    let (fell, reason) = rig.record().fallback().unwrap_or_else(|| panic!("{what}: nothing ends it\n{story}"));
    played.run_for(rig, secs(1));
    let rest = rig.record().rest_after(fell).unwrap_or_else(|| panic!("{what}: it never rests\n{story}"));
    assert!(rest < ms(300), "{what}: {rest:?}\n{story}");
    (reason, played.elapsed())
}

#[test]
fn an_arm_that_leaves_its_path_is_stopped_by_that_name() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let path = JointPositions([0.03, 0.1, 0.1, 0.1, 0.1, 0.1]);
        let tolerances = Tolerances { path, ..TOLERANCES };
        let (mut rig, mut played, _) = moving(with_drives_off_by(software, 0.1), tolerances, &mut buffers, secs(1));
        let what = format!("{software}, path");
        let (reason, elapsed) = falls(&mut rig, &mut played, &what);
        assert_eq!((reason, played.progress()), (Reason::PathTolerance, Progress::Suspended), "{what}");
        // The first joint moves by 0.3 rad in 1.2 s, with an error of 0.03 rad.
        assert!((0.9..1.9).contains(&elapsed.as_secs_f64()), "{what}: {elapsed:?}\n{}", rig.record().story());
        // The joints are off to different sides, so the arm is at no point of its path: a request alone does not move
        // it.
        played.tolerances.path = JointPositions([2e-3; 6]);
        let stood = rig.controller.truth().q;
        rig.input(Input::Acknowledge);
        rig.ready();
        rig.resume();
        rig.run_to(Mode::Command);
        played.run_for(&mut rig, secs(1));
        assert_eq!((played.refused, played.progress()), (Some(Reason::PathTolerance), Progress::Suspended), "{what}");
        assert!(off(&[stood], &rig.controller.truth().q) < HELD, "{what}\n{}", rig.record().story());
    }
}

#[test]
fn the_goal_is_waited_for_by_the_motions_own_time_and_for_ever_where_any_is_allowed() {
    for software in SOFTWARE {
        for slider in [1.0, 0.5] {
            let mut buffers = Buffers::with_rtde();
            let goal_time = Some(core::Duration::from_millis(500));
            let tolerances = Tolerances { goal: JointPositions([0.01; 6]), goal_time, ..TOLERANCES };
            let setup = with_drives_off_by(software, 0.05);
            let (mut rig, mut played, _) = moving(setup, tolerances, &mut buffers, secs(1));
            let what = format!("{software}, goal, slider at {slider}");
            let whole = played.plan[played.plan.len() - 1].at;
            assert!(played.run_until(&mut rig, secs(10), |played, _| played.elapsed() >= whole), "{what}");
            rig.controller.act(Action::Slider(slider));
            let ended = rig.now();
            let (reason, elapsed) = falls(&mut rig, &mut played, &what);
            assert_eq!((reason, elapsed), (Reason::GoalTolerance, whole), "{what}\n{}", rig.record().story());
            let waited = rig.record().fallback().map(|(at, _)| at.since(ended).as_secs_f64());
            let expected = 0.5 / slider;
            assert!(
                waited.is_some_and(|waited| (expected - 0.05..expected + 0.1).contains(&waited)),
                "{what}: {waited:?}"
            );
        }
        let mut buffers = Buffers::with_rtde();
        let tolerances = Tolerances { goal: JointPositions([0.01; 6]), goal_time: None, ..TOLERANCES };
        let (mut rig, mut played, _) = moving(with_drives_off_by(software, 0.05), tolerances, &mut buffers, secs(9));
        let late = rig.engine().tolerated().map(|watch| watch.late().as_secs_f32());
        let what = format!("{software}: {late:?}, {}", rig.record().story());
        assert_eq!((played.progress(), rig.engine().mode()), (Progress::Running, Mode::Command), "{what}");
        assert!(late.is_some_and(|late| late > 3.0), "{what}");
        played.run_for(&mut rig, secs(1));
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
    }
}

//! Stop and pause pressed at the pendant, while the text of every cycle is a new program.

use std::num::NonZeroU32;

use outrigger_core::engine::Event;
use outrigger_core::mode::{Mode, PendantStop};
use outrigger_core::robot::Reason;
use outrigger_sim::controller::{Action, ProgramTold};
use outrigger_tests::cosim::{Buffers, Command, REST, Rig, Setup, core_time};
use outrigger_wire::robot::SoftwareVersion;

use super::{ms, secs};

/// Software versions with RTDE: the oldest, the newest of CB3, and an e-Series version.
const SOFTWARE: [SoftwareVersion; 3] =
    [SoftwareVersion::new(3, 4), SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];

/// Returns a simulation whose arm has moved for a second, just after the last command has arrived.
fn moving<'m>(setup: Setup, buffers: &'m mut Buffers) -> Rig<'m> {
    let mut rig = Rig::new(setup, buffers);
    rig.command();
    rig.run_for(secs(1));
    rig.run_past_a_command();
    rig.run_for(ms(1) / 2);
    rig
}

fn overridden(rig: &Rig<'_>) -> bool {
    rig.record().events.iter().any(|(_, event)| *event == Event::PendantOverridden)
}

/// Checks that commanding ended within three cycles, for this reason, and that a request alone is enough to continue.
fn ends_as_a_release(rig: &mut Rig<'_>, begun: outrigger_sim::time::SimTime, reason: Reason, what: &str) {
    let (fell, why) = rig.record().fallback().unwrap_or_else(|| panic!("{what}\n{}", rig.record().story()));
    let what = format!("{what}\n{}", rig.record().story());
    assert!(why == reason && fell >= begun, "{why:?}: {what}");
    assert!(fell.since(begun) <= rig.controller.period() * 3 + ms(1), "{:?}: {what}", fell.since(begun));
    assert_eq!((rig.engine().mode(), rig.engine().latch()), (Mode::Monitor, None), "{what}");
    assert!(rig.controller.truth().at_rest(), "{what}");
    rig.ready();
    rig.request();
    rig.run_to(Mode::Command);
}

#[test]
fn a_stop_at_the_pendant_ends_commanding_and_nothing_more_is_said() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let mut rig = moving(Setup::sweep(software, 0.5), &mut buffers);
        let begun = rig.now();
        rig.controller.act(Action::StopProgram);
        rig.run_for(secs(2));
        let what = format!("{software}\n{}", rig.record().story());
        assert!(!overridden(&rig), "{what}");
        assert_eq!(rig.record().commands_since(begun).count(), 0, "{what}");
        ends_as_a_release(&mut rig, begun, Reason::ProgramStopped, &what);
    }
}

#[test]
fn a_pause_at_the_pendant_ends_commanding_and_resuming_continues_nothing() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let mut rig = moving(Setup::sweep(software, 0.5), &mut buffers);
        let begun = rig.now();
        rig.controller.act(Action::PauseProgram);
        rig.run_for(secs(2));
        let what = format!("{software}\n{}", rig.record().story());
        let said: Vec<&Command> = rig.record().commands_since(begun).collect();
        assert!(said.len() == 1 && said[0].stops(), "{said:?}, {what}");
        rig.controller.act(Action::ResumeProgram);
        let resumed = rig.now();
        rig.run_for(secs(1));
        assert!(rig.record().motion.iter().all(|motion| motion.at < resumed || motion.speed() < REST), "{what}");
        ends_as_a_release(&mut rig, begun, Reason::ProgramPaused, &what);
    }
}

#[test]
fn a_stop_while_arming_is_a_release_too() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(Setup::sweep(software, 0.5), &mut buffers);
        rig.ready();
        rig.request();
        rig.run_for(rig.controller.period() * 40);
        rig.run_past_a_packet();
        rig.run_for(ms(1) / 2);
        assert_eq!(rig.engine().mode(), Mode::Arming, "{software}");
        let begun = rig.now();
        rig.controller.act(Action::StopProgram);
        rig.run_for(secs(1));
        ends_as_a_release(&mut rig, begun, Reason::ProgramStopped, &format!("{software}"));
    }
}

#[test]
fn a_program_that_flickers_now_and_then_is_no_stop_and_hides_none() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let mut setup = Setup::sweep(software, 0.2);
        setup.controller.flicker = NonZeroU32::new(150);
        let mut rig = moving(setup, &mut buffers);
        rig.run_for(secs(6));
        let what = format!("{software}\n{}", rig.record().story());
        assert_eq!((rig.engine().mode(), overridden(&rig)), (Mode::Command, false), "{what}");
        rig.run_past_a_command();
        rig.run_for(ms(1) / 2);
        let begun = rig.now();
        rig.controller.act(Action::StopProgram);
        rig.run_for(secs(2));
        ends_as_a_release(&mut rig, begun, Reason::ProgramStopped, &what);
    }
}

#[test]
fn where_a_stop_cannot_be_told_from_our_own_text_it_is_overridden_and_that_is_said() {
    for software in SOFTWARE {
        // Either because the program flickers all the time, or because its state is sent ten times a second only.
        for flickers in [true, false] {
            let mut buffers = if flickers { Buffers::with_rtde() } else { Buffers::default() };
            let mut setup = Setup::sweep(software, 0.5);
            setup.controller.flicker = NonZeroU32::new(3).filter(|_| flickers);
            let mut rig = moving(setup, &mut buffers);
            let what = format!("{software}, flickers {flickers}");
            assert!(overridden(&rig), "{what}\n{}", rig.record().story());
            assert!(rig.engine().overrides_pendant(), "{what}");
            rig.controller.act(Action::StopProgram);
            rig.run_for(ms(400));
            assert_eq!(rig.engine().mode(), Mode::Command, "{what}\n{}", rig.record().story());
        }
    }
}

#[test]
fn where_a_stop_cannot_be_told_from_our_own_text_and_may_not_be_overridden_nothing_moves() {
    for software in SOFTWARE {
        for flickers in [true, false] {
            let mut buffers = if flickers { Buffers::with_rtde() } else { Buffers::default() };
            let mut setup = Setup::sweep(software, 0.5);
            setup.config.mode.pendant.stop = PendantStop::Seen;
            setup.controller.flicker = NonZeroU32::new(3).filter(|_| flickers);
            let mut rig = Rig::new(setup, &mut buffers);
            rig.run_for(secs(5));
            let unmet: Vec<Reason> = rig.engine().unmet(core_time(rig.now())).iter().collect();
            // The flicker is only seen once a text runs.
            assert_eq!(unmet.contains(&Reason::PendantUnseen), !flickers, "{software}: {unmet:?}");
            rig.request();
            rig.run_for(secs(3));
            let what = format!("{software}, flickers {flickers}\n{}", rig.record().story());
            assert_eq!((rig.engine().mode(), overridden(&rig)), (Mode::Monitor, false), "{what}");
            assert!(!flickers || rig.engine().latch() == Some(Reason::PendantUnseen), "{what}");
            assert!(rig.record().motion.iter().all(|motion| motion.speed() < REST), "{what}");
        }
    }
}

/// Software versions that report programs only in state messages, ten times a second.
const TOLD_SELDOM: [SoftwareVersion; 3] =
    [SoftwareVersion::new(1, 8), SoftwareVersion::new(3, 0), SoftwareVersion::new(3, 3)];

/// Returns a set-up that moves the base joint, with a controller that reports programs in this manner.
fn told(software: SoftwareVersion, how: ProgramTold, stop: PendantStop) -> Setup {
    let mut setup = Setup::sweep(software, 0.5);
    setup.controller.program_told = how;
    setup.config.mode.pendant.stop = stop;
    setup
}

#[test]
fn ten_states_a_second_show_no_stop_whatever_cycles_they_tell_of() {
    for software in TOLD_SELDOM {
        for how in [ProgramTold::Newest, ProgramTold::Any, ProgramTold::All] {
            let mut buffers = Buffers::default();
            let mut rig = Rig::new(told(software, how, PendantStop::Seen), &mut buffers);
            rig.run_for(secs(5));
            rig.request();
            rig.run_for(secs(3));
            let what = format!("{software}, {how:?}\n{}", rig.record().story());
            let unmet: Vec<Reason> = rig.engine().unmet(core_time(rig.now())).iter().collect();
            assert!(unmet.contains(&Reason::PendantUnseen), "{unmet:?}: {what}");
            assert!(rig.record().motion.iter().all(|motion| motion.speed() < REST), "{what}");
        }
        // Pressed in every cycle between two messages: the next text begins before a message shows the stop, or the
        // message after it shows that text.
        for how in [ProgramTold::Newest, ProgramTold::Any] {
            for cycle in 0..13 {
                let mut buffers = Buffers::default();
                let mut rig = moving(told(software, how, PendantStop::Overridden), &mut buffers);
                rig.run_for(ms(8 * cycle));
                rig.controller.act(Action::StopProgram);
                rig.run_for(ms(400));
                let what = format!("{software}, {how:?}, cycle {cycle}\n{}", rig.record().story());
                assert_eq!((rig.engine().mode(), rig.engine().overrides_pendant()), (Mode::Command, true), "{what}");
            }
        }
    }
}

#[test]
fn where_texts_that_replace_each_other_show_as_no_program_nothing_moves() {
    for software in TOLD_SELDOM {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(told(software, ProgramTold::All, PendantStop::Overridden), &mut buffers);
        rig.ready();
        rig.request();
        rig.run_for(secs(15));
        let what = format!("{software}\n{}", rig.record().story());
        assert_eq!((rig.engine().mode(), rig.engine().latch()), (Mode::Monitor, Some(Reason::NotGranted)), "{what}");
        assert!(rig.record().motion.iter().all(|motion| motion.speed() < REST), "{what}");
    }
}

#[test]
fn states_that_are_late_all_the_time_still_show_that_the_arm_rests() {
    for software in SOFTWARE {
        for with_rtde in [false, true] {
            let mut buffers = if with_rtde { Buffers::with_rtde() } else { Buffers::default() };
            let mut rig = moving(Setup::sweep(software, 0.5), &mut buffers);
            rig.fault(outrigger_sim::fault::FaultKind::Delay(ms(25)), Some(secs(8)));
            rig.run_for(secs(3));
            let story = rig.record().story();
            assert_eq!(rig.engine().mode(), Mode::Monitor, "{software}, rtde {with_rtde}\n{story}");
            assert!(!rig.engine().mode_machine().reasons().contains(Reason::StopTimeout), "{story}");
            assert!(!rig.engine().mode_machine().is_motion_unknown(), "{story}");
        }
    }
}

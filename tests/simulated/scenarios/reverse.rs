//! Commands through one of our programs that connects to us: the events that end it, and the arm at rest afterwards.

use outrigger_core::engine::ur::{CommandPath, Delivery, Orders, ProgramEvent, UrEvent};
use outrigger_core::engine::{Event, Input};
use outrigger_core::mode::{Channel, Mode, OperatorAction, Refusal};
use outrigger_core::robot::Reason;
use outrigger_sim::controller::Action;
use outrigger_sim::external_control::{ExternalControl, NODE, PROGRAM};
use outrigger_sim::pendant::ProgramFile;
use outrigger_sim::port::Port;
use outrigger_sim::time::SimTime;
use outrigger_tests::cosim::{Buffers, CrashPoint, Rig, Setup, Way};
use outrigger_wire::program_messages::Ending;
use outrigger_wire::robot::SoftwareVersion;

use super::{ms, secs};

/// The software versions whose socket reads have a timeout, on either side of each change in the execution of `speedj`.
const SOFTWARE: [SoftwareVersion; 8] = [
    SoftwareVersion::new(3, 0),
    SoftwareVersion::new(3, 2),
    SoftwareVersion::new(3, 5),
    SoftwareVersion::new(3, 15),
    SoftwareVersion::new(5, 0),
    SoftwareVersion::new(5, 15),
    SoftwareVersion::new(5, 25),
    SoftwareVersion::new(10, 11),
];

fn ways() -> impl Iterator<Item = (SoftwareVersion, Way)> {
    let all = SOFTWARE
        .into_iter()
        .flat_map(|software| Way::OURS.into_iter().chain([Way::PLAYER]).map(move |way| (software, way)));
    all.filter(|(software, way)| way.fits(*software))
}

/// Returns the pairs of software version and command path whose program connects to us.
fn cases() -> impl Iterator<Item = (SoftwareVersion, CommandPath)> {
    ways().filter(|(_, way)| !way.is_in_registers()).map(|(software, way)| (software, way.path))
}

fn setup(software: SoftwareVersion, path: CommandPath, speed: f32) -> Setup {
    setup_by(software, Way { path, orders: Orders::Socket }, speed)
}

fn setup_by(software: SoftwareVersion, way: Way, speed: f32) -> Setup {
    let mut setup = Setup::sweep(software, speed);
    way.choose(&mut setup.config);
    setup
}

fn news(rig: &Rig<'_>) -> Vec<ProgramEvent> {
    let of = |(_, event): &(_, Event<UrEvent>)| match event {
        Event::Peer(UrEvent::Program(news)) => Some(*news),
        _ => None,
    };
    rig.record().events.iter().filter_map(of).collect()
}

/// Calls `check` with a simulation for every path on every software, with states from either interface, when the arm
/// has been commanded for 0.9 s.
fn each(mut check: impl FnMut(&str, &mut Rig<'_>)) {
    for (software, way) in ways() {
        for (mut buffers, by_rtde) in [(Buffers::default(), false), (Buffers::with_rtde(), true)] {
            if way.is_in_registers() && !by_rtde {
                continue;
            }
            let mut rig = Rig::new(setup_by(software, way, 0.5), &mut buffers);
            let what = format!("{software} {}", way.name());
            rig.command();
            rig.run_for(ms(900));
            let (qd, story) = (rig.controller.truth().qd, rig.record().story());
            assert!((qd[0] - 0.5).abs() < 0.015, "{what}: {qd:?}\n{story}");
            check(&what, &mut rig);
        }
    }
}

#[test]
fn a_program_of_ours_carries_joint_speeds_and_ends_with_the_release() {
    each(|software, rig| {
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
        rig.run_for(secs(1));
        let story = rig.record().story();
        assert!(rig.controller.truth().at_rest(), "{software}\n{story}");
        assert_eq!(rig.engine().latch(), None, "{story}");
        assert!(!rig.controller.program().0, "the program has ended\n{story}");
        assert_eq!(
            news(rig),
            [ProgramEvent::Sent, ProgramEvent::Connected, ProgramEvent::Ended(Ending::Told)],
            "{story}"
        );
        rig.command();
        rig.run_for(ms(500));
        assert!((rig.controller.truth().qd[0] - 0.5).abs() < 0.01, "{software}: again");
    });
}

/// Checks that at most one `stopj` is sent if the driver's machine stands still while it stops the arm. Meanwhile the
/// program has ended, or still ends.
#[test]
fn where_this_machine_stands_still_while_it_stops_one_stopj_is_said_and_not_a_second() {
    for lasting in [90, 111, 150, 400] {
        each(|what, rig| {
            rig.input(Input::Release);
            rig.pause_host(ms(lasting));
            rig.run_for(secs(2));
            let (stops, story) =
                (rig.record().commands.iter().filter(|text| text.text.contains("stopj")), rig.record().story());
            assert!(stops.count() <= 1, "{what}, {lasting} ms:\n{story}");
            assert!(
                rig.controller.truth().at_rest() && rig.engine().mode() == Mode::Monitor,
                "{what}, {lasting} ms:\n{story}"
            );
        });
    }
}

#[test]
fn a_stop_at_the_pendant_ends_commanding_and_is_named() {
    each(|software, rig| {
        rig.controller.act(Action::StopProgram);
        let at = rig.now();
        rig.run_for(secs(3));
        let story = rig.record().story();
        let (fell, reason) = rig.record().fallback().expect("a fall");
        // Without a program state in each packet, only the closed connection shows the stop, which is reported as a
        // fault.
        assert!(matches!(reason, Reason::ProgramStopped | Reason::ProgramEnded), "{software}: {reason:?}\n{story}");
        assert!(fell.since(at) < ms(60), "{software}\n{story}");
        assert_eq!(rig.engine().mode(), Mode::Monitor, "{software}\n{story}");
        assert!(rig.controller.truth().at_rest() && !rig.controller.program().0, "{software}\n{story}");
    });
}

#[test]
fn a_long_pause_at_the_pendant_ends_commanding_and_resuming_moves_nothing() {
    each(|software, rig| {
        rig.controller.act(Action::PauseProgram);
        rig.run_for(secs(11));
        let story = rig.record().story();
        let reason = rig.record().fallback().map(|(_, reason)| reason);
        assert!(matches!(reason, Some(Reason::ProgramPaused | Reason::NotMirrored)), "{software}: {reason:?}\n{story}");
        assert!(rig.controller.truth().at_rest(), "{software}\n{story}");
        let rested = rig.controller.truth().q[0];
        rig.controller.act(Action::ResumeProgram);
        rig.run_for(secs(2));
        let moved = (rig.controller.truth().q[0] - rested).abs();
        assert!(moved < 1e-3 && rig.controller.truth().at_rest(), "{software}: moved {moved}\n{story}");
    });
}

#[test]
fn the_arm_is_at_rest_within_the_time_out_of_a_read_where_we_vanish() {
    for (software, way) in ways() {
        // In either case a joint needs 0.5/10 s, or 0.5/2 s if the stop is the controller's own; and its drive lags.
        let bound = ms(40) + ms(24) + ms(250) + ms(60);
        for death in [CrashPoint::Reset, CrashPoint::Silent] {
            let mut buffers = Buffers::with_rtde();
            let mut rig = Rig::new(setup_by(software, way, 0.5), &mut buffers);
            rig.command();
            rig.run_for(ms(500));
            let at = rig.now();
            rig.kill(death);
            rig.run_for(secs(3));
            let rest = rig.record().rest_after(at).expect("at rest");
            assert!(rest <= bound, "{software} {way:?} {death:?}: {rest:?}");
            assert!(!rig.controller.program().0, "{software} {way:?} {death:?}: the program has ended");
        }
    }
}

#[test]
fn a_cable_that_is_cut_ends_the_program_and_commanding_and_both_begin_anew() {
    each(|software, rig| {
        let at = rig.now();
        rig.cut_cable(Some(secs(2)));
        rig.run_for(secs(8));
        let story = rig.record().story();
        assert!(rig.record().rest_after(at).is_some_and(|rest| rest < ms(450)), "{software}\n{story}");
        assert!(!rig.controller.program().0, "{software}\n{story}");
        rig.run_until(secs(20), |rig| rig.engine().mode() == Mode::Monitor);
        rig.run_for(secs(1));
        rig.input(Input::Acknowledge);
        rig.command();
        rig.run_for(ms(500));
        assert!((rig.controller.truth().qd[0] - 0.5).abs() < 0.01, "{software}\n{}", rig.record().story());
    });
}

#[test]
fn a_protective_stop_is_the_reason_and_not_the_program_that_ends_with_it() {
    each(|software, rig| {
        rig.controller.act(Action::ProtectiveStop);
        rig.run_for(secs(2));
        let story = rig.record().story();
        assert_eq!(
            rig.record().fallback().map(|(_, reason)| reason),
            Some(Reason::ProtectiveStop),
            "{software}\n{story}"
        );
        rig.controller.act(Action::UnlockProtectiveStop);
        rig.controller.act(Action::ResumeProgram);
        let rested = rig.controller.truth().q[0];
        rig.run_for(secs(2));
        assert!((rig.controller.truth().q[0] - rested).abs() < 1e-3, "{software}\n{story}");
    });
}

#[test]
fn a_slider_at_zero_freezes_the_arm_and_one_at_a_third_slows_it() {
    each(|software, rig| {
        rig.controller.act(Action::Slider(0.3));
        rig.run_for(secs(2));
        let (qd, story) = (rig.controller.truth().qd[0], rig.record().story());
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{story}");
        // A `servoj` that lasts three and a third cycles takes four.
        assert!((0.12..0.16).contains(&qd), "{software}: {qd}\n{story}");
        rig.controller.act(Action::Slider(0.0));
        rig.run_for(secs(3));
        let story = rig.record().story();
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{story}");
        assert!(rig.controller.truth().at_rest(), "{software}\n{story}");
        rig.controller.act(Action::Slider(1.0));
        rig.run_for(secs(2));
        let qd = rig.controller.truth().qd[0];
        assert!((qd - 0.5).abs() < 0.01, "{software}: {qd}\n{}", rig.record().story());
    });
}

#[test]
fn a_sensor_that_falls_silent_and_a_controller_that_restarts_stop_the_arm() {
    each(|software, rig| {
        rig.kill_sensors();
        rig.run_for(secs(3));
        let story = rig.record().story();
        assert_eq!(rig.record().fallback().map(|(_, reason)| reason), Some(Reason::SourceStale), "{software}\n{story}");
        assert!(rig.controller.truth().at_rest() && !rig.controller.program().0, "{software}\n{story}");
    });
    each(|software, rig| {
        rig.controller.act(Action::Restart(secs(3)));
        rig.run_for(secs(12));
        let story = rig.record().story();
        assert_eq!(rig.engine().mode(), Mode::Monitor, "{software}\n{story}");
        rig.controller.act(Action::ReleaseBrakes);
        rig.run_for(secs(5));
        rig.input(Input::Acknowledge);
        rig.command();
    });
}

#[test]
fn software_that_has_no_read_with_a_time_out_is_refused_before_anything_is_sent() {
    let mut buffers = Buffers::default();
    let mut rig = Rig::new(setup(SoftwareVersion::new(1, 8), CommandPath::ReverseSpeedJ, 0.5), &mut buffers);
    rig.run_for(secs(4));
    rig.request();
    rig.run_for(secs(2));
    let story = rig.record().story();
    assert_eq!(news(&rig), [ProgramEvent::Unfit], "{story}");
    let refused = outrigger_tests::refused(Reason::PathUnfit);
    assert!(rig.record().events.iter().any(|(_, event)| *event == refused), "{story}");
    assert_eq!(rig.record().commands, []);
}

/// Checks that a request is rejected for this reason before any text is sent. Returns the events.
fn refused_before_anything_is_sent(mut rig: Rig<'_>, why: Reason) -> Vec<(SimTime, Event<UrEvent>)> {
    rig.run_for(secs(4));
    rig.request();
    rig.run_for(secs(2));
    let story = rig.record().story();
    assert!(rig.record().events.iter().any(|(_, event)| *event == outrigger_tests::refused(why)), "{story}");
    assert!(rig.record().commands.is_empty() && !rig.controller.program().0, "{story}");
    rig.record().events.clone()
}

const IN_REGISTERS: Way = Way { path: CommandPath::ReverseSpeedJ, orders: Orders::Registers };

#[test]
fn registers_that_another_client_has_are_named_and_nothing_is_sent() {
    for software in [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)] {
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup_by(software, IN_REGISTERS, 0.5), &mut buffers);
        let other = rig.controller.connect(Port::Rtde).expect("it listens");
        let name = b"input_int_register_29";
        let package = [&[0, 3 + name.len() as u8, b'I'][..], name].concat();
        rig.controller.write(other, &package);
        let events = refused_before_anything_is_sent(rig, Reason::PathUnfit);
        let told = events.iter().find_map(|(_, event)| match event {
            Event::Peer(UrEvent::UnownedInput(input)) => Some(input.to_string()),
            _ => None,
        });
        let said = "input_int_register_29 is in use by another RTDE client or a fieldbus";
        assert_eq!(told.as_deref(), Some(said));
    }
}

#[test]
fn orders_in_registers_need_software_that_has_them_and_states_from_there() {
    for software in [SoftwareVersion::new(3, 8), SoftwareVersion::new(5, 2)] {
        let mut buffers = Buffers::with_rtde();
        let rig = Rig::new(setup_by(software, IN_REGISTERS, 0.5), &mut buffers);
        refused_before_anything_is_sent(rig, Reason::PathUnfit);
    }
    // RTDE is given up, and states are received from 30003.
    let mut buffers = Buffers::with_rtde();
    let mut setup = setup_by(SoftwareVersion::new(5, 15), IN_REGISTERS, 0.5);
    setup.controller.faults = vec!["drop/30004@0s:90s".parse().expect("a fault")];
    refused_before_anything_is_sent(Rig::new(setup, &mut buffers), Reason::PathUnfit);
}

/// Returns a set-up with the URCap, whose program continues after the node with a move of the last joint.
fn with_urcap(software: SoftwareVersion, path: CommandPath) -> Setup {
    let mut setup = setup(software, path, 0.5);
    setup.config.peer.program.by = Delivery::UrCap;
    let computer = ExternalControl { host: "192.168.56.1".into(), port: 50_002 };
    let script = format!("def program():\n {NODE}\n movej([0.0, -1.57, -1.57, -1.57, 1.57, 0.5], a=4.0, v=1.0)\nend\n");
    setup.controller.files.programs.push(ProgramFile { script, ..ProgramFile::named(PROGRAM) });
    setup.controller.external_control = Some(computer);
    setup
}

#[test]
fn a_robot_with_the_urcap_is_commanded_and_its_program_goes_on_only_when_handed_back() {
    for (software, path) in
        cases().filter(|(software, _)| software.at_least(3, 7) && *software != SoftwareVersion::new(5, 0))
    {
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(with_urcap(software, path), &mut buffers);
        rig.run_for(secs(4));
        rig.request();
        let story = rig.record().story();
        let refused = outrigger_tests::refused(Reason::ProgramAway);
        assert!(rig.record().events.iter().any(|(_, event)| *event == refused), "{software} {path:?}\n{story}");
        rig.controller.act(Action::PlayProgram);
        rig.run_for(secs(2));
        for _ in 0..2 {
            rig.command();
            rig.run_for(ms(900));
            let (qd, story) = (rig.controller.truth().qd, rig.record().story());
            assert!((qd[0] - 0.5).abs() < 0.015, "{software} {path:?}: {qd:?}\n{story}");
            rig.input(Input::Release);
            rig.run_to(Mode::Monitor);
            rig.run_for(secs(2));
            let story = rig.record().story();
            assert!(
                rig.controller.truth().at_rest() && rig.controller.program().0,
                "{software} {path:?}: it stays\n{story}"
            );
        }
        let last = rig.controller.truth().q[5];
        rig.input(Input::HandBack);
        rig.run_for(secs(4));
        let (truth, story) = (rig.controller.truth(), rig.record().story());
        assert!((truth.q[5] - last).abs() > 0.3, "{software} {path:?}: the rest of the program runs\n{story}");
        assert_eq!(rig.engine().latch(), None, "{story}");

        // We vanish in the middle of a motion: the whole program ends, and the statements after the node do not run.
        rig.controller.act(Action::PlayProgram);
        rig.run_for(secs(2));
        rig.command();
        rig.run_for(ms(900));
        let last = rig.controller.truth().q[5];
        rig.kill(CrashPoint::Silent);
        rig.run_for(secs(4));
        let story = rig.record().story();
        assert!(rig.controller.truth().at_rest() && !rig.controller.program().0, "{software} {path:?}\n{story}");
        assert!((rig.controller.truth().q[5] - last).abs() < 0.01, "{software} {path:?}\n{story}");
    }
}

/// Returns whether the last event is the rejection of the operator's action `word` for this reason.
fn refused(rig: &Rig<'_>, word: OperatorAction, reason: Reason) -> bool {
    let refusal = Event::Refused(Refusal { word, by: Channel::Message, reason });
    rig.record().events.last().is_some_and(|(_, event)| *event == refusal)
}

#[test]
fn a_program_is_handed_back_and_sent_again_at_rest_only_and_a_refusal_says_why() {
    for (software, path) in cases().filter(|(software, _)| software.at_least(3, 15)) {
        let what = format!("{software} {}", path.name());
        let mut buffers = Buffers::with_rtde();
        let mut setup = setup(software, path, 0.5);
        setup.config.peer.program.resident = true;
        let mut rig = Rig::new(setup, &mut buffers);
        for (word, input) in [(OperatorAction::HandBack, Input::HandBack), (OperatorAction::Resend, Input::Resend)] {
            rig.input(input);
            assert!(refused(&rig, word, Reason::LinkClosed), "{what}: before a session\n{}", rig.record().story());
        }
        rig.ready();
        rig.input(Input::HandBack);
        assert!(refused(&rig, OperatorAction::HandBack, Reason::ProgramAway), "{what}\n{}", rig.record().story());
        rig.input(Input::Resend);
        rig.run_for(secs(2));
        assert!(rig.controller.program().0, "{what}: it runs before anything is commanded\n{}", rig.record().story());
        rig.input(Input::Resend);
        assert!(refused(&rig, OperatorAction::Resend, Reason::ProgramRuns), "{what}\n{}", rig.record().story());
        rig.command();
        rig.run_for(ms(900));
        for (word, input) in [(OperatorAction::HandBack, Input::HandBack), (OperatorAction::Resend, Input::Resend)] {
            rig.input(input);
            assert!(refused(&rig, word, Reason::Commanded), "{what}\n{}", rig.record().story());
        }
        rig.run_for(ms(100));
        assert_eq!(rig.engine().mode(), Mode::Command, "{what}: it goes on\n{}", rig.record().story());
        rig.input(Input::Release);
        rig.input(Input::HandBack);
        assert!(
            refused(&rig, OperatorAction::HandBack, Reason::Commanded),
            "{what}: it stops\n{}",
            rig.record().story()
        );
        rig.run_to(Mode::Monitor);
        rig.run_for(secs(1));
        let stops = |rig: &Rig<'_>| rig.record().commands.iter().filter(|sent| sent.text.contains("stopj")).count();
        let (before, at) = (stops(&rig), rig.now());
        rig.input(Input::HandBack);
        rig.run_for(secs(2));
        let story = rig.record().story();
        assert!(!rig.controller.program().0, "{what}: it has ended\n{story}");
        assert_eq!(news(&rig).last(), Some(&ProgramEvent::Ended(Ending::Told)), "{what}\n{story}");
        assert_eq!(stops(&rig), before, "{what}: nothing else is said\n{story}");
        assert_eq!(rig.record().rest_after(at), Some(std::time::Duration::ZERO), "{what}: nothing moves\n{story}");
    }
}

#[test]
fn where_no_program_stays_there_is_none_to_hand_back_or_to_send() {
    let all = [CommandPath::Text, CommandPath::ReverseSpeedJ];
    for (software, path) in [(3, 15), (5, 15)].into_iter().flat_map(|software| all.map(|path| (software, path))) {
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup(SoftwareVersion::new(software.0, software.1), path, 0.5), &mut buffers);
        rig.command();
        for (word, input) in [(OperatorAction::HandBack, Input::HandBack), (OperatorAction::Resend, Input::Resend)] {
            rig.input(input);
            assert!(refused(&rig, word, Reason::NoSuchProgram), "{path:?}\n{}", rig.record().story());
        }
    }
}

#[test]
fn what_the_urcap_brings_is_not_sent_by_us() {
    let mut buffers = Buffers::with_rtde();
    let mut rig = Rig::new(with_urcap(SoftwareVersion::new(5, 15), CommandPath::ReverseSpeedJ), &mut buffers);
    rig.run_for(secs(4));
    rig.input(Input::Resend);
    assert!(refused(&rig, OperatorAction::Resend, Reason::NoSuchProgram), "{}", rig.record().story());
    rig.input(Input::HandBack);
    assert!(refused(&rig, OperatorAction::HandBack, Reason::ProgramAway), "{}", rig.record().story());
}

/// Returns a set-up with the External Control protocol, whose program is delivered to the controller by `by`.
fn by_external_control(software: SoftwareVersion, by: Delivery) -> Setup {
    let mut setup = setup(software, CommandPath::ExternalControl, 0.5);
    setup.config.peer.program.by = by;
    setup.config.mode.take_over = true;
    setup
}

#[test]
fn the_wire_of_external_control_carries_joint_speeds_and_its_program_stays_until_handed_back() {
    for (major, minor) in [(3, 15), (5, 15), (5, 25), (10, 11)] {
        let software = SoftwareVersion::new(major, minor);
        for ending in 0..4 {
            let mut buffers = Buffers::with_rtde();
            let mut rig = Rig::new(by_external_control(software, Delivery::Text), &mut buffers);
            for _ in 0..2 {
                rig.command();
                rig.run_for(ms(900));
                let (qd, story) = (rig.controller.truth().qd, rig.record().story());
                assert!((qd[0] - 0.5).abs() < 0.015, "{software}: {qd:?}\n{story}");
                rig.input(Input::Release);
                rig.run_to(Mode::Monitor);
                rig.run_for(secs(3));
                let story = rig.record().story();
                let rests = rig.controller.truth().qd.iter().all(|qd| qd.abs() < 1e-3);
                assert!(rests && rig.controller.program().0, "{software}: it stays\n{story}");
            }
            assert_eq!(news(&rig), [ProgramEvent::Sent, ProgramEvent::Connected], "{}", rig.record().story());
            if ending == 0 {
                rig.input(Input::HandBack);
            } else {
                rig.command();
                rig.run_for(ms(900));
            }
            let at = rig.now();
            match ending {
                0 => {}
                1 => rig.kill(CrashPoint::Silent),
                2 => rig.controller.act(Action::StopProgram),
                _ => rig.cut_cable(None),
            }
            rig.run_for(secs(3));
            let story = rig.record().story();
            assert!(!rig.controller.program().0, "{software} {ending}\n{story}");
            // A timeout of 40 ms, a cycle, and a stop of 10 rad/s², or the controller's own.
            assert!(rig.record().rest_after(at).is_some_and(|rest| rest < ms(400)), "{software} {ending}\n{story}");
            if ending == 2 {
                let reason = rig.record().fallback().map(|(_, reason)| reason);
                assert_eq!(reason, Some(Reason::ProgramStopped), "{software}\n{story}");
            }
        }
    }
}

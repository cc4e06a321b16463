//! Trajectories that an External Control program executes by itself: it follows the plan, and the arm is at rest
//! after each end.

use outrigger_core::command::JointMove;
use outrigger_core::engine::ur::{CommandPath, Delivery, ProgramEvent, UrEvent};
use outrigger_core::engine::{Event, Input};
use outrigger_core::mode::{Mirrored, Mode};
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::Tolerances;
use outrigger_sim::controller::Action;
use outrigger_sim::external_control::{ExternalControl, NODE, PROGRAM};
use outrigger_sim::pendant::ProgramFile;
use outrigger_tests::cosim::{Buffers, CrashPoint, Rig, Setup};
use outrigger_tests::noise::Noise;
use outrigger_wire::robot::{JointPositions, SoftwareVersion};
use outrigger_wire::time::Duration;
use outrigger_wire::trajectory_messages::TrajectoryResult;

use super::player_legs::{Swing, base, led, mirrored, off, play};
use super::{ms, secs};

const SOFTWARE: [SoftwareVersion; 2] = [SoftwareVersion::new(3, 15), SoftwareVersion::new(5, 15)];

fn setup(software: SoftwareVersion) -> Setup {
    let mut setup = Setup::new(software);
    setup.config.peer.path = CommandPath::ExternalControl;
    setup.config.mode.take_over = true;
    setup
}

/// Calls `check` with a simulation of each software, with states from 30003 and over RTDE. The arm is commanded and at
/// rest.
fn each(mut check: impl FnMut(&str, &mut Rig<'_>)) {
    for software in SOFTWARE {
        for (states, mut buffers) in [("30003", Buffers::default()), ("RTDE", Buffers::with_rtde())] {
            let mut rig = Rig::new(setup(software), &mut buffers);
            rig.command();
            rig.run_for(ms(500));
            check(&format!("{software}, {states}"), &mut rig);
        }
    }
}

/// Returns the results of trajectories that the program has reported.
fn results(rig: &Rig<'_>) -> Vec<TrajectoryResult> {
    let result = |event: &Event<UrEvent>| match event {
        Event::Peer(UrEvent::Program(ProgramEvent::Trajectory(result))) => Some(*result),
        _ => None,
    };
    rig.record().events.iter().filter_map(|(_, event)| result(event)).collect()
}

/// Returns the reported delays of the arm.
fn lateness(rig: &Rig<'_>) -> Vec<Duration> {
    let late = |event: &Event<UrEvent>| match event {
        Event::Peer(UrEvent::Program(ProgramEvent::Late(by))) => Some(*by),
        _ => None,
    };
    rig.record().events.iter().filter_map(|(_, event)| late(event)).collect()
}

#[test]
fn cubic_and_quintic_legs_are_kept_to_and_end_where_they_are_to() {
    each(|software, rig| {
        for quintic in [false, true] {
            let swing = Swing::from(rig, 0.5, quintic);
            let worst = play(rig, &swing, |_, _| {});
            rig.run_for(ms(400));
            let end = rig.controller.truth().q;
            let error = end.iter().zip(swing.at(swing.seconds)[0]).map(|(q, to)| (q - f64::from(to)).abs());
            let error = error.fold(0.0, f64::max);
            println!(
                "{software}, quintic {quintic}: {:.2} mrad at worst, {:.2} mrad at the end",
                worst * 1e3,
                error * 1e3
            );
            assert!(worst < 0.02 && error < 3e-3, "{software}: {worst} {error}\n{}", rig.record().story());
        }
        assert_eq!(results(rig), [TrajectoryResult::Success; 2], "{software}");
        assert_eq!((lateness(rig), rig.record().fallback()), (vec![], None), "{software}");
    });
}

/// Checks that the rest of a move is not executed later, and that the arm stays at rest.
fn ends_for_good(rig: &mut Rig<'_>, software: &str) {
    let rested = base(rig);
    rig.run_for(secs(2));
    assert!((base(rig) - rested).abs() < 1e-3, "{software}: it goes on\n{}", rig.record().story());
}

fn sent(rig: &Rig<'_>) -> usize {
    let is_sent = |event: &Event<UrEvent>| matches!(event, Event::Peer(UrEvent::Program(ProgramEvent::Sent)));
    rig.record().events.iter().filter(|(_, event)| is_sent(event)).count()
}

#[test]
fn the_slider_stretches_its_time_and_holds_it_and_it_goes_on_by_itself() {
    each(|software, rig| {
        let swing = Swing::from(rig, 0.5, false);
        let begun = rig.now();
        let mut held = None;
        let worst = play(rig, &swing, |rig, passed| match (passed * 125.0).round() as u32 {
            125 => rig.controller.act(Action::Slider(0.3)),
            300 => rig.controller.act(Action::Slider(0.0)),
            350 => held = Some(base(rig)),
            550 => {
                assert!((base(rig) - held.unwrap()).abs() < 1e-3, "{software}: it moves at a slider of 0");
                rig.controller.act(Action::Slider(1.0));
            }
            _ => {}
        });
        let took = rig.now().since(begun).as_secs_f32();
        println!(
            "{software}: {:.2} mrad at worst, in {took:.1} s in place of {} s; late {:?}",
            worst * 1e3,
            swing.seconds,
            lateness(rig)
        );
        assert!(took > swing.seconds + 2.5, "{software}: {took}");
        assert!(worst < 0.02, "{software}: {worst}\n{}", rig.record().story());
    });
}

#[test]
fn a_pause_holds_it_and_it_goes_on_with_the_program() {
    each(|software, rig| {
        let swing = Swing::from(rig, 0.5, false);
        let worst = play(rig, &swing, |rig, passed| match (passed * 125.0).round() as u32 {
            125 => rig.controller.act(Action::PauseProgram),
            375 => {
                assert!(rig.controller.truth().at_rest(), "{software}");
                rig.controller.act(Action::ResumeProgram);
            }
            _ => {}
        });
        println!("{software}: {:.2} mrad at worst", worst * 1e3);
        assert!(worst < 0.05, "{software}: {worst}");
    });
}

/// Runs a trajectory to and fro (a swing) until its middle. Returns the number of the next leg, a part of it, to be
/// sent.
fn amid(rig: &mut Rig<'_>, swing: &Swing) -> u32 {
    swing.begin(rig);
    let mut next = 1;
    for _ in 0..150 {
        next = swing.feed(rig, next, u32::MAX);
        rig.run_for(ms(8));
    }
    assert!(matches!(mirrored(rig), Some(Mirrored::Running(_))), "{}", rig.record().story());
    assert!(rig.controller.truth().qd[0].abs() > 0.2, "{}", rig.record().story());
    next
}

#[test]
fn a_release_a_protective_and_an_emergency_stop_and_a_stop_at_the_pendant_end_it() {
    type End = fn(&mut Rig<'_>);
    let ends: [(End, Reason); 4] = [
        (|rig| rig.input(Input::Release), Reason::Released),
        (|rig| rig.controller.act(Action::ProtectiveStop), Reason::ProtectiveStop),
        (|rig| rig.controller.act(Action::EmergencyStop), Reason::EmergencyStop),
        (|rig| rig.controller.act(Action::StopProgram), Reason::ProgramStopped),
    ];
    for (end, reason) in ends {
        each(|software, rig| {
            let swing = Swing::from(rig, 0.5, true);
            amid(rig, &swing);
            let at = rig.now();
            end(rig);
            rig.run_for(secs(6));
            let story = rig.record().story();
            assert!(rig.record().rest_after(at).is_some_and(|rest| rest < ms(450)), "{software}\n{story}");
            // In the middle of a move, the end of its program is seen before its cause.
            let ended = [reason, if reason == Reason::ProgramStopped { Reason::ProgramEnded } else { reason }];
            let told = rig.record().fallback().map(|(_, reason)| reason);
            assert!(told.is_some_and(|told| ended.contains(&told)), "{software}\n{story}");
            for action in
                [Action::ReleaseEmergencyStop, Action::PowerOn, Action::ReleaseBrakes, Action::UnlockProtectiveStop]
            {
                rig.controller.act(action);
                rig.run_for(secs(1));
            }
            rig.controller.act(Action::ResumeProgram);
            ends_for_good(rig, software);
            if reason == Reason::Released {
                assert_eq!(results(rig), [TrajectoryResult::Canceled], "{software}\n{}", rig.record().story());
                rig.command();
                rig.run_for(ms(300));
                let swing = Swing::from(rig, -0.4, true);
                let worst = play(rig, &swing, |_, _| {});
                assert!(worst < 0.02, "{software}: {worst}\n{}", rig.record().story());
                assert_eq!(sent(rig), 1, "{software}: it needs no program");
            }
        });
    }
}

#[test]
fn while_one_runs_another_and_the_law_are_refused_and_no_speeds_go_out() {
    each(|software, rig| {
        let swing = Swing::from(rig, 0.5, false);
        rig.keep_bytes();
        let next = amid(rig, &swing);
        let another = JointMove::along(JointPositions(rig.controller.truth().q.map(|q| q as f32)), 1.0).unwrap();
        assert_eq!(rig.delegate(another), Err(Reason::NotAtRest), "{software}");
        assert_eq!(rig.stream(), Err(Reason::NotAtRest), "{software}");
        swing.feed(rig, next, u32::MAX);
        let begun = |bytes: &[u8]| bytes.len() == 32 && bytes[28..] == [0, 0, 0, 3] && bytes[4..8] == [0, 0, 0, 2];
        let reverse = rig.record().written.as_ref().expect("kept").iter();
        let reverse = reverse.filter(|(_, link, _)| *link == outrigger_core::engine::LinkId::REVERSE);
        let after: Vec<_> = reverse.skip_while(|(_, _, bytes)| !begun(bytes)).collect();
        assert!(after.len() > 10, "{software}: {}", after.len());
        for (at, _, bytes) in after {
            assert_eq!(bytes[28..], [0, 0, 0, 3], "{software}, {at}: something else than FORWARD goes out");
        }
    });
}

#[test]
fn a_move_to_one_place_is_made_too() {
    each(|software, rig| {
        let mut to = rig.controller.truth().q.map(|q| q as f32);
        (to[0], to[5]) = (to[0] + 0.6, to[5] - 0.3);
        let number = rig.delegate(JointMove::new(JointPositions(to), 0.6, 1.0).unwrap()).unwrap();
        assert!(
            rig.run_until(secs(10), |rig| mirrored(rig) == Some(Mirrored::Ended(number))),
            "{}",
            rig.record().story()
        );
        rig.run_for(ms(400));
        for (q, to) in rig.controller.truth().q.iter().zip(to) {
            assert!((q - f64::from(to)).abs() < 2e-3, "{software}: {q} in place of {to}\n{}", rig.record().story());
        }
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{}", rig.record().story());
        let swing = Swing::from(rig, -0.4, false);
        assert!(play(rig, &swing, |_, _| {}) < 0.02, "{software}");
    });
}

/// Checks that a trajectory beyond its time tolerance ends for that reason, and is made if the tolerance is large. Its
/// legs of 41.2 ms take longer than planned, because parts of a spline take whole cycles.
#[test]
fn what_is_not_over_in_its_time_ends_by_that_name_and_is_told_of_where_that_is_much() {
    let timed = |millis| Tolerances { goal_time: Some(Duration::from_millis(millis)), ..Tolerances::DEFAULT };
    each(|software, rig| {
        let mut swing = Swing::from(rig, 0.5, false);
        swing.legs = 97;
        swing.begin(rig);
        rig.ask(|engine, _| engine.hold_to(timed(20))).unwrap();
        let mut next = 1;
        while rig.engine().mode() == Mode::Command {
            next = swing.feed(rig, next, u32::MAX);
            rig.run_for(ms(8));
            assert!(results(rig).is_empty(), "{software}: it was in time\n{}", rig.record().story());
        }
        rig.run_for(secs(2));
        let story = rig.record().story();
        assert_eq!(
            rig.record().fallback().map(|(_, reason)| reason),
            Some(Reason::GoalTolerance),
            "{software}\n{story}"
        );
        assert_eq!(results(rig), [TrajectoryResult::Canceled], "{software}\n{story}");
        assert!(rig.controller.truth().at_rest() && rig.engine().mode() == Mode::Monitor, "{software}\n{story}");
        ends_for_good(rig, software);
    });
    each(|software, rig| {
        let mut swing = Swing::from(rig, 0.5, false);
        swing.legs = 97;
        let mut held = false;
        play(rig, &swing, |rig, _| {
            if !core::mem::replace(&mut held, true) {
                rig.ask(|engine, _| engine.hold_to(timed(3_000))).unwrap();
            }
        });
        assert_eq!(results(rig), [TrajectoryResult::Success], "{software}\n{}", rig.record().story());
    });
}

#[test]
fn a_second_commander_ends_it_by_name() {
    each(|software, rig| {
        let swing = Swing::from(rig, 0.5, false);
        amid(rig, &swing);
        rig.controller.act(Action::SecondCommander(Some(0.3)));
        assert!(rig.run_until(secs(2), |rig| rig.engine().mode() != Mode::Command), "{}", rig.record().story());
        // The text of the other commander has replaced the program.
        let reason = rig.record().fallback().map(|(_, reason)| reason);
        assert_eq!(reason, Some(Reason::ProgramEnded), "{software}\n{}", rig.record().story());
    });
}

/// Checks trajectories whose parts (legs) run out, at another place each time. Legs that are in transit while the
/// program reports the end are read and discarded.
#[test]
fn a_starved_one_rests_by_name_and_the_next_needs_no_program_and_no_stale_point_moves_the_arm() {
    for software in SOFTWARE {
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup(software), &mut buffers);
        rig.command();
        rig.run_for(ms(400));
        for round in 0_u32..100 {
            let mut swing = Swing::from(&rig, if round % 2 == 0 { 0.25 } else { -0.25 }, round % 3 == 0);
            (swing.seconds, swing.legs) = (2.0, 40);
            let number = swing.begin(&mut rig);
            let until = 3 + round * 7 % 15;
            let (mut next, mut worst, before) = (1, 0.0_f64, results(&rig).len());
            let starved = swing.waypoint(until).at.as_secs_f32();
            let mut late = 0;
            while mirrored(&rig) != Some(Mirrored::Ended(number)) {
                next = swing.feed(&mut rig, next, until + late);
                rig.run_for(ms(4));
                if led(&rig) < starved - 0.03 {
                    worst = worst.max(off(&rig, &swing));
                } else if led(&rig) > starved - 2e-3 {
                    // The program has no more legs, or is about to have none: legs sent now are late, or barely in
                    // time.
                    late = late.max(round % 4);
                }
                let story = rig.record().story();
                assert_eq!(rig.engine().mode(), Mode::Command, "{software} {round}\n{story}");
                assert!(rig.now().as_micros() < 1_200_000_000, "{software} {round}: it never ends\n{story}");
            }
            let told = &results(&rig)[before..];
            assert!(
                told.first() == Some(&TrajectoryResult::Failure) && told.last() == Some(&TrajectoryResult::Canceled),
                "{software} {round}: {told:?}"
            );
            let rested = base(&rig);
            rig.run_for(ms(260));
            assert!((base(&rig) - rested).abs() < 1e-3, "{software} {round}: a stale point moved the arm");
            assert!(rig.controller.truth().at_rest(), "{software} {round}");
            assert!(worst < 0.02, "{software} {round}: {worst} off the plan");
        }
        assert_eq!((sent(&rig), rig.record().fallback()), (1, None), "{software}\n{}", rig.record().story());
        let swing = Swing::from(&rig, 0.4, true);
        assert!(play(&mut rig, &swing, |_, _| {}) < 0.02, "{software}");
    }
}

#[test]
fn the_arm_is_at_rest_within_the_time_out_of_a_read_where_we_vanish() {
    for death in [CrashPoint::Reset, CrashPoint::Silent] {
        each(|software, rig| {
            let swing = Swing::from(rig, 0.5, false);
            amid(rig, &swing);
            let at = rig.now();
            rig.kill(death);
            rig.run_for(secs(3));
            // 0.4 rad/s at 2 rad/s², if the stop is the controller's own; and its drive lags.
            let rest = rig.record().rest_after(at).expect("at rest");
            assert!(rest <= ms(200) + ms(24) + ms(200) + ms(60), "{software} {death:?}: {rest:?}");
            assert!(!rig.controller.program().0, "{software} {death:?}: the program has ended");
        });
    }
}

#[test]
fn a_robot_with_the_urcap_makes_it_in_the_program_of_its_pendant() {
    for software in SOFTWARE {
        let mut setup = setup(software);
        setup.config.peer.program.by = Delivery::UrCap;
        let script = format!("def program():\n {NODE}\nend\n");
        setup.controller.files.programs.push(ProgramFile { script, ..ProgramFile::named(PROGRAM) });
        setup.controller.external_control = Some(ExternalControl { host: "192.168.56.1".into(), port: 50_002 });
        let mut buffers = Buffers::with_rtde();
        let mut rig = Rig::new(setup, &mut buffers);
        rig.run_for(secs(4));
        rig.controller.act(Action::PlayProgram);
        rig.run_for(secs(2));
        rig.command();
        rig.run_for(ms(500));
        for way in [0.4, -0.4] {
            let swing = Swing::from(&rig, way, true);
            let worst = play(&mut rig, &swing, |_, _| {});
            assert!(worst < 0.02, "{software}: {worst}\n{}", rig.record().story());
            rig.run_for(ms(400));
        }
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
        rig.run_for(secs(2));
        assert!(rig.controller.program().0, "{software}: it stays\n{}", rig.record().story());
        rig.input(Input::HandBack);
        rig.run_for(secs(2));
        assert!(!rig.controller.program().0, "{software}: it goes on to its end\n{}", rig.record().story());
        assert_eq!((sent(&rig), rig.engine().latch()), (1, None), "{software}\n{}", rig.record().story());
    }
}

/// Checks that after any disturbance the arm is at rest with a reason or at its goal, was no faster than commanded,
/// and does not continue by itself.
#[test]
fn through_random_sliders_pauses_and_faults_it_is_made_or_ends_at_rest() {
    let (mut made, mut ended, mut reasons) = (0, 0, std::collections::BTreeMap::new());
    for seed in 0..100_u64 {
        let (software, mut noise) = (SOFTWARE[seed as usize % 2], Noise::seeded(seed));
        let mut buffers = if seed % 4 < 2 { Buffers::default() } else { Buffers::with_rtde() };
        let mut rig = Rig::new(setup(software), &mut buffers);
        rig.command();
        rig.run_for(ms(500));
        let swing = Swing::from(&rig, 0.3 + 0.2 * noise.below(10) as f32 / 10.0, seed % 3 == 0);
        let number = swing.begin(&mut rig);
        let (mut next, mut deeds, begun) = (1, vec![], rig.now());
        let mut due: Vec<usize> = (0..1 + noise.below(3)).map(|_| noise.below(600)).collect();
        // The highest planned speed. After a pause the next part of the spline catches up the delay of the arm.
        let fastest = 1.07;
        for cycle in 0..2_500 {
            next = swing.feed(&mut rig, next, u32::MAX);
            while let Some(at) = due.iter().position(|due| *due == cycle) {
                due.remove(at);
                let number = noise.below(10);
                deeds.push((cycle, number));
                match number {
                    0..=3 => {
                        rig.controller.act(Action::Slider([0.0, 0.1, 0.3, 1.0][number]));
                        due.push(cycle + 1 + noise.below(200));
                    }
                    4 => {
                        rig.controller.act(Action::PauseProgram);
                        rig.run_for(ms(noise.below(1_500) as u64));
                        rig.controller.act(Action::ResumeProgram);
                    }
                    5 => rig.input(Input::Release),
                    6 => rig.controller.act(Action::ProtectiveStop),
                    7 => rig.cut_cable(Some(ms(5 + noise.below(400) as u64))),
                    8 => rig.pause_host(ms(5 + noise.below(150) as u64)),
                    _ => rig.controller.act(Action::Slider(1.0)),
                }
            }
            if cycle == 1_200 {
                rig.controller.act(Action::Slider(1.0));
            }
            rig.run_for(ms(8));
            let speed = rig.controller.truth().qd[0].abs();
            assert!(speed < fastest, "{seed} {software} {deeds:?}: {speed}\n{}", rig.record().story());
            let over = mirrored(&rig) == Some(Mirrored::Ended(number)) || rig.engine().mode() != Mode::Command;
            if over && cycle > 1_200 {
                break;
            }
        }
        rig.run_for(secs(4));
        let (story, now) = (rig.record().story(), rig.now().since(begun));
        assert!(rig.controller.truth().at_rest(), "{seed} {software} {deeds:?} {now:?}\n{story}");
        if rig.engine().mode() == Mode::Command && results(&rig) == [TrajectoryResult::Success] {
            made += 1;
            let end = rig.controller.truth().q;
            let error = end.iter().zip(swing.at(swing.seconds)[0]).map(|(q, to)| (q - f64::from(to)).abs());
            assert!(error.fold(0.0, f64::max) < 5e-3, "{seed} {software} {deeds:?}\n{story}");
        } else if rig.engine().mode() == Mode::Command {
            // A network or a host that paused for too long has starved the motion.
            assert_eq!(results(&rig).first(), Some(&TrajectoryResult::Failure), "{seed} {software} {deeds:?}\n{story}");
        } else {
            ended += 1;
            let (_, reason) = rig.record().fallback().unwrap_or_else(|| panic!("{seed} {software} {deeds:?}\n{story}"));
            *reasons.entry(reason.name()).or_insert(0) += 1;
            // Only the program moves the arm.
            assert_ne!(reason, Reason::NotFollowing, "{seed} {software} {deeds:?}\n{story}");
            rig.controller.act(Action::UnlockProtectiveStop);
            rig.controller.act(Action::ResumeProgram);
            ends_for_good(&mut rig, &format!("{seed} {software} {deeds:?}"));
        }
    }
    println!("{made} were made, {ended} ended: {reasons:?}");
    assert!(made > 20 && ended > 20, "{made} were made, {ended} ended");
}

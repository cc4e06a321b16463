//! Disturbances on our own side: a host that freezes or runs its loop rarely, a cut cable, closed ports, the end of
//! the process.

use outrigger_core::engine::ur::UrEvent;
use std::time::Duration;

use outrigger_core::engine::ur::{DownCause, FormChoice, VersionSource};
use outrigger_core::engine::{Event, Input, LinkId};
use outrigger_core::mode::{Mode, Proof};
use outrigger_core::robot::Reason;
use outrigger_sim::fault::{Fault, FaultKind};
use outrigger_sim::firmware::{AfterT, Firmware};
use outrigger_tests::cosim::{Buffers, Command, CrashPoint, Motion, Reading, Rig, Setup};
use outrigger_wire::robot::SoftwareVersion;

use super::{SOFTWARE, ms, secs};

fn in_motion(software: SoftwareVersion, buffers: &mut Buffers) -> Rig<'_> {
    let mut rig = Rig::new(Setup::sweep(software, 0.5), buffers);
    rig.command();
    rig.run_for(secs(1));
    rig
}

#[test]
fn a_host_that_stood_still_answers_none_of_the_states_that_waited_with_motion() {
    for software in SOFTWARE {
        for stall in [60, 200, 1_000] {
            let mut buffers = Buffers::default();
            let mut rig = in_motion(software, &mut buffers);
            rig.pause_host(ms(stall));
            let paused = rig.now();
            rig.run_for(secs(2));
            let what = format!("{software}, {stall} ms:\n{}", rig.record().story());
            assert!(rig.record().events.iter().any(|(_, event)| matches!(event, Event::LocalStall { .. })), "{what}");
            assert_eq!(rig.engine().latch(), Some(Reason::LocalStall), "{what}");
            let moving = rig.record().commands_since(paused + Duration::from_micros(1)).filter(|c| c.moves());
            assert_eq!(moving.count(), 0, "{what}");
            assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}");
            rig.input(Input::Acknowledge);
            rig.command();
        }
    }
}

#[test]
fn a_backlog_after_a_stalled_network_is_old_however_late_it_is_read() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = in_motion(software, &mut buffers);
        let begun = rig.now();
        let fault = Fault::parse(&format!("backlog@{}ms:1s:300ms", begun.as_micros() / 1_000 + 1)).unwrap();
        rig.controller.inject(fault);
        rig.run_for(secs(5));
        let story = rig.record().story();
        assert!(!rig.record().commands_since(begun + ms(100)).any(Command::moves), "{software}\n{story}");
        assert_eq!(rig.engine().mode(), Mode::Monitor, "{software}\n{story}");
        rig.input(Input::Acknowledge);
        rig.command();
    }
}

#[test]
fn a_command_that_a_stall_held_back_is_dropped_before_it_moves_an_arm_that_rests() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = in_motion(software, &mut buffers);
        // A command is in transit, and the zero velocities queue behind it.
        rig.run_past_a_command();
        rig.fault(FaultKind::Stall, Some(ms(400)));
        let ends = rig.now() + ms(400);
        rig.run_for(secs(2));
        let after = rig.record().motion.iter().filter(|motion| motion.at >= ends);
        let fastest = after.map(Motion::target_speed).fold(0.0, f64::max);
        assert!(fastest <= 0.0, "{software}: {fastest} rad/s\n{}", rig.record().story());
    }
}

#[test]
fn a_loop_that_comes_round_too_rarely_never_commands_late() {
    for software in SOFTWARE {
        for every in [3, 10, 20, 50] {
            let mut buffers = Buffers::default();
            let mut setup = Setup::sweep(software, 0.5);
            setup.reading = Reading::Every(ms(every));
            let mut rig = Rig::new(setup, &mut buffers);
            rig.run_for(secs(5));
            rig.request();
            // In any case, the rules check every text.
            rig.run_for(secs(5));
            let what = format!("{software}, every {every} ms:\n{}", rig.record().story());
            if ms(every) > ms(40) {
                assert!(!rig.record().modes().contains(&Mode::Command), "{what}");
            }
            if ms(every) < rig.controller.period() {
                assert_eq!(rig.engine().mode(), Mode::Command, "{what}");
            }
        }
    }
}

#[test]
fn a_cable_that_comes_back_leads_to_monitor_and_to_command_only_by_request() {
    for software in SOFTWARE {
        for cut in [ms(300), secs(4)] {
            let mut buffers = Buffers::default();
            let mut rig = in_motion(software, &mut buffers);
            rig.cut_cable(Some(cut));
            rig.run_for(secs(20));
            let what = format!("{software}, {cut:?}:\n{}", rig.record().story());
            assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}");
            assert!(matches!(rig.engine().latch(), Some(Reason::StateStale | Reason::Unacknowledged)), "{what}");
            assert!(!rig.engine().mode_machine().is_motion_unknown(), "{what}");
            rig.input(Input::Acknowledge);
            rig.ready();
            rig.run_for(secs(1));
            assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}");
            rig.command();
        }
    }
}

#[test]
fn an_arm_still_moving_by_our_last_command_gets_one_stop_after_a_reconnect() {
    for software in [SoftwareVersion::new(1, 8), SoftwareVersion::new(3, 1), SoftwareVersion::new(3, 4)] {
        assert_eq!(Firmware(software).after_t(), AfterT::KeepsMoving);
        let mut buffers = Buffers::default();
        let mut setup = Setup::sweep(software, 0.3);
        setup.config.peer.text.form = FormChoice::Bare;
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(secs(1));
        rig.cut_cable(Some(secs(3)));
        let cut = rig.now();
        rig.run_for(secs(3));
        assert!(rig.controller.truth().qd[0] > 0.25, "{software}: nothing has stopped it yet");
        rig.run_for(secs(6));
        let story = rig.record().story();
        let after: Vec<&Command> = rig.record().commands_since(cut + secs(3)).collect();
        assert!(matches!(after[..], [stop] if stop.stops() && stop.mode == Mode::Monitor), "{after:?}\n{story}");
        assert!(rig.controller.truth().at_rest(), "{software}\n{story}");
        let latch = rig.engine().latch();
        assert!(matches!(latch, Some(Reason::StateStale | Reason::Unacknowledged)), "{software}: {latch:?}\n{story}");
        assert!(!rig.engine().mode_machine().is_motion_unknown(), "{software}\n{story}");
    }
}

#[test]
fn without_the_primary_port_the_secondary_one_tells_the_same() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut setup = Setup::sweep(software, 0.5);
        setup.controller.faults.push(closed("30001"));
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        let identity = rig.engine().peer().identity().unwrap();
        // From 3.1 on, 30002 begins with the version message; before, the version is known by the packet.
        let by = if software.at_least(3, 1) { VersionSource::Message } else { VersionSource::Packet };
        assert_eq!((identity.known_by, identity.software), (by, software), "{}", rig.record().story());
    }
}

/// Returns a fault that closes a port for the duration of any test.
fn closed(port: &str) -> Fault {
    Fault::parse(&format!("drop/{port}@0:1000s")).unwrap()
}

#[test]
fn with_neither_only_a_packet_that_shows_the_program_can_prove_acceptance() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut setup = Setup::sweep(software, 0.5);
        setup.controller.faults.extend([closed("30001"), closed("30002")]);
        let mut rig = Rig::new(setup, &mut buffers);
        rig.run_for(secs(5));
        assert_eq!(rig.record().modes(), [Mode::Monitor], "monitoring needs the real-time port alone");
        rig.request();
        // From 3.2 on, the packet contains the program's state.
        if software.at_least(3, 2) {
            rig.run_to(Mode::Command);
            assert_eq!(rig.engine().mode_machine().accepted_by(), Some(Proof::ProgramState));
            continue;
        }
        rig.run_for(secs(1));
        let refused = rig.record().events.iter().any(|(_, event)| matches!(event, Event::Refused(_)));
        assert!(refused && rig.record().commands.is_empty(), "{software}\n{}", rig.record().story());
    }
}

#[test]
fn a_robot_that_refuses_everything_is_tried_again_ever_more_rarely() {
    let mut buffers = Buffers::default();
    let mut setup = Setup::sweep(SoftwareVersion::new(5, 15), 0.5);
    setup.controller.faults.push(Fault::parse("drop@0:30s").unwrap());
    let mut rig = Rig::new(setup, &mut buffers);
    rig.run_for(secs(30));
    let refused = |(_, event): &&(_, Event<UrEvent>)| {
        matches!(event, Event::Peer(UrEvent::Down { link: LinkId::REALTIME, cause: DownCause::Refused, .. }))
    };
    let tries: Vec<_> = rig.record().events.iter().filter(refused).map(|(at, _)| *at).collect();
    let gaps: Vec<Duration> = tries.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(gaps.windows(2).all(|pair| pair[1] >= pair[0]), "{gaps:?}");
    assert!(gaps.last().is_some_and(|gap| (secs(8)..secs(9)).contains(gap)), "{gaps:?}");
    rig.run_for(secs(10));
    assert_eq!(rig.engine().mode(), Mode::Monitor);
}

#[test]
fn a_shutdown_brings_the_arm_to_rest_before_anything_is_closed() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = in_motion(software, &mut buffers);
        rig.input(Input::Shutdown);
        let finished = rig.run_until(secs(2), |rig| rig.engine().is_finished());
        assert!(finished && rig.controller.truth().at_rest(), "{software}\n{}", rig.record().story());
        assert!(rig.record().commands.last().is_some_and(Command::stops));
        rig.run_for(secs(20));
        assert_eq!(rig.engine().mode(), Mode::Offline);
    }
}

#[test]
fn a_sensor_that_is_gone_or_frozen_is_named() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = in_motion(software, &mut buffers);
        rig.kill_sensors();
        let killed = rig.now();
        rig.run_for(secs(2));
        let (fell, reason) = rig.record().fallback().unwrap();
        assert_eq!(reason, Reason::SourceStale);
        assert!(fell.since(killed) <= ms(100) + rig.controller.period() * 3, "{:?}", fell.since(killed));

        let mut buffers = Buffers::default();
        let mut setup = Setup::sweep(software, 0.5);
        if let Some(source) = &mut setup.config.sources[0] {
            source.stuck_after = Some(outrigger_wire::time::Duration::from_secs(4));
        }
        let mut rig = Rig::new(setup, &mut buffers);
        rig.command();
        rig.run_for(secs(5));
        assert_eq!(rig.record().fallbacks(), [Reason::SourceStuck], "{}", rig.record().story());
    }
}

#[test]
fn the_death_of_the_process_leaves_an_arm_that_rests_by_itself() {
    for software in SOFTWARE {
        for death in [CrashPoint::Reset, CrashPoint::Silent] {
            let mut buffers = Buffers::default();
            let mut rig = in_motion(software, &mut buffers);
            rig.run_past_a_command();
            rig.kill(death);
            let killed = rig.now();
            rig.run_for(secs(2));
            // The committed table has the exact figures.
            assert!(rig.record().rest_after(killed).is_some_and(|rest| rest < ms(500)), "{software}, {death:?}");
        }
    }
}

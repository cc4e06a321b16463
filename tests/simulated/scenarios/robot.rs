//! Events at the robot: local control, other programs and commanders, stops, restarts, slower motion.

use outrigger_core::engine::ur::UrEvent;
use outrigger_core::engine::{Event, Input};
use outrigger_core::law::JointServoConfig;
use outrigger_core::mode::Mode;
use outrigger_core::robot::Reason;
use outrigger_core::trajectory::{Progress, Setpoint, Trajectory, Waypoint};
use outrigger_sim::controller::{Action, StartState};
use outrigger_sim::fault::FaultKind;
use outrigger_sim::port::Port;
use outrigger_tests::cosim::{Buffers, Command, Rig, Setup};
use outrigger_wire::robot::{JointPositions, JointVelocities, SoftwareVersion};
use outrigger_wire::time::Duration;

use super::{SOFTWARE, ms, secs};

/// Returns a motion of joint 1 by half a radian within two seconds.
fn trajectory() -> Trajectory<6> {
    let at = |positions, millis| Waypoint {
        setpoint: Setpoint { positions: JointPositions(positions), velocities: JointVelocities::ZERO },
        accelerations: None,
        at: Duration::from_millis(millis),
    };
    Trajectory::through(&[at([0.0; 6], 0), at([0.5, 0.0, 0.0, 0.0, 0.0, 0.0], 2_000)]).unwrap()
}

/// Returns the reasons of rejected requests, in order.
fn refusals(rig: &Rig<'_>) -> Vec<Reason> {
    let refused = |(_, event): &(_, Event<UrEvent>)| {
        if let Event::Refused(refusal) = event { Some(refusal.reason) } else { None }
    };
    rig.record().events.iter().filter_map(refused).collect()
}

#[test]
fn text_that_a_robot_in_local_control_ignores_never_leads_to_command() {
    for software in [SoftwareVersion::new(5, 0), SoftwareVersion::new(5, 9), SoftwareVersion::new(5, 15)] {
        let mut buffers = Buffers::default();
        let mut setup = Setup::sweep(software, 0.5);
        setup.controller.state = StartState::Local;
        let mut rig = Rig::new(setup, &mut buffers);
        rig.ready();
        rig.request();
        rig.run_for(secs(12));
        let story = rig.record().story();
        assert!(!rig.record().modes().contains(&Mode::Command), "{software}\n{story}");
        assert!(!rig.record().commands.iter().any(Command::moves), "{software}\n{story}");
        assert!(rig.record().motion.iter().all(|motion| motion.speed() == 0.0), "{software}");
        let reason = rig.record().fallback().map(|(_, reason)| reason);
        assert!(matches!(reason, Some(Reason::NotGranted | Reason::NotRemote)), "{software}: {reason:?}\n{story}");
        if reason == Some(Reason::NotRemote) {
            // Each text is an entry in the log of the pendant.
            assert_eq!(rig.record().commands.len(), 1, "{software}\n{story}");
        }

        rig.controller.act(Action::SwitchToRemote);
        rig.run_for(secs(1));
        rig.input(Input::Acknowledge);
        rig.command();
    }
}

#[test]
fn an_arm_of_another_model_than_configured_is_not_commanded() {
    use outrigger_wire::robot::RobotModel;
    for (configured, other) in [
        (Some(RobotModel::Ur10e), true),
        (Some(RobotModel::Ur7e), false),
        (Some(RobotModel::Ur5e), false),
        (None, false),
    ] {
        let mut buffers = Buffers::default();
        let mut setup = Setup::sweep(SoftwareVersion::new(5, 15), 0.5);
        setup.controller.model = RobotModel::Ur5e;
        setup.config.peer.model = configured;
        let mut rig = Rig::new(setup, &mut buffers);
        rig.run_for(secs(4));
        rig.request();
        rig.run_for(secs(2));
        let story = rig.record().story();
        assert_eq!(refusals(&rig).contains(&Reason::OtherController), other, "{configured:?}\n{story}");
        assert_eq!(rig.record().modes().contains(&Mode::Command), !other, "{configured:?}\n{story}");
    }
}

#[test]
fn text_that_is_ignored_without_a_word_never_leads_to_command() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::sweep(software, 0.5), &mut buffers);
        rig.fault(FaultKind::Mute, None);
        rig.ready();
        rig.request();
        rig.run_for(secs(12));
        assert_eq!(rig.record().modes(), [Mode::Monitor, Mode::Arming, Mode::Monitor], "{}", rig.record().story());
        assert_eq!(rig.engine().latch(), Some(Reason::NotGranted));
    }
}

#[test]
fn another_program_is_left_alone_unless_taking_over_is_allowed() {
    for software in SOFTWARE {
        for take_over in [false, true] {
            let mut buffers = Buffers::default();
            let mut setup = Setup::sweep(software, 0.5);
            setup.config.mode.take_over = take_over;
            let mut rig = Rig::new(setup, &mut buffers);
            rig.controller.act(Action::StartForeignProgram(0.0));
            rig.run_for(secs(4));
            rig.request();
            if take_over {
                rig.run_to(Mode::Command);
                continue;
            }
            rig.run_for(secs(2));
            assert_eq!(refusals(&rig), [Reason::ForeignProgram], "{software}");
            assert_eq!(rig.record().commands, []);
            rig.controller.act(Action::StopProgram);
            rig.command();
        }
    }
}

#[test]
fn an_arm_that_somebody_else_moves_is_not_armed() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::sweep(software, 0.5), &mut buffers);
        rig.ready();
        rig.controller.act(Action::SecondCommander(Some(0.1)));
        rig.run_for(secs(1));
        rig.request();
        rig.run_for(secs(1));
        let refused = refusals(&rig);
        assert!(matches!(refused[..], [Reason::NotAtRest | Reason::ForeignProgram]), "{software}: {refused:?}");
        assert_eq!(rig.record().commands, []);
    }
}

#[test]
fn a_second_commander_who_gets_his_way_ends_ours() {
    for software in SOFTWARE {
        for mode in [Mode::Arming, Mode::Command] {
            let mut buffers = Buffers::default();
            let mut rig = Rig::new(Setup::sweep(software, 0.5), &mut buffers);
            rig.command();
            if mode == Mode::Arming {
                rig.input(Input::Release);
                rig.run_to(Mode::Monitor);
                rig.ready();
                rig.request();
            }
            rig.run_for(ms(500).min(rig.controller.period() * 40));
            assert_eq!(rig.engine().mode(), mode);
            let other = rig.controller.connect(Port::Secondary).unwrap();
            let begun = rig.now();
            // Sent every cycle, in time, and after our text: the last program of a cycle is the one that runs.
            for _ in 0..60 {
                rig.run_past_a_packet();
                rig.controller.write(other, b"speedj([0,0,0,0,0,0.4],20,0.2)\n");
            }
            let (fell, reason) = rig.record().fallback().unwrap();
            let expected = if mode == Mode::Arming { Reason::ForeignMotion } else { Reason::NotFollowing };
            let story = rig.record().story();
            assert!(
                fell >= begun && (reason == expected || reason == Reason::NotAtRest),
                "{software}: {reason:?}\n{story}"
            );
            assert!(fell.since(begun) < ms(200), "{software}: {:?}\n{story}", fell.since(begun));
        }
    }
}

#[test]
fn a_stop_of_the_robot_in_any_mode_is_answered_with_silence() {
    let stops = [
        (Action::ProtectiveStop, Reason::ProtectiveStop),
        (Action::EmergencyStop, Reason::EmergencyStop),
        (Action::OpenSafeguard, Reason::SafeguardStop),
        (Action::PowerOff, Reason::RobotNotRunning),
    ];
    for software in SOFTWARE {
        for (stop, reason) in stops {
            for mode in [Mode::Monitor, Mode::Arming, Mode::Stopping] {
                let mut buffers = Buffers::default();
                let mut rig = Rig::new(Setup::sweep(software, 0.5), &mut buffers);
                if mode == Mode::Stopping {
                    rig.command();
                    rig.run_for(secs(1));
                    rig.input(Input::Release);
                } else {
                    rig.ready();
                }
                if mode == Mode::Arming {
                    rig.request();
                    rig.run_for(rig.controller.period() * 20);
                }
                assert_eq!(rig.engine().mode(), mode);
                rig.controller.act(stop);
                // The state that shows the stop is in transit.
                rig.run_for(rig.controller.period() + ms(1));
                let known = rig.now();
                rig.run_for(secs(2));
                let what = format!("{software}: {stop:?} in {mode:?}\n{}", rig.record().story());
                assert_eq!(rig.record().commands_since(known).count(), 0, "{what}");
                assert_eq!(rig.engine().mode(), Mode::Monitor, "{what}");
                let latched = (mode == Mode::Arming).then_some(reason);
                assert!(rig.engine().latch() == latched || mode == Mode::Stopping, "{what}");
                rig.request();
                assert!(refusals(&rig).len() == 1, "{what}");
            }
        }
    }
}

#[test]
fn a_controller_that_restarts_is_a_new_session_with_a_new_epoch() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::sweep(software, 0.5), &mut buffers);
        rig.command();
        let before = rig.engine().mode_machine().epoch();
        rig.controller.act(Action::Restart(secs(3)));
        rig.run_for(secs(10));
        let sessions = rig
            .record()
            .events
            .iter()
            .filter(|(_, event)| matches!(event, Event::Peer(UrEvent::Established(_))))
            .count();
        assert_eq!((sessions, rig.engine().mode()), (2, Mode::Monitor), "{}", rig.record().story());
        assert!(rig.engine().mode_machine().epoch() != before);
        rig.controller.act(Action::ReleaseBrakes);
        rig.run_for(secs(5));
        rig.input(Input::Acknowledge);
        rig.command();
    }
}

#[test]
fn a_jump_of_the_controllers_clock_does_not_end_monitoring() {
    for software in SOFTWARE {
        for micros in [5_000_000, -5_000_000] {
            let mut buffers = Buffers::default();
            let mut rig = Rig::new(Setup::sweep(software, 0.5), &mut buffers);
            rig.ready();
            rig.controller.act(Action::JumpClock(micros));
            rig.run_for(secs(1));
            let jumps = rig.record().events.iter().filter(|(_, event)| matches!(event, Event::ClockJump(_))).count();
            assert_eq!((jumps, rig.record().modes()), (1, vec![Mode::Monitor]), "{}", rig.record().story());
            rig.command();
        }
    }
}

#[test]
fn a_slider_at_zero_freezes_a_trajectory_which_then_ends_where_it_should() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::servo(software, trajectory(), JointServoConfig::default()), &mut buffers);
        rig.command();
        let begun = rig.controller.truth().q[0];
        rig.run_for(secs(1));
        rig.controller.act(Action::Slider(0.0));
        rig.run_for(secs(5));
        let story = rig.record().story();
        assert_eq!(rig.engine().mode(), Mode::Command, "{software}\n{story}");
        assert_eq!(rig.engine().motion_status().progress, Progress::Running, "{software}");
        assert!(rig.controller.truth().at_rest());
        rig.controller.act(Action::Slider(1.0));
        rig.run_for(secs(3));
        let story = rig.record().story();
        assert_eq!(rig.engine().motion_status().progress, Progress::Finished, "{software}\n{story}");
        let off = (rig.controller.truth().q[0] - begun - 0.5).to_degrees().abs();
        assert!(off < 0.05, "{software}: {off}°");
    }
}

#[test]
fn a_motion_that_a_stop_interrupted_goes_on_only_when_resumed() {
    for software in SOFTWARE {
        let mut buffers = Buffers::default();
        let mut rig = Rig::new(Setup::servo(software, trajectory(), JointServoConfig::default()), &mut buffers);
        rig.command();
        let begun = rig.controller.truth().q[0];
        rig.run_for(secs(1));
        rig.controller.act(Action::ProtectiveStop);
        rig.run_for(secs(6));
        rig.controller.act(Action::UnlockProtectiveStop);
        rig.controller.act(Action::StopProgram);
        rig.run_for(secs(1));
        rig.input(Input::Acknowledge);
        let half_way = rig.controller.truth().q[0] - begun;
        assert!((0.1..0.4).contains(&half_way), "{software}: {half_way}");
        rig.command();
        rig.run_for(secs(1));
        let held = rig.controller.truth().q[0] - begun;
        assert!((held - half_way).abs() < 0.01, "{software}: a request alone went on to {held}");
        rig.input(Input::Release);
        rig.run_to(Mode::Monitor);
        rig.ready();
        rig.resume();
        rig.run_to(Mode::Command);
        rig.run_for(secs(4));
        let off = (rig.controller.truth().q[0] - begun - 0.5).to_degrees().abs();
        assert!(off < 0.05, "{software}: {off}° from the goal\n{}", rig.record().story());
    }
}

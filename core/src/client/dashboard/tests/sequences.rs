//! The sequences with a robot that obeys, and with one that does not.

use super::super::*;
use super::bench::{E_SERIES, Robot, at, finding, play, play_from};
use outrigger_wire::dashboard::{Argument, OperationalMode, Request, RequestKind, UserRole};
use outrigger_wire::robot::{RobotMode, SafetyMode, SoftwareVersion};
use outrigger_wire::time::Instant;

#[test]
fn bring_up_powers_on_waits_for_idle_releases_the_brakes_and_waits_for_running() {
    let mut robot = Robot::new("NORMAL", "POWER_OFF");
    let told = play(&mut BringUp::new(E_SERIES, BringUpConfig::default()), |request, now| robot.answer(request, now));
    assert_eq!(told.end, Ok(()));
    let expected = [
        "safety mode: NORMAL",
        "robot mode: POWER_OFF",
        "sent: power on",
        "robot mode: BOOTING",
        "robot mode: IDLE",
        "sent: brake release",
        "robot mode: RUNNING",
    ];
    assert_eq!(told.said, expected);
    assert!(told.now < at(6_000), "{:?}", told.now);
}

#[test]
fn bring_up_ends_where_a_person_is_needed_and_says_what_they_can_do() {
    let obstacle = |safety, mode| {
        let mut robot = Robot::new(safety, mode);
        let mut asked = BringUp::new(E_SERIES, BringUpConfig::default());
        play(&mut asked, |request, now| robot.answer(request, now)).end.unwrap_err()
    };
    let emergency = obstacle("ROBOT_EMERGENCY_STOP", "POWER_OFF");
    assert_eq!(emergency, SequenceError::Safety(SafetyMode::RobotEmergencyStop));
    assert_eq!(emergency.advice(), "release the emergency stop, then bring the robot up");
    assert_eq!(obstacle("PROTECTIVE_STOP", "RUNNING"), SequenceError::Safety(SafetyMode::ProtectiveStop));
    assert_eq!(obstacle("NORMAL", "CONFIRM_SAFETY"), SequenceError::RobotMode(RobotMode::ConfirmSafety));
    assert_eq!(obstacle("NORMAL", "BACKDRIVE"), SequenceError::RobotMode(RobotMode::Backdrive));
    let late = obstacle("NORMAL", "NO_CONTROLLER");
    assert_eq!(late.to_string(), "the robot mode is still NO_CONTROLLER after 60 s, not POWER_OFF");
}

#[test]
fn bring_up_connects_anew_once_where_remote_control_came_after_the_connection() {
    let mut robot = Robot { permitted: false, ..Robot::new("NORMAL", "IDLE") };
    let mut bring_up = BringUp::new(E_SERIES, BringUpConfig::default());
    let told = play(&mut bring_up, |request, now| robot.answer(request, now));
    assert_eq!(told.end, Ok(()));
    assert!(told.said.contains(&"no longer in local control: reconnecting".to_owned()));

    let mut robot = Robot { permitted: false, remote: false, ..Robot::new("NORMAL", "IDLE") };
    let mut bring_up = BringUp::new(E_SERIES, BringUpConfig::default());
    let told = play(&mut bring_up, |request, now| robot.answer(request, now));
    assert_eq!(told.end, Err(SequenceError::LocalControl));
    assert_eq!(told.asked.iter().filter(|asked| *asked == "brake release ").count(), 1);

    // 5.0 has no query for remote control: after one new connection, the refusal is believed.
    let mut robot = Robot { permitted: false, remote: false, ..Robot::new("NORMAL", "IDLE") };
    let mut bring_up = BringUp::new(SoftwareVersion::new(5, 0), BringUpConfig::default());
    let told = play(&mut bring_up, |request, now| robot.answer(request, now));
    assert_eq!(told.end, Err(SequenceError::LocalControl));
    assert_eq!(told.asked.iter().filter(|asked| *asked == "brake release ").count(), 2);
}

#[test]
fn a_sequence_that_the_software_cannot_do_asks_nothing_and_says_since_when_it_could() {
    let cb2 = SoftwareVersion::new(1, 8);
    let nobody = |_: &Request<'_>, _| panic!("nothing is asked");
    let told = play(&mut BringUp::new(cb2, BringUpConfig::default()), nobody);
    assert_eq!(
        told.end.unwrap_err().to_string(),
        "software 1.8.0 does not know 'power on': controllers of the CB series do from 3.0 on"
    );
    let told = play(&mut Pendant::lock(SoftwareVersion::new(10, 12)), nobody);
    assert!(matches!(told.end, Err(SequenceError::Unsupported(u)) if u.since.is_none()), "{:?}", told.end);
    let mut robot = Robot::new("PROTECTIVE_STOP", "RUNNING");
    let refused = finding(&mut robot, SoftwareVersion::new(3, 0)).acknowledge().unwrap_err();
    assert!(refused.to_string().contains("'unlock protective stop': controllers of the CB series do from 3.1 on"));
}

#[test]
fn an_acknowledged_protective_stop_is_unlocked_after_its_lock_and_nothing_is_started() {
    let mut robot = Robot { locked: at(4_000), ..Robot::new("PROTECTIVE_STOP", "RUNNING") };
    let finding = finding(&mut robot, E_SERIES);
    assert!(finding.is_recoverable() && !finding.is_clear());
    let mut recovery = Recovery::new(finding.acknowledge().unwrap(), RecoveryConfig::default());
    let mut unlocked = None;
    // The operator took a second to look.
    let told = play_from(at(1_000), &mut recovery, |request, now| {
        if request.kind() == RequestKind::UnlockProtectiveStop {
            unlocked.get_or_insert(now);
        }
        robot.answer(request, now)
    });
    assert_eq!(told.end, Ok(()));
    assert!(unlocked.unwrap() >= at(5_000));
    let expected =
        ["locked for another 4.1 s", "sent: unlock protective stop", "safety mode: NORMAL", "robot mode: RUNNING"];
    assert_eq!(told.said, expected);
    assert!(told.asked.contains(&"close safety popup ".to_owned()));
    assert!(!told.asked.iter().any(|asked| asked.starts_with("play") || asked.starts_with("load")));
}

#[test]
fn a_stop_that_is_younger_than_it_looked_is_waited_for_again() {
    let mut robot = Robot { locked: at(8_000), ..Robot::new("PROTECTIVE_STOP", "RUNNING") };
    let acknowledgement = finding(&mut robot, E_SERIES).acknowledge().unwrap();
    let mut recovery = Recovery::new(acknowledgement, RecoveryConfig::default());
    let told = play(&mut recovery, |request, now| robot.answer(request, now));
    assert_eq!((told.end, told.said[1].as_str()), (Ok(()), "locked for another 5.0 s"));

    let mut robot = Robot { locked: at(1_000_000), ..Robot::new("PROTECTIVE_STOP", "RUNNING") };
    let acknowledgement = finding(&mut robot, E_SERIES).acknowledge().unwrap();
    let mut recovery = Recovery::new(acknowledgement, RecoveryConfig::default());
    let told = play(&mut recovery, |request, now| robot.answer(request, now));
    assert!(matches!(told.end, Err(SequenceError::Refused { request: RequestKind::UnlockProtectiveStop, .. })));
}

#[test]
fn an_acknowledged_fault_restarts_the_safety_system_and_brings_the_robot_up() {
    for safety in ["FAULT", "VIOLATION"] {
        let mut robot = Robot::new(safety, "POWER_OFF");
        let acknowledgement = finding(&mut robot, E_SERIES).acknowledge().unwrap();
        let mut recovery = Recovery::new(acknowledgement, RecoveryConfig::default());
        let told = play(&mut recovery, |request, now| robot.answer(request, now));
        assert_eq!(told.end, Ok(()));
        let acted: Vec<_> = told.said.iter().filter(|said| said.starts_with("sent")).collect();
        assert_eq!(acted, ["sent: restart safety", "sent: power on", "sent: brake release"]);
    }
}

#[test]
fn only_the_stop_that_was_acknowledged_is_cleared() {
    let mut robot = Robot::new("PROTECTIVE_STOP", "RUNNING");
    let acknowledgement = finding(&mut robot, E_SERIES).acknowledge().unwrap();
    robot.safety = "FAULT";
    let mut recovery = Recovery::new(acknowledgement, RecoveryConfig::default());
    let told = play(&mut recovery, |request, now| robot.answer(request, now));
    let other = SequenceError::OtherStop { acknowledged: SafetyMode::ProtectiveStop, found: SafetyMode::Fault };
    assert_eq!((told.end, told.asked), (Err(other), vec!["safetystatus ".to_owned()]));
}

#[test]
fn what_only_a_hand_can_end_cannot_be_acknowledged() {
    for safety in ["ROBOT_EMERGENCY_STOP", "SYSTEM_EMERGENCY_STOP", "SAFEGUARD_STOP", "RECOVERY", "VALIDATE_JOINT_ID"] {
        let finding = finding(&mut Robot::new(safety, "RUNNING"), E_SERIES);
        assert!(!finding.is_recoverable());
        assert!(matches!(finding.acknowledge(), Err(SequenceError::Safety(_))), "{safety}");
    }
    let normal = finding(&mut Robot::new("NORMAL", "RUNNING"), E_SERIES);
    assert!(normal.is_clear() && normal.obstacle().is_none());
}

#[test]
fn cb2_tells_its_stops_by_the_robot_mode() {
    let diagnosed = |line: &str| {
        let mut diagnosis = Diagnosis::new(SoftwareVersion::new(1, 8));
        let told = play(&mut diagnosis, |_, _| line.to_owned());
        assert_eq!((told.end, told.asked.as_slice()), (Ok(()), ["robotmode ".to_owned()].as_slice()));
        diagnosis.into_finding().unwrap()
    };
    assert!(diagnosed("Robotmode: 0").is_clear());
    let stopped = diagnosed("Robotmode: 4");
    assert_eq!(stopped.acknowledge().unwrap_err(), SequenceError::RobotMode(RobotMode::SecurityStopped));
}

#[test]
fn load_is_done_when_the_program_shows_and_before_3_3_that_is_later_than_the_answer() {
    let wanted = Argument::new("cell/weld.urp").unwrap();
    let mut control =
        ProgramControl::new(ProgramGoal::Load(wanted), SoftwareVersion::new(3, 1), ProgramConfig::default());
    let told = play(&mut control, |request, now| match request.kind() {
        RequestKind::Load => "Loading program: /programs/cell/weld.urp".into(),
        _ if now < at(1_500) => "STOPPED other.urp".into(),
        _ => "STOPPED weld.urp".into(),
    });
    assert_eq!(told.end, Ok(()));
    assert!(told.now >= at(1_500));
    assert_eq!(told.said, ["sent: load", "program: STOPPED other.urp", "program: STOPPED weld.urp"]);
}

#[test]
fn a_program_that_does_not_do_what_was_asked_is_said_after_the_limit() {
    let goal = |goal, line: &'static str, software| {
        let mut control = ProgramControl::new(goal, software, ProgramConfig::default());
        play(&mut control, |request, _| match request.kind() {
            RequestKind::Play => "Starting program".into(),
            RequestKind::Pause => "Pausing program".into(),
            RequestKind::Stop => "Stopped".into(),
            _ => line.into(),
        })
    };
    assert_eq!(goal(ProgramGoal::Play, "PLAYING a.urp", E_SERIES).end, Ok(()));
    assert_eq!(goal(ProgramGoal::Stop, "Robot running: False", SoftwareVersion::new(1, 6)).end, Ok(()));
    let told = goal(ProgramGoal::Play, "STOPPED a.urp", E_SERIES);
    assert_eq!(told.end.unwrap_err().to_string(), "20 s after 'play' the program is STOPPED");
    let told = goal(ProgramGoal::Play, "", SoftwareVersion::new(1, 4));
    assert_eq!(
        (told.end, told.said.last().map(String::as_str)),
        (Ok(()), Some("'play' accepted; its effect is not reported"))
    );
    let mut control = ProgramControl::new(ProgramGoal::Play, E_SERIES, ProgramConfig::default());
    let told = play(&mut control, |_, _| "Failed to execute: play".into());
    assert_eq!(told.end.unwrap_err().to_string(), "the controller refuses 'play': Failed to execute: play");
}

#[test]
fn a_locked_pendant_is_put_back_to_what_it_was() {
    let mut role = "operator";
    let mut cb3 = |request: &Request<'_>, _: Instant| match request {
        Request::SetUserRole(new) => {
            role = new.word();
            format!("Setting user role: {role}")
        }
        Request::UserRole => role.to_ascii_uppercase(),
        other => panic!("{other:?}"),
    };
    let software = SoftwareVersion::new(3, 15);
    let mut lock = Pendant::lock(software);
    assert_eq!(play(&mut lock, &mut cb3).end, Ok(()));
    assert_eq!(lock.before(), Some(Before::Role(UserRole::Operator)));
    let told = play(&mut Pendant::put_back(software, lock.before().unwrap()), &mut cb3);
    assert_eq!(told.asked, ["setUserRole operator", "getUserRole "]);
    assert_eq!(role, "operator");

    let mut e_series = |request: &Request<'_>, _: Instant| match request {
        Request::OperationalMode => "MANUAL".to_owned(),
        Request::SetOperationalMode(mode) => format!("Operational mode {} is set", mode.word()),
        Request::ClearOperationalMode => "No longer controlling the operational mode.".to_owned(),
        other => panic!("{other:?}"),
    };
    let mut lock = Pendant::lock(E_SERIES);
    let told = play(&mut lock, &mut e_series);
    assert_eq!((told.end, told.asked[1].as_str()), (Ok(()), "set operational mode automatic"));
    assert_eq!(lock.before(), Some(Before::Mode(Some(OperationalMode::Manual))));
    let told = play(&mut Pendant::put_back(E_SERIES, lock.before().unwrap()), &mut e_series);
    assert_eq!(told.asked, ["set operational mode manual", "clear operational mode "]);
}

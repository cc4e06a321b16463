//! The client over any pieces of a stream, and the sequences against answers of every kind.

use super::*;
use crate::client::Output;
use crate::robot::{RobotMode, SafetyMode, SoftwareVersion};
use crate::time::{Duration, Instant};
use crate::wire::dashboard::{Argument, OperationalMode, Refusal, Reply, Request, RequestKind, UserRole};
use proptest::prelude::*;

const GREETING: &[u8] = b"Connected: Universal Robots Dashboard Server\n";
const E_SERIES: SoftwareVersion = SoftwareVersion::new(5, 15);
const REMOTE: &str = "Command is not allowed due to safety reasons, please switch robot to Remote Control mode and \
                      reconnect to port 29999";

fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1_000)
}

fn receive(client: &mut Client<'_>, bytes: &[u8]) {
    let window = client.receive_window();
    window[..bytes.len()].copy_from_slice(bytes);
    client.commit(bytes.len(), at(0));
}

fn outputs(client: &mut Client<'_>) -> Vec<String> {
    let mut outputs = vec![];
    while let Some(output) = client.poll_output() {
        outputs.push(match output {
            Output::Open { port } => format!("(open {port})"),
            Output::Transmit(line) => String::from_utf8(line.to_vec()).unwrap(),
            Output::Close => "(close)".into(),
        });
    }
    outputs
}

/// Connected and greeted.
fn greet(client: &mut Client<'_>) {
    client.handle(at(0), Input::Start);
    assert_eq!(outputs(client), ["(open 29999)"]);
    client.handle(at(0), Input::Opened);
    receive(client, GREETING);
    assert_eq!(client.poll_event(), Some(Event::Ready));
    assert_eq!(client.poll_event(), None);
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn a_request_waits_for_connection_and_greeting_and_the_next_one_for_the_answer() {
    let mut memory = [0; 128];
    let mut client = Client::new(&mut memory, Timeouts::default());
    client.handle(at(0), Input::Request(Request::RobotMode));
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    client.handle(at(0), Input::Request(Request::Running));
    assert_eq!(client.poll_event(), Some(Event::Busy(RequestKind::Running)));
    client.handle(at(1), Input::Opened);
    assert_eq!(outputs(&mut client), [] as [&str; 0]);
    receive(&mut client, GREETING);
    assert_eq!(client.poll_event(), Some(Event::Ready));
    assert_eq!(client.poll_event(), None);
    assert_eq!(outputs(&mut client), ["robotmode\n"]);
    client.handle(at(6), Input::Request(Request::RobotMode));
    assert_eq!(client.poll_event(), Some(Event::Busy(RequestKind::RobotMode)));
    assert_eq!(outputs(&mut client), [] as [&str; 0]);
    receive(&mut client, b"Robotmode: RUN");
    assert_eq!(client.poll_event(), None);
    receive(&mut client, b"NING\r\n");
    let Some(Event::Replied { request, reply, line }) = client.poll_event() else { panic!("an answer") };
    assert_eq!((request, reply), (RequestKind::RobotMode, Reply::RobotMode(RobotMode::Running)));
    assert_eq!(line.0, b"Robotmode: RUNNING");
    assert!(client.is_ready());
}

#[test]
fn a_connection_that_is_refused_or_not_made_in_time_is_told_with_the_request_that_waited() {
    let mut memory = [0; 128];
    let mut client = Client::new(&mut memory, Timeouts::default());
    client.handle(at(0), Input::Start);
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    client.handle(at(0), Input::Refused);
    assert_eq!(client.poll_event(), Some(Event::NotConnected { request: None, waited: None }));
    client.handle(at(10), Input::Request(Request::RobotMode));
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    assert_eq!(client.poll_timeout(), Some(at(5_010)));
    client.handle(at(5_009), Input::Tick);
    assert_eq!(client.poll_event(), None);
    client.handle(at(5_010), Input::Tick);
    let event = Event::NotConnected { request: Some(RequestKind::RobotMode), waited: Some(Duration::from_secs(5)) };
    assert_eq!(client.poll_event(), Some(event));
    assert_eq!(outputs(&mut client), ["(close)"]);
    client.handle(at(5_011), Input::Opened);
    assert_eq!(client.poll_event(), None, "it was given up");
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn an_answer_that_comes_too_late_ends_the_connection_and_answers_nothing() {
    let mut memory = [0; 128];
    let mut client = Client::new(&mut memory, Timeouts::default());
    greet(&mut client);
    client.handle(at(10), Input::Request(Request::RobotMode));
    assert_eq!(outputs(&mut client), ["robotmode\n"]);
    assert_eq!(client.poll_timeout(), Some(at(1_010)));
    client.handle(at(1_009), Input::Tick);
    assert_eq!(client.poll_event(), None);
    client.handle(at(1_010), Input::Tick);
    let silent = Event::Silent { request: Some(RequestKind::RobotMode), waited: Duration::from_secs(1) };
    assert_eq!(client.poll_event(), Some(silent));
    assert_eq!(outputs(&mut client), ["(close)"]);
    receive(&mut client, b"Robotmode: RUNNING\n");
    assert_eq!(client.poll_event(), None);
    client.handle(at(2_000), Input::Start);
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    client.handle(at(2_000), Input::Opened);
    assert_eq!(client.poll_event(), None, "nothing is left of it");
    assert_eq!(client.poll_timeout(), Some(at(4_000)));
}

#[test]
fn permission_is_of_the_connection_so_after_a_refusal_for_want_of_it_the_next_request_connects_anew() {
    let mut memory = [0; 256];
    let mut client = Client::new(&mut memory, Timeouts::default());
    greet(&mut client);
    client.handle(at(0), Input::Request(Request::PowerOn));
    assert_eq!(outputs(&mut client), ["power on\n"]);
    receive(&mut client, format!("{REMOTE}\n").as_bytes());
    let reply = client.poll_event();
    assert!(matches!(reply, Some(Event::Replied { reply: Reply::Refused(Refusal::NeedsRemoteControl), .. })));
    client.handle(at(0), Input::Request(Request::PowerOn));
    assert_eq!(outputs(&mut client), ["(close)", "(open 29999)"]);
}

#[test]
fn another_service_an_unasked_line_and_an_endless_one_are_told_apart() {
    let mut memory = [0; 64];
    let mut client = Client::new(&mut memory, Timeouts::default());
    client.handle(at(0), Input::Request(Request::RobotMode));
    assert_eq!(outputs(&mut client), ["(open 29999)"]);
    client.handle(at(0), Input::Opened);
    receive(&mut client, b"SSH-2.0-OpenSSH_9.6\r\n");
    let text = crate::wire::primary::Text(b"SSH-2.0-OpenSSH_9.6");
    let wrong = Event::WrongService { request: Some(RequestKind::RobotMode), text };
    assert_eq!(client.poll_event(), Some(wrong));
    assert_eq!(outputs(&mut client), ["(close)"]);

    greet(&mut client);
    receive(&mut client, b"Program running: true\n");
    assert!(matches!(client.poll_event(), Some(Event::Unasked(_))));
    client.handle(at(0), Input::Request(Request::LoadedProgram));
    for _ in 0..8 {
        receive(&mut client, &[b'x'; 16]);
        assert_eq!(client.poll_event(), None);
    }
    receive(&mut client, b"\n");
    let event = client.poll_event();
    assert!(matches!(event, Some(Event::TooLong { request: Some(RequestKind::LoadedProgram), .. })), "{event:?}");
    assert!(client.is_ready());
    client.handle(at(0), Input::Request(Request::RobotMode));
    client.handle(at(0), Input::Closed);
    assert_eq!(client.poll_event(), Some(Event::Closed { request: Some(RequestKind::RobotMode) }));
}

/// A controller that answers by a function, and everything that happened, with the time.
struct Transcript {
    asked: Vec<String>,
    said: Vec<String>,
    now: Instant,
    end: Result<(), Obstacle>,
}

fn play(sequence: &mut impl Sequence, answer: impl FnMut(&Request<'_>, Instant) -> String) -> Transcript {
    play_from(Instant::ZERO, sequence, answer)
}

fn play_from(
    start: Instant,
    sequence: &mut impl Sequence,
    mut answer: impl FnMut(&Request<'_>, Instant) -> String,
) -> Transcript {
    let mut told = Transcript { asked: vec![], said: vec![], now: start, end: Ok(()) };
    for _ in 0..5_000 {
        while let Some(event) = sequence.poll_event() {
            match event {
                SequenceEvent::Progress(progress) => told.said.push(progress.to_string()),
                SequenceEvent::Done | SequenceEvent::Stopped(_) => {
                    if let SequenceEvent::Stopped(obstacle) = event {
                        told.end = Err(obstacle);
                    }
                    sequence.handle(told.now + Duration::from_secs(1), SequenceInput::Tick);
                    assert_eq!(sequence.poll_output(), None, "an end is an end");
                    assert_eq!(sequence.poll_timeout(), None, "an end is an end");
                    assert_eq!(sequence.poll_event(), None, "an end is an end");
                    return told;
                }
            }
        }
        if let Some(request) = sequence.poll_output() {
            told.asked.push(format!("{} {}", request.kind().words(), request.argument().unwrap_or("")));
            let line = answer(&request, told.now);
            let kind = request.kind();
            assert_eq!(sequence.poll_output(), None, "one request, and then its answer");
            told.now = told.now + Duration::from_millis(3);
            sequence.handle(told.now, SequenceInput::Reply(Reply::parse(kind, line.as_bytes())));
            continue;
        }
        let at = sequence.poll_timeout().expect("an answer, an end or a time is waited for");
        assert!(at > told.now, "it waits for the past");
        told.now = at;
        sequence.handle(at, SequenceInput::Tick);
    }
    panic!("no end in sight: {:#?}", told.asked.iter().rev().take(20).collect::<Vec<_>>());
}

/// A robot that obeys, by lines.
struct Robot {
    safety: &'static str,
    mode: &'static str,
    /// When the mode becomes another.
    next: Option<(Instant, &'static str)>,
    /// Until when a protective stop is locked.
    locked: Instant,
    remote: bool,
    /// Whether the connection was made in remote control.
    permitted: bool,
}

impl Robot {
    fn new(safety: &'static str, mode: &'static str) -> Self {
        Self { safety, mode, next: None, locked: Instant::ZERO, remote: true, permitted: true }
    }

    fn answer(&mut self, request: &Request<'_>, now: Instant) -> String {
        if let Some((at, mode)) = self.next
            && now >= at
        {
            self.mode = mode;
            self.next = None;
        }
        if request.kind().needs_remote_control() && !self.permitted {
            // The client connects anew.
            self.permitted = self.remote;
            return REMOTE.into();
        }
        match request.kind() {
            RequestKind::SafetyMode => format!("Safetymode: {}", self.safety),
            RequestKind::SafetyStatus => format!("Safetystatus: {}", self.safety),
            RequestKind::RobotMode => format!("Robotmode: {}", self.mode),
            RequestKind::IsInRemoteControl => self.remote.to_string(),
            RequestKind::PowerOn => {
                self.mode = "BOOTING";
                self.next = Some((now + Duration::from_secs(3), "IDLE"));
                "Powering on".into()
            }
            RequestKind::BrakeRelease => {
                self.next = Some((now + Duration::from_secs(2), "RUNNING"));
                "Brake releasing".into()
            }
            RequestKind::UnlockProtectiveStop if now < self.locked => {
                "Cannot unlock protective stop until 5s after occurrence. Always inspect cause".into()
            }
            RequestKind::UnlockProtectiveStop => {
                self.safety = "NORMAL";
                "Protective stop releasing".into()
            }
            RequestKind::RestartSafety => {
                (self.safety, self.mode) = ("NORMAL", "POWER_OFF");
                "Restarting safety".into()
            }
            RequestKind::CloseSafetyPopup => "closing safety popup".into(),
            other => format!("could not understand: '{}'", other.words()),
        }
    }
}

fn finding(robot: &mut Robot, software: SoftwareVersion) -> Finding {
    let mut diagnosis = Diagnosis::new(software);
    let told = play(&mut diagnosis, |request, now| robot.answer(request, now));
    assert!(told.end.is_ok() && told.asked.iter().all(|asked| asked.starts_with("safety") || asked == "robotmode "));
    diagnosis.into_finding().unwrap()
}

#[test]
fn bring_up_powers_on_waits_for_idle_releases_the_brakes_and_waits_for_running() {
    let mut robot = Robot::new("NORMAL", "POWER_OFF");
    let told = play(&mut BringUp::new(E_SERIES, BringUpConfig::default()), |request, now| robot.answer(request, now));
    assert_eq!(told.end, Ok(()));
    let expected = [
        "safety mode: NORMAL",
        "robot mode: POWER_OFF",
        "asked: power on",
        "robot mode: BOOTING",
        "robot mode: IDLE",
        "asked: brake release",
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
    assert_eq!(emergency, Obstacle::Safety(SafetyMode::RobotEmergencyStop));
    assert_eq!(emergency.advice(), "release the emergency stop, then bring the robot up");
    assert_eq!(obstacle("PROTECTIVE_STOP", "RUNNING"), Obstacle::Safety(SafetyMode::ProtectiveStop));
    assert_eq!(obstacle("NORMAL", "CONFIRM_SAFETY"), Obstacle::RobotMode(RobotMode::ConfirmSafety));
    assert_eq!(obstacle("NORMAL", "BACKDRIVE"), Obstacle::RobotMode(RobotMode::Backdrive));
    let late = obstacle("NORMAL", "NO_CONTROLLER");
    assert_eq!(late.to_string(), "the robot mode is still NO_CONTROLLER after 60 s, not POWER_OFF");
}

#[test]
fn bring_up_connects_anew_once_where_remote_control_came_after_the_connection() {
    let mut robot = Robot { permitted: false, ..Robot::new("NORMAL", "IDLE") };
    let mut bring_up = BringUp::new(E_SERIES, BringUpConfig::default());
    let told = play(&mut bring_up, |request, now| robot.answer(request, now));
    assert_eq!(told.end, Ok(()));
    assert!(told.said.contains(&"in remote control now: connects anew".to_owned()));

    let mut robot = Robot { permitted: false, remote: false, ..Robot::new("NORMAL", "IDLE") };
    let mut bring_up = BringUp::new(E_SERIES, BringUpConfig::default());
    let told = play(&mut bring_up, |request, now| robot.answer(request, now));
    assert_eq!(told.end, Err(Obstacle::LocalControl));
    assert_eq!(told.asked.iter().filter(|asked| *asked == "brake release ").count(), 1);

    // 5.0 has no question for it: one new connection, then it is believed.
    let mut robot = Robot { permitted: false, remote: false, ..Robot::new("NORMAL", "IDLE") };
    let mut bring_up = BringUp::new(SoftwareVersion::new(5, 0), BringUpConfig::default());
    let told = play(&mut bring_up, |request, now| robot.answer(request, now));
    assert_eq!(told.end, Err(Obstacle::LocalControl));
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
    assert!(matches!(told.end, Err(Obstacle::Unsupported(u)) if u.since.is_none()), "{:?}", told.end);
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
        ["locked for another 4.1 s", "asked: unlock protective stop", "safety mode: NORMAL", "robot mode: RUNNING"];
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
    assert!(matches!(told.end, Err(Obstacle::Refused { request: RequestKind::UnlockProtectiveStop, .. })));
}

#[test]
fn an_acknowledged_fault_restarts_the_safety_system_and_brings_the_robot_up() {
    for safety in ["FAULT", "VIOLATION"] {
        let mut robot = Robot::new(safety, "POWER_OFF");
        let acknowledgement = finding(&mut robot, E_SERIES).acknowledge().unwrap();
        let mut recovery = Recovery::new(acknowledgement, RecoveryConfig::default());
        let told = play(&mut recovery, |request, now| robot.answer(request, now));
        assert_eq!(told.end, Ok(()));
        let acted: Vec<_> = told.said.iter().filter(|said| said.starts_with("asked")).collect();
        assert_eq!(acted, ["asked: restart safety", "asked: power on", "asked: brake release"]);
    }
}

#[test]
fn only_the_stop_that_was_acknowledged_is_cleared() {
    let mut robot = Robot::new("PROTECTIVE_STOP", "RUNNING");
    let acknowledgement = finding(&mut robot, E_SERIES).acknowledge().unwrap();
    robot.safety = "FAULT";
    let mut recovery = Recovery::new(acknowledgement, RecoveryConfig::default());
    let told = play(&mut recovery, |request, now| robot.answer(request, now));
    let other = Obstacle::OtherStop { acknowledged: SafetyMode::ProtectiveStop, found: SafetyMode::Fault };
    assert_eq!((told.end, told.asked), (Err(other), vec!["safetystatus ".to_owned()]));
}

#[test]
fn what_only_a_hand_can_end_cannot_be_acknowledged() {
    for safety in ["ROBOT_EMERGENCY_STOP", "SYSTEM_EMERGENCY_STOP", "SAFEGUARD_STOP", "RECOVERY", "VALIDATE_JOINT_ID"] {
        let finding = finding(&mut Robot::new(safety, "RUNNING"), E_SERIES);
        assert!(!finding.is_recoverable());
        assert!(matches!(finding.acknowledge(), Err(Obstacle::Safety(_))), "{safety}");
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
    assert_eq!(stopped.acknowledge().unwrap_err(), Obstacle::RobotMode(RobotMode::SecurityStopped));
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
    assert_eq!(told.said, ["asked: load", "program: STOPPED other.urp", "program: STOPPED weld.urp"]);
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
        (Ok(()), Some("'play' was taken; this software tells no more"))
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

/// Anything a controller has ever said, and what none has.
const LINES: [&str; 30] = [
    "Safetymode: NORMAL",
    "Safetymode: REDUCED",
    "Safetystatus: PROTECTIVE_STOP",
    "Safetystatus: FAULT",
    "Safetystatus: VIOLATION",
    "Safetymode: ROBOT_EMERGENCY_STOP",
    "Robotmode: RUNNING",
    "Robotmode: IDLE",
    "Robotmode: POWER_OFF",
    "Robotmode: BOOTING",
    "Robotmode: 4",
    "true",
    "false",
    "Powering on",
    "Brake releasing",
    "Protective stop releasing",
    "Cannot unlock protective stop until 5s after occurrence",
    "Restarting safety",
    "closing safety popup",
    "STOPPED a.urp",
    "PLAYING a.urp",
    "Loading program: a.urp",
    "Starting program",
    "Stopped",
    "LOCKED",
    "Setting user role: locked",
    "could not understand: 'x'",
    "Failed to execute: play",
    "Command is not allowed due to safety reasons, ...",
    "\u{fffd}",
];

fn software() -> impl Strategy<Value = SoftwareVersion> {
    let versions =
        [(1, 4), (1, 6), (1, 8), (3, 0), (3, 1), (3, 5), (3, 15), (5, 0), (5, 5), (5, 25), (10, 11), (10, 12)];
    prop::sample::select(versions.to_vec()).prop_map(|(major, minor)| SoftwareVersion::new(major, minor))
}

proptest! {
    /// Half of the time the answer is one that the question could have.
    #[test]
    fn whatever_is_answered_every_sequence_ends_and_clears_only_what_was_acknowledged(
        software in software(),
        noise in prop::collection::vec((0..LINES.len(), any::<bool>()), 1..60),
        safety in prop::sample::select(vec!["NORMAL", "PROTECTIVE_STOP", "FAULT"]),
    ) {
        let mut noise = noise.iter().cycle();
        let mut robot = Robot::new(safety, "POWER_OFF");
        let mut answer = |request: &Request<'_>, now: Instant| match noise.next() {
            Some((line, true)) => LINES[*line].to_owned(),
            _ => robot.answer(request, now),
        };
        let clears = |told: &Transcript| told.asked.iter().any(|a| a.starts_with("unlock") || a.starts_with("restart"));
        prop_assert!(!clears(&play(&mut BringUp::new(software, BringUpConfig::default()), &mut answer)));
        for goal in [ProgramGoal::Play, ProgramGoal::Stop, ProgramGoal::Load(Argument::new("a.urp").unwrap())] {
            prop_assert!(!clears(&play(&mut ProgramControl::new(goal, software, ProgramConfig::default()), &mut answer)));
        }
        prop_assert!(!clears(&play(&mut Pendant::lock(software), &mut answer)));
        let mut diagnosis = Diagnosis::new(software);
        prop_assert!(!clears(&play(&mut diagnosis, &mut answer)));
        let acknowledged = diagnosis.into_finding().and_then(|finding| {
            let stop = finding.safety();
            Some((finding.acknowledge().ok()?, stop?))
        });
        if let Some((acknowledgement, stop)) = acknowledged {
            let mut seen = stop;
            let told = play(&mut Recovery::new(acknowledgement, RecoveryConfig::default()), |request, now| {
                let line = answer(request, now);
                let clearing = match request.kind() {
                    RequestKind::UnlockProtectiveStop => seen == SafetyMode::ProtectiveStop,
                    RequestKind::RestartSafety => matches!(seen, SafetyMode::Fault | SafetyMode::Violation),
                    kind => {
                        if let Reply::Safety(mode) = Reply::parse(kind, line.as_bytes()) {
                            seen = mode;
                        }
                        true
                    }
                };
                assert!(clearing, "{} while the safety mode is {seen:?}", request.kind().words());
                line
            });
            prop_assert!(!told.asked.iter().any(|asked| asked.starts_with("play")));
        }
    }

    #[test]
    fn answers_cut_anywhere_are_the_same_answers(cuts in prop::collection::vec(1..7_usize, 1..12)) {
        let stream = [GREETING, b"Robotmode: RUNNING\r\nSafetymode: NORMAL\nProgram running: false\n"].concat();
        let mut memory = [0; 64];
        let mut client = Client::new(&mut memory, Timeouts::default());
        client.handle(at(0), Input::Start);
        client.handle(at(0), Input::Opened);
        let mut questions = [Request::RobotMode, Request::SafetyMode, Request::Running].into_iter();
        let (mut rest, mut cuts, mut replies) = (stream.as_slice(), cuts.iter().cycle(), Vec::new());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            rest = after;
            receive(&mut client, piece);
            while let Some(event) = client.poll_event() {
                if let Event::Replied { line, .. } = event {
                    replies.push(line.to_string());
                }
                if let Some(question) = questions.next() {
                    client.handle(at(1), Input::Request(question));
                }
            }
        }
        prop_assert_eq!(replies, ["Robotmode: RUNNING", "Safetymode: NORMAL", "Program running: false"]);
    }
}

use outrigger_core::client::dashboard::SequenceError;
use outrigger_wire::dashboard::{Reply, RequestKind};
use outrigger_wire::robot::{RobotMode, SafetyMode};
use outrigger_wire::time::Duration;

use super::*;

const E_SERIES: SoftwareVersion = SoftwareVersion::new(5, 15);
const POLYSCOPE_X: SoftwareVersion = SoftwareVersion::new(10, 12);

/// A simulated controller whose modes change a second after a request.
struct Robot {
    safety: &'static str,
    mode: &'static str,
    next: Option<(Instant, &'static str)>,
    program: &'static str,
    script: bool,
    remote: bool,
    asked: Vec<&'static str>,
}

impl Robot {
    fn new(mode: &'static str) -> Self {
        Self { safety: "NORMAL", mode, next: None, program: "STOPPED", script: false, remote: true, asked: vec![] }
    }

    fn answer(&mut self, kind: RequestKind, now: Instant) -> String {
        if let Some((at, mode)) = self.next
            && now >= at
        {
            (self.mode, self.next) = (mode, None);
        }
        if kind.needs_remote_control() {
            self.asked.push(kind.words());
            if !std::mem::replace(&mut self.remote, true) {
                return "Command is not allowed due to safety reasons, please switch robot to Remote Control".into();
            }
        }
        let mut soon = |mode| self.next = Some((now + Duration::from_secs(1), mode));
        match kind {
            RequestKind::SafetyMode | RequestKind::SafetyStatus => format!("Safetymode: {}", self.safety),
            RequestKind::RobotMode => format!("Robotmode: {}", self.mode),
            RequestKind::PowerOn => {
                soon("IDLE");
                "Powering on".into()
            }
            RequestKind::PowerOff => {
                soon("POWER_OFF");
                "Powering off".into()
            }
            RequestKind::BrakeRelease => {
                soon("RUNNING");
                "Brake releasing".into()
            }
            RequestKind::ProgramState => format!("{} a.urp", self.program),
            RequestKind::Running => format!("Program running: {}", self.script || self.program == "PLAYING"),
            RequestKind::Stop => {
                (self.program, self.script) = ("STOPPED", false);
                "Stopped".into()
            }
            RequestKind::Play => {
                self.program = "PLAYING";
                "Starting program".into()
            }
            other => panic!("nobody needs {other:?}"),
        }
    }
}

/// The record of a mode change requested over ROS: the requests that need remote control, the outcome, the time of the
/// end, the reported progress, and the result.
struct Told {
    asked: Vec<&'static str>,
    end: Result<(), SequenceError>,
    at: Instant,
    feedback: Vec<[i8; 2]>,
    result: SetModeResult,
}

fn run(target_robot_mode: i8, stop_program: bool, play_program: bool, software: SoftwareVersion, robot: Robot) -> Told {
    let mut robot = robot;
    let goal = SetModeGoal { target_robot_mode, stop_program, play_program };
    let mut change = ModeChange::new(&goal, software).expect("a mode that can be chosen");
    let (mut now, mut feedback) = (Instant::ZERO, vec![]);
    for _ in 0..2_000 {
        while let Some(event) = change.poll_event() {
            let end = match event {
                SequenceEvent::Progress(_) => {
                    if let Some(SetModeFeedback { current_robot_mode, current_safety_mode }) = change.feedback() {
                        feedback.push([current_robot_mode, current_safety_mode]);
                        feedback.dedup();
                    }
                    continue;
                }
                SequenceEvent::Done => Ok(()),
                SequenceEvent::Stopped(obstacle) => Err(obstacle),
            };
            assert!(change.poll_event().is_none() && change.poll_output().is_none(), "it is over");
            let result = change.result(end.map_err(|obstacle| obstacle.to_string()));
            return Told { asked: robot.asked, end, at: now, feedback, result };
        }
        let asked = change.poll_output().map(|request| request.kind());
        if let Some(kind) = asked {
            let line = robot.answer(kind, now);
            change.handle(now, SequenceInput::Reply(Reply::parse(kind, line.as_bytes())));
            continue;
        }
        if let Some(at) = change.poll_timeout() {
            now = at.max(now);
        }
        change.handle(now, SequenceInput::Tick);
    }
    panic!("it does not end: {:?}", robot.asked);
}

#[test]
fn each_mode_is_reached_from_each_other_one() {
    for software in [SoftwareVersion::new(3, 5), E_SERIES, POLYSCOPE_X] {
        for (from, to, asked) in [
            ("POWER_OFF", 3, &[][..]),
            ("IDLE", 3, &["power off"]),
            ("RUNNING", 3, &["power off"]),
            ("BACKDRIVE", 3, &["power off"]),
            ("POWER_OFF", 5, &["power on"]),
            ("IDLE", 5, &[]),
            ("RUNNING", 5, &["power off", "power on"]),
            ("POWER_OFF", 7, &["power on", "brake release"]),
            ("IDLE", 7, &["brake release"]),
            ("RUNNING", 7, &[]),
        ] {
            let told = run(to, false, false, software, Robot::new(from));
            assert_eq!((told.end, told.asked.as_slice()), (Ok(()), asked), "{from} to {to}");
            assert!(told.result.success && told.result.message.ends_with(" is reached"), "{:?}", told.result);
        }
    }
    let told = run(5, false, false, E_SERIES, Robot::new("RUNNING"));
    assert_eq!(told.feedback, [[7, 1], [3, 1], [5, 1]]);
}

#[test]
fn a_program_is_stopped_before_and_started_after_where_that_is_not_so_already() {
    let told = run(3, true, true, E_SERIES, Robot { program: "PAUSED", ..Robot::new("RUNNING") });
    assert_eq!(told.asked, ["stop", "power off"], "nothing plays without power");
    let told = run(7, true, false, E_SERIES, Robot::new("RUNNING"));
    assert_eq!(told.asked, [""; 0]);
    // A script is not a program, and runs all the same; PolyScope X does not report it.
    let script = || Robot { script: true, ..Robot::new("RUNNING") };
    assert_eq!(run(7, true, false, E_SERIES, script()).asked, ["stop"]);
    assert_eq!(run(7, true, false, POLYSCOPE_X, script()).asked, [""; 0]);
    let told = run(7, false, true, E_SERIES, Robot::new("IDLE"));
    assert_eq!(told.asked, ["brake release", "play"]);
    assert!(told.at >= Instant::ZERO + Duration::from_secs(2), "the brakes, and a second for them to settle");
    assert_eq!(told.result, SetModeResult { success: true, message: "RUNNING is reached, the program runs".into() });
    let told = run(7, false, true, E_SERIES, Robot { program: "PLAYING", ..Robot::new("RUNNING") });
    assert_eq!((told.end, told.asked), (Ok(()), vec![]));
}

#[test]
fn no_stop_is_cleared_and_power_can_be_taken_away_all_the_same() {
    for (safety, stop) in [("PROTECTIVE_STOP", SafetyMode::ProtectiveStop), ("FAULT", SafetyMode::Fault)] {
        let robot = |mode| Robot { safety, ..Robot::new(mode) };
        for to in [5, 7] {
            let told = run(to, false, true, E_SERIES, robot("POWER_OFF"));
            assert_eq!((told.end, told.asked), (Err(SequenceError::Safety(stop)), vec![]));
            assert_eq!(told.result.message, format!("the safety mode is {safety}"));
        }
        assert_eq!(run(3, false, false, E_SERIES, robot("RUNNING")).asked, ["power off"]);
    }
    let told = run(3, false, false, E_SERIES, Robot { safety: "LATER_STOP", ..Robot::new("RUNNING") });
    assert_eq!((told.end, told.asked.as_slice(), told.feedback.len()), (Ok(()), &["power off"][..], 0));
}

#[test]
fn a_refusal_for_want_of_remote_control_is_asked_about_once_more() {
    let told = run(3, false, false, E_SERIES, Robot { remote: false, ..Robot::new("RUNNING") });
    assert_eq!((told.end, told.asked.as_slice()), (Ok(()), &["power off", "power off"][..]));
    let goal = SetModeGoal { target_robot_mode: 3, ..SetModeGoal::default() };
    let mut change = ModeChange::new(&goal, E_SERIES).expect("a mode");
    let mut end = None;
    for _ in 0..20 {
        let line = match change.poll_output().map(|request| request.kind()) {
            Some(RequestKind::SafetyMode) => "Safetymode: NORMAL",
            Some(RequestKind::RobotMode) => "Robotmode: RUNNING",
            Some(_) => "Command is not allowed due to safety reasons",
            None => break,
        };
        let kind = if line.starts_with("Robot") { RequestKind::RobotMode } else { RequestKind::SafetyMode };
        change.handle(Instant::ZERO, SequenceInput::Reply(Reply::parse(kind, line.as_bytes())));
        end = std::iter::from_fn(|| change.poll_event()).last().or(end);
    }
    assert_eq!(end, Some(SequenceEvent::Stopped(SequenceError::LocalControl)));
}

#[test]
fn what_cannot_be_chosen_or_is_not_known_is_refused_and_what_is_not_reached_is_told() {
    for mode in [-1, 0, 1, 2, 4, 6, 8, 100] {
        let goal = SetModeGoal { target_robot_mode: mode, ..SetModeGoal::default() };
        let said = ModeChange::new(&goal, E_SERIES).err().expect("it cannot").to_string();
        assert_eq!(said, format!("target_robot_mode: expected 3 (POWER_OFF), 5 (IDLE) or 7 (RUNNING), found {mode}"));
    }
    for (to, software) in [3, 5, 7].into_iter().flat_map(|to| [(to, (1, 8)), (to, (10, 11))]) {
        let software = SoftwareVersion::new(software.0, software.1);
        let told = run(to, false, false, software, Robot::new("RUNNING"));
        assert!(matches!(told.end, Err(SequenceError::Unsupported(_))) && told.asked.is_empty(), "{software} {to}");
    }
    let told = run(5, false, false, E_SERIES, Robot::new("BOOTING"));
    let waited = Duration::from_millis(60_200);
    assert_eq!(told.end, Err(SequenceError::NotReached { wanted: RobotMode::Idle, found: RobotMode::Booting, waited }));
    let told = run(5, false, false, E_SERIES, Robot::new("CONFIRM_SAFETY"));
    assert_eq!(told.end, Err(SequenceError::RobotMode(RobotMode::ConfirmSafety)));
}

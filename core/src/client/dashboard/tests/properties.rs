//! Properties that hold for any replies, and any segmentation of them.

use proptest::prelude::*;

use super::super::*;
use super::bench::{GREETING, Robot, Transcript, at, play, receive};
use outrigger_wire::dashboard::{Argument, Reply, Request, RequestKind};
use outrigger_wire::robot::{SafetyMode, SoftwareVersion};
use outrigger_wire::time::Instant;

/// Reply lines that dashboard servers have sent, and some that no server has sent.
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
    /// Answers requests at random, with any line or with the line of a simulated robot. Each sequence must end, and
    /// only an acknowledged stop may be unlocked or its safety restarted.
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

//! A client after the greeting, and a simulated robot that answers sequences by lines.

use super::super::*;
use crate::client::Output;
use outrigger_wire::dashboard::{Reply, Request, RequestKind};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::{Duration, Instant};

pub(super) const GREETING: &[u8] = b"Connected: Universal Robots Dashboard Server\n";
pub(super) const E_SERIES: SoftwareVersion = SoftwareVersion::new(5, 15);
pub(super) const REMOTE: &str = "Command is not allowed due to safety reasons, please switch robot to Remote Control mode and \
                      reconnect to port 29999";

pub(super) fn at(millis: u64) -> Instant {
    Instant::from_micros(millis * 1_000)
}

pub(super) fn receive(client: &mut Client<'_>, bytes: &[u8]) {
    let window = client.receive_window();
    window[..bytes.len()].copy_from_slice(bytes);
    client.commit(bytes.len(), at(0));
}

pub(super) fn outputs(client: &mut Client<'_>) -> Vec<String> {
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

/// Connects the client and greets it.
pub(super) fn greet(client: &mut Client<'_>) {
    client.handle(at(0), Input::Start);
    assert_eq!(outputs(client), ["(open 29999)"]);
    client.handle(at(0), Input::Opened);
    receive(client, GREETING);
    assert_eq!(client.poll_event(), Some(Event::Ready));
    assert_eq!(client.poll_event(), None);
    assert_eq!(client.poll_timeout(), None);
}

/// The record of a sequence of dashboard requests that a function answers for the controller: the requests, the
/// reported progress, the time and the end.
pub(super) struct Transcript {
    pub(super) asked: Vec<String>,
    pub(super) said: Vec<String>,
    pub(super) now: Instant,
    pub(super) end: Result<(), SequenceError>,
}

pub(super) fn play(sequence: &mut impl Sequence, answer: impl FnMut(&Request<'_>, Instant) -> String) -> Transcript {
    play_from(Instant::ZERO, sequence, answer)
}

pub(super) fn play_from(
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

/// A simulated robot that executes dashboard requests and answers each with a line of text.
pub(super) struct Robot {
    pub(super) safety: &'static str,
    pub(super) mode: &'static str,
    /// The time of the next change of the mode, and the mode then.
    pub(super) next: Option<(Instant, &'static str)>,
    /// The end of the lock of a protective stop.
    pub(super) locked: Instant,
    pub(super) remote: bool,
    /// `true` if the connection was made in remote control.
    pub(super) permitted: bool,
}

impl Robot {
    pub(super) fn new(safety: &'static str, mode: &'static str) -> Self {
        Self { safety, mode, next: None, locked: Instant::ZERO, remote: true, permitted: true }
    }

    pub(super) fn answer(&mut self, request: &Request<'_>, now: Instant) -> String {
        if let Some((at, mode)) = self.next
            && now >= at
        {
            self.mode = mode;
            self.next = None;
        }
        if request.kind().needs_remote_control() && !self.permitted {
            // The client makes a new connection.
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

pub(super) fn finding(robot: &mut Robot, software: SoftwareVersion) -> Finding {
    let mut diagnosis = Diagnosis::new(software);
    let told = play(&mut diagnosis, |request, now| robot.answer(request, now));
    assert!(told.end.is_ok() && told.asked.iter().all(|asked| asked.starts_with("safety") || asked == "robotmode "));
    diagnosis.into_finding().unwrap()
}

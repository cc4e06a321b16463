//! The clients of dashboard and Robot API, and every sequence with any answer.

use outrigger_core::client::dashboard::{
    Before, BringUp, BringUpConfig, Client, Diagnosis, Event, Input, Pendant, ProgramConfig, ProgramControl,
    ProgramGoal, Recovery, RecoveryConfig, Sequence, SequenceEvent, SequenceInput, Service, Timeouts,
};
use outrigger_core::client::robot_api;
use outrigger_wire::dashboard::{Argument, OperationalMode, Reply, Request, RequestKind};
use outrigger_wire::robot::SoftwareVersion;
use outrigger_wire::time::{Duration, Instant};

use crate::{any, any_bytes, any_text, into_room, shown, used};

#[inline(never)]
pub fn probe() {
    into_room(|memory| service(&mut Client::new(memory, any(Timeouts::default()))));
    into_room(|memory| {
        let mut api = robot_api::Client::new(memory, any_text(), any(Timeouts::default()));
        service(&mut api);
        used(api.software());
    });
    let software = any(SoftwareVersion::new(5, 15));
    run(&mut BringUp::new(software, any(BringUpConfig::default())));
    let goal = match (any(0), Argument::new(any_text())) {
        (0, Ok(name)) => ProgramGoal::Load(name),
        (1, _) => ProgramGoal::Play,
        (2, _) => ProgramGoal::Pause,
        (_, Err(error)) => return shown(error),
        _ => ProgramGoal::Stop,
    };
    run(&mut ProgramControl::new(goal, software, any(ProgramConfig::default())));
    let mut lock = Pendant::lock(software);
    run(&mut lock);
    let before = lock.before().unwrap_or(any(Before::Mode(Some(OperationalMode::Manual))));
    run(&mut Pendant::put_back(software, before));
    recovery(software);
}

/// Runs a recovery from the diagnosis to a running program, if the finding of the diagnosis can be acknowledged.
#[inline(never)]
fn recovery(software: SoftwareVersion) {
    let mut diagnosis = Diagnosis::new(software);
    run(&mut diagnosis);
    let Some(finding) = diagnosis.into_finding() else { return };
    used((finding.safety(), finding.robot_mode(), finding.is_clear(), finding.is_recoverable()));
    if let Some(obstacle) = finding.obstacle() {
        shown(obstacle);
        used(obstacle.advice());
    }
    match finding.acknowledge() {
        Ok(acknowledged) => run(&mut Recovery::new(acknowledged, any(RecoveryConfig::default()))),
        Err(obstacle) => shown(obstacle),
    }
}

#[inline(never)]
fn run(sequence: &mut dyn Sequence) {
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        while let Some(event) = sequence.poll_event() {
            match event {
                SequenceEvent::Progress(progress) => shown(progress),
                SequenceEvent::Stopped(obstacle) => shown(obstacle),
                SequenceEvent::Done => return,
            }
        }
        let Some(request) = sequence.poll_output() else {
            used(sequence.poll_timeout());
            sequence.handle(now, SequenceInput::Tick);
            continue;
        };
        into_room(|room| request.emit(room));
        let kind = any(request.kind());
        sequence.handle(now, SequenceInput::Reply(Reply::parse(kind, any_bytes())));
    }
}

/// Runs the client of the dashboard server or of the Robot API, with any inputs and any received bytes.
#[inline(never)]
pub(crate) fn service(service: &mut dyn Service) {
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        match any(0) {
            0 => service.handle(now, Input::Start),
            1 => service.handle(now, Input::Opened),
            2 => service.handle(now, Input::Refused),
            3 => service.handle(now, Input::Closed),
            4 => service.handle(now, Input::Tick),
            5 => match Argument::new(any_text()) {
                Ok(name) => service.handle(now, Input::Request(Request::Load(name))),
                Err(error) => shown(error),
            },
            6 => service.handle(now, Input::Request(any(Request::RobotMode))),
            _ => {
                service.receive_window().fill(any(7));
                service.commit(any(100), now);
            }
        }
        while let Some(event) = service.poll_event() {
            match event {
                Event::TooLong { error, .. } => shown(error),
                Event::BadAnswer { error, .. } => shown(error),
                Event::Replied { request: RequestKind::Load, line, .. } => used(line),
                event => used(event),
            }
        }
        while let Some(output) = service.poll_output() {
            used(output);
        }
        used(service.poll_timeout());
    }
}

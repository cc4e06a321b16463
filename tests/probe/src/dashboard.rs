//! The dashboard's client, and every sequence against any answer.

use outrigger_core::robot::SoftwareVersion;
use outrigger_core::client::dashboard::{
    Before, BringUp, BringUpConfig, Client, ClientEvent, ClientOutput, Diagnosis, Pendant, ProgramConfig,
    ProgramControl, ProgramGoal, Recovery, RecoveryConfig, Sequence, Step, Timeouts,
};
use outrigger_core::time::{Duration, Instant};
use outrigger_core::wire::dashboard::{Argument, OperationalMode, Reply, Request, RequestKind};

use crate::{any, any_bytes, any_text, into_room, shown, used};

#[inline(never)]
pub fn probe() {
    into_room(|memory| client(&mut Client::new(memory, any(Timeouts::default()))));
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

/// From what was found to running again, where that is acknowledged.
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
        match sequence.next(now) {
            Step::Say(progress) => shown(progress),
            Step::Ask(request) => {
                into_room(|room| request.emit(room));
                let kind = any(request.kind());
                sequence.answered(now, &Reply::parse(kind, any_bytes()));
            }
            Step::WaitUntil(at) => used(at),
            Step::Stopped(obstacle) => shown(obstacle),
            Step::Done => return,
        }
    }
}

#[inline(never)]
fn client(client: &mut Client<'_>) {
    let mut now = any(Instant::from_micros(1));
    while any(true) {
        now = now + any(Duration::from_millis(1));
        match any(0) {
            0 => client.opened(now),
            1 => client.closed(),
            2 => client.handle_timeout(now),
            3 => used(client.request(now, &any(Request::RobotMode))),
            _ => {
                client.receive_window().fill(any(7));
                client.commit(any(100));
            }
        }
        while let Some(event) = client.poll_event() {
            match event {
                ClientEvent::TooLong { error, .. } => shown(error),
                ClientEvent::Replied { request: RequestKind::Load, line, .. } => used(line),
                event => used(event),
            }
        }
        while let Some(output) = client.poll_output() {
            match output {
                ClientOutput::Transmit(bytes) => used(bytes),
                ClientOutput::Close => used(client.is_open()),
            }
        }
        used((client.poll_timeout(), client.is_ready()));
    }
}

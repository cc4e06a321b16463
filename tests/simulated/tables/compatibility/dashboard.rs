//! The sequences of the dashboard, run over its port.

use std::time::Duration;

use outrigger_core::client::dashboard::{
    Before, BringUp, BringUpConfig, Diagnosis, Pendant, ProgramConfig, ProgramControl, ProgramGoal, Recovery,
    RecoveryConfig, Sequence, SequenceError, SequenceEvent, SequenceInput,
};
use outrigger_sim::controller::{Action, Conn, Controller, Options, StartState};
use outrigger_sim::port::Port;
use outrigger_tests::cosim::core_time;
use outrigger_wire::dashboard::{Argument, Reply, Request, RequestKind, Support};
use outrigger_wire::robot::{Generation, SoftwareVersion};

pub(super) const COLUMNS: [&str; 8] = [
    "requests known",
    "bring-up",
    "protective stop",
    "safety fault",
    "load, play, pause, stop",
    "pendant",
    "remote control",
    "serial number, model",
];

const LINE: usize = 1_024;
/// The longest time that a dashboard sequence, or the reply to one of its requests, may take.
const PATIENCE: Duration = Duration::from_secs(180);

pub(super) fn cells(software: SoftwareVersion) -> Vec<String> {
    let known = RequestKind::ALL.iter().filter(|request| request.support(software) == Support::Yes).count();
    if software.generation() == Generation::PolyScopeX {
        return by_robot_api(software, known);
    }
    let question = |request: RequestKind| match request.support(software) {
        Support::Yes | Support::Perhaps => {
            let mut desk = Desk::new(software, StartState::Running);
            desk.asked(&request_of(request));
            "answered".to_owned()
        }
        Support::From(since) => from(since),
        Support::Never => "–".to_owned(),
    };
    vec![
        format!("{known} of {}", RequestKind::ALL.len()),
        bring_up(software),
        recovery(software, Action::ProtectiveStop),
        recovery(software, Action::SafetyFault),
        program(software),
        pendant(software),
        question(RequestKind::IsInRemoteControl),
        question(RequestKind::RobotModel),
    ]
}

/// Returns the cells in the row of a PolyScope X version. Its robot API needs HTTP, so the cells list its capabilities
/// without a trial.
fn by_robot_api(software: SoftwareVersion, known: usize) -> Vec<String> {
    use RequestKind as Ask;
    let has = |requests: &[RequestKind]| {
        let missing = requests.iter().map(|request| request.support(software)).find(|support| *support != Support::Yes);
        match missing {
            None | Some(Support::Yes | Support::Perhaps) => "Robot API".to_owned(),
            Some(Support::From(since)) => from(since),
            Some(Support::Never) => "–".to_owned(),
        }
    };
    vec![
        format!("{known} of {}", RequestKind::ALL.len()),
        has(&[Ask::PowerOn, Ask::BrakeRelease, Ask::RobotMode]),
        has(&[Ask::SafetyMode, Ask::UnlockProtectiveStop]),
        has(&[Ask::SafetyMode, Ask::RestartSafety]),
        has(&[Ask::Load, Ask::Play, Ask::Pause, Ask::Stop, Ask::ProgramState]),
        has(&[Ask::SetOperationalMode]),
        has(&[Ask::IsInRemoteControl]),
        has(&[Ask::RobotModel]),
    ]
}

fn request_of(kind: RequestKind) -> Request<'static> {
    match kind {
        RequestKind::IsInRemoteControl => Request::IsInRemoteControl,
        _ => Request::RobotModel,
    }
}

fn bring_up(software: SoftwareVersion) -> String {
    let mut desk = Desk::new(software, StartState::PowerOff);
    let outcome = desk.run(&mut BringUp::new(software, BringUpConfig::default()));
    assert_eq!(outcome.is_none(), desk.is_running(), "{software}: {outcome:?}");
    tell(outcome)
}

fn recovery(software: SoftwareVersion, what: Action) -> String {
    let mut desk = Desk::new(software, StartState::Running);
    desk.controller.act(what);
    desk.wait(Duration::from_secs(1));
    let mut diagnosis = Diagnosis::new(software);
    if let Some(obstacle) = desk.run(&mut diagnosis) {
        return tell(Some(obstacle));
    }
    let finding = diagnosis.into_finding().expect("a diagnosis that is done has found something");
    assert!(!finding.is_clear(), "{software}: {what:?} is not seen: {finding:?}");
    let outcome = match finding.acknowledge() {
        Ok(acknowledged) => desk.run(&mut Recovery::new(acknowledged, RecoveryConfig::default())),
        Err(obstacle) => Some(obstacle),
    };
    assert_eq!(outcome.is_none(), desk.is_running(), "{software}, {what:?}: {outcome:?}");
    tell(outcome)
}

fn program(software: SoftwareVersion) -> String {
    let mut desk = Desk::new(software, StartState::Running);
    let file = Argument::new("idle.urp").expect("a plain name");
    // Each step with the expected program state: whether a program runs, and whether it is paused.
    let course = [
        (ProgramGoal::Load(file), (false, false)),
        (ProgramGoal::Play, (true, false)),
        (ProgramGoal::Pause, (true, true)),
        (ProgramGoal::Play, (true, false)),
        (ProgramGoal::Stop, (false, false)),
    ];
    for (goal, expected) in course {
        let outcome = desk.run(&mut ProgramControl::new(goal, software, ProgramConfig::default()));
        if outcome.is_some() {
            return tell(outcome);
        }
        desk.wait(Duration::from_millis(200));
        assert_eq!(desk.controller.program(), expected, "{software}: {goal:?}");
    }
    tell(None)
}

fn pendant(software: SoftwareVersion) -> String {
    let mut desk = Desk::new(software, StartState::Running);
    let mut lock = Pendant::lock(software);
    if let Some(obstacle) = desk.run(&mut lock) {
        return tell(Some(obstacle));
    }
    let before = lock.before().expect("a lock that is done knows what was before");
    let left = desk.run(&mut Pendant::put_back(software, before));
    assert_eq!(left, None, "{software}: what was locked can be put back");
    match before {
        Before::Role(_) => "user role",
        Before::Mode(_) => "operational mode",
    }
    .to_owned()
}

fn from(since: SoftwareVersion) -> String {
    format!("from {}.{}", since.major, since.minor)
}

/// Returns the outcome of a dashboard sequence in words.
fn tell(obstacle: Option<SequenceError>) -> String {
    match obstacle {
        None => "works".to_owned(),
        Some(SequenceError::Unsupported(unsupported)) => unsupported.since.map_or_else(|| "–".to_owned(), from),
        Some(SequenceError::RobotMode(_)) => "seen, cleared at the pendant".to_owned(),
        Some(other) => panic!("{other}"),
    }
}

/// A client of the dashboard port, with a simulated controller of its own.
struct Desk {
    controller: Controller,
    connection: Conn,
}

impl Desk {
    fn new(software: SoftwareVersion, state: StartState) -> Self {
        let controller = Controller::new(Options { state, ..Options::for_software(software) });
        let mut controller = controller.expect("a controller that existed");
        let connection = controller.connect(Port::Dashboard).expect("the dashboard answers");
        let mut desk = Self { controller, connection };
        let greeting = desk.line();
        assert!(outrigger_wire::dashboard::is_greeting(greeting.as_bytes()), "{greeting}");
        desk
    }

    fn wait(&mut self, span: Duration) {
        self.controller.advance_to(self.controller.now() + span);
    }

    /// Returns the next line that the dashboard sends.
    fn line(&mut self) -> String {
        let mut line = Vec::new();
        let limit = self.controller.now() + PATIENCE;
        while !line.ends_with(b"\n") {
            assert!(self.controller.now() < limit, "no answer: {:?}", String::from_utf8_lossy(&line));
            let mut byte = [0];
            if self.controller.read(self.connection, &mut byte) == 1 {
                line.push(byte[0]);
            } else {
                self.controller.advance_to(self.controller.next_event());
            }
        }
        String::from_utf8(line).expect("text")
    }

    fn asked(&mut self, request: &Request<'_>) -> String {
        let mut bytes = [0; LINE];
        let length = request.emit(&mut bytes).expect("it fits");
        assert_eq!(self.controller.write(self.connection, &bytes[..length]), length);
        self.line()
    }

    /// Runs a dashboard sequence to its end. Returns the obstacle that stopped it, if any.
    fn run(&mut self, sequence: &mut impl Sequence) -> Option<SequenceError> {
        let limit = self.controller.now() + PATIENCE;
        while self.controller.now() < limit {
            let now = core_time(self.controller.now());
            while let Some(event) = sequence.poll_event() {
                match event {
                    SequenceEvent::Progress(_) => {}
                    SequenceEvent::Done => return None,
                    SequenceEvent::Stopped(obstacle) => return Some(obstacle),
                }
            }
            if let Some(request) = sequence.poll_output() {
                let kind = request.kind();
                let line = self.asked(&request);
                let reply = Reply::parse(kind, line.as_bytes());
                sequence.handle(core_time(self.controller.now()), SequenceInput::Reply(reply));
                continue;
            }
            let at = sequence.poll_timeout().expect("a time is waited for where nothing is asked");
            self.wait(Duration::from_micros(at.since(now).as_micros()));
            sequence.handle(core_time(self.controller.now()), SequenceInput::Tick);
        }
        panic!("no end within {PATIENCE:?}");
    }

    /// Returns whether the robot is running, with no stop that keeps a program from moving it.
    fn is_running(&self) -> bool {
        self.controller.robot().may_move()
    }
}

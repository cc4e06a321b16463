//! Executes one command of `outrigger dashboard`, from the query for the software version to the final message.

use std::io::{self, IsTerminal as _, Write as _};

use outrigger_core::client::dashboard::{
    Before, BringUp, BringUpConfig, Diagnosis, Finding, Pendant, ProgramConfig, ProgramControl, ProgramGoal, Progress,
    Recovery, RecoveryConfig, Sequence, SequenceError,
};
use outrigger_wire::dashboard::{Argument, OperationalMode, Refusal, Reply, Request, Support, UserRole};
use outrigger_wire::robot::{Generation, RobotMode, SoftwareVersion};
use serde::Serialize;

use super::{Command, DashboardArgs};
use crate::terminal;
use outrigger::dashboard::reply_text::{Value, readable, value, words};
use outrigger::dashboard::transport::{Ended, Transport, run, software};
use outrigger::exit::{Failure, Outcome, output_closed};
use outrigger::host::clock::Clock;
use outrigger::json;

/// The queries by which `outrigger dashboard` shows every value: the name shown, the key in JSON, and the request.
const OVERVIEW: [(&str, &str, Request<'static>); 11] = [
    ("software", "software", Request::PolyscopeVersion),
    ("model", "model", Request::RobotModel),
    ("serial number", "serial_number", Request::SerialNumber),
    ("robot mode", "robot_mode", Request::RobotMode),
    ("safety mode", "safety_mode", Request::SafetyMode),
    ("safety status", "safety_status", Request::SafetyStatus),
    ("remote control", "remote_control", Request::IsInRemoteControl),
    ("operational mode", "operational_mode", Request::OperationalMode),
    ("user role", "user_role", Request::UserRole),
    ("program", "program", Request::ProgramState),
    ("loaded program", "loaded_program", Request::LoadedProgram),
];

/// A connection to a controller's dashboard server or Robot API, and the dashboard command to execute.
pub(super) struct Conversation<'a, T> {
    transport: T,
    software: SoftwareVersion,
    clock: Clock,
    args: &'a DashboardArgs,
    /// The first error in writing the output. A reader that has closed the output ends the command silently.
    output: io::Result<()>,
}

/// A message for the user of `outrigger dashboard`, as a JSON object.
#[derive(Serialize)]
struct UserMessage<'s> {
    #[serde(rename = "type")]
    kind: &'s str,
    text: &'s str,
}

/// The overview of every value that the controller reports, as a JSON object.
#[derive(Serialize)]
#[serde(tag = "type", rename = "status")]
struct Status {
    #[serde(flatten, serialize_with = "json::members")]
    values: Vec<(&'static str, Value)>,
}

/// A reply of the controller to one request, as a JSON object.
#[derive(Serialize)]
#[serde(tag = "type", rename = "answer")]
struct Answer {
    request: &'static str,
    value: Value,
    text: String,
}

impl<'a, T: Transport> Conversation<'a, T> {
    /// Creates the exchange with a controller, over `transport`. Queries the software version first, because the
    /// supported requests depend on it.
    pub(super) async fn begin(mut transport: T, clock: Clock, args: &'a DashboardArgs) -> Result<Self, Failure> {
        let software = software(&mut transport).await?;
        Ok(Self::with(transport, software, clock, args))
    }

    /// Creates the exchange with a controller whose software version is known.
    pub(super) fn with(transport: T, software: SoftwareVersion, clock: Clock, args: &'a DashboardArgs) -> Self {
        Self { transport, software, clock, args, output: Ok(()) }
    }

    /// Executes the dashboard command that the arguments contain.
    pub(super) async fn command(mut self) -> Outcome {
        let outcome = match self.args.command.as_ref().unwrap_or(&Command::Status) {
            Command::Status => self.overview().await,
            Command::BringUp => self.bring_up().await,
            Command::Recover { acknowledge } => self.recover(*acknowledge).await,
            Command::Load { program } => match Argument::new(program) {
                Ok(program) => self.program(ProgramGoal::Load(program)).await,
                Err(error) => Err(Failure::Usage(error.to_string())),
            },
            Command::Play => self.program(ProgramGoal::Play).await,
            Command::Pause => self.program(ProgramGoal::Pause).await,
            Command::Stop => self.program(ProgramGoal::Stop).await,
            Command::LockPendant => self.lock_pendant().await,
            Command::UnlockPendant { role, mode } => self.unlock_pendant(*role, *mode).await,
            single => match single.request() {
                Some(request) => self.ask(request).await,
                None => Ok(()),
            },
        };
        let output = std::mem::replace(&mut self.output, Ok(())).or_else(|error| output_closed(&error));
        outcome.and(output)
    }

    fn line(&mut self, text: &str) {
        if self.output.is_ok() {
            self.output = writeln!(io::stdout(), "{text}");
        }
    }

    /// Prints a message for people, or a JSON object with the same text.
    fn say(&mut self, kind: &str, text: &str) {
        if self.args.json {
            self.line(&json::text(&UserMessage { kind, text }));
        } else {
            self.line(text);
        }
    }

    /// Prints every value that the controller's software can report.
    async fn overview(&mut self) -> Outcome {
        let mut values = vec![];
        if self.software.generation() == Generation::PolyScopeX && !self.args.json {
            let SoftwareVersion { major, minor, .. } = self.software;
            self.line(&format!("{:<18}{major}.{minor} or later, from its Robot API", "software"));
        }
        for (name, key, question) in OVERVIEW {
            let asked = question.kind().support(self.software);
            let known = matches!(asked, Support::Yes | Support::Perhaps);
            if !known {
                values.push((key, Value::Null));
                continue;
            }
            let read = |reply: &Reply<'_>| (value(reply), words(reply));
            let (value, words) = self.transport.execute(question, read).await?;
            values.push((key, value));
            if !self.args.json {
                self.line(&format!("{name:<18}{words}"));
            }
        }
        if self.args.json {
            self.line(&json::text(&Status { values }));
            return Ok(());
        }
        self.advise().await
    }

    /// Prints the next step on the way to a running robot, if one is needed: advice about the obstacle, or the
    /// dashboard command to use.
    async fn advise(&mut self) -> Outcome {
        let robot = &self.args.robot;
        let mut diagnosis = Diagnosis::new(self.software);
        if run(&mut diagnosis, &mut self.transport, self.clock, |_| {}).await.is_err() {
            return Ok(());
        }
        let Some(finding) = diagnosis.into_finding() else { return Ok(()) };
        let next = match finding.obstacle() {
            Some(_) if finding.is_recoverable() => {
                Some(format!("find the cause at the robot, then: outrigger dashboard {robot} recover"))
            }
            Some(obstacle) => Some(obstacle.advice().to_owned()),
            None if matches!(finding.robot_mode(), RobotMode::PowerOff | RobotMode::Idle) => {
                Some(format!("outrigger dashboard {robot} bring-up"))
            }
            None => None,
        };
        if let Some(next) = next {
            self.say("next", &format!("next: {next}"));
        }
        Ok(())
    }

    /// Sends one request to the controller, by its dashboard server or its Robot API, and prints the reply.
    async fn ask(&mut self, request: Request<'_>) -> Outcome {
        let kind = request.kind();
        kind.check(self.software).map_err(|unsupported| Failure::Usage(unsupported.to_string()))?;
        let read = |reply: &Reply<'_>| {
            let refused = match reply {
                Reply::Refused(refusal) => Some(format!("'{}': {}", kind.words(), said(refusal))),
                Reply::Other(text) => Some(format!("'{}': unknown reply: {}", kind.words(), readable(*text))),
                _ => None,
            };
            (value(reply), words(reply), refused)
        };
        let (value, text, refused) = self.transport.execute(request, read).await?;
        if self.args.json {
            self.line(&json::text(&Answer { request: kind.words(), value, text }));
        } else if refused.is_none() {
            self.line(&text);
        }
        match refused {
            None => Ok(()),
            Some(refused) => Err(Failure::Fault(refused)),
        }
    }

    /// Sends the requests of a sequence, such as that for bringing up the robot, to the controller, and prints each
    /// step. Returns the final message to print if no reply confirms that the sequence's goal is reached, else `None`.
    async fn carry_out(&mut self, sequence: &mut impl Sequence) -> Result<Option<String>, Failure> {
        let as_json = self.args.json;
        let mut output = std::mem::replace(&mut self.output, Ok(()));
        let mut unconfirmed = None;
        let tell = |progress: Progress| {
            if output.is_err() {
                return;
            }
            let text = progress.to_string();
            if let Progress::Unconfirmed(_) = progress {
                unconfirmed = Some(text);
                return;
            }
            output = if as_json {
                writeln!(io::stdout(), "{}", json::text(&UserMessage { kind: "step", text: &text }))
            } else {
                writeln!(io::stdout(), "{text}")
            };
        };
        let ended = run(sequence, &mut self.transport, self.clock, tell).await;
        self.output = output;
        match ended {
            Ok(()) => Ok(unconfirmed),
            Err(Ended::Trouble(trouble)) => Err(trouble.into()),
            Err(Ended::Obstacle(obstacle)) => {
                if let SequenceError::Refused { .. } | SequenceError::Program { .. } = obstacle {
                    self.advise().await?;
                }
                Err(stopped(&obstacle))
            }
        }
    }

    async fn bring_up(&mut self) -> Outcome {
        self.carry_out(&mut BringUp::new(self.software, BringUpConfig::default())).await?;
        self.say("done", "the arm is powered and its brakes are released; no program was started");
        Ok(())
    }

    async fn program(&mut self, goal: ProgramGoal<'_>) -> Outcome {
        let done = match goal {
            ProgramGoal::Load(_) => "loaded",
            ProgramGoal::Play => "the program runs",
            ProgramGoal::Pause => "the program is paused",
            ProgramGoal::Stop => "the program is stopped",
        };
        let sequence = &mut ProgramControl::new(goal, self.software, ProgramConfig::default());
        let unconfirmed = self.carry_out(sequence).await?;
        self.say("done", unconfirmed.as_deref().unwrap_or(done));
        Ok(())
    }

    /// Executes `outrigger dashboard recover`: shows why the robot is stopped. If `acknowledged`, or if the user
    /// acknowledges now, clears the stop, powers the arm on and releases its brakes.
    async fn recover(&mut self, acknowledged: bool) -> Outcome {
        let mut diagnosis = Diagnosis::new(self.software);
        self.carry_out(&mut diagnosis).await?;
        let Some(finding) = diagnosis.into_finding() else { return Ok(()) };
        let robot = self.args.robot.clone();
        if finding.is_clear() {
            let next = match finding.robot_mode() {
                RobotMode::Running => "no stop to recover from".to_owned(),
                _ => format!("no stop is active; the arm is not running: outrigger dashboard {robot} bring-up"),
            };
            self.say("done", &next);
            return Ok(());
        }
        if finding.is_recoverable() && !acknowledged && !self.asked_person(&finding)? {
            return Err(Failure::Fault(format!(
                "not acknowledged; nothing was changed. Find the cause at the robot, then: outrigger dashboard \
                 {robot} recover --acknowledge"
            )));
        }
        let acknowledgement = finding.acknowledge().map_err(|obstacle| stopped(&obstacle))?;
        self.carry_out(&mut Recovery::new(acknowledgement, RecoveryConfig::default())).await?;
        self.say("done", "the stop is cleared and the arm is RUNNING; nothing moves");
        self.say("next", &format!("next: `outrigger dashboard {robot} play` resumes a paused program, `stop` ends it"));
        self.say("next", "next: `outrigger run` commands again after `reset` and `start`, once no other program runs");
        Ok(())
    }

    /// Asks the person at the terminal to acknowledge the stop in `finding`. Returns `false` for any other reply, and
    /// without a terminal.
    fn asked_person(&mut self, finding: &Finding) -> Result<bool, Failure> {
        if self.args.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Ok(false);
        }
        let stop = finding.safety().map_or(String::new(), |mode| mode.to_string());
        self.line(&format!("Look at the robot: is the cause of {stop} found and removed, and no person in reach?"));
        self.line("Type `acknowledge` to recover, anything else to cancel.");
        let asked = write!(io::stdout(), "> ").and_then(|()| io::stdout().flush());
        let read = asked.and_then(|()| terminal::typed());
        let answer = read.map_err(|error| Failure::BadInput(format!("cannot read from this terminal: {error}")))?;
        Ok(answer.trim().eq_ignore_ascii_case("acknowledge"))
    }

    async fn lock_pendant(&mut self) -> Outcome {
        let mut pendant = Pendant::lock(self.software);
        self.carry_out(&mut pendant).await?;
        let option = match pendant.before() {
            Some(Before::Role(role)) => format!(" --role {}", role.word()),
            Some(Before::Mode(Some(mode))) => format!(" --mode {}", mode.word()),
            Some(Before::Mode(None)) | None => String::new(),
        };
        let robot = &self.args.robot;
        self.say("done", &format!("locked; to undo: outrigger dashboard {robot} unlock-pendant{option}"));
        Ok(())
    }

    async fn unlock_pendant(&mut self, role: UserRole, mode: Option<OperationalMode>) -> Outcome {
        let before = match self.software.generation() {
            Generation::Cb2 | Generation::Cb3 => Before::Role(role),
            Generation::ESeries | Generation::PolyScopeX => Before::Mode(mode),
        };
        self.carry_out(&mut Pendant::put_back(self.software, before)).await?;
        self.say("done", "the pendant's setting is restored");
        Ok(())
    }
}

/// Returns the text of the controller's refusal of a request, with advice.
fn said(refusal: &Refusal<'_>) -> String {
    match refusal {
        Refusal::NeedsRemoteControl => format!("{refusal}; {}", SequenceError::LocalControl.advice()),
        Refusal::Failed(text) => readable(*text),
        other => other.to_string(),
    }
}

fn stopped(obstacle: &SequenceError) -> Failure {
    let text = format!("{obstacle}; {}", obstacle.advice());
    match obstacle {
        SequenceError::Unsupported(_) => Failure::Usage(text),
        _ => Failure::Fault(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_software_lacks_is_usage_and_any_other_obstacle_a_fault_with_what_to_do() {
        let lacks = Request::SafetyMode.kind().check(SoftwareVersion::new(1, 8)).expect_err("it came with 3.0");
        let usage = stopped(&SequenceError::Unsupported(lacks));
        assert!(usage.code() == 2 && usage.to_string().contains("do from 3.0 on"), "{usage:?}");
        let fault = stopped(&SequenceError::LocalControl);
        assert!(fault.code() == 4 && fault.to_string().ends_with(SequenceError::LocalControl.advice()), "{fault:?}");
        let refused = said(&Refusal::NeedsRemoteControl);
        assert!(refused.ends_with(SequenceError::LocalControl.advice()), "{refused}");
    }
}

//! Operations of the operator's interface that take time. A request begins an operation; it is executed and answered
//! when its duration has passed.

use super::{Action, Conn, Controller};
use crate::pendant::{Operation, Outcome};
use crate::port::Port;
use crate::program::Playing;
use crate::program_text_bytes;
use crate::robot::Power;
use crate::time::SimTime;

/// An operation of the operator's interface (such as loading a program) in progress, with the connection that waits for
/// its answer.
#[derive(Debug)]
pub(super) struct Underway {
    pub(super) due: SimTime,
    pub(super) operation: Operation,
    pub(super) asker: Option<Conn>,
}

impl Controller {
    /// Begins an operation of the operator's interface, such as loading a program. A flight report is refused at once
    /// if the last one of its kind began less than 30 s ago, a support file if no folder is named.
    pub(super) fn begin(&mut self, operation: Operation, asker: Option<Conn>) {
        let refused = match &operation {
            Operation::Report(report) => !self.pendant.begin_report(*report, self.now),
            Operation::SupportFile(folder) => folder.is_empty(),
            _ => false,
        };
        if let Some(connection) = asker.and_then(|id| self.connections.get_mut(&id)) {
            connection.dashboard.waits = true;
            connection.http.waits = true;
        }
        if refused {
            self.answer_operation(&operation, Outcome::Failed, asker);
        } else {
            let takes = match operation {
                Operation::ReachIdle => self.plant.robot.time_to(false, self.now) + self.period(),
                Operation::ReachRunning => self.plant.robot.time_to(true, self.now) + self.period(),
                _ => self.options.operations.of(&operation),
            };
            self.underway.push(Underway { due: self.now + takes, operation, asker });
        }
    }

    /// Executes and answers the operations whose duration has passed, in the order in which they end.
    pub(super) fn finish_operations(&mut self) {
        while let Some(at) = self.next_finished() {
            let Underway { operation, asker, .. } = self.underway.remove(at);
            if operation == Operation::Play && self.fetches(self.programs.playing(), asker) {
                continue;
            }
            let outcome = self.perform(&operation);
            self.answer_operation(&operation, outcome, asker);
        }
    }

    fn next_finished(&self) -> Option<usize> {
        let due = self.underway.iter().enumerate().filter(|(_, underway)| underway.due <= self.now);
        due.min_by_key(|(_, underway)| underway.due).map(|(at, _)| at)
    }

    /// Returns the time at which the next of the pendant's operations in progress ends.
    pub(super) fn next_operation(&self) -> SimTime {
        self.underway.iter().map(|underway| underway.due).min().unwrap_or(SimTime::MAX)
    }

    pub(super) fn answer_operation(&mut self, operation: &Operation, outcome: Outcome, asker: Option<Conn>) {
        let port = asker.and_then(|id| self.connections.get(&id)).map(|connection| connection.port);
        match (asker, port) {
            (Some(id), Some(Port::RobotApi)) => self.answer_over_http(id, operation, outcome),
            (Some(id), Some(_)) => self.answer_on_dashboard(id, operation, outcome),
            // The connection has been closed.
            _ => {}
        }
    }

    /// Executes an operation of the pendant whose duration has passed. Returns its result.
    fn perform(&mut self, operation: &Operation) -> Outcome {
        let playing = self.programs.playing();
        let done = |done| if done { Outcome::Done } else { Outcome::Failed };
        match operation {
            Operation::Load(name) => {
                let (outcome, new_installation) = self.pendant.load(name, self.firmware.dashboard_tells_failures());
                if outcome == Outcome::Done && playing.loaded {
                    self.act(Action::StopProgram);
                }
                if new_installation {
                    self.act(Action::PowerOff);
                }
                outcome
            }
            Operation::LoadInstallation(name) => {
                let outcome = self.pendant.load_installation(name);
                if outcome == Outcome::Done {
                    self.act(Action::PowerOff);
                }
                outcome
            }
            Operation::Play => done(self.play(playing)),
            Operation::Pause => {
                self.act(Action::PauseProgram);
                done(playing.runs())
            }
            Operation::Stop => {
                self.act(Action::StopProgram);
                done(playing.exists || !self.options.dashboard.stop_of_nothing_fails)
            }
            Operation::Report(_) | Operation::SupportFile(_) | Operation::SaveLog => Outcome::Done,
            Operation::ReachIdle => done(matches!(self.plant.robot.power, Power::Idle | Power::Running)),
            Operation::ReachRunning => done(self.plant.robot.power == Power::Running),
        }
    }

    /// Resumes a paused program, or starts the loaded one. Returns whether it did.
    fn play(&mut self, playing: Playing) -> bool {
        if playing.paused {
            self.act(Action::ResumeProgram);
            return self.plant.robot.may_move();
        }
        if self.fetching.is_some() {
            return false;
        }
        let Some(script) = self.pendant.program().map(|file| file.script.clone()) else { return false };
        self.programs.play(&program_text_bytes::of_program(&script), &mut self.plant, &mut self.notices)
    }
}

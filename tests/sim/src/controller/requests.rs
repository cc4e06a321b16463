//! Port 29999: requests as they come, and what takes the operator's interface time.

use super::connection::Phase;
use super::{Action, Conn, Controller};
use crate::dashboard::{self, Context};
use crate::fault::FaultKind;
use crate::pendant::{Operation, Outcome};
use crate::port::Port;
use crate::program::Playing;
use crate::rng::Rng;
use crate::time::SimTime;

/// An operation that is not over, and who waits for it.
#[derive(Debug)]
pub(super) struct Underway {
    pub(super) due: SimTime,
    pub(super) operation: Operation,
    pub(super) asker: Option<Conn>,
}

impl Controller {
    /// Bytes of a dashboard client.
    pub(super) fn requests(&mut self, id: Conn, bytes: &[u8]) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.dashboard.receive(bytes);
        }
        self.serve_dashboard(id);
    }

    /// Answers what waits, up to the first request that takes time.
    fn serve_dashboard(&mut self, id: Conn) {
        while let Some(connection) = self.connections.get_mut(&id).filter(|c| c.phase != Phase::Closing)
            && let Some(line) = connection.dashboard.next()
        {
            if self.deviates(id) {
                continue;
            }
            let reply = dashboard::reply(&line, &mut self.dashboard_context(id));
            if let Some(line) = &reply.line {
                self.say(id, line);
            }
            if let Some(action) = reply.action {
                self.act(action);
            }
            if let Some(operation) = reply.operation {
                let asker = reply.line.is_none().then_some(id);
                self.begin(operation, asker);
            }
            if reply.closes
                && let Some(connection) = self.connections.get_mut(&id)
            {
                connection.phase = Phase::Closing;
            }
        }
    }

    fn dashboard_context(&mut self, id: Conn) -> Context<'_> {
        let opened_in_remote = self.connections.get(&id).is_some_and(|connection| connection.permitted);
        Context {
            now: self.now,
            firmware: self.firmware,
            model: &self.model,
            serial_number: &self.options.serial_number,
            robot: &self.plant.robot,
            pendant: &mut self.pendant,
            options: &self.options.dashboard,
            playing: self.programs.playing(),
            permitted: opened_in_remote && self.plant.robot.remote,
        }
    }

    fn say(&mut self, id: Conn, line: &str) {
        self.send(id, format!("{line}\n").as_bytes());
        let extra = self.faults.on(self.now, Port::Dashboard).find_map(|kind| match kind {
            FaultKind::Polluted(n) => Some(n),
            _ => None,
        });
        self.replies += 1;
        if extra.is_some_and(|n| self.replies.is_multiple_of(n)) {
            let line = dashboard::nonsense(&mut self.nonsense);
            self.send(id, &line);
        }
    }

    /// What a fault does in place of an answer; says whether one is on.
    fn deviates(&mut self, id: Conn) -> bool {
        let kinds: Vec<FaultKind> = self.faults.on(self.now, Port::Dashboard).collect();
        for kind in kinds {
            match kind {
                FaultKind::Mute => {}
                FaultKind::Garbage => {
                    let line = dashboard::nonsense(&mut self.nonsense);
                    self.send(id, &line);
                }
                FaultKind::Oversize(size) => {
                    let mut line = vec![b'x'; size];
                    line.push(b'\n');
                    self.send(id, &line);
                }
                FaultKind::HangUp => {
                    self.connections.get_mut(&id).into_iter().for_each(|c| c.phase = Phase::Closing);
                }
                _ => continue,
            }
            return true;
        }
        false
    }

    /// Begins what takes time; reports are refused at once where one is too young.
    pub(super) fn begin(&mut self, operation: Operation, asker: Option<Conn>) {
        let refused = match &operation {
            Operation::Report(report) => !self.pendant.begin_report(*report, self.now),
            Operation::SupportFile(folder) => folder.is_empty(),
            _ => false,
        };
        if let Some(connection) = asker.and_then(|id| self.connections.get_mut(&id)) {
            connection.dashboard.waits = true;
        }
        if refused {
            self.answer_operation(&operation, Outcome::Failed, asker);
        } else {
            let due = self.now + self.options.operations.of(&operation);
            self.underway.push(Underway { due, operation, asker });
        }
    }

    /// Ends operations whose time has come, in the order they were to end.
    pub(super) fn finish_operations(&mut self) {
        while let Some(at) = self.next_finished() {
            let Underway { operation, asker, .. } = self.underway.remove(at);
            let outcome = self.perform(&operation);
            self.answer_operation(&operation, outcome, asker);
        }
    }

    fn next_finished(&self) -> Option<usize> {
        let due = self.underway.iter().enumerate().filter(|(_, underway)| underway.due <= self.now);
        due.min_by_key(|(_, underway)| underway.due).map(|(at, _)| at)
    }

    /// When the next operation ends.
    pub(super) fn next_operation(&self) -> SimTime {
        self.underway.iter().map(|underway| underway.due).min().unwrap_or(SimTime::MAX)
    }

    fn answer_operation(&mut self, operation: &Operation, outcome: Outcome, asker: Option<Conn>) {
        let Some(id) = asker.filter(|id| self.connections.contains_key(id)) else { return };
        let told = match operation {
            Operation::Play if !self.firmware.dashboard_tells_failures() => Outcome::Done,
            _ => outcome,
        };
        let line = dashboard::over(operation, told, &self.dashboard_context(id));
        self.say(id, &line);
        self.connections.get_mut(&id).into_iter().for_each(|connection| connection.dashboard.waits = false);
        self.serve_dashboard(id);
    }

    /// Does it, now that its time is over.
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
        }
    }

    /// Lets a paused program go on, or starts the loaded one.
    fn play(&mut self, playing: Playing) -> bool {
        if playing.paused {
            self.act(Action::ResumeProgram);
            return self.plant.robot.may_move();
        }
        let Some(script) = self.pendant.program().map(|file| file.script.clone()) else { return false };
        self.programs.play(&script, &mut self.plant, &mut self.notices)
    }
}

/// Random numbers of what is no answer.
pub(super) fn nonsense(seed: u64) -> Rng {
    Rng::new(seed, 0x29_999)
}

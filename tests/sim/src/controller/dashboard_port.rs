//! The dashboard server, port 29999: arriving requests of clients, and their answers.

use super::connection::Phase;
use super::{Conn, Controller};
use crate::dashboard::{self, Context};
use crate::fault::FaultKind;
use crate::pendant::{Operation, Outcome};
use crate::port::Port;
use crate::rng::Rng;

impl Controller {
    /// Processes bytes that a dashboard client has sent.
    pub(super) fn requests(&mut self, id: Conn, mut bytes: &[u8]) {
        while let Some(connection) = self.connections.get_mut(&id).filter(|_| !bytes.is_empty()) {
            bytes = connection.dashboard.receive(bytes);
            self.serve_dashboard(id);
        }
    }

    /// Answers waiting dashboard requests in order, up to the first one that takes time.
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
            permitted: opened_in_remote && self.plant.robot.control.obeys_clients(),
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

    /// Sends a wrong dashboard answer, sends no answer, or closes the connection while a fault demands that. Returns
    /// whether such a fault is active; the request is then not processed.
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

    /// Answers the dashboard request for an operation that has finished, and continues with the requests after it.
    pub(super) fn answer_on_dashboard(&mut self, id: Conn, operation: &Operation, outcome: Outcome) {
        let told = match operation {
            Operation::Play if !self.firmware.dashboard_tells_failures() => Outcome::Done,
            _ => outcome,
        };
        let line = dashboard::over(operation, told, &self.dashboard_context(id));
        self.say(id, &line);
        self.connections.get_mut(&id).into_iter().for_each(|connection| connection.dashboard.waits = false);
        self.serve_dashboard(id);
    }
}

/// Returns the source of random numbers for wrong answers of a faulty dashboard or Robot API, derived from the
/// simulation's `seed`.
pub(super) fn nonsense(seed: u64) -> Rng {
    Rng::new(seed, 0x29_999)
}

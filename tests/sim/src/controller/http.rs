//! Port 80: requests of clients that arrive for the Robot API.

use super::connection::Phase;
use super::{Conn, Controller};
use crate::fault::FaultKind;
use crate::pendant::{Operation, Outcome};
use crate::port::Port;
use crate::robot_api::{self, Answer, CONTINUE, Context, Received, Request};

impl Controller {
    /// Processes bytes that a client of the Robot API has sent.
    pub(super) fn http(&mut self, id: Conn, bytes: &[u8]) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.http.receive(bytes);
        }
        self.serve_http(id);
    }

    /// Answers waiting HTTP requests in order, up to the first one that takes time.
    fn serve_http(&mut self, id: Conn) {
        while let Some(connection) = self.connections.get_mut(&id).filter(|c| c.phase != Phase::Closing)
            && let Some(received) = connection.http.next()
        {
            match received {
                Received::Continue => self.send(id, CONTINUE),
                Received::Refused(status) => self.answer_http(id, &robot_api::refused(status), true),
                Received::Request(request) if self.http_deviates(id) => self.end_where(id, request.closes),
                Received::Request(request) => self.http_request(id, &request),
            }
        }
    }

    fn http_request(&mut self, id: Conn, request: &Request) {
        let answer = robot_api::answer(
            request,
            &mut Context {
                now: self.now,
                firmware: self.firmware,
                robot: &self.plant.robot,
                pendant: &mut self.pendant,
                options: &self.options.robot_api,
                playing: self.programs.playing(),
            },
        );
        if let Some(action) = answer.action {
            self.act(action);
        }
        match answer.operation {
            Some(operation) => {
                if let Some(connection) = self.connections.get_mut(&id) {
                    connection.closes_after_answer = request.closes;
                }
                self.begin(operation, Some(id));
            }
            None => self.answer_http(id, &answer, request.closes),
        }
    }

    /// Answers the HTTP request for an operation that has finished, and continues with the requests after it.
    pub(super) fn answer_over_http(&mut self, id: Conn, operation: &Operation, outcome: Outcome) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.http.waits = false;
        let closes = connection.closes_after_answer;
        self.answer_http(id, &robot_api::over(operation, outcome), closes);
        self.serve_http(id);
    }

    fn answer_http(&mut self, id: Conn, answer: &Answer, closes: bool) {
        let bytes = answer.bytes(&self.options.robot_api, closes);
        self.send(id, &bytes);
        self.end_where(id, closes);
    }

    fn end_where(&mut self, id: Conn, closes: bool) {
        if let Some(connection) = self.connections.get_mut(&id).filter(|_| closes) {
            connection.phase = Phase::Closing;
        }
    }

    /// Sends a wrong HTTP answer, sends no answer, or closes the connection while a fault demands that. Returns whether
    /// such a fault is active; the request is then not processed.
    fn http_deviates(&mut self, id: Conn) -> bool {
        let kinds: Vec<FaultKind> = self.faults.on(self.now, Port::RobotApi).collect();
        for kind in kinds {
            match kind {
                FaultKind::Mute => {}
                FaultKind::Garbage => {
                    let bytes = robot_api::senseless(&mut self.nonsense);
                    self.send(id, &bytes);
                }
                FaultKind::Oversize(size) => {
                    let bytes = robot_api::response(200, "application/json", &vec![b'x'; size], false);
                    self.send(id, &bytes);
                }
                FaultKind::HangUp => self.end_where(id, true),
                _ => continue,
            }
            return true;
        }
        false
    }
}

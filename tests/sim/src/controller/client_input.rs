//! Input from clients: its distribution by port, and programs and service lines on the text ports.

use outrigger_interpreter::{Assembled, Service};
use outrigger_urscript::ServiceLine;

use super::connection::{Connection, Phase};
use super::{Action, Conn, Controller, Text};
use crate::fault::FaultKind;
use crate::firmware::LocalMode;
use crate::port::Port;
use crate::program::{Notice, Sender};
use crate::stop_error_codes::{Level, StopCode};

/// The error code that 30001 reports for text that arrives in local mode, or on the read-only port 30011.
const NOT_IN_REMOTE: StopCode = StopCode::new(210, 0);

impl Controller {
    /// Processes the bytes that have arrived at the controller from every client.
    pub(super) fn read_clients(&mut self) {
        let now = self.now;
        self.serve_tool_line();
        let talking = |c: &Connection| !c.up.is_idle() && c.port != Port::ToolLine;
        let talking = self.connections.iter().filter(|(_, connection)| talking(connection));
        let ids: Vec<Conn> = talking.map(|(id, _)| *id).collect();
        for id in ids {
            while let Some(connection) = self.connections.get_mut(&id)
                && matches!(connection.phase, Phase::Open | Phase::ClosedByClient)
                && let Some(bytes) = connection.up.receive(now, usize::MAX)
            {
                match connection.port {
                    Port::Dashboard => self.requests(id, &bytes),
                    Port::RobotApi => self.http(id, &bytes),
                    Port::Interpreter => self.interpret(id, &bytes),
                    Port::Rtde => self.rtde_requests(id, &bytes),
                    port if port.takes_text() => self.text(id, port, &bytes),
                    Port::PrimaryReadOnly => self.refuse_text(),
                    _ => {}
                }
            }
        }
    }

    fn text(&mut self, id: Conn, port: Port, mut bytes: &[u8]) {
        let now = self.now;
        let muted = self.faults.on(self.now, port).any(|kind| kind == FaultKind::Mute);
        while let Some(connection) = self.connections.get_mut(&id)
            && let Some(assembled) = connection.text.next(&mut bytes)
        {
            if let (Some(texts), Assembled::Program(text)) = (&mut self.texts, &assembled) {
                texts.push(Text { at: now, text: text.clone() });
            }
            let obeys = self.plant.robot.control.obeys_clients();
            let (peer, opened_in_remote) = (connection.peer, connection.permitted);
            let permitted = obeys && (opened_in_remote || !self.upgrade_needs_reconnect());
            if let Assembled::Program(text) = &assembled {
                let ignored = match (muted, obeys, permitted) {
                    (true, ..) => Some("fault `mute`"),
                    (_, false, _) => Some("local control"),
                    (.., false) => Some("the client connected in local control"),
                    _ => None,
                };
                self.program_event(peer, text, ignored);
            }
            if muted {
                continue;
            }
            if !permitted {
                match self.local_mode() {
                    LocalMode::Silent => {}
                    LocalMode::DropsSecondary if port == Port::Secondary => {
                        self.close_where(|port| port == Port::Secondary);
                    }
                    LocalMode::DropsSecondary => {}
                    LocalMode::Code210 => self.refuse_text(),
                }
                continue;
            }
            match assembled {
                Assembled::Program(text) => self.programs.offer(Sender::Client(id), self.now, text),
                Assembled::Service(Service::Line(ServiceLine::UnlockProtectiveStop)) => self.unlock_by_text(),
                Assembled::Service(service) => {
                    if let Some(action) = service_action(service) {
                        self.act(action);
                    }
                }
            }
        }
    }

    /// Returns whether a connection that was opened in local control may still not send commands after the switch to
    /// remote control.
    fn upgrade_needs_reconnect(&self) -> bool {
        self.local_mode() == LocalMode::Code210
    }

    fn refuse_text(&mut self) {
        let text = "not allowed, robot is not in remote control";
        self.notices.push(Notice::Code { level: Level::Warning, code: NOT_IN_REMOTE, text });
    }
}

/// Returns the action that a service line of a client, such as `power on`, causes. `None` for freedrive, which the
/// simulator does not start by text, and for unlocking, which [`Controller::unlock_by_text`] does.
fn service_action(service: Service) -> Option<Action> {
    Some(match service {
        Service::Speed(share) => Action::Slider(share),
        Service::Line(line) => match line {
            ServiceLine::PowerOn => Action::PowerOn,
            ServiceLine::PowerOff => Action::PowerOff,
            ServiceLine::BrakeRelease | ServiceLine::RobotModeRun => Action::ReleaseBrakes,
            ServiceLine::RobotModeFreedrive | ServiceLine::UnlockProtectiveStop => return None,
            ServiceLine::StopProgram => Action::StopProgram,
        },
    })
}

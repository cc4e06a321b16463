//! Port 54321: the tool's serial line, for one client at a time (`core/docs/protocol/ur-client-interfaces.md` 10.3).

use super::connection::Phase;
use super::{Conn, Controller};
use crate::port::Port;

impl Controller {
    /// Returns the opening of the simulated gripper at the tool \[0.1 mm\]; `None` if there is no gripper.
    #[must_use]
    pub fn gripper_opening(&self) -> Option<f64> {
        self.tool_line.as_ref().map(|line| line.opening(self.now))
    }

    /// Moves bytes between the tool's serial line and the client that uses it. Another client that connects must
    /// wait; its bytes stay in its socket.
    pub(super) fn serve_tool_line(&mut self) {
        let (now, powered) = (self.now, self.plant.robot.powered());
        let Some(line) = &mut self.tool_line else { return };
        let open = |phase| matches!(phase, Phase::Open | Phase::ClosedByClient);
        let client = self.connections.iter_mut().find(|(_, c)| c.port == Port::ToolLine && open(c.phase));
        let come = line.advance(now, &self.plant.io, powered);
        let Some((id, connection)) = client else { return };
        while let room @ 1.. = line.room()
            && let Some(bytes) = connection.up.receive(now, room)
        {
            line.send(now, &self.plant.io, bytes);
        }
        let id: Conn = *id;
        if !come.is_empty() {
            self.send(id, &come);
        }
    }
}

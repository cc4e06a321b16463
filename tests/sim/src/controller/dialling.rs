//! The connections that the controller opens: the driver connects and reports the result.

use super::{Conn, Controller, Refused};
use crate::dial::Dial;

impl Controller {
    /// Returns the next connection that the driver shall open for the controller. A driver may ignore it: a
    /// connection without a result is like a peer that does not answer, and the program's own timeout ends the wait.
    pub fn poll_dial(&mut self) -> Option<Dial> {
        self.plant.sockets.dials.poll()
    }

    /// Reports the result of a connection attempt. Has no effect if the controller no longer needs the connection.
    pub fn dialled(&mut self, conn: Conn, outcome: Result<(), Refused>) {
        self.plant.sockets.dials.dialled(conn, outcome.is_ok());
    }

    /// Returns the number of bytes that the controller accepts from this peer now. A driver leaves further bytes in
    /// its own socket.
    #[must_use]
    pub fn room(&self, conn: Conn) -> usize {
        match self.connections.get(&conn) {
            Some(connection) => super::connection::RECEIVE_QUEUE.saturating_sub(connection.up.queued()),
            None => self.plant.sockets.dials.room(conn),
        }
    }
}

//! The connections that the controller opens to servers. The driver of the simulation, which owns the real sockets,
//! establishes them and reports the result.

use super::{Conn, Controller, Refused};
use crate::dial::Dial;

impl Controller {
    /// Returns the next connection to a server that the driver of the simulation shall open for the controller; `None`
    /// if there is none. A driver may ignore it: a connection without a result is like a peer that does not answer, and
    /// the program's own timeout ends the wait.
    pub fn poll_dial(&mut self) -> Option<Dial> {
        self.plant.sockets.dials.poll()
    }

    /// Reports the result of an attempt to connect to a server. Has no effect if the controller no longer needs the
    /// connection.
    pub fn dialled(&mut self, conn: Conn, outcome: Result<(), Refused>) {
        self.plant.sockets.dials.dialled(conn, outcome.is_ok());
    }

    /// Returns the number of bytes that the controller accepts from the peer of this connection now. The driver of the
    /// simulation keeps further bytes in its own socket.
    #[must_use]
    pub fn room(&self, conn: Conn) -> usize {
        match self.connections.get(&conn) {
            Some(connection) => super::connection::RECEIVE_QUEUE.saturating_sub(connection.up.queued()),
            None => self.plant.sockets.dials.room(conn),
        }
    }
}

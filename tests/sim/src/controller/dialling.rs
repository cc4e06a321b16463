//! The connections that the controller opens to servers. The driver of the simulation, which owns the real sockets,
//! establishes them and reports the result.

use super::{Conn, Controller, Refused};
use crate::dial::Dial;

impl Controller {
    /// Returns the next connection to a server that the caller, which owns the sockets, shall open for the simulated
    /// controller; `None` if there is none. A caller may ignore it: a connection without a result is like a peer that
    /// does not answer, and the robot program's own timeout ends the wait.
    pub fn poll_dial(&mut self) -> Option<Dial> {
        self.plant.sockets.dials.poll()
    }

    /// Reports the result of the caller's attempt to connect to a server for the simulated controller. Has no effect if
    /// the controller no longer needs the connection.
    pub fn dialled(&mut self, conn: Conn, outcome: Result<(), Refused>) {
        self.plant.sockets.dials.dialled(conn, outcome.is_ok());
    }

    /// Returns the number of bytes that the controller accepts from the peer of this connection now. The caller, which
    /// owns the sockets, leaves further bytes in its socket.
    #[must_use]
    pub fn room(&self, conn: Conn) -> usize {
        match self.connections.get(&conn) {
            Some(connection) => super::connection::RECEIVE_QUEUE.saturating_sub(connection.up.queued()),
            None => self.plant.sockets.dials.room(conn),
        }
    }
}

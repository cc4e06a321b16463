//! Connections that the controller makes: the driver calls, and tells how that went.

use super::{Conn, Controller, Refused};
use crate::dial::Dial;

impl Controller {
    /// Whom to call next. Nobody has to be called: a call that is never answered is a peer that stays silent, and who waits
    /// for it gives up by itself.
    pub fn poll_dial(&mut self) -> Option<Dial> {
        self.plant.sockets.dials.poll()
    }

    /// A call was answered, or failed; without effect where nobody waits for it any more.
    pub fn dialled(&mut self, conn: Conn, outcome: Result<(), Refused>) {
        self.plant.sockets.dials.dialled(conn, outcome.is_ok());
    }

    /// Bytes that the controller would take from this peer now. A driver leaves what is more in its own socket.
    #[must_use]
    pub fn room(&self, conn: Conn) -> usize {
        match self.connections.get(&conn) {
            Some(connection) => super::connection::RECEIVE_QUEUE.saturating_sub(connection.up.queued()),
            None => self.plant.sockets.dials.room(conn),
        }
    }
}

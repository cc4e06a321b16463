//! Clients of the controller: their connections, the bytes in both directions, and the end of connections. Bytes and
//! ends include those of connections that the controller opens.

use std::net::IpAddr;

use outrigger_wire::robot::Generation;

use super::connection::{Connection, Phase, RECEIVE_QUEUE};
use super::{Conn, Controller, EventKind, Refused};
use crate::fault::FaultKind;
use crate::port::Port;
use crate::service::Service;

impl Controller {
    /// Returns whether the controller, with its software version and options, has this port.
    #[must_use]
    pub fn has_port(&self, port: Port) -> bool {
        let x = (self.firmware.generation() == Generation::PolyScopeX).then_some(self.options.polyscope_x);
        match port {
            Port::Dashboard => self.firmware.dashboard(),
            Port::Primary | Port::Secondary => true,
            Port::Realtime => x.is_none_or(|x| x.realtime),
            Port::Rtde => self.firmware.rtde(),
            Port::PrimaryReadOnly | Port::SecondaryReadOnly => {
                self.firmware.read_only_ports() && x.is_none_or(|x| x.read_only)
            }
            Port::RealtimeReadOnly => self.firmware.read_only_ports() && x.is_none_or(|x| x.realtime && x.read_only),
            Port::Interpreter => self.has_interpreter(),
            Port::RobotApi => self.firmware.robot_api(),
            Port::ToolLine => self.tool_line.is_some(),
        }
    }

    /// Returns whether a client that connects to this port now is accepted.
    #[must_use]
    pub fn listens(&self, port: Port) -> bool {
        let dropped = self.faults.on(self.now, port).any(|kind| kind == FaultKind::Drop);
        let off = Service::of(port).is_some_and(|service| self.services_off.contains(&service));
        self.has_port(port) && self.away_until.is_none() && !dropped && !off && !self.is_full(port)
    }

    /// Returns whether a port has its highest permitted number of clients.
    fn is_full(&self, port: Port) -> bool {
        let limit = if port == Port::Dashboard { self.options.dashboard.clients } else { None };
        limit.is_some_and(|limit| self.connections.values().filter(|c| c.port == port && c.listens()).count() >= limit)
    }

    /// Connects a client to a port. If the port has a greeting, the controller sends that at once, without a request.
    ///
    /// # Errors
    /// [`Refused`] if the controller accepts no client on this port now; see [`listens`](Self::listens).
    pub fn connect(&mut self, port: Port) -> Result<Conn, Refused> {
        self.connect_from(port, None)
    }

    /// Connects a client as [`connect`](Self::connect) does; events contain its address `peer`.
    ///
    /// # Errors
    /// [`Refused`] if the controller accepts no client on this port now; see [`listens`](Self::listens).
    pub fn connect_from(&mut self, port: Port, peer: Option<IpAddr>) -> Result<Conn, Refused> {
        if !self.listens(port) {
            return Err(Refused);
        }
        let id = Conn(self.next_conn);
        self.next_conn += 1;
        let permitted = self.plant.robot.control.obeys_clients();
        self.connections.insert(id, Connection::new(port, peer, self.options.seed, id.0, permitted));
        self.event(|| EventKind::Connected { peer, port });
        self.set_conditions();
        self.greet(id);
        Ok(id)
    }

    /// Passes bytes that a client sends to the controller. Returns the number of accepted bytes.
    pub fn write(&mut self, conn: Conn, bytes: &[u8]) -> usize {
        if conn.is_dialled() {
            return self.plant.sockets.dials.give(conn, bytes);
        }
        let now = self.now;
        let Some(connection) = self.connections.get_mut(&conn).filter(|c| c.phase == Phase::Open) else { return 0 };
        let room = RECEIVE_QUEUE.saturating_sub(connection.up.queued());
        let taken = bytes.get(..room).unwrap_or(bytes);
        if !taken.is_empty() {
            connection.down.peer_sent(now);
            connection.up.send(now, taken);
            self.plant.now = now;
            self.read_clients();
        }
        taken.len()
    }

    /// Reads bytes for a client, at most one segment per call. Returns their number.
    pub fn read(&mut self, conn: Conn, buffer: &mut [u8]) -> usize {
        if conn.is_dialled() {
            return self.plant.sockets.dials.take(conn, buffer);
        }
        let now = self.now;
        let Some(connection) = self.connections.get_mut(&conn).filter(|c| c.phase != Phase::Closed) else { return 0 };
        let Some(bytes) = connection.down.receive(now, buffer.len()) else { return 0 };
        connection.read += bytes.len() as u64;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        if connection.phase == Phase::Closing && connection.down.queued() == 0 {
            connection.phase = Phase::Closed;
        }
        bytes.len()
    }

    /// Returns the number of bytes that the client could read from its connection now.
    #[must_use]
    pub fn pending(&self, conn: Conn) -> usize {
        if conn.is_dialled() {
            return self.plant.sockets.dials.pending(conn);
        }
        self.connections.get(&conn).map_or(0, |connection| connection.down.arrived(self.now))
    }

    /// Returns whether the connection is open, or is being opened by the controller. After the controller has begun to
    /// close it, `true` until all bytes that it sent before are read.
    #[must_use]
    pub fn is_open(&self, conn: Conn) -> bool {
        self.plant.sockets.dials.wanted(conn)
            || self.connections.get(&conn).is_some_and(|c| matches!(c.phase, Phase::Open | Phase::Closing))
    }

    /// Closes a client's connection. Bytes that it sent before are still accepted, unless it closed too early
    /// (core/docs/protocol/ur-client-interfaces.md 5.7) and the controller drops its program for that.
    pub fn disconnect(&mut self, conn: Conn) {
        self.hang_up(conn, false);
    }

    /// Closes a client's connection like [`disconnect`](Self::disconnect). `unread` is `true` if the client resets the
    /// connection because it has not read all its bytes; this counts as closing too early, however much it has read.
    pub(crate) fn hang_up(&mut self, conn: Conn, unread: bool) {
        const ENOUGH: u64 = 79;
        self.plant.sockets.dials.hung_up(conn);
        let Some(connection) = self.connections.get(&conn) else { return };
        let early = (unread || connection.read < ENOUGH) && self.minds_early_close(connection.port);
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        if early {
            connection.phase = Phase::Closed;
            self.programs.forget(conn);
        } else if connection.phase != Phase::Closed {
            connection.phase = Phase::ClosedByClient;
        }
        self.sweep();
    }

    /// Returns whether the controller drops the program of a client of this port that closes its connection before it
    /// has read enough.
    fn minds_early_close(&self, port: Port) -> bool {
        self.options.needs_79_bytes || self.faults.on(self.now, port).any(|kind| kind == FaultKind::EarlyClose)
    }

    /// Resets a client's connection: bytes in transit in either direction are lost. Programs that had arrived run,
    /// unless the controller drops programs for an early close; every reset counts as one.
    pub fn reset(&mut self, conn: Conn) {
        if let Some(connection) = self.connections.get(&conn)
            && self.minds_early_close(connection.port)
        {
            self.programs.forget(conn);
        }
        if let Some(Connection { peer, port, .. }) = self.connections.remove(&conn) {
            self.event(|| EventKind::Disconnected { peer, port });
        }
        self.plant.sockets.dials.hung_up(conn);
        self.sweep();
    }

    /// Returns the number of clients' connections on all ports.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.connections.len()
    }

    /// Returns the number of bytes that a client has sent and that have not arrived, and so are not acknowledged.
    #[must_use]
    pub fn in_flight(&self, conn: Conn) -> usize {
        if conn.is_dialled() {
            return self.plant.sockets.dials.in_flight(conn);
        }
        self.connections.get(&conn).map_or(0, |connection| connection.up.queued())
    }

    /// Removes the clients' connections that have ended.
    pub(super) fn sweep(&mut self) {
        let over = |c: &mut Connection| match c.phase {
            Phase::Open | Phase::Closing => false,
            Phase::ClosedByClient => c.up.queued() == 0,
            Phase::Closed => true,
        };
        let ended: Vec<_> = self.connections.extract_if(.., |_, c| over(c)).collect();
        for (_, Connection { peer, port, .. }) in ended {
            self.event(|| EventKind::Disconnected { peer, port });
        }
        self.exchange.release(|conn| !self.connections.contains_key(&conn));
    }
}

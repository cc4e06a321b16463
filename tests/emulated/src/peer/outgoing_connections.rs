//! The connections that the controller opens: a socket of the stack for each.

use std::net::Ipv4Addr;

use outrigger_sim::controller::{Conn, Controller, Refused};
use outrigger_sim::dial::Dial;
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};

use super::PeerOptions;

/// The local ports for outgoing connections: the range that hosts use.
const LOCAL: std::ops::RangeInclusive<u16> = 49_152..=u16::MAX;
/// The number of bytes passed to the other end of a connection at once.
const CHUNK: usize = 4096;

/// An outgoing connection of the controller: the attempt, or the connection that resulted.
struct Call {
    socket: SocketHandle,
    /// The controller's identifier of the connection; `None` once the controller no longer needs it.
    conn: Option<Conn>,
    answered: bool,
}

/// All outgoing connections of the controller.
pub(super) struct Calls {
    options: PeerOptions,
    calls: Vec<Call>,
    next_port: u16,
}

impl Calls {
    pub(super) fn new(options: PeerOptions) -> Self {
        Self { options, calls: vec![], next_port: *LOCAL.start() }
    }

    /// Opens the connections that the controller requests, moves bytes in both directions and closes connections.
    /// Returns `true` if this leaves work for the stack.
    pub(super) fn serve(
        &mut self,
        sockets: &mut SocketSet<'static>,
        interface: &mut Interface,
        controller: &mut Controller,
    ) -> bool {
        let mut busy = false;
        while let Some(dial) = controller.poll_dial() {
            match self.begin(&dial, sockets, interface) {
                Some(call) => self.calls.push(call),
                None => controller.dialled(dial.conn, Err(Refused)),
            }
            busy = true;
        }
        for call in &mut self.calls {
            busy |= call.serve(sockets.get_mut::<Socket<'_>>(call.socket), controller);
        }
        self.calls.retain(|call| {
            let over = call.conn.is_none() && sockets.get::<Socket<'_>>(call.socket).state() == State::Closed;
            if over {
                sockets.remove(call.socket);
            }
            !over
        });
        busy
    }

    /// Resets every connection; bytes in transit are lost.
    pub(super) fn reset(&mut self, sockets: &mut SocketSet<'static>) {
        for call in &self.calls {
            sockets.get_mut::<Socket<'_>>(call.socket).abort();
        }
    }

    /// Removes every connection without notifying the other end.
    pub(super) fn forget(&mut self, sockets: &mut SocketSet<'static>, controller: &mut Controller) {
        for call in self.calls.drain(..) {
            call.conn.into_iter().for_each(|conn| controller.reset(conn));
            sockets.remove(call.socket);
        }
    }

    /// Begins to open a connection that the controller requests. Returns `None` if the host is not an IP address,
    /// because there is no resolver, or if the stack refuses.
    fn begin(&mut self, dial: &Dial, sockets: &mut SocketSet<'static>, interface: &mut Interface) -> Option<Call> {
        let address: Ipv4Addr = dial.host.parse().ok()?;
        let PeerOptions { receive_buffer, send_buffer, nagle, .. } = self.options;
        let buffer = |size| SocketBuffer::new(vec![0; size]);
        let mut socket = Socket::new(buffer(receive_buffer), buffer(send_buffer));
        socket.set_nagle_enabled(nagle);
        let port = self.next_port;
        self.next_port = if port == *LOCAL.end() { *LOCAL.start() } else { port + 1 };
        socket.connect(interface.context(), (address, dial.port), port).ok()?;
        Some(Call { socket: sockets.add(socket), conn: Some(dial.conn), answered: false })
    }
}

impl Call {
    fn serve(&mut self, socket: &mut Socket<'static>, controller: &mut Controller) -> bool {
        let Some(conn) = self.conn else { return false };
        if !self.answered {
            match socket.state() {
                State::SynSent if controller.is_open(conn) => return false,
                // No code waits for this connection any more.
                State::SynSent => socket.abort(),
                State::Closed => controller.dialled(conn, Err(Refused)),
                _ => {
                    controller.dialled(conn, Ok(()));
                    self.answered = true;
                }
            }
            if !self.answered {
                self.conn = None;
                return true;
            }
        }
        let moved = receive(conn, socket, controller) | send(conn, socket, controller);
        let reset = socket.state() == State::Closed;
        let over = !socket.may_recv() || !controller.is_open(conn);
        if !(reset || over) {
            return moved;
        }
        if reset {
            controller.reset(conn);
        } else {
            controller.disconnect(conn);
            socket.close();
        }
        self.conn = None;
        true
    }
}

/// Passes received bytes to the controller. Bytes for which it has no room remain in the socket, whose window closes.
fn receive(conn: Conn, socket: &mut Socket<'static>, controller: &mut Controller) -> bool {
    let mut moved = false;
    while socket.can_recv() {
        let take = |bytes: &mut [u8]| {
            let taken = controller.write(conn, bytes);
            (taken, taken)
        };
        if socket.recv(take).unwrap_or(0) == 0 {
            break;
        }
        moved = true;
    }
    moved
}

fn send(conn: Conn, socket: &mut Socket<'static>, controller: &mut Controller) -> bool {
    let mut buffer = [0; CHUNK];
    let mut moved = false;
    while socket.may_send() {
        let room = (socket.send_capacity() - socket.send_queue()).min(CHUNK);
        let Some(window) = buffer.get_mut(..room).filter(|window| !window.is_empty()) else { break };
        let count = controller.read(conn, window);
        if count == 0 || socket.send_slice(window.get(..count).unwrap_or_default()).is_err() {
            break;
        }
        moved = true;
    }
    moved
}

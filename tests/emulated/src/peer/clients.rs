//! The TCP clients of the controller's ports: a socket of the stack for each, and the controller's name for it.

use outrigger_sim::controller::{Conn, Controller};
use outrigger_sim::port::Port;
use smoltcp::iface::{SocketHandle, SocketSet};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Duration;

use super::PeerOptions;
use super::traffic_record::Ledger;

/// The number of sockets of one port that wait for a client, so that as many can connect at the same moment.
const WAITING: usize = 2;
/// The number of bytes passed to a client at once; the controller passes at most one message at a time.
const CHUNK: usize = 4096;

/// A TCP connection of a client to the controller, open or closed.
struct Client {
    port: Port,
    socket: SocketHandle,
    /// The controller's identifier of the connection; `None` once the controller no longer needs it.
    conn: Option<Conn>,
}

pub(super) struct Clients {
    options: PeerOptions,
    pub(super) ledger: Ledger,
    waiting: Vec<(Port, SocketHandle)>,
    clients: Vec<Client>,
}

impl Clients {
    pub(super) fn new(options: PeerOptions) -> Self {
        Self { ledger: Ledger::new(options.keep_passages), options, waiting: vec![], clients: vec![] }
    }

    /// Accepts clients, moves bytes in both directions and closes connections. Returns `true` if this leaves work for
    /// the stack.
    pub(super) fn serve(&mut self, sockets: &mut SocketSet<'static>, controller: &mut Controller) -> bool {
        let mut busy = self.accept(sockets, controller);
        for client in &mut self.clients {
            let socket = sockets.get_mut::<Socket<'_>>(client.socket);
            busy |= client.serve(socket, controller, &mut self.ledger);
        }
        self.clients.retain(|client| {
            let over = client.conn.is_none() && sockets.get::<Socket<'_>>(client.socket).state() == State::Closed;
            if over {
                sockets.remove(client.socket);
            }
            !over
        });
        self.listen(sockets, controller);
        busy
    }

    /// Resets every open connection; bytes in transit are lost.
    pub(super) fn reset(&mut self, sockets: &mut SocketSet<'static>) {
        for client in &self.clients {
            sockets.get_mut::<Socket<'_>>(client.socket).abort();
        }
    }

    /// Removes every connection without notifying the other end.
    pub(super) fn forget(&mut self, sockets: &mut SocketSet<'static>, controller: &mut Controller) {
        for client in self.clients.drain(..) {
            client.conn.into_iter().for_each(|conn| controller.reset(conn));
            sockets.remove(client.socket);
        }
    }

    /// Turns connected sockets into clients of the controller, or resets them if the controller rejects the connection.
    fn accept(&mut self, sockets: &mut SocketSet<'static>, controller: &mut Controller) -> bool {
        let mut busy = false;
        self.waiting.retain(|(port, handle)| {
            let socket = sockets.get_mut::<Socket<'_>>(*handle);
            if matches!(socket.state(), State::Listen | State::SynReceived) {
                return true;
            }
            let conn = controller.connect(*port).ok();
            match conn {
                Some(conn) => self.ledger.opened(controller.now(), conn, *port),
                None => socket.abort(),
            }
            self.clients.push(Client { port: *port, socket: *handle, conn });
            busy = true;
            false
        });
        busy
    }

    /// Keeps up to [`WAITING`] sockets listening on each port on which the controller listens, as far as the port has
    /// room for clients. Other ports have none, so that the stack answers with a reset, as a host without that port
    /// does.
    fn listen(&mut self, sockets: &mut SocketSet<'static>, controller: &Controller) {
        for port in Port::ALL {
            let open = controller.listens(port);
            self.waiting.retain(|(waits_at, handle)| {
                let keep = *waits_at != port || open || !is_waiting(sockets, *handle);
                if !keep {
                    sockets.remove(*handle);
                }
                keep
            });
            let connected = self.clients.iter().filter(|client| client.port == port && client.conn.is_some()).count();
            let here = self.waiting.iter().filter(|(waits_at, _)| *waits_at == port);
            let mut taken = connected + here.clone().count();
            let mut waiting = here.filter(|(_, handle)| is_waiting(sockets, *handle)).count();
            while open && waiting < WAITING && taken < self.options.clients_per_port {
                let mut socket = self.socket();
                if socket.listen(port.number()).is_ok() {
                    self.waiting.push((port, sockets.add(socket)));
                }
                waiting += 1;
                taken += 1;
            }
        }
    }

    fn socket(&self) -> Socket<'static> {
        let PeerOptions { receive_buffer, send_buffer, ack_delay, nagle, .. } = self.options;
        let mut socket =
            Socket::new(SocketBuffer::new(vec![0; receive_buffer]), SocketBuffer::new(vec![0; send_buffer]));
        socket.set_ack_delay(ack_delay.map(Duration::from));
        socket.set_nagle_enabled(nagle);
        socket
    }
}

fn is_waiting(sockets: &SocketSet<'static>, handle: SocketHandle) -> bool {
    sockets.get::<Socket<'_>>(handle).state() == State::Listen
}

impl Client {
    fn serve(&mut self, socket: &mut Socket<'static>, controller: &mut Controller, ledger: &mut Ledger) -> bool {
        let Some(conn) = self.conn else { return false };
        let received = self.receive(conn, socket, controller, ledger);
        let sent = self.send(conn, socket, controller, ledger);
        let reset = socket.state() == State::Closed;
        let client_closed = !socket.may_recv();
        let controller_closed = !controller.is_open(conn) && controller.pending(conn) == 0;
        if !(reset || client_closed || controller_closed) {
            return received || sent;
        }
        if reset {
            // Bytes that had arrived were taken above; bytes in transit in either direction are lost.
            controller.reset(conn);
        } else {
            controller.disconnect(conn);
            socket.close();
        }
        ledger.closed(controller.now(), conn, self.port);
        self.conn = None;
        true
    }

    /// Passes received bytes to the controller. Bytes for which it has no room remain in the socket, whose window
    /// closes.
    fn receive(
        &self,
        conn: Conn,
        socket: &mut Socket<'static>,
        controller: &mut Controller,
        ledger: &mut Ledger,
    ) -> bool {
        let mut moved = false;
        // The stack has already processed the acknowledgement that arrived with these bytes.
        ledger.acknowledged(controller.now(), conn, self.port, socket.send_queue());
        while socket.can_recv() {
            let take = |bytes: &mut [u8]| {
                let taken = controller.write(conn, bytes);
                ledger.up(controller.now(), conn, self.port, bytes.get(..taken).unwrap_or_default());
                (taken, taken)
            };
            if socket.recv(take).unwrap_or(0) == 0 {
                break;
            }
            moved = true;
        }
        moved
    }

    /// Passes the controller's bytes to the client's socket, as far as there is room.
    fn send(&self, conn: Conn, socket: &mut Socket<'static>, controller: &mut Controller, ledger: &mut Ledger) -> bool {
        let mut buffer = [0; CHUNK];
        let mut moved = false;
        while socket.may_send() {
            let room = (socket.send_capacity() - socket.send_queue()).min(CHUNK);
            let Some(window) = buffer.get_mut(..room).filter(|window| !window.is_empty()) else { break };
            let count = controller.read(conn, window);
            let bytes = window.get(..count).unwrap_or_default();
            if bytes.is_empty() || socket.send_slice(bytes).is_err() {
                break;
            }
            ledger.down(controller.now(), conn, self.port, bytes);
            moved = true;
        }
        moved
    }
}

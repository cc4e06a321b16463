//! A controller behind kernel TCP: one thread, non-blocking sockets, absolute deadlines.
//!
//! Simulated time is that of a [`Clock`]. If the process was not scheduled, the missed cycles are executed at once
//! afterwards, as queued bytes would arrive.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{set_socket_linger, set_socket_reuseaddr};
use rustix::net::{Shutdown, listen, shutdown};

mod clock;
mod dial;

pub use clock::Clock;

use crate::controller::{Conn, Controller};
use crate::history::SharedHistory;
use crate::port::Port;
use crate::time::SimTime;
use dial::Calls;

/// The port base at which every port has the number it has on a real controller.
pub const REAL_PORTS: u16 = 29_999;

/// The number of bytes that are read from or written to a socket at once.
const CHUNK: usize = 4096;

/// The highest number of connections that programs of the controller have closed and that stay open until their peers
/// have read the last bytes. Older ones are dropped.
const LEFT: usize = 32;

/// The listen backlog of a port that is opened again after it was closed for a while.
const KNOCKING: i32 = 128;

/// The addresses on which a controller's ports are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// The IP address on which the controller's ports are opened.
    pub listen: IpAddr,
    /// The port base: port p of the controller is at base + p − 29999, with two exceptions; see [`Port::at_base`].
    pub base: u16,
    /// The port number of the Robot API; `None` for the one that follows from the port base.
    pub robot_api: Option<u16>,
}

impl Addresses {
    /// Returns the port number that represents the controller's `port`; `None` if it would exceed 65535.
    #[must_use]
    pub fn port(&self, port: Port) -> Option<u16> {
        self.robot_api.filter(|_| port == Port::RobotApi).or_else(|| port.at_base(self.base))
    }

    fn socket(&self, port: Port) -> SocketAddr {
        SocketAddr::new(self.listen, self.port(port).unwrap_or_default())
    }
}

/// An error: a port of the controller could not be opened.
#[derive(Debug)]
pub struct BindError {
    /// The IP address on which the TCP port was requested.
    pub address: IpAddr,
    /// The requested TCP port; `None` if it would exceed 65535.
    pub port: Option<u16>,
    /// The controller's port that the requested one represents.
    pub service: Port,
    /// The error of the operating system when the port was opened.
    pub source: std::io::Error,
}

impl std::fmt::Display for BindError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let real = self.service.number();
        let Some(port) = self.port else {
            return write!(f, "the port base leaves no room for port {real}; choose one of at most 65514");
        };
        write!(f, "cannot listen on {}: {}", SocketAddr::new(self.address, port), self.source)?;
        match self.source.kind() {
            ErrorKind::AddrInUse => write!(
                f,
                "; another program uses it, perhaps another simulator: stop it, or choose another port base \
                 (base B puts port {real} at B + {})",
                self.service.at_base(0).unwrap_or_default()
            ),
            ErrorKind::AddrNotAvailable => write!(f, "; no interface of this machine has that address"),
            ErrorKind::PermissionDenied if self.service == Port::RobotApi => {
                write!(f, "; ports below 1024 need privileges: choose another port for the Robot API, or a port base")
            }
            ErrorKind::PermissionDenied => write!(f, "; ports below 1024 need privileges, choose a higher port base"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// A controller with its TCP ports open, ready to be run.
#[derive(Debug)]
pub struct Server {
    controller: Arc<Mutex<Controller>>,
    listeners: Vec<Listener>,
    addresses: Addresses,
    history: Option<SharedHistory>,
}

/// A listening port of the controller. While the controller does not listen, the port stays bound and refuses
/// clients.
#[derive(Debug)]
struct Listener {
    port: Port,
    socket: TcpListener,
    open: bool,
}

impl Listener {
    /// Starts or stops accepting clients on the controller's port.
    fn set_open(&mut self, open: bool) {
        // Linux: a listening socket that is shut down refuses clients and keeps its address; listening again opens
        // it. The address may be taken by another socket meanwhile, unless this one does not share it. A connection
        // inherits the setting, so it is changed only while there are none.
        let _ = set_socket_reuseaddr(&self.socket, open);
        let done = if open { listen(&self.socket, KNOCKING) } else { shutdown(&self.socket, Shutdown::Read) };
        if done.is_ok() {
            self.open = open;
        }
    }
}

impl Server {
    /// Opens every port that the controller has: port p at `port_base` + p − 29999, with two exceptions; see
    /// [`Port::at_base`].
    ///
    /// # Errors
    /// Returns the first port that could not be opened.
    pub fn bind(controller: Controller, address: IpAddr, port_base: u16) -> Result<Self, BindError> {
        Self::bind_at(controller, Addresses { listen: address, base: port_base, robot_api: None })
    }

    /// Opens every port that the controller has at `addresses`, which can select another port for the Robot API, whose
    /// real port needs privileges.
    ///
    /// # Errors
    /// Returns the first port that could not be opened.
    pub fn bind_at(controller: Controller, addresses: Addresses) -> Result<Self, BindError> {
        let listeners = open_all(&controller, addresses)?;
        Ok(Self { controller: Arc::new(Mutex::new(controller)), listeners, addresses, history: None })
    }

    /// Opens every port at the first port base from `first` on, in steps of 23, at which all are free: for tests that
    /// run in parallel.
    ///
    /// # Errors
    /// Returns an error other than a port in use at once; else, when no base is left, the error of the last attempt.
    pub fn bind_from(controller: Controller, address: IpAddr, first: u16) -> Result<Self, BindError> {
        Self::bind_free(controller, Addresses { listen: address, base: first, robot_api: None })
    }

    /// Opens every port at the first port base from `addresses.base` on, in steps of 23, at which all are free.
    ///
    /// # Errors
    /// Returns an error other than a port in use at once, and so for a chosen port of the Robot API that is in use; else,
    /// when no base is left, the error of the last attempt.
    pub fn bind_free(controller: Controller, mut addresses: Addresses) -> Result<Self, BindError> {
        loop {
            match open_all(&controller, addresses) {
                Ok(listeners) => {
                    return Ok(Self {
                        controller: Arc::new(Mutex::new(controller)),
                        listeners,
                        addresses,
                        history: None,
                    });
                }
                Err(error) if error.source.kind() != ErrorKind::AddrInUse => return Err(error),
                // Another base does not change this port.
                Err(error) if error.service == Port::RobotApi && addresses.robot_api.is_some() => return Err(error),
                Err(error) => addresses.base = addresses.base.checked_add(23).ok_or(error)?,
            }
        }
    }

    /// Returns the address and port of one of the controller's ports.
    #[must_use]
    pub fn address(&self, port: Port) -> SocketAddr {
        self.addresses.socket(port)
    }

    /// Returns the port base in use: port p of the controller is at base + p − 29999, with two exceptions; see
    /// [`Port::at_base`] and [`Addresses::robot_api`].
    #[must_use]
    pub fn port_base(&self) -> u16 {
        self.addresses.base
    }

    /// Stores the history of the controller while it is served, and returns access to it. The events of the controller
    /// are taken by it.
    pub fn keep_history(&mut self) -> SharedHistory {
        self.history.get_or_insert_with(|| SharedHistory::new(&mut lock(&self.controller))).clone()
    }

    /// Serves the simulated controller on the calling thread until `stop` is set.
    pub fn run(self, stop: &AtomicBool) {
        self.run_by(&Clock::start(), stop);
    }

    fn run_by(self, clock: &Clock, stop: &AtomicBool) {
        let calls = Calls::new(self.addresses.listen);
        Loop { clock, clients: vec![], calls, server: self }.run(stop);
    }

    /// Serves the simulated controller on a separate thread.
    ///
    /// # Errors
    /// Returns an error if the system could not start a thread.
    pub fn spawn(self) -> std::io::Result<Running> {
        self.spawn_with(Self::run)
    }

    /// Serves the simulated controller on a separate thread, in the time of `clock`.
    ///
    /// # Errors
    /// Returns an error if the system could not start a thread.
    pub fn spawn_by(self, clock: &'static Clock) -> std::io::Result<Running> {
        self.spawn_with(|server, stop| server.run_by(clock, stop))
    }

    fn spawn_with(self, run: impl FnOnce(Self, &AtomicBool) + Send + 'static) -> std::io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let addresses = self.addresses;
        let controller = Arc::clone(&self.controller);
        let until = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("controller".into()).spawn(move || run(self, &until))?;
        Ok(Running { controller, stop, thread: Some(thread), addresses })
    }
}

fn open_all(controller: &Controller, addresses: Addresses) -> Result<Vec<Listener>, BindError> {
    let address = addresses.listen;
    let open = |service: Port| {
        let port = addresses.port(service);
        let failed = |source| BindError { address, port, service, source };
        let number = port.ok_or_else(|| failed(ErrorKind::InvalidInput.into()))?;
        let listener = TcpListener::bind((address, number)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Listener { port: service, socket: listener, open: true })
    };
    Port::ALL.into_iter().filter(|port| controller.has_port(*port)).map(open).collect()
}

/// A controller with its ports on a thread of its own; the thread stops when this value is dropped.
#[derive(Debug)]
pub struct Running {
    controller: Arc<Mutex<Controller>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    addresses: Addresses,
}

impl Running {
    /// Returns the address and port of one of the controller's ports.
    #[must_use]
    pub fn address(&self, port: Port) -> SocketAddr {
        self.addresses.socket(port)
    }

    /// Returns the port base in use: port p of the controller is at base + p − 29999, with two exceptions; see
    /// [`Port::at_base`] and [`Addresses::robot_api`].
    #[must_use]
    pub fn port_base(&self) -> u16 {
        self.addresses.base
    }

    /// Locks the controller between two of its cycles; its time does not advance while the lock is held.
    pub fn controller(&self) -> MutexGuard<'_, Controller> {
        lock(&self.controller)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the server thread has been printed by then; there is nothing to add.
            drop(thread.join());
        }
    }
}

/// Locks the controller. A holder that panicked leaves a consistent controller, because every change is made by one
/// call.
fn lock(controller: &Mutex<Controller>) -> MutexGuard<'_, Controller> {
    controller.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The socket of one connection, with bytes that it could not accept yet.
struct Client {
    conn: Conn,
    stream: TcpStream,
    unsent: Vec<u8>,
    gone: bool,
    /// `true` if the connection ended without an orderly close: bytes that were sent to the peer may stay unread.
    reset: bool,
    /// `true` if the controller opened this connection, `false` for a client's.
    called: bool,
    /// `true` if the controller accepts no more of the connection's bytes now.
    full: bool,
}

impl Client {
    fn new(conn: Conn, stream: TcpStream, called: bool) -> Self {
        Self { conn, stream, unsent: vec![], gone: false, reset: false, called, full: false }
    }

    /// Sends the bytes that the controller has for this client, one segment per write.
    fn send(&mut self, controller: &mut Controller) {
        let mut buffer = [0; CHUNK];
        while !self.gone {
            if self.unsent.is_empty() {
                let n = controller.read(self.conn, &mut buffer);
                if n == 0 {
                    return;
                }
                self.unsent.extend_from_slice(buffer.get(..n).unwrap_or_default());
            }
            match self.stream.write(&self.unsent) {
                Ok(0) => self.gone = true,
                Ok(n) => drop(self.unsent.drain(..n)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => (self.gone, self.reset) = (true, true),
            }
        }
    }

    /// Passes the bytes that the client has sent to the controller.
    fn receive(&mut self, controller: &mut Controller) {
        let mut buffer = [0; CHUNK];
        while !self.gone {
            // A peer that the controller has called fills its receive window; a client's bytes are always read.
            let room = if self.called { controller.room(self.conn).min(CHUNK) } else { CHUNK };
            self.full = room == 0;
            if self.full {
                return;
            }
            match self.stream.read(&mut buffer[..room]) {
                Ok(0) => self.gone = true,
                Ok(n) => {
                    let bytes = buffer.get(..n).unwrap_or_default();
                    if controller.write(self.conn, bytes) < n {
                        self.gone = true;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => (self.gone, self.reset) = (true, true),
            }
        }
    }
}

struct Loop<'c> {
    clock: &'c Clock,
    clients: Vec<Client>,
    calls: Calls,
    server: Server,
}

impl Loop<'_> {
    fn run(mut self, stop: &AtomicBool) {
        crate::os::wake_promptly();
        while !stop.load(Ordering::Relaxed) {
            let next = self.turn();
            self.wait(next);
        }
    }

    /// Advances the simulated controller to the present and exchanges bytes with all sockets. Returns the time of the
    /// next event.
    fn turn(&mut self) -> SimTime {
        let shared = Arc::clone(&self.server.controller);
        let mut controller = lock(&shared);
        controller.advance_to(self.clock.now());
        self.accept(&mut controller);
        self.clients.extend(self.calls.turn(&mut controller).map(|(conn, stream)| Client::new(conn, stream, true)));
        for client in &mut self.clients {
            client.receive(&mut controller);
            client.send(&mut controller);
            let over = !controller.is_open(client.conn) && client.unsent.is_empty();
            if client.gone || over {
                controller.hang_up(client.conn, client.reset);
                client.gone = true;
            }
        }
        // Peers that do not read the last bytes of a closed program are kept up to this number.
        let left = self.clients.iter_mut().filter(|client| client.called && !controller.is_open(client.conn));
        left.rev().skip(LEFT).for_each(|client| client.gone = true);
        self.clients.retain(|client| !client.gone);
        if let Some(history) = &self.server.history {
            history.collect(&mut controller);
        }
        controller.next_event()
    }

    fn accept(&mut self, controller: &mut Controller) {
        for listener in &mut self.server.listeners {
            let open = controller.listens(listener.port);
            if open != listener.open {
                listener.set_open(open);
            }
            while listener.open
                && let Ok((stream, peer)) = listener.socket.accept()
            {
                // An IPv4 client of an IPv6 socket is identified by its IPv4 address.
                match controller.connect_from(listener.port, Some(peer.ip().to_canonical())) {
                    Ok(conn) if stream.set_nonblocking(true).is_ok() && stream.set_nodelay(true).is_ok() => {
                        self.clients.push(Client::new(conn, stream, false));
                    }
                    Ok(conn) => controller.disconnect(conn),
                    // The kernel accepted before the port was shut down: a reset is as close to a refusal as
                    // possible.
                    Err(_) => drop(set_socket_linger(&stream, Some(Duration::ZERO))),
                }
            }
        }
    }

    /// Sleeps until the simulated time `next`, or until a socket is ready.
    fn wait(&self, next: SimTime) {
        // A listener that refuses would always be ready, to report that it is shut down.
        let listening = self.server.listeners.iter().filter(|listener| listener.open);
        let listeners = listening.map(|listener| PollFd::new(&listener.socket, PollFlags::IN));
        // Without any requested event, a disconnected peer would always be ready.
        let clients = self.clients.iter().filter(|client| !client.full || !client.unsent.is_empty()).map(|client| {
            let reads = if client.full { PollFlags::empty() } else { PollFlags::IN };
            let writes = if client.unsent.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            PollFd::new(&client.stream, reads | writes)
        });
        let calls = self.calls.sockets().map(|socket| PollFd::new(socket, PollFlags::OUT));
        let mut fds: Vec<PollFd<'_>> = listeners.chain(clients).chain(calls).collect();
        let left = self.clock.left_until(next);
        // Interrupted or not, the next turn processes everything.
        let _ = poll(&mut fds, Timespec::try_from(left).ok().as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::{Action, Options};
    use crate::service::Service;
    use std::net::Ipv4Addr;

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn a_client_reads_packets_over_the_loopback() {
        let controller = Controller::new(Options::default()).unwrap();
        let server = Server::bind_from(controller, LOCAL, 41_000).unwrap().spawn().unwrap();
        let mut stream = TcpStream::connect(server.address(Port::Realtime)).unwrap();
        let mut times = vec![];
        for _ in 0..20 {
            let mut packet = [0; 1220];
            stream.read_exact(&mut packet).unwrap();
            assert_eq!(packet[..4], 1220i32.to_be_bytes());
            times.push(f64::from_be_bytes(packet[4..12].try_into().unwrap()));
        }
        for pair in times.windows(2) {
            assert!((pair[1] - pair[0] - 0.002).abs() < 1e-9, "{times:?}");
        }
    }

    #[test]
    fn a_taken_port_is_named_with_what_to_do() {
        let controller = || Controller::new(Options::default()).unwrap();
        let first = Server::bind_from(controller(), LOCAL, 43_000).unwrap();
        let base = first.addresses.base;
        let error = Server::bind(controller(), LOCAL, base).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(&format!("cannot listen on 127.0.0.1:{base}")), "{message}");
        assert!(message.contains("choose another port base"), "{message}");
        let message = Server::bind(controller(), LOCAL, 65_530).unwrap_err().to_string();
        assert!(message.contains("no room"), "{message}");
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn a_service_that_is_off_is_refused_by_the_kernel_and_on_again_served() {
        let controller = Controller::new(Options::default()).unwrap();
        let server = Server::bind_from(controller, LOCAL, 46_000).unwrap().spawn().unwrap();
        let address = server.address(Port::Dashboard);
        let switch = |on| {
            server.controller().act(Action::SwitchService(Service::Dashboard, on));
            // The listener changes in the turn of the next cycle.
            let cycles = server.controller().cycles();
            while server.controller().cycles() == cycles {
                std::thread::yield_now();
            }
        };
        assert!(TcpStream::connect(address).is_ok());
        switch(false);
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        // Another simulator does not take the port meanwhile.
        assert_eq!(TcpListener::bind(address).unwrap_err().kind(), ErrorKind::AddrInUse);
        switch(true);
        assert!(TcpStream::connect(address).is_ok());
    }

    #[test]
    #[ignore = "in real time: `.ci/realtime units` runs it"]
    fn what_the_controller_closes_is_closed_for_the_client() {
        let controller = Controller::new(Options::default()).unwrap();
        let server = Server::bind_from(controller, LOCAL, 45_000).unwrap().spawn().unwrap();
        let mut stream = TcpStream::connect(server.address(Port::Dashboard)).unwrap();
        stream.write_all(b"quit\n").unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        assert_eq!(all, "Connected: Universal Robots Dashboard Server\nDisconnected\n");
    }
}

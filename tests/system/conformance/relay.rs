//! A relay between the port and the simulated controller. It does to a connection what otherwise only the network
//! stack of a controller could do: reset it, or stop reading from it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use outrigger_sim::port::Port;
use outrigger_sim::tcp::Running;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{set_socket_linger, set_socket_recv_buffer_size};

/// The ports of a controller that the relay passes on. They are the ones that `port-linux` connects to.
const PORTS: [Port; 4] = [Port::Primary, Port::Secondary, Port::Realtime, Port::Rtde];
/// The longest delay until the relay's thread notices that the test wants a reset, no more reading or the end, while no
/// bytes arrive.
const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
/// The size of the relay's receive buffers \[bytes\], the smallest that the kernel allows. Once the relay stops
/// reading, a few commands fill such a buffer.
const RECEIVE_BUFFER: usize = 2_304;

/// The next port base to try for a relay.
static NEXT_BASE: AtomicU16 = AtomicU16::new(25_000);

/// A relay between the port under test (`port-linux`) and the simulated controller: a thread that passes bytes on in
/// both directions. A TCP port of the relay is closed while the controller does not listen on it.
pub(crate) struct Relay {
    orders: Arc<Orders>,
    thread: Option<JoinHandle<()>>,
    port_base: u16,
}

#[derive(Default)]
struct Orders {
    end: AtomicBool,
    reset: AtomicBool,
    take_nothing: AtomicBool,
}

impl Relay {
    /// Starts a relay in front of `server`, at a port base with free ports.
    pub(crate) fn new(server: Arc<Running>) -> Self {
        let free = |base: &u16| PORTS.iter().all(|port| listen(*port, *base).is_ok());
        // Each relay of this process takes another base.
        let mut bases = std::iter::repeat_with(|| NEXT_BASE.fetch_add(16, Ordering::Relaxed));
        let port_base = bases.find(free).expect("endless");
        let orders = Arc::new(Orders::default());
        let mut carrier = Carrier { server, orders: Arc::clone(&orders), port_base, doors: vec![], pairs: vec![] };
        carrier.open_and_close_doors();
        let thread = std::thread::spawn(move || carrier.run());
        Self { orders, thread: Some(thread), port_base }
    }

    pub(crate) fn port_base(&self) -> u16 {
        self.port_base
    }

    /// Resets every open connection of the relay.
    pub(crate) fn reset(&self) {
        self.orders.reset.store(true, Ordering::Relaxed);
    }

    /// Stops reading the bytes that the port under test (`port-linux`) sends.
    pub(crate) fn take_nothing(&self) {
        self.orders.take_nothing.store(true, Ordering::Relaxed);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.orders.end.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(()))) || std::thread::panicking(), "the relay panicked");
    }
}

fn listen(port: Port, base: u16) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.at_base(base).expect("a port")))?;
    set_socket_recv_buffer_size(&listener, RECEIVE_BUFFER)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// One direction of a relayed connection: the bytes that have been read from one stream and wait to be written to the
/// other.
struct Pipe {
    waiting: Vec<u8>,
    /// `true` once one of the two streams is closed or has failed.
    over: bool,
}

impl Pipe {
    const fn new() -> Self {
        Self { waiting: vec![], over: false }
    }

    fn carry(&mut self, mut from: &TcpStream, mut to: &TcpStream) {
        let mut buffer = [0; 4096];
        while !self.over {
            if self.waiting.is_empty() {
                match from.read(&mut buffer) {
                    Ok(0) => self.over = true,
                    Ok(count) => self.waiting.extend_from_slice(&buffer[..count]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                    Err(_) => self.over = true,
                }
            }
            match to.write(&self.waiting) {
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.over = true,
            }
        }
    }
}

/// A connection from the port under test (`port-linux`), and the relay's matching connection to the controller.
struct Pair {
    client: TcpStream,
    server: TcpStream,
    up: Pipe,
    down: Pipe,
}

struct Carrier {
    server: Arc<Running>,
    orders: Arc<Orders>,
    port_base: u16,
    doors: Vec<(Port, TcpListener)>,
    pairs: Vec<Pair>,
}

impl Carrier {
    fn run(mut self) {
        while !self.orders.end.load(Ordering::Relaxed) {
            self.open_and_close_doors();
            self.accept();
            if self.orders.reset.swap(false, Ordering::Relaxed) {
                // A connection that is closed without lingering is reset.
                let reset = |pair: Pair| set_socket_linger(&pair.client, Some(Duration::ZERO)).expect("a socket");
                self.pairs.drain(..).for_each(reset);
            }
            let takes = !self.orders.take_nothing.load(Ordering::Relaxed);
            for pair in &mut self.pairs {
                pair.down.carry(&pair.server, &pair.client);
                if takes {
                    pair.up.carry(&pair.client, &pair.server);
                }
            }
            self.pairs.retain(|pair| !pair.up.over && !pair.down.over);
            self.sleep(takes);
        }
    }

    fn open_and_close_doors(&mut self) {
        for port in PORTS {
            let listens = self.server.controller().listens(port);
            if !listens {
                self.doors.retain(|(open, _)| *open != port);
            } else if !self.doors.iter().any(|(open, _)| *open == port)
                && let Ok(door) = listen(port, self.port_base)
            {
                self.doors.push((port, door));
            }
        }
    }

    fn accept(&mut self) {
        for (port, door) in &self.doors {
            while let Ok((client, _)) = door.accept() {
                let Ok(server) = TcpStream::connect(self.server.address(*port)) else { continue };
                for stream in [&client, &server] {
                    stream.set_nonblocking(true).expect("a socket");
                    stream.set_nodelay(true).expect("a socket");
                }
                self.pairs.push(Pair { client, server, up: Pipe::new(), down: Pipe::new() });
            }
        }
    }

    /// Waits until bytes or a connection arrive at the relay, for at most [`TURN`].
    fn sleep(&self, takes: bool) {
        let doors = self.doors.iter().map(|(_, door)| PollFd::new(door, PollFlags::IN));
        let servers = self.pairs.iter().map(|pair| PollFd::new(&pair.server, PollFlags::IN));
        let clients = self.pairs.iter().filter(|_| takes).map(|pair| PollFd::new(&pair.client, PollFlags::IN));
        let mut fds: Vec<PollFd<'_>> = doors.chain(servers).chain(clients).collect();
        let _ = poll(&mut fds, Some(&TURN));
    }
}

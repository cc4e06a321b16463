//! A robot that connects to the board, and a stranger that connects too: the core's test robot behind a TCP/IP stack of
//! its own.

use std::time::Duration;

use outrigger_core::engine::test_peer::{Message, Robot};
use outrigger_sim::time::SimTime;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp;
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address};

use crate::peer::network_device::Frames;
use crate::peer::{PeerOptions, instant};

/// The address of the board and the port on which it listens.
const BOARD: (Ipv4Address, u16) = (Ipv4Address::new(10, 0, 2, 15), 50_002);
const STRANGER: Ipv4Address = Ipv4Address::new(10, 0, 2, 9);
const CYCLE: Duration = Duration::from_millis(8);

/// A robot that connects to the emulated board, and a stranger, another client that connects to it, too. Both use one
/// TCP/IP stack, each with an address of its own.
pub struct Caller {
    robot: Robot,
    interface: Interface,
    frames: Frames,
    sockets: SocketSet<'static>,
    link: SocketHandle,
    stranger: SocketHandle,
    /// If `true`, the robot connects to the board, and reconnects after each lost connection.
    pub calls: bool,
    calls_made: u16,
    next_cycle: SimTime,
    /// The messages that the robot received from the board, with the time of each.
    pub told: Vec<(SimTime, Message)>,
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("robot", &self.robot).finish_non_exhaustive()
    }
}

impl Default for Caller {
    fn default() -> Self {
        let options = PeerOptions::default();
        let mut frames = Frames::default();
        let config = Config::new(EthernetAddress(options.mac).into());
        let mut interface = Interface::new(config, &mut frames, instant(SimTime::ZERO));
        interface.update_ip_addrs(|addresses| {
            // The interface holds up to two addresses.
            for address in [options.address, STRANGER] {
                let _ = addresses.push(IpCidr::new(address.into(), options.prefix));
            }
        });
        let mut sockets = SocketSet::new(vec![]);
        let mut socket = || {
            let buffer = || tcp::SocketBuffer::new(vec![0; 4096]);
            let mut socket = tcp::Socket::new(buffer(), buffer());
            socket.set_ack_delay(None);
            sockets.add(socket)
        };
        let (link, stranger) = (socket(), socket());
        Self {
            robot: Robot::default(),
            interface,
            frames,
            sockets,
            link,
            stranger,
            calls: true,
            calls_made: 0,
            next_cycle: SimTime::ZERO,
            told: vec![],
        }
    }
}

impl Caller {
    /// Returns the test robot with its state.
    #[must_use]
    pub fn robot(&self) -> &Robot {
        &self.robot
    }

    /// Opens a connection to the board from the stranger, a client at another address than the robot's.
    ///
    /// # Panics
    /// If the stranger's socket is in use.
    pub fn knock(&mut self) {
        self.calls_made += 1;
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.stranger);
        let from = (STRANGER, 40_000 + self.calls_made);
        socket.connect(self.interface.context(), BOARD, from).expect("a socket that is free");
    }

    /// Returns `true` if the stranger, a client at another address than the robot's, is connected or connecting.
    #[must_use]
    pub fn is_stranger_in(&self) -> bool {
        self.sockets.get::<tcp::Socket<'_>>(self.stranger).is_open()
    }

    /// Aborts the robot's connection.
    pub fn hang_up(&mut self) {
        self.sockets.get_mut::<tcp::Socket<'_>>(self.link).abort();
    }

    /// Passes a frame from the board to the TCP/IP stack of robot and stranger.
    pub fn receive(&mut self, now: SimTime, frame: Vec<u8>) {
        self.frames.incoming.push_back(frame);
        self.poll(now);
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.link);
        while socket.can_recv() {
            let Self { robot, told, .. } = self;
            let read = socket.recv(|bytes| {
                robot.take(bytes, |message| told.push((now, message)));
                (bytes.len(), ())
            });
            read.expect("bytes to read");
        }
    }

    /// Advances the robot and the TCP/IP stack to `now`.
    pub fn advance(&mut self, now: SimTime) {
        while self.next_cycle <= now {
            self.next_cycle = self.next_cycle + CYCLE;
            self.cycle();
        }
        self.poll(now);
    }

    /// Runs one cycle of the robot: sends a state if its connection to the board is open; connects if it is closed and
    /// [`calls`](Self::calls) is `true`.
    fn cycle(&mut self) {
        let state = self.robot.cycle(outrigger_wire::time::Duration::from_millis(8));
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.link);
        if !socket.is_open() && self.calls {
            self.calls_made += 1;
            let from = (PeerOptions::default().address, 30_000 + self.calls_made);
            socket.connect(self.interface.context(), BOARD, from).expect("a socket that is free");
            self.robot.reconnected();
        }
        // A state that does not fit into the buffer is omitted entirely.
        if socket.may_send() && socket.send_capacity() - socket.send_queue() >= state.len() {
            socket.send_slice(&state).expect("room");
        }
        // The board has closed the connection.
        if socket.state() == tcp::State::CloseWait {
            socket.abort();
        }
    }

    /// Returns the next frame to put on the wire; `None` if there is none.
    #[must_use]
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        self.frames.outgoing.pop_front()
    }

    /// Returns the time of the next event of the stack or the robot.
    #[must_use]
    pub fn next_event(&mut self, now: SimTime) -> SimTime {
        let stack = self.interface.poll_at(instant(now), &self.sockets);
        let stack =
            stack.and_then(|at| u64::try_from(at.total_micros()).ok()).map_or(SimTime::MAX, SimTime::from_micros);
        stack.min(self.next_cycle)
    }

    fn poll(&mut self, now: SimTime) {
        self.interface.poll(instant(now), &mut self.frames, &mut self.sockets);
    }
}

//! A robot that connects to the board, and a stranger who does: the core's robot for tests behind a stack of its own.

use std::time::Duration;

use outrigger_core::engine::test_peer::{Message, Robot};
use outrigger_sim::time::SimTime;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp;
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address};

use crate::peer::device::Frames;
use crate::peer::{PeerOptions, instant};

/// Where the board is, and the port that it listens on.
const BOARD: (Ipv4Address, u16) = (Ipv4Address::new(10, 0, 2, 15), 50_002);
const STRANGER: Ipv4Address = Ipv4Address::new(10, 0, 2, 9);
const CYCLE: Duration = Duration::from_millis(8);

/// Both of them: each is a TCP stack of its own on the wire of frames.
pub struct Caller {
    robot: Robot,
    interface: Interface,
    frames: Frames,
    sockets: SocketSet<'static>,
    link: SocketHandle,
    stranger: SocketHandle,
    /// Whether the robot calls, again after each loss.
    pub calls: bool,
    calls_made: u16,
    next_cycle: SimTime,
    /// What it was told, and when.
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
            // There is room for two.
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
    /// The robot.
    #[must_use]
    pub fn robot(&self) -> &Robot {
        &self.robot
    }

    /// A stranger connects.
    ///
    /// # Panics
    /// Where its socket is in use.
    pub fn knock(&mut self) {
        self.calls_made += 1;
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.stranger);
        let from = (STRANGER, 40_000 + self.calls_made);
        socket.connect(self.interface.context(), BOARD, from).expect("a socket that is free");
    }

    /// Whether the stranger is connected, or about to be.
    #[must_use]
    pub fn is_stranger_in(&self) -> bool {
        self.sockets.get::<tcp::Socket<'_>>(self.stranger).is_open()
    }

    /// The robot's connection breaks.
    pub fn hang_up(&mut self) {
        self.sockets.get_mut::<tcp::Socket<'_>>(self.link).abort();
    }

    /// A frame has arrived.
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

    /// Brings robot and stack to `now`.
    pub fn advance(&mut self, now: SimTime) {
        while self.next_cycle <= now {
            self.next_cycle = self.next_cycle + CYCLE;
            self.cycle();
        }
        self.poll(now);
    }

    /// A cycle of the robot: a state, where somebody hears it, else another call.
    fn cycle(&mut self) {
        let state = self.robot.cycle(outrigger_wire::time::Duration::from_millis(8));
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.link);
        if !socket.is_open() && self.calls {
            self.calls_made += 1;
            let from = (PeerOptions::default().address, 30_000 + self.calls_made);
            socket.connect(self.interface.context(), BOARD, from).expect("a socket that is free");
            self.robot.reconnected();
        }
        // A state that finds no room is left out, whole.
        if socket.may_send() && socket.send_capacity() - socket.send_queue() >= state.len() {
            socket.send_slice(&state).expect("room");
        }
        // The board has hung up.
        if socket.state() == tcp::State::CloseWait {
            socket.abort();
        }
    }

    /// The next frame to put on the wire, until there are none.
    #[must_use]
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        self.frames.outgoing.pop_front()
    }

    /// When something will happen by itself.
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

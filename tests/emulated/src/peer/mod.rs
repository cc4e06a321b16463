//! The robot's end of a network of frames: the simulated controller behind a TCP/IP stack of its own.
//!
//! Performs no input or output of its own. The owner of the wire passes frames to [`Peer::receive`], takes frames from
//! [`Peer::transmit`] until there are none, and calls [`Peer::advance`] at [`Peer::next_event`]. The controller's clock
//! and the stack's are the caller's time.

mod clients;
pub(crate) mod network_device;
mod options;
mod outgoing_connections;
mod traffic_record;

use outrigger_sim::controller::{Action, Controller};
use outrigger_sim::time::SimTime;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::udp;
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address};
use std::time::Duration;

use clients::Clients;
use network_device::Frames;
pub use options::PeerOptions;
use outgoing_connections::Calls;
pub use traffic_record::{Passage, Passing};

/// A datagram that was sent to the peer's telemetry port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The time at which the datagram arrived.
    pub at: SimTime,
    /// The address and the port of the sender.
    pub from: (Ipv4Address, u16),
    /// The bytes of the datagram.
    pub bytes: Vec<u8>,
}

/// The number of datagrams that the telemetry socket keeps between two calls, and the bytes that they may occupy
/// together.
const DATAGRAMS: (usize, usize) = (64, 64 * 1024);

/// The simulated controller at the end of a wire.
pub struct Peer {
    controller: Controller,
    interface: Interface,
    frames: Frames,
    sockets: SocketSet<'static>,
    clients: Clients,
    calls: Calls,
    telemetry: SocketHandle,
    datagrams: Vec<Datagram>,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer").field("controller", &self.controller).finish_non_exhaustive()
    }
}

impl Peer {
    /// Creates a peer. The controller's ports are open at time zero, and datagrams to the telemetry port are collected.
    ///
    /// # Panics
    /// If `options` name telemetry port 0.
    #[must_use]
    pub fn new(controller: Controller, options: PeerOptions) -> Self {
        let mut frames = Frames::default();
        let mut config = Config::new(EthernetAddress(options.mac).into());
        config.random_seed = options.seed;
        let mut interface = Interface::new(config, &mut frames, instant(controller.now()));
        interface.update_ip_addrs(|addresses| {
            // The interface holds up to two addresses, and this is the first.
            let _ = addresses.push(IpCidr::new(options.address.into(), options.prefix));
        });
        let mut sockets = SocketSet::new(vec![]);
        let buffer = || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; DATAGRAMS.0], vec![0; DATAGRAMS.1]);
        let mut socket = udp::Socket::new(buffer(), buffer());
        socket.bind(options.telemetry_port).expect("a telemetry port other than 0");
        let telemetry = sockets.add(socket);
        let mut peer = Self {
            calls: Calls::new(options.clone()),
            clients: Clients::new(options),
            controller,
            interface,
            frames,
            sockets,
            telemetry,
            datagrams: vec![],
        };
        peer.advance(peer.controller.now());
        peer
    }

    /// Returns the simulated controller, with its actual state and the commands that it received.
    #[must_use]
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Returns the simulated controller for changes, for example operator actions and faults. Their effects appear at
    /// the next call of [`Peer::advance`].
    pub fn controller_mut(&mut self) -> &mut Controller {
        &mut self.controller
    }

    /// Sets the robot's digital inputs, one per bit.
    pub fn set_digital_inputs(&mut self, bits: u32) {
        self.controller.act(Action::DigitalInputs(bits));
    }

    /// Restarts the controller: connections are closed, and refused until it is back, after `away`, with its clock at
    /// zero and without power. Its network interface stays up.
    pub fn restart(&mut self, away: Duration) {
        self.controller.act(Action::Restart(away));
    }

    /// Resets every connection of the stack, as a host does that closes in a hurry.
    pub fn reset_clients(&mut self) {
        self.clients.reset(&mut self.sockets);
        self.calls.reset(&mut self.sockets);
    }

    /// Restarts the stack, which then knows no connection: segments that arrive for one are answered with a reset.
    pub fn forget_connections(&mut self) {
        self.clients.forget(&mut self.sockets, &mut self.controller);
        self.calls.forget(&mut self.sockets, &mut self.controller);
    }

    /// Passes a frame from the wire to the robot's end of the network.
    pub fn receive(&mut self, now: SimTime, frame: &[u8]) {
        self.frames.incoming.push_back(frame.to_vec());
        self.advance(now);
    }

    /// Returns the next frame to put on the wire; `None` if there is none.
    #[must_use]
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        self.frames.outgoing.pop_front()
    }

    /// Advances the controller and its TCP/IP stack to `now`.
    pub fn advance(&mut self, now: SimTime) {
        self.controller.advance_to(now);
        loop {
            self.interface.poll(instant(now), &mut self.frames, &mut self.sockets);
            let served = self.clients.serve(&mut self.sockets, &mut self.controller);
            let called = self.calls.serve(&mut self.sockets, &mut self.interface, &mut self.controller);
            if !(served || called) {
                break;
            }
        }
        self.collect(now);
    }

    /// Returns the time of the next event at the robot's end; [`Peer::advance`] must be called by then.
    #[must_use]
    pub fn next_event(&mut self) -> SimTime {
        let stack = self.interface.poll_at(instant(self.controller.now()), &self.sockets);
        // A deadline of the stack that has passed means that it is due at once.
        let stack =
            stack.map_or(SimTime::MAX, |at| SimTime::from_micros(u64::try_from(at.total_micros()).unwrap_or(0)));
        stack.min(self.controller.next_event())
    }

    /// Takes the datagrams that arrived at the telemetry port since the last call, in order.
    pub fn take_datagrams(&mut self) -> Vec<Datagram> {
        std::mem::take(&mut self.datagrams)
    }

    /// Sends a datagram to the board's `port` from the telemetry port; the answer is collected as telemetry is.
    pub fn send(&mut self, to: std::net::Ipv4Addr, port: u16, bytes: &[u8]) {
        let socket = self.sockets.get_mut::<udp::Socket<'_>>(self.telemetry);
        // A datagram without room is lost.
        let _ = socket.send_slice(bytes, (smoltcp::wire::IpAddress::from(to), port));
    }

    /// Takes the traffic of the controller's connections since the last call, in order, if the options request it.
    pub fn take_passages(&mut self) -> Vec<Passage> {
        self.clients.ledger.take()
    }

    fn collect(&mut self, at: SimTime) {
        let socket = self.sockets.get_mut::<udp::Socket<'_>>(self.telemetry);
        while let Ok((bytes, metadata)) = socket.recv() {
            let smoltcp::wire::IpAddress::Ipv4(address) = metadata.endpoint.addr;
            self.datagrams.push(Datagram { at, from: (address, metadata.endpoint.port), bytes: bytes.to_vec() });
        }
    }
}

/// Converts a simulated time to the type of the TCP/IP stack.
pub(crate) fn instant(at: SimTime) -> Instant {
    Instant::from_micros(i64::try_from(at.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;

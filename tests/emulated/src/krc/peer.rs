//! The KRC's end of a network of frames: the simulated KRC behind UDP ports of a network stack of its own.
//!
//! Like the peer for controllers of Universal Robots, it performs no input or output of its own.

use outrigger_sim::krc::{Krc, Sender};
use outrigger_sim::time::SimTime;
use outrigger_wire::fri::{Command, DEFAULT_PORT, Measurement};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::socket::udp;
use smoltcp::wire::{EthernetAddress, IpCidr, IpEndpoint, Ipv4Address};

use super::answers::{Answer, Answers, Sent};
use crate::peer::network_device::Frames;
use crate::peer::{Datagram, PeerOptions, instant};

/// The address of the emulated board.
const BOARD: Ipv4Address = Ipv4Address::new(10, 0, 2, 15);
/// The address and port of the second sender that also sends measurements to the board, in the KRC's fault
/// `second-sender`.
const STRANGER: (Ipv4Address, u16) = (Ipv4Address::new(10, 0, 2, 9), 40_000);

/// A simulated KRC behind a network stack of its own. In its fault `second-sender` a second sender also sends to the
/// board.
pub struct KrcPeer {
    krc: Krc,
    interface: Interface,
    frames: Frames,
    sockets: SocketSet<'static>,
    link: SocketHandle,
    stranger: SocketHandle,
    telemetry: SocketHandle,
    answers: Answers,
    datagrams: Vec<Datagram>,
}

impl std::fmt::Debug for KrcPeer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KrcPeer").field("krc", &self.krc).finish_non_exhaustive()
    }
}

impl KrcPeer {
    /// Creates a peer at the addresses of [`PeerOptions`]. It sends to the board's FRI port, from a port of the same
    /// number.
    ///
    /// # Panics
    /// Never: the ports are not 0.
    #[must_use]
    pub fn new(krc: Krc) -> Self {
        let options = PeerOptions::default();
        let mut frames = Frames::default();
        let mut config = Config::new(EthernetAddress(options.mac).into());
        config.random_seed = options.seed;
        let mut interface = Interface::new(config, &mut frames, instant(krc.now()));
        interface.update_ip_addrs(|addresses| {
            // The interface holds up to two addresses. A socket without a source address of its own sends from the
            // first.
            for address in [options.address, STRANGER.0] {
                let _ = addresses.push(IpCidr::new(address.into(), options.prefix));
            }
        });
        let mut sockets = SocketSet::new(vec![]);
        let mut at_port = |port| {
            let buffer = || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; 64], vec![0; 64 * 1024]);
            let mut socket = udp::Socket::new(buffer(), buffer());
            socket.bind(port).expect("a port other than 0");
            sockets.add(socket)
        };
        let (link, stranger) = (at_port(DEFAULT_PORT), at_port(STRANGER.1));
        let telemetry = at_port(options.telemetry_port);
        Self {
            krc,
            interface,
            frames,
            sockets,
            link,
            stranger,
            telemetry,
            answers: Answers::default(),
            datagrams: vec![],
        }
    }

    /// Returns the simulated KRC, with its actual state and its counts.
    #[must_use]
    pub fn krc(&self) -> &Krc {
        &self.krc
    }

    /// Returns the simulated KRC for changes, for example operator actions and faults.
    pub fn krc_mut(&mut self) -> &mut Krc {
        &mut self.krc
    }

    /// Returns the recorded measurements of the KRC and commands of the board.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// Takes the datagrams that arrived at the telemetry port since the last call, in order.
    pub fn take_datagrams(&mut self) -> Vec<Datagram> {
        std::mem::take(&mut self.datagrams)
    }

    /// Passes a frame from the board to the KRC's network stack. If this program was delayed, the command in the
    /// frame is processed as if it had arrived just before the KRC's next cycle, because the KRC is not delayed.
    pub fn receive(&mut self, now: SimTime, frame: Vec<u8>) {
        self.frames.incoming.push_back(frame);
        self.poll(now);
        let before_next = SimTime::from_micros(self.krc.next_event().as_micros().saturating_sub(1));
        let at = now.min(before_next).max(self.krc.now());
        let Self { sockets, krc, answers, .. } = self;
        let socket = sockets.get_mut::<udp::Socket<'_>>(self.link);
        while let Ok((bytes, _)) = socket.recv() {
            krc.advance_to(at);
            if let Ok(command) = Command::new_checked(bytes) {
                answers.received(Answer {
                    at: now,
                    counter: command.send_seq_count(),
                    reflects: command.refl_seq_count(),
                    positions: command.jnt_pos(),
                });
            }
            krc.receive(bytes);
        }
        let socket = sockets.get_mut::<udp::Socket<'_>>(self.telemetry);
        while let Ok((bytes, metadata)) = socket.recv() {
            let smoltcp::wire::IpAddress::Ipv4(address) = metadata.endpoint.addr;
            let from = (address, metadata.endpoint.port);
            self.datagrams.push(Datagram { at: now, from, bytes: bytes.to_vec() });
        }
    }

    /// Advances the KRC and its network stack to `now`, one measurement after the other.
    pub fn advance(&mut self, now: SimTime) {
        while self.krc.next_event() <= now {
            self.krc.advance_to(self.krc.next_event());
            self.send(now);
        }
        self.krc.advance_to(now);
        self.send(now);
        self.poll(now);
    }

    /// Returns the next frame to put on the wire; `None` if there is none.
    #[must_use]
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        self.frames.outgoing.pop_front()
    }

    /// Returns the time of the next event at the KRC's end; [`advance`](Self::advance) must be called by then.
    #[must_use]
    pub fn next_event(&self) -> SimTime {
        // The stack waits only for addresses, and the KRC sends long before the stack asks for one again.
        self.krc.next_event()
    }

    fn send(&mut self, now: SimTime) {
        while let Some(transmit) = self.krc.poll_transmit() {
            if let (Sender::Krc, Ok(measurement)) = (transmit.sender, Measurement::new_checked(&transmit.bytes)) {
                self.answers.sent(Sent {
                    at: now,
                    counter: measurement.send_seq_count(),
                    leads: measurement.named_state() == outrigger_wire::fri::FriState::Command
                        && measurement.power() != 0,
                    period: measurement.desired_cmd_sample_time(),
                });
            }
            let to = udp::UdpMetadata::from(IpEndpoint::new(BOARD.into(), DEFAULT_PORT));
            let (socket, local_address) = match transmit.sender {
                Sender::Krc => (self.link, None),
                Sender::Stranger => (self.stranger, Some(STRANGER.0.into())),
            };
            let socket = self.sockets.get_mut::<udp::Socket<'_>>(socket);
            // A datagram that does not fit is lost, as on any network.
            let _ = socket.send_slice(&transmit.bytes, udp::UdpMetadata { local_address, ..to });
        }
    }

    fn poll(&mut self, now: SimTime) {
        self.interface.poll(instant(now), &mut self.frames, &mut self.sockets);
    }
}

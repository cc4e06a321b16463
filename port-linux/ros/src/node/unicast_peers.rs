//! Announces a node to individual hosts that multicast does not reach.
//!
//! DDS announces itself on this machine at the ports of twelve participants (`rustdds` 0.15, which cannot announce
//! itself to a host by name). A socket at one of those ports receives the announcements and forwards them unchanged
//! to each host, at the ports of its participants. A participant that receives one answers to the addresses contained
//! in it.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outrigger_wire::time;

use crate::neighbours::{Prefix, discovery_port};
use outrigger::exit::Failure;
use outrigger::host::clock::Clock;
use outrigger::host::worker::Worker;

/// The DDS participant numbers of this machine whose ports are tried for the socket that receives announcements. DDS
/// announces itself at the ports of the numbers 0 to 11.
const SLOTS: std::ops::Range<u16> = 1..12;
/// The number of participants of a host that are addressed, equal to the number that the middlewares of ROS 2 use for
/// configured peers.
pub(super) const PARTICIPANTS: u16 = 32;
/// The size of the receive buffer. An announcement has a few hundred bytes; none is longer than a datagram.
const LONGEST: usize = 65_536;
/// The interval at which the forwarding thread checks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);
/// The interval at which announcements are sent again. DDS sends them every 10 s, and a participant that starts in
/// between would have to wait.
const AGAIN: time::Duration = time::Duration::from_secs(2);
/// The longest wait for the end of the thread that forwards announcements.
const PATIENCE: Duration = Duration::from_secs(1);
/// The first bytes of an RTPS message (RTPS 2.5, 9.4.4).
const RTPS: &[u8] = b"RTPS";
/// The position of the sender's identifier in an RTPS message (RTPS 2.5, 9.4.4).
const SENDER: std::ops::Range<usize> = 8..20;

/// Returns the port at which a participant of a domain receives discovery messages (RTPS 2.5, 9.6.2.3).
pub(super) const fn participant_port(domain: u16, participant: u16) -> u16 {
    discovery_port(domain).saturating_add(10).saturating_add(participant.saturating_mul(2))
}

/// Returns the sender of a message and the vendor of its DDS implementation; `None` if the bytes are not an RTPS
/// message.
pub(super) fn sender(message: &[u8]) -> Option<(Prefix, [u8; 2])> {
    let vendor = message.get(6..8)?.try_into().ok()?;
    let prefix = message.get(SENDER)?.try_into().ok()?;
    message.starts_with(RTPS).then_some((prefix, vendor))
}

/// Opens a socket at this address and an unused port of the participants 1 to 11, at which DDS announces itself on
/// this machine. Returns `None` if all are in use.
pub(super) fn spare(domain: u16, address: Ipv4Addr) -> Option<UdpSocket> {
    SLOTS.rev().find_map(|slot| UdpSocket::bind((address, participant_port(domain, slot))).ok())
}

/// The hosts to announce to, and the socket that receives the announcements. Created before the participant, because
/// it must receive the participant's first messages.
#[derive(Debug)]
pub(super) struct Listening {
    socket: UdpSocket,
    hosts: Vec<Ipv4Addr>,
    domain: u16,
}

impl Listening {
    /// Opens the socket for the hosts among `peers` that are not this machine, which is announced to in any case.
    /// Returns `None` if there is no such host.
    ///
    /// # Errors
    /// [`Failure::Connection`] for a name without an address, [`Failure::BadInput`] if no port is free.
    pub(super) fn start(domain: u16, peers: &[String]) -> Result<Option<Self>, Failure> {
        let hosts = peers.iter().map(|peer| host(peer)).collect::<Result<Vec<_>, _>>()?;
        // Announcements to this machine would be received by this socket again.
        let hosts: Vec<_> = hosts.into_iter().filter(|host| !host.is_loopback()).collect();
        if hosts.is_empty() {
            return Ok(None);
        }
        let socket = spare(domain, Ipv4Addr::LOCALHOST).ok_or_else(|| {
            Failure::BadInput(format!(
                "ROS 2: --peer needs one of the UDP ports {} to {} of this machine, and all are in use: end programs of domain \
                 {domain}, or set another --domain",
                participant_port(domain, SLOTS.start),
                participant_port(domain, SLOTS.end - 1)
            ))
        })?;
        Ok(Some(Self { socket, hosts, domain }))
    }

    /// Returns the addresses of the hosts to which announcements are forwarded.
    pub(super) fn hosts(&self) -> &[Ipv4Addr] {
        &self.hosts
    }

    /// Starts to forward the announcements of this participant to the hosts.
    ///
    /// # Errors
    /// [`Failure::BadInput`] if the operating system refuses.
    pub(super) fn tell(self, of: Prefix, clock: Clock) -> Result<Peers, Failure> {
        let refused = |error: std::io::Error| Failure::BadInput(format!("ROS 2: --peer: {error}"));
        // The receiving socket is bound to loopback and cannot send to other hosts.
        let out = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(refused)?;
        self.socket.set_read_timeout(Some(LOOK)).map_err(refused)?;
        let leaves = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&leaves);
        let worker = Worker::start("peers", move || self.send_on(&out, of, clock, &asked)).map_err(refused)?;
        Ok(Peers { leaves, worker: Some(worker) })
    }

    fn send_on(&self, out: &UdpSocket, of: Prefix, clock: Clock, leaves: &AtomicBool) {
        let mut bytes = vec![0; LONGEST];
        let (mut newest, mut sent_at) = (Vec::new(), clock.now());
        loop {
            // The end is checked first, so that a farewell sent before it is forwarded.
            let last = leaves.load(Ordering::Acquire);
            match self.socket.recv(&mut bytes) {
                Ok(length) => {
                    let message = bytes.get(..length).unwrap_or_default();
                    if sender(message).is_some_and(|(prefix, _)| prefix == of) {
                        self.send(out, message);
                        (newest, sent_at) = (message.to_vec(), clock.now());
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if last {
                        return;
                    }
                    if !newest.is_empty() && clock.now().since(sent_at) >= AGAIN {
                        self.send(out, &newest);
                        sent_at = clock.now();
                    }
                }
                // A host that is unreachable causes an error here, which is ignored.
                Err(_) if last => return,
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }

    fn send(&self, out: &UdpSocket, message: &[u8]) {
        for host in &self.hosts {
            for participant in 0..PARTICIPANTS {
                // The announcement is repeated, and a host that is unreachable now may be reachable then.
                let _ = out.send_to(message, (*host, participant_port(self.domain, participant)));
            }
        }
    }
}

fn host(peer: &str) -> Result<Ipv4Addr, Failure> {
    let failed = |why: String| Failure::Connection(format!("ROS 2: cannot find the peer '{peer}': {why}"));
    let found = (peer, 0).to_socket_addrs().map_err(|error| failed(error.to_string()))?;
    let mut four = found.filter_map(|address| match address {
        SocketAddr::V4(address) => Some(*address.ip()),
        SocketAddr::V6(_) => None,
    });
    four.next().ok_or_else(|| failed("it has no IPv4 address".into()))
}

/// A forwarder of a participant's announcements to hosts. Dropping it ends the forwarding, after the participant's
/// last message has been forwarded.
#[derive(Debug)]
pub(super) struct Peers {
    leaves: Arc<AtomicBool>,
    worker: Option<Worker>,
}

impl Drop for Peers {
    fn drop(&mut self) {
        self.leaves.store(true, Ordering::Release);
        if let Some(worker) = self.worker.take() {
            let _ = worker.join(PATIENCE);
        }
    }
}

/// Returns the address of this machine from which packets to the address `of` are sent.
pub(super) fn facing(of: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((of, 7400)).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_those_of_the_specification() {
        assert_eq!((participant_port(0, 0), participant_port(1, 3)), (7410, 7666));
    }

    #[test]
    fn whoever_sent_a_message_stands_in_its_header() {
        let mut message = b"RTPS\x02\x04\x01\x10".to_vec();
        message.extend(1..=12);
        assert_eq!(sender(&message), Some(([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [1, 0x10])));
        assert_eq!(sender(&message[..19]), None);
        message[0] = b'r';
        assert_eq!(sender(&message), None);
    }

    #[test]
    fn hosts_are_named_and_this_machine_is_none_of_them() {
        let none = Listening::start(200, &["127.0.0.1".into(), "localhost".into()]).expect("addresses");
        assert!(none.is_none());
        let error = Listening::start(200, &["no such host".into()]).expect_err("no name").to_string();
        assert!(error.contains("cannot find the peer 'no such host'"), "{error}");
    }
}

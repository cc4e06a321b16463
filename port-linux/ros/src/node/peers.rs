//! Hosts that are told of a node one by one, where multicast does not reach them.
//!
//! DDS tells this machine of itself at the ports of twelve participants (`rustdds` 0.15, which tells no host by name). Who has one of
//! those ports hears that, and sends it on as it is: to each host, at the ports where its participants listen. Whoever hears it
//! answers to the addresses that stand in it.

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

/// Ports of this machine at which DDS tells of itself.
const SLOTS: std::ops::Range<u16> = 1..12;
/// Participants of a host that are told: as many as the middlewares of ROS 2 look for where peers are named.
pub(super) const PARTICIPANTS: u16 = 32;
/// An announcement is a few hundred bytes; none is longer than a datagram.
const LONGEST: usize = 65_536;
/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);
/// Hosts are told again so often: DDS tells of itself every 10 s, and whoever comes in between would wait for that.
const AGAIN: time::Duration = time::Duration::from_secs(2);
/// So long its end is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// What an RTPS message begins with, and where its sender stands in it (RTPS 2.5, 9.4.4).
const RTPS: &[u8] = b"RTPS";
const SENDER: std::ops::Range<usize> = 8..20;

/// The port at which a participant of a domain listens for others (RTPS 2.5, 9.6.2.3).
pub(super) const fn participant_port(domain: u16, participant: u16) -> u16 {
    discovery_port(domain).saturating_add(10).saturating_add(participant.saturating_mul(2))
}

/// Who sent this message, and by which implementation of DDS, where it is one.
pub(super) fn sender(message: &[u8]) -> Option<(Prefix, [u8; 2])> {
    let vendor = message.get(6..8)?.try_into().ok()?;
    let prefix = message.get(SENDER)?.try_into().ok()?;
    message.starts_with(RTPS).then_some((prefix, vendor))
}

/// A socket at the port of a participant of this machine that is not there, at this address of it. `None` where all are taken.
pub(super) fn spare(domain: u16, address: Ipv4Addr) -> Option<UdpSocket> {
    SLOTS.rev().find_map(|slot| UdpSocket::bind((address, participant_port(domain, slot))).ok())
}

/// Hosts by name, and where what is for them is heard. To be made before the participant, whose first words it hears.
#[derive(Debug)]
pub(super) struct Listening {
    socket: UdpSocket,
    hosts: Vec<Ipv4Addr>,
    domain: u16,
}

impl Listening {
    /// For the hosts among `peers` that are not this machine itself, which is told anyway. `None` where there is none.
    ///
    /// # Errors
    /// [`Failure::Connection`] for a name without an address, [`Failure::BadInput`] where no port is free.
    pub(super) fn start(domain: u16, peers: &[String]) -> Result<Option<Self>, Failure> {
        let hosts = peers.iter().map(|peer| host(peer)).collect::<Result<Vec<_>, _>>()?;
        // What is sent to this machine would come back here.
        let hosts: Vec<_> = hosts.into_iter().filter(|host| !host.is_loopback()).collect();
        if hosts.is_empty() {
            return Ok(None);
        }
        let socket = spare(domain, Ipv4Addr::LOCALHOST).ok_or_else(|| {
            Failure::BadInput(format!(
                "ROS 2: --peer needs one of the UDP ports {} to {} of this machine, and all are taken: end programs of domain \
                 {domain}, or take another --domain",
                participant_port(domain, SLOTS.start),
                participant_port(domain, SLOTS.end - 1)
            ))
        })?;
        Ok(Some(Self { socket, hosts, domain }))
    }

    /// Returns the addresses of the hosts.
    pub(super) fn hosts(&self) -> &[Ipv4Addr] {
        &self.hosts
    }

    /// Tells them of this participant from here on.
    ///
    /// # Errors
    /// [`Failure::BadInput`] where the operating system refuses.
    pub(super) fn tell(self, of: Prefix, clock: Clock) -> Result<Peers, Failure> {
        let refused = |error: std::io::Error| Failure::BadInput(format!("ROS 2: --peer: {error}"));
        // That by which it hears is of this machine alone.
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
            // Asked first: the farewell that was sent before is sent on.
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
                // A host that is not there tells so by a message that is none of this.
                Err(_) if last => return,
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }

    fn send(&self, out: &UdpSocket, message: &[u8]) {
        for host in &self.hosts {
            for participant in 0..PARTICIPANTS {
                // It is said again, and a host that is away now may be there then.
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
    four.next().ok_or_else(|| failed("it has no address of IPv4".into()))
}

/// Tells hosts of a participant. Ends with this, after what the participant said last.
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

/// The address of this machine from which packets go there.
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

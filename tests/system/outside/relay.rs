//! A relay between the program and a controller. It passes everything on and notes each motion command with the time
//! of its arrival.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use outrigger_emulated::clock::Clock;
use outrigger_sim::port::Port;
use outrigger_wire::fri::Command;

use super::program::elapsed;

/// The number of successive commands that ask for motion from which the arm counts as moving.
const MOVING: usize = 60;

/// A motion command that the relay has passed on: the time of its arrival, and whether it asks for motion.
#[derive(Clone, Copy, Debug)]
struct Noted {
    at: Duration,
    moves: bool,
}

/// A running relay between the program and a simulated controller, which notes the motion commands. Its threads end
/// with the process.
pub(super) struct Relay {
    /// The port base for a UR controller, the port for a KRC, at which the relay listens.
    pub(super) port: u16,
    noted: Arc<Mutex<Vec<Noted>>>,
}

impl Relay {
    fn noted<T>(&self, look: impl FnOnce(&[Noted]) -> T) -> T {
        look(&self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns `true` if the newest [`MOVING`] commands all asked for motion.
    pub(super) fn moves(&self) -> bool {
        self.noted(|noted| noted.len() >= MOVING && noted.iter().rev().take(MOVING).all(|noted| noted.moves))
    }

    /// Returns the time of arrival of the first command after `asked` that asks for no motion.
    pub(super) fn stopped_after(&self, asked: Duration) -> Option<Duration> {
        self.noted(|noted| noted.iter().find(|noted| noted.at >= asked && !noted.moves).map(|noted| noted.at))
    }
}

fn note(noted: &Mutex<Vec<Noted>>, at: Duration, moves: bool) {
    noted.lock().unwrap_or_else(PoisonError::into_inner).push(Noted { at, moves });
}

/// Starts a relay in front of the ports of a UR controller at `base`. Notes the commands on port 30003.
pub(super) fn of_texts(base: u16, begun: Clock) -> Relay {
    let noted = Arc::default();
    const PORTS: [Port; 4] = [Port::Primary, Port::Secondary, Port::Realtime, Port::Rtde];
    let here = |base: u16, port: Port| TcpListener::bind((Ipv4Addr::LOCALHOST, port.at_base(base)?)).ok();
    let bound = (40_017..52_000).step_by(17).find_map(|base| {
        let listeners: Option<Vec<_>> = PORTS.into_iter().map(|port| here(base, port)).collect();
        listeners.map(|listeners| (base, listeners))
    });
    let (port, listeners) = bound.expect("free ports");
    for (port, listener) in PORTS.into_iter().zip(listeners) {
        let (noted, far) = (Arc::clone(&noted), port.at_base(base).expect("a port"));
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let Ok(far) = TcpStream::connect((Ipv4Addr::LOCALHOST, far)) else { continue };
                near.set_nodelay(true).and_then(|()| far.set_nodelay(true)).expect("a socket");
                let (from, to) = (far.try_clone().expect("a socket"), near.try_clone().expect("a socket"));
                std::thread::spawn(move || pass_on(from, to, |_| {}));
                let noted = Arc::clone(&noted);
                let told = port == Port::Realtime;
                std::thread::spawn(move || {
                    pass_on(near, far, |bytes| {
                        if let Some(moves) = asks_for_motion(bytes).filter(|_| told) {
                            note(&noted, elapsed(begun), moves);
                        }
                    });
                });
            }
        });
    }
    Relay { port, noted }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, mut look: impl FnMut(&[u8])) {
    let mut bytes = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let bytes = bytes.get(..count).unwrap_or_default();
        look(bytes);
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
    let _ = from.shutdown(std::net::Shutdown::Both);
}

/// Returns `true` if the text asks for a joint speed other than zero, `false` if it stops the arm. `None` if it is no
/// motion command.
fn asks_for_motion(text: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(text).ok()?;
    let Some((_, rest)) = text.rsplit_once("speedj([") else { return text.contains("stopj(").then_some(false) };
    let speeds = rest.split(']').next()?.split(',').map(|speed| speed.trim().parse::<f64>());
    Some(speeds.map(|speed| speed.expect("a number")).any(|speed| speed != 0.0))
}

/// Starts a relay between a KRC and the remote computer at `remote`. The KRC must send to the port of the relay.
pub(super) fn of_datagrams(remote: SocketAddr, begun: Clock) -> Relay {
    let noted: Arc<Mutex<Vec<Noted>>> = Arc::default();
    let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    let port = near.local_addr().expect("bound").port();
    let krc: Arc<Mutex<Option<SocketAddr>>> = Arc::default();
    let (to_krc, from_krc) = (near.try_clone().expect("a socket"), near);
    let (to_remote, from_remote) = (far.try_clone().expect("a socket"), far);
    let address = Arc::clone(&krc);
    std::thread::spawn(move || {
        let mut bytes = [0; 2048];
        while let Ok((count, from)) = from_krc.recv_from(&mut bytes) {
            *address.lock().unwrap_or_else(PoisonError::into_inner) = Some(from);
            // The remote computer may not listen yet, which is no error.
            let _ = to_remote.send_to(bytes.get(..count).unwrap_or_default(), remote);
        }
    });
    let inner = Arc::clone(&noted);
    std::thread::spawn(move || {
        let (mut bytes, mut before, mut fastest) = ([0; 2048], None, 0.0_f32);
        loop {
            // If the KRC does not listen yet, the next call returns an error.
            let Ok(count) = from_remote.recv(&mut bytes) else { continue };
            let datagram = bytes.get(..count).unwrap_or_default();
            if let Some(position) = commanded(datagram) {
                let step = before.replace(position).map_or(0.0, |before: f32| (position - before).abs());
                // The speed of the trajectory hardly changes within a second, so a clearly shorter step belongs to a
                // stop.
                fastest = fastest.max(step) * 0.9995;
                note(&inner, elapsed(begun), step > 0.8 * fastest && step > 1e-6);
            }
            if let Some(krc) = *krc.lock().unwrap_or_else(PoisonError::into_inner) {
                let _ = to_krc.send_to(datagram, krc);
            }
        }
    });
    Relay { port, noted }
}

/// Returns the position of the first joint that a command datagram has \[rad\]. `None` for any other datagram.
fn commanded(datagram: &[u8]) -> Option<f32> {
    let command = Command::new_checked(datagram).ok()?;
    Some(command.jnt_pos()[0])
}

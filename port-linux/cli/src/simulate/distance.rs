//! A distance sensor at the simulated tool: what lies ahead of it, as lines in datagrams.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use outrigger_sim::tcp::Running;

use outrigger::exit::Failure;

/// Time between two readings.
const EVERY: Duration = Duration::from_millis(10);

/// The sensor's end of the wire.
pub(super) struct Sensor {
    socket: UdpSocket,
    to: SocketAddr,
    seq: u32,
}

impl Sensor {
    /// Sends to this address, from any port.
    ///
    /// # Errors
    /// [`Failure::Connection`] with the kernel's word.
    pub(super) fn to(to: SocketAddr) -> Result<Self, Failure> {
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let failure = |error| Failure::Connection(format!("cannot send distances to {to}: {error}"));
        let socket = UdpSocket::bind(any).map_err(failure)?;
        socket.set_nonblocking(true).map_err(failure)?;
        Ok(Self { socket, to, seq: 0 })
    }

    /// Sends a reading `[m]` every 10 ms, without an end. Where nothing lies ahead nothing is sent, as by a sensor that sees
    /// nothing.
    pub(super) async fn send(mut self, controller: &Running) {
        let mut due = tokio::time::interval(EVERY);
        due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            due.tick().await;
            let Some(distance) = controller.controller().distance() else { continue };
            let line = format!("seq={} {distance:.6}\n", self.seq);
            self.seq = self.seq.wrapping_add(1);
            // Until somebody listens there it is refused; a reading that is lost is followed by the next.
            drop(self.socket.send_to(line.as_bytes(), self.to));
        }
    }
}

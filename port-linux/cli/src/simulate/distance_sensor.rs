//! Simulates a distance sensor at the tool: sends the distance to the surface ahead as lines in datagrams.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use outrigger_sim::tcp::Running;

use outrigger::exit::Failure;

/// The interval at which the simulated distance sensor sends readings.
const EVERY: Duration = Duration::from_millis(10);

/// The sender of a simulated distance sensor's readings, in UDP datagrams.
pub(super) struct Sensor {
    socket: UdpSocket,
    to: SocketAddr,
    seq: u32,
}

impl Sensor {
    /// Creates a sensor that sends to this address, from any port.
    ///
    /// # Errors
    /// [`Failure::Connection`] with the kernel's error.
    pub(super) fn to(to: SocketAddr) -> Result<Self, Failure> {
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let failure = |error| Failure::Connection(format!("cannot send distances to {to}: {error}"));
        let socket = UdpSocket::bind(any).map_err(failure)?;
        socket.set_nonblocking(true).map_err(failure)?;
        Ok(Self { socket, to, seq: 0 })
    }

    /// Sends a reading `[m]` every 10 ms, without an end. If there is nothing ahead nothing is sent, like a sensor
    /// without a target.
    pub(super) async fn send(mut self, controller: &Running) {
        let mut due = tokio::time::interval(EVERY);
        due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        loop {
            due.tick().await;
            let Some(distance) = controller.controller().distance() else { continue };
            let line = format!("seq={} {distance:.6}\n", self.seq);
            self.seq = self.seq.wrapping_add(1);
            // A datagram is refused until a program listens there; a lost reading is followed by the next.
            drop(self.socket.send_to(line.as_bytes(), self.to));
        }
    }
}

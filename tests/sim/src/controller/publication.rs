//! What goes out: greetings, real-time packets, state and messages, with the faults of content applied.

use super::connection::SEND_QUEUE;
use super::{Conn, Controller};
use crate::dashboard;
use crate::fault::FaultKind;
use crate::port::Port;
use crate::publish::{self, Snapshot};
use outrigger_core::wire::realtime::{MAX_SIZE, Repr};

impl Controller {
    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            now: self.now,
            controller_micros: self.clock,
            firmware: self.firmware,
            arm: &self.plant.arm,
            robot: &self.plant.robot,
            io: &self.plant.io,
            program_running: self.programs.running(),
            program_paused: self.programs.paused(),
        }
    }

    /// What a client gets before anything else.
    pub(super) fn greet(&mut self, id: Conn) {
        let now = self.now;
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.port == Port::Dashboard {
            connection.down.send(now, dashboard::GREETING.as_bytes());
        }
    }

    /// The state of the control cycle just finished, to everybody who is due.
    pub(super) fn publish(&mut self) {
        // Nobody to tell yet.
        self.notices.clear();
        let packet = self.realtime_packet();
        let ids: Vec<Conn> = self.connections.keys().copied().collect();
        for id in ids {
            let Some(port) = self.connections.get(&id).filter(|c| c.listens()).map(|c| c.port) else { continue };
            if port.sends_realtime() {
                self.send_realtime(id, port, &packet);
            }
        }
    }

    fn realtime_packet(&self) -> Vec<u8> {
        let mut bytes = vec![0; MAX_SIZE];
        let size = publish::realtime::packet(&self.snapshot()).emit(Repr::size_for(self.firmware.0), &mut bytes);
        bytes.truncate(size.unwrap_or(0));
        bytes
    }

    fn send_realtime(&mut self, id: Conn, port: Port, packet: &[u8]) {
        let nth = |n: u64| self.cycles.is_multiple_of(n);
        let faults: Vec<FaultKind> = self.faults.on(self.now, port).collect();
        if faults.iter().any(|kind| matches!(kind, FaultKind::Skip(n) if nth(*n))) {
            return;
        }
        let bytes = with_length_faults(packet.to_vec(), &faults);
        let twice = faults.iter().any(|kind| matches!(kind, FaultKind::Repeat(n) if nth(*n)));
        for _ in 0..if twice { 2 } else { 1 } {
            self.send(id, &bytes);
        }
    }

    /// Sends a message whole, or not at all to a client that has stopped reading.
    fn send(&mut self, id: Conn, bytes: &[u8]) {
        let now = self.now;
        if let Some(connection) = self.connections.get_mut(&id)
            && connection.down.queued() + bytes.len() <= SEND_QUEUE
        {
            connection.down.send(now, bytes);
        }
    }
}

/// Cuts or extends a message and corrects the length in front.
fn with_length_faults(mut bytes: Vec<u8>, faults: &[FaultKind]) -> Vec<u8> {
    for kind in faults {
        match kind {
            FaultKind::Truncated(by) => bytes.truncate(bytes.len().saturating_sub(*by).max(5)),
            FaultKind::Extended(by) => bytes.resize(bytes.len() + by, 0),
            _ => {}
        }
    }
    let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    for (slot, byte) in bytes.iter_mut().zip(length.to_be_bytes()) {
        *slot = byte;
    }
    bytes
}

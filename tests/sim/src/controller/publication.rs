//! Output to clients on ports 30001 to 30003 and their read-only copies: greetings (also of the dashboard), real-time
//! packets, states and messages, altered by the active faults.

use std::time::Duration;

use outrigger_wire::realtime::{MAX_SIZE, Repr};

use super::connection::SEND_QUEUE;
use super::{Conn, Controller};
use crate::dashboard;
use crate::fault::FaultKind;
use crate::port::Port;
use crate::program::Notice;
use crate::publish::state::Deviations;
use crate::publish::{self, Snapshot, message};

/// The time between periodic state messages on the primary and secondary interfaces.
const STATE_PERIOD: Duration = Duration::from_millis(100);

impl Controller {
    pub(super) fn snapshot(&self) -> Snapshot<'_> {
        Snapshot {
            now: self.now,
            controller_micros: self.clock,
            firmware: self.firmware,
            model: &self.model,
            arm: &self.plant.arm,
            robot: &self.plant.robot,
            io: &self.plant.io,
            force: &self.plant.force,
            program_running: self.programs.running(),
            program_told: self.programs.told(self.options.program_told),
            program_paused: self.programs.paused(),
            short_kinematics: self.options.short_kinematics,
            program_state: self.programs.state(self.plant.arm.targets.qd != [0.0; 6]),
            limiter_rests: self.options.limiter_rests,
            long_configuration: self.options.long_configuration.unwrap_or(self.firmware.long_configuration()),
        }
    }

    /// Sends a new client the first messages of the port that it connected to.
    pub(super) fn greet(&mut self, id: Conn) {
        let Some(port) = self.connections.get(&id).map(|connection| connection.port) else { return };
        if port == Port::Dashboard {
            let garbled = self.faults.on(self.now, port).any(|kind| kind == FaultKind::Garbage);
            let greeting =
                if garbled { dashboard::nonsense(&mut self.nonsense) } else { dashboard::GREETING.as_bytes().to_vec() };
            self.send(id, &greeting);
        }
        for bytes in message::burst(self.firmware, port) {
            self.send(id, &bytes);
        }
    }

    /// Sends the state of the control cycle that has just finished to all clients whose next message is due.
    pub(super) fn publish(&mut self) {
        let periodic = self.now >= self.next_state;
        while self.next_state <= self.now {
            self.next_state = self.next_state + STATE_PERIOD;
        }
        let notices = self.due_notices(periodic);
        let is_read = self.connections.values().any(|c| c.listens() && c.port.sends_realtime());
        let packet = if is_read { self.realtime_packet() } else { vec![] };
        self.publish_rtde();
        let ids: Vec<Conn> = self.connections.keys().copied().collect();
        for id in ids {
            let Some(connection) = self.connections.get_mut(&id).filter(|c| c.listens()) else { continue };
            let port = connection.port;
            if port.sends_realtime() {
                self.send_realtime(id, port, &packet);
            }
            if port.sends_state() {
                let first = self.connections.get_mut(&id).is_some_and(|c| std::mem::take(&mut c.first_state));
                if first || periodic {
                    self.send_state(id, port, first);
                }
            }
            if port.sends_messages() {
                notices.iter().for_each(|bytes| self.send(id, bytes));
            }
        }
        if periodic {
            self.programs.mark();
        }
    }

    /// Returns the messages for clients of port 30001, such as error codes, that are due in this cycle. A change of the
    /// safety mode, with the codes before it, is sent after the periodic state message that shows it
    /// (`core/docs/protocol/ur-client-interfaces.md` 4.3), and later messages follow in order.
    fn due_notices(&mut self, periodic: bool) -> Vec<Vec<u8>> {
        let timestamp = self.snapshot().timestamp();
        self.notice_events();
        self.held.append(&mut self.notices);
        let changes = self.held.iter().any(|notice| matches!(notice, Notice::Safety(_)));
        let stop = self.held.iter().position(|notice| matches!(notice, Notice::Safety(_) | Notice::Code { .. }));
        let due = stop.filter(|_| changes && !periodic).unwrap_or(self.held.len());
        let later = self.options.later_reports.unwrap_or(self.firmware.later_reports());
        let due = self.held.drain(..due);
        due.filter_map(|notice| message::notice(&notice, self.firmware, later, timestamp)).collect()
    }

    fn realtime_packet(&self) -> Vec<u8> {
        let mut bytes = vec![0; MAX_SIZE];
        let size = publish::realtime::packet(&self.snapshot()).emit(Repr::size_for(self.firmware.0), &mut bytes);
        bytes.truncate(size.unwrap_or(0));
        bytes
    }

    fn send_realtime(&mut self, id: Conn, port: Port, packet: &[u8]) {
        let mut bytes = packet.to_vec();
        let (mut copies, mut polluted) = (1, false);
        let faults: Vec<FaultKind> = self.faults.on(self.now, port).collect();
        for fault in faults {
            match fault {
                FaultKind::Skip(n) if self.cycles.is_multiple_of(n) => copies = 0,
                FaultKind::Repeat(n) if self.cycles.is_multiple_of(n) => copies *= 2,
                FaultKind::Polluted(n) => polluted = self.cycles.is_multiple_of(n),
                FaultKind::Truncated(by) => bytes.truncate(bytes.len().saturating_sub(by)),
                FaultKind::Extended(by) => bytes.resize(bytes.len() + by, 0xEE),
                _ => {}
            }
        }
        correct_length(&mut bytes);
        for _ in 0..copies {
            self.send(id, &bytes);
        }
        if polluted {
            let state = publish::state::message(&self.snapshot(), false, Deviations::default());
            self.send(id, &state);
            self.send(id, &message::pollution());
        }
    }

    fn send_state(&mut self, id: Conn, port: Port, first: bool) {
        let mut deviations = Deviations::default();
        let mut cut = 0;
        let faults: Vec<FaultKind> = self.faults.on(self.now, port).collect();
        for fault in faults {
            match fault {
                FaultKind::Extended(by) => deviations.extension += by,
                FaultKind::Truncated(by) => cut += by,
                FaultKind::Unknown => {
                    deviations.unknown = true;
                    self.send(id, &message::unknown());
                }
                FaultKind::Oversize(size) => {
                    let timestamp = self.snapshot().timestamp();
                    self.send(id, &message::oversize(timestamp, size));
                }
                _ => {}
            }
        }
        let mut bytes = publish::state::message(&self.snapshot(), first, deviations);
        bytes.truncate(bytes.len().saturating_sub(cut));
        correct_length(&mut bytes);
        self.send(id, &bytes);
    }

    /// Sends a complete message to a client. Drops it if the queue of bytes that the client has not read has no room
    /// for it.
    pub(super) fn send(&mut self, id: Conn, bytes: &[u8]) {
        let now = self.now;
        if let Some(connection) = self.connections.get_mut(&id)
            && connection.down.queued() + bytes.len() <= SEND_QUEUE
        {
            connection.down.send(now, bytes);
        }
    }
}

/// Sets the length in the header of the message `bytes` to the true length of the message.
fn correct_length(bytes: &mut [u8]) {
    let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    for (slot, byte) in bytes.iter_mut().zip(length.to_be_bytes()) {
        *slot = byte;
    }
}

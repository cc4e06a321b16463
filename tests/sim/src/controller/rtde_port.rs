//! RTDE, port 30004: processes arriving requests, sends the data of each cycle, and carries out what inputs cause.

use super::connection::Phase;
use super::{Action, Conn, Controller};
use crate::fault::FaultKind;
use crate::port::Port;
use crate::program::Notice;
use crate::rtde::{Context, Deviations, Effect, Exchange, Registers, State, WatchdogAction};
use outrigger_wire::rtde::{Level, MAX_SIZE};

impl Controller {
    /// Processes bytes that an RTDE client has sent.
    pub(super) fn rtde_requests(&mut self, id: Conn, bytes: &[u8]) {
        if self.faults.on(self.now, Port::Rtde).any(|kind| kind == FaultKind::Mute) {
            return;
        }
        let deviations = self.deviations();
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let mut context = Context {
            conn: id,
            firmware: self.firmware,
            options: &self.options.rtde,
            exchange: &mut self.exchange,
            deviations,
        };
        let effects = connection.session.receive(bytes, &mut context);
        for effect in effects {
            self.take_effect(id, effect);
        }
    }

    fn take_effect(&mut self, id: Conn, effect: Effect) {
        match effect {
            Effect::Send(bytes) => self.answer(id, &bytes),
            Effect::Log(text) => self.exchange.log(text),
            Effect::Close => self.end(id),
            Effect::Started(reply) => {
                let early = self.options.rtde.data_before_start_reply;
                let state = self.rtde_state([[0.0; 6]; 2]);
                let first = self.connections.get(&id).filter(|_| early).and_then(|c| c.session.first(&state));
                first.iter().for_each(|data| self.answer(id, data));
                self.answer(id, &reply);
            }
            Effect::Write(values) => {
                for text in self.exchange.write(&values, &mut self.plant) {
                    let said = self.connections.get(&id).map(|c| c.session.say(Level::Warning, &text));
                    said.into_iter().for_each(|effect| self.take_effect(id, effect));
                }
            }
        }
    }

    /// Sends RTDE data to all clients that have started output and whose next package is due.
    pub(super) fn publish_rtde(&mut self) {
        if !self.connections.values().any(|c| c.port == Port::Rtde && c.session.flows()) {
            return;
        }
        let arm = &self.plant.arm;
        let acceleration = self.exchange.acceleration([arm.tool_speed(), arm.tool_speed_target()], self.plant.dt);
        let deviations = self.deviations();
        let state = self.rtde_state(acceleration);
        let open = self.connections.iter().filter(|(_, c)| c.port == Port::Rtde && c.listens());
        let due: Vec<_> = open.filter_map(|(id, c)| Some((*id, c.session.publish(&state, deviations)?))).collect();
        for (id, data) in due {
            self.send_data(id, data);
        }
    }

    fn rtde_state(&self, acceleration: [[f64; 6]; 2]) -> State<'_> {
        State {
            snapshot: self.snapshot(),
            micros: self.clock.saturating_sub(self.rtde_epoch),
            inputs: &self.plant.inputs,
            outputs: &self.plant.outputs,
            acceleration,
            cycles: self.cycles,
            script_line: self.programs.line(),
        }
    }

    /// Returns the faults in RTDE replies and data that are active in this cycle.
    fn deviations(&self) -> Deviations {
        let mut deviations = Deviations::default();
        for fault in self.faults.on(self.now, Port::Rtde) {
            match fault {
                FaultKind::WrongType => deviations.wrong_type = true,
                FaultKind::WrongRecipe(n) => deviations.wrong_recipe = self.cycles.is_multiple_of(n),
                _ => {}
            }
        }
        deviations
    }

    /// Sends an RTDE data package, altered by the active faults.
    fn send_data(&mut self, id: Conn, mut data: Vec<u8>) {
        const HEADER: usize = 3;
        let (mut copies, mut garbage) = (1, false);
        let mut others = vec![];
        let faults: Vec<FaultKind> = self.faults.on(self.now, Port::Rtde).collect();
        for fault in faults {
            match fault {
                FaultKind::Skip(n) if self.cycles.is_multiple_of(n) => copies = 0,
                FaultKind::Repeat(n) if self.cycles.is_multiple_of(n) => copies *= 2,
                FaultKind::Truncated(by) => data.truncate(data.len().saturating_sub(by).max(HEADER)),
                FaultKind::Extended(by) => data.resize((data.len() + by).min(MAX_SIZE), 0xEE),
                FaultKind::Garbage => garbage = true,
                FaultKind::Unknown => others.push(package(b'?', HEADER)),
                FaultKind::Oversize(size) => others.push(package(b'?', size.clamp(HEADER, MAX_SIZE))),
                FaultKind::Polluted(n) if self.cycles.is_multiple_of(n) => {
                    let said = self.connections.get(&id).map(|c| c.session.say(Level::Info, "skipped packages"));
                    others.extend(
                        said.and_then(|effect| if let Effect::Send(text) = effect { Some(text) } else { None }),
                    );
                }
                _ => {}
            }
        }
        if garbage {
            data.iter_mut().for_each(|byte| *byte = self.nonsense.up_to(0xFF) as u8);
        } else {
            correct_length(&mut data);
        }
        others.iter().for_each(|other| self.answer(id, other));
        for _ in 0..copies {
            self.answer(id, &data);
        }
    }

    /// Sends a complete RTDE package, or ends the connection of a client that has left too many bytes unread.
    fn answer(&mut self, id: Conn, bytes: &[u8]) {
        let unread = self.connections.get(&id).map_or(0, |connection| connection.down.queued());
        if unread + bytes.len() > self.options.rtde.buffer {
            self.end(id);
        } else {
            self.send(id, bytes);
        }
    }

    /// Closes the client's connection once the client has read all sent bytes.
    fn end(&mut self, id: Conn) {
        if let Some(connection) = self.connections.get_mut(&id).filter(|c| c.phase != Phase::Closed) {
            connection.phase = Phase::Closing;
        }
    }

    /// Executes the actions of RTDE watchdogs whose variable was not written in time.
    pub(super) fn watch_inputs(&mut self) {
        for watchdog in self.plant.watchdogs.expired(self.now) {
            self.notices.push(Notice::Text(format!("RTDE watchdog: {} was not updated in time", watchdog.variable)));
            match watchdog.action {
                WatchdogAction::Ignore => {}
                WatchdogAction::Pause => self.act(Action::PauseProgram),
                WatchdogAction::Stop => self.act(Action::StopProgram),
            }
        }
    }

    /// Copies the RTDE input registers to the output registers, if the option for this is set and no program runs.
    pub(super) fn echo(&mut self) {
        if self.options.rtde.echo && !self.programs.running() {
            self.plant.outputs.clone_from(&self.plant.inputs);
        }
    }

    /// Restarts the RTDE service once during the controller's boot: its connections are closed and its clock starts
    /// from zero (`core/docs/protocol/ur-rtde.md 10`).
    pub(super) fn restart_rtde(&mut self) {
        if self.rtde_restart.take_if(|at| *at <= self.now).is_some() {
            self.close_where(|port| port == Port::Rtde);
            self.forget_exchange();
            self.rtde_epoch = self.clock;
        }
    }

    /// Resets the state of RTDE at a restart of the controller or of the service: registers are zero, and no client
    /// owns an input.
    pub(super) fn forget_exchange(&mut self) {
        self.exchange = Exchange::default();
        self.plant.force.external = [0.0; 6];
        self.plant.force.uses_external = false;
        self.plant.inputs = Registers::default();
        self.plant.outputs = Registers::default();
        self.plant.watchdogs.clear();
    }
}

/// Returns an RTDE package of `size` bytes whose type is this letter.
fn package(letter: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    bytes.iter_mut().skip(2).for_each(|byte| *byte = letter);
    correct_length(&mut bytes);
    bytes
}

/// Sets the length in the header of the RTDE package `bytes` to the true length of the package.
fn correct_length(bytes: &mut [u8]) {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    for (slot, byte) in bytes.iter_mut().zip(length.to_be_bytes()) {
        *slot = byte;
    }
}

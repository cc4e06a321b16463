//! The controller: clients, control cycles, operators and faults, in virtual time.
//!
//! Sans-IO and runtime-free. A driver connects clients, writes and reads their bytes, and advances time to
//! [`Controller::next_event`]; the same object runs behind kernel sockets, behind an emulated stack and in tests.
//! One control cycle: publish the state of the cycle before, take in text that came early enough, run programs,
//! move the arm.

mod action;
mod connection;
mod options;
mod publication;
mod text;

use std::collections::BTreeMap;
use std::time::Duration;

pub use action::Action;
pub use connection::Conn;
pub use options::{Options, StartState};

use crate::arm::{Arm, Motion};
use crate::fault::{Direction, Edge, Fault, FaultKind, Schedule};
use crate::firmware::{Firmware, LocalMode};
use crate::io::Io;
use crate::model::{ArmModel, UnknownPairing};
use crate::port::Port;
use crate::program::{Notice, Plant, Programs, Sender};
use crate::rng::Rng;
use crate::robot::{Power, Robot, Stop};
use crate::time::SimTime;
use connection::{Connection, Phase, RECEIVE_QUEUE};

/// Nobody listens on this port, or not now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("connection refused")
    }
}

impl std::error::Error for Refused {}

/// A second commander sends this often, and each of its commands lasts this long.
const SECOND_COMMANDER: (Duration, f64) = (Duration::from_millis(100), 0.2);
/// How long a controller is away when a restart has no duration of its own.
const RESTART: Duration = Duration::from_secs(2);

/// A simulated controller with its arm.
pub struct Controller {
    options: Options,
    model: ArmModel,
    firmware: Firmware,
    plant: Plant,
    programs: Programs,
    notices: Vec<Notice>,
    faults: Schedule,
    script: Vec<(SimTime, Action)>,
    connections: BTreeMap<Conn, Connection>,
    next_conn: u64,
    now: SimTime,
    next_cycle: SimTime,
    /// When the next periodic state messages are due.
    next_state: SimTime,
    /// Control cycles run.
    cycles: u64,
    /// What the controller's clock shows \[µs\].
    clock: u64,
    /// Closed to everybody until then.
    away_until: Option<SimTime>,
    second_commander: Option<(f64, SimTime)>,
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("now", &self.now).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Controller {
    /// A controller in the state `options` ask for, at time zero.
    ///
    /// # Errors
    /// [`UnknownPairing`] where the arm never ran this software.
    pub fn new(options: Options) -> Result<Self, UnknownPairing> {
        let model = ArmModel::of(options.model);
        model.runs(options.software)?;
        let firmware = Firmware(options.software);
        let dt = firmware.period().as_secs_f64();
        let arm = Arm::new(&model, &options.drive, options.q, dt, &mut Rng::new(options.seed, 0));
        let mut robot = Robot::new(firmware.generation(), options.power);
        match options.state {
            StartState::Running => {}
            StartState::PowerOff => robot.power = Power::Off,
            StartState::Idle => robot.power = Power::Idle,
            StartState::Local => robot.remote = !firmware.has_remote_control(),
            StartState::ProtectiveStop => robot.stop = Stop::Protective { at: SimTime::ZERO },
        }
        let after_t = options.after_t.unwrap_or(firmware.after_t());
        Ok(Self {
            model,
            firmware,
            plant: Plant {
                arm,
                io: Io::new(firmware.generation(), options.euromap67),
                robot,
                firmware,
                dt,
                fixed_stop_deceleration: options.fixed_stop_deceleration,
            },
            programs: Programs::new(firmware, after_t, options.end_deceleration),
            notices: vec![],
            faults: Schedule::new(options.faults.clone()),
            script: vec![],
            connections: BTreeMap::new(),
            next_conn: 0,
            now: SimTime::ZERO,
            next_cycle: SimTime::ZERO + firmware.period(),
            next_state: SimTime::ZERO,
            cycles: 0,
            clock: u64::try_from(options.clock.as_micros()).unwrap_or(u64::MAX),
            away_until: None,
            second_commander: None,
            options,
        })
    }

    /// The present.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// The control period.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.firmware.period()
    }

    /// What it was made from.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The arm as it really is.
    #[must_use]
    pub fn truth(&self) -> &Arm {
        &self.plant.arm
    }

    /// Power, safety and who is in control.
    #[must_use]
    pub fn robot(&self) -> &Robot {
        &self.plant.robot
    }

    /// Inputs, outputs, tool and payload.
    #[must_use]
    pub fn io(&self) -> &Io {
        &self.plant.io
    }

    /// Whether a primary program exists, and whether it is paused.
    #[must_use]
    pub fn program(&self) -> (bool, bool) {
        (self.programs.running(), self.programs.paused())
    }

    /// Programs that were dropped: too many waiting, or the arm not ready for them.
    #[must_use]
    pub fn refused_programs(&self) -> u64 {
        self.programs.refused
    }

    /// What the controller's clock shows: the time in the packets of the next cycle.
    #[must_use]
    pub fn clock(&self) -> Duration {
        Duration::from_micros(self.clock)
    }

    /// Control cycles run.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// When something will happen by itself: a control cycle, a fault, a scripted action, bytes that arrive.
    #[must_use]
    pub fn next_event(&self) -> SimTime {
        let links = self.connections.values().flat_map(|connection| [&connection.up, &connection.down]);
        let arrivals = links.filter_map(|link| link.next_event(self.now)).min().unwrap_or(SimTime::MAX);
        let scripted = self.script.iter().map(|(at, _)| *at).min().unwrap_or(SimTime::MAX);
        arrivals.min(scripted).min(self.faults.next_edge()).min(self.next_cycle)
    }

    /// Lives through everything up to and including `to`.
    pub fn advance_to(&mut self, to: SimTime) {
        while self.next_event() <= to {
            self.now = self.next_event().max(self.now);
            self.process();
        }
        self.now = self.now.max(to);
        self.process();
    }

    fn process(&mut self) {
        for edge in self.faults.edges(self.now) {
            self.fault_edge(edge);
        }
        while let Some(due) = self.script.iter().position(|(at, _)| *at <= self.now) {
            let (_, action) = self.script.remove(due);
            self.act(action);
        }
        self.read_clients();
        if self.next_cycle <= self.now {
            self.cycle();
            self.next_cycle = self.next_cycle + self.firmware.period();
        }
        self.connections.values_mut().for_each(|connection| {
            connection.down.advance(self.now);
            if connection.phase == Phase::Closing && connection.down.queued() == 0 {
                connection.phase = Phase::Closed;
            }
        });
        self.sweep();
    }

    fn cycle(&mut self) {
        if self.away_until.is_some_and(|until| self.now >= until) {
            self.come_back();
        }
        if self.away_until.is_none() {
            self.publish();
            self.second_commander_sends();
            self.programs.cycle(self.now, &mut self.plant, &mut self.notices);
            self.clock += u64::try_from(self.firmware.period().as_micros()).unwrap_or(0);
        }
        self.cycles += 1;
        let ran = self.plant.robot.power == Power::Running;
        self.plant.robot.tick(self.now);
        if !ran && self.plant.robot.power == Power::Running {
            // Leaving initialisation, kinematics and configuration are sent once more.
            self.connections.values_mut().for_each(|connection| connection.first_state = true);
        }
        self.move_arm();
    }

    fn move_arm(&mut self) {
        let Plant { arm, robot, .. } = &mut self.plant;
        if robot.power != Power::Running {
            arm.hold();
        } else if arm.step(robot.slider).is_some() && robot.may_move() {
            self.act(Action::ProtectiveStop);
        }
        // The brakes close, and power goes, when an emergency stop has brought the arm to rest.
        let Plant { arm, robot, .. } = &mut self.plant;
        if robot.stop == Stop::Emergency && arm.at_rest() {
            robot.power_off();
        }
    }

    fn second_commander_sends(&mut self) {
        let (interval, lasts) = SECOND_COMMANDER;
        if let Some((speed, next)) = &mut self.second_commander
            && *next <= self.now
        {
            *next = self.now + interval;
            let text = format!("speedj([0,0,0,0,0,{speed:.6}],1.0,{lasts})\n");
            self.programs.offer(Sender::Other, self.now, text);
        }
    }

    /// Does this now.
    pub fn act(&mut self, action: Action) {
        let safety_before = self.plant.robot.safety_mode();
        let Plant { arm, robot, io, .. } = &mut self.plant;
        let halt = self.options.stop_deceleration;
        match action {
            Action::EmergencyStop => {
                robot.stop = Stop::Emergency;
                self.programs.stop(&mut self.plant, &mut self.notices);
                self.plant.arm.motion = Motion::Stop { deceleration: halt };
            }
            Action::ReleaseEmergencyStop if robot.stop == Stop::Emergency => robot.stop = Stop::None,
            Action::ProtectiveStop => {
                if robot.protective_stop(self.now) {
                    self.programs.pause(arm, halt);
                }
            }
            Action::UnlockProtectiveStop => {
                robot.unlock_protective_stop(self.now);
            }
            Action::OpenSafeguard if matches!(robot.stop, Stop::None | Stop::Reduced) => {
                robot.stop = Stop::Safeguard;
                self.programs.pause(arm, halt);
            }
            Action::CloseSafeguard if robot.stop == Stop::Safeguard => robot.stop = Stop::None,
            Action::Reduced(on) => match (robot.stop, on) {
                (Stop::None, true) => robot.stop = Stop::Reduced,
                (Stop::Reduced, false) => robot.stop = Stop::None,
                _ => {}
            },
            Action::RestartSafety => {
                robot.power_off();
                robot.stop = Stop::None;
            }
            Action::PowerOn => robot.power_on(self.now),
            Action::PowerOff => {
                robot.power_off();
                self.programs.stop(&mut self.plant, &mut self.notices);
            }
            Action::ReleaseBrakes => robot.release_brakes(self.now),
            Action::SwitchToLocal => self.switch_to_local(),
            Action::SwitchToRemote => robot.remote = true,
            Action::Slider(share) => robot.slider = share.clamp(0.0, 1.0),
            Action::PauseProgram => self.programs.pause(arm, self.options.end_deceleration),
            Action::ResumeProgram if robot.may_move() => self.programs.resume(arm),
            Action::StopProgram => self.programs.stop(&mut self.plant, &mut self.notices),
            Action::StartForeignProgram(speed) => {
                self.programs.start_foreign(speed, &mut self.plant, &mut self.notices);
            }
            Action::SecondCommander(speed) => self.second_commander = speed.map(|speed| (speed, self.now)),
            Action::JumpClock(micros) => self.clock = self.clock.saturating_add_signed(micros),
            Action::Restart(away) => self.restart(away),
            Action::Disconnect => self.close_where(|_| true),
            Action::DigitalInputs(bits) => io.digital_in = bits,
            // What does not fit the state has no effect.
            Action::ReleaseEmergencyStop | Action::OpenSafeguard | Action::CloseSafeguard | Action::ResumeProgram => {}
        }
        let safety = self.plant.robot.safety_mode();
        if safety != safety_before {
            self.notices.push(Notice::Safety(safety));
        }
    }

    /// Does this when `at` has come.
    pub fn schedule(&mut self, at: SimTime, action: Action) {
        self.script.push((at, action));
    }

    /// One more fault.
    pub fn inject(&mut self, fault: Fault) {
        self.faults.add(fault);
        self.set_conditions();
    }

    fn switch_to_local(&mut self) {
        if !self.firmware.has_remote_control() {
            return;
        }
        self.plant.robot.remote = false;
        if self.local_mode() == LocalMode::Code210 {
            self.close_where(|port| matches!(port, Port::Primary | Port::Secondary));
        }
    }

    fn local_mode(&self) -> LocalMode {
        self.options.local_mode.unwrap_or(self.firmware.local_mode())
    }

    fn restart(&mut self, away: Duration) {
        self.close_where(|_| true);
        self.programs.stop(&mut self.plant, &mut self.notices);
        self.plant.robot.power_off();
        self.plant.robot.slider = 1.0;
        self.away_until = Some(self.now + away);
    }

    fn come_back(&mut self) {
        self.away_until = None;
        self.clock = 0;
        self.notices.clear();
    }

    fn close_where(&mut self, which: impl Fn(Port) -> bool) {
        for connection in self.connections.values_mut().filter(|connection| which(connection.port)) {
            connection.phase = Phase::Closed;
        }
        self.forget_closed();
    }

    fn forget_closed(&mut self) {
        let closed: Vec<Conn> =
            self.connections.iter().filter(|(_, c)| c.phase == Phase::Closed).map(|(id, _)| *id).collect();
        closed.iter().for_each(|id| self.programs.forget(*id));
    }

    fn fault_edge(&mut self, edge: Edge) {
        self.set_conditions();
        match edge {
            Edge::Begins(fault) => match fault.kind {
                FaultKind::Drop => {
                    self.close_where(|port| fault.port.is_none_or(|only| only == port));
                }
                FaultKind::ClockJump(micros) => self.act(Action::JumpClock(micros)),
                FaultKind::Restart => {
                    let away = fault.duration.filter(|duration| !duration.is_zero()).unwrap_or(RESTART);
                    self.act(Action::Restart(away));
                }
                FaultKind::Estop => self.act(Action::EmergencyStop),
                FaultKind::ProtectiveStop => self.act(Action::ProtectiveStop),
                FaultKind::Safeguard => self.act(Action::OpenSafeguard),
                FaultKind::Local => self.act(Action::SwitchToLocal),
                FaultKind::PowerOff => self.act(Action::PowerOff),
                FaultKind::Slider(share) => self.act(Action::Slider(share)),
                FaultKind::Pause => self.act(Action::PauseProgram),
                FaultKind::SecondCommander(speed) => self.act(Action::SecondCommander(Some(speed))),
                FaultKind::ForeignProgram(speed) => self.act(Action::StartForeignProgram(speed)),
                _ => {}
            },
            Edge::Ends(fault) => match fault.kind {
                FaultKind::Estop => self.act(Action::ReleaseEmergencyStop),
                FaultKind::ProtectiveStop => self.act(Action::UnlockProtectiveStop),
                FaultKind::Safeguard => self.act(Action::CloseSafeguard),
                FaultKind::Local => self.act(Action::SwitchToRemote),
                FaultKind::PowerOff => self.act(Action::ReleaseBrakes),
                FaultKind::Slider(_) => self.act(Action::Slider(1.0)),
                FaultKind::Pause => self.act(Action::ResumeProgram),
                FaultKind::SecondCommander(_) => self.act(Action::SecondCommander(None)),
                FaultKind::ForeignProgram(_) if self.programs.foreign() => self.act(Action::StopProgram),
                _ => {}
            },
        }
    }

    /// The network of every connection as the faults want it now.
    fn set_conditions(&mut self) {
        let (now, period) = (self.now, self.firmware.period());
        for connection in self.connections.values_mut() {
            for (link, direction) in [(&mut connection.up, Direction::Up), (&mut connection.down, Direction::Down)] {
                link.set_conditions(now, &self.faults.conditions(now, connection.port, direction, period));
            }
        }
    }

    /// Whether the firmware has this port at all.
    #[must_use]
    pub fn has_port(&self, port: Port) -> bool {
        let read_only = matches!(port, Port::PrimaryReadOnly | Port::SecondaryReadOnly | Port::RealtimeReadOnly);
        !read_only || self.firmware.read_only_ports()
    }

    /// A client connects to a port; bytes flow at once, nothing has to be asked for.
    ///
    /// # Errors
    /// [`Refused`] where the firmware has no such port, or the controller is away.
    pub fn connect(&mut self, port: Port) -> Result<Conn, Refused> {
        let dropped = self.faults.on(self.now, port).any(|kind| kind == FaultKind::Drop);
        if !self.has_port(port) || self.away_until.is_some() || dropped {
            return Err(Refused);
        }
        let id = Conn(self.next_conn);
        self.next_conn += 1;
        let permitted = self.plant.robot.remote;
        self.connections.insert(id, Connection::new(port, self.options.seed, id.0, permitted));
        self.set_conditions();
        self.greet(id);
        Ok(id)
    }

    /// A client sends bytes; says how many were taken.
    pub fn write(&mut self, conn: Conn, bytes: &[u8]) -> usize {
        let now = self.now;
        let Some(connection) = self.connections.get_mut(&conn).filter(|c| c.phase == Phase::Open) else { return 0 };
        let room = RECEIVE_QUEUE.saturating_sub(connection.up.queued());
        let taken = bytes.get(..room).unwrap_or(bytes);
        if !taken.is_empty() {
            connection.down.peer_sent(now);
            connection.up.send(now, taken);
            self.read_clients();
        }
        taken.len()
    }

    /// A client reads what has arrived: at most one segment per call; says how many bytes.
    pub fn read(&mut self, conn: Conn, buffer: &mut [u8]) -> usize {
        let now = self.now;
        let Some(connection) = self.connections.get_mut(&conn).filter(|c| c.phase != Phase::Closed) else { return 0 };
        let Some(bytes) = connection.down.receive(now, buffer.len()) else { return 0 };
        connection.read += bytes.len() as u64;
        for (slot, byte) in buffer.iter_mut().zip(&bytes) {
            *slot = *byte;
        }
        if connection.phase == Phase::Closing && connection.down.queued() == 0 {
            connection.phase = Phase::Closed;
        }
        bytes.len()
    }

    /// Bytes a client could read now.
    #[must_use]
    pub fn pending(&self, conn: Conn) -> usize {
        self.connections.get(&conn).map_or(0, |connection| connection.down.arrived(self.now))
    }

    /// Whether the controller still holds this connection; what has arrived before a close can be read.
    #[must_use]
    pub fn is_open(&self, conn: Conn) -> bool {
        self.connections.get(&conn).is_some_and(|c| matches!(c.phase, Phase::Open | Phase::Closing))
    }

    /// A client closes. What it sent before is still taken, unless it closed too early (spec 5.7) and the
    /// controller minds.
    pub fn disconnect(&mut self, conn: Conn) {
        const ENOUGH: u64 = 79;
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        if self.options.needs_79_bytes && connection.read < ENOUGH {
            connection.phase = Phase::Closed;
            self.programs.forget(conn);
        } else if connection.phase != Phase::Closed {
            connection.phase = Phase::ClosedByClient;
        }
        self.sweep();
    }

    /// A client resets its connection: what is still on the way either way is lost. What had arrived runs.
    pub fn reset(&mut self, conn: Conn) {
        self.connections.remove(&conn);
    }

    /// Bytes a client has sent that have not arrived here, and so are not acknowledged.
    #[must_use]
    pub fn in_flight(&self, conn: Conn) -> usize {
        self.connections.get(&conn).map_or(0, |connection| connection.up.queued())
    }

    /// Forgets connections that are over.
    fn sweep(&mut self) {
        self.connections.retain(|_, c| match c.phase {
            Phase::Open | Phase::Closing => true,
            Phase::ClosedByClient => c.up.queued() > 0,
            Phase::Closed => false,
        });
    }
}

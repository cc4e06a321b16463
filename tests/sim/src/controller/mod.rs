//! The controller: clients, control cycles, operators and faults, in virtual time.
//!
//! Sans-IO and runtime-free. A driver connects clients, writes and reads their bytes, and advances time to
//! [`Controller::next_event`]; the same object runs behind kernel sockets, behind an emulated stack and in tests. One
//! control cycle: publish the state of the cycle before, start programs whose text arrived early enough, run
//! programs, move the arm.

mod action;
mod action_effects;
mod client_input;
mod clients;
mod connection;
mod dashboard_port;
mod dialling;
mod event;
mod external_control;
mod http;
mod interpreter;
mod operations;
mod options;
mod publication;
mod ros;
mod rtde_port;
mod tool_line;

use std::collections::BTreeMap;
use std::time::Duration;

use outrigger_interpreter::{Builtins, Limits};
use outrigger_urscript::Version;

pub use action::Action;
pub use connection::Conn;
pub use event::{Event, EventKind};
pub use interpreter::InterpreterOptions;
pub use options::{Options, OptionsError, ProgramTold, StartState};

use crate::arm::Arm;
use crate::dynamics::Payload;
use crate::fault::{Direction, Schedule};
use crate::firmware::Firmware;
use crate::force::Force;
use crate::io::Io;
use crate::kinematics::{Frame, sub};
use crate::model::ArmModel;
use crate::pendant::Pendant;
use crate::program::{Notice, Plant, Programs, Sockets};
use crate::rng::Rng;
use crate::robot::{Control, Power, Robot, Stop};
use crate::ros::Ends;
use crate::rtde::{Exchange, Registers, Watchdog, Watchdogs};
use crate::service::Service;
use crate::time::SimTime;
use crate::tool_line::ToolLine;
use crate::undocumented_delays::Starting;
use connection::{Connection, Phase};
use event::Events;
use external_control::Fetching;
use operations::Underway;

/// The number that selects the random stream of URScript programs, so that random numbers for other uses do not depend
/// on the programs.
const RANDOM: u64 = 0x7A4D;
/// An error: the port that was connected to does not exist or accepts no clients at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("connection refused")
    }
}

impl std::error::Error for Refused {}

/// A simulated controller with its arm.
pub struct Controller {
    options: Options,
    model: ArmModel,
    firmware: Firmware,
    plant: Plant,
    programs: Programs,
    notices: Vec<Notice>,
    /// Messages for clients of port 30001 that are delayed until the next periodic state message, in order.
    held: Vec<Notice>,
    faults: Schedule,
    script: Vec<(SimTime, Action)>,
    connections: BTreeMap<Conn, Connection>,
    next_conn: u64,
    now: SimTime,
    next_cycle: SimTime,
    /// The time at which the next periodic state messages are due.
    next_state: SimTime,
    /// The number of control cycles that were executed since the start.
    cycles: u64,
    /// The time of the controller's own clock \[µs\].
    clock: u64,
    /// The time until which all connections are refused, because the controller restarts or was shut down.
    away_until: Option<SimTime>,
    second_commander: Option<(f64, SimTime)>,
    exchange: Exchange,
    /// The time at which RTDE is restarted once after the controller's start.
    rtde_restart: Option<SimTime>,
    /// The value of the controller's clock when RTDE was started \[µs\].
    rtde_epoch: u64,
    services_off: Vec<Service>,
    pendant: Pendant,
    /// The operations in progress at the operator's interface.
    underway: Vec<Underway>,
    /// The loaded program that waits for text from the computer before it starts.
    fetching: Option<Fetching>,
    /// The simulated serial line of the tool; `None` if nothing relays it to the network.
    tool_line: Option<ToolLine>,
    /// The number of dashboard replies sent so far.
    replies: u64,
    /// The source of random numbers for the wrong answers that a fault causes.
    nonsense: Rng,
    /// The texts of the programs that clients have sent to the controller; `None` if they are not stored.
    texts: Option<Vec<Text>>,
    /// The events that no caller has taken, if events are stored.
    events: Option<Events>,
    /// The state of the arm after each cycle, if it is stored.
    course: Option<Vec<Moment>>,
}

/// The true state of the arm at the end of a control cycle.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The virtual time of the recorded control cycle.
    pub at: SimTime,
    /// Actual joint positions in the control cycle \[rad\].
    pub q: [f64; 6],
    /// Actual joint speeds in the control cycle \[rad/s\].
    pub qd: [f64; 6],
    /// The pose of the tool centre point in the robot's base frame.
    pub tool: Frame,
    /// The true force and torque on the tool in the base frame \[N, Nm\].
    pub force: [f64; 6],
}

/// The text of a complete program, or of a single statement, that a client sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The virtual time at which the client's text had arrived completely.
    pub at: SimTime,
    /// The client's text itself. Text that the controller ignores is included.
    pub text: String,
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("now", &self.now).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Controller {
    /// Returns a controller in the state that `options` select, at time zero.
    ///
    /// # Errors
    /// [`OptionsError`] if no real controller can have these options.
    pub fn new(options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        let model = ArmModel::of(options.model);
        let firmware = Firmware(options.software);
        let dt = firmware.period().as_secs_f64();
        let mut arm = Arm::new(&model, &options.drive, options.force, options.q, dt, &mut Rng::new(options.seed, 0));
        arm.keep_past(options.joint_history);
        let mut robot = Robot::new(firmware.generation(), options.power);
        match options.state {
            StartState::Running => {}
            StartState::PowerOff => robot.power = Power::Off,
            StartState::Idle => robot.power = Power::Idle,
            StartState::Local => robot.control = Control::Local,
            StartState::RemoteNotEnabled => robot.control = Control::NotEnabled,
            StartState::ProtectiveStop => robot.stop = Stop::Protective { at: SimTime::ZERO },
        }
        let after_t = options.after_t.unwrap_or(firmware.after_t());
        let builtins = Builtins::of(Version::new(firmware.0.major, firmware.0.minor));
        let builtins = match options.assignable_outputs {
            Some(assignable) => builtins.with_assignable_outputs(assignable),
            None => builtins,
        };
        let builtins = match options.interpreter.available {
            Some(available) => builtins.with_interpreter_mode(available),
            None => builtins,
        };
        let limits = Limits { statements: options.interpreter.statements, ..Limits::default() };
        Ok(Self {
            model,
            firmware,
            plant: Plant {
                arm,
                io: Io::new(firmware.generation(), options.euromap67),
                force: Force::new(!firmware.external_torques_are_right(), options.surface),
                contact_force: options.force.contact_force,
                asks_protective_stop: false,
                stop_codes: options.stop_codes,
                robot,
                firmware,
                dt,
                fixed_stop_deceleration: options.fixed_stop_deceleration,
                servoj: options.servoj,
                stop_deceleration: options.end_deceleration,
                aborts: false,
                mover: None,
                now: SimTime::ZERO,
                inputs: Registers::default(),
                outputs: Registers::default(),
                watchdogs: Watchdogs::default(),
                sockets: Sockets::new(options.sockets, options.seed),
                random: Rng::new(options.seed, RANDOM),
                ros: Ends::new(options.ros),
            },
            programs: Programs::new(
                builtins,
                limits,
                options.overruns,
                after_t,
                options.end_deceleration,
                options.flicker,
                Starting {
                    intake: options.intake.unwrap_or(firmware.intake()),
                    compiling: options.compiling,
                    servoj_deceleration: options.servoj.replaced_deceleration,
                },
            ),
            notices: vec![],
            held: vec![],
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
            exchange: Exchange::default(),
            rtde_restart: None,
            rtde_epoch: 0,
            services_off: options.services_off.clone(),
            pendant: external_control::pendant(&options.files, options.external_control.as_ref()),
            underway: vec![],
            fetching: None,
            tool_line: options.tool_line.map(ToolLine::new),
            replies: 0,
            nonsense: dashboard_port::nonsense(options.seed),
            texts: None,
            events: None,
            course: None,
            options,
        })
    }

    /// Returns the present virtual time of the simulation.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Returns the period of the control cycle.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.firmware.period()
    }

    /// Returns the options that this controller was created with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the arm with its true state, which no interface publishes exactly.
    #[must_use]
    pub fn truth(&self) -> &Arm {
        &self.plant.arm
    }

    /// Returns the robot's state of power, safety and control.
    #[must_use]
    pub fn robot(&self) -> &Robot {
        &self.plant.robot
    }

    /// Returns the state of inputs, outputs, tool connector and payload.
    #[must_use]
    pub fn io(&self) -> &Io {
        &self.plant.io
    }

    /// Returns the state of force and torque at the tool.
    #[must_use]
    pub fn force(&self) -> &Force {
        &self.plant.force
    }

    /// Returns the distance from the tool centre point to the simulated surface that the tool can touch, along the
    /// tool's z axis \[m\]; `None` if there is no surface ahead.
    #[must_use]
    pub fn distance(&self) -> Option<f64> {
        let tool = self.plant.arm.tool();
        self.plant.force.surface.and_then(|surface| surface.distance_along(tool.position, tool.z_axis()))
    }

    /// Returns the state of the operator's interface.
    #[must_use]
    pub fn pendant(&self) -> &Pendant {
        &self.pendant
    }

    /// Returns the RTDE registers: first the input registers, which clients write, then the output registers, which
    /// programs write.
    #[must_use]
    pub fn registers(&self) -> (&Registers, &Registers) {
        (&self.plant.inputs, &self.plant.outputs)
    }

    /// Returns the RTDE watchdogs that the running program has set.
    #[must_use]
    pub fn watchdogs(&self) -> &[Watchdog] {
        self.plant.watchdogs.all()
    }

    /// Returns the messages for the operator that RTDE clients have sent, the newest last.
    #[must_use]
    pub fn rtde_log(&self) -> &[String] {
        &self.exchange.log
    }

    /// Returns whether a primary program exists, and whether it is paused.
    #[must_use]
    pub fn program(&self) -> (bool, bool) {
        (self.programs.running(), self.programs.paused())
    }

    /// Returns the number of programs that the controller dropped because too many were waiting, or because the arm
    /// was not ready for them.
    #[must_use]
    pub fn refused_programs(&self) -> u64 {
        self.programs.refused
    }

    /// Returns the value of the controller's own clock, which the packets of the next cycle contain.
    #[must_use]
    pub fn clock(&self) -> Duration {
        Duration::from_micros(self.clock)
    }

    /// Returns the value of RTDE's `timestamp`: the controller's clock since the service was started.
    #[must_use]
    pub fn rtde_clock(&self) -> Duration {
        Duration::from_micros(self.clock.saturating_sub(self.rtde_epoch))
    }

    /// Returns the number of control cycles that were executed since the start.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Makes the controller store the text of every program and statement that clients send from now on, without a
    /// limit. Use it for runs of bounded length.
    pub fn keep_texts(&mut self) {
        self.texts.get_or_insert_default();
    }

    /// Returns the stored texts of clients' programs, in the order in which they arrived; see
    /// [`keep_texts`](Self::keep_texts).
    #[must_use]
    pub fn texts(&self) -> &[Text] {
        self.texts.as_deref().unwrap_or_default()
    }

    /// Returns the state of the arm after each cycle since the last call. The first call returns an empty list and
    /// begins the recording. Call this regularly from then on, because the recording has no limit.
    pub fn take_course(&mut self) -> Vec<Moment> {
        self.course.replace(vec![]).unwrap_or_default()
    }

    /// Returns the time of the next event if nothing else is called before: a control cycle, a fault's begin or end, a
    /// scheduled action, the end of an operation, arriving bytes.
    #[must_use]
    pub fn next_event(&self) -> SimTime {
        let scripted = self.script.iter().map(|(at, _)| *at).min().unwrap_or(SimTime::MAX);
        let mut next = scripted.min(self.faults.next_edge()).min(self.next_operation()).min(self.next_cycle);
        for Connection { up, down, .. } in self.connections.values() {
            next = next.min(up.next_event(self.now)).min(down.next_event(self.now));
        }
        let tool_line = self.tool_line.as_ref().map_or(SimTime::MAX, ToolLine::next_event);
        next.min(tool_line).min(self.plant.sockets.dials.next_event(self.now))
    }

    /// Executes everything that happens up to and including the virtual time `to`.
    pub fn advance_to(&mut self, to: SimTime) {
        loop {
            let next = self.next_event();
            if next > to {
                break;
            }
            self.now = next.max(self.now);
            self.process();
        }
        self.now = self.now.max(to);
        self.process();
    }

    fn process(&mut self) {
        self.plant.now = self.now;
        self.plant.sockets.dials.advance_to(self.now);
        for edge in self.faults.edges(self.now) {
            self.fault_edge(edge);
        }
        while let Some(due) = self.script.iter().position(|(at, _)| *at <= self.now) {
            let (_, action) = self.script.remove(due);
            self.act(action);
        }
        self.read_clients();
        self.finish_operations();
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
        self.restart_rtde();
        if self.away_until.is_none() {
            self.publish();
            self.second_commander_sends();
            self.watch_inputs();
            self.fetch();
            let before = self.notices.len();
            self.programs.cycle(self.now, &mut self.plant, &mut self.notices);
            if std::mem::take(&mut self.plant.asks_protective_stop) {
                // The stop precedes the end of a program whose last statement it is.
                let mut end = self.notices.split_off(before);
                let at = end.iter().position(|notice| matches!(notice, Notice::Stopped(_))).unwrap_or(end.len());
                self.notices.extend(end.drain(..at));
                self.stop_protectively(self.options.stop_codes.called);
                self.notices.append(&mut end);
            }
            self.show_popups();
            self.echo();
            self.clock += u64::try_from(self.firmware.period().as_micros()).unwrap_or(0);
        }
        self.cycles += 1;
        let ran = self.plant.robot.power == Power::Running;
        self.plant.robot.tick(self.now);
        if !ran && self.plant.robot.power == Power::Running {
            // After initialisation, kinematics and configuration are sent once more.
            self.connections.values_mut().for_each(|connection| connection.first_state = true);
        }
        self.move_arm();
        if let Some(course) = &mut self.course {
            let arm = &self.plant.arm;
            course.push(Moment { at: self.now, q: arm.q, qd: arm.qd, tool: arm.tool(), force: arm.push });
        }
    }

    /// Displays the newest popup that a program has opened at the operator's interface, until it is closed.
    fn show_popups(&mut self) {
        let newest = self.notices.iter().rev().find_map(|notice| match notice {
            Notice::Popup { text, .. } => Some(crate::program_text_bytes::shown(text)),
            _ => None,
        });
        self.pendant.popup = newest.or(self.pendant.popup.take());
    }

    fn move_arm(&mut self) {
        let Plant { arm, robot, force, io, .. } = &mut self.plant;
        arm.measured = force.measured();
        arm.push = force.push;
        arm.yields = robot.may_move() && !self.programs.paused();
        arm.payload = Payload { mass: io.payload, centre: io.payload_cog };
        if robot.power != Power::Running {
            arm.hold();
        } else if let Some(exceeded) = arm.step(robot.slider * robot.limiter)
            && robot.may_move()
        {
            self.stop_protectively(self.options.stop_codes.of(exceeded));
        }
        let Plant { arm, force, .. } = &mut self.plant;
        force.feel(|| {
            let [x, y, z, ..] = arm.tool_speed();
            (arm.tool().position, [x, y, z])
        });
        if self.firmware.has_force_sensor() {
            let flange = arm.flange();
            (force.lever, force.flange) = (sub(arm.tool().position, flange.position), flange.rotation);
        }
        // The brakes close, and power goes off, when such a stop has brought the arm to rest.
        let Plant { arm, robot, .. } = &mut self.plant;
        if matches!(robot.stop, Stop::Emergency | Stop::Violation | Stop::Fault) && arm.at_rest() {
            robot.power_off();
        }
    }

    /// Sets the network conditions of every connection as the active faults demand.
    fn set_conditions(&mut self) {
        let (now, period) = (self.now, self.firmware.period());
        for connection in self.connections.values_mut() {
            for (link, direction) in [(&mut connection.up, Direction::Up), (&mut connection.down, Direction::Down)] {
                link.set_conditions(now, &self.faults.conditions(now, Some(connection.port), direction, period));
            }
        }
        let dialled = [Direction::Up, Direction::Down].map(|way| self.faults.conditions(now, None, way, period));
        self.plant.sockets.dials.set_conditions(now, dialled);
    }
}

//! The effects of operators' actions and of faults on the controller.

use std::time::Duration;

use outrigger_wire::robot::SafetyMode;

use super::connection::Phase;
use super::{Action, Conn, Controller, EventKind, external_control};
use crate::arm::Motion;
use crate::fault::{Edge, Fault, FaultKind};
use crate::firmware::LocalMode;
use crate::pendant::Operation;
use crate::port::Port;
use crate::program::{Notice, Plant, Sender};
use crate::robot::{Control, Safeguard, Stop};
use crate::service::Service;
use crate::stop_error_codes::{Level, StopCode};
use crate::time::SimTime;
use crate::tool_line::ToolCommunication;

/// The duration of a restart of the controller that a fault causes, if the fault has no duration.
const RESTART: Duration = Duration::from_secs(2);

/// The interval between the commands of the simulated second commander, and the time argument `t` of each command
/// \[s\].
const SECOND_COMMANDER: (Duration, f64) = (Duration::from_millis(100), 0.2);

impl Controller {
    /// Executes an action of an operator or a test on the controller now.
    pub fn act(&mut self, action: Action) {
        let before = self.plant.robot.safety_mode();
        self.obey(action);
        self.report_safety(before);
    }

    /// Causes a protective stop that port 30001 reports with this error code.
    pub(super) fn stop_protectively(&mut self, code: Option<StopCode>) {
        let before = self.plant.robot.safety_mode();
        self.protect(code);
        self.report_safety(before);
    }

    /// Unlocks a protective stop of any age, as `set unlock protective stop` on 30001 and 30002 does.
    pub(super) fn unlock_by_text(&mut self) {
        let before = self.plant.robot.safety_mode();
        self.plant.robot.clear_protective_stop();
        self.report_safety(before);
    }

    fn protect(&mut self, code: Option<StopCode>) {
        if self.plant.robot.protective_stop(self.now) {
            self.programs.pause(&mut self.plant.arm, self.options.stop_deceleration);
            self.report_code(Level::Warning, code);
        }
    }

    fn report_code(&mut self, level: Level, code: Option<StopCode>) {
        self.notices.extend(code.map(|code| Notice::Code { level, code, text: "" }));
    }

    /// Queues a message for clients about the safety mode if it differs from the mode `before`.
    fn report_safety(&mut self, before: SafetyMode) {
        let safety = self.plant.robot.safety_mode();
        if safety != before {
            self.notices.push(Notice::Safety(safety));
            self.pendant.safety_popup |= !self.plant.robot.may_move() && self.plant.robot.stop != Stop::None;
        }
    }

    fn obey(&mut self, action: Action) {
        let e_series = self.firmware.has_remote_control();
        let Plant { arm, robot, io, force, .. } = &mut self.plant;
        let codes = self.options.stop_codes;
        match action {
            Action::EmergencyStop => self.halt(Stop::Emergency, Level::Info, codes.emergency),
            Action::ReleaseEmergencyStop if robot.stop == Stop::Emergency => robot.stop = Stop::None,
            Action::ProtectiveStop => self.protect(codes.other),
            Action::UnlockProtectiveStop => {
                robot.unlock_protective_stop(self.now);
            }
            Action::OpenSafeguard => self.open_safeguard(Safeguard::Input),
            Action::OpenAutomaticSafeguard if e_series => self.open_safeguard(Safeguard::Automatic),
            Action::ReleaseEnablingDevice if e_series => self.open_safeguard(Safeguard::ThreePosition),
            Action::CloseSafeguard if matches!(robot.stop, Stop::Safeguard(_)) => robot.stop = Stop::None,
            Action::SafetyViolation => self.halt(Stop::Violation, Level::Violation, codes.violation),
            Action::SafetyFault => self.halt(Stop::Fault, Level::Fault, codes.fault),
            Action::Reduced(on) => match (robot.stop, on) {
                (Stop::None, true) => robot.stop = Stop::Reduced,
                (Stop::Reduced, false) => robot.stop = Stop::None,
                _ => {}
            },
            Action::RestartSafety => {
                robot.restart_safety();
                self.programs.stop(&mut self.plant, &mut self.notices);
            }
            Action::PowerOn => robot.power_on(self.now),
            Action::PowerOff => {
                robot.power_off();
                self.programs.stop(&mut self.plant, &mut self.notices);
            }
            Action::ReleaseBrakes => robot.release_brakes(self.now),
            Action::SwitchToLocal => self.switch_to_local(),
            Action::SwitchToRemote if robot.control == Control::Local => robot.control = Control::Remote,
            Action::Slider(share) => robot.slider = share.clamp(0.0, 1.0),
            Action::Limiter(share) => robot.limiter = share.clamp(0.0, 1.0),
            Action::PauseProgram => self.programs.pause(arm, self.options.end_deceleration),
            Action::ResumeProgram if robot.may_move() => {
                if self.programs.awaits_popup() {
                    self.pendant.popup = None;
                }
                self.programs.resume(arm);
            }
            Action::PlayProgram => self.begin(Operation::Play, None),
            Action::StopProgram => {
                self.stop_fetching();
                self.programs.stop(&mut self.plant, &mut self.notices);
            }
            Action::ClosePopup => {
                self.pendant.popup = None;
                if self.programs.awaits_popup() {
                    self.act(Action::ResumeProgram);
                }
            }
            Action::StartForeignProgram(speed) => {
                self.programs.start_foreign(speed, &mut self.plant, &mut self.notices);
            }
            Action::SecondCommander(speed) => self.second_commander = speed.map(|speed| (speed, self.now)),
            Action::JumpClock(micros) => self.clock = self.clock.saturating_add_signed(micros),
            Action::Restart(away) => self.restart(away),
            Action::ShutDown => self.shut_down(),
            Action::SwitchService(service, on) => self.switch_service(service, on),
            Action::ChooseOperationalMode(mode) if e_series => self.pendant.choose_mode(mode),
            Action::Disconnect => {
                self.close_where(|_| true);
                self.plant.sockets.dials.cut();
            }
            Action::DigitalInputs(bits) => io.digital_in = bits,
            Action::Push(wrench) => force.push_by_hand(wrench),
            // An action that does not fit the state has no effect.
            Action::ReleaseEmergencyStop
            | Action::OpenAutomaticSafeguard
            | Action::ReleaseEnablingDevice
            | Action::CloseSafeguard
            | Action::ResumeProgram
            | Action::SwitchToRemote
            | Action::ChooseOperationalMode(_) => {}
        }
    }

    /// Ends the program and brings the arm to rest because of the stop `stop`; after standstill the arm loses its
    /// power. Port 30001 reports the stop with `code`.
    fn halt(&mut self, stop: Stop, level: Level, code: Option<StopCode>) {
        if self.plant.robot.stop != stop {
            self.report_code(level, code);
        }
        self.plant.robot.stop = stop;
        self.programs.stop(&mut self.plant, &mut self.notices);
        self.plant.arm.motion = Motion::Stop { deceleration: self.options.stop_deceleration };
    }

    fn open_safeguard(&mut self, safeguard: Safeguard) {
        let Plant { arm, robot, .. } = &mut self.plant;
        if matches!(robot.stop, Stop::None | Stop::Reduced) {
            robot.stop = Stop::Safeguard(safeguard);
            self.programs.pause(arm, self.options.stop_deceleration);
        }
    }

    fn switch_service(&mut self, service: Service, on: bool) {
        self.services_off.retain(|off| *off != service);
        if !on && self.firmware.has_service_switches() {
            self.services_off.push(service);
            self.close_where(|port| Service::of(port) == Some(service));
        }
    }

    pub(super) fn second_commander_sends(&mut self) {
        let (interval, lasts) = SECOND_COMMANDER;
        if let Some((speed, next)) = &mut self.second_commander
            && *next <= self.now
        {
            *next = self.now + interval;
            let text = format!("speedj([0,0,0,0,0,{speed:.6}],1.0,{lasts})\n");
            self.programs.offer(Sender::Other, self.now, text);
        }
    }

    /// Schedules an action of an operator or a test for the virtual time `at`.
    pub fn schedule(&mut self, at: SimTime, action: Action) {
        self.script.push((at, action));
    }

    /// Adds a fault to the controller's schedule.
    pub fn inject(&mut self, fault: Fault) {
        self.faults.add(fault);
        self.set_conditions();
    }

    fn switch_to_local(&mut self) {
        if !self.firmware.has_remote_control() || self.plant.robot.control == Control::NotEnabled {
            return;
        }
        self.plant.robot.control = Control::Local;
        if self.local_mode() == LocalMode::Code210 {
            let realtime = self.options.local_closes_realtime;
            self.close_where(|port| match port {
                Port::Primary | Port::Secondary => true,
                Port::Realtime => realtime,
                _ => false,
            });
        }
    }

    pub(super) fn local_mode(&self) -> LocalMode {
        self.options.local_mode.unwrap_or(self.firmware.local_mode())
    }

    fn restart(&mut self, away: Duration) {
        self.close_where(|_| true);
        self.plant.sockets.dials.cut();
        self.leave(away);
    }

    fn leave(&mut self, away: Duration) {
        self.programs.stop(&mut self.plant, &mut self.notices);
        self.stop_fetching();
        self.underway.clear();
        self.plant.robot.power_off();
        self.plant.robot.slider = 1.0;
        self.away_until = Some(self.now + away);
    }

    /// Shuts the controller down: sent bytes can still be read, then all connections are closed.
    fn shut_down(&mut self) {
        for connection in self.connections.values_mut().filter(|c| c.phase == Phase::Open) {
            connection.phase = Phase::Closing;
        }
        self.leave(Duration::MAX);
    }

    pub(super) fn come_back(&mut self) {
        self.away_until = None;
        self.clock = 0;
        self.rtde_epoch = 0;
        self.rtde_restart =
            self.options.rtde.boot_restart.filter(|_| self.firmware.rtde()).map(|after| self.now + after);
        self.notices.clear();
        self.held.clear();
        self.forget_exchange();
        self.pendant = external_control::pendant(&self.options.files, self.options.external_control.as_ref());
        // The installation that is loaded has them off.
        (self.plant.io.tool_voltage, self.plant.io.tool_communication) = (0, ToolCommunication::default());
    }

    pub(super) fn close_where(&mut self, which: impl Fn(Port) -> bool) {
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

    pub(super) fn fault_edge(&mut self, edge: Edge) {
        self.set_conditions();
        self.event(|| match edge {
            Edge::Begins(fault) => EventKind::FaultStarts(fault),
            Edge::Ends(fault) => EventKind::FaultEnds(fault),
        });
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
                FaultKind::Violation => self.act(Action::SafetyViolation),
                FaultKind::SafetyFault => self.act(Action::SafetyFault),
                FaultKind::Local => self.act(Action::SwitchToLocal),
                FaultKind::ServiceOff(service) => self.act(Action::SwitchService(service, false)),
                FaultKind::PowerOff => self.act(Action::PowerOff),
                FaultKind::Slider(share) => self.act(Action::Slider(share)),
                FaultKind::Limiter(share) => self.act(Action::Limiter(share)),
                FaultKind::Pause => self.act(Action::PauseProgram),
                FaultKind::Stop => self.act(Action::StopProgram),
                FaultKind::SecondCommander(speed) => self.act(Action::SecondCommander(Some(speed))),
                FaultKind::ForeignProgram(speed) => self.act(Action::StartForeignProgram(speed)),
                FaultKind::DigitalInput(n) => self.act(Action::DigitalInputs(self.plant.io.digital_in | 1 << n)),
                FaultKind::Hand(force) => self.act(Action::Push([0.0, 0.0, -force, 0.0, 0.0, 0.0])),
                _ => {}
            },
            Edge::Ends(fault) => match fault.kind {
                FaultKind::Estop => self.act(Action::ReleaseEmergencyStop),
                FaultKind::ProtectiveStop => self.act(Action::UnlockProtectiveStop),
                FaultKind::Safeguard => self.act(Action::CloseSafeguard),
                FaultKind::Violation | FaultKind::SafetyFault => self.act(Action::RestartSafety),
                FaultKind::Local => self.act(Action::SwitchToRemote),
                FaultKind::ServiceOff(service) => self.act(Action::SwitchService(service, true)),
                FaultKind::PowerOff => self.act(Action::ReleaseBrakes),
                FaultKind::Slider(_) => self.act(Action::Slider(1.0)),
                FaultKind::Limiter(_) => self.act(Action::Limiter(1.0)),
                FaultKind::Pause => self.act(Action::ResumeProgram),
                FaultKind::SecondCommander(_) => self.act(Action::SecondCommander(None)),
                FaultKind::ForeignProgram(_) if self.programs.foreign() => self.act(Action::StopProgram),
                FaultKind::DigitalInput(n) => self.act(Action::DigitalInputs(self.plant.io.digital_in & !(1 << n))),
                FaultKind::Hand(_) => self.act(Action::Push([0.0; 6])),
                _ => {}
            },
        }
    }
}

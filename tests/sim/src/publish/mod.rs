//! The messages of the controller to its clients: its state in the byte format of its generation.

pub(crate) mod message;
pub(crate) mod realtime;
pub(crate) mod state;

use outrigger_wire::robot::{Generation, ProgramState, RobotMode, ToolMode};

use crate::arm::Arm;
use crate::firmware::Firmware;
use crate::force::Force;
use crate::io::Io;
use crate::model::ArmModel;
use crate::robot::{Power, Robot};
use crate::time::SimTime;

/// Motor temperatures recorded on a real arm \[°C\].
pub(crate) const MOTOR_TEMPERATURES: [f32; 6] = [30.1, 29.0, 28.5, 31.2, 34.3, 35.2];

/// The controller's state, from which all messages of one control cycle are made.
pub(crate) struct Snapshot<'a> {
    pub(crate) now: SimTime,
    /// The time of the controller's own clock \[µs\].
    pub(crate) controller_micros: u64,
    pub(crate) firmware: Firmware,
    pub(crate) model: &'a ArmModel,
    pub(crate) arm: &'a Arm,
    pub(crate) robot: &'a Robot,
    pub(crate) io: &'a Io,
    pub(crate) force: &'a Force,
    pub(crate) program_running: bool,
    /// The value of `isProgramRunning` in a state message.
    pub(crate) program_told: bool,
    pub(crate) program_paused: bool,
    pub(crate) program_state: ProgramState,
    pub(crate) limiter_rests: bool,
    /// `true` if configuration data have the fields of the newest software.
    pub(crate) long_configuration: bool,
    /// `true` if periodic state messages contain a kinematics info of 9 B.
    pub(crate) short_kinematics: bool,
}

impl Snapshot<'_> {
    /// Returns the published share, 0 … 1, to which the trajectory limiter reduces the speed. The motion runs at the
    /// product of this share and the slider's. At rest the share is 0 if `limiter_rests` is set.
    pub(crate) fn limiter(&self) -> f64 {
        if self.limiter_rests && self.arm.targets.qd == [0.0; 6] {
            return 0.0;
        }
        let slider = self.robot.slider;
        if slider > 0.0 { (self.arm.scaling / slider).min(1.0) * self.arm.restraint } else { 1.0 }
    }

    /// Returns the robot mode. On CB2 freedrive is a robot mode; on later generations only the control mode shows it.
    pub(crate) fn robot_mode(&self) -> RobotMode {
        let mode = self.robot.mode(self.now);
        let guided = self.firmware.generation() == Generation::Cb2 && self.arm.compliance.is_freedrive();
        if guided && mode == RobotMode::Running { RobotMode::Freedrive } else { mode }
    }

    /// Returns the controller's clock as messages contain it: ms on CB2, µs later.
    pub(crate) fn timestamp(&self) -> u64 {
        match self.firmware.generation() {
            Generation::Cb2 => self.controller_micros / 1000,
            _ => self.controller_micros,
        }
    }

    /// Returns the mode of the tool, consistent with the mode of the joints.
    pub(crate) fn tool_mode(&self) -> ToolMode {
        match self.robot.power {
            Power::Off => ToolMode::PowerOff,
            Power::SwitchingOn { .. } => ToolMode::Booting,
            Power::Idle | Power::Releasing { .. } => ToolMode::Idle,
            Power::Running => ToolMode::Running,
        }
    }

    /// Returns the joint torques that correspond to the joint currents \[Nm\].
    pub(crate) fn moments(&self) -> [f64; 6] {
        self.arm.torques()
    }

    /// Returns the simulated currents of the joints \[A\].
    pub(crate) fn currents(&self) -> [f64; 6] {
        self.arm.currents()
    }
}

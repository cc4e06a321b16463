//! The modes, states and message sources that the controller reports as numbers
//! (`core/docs/protocol/ur-client-interfaces.md 3.13`).

use super::Generation;
use super::wire_enum::wire_enum;

wire_enum! {
    /// The mode of one joint. Some numbers were renamed between generations; the newest name is used (240 was
    /// `EMERGENCY_STOPPED`, 247 `ADC_CALIBRATION`, 248 `DEAD_COMMUTATION`, 251 `STOPPED` on CB2).
    JointMode: i32 {
        Reset = 235 "RESET",
        ShuttingDown = 236 "SHUTTING_DOWN",
        PartDCalibration = 237 "PART_D_CALIBRATION",
        Backdrive = 238 "BACKDRIVE",
        PowerOff = 239 "POWER_OFF",
        ReadyForPowerOff = 240 "READY_FOR_POWER_OFF",
        CalvalInitialization = 241 "CALVAL_INITIALIZATION",
        Error = 242 "ERROR",
        Freedrive = 243 "FREEDRIVE",
        Simulated = 244 "SIMULATED",
        NotResponding = 245 "NOT_RESPONDING",
        MotorInitialisation = 246 "MOTOR_INITIALISATION",
        Booting = 247 "BOOTING",
        PartDCalibrationError = 248 "PART_D_CALIBRATION_ERROR",
        Bootloader = 249 "BOOTLOADER",
        Calibration = 250 "CALIBRATION",
        Violation = 251 "VIOLATION",
        Fault = 252 "FAULT",
        Running = 253 "RUNNING",
        Initialisation = 254 "INITIALISATION",
        Idle = 255 "IDLE",
    }
}

wire_enum! {
    /// The mode of the tool flange electronics.
    ToolMode: i32 {
        Reset = 235 "RESET",
        ShuttingDown = 236 "SHUTTING_DOWN",
        PowerOff = 239 "POWER_OFF",
        NotResponding = 245 "NOT_RESPONDING",
        Booting = 247 "BOOTING",
        Bootloader = 249 "BOOTLOADER",
        Fault = 252 "FAULT",
        Running = 253 "RUNNING",
        Idle = 255 "IDLE",
    }
}

wire_enum! {
    /// The control mode of the joints: position, teach, force or torque (3.0+).
    ControlMode: i32 {
        Position = 0 "POSITION",
        Teach = 1 "TEACH",
        Force = 2 "FORCE",
        Torque = 3 "TORQUE",
    }
}

wire_enum! {
    /// The safety mode (3.0+) and, with the same numbers, the safety status. 6 and 7 do not identify the button that
    /// was pressed, because the vendor's own documents contradict each other.
    SafetyMode: i32 {
        Normal = 1 "NORMAL",
        Reduced = 2 "REDUCED",
        ProtectiveStop = 3 "PROTECTIVE_STOP",
        Recovery = 4 "RECOVERY",
        SafeguardStop = 5 "SAFEGUARD_STOP",
        SystemEmergencyStop = 6 "SYSTEM_EMERGENCY_STOP",
        RobotEmergencyStop = 7 "ROBOT_EMERGENCY_STOP",
        Violation = 8 "VIOLATION",
        Fault = 9 "FAULT",
        ValidateJointId = 10 "VALIDATE_JOINT_ID",
        UndefinedSafetyMode = 11 "UNDEFINED_SAFETY_MODE",
        AutomaticModeSafeguardStop = 12 "AUTOMATIC_MODE_SAFEGUARD_STOP",
        SystemThreePositionEnablingStop = 13 "SYSTEM_THREE_POSITION_ENABLING_STOP",
        TpThreePositionEnablingStop = 14 "TP_THREE_POSITION_ENABLING_STOP",
        ImmiEmergencyStop = 15 "IMMI_EMERGENCY_STOP",
        ImmiSafeguardStop = 16 "IMMI_SAFEGUARD_STOP",
        ProfisafeWaitingForParameters = 17 "PROFISAFE_WAITING_FOR_PARAMETERS",
        ProfisafeAutomaticModeSafeguardStop = 18 "PROFISAFE_AUTOMATIC_MODE_SAFEGUARD_STOP",
        ProfisafeSafeguardStop = 19 "PROFISAFE_SAFEGUARD_STOP",
        ProfisafeEmergencyStop = 20 "PROFISAFE_EMERGENCY_STOP",
        SafetyApiSafeguardStop = 22 "SAFETY_API_SAFEGUARD_STOP",
        IoPlaneStop = 23 "IO_PLANE_STOP",
    }
}

wire_enum! {
    /// The safety state of a CB2 masterboard.
    MasterSafetyState: i32 {
        Undefined = 0 "UNDEFINED",
        Bootloader = 1 "BOOTLOADER",
        Fault = 2 "FAULT",
        Booting = 3 "BOOTING",
        Initializing = 4 "INITIALIZING",
        RobotEmergencyStop = 5 "ROBOT_EMERGENCY_STOP",
        ExternalEmergencyStop = 6 "EXTERNAL_EMERGENCY_STOP",
        SafeguardStop = 7 "SAFEGUARD_STOP",
        Ok = 8 "OK",
    }
}

wire_enum! {
    /// The power state of a CB2 masterboard.
    MasterOnOffState: i32 {
        Off = 0 "OFF",
        TurningOn = 1 "TURNING_ON",
        On = 2 "ON",
        TurningOff = 3 "TURNING_OFF",
    }
}

wire_enum! {
    /// The state of the controller's program, with the numbers of RTDE's `runtime_state`. It is unconfirmed that the
    /// real-time packet of port 30003 uses these numbers, so no decision is based on its program state alone.
    ProgramState: i32 {
        Stopping = 0 "STOPPING",
        Stopped = 1 "STOPPED",
        Playing = 2 "PLAYING",
        Pausing = 3 "PAUSING",
        Paused = 4 "PAUSED",
        Resuming = 5 "RESUMING",
    }
}

wire_enum! {
    /// The sender of a robot message (`core/docs/protocol/ur-client-interfaces.md 4.4`). The numbers of individual
    /// joints are `Unknown`.
    MessageSource: i8 {
        RobotInterface = -2 "ROBOT_INTERFACE",
        RtMachine = -3 "RTMACHINE",
        SimulatedRobot = -4 "SIMULATED_ROBOT",
        Gui = -5 "GUI",
        Controller = 7 "CONTROLLER",
        Rtde = 8 "RTDE",
        SafetyProcessorA = 20 "SAFETY_PROCESSOR_A",
        SafetyProcessorB = 30 "SAFETY_PROCESSOR_B",
        ScbFpga = 40 "SCB_FPGA",
    }
}

/// The robot mode. CB2 and later generations number different lists (0 is `RUNNING` on CB2 and `DISCONNECTED` later),
/// so the conversion needs the generation; the value does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RobotMode {
    /// The robot mode that the controller names `NO_CONTROLLER`.
    NoController,
    /// The robot mode that the controller names `RUNNING`.
    Running,
    /// The robot mode that the controller names `FREEDRIVE`.
    Freedrive,
    /// The robot mode that the controller names `READY`.
    Ready,
    /// The robot mode that the controller names `INITIALIZING`.
    Initializing,
    /// The robot mode that the controller names `SECURITY_STOPPED`.
    SecurityStopped,
    /// The robot mode that the controller names `EMERGENCY_STOPPED`.
    EmergencyStopped,
    /// The robot mode that the controller names `FATAL_ERROR`.
    FatalError,
    /// The robot mode that the controller names `NO_POWER`.
    NoPower,
    /// The robot mode that the controller names `NOT_CONNECTED`.
    NotConnected,
    /// The robot mode that the controller names `SHUTDOWN`.
    Shutdown,
    /// The robot mode that the controller names `SAFEGUARD_STOP`.
    SafeguardStop,
    /// The robot mode that the controller names `DISCONNECTED`.
    Disconnected,
    /// The robot mode that the controller names `CONFIRM_SAFETY`.
    ConfirmSafety,
    /// The robot mode that the controller names `BOOTING`.
    Booting,
    /// The robot mode that the controller names `POWER_OFF`.
    PowerOff,
    /// The robot mode that the controller names `POWER_ON`.
    PowerOn,
    /// The robot mode that the controller names `IDLE`.
    Idle,
    /// The robot mode that the controller names `BACKDRIVE`.
    Backdrive,
    /// The robot mode that the controller names `UPDATING_FIRMWARE`.
    UpdatingFirmware,
    /// A robot mode whose number has no name in this version of Outrigger.
    Unknown(i32),
}

impl RobotMode {
    /// The robot modes of CB2 (software 1.x) with their numbers.
    pub const CB2: &'static [(Self, i32)] = &[
        (Self::NoController, -1),
        (Self::Running, 0),
        (Self::Freedrive, 1),
        (Self::Ready, 2),
        (Self::Initializing, 3),
        (Self::SecurityStopped, 4),
        (Self::EmergencyStopped, 5),
        (Self::FatalError, 6),
        (Self::NoPower, 7),
        (Self::NotConnected, 8),
        (Self::Shutdown, 9),
        (Self::SafeguardStop, 10),
    ];

    /// The robot modes of CB3, e-Series and PolyScope X with their numbers.
    pub const CB3: &'static [(Self, i32)] = &[
        (Self::NoController, -1),
        (Self::Disconnected, 0),
        (Self::ConfirmSafety, 1),
        (Self::Booting, 2),
        (Self::PowerOff, 3),
        (Self::PowerOn, 4),
        (Self::Idle, 5),
        (Self::Backdrive, 6),
        (Self::Running, 7),
        (Self::UpdatingFirmware, 8),
    ];

    /// Returns the robot mode that this generation of controllers transmits as `raw`.
    #[must_use]
    pub const fn from_raw(generation: Generation, raw: i32) -> Self {
        match generation {
            Generation::Cb2 => match raw {
                -1 => Self::NoController,
                0 => Self::Running,
                1 => Self::Freedrive,
                2 => Self::Ready,
                3 => Self::Initializing,
                4 => Self::SecurityStopped,
                5 => Self::EmergencyStopped,
                6 => Self::FatalError,
                7 => Self::NoPower,
                8 => Self::NotConnected,
                9 => Self::Shutdown,
                10 => Self::SafeguardStop,
                other => Self::Unknown(other),
            },
            Generation::Cb3 | Generation::ESeries | Generation::PolyScopeX => match raw {
                -1 => Self::NoController,
                0 => Self::Disconnected,
                1 => Self::ConfirmSafety,
                2 => Self::Booting,
                3 => Self::PowerOff,
                4 => Self::PowerOn,
                5 => Self::Idle,
                6 => Self::Backdrive,
                7 => Self::Running,
                8 => Self::UpdatingFirmware,
                other => Self::Unknown(other),
            },
        }
    }

    /// Returns the number of the robot mode on the wire; `None` if this generation does not have the mode.
    #[must_use]
    pub fn raw(self, generation: Generation) -> Option<i32> {
        if let Self::Unknown(raw) = self {
            return Some(raw);
        }
        let list = if matches!(generation, Generation::Cb2) { Self::CB2 } else { Self::CB3 };
        list.iter().find(|(mode, _)| *mode == self).map(|(_, raw)| *raw)
    }

    /// Returns the controller's own name of the robot mode; `None` for a number without one. Displaying the value shows
    /// that number.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::NoController => "NO_CONTROLLER",
            Self::Running => "RUNNING",
            Self::Freedrive => "FREEDRIVE",
            Self::Ready => "READY",
            Self::Initializing => "INITIALIZING",
            Self::SecurityStopped => "SECURITY_STOPPED",
            Self::EmergencyStopped => "EMERGENCY_STOPPED",
            Self::FatalError => "FATAL_ERROR",
            Self::NoPower => "NO_POWER",
            Self::NotConnected => "NOT_CONNECTED",
            Self::Shutdown => "SHUTDOWN",
            Self::SafeguardStop => "SAFEGUARD_STOP",
            Self::Disconnected => "DISCONNECTED",
            Self::ConfirmSafety => "CONFIRM_SAFETY",
            Self::Booting => "BOOTING",
            Self::PowerOff => "POWER_OFF",
            Self::PowerOn => "POWER_ON",
            Self::Idle => "IDLE",
            Self::Backdrive => "BACKDRIVE",
            Self::UpdatingFirmware => "UPDATING_FIRMWARE",
            Self::Unknown(_) => return None,
        })
    }
}

impl core::fmt::Display for RobotMode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self::Unknown(raw) = self else { return f.pad(self.name().unwrap_or_default()) };
        write!(f, "UNKNOWN {raw}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_means_running_on_cb2_and_disconnected_later() {
        assert_eq!(RobotMode::from_raw(Generation::Cb2, 0), RobotMode::Running);
        assert_eq!(RobotMode::from_raw(Generation::Cb3, 0), RobotMode::Disconnected);
        assert_eq!(RobotMode::Running.raw(Generation::Cb2), Some(0));
        assert_eq!(RobotMode::Running.raw(Generation::ESeries), Some(7));
        assert_eq!(RobotMode::NoPower.raw(Generation::Cb3), None);
    }

    #[test]
    fn unknown_numbers_round_trip() {
        for raw in -300..300 {
            assert_eq!(SafetyMode::from_raw(raw).raw(), raw);
            assert_eq!(JointMode::from_raw(raw).raw(), raw);
            for generation in [Generation::Cb2, Generation::Cb3] {
                assert_eq!(RobotMode::from_raw(generation, raw).raw(generation), Some(raw));
            }
        }
    }
}

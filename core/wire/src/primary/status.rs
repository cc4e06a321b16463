//! Sub-packages about the robot's state: robot mode (0), joints (1), Cartesian pose (4), force mode (7), buttons (8),
//! calibration forces (9), safety (10) and singularity (13). `core/docs/protocol/ur-client-interfaces.md 3.2–3.11`.

use super::package::sub_package;
use crate::layout::{Flag, record, total};
use crate::robot::{ControlMode, ControllerTime, Generation, JointMode, RobotMode};
use zerocopy::big_endian::{F32, F64, U32, U64};

sub_package! {
    type 0;
    /// The sub-package of robot mode data: 29 B on CB2, 38 B on 3.0 and 3.1, 46 B on 3.2 to 3.4, 47 B after.
    view RobotModeData;
    /// The values of [`RobotModeData`] in host order.
    repr RobotModeDataRepr;
    size size;

    block head: RobotModeHead at 5; {
         5 timestamp: U64, "ms on CB2, µs after", "Time since the controller was started";
        13 is_robot_connected: Flag, "–", "Whether the arm is connected";
        14 is_real_robot_enabled: Flag, "–", "Whether it is a real arm, not the controller's own simulation";
        15 is_power_on_robot: Flag, "–", "Whether the arm has power";
        16 is_emergency_stopped: Flag, "–", "Whether an emergency stop is active";
    }
    block security: RobotModeSecurity at 17 when size < 38; {
        17 is_security_stopped: Flag, "–", "CB2: whether a security stop is active";
    }
    block protective: RobotModeProtective at 17 when size >= 38; {
        17 is_protective_stopped: Flag, "–", "Whether a protective stop is active";
    }
    block program: RobotModeProgram at 18; {
        18 is_program_running: Flag, "–", "Whether a program runs";
        19 is_program_paused: Flag, "–", "Whether the program is paused";
        20 robot_mode: u8, "–", "Robot mode, numbered by generation; 255 is −1";
    }
    block speed: RobotModeSpeed at 21 when size < 38; {
        21 speed_fraction: F64, "0…1", "CB2: speed slider";
    }
    block scaling: RobotModeScaling at 21 when size >= 38; {
        21 control_mode: u8, "–", "Control mode";
        22 target_speed_fraction: F64, "0…1", "Speed slider";
        30 speed_scaling: F64, "0…1", "Scaling in force; 0 while no program moves the arm";
    }
    tail RobotModeTail at 38; {
        38 target_speed_fraction_limit: F64, "0…1", "Upper limit of the speed slider";
        46 reserved: u8, "–", "Internal to the vendor";
    }
}

total! {
    29 = 5 + RobotModeHead + RobotModeSecurity + RobotModeProgram + RobotModeSpeed;
    38 = 5 + RobotModeHead + RobotModeProtective + RobotModeProgram + RobotModeScaling;
    47 = 38 + RobotModeTail;
}

impl RobotModeData<'_> {
    /// Returns the controller's clock: the time since the controller was started.
    #[must_use]
    pub fn controller_time(&self) -> ControllerTime {
        let micros_per_tick = if self.size < 38 { 1_000 } else { 1 };
        ControllerTime::from_micros(self.timestamp().saturating_mul(micros_per_tick))
    }

    /// Returns the robot mode by name. The size selects the list of names, because only CB2 sends 29 bytes.
    #[must_use]
    pub fn named_robot_mode(&self) -> RobotMode {
        let generation = if self.size < 38 { Generation::Cb2 } else { Generation::Cb3 };
        RobotMode::from_raw(generation, self.robot_mode().cast_signed().into())
    }

    /// Returns the control mode of the joints by name; `None` on CB2.
    #[must_use]
    pub fn named_control_mode(&self) -> Option<ControlMode> {
        self.control_mode().map(|mode| ControlMode::from_raw(mode.into()))
    }

    /// Returns whether a protective stop of the arm (CB2: a security stop) is active.
    #[must_use]
    pub fn protective_stop(&self) -> bool {
        self.is_protective_stopped().or_else(|| self.is_security_stopped()).unwrap_or(false)
    }
}

record! {
    JointRecord, 41 bytes;
    /// The values of one joint in [`JointData`], in host order.
    Joint;
     0 q_actual: F64, "rad", "Actual position";
     8 q_target: F64, "rad", "Target position";
    16 qd_actual: F64, "rad/s", "Actual velocity";
    24 i_actual: F32, "A", "Actual current";
    28 v_actual: F32, "V", "Actual voltage; 0 in the vendor's simulation";
    32 t_motor: F32, "°C", "Motor temperature";
    36 t_micro: F32, "°C", "Obsolete since CB3";
    40 joint_mode: u8, "–", "Joint mode";
}

impl Joint {
    /// Returns the mode of the joint by name.
    #[must_use]
    pub const fn named_mode(&self) -> JointMode {
        JointMode::from_raw(self.joint_mode as i32)
    }
}

sub_package! {
    type 1;
    /// The sub-package of joint data: positions, velocities, currents and modes of all joints; 251 B in every version.
    view JointData;
    /// The values of [`JointData`] in host order.
    repr JointDataRepr;
    size size;

    block all: JointRecords at 5; {
        5 joints: [JointRecord; 6], "–", "Base, shoulder, elbow, wrist 1, wrist 2, wrist 3";
    }
}

total! {
    251 = 5 + JointRecords;
}

sub_package! {
    type 4;
    /// The sub-package of Cartesian info: 53 B up to software 3.0, 101 B after. The pose is the measured one.
    view CartesianInfo;
    /// The values of [`CartesianInfo`] in host order.
    repr CartesianInfoRepr;
    size size;

    block tcp: CartesianTcp at 5; {
         5 x: F64, "m", "Position of the TCP in the base frame";
        13 y: F64, "m", "Position of the TCP in the base frame";
        21 z: F64, "m", "Position of the TCP in the base frame";
        29 rx: F64, "rad", "Rotation vector of the TCP";
        37 ry: F64, "rad", "Rotation vector of the TCP";
        45 rz: F64, "rad", "Rotation vector of the TCP";
    }
    tail CartesianTail at 53; {
        53 tcp_offset_x: F64, "m", "Position of the TCP in the flange frame";
        61 tcp_offset_y: F64, "m", "Position of the TCP in the flange frame";
        69 tcp_offset_z: F64, "m", "Position of the TCP in the flange frame";
        77 tcp_offset_rx: F64, "rad", "Rotation vector of the TCP in the flange frame";
        85 tcp_offset_ry: F64, "rad", "Rotation vector of the TCP in the flange frame";
        93 tcp_offset_rz: F64, "rad", "Rotation vector of the TCP in the flange frame";
    }
}

total! {
    53 = 5 + CartesianTcp;
    101 = 53 + CartesianTail;
}

impl CartesianInfo<'_> {
    /// Returns the measured TCP pose x, y, z \[m\], rx, ry, rz \[rad\].
    #[must_use]
    pub fn pose(&self) -> [f64; 6] {
        [self.x(), self.y(), self.z(), self.rx(), self.ry(), self.rz()]
    }

    /// Returns the pose of the TCP in the flange frame, x, y, z \[m\], rx, ry, rz \[rad\]; `None` before software 3.1.
    #[must_use]
    pub fn tcp_offset(&self) -> Option<[f64; 6]> {
        Some([
            self.tcp_offset_x()?,
            self.tcp_offset_y()?,
            self.tcp_offset_z()?,
            self.tcp_offset_rx()?,
            self.tcp_offset_ry()?,
            self.tcp_offset_rz()?,
        ])
    }
}

impl CartesianInfoRepr {
    /// Returns the Cartesian info of a measured TCP pose in the base frame and a TCP offset, which is the pose of the
    /// TCP in the flange frame. Both are x, y, z \[m\], rx, ry, rz \[rad\].
    #[must_use]
    pub const fn new(pose: [f64; 6], tcp_offset: [f64; 6]) -> Self {
        let [x, y, z, rx, ry, rz] = pose;
        let [tcp_offset_x, tcp_offset_y, tcp_offset_z, tcp_offset_rx, tcp_offset_ry, tcp_offset_rz] = tcp_offset;
        Self {
            x,
            y,
            z,
            rx,
            ry,
            rz,
            tcp_offset_x,
            tcp_offset_y,
            tcp_offset_z,
            tcp_offset_rx,
            tcp_offset_ry,
            tcp_offset_rz,
        }
    }
}

sub_package! {
    type 7;
    /// The sub-package of force mode data: force and torque in the force-mode frame, 61 B.
    view ForceModeData;
    /// The values of [`ForceModeData`] in host order.
    repr ForceModeDataRepr;
    size size;

    block force: ForceMode at 5; {
         5 fx: F64, "N", "Force in the force-mode frame; zero while force mode is off";
        13 fy: F64, "N", "Force in the force-mode frame";
        21 fz: F64, "N", "Force in the force-mode frame";
        29 frx: F64, "Nm", "Torque in the force-mode frame";
        37 fry: F64, "Nm", "Torque in the force-mode frame";
        45 frz: F64, "Nm", "Torque in the force-mode frame";
        53 robot_dexterity: F64, "–", "Dexterity at the TCP, also without force mode";
    }
}

total! {
    61 = 5 + ForceMode;
}

sub_package! {
    type 8;
    /// The sub-package of additional info, about the pendant's button and freedrive: 10 B up to early releases of 1.8, 7 B
    /// from later ones up to 3.1, 8 B on 3.2 to 3.4, 9 B after.
    view AdditionalInfo;
    /// The values of [`AdditionalInfo`] in host order.
    repr AdditionalInfoRepr;
    size size;

    block old: AdditionalOld at 5 when size == 10; {
        5 ctrl_bits: U32, "–", "Old CB2: control bits";
        9 teach_button: u8, "–", "Old CB2: teach button";
    }
    block teach: AdditionalTeach at 5 when size < 9; {
        5 teach_button_pressed: u8, "–", "1.8 to 3.4: teach button pressed";
        6 teach_button_enabled: u8, "–", "1.8 to 3.4: teach button enabled";
    }
    block freedrive: AdditionalFreedrive at 5 when size == 9 || size > 10; {
        5 tp_button_state: u8, "–", "State of the pendant's button";
        6 freedrive_button_enabled: u8, "–", "Freedrive button enabled";
    }
    tail AdditionalTail at 7; {
        7 io_enabled_freedrive: u8, "–", "Freedrive enabled by an input";
        8 reserved: u8, "–", "Internal to the vendor; 1 in recordings";
    }
}

total! {
    10 = 5 + AdditionalOld;
    7 = 5 + AdditionalTeach;
    9 = 5 + AdditionalFreedrive + AdditionalTail;
}

sub_package! {
    type 9;
    /// The sub-package of calibration data, 53 B, internal to the vendor.
    view CalibrationData;
    /// The values of [`CalibrationData`] in host order.
    repr CalibrationDataRepr;
    size size;

    block force: CalibrationForce at 5; {
         5 fx: F64, "N (unconfirmed)", "Force";
        13 fy: F64, "N (unconfirmed)", "Force";
        21 fz: F64, "N (unconfirmed)", "Force";
        29 frx: F64, "Nm (unconfirmed)", "Torque";
        37 fry: F64, "Nm (unconfirmed)", "Torque";
        45 frz: F64, "Nm (unconfirmed)", "Torque";
    }
}

total! {
    53 = 5 + CalibrationForce;
}

sub_package! {
    type 10;
    /// The sub-package of safety data, such as the elbow position; internal to the vendor, derived from recordings. It
    /// has 41 B on software 3.5.3 and 5.0.5, 43 B after. Stated offsets are those of 43 B; in 41 B the two flags are
    /// missing and the fields behind them are two bytes earlier.
    view SafetyData;
    /// The values of [`SafetyData`] in host order.
    repr SafetyDataRepr;
    size size;

    block sum: SafetyChecksum at 5; {
        5 safety_checksum: U32, "–", "Checksum of the safety configuration";
    }
    block marks: SafetyFlags at 9 when size >= 43; {
        9 flags: [u8; 2], "–", "Unknown; 0, 0 on CB3 and 1, 1 in the vendor's simulation of 5.8";
    }
    block elbow: SafetyElbow at 11; {
        11 elbow_position: [F64; 3], "m", "Elbow position";
        35 unknown: F64, "m (unconfirmed)", "0.0 on CB3, 0.13 in the vendor's simulation of 5.8";
    }
}

total! {
    41 = 5 + SafetyChecksum + SafetyElbow;
    43 = 5 + SafetyChecksum + SafetyFlags + SafetyElbow;
}

sub_package! {
    type 13;
    /// The sub-package about singularities of the arm, 7 B, documented from 5.9, internal to the vendor.
    view SingularityInfo;
    /// The values of [`SingularityInfo`] in host order.
    repr SingularityInfoRepr;
    size size;

    block all: Singularity at 5; {
        5 singularity_severity: u8, "–", "Severity";
        6 singularity_type: u8, "–", "Type";
    }
}

total! {
    7 = 5 + Singularity;
}

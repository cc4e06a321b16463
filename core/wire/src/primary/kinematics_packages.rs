//! Sub-packages about the arm's geometry and limits: kinematics info (5) and configuration data (6), sent in the
//! first state message and when they change. `core/docs/protocol/ur-client-interfaces.md 3.7, 3.8`.

use super::package::sub_package;
use crate::layout::{record, total};
use zerocopy::big_endian::{F64, I16, I32, U32};

sub_package! {
    type 5;
    /// The sub-package of kinematics info, the arm's Denavit–Hartenberg parameters: 225 B from software 3.0 on; 9 B on
    /// an e-Series that reports only the calibration status, at offset 5; 29 B with another meaning up to 1.5.
    view KinematicsInfo;
    /// The values of [`KinematicsInfo`] in host order.
    repr KinematicsInfoRepr;
    size size;

    block legacy_form: KinematicsLegacy at 5 when (29..225).contains(&size); {
        5 legacy: [F64; 3], "–", "Up to 1.5: 1000.0 three times in the one recording";
    }
    block parameters: KinematicsParameters at 5 when size >= 225; {
          5 checksum: [U32; 6], "–", "Checksums of the calibration; all ones where the arm is not calibrated";
         29 dh_theta: [F64; 6], "rad", "Denavit–Hartenberg theta";
         77 dh_a: [F64; 6], "m", "Denavit–Hartenberg a";
        125 dh_d: [F64; 6], "m", "Denavit–Hartenberg d";
        173 dh_alpha: [F64; 6], "rad", "Denavit–Hartenberg alpha";
    }
    block status: KinematicsStatus at 221 when !(29..225).contains(&size); {
        221 calibration_status: U32, "–", "Calibration status";
    }
}

total! {
    9 = 5 + KinematicsStatus;
    29 = 5 + KinematicsLegacy;
    225 = 5 + KinematicsParameters + KinematicsStatus;
}

record! {
    LimitsRecord, 16 bytes;
    /// The configured position range of one joint.
    JointLimits;
    0 joint_min_limit: F64, "rad", "Smallest position";
    8 joint_max_limit: F64, "rad", "Largest position";
}

record! {
    DynamicsRecord, 16 bytes;
    /// The configured highest speed and acceleration of one joint.
    JointDynamics;
    0 joint_max_speed: F64, "rad/s", "Highest speed";
    8 joint_max_acceleration: F64, "rad/s²", "Highest acceleration";
}

sub_package! {
    type 6;
    /// The sub-package of configuration data: 469 B on software 1.8, 445 B from 3.0 on, 447 or 449 B with the reserved
    /// fields that were appended.
    view ConfigurationData;
    /// The values of [`ConfigurationData`]. The order of the Denavit–Hartenberg parameters here is a, d, alpha, theta;
    /// in [`KinematicsInfo`] it is theta, a, d, alpha.
    repr ConfigurationDataRepr;
    size size;

    block base: Configuration at 5; {
          5 joint_limits: [LimitsRecord; 6], "rad", "Position ranges";
        101 joint_dynamics: [DynamicsRecord; 6], "rad/s, rad/s²", "Highest speeds and accelerations";
        197 v_joint_default: F64, "rad/s", "Default joint speed";
        205 a_joint_default: F64, "rad/s²", "Default joint acceleration";
        213 v_tool_default: F64, "m/s", "Default tool speed";
        221 a_tool_default: F64, "m/s²", "Default tool acceleration";
        229 eq_radius: F64, "m", "Characteristic size of the tool";
        237 dh_a: [F64; 6], "m", "Denavit–Hartenberg a";
        285 dh_d: [F64; 6], "m", "Denavit–Hartenberg d";
        333 dh_alpha: [F64; 6], "rad", "Denavit–Hartenberg alpha";
        381 dh_theta: [F64; 6], "rad", "Denavit–Hartenberg theta";
        429 masterboard_version: I32, "–", "Version of the masterboard";
        433 controller_box_type: I32, "–", "Type of the controller box";
        437 robot_type: I32, "–", "1 UR5, 2 UR10, 3 UR3, 4 UR16, 5 UR18, 6 UR8LONG, 7 UR20, 8 UR30, 9 UR15";
        441 robot_sub_type: I32, "–", "Sub-type; 3 on an e-Series UR5";
    }
    block motors: ConfigurationMotors at 445 when size >= 469; {
        445 motor_type: [I32; 6], "–", "1.8: motor types";
    }
    block first: ConfigurationFirst at 445 when (447..469).contains(&size); {
        445 reserved_445: I16, "–", "Newest e-Series: internal to the vendor";
    }
    block second: ConfigurationSecond at 447 when (449..469).contains(&size); {
        447 reserved_447: I16, "–", "Newest e-Series: internal to the vendor";
    }
}

total! {
    445 = 5 + Configuration;
    447 = 445 + ConfigurationFirst;
    449 = 447 + ConfigurationSecond;
    469 = 445 + ConfigurationMotors;
}

//! The arm models: link lengths, limits, and the first software version of each.
//!
//! Lengths are the vendor's nominal values as published in the `default_kinematics` files of its ROS description
//! (ur3 … ur30; ur7e and ur12e share the mechanics of ur5e and ur10e). ur8long, ur15 and ur18 are too new for
//! the copy that was read: their lengths add up to the published reach, but have only that one check.

use outrigger_wire::robot::{RobotModel, SoftwareVersion};

/// Lengths that define the chain \[m\], named as in the Denavit-Hartenberg tables. `a2` and `a3` are negative:
/// at zero the arm lies along −x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// Distance from the arm's base to its shoulder, along z \[m\].
    pub d1: f64,
    /// Length of the upper arm \[m\]; negative.
    pub a2: f64,
    /// Length of the forearm \[m\]; negative.
    pub a3: f64,
    /// Offset of wrist 1, perpendicular to the plane of upper arm and forearm \[m\].
    pub d4: f64,
    /// Offset of the arm's wrist 2 \[m\].
    pub d5: f64,
    /// Distance from wrist 3 to the flange \[m\].
    pub d6: f64,
}

/// The geometry and limits of one arm model.
#[derive(Clone, Copy, Debug)]
pub struct ArmModel {
    /// The name of the arm model.
    pub model: RobotModel,
    /// The lengths of the arm's links.
    pub lengths: Lengths,
    /// Nominal speed of each joint \[deg/s\].
    nominal_speed_deg: [f64; 6],
    /// Number of the arm model in configuration data (`robotType`, core/docs/protocol/ur-client-interfaces.md 3.8).
    pub robot_type: i32,
    /// Number of the arm's variant in configuration data (`robotSubType`); 3 was recorded for a UR5e.
    pub robot_sub_type: i32,
    /// The first and the last software of each generation that supports the arm.
    software: &'static [(SoftwareVersion, SoftwareVersion)],
}

/// The range of a joint, ± \[rad\]: one turn and 3° (recorded in configuration data of software 5.8). The value that
/// a real controller publishes for a joint without end stops is not known; the simulated configuration data have this
/// range for it as well.
pub const POSITION_LIMIT: f64 = std::f64::consts::TAU + 3.0 * std::f64::consts::PI / 180.0;
/// The amount by which the controller's speed limit exceeds the nominal speed of a joint \[rad/s\] (recorded in
/// configuration data of software 5.8: 3.3416 for 180°/s).
const SPEED_MARGIN: f64 = 0.2;
/// Largest joint acceleration the controller plans \[rad/s²\] (recorded in configuration data of software 5.8).
pub const ACCELERATION_LIMIT: f64 = 40.0;

const V1_6: SoftwareVersion = SoftwareVersion::new(1, 6);
const V1_5: SoftwareVersion = SoftwareVersion::new(1, 5);
const V1_8: SoftwareVersion = SoftwareVersion::new(1, 8);
const V3_0: SoftwareVersion = SoftwareVersion::new(3, 0);
const V3_1: SoftwareVersion = SoftwareVersion::new(3, 1);
const V3_15: SoftwareVersion = SoftwareVersion::new(3, 15);
const V5_0: SoftwareVersion = SoftwareVersion::new(5, 0);
const V5_4: SoftwareVersion = SoftwareVersion::new(5, 4);
const V5_14: SoftwareVersion = SoftwareVersion::new(5, 14);
const V5_15: SoftwareVersion = SoftwareVersion::new(5, 15);
const V5_22: SoftwareVersion = SoftwareVersion::new(5, 22);
const V5_23: SoftwareVersion = SoftwareVersion::new(5, 23);
const V5_25: SoftwareVersion = SoftwareVersion::new(5, 25);
/// The range of PolyScope X versions that is assumed for every arm. The first release of it that supports each arm is
/// not known.
const X: (SoftwareVersion, SoftwareVersion) = (SoftwareVersion::new(10, 0), SoftwareVersion::new(10, 12));

const UR5E: Lengths = Lengths { d1: 0.1625, a2: -0.425, a3: -0.3922, d4: 0.1333, d5: 0.0997, d6: 0.0996 };
const UR10E: Lengths = Lengths { d1: 0.1807, a2: -0.6127, a3: -0.57155, d4: 0.17415, d5: 0.11985, d6: 0.11655 };

/// Nominal speeds of an arm with 180°/s on every joint \[deg/s\].
const EVEN: [f64; 6] = [180.0; 6];
/// Nominal joint speeds of small arms \[deg/s\]: fast wrists.
const SMALL: [f64; 6] = [180.0, 180.0, 180.0, 360.0, 360.0, 360.0];
/// Nominal joint speeds of large arms \[deg/s\]: slow base and shoulder.
const LARGE: [f64; 6] = [120.0, 120.0, 180.0, 180.0, 180.0, 180.0];
/// Nominal joint speeds of the arms of the 20 kg class and its relatives \[deg/s\].
const HEAVY: [f64; 6] = [120.0, 120.0, 150.0, 210.0, 210.0, 210.0];

impl ArmModel {
    /// Returns the geometry and the limits of the arm model `model`.
    #[must_use]
    pub fn of(model: RobotModel) -> Self {
        let row = |lengths, nominal_speed_deg, robot_type, robot_sub_type, software| Self {
            model,
            lengths,
            nominal_speed_deg,
            robot_type,
            robot_sub_type,
            software,
        };
        let len = |d1, a2, a3, d4, d5, d6| Lengths { d1, a2, a3, d4, d5, d6 };
        match model {
            RobotModel::Ur3 => {
                row(len(0.1519, -0.24365, -0.21325, 0.11235, 0.08535, 0.0819), SMALL, 3, 2, &[(V3_1, V3_15)])
            }
            RobotModel::Ur5 => row(
                len(0.089159, -0.425, -0.39225, 0.10915, 0.09465, 0.0823),
                EVEN,
                1,
                2,
                &[(V1_5, V1_8), (V3_0, V3_15)],
            ),
            RobotModel::Ur10 => {
                row(len(0.1273, -0.612, -0.5723, 0.163941, 0.1157, 0.0922), LARGE, 2, 2, &[(V1_6, V1_8), (V3_0, V3_15)])
            }
            RobotModel::Ur3e => {
                row(len(0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921), SMALL, 3, 3, &[(V5_0, V5_25), X])
            }
            RobotModel::Ur5e => row(UR5E, EVEN, 1, 3, &[(V5_0, V5_25), X]),
            RobotModel::Ur7e => row(UR5E, EVEN, 1, 4, &[(V5_22, V5_25), X]),
            RobotModel::Ur10e => row(UR10E, LARGE, 2, 3, &[(V5_0, V5_25), X]),
            RobotModel::Ur12e => row(UR10E, LARGE, 2, 4, &[(V5_22, V5_25), X]),
            RobotModel::Ur16e => {
                row(len(0.1807, -0.4784, -0.36, 0.17415, 0.11985, 0.11655), LARGE, 4, 3, &[(V5_4, V5_25), X])
            }
            RobotModel::Ur8Long => {
                row(len(0.2186, -0.8989, -0.7149, 0.1824, 0.1361, 0.1434), HEAVY, 6, 3, &[(V5_23, V5_25), X])
            }
            RobotModel::Ur15 => {
                row(len(0.2186, -0.6475, -0.5164, 0.1824, 0.1361, 0.1434), HEAVY, 9, 3, &[(V5_22, V5_25), X])
            }
            RobotModel::Ur18 => {
                row(len(0.2186, -0.475, -0.3389, 0.1824, 0.1361, 0.1434), HEAVY, 5, 3, &[(V5_23, V5_25), X])
            }
            RobotModel::Ur20 => {
                row(len(0.2363, -0.862, -0.7287, 0.201, 0.1593, 0.1543), HEAVY, 7, 3, &[(V5_14, V5_25), X])
            }
            RobotModel::Ur30 => {
                row(len(0.2363, -0.637, -0.5037, 0.201, 0.1593, 0.1543), HEAVY, 8, 3, &[(V5_15, V5_25), X])
            }
        }
    }

    /// Returns the highest joint speeds that the controller tolerates \[rad/s\].
    #[must_use]
    pub fn speed_limits(&self) -> [f64; 6] {
        self.nominal_speed_deg.map(|deg| deg.to_radians() + SPEED_MARGIN)
    }

    /// Returns the joint ranges, ± \[rad\]; infinite for wrist 3 of UR3 and UR3e, which by the data sheets turns
    /// without end. A recording of a UR3e has it at 12.628 rad.
    #[must_use]
    pub fn position_limits(&self) -> [f64; 6] {
        let mut limits = [POSITION_LIMIT; 6];
        if matches!(self.model, RobotModel::Ur3 | RobotModel::Ur3e) {
            limits[5] = f64::INFINITY;
        }
        limits
    }

    /// Returns the name that the dashboard uses for the arm: in capitals, without a trailing `e`.
    #[must_use]
    pub fn dashboard_name(&self) -> String {
        self.model.name().trim_end_matches('e').to_uppercase()
    }

    /// Checks that this arm existed with `software`. The error lists the ranges of software that it existed with.
    pub fn runs(&self, software: SoftwareVersion) -> Result<(), UnknownPairing> {
        let (major, minor) = (software.major, software.minor);
        let known = self.software.iter().any(|(first, last)| {
            (first.major, first.minor) <= (major, minor) && (major, minor) <= (last.major, last.minor)
        });
        if known { Ok(()) } else { Err(UnknownPairing { model: self.model, software, ranges: self.software }) }
    }
}

/// An error: the arm was combined with software that never supported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPairing {
    /// The arm model that was requested.
    pub model: RobotModel,
    /// The software version that was requested.
    pub software: SoftwareVersion,
    /// The ranges of software that support the arm: the first and the last of each generation.
    pub ranges: &'static [(SoftwareVersion, SoftwareVersion)],
}

impl std::fmt::Display for UnknownPairing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let SoftwareVersion { major, minor, .. } = self.software;
        write!(f, "{} has no software {major}.{minor}: simulated are", self.model.name())?;
        for (at, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma} {}.{} to {}.{}", first.major, first.minor, last.major, last.minor)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownPairing {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_arm_runs_only_on_the_software_it_existed_with() {
        let runs = |model, major, minor| ArmModel::of(model).runs(SoftwareVersion::new(major, minor)).is_ok();
        assert!(runs(RobotModel::Ur5, 1, 8) && runs(RobotModel::Ur5, 3, 15) && !runs(RobotModel::Ur5, 5, 0));
        assert!(runs(RobotModel::Ur5e, 5, 25) && !runs(RobotModel::Ur5e, 3, 15));
        assert!(!runs(RobotModel::Ur3, 1, 8) && !runs(RobotModel::Ur20, 5, 13) && runs(RobotModel::Ur20, 5, 14));
        assert!(!runs(RobotModel::Ur5, 2, 0), "there never was a 2.0");
        assert!(runs(RobotModel::Ur5e, 10, 11) && !runs(RobotModel::Ur5, 10, 11) && !runs(RobotModel::Ur5e, 9, 0));
    }

    #[test]
    fn a_wrong_pairing_says_what_there_is() {
        let error = ArmModel::of(RobotModel::Ur5).runs(SoftwareVersion::new(5, 15)).unwrap_err();
        assert_eq!(error.to_string(), "ur5 has no software 5.15: simulated are 1.5 to 1.8, 3.0 to 3.15");
    }

    #[test]
    fn speed_limits_match_the_recorded_configuration_of_a_ur5e() {
        let [base, ..] = ArmModel::of(RobotModel::Ur5e).speed_limits();
        assert!((base - 3.341_593).abs() < 1e-6);
        assert!((POSITION_LIMIT - 6.335_545).abs() < 1e-6);
    }
}

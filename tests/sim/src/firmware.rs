//! The differences between software versions (`core/docs/protocol/ur-client-interfaces.md 3.1, 4.2, 5.4–5.6, 6`): one
//! method per capability, decided by the whole version. Where the exact release is not known, the comment names the
//! assumption.

use std::time::Duration;

use outrigger_wire::robot::{Generation, SoftwareVersion};
use outrigger_wire::rtde;

/// The motion of the arm after the end of a program that moved it by `speedj`
/// (core/docs/protocol/ur-client-interfaces.md 5.4). From software 3.3 on, it applies only if the call had a time `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterT {
    /// The arm keeps its velocity until the next command or a limit (reported for CB2, 3.0 and 3.1).
    KeepsMoving,
    /// The arm comes to rest (reported from software 3.5).
    Stops,
}

/// The reaction of an e-Series controller in local mode to text from a client
/// (core/docs/protocol/ur-client-interfaces.md 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalMode {
    /// The controller ignores the text without a reply (reports of 2019–2021).
    Silent,
    /// The controller closes all connections to 30002 when text arrives on one of them (other reports of those years).
    DropsSecondary,
    /// The controller closes 30001 and 30002 when control switches to local, and answers text with error code 210.
    Code210,
}

/// The meaning of the third argument of `speedj`, its time `t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeedJTime {
    /// The time is required; the call returns when it has passed *and* the speed is reached (1.x, 3.0).
    Minimum,
    /// The time is optional: with it, the call returns when it has passed; without it, when the speed is reached (3.1
    /// on).
    Optional,
}

/// The capabilities of one version of the controller's software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firmware(pub SoftwareVersion);

impl Firmware {
    /// Returns the generation of controllers that this software belongs to.
    #[must_use]
    pub fn generation(self) -> Generation {
        self.0.generation()
    }

    fn at_least(self, major: u8, minor: u8) -> bool {
        self.0.at_least(major, minor)
    }

    /// Returns the control period: 8 ms up to CB3, 2 ms on e-Series.
    #[must_use]
    pub fn period(self) -> Duration {
        Duration::from_micros(self.generation().period_micros())
    }

    /// Returns the time before a control cycle by which a program's text must have arrived to run in that cycle. 8 ms
    /// controllers were measured to run text that arrives within 3 ms of a state
    /// (core/docs/protocol/ur-client-interfaces.md 2.6); for e-Series the same share of the cycle is assumed.
    #[must_use]
    pub fn intake(self) -> Duration {
        self.period() * 5 / 8
    }

    /// Returns whether 30011, 30012 and 30013 exist: known from 3.10. Earlier releases are unconfirmed; here their
    /// ports refuse connections.
    #[must_use]
    pub fn read_only_ports(self) -> bool {
        self.at_least(3, 10)
    }

    /// Returns whether programs have interpreter mode and 30020 exists
    /// (`core/docs/protocol/ur-external-control.md 3`). For PolyScope X this is assumed.
    #[must_use]
    pub fn interpreter_mode(self) -> bool {
        self.at_least(5, 10)
    }

    /// Returns whether RTDE, port 30004, exists (`core/docs/protocol/ur-rtde.md 1`).
    #[must_use]
    pub fn rtde(self) -> bool {
        self.at_least(3, 4)
    }

    /// Returns the largest length of the variable names of one RTDE recipe \[bytes\]: 2048 by the vendor's RTDE guide;
    /// from 5.10 on, as much as one package holds (`core/docs/protocol/ur-rtde.md 2`).
    #[must_use]
    pub fn rtde_names(self) -> usize {
        if self.at_least(5, 10) { rtde::MAX_SIZE } else { rtde::MAX_NAMES }
    }

    /// Returns whether port 30002 opens with the version message (from software 3.1).
    #[must_use]
    pub fn version_on_secondary(self) -> bool {
        self.at_least(3, 1)
    }

    /// Returns whether the version message contains a build number: by the vendor's documents not up to 3.2, seen from
    /// 3.5 on.
    #[must_use]
    pub fn build_number(self) -> bool {
        self.at_least(3, 5)
    }

    /// Returns whether the undocumented 24-byte robot message of type 12 follows the version message (from 3.5).
    #[must_use]
    pub fn opens_with_type_12(self) -> bool {
        self.at_least(3, 5)
    }

    /// Returns whether the internal message of type 24 follows the version message (recorded on 3.10, not on 5.12 and
    /// 5.13).
    #[must_use]
    pub fn opens_with_type_24(self) -> bool {
        self.at_least(3, 10) && self.generation() == Generation::Cb3
    }

    /// Returns the types of the sub-packages of a robot state message in the order in which they are sent. `first`
    /// selects the first message after connecting (core/docs/protocol/ur-client-interfaces.md 3.1).
    #[must_use]
    pub fn sub_packages(self, first: bool) -> &'static [u8] {
        match (self.generation(), first) {
            (Generation::Cb2, _) if !self.at_least(1, 6) => &[0, 1, 4, 5, 3, 2],
            (Generation::Cb2, _) if !self.at_least(1, 8) => &[0, 1, 4, 3, 2, 7, 8],
            (Generation::Cb2, true) => &[0, 1, 4, 9, 3, 2, 6, 7, 8],
            (Generation::Cb2, false) => &[0, 1, 4, 9, 3, 2, 7, 8],
            (Generation::Cb3, true) if !self.at_least(3, 5) => &[0, 1, 4, 5, 9, 3, 2, 6, 7, 8],
            (Generation::Cb3, false) if !self.at_least(3, 5) => &[0, 1, 4, 9, 3, 2, 7, 8],
            (Generation::Cb3, true) => &[0, 1, 4, 5, 9, 3, 2, 6, 7, 8, 10],
            (Generation::Cb3, false) => &[0, 1, 4, 9, 3, 2, 7, 8, 10],
            (_, true) if !self.at_least(5, 1) => &[0, 1, 4, 5, 9, 3, 2, 6, 7, 8, 10, 11],
            (_, false) if !self.at_least(5, 1) => &[0, 1, 4, 9, 3, 2, 7, 8, 10, 11],
            (_, true) if !self.at_least(5, 9) => &[0, 1, 4, 5, 9, 3, 2, 6, 7, 8, 10, 11, 12],
            (_, false) if !self.at_least(5, 9) => &[0, 1, 4, 9, 3, 2, 7, 8, 10, 11, 12],
            (_, true) => &[0, 1, 4, 5, 9, 3, 2, 6, 7, 8, 10, 11, 12, 13],
            (_, false) => &[0, 1, 4, 9, 3, 2, 7, 8, 10, 11, 12, 13],
        }
    }

    /// Returns whether configuration data have the two additional fields that some releases of the newest e-Series and
    /// of PolyScope X send. Here all of PolyScope X is assumed to send them, and no e-Series.
    #[must_use]
    pub fn long_configuration(self) -> bool {
        self.generation() == Generation::PolyScopeX
    }

    /// Returns whether key messages on 30001 announce running programs, and exceptions contain line and column: from
    /// 3.14 on the CB series, where the vendor's tests of its client library rely on both
    /// (core/docs/protocol/ur-client-interfaces.md 4.3). Older software is not known.
    #[must_use]
    pub fn follows_programs(self) -> bool {
        self.at_least(3, 14)
    }

    /// Returns whether safety modes and error codes on 30001 have the form that is documented from 5.9 on. The
    /// vendor's client library reads no other, and its tests against 3.14 and 3.15 need it
    /// (core/docs/protocol/ur-client-interfaces.md 4.3).
    #[must_use]
    pub fn later_reports(self) -> bool {
        self.at_least(3, 14)
    }

    /// Returns whether the controller distinguishes local and remote control.
    #[must_use]
    pub fn has_remote_control(self) -> bool {
        self.generation() >= Generation::ESeries
    }

    /// Returns the default reaction to text from a client in local mode. Error code 210 is assumed from 5.10 on, the
    /// release that introduced switchable services.
    #[must_use]
    pub fn local_mode(self) -> LocalMode {
        if self.at_least(5, 10) { LocalMode::Code210 } else { LocalMode::Silent }
    }

    /// Returns the meaning of the third argument of `speedj` in this software.
    #[must_use]
    pub fn speedj_time(self) -> SpeedJTime {
        if self.at_least(3, 1) { SpeedJTime::Optional } else { SpeedJTime::Minimum }
    }

    /// Returns whether the dashboard server exists (`core/docs/protocol/ur-dashboard.md 1`).
    #[must_use]
    pub fn dashboard(self) -> bool {
        self.generation() < Generation::PolyScopeX
    }

    /// Returns whether the Robot API exists (`core/docs/protocol/ur-dashboard.md 6`).
    #[must_use]
    pub fn robot_api(self) -> bool {
        self.at_least(10, 11)
    }

    /// Returns whether the operator can switch services off (`core/docs/protocol/ur-client-interfaces.md 5.6`).
    #[must_use]
    pub fn has_service_switches(self) -> bool {
        self.at_least(5, 10)
    }

    /// Returns whether the dashboard answers a request such as `load` or `play` only after the operation has finished
    /// (from 3.3); older software answers at once.
    #[must_use]
    pub fn dashboard_waits(self) -> bool {
        self.at_least(3, 3)
    }

    /// Returns whether `load` fails for a program whose installation needs a confirmation at the pendant, and the reply
    /// to `play` reports a failure (from 3.4).
    #[must_use]
    pub fn dashboard_tells_failures(self) -> bool {
        self.at_least(3, 4)
    }

    /// Returns the default motion of the arm after the end of a program that moved it by `speedj`.
    #[must_use]
    pub fn after_t(self) -> AfterT {
        if self.at_least(3, 5) { AfterT::Stops } else { AfterT::KeepsMoving }
    }

    /// Returns whether the velocity of streamed `speedj` commands drops between commands if they leave out `t` (from
    /// 3.3).
    #[must_use]
    pub fn stops_without_t(self) -> bool {
        self.at_least(3, 3)
    }

    /// Returns whether `stopj` obeys its deceleration argument (from software 3.2).
    #[must_use]
    pub fn stopj_obeys_deceleration(self) -> bool {
        self.at_least(3, 2)
    }

    /// Returns whether torques of a client's force sensor have the right sign, and `ft_rtde_input_enable` exists:
    /// from 3.14.1 and 5.9.1 (`core/docs/protocol/ur-rtde.md 7`).
    #[must_use]
    pub fn external_torques_are_right(self) -> bool {
        let SoftwareVersion { minor, bugfix, .. } = self.0;
        match self.generation() {
            Generation::Cb2 => false,
            Generation::Cb3 => (minor, bugfix) >= (14, 1),
            Generation::ESeries => (minor, bugfix) >= (9, 1),
            Generation::PolyScopeX => true,
        }
    }

    /// Returns whether the flange has a force-torque sensor; setting a payload zeroes it.
    #[must_use]
    pub fn has_force_sensor(self) -> bool {
        self.generation() >= Generation::ESeries
    }

    /// Returns whether `servoj` has the arguments look-ahead time and gain (from 3.1).
    #[must_use]
    pub fn servoj_lookahead(self) -> bool {
        self.at_least(3, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firmware(major: u8, minor: u8) -> Firmware {
        Firmware(SoftwareVersion::new(major, minor))
    }

    #[test]
    fn e_series_5_0_is_not_mistaken_for_3_0() {
        let e = firmware(5, 0);
        assert_eq!(e.speedj_time(), SpeedJTime::Optional);
        assert_eq!(e.after_t(), AfterT::Stops);
        assert!(e.version_on_secondary() && e.follows_programs() && e.read_only_ports());
        assert!(!e.opens_with_type_24());
    }

    #[test]
    fn kinematics_and_configuration_come_only_in_the_first_message_from_3_0_on() {
        for (major, minor) in [(3, 0), (3, 4), (3, 15), (5, 0), (5, 8), (5, 9), (5, 15), (5, 25), (10, 7), (10, 12)] {
            let version = firmware(major, minor);
            let (first, periodic) = (version.sub_packages(true), version.sub_packages(false));
            assert!(first.contains(&5) && first.contains(&6), "{version:?}");
            assert!(!periodic.contains(&5) && !periodic.contains(&6), "{version:?}");
        }
    }
}

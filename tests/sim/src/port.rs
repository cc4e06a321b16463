//! The TCP ports of the simulated controller.

/// A TCP port of the controller. The order is that of [`Port::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Port {
    /// 29999: the dashboard server, with line requests to the operator's interface.
    Dashboard,
    /// 30001: the primary interface, with state at 10 Hz and messages as they occur; accepts text.
    Primary,
    /// 30002: the secondary interface, with state at 10 Hz; accepts text.
    Secondary,
    /// 30003: the real-time interface, with one packet per control cycle; accepts text.
    Realtime,
    /// Port 30004: RTDE, with selected output variables, and inputs.
    Rtde,
    /// Port 30011: as the primary interface 30001, but without accepting text.
    PrimaryReadOnly,
    /// Port 30012: as the secondary interface 30002, but without accepting text.
    SecondaryReadOnly,
    /// Port 30013: as the real-time interface 30003, but without accepting text.
    RealtimeReadOnly,
    /// Port 30020: statements for a program in interpreter mode.
    Interpreter,
    /// 80: the Robot API, with HTTP requests to the operator's interface of PolyScope X.
    RobotApi,
    /// Port 54321: the tool's serial line, which a URCap relays.
    ToolLine,
}

/// The number that is added to a port base to get the port of the Robot API. Its real number 80 is below 29999, so that
/// it cannot keep its distance from 29999 as the other ports do.
const ROBOT_API: u16 = 16;
/// The number that is added to a port base to get the port of the tool's serial line. With the real distance from
/// 29999 to 54321, the port would exceed 65535 for bases above 41213.
const TOOL_LINE: u16 = 17;

impl Port {
    /// Every port of the controller.
    pub const ALL: [Self; 11] = [
        Self::Dashboard,
        Self::Primary,
        Self::Secondary,
        Self::Realtime,
        Self::Rtde,
        Self::PrimaryReadOnly,
        Self::SecondaryReadOnly,
        Self::RealtimeReadOnly,
        Self::Interpreter,
        Self::RobotApi,
        Self::ToolLine,
    ];

    /// Returns the port number that a real controller uses.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Dashboard => 29_999,
            Self::Primary => 30_001,
            Self::Secondary => 30_002,
            Self::Realtime => 30_003,
            Self::Rtde => 30_004,
            Self::PrimaryReadOnly => 30_011,
            Self::SecondaryReadOnly => 30_012,
            Self::RealtimeReadOnly => 30_013,
            Self::Interpreter => 30_020,
            Self::RobotApi => 80,
            Self::ToolLine => 54_321,
        }
    }

    /// Returns the port of a real controller with this number; `None` if it has no such port.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|port| port.number() == number)
    }

    /// Returns the port number when port 29999 is moved to `base`: the others move by an equal distance, but the
    /// Robot API is at `base` + 16 and the tool's serial line at `base` + 17. At the real base 29999 each port has its
    /// real number. `None` above 65535.
    #[must_use]
    pub const fn at_base(self, base: u16) -> Option<u16> {
        match self {
            Self::RobotApi | Self::ToolLine if base == Self::Dashboard.number() => Some(self.number()),
            Self::RobotApi => base.checked_add(ROBOT_API),
            Self::ToolLine => base.checked_add(TOOL_LINE),
            _ => base.checked_add(self.number() - Self::Dashboard.number()),
        }
    }

    /// Returns whether the controller runs the URScript programs whose text clients send to this port.
    #[must_use]
    pub const fn takes_text(self) -> bool {
        matches!(self, Self::Primary | Self::Secondary | Self::Realtime)
    }

    /// Returns whether this port sends robot state messages.
    #[must_use]
    pub const fn sends_state(self) -> bool {
        self.sends_messages() || matches!(self, Self::Secondary | Self::SecondaryReadOnly)
    }

    /// Returns whether this port sends robot messages, such as error codes, as they occur.
    #[must_use]
    pub const fn sends_messages(self) -> bool {
        matches!(self, Self::Primary | Self::PrimaryReadOnly)
    }

    /// Returns whether this port sends real-time packets.
    #[must_use]
    pub const fn sends_realtime(self) -> bool {
        matches!(self, Self::Realtime | Self::RealtimeReadOnly)
    }
}

#[cfg(test)]
mod tests {
    use super::Port;

    #[test]
    fn a_port_base_moves_every_port_by_the_same_distance() {
        assert_eq!(Port::Realtime.at_base(29_999), Some(30_003));
        assert_eq!(Port::Realtime.at_base(40_000), Some(40_004));
        assert_eq!(Port::RealtimeReadOnly.at_base(65_530), None);
        assert_eq!((Port::RobotApi.at_base(29_999), Port::RobotApi.at_base(40_000)), (Some(80), Some(40_016)));
        assert_eq!((Port::ToolLine.at_base(29_999), Port::ToolLine.at_base(40_000)), (Some(54_321), Some(40_017)));
    }
}

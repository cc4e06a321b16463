//! The controller's TCP ports.

/// A service of the controller. The order is that of [`Port::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Port {
    /// 29999: line requests to the operator's interface.
    Dashboard,
    /// 30001: state at 10 Hz, messages as they occur; takes text.
    Primary,
    /// 30002: state at 10 Hz; takes text.
    Secondary,
    /// 30003: one packet per control cycle; takes text.
    Realtime,
    /// 30004: variables that were asked for, and inputs.
    Rtde,
    /// 30011: as 30001, without text.
    PrimaryReadOnly,
    /// 30012: as 30002, without text.
    SecondaryReadOnly,
    /// 30013: as 30003, without text.
    RealtimeReadOnly,
}

impl Port {
    /// Every port.
    pub const ALL: [Self; 8] = [
        Self::Dashboard,
        Self::Primary,
        Self::Secondary,
        Self::Realtime,
        Self::Rtde,
        Self::PrimaryReadOnly,
        Self::SecondaryReadOnly,
        Self::RealtimeReadOnly,
    ];

    /// The number a real controller listens on.
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
        }
    }

    /// The port with this number.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|port| port.number() == number)
    }

    /// Where it is found when the lowest port, 29999, is moved to `base`.
    #[must_use]
    pub const fn at_base(self, base: u16) -> Option<u16> {
        base.checked_add(self.number() - Self::Dashboard.number())
    }

    /// Whether text sent here can run.
    #[must_use]
    pub const fn takes_text(self) -> bool {
        matches!(self, Self::Primary | Self::Secondary | Self::Realtime)
    }

    /// Whether robot state messages go out here.
    #[must_use]
    pub const fn sends_state(self) -> bool {
        self.sends_messages() || matches!(self, Self::Secondary | Self::SecondaryReadOnly)
    }

    /// Whether robot messages go out here as they occur.
    #[must_use]
    pub const fn sends_messages(self) -> bool {
        matches!(self, Self::Primary | Self::PrimaryReadOnly)
    }

    /// Whether real-time packets go out here.
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
    }
}

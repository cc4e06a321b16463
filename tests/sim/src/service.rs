//! Services that the operator can switch off (`core/docs/protocol/ur-client-interfaces.md 5.6`): from 5.10 on and on
//! PolyScope X.

use crate::port::Port;

/// A switch in the security settings. That a read-only port goes with its writable twin is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// 29999.
    Dashboard,
    /// 30001 and 30011.
    Primary,
    /// 30002 and 30012.
    Secondary,
    /// 30003 and 30013.
    Realtime,
    /// 30004.
    Rtde,
    /// 30020.
    Interpreter,
    /// 80, on PolyScope X.
    RobotApi,
}

impl Service {
    /// Every service with the word options use for it.
    pub const NAMED: [(Self, &'static str); 7] = [
        (Self::Dashboard, "dashboard"),
        (Self::Primary, "primary"),
        (Self::Secondary, "secondary"),
        (Self::Realtime, "realtime"),
        (Self::Rtde, "rtde"),
        (Self::Interpreter, "interpreter"),
        (Self::RobotApi, "robot-api"),
    ];

    /// The service of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, known)| *known == name).map(|(service, _)| service)
    }

    /// The service that a port belongs to; none for what a URCap serves.
    #[must_use]
    pub fn of(port: Port) -> Option<Self> {
        Some(match port {
            Port::Dashboard => Self::Dashboard,
            Port::Primary | Port::PrimaryReadOnly => Self::Primary,
            Port::Secondary | Port::SecondaryReadOnly => Self::Secondary,
            Port::Realtime | Port::RealtimeReadOnly => Self::Realtime,
            Port::Rtde => Self::Rtde,
            Port::Interpreter => Self::Interpreter,
            Port::RobotApi => Self::RobotApi,
            Port::ToolLine => return None,
        })
    }
}
